package run

import (
	"context"
	"errors"
	"fmt"
	"time"

	"headroom/internal/app"
	"headroom/internal/capacity"
	"headroom/internal/fetch"
)

// priceImport fetches a price sheet and takes it over into a cluster.
func priceImport(from *fetch.Client) Kind {
	open := func(ctx context.Context, address string, most int64) (app.Download, error) {
		d, err := from.Get(ctx, address, most)
		if err != nil {
			return app.Download{}, err
		}
		return app.Download{ReadCloser: d, Size: d.Size}, nil
	}
	return Kind{Timeout: 2 * time.Hour, Attempts: 4, Do: func(ctx context.Context, a *app.App, claim app.RunClaim, report func(capacity.Progress)) (Result, error) {
		take, err := a.PriceImportForRun(ctx, claim, open, report)
		if fault := (*fetch.Error)(nil); errors.As(err, &fault) {
			if fault.Final {
				err = &capacity.InputError{Findings: []capacity.Finding{{Pointer: "/url", Code: "fetch", Detail: fault.Sentence}}}
			} else {
				err = fmt.Errorf("%s: %w", fault.Sentence, capacity.Busy)
			}
		}
		return Result{Make: take}, err
	}}
}
