package run

import (
	"context"

	"headroom/internal/app"
	"headroom/internal/capacity"
)

// sweep plans the points of a sweep. What there is when it is ended is kept as a part.
func sweep(ctx context.Context, a *app.App, claim app.RunClaim, report func(capacity.Progress)) (Result, error) {
	made, err := a.SweepForRun(ctx, claim, report)
	return Result{Type: made.Type, Body: made.Body}, err
}
