package goal

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"headroom/internal/core/capacity"
	"headroom/internal/core/fault"
	"headroom/internal/core/money"
	"headroom/internal/core/plan"
	"headroom/internal/core/words"
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
		a.refuse("no_plan_for_the_budget", "", fmt.Sprintf("No plan meets the demands for %s.", a.inWords(asked.Amount)), "")
		return nil
	}
	o := a.answer.Outcome
	on, spent := "VMs", o.Cost.Bill
	if asked.Of == OfTotal {
		on, spent = "the bill and the value refused together", o.Cost.Total
	}
	left := less(amount, spent)
	a.say("most_for_budget", "", fmt.Sprintf("For at most %s on %s, %s can be served, on %s.", a.inWords(asked.Amount), on, served(o), words.VMs(o.VMs.Total)),
		words.Money("budget", amount, a.period()), words.Count("admitted", o.Admitted, "jobs"), words.Count("refused", o.Refused, "jobs"), words.Count("vms", o.VMs.Total, "VMs"))
	said := fmt.Sprintf("%s is spent on %s and %s is left.", a.inWords(asked.Asked(&p, spent)), on, words.Cents(asked.Asked(&p, left).Float()))
	if asked.Of == OfTotal {
		said = fmt.Sprintf("Bill and value refused together come to %s, which is %s below it; the bill is %s %s.", a.inWords(asked.Asked(&p, spent)), words.Cents(asked.Asked(&p, left).Float()), o.Cost.Bill, a.period())
	}
	a.say("spent", "", said, words.Money("spent", spent, a.period()), words.Money("left", left, a.period()), words.Money("bill", o.Cost.Bill, a.period()))
	if o.Refused > 0 {
		a.say("value_refused", "", fmt.Sprintf("The %s that %s refused %s valued at %s %s, which is on no bill.", words.Jobs(o.Refused), words.IsAre(o.Refused), words.IsAre(o.Refused), o.Cost.Penalties, a.period()),
			words.Money("value_refused", o.Cost.Penalties, a.period()))
	}
	if c := a.answer.Compared; c != nil {
		together := less(o.Cost.Total, c.Cost.Total)
		without, valued := words.Money("bill_without", c.Cost.Bill, a.period()), words.Money("value_refused_without", c.Cost.Penalties, a.period())
		if together.IsZero() {
			a.say("budget_does_not_bind", "", fmt.Sprintf("The budget does not bind: the best plan without it has a bill of %s %s%s.", c.Cost.Bill, a.period(), refusedValue(*c)), without, valued)
		} else {
			a.say("effect_of_the_budget", "", fmt.Sprintf("Without the budget the best plan serves %s for a bill of %s %s%s; so with the budget, bill and value refused together are %s more.", served(*c), c.Cost.Bill, a.period(), refusedValue(*c), together),
				words.Money("bill_and_value_more", together, a.period()), without, valued)
		}
		if o.Refused > 0 && c.Refused > 0 {
			a.say("refused_without_the_budget", "", fmt.Sprintf("Even without the budget it is best to refuse %s.", words.Jobs(c.Refused)), words.Count("refused", c.Refused, "jobs"))
		}
	}
	a.explain(&p, &pl)
	return nil
}

// inWords is the asked budget, or another amount in its unit.
func (a *asking) inWords(amount money.Amount) string {
	per := map[BudgetPeriod]string{PerHour: "an hour", PerMonth: "a month (730 hours)", PerPeriod: words.PerPeriod(a.problem.PeriodSeconds)}
	return fmt.Sprintf("%s %s %s", amount, a.problem.Currency, per[a.question.Budget.Per])
}

var oneMoney = money.Round(1)

