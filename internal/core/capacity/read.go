package capacity

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/shopspring/decimal"
)

// Limits is how large a problem may be; a member that is 0 limits nothing.
type Limits struct {
	Bytes     int
	Classes   int
	Contracts int // of all types together
	VMTypes   int
}

// DefaultLimits is what a service accepts from strangers.
func DefaultLimits() Limits {
	return Limits{Bytes: 8 << 20, Classes: 10_000, Contracts: 1_000, VMTypes: MaxVMTypes}
}

// gammaPlaces is how many decimal places VMs per job may have: as many as any float64 that means
// something is written with.
const gammaPlaces = 30

var (
	problemShape     = newShape("a problem", []string{"currency", "supply", "classes"}, "period_s", "options", "budget")
	classShape       = newShape("a class", []string{"name", "jobs", "penalty"}, "profile", "demand", "vms_per_job", "calibration", "deadline_s", "slots_per_vm", "speed")
	profileShape     = newShape("a profile", nil, slices.Concat(mapMembers[:], reduceMembers[:], []string{"overhead_s", "stages"})...)
	stageShape       = newShape("a stage", []string{"tasks", "avg_s", "max_s"}, "name")
	calibrationShape = newShape("a calibration", []string{"bound", "factor"})
	demandShape      = newShape("a demand", []string{"map_work_s", "reduce_work_s", "fixed_s"})
	slotsShape       = newShape("slots per VM", []string{"map", "reduce"})
	jobsShape        = newShape("the range of jobs", []string{"min", "max"})
	optionsShape     = newShape("the options", nil, "integrality", "bound", "engine", "gap", "max_solve_ms", "one_slot_per_job", "sharing", "near")
	nearShape        = newShape("a previous plan", []string{"vms", "jobs"})
)

// mapMembers is what a profile must give unless it has stages.
var mapMembers = [...]string{"map_tasks", "reduce_tasks", "map_avg_s", "map_max_s"}

// reduceMembers is what a profile must give as well when it has reduce tasks.
var reduceMembers = [...]string{
	"first_shuffle_avg_s", "first_shuffle_max_s", "shuffle_avg_s", "shuffle_max_s", "reduce_avg_s", "reduce_max_s",
}

var reduceGiven = profileShape.given(reduceMembers[:]...)

// ReadProblem reads and validates a problem. Members left out get their defaults (see
// DefaultOptions; period_s 3600, billing used, quota null, overhead_s 0). Whatever is wrong comes as
// one *InputError with every finding, or with the first place where the text is not JSON. The
// overrides change the options read before the problem is validated with them.
func ReadProblem(data []byte, limits Limits, overrides ...func(*Options)) (Problem, error) {
	p := Problem{PeriodSeconds: 3600, Options: DefaultOptions()}
	if limits.Bytes > 0 && len(data) > limits.Bytes {
		return Problem{}, &InputError{[]Finding{{Code: "too_large",
			Detail: fmt.Sprintf("The document has %d bytes; at most %d are read.", len(data), limits.Bytes)}}}
	}
	r := &reader{data: data, path: make(path, 0, 8)}
	r.start()
	r.problem(&p, limits)
	r.end()
	for _, override := range overrides {
		override(&p.Options)
	}
	if err := r.result(p.check); err != nil {
		return Problem{}, err
	}
	return p, nil
}

// result is what went wrong: the failure, or the reader's findings and those of check that do not
// concern members the reader could not read.
func (r *reader) result(check func(*checker)) error {
	if r.failure != nil {
		return &InputError{[]Finding{*r.failure}}
	}
	unreadable := r.findings
	c := &checker{covered: func(pointer string) bool {
		for _, f := range unreadable {
			if rest, ok := strings.CutPrefix(pointer, f.Pointer); ok && (rest == "" || rest[0] == '/') {
				return true
			}
		}
		return false
	}}
	check(c)
	return Refusal(append(r.findings, c.findings...), r.unlisted+c.unlisted)
}

func (r *reader) problem(p *Problem, limits Limits) {
	r.object(problemShape, func(name string) {
		switch name {
		case "currency":
			p.Currency, _ = r.text()
		case "period_s":
			r.whole(&p.PeriodSeconds)
		case "supply":
			r.supply(&p.Supply, limits)
		case "classes":
			p.Classes = list(r, "of classes", limits.Classes, r.class)
		case "options":
			r.options(&p.Options, limits)
		case "budget":
			p.Budget = new(Budget)
			r.budget(p.Budget)
		}
	})
}

