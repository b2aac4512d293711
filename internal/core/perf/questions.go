package perf

import (
	"fmt"
	"math"

	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/fault"
)

// Limits of a question in addition to those of capacity: larger values would overflow, and no real cluster comes
// near.
const (
	maxSlots = 1_000_000_000
	minShare = 1e-9
)

// Validate returns all mistakes of a question as a *fault.InputError with pointers into its JSON, or nil if Bounds
// can answer it.
func Validate(q BoundsQuestion) error {
	var c checker
	given := 0
	if p := q.Phase; p != nil {
		given++
		c.phase("", p.Tasks, p.MeanSeconds, p.MaxSeconds)
		c.count("/slots", "slots", p.Slots, maxSlots)
	}
	if p := q.TwoJobs; p != nil {
		given++
		c.twoJobs(*p)
	}
	if p := q.SharedPhase; p != nil {
		given++
		c.phase("", p.Tasks, p.MeanSeconds, p.MaxSeconds)
		c.count("/slots", "slots", p.Slots, maxSlots)
		c.share("/share", p.Share)
		c.count("/jobs", "concurrent jobs", p.Jobs, capacity.MaxJobs)
	}
	if p := q.Job; p != nil {
		given++
		c.job(*p)
	}
	if given != 1 {
		c.add("/kind", "kind", "A question is exactly one of phase, two_jobs, shared_phase and job; set kind to one of them.")
	}
	if len(c.findings) == 0 {
		return nil
	}
	return fault.Refusal(c.findings, 0)
}

// checker collects findings.
type checker struct {
	findings []fault.Finding
}

func (c *checker) add(pointer, code, format string, args ...any) {
	c.findings = append(c.findings, fault.Finding{Pointer: pointer, Code: code, Detail: fmt.Sprintf(format, args...)})
}

// phase checks the tasks of a phase: their number, and that their mean and longest are possible.
func (c *checker) phase(at string, tasks int64, mean, longest float64) {
	ok := c.count(at+"/tasks", "tasks", tasks, capacity.MaxTasks)
	ok = c.seconds(at+"/mean_s", "The mean task", mean) && ok
	ok = c.seconds(at+"/max_s", "The longest task", longest) && ok
	if !ok {
		return
	}
	switch {
	case above(mean, longest):
		c.add(at+"/max_s", "premise",
			"The longest task (%g s) is shorter than the mean (%g s); raise max_s to at least the mean.", longest, mean)
	case above(longest, float64(tasks)*mean):
		c.add(at+"/mean_s", "premise",
			"The longest task (%g s) lasts longer than all %d together with a mean of %g s; raise mean_s to at least %g.",
			longest, tasks, mean, longest/float64(tasks))
	}
}

func (c *checker) twoJobs(q TwoJobsQuestion) {
	ok := c.count("/slots", "slots", q.Slots, maxSlots)
	if len(q.Jobs) != 2 {
		c.add("/jobs", "range", "There are %d jobs; give exactly two.", len(q.Jobs))
		ok = false
	}
	total := 0.0
	for i, j := range q.Jobs {
		at := fmt.Sprintf("/jobs/%d", i)
		c.phase(at, j.Tasks, j.MeanSeconds, j.MaxSeconds)
		if !(j.Share > 0) || math.IsInf(j.Share, 1) { // written this way so that NaN fails too
			c.add(at+"/share", rangeOf(j.Share), "The share is %g slots; give more than 0 (shares of two_jobs are in slots).", j.Share)
			ok = false
		}
		total += j.Share
	}
	if ok && above(total, float64(q.Slots)) {
		c.add("/jobs", "premise", "The shares add up to %g of %d slots; lower the shares or raise slots.", total, q.Slots)
	}
}

func (c *checker) job(q JobQuestion) {
	c.findings = append(c.findings, q.Profile.Findings("/profile")...)
	c.count("/slots/map", "map slots", q.Slots.Map, maxSlots)
	c.share("/share/map", q.Share.Map)
	if q.Profile.ReduceTasks > 0 || q.Slots.Reduce != 0 { // a map-only job may leave both out
		c.count("/slots/reduce", "reduce slots", q.Slots.Reduce, maxSlots)
	}
	if q.Profile.ReduceTasks > 0 || q.Share.Reduce != 0 {
		c.share("/share/reduce", q.Share.Reduce)
	}
	c.count("/jobs", "concurrent jobs", q.Jobs, capacity.MaxJobs)
}

func (c *checker) count(at, what string, n, limit int64) bool {
	if n >= 1 && n <= limit {
		return true
	}
	c.add(at, "range", "The number of %s is %d; give 1 to %d.", what, n, limit)
	return false
}

func (c *checker) seconds(at, what string, s float64) bool {
	if s >= 0 && s <= capacity.MaxSeconds {
		return true
	}
	c.add(at, rangeOf(s), "%s lasts %g s; give 0 to %.0f seconds.", what, s, float64(capacity.MaxSeconds))
	return false
}

func (c *checker) share(at string, share float64) {
	if share >= minShare && !above(share, 1) {
		return
	}
	c.add(at, rangeOf(share), "The share is %g; give a part of the slots above 0 and at most 1 (0.25 is a quarter).", share)
}

// rangeOf returns the code of a number out of its range.
func rangeOf(x float64) string {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return "not_finite"
	}
	return "range"
}
