package capacity

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"example.org/headroom/internal/core/fault"
	"example.org/headroom/internal/core/money"
	"example.org/headroom/internal/core/strict"
)

// The largest inputs that still mean something; beyond them float64 no longer counts whole VMs, or
// somebody has mistaken a unit.
const (
	MaxTasks         = 10_000_000
	MaxStages        = 10_000
	MaxSeconds       = 1e7
	MaxJobs          = 1_000_000
	MaxArrivals      = 1e12 // with a longer deadline fewer of them are already too many jobs at once
	MaxVMs           = 1_000_000_000
	MaxSlotsPerVM    = 1_000
	MaxVMTypes       = 50
	MinSpeed         = 0.001 // but 0, which is not at all
	MaxSpeed         = 1_000
	MinCalibration   = 0.001 // the factor of one
	MaxCalibration   = 1_000
	MaxPeriodSeconds = 366 * 24 * 3600
	MaxGap           = 0.1
	MaxSolveMs       = 600_000
)

var (
	Billings      = []Billing{BilledUsed, BilledAlways}
	integralities = []Integrality{Relaxed, Integer, Executable}
	Bounds        = []Bound{LowerBound, AverageBound, UpperBound, CalibratedBound}
	formulas      = []Bound{LowerBound, AverageBound, UpperBound} // bounds that follow from a profile alone
	engines       = []Engine{EngineCBC, EngineExact, EngineAuto}
	sharings      = []Sharing{Shared, Dedicated}
)

// Validate says everything that is wrong with the problem, as an *InputError, or nil. A deadline
// that no number of slots can meet is no input error: the plan answers it.
func (p Problem) Validate() error {
	var c strict.Checker
	p.Check(&c)
	return fault.Refusal(c.Findings, c.Unlisted)
}

func (p Problem) Check(c *strict.Checker) {
	money.CheckCurrency(c, p.Currency)
	c.Whole("period_s", "The period", "seconds", p.PeriodSeconds, 1, MaxPeriodSeconds)
	c.Enter("supply")
	p.Supply.check(c)
	fleet := p.Supply.fleet(c)
	c.Leave()
	c.Enter("classes")
	if len(p.Classes) == 0 {
		c.Refuse("", "missing", "There is no class; give at least one.")
	}
	var named strict.Names
	if p.Options.Near != nil || !rising(p.Classes) { // else no name is there twice, and nobody asks for one
		named = make(strict.Names, len(p.Classes))
	}
	for i := range p.Classes {
		c.Element(i)
		class := &p.Classes[i]
		c.Name(class.Name)
		if named != nil {
			named.Add(c, "class", class.Name, i)
		}
		class.Check(c, p.Options.Integrality)
		if class.ByType() {
			class.checkTypes(c, fleet)
		}
		c.Leave()
	}
	c.Leave()
	if p.Budget != nil {
		c.Enter("budget")
		p.Budget.Check(c)
		c.Leave()
	}
	c.Enter("options")
	p.Options.Check(c, named)
	c.Leave()
}

// CheckChanged finds what check does, where the problem was valid before and at most its supply, its budget
// and its classes' deadlines, jobs and penalties have changed since, each class in its place.
func (p *Problem) CheckChanged(c *strict.Checker, before *Problem) {
	c.Enter("supply")
	p.Supply.check(c)
	fleet := p.Supply.fleet(c)
	c.Leave()
	c.Enter("classes")
	for i := range p.Classes {
		class, was := &p.Classes[i], &before.Classes[i]
		if class.DeadlineSeconds == was.DeadlineSeconds && class.Jobs == was.Jobs && class.Penalty == was.Penalty {
			continue
		}
		c.Element(i)
		class.Check(c, p.Options.Integrality)
		if class.ByType() {
			class.checkTypes(c, fleet)
		}
		c.Leave()
	}
	c.Leave()
	if p.Budget != nil {
		c.Enter("budget")
		p.Budget.Check(c)
		c.Leave()
	}
}

// rising says that each class has a later name than the one before it.
func rising(classes []Class) bool {
	for i := 1; i < len(classes); i++ {
		if classes[i].Name <= classes[i-1].Name {
			return false
		}
	}
	return true
}

