package schedule

import (
	"os"
	"syscall"
	"testing"
	"time"

	"headroom/internal/ask/study"
	"headroom/internal/core/lp/worker"
)

// Weeks of fifty classes are planned within the gaps that are promised for their size. The long form tries ten of each.
func TestWeeksAreWithinTheirGaps(t *testing.T) {
	pool := worker.New(worker.Config{Processes: 1})
	defer pool.Close()
	seeds := uint64(1)
	if os.Getenv("HEADROOM_LONG") != "" {
		seeds = 10
	}
	for _, of := range []struct{ mean, gap float64 }{{400, 0.005}, {50, 0.02}, {10, 0.1}} {
		worst, sum, used, elapsed := 0.0, 0.0, time.Duration(0), time.Duration(0)
		for seed := range seeds {
			p := drawn(study.DrawCluster(seed, 168, 50, of.mean, 12))
			began, before := time.Now(), processorTime(t)
			plan := Solve(t.Context(), p, pool, Options{})
			elapsed, used = elapsed+time.Since(began), used+processorTime(t)-before
			worst, sum = max(worst, plan.Gap()), sum+plan.Gap()
			checkPlan(t, &p, &plan)
			if plan.Engine == "" {
				t.Errorf("%g VMs, seed %d: no engine proposed prices", of.mean, seed)
			}
		}
		n := time.Duration(seeds)
		t.Logf("%g VMs, %d weeks: gap %.3f %% on average, %.3f %% at most; %v of own processor time, %v elapsed with Clp", of.mean, seeds,
			100*sum/float64(seeds), 100*worst, (used / n).Round(time.Millisecond), (elapsed / n).Round(time.Millisecond))
		if worst > of.gap {
			t.Errorf("%g VMs: the gap is %g, want at most %g", of.mean, worst, of.gap)
		}
	}
}

func processorTime(t *testing.T) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		t.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
