package queue

import (
	"context"
	"errors"
	"fmt"
	"time"

	"example.org/headroom/internal/core/fault"
	"example.org/headroom/internal/data/fetch"
	"example.org/headroom/internal/data/history"
	"example.org/headroom/internal/service/app"
	"example.org/headroom/internal/service/clusters"
	"example.org/headroom/internal/service/runs"
)

// historyImport fetches executions of a history server, or a file, and stores them in a cluster. It continues after a
// failed attempt, so it may take long and try often.
func historyImport(from *fetch.Client) Kind {
	walk := func(ctx context.Context, s clusters.HistorySource, limit int64, skip func(context.Context, []string) (map[string]bool, error), report func(runs.Progress), to history.Sink) error {
		q := fetch.HistoryQuery{
			Kind: fetch.HistoryKind(s.Kind), User: s.User, Queue: s.Queue, Job: s.Job, Limit: int(s.Limit), MaxBytes: limit, Known: skip,
			Progress: func(done, total int64, unit string) { report(runs.Progress{Done: done, Total: total, Unit: unit}) },
		}
		if s.From != nil {
			q.From = *s.From
		}
		if s.Until != nil {
			q.Until = *s.Until
		}
		return asRunError(from.History(ctx, s.URL, q, to))
	}
	return Kind{Timeout: 12 * time.Hour, Attempts: 10, Do: func(ctx context.Context, a *app.App, claim runs.Claim, report func(runs.Progress)) (Result, error) {
		made, err := a.Clusters.HistoryImportForRun(ctx, claim, walk, report)
		return Result{Type: made.Type, Body: made.Body}, err
	}}
}

// asRunError classifies a fetch error: final ones fail the run, others are tried again.
func asRunError(err error) error {
	wrong := (*fetch.Error)(nil)
	switch {
	case !errors.As(err, &wrong):
		return err
	case wrong.Final:
		return &fault.InputError{Findings: []fault.Finding{{Pointer: "/url", Code: "fetch", Detail: wrong.Sentence}}}
	}
	return fmt.Errorf("%s: %w", wrong.Sentence, fault.Busy)
}
