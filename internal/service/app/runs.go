package app

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"headroom/internal/core/fault"
	"headroom/internal/service/auth"
	"headroom/internal/service/runs"
)

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

// RunsChannel notifies of the ids of changed runs.
const RunsChannel = "headroom_runs"

// MaxQueued is the maximum number of waiting runs of a key.
const MaxQueued = 100

// MaxResult is the maximum size of a run's result.
const MaxResult = 32 << 20

// Runs stores background work. The database's clock decides on leases.
type Runs interface {
	// StartRun creates a run, which a server begins once the transaction has committed. Beyond MaxQueued it returns a
	// TooManyError.
	StartRun(ctx context.Context, r NewRun) (runs.Run, error)
	Run(ctx context.Context, id string) (runs.Run, error)
	// Runs lists the newest first, without results.
	Runs(ctx context.Context, of RunFilter, page Page) (Listed[runs.Run], error)
	// RunResult returns the result of a run; one that is not over is a Conflict.
	RunResult(ctx context.Context, id string) (RunResult, error)
	// RunInput returns the input of a run, as JSON.
	RunInput(ctx context.Context, id string) (json.RawMessage, error)
	// CancelRun ends a waiting run, and asks the server that works on another one to end it. It does nothing to a run
	// that is over.
	CancelRun(ctx context.Context, id string) (runs.Run, error)
	// RetryRun begins a run that failed or was cancelled from the beginning; any other is a Conflict.
	RetryRun(ctx context.Context, id string) (runs.Run, error)

	// ClaimRun takes a waiting run; nil means that there is nothing to do. most is the maximum number of tries, by
	// kind; runs of other kinds are left to others.
	ClaimRun(ctx context.Context, id string, most map[string]int, lease time.Duration) (*RunClaim, error)
	// KeepRun extends a claim and stores the progress. It reports whether somebody wants the run to end. ErrClaimLost
	// means that it belongs to somebody else, or is over.
	KeepRun(ctx context.Context, c RunClaim, progress runs.Progress, lease time.Duration) (cancel bool, err error)
	// SettleRun stores the outcome of a claimed run. ErrClaimLost means that the outcome is no longer needed.
	SettleRun(ctx context.Context, c RunClaim, o RunOutcome) (runs.RunState, error)
	// SweepRuns hands out the work of lost servers again, and returns the kinds of the runs that failed for good
	// because of it.
	SweepRuns(ctx context.Context) (failed []string, err error)
	// ForgetRuns deletes runs that have been over for longer than that.
	ForgetRuns(ctx context.Context, after time.Duration) (int64, error)
}

// NewRun describes a run to start.
type NewRun struct {
	Kind    string
	Cluster string
	Role    auth.Role // that starting, ending and repeating it needs
	Input   any       // the input of the kind's work, as JSON
}

// RunFilter limits runs; zero values limit nothing.
type RunFilter struct {
	Cluster string
	State   runs.RunState
	Kind    string
	Only    []string // clusters the caller may see; nil is all, and runs of no cluster
}

// RunResult is the result of a run.
type RunResult struct {
	Type    string // a media type
	Body    []byte
	Partial bool // the partial result of a run that did not succeed
	Version int64
}

// RunClaim is a run that this process works on.
type RunClaim struct {
	ID, Token, Kind string
	Cluster         string
	By              auth.Principal // the principal that started it
	Attempt, Most   int64
	Input           json.RawMessage
}

// RunOutcome is the outcome of an attempt: State is the run's new state.
type RunOutcome struct {
	State    runs.RunState
	Progress runs.Progress
	Result   *RunResult
	Error    *runs.RunError
	// Make writes the product of a successful run, and returns the result, in the transaction that finishes the run:
	// both or neither.
	Make  func(context.Context) (RunResult, error)
	After time.Duration // pause of a run that waits again
	Spare bool          // of a run that waits again: the attempt does not count
}

// TooManyError reports a key with too much waiting work.
type TooManyError struct {
	Detail     string
	RetryAfter time.Duration
}

func (e *TooManyError) Error() string { return e.Detail }

// Run returns a run that the caller may see.
func (a *App) Run(ctx context.Context, id string) (runs.Run, error) {
	r, err := a.Stores.Runs.Run(ctx, id)
	if err == nil && !sees(ctx, r) {
		return runs.Run{}, NoRun(id)
	}
	if _, shown := a.results.Load(id); shown && r.State == runs.RunRunning && r.Progress.Done > 0 {
		address := runs.ResultAddress(id)
		r.ResultURL, r.Partial = &address, true
	}
	return r, err
}

// showResult makes the result so far readable while this server works on a run, until hide is called.
func (a *App) showResult(id string, untilNow func() (RunResult, error)) (hide func()) {
	a.results.Store(id, untilNow)
	return func() { a.results.Delete(id) }
}

func sees(ctx context.Context, r runs.Run) bool {
	who := auth.From(ctx)
	return who.Clusters == nil || r.Cluster != nil && who.Sees(*r.Cluster)
}

