package capacity

import (
	"fmt"
	"slices"
	"time"

	"github.com/shopspring/decimal"
)

// Ask is which question it is.
type Ask string

// The questions. What each one means exactly stands in plan.Answer.
const (
	AskMostForBudget    Ask = "most_for_budget"   // what can be served for so much money
	AskCheapestForAll   Ask = "cheapest_for_all"  // what serving everything costs
	AskOneMoreJob       Ask = "one_more_job"      // what one more job of a class costs
	AskCheapestDeadline Ask = "cheapest_deadline" // how early a promise may be, and what earlier ones cost
)

var (
	asks          = []Ask{AskMostForBudget, AskCheapestForAll, AskOneMoreJob, AskCheapestDeadline}
	budgetPeriods = []BudgetPeriod{PerPeriod, PerHour, PerMonth}
	budgetKinds   = []BudgetKind{OfVMCost, OfTotal}
)

// Question is one question about a problem. Which members it takes depends on Ask.
type Question struct {
	Question Ask          `json:"question"`
	Budget   *AskedBudget `json:"budget,omitempty"` // of most_for_budget
	Class    string       `json:"class,omitempty"`  // of one_more_job; of cheapest_deadline too, "" is all by a common factor

	// ExtraPercent is how much more than now a plan may cost whose deadlines are the answer to cheapest_deadline.
	ExtraPercent *float64 `json:"extra_percent,omitempty"`
}

// AskedBudget is so much money.
type AskedBudget struct {
	Amount   Money        `json:"amount"`
	Per      BudgetPeriod `json:"per,omitempty"`      // default: hour
	Of       BudgetKind   `json:"of,omitempty"`       // default: vm_cost
	Currency string       `json:"currency,omitempty"` // must be the problem's, which it is where it is left out
}

// BudgetPeriod is the time in which a budget may be spent.
type BudgetPeriod string

const (
	PerPeriod BudgetPeriod = "period" // the problem's
	PerHour   BudgetPeriod = "hour"
	PerMonth  BudgetPeriod = "month" // 730 hours
)

// BudgetKind is what a budget is spent on.
type BudgetKind string

const (
	OfVMCost BudgetKind = "vm_cost"
	OfTotal  BudgetKind = "total" // penalties as well
)

// ProblemQuestion is a question that brings its problem along.
type ProblemQuestion struct {
	Problem Problem `json:"problem"`
	Question
}

// ClusterQuestion is about the problem of a cluster at a moment; zero is now.
type ClusterQuestion struct {
	At time.Time `json:"at,omitzero"`
	Question
}

// MaxExtraPercent is how much more than now a deadline may cost at most.
const MaxExtraPercent = 1000

var (
	askShape         = newShape("a question", []string{"problem", "question"}, "budget", "class", "extra_percent")
	clusterAskShape  = newShape("a question", []string{"question"}, "at", "budget", "class", "extra_percent")
	askedBudgetShape = newShape("a budget", []string{"amount"}, "per", "of", "currency")
)

// ReadQuestion reads a question that brings its problem along, as strictly as ReadProblem. Where the
// problem names no engine, it is auto.
func ReadQuestion(data []byte, limits Limits) (ProblemQuestion, error) {
	q := ProblemQuestion{Problem: Problem{PeriodSeconds: 3600, Options: DefaultOptions()}}
	q.Problem.Options.Engine = EngineAuto
	r := &reader{data: data, path: make(path, 0, 8)}
	r.start()
	r.object(askShape, func(name string) {
		if name == "problem" {
			r.problem(&q.Problem, limits)
		} else {
			r.question(name, &q.Question)
		}
	})
	r.end()
	if err := r.result(func(c *checker) {
		c.enter("problem")
		q.Problem.check(c)
		c.leave()
		q.Question.check(c)
	}); err != nil {
		return ProblemQuestion{}, err
	}
	return q, q.CheckFor(&q.Problem)
}

// ReadClusterQuestion reads a question about a cluster.
func ReadClusterQuestion(data []byte) (ClusterQuestion, error) {
	var q ClusterQuestion
	r := &reader{data: data, path: make(path, 0, 8)}
	r.start()
	r.object(clusterAskShape, func(name string) {
		if name == "at" {
			r.moment(&q.At)
		} else {
			r.question(name, &q.Question)
		}
	})
	r.end()
	if err := r.result(q.Question.check); err != nil {
		return ClusterQuestion{}, err
	}
	return q, nil
}

func (r *reader) question(name string, q *Question) {
	switch name {
	case "question":
		word(r, &q.Question, asks)
	case "class":
		q.Class, _ = r.text()
	case "extra_percent":
		q.ExtraPercent = new(float64)
		r.float(q.ExtraPercent)
	case "budget":
		q.Budget = new(AskedBudget)
		r.object(askedBudgetShape, func(name string) {
			switch name {
			case "amount":
				r.money(&q.Budget.Amount)
			case "per":
				word(r, &q.Budget.Per, budgetPeriods)
			case "of":
				word(r, &q.Budget.Of, budgetKinds)
			case "currency":
				q.Budget.Currency, _ = r.text()
			}
		})
	}
}

