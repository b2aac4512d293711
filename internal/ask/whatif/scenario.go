package whatif

import (
	"context"

	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/fault"
	"example.org/headroom/internal/core/money"
	"example.org/headroom/internal/core/plan"
	"example.org/headroom/internal/core/words"
)

// ScenarioAnswer is a scenario's outcome beside the base's.
type ScenarioAnswer struct {
	plan.Outcome
	Sentence   string              `json:"sentence"`   // the difference for people
	Facts      words.Facts         `json:"facts"`      // the sentence, for programs
	Difference *ScenarioDifference `json:"difference"` // null where the base or the scenario is infeasible
	Classes    []ClassOutcome      `json:"classes,omitempty"`
}

// ClassOutcome is what a class has in the base and in the scenario, and the reason in the scenario.
type ClassOutcome struct {
	Name     string      `json:"name"`
	Admitted BothFigures `json:"admitted"`
	VMs      BothFigures `json:"vms"`
	Reason   string      `json:"reason"`
}

// BothFigures is a figure of the base and of the scenario.
type BothFigures struct {
	From float64 `json:"from"`
	To   float64 `json:"to"`
}

// Comparison holds the answers to a list of scenarios, in their order.
type Comparison struct {
	Base      plan.Outcome     `json:"base"`
	Scenarios []ScenarioAnswer `json:"scenarios"`
}

// ScenarioDifference splits what changes into what the same decisions cost at the new figures and what
// adapting to them is worth; see sameDecisions for what the same decisions are. In every line from +
// values + decisions = to, to the last decimal.
type ScenarioDifference struct {
	Kept        bool         `json:"kept"`         // the base's decisions can be carried out unchanged
	KeptBecause []string     `json:"kept_because"` // where they cannot: why, as sentences
	Cost        []MoneySplit `json:"cost"`         // per period; the total, the bill, and then the lines that they are sums of

	// Classes is every class's penalties and its share of the VMs; with Shared, which is idle contracts
	// and the rest of whole VMs that no class fills, they add up to the total. Only beside full plans.
	Classes []ClassSplit `json:"classes,omitempty"`
	Shared  *MoneySplit  `json:"shared,omitempty"`
}

// MoneySplit is one line of both bills.
type MoneySplit struct {
	Name      string       `json:"name"`
	From      money.Amount `json:"from"`
	Values    money.Amount `json:"values"`    // the base's decisions at the new figures, less From
	Decisions money.Amount `json:"decisions"` // what adapting adds to that
	To        money.Amount `json:"to"`
}

// ClassSplit is a class's line, the part of it that is on the bill, and its jobs.
type ClassSplit struct {
	MoneySplit
	Bill     BillSplit `json:"bill"`
	Admitted JobsSplit `json:"admitted"`
}

// BillSplit is the part of a line that is on the bill, as MoneySplit has it.
type BillSplit struct {
	From      money.Amount `json:"from"`
	Values    money.Amount `json:"values"`
	Decisions money.Amount `json:"decisions"`
	To        money.Amount `json:"to"`
}

// JobsSplit is a class's admitted jobs: in the base, as far as they can be kept, and in the scenario.
type JobsSplit struct {
	From float64 `json:"from"`
	Kept float64 `json:"kept"`
	To   float64 `json:"to"`
}

// Base is a problem and its plan, which scenarios are compared with. It may be used by several at once.
type Base struct {
	Answered
	solve  plan.Planner
	uses   []use
	series *plan.Series // of the problem
}

// NewBase solves the problem that scenarios are laid over.
func NewBase(ctx context.Context, p capacity.Problem, solve plan.Planner) (*Base, error) {
	pl, err := solve(ctx, p)
	if err != nil {
		return nil, err
	}
	b := &Base{Answered: Answered{p, pl}, solve: solve, series: plan.NewSeries(p, nil)}
	if pl.Status != capacity.InfeasibleStatus {
		b.uses = usesOf(&b.Problem, &b.Plan)
	}
	return b, nil
}

// Outcome is the base's own.
func (b *Base) Outcome(full bool) plan.Outcome { return plan.OutcomeOf("", b.Plan, full) }

