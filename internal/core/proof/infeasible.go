package proof

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/shopspring/decimal"

	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/fault"
	"example.org/headroom/internal/core/money"
	"example.org/headroom/internal/core/proof/exact"
	"example.org/headroom/internal/core/words"
)

// shortage is the reason why a problem has no plan: promised classes that no slots help, or too few VMs for the
// promised jobs of the rest.
type shortage struct {
	impossible []int
	low, high  *exact.Rat // VMs the promised jobs need
	packed     bool       // the slots of high fit on the ceiling of high
	vms        *exact.Rat // existing VMs; nil: no limit
	known      bool       // low and high could be computed
}

func (m *model) shortage() shortage {
	s := shortage{low: zero(), high: zero(), known: true}
	s.vms, _ = m.existing()
	highest, surely := m.lacking()
	chosen := make([]option, len(m.classes))
	for i := range m.classes {
		c := m.classes[i]
		switch {
		case c.impossible:
			if c.min.Sign() > 0 {
				s.impossible = append(s.impossible, i)
			}
		case m.integrality == capacity.Relaxed:
			s.low.Add(s.low, mul(c.low, c.min))
			s.high.Add(s.high, mul(c.high, c.min))
		default:
			low, high, slots, ok := m.needs(i, c.min.Num().Int64())
			if !ok {
				s.known = false
				continue
			}
			chosen[i] = option{slots: slots}
			s.low.Add(s.low, low)
			s.high.Add(s.high, high)
		}
	}
	if m.integrality == capacity.Relaxed { // the capacity check lets a plan lack as much
		highest = m.hairOf(s.low)
	}
	s.low, s.high = sub(s.low, highest), sub(s.high, surely)
	s.packed = m.packs(chosen, upTo(s.high, zero()))
	return s
}

// short reports whether the VMs certainly do not suffice.
func (s shortage) short() bool { return s.known && s.vms != nil && less(s.vms, s.low) }

// enough reports whether they certainly do, up to the fine grid of gamma.
func (s shortage) enough() bool {
	if !s.known || s.vms == nil {
		return s.known
	}
	hair := mul(mul(relative, relative), add(whole(1), s.vms))
	return s.packed && s.high.Cmp(add(s.vms, hair)) <= 0
}

// infeasible checks that there is no plan and that each cure removes its conflict.
func (r *Report) infeasible(m *model, pl capacity.Plan, o Options) {
	s := m.shortage()
	switch {
	case m.overspent:
		r.note(InfeasibilityCheck, OK, "The contracts that are paid in any case cost more than the budget for VMs.")
	case len(s.impossible) > 0:
		c := m.problem.Classes[s.impossible[0]]
		r.note(InfeasibilityCheck, OK, fmt.Sprintf("No number of slots meets the deadline of %s, whose jobs are promised.", c.Name))
	case s.short():
		r.note(InfeasibilityCheck, OK, fmt.Sprintf("The promised jobs need %s and there are %s.", words.Counted(short(s.low), "VM"), short(s.vms)))
	case m.limited():
		r.overTotal(m.total(o.Nodes, zero().Neg(roundings)))
		if r.Outcome == Failed {
			return
		}
	case s.enough():
		there := "there is no end to them"
		if s.vms != nil {
			there = "there are " + short(s.vms)
		}
		r.note(InfeasibilityCheck, Failed, fmt.Sprintf("There is a plan: the promised jobs need %s and %s.", words.Counted(short(s.high), "VM"), there))
		return
	default:
		r.note(InfeasibilityCheck, NotProved, "Whether the promised jobs fit hangs on rounding or on how slots of odd sizes pack.")
	}
	r.cures(m, s, pl, o)
	r.conflicts(m, nil, pl, o)
}

