// Package goal answers four questions by asking the planner again and again: the most that a budget serves, the
// cheapest plan for all jobs, the price of one more job, and the cheapest deadline.
package goal

import (
	"context"
	"fmt"

	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/fault"
	"example.org/headroom/internal/core/money"
	"example.org/headroom/internal/core/plan"
	"example.org/headroom/internal/core/words"
)

// Answer holds the answer to a question: a plan in few figures, one paragraph that can be forwarded, and
// the figures in it.
type Answer struct {
	Question    Kind            `json:"question"`
	Status      capacity.Status `json:"status"`
	Answer      string          `json:"answer"` // one sentence
	Explanation string          `json:"explanation"`
	Facts       words.Facts     `json:"facts"`    // the sentences of the explanation, for programs
	Outcome     plan.Outcome    `json:"outcome"`  // of the plan that answers
	Compared    *plan.Outcome   `json:"compared"` // of the problem as it is; null where it cannot be planned
	Classes     []ServedClass   `json:"classes"`
	Deadlines   []DeadlineCost  `json:"deadlines"` // of cheapest_deadline, the latest first
	Conflicts   []fault.Finding `json:"conflicts"` // where there is no plan: what is missing, with cures
}

// ServedClass gives the jobs of a class in the answer.
type ServedClass struct {
	Name     string           `json:"name"`
	Admitted float64          `json:"admitted"`
	Refused  float64          `json:"refused"`
	Before   *float64         `json:"before"` // admitted in the problem as it is
	Verdict  capacity.Verdict `json:"verdict"`
}

// asking is a question being answered.
type asking struct {
	problem  *capacity.Problem
	question Question
	solve    plan.Planner
	answer   Answer
	beside   beside
}

// Ask answers a checked question about a valid problem. Where the demands cannot be met the status says
// so, and the conflicts say what is missing.
//
//   - most_for_budget: the cheapest plan, penalties included, whose VMs (or VMs and penalties) cost the budget at
//     most. A job whose VMs cost more than refusing it is not served even where the budget would do.
//   - cheapest_for_all: the cheapest plan that refuses nothing.
//   - one_more_job: what the cheapest plan costs more when one job more than now is promised to the class. It asks
//     for one more only where none is refused. Both plans are solved to the end.
//   - cheapest_deadline: see deadline.
func Ask(ctx context.Context, p capacity.Problem, q Question, solve plan.Planner) (Answer, error) {
	p.Options.Near = nil // the answer is about money, not about what is nearest to some plan
	a := &asking{problem: &p, question: q, solve: solve, answer: Answer{Question: q.Question, Facts: words.Facts{}, Classes: []ServedClass{}, Deadlines: []DeadlineCost{}, Conflicts: []fault.Finding{}}}
	var err error
	switch q.Question {
	case AskMostForBudget:
		err = a.mostForBudget(ctx)
	case AskCheapestForAll:
		err = a.cheapestForAll(ctx)
	case AskOneMoreJob:
		err = a.oneMoreJob(ctx)
	default:
		err = a.cheapestDeadline(ctx)
	}
	if err != nil {
		return Answer{}, err
	}
	a.answer.tell(&p, &q, &a.beside)
	return a.answer, nil
}

// plan solves a changed problem. What cannot be counted is as good as infeasible.
func (a *asking) plan(ctx context.Context, p capacity.Problem) (capacity.Plan, error) {
	if err := p.Validate(); err != nil { // a job or an amount too many
		return capacity.Plan{}, err
	}
	pl, err := a.solve(ctx, p)
	if findings := fault.Findings(err); findings != nil {
		pl, err = capacity.Plan{Status: capacity.InfeasibleStatus, Conflicts: findings, Cost: capacity.Cost{Currency: p.Currency, PeriodSeconds: p.PeriodSeconds}}, nil
	}
	return pl, err
}

// compare solves the problem as it is, as the answer's comparison.
func (a *asking) compare(ctx context.Context) (capacity.Plan, error) {
	pl, err := a.plan(ctx, *a.problem)
	if err == nil && pl.Status != capacity.InfeasibleStatus {
		o := plan.OutcomeOf("", pl, false)
		a.answer.Compared = &o
	}
	return pl, err
}

// take makes a plan the answer's; before is the problem's own, if it has one.
func (a *asking) take(pl, before capacity.Plan) {
	a.answer.Status, a.answer.Outcome = pl.Status, plan.OutcomeOf("", pl, false)
	if pl.Status == capacity.InfeasibleStatus {
		a.answer.Conflicts = pl.Conflicts
		return
	}
	for i := range pl.Classes {
		c := &pl.Classes[i]
		served := ServedClass{Name: c.Name, Admitted: c.Admitted, Refused: c.Refused, Verdict: c.Verdict}
		if len(before.Classes) > i {
			served.Before = &before.Classes[i].Admitted
		}
		a.answer.Classes = append(a.answer.Classes, served)
	}
}

// explain keeps what drives the plan that answers, for the words.
func (a *asking) explain(p *capacity.Problem, pl *capacity.Plan) {
	a.beside.drivers = words.Drivers(p, pl)
	if pl.Proof != nil && pl.Proof.Gap > p.Options.Gap {
		a.beside.gap = 100 * pl.Proof.Gap
	}
}

// served gives the number of served jobs, in words.
func served(o plan.Outcome) string {
	switch {
	case o.Refused == 0 && o.Admitted == 0:
		return "no jobs, for none are asked for,"
	case o.Refused == 0 && o.Admitted == 1:
		return "the only job"
	case o.Refused == 0:
		return "all " + words.Jobs(o.Admitted)
	}
	return words.Number(o.Admitted) + " of " + words.Jobs(o.Admitted+o.Refused)
}

// refusedValue says what the refused jobs of an outcome are valued at, or nothing where none are.
func refusedValue(o plan.Outcome) string {
	if o.Cost.Penalties.IsZero() {
		return ""
	}
	return fmt.Sprintf("; what is refused is valued at %s", o.Cost.Penalties)
}

// less is one amount minus another.
func less(a, b money.Amount) money.Amount { return money.Amount{Decimal: a.Sub(b.Decimal)} }
