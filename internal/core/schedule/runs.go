package schedule

import (
	"math"

	"example.org/headroom/internal/core/capacity"
)

// Slots is the whole slots with which one execution runs for a number of seconds.
type Slots struct {
	Seconds     float64
	Map, Reduce int64
}

// lateness is the part of the time for its work by which an execution may be late, against rounding errors alone.
const lateness = 1e-9

// SlotsFor returns the slots of the fewest VMs that end an execution within some seconds, the fewest map slots where several
// are as cheap. Only phases that the execution has take slots, and each of them one at least. It is false where no slots do.
func SlotsFor(d capacity.Demand, hasMap, hasReduce bool, per capacity.SlotsPerVM, seconds float64) (s Slots, ok bool) {
	s.Seconds = seconds
	a, b, rest := d.MapWorkSeconds, d.ReduceWorkSeconds, (seconds-d.FixedSeconds)*(1+lateness)
	if !(rest > 0) {
		return s, false
	}
	mapSlots, reduceSlots := float64(max(1, per.Map)), float64(max(1, per.Reduce))
	if a <= 0 || b <= 0 {
		for _, phase := range []struct {
			has   bool
			work  float64
			slots *int64
		}{{hasMap, a, &s.Map}, {hasReduce, b, &s.Reduce}} {
			if phase.has {
				*phase.slots = int64(max(1, math.Ceil(phase.work/rest)))
			}
		}
		return s, true
	}
	// With m map slots the reduce slots follow. Around the real optimum, m map slots cost at least least + (y - q)²/y VMs, where
	// m = a + y·mapSlots, so that only those in a window can be cheaper than the first.
	a, b = a/rest, b/rest
	cost := func(m float64) (vms, r float64) {
		r = max(1, math.Ceil(b*m/(m-a)))
		return m/mapSlots + r/reduceSlots, r
	}
	q := math.Sqrt(a * b / (mapSlots * reduceSlots))
	best, _ := cost(max(1, math.Ceil(a+q*mapSlots)))
	gap := max(0, best-a/mapSlots-b/reduceSlots-2*q) + lateness*best
	wide := math.Sqrt(q*gap + gap*gap/4)
	from, to := max(1, math.Floor(a)+1, math.Floor(a+mapSlots*(q+gap/2-wide))), math.Ceil(a+mapSlots*(q+gap/2+wide))
	best = math.Inf(1)
	for m := from; m <= to; m++ {
		if vms, r := cost(m); vms < best*(1-lateness) {
			best, s.Map, s.Reduce = vms, int64(m), int64(r)
		}
	}
	return s, true
}
