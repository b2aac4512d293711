package pool_test

import (
	"example.org/headroom/internal/ask/pool"
	"example.org/headroom/internal/ask/recheck"
)

func init() {
	pool.RecheckPool = recheck.Pool
	pool.RecheckEvaluation = recheck.PoolEvaluation
	pool.RecheckCourse = recheck.PoolCourse
	pool.RecheckSchedule = recheck.PoolSchedule
	pool.RecheckShare = recheck.Share
}
