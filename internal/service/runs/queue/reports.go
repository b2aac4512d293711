package queue

import (
	"context"
	"time"

	"example.org/headroom/internal/service/app"
	"example.org/headroom/internal/service/runs"
)

// forgetReports is the interval for deleting surplus reports, after somebody has lowered their number.
const forgetReports = time.Minute

// report makes a report of a cluster.
func report(ctx context.Context, a *app.App, claim runs.Claim, progress func(runs.Progress)) (Result, error) {
	save, err := a.Reports.MakeForRun(ctx, claim, progress)
	return Result{Make: save}, err
}

// sweepReports starts the reports that are due and, now and then, deletes old ones.
func (r *Runner) sweepReports(ctx context.Context, forgotten *time.Time) {
	if _, err := r.app.Reports.StartDue(ctx); err != nil && ctx.Err() == nil {
		r.log.Debug("starting the reports that are due failed; it is tried again", "error", err.Error())
	}
	if time.Since(*forgotten) < forgetReports {
		return
	}
	*forgotten = time.Now()
	if _, err := r.app.Stores.Reports.SweepReports(ctx); err != nil && ctx.Err() == nil {
		r.log.Debug("deleting old reports failed; it is tried again", "error", err.Error())
	}
}
