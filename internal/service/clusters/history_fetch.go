package clusters

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"example.org/headroom/internal/core/fault"
	"example.org/headroom/internal/data/history"
	"example.org/headroom/internal/service/auth"
	"example.org/headroom/internal/service/runs"
)

// HistoryImportRun is the kind of run that fetches executions and imports them.
const HistoryImportRun = "history-import"

// HistorySource selects the executions to fetch, and their source. Zero values select all.
type HistorySource struct {
	URL   string     `json:"url"`            // of a file, or of a history server
	Kind  string     `json:"kind,omitempty"` // "file", "mapreduce", "spark"; "auto" or "" detects it from the address
	User  string     `json:"user,omitempty"`
	Queue string     `json:"queue,omitempty"`
	From  *time.Time `json:"from,omitempty"` // when they began
	Until *time.Time `json:"until,omitempty"`
	Limit int64      `json:"limit,omitempty"` // of a server: the newest ones
	// Job selects executions by their job, and names it for histories without a job.
	Job    string `json:"job,omitempty"`
	DryRun bool   `json:"dry_run,omitempty"`
}

// Validate checks the source on its own.
func (s HistorySource) Validate() error {
	if s.From != nil && s.Until != nil && !s.From.Before(*s.Until) {
		return &fault.InputError{Findings: []fault.Finding{{Pointer: "/until", Code: "order", Detail: "until must be after from."}}}
	}
	return nil
}

// StartHistoryImport imports the history at an address, in the background: the run's result is the HistoryImport.
func (d *Desk) StartHistoryImport(ctx context.Context, cluster string, s HistorySource) (runs.Run, error) {
	if _, err := d.inputs.Cluster(ctx, cluster); err != nil {
		return runs.Run{}, err
	}
	if err := cmp.Or(s.Validate(), d.hosts.CheckAddress(ctx, s.URL)); err != nil {
		return runs.Run{}, err
	}
	return d.runs.StartRun(ctx, runs.NewRun{Kind: HistoryImportRun, Cluster: cluster, Role: auth.Operator, Input: s})
}

// HistoryWalk fetches executions and passes them to a sink. most is the maximum number of bytes of a file. skip tells
// which need not be fetched.
type HistoryWalk func(ctx context.Context, s HistorySource, most int64, skip func(context.Context, []string) (map[string]bool, error), report func(runs.Progress), to history.Sink) error

// storeEvery is the time for which fetched executions wait to be stored. It is short because fetching cost more than
// receiving.
const storeEvery = time.Second

// finishTime is the time limit for storing the rest.
const finishTime = 10 * time.Second

// HistoryImportForRun fetches the executions of a run and stores them as they come. They stay if it breaks off, and
// the next attempt continues after them. The result is the report, also of a part.
func (d *Desk) HistoryImportForRun(ctx context.Context, claim runs.Claim, walk HistoryWalk, report func(runs.Progress)) (runs.Result, error) {
	var s HistorySource
	if err := json.Unmarshal(claim.Input, &s); err != nil {
		return runs.Result{}, fmt.Errorf("read the input of run %s: %w", claim.ID, err)
	}
	t, err := d.startTaking(ctx, claim.Cluster, TakeOptions{DryRun: s.DryRun, Job: s.Job, Run: claim.ID, Again: claim.Attempt > 1})
	if err != nil {
		return runs.Result{}, err
	}
	to := t.sink(ctx)
	take, stored := to.Execution, d.now()
	to.Execution = func(e *history.Execution) error {
		if err := take(e); err != nil || d.now().Sub(stored) < storeEvery {
			return err
		}
		stored = d.now()
		return t.Flush(ctx)
	}
	broken := walk(ctx, s, d.importBytes, t.Skip, func(p runs.Progress) {
		if p.Unit == "bytes" {
			t.Read(p.Done)
		}
		report(p)
	}, to)
	if errors.Is(broken, fault.Busy) && claim.Attempt < claim.Most {
		return runs.Result{}, cmp.Or(t.Flush(ctx), broken) // the next attempt reports all
	}
	finishing, stop := context.WithTimeout(context.WithoutCancel(ctx), finishTime) // also of one that is cancelled
	defer stop()
	made, err := t.finish(finishing)
	text, badly := json.Marshal(made)
	return runs.Result{Type: "application/json", Body: text}, cmp.Or(broken, err, badly)
}
