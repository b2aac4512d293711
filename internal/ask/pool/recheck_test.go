package pool_test

import (
	"example.org/headroom/internal/ask/pool"
	"example.org/headroom/internal/ask/recheck/machines"
)

func init() {
	pool.RecheckPool = machines.Pool
	pool.RecheckEvaluation = machines.PoolEvaluation
	pool.RecheckCourse = machines.PoolCourse
	pool.RecheckSchedule = machines.PoolSchedule
	pool.RecheckShare = machines.Share
}
