// Package solving decides who may solve when. It holds the solver, the places to solve in and the turnstile before
// them, and ends solves when the server stops.
package solving

import (
	"context"
	"errors"
	"time"

	"example.org/headroom/internal/ask/horizon"
	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/lp"
	"example.org/headroom/internal/core/plan"
	"example.org/headroom/internal/core/trace"
	"example.org/headroom/internal/service/auth"
	"example.org/headroom/internal/service/telemetry"
)

// Desk solves: it holds the solver and the places to solve in. It is safe for concurrent use.
type Desk struct {
	Engine    lp.Solver // nil is allowed: what CBC cannot say is then a warning
	telemetry *telemetry.Telemetry
	turns     *turnstile

	Ended context.Context // of all solves: ends with EndSolves
	end   context.CancelFunc
}

// New opens so many places to solve in, and so many to wait; zero is the default of each (see newTurnstile).
func New(engine lp.Solver, places, waiting int, t *telemetry.Telemetry) *Desk {
	d := &Desk{Engine: engine, telemetry: t, turns: newTurnstile(places, waiting)}
	d.Ended, d.end = context.WithCancel(context.Background())
	return d
}

// Limit sets for how long in an hour the work of one key may have a place to solve in; 0 is no limit. It is called
// before anybody solves.
func (d *Desk) Limit(perHour time.Duration, now func() time.Time) {
	d.turns.spent.perHour, d.turns.spent.now = perHour, now
}

// MaySolve reports whether the caller would be allowed to wait for a place to solve in: a refusal should come before
// anything is read.
func (d *Desk) MaySolve(ctx context.Context) error { return d.turns.room(auth.From(ctx).ID) }

// Solve answers a problem within its time budget. It waits for a place to solve in and reads the
// problem there, so that those who wait cost nothing; when too many wait already it is fault.Busy
// at once.
func (d *Desk) Solve(ctx context.Context, read func() (capacity.Problem, error)) (capacity.Plan, error) {
	ctx, leave, err := d.turns.enter(ctx)
	if err != nil {
		return capacity.Plan{}, err
	}
	defer leave()
	p, err := read()
	if err != nil {
		return capacity.Plan{}, err
	}
	return d.Plan(ctx, p)
}

// SolveFirst is Solve for a plan that CBC can vote on when it is out; later says that it has not.
func (d *Desk) SolveFirst(ctx context.Context, p capacity.Problem) (answer capacity.Plan, later bool, err error) {
	p, later = plan.BeforeVote(p)
	answer, err = d.Solve(ctx, func() (capacity.Problem, error) { return p, nil })
	return answer, later && answer.Proof != nil && answer.Proof.Engine == "", err
}

// Plan answers a problem within its time budget, for a caller who has a place to solve in.
func (d *Desk) Plan(ctx context.Context, p capacity.Problem) (capacity.Plan, error) {
	return d.planBy(ctx, p, func(ctx context.Context, p capacity.Problem) (capacity.Plan, error) {
		return plan.Solve(ctx, p, d.Engine)
	})
}

// PlanLike is plan for problems that differ little from one: in brief. It never fails.
func (d *Desk) PlanLike(base capacity.Problem) (plan.Planner, error) {
	series := plan.NewSeries(base, d.Engine)
	return func(ctx context.Context, p capacity.Problem) (capacity.Plan, error) {
		return d.planBy(ctx, p, series.Solve)
	}, nil
}

func (d *Desk) planBy(ctx context.Context, p capacity.Problem, solve plan.Planner) (capacity.Plan, error) {
	_ = capacity.Pause(ctx) // computations that solve many problems pass here
	began := time.Now()     // a duration, not a moment: the clock of App is for moments
	budgeted, cancel := context.WithTimeout(ctx, time.Duration(p.Options.MaxSolveMs)*time.Millisecond)
	defer cancel()
	defer context.AfterFunc(d.Ended, cancel)()
	traced, span := trace.Begin(budgeted, "solve", trace.Internal)
	defer span.End()
	span.Count("headroom.classes", int64(len(p.Classes)))
	answer, err := solve(traced, p)
	if errors.Is(err, context.Canceled) && d.Ended.Err() != nil {
		err = ErrStopping
	}
	if err != nil {
		span.Fail()
		return capacity.Plan{}, err
	}
	span.Text("headroom.status", string(answer.Status))
	if answer.Proof != nil {
		answer.Proof.SolveMs = float64(time.Since(began).Microseconds()) / 1000
	}
	d.observe(p, answer, time.Since(began))
	return answer, nil
}