// list reads an array of one kind of object, of which there may be limit; an empty one is nil.
func list[T any](r *reader, what string, limit int, read func(*T)) (items []T) {
	var count int
	from := r.at
	r.array(what, func(i int) {
		if count = i + 1; limit > 0 && count > limit {
			r.skip()
			return
		}
		items = another(r, items, from, limit)
		read(&items[i])
	})
	r.tooMany(strings.TrimPrefix(what, "of "), count, limit)
	return items
}

// another is the list that started at from with room for one item more. Where it is long, room is made for as many
// as the rest of the text holds if they are like those before, because growing copies.
func another[T any](r *reader, items []T, from, limit int) []T {
	if n := len(items); n == cap(items) && n >= longList {
		each := (r.at - from) / n
		more := (len(r.data) - r.at) / each
		if more += more/16 + 1; limit > 0 {
			more = min(more, limit-n)
		}
		items = slices.Grow(items, more)
	}
	return append(items, *new(T))
}

// longList is from how many items on a list's length is foreseen.
const longList = 1000

// named reads an object whose members' names are those of things of a kind, of which there may be limit.
func named[T any](r *reader, what, kind string, limit int, read func(*T)) map[string]T {
	items := map[string]T{}
	count := 0
	r.members(what, func(key []byte) {
		if count++; limit > 0 && count > limit {
			r.skip()
			return
		}
		name := string(key)
		_, twice := items[name]
		if r.full() && twice {
			r.unlisted++
			r.skip()
			return
		}
		r.enter(name)
		if twice {
			r.found("duplicate_member", fmt.Sprintf("The %s %q is given twice; keep one.", kind, clip(name)), nil)
		}
		var item T
		read(&item)
		items[name] = item
		r.leave()
	})
	r.tooMany("members", count, limit)
	return items
}

// tooMany notes that there are more things here than are read.
func (r *reader) tooMany(what string, count, limit int) {
	if limit > 0 && count > limit {
		detail := fmt.Sprintf("Here are %d %s; at most %d are read.", count, what, limit)
		if what == "classes" {
			detail += " A server reads more with HEADROOM_MAX_CLASSES."
		}
		r.found("too_many", detail, nil)
	}
}

func (r *reader) money(m *Money) { r.exact(&m.Decimal, MoneyPlaces, "0.10") }

func (r *reader) class(c *Class) {
	had := r.object(classShape, func(name string) {
		switch name {
		case "name":
			c.Name, _ = r.text()
		case "profile":
			c.Profile = new(Profile)
			r.profile(c.Profile)
		case "demand":
			c.Demand = new(Demand)
			r.demand(c.Demand)
		case "vms_per_job":
			c.VMsPerJob = new(decimal.Decimal)
			r.exact(c.VMsPerJob, gammaPlaces, "4.03")
		case "calibration":
			c.Calibration = new(Calibration)
			r.calibration(c.Calibration)
		case "deadline_s":
			r.float(&c.DeadlineSeconds)
		case "slots_per_vm":
			r.slotsPerVM(&c.SlotsPerVM)
		case "speed":
			if speed := named(r, "of speeds by VM type", "VM type", MaxVMTypes, r.float); len(speed) > 0 {
				c.Speed = speed
			}
		case "jobs":
			r.jobRange(&c.Jobs)
		case "penalty":
			r.money(&c.Penalty)
		}
	})
	if c.VMsPerJob == nil && (c.Profile != nil || c.Demand != nil) {
		for _, name := range [...]string{"deadline_s", "slots_per_vm"} {
			if !had.has(classShape, name) {
				r.missing(name, "a class with a profile or a demand")
			}
		}
	}
}

