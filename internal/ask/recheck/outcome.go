package recheck

import (
	"fmt"
	"math/big"
	"slices"

	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/fault"
	"example.org/headroom/internal/core/plan"
	"example.org/headroom/internal/core/proof"
)

// outcome is a plan in few figures, of whatever answer.
type outcome struct {
	at                string
	got               any // the part of the answer
	status            capacity.Status
	cost              capacity.Cost
	vms               plan.RentedVMs
	admitted, refused float64
	gap               float64
	conflicts         []fault.Finding
}

// outcome checks a plan in few figures: what follows from the counts, and that such a plan is there.
func (c *checking) outcome(p *capacity.Problem, o outcome) {
	total := o.cost.Total.Rat()
	if o.status == capacity.InfeasibleStatus {
		c.differ(o.at, o.got, map[string]any{"admitted": nothing(), "refused": nothing(), "gap": nothing(),
			"cost": map[string]any{"total": nothing(), "bill": nothing(), "on_demand": nothing(), "reserved": nothing(), "reserved_idle": nothing(),
				"penalties": nothing(), "per_hour": nothing(), "per_month": nothing(), "currency": p.Currency,
				"period_s": exact(whole(p.PeriodSeconds))},
			"vms": map[string]any{"total": nothing(), "on_demand": nothing(), "reserved": nothing(), "spot": nothing()}})
		c.nowhere(o.at, p)
		return
	}
	if o.status != capacity.Optimal && o.status != capacity.Feasible {
		c.wrong(o.at+"/status", "is %q", o.status)
	}
	most := new(big.Rat)
	for i := range p.Classes {
		most.Add(most, number(p.Classes[i].Jobs.Max))
	}
	cost, sum, refusing, near := billed(p, &o.cost)
	onDemand, vms := c.rent(p, o)
	if onDemand != nil {
		cost["on_demand"] = near(onDemand, 1)
		c.differ(o.at+"/cost of its VMs", sub(sum, o.cost.Penalties.Rat()).FloatString(12), near(vms, 4))
	}
	c.differ(o.at, o.got, map[string]any{"cost": cost, "refused": about(sub(most, number(o.admitted))),
		"vms": map[string]any{"total": about(add(add(number(o.vms.OnDemand), number(o.vms.Reserved)), number(o.vms.Spot)))}})
	c.penalties(p, o, near)
	yardstick, gap := spread(o.gap, total, refusing, sub(total, o.cost.Penalties.Rat()))
	c.allowed(o.at, p, o.status, o.gap, gap, yardstick)
	c.holds(o.at+"/cost/total", p, total, gap, near(total, 5).off)
}

// billed returns the members of a cost that follow from its parts, their sum, and the value of refusing all jobs. near
// allows for the rounding of so many parts.
func billed(p *capacity.Problem, cost *capacity.Cost) (want map[string]any, sum, refusing *big.Rat, near func(x *big.Rat, units int64) figure) {
	sum, refusing = new(big.Rat), new(big.Rat)
	for i, x := range costOf(cost) {
		if i > 0 {
			sum.Add(sum, x)
		}
	}
	for i := range p.Classes {
		refusing.Add(refusing, mul(number(p.Classes[i].Jobs.Max), p.Classes[i].Penalty.Rat()))
	}
	near = func(x *big.Rat, units int64) figure {
		off := big.NewRat(units, 1e9)
		if p.Options.Integrality == capacity.Relaxed {
			off = add(off, add(mul(big.NewRat(5, 1e9), abs(x)), mul(big.NewRat(units, 1e9), refusing)))
		}
		return figure{x, off}
	}
	perHour, units := quo(cost.Total.Rat(), big.NewRat(p.PeriodSeconds, 3600)), 5*3600/min(3600, p.PeriodSeconds)+1
	want = map[string]any{"total": near(sum, 5), "bill": near(sub(sum, cost.Penalties.Rat()), 4), "per_hour": near(perHour, units),
		"per_month": near(mul(perHour, whole(capacity.HoursPerMonth)), capacity.HoursPerMonth*units), "currency": p.Currency, "period_s": exact(whole(p.PeriodSeconds))}
	return want, sum, refusing, near
}

