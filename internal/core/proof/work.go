package proof

import (
	"cmp"
	"math"
	"slices"

	"example.org/headroom/internal/core/capacity"
)

// Arrived is executions of a class that arrive evenly from one moment until another, in seconds since 1970.
type Arrived struct {
	From, Until int64
	Jobs        float64
}

// Held is some time of a plan over time: what a class has in it.
type Held struct {
	From, Until int64
	VMs         []float64 // by VM type in the problem's order
	Refused     float64   // of the jobs at once
}

// Shortage is some time in which a class has fewer VMs than the admitted work takes at full use.
type Shortage struct {
	From, Until  int64
	Needed, Have float64 // VM-hours of the VM type on which the work takes the least
}

// Work checks that no work is lost: at any time the VMs of a class do at least what has arrived, was admitted and has
// not ended. It returns the VM-hours that this work takes at full use, and where they are not there. Held times follow
// each other. A class that no VM serves in time has no work.
func Work(p *capacity.Problem, class int, arrived []Arrived, held []Held) (work float64, short []Shortage) {
	perType, seconds := takes(p, class)
	least := slices.Min(perType)
	if math.IsInf(least, 1) {
		return 0, nil
	}
	for v := range perType {
		perType[v] /= seconds
	}
	least /= seconds
	running := newSweep(arrived, seconds)
	for _, h := range held {
		hours := float64(h.Until-h.From) / 3600
		jobs := max(0, running.mean(h.From, h.Until)-h.Refused)
		served := 0.0
		for v, vms := range h.VMs {
			if vms > 0 && perType[v] > 0 {
				served += vms / perType[v]
			}
		}
		work += jobs * least * hours
		if least > 0 && jobs-served > workSlack*(1+jobs)+sumSlack*running.most {
			short = append(short, Shortage{h.From, h.Until, jobs * least * hours, served * least * hours})
		}
	}
	return work, short
}

// takes returns the VM-seconds of one job at full use, by VM type, and for how long it holds VMs.
func takes(p *capacity.Problem, class int) (perType []float64, seconds float64) {
	c := &p.Classes[class]
	for _, t := range p.Supply.Types() {
		work := math.Inf(1)
		if len(p.Supply.VMTypes) == 0 || c.RunsOn(t.Name) {
			var held float64
			work, held = fullUse(c, t.Name, p.Options)
			seconds = max(seconds, held)
		}
		perType = append(perType, work)
	}
	if seconds == 0 { // a demand with a negative fixed time may say that a job takes none
		seconds = c.DeadlineSeconds
	}
	return perType, seconds
}

// HeldSeconds is for how long a job of a class holds its VMs.
func HeldSeconds(p *capacity.Problem, class int) float64 {
	_, seconds := takes(p, class)
	return seconds
}

// AtOnce returns how many executions of a class run at once on average in each of some times, which are in order. A
// time may be the one before it.
func AtOnce(p *capacity.Problem, class int, arrived []Arrived, times [][2]int64) []float64 {
	running, means := newSweep(arrived, HeldSeconds(p, class)), make([]float64, len(times))
	for i, t := range times {
		if i > 0 && t == times[i-1] {
			means[i] = means[i-1]
		} else {
			means[i] = running.mean(t[0], t[1])
		}
	}
	return means
}

// What may be missing through rounding: a part of a job, and of the most jobs there have been, since the sweep adds
// and takes away.
const (
	workSlack   = 1e-6
	sumSlack    = 1e-10
	noiseOfMost = 1e-12 // what is left of it where nothing runs
)

// fullUse returns the VM-seconds of a type that the tasks of one job keep busy, and for how long its plan lets it hold VMs. It does so
// until the deadline, or until it is done on a slot of each kind where it has those at least. Infinite work is never done.
func fullUse(c *capacity.Class, vmType string, o capacity.Options) (work, seconds float64) {
	if c.VMsPerJob != nil {
		vms := quo(amount(*c.VMsPerJob), number(c.Speed.On(vmType))).Float()
		return vms * c.DeadlineSeconds, c.DeadlineSeconds
	}
	at := newClassAt(c, c.SlotsPerVM.On(vmType), number(c.Speed.On(vmType)), o.Bound, o.OneSlotPerJob)
	if at.impossible {
		return math.Inf(1), c.DeadlineSeconds
	}
	busy, held := zero(), at.deadline
	tasks := at.plan
	if at.profiled { // the other bounds call some of the work fixed
		tasks = at.lower
		if c.Calibration != nil && o.Bound == capacity.CalibratedBound {
			tasks = tasks.times(number(c.Calibration.Factor))
		}
	}
	if tasks.a.Sign() > 0 {
		busy.Add(busy, quo(tasks.a, whole(at.perMap)))
	}
	if tasks.b.Sign() > 0 {
		busy.Add(busy, quo(tasks.b, whole(at.perReduce)))
	}
	if alone := add(add(at.plan.a, at.plan.b), at.plan.c); at.oneSlot && less(alone, held) {
		held = alone
	}
	if at.plan.c.Sign() < 0 && held.Sign() > 0 { // each slot of a job ends so much earlier
		busy.Mul(busy, quo(held, sub(held, at.plan.c)))
	}
	work = busy.Float()
	seconds = held.Float()
	return work, max(0, seconds)
}

// sweep counts running executions along the time: their number changes evenly between turns.
type sweep struct {
	turns         []turn
	now           float64 // the moment that is reached
	running, most float64
	slope         float64 // executions a second
}

type turn struct{ at, by float64 }

func newSweep(arrived []Arrived, seconds float64) *sweep {
	var s sweep
	for _, x := range arrived {
		rate, from, until := x.Jobs/float64(x.Until-x.From), float64(x.From), float64(x.Until)
		s.turns = append(s.turns, turn{from, rate}, turn{until, -rate}, turn{from + seconds, -rate}, turn{until + seconds, rate})
	}
	slices.SortFunc(s.turns, func(a, b turn) int { return cmp.Compare(a.at, b.at) })
	if len(s.turns) > 0 {
		s.now = s.turns[0].at
	}
	return &s
}

// mean returns the mean number of running executions in [from, until), which does not begin before the last one ended.
func (s *sweep) mean(from, until int64) float64 {
	s.area(float64(from))
	if mean := s.area(float64(until)) / float64(until-from); mean > noiseOfMost*s.most {
		return mean
	}
	return 0
}

// area goes on to a moment and returns the executions times seconds until there.
func (s *sweep) area(until float64) (total float64) {
	for s.now < until {
		next := until
		if len(s.turns) > 0 {
			next = min(until, s.turns[0].at)
		}
		took := next - s.now
		after := s.running + s.slope*took
		total += took * (s.running + after) / 2
		s.now, s.running, s.most = next, after, max(s.most, after)
		for len(s.turns) > 0 && s.turns[0].at <= next {
			s.slope += s.turns[0].by
			s.turns = s.turns[1:]
		}
	}
	return total
}
