package app

import (
	"context"
	"time"

	"headroom/internal/data/history"
	"headroom/internal/data/storage"
)

// Executions is what the store keeps of past executions of jobs. Like observations they change no plan.
type Executions interface {
	// PutExecutions stores records, which are valid and each of another execution, and says what became of
	// each. One that is there already is replaced by one of more worth alone. A dry run only looks. run is
	// the one that imports them, "" where they were sent.
	PutExecutions(ctx context.Context, cluster string, records []history.Record, run string, dryRun bool) ([]Put, error)
	// RecordImport writes to the audit log what an import came to.
	RecordImport(ctx context.Context, cluster string, made HistoryImport) error
	// KnownExecutions are those of a cluster, of so many by their records' own ids, that need not be learnt
	// anew: their sample is there, or they did not end well, or this run has stored them.
	KnownExecutions(ctx context.Context, cluster string, executions []string, run string) ([]KnownExecution, error)
	// CountExecutions counts those of a cluster, up to so many.
	CountExecutions(ctx context.Context, cluster string, most int64) (int64, error)

	// Executions lists the newest first, by when they were submitted; those that are not dated come last.
	Executions(ctx context.Context, cluster string, of ExecutionFilter, page storage.Page) (storage.Listed[history.StoredExecution], error)
	// Execution is one by its ID, with its sample.
	Execution(ctx context.Context, cluster, id string) (history.SampledExecution, error)
	// Samples lists those of which profiles can be made, with their samples, in the same order.
	Samples(ctx context.Context, cluster string, of ExecutionFilter, page storage.Page) (storage.Listed[history.Record], error)
	// Spans is when executions were there, of all outcomes, that reach into [From, Until); at most so many.
	// undated counts those, of any
	// time, of which that is not on record.
	Spans(ctx context.Context, cluster string, of ExecutionFilter, most int64) (spans []history.Span, undated int64, err error)
	// RecordedJobs lists the jobs that have executions, by name.
	RecordedJobs(ctx context.Context, cluster string, page storage.Page) (storage.Listed[history.RecordedJob], error)
	// DeleteExecutions deletes those that a filter lets through, and says how many.
	DeleteExecutions(ctx context.Context, cluster string, of ExecutionFilter) (int64, error)
}

// KnownExecution is one that is there.
type KnownExecution struct {
	Execution, Job, Refused string
	SubmittedAt             *time.Time
	Ours                    bool // stored by the run that asks
}

// ExecutionFilter limits executions to those submitted in [From, Until); zero values limit nothing.
type ExecutionFilter struct {
	Job, User, Queue, Outcome string
	From, Until               time.Time
}

// Put is what became of a record.
type Put uint8

// What may.
const (
	PutUnchanged Put = iota
	PutCreated
	PutUpdated
)
