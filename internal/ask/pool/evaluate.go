package pool

import (
	"context"
	"errors"
	"fmt"
	"math"

	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/fault"
	"example.org/headroom/internal/core/lp"
)

// Evaluate evaluates a given mix: the end of the work, its cost, and the deadlines it meets. Core instances go on
// after the round if work is left, but only the round is billed. Accelerators without given hours are kept while
// there is work for them. The solver is asked only if a deadline is missed when each instance takes the first job it
// can run.
func Evaluate(ctx context.Context, p PoolProblem, solver lp.Solver) (PoolEvaluation, error) {
	m, err := ready(p)
	if err != nil {
		return PoolEvaluation{}, err
	}
	if p.Mix == nil {
		return PoolEvaluation{}, &fault.InputError{Findings: []fault.Finding{{Pointer: "/mix", Code: "missing", Detail: "Which instances to evaluate is missing; give \"mix\", or ask for a plan."}}}
	}
	a := PoolMix{Core: []PoolCore{}, Accelerators: []PoolAccelerator{}}
	supplies := make([]supply, len(m.Types))
	for i := range supplies {
		supplies[i].startup = m.startups[i]
	}
	for _, x := range p.Mix.Core {
		i := m.places[x.Type]
		supplies[i].groups = append(supplies[i].groups, group{float64(x.Count), math.Inf(1)})
		x.Cost = times(m.Types[i].PerHour, x.Count*m.Hours)
		a.Core = append(a.Core, x)
	}
	for _, x := range p.Mix.Accelerators {
		i, until := m.places[x.Type], math.Inf(1)
		if x.Hours > 0 {
			until = float64(x.Hours)
		}
		supplies[i].groups = append(supplies[i].groups, group{float64(x.Count), until})
		a.Accelerators = append(a.Accelerators, x)
	}
	d, met, proved, err := m.divide(ctx, solver, supplies)
	if errors.Is(ctx.Err(), context.Canceled) {
		return PoolEvaluation{}, context.Cause(ctx)
	}
	if err != nil {
		m.warnings = append(m.warnings, capacity.Warning{Code: "solver_unavailable", Detail: "No solver said whether the deadlines that are missed here can be met by sharing the work out in another way."})
	}
	finish, busy := m.finishes(supplies, d)
	for k := range a.Accelerators {
		x := &a.Accelerators[k]
		if x.Hours == 0 {
			x.Hours = wholeHours(busy[m.places[x.Type]])
		}
		x.Cost = times(m.Types[m.places[x.Type]].PerHour, x.Count*x.Hours)
	}
	for _, at := range finish {
		if at > float64(m.Hours)*(1+poolLateTolerance) && !math.IsInf(at, 1) {
			m.warnings = append(m.warnings, capacity.Warning{Code: "beyond_round", Detail: fmt.Sprintf("Work goes on after the round of %s, for which the core instances are billed.", fault.Plural(m.Hours, "hour"))})
			break
		}
	}
	e := PoolEvaluation{DeadlinesMet: met, Proved: proved, PoolOutcome: m.outcome(a, supplies, d)}
	e.StorageMet = e.DiskGB >= m.needed*(1-storageRounding)
	return e, nil
}

// wholeHours returns the billed hours: at least one for an instance that was started.
func wholeHours(hours float64) int64 {
	return max(1, int64(math.Ceil(hours*(1-poolLateTolerance))))
}
