package plan

import (
	"math"

	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/perf"
	"example.org/headroom/internal/core/words"
)

// promiseWarnings warns of a class with a target that has no promise, or has one for something else.
func promiseWarnings(c *class, o *capacity.Options) (warnings []capacity.Warning) {
	if c.Target == 0 || c.Profile == nil {
		return nil
	}
	p, at := c.Promise, c.pointer("promise")
	if p == nil {
		return []capacity.Warning{words.Unpromised(c.Name, c.Target, c.pointer("target"))}
	}
	add := func(whether bool, why string) {
		if whether {
			warnings = append(warnings, words.OutOfRange(c.Name, why, at))
		}
	}
	predicted := perf.Demands(*c.Profile).Predicted(o.Bound, c.Calibration)
	add(p.Target < c.Target || p.Confidence < c.TargetConfidence(), words.OtherTarget)
	add(p.DeadlineSeconds != c.DeadlineSeconds, words.OtherDeadline)
	add(differ(p.MapWorkSeconds, predicted.MapWorkSeconds) || differ(p.ReduceWorkSeconds, predicted.ReduceWorkSeconds) ||
		differ(p.FixedSeconds, predicted.FixedSeconds), words.OtherTimes)
	add(o.Sharing == capacity.Dedicated && p.Lending == capacity.LentToAll, words.OtherLending)
	add(c.Jobs.Max < p.JobsFrom || c.Jobs.Max > p.JobsUntil, words.OtherJobs(p, c.Jobs.Max))
	return warnings
}

// differ reports whether two figures differ by more than the digits with which they are written.
func differ(x, y float64) bool { return math.Abs(x-y) > 1e-9*math.Max(math.Abs(x), math.Abs(y)) }
