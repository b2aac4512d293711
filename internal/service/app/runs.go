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

// Work is what River hands to one of the servers. The queues are River's, one for each sort of work,
// so that none waits for another.
type Work interface {
	Kind() string
	Queue() string
	MostAttempts() int // River's; work that keeps its own count asks for one
}

// RunWork makes a server look at a run. During an upgrade a server is given only kinds that it knows.
type RunWork struct {
	ID string `json:"id"`
	Of string `json:"-"` // the run's kind
}

func (w RunWork) Kind() string    { return "run_" + w.Of }
func (RunWork) Queue() string     { return "runs" }
func (RunWork) MostAttempts() int { return 1 } // the run's row keeps count

// RunsChannel is where the store tells the ids of runs that have changed.
const RunsChannel = "headroom_runs"

// MostQueued is how many runs a key may have waiting.
const MostQueued = 100

// MostResult is the size of a run's result at most.
const MostResult = 32 << 20

// Runs is what the store keeps of background work. Leases are judged by the database's clock.
type Runs interface {
	// StartRun makes a run, which a server begins once the transaction has committed. Beyond MostQueued
	// it is a TooManyError.
	StartRun(ctx context.Context, r NewRun) (runs.Run, error)
	Run(ctx context.Context, id string) (runs.Run, error)
	// Runs lists the newest first, without results.
	Runs(ctx context.Context, of RunFilter, page Page) (Listed[runs.Run], error)
	// RunResult is what a run made; one that is not over is a Conflict.
	RunResult(ctx context.Context, id string) (RunResult, error)
	// RunInput is what a run works on, as JSON.
	RunInput(ctx context.Context, id string) (json.RawMessage, error)
	// CancelRun ends a run that waits, and asks the server that works on it to end one that does not.
	// It does nothing to a run that is over.
	CancelRun(ctx context.Context, id string) (runs.Run, error)
	// RetryRun begins a run that failed or was cancelled from the beginning; any other is a Conflict.
	RetryRun(ctx context.Context, id string) (runs.Run, error)

	// ClaimRun takes a run that waits; nil says that there is nothing to do. most is how often it may
	// be tried, by kind; one of a kind that is not in it is left to others.
	ClaimRun(ctx context.Context, id string, most map[string]int, lease time.Duration) (*RunClaim, error)
	// KeepRun claims for another while and shows how far the work is. It says whether somebody wants
	// the run to end. ErrClaimLost says that it is somebody else's, or over.
	KeepRun(ctx context.Context, c RunClaim, progress runs.Progress, lease time.Duration) (cancel bool, err error)
	// SettleRun says what became of a claimed run. ErrClaimLost says that nobody wants to know.
	SettleRun(ctx context.Context, c RunClaim, o RunOutcome) (runs.RunState, error)
	// SweepRuns hands out again what servers have left that are gone, and answers the runs that failed
	// for good because of it, by kind.
	SweepRuns(ctx context.Context) (failed []string, err error)
	// ForgetRuns deletes those that have been over for longer than that.
	ForgetRuns(ctx context.Context, after time.Duration) (int64, error)
}

// NewRun is a run to be made.
type NewRun struct {
	Kind    string
	Cluster string
	Role    auth.Role // that starting, ending and repeating it needs
	Input   any       // what the kind's work reads, as JSON
}

// RunFilter limits runs; zero values limit nothing.
type RunFilter struct {
	Cluster string
	State   runs.RunState
	Kind    string
	Only    []string // clusters the caller may see; nil is all, and runs of no cluster
}

// RunResult is what a run made.
type RunResult struct {
	Type    string // a media type
	Body    []byte
	Partial bool // what a run had that did not succeed
	Version int64
}

// RunClaim is a run that this process works on.
type RunClaim struct {
	ID, Token, Kind string
	Cluster         string
	By              auth.Principal // who started it
	Attempt, Most   int64
	Input           json.RawMessage
}

// RunOutcome is what became of an attempt: State is the run's from now on.
type RunOutcome struct {
	State    runs.RunState
	Progress runs.Progress
	Result   *RunResult
	Error    *runs.RunError
	// Make writes what a run that succeeded makes, and answers the result, in the transaction that
	// finishes the run: both or neither.
	Make  func(context.Context) (RunResult, error)
	After time.Duration // of a run that waits again: for how long
	Spare bool          // of a run that waits again: the attempt does not count
}

// TooManyError is a key that has too much waiting already.
type TooManyError struct {
	Detail     string
	RetryAfter time.Duration
}

func (e *TooManyError) Error() string { return e.Detail }

// Run is one that the caller may see.
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

// showResult lets what a run has made until now be read while this server works on it, until the function that
// it gives back is called.
func (a *App) showResult(id string, untilNow func() (RunResult, error)) (hide func()) {
	a.results.Store(id, untilNow)
	return func() { a.results.Delete(id) }
}

func sees(ctx context.Context, r runs.Run) bool {
	who := auth.From(ctx)
	return who.Clusters == nil || r.Cluster != nil && who.Sees(*r.Cluster)
}

// NoRun is the error of a run that is not there, or not for the caller's eyes.
func NoRun(id string) error {
	return fmt.Errorf("there is no run with the id %.60q: %w", id, fault.NotFound)
}

// Runs lists those that the caller may see.
func (a *App) Runs(ctx context.Context, of RunFilter, page Page) (Listed[runs.Run], error) {
	of.Only = auth.From(ctx).Clusters
	return a.Stores.Runs.Runs(ctx, of, page)
}

// RunResult is the result of a run that the caller may see, or what there is of it where this server works on it.
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

// RunInput is what a run that the caller may see works on.
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

// mayChange refuses who may not see a run, or could not have started it.
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

// planInput is what a plan run reads.
type planInput struct {
	At time.Time `json:"at,omitzero"` // zero is the moment it begins
}

// StartPlanRun is CreatePlan in the background: the run's result is the plan's record.
func (a *App) StartPlanRun(ctx context.Context, cluster string, at time.Time) (runs.Run, error) {
	return a.Stores.Runs.StartRun(ctx, NewRun{Kind: PlanRun, Cluster: cluster, Role: auth.Planner, Input: planInput{at}})
}

// PlanForRun solves what a plan run asks for. save stores the plan and answers its record.
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

// TellRunError is why a run failed, as it is shown. What is ours to mend says nothing of the inside.
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