// observe reports a solve to the operator. An engine that disagrees with a proved plan gets a line of its own: either
// the engine or we have a bug.
func (d *Desk) observe(p capacity.Problem, answer capacity.Plan, took time.Duration) {
	t := d.telemetry
	if t == nil {
		return
	}
	engine, agreed := "", true
	if answer.Proof != nil {
		engine = answer.Proof.Engine
		agreed = answer.Proof.Agreed == nil || *answer.Proof.Agreed
	}
	t.Solved(string(answer.Status), engine, took)
	if !agreed {
		t.Disagreed()
		t.Log.Warn("engine disagrees with the proof", "engine", answer.Proof.Engine, "classes", len(p.Classes), "status",
			string(answer.Status), "gap", answer.Proof.Gap)
	}
}

// Time limits of work that is answered at once. Its first pieces predict its time. Whatever the prediction, nobody
// waits for longer than maxAtOnce.
const (
	atOnce     = 2 * time.Second
	judgedFrom = 200 * time.Millisecond // of work
	maxAtOnce  = 4 * time.Second
)

// ErrLong reports that work takes too long to wait for.
var ErrLong = errors.New("this takes too long to be waited for")

// Judged does work that reports its progress, but returns errLong if it would take long.
func Judged(ctx context.Context, work func(ctx context.Context, tell func(done, total int64)) error) error {
	working, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	patience := time.AfterFunc(maxAtOnce, func() { stop(ErrLong) })
	defer patience.Stop()
	began := time.Now()
	err := work(working, func(done, total int64) {
		if took := time.Since(began); took > judgedFrom && done < total && took.Seconds()*float64(total)/float64(max(1,
			done)) > atOnce.Seconds() {
			stop(ErrLong)
		}
	})
	if err != nil && errors.Is(context.Cause(working), ErrLong) {
		return ErrLong
	}
	return err
}

// Turn takes a place for one piece of work in the background.
func (d *Desk) Turn(ctx context.Context) (in context.Context, leave func(), err error) {
	return d.turns.enterAs(ctx, background)
}

// Crew works in the caller's place and in free ones, up to a number.
func (d *Desk) Crew(ctx context.Context, most int) (c horizon.Crew, leave func()) {
	places := make(chan context.Context, most)
	places <- ctx
	var leaves []func()
	for len(leaves) < most-1 {
		in, one := d.turns.enterFree(ctx)
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

// Budgeted does work with the engine within a time budget, which ends with the service.
func (d *Desk) Budgeted(ctx context.Context, maxSolveMs int64, work func(context.Context, lp.Solver) error) error {
	ctx, cancel := context.WithTimeout(ctx, time.Duration(maxSolveMs)*time.Millisecond)
	defer cancel()
	defer context.AfterFunc(d.Ended, cancel)()
	err := work(ctx, d.Engine)
	if errors.Is(err, context.Canceled) && d.Ended.Err() != nil {
		err = ErrStopping
	}
	return err
}

// Version returns the version of the solver's engine, or "" without one or before its first use.
func (d *Desk) Version() string {
	if told, ok := d.Engine.(interface{ Version() string }); ok {
		return told.Version()
	}
	return ""
}

// Count counts the running and the waiting solves.
func (d *Desk) Count() (running, waiting int) { return d.turns.count() }

// Stop refuses new solves; waiting and running ones continue.
func (d *Desk) Stop() { d.turns.close() }

// End ends the running and waiting solves; their callers are asked to try again.
func (d *Desk) End() {
	d.turns.close()
	d.turns.clear()
	d.end()
}

// Enter waits for a place to solve in; leave gives it back. Work under the context that it gives lets others go first.
func (d *Desk) Enter(ctx context.Context) (in context.Context, leave func(), err error) {
	return d.turns.enter(ctx)
}

// Places returns how many may solve at once.
func (d *Desk) Places() int { return d.turns.places }
