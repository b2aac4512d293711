package perf

import (
	"cmp"
	"container/heap"
	"math"
	"slices"

	"example.org/headroom/internal/core/money"
)

// DefaultLeastUsable is the part of a node from which a slot on it counts as usable.
const DefaultLeastUsable = 0.05

// Slots lists the slots that a job may use, by the residual of their nodes. A slot given to another job has 0 and
// does nothing for this one. A slot on a node without residual is not usable, and is left out or 0 as well.
type Slots []float64

// Usable returns the slots with at least this residual.
func (s Slots) Usable(lowest float64) (u Slots) {
	for _, r := range s {
		if r >= lowest && r > 0 {
			u = append(u, r)
		}
	}
	return u
}

// Completable returns the number of tasks that a job completes on its slots in the seconds left (MIMP paper, eq. 3).
// real sums fractions of tasks, as in the paper; whole counts the whole tasks of each slot.
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

// OnTrack reports whether the completable tasks are enough for the remaining ones.
func OnTrack(completable, remaining float64) bool {
	return completable >= remaining*(1-tolerance)
}

// tolerance is the part by which counts of tasks may fall short: divisions with a whole result may miss it by a
// rounding error.
const tolerance = 1e-12

// Completion holds predictions of the time until a job's tasks are done on its slots.
type Completion struct {
	// FluidSeconds assumes that tasks can be cut: the exact inverse of Completable, n / Σ 1/TCT.
	FluidSeconds float64 `json:"fluid_s"`
	// DiscreteSeconds gives each whole task to the slot that ends it first; nothing ends them all sooner. Running
	// tasks count as not begun.
	DiscreteSeconds float64 `json:"discrete_s"`
	// CautiousSeconds is the paper's time for admission (eq. 6): it assumes that every slot runs the same number of
	// tasks, in the mean time of all. It is never below FluidSeconds.
	CautiousSeconds float64 `json:"cautious_s"`
}

// CompletionOf predicts the end of a job's tasks on slots; it returns false if no slot can run them.
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
	c.CautiousSeconds = max(n*times.Value()/(k*k), c.FluidSeconds) // equal slots: different by a rounding error
	c.DiscreteSeconds = max(wholeTasks(seconds, tasks, c.FluidSeconds), c.FluidSeconds)
	return c, true
}

// wholeTasks returns the smallest time T with Σ floor(T/s) >= tasks, where slots take s seconds for each task: the
// moment of the tasks-th end of all. It counts the ends before the fluid time, and takes the rest (fewer than there
// are slots) one by one.
func wholeTasks(seconds []float64, tasks int64, fluid float64) float64 {
	if tasks == 0 {
		return 0
	}
	seconds = slices.Clone(seconds)
	slices.Sort(seconds)
	before := fluid * (1 - 1e-9) // so that rounding misses no end at the time itself
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

// end is a slot's next end of a task.
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
