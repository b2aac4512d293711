package clusters

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"example.org/headroom/internal/core/fault"
	"example.org/headroom/internal/data/history"
)

// Limits of imports of histories.
const (
	historiesRead = 2 // files that are sent along and read at once
	// maxExecutions is the maximum number of stored executions of a cluster.
	maxExecutions = 1_000_000
	maxToldJobs   = 1000 // jobs and refusals that a report names
	// batchWeight is the amount stored at once: executions, and ten phases of chains count as one.
	batchWeight = 500
)

// HistoryImport is the result of an import of executions, real or as a dry run.
type HistoryImport struct {
	DryRun     bool          `json:"dry_run"`
	Executions int64         `json:"executions"` // found
	Created    int64         `json:"created"`
	Updated    int64         `json:"updated"`
	Unchanged  int64         `json:"unchanged"`
	Unusable   Refusals      `json:"unusable"` // stored, but of no use for a profile
	Refused    Refusals      `json:"refused"`  // not taken
	Bytes      int64         `json:"bytes"`    // read, as they were sent
	Jobs       []ImportedJob `json:"jobs"`     // by name, the first 1,000
	MoreJobs   int64         `json:"more_jobs"`
}

// Refusals counts the refused records, and lists the first 1,000.
type Refusals struct {
	Count int64             `json:"count"`
	First []history.Refusal `json:"first"`
}

func (r *Refusals) add(of history.Refusal) {
	if r.Count++; len(r.First) < maxToldJobs {
		r.First = append(r.First, of)
	}
}

// ImportedJob is the result of an import for one job.
type ImportedJob struct {
	Job        string `json:"job"`
	Executions int64  `json:"executions"`
	Created    int64  `json:"created"`
	Updated    int64  `json:"updated"`
	Unchanged  int64  `json:"unchanged"`
	Unusable   int64  `json:"unusable"`
}

// TakeOptions configures an import of executions.
type TakeOptions struct {
	DryRun bool
	Job    string // the job of executions without one
	Run    string // the importing run; "" without one
	Again  bool   // the run has begun before: its stored executions count as new
}

// SayJob is the advice for an execution whose history names no job.
const SayJob = " Say which it is, with job=NAME."

// Taking imports executions into a cluster, in batches of one transaction each. A broken import leaves whole
// executions, and a repetition makes no duplicates. It is used by one goroutine.
type Taking struct {
	desk    *Desk
	cluster string
	o       TakeOptions
	room    int64 // remaining room of the cluster
	batch   []history.Record
	weight  int
	jobs    map[string]*ImportedJob
	made    HistoryImport
}

// startTaking begins to take executions into a cluster.
func (d *Desk) startTaking(ctx context.Context, cluster string, o TakeOptions) (*Taking, error) {
	if strings.TrimSpace(o.Job) == "" {
		o.Job = ""
	}
	kept, err := d.executions.CountExecutions(ctx, cluster, maxExecutions)
	if err != nil {
		return nil, err
	}
	none := Refusals{First: []history.Refusal{}}
	return &Taking{desk: d, cluster: cluster, o: o, room: maxExecutions - kept, jobs: map[string]*ImportedJob{},
		made: HistoryImport{DryRun: o.DryRun, Unusable: none, Refused: none}}, nil
}

// sink returns a sink for a reader of histories.
func (t *Taking) sink(ctx context.Context) history.Sink {
	return history.Sink{
		Execution: func(e *history.Execution) error { return t.Take(ctx, history.Keep(e, t.o.Job)) },
		Refused:   func(r history.Refusal) error { t.made.Refused.add(r); return nil },
	}
}

// Take takes a record; its faults are listed in the report. An error is the store's.
func (t *Taking) Take(ctx context.Context, r history.Record) error {
	t.made.Executions++
	if r.Job == "" && t.o.Job != "" {
		r.Job = t.o.Job
	}
	if err := r.Check(); err != nil {
		refusal := err.(history.Refusal)
		if refusal.Detail == history.Nameless {
			refusal.Detail += SayJob
		}
		t.made.Refused.add(refusal)
		return nil
	}
	t.batch = append(t.batch, r)
	if t.weight++; r.Chain != nil {
		t.weight += len(r.Chain.Phases) / 10
	}
	if t.weight < batchWeight {
		return nil
	}
	return t.Flush(ctx)
}

