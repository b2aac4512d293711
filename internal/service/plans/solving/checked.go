package solving

import (
	"context"
	"time"

	"example.org/headroom/internal/ask/horizon"
	"example.org/headroom/internal/ask/pack"
	"example.org/headroom/internal/ask/pool"
	"example.org/headroom/internal/ask/recheck/machines"
	"example.org/headroom/internal/ask/recheck/timetables"
	"example.org/headroom/internal/ask/timetable"
	"example.org/headroom/internal/core/lp"
)

// Solve answers a problem with a solver, which may be nil.
type Solve[Problem, Answer any] = func(ctx context.Context, p Problem, solver lp.Solver) (Answer, error)

// Packings and plans that have passed the check. Others are errors.
var (
	CheckedPacking = checked(pack.Pack, machines.PackingFault)
	CheckedPool    = checked(pool.Plan, func(p pool.PoolProblem, a pool.PoolPlan) error { return machines.PoolFault(machines.Pool(p, a)) })
	CheckedMix     = checked(pool.Evaluate, func(p pool.PoolProblem, a pool.PoolEvaluation) error {
		return machines.PoolFault(machines.PoolEvaluation(p, a))
	})
	CheckedShares = checked(pool.Share, func(p pool.SharePlanProblem,
		a pool.SharePlan) error {
		return machines.PoolFault(machines.Share(p, a))
	})
)

func checked[Problem, Answer any](solve Solve[Problem, Answer], wrong func(Problem, Answer) error) Solve[Problem, Answer] {
	return func(ctx context.Context, p Problem, solver lp.Solver) (Answer, error) {
		answer, err := solve(ctx, p, solver)
		if err == nil {
			err = wrong(p, answer)
		}
		return answer, err
	}
}

// CheckedCourse plans a pool round after round.
func CheckedCourse(ctx context.Context, p pool.PoolCourseProblem, plan pool.Planner, tell func(done, total int64)) (pool.PoolCourse,
	error) {
	course, err := pool.Course(ctx, p, plan, tell)
	if err == nil {
		err = machines.PoolFault(machines.PoolCourse(p, course))
	}
	return course, err
}

// Parts of the time for the plan in which nothing waits, and until each class has a type of VMs. With all of it gone there, nothing
// would wait.
const partAtOnce, partTypes = 4, 2

// CheckedSchedule plans a schedule, and says in it that it has passed.
func CheckedSchedule(ctx context.Context, q timetable.Question, solver lp.Solver) (timetable.Answer, error) {
	times := timetable.Times{AtOnce: ctx, Types: ctx, All: ctx}
	if end, limited := ctx.Deadline(); limited {
		left, cancel := time.Until(end), context.CancelFunc(nil)
		times.AtOnce, cancel = context.WithTimeout(ctx, left/partAtOnce)
		defer cancel()
		times.Types, cancel = context.WithTimeout(ctx, left/partTypes)
		defer cancel()
	}
	answer, err := timetable.PlanWithin(times, q, solver)
	if err == nil {
		err = timetables.Fault(q, &answer)
	}
	return answer, err
}

// CheckBuying returns an error for purchases with their schedules that are wrong.
func CheckBuying(b timetable.Buying, w *horizon.PurchaseWithWaiting) error {
	return timetables.FaultOfBuying(b, w)
}
