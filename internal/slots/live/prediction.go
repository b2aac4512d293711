package live

import (
	"slices"

	"example.org/headroom/internal/core/perf"
	"example.org/headroom/internal/slots/dispatch"
)

// Predictions predicts the end of an active job's tasks, by kind. Tasks of unknown time, or without a slot, get none.
func (c *Cluster) Predictions(now float64, number int64, known KnownTimes) (all []TasksPrediction) {
	c.advance(now)
	j := c.jobs[number]
	if j == nil {
		return nil
	}
	free, of := c.slots(), c.Commitment("", "", j.Request.Class, 0, 0, 0, known)
	for k, kind := range [dispatch.Kinds]dispatch.TaskKind{dispatch.MapTask, dispatch.ReduceTask} {
		k := dispatch.Kind(k)
		unfinished := j.Counts[k].Total - j.Counts[k].Done
		if unfinished == 0 || of.Times[k] == nil {
			continue
		}
		var usable, held perf.Slots
		for _, f := range free[c.layout.Of(k)] {
			if f.Residual >= perf.DefaultLeastUsable {
				usable = append(usable, slices.Repeat(perf.Slots{f.Residual}, f.Count)...)
			}
		}
		done, some := perf.CompletionOf(of.Times[k], usable, unfinished)
		if !some {
			continue
		}
		p := TasksPrediction{Kind: kind, Unfinished: unfinished, UsableSlots: int64(len(usable)),
			FluidSeconds: done.FluidSeconds, DiscreteSeconds: done.DiscreteSeconds, CautiousSeconds: done.CautiousSeconds, Times: dispatch.TaskTimesFrom{Kind: kind, TimesSource: of.Sources[k]}}
		if j.Deadline > 0 {
			for _, r := range ordered(j.running[k]) {
				held = append(held, r.node.Residual)
			}
			tasks, whole := perf.Completable(of.Times[k], held, j.Deadline-c.Clock)
			p.Running = &Completable{Tasks: tasks, WholeTasks: whole, OnTrack: perf.OnTrack(tasks, float64(unfinished))}
		}
		all = append(all, p)
	}
	return all
}
