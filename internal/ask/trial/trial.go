// Package trial tries a plan before money is spent on it. The jobs that the plan admits run on the rented slots, in
// the simulator, and the answer gives the part of them that meets its deadline. Only the plan is tried: a class
// without a profile has no tasks and is left out.
package trial

import (
	"context"
	"fmt"
	"math"
	"sync"

	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/fault"
	"example.org/headroom/internal/slots/dispatch"
	"example.org/headroom/internal/slots/sim"
)

// MaxJobs bounds the jobs of a plan that can be tried, because every worker holds each of them in memory.
const MaxJobs = 100_000

// Trial is a plan being tried: any number of workers take replications until none is left.
type Trial struct {
	problem  capacity.Problem
	plan     capacity.Plan
	options  SimulationOptions
	past     map[string]PastTasks
	parts    []*part
	turns    // of the parts' simulations
	warnings []capacity.Warning
}

// part holds the machines of one VM type: no other type shares their slots or their work.
type part struct {
	vmType  string
	input   sim.Input
	classes []tried
	work    *sim.Simulation
}

// tried is a class on a type.
type tried struct {
	index      int   // index of the problem's class
	executions int64 // past executions that its tasks are drawn from
	slots      capacity.Slots
	calibrated *float64    // the time promised by its calibration
	within     []int64     // executions that kept to it, by replication
	took       [][]float64 // seconds of each execution, by replication, where they are kept
}

// New prepares the trial of a plan; past holds the past task times by class. A plan that cannot be tried gives a
// *fault.InputError.
func New(problem capacity.Problem, plan capacity.Plan, options SimulationOptions, past map[string]PastTasks) (*Trial, error) {
	if err := options.CheckFor(&problem); err != nil {
		return nil, err
	}
	if plan.Status == capacity.InfeasibleStatus {
		return nil, fmt.Errorf("there is no plan to try: %w", fault.Infeasible)
	}
	t := &Trial{problem: problem, plan: plan, options: options, past: past, warnings: []capacity.Warning{}}
	t.options.Lending = options.lendingFor(&problem)
	warmUp := options.WarmUp()
	t.options.WarmUpHours = &warmUp
	if err := t.fill(); err != nil {
		return nil, err
	}
	for i, p := range t.parts {
		if err := t.ready(i, p); err != nil {
			return nil, err
		}
	}
	return t, nil
}

// ready makes a part's simulation.
func (t *Trial) ready(number int, p *part) error {
	o := &t.options
	policy := func(kind SimulatedPolicy) sim.Policy {
		return sim.Policy{PolicyConfig: dispatch.PolicyConfig{Kind: dispatch.PolicyKind(kind)}, Lending: sim.Lending(o.Lending)}
	}
	p.input.Policy, p.input.Compare = policy(o.Policy), nil
	for _, kind := range o.Compare {
		p.input.Compare = append(p.input.Compare, policy(kind))
	}
	p.input.HorizonSeconds, p.input.WarmUpSeconds = o.Hours*3600, *o.WarmUpHours*3600
	p.input.Seed, p.input.Replications = uint64(o.Seed)+uint64(number), int(o.Replications)
	p.input.Limits.Events = max(1, o.MaxEvents/(o.Replications*int64(len(t.parts)*(1+len(o.Compare)))))
	work, err := sim.New(p.input)
	if err != nil {
		return t.placed(p, err)
	}
	p.work = work
	t.works = append(t.works, work)
	for i := range p.classes {
		p.classes[i].within = make([]int64, o.Replications)
	}
	// One worker makes each replication, so it owns its counts too.
	work.Finished = func(replication int, x sim.Execution) {
		c := &p.classes[x.Class]
		if c.took != nil && x.FinishedSeconds >= p.input.WarmUpSeconds {
			c.took[replication] = append(c.took[replication], x.FinishedSeconds-x.SubmittedSeconds)
		}
		if c.calibrated != nil && x.FinishedSeconds >= p.input.WarmUpSeconds && x.FinishedSeconds-x.SubmittedSeconds <= *c.calibrated*(1+capacity.PremiseSlack) {
			c.within[replication]++
		}
	}
	return nil
}

// keepTimes keeps what each execution takes.
func (t *Trial) keepTimes() {
	for _, p := range t.parts {
		for i := range p.classes {
			p.classes[i].took = make([][]float64, t.options.Replications)
		}
	}
}

