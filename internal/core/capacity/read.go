package capacity

import (
	"fmt"
	"math"
	"slices"

	"github.com/shopspring/decimal"

	"example.org/headroom/internal/core/fault"
	"example.org/headroom/internal/core/money"
	"example.org/headroom/internal/core/strict"
)

// Limits bounds the size of a problem; a member that is 0 limits nothing.
type Limits struct {
	Bytes     int
	Classes   int
	Contracts int // of all types together
	VMTypes   int
	Due       bool // classes may say until when an execution must have ended
	Start     bool // the supply may say what starting a VM costs
}

// DefaultLimits returns the limits of a service that strangers may use.
func DefaultLimits() Limits {
	return Limits{Bytes: 8 << 20, Classes: 10_000, Contracts: 1_000, VMTypes: MaxVMTypes}
}

// gammaPlaces is the maximum number of decimal places of VMs per job. Any float64 with a meaning is written with as
// many.
const gammaPlaces = 30

// schedulesAlone says who takes members that no plan of a moment knows.
const schedulesAlone = "schedules alone take it (headroom whatif schedule)"

var (
	problemShape = strict.NewShape("a problem", []string{"currency", "supply", "classes"}, "period_s", "options", "budget")
	classShape   = strict.NewShape("a class", []string{"name", "jobs", "penalty"}, "profile", "demand", "vms_per_job", "calibration", "deadline_s", "slots_per_vm", "speed", "target", "confidence", "promise", "arrivals_per_hour").
			Elsewhere("schedules take it, and months and purchases with waiting", "due_s", "due")
	dueClassShape    = strict.NewShape("a class", classShape.Names[:3], append(classShape.Names[3:len(classShape.Names):len(classShape.Names)], "due_s", "due")...)
	profileShape     = strict.NewShape("a profile", nil, slices.Concat(mapMembers[:], reduceMembers[:], []string{"overhead_s", "stages"})...)
	stageShape       = strict.NewShape("a stage", []string{"tasks", "avg_s", "max_s"}, "name")
	calibrationShape = strict.NewShape("a calibration", []string{"bound", "factor"})
	demandShape      = strict.NewShape("a demand", []string{"map_work_s", "reduce_work_s", "fixed_s"})
	slotsShape       = strict.NewShape("slots per VM", []string{"map", "reduce"})
	jobsShape        = strict.NewShape("the range of jobs", []string{"max"}, "min", "all")
	optionsShape     = strict.NewShape("the options", nil, "integrality", "bound", "engine", "gap", "max_solve_ms", "one_slot_per_job", "sharing", "near")
	nearShape        = strict.NewShape("a previous plan", []string{"vms", "jobs"})
)

// mapMembers lists the members that a profile must give unless it has stages.
var mapMembers = [...]string{"map_tasks", "reduce_tasks", "map_avg_s", "map_max_s"}

// reduceMembers lists the members that a profile with reduce tasks must give as well.
var reduceMembers = [...]string{
	"first_shuffle_avg_s", "first_shuffle_max_s", "shuffle_avg_s", "shuffle_max_s", "reduce_avg_s", "reduce_max_s",
}

var reduceGiven = profileShape.Given(reduceMembers[:]...)

// ReadProblem reads and validates a problem. Members left out get their defaults (see DefaultOptions; period_s 3600,
// billing used, quota null, overhead_s 0). Faults come as one *InputError with every finding, or with the first place
// at which the text is not JSON. The overrides change the options before the problem is validated with them.
func ReadProblem(data []byte, limits Limits, overrides ...func(*Options)) (Problem, error) {
	p := Problem{PeriodSeconds: 3600, Options: DefaultOptions()}
	if limits.Bytes > 0 && len(data) > limits.Bytes {
		return Problem{}, &fault.InputError{Findings: []fault.Finding{{Code: "too_large",
			Detail: fmt.Sprintf("The document has %d bytes; at most %d are read.", len(data), limits.Bytes)}}}
	}
	r := strict.NewReader(data)
	ReadProblemInto(r, &p, limits)
	r.End()
	for _, override := range overrides {
		override(&p.Options)
	}
	if err := r.Result(p.Check); err != nil {
		return Problem{}, err
	}
	return p, nil
}

