package plan

import (
	"math"
	"sort"

	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/money"
)

// flipper says, for each input of a class alone, the nearest value at which its whole jobs in the
// relaxation would change. A class's jobs only rise with theta, its penalty per VM, and what
// is left for it changes only where its theta passes another class's or a price. Between two such
// steps lies an interval: number k below step k, the last one above all steps.
type flipper struct {
	*relaxation
	model   *model
	amounts []money.Amount
	seconds []float64
	last    [4]int // where the four searches for a step ended for the class before: most end there again
}

func (r *flipper) of(i int) capacity.Flips {
	c := &r.classes[i]
	var f capacity.Flips
	if c.impossible {
		f.DeadlineSeconds = r.deadline(i, 0, 0)
		return f
	}
	if whole(c.high) <= whole(c.low) {
		return f
	}
	if c.gamma == 0 { // taken for any penalty, turned away for none
		f.Penalty = amount(&r.amounts, 0)
		return f
	}
	now := whole(r.jobs[i])
	own := r.own[i]
	if theta, ok := r.penaltyFlip(i, now, own); ok {
		f.Penalty = amount(&r.amounts, theta*c.gamma)
	}
	if c.slotted && c.penalty > 0 {
		f.DeadlineSeconds = r.deadline(i, now, own)
	}
	if with, without := r.model.jobsWithOnDemand(r.relaxation, i); with != without && r.theta[i] > 0 {
		f.OnDemandPrice = amount(&r.amounts, r.theta[i]/r.model.hours)
	}
	return f
}

func (r *flipper) deadline(i int, now float64, own int) *float64 {
	if d, found := r.deadlineFlip(i, now, own); found {
		return keep(&r.seconds, d)
	}
	return nil
}

// clamp is the whole jobs that so many VMs carry, between the promised and the wanted ones.
func (c *class) clamp(vms, gamma float64) float64 {
	return whole(min(c.high, max(c.low, vms/gamma)))
}

// penaltyFlip is the theta nearest to the class's own at which its jobs change, gamma fixed.
func (r *flipper) penaltyFlip(i int, now float64, own int) (theta float64, found bool) {
	c := &r.classes[i]
	jobs := func(k int) float64 { return c.clamp(r.interval(i, k, own), c.gamma) }
	if k := r.search(0, 0, own+1, func(k int) bool { return jobs(k) >= now }); k > 0 {
		theta, found = r.steps[k-1], true
	}
	if k := r.search(1, own+1, len(r.steps)+1, func(k int) bool { return jobs(k) > now }); k <= len(r.steps) {
		if up := r.steps[k-1]; !found || up-r.theta[i] < r.theta[i]-theta {
			theta, found = up, true
		}
	}
	return theta, found
}

// search is the first k from low on of which f, which stays true once it is, says so; high where there is none. It
// starts where the like search ended for the class before.
func (r *flipper) search(which, low, high int, f func(k int) bool) int {
	guess := min(max(r.last[which], low), high)
	step := 1
	if guess == high || f(guess) {
		for high = guess; high-step >= low && f(high-step); step *= 2 {
			high -= step
		}
		low = max(low, high-step+1)
	} else {
		for low = guess + 1; low+step <= high && !f(low+step-1); step *= 2 {
			low += step
		}
		high = min(high, low+step-1)
	}
	r.last[which] = low + sort.Search(high-low, func(k int) bool { return f(low + k) })
	return r.last[which]
}