// Flush stores the records so far.
func (t *Taking) Flush(ctx context.Context) error {
	batch := t.batch
	t.batch, t.weight = nil, 0
	if len(batch) == 0 {
		return nil
	}
	// In one order, so that two imports of the same file wait for each other and do not deadlock. Of two records of
	// one execution the better one counts.
	slices.SortStableFunc(batch, func(x, y history.Record) int {
		return cmp.Or(strings.Compare(x.Execution, y.Execution), cmp.Compare(y.Worth(), x.Worth()))
	})
	first := 0 // of those with the same id
	for i := range batch {
		r, twice := &batch[i], batch[first].Execution == batch[i].Execution
		if !twice {
			first = i
		}
		if before := &batch[first]; before.Worth() == r.Worth() && isAnother(r, before.Job, before.SubmittedAt) {
			t.refuseAnother(r, before.Job, before.SubmittedAt)
			continue
		}
		if i > first {
			t.count(r.Job, r.Execution, r.Refused, true)
		}
	}
	batch = slices.CompactFunc(batch, func(x, y history.Record) bool { return x.Execution == y.Execution })
	if int64(len(batch)) > t.room && !t.o.DryRun {
		return fmt.Errorf("the cluster %q keeps %d executions at most, and these would be more; delete those of jobs that are no longer of interest: %w", t.cluster, maxExecutions, fault.Conflict)
	}
	states, err := t.desk.executions.PutExecutions(ctx, t.cluster, batch, t.o.Run, t.o.DryRun)
	if err != nil {
		return err
	}
	there, err := t.unchanged(ctx, batch, states)
	if err != nil {
		return err
	}
	for i, state := range states {
		r := &batch[i]
		known, is := there[r.Execution]
		switch {
		case !is:
		case t.o.Again && known.Ours:
			state = PutCreated
			t.room++ // it counted already
		case isAnother(r, known.Job, known.SubmittedAt):
			t.refuseAnother(r, known.Job, known.SubmittedAt)
			continue
		}
		name := r.Job
		if is { // it may be stored under another name
			name = known.Job
		}
		job := t.count(name, r.Execution, r.Refused, false)
		switch state {
		case PutCreated:
			job.Created++
			t.made.Created++
			t.room--
		case PutUpdated:
			job.Updated++
			t.made.Updated++
		case PutUnchanged:
			job.Unchanged++
			t.made.Unchanged++
		}
	}
	return nil
}

// unchanged returns the stored executions of a batch that stay as they are, except for those still running.
func (t *Taking) unchanged(ctx context.Context, batch []history.Record, states []Put) (map[string]KnownExecution, error) {
	var ids []string
	for i, state := range states {
		if state == PutUnchanged {
			ids = append(ids, batch[i].Execution)
		}
	}
	if len(ids) == 0 {
		return nil, nil
	}
	known, err := t.desk.executions.KnownExecutions(ctx, t.cluster, ids, t.o.Run)
	there := map[string]KnownExecution{}
	for _, k := range known {
		there[k.Execution] = k
	}
	return there, err
}

// sameMoment is the largest difference of submission times in two records of one execution.
const sameMoment = time.Minute

// isAnother reports whether a record belongs to another execution than the stored one with its id: of another time,
// or without times on record of another job. One execution may be recorded with its job's name and without.
func isAnother(r *history.Record, job string, submitted *time.Time) bool {
	if r.SubmittedAt == nil || submitted == nil {
		return r.Job != job
	}
	return r.SubmittedAt.Sub(*submitted).Abs() > sameMoment
}

