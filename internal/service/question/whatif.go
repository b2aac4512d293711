package question

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync/atomic"
	"time"

	"example.org/headroom/internal/ask/whatif"
	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/fault"
	"example.org/headroom/internal/core/plan"
	"example.org/headroom/internal/service/plans"
	"example.org/headroom/internal/service/report"
)

// WhatIf asks what a problem comes to with changes.
var WhatIf = known(&Kind[whatif.WhatIfQuestion, whatif.Comparison]{
	Name: "what-if", Formats: []string{"csv"},
	From: map[string]Source[whatif.WhatIfQuestion]{
		"/v1/what-if":                    ofBody(func(r Request) (whatif.WhatIfQuestion, error) { return whatif.ReadWhatIf(r.Body, r.Limits) }),
		"/v1/clusters/{cluster}/what-if": ofCluster(whatif.ReadClusterWhatIf, clusterWhatIf),
	},
	Work: workWhatIf,
	Forms: func(_ whatif.WhatIfQuestion, w whatif.Comparison, _ View) Forms {
		return Forms{"csv": func(to io.Writer) error { return report.WhatIf(w).CSV(to) }}
	},
})

// CompareScenarios answers saved scenarios of a cluster with full plans.
func (d *Desk) CompareScenarios(ctx context.Context, cluster string, names []string, at time.Time) (whatif.Comparison, error) {
	q := whatif.ClusterWhatIfQuestion{About: whatif.About{At: at}, Detail: whatif.DetailFull}
	for _, name := range names {
		s, err := d.Inputs.Scenarios().Get(ctx, cluster, name) // the name is in the address, so that its absence is no invalid body
		if err != nil {
			return whatif.Comparison{}, err
		}
		q.Scenarios = append(q.Scenarios, whatif.AskedScenario{Name: s.Name, Changes: s.Changes})
	}
	r := Request{Cluster: cluster}
	asked, err := clusterWhatIf(ctx, d, r, q)
	if err != nil {
		return whatif.Comparison{}, err
	}
	_, answer, err := WhatIf.atOnce(ctx, d, r, func() (whatif.WhatIfQuestion, error) { return asked, nil })
	if err != nil {
		return whatif.Comparison{}, err
	}
	return *answer, nil
}

// clusterWhatIf is a question about a cluster. For a cluster planned with cbc it uses auto: compared plans must be
// proved, not proved twice.
func clusterWhatIf(ctx context.Context, d *Desk, r Request, q whatif.ClusterWhatIfQuestion) (asked whatif.WhatIfQuestion, err error) {
	p, err := d.comparable(ctx, r.Cluster, q.About)
	if err == nil {
		err = whatif.ScenarioLoad(len(q.Scenarios), len(p.Classes))
	}
	if err != nil {
		return asked, err
	}
	for i := range q.Scenarios {
		asked := &q.Scenarios[i]
		if asked.Saved == "" {
			continue
		}
		saved, err := d.savedScenario(ctx, r.Cluster, asked.Saved, fmt.Sprintf("/scenarios/%d/saved", i))
		if err != nil {
			return whatif.WhatIfQuestion{}, err
		}
		if asked.Changes = saved.Changes; asked.Name == "" {
			asked.Name = saved.Name
		}
	}
	return whatif.WhatIfQuestion{Problem: p, Detail: q.Detail, Scenarios: q.Scenarios}, nil
}

// comparable returns a problem of a cluster in the form for many plans.
func (d *Desk) comparable(ctx context.Context, cluster string, about whatif.About) (p capacity.Problem, err error) {
	if about.Plan == 0 {
		p, err = d.Plans.ProblemAt(ctx, cluster, about.At)
	} else {
		var of whatif.Answered
		_, of, err = d.Plans.Answered(ctx, cluster, plans.PlanRef{Number: about.Plan})
		if p = of.Problem; errors.Is(err, fault.NotFound) {
			if _, err = d.Inputs.Cluster(ctx, cluster); err == nil {
				err = fault.At("/plan", "unknown_name", fmt.Sprintf("The cluster %q has no plan %d; headroom plan list shows those it has.", cluster, about.Plan))
			}
		}
	}
	compared(&p)
	return p, err
}