// NoRun returns the error for a run that does not exist, or that the caller may not see.
func NoRun(id string) error {
	return fmt.Errorf("there is no run with the id %.60q: %w", id, fault.NotFound)
}

// Runs lists the runs that the caller may see.
func (a *App) Runs(ctx context.Context, of RunFilter, page Page) (Listed[runs.Run], error) {
	of.Only = auth.From(ctx).Clusters
	return a.Stores.Runs.Runs(ctx, of, page)
}

// RunResult returns the result of a run that the caller may see, or the result so far if this server works on it.
func (a *App) RunResult(ctx context.Context, id string) (RunResult, error) {
	r, err := a.Run(ctx, id)
	if err != nil {
		return RunResult{}, err
	}
	if untilNow, shown := a.results.Load(id); shown && r.State == runs.RunRunning {
		result, err := untilNow.(func() (RunResult, error))()
		result.Partial, result.Version = true, r.Version
		return result, err
	}
	return a.Stores.Runs.RunResult(ctx, id)
}

// RunInput returns the input of a run that the caller may see.
func (a *App) RunInput(ctx context.Context, id string) (json.RawMessage, error) {
	if _, err := a.Run(ctx, id); err != nil {
		return nil, err
	}
	return a.Stores.Runs.RunInput(ctx, id)
}

// CancelRun ends a run.
func (a *App) CancelRun(ctx context.Context, id string) (runs.Run, error) {
	if err := a.mayChange(ctx, id); err != nil {
		return runs.Run{}, err
	}
	return a.Stores.Runs.CancelRun(ctx, id)
}

// RetryRun begins a run again.
func (a *App) RetryRun(ctx context.Context, id string) (runs.Run, error) {
	if err := a.mayChange(ctx, id); err != nil {
		return runs.Run{}, err
	}
	return a.Stores.Runs.RetryRun(ctx, id)
}

// mayChange refuses callers who may not see a run, or could not have started it.
func (a *App) mayChange(ctx context.Context, id string) error {
	r, err := a.Run(ctx, id)
	if err != nil {
		return err
	}
	if who := auth.From(ctx); !who.Role.May(auth.Role(r.Role)) {
		return fmt.Errorf("this run was started with the role %s, and needs it again; the key %q has the role %s: %w", r.Role, who.Name, who.Role, fault.Forbidden)
	}
	return nil
}

// PlanRun is the kind of run that makes a plan.
const PlanRun = "plan"

// planInput is the input of a plan run.
type planInput struct {
	At time.Time `json:"at,omitzero"` // zero is the moment it begins
}

// StartPlanRun creates a plan in the background: the run's result is the plan's record.
func (a *App) StartPlanRun(ctx context.Context, cluster string, at time.Time) (runs.Run, error) {
	return a.Stores.Runs.StartRun(ctx, NewRun{Kind: PlanRun, Cluster: cluster, Role: auth.Planner, Input: planInput{at}})
}

// PlanForRun solves the problem of a plan run. save stores the plan and returns its record.
func (a *App) PlanForRun(ctx context.Context, claim RunClaim) (save func(context.Context) (RunResult, error), err error) {
	var in planInput
	if err := json.Unmarshal(claim.Input, &in); err != nil {
		return nil, fmt.Errorf("read the input of run %s: %w", claim.ID, err)
	}
	record, store, err := a.makePlan(ctx, claim.Cluster, in.At)
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context) (RunResult, error) {
		saved, err := store(ctx, record)
		if err != nil {
			return RunResult{}, err
		}
		a.countPlan(saved, nil)
		text, err := json.Marshal(saved)
		return RunResult{Type: "application/json", Body: text}, err
	}, nil
}

// TellRunError returns the reason of a run's failure for clients. Faults of ours reveal nothing of the inside.
func TellRunError(err error) *runs.RunError {
	var input *fault.InputError
	var infeasible *InfeasibleError
	if errors.As(err, &infeasible) {
		return &runs.RunError{Kind: string(fault.Infeasible), Detail: firstDetail(infeasible.Conflicts, "No plan meets these demands."), Conflicts: infeasible.Conflicts}
	}
	if errors.As(err, &input) {
		return &runs.RunError{Kind: string(fault.Invalid), Detail: firstDetail(input.Findings, "The input breaks a rule."), Errors: input.Findings}
	}
	for _, kind := range []fault.Kind{fault.Invalid, fault.NotFound, fault.Conflict, fault.Forbidden, fault.Infeasible, fault.Busy} {
		if errors.Is(err, kind) {
			return &runs.RunError{Kind: string(kind), Detail: strings.TrimSuffix(err.Error(), ": "+kind.Error())}
		}
	}
	return &runs.RunError{Kind: runs.RunInternal, Detail: "Something went wrong that is not about the inputs; the server's log says what, under the run's id."}
}

func firstDetail(findings []fault.Finding, otherwise string) string {
	if len(findings) == 0 {
		return otherwise
	}
	return findings[0].Detail
}
