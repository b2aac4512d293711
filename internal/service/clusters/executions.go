package clusters

import (
	"context"
	"time"

	"example.org/headroom/internal/data/history"
	"example.org/headroom/internal/data/storage"
)

// Executions stores past executions of jobs. Like observations they change no plan.
type Executions interface {
	// PutExecutions stores valid records, each of another execution, and returns the outcome of each. A record
	// replaces a stored one only if it is worth more. A dry run only looks. run is the importing run, or "" for
	// records that were sent.
	PutExecutions(ctx context.Context, cluster string, records []history.Record, run string, dryRun bool) ([]Put, error)
	// RecordImport writes the results of an import to the audit log.
	RecordImport(ctx context.Context, cluster string, made HistoryImport) error
	// KnownExecutions returns those of the given records' ids that need not be fetched again: their sample is stored,
	// or they did not end well, or this run has stored them.
	KnownExecutions(ctx context.Context, cluster string, executions []string, run string) ([]KnownExecution, error)
	// CountExecutions counts a cluster's executions, up to a limit.
	CountExecutions(ctx context.Context, cluster string, most int64) (int64, error)

	// Executions lists the newest first, by their submission; undated ones come last.
	Executions(ctx context.Context, cluster string, of ExecutionFilter, page storage.Page) (storage.Listed[history.StoredExecution], error)
	// Execution returns an execution by its ID, with its sample.
	Execution(ctx context.Context, cluster, id string) (history.SampledExecution, error)
	// Samples lists the executions that can become profiles, with their samples, in the same order.
	Samples(ctx context.Context, cluster string, of ExecutionFilter, page storage.Page) (storage.Listed[history.Record], error)
	// Spans returns the times of executions of all outcomes that overlap [From, Until), up to a limit. undated counts
	// those, of any time, without a time on record.
	Spans(ctx context.Context, cluster string, of ExecutionFilter, most int64) (spans []history.Span, undated int64, err error)
	// RecordedJobs lists the jobs that have executions, by name.
	RecordedJobs(ctx context.Context, cluster string, page storage.Page) (storage.Listed[history.RecordedJob], error)
	// DeleteExecutions deletes the executions that match a filter, and returns their number.
	DeleteExecutions(ctx context.Context, cluster string, of ExecutionFilter) (int64, error)
}

// KnownExecution is a stored execution.
type KnownExecution struct {
	Execution, Job, Refused string
	SubmittedAt             *time.Time
	Ours                    bool // stored by the calling run
}

// ExecutionFilter limits executions to those submitted in [From, Until); zero values are no limits.
type ExecutionFilter struct {
	Job, User, Queue, Outcome string
	From, Until               time.Time
}

// Put is the outcome for a record.
type Put uint8

// The outcomes.
const (
	PutUnchanged Put = iota
	PutCreated
	PutUpdated
)
