package plan

import (
	"github.com/shopspring/decimal"

	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/money"
	"example.org/headroom/internal/core/plan/mixes"
)

// A larger quota lets more plans in, so that the plan, rented as it is, stays the best until one of those costs less. With
// a smaller one it stays the best until its own VMs on demand are too many.

// quotas is the range of a quota in which the plan stays the best. fewest is the smallest quota with which the best plan
// under another one can be rented, if that one costs less than this plan; known is false where that was not worked out.
func quotas(quota *int64, onDemand float64, fewest func(quota *int64) (least int64, better, known bool)) *capacity.Range {
	var r capacity.Range
	if onDemand > 0 {
		r.Low = &onDemand
	}
	if quota == nil {
		return &r
	}
	least, better, known := fewest(nil)
	if !known || !better {
		return knownOnly(known, &r)
	}
	same, most := *quota, least-1 // up to same this plan is the best; most+1 lets a better one in
	for step := 0; same < most; step++ {
		try := most
		if step > 1 { // each plan found may let one in a little earlier
			try = same + (most-same+1)/2
		}
		least, better, known = fewest(&try)
		switch {
		case !known:
			return nil
		case better:
			most = min(most, least-1)
		default:
			same = try
		}
	}
	high := float64(max(same, most))
	r.High = &high
	return &r
}

func knownOnly[T any](known bool, r *T) *T {
	if !known {
		return nil
	}
	return r
}

// quotas is the range of the quota, for VMs of one type.
func (k *pricesBeside) quotas() *capacity.Range {
	refused := k.refusedValue()
	now, _ := k.total(k.besideOne.model, k.besideOne.plan.VMs, refused)
	used := k.vms(float64(k.besideOne.plan.VMs)).OnDemand
	return quotas(k.Supply.OnDemand.Quota, used, func(quota *int64) (least int64, better, known bool) {
		changed := k.series.base
		changed.Supply.OnDemand.Quota = quota
		pl, err := k.series.Solve(k.besideOne.ctx, changed)
		if err != nil || pl.Status == capacity.InfeasibleStatus || pl.Proof.Gap > 0 {
			return 0, false, false
		}
		m := &model{Problem: &changed, hours: k.hours}
		m.addSupply()
		cost, _ := k.total(m, int64(pl.VMs.Total), pl.Cost.Penalties.Decimal)
		return int64(pl.VMs.OnDemand), now.Sub(cost).GreaterThan(meetNoise), true
	})
}

// types works out the ranges of each type's price and quota.
func (b *besideFleet) supplies(k *counterfactual) *capacity.PlanStays {
	var stays capacity.PlanStays
	some := false
	for v := range b.types {
		t := &b.types[v]
		of := capacity.TypeStays{VMType: t.name}
		if k.ctx.Err() == nil && b.left > 0 {
			of.OnDemandPrice, of.Quota = b.pricesOf(k, v), b.quotasOf(k, v)
		}
		if !b.named() {
			stays.OnDemandPrice, stays.Quota = of.OnDemandPrice, of.Quota
		} else {
			stays.Types = append(stays.Types, of)
		}
		some = some || of.OnDemandPrice != nil || of.Quota != nil
	}
	return knownOnly(some, &stays)
}

// supplied is the fleet with another supply of a type.
func (f *fleet) supplied(v int, change func(s *capacity.OnDemand)) *fleet {
	g := *f
	g.types = append([]vmType(nil), f.types...)
	t := &g.types[v]
	m := *t.model
	p := *m.Problem
	change(&p.Supply.OnDemand)
	m.Problem, m.tiers, m.source = &p, nil, nil
	m.addSupply()
	t.model, t.rental = &m, mixes.NewRental(m.tiers, p.Supply.Spot, f.hours, t.rental.Need)
	return &g
}

// onDemandOf is the VMs on demand among so many of a type.
func (t *vmType) onDemandOf(n int64) int64 { return int64(t.rented(float64(n), true).OnDemand) }

// costs returns the cost of a plan's VMs and refused jobs above this plan's, at the prices of a fleet.
func (b *besideFleet) costs(g *fleet, p *fleetPlan) decimal.Decimal {
	o := b.seen(g, p, -1)
	return b.spentOn(g, p).Sub(b.spentOn(g, b.plan)).Add(o.others)
}

func (b *besideFleet) quotasOf(k *counterfactual, v int) *capacity.Range {
	t := &b.types[v]
	return quotas(t.Supply.OnDemand.Quota, float64(t.onDemandOf(b.plan.vms[v])), func(quota *int64) (least int64, better, known bool) {
		g := b.supplied(v, func(s *capacity.OnDemand) { s.Quota = quota })
		f := b.found(g, b.itself())
		if !f.proved || f.plan == nil {
			return 0, false, false
		}
		o := b.seen(g, f.plan, -1)
		return g.types[v].onDemandOf(f.plan.vms[v]), o.bill.Add(o.others).InexactFloat64() < -b.margin, true
	})
}