func (o Options) Check(c *strict.Checker, classes strict.Names) {
	strict.OneOf(c, "integrality", o.Integrality, integralities)
	strict.OneOf(c, "bound", o.Bound, Bounds)
	strict.OneOf(c, "engine", o.Engine, engines)
	strict.OneOf(c, "sharing", o.Sharing, sharings)
	c.Number("gap", "The gap", "", o.Gap, MaxGap)
	c.Whole("max_solve_ms", "The time budget", "milliseconds", o.MaxSolveMs, 1, MaxSolveMs)
	if o.Near != nil {
		c.Enter("near")
		o.Near.check(c, classes)
		c.Leave()
	}
}

func (n Near) check(c *strict.Checker, classes strict.Names) {
	c.Number("vms", "The number of VMs", "", n.VMs, math.MaxInt64)
	c.Enter("jobs")
	defer c.Leave()
	var names []string
	compared := 0
	for _, name := range slices.Sorted(maps.Keys(n.Jobs)) {
		if _, known := classes[name]; known {
			c.Number(name, "The number of jobs", "", n.Jobs[name], MaxJobs)
			continue
		}
		if names == nil {
			names = slices.Sorted(maps.Keys(classes))
		}
		var hint *fault.Hint
		if compared += len(names); compared <= strict.MaxCompared {
			hint = fault.DidYouMean(name, names)
		}
		c.Found(name, "unknown_name", fmt.Sprintf("There is no class %q; leave it out.", fault.Clip(name)), hint)
	}
}

// PremiseSlack is the relative slack in comparing a profile's premises (mean ≤ max ≤ sum of the tasks) and a class's
// range of jobs, so that figures rounded on their way are not refused.
const PremiseSlack = 1e-9

func (class *Class) Check(c *strict.Checker, integrality Integrality) {
	class.checkNeed(c)
	if class.Calibration != nil {
		c.Enter("calibration")
		class.Calibration.check(c)
		c.Leave()
		if class.Profile == nil {
			c.Refuse("calibration", "not_here", "Only a class with a profile has bounds that can be calibrated; leave the calibration out.")
		}
	}
	class.checkTarget(c)
	if class.VMsPerJob == nil || class.DeadlineSeconds != 0 {
		if c.Number("deadline_s", "The deadline", "seconds", class.DeadlineSeconds, MaxSeconds) && class.DeadlineSeconds == 0 {
			c.Refuse("deadline_s", "range", "The deadline is 0; give the seconds within which a job must be done.")
		}
	}
	if class.VMsPerJob == nil || !class.SlotsPerVM.IsZero() {
		c.Enter("slots_per_vm")
		class.SlotsPerVM.check(c)
		c.Leave()
	}
	if class.Speed != nil {
		class.Speed.check(c)
	}
	c.Enter("jobs")
	class.Jobs.check(c, integrality)
	c.Leave()
	if c.Number("arrivals_per_hour", "The number of arrivals", "", class.ArrivalsPerHour, MaxArrivals) && class.ArrivalsPerHour > 0 && class.DeadlineSeconds == 0 {
		c.Refuse("arrivals_per_hour", "not_here", "Without a deadline nothing says for how long a job runs; leave the arrivals out, or give deadline_s.")
	}
	money.Check(c, "penalty", "The penalty", class.Penalty)
}

// checkNeed checks that the class says in exactly one way what a job needs, and what it says.
func (class *Class) checkNeed(c *strict.Checker) {
	ways := make([]string, 0, 3)
	if class.Profile != nil {
		ways = append(ways, `"profile"`)
		c.Enter("profile")
		class.Profile.Check(c)
		c.Leave()
	}
	if class.Demand != nil {
		ways = append(ways, `"demand"`)
		c.Enter("demand")
		class.Demand.check(c)
		c.Leave()
	}
	if class.VMsPerJob != nil {
		ways = append(ways, `"vms_per_job"`)
		class.checkVMsPerJob(c)
	}
	switch {
	case len(ways) == 0:
		c.Refuse("", "one_of", `The class does not say what a job needs; give "profile", "demand" or "vms_per_job".`)
	case len(ways) > 1:
		c.Refuse("", "one_of", "The class says more than once what a job needs, by %s; keep one.", strings.Join(ways, " and "))
	}
}

