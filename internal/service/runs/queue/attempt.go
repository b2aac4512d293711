package queue

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"sync"
	"time"

	"example.org/headroom/internal/core/fault"
	"example.org/headroom/internal/core/trace"
	"example.org/headroom/internal/data/storage"
	"example.org/headroom/internal/service/auth"
	"example.org/headroom/internal/service/plans/solving"
	"example.org/headroom/internal/service/runs"
)

// Causes of a work context's end.
var (
	errCancelled = errors.New("somebody wants the run to end")
	errTimeout   = errors.New("the run takes too long")
)

const (
	unknownAgain = 5 * time.Second // before another try after an unknown failure
	firstBackoff = time.Second     // after a Busy error; it doubles
	maxBackoff   = time.Minute
	settleTime   = 30 * time.Second // to record a run's outcome while the database is away
	settleQuick  = 2 * time.Second  // the same while the server stops
	settlePause  = 250 * time.Millisecond
)

// look works on a run if it is waiting.
func (r *Runner) look(ctx context.Context, work runs.RunWork) error {
	claim, err := r.app.Stores.Runs.ClaimRun(ctx, work.ID, r.most, r.config.Lease)
	switch {
	case err != nil:
		r.log.Warn("a run was not begun; it is tried again", "run", work.ID, "error", err.Error())
		return nil // the sweep hands it out again
	case claim == nil:
		return nil // taken, over or deleted
	}
	r.attempt(ctx, *claim)
	return nil
}

// attempt works on a claimed run and records its outcome.
func (r *Runner) attempt(ctx context.Context, claim runs.Claim) {
	kind := r.config.Kinds[claim.Kind]
	defer r.metrics.began(claim.Kind)()
	ctx = auth.With(ctx, claim.By)
	ctx, span := r.tracer().Root(ctx, "run "+claim.Kind, trace.Consumer, "")
	defer span.End()
	span.Count("headroom.run.attempt", claim.Attempt)
	limited, release := context.WithTimeoutCause(ctx, kind.Timeout, errTimeout)
	defer release()
	working, stop := context.WithCancelCause(limited)
	shown := &shown{}
	kept := make(chan struct{})
	go func() {
		defer close(kept)
		r.keep(working, stop, claim, shown)
	}()
	result, err := r.do(working, kind, claim, shown.set)
	cause := context.Cause(working)
	stop(nil)
	<-kept
	if errors.Is(cause, storage.ErrClaimLost) {
		r.log.Warn("a run was taken over by another server", "run", claim.ID, "kind", claim.Kind)
		return
	}
	outcome := r.outcome(ctx, claim, result, cause, err)
	outcome.Progress = shown.get()
	span.Text("headroom.run.state", string(outcome.State))
	if outcome.State == runs.RunFailed {
		span.Fail()
	}
	r.settle(ctx, claim, outcome)
}

// do calls the work. A panic in it is a bug and costs this run alone.
func (r *Runner) do(ctx context.Context, kind Kind, claim runs.Claim, report func(runs.Progress)) (result Result, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v\n%s", p, debug.Stack())
		}
	}()
	return kind.Do(ctx, r.app, claim, report)
}

// shown holds the progress to show.
type shown struct {
	mu       sync.Mutex
	progress runs.Progress
}

func (s *shown) set(p runs.Progress) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.progress = runs.Progress{Done: max(p.Done, 0), Total: max(p.Total, 0), Unit: p.Unit}
}

func (s *shown) get() runs.Progress {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.progress
}

