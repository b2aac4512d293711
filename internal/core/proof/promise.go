package proof

import (
	"fmt"

	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/words"
)

// samePromise reports whether a plan names the promise of its problem.
func samePromise(stated, given *capacity.Promise) bool {
	if stated == nil || given == nil {
		return stated == given
	}
	return *stated == *given
}

// promiseWarnings lists the warnings that a class with a target calls for: it has no promise, or one for something else.
func promiseWarnings(c *class, in *capacity.Class, o capacity.Options, at string) (due []capacity.Warning) {
	switch {
	case in.Target == 0:
		return nil
	case in.Promise == nil:
		return []capacity.Warning{words.Unpromised(in.Name, in.Target, at+"/target")}
	}
	p := in.Promise
	reasons := map[string]bool{
		words.OtherTarget:   p.Target < in.Target || p.Confidence < in.TargetConfidence(),
		words.OtherDeadline: p.DeadlineSeconds != in.DeadlineSeconds,
		words.OtherTimes: !near(number(p.MapWorkSeconds), c.predictedAs.a, c.predictedAs.a) ||
			!near(number(p.ReduceWorkSeconds), c.predictedAs.b, c.predictedAs.b) || !near(number(p.FixedSeconds), c.predictedAs.c, c.predictedAs.c),
		words.OtherLending:              o.Sharing == capacity.Dedicated && p.Lending == capacity.LentToAll,
		words.OtherJobs(p, in.Jobs.Max): in.Jobs.Max < p.JobsFrom || in.Jobs.Max > p.JobsUntil,
	}
	for why, holds := range reasons {
		if holds {
			due = append(due, words.OutOfRange(in.Name, why, at+"/promise"))
		}
	}
	return due
}

// PromiseWarnings lists the warnings that the classes of a valid problem with a target call for.
func PromiseWarnings(p capacity.Problem) (due []capacity.Warning) {
	m := newModel(p, nil)
	for i := range m.classes {
		due = append(due, promiseWarnings(m.classes[i], &p.Classes[i], p.Options, fmt.Sprintf("/classes/%d", i))...)
	}
	return due
}
