package proof

import (
	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/proof/exact"
)

// Prices and quotas in whose ranges a plan stays the best are checked at their ends, as those of classes are.

// supplies checks the ranges of prices on demand and of quotas, of each type where there are several.
func (k *changes) supplies() {
	s := k.pl.Stays
	if s == nil {
		return
	}
	if k.f == nil || !k.f.named {
		if len(s.Types) > 0 {
			k.addf("Ranges of VM types are there, and the problem names none.")
		}
		k.supply(0, s.OnDemandPrice, s.Quota)
		return
	}
	if s.OnDemandPrice != nil || s.Quota != nil || len(s.Types) != len(k.f.types) {
		k.addf("The problem has %s, and its prices and quotas have other ranges.", count(len(k.f.types), "VM type", "VM types"))
		return
	}
	for v, of := range s.Types {
		if of.VMType != k.f.types[v].name {
			k.addf("In place %d stands a range of type %.60q, not of %q.", v, of.VMType, k.f.types[v].name)
			return
		}
		k.supply(v, of.OnDemandPrice, of.Quota)
	}
}

func (k *changes) supply(v int, prices *capacity.MoneyRange, quota *capacity.Range) {
	if prices != nil {
		k.prices(v, prices)
	}
	if quota != nil {
		k.quota(v, quota)
	}
}

// offered returns the offer of a type on demand, and the VMs that the plan rents there.
func (k *changes) offered(v int) (offer capacity.OnDemand, used float64) {
	if k.f == nil {
		return k.m.problem.Supply.OnDemand, k.pl.VMs.OnDemand
	}
	return k.f.types[v].problem.Supply.OnDemand, k.part(v).VMs.OnDemand
}

// supplied is the problem where a type offers something else on demand.
func (k *changes) supplied(v int, offer capacity.OnDemand) changed {
	if k.f == nil {
		m := *k.m
		m.problem.Supply.OnDemand = offer
		return m.supplied()
	}
	g := *k.f
	g.types = append([]vmType(nil), g.types...)
	t := *g.types[v].model
	t.problem.Supply.OnDemand = offer
	g.types[v].model = t.supplied()
	return &g
}

// rent is the cost of the plan's VMs in a problem with other prices.
func (k *changes) rent(c changed) *exact.Rat {
	if f, ok := c.(*fleet); ok {
		sum := new(exact.Rat).Set(f.fixed)
		for v := range f.types {
			if cost, ok := f.types[v].cheapest(number(k.part(v).VMs.Total)); ok {
				sum.Add(sum, cost)
			}
		}
		return sum
	}
	free := *c.base() // of the budget, which limits the VMs
	free.problem.Budget = nil
	cost, _ := free.supplied().rent(number(k.pl.VMs.Total))
	return cost
}

func (k *changes) prices(v int, r *capacity.MoneyRange) {
	offer, _ := k.offered(v)
	ends := moneyEnds(r, amount(offer.Price.Decimal), quo(mul(whole(4), k.tolerance()), k.m.hours))
	if ends == nil {
		k.addf("The range of prices on demand in which the plan stays the best leaves out its own.")
		return
	}
	avoided := sub(k.bill.vms, k.bill.objective)
	at := func(price *exact.Rat) (changed, *exact.Rat) {
		then := offer
		then.Price = amountOf(price)
		m := k.supplied(v, then)
		return m, sub(k.rent(m), avoided)
	}
	vms := func(price *exact.Rat) *exact.Rat {
		_, mine := at(price)
		return add(mine, avoided)
	}
	k.ends(ends, at, func(price *exact.Rat) *exact.Rat { return add(vms(price), k.bill.penalties) }, vms, func(price *exact.Rat) {
		k.addf("The plan does not stay the best as long as the price on demand is said to let it: at %s.", amountOf(price))
	})
}

// quota checks a range of quotas: from the VMs that the plan rents on demand on, and up to where a larger one lets a
// better plan in.
func (k *changes) quota(v int, r *capacity.Range) {
	offer, used := k.offered(v)
	low, high := 0.0, r.High
	if r.Low != nil {
		low = *r.Low
	}
	k.tested++
	if low != used || r.Low != nil && used == 0 {
		k.addf("The plan rents %v VMs on demand, and it is said to stay the best from a quota of %v on.", used, low)
	}
	if high != nil && (offer.Quota == nil || !number(*high).IsInt() || *high < float64(*offer.Quota)) {
		k.addf("The range of quotas in which the plan stays the best leaves out its own.")
		return
	}
	if offer.Quota == nil { // more there cannot be
		return
	}
	if k.passes() {
		return
	}
	at := func(quota *int64) changed { return k.supplied(v, capacity.OnDemand{Price: offer.Price, Quota: quota}) }
	if high == nil {
		k.decide(k.none(at(nil), k.bill.objective), "A cheaper plan is possible with a larger quota than %d, and none is said to be.", *offer.Quota)
		return
	}
	last := int64(*high)
	beyond := last + 1
	outcome := OK
	if last > *offer.Quota {
		outcome = k.none(at(&last), k.bill.objective)
	}
	found, then := k.look(at(&beyond), sub(k.bill.objective, k.tolerance()), true)
	if !found && then == OK {
		then = Failed
	}
	k.decide(worst(outcome, then), "The plan does not stay the best up to a quota of %v, or longer.", last)
}