// pricesOf is the range of a type's price on demand in which the plan stays the best. It is nil where it was not worked
// out. Under a budget for VMs other prices let other plans in.
func (b *besideFleet) pricesOf(k *counterfactual, v int) *capacity.MoneyRange {
	if b.Budget != nil && b.Budget.VMCost != nil {
		return nil
	}
	p := &typePrices{besideFleet: b, v: v, own: b.types[v].Supply.OnDemand.Price.Decimal, refused: k.refusedValue()}
	for _, c := range b.types[v].Supply.Contracts {
		p.breaks = append(p.breaks, c.Price.Decimal)
	}
	if s := b.types[v].Supply.Spot; s != nil {
		p.breaks = append(p.breaks, s.Price.Decimal)
	}
	low, known := p.low()
	if !known {
		return nil
	}
	high, known := p.high()
	if !known {
		return nil
	}
	return &capacity.MoneyRange{Low: low, High: high}
}

// typePrices looks for the prices on demand of one type at which other plans are better.
type typePrices struct {
	*besideFleet
	v       int
	own     decimal.Decimal
	refused decimal.Decimal   // what this plan's refused jobs are worth
	breaks  []decimal.Decimal // prices at which the order of what is rented changes
}

func (p *typePrices) at(price decimal.Decimal) *fleet {
	return p.supplied(p.v, func(s *capacity.OnDemand) { s.Price = money.Amount{Decimal: price} })
}

// better says whether another plan is better at a price, and by how much this one costs more.
func (p *typePrices) better(f *fleetPlan) func(price decimal.Decimal) (is bool, by decimal.Decimal) {
	return func(price decimal.Decimal) (is bool, by decimal.Decimal) {
		g := p.at(price)
		affordable := p.Budget == nil || p.Budget.Total == nil || p.spentOn(g, p.plan).Add(p.refused).LessThanOrEqual(p.Budget.Total.Decimal)
		if f == nil || !affordable {
			return !affordable, by
		}
		by = p.costs(g, f).Neg()
		return by.GreaterThan(meetNoise), by
	}
}

// low is the price below which a plan with more VMs of the type is better: no other kind of plan gains by it.
func (p *typePrices) low() (at *money.Amount, known bool) { return p.until(decimal.Zero, nil) }

// high is the price above which a plan with fewer VMs of the type is better. Above all prices of contracts the plans
// cost what lines say.
func (p *typePrices) high() (at *money.Amount, known bool) {
	n, t := p.plan.vms[p.v], &p.types[p.v]
	if t.onDemandOf(n) == 0 {
		return nil, true
	}
	beyond := p.own.Add(decimal.NewFromInt(1))
	for _, x := range p.breaks {
		beyond = decimal.Max(beyond, x.Add(decimal.NewFromInt(1)))
	}
	if beyond = decimal.Min(beyond, money.MaxDecimal); beyond.LessThanOrEqual(p.own) {
		return nil, true
	}
	if at, known = p.until(beyond, nil); at != nil || !known || beyond.Equal(money.MaxDecimal) {
		return at, known
	}
	// A plan that is better at a higher price has fewer VMs on demand there.
	g := p.at(beyond)
	used, fewer := g.types[p.v].onDemandOf(n), n
	for fewer >= 0 && g.types[p.v].onDemandOf(fewer) == used {
		fewer--
	}
	if used > 0 && fewer >= 0 {
		r := &g.types[p.v].rental
		r.MostVMs, r.Limit = min(r.MostVMs, fewer), min(r.Limit, fewer)
		f := p.found(g, p.itself())
		if !f.proved {
			return nil, false
		}
		if f.plan != nil {
			return p.until(money.MaxDecimal, f.plan)
		}
	}
	if is, _ := p.better(nil)(money.MaxDecimal); is { // the budget for everything no longer pays for it
		return p.until(money.MaxDecimal, nil)
	}
	return nil, true
}

// until is the last price from the type's own to a limit at which this plan is the best; nil where it is the best at the
// limit too. The best plan at the limit may be known.
func (p *typePrices) until(limit decimal.Decimal, f *fleetPlan) (at *money.Amount, known bool) {
	if p.own.Equal(limit) {
		return nil, true
	}
	for try, step := limit, 0; step < maxPricePlans; step++ {
		if f == nil || step > 0 {
			s := p.found(p.at(try), p.itself())
			if f = s.plan; !s.proved || f == nil {
				return nil, false
			}
		}
		better := p.better(f)
		if is, _ := better(try); !is {
			return at, true
		}
		good := meets(p.own, try, p.breaks, p.Budget == nil, better)
		at = &money.Amount{Decimal: good}
		if good.Equal(p.own) || try.Equal(good) {
			return at, true
		}
		try = good
	}
	return nil, false
}
