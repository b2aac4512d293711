package perf

import (
	"headroom/internal/core/capacity"
	"headroom/internal/core/money"
)

// chain is the demands of a job of stages, all on map slots: the sums over the stages, each a phase.
//
// With m >= 1 slots per job the lower form is ΣW/m + overhead, the upper Σ((W-2λ)/m + 2λ) + overhead, where
// W is a stage's work and λ its longest task, and a stage with W < 2λ takes W at most (see sharedPhase).
// A chain starts a stage when the one before it has ended, so that each stage is a phase of its own
// and the bounds add up.
//
// The upper form holds as well where stages run beside one another, each after those it waits for: that is
// why a record's stages may be written one after the other. Let m whole slots be the job's, none idle while a task
// could start, and take the task that ends last. It belongs to a stage that could start when the last task of
// another stage had ended, which belongs to a stage that could start when ..., back to one that waited for nothing.
// From the end of each of these tasks to the start of the next all slots were busy, because the next could have started.
// So the time is that of these tasks, P, and of busy slots, at most (ΣW - P)/m (Graham). As each task is of
// another stage, P <= Σλ over these stages, and
//
//	T <= ΣW/m + (1-1/m)·P <= Σ((W-λ)/m + λ) over all stages,
//
// for λ·(1-1/m) >= 0. And (W-λ)/m + λ is at most (W-2λ)/m + 2λ, and at most W, as m >= 1 and W >= λ.
//
// Where a class's jobs share slots, so that m is what each has on average, every stage begins as a reduce phase
// does, perhaps without a slot, and the upper form is the conservative estimate that it is there (E6).
func chain(p capacity.Profile) (d JobDemands) {
	var work, shrinking, fixed money.Sum
	for _, s := range p.Stages {
		w := float64(s.Tasks) * s.AvgSeconds
		less, ramp := sharedPhase(w, s.MaxSeconds)
		work.Add(w)
		shrinking.Add(less)
		fixed.Add(ramp)
	}
	fixed.Add(p.OverheadSeconds)
	d.Lower = capacity.Demand{MapWorkSeconds: work.Value(), FixedSeconds: p.OverheadSeconds}
	d.Upper = capacity.Demand{MapWorkSeconds: shrinking.Value(), FixedSeconds: fixed.Value()}
	d.average()
	return d
}
