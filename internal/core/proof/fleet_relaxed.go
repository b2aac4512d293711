package proof

import (
	"fmt"

	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/money"
	"example.org/headroom/internal/core/proof/exact"
)

// sides bounds the linear program's objective from both sides.
type sides struct {
	low   *exact.Rat // proved: nothing costs less
	high  *exact.Rat // reached, up to rounding; nil without an answer
	slack *exact.Rat // error of plans
}

func (p *program) sides() sides {
	d := p.solve()
	s := sides{low: add(p.paid(), p.exactly(d.nu, d.mu)), high: p.above(d)}
	lost := 1e-9 * (1 + d.size)
	for v, nu := range d.nu { // whole plans may lack that much of a VM, and so may their linear program
		lost += (nu + float(p.types[v].dearest())) * 1.1 * float(spare)
		for i := range p.classes {
			if c := p.types[v].classes[i]; p.gamma[i][v] != nil && !c.given {
				lost += nu * float(mul(c.max, sub(c.highest, c.lowest)))
			}
		}
	}
	s.slack = add(halfUnit, new(exact.Rat).SetFloat64(lost))
	return s
}

// relaxedFleet checks a plan's answer of the linear program.
func (r *Report) relaxedFleet(f *fleet, pl capacity.Plan, lp sides) {
	var all faults
	x := pl.Relaxed
	if len(x.Jobs) != len(f.classes) {
		all.addf("There are %s, and jobs of %d in the relaxation.", count(len(f.classes), "class", "classes"), len(x.Jobs))
		r.add(RelaxationCheck, all, "")
		return
	}
	if lp.high == nil {
		r.note(RelaxationCheck, NotProved, "The linear program was not solved here.")
		return
	}
	stated := amount(x.Objective.Decimal)
	if less(add(stated, lp.slack), lp.low) {
		all.addf("Its objective is no less than %s, not %s.", amountOf(lp.low), x.Objective)
	}
	if less(add(lp.high, lp.slack), stated) {
		all.addf("Its objective is %s, not %s.", amountOf(lp.high), x.Objective)
	}
	lowest, highest, lost := zero(), zero(), zero() // VMs
	fixed := f.newProgram(true, objective)
	for i := range f.classes {
		c, jobs := f.classes[i], number(x.Jobs[i])
		slack := mul(relative, c.max)
		if less(jobs, sub(c.min, slack)) || less(add(c.max, slack), jobs) || c.impossible && jobs.Sign() != 0 {
			all.addf("%s: %v jobs are outside %s to %s.", f.problem.Classes[i].Name, x.Jobs[i], short(c.min), short(c.max))
			continue
		}
		fixed.low[i], fixed.high[i] = jobs, jobs
		fixed.floats.low[i], fixed.floats.high[i] = x.Jobs[i], x.Jobs[i]
		var light, heavy *exact.Rat
		for v := range f.types {
			if on := f.types[v].classes[i]; !on.impossible {
				if light == nil {
					light, heavy = on.low, on.low
				}
				light, heavy = smaller(light, on.low), larger(heavy, on.low)
				lost.Add(lost, mul(c.max, sub(on.highest, on.lowest)))
			}
		}
		if light != nil {
			lowest.Add(lowest, mul(light, jobs))
			highest.Add(highest, mul(heavy, jobs))
		}
	}
	vms := number(x.Capacity)
	lost.Add(lost, mul(whole(int64(len(f.types))), spare))
	lost.Add(lost, mul(whole(10), mul(relative, add(whole(1), highest))))
	if less(add(vms, lost), lowest) || less(add(highest, lost), vms) {
		all.addf("Its jobs need %s to %s VMs, not %v.", short(lowest), short(highest), x.Capacity)
	}
	if len(all) == 0 {
		for v := range fixed.spare {
			fixed.lend(v, mul(whole(2), spare))
		}
		if fixed.purse != nil {
			fixed.pay(mul(mul(whole(10), relative), add(whole(1), fixed.purse)))
		}
		if d := fixed.solve(); less(add(stated, mul(whole(2), lp.slack)), add(fixed.paid(), fixed.exactly(d.nu, d.mu))) {
			all.addf("Its jobs cost more than %s.", x.Objective)
		}
	}
	r.add(RelaxationCheck, all, "The linear program's answer is right.")
}

// Steps that move the linear program to show its slopes. Its cost is convex in them. So over a step of any length the
// slope to one side is no higher, and to the other no lower, than any price at the point itself.
var (
	stepVMs   = exact.New(1, 100)
	stepPart  = exact.New(1, 1000) // of the purse
	firstStep = exact.New(8, 1e7)  // of VMs, and of the purse
)

const maxMoved = 40_000 // limit of classes times prices

// hairs, in parts of a step, is the distance from a kink within which a plan may count as on it.
const hairs = 500

