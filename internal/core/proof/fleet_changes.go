package proof

import (
	"math/big"
	"slices"
	"strings"

	"headroom/internal/core/capacity"
	"headroom/internal/core/words"
)

// changesFleet checks what a plan for several prices of capacity says would change it.
func (r *Report) changesFleet(f *fleet, pl capacity.Plan, whole answer, on []answer, b bill, o Options) {
	if f.integrality == capacity.Relaxed {
		return
	}
	for _, a := range on {
		for i := range a {
			if !a[i].jobs.IsInt() || !a[i].jobs.Num().IsInt64() {
				return // the shape check names it
			}
		}
	}
	(&changes{Report: r, m: f.model, f: f, on: on, pl: pl, bill: b, o: o}).check(whole)
}

// part is a type's part of the plan.
func (k *changes) part(v int) capacity.Plan { return k.f.part(k.pl, v) }

// with is the fleet with a class changed.
func (f *fleet) with(i int, change func(c *capacity.Class)) *fleet {
	g, m := *f, *f.model
	m.problem.Classes = slices.Clone(m.problem.Classes)
	in := &m.problem.Classes[i]
	change(in)
	m.classes = slices.Clone(m.classes)
	g.model, g.types = &m, slices.Clone(f.types)
	for v := range g.types {
		t := *f.types[v].model
		t.problem.Classes = m.problem.Classes
		t.classes = slices.Clone(t.classes)
		t.classes[i] = classOn(in, g.types[v].name, t.bound, m.problem.Options.OneSlotPerJob)
		t.classes[i].phasesOf(&f.types[v].classes[i])
		if c := &t.classes[i]; v == 0 || m.classes[i].impossible && !c.impossible {
			m.classes[i] = *c
		}
		g.types[v].model = &t
	}
	return &g
}

// reasons checks the sentences that figures of this check give; what they say of types comes after.
func (f *fleet) reasons(pl capacity.Plan) []string {
	facts := words.Planned(&f.problem, pl.Classes)
	if pl.Facts == nil {
		if len(facts) > 0 && told(pl) {
			return []string{"facts is missing: the reasons are those of plans that list facts."}
		}
		return nil // older plans have other sentences, and no facts
	}
	var all faults
	for i := range pl.Classes {
		stated := &pl.Classes[i]
		plain := ""
		switch in := &f.problem.Classes[i]; {
		case f.classes[i].impossible:
			plain = words.OnNoType(in.DeadlineSeconds)
		case in.Jobs.Max == 0:
			plain = words.NoneWanted
		}
		if plain != "" && stated.Reason != plain {
			all.addf("%s: the reason is %.200q, and there is but one: %.200q.", stated.Name, stated.Reason, plain)
		}
		if plain != "" {
			continue
		}
		if !stated.OneMore.Told() && (!stated.OneMore.Bounded() || f.problem.Classes[i].Jobs.Max == 0) {
			continue
		}
		want := words.ReasonOf(&f.problem, &f.problem.Classes[i], stated, 0).String()
		rest, told := strings.CutPrefix(stated.Reason, want)
		if !told || rest != "" && (len(stated.Types) == 0 || !strings.HasPrefix(rest, " It runs on ") || !strings.HasSuffix(rest, ".")) {
			all.addf("%s: the reason is %.200q, and its figures say %.200q.", stated.Name, stated.Reason, want)
		}
	}
	return append(all, factFaults(pl.Facts, facts)...)
}

// rangesOf checks that flips and the break-even penalty are ends of the class's ranges, and says which of them are.
func (f *faults) rangesOf(class *capacity.Class, stated *capacity.ClassPlan) (penalty, deadline bool) {
	if stated.Stays == nil {
		return false, false
	}
	if r := stated.Stays.Penalty; r != nil {
		f.nearest(stated, "penalty", stated.Flips.Penalty, r.Nearest(class.Penalty))
		breaksEven := r.High
		if stated.Verdict == capacity.VerdictFull {
			breaksEven = r.Low
		}
		f.nearest(stated, "break-even penalty", stated.BreakEvenPenalty, breaksEven)
		penalty = true
	}
	if r := stated.Stays.DeadlineSeconds; r != nil {
		if at, shown := r.Nearest(class.DeadlineSeconds), stated.Flips.DeadlineSeconds; (at == nil) != (shown == nil) || at != nil && *at != *shown {
			f.addf("%s: the deadline that flips it is %v, and the nearer end of its range is %v.", stated.Name, orNone(shown), orNone(at))
		}
		deadline = true
	}
	return penalty, deadline
}

// relaxedJob checks what one job more or less changes where the linear program says so; exact is nil where no more VMs
// are to be had.
func (f *faults) relaxedJob(stated *capacity.ClassPlan, what string, shown *capacity.JobChange, exact, slack *big.Rat) {
	if shown == nil || shown.Exact {
		return
	}
	none := exact == nil
	if shown.Bill != nil || shown.ValueRefused != nil || shown.VMs != nil {
		f.addf("%s: one job %s has parts that only planning anew gives.", stated.Name, what)
		return
	}
	if low, high := shown.Low, shown.High; low != nil || high != nil { // the figure stands between them
		if low == nil || high == nil && none || high != nil && high.LessThan(low.Decimal) {
			f.addf("%s: one job %s is bounded by %v and %v.", stated.Name, what, orNone(low), orNone(high))
			return
		}
		if high != nil && (none || less(amount(high.Decimal), exact)) {
			none, exact = false, amount(high.Decimal)
		} else if less(exact, amount(low.Decimal)) {
			exact = amount(low.Decimal)
		}
		if slack == nil {
			slack = zero()
		}
	}
	switch {
	case none != (shown.Amount == nil) || none == shown.Fits:
		f.addf("%s: one job %s is said to change %v.", stated.Name, what, orNone(shown.Amount))
	case !none && abs(sub(amount(shown.Amount.Decimal), exact)).Cmp(slack) > 0:
		f.addf("%s: one job %s changes %s in the linear program, not %s.", stated.Name, what, amountOf(exact), shown.Amount)
	}
}