func ReadProblemInto(r *strict.Reader, p *Problem, limits Limits) {
	r.Object(problemShape, func(name string) {
		switch name {
		case "currency":
			p.Currency, _ = r.Text()
		case "period_s":
			r.Whole(&p.PeriodSeconds)
		case "supply":
			readSupply(r, &p.Supply, limits)
		case "classes":
			shape := classShape
			if limits.Due {
				shape = dueClassShape
			}
			p.Classes = strict.List(r, "of classes", limits.Classes, func(r *strict.Reader, c *Class) { readClass(r, c, shape) })
		case "options":
			readOptions(r, &p.Options, limits)
		case "budget":
			p.Budget = new(Budget)
			readBudget(r, p.Budget)
		}
	})
}

func readClass(r *strict.Reader, c *Class, shape *strict.Shape) {
	had := r.Object(shape, func(name string) {
		switch name {
		case "name":
			c.Name, _ = r.Text()
		case "profile":
			c.Profile = new(Profile)
			ReadProfile(r, c.Profile)
		case "demand":
			c.Demand = new(Demand)
			readDemand(r, c.Demand)
		case "vms_per_job":
			c.VMsPerJob = new(decimal.Decimal)
			r.Exact(c.VMsPerJob, gammaPlaces, "4.03")
		case "calibration":
			c.Calibration = new(Calibration)
			readCalibration(r, c.Calibration)
		case "deadline_s":
			r.Float(&c.DeadlineSeconds)
		case "target":
			r.Float(&c.Target)
		case "arrivals_per_hour":
			r.Float(&c.ArrivalsPerHour)
		case "confidence":
			r.Float(&c.Confidence)
		case "promise":
			c.Promise = new(Promise)
			r.Fields(promiseShape, c.Promise)
		case "due_s":
			r.Float(&c.DueSeconds)
		case "due":
			c.Due, _ = r.Text()
		case "slots_per_vm":
			readSlotsPerVM(r, &c.SlotsPerVM)
		case "speed":
			if speed := strict.Named(r, "of speeds by VM type", "VM type", MaxVMTypes, (*strict.Reader).Float); len(speed) > 0 {
				c.Speed = speed
			}
		case "jobs":
			readJobRange(r, &c.Jobs)
		case "penalty":
			money.Read(r, &c.Penalty)
		}
	})
	if c.VMsPerJob == nil && (c.Profile != nil || c.Demand != nil) {
		for _, name := range [...]string{"deadline_s", "slots_per_vm"} {
			if !had.Has(shape, name) {
				r.Missing(name, "a class with a profile or a demand")
			}
		}
	}
}

