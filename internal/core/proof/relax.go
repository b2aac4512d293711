package proof

import (
	"slices"

	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/money"
	"example.org/headroom/internal/core/proof/exact"
)

// relaxed is the linear program's answer (paper P2 without whole numbers), exact up to the grid of gamma.
type relaxed struct {
	feasible  bool
	jobs      []*exact.Rat
	load      *exact.Rat // VMs needed
	objective *exact.Rat
	low, high *exact.Rat // the price of one VM of capacity: one less, one more; high nil if there is no more
}

// relax solves the linear program by its closed form: promised jobs first, then classes by descending penalty a VM,
// each as long as the next VM costs less. further is a demand in addition to the classes' (negative: free VMs), which
// gives the prices' one-sided limits.
func (m *model) relax(further *exact.Rat) relaxed {
	r := relaxed{load: zero(), jobs: make([]*exact.Rat, len(m.classes)), objective: new(exact.Rat).Set(m.fixed)}
	supply := m.supply
	if further.Sign() < 0 {
		supply = append([]source{{price: zero(), vms: abs(further)}}, supply...)
	}
	used := make([]*exact.Rat, len(supply))
	for k := range used {
		used[k] = zero()
	}
	at := 0
	room := func() *exact.Rat { return sub(supply[at].vms, used[at]) } // if it is limited
	next := func() bool {                                              // moves to the cheapest source with room
		for at < len(supply) && !supply[at].unlimited && room().Sign() <= 0 {
			at++
		}
		return at < len(supply)
	}
	take := func(n *exact.Rat) {
		used[at].Add(used[at], n)
		r.objective.Add(r.objective, mul(n, supply[at].price))
	}
	need := larger(zero(), further)
	for i := range m.classes {
		c := m.classes[i]
		if c.impossible && c.min.Sign() > 0 {
			return r
		}
		r.jobs[i] = new(exact.Rat).Set(c.min)
		r.load.Add(r.load, mul(c.low, c.min))
		r.objective.Sub(r.objective, mul(c.penalty, c.min))
	}
	hair := m.hairOf(r.load)
	for left := add(need, r.load); left.Sign() > 0; {
		if !next() {
			if left.Cmp(hair) > 0 {
				return r
			}
			break
		}
		n := left
		if !supply[at].unlimited {
			n = smaller(left, room())
		}
		take(n)
		left = sub(left, n)
	}
	r.feasible = true
	for _, i := range m.byWorth {
		m.rest()
		c := m.classes[i]
		if c.impossible || c.penalty.Sign() == 0 {
			continue
		}
		for left := sub(c.max, r.jobs[i]); left.Sign() > 0; {
			n := left
			if c.low.Sign() > 0 {
				if !next() || c.penalty.Cmp(mul(c.low, supply[at].price)) <= 0 {
					break
				}
				if !supply[at].unlimited {
					n = smaller(left, quo(room(), c.low))
				}
				take(mul(n, c.low))
			}
			r.jobs[i].Add(r.jobs[i], n)
			r.load.Add(r.load, mul(n, c.low))
			r.objective.Sub(r.objective, mul(n, c.penalty))
			left = sub(left, n)
		}
	}
	r.prices(m, supply, used)
	return r
}

// prices finds the price of one VM of capacity less and of one more: what is used last, and what is free first.
func (r *relaxed) prices(m *model, supply []source, used []*exact.Rat) {
	low, high := price{zero(), whole(1)}, price{}
	for k, s := range supply {
		of := price{s.price, whole(1)}
		if used[k].Sign() > 0 && low.below(of) {
			low = of
		}
		if (s.unlimited || less(used[k], s.vms)) && (high.amount == nil || of.below(high)) {
			high = of
		}
	}
	for i := range m.classes {
		c := m.classes[i]
		if c.impossible || c.low.Sign() == 0 {
			continue
		}
		of := price{c.penalty, c.low}
		if less(r.jobs[i], c.max) && low.below(of) {
			low = of
		}
		if less(c.min, r.jobs[i]) && (high.amount == nil || of.below(high)) {
			high = of
		}
	}
	r.low = quo(low.amount, low.vms)
	if high.amount != nil {
		r.high = quo(high.amount, high.vms)
	}
}

// price is an amount for so many VMs. Prices are compared by products, which are shorter than quotients.
type price struct{ amount, vms *exact.Rat }

func (p price) below(other price) bool {
	return less(mul(p.amount, other.vms), mul(other.amount, p.vms))
}

// hairOf returns the amount of these VMs that plans may lack.
func (m *model) hairOf(vms *exact.Rat) *exact.Rat {
	return larger(m.spare(-1), mul(relative, add(whole(1), vms)))
}

// magnitude returns the size of the amounts whose difference is the objective.
func (m *model) magnitude(r relaxed) *exact.Rat {
	sum := abs(r.objective)
	for i := range m.classes {
		sum.Add(sum, mul(m.classes[i].penalty, r.jobs[i]))
	}
	return add(whole(1), sum)
}

