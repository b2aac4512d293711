package pool

import "example.org/headroom/internal/core/fault"

// The checks of package recheck: it imports this package, so only an external test file can hand them over.
var (
	RecheckPool       func(p PoolProblem, a PoolPlan) []fault.Finding
	RecheckEvaluation func(p PoolProblem, e PoolEvaluation) []fault.Finding
	RecheckCourse     func(p PoolCourseProblem, a PoolCourse) []fault.Finding
	RecheckSchedule   func(b PoolBasis, s PoolSchedule) []fault.Finding
	RecheckShare      func(p SharePlanProblem, a SharePlan) []fault.Finding
)