// Work simulates with the given number of workers until no replication is left or the context ends.
func (t *Trial) Work(ctx context.Context, workers int) error {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	var all sync.WaitGroup
	for range max(1, workers) {
		all.Go(func() {
			for {
				if more, err := t.Step(ctx); err != nil {
					stop(err)
					return
				} else if !more {
					return
				}
			}
		})
	}
	all.Wait()
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return nil
}

// fill gives each admitted job of a class with tasks to the part it runs on.
func (t *Trial) fill() error {
	types := t.problem.Supply.Types()
	byType := make([]*part, len(types))
	planned := make(map[string]*capacity.ClassPlan, len(t.plan.Classes))
	for i := range t.plan.Classes {
		planned[t.plan.Classes[i].Name] = &t.plan.Classes[i]
	}
	for i := range t.problem.Classes {
		class := &t.problem.Classes[i]
		cp := planned[class.Name]
		switch {
		case cp == nil:
			return refuse("/plan/classes", "missing", "The plan says nothing of class %q; give the plan of this problem.", class.Name)
		case class.Profile == nil && cp.Admitted > 0:
			t.warn("left_out", "Class %q has no profile, so that nothing is known of its tasks: its jobs and its slots are left out.", class.Name)
			continue
		case class.Profile == nil:
			continue
		}
		shares := cp.Types
		if shares == nil {
			shares = []capacity.ClassOnType{{VMType: types[0].Name, Admitted: cp.Admitted, Slots: cp.Slots, Time: cp.Time}}
		}
		left := true
		for _, share := range shares {
			n := typeIndex(types, share.VMType)
			if n < 0 {
				return refuse("/plan/classes", "unknown_name", "The plan runs class %q on the VM type %q, which the problem does not have; give the plan of this problem.", class.Name, share.VMType)
			}
			if byType[n] == nil {
				byType[n] = &part{vmType: types[n].Name}
			}
			added, err := t.add(byType[n], i, share)
			if err != nil {
				return err
			}
			left = left && !added
		}
		if left {
			t.warn("nothing_admitted", "The plan admits no job of class %q; there is nothing to simulate of it.", class.Name)
		}
	}
	jobs := int64(0)
	for _, p := range byType {
		if p != nil && len(p.classes) > 0 {
			t.parts = append(t.parts, p)
			for i := range p.input.Classes {
				jobs += p.input.Classes[i].Jobs
			}
		}
	}
	if jobs > MaxJobs {
		return refuse("/problem/classes", "too_many", "The plan admits %d jobs at once; %d can be simulated. Give the classes fewer jobs.", jobs, MaxJobs)
	}
	if len(t.parts) == 0 {
		return refuse("/problem/classes", "premise", "The plan admits no job whose tasks are known, so that there is nothing to simulate; give classes with a profile, and a supply that admits some of them.")
	}
	return nil
}

func typeIndex(types []capacity.VMTypeSupply, name string) int {
	for i := range types {
		if types[i].Name == name || name == "" && len(types) == 1 {
			return i
		}
	}
	return -1
}

// add gives a part the jobs of a class that the plan runs there.
func (t *Trial) add(p *part, index int, share capacity.ClassOnType) (added bool, err error) {
	class := t.problem.Classes[index].OnType(p.vmType)
	jobs := whole(share.Admitted)
	if jobs == 0 {
		return false, nil
	}
	if share.Slots == nil || !(share.Slots.Map > 0) || class.Profile.ReduceTasks > 0 && !(share.Slots.Reduce > 0) {
		return false, refuse(fmt.Sprintf("/plan/classes/%d/slots", index), "premise", "The plan admits jobs of class %q and gives them no slots of a kind that they need; give a plan that does.", class.Name)
	}
	slots := sim.Slots{Map: max(1, whole(share.Slots.Map))}
	if class.Profile.ReduceTasks > 0 {
		slots.Reduce = max(1, whole(share.Slots.Reduce))
	}
	if differ(share.Admitted, jobs) || differ(share.Slots.Map, slots.Map) || class.Profile.ReduceTasks > 0 && differ(share.Slots.Reduce, slots.Reduce) {
		t.warn("not_whole", "The plan has %.4g jobs of class %q on %.4g map and %.4g reduce slots; simulated are whole ones, %d on %d and %d. An executable plan has whole ones.",
			share.Admitted, class.Name, share.Slots.Map, share.Slots.Reduce, jobs, slots.Map, slots.Reduce)
	}
	load, err := t.load(&class, jobs, share)
	if err != nil {
		return false, err
	}
	c := tried{index: index, executions: t.measured(class.Name), slots: capacity.Slots{Map: float64(slots.Map), Reduce: float64(slots.Reduce)}}
	if share.Time != nil {
		c.calibrated = share.Time.Calibrated
	}
	p.input.Slots.Map += slots.Map
	p.input.Slots.Reduce += slots.Reduce
	p.classes = append(p.classes, c)
	p.input.Classes = append(p.input.Classes, sim.Class{
		Name: class.Name, Profile: *class.Profile, DeadlineSeconds: class.DeadlineSeconds,
		Slots: &slots, Jobs: jobs, Load: load, Tasks: t.tasks(&class, p.vmType),
	})
	return true, nil
}

