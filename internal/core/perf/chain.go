package perf

import (
	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/money"
)

// chain returns the demands of a job of stages, all on map slots: the sums over the stages, each a phase.
//
// With m >= 1 slots per job the lower form is ΣW/m + overhead, the upper Σ((W-2λ)/m + 2λ) + overhead. Here W is a
// stage's work and λ its longest task. A stage with W < 2λ takes W at most (see sharedPhase). A chain starts a stage
// when the one before it has ended. So each stage is a phase of its own, and the bounds add up.
//
// The upper form also holds if stages run in parallel, each after those it waits for. So a record's stages may be
// written one after the other. Let the job have m whole slots, none idle while a task could start, and take the task
// that ends last. Its stage could start when the last task of another stage had ended. That stage could start when
// the last task of a third had ended, and so on, back to a stage that waited for nothing. From the end of each of
// these tasks to the start of the next all slots were busy, because the next could have started. So the time is that
// of these tasks, P, and of busy slots, at most (ΣW - P)/m (Graham). As each task is of another stage, P <= Σλ over
// these stages, and
//
//	T <= ΣW/m + (1-1/m)·P <= Σ((W-λ)/m + λ) over all stages,
//
// for λ·(1-1/m) >= 0. And (W-λ)/m + λ is at most (W-2λ)/m + 2λ, and at most W, as m >= 1 and W >= λ.
//
// If a class's jobs share slots, m is the average of each. Every stage then begins like a reduce phase, perhaps
// without a slot, and the upper form is the same conservative estimate (E6).
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
