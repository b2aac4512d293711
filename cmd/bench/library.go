package main

import (
	"context"
	"time"

	"example.org/headroom/internal/core/lp"
)

// library measures CBC's C interface in Headroom's way: in a running solver process, with its program sent over a
// pipe. Its time is elapsed time, because the process outlives the solve and its CPU time is counted in too coarse
// steps.
func library(solver lp.Solver) func(context.Context, question) (answer, error) {
	return func(ctx context.Context, q question) (answer, error) {
		before := time.Now()
		s, err := solver.Solve(ctx, q.program, lp.Options{Gap: q.gap, Seconds: q.limit.Seconds()})
		a := answer{outcome: failed, took: time.Since(before)}
		if ctx.Err() != nil {
			return answer{}, ctx.Err()
		}
		if err != nil { // the solver crashed or answered nonsense, twice
			return a, nil
		}
		switch s.Status {
		case lp.Optimal:
			a.outcome = optimal
		case lp.Feasible, lp.Stopped:
			a.outcome = limited
		}
		a.x, a.bound = s.X, s.Bound
		return a, nil
	}
}
