package perf

import (
	"cmp"
	"container/heap"
	"math"
	"slices"

	"headroom/internal/core/money"
)

// DefaultLeastUsable is the part of a node from which a slot on it counts as usable.
const DefaultLeastUsable = 0.05

// Slots is slots that a job may use, by what their nodes have left for it. One that has been given to
// another job has 0 and does nothing for this one; a slot on a node that has really nothing left is not
// usable, and is left out or 0 as well.
type Slots []float64

// Usable is those with at least so much.
func (s Slots) Usable(least float64) (u Slots) {
	for _, r := range s {
		if r >= least && r > 0 {
			u = append(u, r)
		}
	}
	return u
}

// Completable is how many tasks a job completes on its slots in the seconds left (MIMP paper, eq. 3): as
// the paper adds them up, with parts of tasks, and as whole tasks of each slot.
func Completable(t *TaskTime, slots Slots, seconds float64) (real float64, whole int64) {
	if !(seconds > 0) {
		return 0, 0
	}
	var total money.Sum
	for _, r := range slots {
		if r > 0 {
			tasks := seconds / t.Seconds(r)
			total.Add(tasks)
			whole += int64(math.Floor(tasks * (1 + tolerance)))
		}
	}
	return total.Value(), whole
}

// OnTrack says whether so many completable tasks are enough for those that remain.
func OnTrack(completable, remaining float64) bool {
	return completable >= remaining*(1-tolerance)
}

// tolerance is by what part counts of tasks may be less than they must: divisions that come out even in the
// mind miss by a rounding in the processor.
const tolerance = 1e-12

// Completion is how long a job's tasks take on its slots, from now on.
type Completion struct {
	// FluidSeconds is where tasks can be cut: the exact inverse of Completable, n / Σ 1/TCT.
	FluidSeconds float64 `json:"fluid_s"`
	// DiscreteSeconds is that of whole tasks, each given to the slot that ends it first; nothing ends them all
	// sooner. (Tasks that run already are not counted as begun.)
	DiscreteSeconds float64 `json:"discrete_s"`
	// CautiousSeconds is the paper's for admission (eq. 6): as if every slot did as many tasks as every other, and
	// their mean time were that of all. It is never below FluidSeconds.
	CautiousSeconds float64 `json:"cautious_s"`
}

// CompletionOf predicts when a job's tasks are done on slots; false where no slot does anything.
func CompletionOf(t *TaskTime, slots Slots, tasks int64) (c Completion, some bool) {
	var rate, times money.Sum
	var seconds []float64
	for _, r := range slots {
		if r > 0 {
			s := t.Seconds(r)
			seconds = append(seconds, s)
			rate.Add(1 / s)
			times.Add(s)
		}
	}
	if len(seconds) == 0 || tasks < 0 {
		return c, false
	}
	n, k := float64(tasks), float64(len(seconds))
	c.FluidSeconds = n / rate.Value()
	c.CautiousSeconds = max(n*times.Value()/(k*k), c.FluidSeconds) // equal slots: apart by a rounding
	c.DiscreteSeconds = max(wholeTasks(seconds, tasks, c.FluidSeconds), c.FluidSeconds)
	return c, true
}

// wholeTasks is the least time T with Σ floor(T/s) >= tasks, where slots take s seconds for each task: the moment at
// which the tasks-th of all ends comes. Those before the fluid time are counted, the rest (fewer than there are
// slots) taken one by one.
func wholeTasks(seconds []float64, tasks int64, fluid float64) float64 {
	if tasks == 0 {
		return 0
	}
	seconds = slices.Clone(seconds)
	slices.Sort(seconds)
	before := fluid * (1 - 1e-9) // so that no end at the time itself is missed by a rounding
	var ended int64
	next := make(ends, len(seconds))
	for i, s := range seconds {
		n := int64(math.Floor(before / s))
		ended += n
		next[i] = end{float64(n+1) * s, s, n + 1}
	}
	heap.Init(&next)
	for {
		if ended++; ended == tasks {
			return next[0].at
		}
		e := &next[0]
		e.task++
		e.at = float64(e.task) * e.seconds
		heap.Fix(&next, 0)
	}
}

// end is when a slot ends its next task.
type end struct {
	at, seconds float64
	task        int64
}

type ends []end

func (e ends) Len() int { return len(e) }
func (e ends) Less(i, j int) bool {
	return cmp.Or(cmp.Compare(e[i].at, e[j].at), cmp.Compare(e[i].seconds, e[j].seconds)) < 0
}
func (e ends) Swap(i, j int) { e[i], e[j] = e[j], e[i] }
func (e *ends) Push(any)     {}
func (e *ends) Pop() any     { return nil }
