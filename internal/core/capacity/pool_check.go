package capacity

import (
	"fmt"
	"maps"
	"slices"
	"unicode/utf8"
)

// The largest pools that are planned.
const (
	MaxPoolTypes     = 500
	MaxPoolJobs      = 500
	MaxPoolPairs     = 50_000 // types times jobs
	MaxPoolHours     = 744
	MaxPoolInstances = 100_000 // of a type at once
	MaxPoolMix       = 2_000
	MaxPoolWork      = 1e9
	MinPoolWork      = 1e-6
	MaxPoolRate      = 1e6
	MinPoolRate      = 1e-6 // but 0, which is not at all
	MaxPoolGB        = 1e12
	MinPoolGB        = 1e-6 // of data, but 0: by less no disk can be divided
	MinPoolDeadline  = 1e-4 // hours
	MaxShareWeight   = 1e6
	MaxSharedSlots   = 1_000_000
)

// Validate says everything that is wrong with the problem, as an *InputError, or nil.
func (p PoolProblem) Validate() error { return findingsOf(p.check) }

func (p PoolProblem) check(c *checker) {
	if p.Currency == "" {
		c.found("currency", "missing", "The currency is missing.", c.hint("currency", "USD", "Give three capital letters such as \"USD\"."))
	} else {
		checkCurrency(c, p.Currency)
	}
	c.whole("hours", "The round", "hours", p.Hours, 1, MaxPoolHours)
	c.number("startup_hours", "The start-up", "hours", p.StartupHours, MaxPoolHours)
	c.enter("types")
	if len(p.Types) == 0 {
		c.refuse("", "missing", "There is no instance type; give at least one.")
	}
	if len(p.Types) > MaxPoolTypes {
		c.refuse("", "too_many", "Here are %d instance types; at most %d are planned. Name those that may be rented.", len(p.Types), MaxPoolTypes)
	}
	known := make([]string, 0, len(p.Types))
	types := make(names, len(p.Types))
	for i := range p.Types {
		c.element(i)
		t := &p.Types[i]
		c.name(t.Name)
		types.add(c, "instance type", t.Name, i)
		known = append(known, t.Name)
		t.check(c)
		c.leave()
	}
	c.leave()
	c.enter("jobs")
	if len(p.Jobs) == 0 && p.Storage.DataGB == 0 {
		c.refuse("", "missing", "There is neither a job nor data; give at least one job.")
	}
	if pairs := len(p.Jobs) * len(p.Types); pairs > MaxPoolPairs {
		c.refuse("", "too_many", "%d jobs on %d instance types are %d pairs; at most %d are planned. Add up jobs that are alike, or leave out types that are never the cheapest.", len(p.Jobs), len(p.Types), pairs, MaxPoolPairs)
	}
	jobs := make(names, len(p.Jobs))
	for i := range p.Jobs {
		c.element(i)
		j := &p.Jobs[i]
		c.name(j.Name)
		jobs.add(c, "job", j.Name, i)
		j.check(c, p.Hours)
		checkRates(c, j.Rates, types, known, "instance type")
		c.leave()
	}
	c.leave()
	c.enter("storage")
	p.Storage.check(c)
	c.leave()
	if p.Mix != nil {
		c.enter("mix")
		p.Mix.check(c, types, known)
		c.leave()
	}
	c.enter("options")
	p.Options.check(c)
	c.leave()
}

func (t *PoolType) check(c *checker) {
	if t.PerHour == nil {
		c.refuse("per_hour", "missing", "The price of an hour is missing; give \"per_hour\", which may be 0.")
	} else {
		c.money("per_hour", "The price of an hour", *t.PerHour)
	}
	c.number("disk_gb", "The disk", "GB", t.DiskGB, MaxPoolGB)
	c.number("memory_gib", "The memory", "GiB", t.MemoryGiB, MaxPoolGB)
	c.whole("slots", "The number of slots", "", t.Slots, 1, MaxSharedSlots)
	if c.number("compute_units", "The compute units", "", t.ComputeUnits, MaxPoolRate) && t.ComputeUnits > 0 && t.ComputeUnits < MinPoolRate {
		c.refuse("compute_units", "range", "The compute units are %s; give at least %s, or 0 where they are not known.", plain(t.ComputeUnits), plain(MinPoolRate))
	}
	if !t.Core && !t.Accelerator {
		c.refuse("", "one_of", "The type is neither core nor accelerator, so that it is never rented; leave it out, or let it be one.")
	}
	if t.StartupHours != nil {
		c.number("startup_hours", "The start-up", "hours", *t.StartupHours, MaxPoolHours)
	}
	if t.Most != nil {
		c.whole("most", "The most instances", "", *t.Most, 0, MaxPoolInstances)
	}
}

func (j *PoolJob) check(c *checker, hours int64) {
	if utf8.RuneCountInString(j.RatesFrom) > MaxNameLength {
		c.refuse("rates_from", "too_long", "Where the rates come from is said in at most %d characters.", MaxNameLength)
	}
	if c.finite("work", "The work", j.Work) && !(j.Work >= MinPoolWork && j.Work <= MaxPoolWork) {
		switch {
		case j.Work == 0:
			c.refuse("work", "range", "The work is 0; leave out a job that has nothing to do.")
		case j.Work < 0:
			c.refuse("work", "range", "The work is %s; it cannot be negative.", plain(j.Work))
		default:
			c.refuse("work", "range", "The work is %s hours at rate 1; it must be from %s to %s.", plain(j.Work), plain(MinPoolWork), plain(MaxPoolWork))
		}
	}
	if c.number("deadline_hours", "The deadline", "hours", j.DeadlineHours, MaxPoolHours) && j.DeadlineHours > 0 {
		switch {
		case j.DeadlineHours < MinPoolDeadline:
			c.refuse("deadline_hours", "range", "The deadline is %s hours, less than a second; check the unit.", plain(j.DeadlineHours))
		case hours >= 1 && j.DeadlineHours > float64(hours):
			c.found("deadline_hours", "range", fmt.Sprintf("The deadline of %s hours is after the end of the round of %d hours.", plain(j.DeadlineHours), hours),
				c.hint("deadline_hours", hours, "At the latest it is %d; or plan a longer round.", hours))
		}
	}
	c.number("memory_gib_per_task", "The memory of a task", "GiB", j.MemoryGiBPerTask, MaxPoolGB)
}