func (r *reader) profile(p *Profile) {
	p.MapTasks, p.ReduceTasks = unread, unread
	p.MapAvgSeconds, p.MapMaxSeconds = math.NaN(), math.NaN()
	had := r.object(profileShape, func(name string) {
		switch name {
		case "map_tasks":
			r.whole(&p.MapTasks)
		case "reduce_tasks":
			r.whole(&p.ReduceTasks)
		case "map_avg_s":
			r.float(&p.MapAvgSeconds)
		case "map_max_s":
			r.float(&p.MapMaxSeconds)
		case "first_shuffle_avg_s":
			r.float(&p.FirstShuffleAvgSeconds)
		case "first_shuffle_max_s":
			r.float(&p.FirstShuffleMaxSeconds)
		case "shuffle_avg_s":
			r.float(&p.ShuffleAvgSeconds)
		case "shuffle_max_s":
			r.float(&p.ShuffleMaxSeconds)
		case "reduce_avg_s":
			r.float(&p.ReduceAvgSeconds)
		case "reduce_max_s":
			r.float(&p.ReduceMaxSeconds)
		case "overhead_s":
			r.float(&p.OverheadSeconds)
		case "stages":
			if p.Stages = list(r, "of stages", MaxStages, r.stage); p.Stages == nil {
				p.Stages = []Stage{}
			}
		}
	})
	if had.has(profileShape, "stages") {
		for i, name := range profileShape.names[:len(mapMembers)+len(reduceMembers)] {
			if had&(1<<i) != 0 {
				r.enter("stages")
				r.found("one_of", fmt.Sprintf("The profile has stages and %q as well; give stages and the overhead alone, or the figures of maps and reduces.", name), nil)
				r.leave()
				break
			}
		}
		p.MapTasks, p.ReduceTasks, p.MapAvgSeconds, p.MapMaxSeconds = 0, 0, 0, 0
		return
	}
	for _, name := range mapMembers {
		if !had.has(profileShape, name) {
			r.missing(name, "a profile")
		}
	}
	if p.ReduceTasks <= 0 || had&reduceGiven == reduceGiven { // none, or not known how many, or all there
		return
	}
	for i, into := range [...]*float64{
		&p.FirstShuffleAvgSeconds, &p.FirstShuffleMaxSeconds, &p.ShuffleAvgSeconds, &p.ShuffleMaxSeconds, &p.ReduceAvgSeconds, &p.ReduceMaxSeconds,
	} {
		if !had.has(profileShape, reduceMembers[i]) {
			r.missing(reduceMembers[i], "a profile with reduce tasks")
			*into = math.NaN()
		}
	}
}

func (r *reader) stage(s *Stage) {
	s.Tasks, s.AvgSeconds, s.MaxSeconds = unread, math.NaN(), math.NaN()
	r.object(stageShape, func(name string) {
		switch name {
		case "name":
			s.Name, _ = r.text()
		case "tasks":
			r.whole(&s.Tasks)
		case "avg_s":
			r.float(&s.AvgSeconds)
		case "max_s":
			r.float(&s.MaxSeconds)
		}
	})
}

func (r *reader) calibration(m *Calibration) {
	m.Bound, m.Factor = AverageBound, 1 // what is not given is told by the reader
	r.object(calibrationShape, func(name string) {
		if name == "bound" {
			word(r, &m.Bound, formulas)
		} else {
			r.float(&m.Factor)
		}
	})
}

func (r *reader) demand(d *Demand) {
	r.object(demandShape, func(name string) {
		switch name {
		case "map_work_s":
			r.float(&d.MapWorkSeconds)
		case "reduce_work_s":
			r.float(&d.ReduceWorkSeconds)
		case "fixed_s":
			r.float(&d.FixedSeconds)
		}
	})
}

func (r *reader) jobRange(j *JobRange) {
	j.Min, j.Max = math.NaN(), math.NaN()
	r.object(jobsShape, func(name string) {
		if name == "min" {
			r.float(&j.Min)
		} else {
			r.float(&j.Max)
		}
	})
}

func (r *reader) options(o *Options, limits Limits) {
	r.object(optionsShape, func(name string) {
		switch name {
		case "integrality":
			word(r, &o.Integrality, integralities)
		case "bound":
			word(r, &o.Bound, bounds)
		case "engine":
			word(r, &o.Engine, engines)
		case "gap":
			r.float(&o.Gap)
		case "max_solve_ms":
			r.whole(&o.MaxSolveMs)
		case "one_slot_per_job":
			r.flag(&o.OneSlotPerJob)
		case "sharing":
			word(r, &o.Sharing, sharings)
		case "near":
			o.Near = new(Near)
			r.near(o.Near, limits.Classes)
		}
	})
}

func (r *reader) near(n *Near, limit int) {
	r.object(nearShape, func(name string) {
		if name == "vms" {
			r.float(&n.VMs)
			return
		}
		n.Jobs = named(r, "of admitted jobs by class name", "class", limit, r.float)
	})
}
