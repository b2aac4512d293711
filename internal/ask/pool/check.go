package pool

import (
	"fmt"
	"maps"
	"slices"
	"unicode/utf8"

	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/fault"
	"example.org/headroom/internal/core/money"
	"example.org/headroom/internal/core/strict"
)

// The largest pools that are planned.
const (
	maxPoolTypes     = 500
	maxPoolJobs      = 500
	maxPoolPairs     = 50_000 // types times jobs
	maxPoolHours     = 744
	maxPoolInstances = 100_000 // of a type at once
	maxPoolMix       = 2_000
	maxPoolWork      = 1e9
	minPoolWork      = 1e-6
	maxPoolRate      = 1e6
	minPoolRate      = 1e-6 // but 0, which is not at all
	maxPoolGB        = 1e12
	minPoolGB        = 1e-6 // of data, but 0: by less no disk can be divided
	minPoolDeadline  = 1e-4 // hours
	maxShareWeight   = 1e6
	maxSharedSlots   = 1_000_000
)

// Validate checks the problem and reports all faults, as an *InputError.
func (p PoolProblem) Validate() error { return strict.Check(p.check) }

func (p PoolProblem) check(c *strict.Checker) {
	if p.Currency == "" {
		c.Found("currency", "missing", "The currency is missing.", c.Hint("currency", "USD", "Give three capital letters such as \"USD\"."))
	} else {
		money.CheckCurrency(c, p.Currency)
	}
	c.Whole("hours", "The round", "hours", p.Hours, 1, maxPoolHours)
	c.Number("startup_hours", "The start-up", "hours", p.StartupHours, maxPoolHours)
	c.Enter("types")
	if len(p.Types) == 0 {
		c.Refuse("", "missing", "There is no instance type; give at least one.")
	}
	if len(p.Types) > maxPoolTypes {
		c.Refuse("", "too_many", "Here are %d instance types; at most %d are planned. Name those that may be rented.", len(p.Types), maxPoolTypes)
	}
	known := make([]string, 0, len(p.Types))
	types := make(strict.Names, len(p.Types))
	for i := range p.Types {
		c.Element(i)
		t := &p.Types[i]
		c.Name(t.Name)
		types.Add(c, "instance type", t.Name, i)
		known = append(known, t.Name)
		t.check(c)
		c.Leave()
	}
	c.Leave()
	c.Enter("jobs")
	if len(p.Jobs) == 0 && p.Storage.DataGB == 0 {
		c.Refuse("", "missing", "There is neither a job nor data; give at least one job.")
	}
	if pairs := len(p.Jobs) * len(p.Types); pairs > maxPoolPairs {
		c.Refuse("", "too_many", "%d jobs on %d instance types are %d pairs; at most %d are planned. Add up jobs that are alike, or leave out types that are never the cheapest.", len(p.Jobs), len(p.Types), pairs, maxPoolPairs)
	}
	jobs := make(strict.Names, len(p.Jobs))
	for i := range p.Jobs {
		c.Element(i)
		j := &p.Jobs[i]
		c.Name(j.Name)
		jobs.Add(c, "job", j.Name, i)
		j.check(c, p.Hours)
		checkRates(c, j.Rates, types, known, "instance type")
		c.Leave()
	}
	c.Leave()
	c.Enter("storage")
	p.Storage.check(c)
	c.Leave()
	if p.Mix != nil {
		c.Enter("mix")
		p.Mix.check(c, types, known)
		c.Leave()
	}
	c.Enter("options")
	p.Options.check(c)
	c.Leave()
}

