package proof

import (
	"fmt"
	"slices"

	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/fault"
	"example.org/headroom/internal/core/proof/exact"
)

// likelihood is the answer to whether there is a plan.
type likelihood int

const (
	open likelihood = iota // not known
	no
	yes
)

const totalPointer = "/budget/total"

// hairline separates amounts that the exact arithmetic of whole plans separates: decimals over a period.
var hairline = exact.New(1, 1e14)

// limited reports whether the problem has a budget for everything.
func (m *model) limited() bool { return m.problem.Budget != nil && m.problem.Budget.Total != nil }

// roundings is the error of a plan's total, a sum of five lines rounded one by one.
var roundings = mul(whole(5), halfUnit)

// lineRoundings is the most that a bill, a sum of four lines rounded one by one, may be below what its VMs cost.
var lineRoundings = mul(whole(4), halfUnit)

// forVMs returns the most that VMs may cost under a budget: a bill copied as a budget pays for its own VMs.
func forVMs(b *capacity.Budget) *exact.Rat {
	return add(amount(b.VMCost.Decimal), lineRoundings)
}

// allowed returns the objective above which a plan exceeds the budget for everything by more.
func (m *model) allowed(more *exact.Rat) *exact.Rat {
	highest := add(amount(m.problem.Budget.Total.Decimal), more)
	for i := range m.classes {
		highest.Sub(highest, mul(m.classes[i].penalty, m.classes[i].max))
	}
	return highest
}

// total tells whether a plan of one type keeps the budget for everything.
func (m *model) total(nodes int, more *exact.Rat) likelihood {
	lp := m.relax(zero())
	if !lp.feasible {
		return no
	}
	f, _ := (&Report{}).look(m, lp, m.allowed(more), Options{Nodes: nodes})
	return f.below(m.allowed(more))
}

// below tells whether there is a plan below a threshold.
func (f finding) below(threshold *exact.Rat) likelihood {
	switch {
	case f.better != nil && less(f.better.objective, threshold):
		return yes
	case f.bound.Cmp(threshold) >= 0:
		return no
	}
	return open
}

// overTotal notes the answer to whether all plans exceed the budget for everything.
func (r *Report) overTotal(cheap likelihood) {
	switch cheap {
	case no:
		r.note(InfeasibilityCheck, OK, "Bill and value refused together are more than the budget in every plan.")
	case yes:
		r.note(InfeasibilityCheck, Failed, "There is a plan that keeps the budget.")
	default:
		r.note(InfeasibilityCheck, NotProved, "Whether a plan keeps the budget is not known.")
	}
}

// promised tells whether the promised jobs that can run anywhere can all run, within the budget for VMs. If strictly
// is set, fractional VMs that cost slightly more than the budget count as unknown.
func (f *fleet) promised(nodes int, strictly bool) (likelihood, string) {
	if f.purse != nil && f.purse.Sign() < 0 {
		return no, "The contracts that are paid in any case cost more than the budget for VMs."
	}
	linear := f.integrality == capacity.Relaxed
	p := f.newProgram(linear, missing)
	threshold := exact.New(1, 2)
	hair := exact.New(1, 1e6) // of fractional VMs and money, beyond what sums in floating point lose
	if linear {
		threshold = mul(hair, add(whole(1), p.largest()))
	}
	found, _ := p.look(threshold, nodes)
	there := found.below(threshold)
	switch {
	case there == no:
		return no, "The promised jobs need more VMs than there are."
	case f.purse == nil && there == yes:
		return yes, "The promised jobs fit into the VMs there are."
	case f.purse == nil:
		return open, "Whether the promised jobs fit into the VMs there are is not known."
	}
	p = f.newProgram(linear, spending)
	if threshold = add(f.purse, hairline); linear {
		threshold = add(f.purse, mul(hair, add(whole(1), f.purse)))
	}
	found, _ = p.look(threshold, nodes)
	switch there = found.below(threshold); {
	case there == no:
		return no, fmt.Sprintf("The VMs of the promised jobs cost more than the %s that the budget leaves for them.", amountOf(f.purse))
	case there == yes && !(strictly && linear && less(f.purse, found.better.objective)):
		return yes, "The budget pays for the VMs of the promised jobs."
	}
	return open, "Whether the budget pays for the VMs of the promised jobs is not known."
}

// largest returns the largest number of VMs of a type that any plan needs.
func (p *program) largest() *exact.Rat {
	highest := zero()
	for _, lines := range p.rented {
		sum := zero()
		for _, l := range lines {
			sum.Add(sum, l.length)
		}
		highest = larger(highest, sum)
	}
	return highest
}