func ReadProfile(r *strict.Reader, p *Profile) {
	p.MapTasks, p.ReduceTasks = strict.Unread, strict.Unread
	p.MapAvgSeconds, p.MapMaxSeconds = math.NaN(), math.NaN()
	had := r.Object(profileShape, func(name string) {
		switch name {
		case "map_tasks":
			r.Whole(&p.MapTasks)
		case "reduce_tasks":
			r.Whole(&p.ReduceTasks)
		case "map_avg_s":
			r.Float(&p.MapAvgSeconds)
		case "map_max_s":
			r.Float(&p.MapMaxSeconds)
		case "first_shuffle_avg_s":
			r.Float(&p.FirstShuffleAvgSeconds)
		case "first_shuffle_max_s":
			r.Float(&p.FirstShuffleMaxSeconds)
		case "shuffle_avg_s":
			r.Float(&p.ShuffleAvgSeconds)
		case "shuffle_max_s":
			r.Float(&p.ShuffleMaxSeconds)
		case "reduce_avg_s":
			r.Float(&p.ReduceAvgSeconds)
		case "reduce_max_s":
			r.Float(&p.ReduceMaxSeconds)
		case "overhead_s":
			r.Float(&p.OverheadSeconds)
		case "stages":
			if p.Stages = strict.List(r, "of stages", MaxStages, readStage); p.Stages == nil {
				p.Stages = []Stage{}
			}
		}
	})
	if had.Has(profileShape, "stages") {
		for i, name := range profileShape.Names[:len(mapMembers)+len(reduceMembers)] {
			if had&(1<<i) != 0 {
				r.Enter("stages")
				r.Found("one_of", fmt.Sprintf("The profile has stages and %q as well; give stages and the overhead alone, or the figures of maps and reduces.", name), nil)
				r.Leave()
				break
			}
		}
		p.MapTasks, p.ReduceTasks, p.MapAvgSeconds, p.MapMaxSeconds = 0, 0, 0, 0
		return
	}
	for _, name := range mapMembers {
		if !had.Has(profileShape, name) {
			r.Missing(name, "a profile")
		}
	}
	if p.ReduceTasks <= 0 || had&reduceGiven == reduceGiven { // none, or not known how many, or all there
		return
	}
	for i, into := range [...]*float64{
		&p.FirstShuffleAvgSeconds, &p.FirstShuffleMaxSeconds, &p.ShuffleAvgSeconds, &p.ShuffleMaxSeconds, &p.ReduceAvgSeconds, &p.ReduceMaxSeconds,
	} {
		if !had.Has(profileShape, reduceMembers[i]) {
			r.Missing(reduceMembers[i], "a profile with reduce tasks")
			*into = math.NaN()
		}
	}
}

func readStage(r *strict.Reader, s *Stage) {
	s.Tasks, s.AvgSeconds, s.MaxSeconds = strict.Unread, math.NaN(), math.NaN()
	r.Object(stageShape, func(name string) {
		switch name {
		case "name":
			s.Name, _ = r.Text()
		case "tasks":
			r.Whole(&s.Tasks)
		case "avg_s":
			r.Float(&s.AvgSeconds)
		case "max_s":
			r.Float(&s.MaxSeconds)
		}
	})
}

func readCalibration(r *strict.Reader, m *Calibration) {
	m.Bound, m.Factor = AverageBound, 1 // what is not given is told by the reader
	r.Object(calibrationShape, func(name string) {
		if name == "bound" {
			strict.Word(r, &m.Bound, formulas)
		} else {
			r.Float(&m.Factor)
		}
	})
}

func readDemand(r *strict.Reader, d *Demand) {
	r.Object(demandShape, func(name string) {
		switch name {
		case "map_work_s":
			r.Float(&d.MapWorkSeconds)
		case "reduce_work_s":
			r.Float(&d.ReduceWorkSeconds)
		case "fixed_s":
			r.Float(&d.FixedSeconds)
		}
	})
}

func readJobRange(r *strict.Reader, j *JobRange) {
	j.Max = math.NaN()
	r.Object(jobsShape, func(name string) {
		switch name {
		case "min":
			r.Float(&j.Min)
		case "max":
			r.Float(&j.Max)
		case "all":
			r.Flag(&j.All)
		}
	})
	if j.All && !math.IsNaN(j.Max) {
		*j = j.Of(j.Max)
	}
}

func readOptions(r *strict.Reader, o *Options, limits Limits) {
	r.Object(optionsShape, func(name string) {
		switch name {
		case "integrality":
			strict.Word(r, &o.Integrality, integralities)
		case "bound":
			strict.Word(r, &o.Bound, Bounds)
		case "engine":
			strict.Word(r, &o.Engine, engines)
		case "gap":
			r.Float(&o.Gap)
		case "max_solve_ms":
			r.Whole(&o.MaxSolveMs)
		case "one_slot_per_job":
			r.Flag(&o.OneSlotPerJob)
		case "sharing":
			strict.Word(r, &o.Sharing, sharings)
		case "near":
			o.Near = new(Near)
			readNear(r, o.Near, limits.Classes)
		}
	})
}

func readNear(r *strict.Reader, n *Near, limit int) {
	r.Object(nearShape, func(name string) {
		if name == "vms" {
			r.Float(&n.VMs)
			return
		}
		n.Jobs = strict.Named(r, "of admitted jobs by class name", "class", limit, (*strict.Reader).Float)
	})
}