// slope bounds the savings of the linear program for each one more of something, or its losses for each one less if
// steps are negative. A long step bounds the slope from one side, and the shortest step from the other. A bound is
// nil if the linear program has no answer.
func (f *fleet) slope(lp sides, step, first *exact.Rat, move func(p *program, by *exact.Rat) bool) (low, high *exact.Rat) {
	at := func(by *exact.Rat) (s sides, ok bool) {
		p := f.newProgram(true, objective)
		if !move(p, by) {
			return s, false
		}
		s = p.sides()
		return s, s.high != nil
	}
	var far, near *exact.Rat
	if end, ok := at(step); ok {
		hair := quo(step, whole(hairs))
		start, ok := at(hair)
		if !ok {
			start, hair = lp, zero()
		}
		far = quo(sub(start.low, end.high), sub(step, hair))
	}
	if end, ok := at(first); ok {
		near = quo(sub(lp.high, end.low), first)
	}
	if step.Sign() < 0 {
		return near, far
	}
	return far, near
}

// within reports whether an amount is a slope; tolerance is that of the linear program's sides.
func (f *fleet) within(m money.Amount, low, high *exact.Rat) bool {
	x := amount(m.Decimal)
	slack := add(add(halfUnit, halfUnit), mul(exact.New(1, 1e7), add(whole(1), abs(x))))
	return (low == nil || !less(add(x, slack), low)) && (high == nil || !less(add(high, slack), x))
}

// pricesFleet checks the prices against the slopes of the linear program.
func (r *Report) pricesFleet(f *fleet, x capacity.Prices, lp sides) {
	if lp.high == nil {
		r.note(PricesCheck, NotProved, "The linear program was not solved here.")
		return
	}
	contracts := 0
	for v := range f.types {
		contracts += len(f.types[v].problem.Supply.Contracts)
	}
	var all faults
	if len(x.Contracts) != contracts {
		all.addf("The problem has %s, the prices %d.", count(contracts, "contract", "contracts"), len(x.Contracts))
		r.add(PricesCheck, all, "")
		return
	}
	if f.named && len(x.Types) != len(f.types) || !f.named && len(x.Types) > 0 {
		all.addf("The problem has %s, the prices %d.", count(len(f.types), "VM type", "VM types"), len(x.Types))
		r.add(PricesCheck, all, "")
		return
	}
	if (contracts+len(f.types))*len(f.classes)*len(f.types) > maxMoved {
		r.note(PricesCheck, NotProved, "There are too many prices to look at each.")
		return
	}
	at := 0
	for v := range f.types {
		stated := x.Capacity
		if f.named {
			if stated = x.Types[v].CapacityPrice; x.Types[v].Name != f.types[v].name {
				all.addf("In place %d of the prices stands type %s, not %s.", v, x.Types[v].Name, f.types[v].name)
			}
		}
		f.priceOf(&all, v, stated, lp)
		for k, c := range f.types[v].problem.Supply.Contracts {
			worth := x.Contracts[at]
			if at++; worth.Name != c.Name {
				all.addf("In place %d of the prices stands contract %s, not %s.", at-1, worth.Name, c.Name)
				continue
			}
			f.worthOf(&all, v, k, worth.Worth, lp)
		}
	}
	if f.named {
		f.cheapestPrice(&all, x)
	}
	switch {
	case f.purse == nil && x.Budget != nil:
		all.addf("A budget is worth %s, and there is none for VMs.", x.Budget)
	case f.purse != nil && x.Budget == nil:
		all.addf("prices/budget is missing: the problem has a budget for VMs.")
	case f.purse != nil:
		size := add(whole(1), abs(f.purse))
		low, high := f.slope(lp, mul(stepPart, size), mul(firstStep, size), func(p *program, by *exact.Rat) bool {
			p.pay(by)
			return p.purse.Sign() >= 0
		})
		if !f.within(*x.Budget, low, high) {
			all.addf("One more in the budget for VMs saves %s, not %s.", between(low, high), x.Budget)
		}
	}
	r.add(PricesCheck, all, "The marginal prices are those of the linear program.")
}

func between(low, high *exact.Rat) string {
	switch {
	case low == nil:
		low = zero()
		fallthrough
	case high == nil:
		return amountOf(low).String() + " or more"
	case amountOf(low).Equal(amountOf(high).Decimal):
		return amountOf(low).String()
	}
	return fmt.Sprintf("%s to %s", amountOf(low), amountOf(high))
}

// vmSlopes bounds what a VM less of a type saves, and what one more costs, which is no less. An end is nil if the linear
// program has no answer there.
func (f *fleet) vmSlopes(v int, lp sides) (fewer, more [2]*exact.Rat) {
	lend := func(p *program, by *exact.Rat) bool {
		p.lend(v, by)
		return true
	}
	fewer[0], fewer[1] = f.slope(lp, stepVMs, firstStep, lend)
	more[0], more[1] = f.slope(lp, zero().Neg(stepVMs), zero().Neg(firstStep), lend)
	least, most := fewer[0], more[1]
	if most != nil && fewer[1] != nil {
		fewer[1] = smaller(fewer[1], most)
	}
	if least != nil && more[0] != nil {
		more[0] = larger(more[0], least)
	}
	return fewer, more
}

