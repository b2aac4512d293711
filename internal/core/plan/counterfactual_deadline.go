package plan

import (
	"math"

	"example.org/headroom/internal/core/capacity"
)

// A tighter deadline leaves fewer plans, so that this one stays the best until its VMs no longer carry the class. A
// later one lets more plans in, so that this one stays the best until one of those costs less.

// deadlines is the range of the class's deadline in which the plan stays the best; nil where that was not worked out,
// or where the class has no deadline.
func (k *counterfactual) deadlines(i int) *capacity.Range {
	if !k.classes[i].slotted || k.huge {
		return nil
	}
	var r capacity.Range
	if k.jobs[i] > 0 {
		r.Low = k.shortest(i)
	}
	high, known := k.latest(i)
	if !known {
		return nil
	}
	r.High = high
	return &r
}

// later is the relative step beyond a deadline at which the next one is tried: more than plans may be late.
const later = 4e-9

// latest is the deadline from which on another plan costs less; nil where there is none up to the longest that may be.
func (k *counterfactual) latest(i int) (at *float64, known bool) {
	c := &k.classes[i]
	most := float64(capacity.MaxSeconds)
	if c.DeadlineSeconds >= most || c.Jobs.Max == 0 || c.penalty == 0 && k.jobs[i] == 0 {
		return nil, true
	}
	at, try := k.later(i)
	same := c.DeadlineSeconds // the plan is the best up to here
	for step := range maxMeets {
		f, possible := other{}, k.possible(i, try)
		if possible {
			v := k.variant(i)
			v.low, v.high, v.deadline = int64(c.Jobs.Min), int64(c.Jobs.Max), try
			if f = k.best(v); !f.proved || !f.feasible {
				return nil, false
			}
		}
		switch {
		case possible && k.saves(&f, i):
			at = &try
			if from := f.from(try); from != nil {
				at = from
			}
		case at == nil && try == most, at != nil && try >= *at*(1-2*later):
			return at, true
		default:
			same = try
		}
		if at == nil {
			try = most
			continue
		}
		if *at <= c.DeadlineSeconds*(1+later) {
			return &c.DeadlineSeconds, true // the next longer deadline lets it in
		}
		// Each plan found lets in one a little earlier; where many do, much less is tried.
		if try = *at * (1 - later); step%2 == 1 {
			try = same + (*at-same)/8
		}
		if try <= same*(1+later) {
			return at, true
		}
	}
	return nil, false
}

// saves says that a plan costs less than this one, by more than a proof can be off.
func (k *counterfactual) saves(f *other, i int) bool {
	served := k.classes[i].penalty * float64(f.jobs-k.jobs[i])
	above := f.bill.Add(f.others).InexactFloat64() - served
	return above < -max(k.margin, 1e-15*math.Abs(served))
}

// leastDeadline is the shortest deadline, at most so long, with which jobs of a class fit; nil where not even that one is
// enough, or any is. There are about so many VMs for each job.
func leastDeadline(c *class, vms, most float64, fits func(deadline float64) bool) *float64 {
	if !fits(most) {
		return nil
	}
	fixed := c.shape.work.FixedSeconds
	low, high := max(0, fixed), most
	if fits(low) {
		return nil
	}
	// Real slots say about where it is; whole ones need a little more time.
	if vms > 0 && !c.shape.idle() {
		free := c.shape
		free.slack = 1
		about := fixed + free.gamma()/vms
		for step := 1e-4; about > low && about < most && step < 1; step *= 16 {
			if below := about - step*(about-fixed); below > low && !fits(below) {
				low = below
				break
			}
		}
		for step := 1e-4; about > low && about < most && step < 100; step *= 16 {
			if above := about + step*(about-fixed); above > low && above < most && fits(above) {
				high = above
				break
			}
		}
	}
	for range 200 {
		middle := low + (high-low)/2
		if middle <= low || middle >= high || high-low <= closeDeadline*(high-fixed) {
			break
		}
		if fits(middle) {
			high = middle
		} else {
			low = middle
		}
	}
	return &high
}

// closeDeadline is the largest error of a deadline that is found, relative to the time for the work.
const closeDeadline = 1e-11