// savedScenario returns a scenario of a cluster that a question names.
func (d *Desk) savedScenario(ctx context.Context, cluster, name, pointer string) (whatif.Scenario, error) {
	saved, err := d.Inputs.Scenarios().Get(ctx, cluster, name)
	if errors.Is(err, fault.NotFound) {
		err = fault.At(pointer, "unknown_name",
			fmt.Sprintf("The cluster %q has no scenario %.60q; save it first (headroom whatif scenario save), or give its changes.", cluster, name))
	}
	return saved, err
}

// solvesBudget is the multiple of a problem's time budget that all of a question's solves together may take. Problems
// not solved by then are answered with the best plan found at once, and its gap.
const solvesBudget = 10

func budgetOf(p *capacity.Problem) time.Duration {
	return solvesBudget * time.Duration(p.Options.MaxSolveMs) * time.Millisecond
}

// workWhatIf answers all scenarios. All changes are checked before anything is solved.
func workWhatIf(ctx context.Context, b *Bench, q whatif.WhatIfQuestion) (*whatif.Comparison, error) {
	if err := checkScenarios(q); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, budgetOf(&q.Problem))
	defer cancel()
	full := q.Detail != whatif.DetailSummary
	solve := plan.Planner(b.Plan)
	if !full {
		var err error
		if solve, err = b.PlanLike(q.Problem); err != nil {
			return nil, err
		}
	}
	base, err := whatif.NewBase(ctx, q.Problem, solve)
	if err != nil {
		return nil, err
	}
	s := &scenarios{base: base, asked: q.Scenarios, full: full, answers: make([]whatif.ScenarioAnswer, len(q.Scenarios))}
	t := &team{Bench: b, of: s}
	if err := t.work(ctx, len(q.Scenarios), func(ctx context.Context) error { return s.work(ctx, t) }); err != nil {
		return nil, err
	}
	a := &whatif.Comparison{Base: base.Outcome(full), Scenarios: s.answers}
	if q.Detail == whatif.DetailClasses {
		a.Shorten()
	}
	return a, nil
}

// scenarios are at work: any number of workers take them until none is left.
type scenarios struct {
	base       *whatif.Base
	asked      []whatif.AskedScenario
	full       bool
	answers    []whatif.ScenarioAnswer
	next, done atomic.Int64
}

func (s *scenarios) Total() int64 { return int64(len(s.asked)) }
func (s *scenarios) Done() int64  { return s.done.Load() }

func (s *scenarios) work(ctx context.Context, t *team) error {
	for {
		if errors.Is(ctx.Err(), context.Canceled) { // after the time budget the rest is answered at once
			return ctx.Err()
		}
		i := s.next.Add(1) - 1
		if i >= s.Total() {
			return nil
		}
		in, leave, err := t.turn(ctx)
		if err != nil {
			return err
		}
		s.answers[i], err = s.base.Answer(in, s.asked[i].Scenario(), s.full)
		leave()
		if err != nil {
			return err
		}
		s.done.Add(1)
	}
}

// checkScenarios finds the faults of all scenarios, so that nothing is solved in vain.
func checkScenarios(q whatif.WhatIfQuestion) error {
	var findings []fault.Finding
	for i := range q.Scenarios {
		_, err := q.Scenarios[i].Scenario().Apply(q.Problem)
		if err = fault.Move(err, fault.Under(fmt.Sprintf("/scenarios/%d", i))); fault.Findings(err) == nil && err != nil {
			return err
		}
		findings = append(findings, fault.Findings(err)...)
	}
	return fault.Refusal(findings, 0)
}
