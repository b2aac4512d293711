package app

import (
	"context"

	"headroom/internal/slots/sim"
)

// EstimateInterference estimates the effect of batch work on the requests beside it, which is a second's work at
// most.
func (a *App) EstimateInterference(ctx context.Context, read func() (sim.InterferenceQuestion, error)) (sim.InterferenceAnswer, error) {
	ctx, leave, err := a.Solver.Enter(ctx)
	if err != nil {
		return sim.InterferenceAnswer{}, err
	}
	defer leave()
	q, err := read()
	if err != nil {
		return sim.InterferenceAnswer{}, err
	}
	return sim.EstimateInterference(ctx, q)
}