// Check is what is wrong with a question by itself.
func (q *Question) Check() error { return findingsOf(q.check) }

func (q *Question) check(c *checker) {
	if !slices.Contains(asks, q.Question) {
		oneOf(c, "question", q.Question, asks)
		return
	}
	for _, m := range []struct {
		name  string
		given bool
		of    []Ask
	}{
		{"budget", q.Budget != nil, []Ask{AskMostForBudget}},
		{"class", q.Class != "", []Ask{AskOneMoreJob, AskCheapestDeadline}},
		{"extra_percent", q.ExtraPercent != nil, []Ask{AskCheapestDeadline}},
	} {
		if m.given && !slices.Contains(m.of, q.Question) {
			c.refuse(m.name, "not_taken", "The question %q takes no %q; leave it out.", q.Question, m.name)
		}
	}
	switch {
	case q.Question == AskMostForBudget && q.Budget == nil:
		c.refuse("budget", "missing", `The budget is missing; give {"amount": …, "per": "hour" or "month"}.`)
	case q.Question == AskOneMoreJob && q.Class == "":
		c.refuse("class", "missing", "The class is missing; name the one that gets one more job.")
	}
	if b := q.Budget; b != nil {
		if b.Per == "" {
			b.Per = PerHour
		}
		if b.Of == "" {
			b.Of = OfVMCost
		}
		c.enter("budget")
		c.money("amount", "The budget", b.Amount)
		oneOf(c, "per", b.Per, budgetPeriods)
		oneOf(c, "of", b.Of, budgetKinds)
		if b.Currency != "" {
			checkCurrency(c, b.Currency)
		}
		c.leave()
	}
	if x := q.ExtraPercent; x != nil {
		c.number("extra_percent", "The extra", "per cent", *x, MaxExtraPercent)
	}
}

// CheckFor is what is wrong with a question, itself in order, about a problem.
func (q *Question) CheckFor(p *Problem) error {
	return findingsOf(func(c *checker) {
		if b := q.Budget; b != nil && b.Currency != "" && b.Currency != p.Currency {
			c.enter("budget")
			c.found("currency", "currency", fmt.Sprintf("The budget is in %s and all prices and penalties are in %s; no exchange rate is known here.", b.Currency, p.Currency),
				c.hint("currency", p.Currency, "Give the amount in %s.", p.Currency))
			c.leave()
		}
		timed := func(class Class) bool { return class.DeadlineSeconds != 0 }
		if q.Question == AskCheapestDeadline && q.Class == "" && !slices.ContainsFunc(p.Classes, timed) {
			c.refuse("class", "not_taken", "No class has a deadline: they are given by their VMs per job.")
		}
		if q.Class == "" {
			return
		}
		at := slices.IndexFunc(p.Classes, func(class Class) bool { return class.Name == q.Class })
		if at < 0 {
			unknownName(c, "class", "class", q.Class, p.classNames())
			return
		}
		if q.Question == AskCheapestDeadline && p.Classes[at].DeadlineSeconds == 0 {
			c.refuse("class", "not_taken", "Class %q has no deadline: it is given by its VMs per job.", clip(q.Class))
		}
	})
}

// unknownName refuses a name that nothing of a kind has, and suggests the one probably meant.
func unknownName(c *checker, member, kind, name string, known []string) {
	var hint *Hint
	if best := nearest(name, known[:min(len(known), mostCompared)]); best != "" {
		hint = c.hint(member, best, "Did you mean %q?", best)
	} else if len(known) > 0 {
		hint = &Hint{Detail: fmt.Sprintf("There is %q, for instance.", clip(known[0]))}
	}
	c.found(member, "unknown_name", fmt.Sprintf("There is no %s %q.", kind, clip(name)), hint)
}

func (p *Problem) classNames() []string {
	names := make([]string, len(p.Classes))
	for i := range p.Classes {
		names[i] = p.Classes[i].Name
	}
	return names
}

// perPeriod is how many of a budget's times a period has.
func (b *AskedBudget) perPeriod(p *Problem) (times, of decimal.Decimal) {
	seconds := decimal.NewFromInt(p.PeriodSeconds)
	switch b.Per {
	case PerMonth:
		return seconds, decimal.NewFromInt(3600 * HoursPerMonth)
	case PerHour:
		return seconds, decimal.NewFromInt(3600)
	}
	return seconds, seconds
}

// Period is the budget for one period of the problem, rounded down to what money has.
func (b *AskedBudget) Period(p *Problem) Money {
	times, of := b.perPeriod(p)
	return Money{b.Amount.Mul(times).Div(of).RoundFloor(MoneyPlaces)}
}

// Asked is an amount a period as a budget of this kind would be given, rounded up: a budget of so much pays
// for it.
func (b *AskedBudget) Asked(p *Problem, period Money) Money {
	times, of := b.perPeriod(p)
	return Money{period.Mul(of).Div(times).RoundCeil(MoneyPlaces)}
}