// priceOf checks the worth of a VM of a type.
func (f *fleet) priceOf(all *faults, v int, stated capacity.CapacityPrice, lp sides) {
	fewer, more := f.vmSlopes(v, lp)
	name := "One VM"
	if f.named {
		name += " of " + f.types[v].name
	}
	if !f.within(stated.Low, fewer[0], fewer[1]) {
		all.addf("%s less costs %s, not %s.", name, between(fewer[0], fewer[1]), stated.Low)
	}
	switch low, high := more[0], more[1]; {
	case stated.High == nil && high != nil:
		all.addf("%s more costs %s, and the plan says it cannot be had.", name, between(low, high))
	case stated.High != nil && high == nil && f.lacks(v):
		all.addf("%s more cannot be had, not even for %s.", name, *stated.High)
	case stated.High != nil && !f.within(*stated.High, low, high):
		all.addf("%s more costs %s, not %s.", name, between(low, high), *stated.High)
	case stated.High != nil && stated.High.LessThan(stated.Low.Decimal):
		all.addf("%s more costs %s, and one less saves %s, which is more.", name, *stated.High, stated.Low)
	}
}

// pinned is the most by which bounds of a price differ that name it, in parts of one more than the price.
var pinned = exact.New(1, 100_000)

// costs reports whether a VM less of a type surely costs an amount.
func (f *fleet) costs(v int, stated money.Amount, lp sides) bool {
	fewer, _ := f.vmSlopes(v, lp)
	return fewer[0] != nil && fewer[1] != nil && f.within(stated, fewer[0], fewer[1]) &&
		!less(mul(pinned, add(whole(1), fewer[1])), sub(fewer[1], fewer[0]))
}

// lacks reports whether the promised jobs need all VMs of a type.
func (f *fleet) lacks(v int) bool {
	p := f.newProgram(true, missing)
	p.lend(v, zero().Neg(firstStep))
	d := p.solve()
	return less(mul(firstStep, exact.New(1, 2)), p.exactly(d.nu, d.mu))
}

// worthOf checks the savings from one more VM in a contract. A contract billed always is paid in any case, so its VMs
// are free.
func (f *fleet) worthOf(all *faults, v, k int, stated money.Amount, lp sides) {
	c := f.types[v].problem.Supply.Contracts[k]
	price, always := mul(amount(c.Price.Decimal), f.hours), c.Billing == capacity.BilledAlways
	step := stepVMs
	if always && f.purse != nil && price.Sign() > 0 { // a step that the purse can pay
		if step = smaller(step, quo(f.purse, mul(whole(2), price))); less(step, firstStep) {
			return // what is left is rounding, and a slope would be one of rounding
		}
	}
	low, high := f.slope(lp, step, mul(step, quo(firstStep, stepVMs)), func(p *program, by *exact.Rat) bool {
		if always && p.purse != nil {
			p.pay(zero().Neg(mul(by, price)))
		}
		return p.enlarge(v, k, by)
	})
	saved := stated
	if always {
		saved = amountOf(add(amount(stated.Decimal), price))
	}
	if !f.within(saved, low, high) {
		all.addf("One VM more in contract %s saves %s, and %s is said.", c.Name, between(low, high), saved)
	}
}

// enlarge makes a contract larger or smaller; it returns false if that leaves fewer than no VMs.
func (p *program) enlarge(v, k int, by *exact.Rat) bool {
	t := p.types[v]
	own := *t.model
	own.supply = append([]source(nil), own.supply...)
	for j := range own.supply {
		if s := &own.supply[j]; s.contract == k {
			if s.vms = add(s.vms, by); s.vms.Sign() < 0 {
				return false
			}
		}
	}
	t.model = &own
	need := whole(1)
	for _, l := range p.rented[v] {
		need = add(need, l.length)
	}
	p.rented[v] = p.lines(&t, need)
	p.floats.length[v], p.floats.price[v] = nil, nil
	for _, l := range p.rented[v] {
		p.floats.length[v], p.floats.price[v] = append(p.floats.length[v], float(l.length)), append(p.floats.price[v], float(l.price))
	}
	return true
}

// lend gives a type free VMs.
func (p *program) lend(v int, vms *exact.Rat) {
	p.spare[v] = add(p.spare[v], vms)
	p.floats.spare[v] = float(p.spare[v])
}

// pay adds money to the purse.
func (p *program) pay(money *exact.Rat) {
	p.purse = add(p.purse, money)
	p.floats.purse = float(p.purse)
}

// cheapestPrice checks that the price of capacity is that of the cheapest type, the first of several.
func (f *fleet) cheapestPrice(all *faults, x capacity.Prices) {
	cheapest := &x.Types[0]
	for v := range x.Types {
		if t := &x.Types[v]; t.Low.LessThan(cheapest.Low.Decimal) {
			cheapest = t
		}
	}
	low, high := x.Capacity.Low, x.Capacity.High
	if !low.Equal(cheapest.Low.Decimal) || (high == nil) != (cheapest.High == nil) || high != nil && !high.Equal(cheapest.High.Decimal) {
		all.addf("The price of capacity is that of the cheapest type, %s: one less costs %s and one more %v, not %s and %v.",
			cheapest.Name, cheapest.Low, orNone(cheapest.High), low, orNone(high))
	}
}