func (t *PoolType) check(c *strict.Checker) {
	if t.PerHour == nil {
		c.Refuse("per_hour", "missing", "The price of an hour is missing; give \"per_hour\", which may be 0.")
	} else {
		money.Check(c, "per_hour", "The price of an hour", *t.PerHour)
	}
	c.Number("disk_gb", "The disk", "GB", t.DiskGB, maxPoolGB)
	c.Number("memory_gib", "The memory", "GiB", t.MemoryGiB, maxPoolGB)
	c.Whole("slots", "The number of slots", "", t.Slots, 1, maxSharedSlots)
	if c.Number("compute_units", "The compute units", "", t.ComputeUnits, maxPoolRate) && t.ComputeUnits > 0 && t.ComputeUnits < minPoolRate {
		c.Refuse("compute_units", "range", "The compute units are %s; give at least %s, or 0 where they are not known.", fault.Plain(t.ComputeUnits), fault.Plain(minPoolRate))
	}
	if !t.Core && !t.Accelerator {
		c.Refuse("", "one_of", "The type is neither core nor accelerator, so that it is never rented; leave it out, or let it be one.")
	}
	if t.StartupHours != nil {
		c.Number("startup_hours", "The start-up", "hours", *t.StartupHours, maxPoolHours)
	}
	if t.Most != nil {
		c.Whole("most", "The most instances", "", *t.Most, 0, maxPoolInstances)
	}
}

func (j *PoolJob) check(c *strict.Checker, hours int64) {
	if utf8.RuneCountInString(j.RatesFrom) > strict.MaxNameLength {
		c.Refuse("rates_from", "too_long", "Where the rates come from is said in at most %d characters.", strict.MaxNameLength)
	}
	if c.Finite("work", "The work", j.Work) && !(j.Work >= minPoolWork && j.Work <= maxPoolWork) {
		switch {
		case j.Work == 0:
			c.Refuse("work", "range", "The work is 0; leave out a job that has nothing to do.")
		case j.Work < 0:
			c.Refuse("work", "range", "The work is %s; it cannot be negative.", fault.Plain(j.Work))
		default:
			c.Refuse("work", "range", "The work is %s hours at rate 1; it must be from %s to %s.", fault.Plain(j.Work), fault.Plain(minPoolWork), fault.Plain(maxPoolWork))
		}
	}
	if c.Number("deadline_hours", "The deadline", "hours", j.DeadlineHours, maxPoolHours) && j.DeadlineHours > 0 {
		switch {
		case j.DeadlineHours < minPoolDeadline:
			c.Refuse("deadline_hours", "range", "The deadline is %s hours, less than a second; check the unit.", fault.Plain(j.DeadlineHours))
		case hours >= 1 && j.DeadlineHours > float64(hours):
			c.Found("deadline_hours", "range", fmt.Sprintf("The deadline of %s hours is after the end of the round of %d hours.", fault.Plain(j.DeadlineHours), hours),
				c.Hint("deadline_hours", hours, "At the latest it is %d; or plan a longer round.", hours))
		}
	}
	c.Number("memory_gib_per_task", "The memory of a task", "GiB", j.MemoryGiBPerTask, maxPoolGB)
}

// checkRates checks rates by type.
func checkRates(c *strict.Checker, rates map[string]float64, types strict.Names, known []string, kind string) {
	c.Enter("rates")
	for _, name := range slices.Sorted(maps.Keys(rates)) {
		rate := rates[name]
		if _, is := types[name]; !is {
			strict.UnknownName(c, name, kind, name, known)
		} else if c.Number(name, "The rate", "", rate, maxPoolRate) && rate > 0 && rate < minPoolRate {
			c.Refuse(name, "range", "The rate is %s; give at least %s, or 0 where the job does not run.", fault.Plain(rate), fault.Plain(minPoolRate))
		}
	}
	c.Leave()
}

// checkData checks an amount of data.
func checkData(c *strict.Checker, member, what string, gb float64) bool {
	if !c.Number(member, what, "GB", gb, maxPoolGB) {
		return false
	}
	if gb > 0 && gb < minPoolGB {
		c.Refuse(member, "range", "%s is %s GB; give at least %s GB, or 0 where there is none.", what, fault.Plain(gb), fault.Plain(minPoolGB))
		return false
	}
	return true
}

func (s PoolStorage) check(c *strict.Checker) {
	checkData(c, "data_gb", "The data", s.DataGB)
	if c.Finite("replication", "The replication", s.Replication) && !(s.Replication >= 1 && s.Replication <= 100) {
		c.Refuse("replication", "range", "The replication is %s; it must be from 1, a single copy, to 100.", fault.Plain(s.Replication))
	}
	if c.Finite("fill", "The fill", s.Fill) && !(s.Fill >= 0.01 && s.Fill <= 1) {
		c.Refuse("fill", "range", "Disks are filled to %s; give a share from 0.01 to 1, such as 0.8.", fault.Plain(s.Fill))
	}
}