// load describes the submissions of a class. A Poisson load has the plan's number of jobs on average, if each takes
// the plan's average time (Little's law).
func (t *Trial) load(class *capacity.Class, jobs int64, share capacity.ClassOnType) (sim.Load, error) {
	if t.options.Load == ClosedLoad {
		load := sim.Load{Kind: sim.Closed, Users: jobs, ThinkSeconds: t.options.ThinkSeconds}
		if t.options.Spread && share.Time != nil && share.Time.Average != nil {
			load.SpreadSeconds = *share.Time.Average
		}
		return load, nil
	}
	if share.Time == nil || share.Time.Average == nil || !(*share.Time.Average > 0) {
		return sim.Load{}, refuse("/options/load", "premise", "The plan says no average time of class %q, and so nobody knows how often its jobs come; choose a closed load.", class.Name)
	}
	return sim.Load{Kind: sim.Poisson, PerHour: 3600 * float64(jobs) / *share.Time.Average}, nil
}

// measured returns the number of executions that a class's tasks are drawn from.
func (t *Trial) measured(class string) int64 {
	if _, given := t.options.Measured[class]; given || t.options.Durations != MeasuredDurations {
		return 0
	}
	return t.past[class].Executions
}

// tasks describes the durations of a class's tasks on a type.
func (t *Trial) tasks(class *capacity.Class, vmType string) sim.Tasks {
	o := &t.options
	tasks := sim.Tasks{Kind: sim.TaskKind(o.Durations), Slow: o.Slow, SlowBy: o.SlowBy}
	m, given := o.Measured[class.Name]
	if o.Durations == MeasuredDurations {
		tasks.Kind = sim.Lognormal
		if !given {
			m = t.past[class.Name].MeasuredTasks
		}
	}
	speed := 1.0
	for i := range t.problem.Classes {
		if t.problem.Classes[i].Name == class.Name {
			speed = t.problem.Classes[i].Speed.On(vmType)
		}
	}
	faster := func(seconds []float64) (there []float64) {
		for _, s := range seconds {
			there = append(there, s/speed)
		}
		return there
	}
	tasks.MapSeconds, tasks.FirstShuffleSeconds = faster(m.MapSeconds), faster(m.FirstShuffleSeconds)
	tasks.ShuffleSeconds, tasks.ReduceSeconds = faster(m.ShuffleSeconds), faster(m.ReduceSeconds)
	for _, s := range m.StageSeconds {
		tasks.StageSeconds = append(tasks.StageSeconds, faster(s))
	}
	return tasks
}

// whole returns the whole part of a number, forgiving a rounding error. It caps values that no simulation could take
// at one that is refused.
func whole(x float64) int64 {
	if !(x > 0) {
		return 0
	}
	return int64(math.Floor(min(x*(1+capacity.PremiseSlack), math.MaxInt32)))
}

func differ(x float64, n int64) bool { return math.Abs(x-float64(n)) > 1e-6*math.Max(1, x) }

func refuse(pointer, code, format string, values ...any) error {
	return &fault.InputError{Findings: []fault.Finding{{Pointer: pointer, Code: code, Detail: fmt.Sprintf(format, values...)}}}
}

func (t *Trial) warn(code, format string, values ...any) {
	t.warnings = append(t.warnings, capacity.Warning{Code: code, Detail: fmt.Sprintf(format, values...)})
}
