package runs

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"example.org/headroom/internal/core/fault"
	"example.org/headroom/internal/data/storage"
	"example.org/headroom/internal/service/auth"
)

// Store stores background work. The database's clock decides on leases.
type Store interface {
	// StartRun creates a run, which a server begins once the transaction has committed. Beyond MaxQueued it returns a
	// fault.TooManyError.
	StartRun(ctx context.Context, r NewRun) (Run, error)
	Run(ctx context.Context, id string) (Run, error)
	// Runs lists the newest first, without results.
	Runs(ctx context.Context, of Filter, page storage.Page) (storage.Listed[Run], error)
	// RunResult returns the result of a run; one that is not over is a Conflict.
	RunResult(ctx context.Context, id string) (Result, error)
	// RunInput returns the input of a run, as JSON.
	RunInput(ctx context.Context, id string) (json.RawMessage, error)
	// CancelRun ends a waiting run, and asks the server that works on another one to end it. It does nothing to a run
	// that is over.
	CancelRun(ctx context.Context, id string) (Run, error)
	// RetryRun begins a run that failed or was cancelled from the beginning; any other is a Conflict.
	RetryRun(ctx context.Context, id string) (Run, error)

	// ClaimRun takes a waiting run; nil means that there is nothing to do. most is the maximum number of tries, by
	// kind; runs of other kinds are left to others.
	ClaimRun(ctx context.Context, id string, most map[string]int, lease time.Duration) (*Claim, error)
	// KeepRun extends a claim and stores the progress. It reports whether somebody wants the run to end. ErrClaimLost
	// means that it belongs to somebody else, or is over.
	KeepRun(ctx context.Context, c Claim, progress Progress, lease time.Duration) (cancel bool, err error)
	// SettleRun stores the outcome of a claimed run. ErrClaimLost means that the outcome is no longer needed.
	SettleRun(ctx context.Context, c Claim, o Outcome) (RunState, error)
	// SweepRuns hands out the work of lost servers again, and returns the kinds of the runs that failed for good
	// because of it.
	SweepRuns(ctx context.Context) (failed []string, err error)
	// ForgetRuns deletes runs that have been over for longer than that.
	ForgetRuns(ctx context.Context, after time.Duration) (int64, error)
}

// Desk shows runs to those who may see them, and ends and repeats them.
type Desk struct {
	Watchers Watchers // who waits for runs

	store    Store
	listener storage.Listener
	results  sync.Map // of runs that this server works on: by id, a func() (RunResult, error) of what they have until now
}

func New(store Store, listener storage.Listener) *Desk {
	return &Desk{store: store, listener: listener}
}

// Work is a task that River hands to one of the servers. The queues are River's, one for each sort of work, so that
// none waits for another.
type Work interface {
	Kind() string
	Queue() string
	MaxAttempts() int // River's; work with a count of its own asks for one
}

// RunWork makes a server check a run. During an upgrade a server gets only kinds that it knows.
type RunWork struct {
	ID string `json:"id"`
	Of string `json:"-"` // the run's kind
}

func (w RunWork) Kind() string   { return "run_" + w.Of }
func (RunWork) Queue() string    { return "runs" }
func (RunWork) MaxAttempts() int { return 1 } // the run's row keeps count

// Channel notifies of the ids of changed runs.
const Channel = "headroom_runs"

// MaxQueued is the number of runs that a key may have waiting.
const MaxQueued = 100

// MaxResult is the size of a run's result at most.
const MaxResult = 32 << 20

// NewRun describes a run to start.
type NewRun struct {
	Kind    string
	Cluster string
	Role    auth.Role // that starting, ending and repeating it needs
	Input   any       // the input of the kind's work, as JSON
}

// Filter limits runs; zero values limit nothing.
type Filter struct {
	Cluster string
	State   RunState
	Kind    string
	Only    []string // clusters the caller may see; nil is all, and runs of no cluster
}

// Result is the result of a run.
type Result struct {
	Type    string // a media type
	Body    []byte
	Partial bool // the partial result of a run that did not succeed
	Version int64
}

// Claim is a run that this process works on.
type Claim struct {
	ID, Token, Kind string
	Cluster         string
	By              auth.Principal // the principal that started it
	Attempt, Most   int64
	Input           json.RawMessage
}

// Outcome is the outcome of an attempt: State is the run's new state.
type Outcome struct {
	State    RunState
	Progress Progress
	Result   *Result
	Error    *RunError
	// Make writes the product of a successful run, and returns the result, in the transaction that finishes the run:
	// both or neither.
	Make  func(context.Context) (Result, error)
	After time.Duration // pause of a run that waits again
	Spare bool          // of a run that waits again: the attempt does not count
}

