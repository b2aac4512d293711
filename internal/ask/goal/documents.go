package goal

import (
	"fmt"
	"slices"
	"time"

	"github.com/shopspring/decimal"

	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/fault"
	"example.org/headroom/internal/core/money"
	"example.org/headroom/internal/core/strict"
)

// Kind names a question.
type Kind string

// The questions. What each one means exactly stands in plan.Answer.
const (
	AskMostForBudget    Kind = "most_for_budget"   // what is best served for so much money
	AskCheapestForAll   Kind = "cheapest_for_all"  // what serving everything costs
	AskOneMoreJob       Kind = "one_more_job"      // what one more job of a class costs
	AskCheapestDeadline Kind = "cheapest_deadline" // how early a promise may be, and what earlier ones cost
)

var (
	asks          = []Kind{AskMostForBudget, AskCheapestForAll, AskOneMoreJob, AskCheapestDeadline}
	budgetPeriods = []BudgetPeriod{PerPeriod, PerHour, PerMonth}
	budgetKinds   = []BudgetKind{OfVMCost, OfTotal}
)

// Question is one question about a problem. Which members it takes depends on Ask.
type Question struct {
	Question Kind         `json:"question"`
	Budget   *AskedBudget `json:"budget,omitempty"` // of most_for_budget
	Class    string       `json:"class,omitempty"`  // of one_more_job; of cheapest_deadline too, "" is all by a common factor

	// ExtraPercent limits the cost of a plan with the deadlines that answer cheapest_deadline: per cent above the cost of now.
	ExtraPercent *float64 `json:"extra_percent,omitempty"`
}

// AskedBudget is so much money.
type AskedBudget struct {
	Amount   money.Amount `json:"amount"`
	Per      BudgetPeriod `json:"per,omitempty"`      // default: hour
	Of       BudgetKind   `json:"of,omitempty"`       // default: vm_cost
	Currency string       `json:"currency,omitempty"` // must be the problem's; default that
}

// BudgetPeriod is the time in which a budget may be spent.
type BudgetPeriod string

const (
	PerPeriod BudgetPeriod = "period" // the problem's
	PerHour   BudgetPeriod = "hour"
	PerMonth  BudgetPeriod = "month" // 730 hours
)

// BudgetKind names the costs that a budget limits.
type BudgetKind string

const (
	OfVMCost BudgetKind = "vm_cost"
	OfTotal  BudgetKind = "total" // penalties as well
)

// ProblemQuestion is a question that brings its problem along.
type ProblemQuestion struct {
	Problem capacity.Problem `json:"problem"`
	Question
}

// ClusterQuestion is about the problem of a cluster at a moment; zero is now.
type ClusterQuestion struct {
	At time.Time `json:"at,omitzero"`
	Question
}

// maxExtraPercent limits ExtraPercent.
const maxExtraPercent = 1000

var (
	askShape         = strict.NewShape("a question", []string{"problem", "question"}, "budget", "class", "extra_percent")
	clusterAskShape  = strict.NewShape("a question", []string{"question"}, "at", "budget", "class", "extra_percent")
	askedBudgetShape = strict.NewShape("a budget", []string{"amount"}, "per", "of", "currency")
)

// ReadQuestion reads a question that brings its problem along, as strictly as ReadProblem. Where the
// problem names no engine, it is auto.
func ReadQuestion(data []byte, limits capacity.Limits) (ProblemQuestion, error) {
	q := ProblemQuestion{Problem: capacity.Problem{PeriodSeconds: 3600, Options: capacity.DefaultOptions()}}
	q.Problem.Options.Engine = capacity.EngineAuto
	r := strict.NewReader(data)
	r.Object(askShape, func(name string) {
		if name == "problem" {
			capacity.ReadProblemInto(r, &q.Problem, limits)
		} else {
			readQuestion(r, name, &q.Question)
		}
	})
	r.End()
	if err := r.Result(func(c *strict.Checker) {
		c.Enter("problem")
		q.Problem.Check(c)
		c.Leave()
		q.Question.check(c)
	}); err != nil {
		return ProblemQuestion{}, err
	}
	return q, q.CheckFor(&q.Problem)
}

// ReadClusterQuestion reads a question about a cluster.
func ReadClusterQuestion(data []byte) (ClusterQuestion, error) {
	var q ClusterQuestion
	r := strict.NewReader(data)
	r.Object(clusterAskShape, func(name string) {
		if name == "at" {
			r.Moment(&q.At)
		} else {
			readQuestion(r, name, &q.Question)
		}
	})
	r.End()
	if err := r.Result(q.Question.check); err != nil {
		return ClusterQuestion{}, err
	}
	return q, nil
}

func readQuestion(r *strict.Reader, name string, q *Question) {
	switch name {
	case "question":
		strict.Word(r, &q.Question, asks)
	case "class":
		q.Class, _ = r.Text()
	case "extra_percent":
		q.ExtraPercent = new(float64)
		r.Float(q.ExtraPercent)
	case "budget":
		q.Budget = new(AskedBudget)
		r.Object(askedBudgetShape, func(name string) {
			switch name {
			case "amount":
				money.Read(r, &q.Budget.Amount)
			case "per":
				strict.Word(r, &q.Budget.Per, budgetPeriods)
			case "of":
				strict.Word(r, &q.Budget.Of, budgetKinds)
			case "currency":
				q.Budget.Currency, _ = r.Text()
			}
		})
	}
}

