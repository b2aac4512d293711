package proof

import (
	"slices"

	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/money"
	"example.org/headroom/internal/core/proof/exact"
)

// NotChecked lists the contents of plans that no check covers.
var NotChecked = []string{
	"the reasons of plans that list no facts, as older ones do",
	"the engine beside the proof, whether it agreed, how long it took, and why it gave no answer",
	"the VMs that the integer program of an executable plan misses, and its objective where plans are close to each other",
	"the VMs of the linear program where there are several prices of capacity, but for their range",
	"what would change a decision that is a tie, where a hair of a job decides",
	"ranges in which the plan stays the best that are not there, and bounds that are not there",
	"what would change a plan, beyond the statements that the check has looked at and decided",
	"how many VMs come or go with a job more or less where the bill is the same with others",
	"with several prices of capacity, the split of the amount of a job more or less",
	"times on less than a billionth of a slot, where floats lose them",
	"the worth of a contract billed always where a budget for VMs has nothing left to pay one more with",
}

// parts lists the parts of a plan that are missing though the planner always writes them, or present though it never
// does.
func (m *model) parts(pl capacity.Plan, fleet bool) []string {
	var f faults
	if pl.Relaxed == nil {
		f.addf("relaxed is missing: every plan says what the linear program comes to.")
	}
	if pl.Prices == nil {
		f.addf("prices is missing: every plan says what capacity is worth.")
	}
	f = append(f, m.warnings(pl, fleet)...)
	if len(pl.Layout) > 0 && m.integrality != capacity.Executable {
		f.addf("layout is there, and only executable plans have one.")
	}
	tells := told(pl)
	for i := range pl.Classes {
		c := &pl.Classes[i]
		possible := i < len(m.classes) && !m.classes[i].impossible
		if tells && possible && m.integrality != capacity.Relaxed && (c.OneMore == nil || c.OneLess == nil && c.Admitted > 0) {
			f.addf("%s: one_more or one_less is missing, and other classes have it.", c.Name)
		}
	}
	if pl.Stays != nil && m.integrality == capacity.Relaxed {
		f.addf("stays is there, and only whole plans have it.")
	}
	if pl.Integer != nil && (fleet || m.integrality == capacity.Relaxed) {
		f.addf("integer is there, and only plans of whole jobs and one price of capacity have it.")
	}
	return f
}

// blank lists the figures of a plan that should have none.
func (m *model) blank(pl capacity.Plan) []string {
	var f faults
	c, v := &pl.Cost, &pl.VMs
	for _, amount := range []money.Amount{pl.Objective, c.Total, c.Bill, c.OnDemand, c.Spot, c.Reserved, c.ReservedIdle, c.Penalties, c.PerHour, c.PerMonth} {
		if !amount.IsZero() {
			f.addf("There is no plan, and an amount of %s.", amount)
		}
	}
	for _, vms := range []float64{v.Total, v.Reserved, v.OnDemand, v.Spot, v.Rounding} {
		if vms != 0 {
			f.addf("There is no plan, and a figure of %v VMs.", vms)
		}
	}
	if len(v.Contracts)+len(v.Types)+len(pl.Classes)+len(pl.Layout) > 0 || pl.Prices != nil || pl.Relaxed != nil || pl.Integer != nil || pl.Proof != nil || pl.Stays != nil || len(pl.Facts) > 0 {
		f.addf("There is no plan, and contracts, VM types, classes, layout, prices, relaxed, integer, proof, stays or facts are not empty.")
	}
	if c.Currency != m.problem.Currency || c.PeriodSeconds != m.problem.PeriodSeconds {
		f.addf("The cost is in %s a %d s, the problem in %s a %d s.", c.Currency, c.PeriodSeconds, m.problem.Currency, m.problem.PeriodSeconds)
	}
	return f
}

// budgetWorth checks the savings from one more in a budget for VMs that acts as a quota. They are the difference
// between a VM's worth and its price, per money for a VM, and zero while money is left.
func (m *model) budgetWorth(x capacity.Prices, lp relaxed) []string {
	var f faults
	if b := m.problem.Budget; b == nil || b.VMCost == nil {
		if x.Budget != nil {
			f.addf("A budget is worth %s, and there is none for VMs.", x.Budget)
		}
		return f
	}
	if x.Budget == nil {
		f.addf("prices/budget is missing: the problem has a budget for VMs.")
		return f
	}
	var next *exact.Rat // the cheapest price of VMs that the budget does not cover
	for _, s := range m.supply {
		full := m.problem.Supply.OnDemand.Quota
		if s.contract >= 0 {
			full = &m.problem.Supply.Contracts[s.contract].VMs
		}
		if !s.unlimited && (full == nil || less(s.vms, whole(*full))) && (next == nil || less(s.price, next)) {
			next = s.price
		}
	}
	worth, stated := zero(), amount(x.Budget.Decimal)
	if next != nil && next.Sign() > 0 {
		worth = quo(larger(zero(), sub(amount(x.Capacity.Low.Decimal), next)), next)
	}
	slack := add(halfUnit, mul(relative, worth))
	if next != nil && next.Sign() > 0 {
		slack.Add(slack, quo(halfUnit, next))
	}
	highest, bounded := m.existing()
	hair := mul(relative, add(whole(1), lp.load))
	usedUp := bounded && !less(add(lp.load, add(whole(1), hair)), highest)
	left := bounded && less(add(lp.load, sub(whole(1), hair)), highest) || !bounded
	if !(usedUp && abs(sub(stated, worth)).Cmp(slack) <= 0) && !(left && stated.Sign() == 0) {
		f.addf("One more in the budget for VMs saves %s, not %s.", amountOf(worth), x.Budget)
	}
	return f
}

