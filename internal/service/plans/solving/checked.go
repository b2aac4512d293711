package solving

import (
	"context"

	"example.org/headroom/internal/ask/horizon"
	"example.org/headroom/internal/ask/pack"
	"example.org/headroom/internal/ask/pool"
	"example.org/headroom/internal/ask/recheck"
	"example.org/headroom/internal/core/lp"
)

// Solve answers a problem with a solver, which may be nil.
type Solve[Problem, Answer any] = func(ctx context.Context, p Problem, solver lp.Solver) (Answer, error)

// Packings and plans that have passed the check. Others are errors.
var (
	CheckedPacking = checked(pack.Pack, recheck.PackingFault)
	CheckedPool    = checked(pool.Plan, func(p pool.PoolProblem, a pool.PoolPlan) error { return recheck.PoolFault(recheck.Pool(p, a)) })
	CheckedMix     = checked(pool.Evaluate, func(p pool.PoolProblem, a pool.PoolEvaluation) error {
		return recheck.PoolFault(recheck.PoolEvaluation(p, a))
	})
	CheckedShares = checked(pool.Share, func(p pool.SharePlanProblem,
		a pool.SharePlan) error {
		return recheck.PoolFault(recheck.Share(p, a))
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
		err = recheck.PoolFault(recheck.PoolCourse(p, course))
	}
	return course, err
}

// CheckedSchedule plans a schedule, and says in it that it has passed.
func CheckedSchedule(ctx context.Context, q horizon.ScheduleQuestion, solver lp.Solver) (horizon.ScheduleAnswer, error) {
	answer, err := horizon.Schedule(ctx, q, solver)
	if err == nil {
		err = recheck.ScheduleFault(q, &answer)
	}
	return answer, err
}
