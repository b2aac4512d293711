package perf

import (
	"math"
	"slices"
	"sort"

	"example.org/headroom/internal/core/capacity"
)

// HeldSeconds returns for how long a plan lets an execution of a class hold its VMs: until its deadline, which the planned
// slots just meet. A job that is done earlier on one slot of each kind, where it has those at least, holds them until then.
func HeldSeconds(c capacity.Class, s capacity.Supply, o capacity.Options) (seconds float64) {
	if !o.OneSlotPerJob || c.VMsPerJob != nil {
		return c.DeadlineSeconds
	}
	for _, t := range s.Types() {
		if len(s.VMTypes) > 0 && !c.RunsOn(t.Name) {
			continue
		}
		on := c.OnType(t.Name)
		seconds = max(seconds, Time(PlannedDemand(on, o), 1, 1, 1))
	}
	if seconds == 0 {
		return c.DeadlineSeconds
	}
	return min(seconds, c.DeadlineSeconds)
}

// AtOnce returns how many executions of a class run at once, where as many arrive an hour as it says.
func AtOnce(c capacity.Class, s capacity.Supply, o capacity.Options) float64 {
	jobs := c.ArrivalsPerHour * HeldSeconds(c, s, o) / 3600
	if o.Integrality != capacity.Relaxed {
		jobs = capacity.WholeJobs(jobs)
	}
	return jobs
}

// PlannedDemand returns the demand that a class is planned with; one of a class with VMs per job is empty.
func PlannedDemand(c capacity.Class, o capacity.Options) capacity.Demand {
	switch {
	case c.Demand != nil:
		return *c.Demand
	case c.Profile != nil:
		return Demands(*c.Profile).Planned(o.Bound, &c)
	default:
		return capacity.Demand{}
	}
}

// Arriving is executions that arrive evenly from one moment until another, in seconds since 1970.
type Arriving struct {
	From, Until int64
	Jobs        float64
}

// Arrivals holds executions that arrive over time. They keep their VMs from their arrival until they end, so that an
// hour also carries what arrived before it.
type Arrivals struct {
	spans []Arriving
	sums  []float64 // of the jobs before each span
}

// NewArrivals takes spans with jobs in their order. They do not overlap; there may be gaps between them.
func NewArrivals(spans []Arriving) Arrivals {
	a := Arrivals{spans: spans, sums: make([]float64, len(spans)+1)}
	for i, s := range spans {
		a.sums[i+1] = a.sums[i] + s.Jobs
	}
	return a
}

// Jobs returns the number of executions.
func (a *Arrivals) Jobs() float64 { return a.sums[len(a.spans)] }

// Running returns how many executions run at once on average in [from, until), where each runs for so many seconds. One
// that arrives at 22:30 and runs 4 h counts in five hours, with .5, 1, 1, 1 and .5.
func (a *Arrivals) Running(seconds float64, from, until int64) float64 {
	s, e := float64(from), float64(until)
	// An execution that arrives in [full, most) runs for as long in [from, until) as one can.
	full, most := min(s, e-seconds), max(s, e-seconds)
	total := 0.0 // executions times seconds
	for i := sort.Search(len(a.spans), func(i int) bool { return float64(a.spans[i].Until) > s-seconds }); i < len(a.spans); {
		x := &a.spans[i]
		b, end := float64(x.From), float64(x.Until)
		if b >= e {
			break
		}
		if b >= full && end <= most {
			n := i + sort.Search(len(a.spans)-i, func(k int) bool { return float64(a.spans[i+k].Until) > most })
			total += (a.sums[n] - a.sums[i]) * min(seconds, e-s)
			i = n
			continue
		}
		total += x.Jobs * (shared(b, end, s, e) - shared(b, end, s-seconds, e-seconds)) / (end - b)
		i++
	}
	return total / (e - s)
}

// endNoise is what a running time may be off through rounding, in seconds.
const endNoise = 1e-6

// Ends returns the moments at which nothing runs any more, where each execution runs for so many seconds. They are in order,
// and rounded up to whole seconds.
func (a *Arrivals) Ends(seconds float64) (ends []int64) {
	held := int64(math.Ceil(seconds - endNoise))
	for i, s := range a.spans {
		if end := s.Until + held; i+1 == len(a.spans) || end < a.spans[i+1].From {
			ends = append(ends, end)
		}
	}
	return ends
}

// mostEnds bounds the moments within an hour at which VMs become free because a class has no more work.
const mostEnds = 4

// Frees returns the moments within hours at which VMs become free, for the ends of some classes in any order. An hour with
// many of them has the last alone, so that there are not many times more plans than hours.
func Frees(ends []int64) (moments []int64) {
	slices.Sort(ends)
	ends = slices.Compact(ends)
	for len(ends) > 0 {
		hour, n := ends[0]/3600, 1
		for n < len(ends) && ends[n]/3600 == hour {
			n++
		}
		of := ends[:n]
		if n > mostEnds {
			of = of[n-1:]
		}
		moments, ends = append(moments, of...), ends[n:]
	}
	return moments
}

// shared returns the area of the moments t in [from, until) and arrivals u in [begin, end) with u before t, in square
// seconds. Whole seconds make it exact.
func shared(begin, end, from, until float64) float64 {
	return half(until-begin) - half(until-end) - half(from-begin) + half(from-end)
}

// half returns half the square of a number, and 0 below 0.
func half(x float64) float64 {
	if x <= 0 {
		return 0
	}
	return x * x / 2
}