// maker checks the proof's statements about itself.
func (m *model) maker(p *capacity.Proof) []string {
	var f faults
	method := "core"
	if m.integrality == capacity.Relaxed {
		method = "lp"
	}
	if p.Method != method {
		f.addf("The method that proves the bound of such a plan is %s, not %.60q.", method, p.Method)
	}
	if p.Engine != "" && !engineName().MatchString(p.Engine) || p.Engine == "" && p.Agreed != nil || p.SolveMs < 0 {
		f.addf("The engine %.60q beside the proof is none, or agreed or solve_ms is not of it.", p.Engine)
	}
	if !p.Checked {
		f.addf("The plan says that it was not checked, and none is let out unchecked.")
	}
	return f
}

// flips checks that flips are the ends of the ranges in which the plan stays the best. Where there are none it checks the
// penalties of a fleet's classes by the linear program. One is that from which one more job is worth its VMs on their
// cheapest type, the other changes a decision.
func (f *fleet) flips(pl capacity.Plan) []string {
	var all faults
	if pl.Relaxed == nil || pl.Prices == nil || len(pl.Relaxed.Jobs) != len(f.classes) || f.named && len(pl.Prices.Types) != len(f.types) {
		return nil
	}
	for i := range f.classes {
		c, stated := f.classes[i], &pl.Classes[i]
		penalty, deadline := all.rangesOf(&f.problem.Classes[i], stated)
		if !deadline && stated.Flips.DeadlineSeconds != nil {
			all.addf("%s: with several prices of capacity the linear program knows no deadline that would change its jobs.", stated.Name)
		}
		var prices *capacity.MoneyRange
		if pl.Stays != nil {
			prices = pl.Stays.OnDemandPrice
		}
		switch {
		case prices != nil:
			all.nearest(stated, "price on demand", stated.Flips.OnDemandPrice, prices.Nearest(f.problem.Supply.OnDemand.Price))
		case stated.Flips.OnDemandPrice != nil:
			all.addf("%s: with several prices of capacity the linear program knows no price on demand that would change its jobs.", stated.Name)
		}
		low, high, slack := f.cheapest(i, pl.Prices)
		if !c.impossible && f.integrality != capacity.Relaxed {
			far := func(distance *exact.Rat) bool { return distance.Cmp(slack) > 0 }
			all.relaxedJob(stated, "more", stated.OneMore, high, far)
			all.relaxedJob(stated, "less", stated.OneLess, low, far)
		}
		if c.impossible && (stated.OneMore != nil || stated.OneLess != nil) {
			all.addf("%s: no job can run, and one more or less is said to change something.", stated.Name)
		}
		if penalty {
			continue
		}
		shown := stated.BreakEvenPenalty
		none := c.impossible || high == nil
		if none != (shown == nil) || !none && abs(sub(amount(shown.Decimal), high)).Cmp(slack) > 0 {
			if none {
				all.addf("%s: there is no penalty for which one more job is worth its VMs, and %s is said.", stated.Name, shown)
			} else {
				all.addf("%s: one more job is worth its VMs from a penalty of %s on, not %s.", stated.Name, amountOf(high), orNone(shown))
			}
		}
		f.penaltyFlip(&all, i, stated, pl.Relaxed.Jobs[i], low, high, slack)
	}
	return all
}

// cheapest returns the worth of a job's VMs on the type where they cost least, with one VM less and one more; high is
// nil if there are no more. slack is the amount by which the plan's figures may differ.
func (f *fleet) cheapest(i int, prices *capacity.Prices) (low, high, slack *exact.Rat) {
	lowest := func(to **exact.Rat, x *exact.Rat) {
		if *to == nil || less(x, *to) {
			*to = x
		}
	}
	slack = halfUnit
	for v := range f.types {
		on := f.types[v].classes[i]
		if on.impossible {
			continue
		}
		p := &prices.Capacity
		if f.named {
			p = &prices.Types[v].CapacityPrice
		}
		lowest(&low, mul(on.low, amount(p.Low.Decimal)))
		highest := zero()
		if p.High != nil {
			highest = mul(on.low, amount(p.High.Decimal))
		}
		if p.High != nil || on.low.Sign() == 0 {
			lowest(&high, highest)
		}
		slack = add(slack, add(mul(halfUnit, on.low), add(mul(relative, highest), mul(on.doubt(), add(whole(1), amount(p.Low.Decimal))))))
	}
	return low, high, slack
}

// penaltyFlip checks the penalty that changes a decision. If all jobs of the class run, it is the savings of a job's
// VMs with one less. If only the promised ones run, it is their cost with one more.
func (f *fleet) penaltyFlip(all *faults, i int, stated *capacity.ClassPlan, jobs float64, low, high, slack *exact.Rat) {
	c, shown := f.classes[i], stated.Flips.Penalty
	open := !c.impossible && low != nil && less(c.min, c.max)
	near := 1e-7 * (1 + float(c.max))
	flips := func(decided bool, at *exact.Rat) bool {
		return open && decided && at != nil && (shown == nil || abs(sub(amount(shown.Decimal), at)).Cmp(slack) <= 0)
	}
	highest, lowest := float(c.max), float(c.min)
	switch {
	case shown == nil && (flips(jobs >= highest, low) || flips(jobs <= lowest, high)):
		all.addf("%s: the penalty at which its jobs change is missing.", stated.Name)
	case shown != nil && !flips(jobs >= highest-near, low) && !flips(jobs <= lowest+near, high):
		all.addf("%s: its jobs do not change at a penalty of %s, or at a nearer one.", stated.Name, shown)
	}
}

// told says whether the plan tells what a job more or less changes: older ones do not.
func told(pl capacity.Plan) bool {
	return slices.ContainsFunc(pl.Classes, func(c capacity.ClassPlan) bool { return c.OneMore != nil })
}
