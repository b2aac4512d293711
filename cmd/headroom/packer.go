package main

import (
	"context"
	"time"

	"headroom/internal/ask/pack"
	"headroom/internal/ask/recheck"
	"headroom/internal/core/lp"
	"headroom/internal/core/lp/worker"
)

// packer packs batches, each in its time, and starts a solver process only where one is there.
type packer struct {
	pool *worker.Pool
}

func (p *packer) pack(ctx context.Context, problem pack.PackingProblem) (pack.Packing, error) {
	if p.pool == nil {
		if _, err := worker.Find(); err == nil {
			p.pool = worker.New(worker.Config{Processes: 1})
		}
	}
	ctx, cancel := context.WithTimeout(ctx, time.Duration(problem.Options.MaxSolveMs)*time.Millisecond)
	defer cancel()
	if p.pool == nil {
		return packed(ctx, problem, nil) // with a warning where it matters
	}
	return packed(ctx, problem, p.pool)
}

// packed is a packing that has passed the independent check.
func packed(ctx context.Context, p pack.PackingProblem, solver lp.Solver) (pack.Packing, error) {
	a, err := pack.Pack(ctx, p, solver)
	if err == nil {
		err = recheck.PackingFault(p, a)
	}
	return a, err
}

func (p *packer) close() {
	if p.pool != nil {
		p.pool.Close()
		p.pool = nil
	}
}