// Answer lays a scenario over the base. What is wrong with its changes is an error; what no plan can
// meet is an answer. A full answer has the plan and what happens to each class.
func (b *Base) Answer(ctx context.Context, s Scenario, full bool) (ScenarioAnswer, error) {
	p, err := s.Apply(b.Problem)
	if err != nil {
		return ScenarioAnswer{}, err
	}
	pl, err := b.solve(ctx, p)
	if findings := fault.Findings(err); findings != nil { // more VMs than can be counted
		pl, err = capacity.Plan{Status: capacity.InfeasibleStatus, Conflicts: findings}, nil
	}
	if err != nil {
		return ScenarioAnswer{}, err
	}
	a := ScenarioAnswer{Outcome: plan.OutcomeOf(s.Name, pl, full)}
	if a.Status != capacity.InfeasibleStatus && b.Plan.Status != capacity.InfeasibleStatus {
		if a.Difference, err = b.difference(&p, &pl, full); err != nil {
			return ScenarioAnswer{}, err
		}
	}
	fact := Tell(s, b.Outcome(false), &a)
	a.Sentence, a.Facts = fact.Claim, words.Facts{fact}
	return a, nil
}

// difference compares the scenario's plan with the base's, by way of the base's decisions in the
// scenario.
func (b *Base) difference(p *capacity.Problem, pl *capacity.Plan, full bool) (*ScenarioDifference, error) {
	same, err := b.sameDecisions(p)
	if err != nil {
		return nil, err
	}
	kept := billOf(p, same.uses)
	d := &ScenarioDifference{KeptBecause: same.because(&kept)}
	d.Kept = len(d.KeptBecause) == 0
	from, to := b.Plan.Cost, pl.Cost
	for _, line := range [...]struct {
		name           string
		from, kept, to money.Amount
	}{
		{"total", from.Total, kept.total(), to.Total},
		{"bill", from.Bill, money.Amount{Decimal: kept.vmCost()}, to.Bill},
		{"on_demand", from.OnDemand, kept.onDemand, to.OnDemand},
		{"spot", from.Spot, kept.spot, to.Spot},
		{"reserved", from.Reserved, kept.reserved, to.Reserved},
		{"reserved_idle", from.ReservedIdle, kept.idle, to.ReservedIdle},
		{"penalties", from.Penalties, kept.penalties, to.Penalties},
	} {
		d.Cost = append(d.Cost, split(line.name, line.from, line.kept, line.to))
	}
	if full {
		b.splitClasses(d, p, pl, same, &kept)
	}
	return d, nil
}

func split(name string, from, kept, to money.Amount) MoneySplit {
	return MoneySplit{Name: name, From: from, To: to,
		Values: money.Amount{Decimal: kept.Sub(from.Decimal)}, Decisions: money.Amount{Decimal: to.Sub(kept.Decimal)}}
}

// Shorten leaves, of full answers, what each class has before and after.
func (w *Comparison) Shorten() {
	for i := range w.Scenarios {
		a := &w.Scenarios[i]
		if d := a.Difference; d != nil {
			d.Classes, d.Shared = nil, nil
			a.Classes = make([]ClassOutcome, len(a.Plan.Classes))
			for j, c := range a.Plan.Classes {
				was := &w.Base.Plan.Classes[j]
				a.Classes[j] = ClassOutcome{c.Name, BothFigures{was.Admitted, c.Admitted}, BothFigures{was.VMs, c.VMs}, c.Reason}
			}
		}
		a.Plan = nil
	}
	w.Base.Plan = nil
}

func (b *Base) splitClasses(d *ScenarioDifference, p *capacity.Problem, pl *capacity.Plan, same *same, kept *bill) {
	uses := usesOf(p, pl)
	before := billOf(&b.Problem, b.uses)
	after := billOf(p, uses)
	from, fromShared := before.byClass(&b.Problem, b.uses, b.Plan.Cost.Total)
	middle, middleShared := kept.byClass(p, same.uses, kept.total())
	to, toShared := after.byClass(p, uses, pl.Cost.Total)
	d.Classes = make([]ClassSplit, len(p.Classes))
	for i := range p.Classes {
		bill := split("", from[i].bill, middle[i].bill, to[i].bill)
		d.Classes[i] = ClassSplit{split(p.Classes[i].Name, from[i].all, middle[i].all, to[i].all), BillSplit{bill.From, bill.Values, bill.Decisions, bill.To},
			JobsSplit{b.Plan.Classes[i].Admitted, same.jobs(i), pl.Classes[i].Admitted}}
	}
	shared := split("shared", fromShared, middleShared, toShared)
	d.Shared = &shared
}

// CompareScenarios answers scenarios one after the other.
func CompareScenarios(ctx context.Context, p capacity.Problem, scenarios []Scenario, full bool, solve plan.Planner) (Comparison, error) {
	b, err := NewBase(ctx, p, solve)
	if err != nil {
		return Comparison{}, err
	}
	w := Comparison{Base: b.Outcome(full), Scenarios: make([]ScenarioAnswer, len(scenarios))}
	for i, s := range scenarios {
		if w.Scenarios[i], err = b.Answer(ctx, s, full); err != nil {
			return Comparison{}, err
		}
	}
	return w, nil
}
