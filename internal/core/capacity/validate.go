package capacity

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
)

// The largest inputs that still mean something; beyond them float64 no longer counts whole VMs, or
// somebody has mistaken a unit.
const (
	MaxTasks         = 10_000_000
	MaxStages        = 10_000
	MaxSeconds       = 1e7
	MaxJobs          = 1_000_000
	MaxVMs           = 1_000_000_000
	MaxMoney         = 1_000_000_000
	MaxSlotsPerVM    = 1_000
	MaxVMTypes       = 50
	MinSpeed         = 0.001 // but 0, which is not at all
	MaxSpeed         = 1_000
	MinCalibration   = 0.001 // the factor of one
	MaxCalibration   = 1_000
	MaxNameLength    = 200 // characters
	MaxPeriodSeconds = 366 * 24 * 3600
	MaxGap           = 0.1
	MaxSolveMs       = 600_000
)

var (
	billings      = []Billing{BilledUsed, BilledAlways}
	integralities = []Integrality{Relaxed, Integer, Executable}
	bounds        = []Bound{LowerBound, AverageBound, UpperBound, CalibratedBound}
	formulas      = []Bound{LowerBound, AverageBound, UpperBound} // bounds that follow from a profile alone
	engines       = []Engine{EngineCBC, EngineExact, EngineAuto}
	sharings      = []Sharing{Shared, Dedicated}
)

// Validate says everything that is wrong with the problem, as an *InputError, or nil. A deadline
// that no number of slots can meet is no input error: the plan answers it.
func (p Problem) Validate() error {
	var c checker
	p.check(&c)
	return Refusal(c.findings, c.unlisted)
}

func (p Problem) check(c *checker) {
	checkCurrency(c, p.Currency)
	c.whole("period_s", "The period", "seconds", p.PeriodSeconds, 1, MaxPeriodSeconds)
	c.enter("supply")
	p.Supply.check(c)
	fleet := p.Supply.fleet(c)
	c.leave()
	c.enter("classes")
	if len(p.Classes) == 0 {
		c.refuse("", "missing", "There is no class; give at least one.")
	}
	var named names
	if p.Options.Near != nil || !rising(p.Classes) { // else no name is there twice, and nobody asks for one
		named = make(names, len(p.Classes))
	}
	for i := range p.Classes {
		c.element(i)
		class := &p.Classes[i]
		c.name(class.Name)
		if named != nil {
			named.add(c, "class", class.Name, i)
		}
		class.check(c, p.Options.Integrality)
		if class.byType() {
			class.checkTypes(c, fleet)
		}
		c.leave()
	}
	c.leave()
	if p.Budget != nil {
		c.enter("budget")
		p.Budget.check(c)
		c.leave()
	}
	c.enter("options")
	p.Options.check(c, named)
	c.leave()
}