// checkVMsPerJob keeps whole VMs countable: a class's load may be at most MaxVMs.
func (class *Class) checkVMsPerJob(c *strict.Checker) {
	perJob := money.Amount{Decimal: *class.VMsPerJob}
	switch {
	case perJob.IsNegative():
		c.Refuse("vms_per_job", "range", "The VMs per job are %s; they cannot be negative.", fault.Clip(perJob.Decimal.String()))
	case perJob.Float()*max(1, class.Jobs.Max) > MaxVMs*class.Speed.slowest():
		c.Refuse("vms_per_job", "range", "%s VMs per job and %s jobs are more than %d VMs, the most that can be planned. Check the unit.",
			fault.Clip(perJob.Decimal.String()), fault.Plain(class.Jobs.Max), MaxVMs)
	case strict.PlacesBeyond(*class.VMsPerJob, gammaPlaces):
		c.Places("vms_per_job", *class.VMsPerJob, gammaPlaces)
	}
}

func (m Calibration) check(c *strict.Checker) {
	strict.OneOf(c, "bound", m.Bound, formulas)
	switch f := m.Factor; {
	case !c.Finite("factor", "The factor", f):
	case f < MinCalibration || f > MaxCalibration:
		c.Refuse("factor", "range", "The factor is %s; give one from %s to %s. At 1 the bound is taken as it is.", fault.Plain(f), fault.Plain(MinCalibration), fault.Plain(MaxCalibration))
	}
}

func (j JobRange) check(c *strict.Checker, integrality Integrality) {
	low := c.Number("min", "The number of jobs", "", j.Min, MaxJobs)
	high := c.Number("max", "The number of jobs", "", j.Max, MaxJobs)
	if integrality != Relaxed {
		if low && !j.All && j.Min != math.Trunc(j.Min) {
			c.Found("min", "not_whole", fmt.Sprintf("%s jobs cannot be promised unless the problem is relaxed.", fault.Plain(j.Min)),
				c.Hint("min", math.Ceil(j.Min), `Give %s, or set "integrality" to "relaxed".`, fault.Plain(math.Ceil(j.Min))))
		}
		if high && j.Max != math.Trunc(j.Max) {
			c.Found("max", "not_whole", fmt.Sprintf("%s jobs cannot be asked for unless the problem is relaxed.", fault.Plain(j.Max)),
				c.Hint("max", math.Floor(j.Max), `Give %s, or set "integrality" to "relaxed".`, fault.Plain(math.Floor(j.Max))))
		}
	}
	switch {
	case !low || !high:
	case j.All && j.Min != j.Max:
		c.Refuse("min", "order", "All jobs are promised, and %s of %s would be; all is false for fewer.", fault.Plain(j.Min), fault.Plain(j.Max))
	case j.Min > j.Max:
		c.Found("min", "order", fmt.Sprintf("At least %s jobs are promised, but only %s are asked for.", fault.Plain(j.Min), fault.Plain(j.Max)),
			c.Hint("min", j.Max, "Promise at most %s, or ask for more.", fault.Plain(j.Max)))
	}
}

func (d Demand) check(c *strict.Checker) {
	c.Number("map_work_s", "The map work", "seconds", d.MapWorkSeconds, MaxTasks*MaxSeconds)
	c.Number("reduce_work_s", "The reduce work", "seconds", d.ReduceWorkSeconds, MaxTasks*MaxSeconds)
	if c.Finite("fixed_s", "The fixed time", d.FixedSeconds) && math.Abs(d.FixedSeconds) > MaxSeconds {
		c.Refuse("fixed_s", "range", "The fixed time is %s seconds; at most %s seconds can be planned. Check the unit.", fault.Plain(d.FixedSeconds), fault.Plain(MaxSeconds))
	}
}

// CheckDue checks the time of day by which executions must have ended.
func (c *Class) CheckDue(k *strict.Checker) {
	switch _, err := time.Parse(TimeOfDay, c.Due); {
	case err != nil || len(c.Due) != len(TimeOfDay):
		k.Refuse("due", "format", "%q is no time of day; write one such as 06:00.", fault.Clip(c.Due))
	case c.DueSeconds > 0:
		k.Refuse("due", "one_of", "Here are a time of day and a due_s of %s; give one of the two.", fault.Plain(c.DueSeconds))
	case c.DeadlineSeconds == 0:
		k.Refuse("due", "missing", "Executions end by %s, and without a deadline_s nobody knows when they must start. Give one.", c.Due)
	}
}