// relaxation checks a plan's answer of the linear program.
func (m *model) relaxation(x capacity.RelaxedPlan, lp relaxed) []string {
	var f faults
	if !lp.feasible {
		f.addf("The linear program has no answer.")
		return f
	}
	if len(x.Jobs) != len(m.classes) {
		f.addf("There are %s, and jobs of %d in the relaxation.", count(len(m.classes), "class", "classes"), len(x.Jobs))
		return f
	}
	lost := zero() // VMs that rounding in gamma may lose
	for i := range m.classes {
		lost.Add(lost, mul(m.classes[i].max, sub(m.classes[i].highest, m.classes[i].lowest)))
	}
	tolerance := add(add(halfUnit, mul(lost, lp.low)), mul(relative, m.magnitude(lp)))
	objective := amount(x.Objective.Decimal)
	if abs(sub(objective, lp.objective)).Cmp(tolerance) > 0 {
		f.addf("Its objective is %s, not %s.", amountOf(lp.objective), x.Objective)
	}
	load, avoided := zero(), zero()
	for i := range m.classes {
		c, jobs := m.classes[i], number(x.Jobs[i])
		slack := mul(relative, c.max)
		if less(jobs, sub(c.min, slack)) || less(add(c.max, slack), jobs) || c.impossible && jobs.Sign() != 0 {
			f.addf("%s: %v jobs are outside %s to %s.", m.problem.Classes[i].Name, x.Jobs[i], short(c.min), short(c.max))
		}
		load.Add(load, mul(c.low, jobs))
		avoided.Add(avoided, mul(c.penalty, jobs))
	}
	vms := number(x.Capacity)
	if abs(sub(vms, load)).Cmp(add(lost, mul(relative, add(whole(1), load)))) > 0 {
		f.addf("Its jobs need %s VMs, not %v.", short(load), x.Capacity)
	}
	cost, ok := m.rent(vms)
	if highest, bounded := m.existing(); !ok && bounded && !less(add(highest, m.hairOf(highest)), vms) {
		ok = true // the last VM is missing by rounding only
	}
	if !ok {
		f.addf("%v VMs are more than there are.", x.Capacity)
	}
	if abs(sub(sub(cost, avoided), objective)).Cmp(mul(whole(2), tolerance)) > 0 {
		f.addf("Its jobs and VMs cost %s, not %s.", amountOf(sub(cost, avoided)), x.Objective)
	}
	return f
}

// prices checks the price of capacity, the slope of the linear program's cost, and the contracts' worth. At a kink
// the slopes on its two sides differ, and rounding may put an answer on either. So low may be the slope anywhere up
// to high.
func (m *model) prices(x capacity.Prices, lp relaxed) []string {
	var f faults
	if !lp.feasible {
		f.addf("The linear program has no answer and so no prices.")
		return f
	}
	if len(x.Contracts) != len(m.problem.Supply.Contracts) {
		f.addf("The problem has %s, the prices %d.", count(len(m.problem.Supply.Contracts), "contract", "contracts"), len(x.Contracts))
		return f
	}
	if f = m.pricesAt(x, lp); len(f) == 0 {
		return nil
	}
	step := mul(whole(4), mul(relative, add(whole(1), lp.load)))
	sides := []relaxed{lp, m.relax(step)}
	if lp.load.Sign() > 0 { // otherwise there is no VM to remove
		sides = slices.Insert(sides, 0, m.relax(zero().Neg(step)))
	}
	for i, from := range sides {
		for _, to := range sides[i:] {
			if !from.feasible {
				continue
			}
			from.high = to.high // nil if there is no more
			if len(m.pricesAt(x, from)) == 0 {
				return nil
			}
		}
	}
	return f
}

func (m *model) pricesAt(x capacity.Prices, lp relaxed) []string {
	var f faults
	same := func(shown money.Amount, exact *exact.Rat) bool {
		return abs(sub(amount(shown.Decimal), exact)).Cmp(add(halfUnit, mul(relative, exact))) <= 0
	}
	if !same(x.Capacity.Low, lp.low) {
		f.addf("One VM less costs %s, not %s.", amountOf(lp.low), x.Capacity.Low)
	}
	switch high := x.Capacity.High; {
	case lp.high == nil && high != nil:
		f.addf("One VM more cannot be had, not even for %s.", *high)
	case lp.high != nil && high == nil:
		f.addf("One VM more costs %s, and the plan says it cannot be had.", amountOf(lp.high))
	case lp.high != nil && !same(*high, lp.high):
		f.addf("One VM more costs %s, not %s.", amountOf(lp.high), *high)
	}
	for k, c := range m.problem.Supply.Contracts {
		stated := x.Contracts[k]
		if stated.Name != c.Name {
			f.addf("In place %d of the prices stands contract %s, not %s.", k, stated.Name, c.Name)
			continue
		}
		price := mul(amount(c.Price.Decimal), m.hours)
		saving := sub(lp.low, price)
		if c.Billing != capacity.BilledAlways { // otherwise it is paid whether used or not
			saving = larger(zero(), saving)
		}
		if abs(sub(amount(stated.Worth.Decimal), saving)).Cmp(add(halfUnit, mul(relative, larger(lp.low, price)))) > 0 {
			f.addf("One VM more in contract %s saves %s, not %s.", c.Name, amountOf(saving), stated.Worth)
		}
	}
	return f
}