// exists tells whether the fleet has a plan that keeps its promises and, with total, the budget for everything plus
// that much.
func (f *fleet) exists(nodes int, total *exact.Rat) (likelihood, string) {
	there, why := f.promised(nodes, total != nil && total.Sign() < 0)
	if there == no || total == nil || !f.limited() {
		return there, why
	}
	if f.integrality == capacity.Relaxed { // fractional plans are off like their linear program
		slack := f.newProgram(true, objective).sides().slack
		total = add(total, mul(whole(int64(total.Sign())), slack))
	}
	found, _ := f.look(f.allowed(total), nodes)
	switch cheap := found.below(f.allowed(total)); {
	case cheap == no:
		return no, "Bill and value refused together are more than the budget in every plan."
	case cheap == yes && there == yes:
		return yes, "There is a plan that keeps the budget."
	}
	return open, "Whether a plan keeps the budget is not known."
}

// impossible returns the promised classes whose deadline no number of slots of any type meets.
func (f *fleet) impossible() (classes []int) {
	for i := range f.classes {
		if c := f.classes[i]; c.impossible && c.min.Sign() > 0 {
			classes = append(classes, i)
		}
	}
	return classes
}

// infeasibleFleet checks that there is no plan and that each cure removes its conflict.
func (r *Report) infeasibleFleet(f *fleet, pl capacity.Plan, o Options) {
	defer func() {
		if _, cured := r.Find(CuresCheck); cured {
			r.conflicts(f.model, f, pl, o)
		}
	}()
	impossible := f.impossible()
	if len(impossible) > 0 {
		r.note(InfeasibilityCheck, OK, fmt.Sprintf("No number of slots of any type meets the deadline of %s, whose jobs are promised.", f.problem.Classes[impossible[0]].Name))
	} else {
		there, why := f.exists(o.Nodes, zero().Neg(roundings))
		r.note(InfeasibilityCheck, map[likelihood]Outcome{no: OK, yes: Failed, open: NotProved}[there], why)
		if there == yes {
			return
		}
	}
	var all faults
	if len(pl.Conflicts) == 0 {
		all.addf("The plan is infeasible and names no conflict.")
	}
	base, unsure := f.problem, ""
	for _, c := range pl.Conflicts {
		if i, ok := classOf(c, len(f.classes)); ok && slices.Contains(impossible, i) && c.Hint != nil {
			if cured, ok := apply(base, *c.Hint); ok {
				base = cured
			}
		}
	}
	for _, i := range impossible {
		if !slices.ContainsFunc(pl.Conflicts, func(c fault.Finding) bool { k, ok := classOf(c, len(f.classes)); return ok && k == i }) {
			all.addf("No conflict names %s, whose deadline no number of slots meets.", f.problem.Classes[i].Name)
		}
	}
	for _, c := range pl.Conflicts {
		if c.Hint == nil || c.Hint.Pointer == "" {
			continue
		}
		i, ofClass := classOf(c, len(f.classes))
		ofImpossible := ofClass && slices.Contains(impossible, i)
		start := base
		if ofImpossible {
			start = f.problem
		}
		cured, ok := apply(start, *c.Hint)
		if !ok {
			unsure = fmt.Sprintf("The cure at %s cannot be tried here.", c.Hint.Pointer)
			continue
		}
		if faults := readable(cured); len(faults) > 0 {
			all.addf("The cure at %s makes the problem invalid: %s", c.Hint.Pointer, faults[0])
			continue
		}
		then := newFleet(cured, f.pause)
		if ofImpossible {
			if slices.Contains(then.impossible(), i) {
				all.addf("%s: with %v at %s it is as impossible as before.", f.problem.Classes[i].Name, c.Hint.Value, c.Hint.Pointer)
			}
			continue
		}
		if slices.ContainsFunc(then.impossible(), func(k int) bool { return !slices.Contains(impossible, k) }) {
			all.addf("With %v at %s a promised class becomes impossible.", c.Hint.Value, c.Hint.Pointer)
			continue
		}
		switch there, why := then.exists(o.Nodes, roundings); there {
		case no:
			all.addf("With %v at %s there still is no plan. %s", c.Hint.Value, c.Hint.Pointer, why)
		case open:
			unsure = fmt.Sprintf("With %v at %s: %s", c.Hint.Value, c.Hint.Pointer, why)
		}
	}
	if len(all) == 0 && unsure != "" {
		r.note(CuresCheck, NotProved, unsure)
		return
	}
	r.add(CuresCheck, all, "Each cure named removes what it is named for.")
}