// Check finds the faults of a question on its own.
func (q *Question) Check() error { return strict.Check(q.check) }

func (q *Question) check(c *strict.Checker) {
	if !slices.Contains(asks, q.Question) {
		strict.OneOf(c, "question", q.Question, asks)
		return
	}
	for _, m := range []struct {
		name  string
		given bool
		of    []Kind
	}{
		{"budget", q.Budget != nil, []Kind{AskMostForBudget}},
		{"class", q.Class != "", []Kind{AskOneMoreJob, AskCheapestDeadline}},
		{"extra_percent", q.ExtraPercent != nil, []Kind{AskCheapestDeadline}},
	} {
		if m.given && !slices.Contains(m.of, q.Question) {
			c.Refuse(m.name, "not_taken", "The question %q takes no %q; leave it out.", q.Question, m.name)
		}
	}
	switch {
	case q.Question == AskMostForBudget && q.Budget == nil:
		c.Refuse("budget", "missing", `The budget is missing; give {"amount": …, "per": "hour" or "month"}.`)
	case q.Question == AskOneMoreJob && q.Class == "":
		c.Refuse("class", "missing", "The class is missing; name the one that gets one more job.")
	}
	if b := q.Budget; b != nil {
		if b.Per == "" {
			b.Per = PerHour
		}
		if b.Of == "" {
			b.Of = OfVMCost
		}
		c.Enter("budget")
		money.Check(c, "amount", "The budget", b.Amount)
		strict.OneOf(c, "per", b.Per, budgetPeriods)
		strict.OneOf(c, "of", b.Of, budgetKinds)
		if b.Currency != "" {
			money.CheckCurrency(c, b.Currency)
		}
		c.Leave()
	}
	if x := q.ExtraPercent; x != nil {
		c.Number("extra_percent", "The extra", "per cent", *x, maxExtraPercent)
	}
}

// CheckFor finds the faults of a valid question about a problem.
func (q *Question) CheckFor(p *capacity.Problem) error {
	return strict.Check(func(c *strict.Checker) {
		if b := q.Budget; b != nil && b.Currency != "" && b.Currency != p.Currency {
			c.Enter("budget")
			c.Found("currency", "currency", fmt.Sprintf("The budget is in %s and all prices and penalties are in %s; no exchange rate is known here.", b.Currency, p.Currency),
				c.Hint("currency", p.Currency, "Give the amount in %s.", p.Currency))
			c.Leave()
		}
		timed := func(class capacity.Class) bool { return class.DeadlineSeconds != 0 }
		if q.Question == AskCheapestDeadline && q.Class == "" && !slices.ContainsFunc(p.Classes, timed) {
			c.Refuse("class", "not_taken", "No class has a deadline: they are given by their VMs per job.")
		}
		if q.Class == "" {
			return
		}
		at := slices.IndexFunc(p.Classes, func(class capacity.Class) bool { return class.Name == q.Class })
		if at < 0 {
			strict.UnknownName(c, "class", "class", q.Class, classNames(p))
			return
		}
		if q.Question == AskCheapestDeadline && p.Classes[at].DeadlineSeconds == 0 {
			c.Refuse("class", "not_taken", "Class %q has no deadline: it is given by its VMs per job.", fault.Clip(q.Class))
		}
	})
}

func classNames(p *capacity.Problem) []string {
	names := make([]string, len(p.Classes))
	for i := range p.Classes {
		names[i] = p.Classes[i].Name
	}
	return names
}

// seconds is the time in which a budget may be spent.
func (b *AskedBudget) seconds(p *capacity.Problem) int64 {
	switch b.Per {
	case PerMonth:
		return 3600 * capacity.HoursPerMonth
	case PerHour:
		return 3600
	}
	return p.PeriodSeconds
}

// Period is the budget for one period of the problem, rounded up to what money has. So it pays for every plan that the
// amount asked for pays for.
func (b *AskedBudget) Period(p *capacity.Problem) money.Amount {
	times := b.Amount.Mul(decimal.NewFromInt(p.PeriodSeconds))
	whole, rest := times.QuoRem(decimal.NewFromInt(b.seconds(p)), money.Places)
	if rest.IsPositive() {
		whole = whole.Add(decimal.New(1, -money.Places))
	}
	return money.Amount{Decimal: whole}
}

// Asked is an amount a period as one for the budget's time.
func (b *AskedBudget) Asked(p *capacity.Problem, period money.Amount) money.Amount {
	return period.Over(b.seconds(p), p.PeriodSeconds)
}

// paying is a budget that pays for an amount a period.
func (b AskedBudget) paying(p *capacity.Problem, period money.Amount) money.Amount {
	if b.Amount = b.Asked(p, period); b.Period(p).LessThan(period.Decimal) {
		seconds := decimal.NewFromInt(b.seconds(p))
		b.Amount = money.Amount{Decimal: period.Mul(seconds).Div(decimal.NewFromInt(p.PeriodSeconds)).RoundCeil(money.Places)}
	}
	return b.Amount
}