// checkChanged finds what check does, where the problem was valid before and at most its supply, its budget
// and its classes' deadlines, jobs and penalties have changed since, each class in its place.
func (p *Problem) checkChanged(c *checker, before *Problem) {
	c.enter("supply")
	p.Supply.check(c)
	fleet := p.Supply.fleet(c)
	c.leave()
	c.enter("classes")
	for i := range p.Classes {
		class, was := &p.Classes[i], &before.Classes[i]
		if class.DeadlineSeconds == was.DeadlineSeconds && class.Jobs == was.Jobs && class.Penalty == was.Penalty {
			continue
		}
		c.element(i)
		class.check(c, p.Options.Integrality)
		if class.byType() {
			class.checkTypes(c, fleet)
		}
		c.leave()
	}
	c.leave()
	if p.Budget != nil {
		c.enter("budget")
		p.Budget.check(c)
		c.leave()
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

// names is which index has which name.
type names map[string]int

// add refuses a name that something of the same kind has already.
func (n names) add(c *checker, kind, name string, i int) {
	j, taken := n[name]
	if !taken {
		n[name] = i
		return
	}
	if name != "" { // an empty name is refused already
		c.refuse("name", "duplicate_name", "The %s with index %d is called %q as well; give each %s a name of its own.", kind, j, clip(name), kind)
	}
}

func checkCurrency(c *checker, currency string) {
	const capitals = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	code := func(s string) bool { return len(s) == 3 && strings.Trim(s, capitals) == "" }
	if code(currency) {
		return
	}
	var hint *Hint
	if upper := strings.ToUpper(strings.TrimSpace(currency)); code(upper) {
		hint = c.hint("currency", upper, "Write %q.", upper)
	}
	c.found("currency", "text", fmt.Sprintf("%q is no currency; give three capital letters such as \"USD\".", clip(currency)), hint)
}

func (o Options) check(c *checker, classes names) {
	oneOf(c, "integrality", o.Integrality, integralities)
	oneOf(c, "bound", o.Bound, bounds)
	oneOf(c, "engine", o.Engine, engines)
	oneOf(c, "sharing", o.Sharing, sharings)
	c.number("gap", "The gap", "", o.Gap, MaxGap)
	c.whole("max_solve_ms", "The time budget", "milliseconds", o.MaxSolveMs, 1, MaxSolveMs)
	if o.Near != nil {
		c.enter("near")
		o.Near.check(c, classes)
		c.leave()
	}
}

func (n Near) check(c *checker, classes names) {
	c.number("vms", "The number of VMs", "", n.VMs, math.MaxInt64)
	c.enter("jobs")
	defer c.leave()
	var names []string
	compared := 0
	for _, name := range slices.Sorted(maps.Keys(n.Jobs)) {
		if _, known := classes[name]; known {
			c.number(name, "The number of jobs", "", n.Jobs[name], MaxJobs)
			continue
		}
		if names == nil {
			names = slices.Sorted(maps.Keys(classes))
		}
		var hint *Hint
		if compared += len(names); compared <= mostCompared {
			hint = didYouMean(name, names)
		}
		c.found(name, "unknown_name", fmt.Sprintf("There is no class %q; leave it out.", clip(name)), hint)
	}
}

// mostCompared bounds the names that mistaken ones are compared with: every mistake of a usual problem,
// some tenths of a second where somebody makes it last.
const mostCompared = 50_000

// PremiseSlack is the relative slack with which a profile's premises (mean ≤ max ≤ sum of the tasks)
// and a class's range of jobs are compared, so that figures rounded on their way are not refused.
const PremiseSlack = 1e-9

func (class *Class) check(c *checker, integrality Integrality) {
	class.checkNeed(c)
	if class.Calibration != nil {
		c.enter("calibration")
		class.Calibration.check(c)
		c.leave()
		if class.Profile == nil {
			c.refuse("calibration", "not_here", "Only a class with a profile has bounds that can be calibrated; leave the calibration out.")
		}
	}
	if class.VMsPerJob == nil || class.DeadlineSeconds != 0 {
		if c.number("deadline_s", "The deadline", "seconds", class.DeadlineSeconds, MaxSeconds) && class.DeadlineSeconds == 0 {
			c.refuse("deadline_s", "range", "The deadline is 0; give the seconds within which a job must be done.")
		}
	}
	if class.VMsPerJob == nil || !class.SlotsPerVM.IsZero() {
		c.enter("slots_per_vm")
		class.SlotsPerVM.check(c)
		c.leave()
	}
	if class.Speed != nil {
		class.Speed.check(c)
	}
	c.enter("jobs")
	class.Jobs.check(c, integrality)
	c.leave()
	c.money("penalty", "The penalty", class.Penalty)
}

// checkNeed checks that the class says in exactly one way what a job needs, and what it says.
func (class *Class) checkNeed(c *checker) {
	ways := make([]string, 0, 3)
	if class.Profile != nil {
		ways = append(ways, `"profile"`)
		c.enter("profile")
		class.Profile.check(c)
		c.leave()
	}
	if class.Demand != nil {
		ways = append(ways, `"demand"`)
		c.enter("demand")
		class.Demand.check(c)
		c.leave()
	}
	if class.VMsPerJob != nil {
		ways = append(ways, `"vms_per_job"`)
		class.checkVMsPerJob(c)
	}
	switch {
	case len(ways) == 0:
		c.refuse("", "one_of", `The class does not say what a job needs; give "profile", "demand" or "vms_per_job".`)
	case len(ways) > 1:
		c.refuse("", "one_of", "The class says more than once what a job needs, by %s; keep one.", strings.Join(ways, " and "))
	}
}

// checkVMsPerJob keeps whole VMs countable: a class's load may be at most MaxVMs.
func (class *Class) checkVMsPerJob(c *checker) {
	perJob := Money{*class.VMsPerJob}
	switch {
	case perJob.IsNegative():
		c.refuse("vms_per_job", "range", "The VMs per job are %s; they cannot be negative.", clip(perJob.Decimal.String()))
	case perJob.Float()*max(1, class.Jobs.Max) > MaxVMs*class.Speed.slowest():
		c.refuse("vms_per_job", "range", "%s VMs per job and %s jobs are more than %d VMs, the most that can be planned. Check the unit.",
			clip(perJob.Decimal.String()), plain(class.Jobs.Max), MaxVMs)
	case placesBeyond(*class.VMsPerJob, gammaPlaces):
		c.places("vms_per_job", *class.VMsPerJob, gammaPlaces)
	}
}

func (m Calibration) check(c *checker) {
	oneOf(c, "bound", m.Bound, formulas)
	switch f := m.Factor; {
	case !c.finite("factor", "The factor", f):
	case f < MinCalibration || f > MaxCalibration:
		c.refuse("factor", "range", "The factor is %s; give one from %s to %s. At 1 the bound is taken as it is.", plain(f), plain(MinCalibration), plain(MaxCalibration))
	}
}

func (j JobRange) check(c *checker, integrality Integrality) {
	low := c.number("min", "The number of jobs", "", j.Min, MaxJobs)
	high := c.number("max", "The number of jobs", "", j.Max, MaxJobs)
	if integrality != Relaxed {
		if low && j.Min != math.Trunc(j.Min) {
			c.found("min", "not_whole", fmt.Sprintf("%s jobs cannot be promised unless the problem is relaxed.", plain(j.Min)),
				c.hint("min", math.Ceil(j.Min), `Give %s, or set "integrality" to "relaxed".`, plain(math.Ceil(j.Min))))
		}
		if high && j.Max != math.Trunc(j.Max) {
			c.found("max", "not_whole", fmt.Sprintf("%s jobs cannot be asked for unless the problem is relaxed.", plain(j.Max)),
				c.hint("max", math.Floor(j.Max), `Give %s, or set "integrality" to "relaxed".`, plain(math.Floor(j.Max))))
		}
	}
	if low && high && j.Min > j.Max {
		c.found("min", "order", fmt.Sprintf("At least %s jobs are promised, but only %s are asked for.", plain(j.Min), plain(j.Max)),
			c.hint("min", j.Max, "Promise at most %s, or ask for more.", plain(j.Max)))
	}
}

func (d Demand) check(c *checker) {
	c.number("map_work_s", "The map work", "seconds", d.MapWorkSeconds, MaxTasks*MaxSeconds)
	c.number("reduce_work_s", "The reduce work", "seconds", d.ReduceWorkSeconds, MaxTasks*MaxSeconds)
	if c.finite("fixed_s", "The fixed time", d.FixedSeconds) && math.Abs(d.FixedSeconds) > MaxSeconds {
		c.refuse("fixed_s", "range", "The fixed time is %s seconds; at most %s seconds can be planned. Check the unit.", plain(d.FixedSeconds), plain(MaxSeconds))
	}
}