// checkRates checks rates by type.
func checkRates(c *checker, rates map[string]float64, types names, known []string, kind string) {
	c.enter("rates")
	for _, name := range slices.Sorted(maps.Keys(rates)) {
		rate := rates[name]
		if _, is := types[name]; !is {
			unknownName(c, name, kind, name, known)
		} else if c.number(name, "The rate", "", rate, MaxPoolRate) && rate > 0 && rate < MinPoolRate {
			c.refuse(name, "range", "The rate is %s; give at least %s, or 0 where the job does not run.", plain(rate), plain(MinPoolRate))
		}
	}
	c.leave()
}

// data checks an amount of data.
func (c *checker) data(member, what string, gb float64) bool {
	if !c.number(member, what, "GB", gb, MaxPoolGB) {
		return false
	}
	if gb > 0 && gb < MinPoolGB {
		c.refuse(member, "range", "%s is %s GB; give at least %s GB, or 0 where there is none.", what, plain(gb), plain(MinPoolGB))
		return false
	}
	return true
}

func (s PoolStorage) check(c *checker) {
	c.data("data_gb", "The data", s.DataGB)
	if c.finite("replication", "The replication", s.Replication) && !(s.Replication >= 1 && s.Replication <= 100) {
		c.refuse("replication", "range", "The replication is %s; it must be from 1, a single copy, to 100.", plain(s.Replication))
	}
	if c.finite("fill", "The fill", s.Fill) && !(s.Fill >= 0.01 && s.Fill <= 1) {
		c.refuse("fill", "range", "Disks are filled to %s; give a share from 0.01 to 1, such as 0.8.", plain(s.Fill))
	}
}

func (m *PoolMix) check(c *checker, types names, known []string) {
	c.enter("core")
	for i, x := range m.Core {
		c.element(i)
		if _, is := types[x.Type]; !is {
			unknownName(c, "type", "instance type", x.Type, known)
		}
		c.whole("count", "The number of instances", "", x.Count, 0, MaxPoolInstances)
		c.leave()
	}
	c.leave()
	c.enter("accelerators")
	for i, x := range m.Accelerators {
		c.element(i)
		if _, is := types[x.Type]; !is {
			unknownName(c, "type", "instance type", x.Type, known)
		}
		c.whole("count", "The number of instances", "", x.Count, 0, MaxPoolInstances)
		c.whole("hours", "The hours", "", x.Hours, 0, MaxPoolHours)
		c.leave()
	}
	c.leave()
}

func (o PoolOptions) check(c *checker) {
	c.whole("max_solve_ms", "The time budget", "milliseconds", o.MaxSolveMs, 1, MaxSolveMs)
}

// Validate says everything that is wrong with the problem, as an *InputError, or nil.
func (p SharePlanProblem) Validate() error { return findingsOf(p.check) }

func (p SharePlanProblem) check(c *checker) {
	c.enter("types")
	if len(p.Types) == 0 {
		c.refuse("", "missing", "There is no node type; give at least one.")
	}
	known := make([]string, 0, len(p.Types))
	types := make(names, len(p.Types))
	for i, t := range p.Types {
		c.element(i)
		c.name(t.Name)
		types.add(c, "node type", t.Name, i)
		known = append(known, t.Name)
		c.whole("slots", "The number of slots", "", t.Slots, 0, MaxSharedSlots)
		c.leave()
	}
	c.leave()
	c.enter("jobs")
	if len(p.Jobs) == 0 {
		c.refuse("", "missing", "There is no job; give at least one.")
	}
	if pairs := len(p.Jobs) * len(p.Types); pairs > MaxPoolPairs {
		c.refuse("", "too_many", "%d jobs on %d node types are %d pairs; at most %d are planned.", len(p.Jobs), len(p.Types), pairs, MaxPoolPairs)
	}
	jobs := make(names, len(p.Jobs))
	for i, j := range p.Jobs {
		c.element(i)
		c.name(j.Name)
		jobs.add(c, "job", j.Name, i)
		if c.finite("weight", "The weight", j.Weight) && !(j.Weight >= 1/float64(MaxShareWeight) && j.Weight <= MaxShareWeight) {
			c.refuse("weight", "range", "The weight is %s; it must be from %s to %s.", plain(j.Weight), plain(1/float64(MaxShareWeight)), plain(MaxShareWeight))
		}
		checkRates(c, j.Rates, types, known, "node type")
		runs := false
		for _, t := range p.Types {
			runs = runs || t.Slots > 0 && j.Rates[t.Name] > 0
		}
		if !runs {
			c.refuse("rates", "no_type", "The job works on none of the slots; give it a rate above 0 on a type that has some.")
		}
		c.leave()
	}
	c.leave()
	c.enter("options")
	p.Options.check(c)
	c.leave()
}
