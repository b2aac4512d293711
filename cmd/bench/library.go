package main

import (
	"context"
	"math"
	"time"

	"headroom/internal/lp"
	"headroom/internal/study"
)

// library measures CBC's C interface the way Headroom uses it: in a solver process that is already
// running, its program sent over a pipe. Its time is elapsed time, because the process outlives
// the solve and its CPU time is counted in steps that are too coarse.
func library(solver lp.Solver) func(context.Context, question) (answer, error) {
	return func(ctx context.Context, q question) (answer, error) {
		p := program(q.instance)
		before := time.Now()
		s, err := solver.Solve(ctx, p, lp.Options{Gap: q.gap, Seconds: q.limit.Seconds()})
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
		if s.X != nil {
			for _, x := range s.X[len(q.instance.Supply):] {
				a.jobs = append(a.jobs, int64(math.Round(x)))
			}
		}
		return a, nil
	}
}

// program is the instance as writeMPS writes it.
func program(in study.Instance) *lp.Program {
	var p lp.Program
	load := p.Row(math.Inf(-1), 0)
	for _, t := range in.Supply {
		most := math.Inf(1)
		if t.VMs != study.Unlimited {
			most = float64(t.VMs)
		}
		p.Column(t.Price, 0, most, true, lp.Entry{Row: load, Coefficient: -1})
	}
	for i := range in.Gamma {
		p.Column(-in.Penalty[i], float64(in.Low[i]), float64(in.High[i]), true, lp.Entry{Row: load, Coefficient: in.Gamma[i]})
	}
	return &p
}
