package app

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"headroom/internal/ask/whatif"
	"headroom/internal/core/capacity"
	"headroom/internal/core/fault"
	"headroom/internal/data/storage"
)

// scenarioBudget is the multiple of a problem's time budget that all of a question's solves together may take.
// Problems not solved by then are answered with the best plan found at once, and its gap.
const scenarioBudget = 10

// Scenarios returns the cluster's saved scenarios.
func (a *App) Scenarios() storage.Collection[whatif.Scenario] {
	return storage.Checked[whatif.Scenario]{Collection: a.Stores.Inputs.Scenarios(),
		Check: func(_ context.Context, _ string, s *whatif.Scenario) error { return s.Validate() }}
}

// WhatIf answers a question that brings its problem along, which is read once there is a place to solve in.
func (a *App) WhatIf(ctx context.Context, read func() (whatif.WhatIfQuestion, error)) (whatif.Comparison, error) {
	ctx, leave, err := a.Solver.Enter(ctx)
	if err != nil {
		return whatif.Comparison{}, err
	}
	defer leave()
	q, err := read()
	if err != nil {
		return whatif.Comparison{}, err
	}
	return a.compare(ctx, q)
}

// ClusterWhatIf answers a question about a cluster. For a cluster planned with cbc it uses auto: compared plans must
// be proved, not proved twice.
func (a *App) ClusterWhatIf(ctx context.Context, cluster string, q whatif.ClusterWhatIfQuestion) (whatif.Comparison, error) {
	p, err := a.Plans.ProblemAt(ctx, cluster, q.At)
	if err == nil {
		err = whatif.ScenarioLoad(len(q.Scenarios), len(p.Classes))
	}
	if err != nil {
		return whatif.Comparison{}, err
	}
	if p.Options.Engine == capacity.EngineCBC {
		p.Options.Engine = capacity.EngineAuto
	}
	for i := range q.Scenarios {
		asked := &q.Scenarios[i]
		if asked.Saved == "" {
			continue
		}
		saved, err := a.Stores.Inputs.Scenarios().Get(ctx, cluster, asked.Saved)
		if errors.Is(err, fault.NotFound) {
			return whatif.Comparison{}, &fault.InputError{Findings: []fault.Finding{{Pointer: fmt.Sprintf("/scenarios/%d/saved", i), Code: "unknown_name",
				Detail: fmt.Sprintf("The cluster %q has no scenario %.60q; save it first, or give its changes.", cluster, asked.Saved)}}}
		}
		if err != nil {
			return whatif.Comparison{}, err
		}
		if asked.Changes = saved.Changes; asked.Name == "" {
			asked.Name = saved.Name
		}
	}
	return a.WhatIf(ctx, func() (whatif.WhatIfQuestion, error) {
		return whatif.WhatIfQuestion{Problem: p, Detail: q.Detail, Scenarios: q.Scenarios}, nil
	})
}

// CompareScenarios answers saved scenarios of a cluster with full plans.
func (a *App) CompareScenarios(ctx context.Context, cluster string, names []string, at time.Time) (whatif.Comparison, error) {
	q := whatif.ClusterWhatIfQuestion{At: at, Detail: whatif.DetailFull}
	for _, name := range names {
		s, err := a.Stores.Inputs.Scenarios().Get(ctx, cluster, name) // the name is in the address, so that its absence is no invalid body
		if err != nil {
			return whatif.Comparison{}, err
		}
		q.Scenarios = append(q.Scenarios, whatif.AskedScenario{Name: s.Name, Changes: s.Changes})
	}
	return a.ClusterWhatIf(ctx, cluster, q)
}

// compare answers a question in the caller's place for solving, and in others that nobody waits for. All
// changes are checked before anything is solved.
func (a *App) compare(ctx context.Context, q whatif.WhatIfQuestion) (whatif.Comparison, error) {
	if err := checkScenarios(q); err != nil {
		return whatif.Comparison{}, err
	}
	ctx, cancel := context.WithTimeout(ctx, scenarioBudget*time.Duration(q.Problem.Options.MaxSolveMs)*time.Millisecond)
	defer cancel()
	full := q.Detail == whatif.DetailFull
	solve := a.Solver.Plan
	if !full {
		solve = a.Solver.PlanLike(q.Problem)
	}
	base, err := whatif.NewBase(ctx, q.Problem, solve)
	if err != nil {
		return whatif.Comparison{}, err
	}
	w := whatif.Comparison{Base: base.Outcome(full), Scenarios: make([]whatif.ScenarioAnswer, len(q.Scenarios))}
	var next atomic.Int64
	work := func(ctx context.Context) error {
		for {
			i := int(next.Add(1)) - 1
			if i >= len(q.Scenarios) {
				return nil
			}
			answer, err := base.Answer(ctx, q.Scenarios[i].Scenario(), full)
			if err != nil {
				next.Store(int64(len(q.Scenarios))) // the others need not go on
				return err
			}
			w.Scenarios[i] = answer
		}
	}
	return w, a.Solver.Together(ctx, len(q.Scenarios), work)
}

// under puts findings below a pointer.
func under(findings []fault.Finding, pointer string) []fault.Finding {
	for i := range findings {
		findings[i].Pointer = pointer + findings[i].Pointer
		if h := findings[i].Hint; h != nil && h.Pointer != "" {
			h.Pointer = pointer + h.Pointer
		}
	}
	return findings
}

// checkScenarios finds the faults of all scenarios, so that nothing is solved in vain.
func checkScenarios(q whatif.WhatIfQuestion) error {
	var findings []fault.Finding
	for i := range q.Scenarios {
		_, err := q.Scenarios[i].Scenario().Apply(q.Problem)
		if input := (*fault.InputError)(nil); errors.As(err, &input) {
			findings = append(findings, under(input.Findings, fmt.Sprintf("/scenarios/%d", i))...)
		} else if err != nil {
			return err
		}
	}
	return fault.Refusal(findings, 0)
}
