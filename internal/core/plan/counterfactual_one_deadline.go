package plan

import (
	"math"

	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/plan/integer"
)

// countable says that the load of a class with another deadline can be counted on the plan's grid.
func (b *besideOne) countable() bool {
	return b.Options.Integrality == capacity.Executable || b.Options.Sharing == capacity.Dedicated || float64(b.front.PerVM()) >= integer.FineGrid
}

// with is what a class takes with another deadline (its own stays noted); false where no number of slots meets it.
func (b *besideOne) with(i int, deadline float64) (c class, possible bool) {
	c = b.classes[i]
	if c.shape, possible = newShapeBy(c.Class, deadline, c.shape.work, b.Options.OneSlotPerJob); possible {
		c.gamma = c.shape.gamma()
	}
	return c, possible
}

// units is the load of jobs of a class with another deadline.
func (b *besideOne) units(c *class, jobs int64) int64 {
	if o, whole := b.front.(*integer.Options); whole {
		return o.Loader.(*slotLoads).other(c, jobs)
	}
	weight, _ := integer.UnitsFor(c.gamma, b.front.PerVM())
	return weight * jobs
}

// possible says that some number of slots meets another deadline of a class.
func (b *besideOne) possible(i int, deadline float64) bool {
	c := &b.classes[i]
	_, possible := newShapeBy(c.Class, deadline, c.shape.work, b.Options.OneSlotPerJob)
	return possible
}

// room is the load there is for a class beside the others in the plan.
func (b *besideOne) room(i int) int64 {
	return b.plan.VMs*b.front.PerVM() - (b.front.Load(b.plan.Jobs) - b.front.Units(i, b.plan.Jobs[i]))
}

func (b *besideOne) shortest(i int) *float64 {
	return b.carried(i, b.plan.Jobs[i], b.room(i), b.classes[i].DeadlineSeconds)
}

// fits says that so much room carries jobs of a class with another deadline.
func (b *besideOne) fits(i int, jobs, room int64, deadline float64) bool {
	c, possible := b.with(i, deadline)
	perVM := float64(b.front.PerVM())
	switch need := c.gamma * float64(jobs) * perVM; {
	case !possible || need >= integer.MaxLoad:
		return false
	case !b.countable():
		return need <= float64(room-b.slack)+integer.LoadNoise*perVM
	}
	return b.units(&c, jobs) <= room
}

// carried is the shortest deadline, at most so long, with which so much room carries jobs of a class; nil where any does.
func (b *besideOne) carried(i int, jobs, room int64, most float64) *float64 {
	vms := float64(room) / float64(b.front.PerVM()) / float64(jobs)
	around := b.around(i, jobs, room)
	return leastDeadline(&b.classes[i], vms, most, func(deadline float64) bool {
		switch {
		case deadline <= around.below:
			return false
		case deadline >= around.above:
			return true
		}
		return b.fits(i, jobs, room, deadline)
	})
}

// around is two deadlines close to each other. Jobs of a class do not fit in so much room with the first one, and do with
// the other. It is all deadlines where that takes more than counting whole slots.
func (b *besideOne) around(i int, jobs, room int64) (at span) {
	at = span{math.Inf(-1), math.Inf(1)}
	c, perVM := &b.classes[i], b.front.PerVM()
	if b.Options.Integrality != capacity.Executable || b.Options.Sharing == capacity.Dedicated || c.shape.idle() ||
		perVM%max(1, c.SlotsPerVM.Map) != 0 || perVM%max(1, c.SlotsPerVM.Reduce) != 0 {
		return at
	}
	slack := c.shape.leastSlack(jobs, room, perVM)
	deadline := slack + c.shape.work.FixedSeconds
	if off := 1e-13*slack + 1e-14*math.Abs(c.shape.work.FixedSeconds); slack > 1e3*off { // of the sums that are compared
		at = span{deadline - off, deadline + off}
	}
	return at
}

// span is the deadlines between two.
type span struct{ below, above float64 }

// later: at a deadline with which the plan's own jobs need a VM less, or one more job fits, at least one plan is better.
// A little room that made another plan better for the class before does so most often here.
func (b *besideOne) later(i int) (known *float64, try float64) {
	jobs, perVM := b.plan.Jobs[i], b.front.PerVM()
	room, most := b.room(i), float64(capacity.MaxSeconds)
	if jobs > 0 && b.plan.VMs > 0 && b.bill(b.plan.VMs-1).LessThan(b.bill(b.plan.VMs)) {
		known = b.carried(i, jobs, room-perVM, most)
	}
	if jobs < int64(b.classes[i].Jobs.Max) && b.classes[i].penalty > 0 {
		if fits := b.carried(i, jobs+1, room, most); fits != nil && (known == nil || *fits < *known) {
			known = fits
		}
	}
	if try = most; known != nil {
		try = *known * (1 - later)
	}
	if jobs > 0 && b.hint > 0 {
		if guess := b.carried(i, jobs, b.front.Units(i, jobs)-b.hint, most); guess != nil && *guess < try {
			try = *guess
		}
	}
	return known, try
}

// from is the shortest deadline of a class, at most so long, with which another plan's VMs carry it.
func (b *besideOne) from(f *integer.Found, i int, most float64) *float64 {
	room := f.VMs*b.front.PerVM() - b.others(f, i)
	if f.Jobs == b.plan.Jobs[i] {
		b.hint = b.front.Units(i, f.Jobs) - room
	}
	return b.carried(i, f.Jobs, room, most)
}

// others is the load of all other classes in a plan beside.
func (b *besideOne) others(f *integer.Found, i int) int64 {
	load := b.front.Load(b.plan.Jobs) - b.front.Units(i, b.plan.Jobs[i])
	for _, m := range f.Others {
		load += b.front.Units(m.Class, m.Jobs) - b.front.Units(m.Class, b.plan.Jobs[m.Class])
	}
	return load
}
