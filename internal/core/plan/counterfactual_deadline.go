package plan

import (
	"math"

	"headroom/internal/core/capacity"
	"headroom/internal/core/plan/integer"
)

// A tighter deadline leaves fewer plans, so that this one stays the best until its VMs no longer carry the class. A
// later one lets more plans in, so that this one stays the best until one of those costs less.

// deadlines is the range of the class's deadline in which the plan stays the best; nil where that was not worked out,
// or where the class has no deadline.
func (k *counterfactual) deadlines(i int) *capacity.Range {
	c := &k.classes[i]
	if !c.slotted {
		return nil
	}
	var r capacity.Range
	load := k.front.Load(k.plan.Jobs)
	jobs := k.plan.Jobs[i]
	room := k.plan.VMs*k.front.PerVM() - (load - k.front.Units(i, jobs)) // for the class
	if jobs > 0 {
		r.Low = k.shortest(i, jobs, room, c.DeadlineSeconds)
	}
	high, known := k.latest(i)
	if !known {
		return nil
	}
	r.High = high
	return &r
}

// countable says that the load of a class with another deadline can be counted on the plan's grid.
func (k *counterfactual) countable() bool {
	return k.Options.Integrality == capacity.Executable || k.Options.Sharing == capacity.Dedicated || float64(k.front.PerVM()) >= integer.FineGrid
}

// with is the class with another deadline; false where no number of slots meets it.
func (k *counterfactual) with(i int, deadline float64) (c class, possible bool) {
	c = k.classes[i]
	changed := *c.Class
	changed.DeadlineSeconds = deadline
	c.Class = &changed
	if c.shape, possible = newShape(&changed, c.shape.work, k.Options.OneSlotPerJob); possible {
		c.gamma = c.shape.gamma()
	}
	return c, possible
}

// units is the load of jobs of a class with another deadline.
func (k *counterfactual) units(c *class, jobs int64) int64 {
	if o, whole := k.front.(*integer.Options); whole {
		return o.Loader.(*slotLoads).other(c, jobs)
	}
	weight, _ := integer.UnitsFor(c.gamma, k.front.PerVM())
	return weight * jobs
}

// fits says that so much room carries jobs of a class with another deadline.
func (k *counterfactual) fits(i int, jobs, room int64, deadline float64) bool {
	c, possible := k.with(i, deadline)
	perVM := float64(k.front.PerVM())
	switch need := c.gamma * float64(jobs) * perVM; {
	case !possible || need >= integer.MaxLoad:
		return false
	case !k.countable():
		return need <= float64(room-k.slack)+integer.LoadNoise*perVM
	}
	return k.units(&c, jobs) <= room
}

// shortest is the shortest deadline, at most so long, with which so much room carries jobs of a class; nil where not
// even that one does.
func (k *counterfactual) shortest(i int, jobs, room int64, most float64) *float64 {
	if !k.fits(i, jobs, room, most) {
		return nil
	}
	c := &k.classes[i]
	fixed := c.shape.work.FixedSeconds
	low, high := max(0, fixed), most
	if k.fits(i, jobs, room, low) {
		return nil // any time is enough
	}
	// Real slots say about where it is; whole ones need a little more time.
	if vms := float64(room) / float64(k.front.PerVM()) / float64(jobs); vms > 0 && !c.shape.idle() {
		free := c.shape
		free.slack = 1
		about := fixed + free.gamma()/vms
		for step := 1e-4; about > low && about < most && step < 1; step *= 16 {
			if below := about - step*(about-fixed); below > low && !k.fits(i, jobs, room, below) {
				low = below
				break
			}
		}
		for step := 1e-4; about > low && about < most && step < 100; step *= 16 {
			if above := about + step*(about-fixed); above > low && above < most && k.fits(i, jobs, room, above) {
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
		if k.fits(i, jobs, room, middle) {
			high = middle
		} else {
			low = middle
		}
	}
	return &high
}

// closeDeadline is the largest error of a deadline that is found, relative to the time for the work.
const closeDeadline = 1e-11

// later is how far beyond a deadline the next one is tried: more than what plans may be late by.
const later = 4e-9

// latest is the deadline from which on another plan costs less; nil where there is none up to the longest that may be.
func (k *counterfactual) latest(i int) (at *float64, known bool) {
	c := &k.classes[i]
	most := float64(capacity.MaxSeconds)
	if c.DeadlineSeconds >= most || c.Jobs.Max == 0 || c.penalty == 0 && k.plan.Jobs[i] == 0 {
		return nil, true
	}
	try := most
	if at = k.oneLessVM(i); at != nil {
		try = *at * (1 - later)
	}
	// A little room made another plan better for the class before: most often it does so here.
	if jobs := k.plan.Jobs[i]; jobs > 0 && k.hint > 0 {
		if guess := k.shortest(i, jobs, k.front.Units(i, jobs)-k.hint, capacity.MaxSeconds); guess != nil && *guess < try {
			try = *guess
		}
	}
	same := c.DeadlineSeconds // the plan is the best up to here
	for step := range maxMeets {
		f, possible := integer.Found{}, false
		if _, possible = k.with(i, try); possible {
			v := k.variant(i)
			v.low, v.high, v.deadline = int64(c.Jobs.Min), int64(c.Jobs.Max), try
			if f = k.best(v); !f.Proved || !f.Feasible {
				return nil, false
			}
		}
		switch {
		case possible && k.saves(&f, i):
			at = &try
			if f.Jobs == k.plan.Jobs[i] {
				k.hint = k.front.Units(i, f.Jobs) - (f.VMs*k.front.PerVM() - k.others(&f, i))
			}
			if from := k.shortest(i, f.Jobs, f.VMs*k.front.PerVM()-k.others(&f, i), try); from != nil {
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

// oneLessVM is a deadline with which the plan's own jobs need a VM less, or one more job fits: at least one plan is
// better then. It is nil where none is known.
func (k *counterfactual) oneLessVM(i int) *float64 {
	jobs, perVM := k.plan.Jobs[i], k.front.PerVM()
	others := k.front.Load(k.plan.Jobs) - k.front.Units(i, jobs)
	most := float64(capacity.MaxSeconds)
	var near *float64
	if jobs > 0 && k.plan.VMs > 0 && k.bill(k.plan.VMs-1).LessThan(k.bill(k.plan.VMs)) {
		near = k.shortest(i, jobs, (k.plan.VMs-1)*perVM-others, most)
	}
	if jobs < int64(k.classes[i].Jobs.Max) && k.classes[i].penalty > 0 {
		if fits := k.shortest(i, jobs+1, k.plan.VMs*perVM-others, most); fits != nil && (near == nil || *fits < *near) {
			near = fits
		}
	}
	return near
}

// others is the load of all other classes in a plan beside.
func (k *counterfactual) others(f *integer.Found, i int) int64 {
	load := k.front.Load(k.plan.Jobs) - k.front.Units(i, k.plan.Jobs[i])
	for _, m := range f.Others {
		load += k.front.Units(m.Class, m.Jobs) - k.front.Units(m.Class, k.plan.Jobs[m.Class])
	}
	return load
}

// saves says that a plan costs less than this one, by more than a proof can be off.
func (k *counterfactual) saves(f *integer.Found, i int) bool {
	bill, others := k.above(f)
	served := k.classes[i].penalty * float64(f.Jobs-k.plan.Jobs[i])
	above := bill.Add(others).InexactFloat64() - served
	return above < -max(k.complete(), 1e-15*math.Abs(served))
}