func (t *Taking) refuseAnother(r *history.Record, job string, submitted *time.Time) {
	when := ""
	if submitted != nil {
		when = ", submitted at " + submitted.UTC().Format(time.RFC3339)
	}
	t.made.Refused.add(history.Refusal{Where: r.Execution, Detail: fmt.Sprintf("An execution with this id is there already: of the job %q%s. An id stands for one execution of a cluster. If the one that is there is wrong, delete it and import this one again.", job, when)})
}

// Skip tells which executions need not be fetched again, and counts them.
func (t *Taking) Skip(ctx context.Context, ids []string) (map[string]bool, error) {
	known, err := t.desk.executions.KnownExecutions(ctx, t.cluster, ids, t.o.Run)
	skip := map[string]bool{}
	for _, k := range known {
		skip[k.Execution] = true
		t.made.Executions++
		job := t.count(k.Job, k.Execution, k.Refused, false)
		if k.Ours {
			job.Created++
			t.made.Created++
		} else {
			job.Unchanged++
			t.made.Unchanged++
		}
	}
	return skip, err
}

// count adds an execution to its job; a second record of it changes nothing. refused is the reason why it is of no
// use.
func (t *Taking) count(name, execution, refused string, twice bool) *ImportedJob {
	job := t.jobs[name]
	if job == nil {
		job = &ImportedJob{Job: name}
		t.jobs[name] = job
	}
	job.Executions++
	switch {
	case twice:
		job.Unchanged++
		t.made.Unchanged++
	case refused != "":
		job.Unusable++
		t.made.Unusable.add(history.Refusal{Where: execution, Detail: refused})
	}
	return job
}

// Read sets the number of bytes received.
func (t *Taking) Read(bytes int64) { t.made.Bytes = bytes }

// Report returns the results so far.
func (t *Taking) Report() HistoryImport {
	made := t.made
	made.Jobs = []ImportedJob{}
	names := sortedKeys(t.jobs)
	for _, name := range names[:min(len(names), maxToldJobs)] {
		made.Jobs = append(made.Jobs, *t.jobs[name])
	}
	made.MoreJobs = int64(len(names) - len(made.Jobs))
	return made
}

// finish stores the rest and writes the results to the audit log.
func (t *Taking) finish(ctx context.Context) (HistoryImport, error) {
	err := t.Flush(ctx)
	made := t.Report()
	if !t.o.DryRun && made.Created+made.Updated > 0 {
		// Stored executions are on record even if their sender is gone.
		if recorded := t.desk.executions.RecordImport(context.WithoutCancel(ctx), t.cluster, made); err == nil {
			err = recorded
		}
	}
	if len(t.jobs) > 0 && !t.o.DryRun { // also of jobs whose executions a broken import had stored
		t.desk.judgeDrifts(context.WithoutCancel(ctx), t.cluster, sortedKeys(t.jobs))
	}
	return made, err
}

// TakeExecutions takes records that were made elsewhere into a cluster.
func (d *Desk) TakeExecutions(ctx context.Context, cluster string, records []history.Record, o TakeOptions) (HistoryImport, error) {
	t, err := d.startTaking(ctx, cluster, o)
	if err != nil {
		return HistoryImport{}, err
	}
	for i := range records {
		if err := t.Take(ctx, records[i]); err != nil {
			_, _ = t.finish(ctx)
			return HistoryImport{}, err
		}
	}
	return t.finish(ctx)
}

// ImportHistory reads a history to its end and imports its executions into a cluster. Stored executions stay if the
// rest does not come.
func (d *Desk) ImportHistory(ctx context.Context, cluster string, o TakeOptions, file io.Reader) (HistoryImport, error) {
	t, err := d.startTaking(ctx, cluster, o)
	if err != nil {
		return HistoryImport{}, err
	}
	select {
	case d.histories <- struct{}{}:
		defer func() { <-d.histories }()
	default:
		return HistoryImport{}, fmt.Errorf("%d histories are being read already; send yours when one of them is done: %w", historiesRead, fault.Busy)
	}
	broken := history.Read(file, history.Options{MaxBytes: d.importBytes, Progress: t.Read}, t.sink(ctx))
	made, err := t.finish(ctx)
	return made, cmp.Or(broken, err)
}
