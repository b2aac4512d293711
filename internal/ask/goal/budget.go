package goal

import (
	"context"
	"fmt"
	"math"
	"slices"

	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/fault"
	"example.org/headroom/internal/core/money"
	"example.org/headroom/internal/core/words"
)

// mostForBudget plans within a budget.
func (a *asking) mostForBudget(ctx context.Context) error {
	before, err := a.compare(ctx)
	if err != nil {
		return err
	}
	p, asked := *a.problem, a.question.Budget
	amount := asked.Period(&p)
	var b capacity.Budget
	if p.Budget != nil {
		b = *p.Budget
	}
	if p.Budget = &b; asked.Of == OfTotal {
		b.Total = &amount
	} else {
		b.VMCost = &amount
	}
	pl, err := a.plan(ctx, p)
	if err != nil {
		return a.aboutBudget(err)
	}
	a.take(pl, before)
	if pl.Status == capacity.InfeasibleStatus {
		a.answer.Conflicts = a.budgetConflicts(pl.Conflicts)
		return nil
	}
	a.explain(&p, &pl)
	return nil
}

// words is the asked budget, or another amount in its unit.
func (b *AskedBudget) words(p *capacity.Problem, amount money.Amount) string {
	per := map[BudgetPeriod]string{PerHour: "an hour", PerMonth: "a month (730 hours)", PerPeriod: words.PerPeriod(p.PeriodSeconds)}
	return fmt.Sprintf("%s %s %s", amount, p.Currency, per[b.Per])
}

// budgetConflicts leads what is wrong with the budget back to the question, in its unit.
func (a *asking) budgetConflicts(conflicts []fault.Finding) []fault.Finding {
	conflicts = slices.Clone(conflicts)
	for i := range conflicts {
		f := &conflicts[i]
		if f.Pointer != "/budget/vm_cost" && f.Pointer != "/budget/total" {
			continue
		}
		f.Pointer = "/budget/amount"
		if a.question.Budget.seconds(a.problem) != a.problem.PeriodSeconds { // asked in another unit than the plan's
			f.Detail += " (These amounts are for " + words.PerPeriod(a.problem.PeriodSeconds) + ".)"
		}
		if f.Hint == nil {
			continue
		}
		hint := fault.Hint{Detail: f.Hint.Detail}
		if text, ok := f.Hint.Value.(string); ok {
			if least, err := money.Parse(text); err == nil {
				raised := a.question.Budget.paying(a.problem, least)
				hint = fault.Hint{Detail: fmt.Sprintf("Raise the budget to %s.", a.question.Budget.words(a.problem, raised)), Pointer: f.Pointer, Value: raised.String()}
			}
		}
		f.Hint = &hint
	}
	return conflicts
}

// aboutBudget leads an amount that cannot be a budget back to the question.
func (a *asking) aboutBudget(err error) error {
	if input, ok := err.(*fault.InputError); ok {
		return &fault.InputError{Findings: a.budgetConflicts(input.Findings)}
	}
	return err
}

// asPromised returns the conflicts that remain if the promises were made by the question and not by the problem.
// Promising less is no cure for those.
func (a *asking) asPromised(conflicts []fault.Finding, asked *capacity.Problem) []fault.Finding {
	conflicts = slices.Clone(conflicts)
	for i := range asked.Classes {
		if asked.Classes[i].Jobs.Min == a.problem.Classes[i].Jobs.Min {
			continue
		}
		for k := range conflicts {
			if conflicts[k].Pointer == fmt.Sprintf("/classes/%d/jobs/min", i) {
				conflicts[k].Hint = nil
			}
		}
	}
	return conflicts
}

// cheapestForAll plans with every job promised.
func (a *asking) cheapestForAll(ctx context.Context) error {
	before, err := a.compare(ctx)
	if err != nil {
		return err
	}
	p := *a.problem
	p.Classes = slices.Clone(p.Classes)
	for i := range p.Classes {
		p.Classes[i].Jobs.Min = p.Classes[i].Jobs.Max
	}
	pl, err := a.plan(ctx, p)
	if err != nil {
		return err
	}
	a.take(pl, before)
	if pl.Status == capacity.InfeasibleStatus {
		a.answer.Conflicts = a.asPromised(pl.Conflicts, &p)
		return nil
	}
	a.explain(&p, &pl)
	return nil
}

// oneMoreJob is the difference of two plans, both solved to the end.
func (a *asking) oneMoreJob(ctx context.Context) error {
	a.problem.Options.Gap = 0
	before, err := a.compare(ctx)
	if err != nil {
		return err
	}
	if before.Status == capacity.InfeasibleStatus {
		a.take(before, before)
		return nil
	}
	p := *a.problem
	at := slices.IndexFunc(p.Classes, func(c capacity.Class) bool { return c.Name == a.question.Class })
	p.Classes = slices.Clone(p.Classes)
	class := &p.Classes[at]
	promised := before.Classes[at].Admitted + 1
	class.Jobs = capacity.JobRange{Min: promised, Max: max(class.Jobs.Max, promised)}
	if class.Jobs.Max > capacity.MaxJobs {
		return &fault.InputError{Findings: []fault.Finding{{Pointer: "/class", Code: "range",
			Detail: fmt.Sprintf("Class %q has as many jobs as there can be, %d.", class.Name, capacity.MaxJobs)}}}
	}
	pl, err := a.plan(ctx, p)
	if err != nil {
		return err
	}
	a.take(pl, before)
	if pl.Status == capacity.InfeasibleStatus {
		a.answer.Conflicts = a.asPromised(pl.Conflicts, &p)
		a.beside.promised = class.Jobs.Min
		return nil
	}
	if gap := pl.Proof.Gap*math.Abs(pl.Objective.Float()) + before.Proof.Gap*math.Abs(before.Objective.Float()); gap > 0 {
		a.beside.uncertainty = money.Round(gap)
	}
	if p.Options.Integrality == capacity.Relaxed {
		a.marginal(&before, at)
	}
	a.explain(&p, &pl)
	return nil
}

// marginal keeps what a relaxed plan's prices say of one job more and one job less of a class. With several VM types each
// has a price of its own. One job more on the cheapest costs the penalty at which the class breaks even.
func (a *asking) marginal(before *capacity.Plan, at int) {
	c, price := &before.Classes[at], before.Prices
	switch {
	case price == nil:
	case len(price.Types) > 0:
		a.beside.high = c.BreakEvenPenalty
	default:
		a.beside.low = new(money.Round(c.VMsPerJob * price.Capacity.Low.Float()))
		if price.Capacity.High != nil {
			a.beside.high = new(money.Round(c.VMsPerJob * price.Capacity.High.Float()))
		}
	}
}