// deadlineFlip is the deadline nearest to the class's own at which its jobs change, or the one at
// which an impossible class gets its first job. A deadline acts through gamma.
func (r *flipper) deadlineFlip(i int, now float64, own int) (deadline float64, found bool) {
	c := r.classes[i] // as if its deadline were possible
	c.low, c.high = c.Jobs.Min, c.Jobs.Max
	fixed := c.shape.work.FixedSeconds
	switch {
	case c.penalty == 0:
		return 0, false
	case c.shape.idle(): // slots without work: any time is enough but none
		return fixed, fixed > 0 && (now > 0 || c.impossible)
	}
	above, below := r.gammaFlips(&c, i, now, own)
	for _, gamma := range [2]float64{above, below} {
		if gamma == 0 {
			continue
		}
		slack, ok := c.shape.slackFor(gamma)
		d := fixed + slack
		if gamma == below && d < c.DeadlineSeconds*(1-1e-12) { // a tie, where a slot per job lets more time change nothing
			continue
		}
		if ok && d > 0 && (!found || math.Abs(d-c.DeadlineSeconds) < math.Abs(deadline-c.DeadlineSeconds)) {
			deadline, found = d, true
		}
	}
	return deadline, found
}

// idle says that the class's slots, if it has any, have no work.
func (s *shape) idle() bool { return s.work.MapWorkSeconds == 0 && s.work.ReduceWorkSeconds == 0 }

// gammaFlips is the gammas next to the class's own, above and below, at which its jobs change, the
// penalty fixed; 0 where there is none. Inside an interval the jobs grow as left/gamma = left·theta/penalty.
func (r *flipper) gammaFlips(c *class, i int, now float64, own int) (above, below float64) {
	theta := r.theta[i]
	if c.impossible {
		theta = 0
	}
	top := func(k int) float64 { // jobs at the upper end of interval k
		if k == len(r.steps) {
			if r.interval(i, k, own) > 0 {
				return c.high
			}
			return c.low
		}
		return c.clamp(r.interval(i, k, own), c.penalty/r.steps[k])
	}
	// reach is the theta in interval k from which on there are so many jobs.
	reach := func(k int, jobs float64) float64 {
		theta := jobs * c.penalty / r.interval(i, k, own)
		if k > 0 {
			theta = max(theta, r.steps[k-1])
		}
		return theta
	}
	if now > c.low {
		k := r.search(2, 0, own+1, func(k int) bool { return top(k) >= now })
		if down := min(reach(k, now), theta); down > 0 {
			above = c.penalty / down
		}
	}
	if now < whole(c.high) {
		if k := r.search(3, own, len(r.steps)+1, func(k int) bool { return top(k) > now }); k <= len(r.steps) {
			below = c.penalty / max(reach(k, now+1), theta)
		}
	}
	return above, below
}

// jobsWithOnDemand is the class's jobs if on-demand VMs cost less than its theta, and if more.
func (m *model) jobsWithOnDemand(r *relaxation, i int) (with, without float64) {
	c := &m.classes[i]
	contracts, rent := 0.0, 0.0
	for k, t := range m.tiers {
		switch {
		case m.source[k] == onDemand:
			rent = float64(t.VMs)
		case t.Price < r.theta[i]:
			contracts += float64(t.VMs)
		}
	}
	others := r.floor - c.gamma*c.low + r.before[r.place[i]]
	return c.clamp(contracts+rent-others, c.gamma), c.clamp(contracts-others, c.gamma)
}

// slackFor is the time for the work (there is some) at which a job takes gamma VMs; false if more
// time alone cannot bring it down to that.
func (s *shape) slackFor(gamma float64) (float64, bool) {
	at := func(slack float64, oneSlotPerJob bool) float64 {
		t := *s
		t.slack, t.oneSlotPerJob = slack, oneSlotPerJob
		return t.gamma()
	}
	slack := at(1, false) / gamma
	if got := at(slack, s.oneSlotPerJob); math.Abs(got-gamma) <= 1e-12*gamma {
		return slack, true
	}
	// One slot per job raises gamma here: search, since gamma still only falls with more time.
	low, high := slack, 2*slack
	for at(high, s.oneSlotPerJob) > gamma {
		if low, high = high, 2*high; high > capacity.MaxSeconds {
			return 0, false
		}
	}
	for range 60 {
		if middle := (low + high) / 2; at(middle, s.oneSlotPerJob) > gamma {
			low = middle
		} else {
			high = middle
		}
	}
	return high, true
}