// budgetConflicts leads what is wrong with the budget back to the question, in its unit.
func (a *asking) budgetConflicts(conflicts []fault.Finding) []fault.Finding {
	conflicts = slices.Clone(conflicts)
	for i := range conflicts {
		f := &conflicts[i]
		if f.Pointer != "/budget/vm_cost" && f.Pointer != "/budget/total" {
			continue
		}
		f.Pointer = "/budget/amount"
		if a.question.Budget.Asked(a.problem, oneMoney) != oneMoney { // asked in another unit than the plan's
			f.Detail += " (These amounts are " + words.PerPeriod(a.problem.PeriodSeconds) + ".)"
		}
		if f.Hint == nil {
			continue
		}
		hint := fault.Hint{Detail: f.Hint.Detail}
		if text, ok := f.Hint.Value.(string); ok {
			if least, err := money.Parse(text); err == nil {
				raised := a.question.Budget.Asked(a.problem, least)
				hint = fault.Hint{Detail: fmt.Sprintf("Raise the budget to %s.", a.inWords(raised)), Pointer: f.Pointer, Value: raised.String()}
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

func firstConflict(conflicts []fault.Finding) string {
	if len(conflicts) == 0 {
		return ""
	}
	text := conflicts[0].Detail
	if h := conflicts[0].Hint; h != nil {
		text += " " + h.Detail
	}
	return text
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
		a.refuse("not_all_can_be_served", "", "Not everything can be served.", "With every job promised: ")
		return nil
	}
	o := a.answer.Outcome
	a.say("cost_of_all", "", fmt.Sprintf("Serving %s costs %s %s, on %s.", served(o), o.Cost.Bill, a.period(), words.VMs(o.VMs.Total)),
		words.Money("bill", o.Cost.Bill, a.period()), words.Count("vms", o.VMs.Total, "VMs"))
	if c := a.answer.Compared; c != nil {
		extra := less(o.Cost.Bill, c.Cost.Bill)
		if c.Refused == 0 {
			a.say("cheapest_serves_all", "", "The best plan serves everything as well.")
		} else {
			a.say("more_than_cheapest", "", fmt.Sprintf("That is %s more than the bill of the best plan, which refuses %s, valued at %s.", extra, words.Jobs(c.Refused), c.Cost.Penalties),
				words.Money("bill_more", extra, a.period()), words.Count("refused", c.Refused, "jobs"), words.Money("value_refused", c.Cost.Penalties, a.period()))
		}
	}
	a.say("bill_per_month", "", fmt.Sprintf("A month of 730 hours costs %s %s.", o.Cost.PerMonth, p.Currency), words.Money("bill", o.Cost.PerMonth, p.Currency+" a month"))
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
		a.refuse("no_plan", "", "The demands cannot be met as they are.", "")
		return nil
	}
	p := *a.problem
	at := slices.IndexFunc(p.Classes, func(c capacity.Class) bool { return c.Name == a.question.Class })
	p.Classes = slices.Clone(p.Classes)
	class := &p.Classes[at]
	class.Jobs.Max++
	class.Jobs.Min = before.Classes[at].Admitted + 1
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
		a.refuse(words.DoesNotFit, class.Name, fmt.Sprintf("One more job of class %q cannot be served within the limits there are.", class.Name),
			fmt.Sprintf("With %s promised to it: ", words.Jobs(class.Jobs.Min)))
		return nil
	}
	o, was := a.answer.Outcome, *a.answer.Compared
	extra, vms := less(o.Cost.Total, was.Cost.Total), o.VMs.Total-was.VMs.Total
	bill, given := less(o.Cost.Bill, was.Cost.Bill), less(o.Cost.Penalties, was.Cost.Penalties)
	more := fmt.Sprintf("One more job of class %q costs %s %s in VMs", class.Name, bill, a.period())
	if bill.IsNegative() {
		more = fmt.Sprintf("One more job of class %q cuts the VM bill by %s %s", class.Name, money.Amount{Decimal: bill.Neg()}, a.period())
	}
	switch given.Sign() {
	case 1:
		more += fmt.Sprintf(", and jobs valued at %s give way: %s together", given, extra)
	case -1:
		more += fmt.Sprintf(", and jobs valued at %s come along: %s together", money.Amount{Decimal: given.Neg()}, extra)
	}
	a.say(words.Costs, class.Name, more+".", words.Money("amount", extra, a.period()), words.Money("bill", bill, a.period()), words.Money("value_refused", given, a.period()),
		words.Count("vms", vms, "VMs"))
	a.say("plans_compared", class.Name, fmt.Sprintf("The bill without it is %s on %s, with it %s on %s.", was.Cost.Bill, words.VMs(was.VMs.Total), o.Cost.Bill, words.VMs(o.VMs.Total)),
		words.Money("bill_without", was.Cost.Bill, a.period()), words.Money("bill_with", o.Cost.Bill, a.period()))
	if gap := pl.Proof.Gap*math.Abs(pl.Objective.Float()) + before.Proof.Gap*math.Abs(before.Objective.Float()); gap > 0 {
		bound := money.Round(gap)
		a.say("uncertainty", class.Name, fmt.Sprintf("The time limit has left it uncertain by %s at most.", bound), words.Money("uncertainty", bound, a.period()))
	}
	if beside := pl.Classes[at].Admitted - class.Jobs.Min; beside > 1e-9 {
		beside = words.Rounded(beside, 3)
		a.say("room_for_more", class.Name, fmt.Sprintf("The VMs that it needs have room for %s more of the class, and serving those is better than refusing them.", words.Jobs(beside)), words.Count("more", beside, "jobs"))
	}
	a.displaced(before, pl, at)
	a.marginal(&before, at, extra)
	refusing := "so that it is worth serving"
	if extra.GreaterThan(class.Penalty.Decimal) {
		refusing = "which is less"
	}
	a.say("refusal_is_valued", class.Name, fmt.Sprintf("Refused, it is valued at %s, %s.", class.Penalty, refusing), words.Money("penalty", class.Penalty, a.period()))
	a.explain(&p, &pl)
	return nil
}

// marginal says in words what the linear program knows of one job more and one job less of a class. With several VM
// types each has a price of its own. One job more on the cheapest costs the penalty at which the class breaks even.
func (a *asking) marginal(before *capacity.Plan, at int, extra money.Amount) {
	c, price := &before.Classes[at], before.Prices
	if price == nil {
		return
	}
	var low, high *money.Amount
	if len(price.Types) > 0 {
		high = c.BreakEvenPenalty
	} else {
		low = new(money.Round(c.VMsPerJob * price.Capacity.Low.Float()))
		if price.Capacity.High != nil {
			high = new(money.Round(c.VMsPerJob * price.Capacity.High.Float()))
		}
	}
	const counted = "In fractions of VMs, as the linear program counts, "
	about := plan.About(a.problem.Options.Integrality)
	text, figures := "", []capacity.Figure{}
	if low != nil {
		figures = append(figures, words.Money("low", *low, a.period()))
		text = counted + "a job less frees what is worth " + about + words.Cents(low.Float())
	}
	if high != nil {
		figures = append(figures, words.Money("high", *high, a.period()))
		switch {
		case low == nil:
			text = counted + "a job more takes what is worth " + about + words.Cents(high.Float())
		case low.Equal(high.Decimal):
			text = counted + "a job takes what is worth " + about + words.Cents(high.Float())
		default:
			text += " and a job more takes what is worth " + about + words.Cents(high.Float())
		}
		if !high.Equal(extra.Decimal) {
			text += "; whole VMs make the difference"
		}
	}
	if text != "" {
		a.say("marginal", c.Name, text+".", figures...)
	}
}

// displaced says which other classes have fewer jobs than before.
func (a *asking) displaced(before, after capacity.Plan, but int) {
	var parts []string
	var figures []capacity.Figure
	for i := range after.Classes {
		if fewer := before.Classes[i].Admitted - after.Classes[i].Admitted; i != but && fewer > 1e-9 {
			fewer, name := words.Rounded(fewer, 3), after.Classes[i].Name
			parts = append(parts, fmt.Sprintf("%s of class %q go", words.Jobs(fewer), name))
			figures = append(figures, words.Count(name, fewer, "jobs"))
		}
	}
	const shown = 3
	if len(parts) > shown {
		parts = append(parts[:shown], fmt.Sprintf("jobs of %d classes more go", len(parts)-shown))
	}
	if len(parts) > 0 {
		a.say("jobs_that_go", after.Classes[but].Name, "To make room "+strings.Join(parts, ", ")+".", figures...)
	}
}
