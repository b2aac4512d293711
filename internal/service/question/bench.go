package question

import (
	"context"
	"errors"
	"sync"

	"example.org/headroom/internal/ask/horizon"
	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/lp"
	"example.org/headroom/internal/core/plan"
	"example.org/headroom/internal/service/plans/solving"
	"example.org/headroom/internal/service/runs"
)

// Solver solves for questions: that of a server, or of one's own machine.
type Solver interface {
	// Plan answers a problem within its time budget.
	Plan(ctx context.Context, p capacity.Problem) (capacity.Plan, error)
	// PlanLike is Plan for problems that differ little from one: in brief.
	PlanLike(base capacity.Problem) (plan.Planner, error)
	// Budgeted does work with the engine, which may be nil, within a time budget.
	Budgeted(ctx context.Context, maxSolveMs int64, work func(context.Context, lp.Solver) error) error
}

// Turn waits for a place for one piece of work, which is done under the context that it gives.
type Turn = func(ctx context.Context) (in context.Context, leave func(), err error)

// Bench is where the work on a question is done: at once, in the background, or on one's own machine.
type Bench struct {
	Solver
	// Crew returns those who do work that falls into at most so many pieces.
	Crew func(ctx context.Context, most int) (c horizon.Crew, leave func())
	Turn Turn                    // for work that is one piece at a time
	Tell func(done, total int64) // how far the work is
	// Preview makes the answer so far readable until hide is called.
	Preview func(untilNow func() (any, error)) (hide func())
	Partial bool // an answer that is not complete is worth something
	Hold    bool // those of a crew keep their places for all their pieces
}

// Here stays in the caller's place.
func Here(ctx context.Context) (in context.Context, leave func(), err error) {
	return ctx, func() {}, nil
}

func unseen(func() (any, error)) (hide func()) { return func() {} }

// atOnce returns the bench of a caller who has a place to solve in and waits.
func (d *Desk) atOnce(tell func(done, total int64)) *Bench {
	crew := func(ctx context.Context, most int) (horizon.Crew, func()) {
		return d.Solver.Crew(ctx, max(1, min(most, d.Solver.Places())))
	}
	return &Bench{Solver: d.Solver, Crew: crew, Turn: Here, Tell: tell, Preview: unseen, Hold: true}
}

// InTurns returns the bench of a run, which takes a turn for each piece of work.
func (d *Desk) InTurns(run, unit string, report func(runs.Progress)) *Bench {
	crew := func(context.Context, int) (horizon.Crew, func()) {
		return horizon.Crew{Workers: d.Solver.Places(), Turn: d.Solver.Turn}, func() {}
	}
	return &Bench{Solver: d.Solver, Crew: crew, Turn: d.Solver.Turn, Partial: true,
		Tell: func(done, total int64) { report(runs.Progress{Done: done, Total: total, Unit: unit}) },
		Preview: func(untilNow func() (any, error)) (hide func()) {
			return d.Runs.Show(run, func() (runs.Result, error) {
				answer, err := untilNow()
				if err != nil {
					return runs.Result{}, err
				}
				return jsonResult(run, answer, nil)
			})
		}}
}

// Alone returns the bench of one's own machine with so many workers.
func Alone(s Solver, workers int, tell func(done, total int64)) *Bench {
	crew := func(context.Context, int) (horizon.Crew, func()) {
		return horizon.Crew{Workers: workers, Turn: Here}, func() {}
	}
	return &Bench{Solver: s, Crew: crew, Turn: Here, Tell: tell, Preview: unseen}
}

// counted is work that falls into pieces.
type counted interface {
	Total() int64
	Done() int64
}

// team does counted work: any number of workers, a turn for each piece.
type team struct {
	*Bench
	of   counted
	turn Turn
}

// solver returns a planner whose every solve is a piece of the work.
func (t *team) solver(solve plan.Planner) plan.Planner {
	return func(ctx context.Context, p capacity.Problem) (capacity.Plan, error) {
		in, leave, err := t.turn(ctx)
		if err != nil {
			return capacity.Plan{}, err
		}
		defer leave()
		pl, err := solve(in, p)
		if err == nil {
			t.Tell(t.of.Done()+1, t.of.Total())
		}
		return pl, err
	}
}

// work lets as many work as there are, and tells how far it is before and after. One that fails ends the others.
func (t *team) work(ctx context.Context, most int, one func(context.Context) error) error {
	crew, leave := t.Crew(ctx, most)
	defer leave()
	if t.turn = crew.Turn; t.Hold {
		t.turn, one = Here, holding(crew.Turn, one)
	}
	t.Tell(t.of.Done(), t.of.Total())
	working, stop := context.WithCancel(ctx)
	defer stop()
	var workers sync.WaitGroup
	var failed sync.Once
	var err error
	for range max(1, min(most, crew.Workers)) {
		workers.Go(func() {
			if one := one(working); one != nil {
				failed.Do(func() { err = one })
				stop()
			}
		})
	}
	workers.Wait()
	if err == nil || t.Partial {
		t.Tell(t.of.Done(), t.of.Total())
	}
	return err
}

// holding does work in one place. It ends with its own context, though work in a place is under that of the place.
func holding(turn Turn, work func(context.Context) error) func(context.Context) error {
	return func(ctx context.Context) error {
		in, leave, err := turn(ctx)
		if err != nil {
			return err
		}
		defer leave()
		in, cancel := context.WithCancel(in)
		defer cancel()
		defer context.AfterFunc(ctx, func() {
			if errors.Is(ctx.Err(), context.Canceled) { // the time budget of the place ends by itself
				cancel()
			}
		})()
		return work(in)
	}
}

// inOne does work that is one piece. An answer that refuse refuses leaves it undone.
func inOne[Ask, Answer any](refuse func(*Answer) error, work func(context.Context, *Bench, Ask) (Answer,
	error)) func(context.Context, *Bench, Ask) (*Answer, error) {
	return func(ctx context.Context, b *Bench, ask Ask) (*Answer, error) {
		b.Tell(0, 1)
		in, leave, err := b.Turn(ctx)
		if err != nil {
			return nil, err
		}
		defer leave()
		answer, err := work(in, b, ask)
		if err != nil {
			return nil, err
		}
		if refuse == nil || refuse(&answer) == nil {
			b.Tell(1, 1)
		}
		return &answer, nil
	}
}

// budgeted does work on a problem with the engine, within a time budget.
func budgeted[Problem, Answer any](ctx context.Context, b *Bench, maxSolveMs int64, p Problem, solve solving.Solve[Problem,
	Answer]) (answer Answer, err error) {
	err = b.Budgeted(ctx, maxSolveMs, func(ctx context.Context, engine lp.Solver) (err error) {
		answer, err = solve(ctx, p, engine)
		return err
	})
	return answer, err
}