// cures applies each cure and checks that its conflict is gone. If promised classes are impossible, a cure for the
// VMs is tried with those classes' own cures applied.
func (r *Report) cures(m *model, s shortage, pl capacity.Plan, o Options) {
	var f faults
	if len(pl.Conflicts) == 0 {
		f.addf("The plan is infeasible and names no conflict.")
	}
	base, unsure := m.problem, "" // base: with the impossible classes cured
	for _, c := range pl.Conflicts {
		if i, ok := classOf(c, len(m.classes)); ok && slices.Contains(s.impossible, i) && c.Hint != nil {
			if cured, ok := apply(base, *c.Hint); ok {
				base = cured
			}
		}
	}
	for _, i := range s.impossible {
		named := slices.ContainsFunc(pl.Conflicts, func(c fault.Finding) bool {
			k, ok := classOf(c, len(m.classes))
			return ok && k == i
		})
		if !named {
			f.addf("No conflict names %s, whose deadline no number of slots meets.", m.problem.Classes[i].Name)
		}
	}
	for _, c := range pl.Conflicts {
		if c.Hint == nil || c.Hint.Pointer == "" {
			continue
		}
		i, ofClass := classOf(c, len(m.classes))
		start := base
		if ofClass && slices.Contains(s.impossible, i) {
			start = m.problem
		}
		cured, ok := apply(start, *c.Hint)
		if !ok {
			unsure = fmt.Sprintf("The cure at %s cannot be tried here.", c.Hint.Pointer)
			continue
		}
		if faults := readable(cured); len(faults) > 0 {
			f.addf("The cure at %s makes the problem invalid: %s", c.Hint.Pointer, faults[0])
			continue
		}
		if c.Hint.Pointer == totalPointer {
			unsure = cmp.Or(f.stillTooDear(newModel(cured, m.pause), c.Hint, o), unsure)
			continue
		}
		then := newModel(cured, m.pause).shortage()
		if alone, ok := apply(m.problem, *c.Hint); ok && then.short() {
			then = newModel(alone, m.pause).shortage() // or with the impossible classes left out
		}
		switch {
		case ofClass && slices.Contains(s.impossible, i):
			if slices.Contains(then.impossible, i) {
				f.addf("%s: with %v at %s it is as impossible as before.", m.problem.Classes[i].Name, c.Hint.Value, c.Hint.Pointer)
			}
		case slices.ContainsFunc(then.impossible, func(k int) bool { return !slices.Contains(s.impossible, k) }):
			f.addf("With %v at %s a promised class becomes impossible.", c.Hint.Value, c.Hint.Pointer)
		case then.short():
			f.addf("With %v at %s the promised jobs still find no VMs.", c.Hint.Value, c.Hint.Pointer)
		case !then.enough():
			unsure = fmt.Sprintf("Whether %v at %s suffices hangs on rounding.", c.Hint.Value, c.Hint.Pointer)
		case len(then.impossible) == 0 && m.limited():
			unsure = cmp.Or(f.stillTooDear(newModel(cured, m.pause), c.Hint, o), unsure)
		}
	}
	if len(f) == 0 && unsure != "" {
		r.note(CuresCheck, NotProved, unsure)
		return
	}
	r.add(CuresCheck, f, "Each cure named removes what it is named for.")
}

// stillTooDear adds a fault where every plan of a cured problem costs more than the budget for everything. The answer
// is the doubt where that is open.
func (f *faults) stillTooDear(cured *model, h *fault.Hint, o Options) (unsure string) {
	switch cured.total(o.Nodes, roundings) {
	case no:
		f.addf("With %v at %s there still is no plan.", h.Value, h.Pointer)
	case open:
		unsure = fmt.Sprintf("Whether a plan costs no more than the budget with %v at %s is not known.", h.Value, h.Pointer)
	}
	return unsure
}

// classOf returns the class that a finding or its cure points into.
func classOf(c fault.Finding, classes int) (int, bool) {
	pointers := []string{c.Pointer}
	if c.Hint != nil {
		pointers = append(pointers, c.Hint.Pointer)
	}
	for _, p := range pointers {
		if steps := strings.Split(p, "/"); len(steps) > 2 && steps[1] == "classes" {
			if i, err := strconv.Atoi(steps[2]); err == nil && i >= 0 && i < classes {
				return i, true
			}
		}
	}
	return 0, false
}

// value returns a cure's value as a number, whether it comes from a program or from stored JSON.
func value(v any) (*exact.Rat, bool) {
	switch v := v.(type) {
	case float64:
		if finite(v) {
			return number(v), true
		}
	case int:
		return whole(int64(v)), true
	case int64:
		return whole(v), true
	case decimal.Decimal:
		return amount(v), modest(v)
	case money.Amount:
		return amount(v.Decimal), modest(v.Decimal)
	case json.Number:
		return value(string(v))
	case string:
		if d, err := decimal.NewFromString(v); err == nil && modest(d) {
			return amount(d), true
		}
	}
	return nil, false
}
