package recheck

import (
	"fmt"
	"math/big"

	"example.org/headroom/internal/ask/goal"
	"example.org/headroom/internal/ask/whatif"
	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/plan"
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
	bill, value := o.Cost.Bill.Rat(), o.Cost.Penalties.Rat()
	f := figures{"bill_per_month/bill": o.Cost.PerMonth.Rat(), "cost_of_all/bill": bill, "cost_of_all/vms": number(o.VMs.Total),
		"value_refused/value_refused": value, "most_for_budget/admitted": number(o.Admitted), "spent/bill": bill,
		"most_for_budget/refused": number(o.Refused), "most_for_budget/vms": number(o.VMs.Total), "plans_compared/bill_with": bill}
	if q.Budget != nil {
		spent := bill
		if q.Budget.Of == goal.OfTotal {
			spent = o.Cost.Total.Rat()
		}
		budget := budgetOf(q.Budget, p)
		f["most_for_budget/budget"], f["spent/spent"], f["spent/left"] = budget, spent, sub(budget, spent)
	}
	if was != nil {
		f.compared(o, was)
	}
	for i := range min(len(a.Classes), len(p.Classes)) {
		if k, c := &p.Classes[i], &a.Classes[i]; k.Name == q.Class && was != nil {
			f["refusal_is_valued/penalty"] = k.Penalty.Rat()
			asked := sub(add(number(c.Admitted), number(c.Refused)), number(k.Jobs.Max)) // where the one job was not refused before
			more := add(sub(o.Cost.Total.Rat(), was.Cost.Total.Rat()), mul(sub(whole(1), asked), k.Penalty.Rat()))
			f["one_more_costs/amount"], f["one_more_costs/value_refused"] = more, sub(more, sub(bill, was.Cost.Bill.Rat()))
			f["one_more_costs/served"] = number(c.Admitted)
		}
	}
	for i := range a.Deadlines {
		d := &a.Deadlines[i]
		for _, kind := range map[string][]string{"given": {"given_deadline"}, "least": {"earliest_deadline"},
			"cheapest": {"earliest_at_the_cost", "no_earlier_deadline"}}[d.What] {
			f[kind+"/deadline"], f[kind+"/bill"] = number(d.Deadline), d.Bill.Rat()
			f[kind+"/value_refused"], f[kind+"/vms"] = d.Value.Rat(), number(d.VMs)
		}
	}
	return f
}

// compared adds the figures that compare two outcomes.
func (f figures) compared(o, was *plan.Outcome) {
	more := sub(o.Cost.Total.Rat(), was.Cost.Total.Rat())
	bill, value := was.Cost.Bill.Rat(), was.Cost.Penalties.Rat()
	billMore := sub(o.Cost.Bill.Rat(), bill)
	f["one_more_costs/bill"], f["one_more_costs/vms"] = billMore, sub(number(o.VMs.Total), number(was.VMs.Total))
	f["plans_compared/bill_without"] = bill
	for _, kind := range []string{"effect_of_the_budget", "budget_does_not_bind"} {
		f[kind+"/bill_and_value_more"], f[kind+"/bill_without"], f[kind+"/value_refused_without"] = more, bill, value
	}
	f["refused_without_the_budget/refused"], f["more_than_cheapest/refused"] = number(was.Refused), number(was.Refused)
	f["more_than_cheapest/bill_more"], f["more_than_cheapest/value_refused"] = billMore, value
}

// sweepFacts are the figures of a sweep.
func sweepFacts(a *whatif.SweepAnswer) figures {
	f := figures{"points/planned": whole(int64(len(a.Points))), "points/asked": whole(a.Total)}
	missed := int64(0)
	between := func(name string, x *big.Rat) {
		if least := "least_" + name + "/" + name; f[least] == nil || x.Cmp(f[least]) < 0 {
			f[least], f["same_"+name+"/"+name] = x, x
		}
		if greatest := "greatest_" + name + "/" + name; f[greatest] == nil || x.Cmp(f[greatest]) > 0 {
			f[greatest] = x
		}
	}
	for i := range a.Points {
		if p := &a.Points[i]; p.Status == capacity.InfeasibleStatus {
			missed++
		} else {
			between("bill", p.Cost.Bill.Rat())
			between("bill_and_value", p.Cost.Total.Rat())
		}
	}
	f["infeasible_points/infeasible"] = whole(missed)
	return f
}
