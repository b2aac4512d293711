package recheck

import (
	"fmt"
	"math/big"

	"headroom/internal/ask/goal"
	"headroom/internal/ask/horizon"
	"headroom/internal/ask/whatif"
	"headroom/internal/core/capacity"
	"headroom/internal/core/plan"
)

// figures are numbers by kind of fact and name, such as "spent/left", or by its subject as well: "buy large/value".
type figures map[string]*big.Rat

// listed checks the figures of facts; those of other kinds and names are not looked at.
func (c *checking) listed(facts []capacity.Fact, want figures) {
	seen := map[string]bool{}
	for i, f := range facts {
		for k, x := range f.Figures {
			is, known := want[f.Kind+" "+f.Subject+"/"+x.Name]
			if !known {
				is, known = want[f.Kind+"/"+x.Name]
			}
			if known && is != nil {
				seen[f.Kind] = true
				c.differ(fmt.Sprintf("/facts/%d/figures/%d/value", i, k), x.Value, figure{is, big.NewRat(2, 1e9)})
			}
		}
	}
	c.end(FactsCheck, "The figures of %d kinds of facts follow from the rest.", len(seen))
}

// factsOf are the figures of an answer to a goal.
func factsOf(q *goal.ProblemQuestion, a *goal.Answer, p *capacity.Problem) figures {
	o, was := &a.Outcome, a.Compared
	total, refusals := o.Cost.Total.Rat(), o.Cost.Penalties.Rat()
	f := figures{"cost_per_month/cost": o.Cost.PerMonth.Rat(), "cost_of_all/cost": total, "cost_of_all/vms": number(o.VMs.Total),
		"with_penalties/penalties": refusals, "with_penalties/total": total, "most_for_budget/admitted": number(o.Admitted),
		"most_for_budget/refused": number(o.Refused), "most_for_budget/vms": number(o.VMs.Total), "plans_compared/with": total}
	if q.Budget != nil {
		spent := sub(total, refusals)
		if q.Budget.Of == goal.OfTotal {
			spent = total
		}
		budget := budgetOf(q.Budget, p)
		f["most_for_budget/budget"], f["spent/spent"], f["spent/left"] = budget, spent, sub(budget, spent)
	}
	for i := range p.Classes {
		if p.Classes[i].Name == q.Class {
			f["refusal_would_cost/penalty"] = p.Classes[i].Penalty.Rat()
		}
	}
	if was != nil {
		f.compared(o, was)
	}
	for i := range a.Deadlines {
		d := &a.Deadlines[i]
		for _, kind := range map[string][]string{"given": {"given_deadline"}, "least": {"earliest_deadline"},
			"cheapest": {"earliest_at_the_cost", "no_earlier_deadline"}}[d.What] {
			f[kind+"/deadline"], f[kind+"/cost"], f[kind+"/vms"] = number(d.Deadline), d.Cost.Rat(), number(d.VMs)
		}
	}
	return f
}

// compared adds the figures that compare two outcomes.
func (f figures) compared(o, was *plan.Outcome) {
	more := sub(o.Cost.Total.Rat(), was.Cost.Total.Rat())
	value := sub(o.Cost.Penalties.Rat(), was.Cost.Penalties.Rat())
	f["one_more_costs/amount"], f["one_more_costs/value_refused"], f["one_more_costs/bill"] = more, value, sub(more, value)
	f["one_more_costs/vms"] = sub(number(o.VMs.Total), number(was.VMs.Total))
	f["plans_compared/without"], f["budget_does_not_bind/total_without"] = was.Cost.Total.Rat(), was.Cost.Total.Rat()
	f["cost_of_the_budget/more"], f["cost_of_the_budget/total_without"] = more, was.Cost.Total.Rat()
	f["cost_of_the_budget/vms_without"] = sub(was.Cost.Total.Rat(), was.Cost.Penalties.Rat())
	f["refused_without_the_budget/refused"], f["more_than_cheapest/refused"] = number(was.Refused), number(was.Refused)
	f["more_than_cheapest/more"], f["more_than_cheapest/penalties"] = more, was.Cost.Penalties.Rat()
}

// sweepFacts are the figures of a sweep.
func sweepFacts(a *whatif.SweepAnswer) figures {
	f := figures{"points/planned": whole(int64(len(a.Points))), "points/asked": whole(a.Total)}
	missed := int64(0)
	var lowest, highest *big.Rat
	for i := range a.Points {
		p := &a.Points[i]
		if p.Status == capacity.InfeasibleStatus {
			missed++
			continue
		}
		cost := p.Cost.Total.Rat()
		if lowest == nil || cost.Cmp(lowest) < 0 {
			lowest = cost
		}
		if highest == nil || cost.Cmp(highest) > 0 {
			highest = cost
		}
	}
	f["infeasible_points/infeasible"] = whole(missed)
	f["same_cost/cost"], f["least_cost/cost"], f["greatest_cost/cost"] = lowest, lowest, highest
	return f
}

// purchaseFacts are the figures of a purchase.
func purchaseFacts(a *horizon.PurchaseAnswer) figures {
	f := figures{"gap/value": number(a.Proof.Gap)}
	for i := range a.Offers {
		f["buy "+a.Offers[i].Name+"/value"] = whole(a.Offers[i].VMs)
	}
	for name, x := range map[string]*horizon.PurchaseCost{"recommended": &a.Recommended, "today": &a.Today, "on_demand_only": &a.OnDemandOnly} {
		f["bill_"+name+"/value"], f["penalties_"+name+"/value"], f["cost_"+name+"/value"] = x.Bill.Rat(), x.Cost.Penalties.Rat(), x.Total.Rat()
	}
	for name, x := range map[string]*horizon.Saving{"bill_saving": a.BillSaving, "bill_saving_against_on_demand": a.BillOnly,
		"saving": a.Saving, "saving_against_on_demand": a.SavingOnly} {
		if x != nil {
			f[name+"/value"] = x.Amount.Rat()
		}
	}
	for name, x := range map[string]*float64{"coverage": a.Coverage, "utilisation": a.Utilisation} {
		if x != nil {
			f[name+"/value"] = number(*x)
		}
	}
	return f
}
