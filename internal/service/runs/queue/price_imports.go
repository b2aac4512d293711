package queue

import (
	"context"
	"time"

	"headroom/internal/data/fetch"
	"headroom/internal/service/app"
	"headroom/internal/service/clusters"
	"headroom/internal/service/runs"
)

// priceImport fetches a price sheet and imports it into a cluster.
func priceImport(from *fetch.Client) Kind {
	open := func(ctx context.Context, address string, limit int64) (clusters.Download, error) {
		d, err := from.Get(ctx, address, limit)
		if err != nil {
			return clusters.Download{}, err
		}
		return clusters.Download{ReadCloser: d, Size: d.Size}, nil
	}
	return Kind{Timeout: 2 * time.Hour, Attempts: 4, Do: func(ctx context.Context, a *app.App, claim runs.Claim, report func(runs.Progress)) (Result, error) {
		take, err := a.Clusters.PriceImportForRun(ctx, claim, open, report)
		return Result{Make: take}, asRunError(err)
	}}
}
