package queue

import (
	"context"
	"time"

	"example.org/headroom/internal/data/fetch"
	"example.org/headroom/internal/service/app"
	"example.org/headroom/internal/service/clusters"
	"example.org/headroom/internal/service/runs"
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