func (m *PoolMix) check(c *strict.Checker, types strict.Names, known []string) {
	c.Enter("core")
	for i, x := range m.Core {
		c.Element(i)
		if _, is := types[x.Type]; !is {
			strict.UnknownName(c, "type", "instance type", x.Type, known)
		}
		c.Whole("count", "The number of instances", "", x.Count, 0, maxPoolInstances)
		c.Leave()
	}
	c.Leave()
	c.Enter("accelerators")
	for i, x := range m.Accelerators {
		c.Element(i)
		if _, is := types[x.Type]; !is {
			strict.UnknownName(c, "type", "instance type", x.Type, known)
		}
		c.Whole("count", "The number of instances", "", x.Count, 0, maxPoolInstances)
		c.Whole("hours", "The hours", "", x.Hours, 0, maxPoolHours)
		c.Leave()
	}
	c.Leave()
}

func (o PoolOptions) check(c *strict.Checker) {
	c.Whole("max_solve_ms", "The time budget", "milliseconds", o.MaxSolveMs, 1, capacity.MaxSolveMs)
}

// Validate checks the problem and reports all faults, as an *InputError.
func (p SharePlanProblem) Validate() error { return strict.Check(p.check) }

func (p SharePlanProblem) check(c *strict.Checker) {
	c.Enter("types")
	if len(p.Types) == 0 {
		c.Refuse("", "missing", "There is no node type; give at least one.")
	}
	known := make([]string, 0, len(p.Types))
	types := make(strict.Names, len(p.Types))
	for i, t := range p.Types {
		c.Element(i)
		c.Name(t.Name)
		types.Add(c, "node type", t.Name, i)
		known = append(known, t.Name)
		c.Whole("slots", "The number of slots", "", t.Slots, 0, maxSharedSlots)
		c.Leave()
	}
	c.Leave()
	c.Enter("jobs")
	if len(p.Jobs) == 0 {
		c.Refuse("", "missing", "There is no job; give at least one.")
	}
	if pairs := len(p.Jobs) * len(p.Types); pairs > maxPoolPairs {
		c.Refuse("", "too_many", "%d jobs on %d node types are %d pairs; at most %d are planned.", len(p.Jobs), len(p.Types), pairs, maxPoolPairs)
	}
	jobs, held := make(strict.Names, len(p.Jobs)), map[string]int64{}
	for i, j := range p.Jobs {
		c.Element(i)
		c.Name(j.Name)
		jobs.Add(c, "job", j.Name, i)
		if c.Finite("weight", "The weight", j.Weight) && !(j.Weight >= 1/float64(maxShareWeight) && j.Weight <= maxShareWeight) {
			c.Refuse("weight", "range", "The weight is %s; it must be from %s to %s.", fault.Plain(j.Weight), fault.Plain(1/float64(maxShareWeight)), fault.Plain(maxShareWeight))
		}
		checkRates(c, j.Rates, types, known, "node type")
		runs := false
		for _, t := range p.Types {
			runs = runs || t.Slots > 0 && j.Rates[t.Name] > 0
		}
		c.Enter("holds")
		for _, name := range slices.Sorted(maps.Keys(j.Holds)) {
			if _, is := types[name]; !is {
				strict.UnknownName(c, name, "node type", name, known)
			} else {
				c.Whole(name, "The number of slots", "", j.Holds[name], 0, maxSharedSlots)
				held[name] += min(max(j.Holds[name], 0), maxSharedSlots)
			}
		}
		c.Leave()
		if !runs {
			c.Refuse("rates", "no_type", "The job works on none of the slots; give it a rate above 0 on a type that has some.")
		}
		c.Leave()
	}
	c.Leave()
	c.Enter("types")
	for i, t := range p.Types {
		c.Element(i)
		if held[t.Name] > t.Slots && t.Slots >= 0 {
			c.Refuse("slots", "premise", "The jobs hold %d slots of %q, and there are %d; correct one of the two.", held[t.Name],
				fault.Clip(t.Name), t.Slots)
		}
		c.Leave()
	}
	c.Leave()
	c.Enter("options")
	p.Options.check(c)
	c.Leave()
}