// rent returns the cost of an outcome's VMs on demand and in all. It is nil but for one kind of machine without spot.
func (c *checking) rent(p *capacity.Problem, o outcome) (onDemand, all *big.Rat) {
	s := &p.Supply
	if len(s.VMTypes) > 0 || s.Spot != nil {
		return nil, nil
	}
	if q := s.OnDemand.Quota; q != nil && o.vms.OnDemand > float64(*q)*(1+1e-9) || o.vms.Spot != 0 {
		c.wrong(o.at+"/vms", "are more than there are")
	}
	hours := big.NewRat(p.PeriodSeconds, 3600)
	onDemand = mul(mul(s.OnDemand.Price.Rat(), number(o.vms.OnDemand)), hours)
	all = new(big.Rat).Set(onDemand)
	contracts := slices.Clone(s.Contracts) // cheapest first at the margin
	slices.SortStableFunc(contracts, func(x, y capacity.Contract) int { return marginal(x).Cmp(marginal(y)) })
	left, idle := number(o.vms.Reserved), new(big.Rat)
	for _, k := range contracts {
		used := least(left, whole(k.VMs))
		left = sub(left, used)
		price := mul(k.Price.Rat(), hours)
		if k.Billing == capacity.BilledAlways {
			idle.Add(idle, mul(price, sub(whole(k.VMs), used)))
			used = whole(k.VMs)
		}
		all.Add(all, mul(price, used))
	}
	if float(left) > 1e-6 {
		c.wrong(o.at+"/vms/reserved", "is %v, more than the contracts have", o.vms.Reserved)
	}
	used := func(k capacity.Contract) bool { return k.Billing != capacity.BilledAlways }
	if always := slices.DeleteFunc(slices.Clone(contracts), used); len(always) < 2 { // otherwise nothing says which are idle
		off := big.NewRat(1, 1e6)
		if p.Options.Integrality != capacity.Relaxed {
			off = big.NewRat(1, 1e9)
		}
		c.differ(o.at+"/cost/reserved_idle", o.cost.ReservedIdle.String(), figure{idle, off})
	}
	return onDemand, all
}

// marginal is the price of a contract's VM that is used rather than not.
func marginal(k capacity.Contract) *big.Rat {
	if k.Billing == capacity.BilledAlways {
		return new(big.Rat)
	}
	return k.Price.Rat()
}

// penalties checks that so many refused jobs can cost so much.
func (c *checking) penalties(p *capacity.Problem, o outcome, near func(*big.Rat, int64) figure) {
	classes := slices.Clone(p.Classes)
	slices.SortFunc(classes, func(x, y capacity.Class) int { return x.Penalty.Cmp(y.Penalty.Decimal) })
	spend := func() *big.Rat {
		sum, left := new(big.Rat), number(o.refused)
		for _, k := range classes {
			n := least(left, sub(number(k.Jobs.Max), number(k.Jobs.Min)))
			sum, left = add(sum, mul(n, k.Penalty.Rat())), sub(left, n)
		}
		return sum
	}
	lowest := spend()
	slices.Reverse(classes)
	highest, said := spend(), o.cost.Penalties.Rat()
	if off := near(said, 2).off; said.Cmp(sub(lowest, off)) < 0 || said.Cmp(add(highest, off)) > 0 {
		c.wrong(o.at+"/cost/penalties", "is %s, and %v refused jobs cost from %s to %s",
			o.cost.Penalties, o.refused, trimmed(lowest), trimmed(highest))
	}
}

// plan checks a whole plan against its problem, and that an outcome sums it up.
func (c *checking) plan(p *capacity.Problem, pl *capacity.Plan, o outcome) {
	for _, check := range proof.Verify(*p, *pl, proof.Options{Pause: c.options.Pause}).Checks {
		switch check.Outcome {
		case proof.Failed:
			c.wrong(o.at+"/plan", "is wrong (%s): %s", check.Name, check.Detail)
		case proof.NotProved:
			c.doubt(o.at+"/plan", "is not proved (%s): %s", check.Name, check.Detail)
		}
	}
	admitted, refused := new(big.Rat), new(big.Rat)
	for i := range pl.Classes {
		admitted.Add(admitted, number(pl.Classes[i].Admitted))
		refused.Add(refused, number(pl.Classes[i].Refused))
	}
	vms := &pl.VMs
	want := map[string]any{"status": string(pl.Status), "cost": tree(marshalled(pl.Cost)),
		"admitted": about(admitted), "refused": about(refused),
		"vms": map[string]any{"total": about(number(vms.Total)), "on_demand": about(number(vms.OnDemand)),
			"reserved": about(number(vms.Reserved)), "spot": about(number(vms.Spot))}}
	if pl.Proof != nil {
		want["gap"] = about(number(pl.Proof.Gap))
	}
	c.differ(o.at, o.got, want)
}

// conflicts checks why there is no plan, and what cures that.
func (c *checking) conflicts(p *capacity.Problem, o outcome) {
	pl := capacity.Plan{Status: capacity.InfeasibleStatus, Conflicts: o.conflicts}
	pl.Cost.Currency, pl.Cost.PeriodSeconds = p.Currency, p.PeriodSeconds
	for _, check := range proof.Verify(*p, pl, proof.Options{Brief: true, Pause: c.options.Pause}).Checks {
		switch check.Outcome {
		case proof.Failed:
			c.wrong(o.at+"/conflicts", "are wrong: %s", check.Detail)
		case proof.NotProved:
			c.doubt(o.at+"/conflicts", "are not proved: %s", check.Detail)
		}
	}
}

// conflict checks the sentence that says why there is no plan.
func (c *checking) conflict(at string, p *capacity.Problem, said string) {
	if wrong := proof.ConflictFaults(*p, said, proof.Options{Pause: c.options.Pause}); len(wrong) > 0 {
		c.wrong(at+"/conflict", "is wrong: %s", wrong[0])
	}
}

func at(i int, list string) string { return fmt.Sprintf("/%s/%d", list, i) }
