package app

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"headroom/internal/ask/horizon"
	"headroom/internal/core/fault"
	"headroom/internal/service/auth"
	"headroom/internal/service/runs"
)

// Time limits of work that is answered at once. Its first pieces predict its time. Whatever the prediction, nobody
// waits for longer than maxAtOnce.
const (
	atOnce     = 2 * time.Second
	judgedFrom = 200 * time.Millisecond // of work
	maxAtOnce  = 4 * time.Second
)

// errLong reports that work takes too long to wait for.
var errLong = errors.New("this takes too long to be waited for")

// judged does work that reports its progress, but returns errLong if it would take long.
func judged(ctx context.Context, work func(ctx context.Context, tell func(done, total int64)) error) error {
	working, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	patience := time.AfterFunc(maxAtOnce, func() { stop(errLong) })
	defer patience.Stop()
	began := time.Now()
	err := work(working, func(done, total int64) {
		if took := time.Since(began); took > judgedFrom && done < total && took.Seconds()*float64(total)/float64(max(1, done)) > atOnce.Seconds() {
			stop(errLong)
		}
	})
	if err != nil && errors.Is(context.Cause(working), errLong) {
		return errLong
	}
	return err
}

// turn takes a place for one piece of work in the background.
func (a *App) turn(ctx context.Context) (in context.Context, leave func(), err error) {
	return a.solves.enterAs(ctx, background)
}

// crew works in the caller's place and in free ones, up to a number.
func (a *App) crew(ctx context.Context, most int) (c horizon.Crew, leave func()) {
	places := make(chan context.Context, most)
	places <- ctx
	var leaves []func()
	for len(leaves) < most-1 {
		in, one := a.solves.enterFree(ctx)
		if one == nil {
			break
		}
		places <- in
		leaves = append(leaves, one)
	}
	turn := func(context.Context) (context.Context, func(), error) {
		in := <-places
		return in, func() { places <- in }, nil
	}
	return horizon.Crew{Workers: len(places), Turn: turn}, func() {
		for _, one := range leaves {
			one()
		}
	}
}

// answerOrRun answers the question that read returns, in a place to solve in. If that takes long or the caller does
// not want to wait, it starts a run with the question, from the beginning.
func answerOrRun[Q, A any](ctx context.Context, a *App, n NewRun, background bool, read func() (Q, error), here func(context.Context, Q) (*A, error)) (*A, runs.Run, error) {
	in, leave, err := a.solves.enter(ctx)
	if err != nil {
		return nil, runs.Run{}, err
	}
	asked, answer, err := func() (asked Q, answer *A, err error) {
		defer leave()
		if asked, err = read(); err == nil && !background {
			answer, err = here(in, asked)
		}
		return asked, answer, err
	}()
	switch {
	case err != nil && !errors.Is(err, errLong):
		return nil, runs.Run{}, err
	case err == nil && answer != nil:
		return answer, runs.Run{}, nil
	}
	if who := auth.From(ctx); n.Cluster == "" && who.Clusters != nil {
		return nil, runs.Run{}, fmt.Errorf("this takes a run in the background, and the key %q, which is limited to clusters, sees only runs of those; ask about a cluster, or about less: %w", who.Name, fault.Forbidden)
	}
	n.Role, n.Input = auth.Planner, asked
	run, err := a.Stores.Runs.StartRun(ctx, n)
	return nil, run, err
}

// known reads a question that is there already.
func known[Q any](q Q) func() (Q, error) { return func() (Q, error) { return q, nil } }

// jsonResult returns the result of a run as JSON, and the error that ended it.
func jsonResult(claim RunClaim, answer any, worked error) (RunResult, error) {
	text, err := json.Marshal(answer)
	if err != nil {
		return RunResult{}, errors.Join(worked, fmt.Errorf("write what run %s made: %w", claim.ID, err))
	}
	return RunResult{Type: "application/json", Body: text}, worked
}

// allPlaces works with as many at a time as there are places; the work takes its turns itself. One that fails ends
// the others.
func (a *App) allPlaces(ctx context.Context, work func(context.Context) error) error {
	working, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	var workers sync.WaitGroup
	for range a.solves.places {
		workers.Go(func() {
			if err := work(working); err != nil {
				stop(err)
			}
		})
	}
	workers.Wait()
	if working.Err() == nil {
		return nil
	}
	return context.Cause(working)
}