// Run returns a run that the caller may see.
func (d *Desk) Run(ctx context.Context, id string) (Run, error) {
	r, err := d.store.Run(ctx, id)
	if err == nil && !sees(ctx, r) {
		return Run{}, NoRun(id)
	}
	if _, shown := d.results.Load(id); shown && r.State == RunRunning && r.Progress.Done > 0 {
		address := ResultAddress(id)
		r.ResultURL, r.Partial = &address, true
	}
	return r, err
}

// Show makes the result so far readable while this server works on a run, until hide is called.
func (d *Desk) Show(id string, untilNow func() (Result, error)) (hide func()) {
	d.results.Store(id, untilNow)
	return func() { d.results.Delete(id) }
}

func sees(ctx context.Context, r Run) bool {
	who := auth.From(ctx)
	return who.Clusters == nil || r.Cluster != nil && who.Sees(*r.Cluster)
}

// NoRun returns the error for a run that does not exist, or that the caller may not see.
func NoRun(id string) error {
	return fmt.Errorf("there is no run with the id %.60q: %w", id, fault.NotFound)
}

// List lists the runs that the caller may see.
func (d *Desk) List(ctx context.Context, of Filter, page storage.Page) (storage.Listed[Run], error) {
	of.Only = auth.From(ctx).Clusters
	return d.store.Runs(ctx, of, page)
}

// Result returns the result of a run that the caller may see, or the result so far if this server works on it.
func (d *Desk) Result(ctx context.Context, id string) (Result, error) {
	r, err := d.Run(ctx, id)
	if err != nil {
		return Result{}, err
	}
	if untilNow, shown := d.results.Load(id); shown && r.State == RunRunning {
		result, err := untilNow.(func() (Result, error))()
		result.Partial, result.Version = true, r.Version
		return result, err
	}
	return d.store.RunResult(ctx, id)
}

// Input returns the input of a run that the caller may see.
func (d *Desk) Input(ctx context.Context, id string) (json.RawMessage, error) {
	if _, err := d.Run(ctx, id); err != nil {
		return nil, err
	}
	return d.store.RunInput(ctx, id)
}

// Cancel ends a run.
func (d *Desk) Cancel(ctx context.Context, id string) (Run, error) {
	if err := d.mayChange(ctx, id); err != nil {
		return Run{}, err
	}
	return d.store.CancelRun(ctx, id)
}

// Retry begins a run again.
func (d *Desk) Retry(ctx context.Context, id string) (Run, error) {
	if err := d.mayChange(ctx, id); err != nil {
		return Run{}, err
	}
	return d.store.RetryRun(ctx, id)
}

// mayChange refuses callers who may not see a run, or could not have started it.
func (d *Desk) mayChange(ctx context.Context, id string) error {
	r, err := d.Run(ctx, id)
	if err != nil {
		return err
	}
	if who := auth.From(ctx); !who.Role.May(auth.Role(r.Role)) {
		return fmt.Errorf("this run was started with the role %s, and needs it again; the key %q has the role %s: %w", r.Role, who.Name, who.Role, fault.Forbidden)
	}
	return nil
}

// TellRunError returns the reason of a run's failure for clients. Faults of ours reveal nothing of the inside.
func TellRunError(err error) *RunError {
	var input *fault.InputError
	var infeasible *fault.InfeasibleError
	if errors.As(err, &infeasible) {
		return &RunError{Kind: string(fault.Infeasible), Detail: firstDetail(infeasible.Conflicts, "No plan meets these demands."), Conflicts: infeasible.Conflicts}
	}
	if errors.As(err, &input) {
		return &RunError{Kind: string(fault.Invalid), Detail: firstDetail(input.Findings, "The input breaks a rule."), Errors: input.Findings}
	}
	for _, kind := range []fault.Kind{fault.Invalid, fault.NotFound, fault.Conflict, fault.Forbidden, fault.Infeasible, fault.Busy} {
		if errors.Is(err, kind) {
			return &RunError{Kind: string(kind), Detail: strings.TrimSuffix(err.Error(), ": "+kind.Error())}
		}
	}
	return &RunError{Kind: RunInternal, Detail: "Something went wrong that is not about the inputs; the server's log says what, under the run's id."}
}

func firstDetail(findings []fault.Finding, otherwise string) string {
	if len(findings) == 0 {
		return otherwise
	}
	return findings[0].Detail
}
