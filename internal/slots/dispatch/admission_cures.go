package dispatch

import (
	"math"
	"sort"
)

// maxSlots bounds the number of further slots that a cure may propose: nobody adds more for one job.
const maxSlots = 100_000

// cures returns changes that would let a refused job in. Each is tried by the rule that refused the job.
func (t *timetable) cures(v DeadlineVerdict) *DeadlineCures {
	c := &DeadlineCures{DeadlineSeconds: t.laterDeadline(v.AloneSeconds)}
	with := func(more int) bool { q := t.ask; q.more = more; return t.keeps(q) }
	// Further dedicated slots never make a need larger, since no slot is faster than a dedicated one.
	if n := sort.Search(maxSlots, func(i int) bool { return with(i + 1) }) + 1; n <= maxSlots && with(n) {
		c.DedicatedSlots = int64(n)
	}
	// Nor do fewer maps.
	few := func(tasks int) bool { q := t.ask; q.tasks[Map] = tasks; return t.keeps(q) }
	if n := sort.Search(t.ask.tasks[Map], func(i int) bool { return !few(i + 1) }); n > 0 && few(n) {
		c.Maps = int64(n)
	}
	if *c == (DeadlineCures{}) {
		return nil
	}
	return c
}

// laterDeadline returns the earliest deadline after the one asked for that can be promised. It is in whole seconds if
// the next whole second can be promised too, else in milliseconds; 0 if none can.
func (t *timetable) laterDeadline(alone float64) float64 {
	need, sums := t.needs(t.ask.tasks, t.candidate.times, 0), t.upTo(0)
	if t.mode == AdmissionPaper {
		alone = 0
	}
	// Due after k accepted jobs and before the next, it must be late enough for their needs and its own.
	for k := t.dueBy(t.ask.due); k <= len(t.accepted); k++ {
		due := max(alone, need, math.Nextafter(max(t.ask.due, 0), math.Inf(1))) // it lies ahead
		if k > 0 {
			due = max(due, sums[k-1]+need, t.accepted[k-1].DueSeconds)
		}
		if k < len(t.accepted) && due >= t.accepted[k].DueSeconds {
			continue
		}
		q := t.ask
		for _, q.due = range []float64{math.Ceil(due), math.Ceil(due*1e3) / 1e3} {
			if t.keeps(q) {
				return q.due
			}
		}
	}
	return 0
}
