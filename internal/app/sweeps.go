package app

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"headroom/internal/auth"
	"headroom/internal/capacity"
	"headroom/internal/plan"
)

// SweepRun is the kind of run that plans the points of a sweep.
const SweepRun = "sweep"

// How long a sweep may take to be answered at once: what it will take is judged by its first points, and
// whatever has been judged, it is not waited for longer than sweepMost.
const (
	sweepAtOnce = 2 * time.Second
	sweepJudged = 200 * time.Millisecond // of work, before it is judged
	sweepMost   = 4 * time.Second
)

var errLongSweep = errors.New("the sweep takes too long to be waited for")

// Sweep answers a sweep that brings its problem along, or the run that goes on with it where it takes long or
// the caller does not want to wait.
func (a *App) Sweep(ctx context.Context, background bool, read func() (capacity.SweepQuestion, error)) (*plan.SweepAnswer, capacity.Run, error) {
	leave, err := a.solves.enter(ctx)
	if err != nil {
		return nil, capacity.Run{}, err
	}
	q, err := read()
	if err != nil {
		leave()
		return nil, capacity.Run{}, err
	}
	return a.sweepOrRun(ctx, "", q, background, leave)
}

// SweepCluster is Sweep about the problem of a cluster at a moment.
func (a *App) SweepCluster(ctx context.Context, cluster string, q capacity.ClusterSweepQuestion, background bool) (*plan.SweepAnswer, capacity.Run, error) {
	p, err := a.comparable(ctx, cluster, q.At)
	if err != nil {
		return nil, capacity.Run{}, err
	}
	question := capacity.SweepQuestion{Problem: p, Vary: q.Vary, Curve: q.Curve}
	if err := question.Check(); err != nil {
		return nil, capacity.Run{}, err
	}
	leave, err := a.solves.enter(ctx)
	if err != nil {
		return nil, capacity.Run{}, err
	}
	return a.sweepOrRun(ctx, cluster, question, background, leave)
}

// sweepOrRun works on a sweep in the caller's place and free ones, and gives it to a run if that will take
// long. The run begins anew: its points are the same.
func (a *App) sweepOrRun(ctx context.Context, cluster string, q capacity.SweepQuestion, background bool, leave func()) (*plan.SweepAnswer, capacity.Run, error) {
	if !background {
		answer, err := a.sweepAtOnce(ctx, q, leave)
		if !errors.Is(err, errLongSweep) {
			return answer, capacity.Run{}, err
		}
	} else {
		leave()
	}
	if who := auth.From(ctx); cluster == "" && who.Clusters != nil {
		return nil, capacity.Run{}, fmt.Errorf("this sweep takes a run in the background, and the key %q, which is limited to clusters, sees only runs of those; ask about a cluster, or for fewer points: %w", who.Name, capacity.Forbidden)
	}
	run, err := a.StartRun(ctx, NewRun{Kind: SweepRun, Cluster: cluster, Role: auth.Planner, Input: q})
	return nil, run, err
}

func (a *App) sweepAtOnce(ctx context.Context, q capacity.SweepQuestion, leave func()) (*plan.SweepAnswer, error) {
	defer leave()
	working, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	patience := time.AfterFunc(sweepMost, func() { stop(errLongSweep) })
	defer patience.Stop()
	s, began := plan.NewSweep(q), time.Now()
	judge := func(ctx context.Context, p capacity.Problem) (capacity.Plan, error) {
		pl, err := a.plan(ctx, p)
		took := time.Since(began)
		if done := s.Done() + 1; took > sweepJudged && took.Seconds()*float64(s.Total())/float64(done) > sweepAtOnce.Seconds() {
			stop(errLongSweep)
		}
		return pl, err
	}
	err := a.together(working, int(s.Total()), func() error { return s.Work(working, judge) })
	if errors.Is(context.Cause(working), errLongSweep) && s.Done() < s.Total() {
		return nil, errLongSweep
	}
	if err != nil {
		return nil, err
	}
	answer, err := s.Answer()
	return &answer, err
}

// SweepForRun plans the points that a run asks for, and reports how many are done. When it is ended before, the
// points until then come with the error.
func (a *App) SweepForRun(ctx context.Context, claim RunClaim, report func(capacity.Progress)) (RunResult, error) {
	var q capacity.SweepQuestion
	if err := json.Unmarshal(claim.Input, &q); err != nil {
		return RunResult{}, fmt.Errorf("read the input of run %s: %w", claim.ID, err)
	}
	leave, err := a.solves.enter(ctx)
	if err != nil {
		return RunResult{}, err
	}
	defer leave()
	s := plan.NewSweep(q)
	show := func() { report(capacity.Progress{Done: s.Done(), Total: s.Total(), Unit: "points"}) }
	show()
	working, stop := context.WithCancel(ctx) // one that fails ends the others
	defer stop()
	worked := a.together(working, int(s.Total()), func() error {
		err := s.Work(working, func(ctx context.Context, p capacity.Problem) (capacity.Plan, error) {
			pl, err := a.plan(ctx, p)
			show()
			return pl, err
		})
		if err != nil {
			stop()
		}
		return err
	})
	show()
	answer, err := s.Answer()
	if err != nil && worked == nil {
		return RunResult{}, err
	}
	text, err := json.Marshal(answer)
	if err != nil && worked == nil {
		return RunResult{}, fmt.Errorf("write the points of run %s: %w", claim.ID, err)
	}
	return RunResult{Type: "application/json", Body: text}, worked
}