// keep renews the claim and shows the progress of the work. It stops the work when the claim is lost or somebody
// wants the run to end.
func (r *Runner) keep(ctx context.Context, stop context.CancelCauseFunc, claim runs.Claim, now *shown) {
	ticker := time.NewTicker(min(showEvery, r.config.Lease/3))
	defer ticker.Stop()
	last, sent := time.Now(), runs.Progress{}
	for {
		changed, leave := r.app.Runs.Watchers.Watch(claim.ID)
		woken := false
		select {
		case <-ctx.Done():
			leave()
			return
		case <-changed:
			woken = true
		case <-ticker.C:
		}
		leave()
		p := now.get()
		if !woken && p == sent && time.Since(last) < r.config.Lease/3 {
			continue
		}
		cancel, err := r.app.Stores.Runs.KeepRun(ctx, claim, p, r.config.Lease)
		switch {
		case errors.Is(err, storage.ErrClaimLost):
			stop(storage.ErrClaimLost)
			return
		case err == nil:
			last, sent = time.Now(), p
		case woken: // not again at once: everybody is woken while the database is away
			rest(ctx, settlePause)
		}
		if cancel {
			stop(errCancelled)
			return
		}
	}
}

// rest waits, unless the context ends.
func rest(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}

// outcome returns the outcome of an attempt at a run.
func (r *Runner) outcome(ctx context.Context, claim runs.Claim, result Result, cause, err error) runs.Outcome {
	if err == nil {
		if o, ok := fitting(result.kept()); !ok {
			return o
		}
		return runs.Outcome{State: runs.RunSucceeded, Result: result.kept(), Make: result.Make}
	}
	kept := result.kept()
	if _, ok := fitting(kept); !ok {
		kept = nil
	}
	switch {
	case errors.Is(cause, errCancelled):
		return runs.Outcome{State: runs.RunCancelled, Result: kept}
	case ctx.Err() != nil || errors.Is(err, solving.ErrStopping): // not the run's fault
		return runs.Outcome{State: runs.RunQueued, Spare: true}
	case errors.Is(cause, errTimeout):
		return runs.Outcome{State: runs.RunFailed, Result: kept, Error: &runs.RunError{Kind: runs.RunTimedOut,
			Detail: fmt.Sprintf("The run took longer than %s, which is as long as one of its kind may.", r.config.Kinds[claim.Kind].Timeout)}}
	case errors.Is(err, fault.Busy) && claim.Attempt < claim.Most:
		r.log.Info("a run is tried again", "run", claim.ID, "kind", claim.Kind, "attempt", claim.Attempt, "error", err.Error())
		return runs.Outcome{State: runs.RunQueued, After: min(firstBackoff<<min(claim.Attempt-1, 10), maxBackoff)}
	}
	reported := runs.TellRunError(err)
	if reported.Kind == runs.RunInternal {
		r.log.Error("a run failed", "run", claim.ID, "kind", claim.Kind, "error", err.Error())
	}
	return runs.Outcome{State: runs.RunFailed, Result: kept, Error: reported}
}

// fitting fails a run whose result is too large to store.
func fitting(result *runs.Result) (runs.Outcome, bool) {
	if result == nil || len(result.Body) <= runs.MaxResult {
		return runs.Outcome{}, true
	}
	return runs.Outcome{State: runs.RunFailed, Error: &runs.RunError{Kind: runs.RunTooLarge,
		Detail: fmt.Sprintf("The result has %d bytes, more than the %d that are kept; ask for less at a time.", len(result.Body), runs.MaxResult)}}, false
}

// settle records the outcome of a run. While the database is away it tries again, because the work may have been
// long. Another holder of the run by then does it anew.
func (r *Runner) settle(ctx context.Context, claim runs.Claim, o runs.Outcome) {
	patience := settleTime
	if ctx.Err() != nil {
		patience = settleQuick
	}
	saying, cancel := context.WithTimeout(context.WithoutCancel(ctx), patience)
	defer cancel()
	for {
		state, err := r.app.Stores.Runs.SettleRun(saying, claim, o)
		switch {
		case err == nil:
			r.metrics.ended(claim.Kind, state)
			return
		case errors.Is(err, storage.ErrClaimLost):
			return
		case !errors.Is(err, fault.Busy) && o.Make != nil: // the run's product cannot be made
			o = r.outcome(ctx, claim, Result{}, nil, err)
			continue
		}
		rest(saying, settlePause)
		if saying.Err() != nil {
			r.log.Warn("what became of a run was not stored; it is tried again when its lease has passed", "run", claim.ID, "kind", claim.Kind, "error", err.Error())
			return
		}
	}
}
