package schedule

import (
	"os"
	"syscall"
	"testing"
	"time"

	"example.org/headroom/internal/ask/study"
	"example.org/headroom/internal/core/lp/worker"
)

// Weeks of fifty classes are planned within the gaps that are promised for their size, and at least nine tenths of what waiting
// can save are saved. The long form tries ten weeks of each size.
func TestWeeksAreWithinTheirGaps(t *testing.T) {
	seeds := uint64(1)
	if os.Getenv("HEADROOM_LONG") != "" {
		seeds = 10
	}
	for _, of := range []struct {
		mean, gap, saving float64
		types             int
	}{{400, 0.005, 0.9, 1}, {50, 0.02, 0.9, 1}, {10, 0.1, 0.6, 1}, {400, 0.02, 0.85, 10}} {
		pool := worker.New(worker.Config{Processes: 1})
		worst, sum, least, saved := 0.0, 0.0, 1.0, 0.0
		used, solver := time.Duration(0), processorTime(t, syscall.RUSAGE_CHILDREN)
		for seed := range seeds {
			p := drawnOn(study.DrawCluster(seed, 168, 50, of.mean, 12), of.types)
			before := processorTime(t, syscall.RUSAGE_SELF)
			plan := Solve(t.Context(), p, pool, Options{LPSeconds: 30})
			used += processorTime(t, syscall.RUSAGE_SELF) - before
			worst, sum = max(worst, plan.Gap()), sum+plan.Gap()
			checkPlan(t, &p, &plan)
			if plan.Engine == "" {
				t.Errorf("%g VMs on %d types, seed %d: no engine proposed prices", of.mean, of.types, seed)
			}
			once := Solve(t.Context(), p.AtOnce(), nil, Options{})
			share := (once.Cost() - plan.Cost()) / (once.Cost() - plan.Bound)
			least, saved = min(least, share), saved+(once.Cost()-plan.Cost())/once.Cost()
		}
		pool.Close()
		solver = processorTime(t, syscall.RUSAGE_CHILDREN) - solver
		n := time.Duration(seeds)
		t.Logf("%g VMs on %d types, %d weeks: gap %.3f %% on average, %.3f %% at most. Waiting saves %.1f %%, at least %.1f %% of its bound; %v of own processor time and %v of Clp's",
			of.mean, of.types, seeds, 100*sum/float64(seeds), 100*worst, 100*saved/float64(seeds), 100*least, (used / n).Round(time.Millisecond), (solver / n).Round(time.Millisecond))
		if worst > of.gap || least < of.saving {
			t.Errorf("%g VMs on %d types: the gap is %g and waiting saves %g of its bound, want at most %g and at least %g", of.mean, of.types, worst, least, of.gap, of.saving)
		}
	}
}

func processorTime(t *testing.T, who int) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(who, &u); err != nil {
		t.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
