package question

import (
	"context"
	"time"

	"headroom/internal/ask/pack"
	"headroom/internal/ask/recheck"
	"headroom/internal/core/lp"
	"headroom/internal/core/lp/worker"
)

// Packer packs batches, each in its time, and starts a solver process only where one is there.
type Packer struct {
	pool *worker.Pool
}

func (p *Packer) Pack(ctx context.Context, problem pack.PackingProblem) (pack.Packing, error) {
	if p.pool == nil {
		if _, err := worker.Find(); err == nil {
			p.pool = worker.New(worker.Config{Processes: 1})
		}
	}
	ctx, cancel := context.WithTimeout(ctx, time.Duration(problem.Options.MaxSolveMs)*time.Millisecond)
	defer cancel()
	if p.pool == nil {
		return Packed(ctx, problem, nil) // with a warning where it matters
	}
	return Packed(ctx, problem, p.pool)
}

// Packed is a packing that has passed the independent check.
func Packed(ctx context.Context, p pack.PackingProblem, solver lp.Solver) (pack.Packing, error) {
	a, err := pack.Pack(ctx, p, solver)
	if err == nil {
		err = recheck.PackingFault(p, a)
	}
	return a, err
}

func (p *Packer) Close() {
	if p.pool != nil {
		p.pool.Close()
		p.pool = nil
	}
}
