package trial

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/fault"
	"example.org/headroom/internal/core/perf"
)

// The search for promises.
const (
	lowestFactor  = 0.25
	highestFactor = 4.0
	searchPart    = 0.5  // of a check's executions
	firstStep     = 0.4  // of a factor's logarithm
	searchRounds  = 10   // in which steps get as small as a hundredth
	raise         = 0.02 // step up from a factor that fresh executions do not confirm; the next one is twice as long
	maxChecks     = 5    // with fresh executions
	lessDemand    = 0.5  // of the jobs: promises are tried there too
	liftRounds    = 12   // each halves what a factor may be below the highest one for its slots
)

// seedStep is the distance of the seeds of two simulations. Those of the search have one seed.
const seedStep = 1_000_003

// TargetWork is asked to plan and to simulate, and told how far the search is.
type TargetWork struct {
	Plan     func(context.Context, capacity.Problem) (capacity.Plan, error)
	Simulate func(context.Context, *Trial) error
	Tell     func(done, total int64)
}

// targetSearch looks for small factors that keep the targets of a problem.
type targetSearch struct {
	TargetWork
	problem capacity.Problem
	options TargetOptions
	past    map[string]PastTasks
	classes []*targeted
	base    *capacity.Plan // without promises; nil if there is none
	blocked []fault.Finding
	steps   int64
	events  int64
	busier  float64 // events of the last simulation, as a multiple of those that its plan lets expect
	fewer   bool    // than the executions asked for, because of the limit of events
	notes   []capacity.Warning
}

// targeted is a class with a target.
type targeted struct {
	*capacity.Class
	index     int
	ceiling   float64 // with more a job has more slots than tasks
	factor    float64
	last      float64 // the one before the last step
	step      float64 // of its logarithm
	moved, up bool    // there was a step; it went up
	planned   float64 // the last one of which there was a plan; 0: none
	blocked   bool    // of the highest one there is no plan
	needed    int64   // executions in a check
	searched  shown
	checked   shown
	from      float64 // fewest jobs at which the promise holds
}

// FindPromises finds small factors with which the targets of a problem's classes are kept. A search judges all classes
// at once, by executions that are the same each time but for the slots. Fresh executions then check the plan, and factors
// that they do not confirm rise. A target that no slots reach is an *fault.InputError.
func FindPromises(ctx context.Context, q TargetQuestion, past map[string]PastTasks, work TargetWork) (TargetAnswer, error) {
	s := &targetSearch{TargetWork: work, problem: q.Problem, options: q.Options, past: past, busier: 1}
	of := s.options.simulation(1, 0)
	s.options.Lending = of.lendingFor(&q.Problem)
	s.problem.Classes = slices.Clone(q.Problem.Classes)
	s.problem.Options.Engine, s.problem.Options.Near = capacity.EngineExact, nil // the same plan each time
	if err := s.begin(ctx); err != nil {
		return TargetAnswer{}, err
	}
	if err := s.approach(ctx); err != nil {
		return TargetAnswer{}, err
	}
	if err := s.lift(ctx); err != nil {
		return TargetAnswer{}, err
	}
	pl, seed, err := s.check(ctx)
	if err != nil {
		return TargetAnswer{}, err
	}
	for _, c := range s.classes {
		if c.blocked && !c.checked.keeps(c.Class) {
			return TargetAnswer{}, &fault.InfeasibleError{Conflicts: s.blocked}
		}
	}
	if err := s.unreachable(ctx); err != nil {
		return TargetAnswer{}, err
	}
	return s.answer(q, pl, seed), nil
}

// begin plans without promises, and finds the range of each factor.
func (s *targetSearch) begin(ctx context.Context) error {
	for i := range s.problem.Classes {
		s.problem.Classes[i].Promise = nil
		c := &targeted{Class: &s.problem.Classes[i], index: i, step: firstStep}
		if c.Target == 0 {
			continue
		}
		c.ceiling = s.ceiling(c.Class)
		c.factor = min(1, c.ceiling)
		c.needed = max(s.options.Executions, int64(math.Ceil(2.5*float64(fewestExecutions(c.Target, c.TargetConfidence())))))
		s.classes = append(s.classes, c)
	}
	pl, err := s.Plan(ctx, s.problem)
	if err != nil {
		return err
	}
	if pl.Status != capacity.InfeasibleStatus {
		s.base = &pl
	}
	s.step()
	return nil
}

// step tells that one more simulation is over.
func (s *targetSearch) step() {
	s.steps++
	s.Tell(min(s.steps, searchRounds+maxChecks+1), searchRounds+maxChecks+2)
}

// ceiling returns the factor at which a job alone has a slot for each task: more are of no use.
func (s *targetSearch) ceiling(c *capacity.Class) float64 {
	best := 0.0
	for _, t := range s.problem.Supply.Types() {
		if len(s.problem.Supply.VMTypes) > 0 && !c.RunsOn(t.Name) {
			continue
		}
		on := c.OnType(t.Name)
		slots := everyTask(on.Profile)
		seconds := perf.Time(perf.PlannedDemand(on, s.problem.Options), 1, slots.Map, max(1, slots.Reduce))
		best = max(best, c.DeadlineSeconds/seconds)
	}
	return best
}

// everyTask returns a slot for each task that a job can run at once.
func everyTask(p *capacity.Profile) capacity.Slots {
	maps := p.MapTasks
	for _, stage := range p.Stages {
		maps = max(maps, stage.Tasks)
	}
	return capacity.Slots{Map: float64(max(1, maps)), Reduce: float64(p.ReduceTasks)}
}

// approach moves all factors together: down where a target is kept, and up where not. A step is halved when it turns. The
// steps go on from where they are, because each class has the slots that the others leave idle.
func (s *targetSearch) approach(ctx context.Context) error {
	for range searchRounds {
		pl, err := s.try(ctx, s.options.Seed, 1, searchPart, func(c *targeted, x shown) { c.searched = x })
		if err != nil {
			return err
		}
		planned := pl.Status != capacity.InfeasibleStatus
		if !planned {
			s.blocked = pl.Conflicts
		}
		for _, c := range s.classes {
			up := planned && !c.searched.keeps(c.Class)
			if !planned && c.planned > 0 && c.factor <= c.planned {
				continue // the factors of others are too high
			}
			if c.moved && up != c.up {
				c.step /= 2
			}
			c.blocked = !planned
			if c.moved, c.up, c.last = true, up, c.factor; up {
				c.factor *= math.Exp(c.step)
			} else {
				c.factor /= math.Exp(c.step)
			}
			if planned {
				c.planned = c.last
			}
			c.factor = min(max(c.factor, lowestFactor), highestFactor, c.ceiling)
		}
	}
	for _, c := range s.classes {
		if !c.up {
			c.factor = c.last // which kept its target
		}
		if c.blocked && c.planned > 0 {
			c.factor = c.planned
		}
	}
	return nil
}

// lift raises factors towards 1, or to how much longer executions take, as far as every job keeps its slots. Whole slots may be more
// than a factor asks for, and schedules and counts of arrivals take the time of an execution from its factor: a lower one tells of
// less time than it takes.
func (s *targetSearch) lift(ctx context.Context) error {
	if s.problem.Options.Integrality != capacity.Executable {
		return nil
	}
	kept, err := s.withFactors(ctx)
	if err != nil || kept.Status == capacity.InfeasibleStatus {
		return err
	}
	low, high := make([]float64, len(s.classes)), make([]float64, len(s.classes))
	for i, c := range s.classes {
		low[i], high[i] = c.factor, max(c.factor, min(max(1, c.searched.longer), c.ceiling))
	}
	for range liftRounds {
		for i, c := range s.classes {
			c.factor = math.Sqrt(low[i] * high[i])
		}
		pl, err := s.withFactors(ctx)
		if err != nil {
			return err
		}
		for i, c := range s.classes {
			if pl.Status != capacity.InfeasibleStatus && sameSlots(&kept.Classes[c.index], &pl.Classes[c.index]) {
				low[i] = c.factor
			} else {
				high[i] = c.factor
			}
		}
	}
	for i, c := range s.classes {
		c.factor = low[i]
	}
	return nil
}

// sameSlots reports whether two plans give a class as many jobs and slots on every type.
func sameSlots(a, b *capacity.ClassPlan) bool {
	same := func(x, y *capacity.Slots) bool {
		return x == nil && y == nil || x != nil && y != nil && x.Map == y.Map && x.Reduce == y.Reduce
	}
	return a.Admitted == b.Admitted && same(a.Slots, b.Slots) && slices.EqualFunc(a.Types, b.Types, func(x, y capacity.ClassOnType) bool {
		return x.VMType == y.VMType && x.Admitted == y.Admitted && same(x.Slots, y.Slots)
	})
}

// withFactors plans with the factors.
func (s *targetSearch) withFactors(ctx context.Context) (capacity.Plan, error) {
	p := s.problem
	p.Classes = slices.Clone(p.Classes)
	for _, c := range s.classes {
		p.Classes[c.index].Promise = &capacity.Promise{Factor: c.factor}
	}
	return s.Plan(ctx, p)
}

// check tries the factors with fresh executions, and raises those that these do not confirm. Then it tries fewer jobs.
func (s *targetSearch) check(ctx context.Context) (pl capacity.Plan, seed int64, err error) {
	for n := range int64(maxChecks) {
		seed = (s.options.Seed + (n+1)*seedStep) % (1 << 53)
		pl, err = s.try(ctx, seed, 1, 1, func(c *targeted, x shown) { c.checked = x })
		if err != nil {
			return pl, seed, err
		}
		if pl.Status == capacity.InfeasibleStatus {
			return pl, seed, &fault.InfeasibleError{Conflicts: pl.Conflicts}
		}
		risen := false
		for _, c := range s.classes {
			if c.from = c.Jobs.Max; n < maxChecks-1 && !c.checked.keeps(c.Class) && c.factor < c.ceiling {
				c.factor, risen = min(c.factor*math.Exp(raise*float64(int64(1)<<n)), c.ceiling), true
			}
		}
		if !risen {
			break
		}
	}
	_, err = s.try(ctx, (seed+seedStep)%(1<<53), lessDemand, 1, func(c *targeted, x shown) {
		if !x.refused && x.keeps(c.Class) {
			c.from = fewer(c.Jobs.Max, s.problem.Options.Integrality)
		}
	})
	return pl, seed, err
}

// fewer returns the jobs with which promises are tried as well.
func fewer(jobs float64, integrality capacity.Integrality) float64 {
	if integrality == capacity.Relaxed {
		return jobs * lessDemand
	}
	return math.Ceil(jobs * lessDemand)
}

// try plans a part of the jobs with the factors, simulates that plan, and gives what each class shows.
func (s *targetSearch) try(ctx context.Context, seed int64, demand, executions float64, show func(*targeted, shown)) (capacity.Plan, error) {
	p := s.problem
	p.Classes = slices.Clone(p.Classes)
	for _, c := range s.classes {
		p.Classes[c.index].Promise = &capacity.Promise{Factor: c.factor}
	}
	if demand < 1 {
		for i := range p.Classes {
			jobs := &p.Classes[i].Jobs
			*jobs = jobs.Of(fewer(jobs.Max, p.Options.Integrality))
		}
	}
	pl, err := s.Plan(ctx, p)
	if err != nil || pl.Status == capacity.InfeasibleStatus {
		s.step()
		return pl, err
	}
	for _, group := range s.groups() {
		if err := s.simulate(ctx, group, p, pl, seed, executions, show); err != nil {
			return pl, err
		}
	}
	s.step()
	return pl, nil
}

// groups returns the classes that are simulated together: all that lend one another slots.
func (s *targetSearch) groups() (groups [][]int) {
	if s.options.Lending != LendAll {
		for _, c := range s.classes {
			groups = append(groups, []int{c.index})
		}
		return groups
	}
	var all []int
	for i := range s.problem.Classes {
		all = append(all, i)
	}
	return [][]int{all}
}

// simulate tries the plan of a group of classes.
func (s *targetSearch) simulate(ctx context.Context, group []int, p capacity.Problem, pl capacity.Plan, seed int64, executions float64,
	show func(*targeted, shown)) error {
	sub, plan := p, pl
	sub.Classes, plan.Classes = nil, nil
	admitted := 0.0
	for _, i := range group {
		class, cp := p.Classes[i], pl.Classes[i]
		s.asPredicted(&class, &cp)
		sub.Classes, plan.Classes = append(sub.Classes, class), append(plan.Classes, cp)
		if class.Profile != nil {
			admitted += cp.Admitted
		}
	}
	var t *Trial
	if admitted >= 1 {
		n, err := s.size(group, &pl, executions)
		if err != nil {
			return err
		}
		o := s.options.simulation(n.hours, n.warmUp)
		o.Seed, o.Replications, o.Measured = seed, n.replications, of(o.Measured, sub.Classes)
		if t, err = New(sub, plan, o, s.past); err != nil {
			return err
		}
		t.keepTimes()
		if err := s.Simulate(ctx, t); err != nil {
			return err
		}
		s.busier = s.note(t) / n.events
	}
	for _, c := range s.classes {
		if at := slices.Index(group, c.index); at >= 0 {
			x := t.shownOf(at, c.TargetConfidence())
			if t != nil {
				x.longer = t.longerOf(at, c.Class)
			}
			x.refused = pl.Classes[c.index].Admitted < 1
			show(c, x)
		}
	}
	return nil
}

// asPredicted lets a class's tasks take as long as its calibration says, and its jobs arrive as often as without promises.
func (s *targetSearch) asPredicted(class *capacity.Class, cp *capacity.ClassPlan) {
	if t := cp.Time; s.problem.Options.Bound == capacity.CalibratedBound && t != nil && t.Calibrated != nil && t.Average != nil && *t.Average > 0 {
		longer := *t.Calibrated / *t.Average
		speed := capacity.Speed{}
		for _, on := range s.problem.Supply.Types() {
			speed[on.Name] = class.Speed.On(on.Name) / longer
		}
		class.Speed = speed
	}
	if s.base == nil || s.options.Load != PoissonLoad || cp.Time == nil {
		return
	}
	i := slices.IndexFunc(s.base.Classes, func(b capacity.ClassPlan) bool { return b.Name == class.Name })
	if i < 0 || s.base.Classes[i].Time == nil {
		return
	}
	steady := *cp.Time
	steady.Average = s.base.Classes[i].Time.Average
	cp.Time, cp.Types = &steady, slices.Clone(cp.Types)
	for n := range cp.Types {
		cp.Types[n].Time = &steady
	}
}

// of returns the measured tasks of the classes that there are.
func of(all map[string]perf.MeasuredTasks, classes []capacity.Class) map[string]perf.MeasuredTasks {
	some := map[string]perf.MeasuredTasks{}
	for i := range classes {
		if m, ok := all[classes[i].Name]; ok {
			some[classes[i].Name] = m
		}
	}
	return some
}

// note keeps what a trial says of its classes, and counts its events.
func (s *targetSearch) note(t *Trial) float64 {
	a := t.Answer()
	s.events += a.Events
	for _, w := range a.Warnings {
		if w.Code == "left_out" && !slices.Contains(s.notes, w) {
			s.notes = append(s.notes, w)
		}
	}
	return float64(a.Events)
}

// unreachable refuses targets that no number of slots reaches, with what would do.
func (s *targetSearch) unreachable(ctx context.Context) error {
	var findings []fault.Finding
	for _, c := range s.classes {
		if c.checked.keeps(c.Class) || c.factor < c.ceiling {
			continue
		}
		best, err := s.alone(ctx, c, c.DeadlineSeconds)
		if err != nil {
			return err
		}
		if best.keeps(c.Class) {
			continue
		}
		deadline, err := s.cure(ctx, c)
		if err != nil {
			return err
		}
		at, cure := fmt.Sprintf("/problem/classes/%d/", c.index), fmt.Sprintf("Give a deadline of %s s or more", fault.Plain(deadline))
		if reached := math.Floor(1000*best.low) / 1000; reached > 0 {
			cure += fmt.Sprintf(", or a target of %s or less", fault.Plain(reached))
		}
		findings = append(findings, fault.Finding{Pointer: at + "target", Code: "unreachable",
			Detail: fmt.Sprintf("No number of slots lets %s %% of the executions of class %q end within %s s: with a slot for every task %s %% do.",
				Percent(c.Target), c.Name, fault.Plain(c.DeadlineSeconds), Percent(best.share)),
			Hint: &fault.Hint{Pointer: at + "deadline_s", Value: deadline, Detail: cure + "."}})
	}
	return fault.Refusal(findings, 0)
}

// cure returns the least deadline at which a class with a slot for every task keeps its target, to about a hundredth.
func (s *targetSearch) cure(ctx context.Context, c *targeted) (float64, error) {
	low, high := c.DeadlineSeconds, 0.0
	for at := 2 * low; ; {
		x, err := s.alone(ctx, c, at)
		if err != nil {
			return 0, err
		}
		if x.keeps(c.Class) {
			high = at
		} else {
			low = at
		}
		switch {
		case high == 0:
			at *= 2
		case high < 1.01*low:
			return math.Ceil(high), nil
		default:
			at = math.Sqrt(low * high)
		}
	}
}

// alone simulates one job at a time of a class, with a slot for every task of it, on the type that is fastest.
func (s *targetSearch) alone(ctx context.Context, c *targeted, deadline float64) (shown, error) {
	sub, class := s.problem, *c.Class
	types := sub.Supply.Types()
	fastest := slices.MaxFunc(types, func(a, b capacity.VMTypeSupply) int {
		return cmp.Compare(class.Speed.On(a.Name), class.Speed.On(b.Name))
	})
	slots := everyTask(class.Profile)
	on := class.OnType(fastest.Name)
	d := perf.Demands(*on.Profile)
	at := func(d capacity.Demand) *float64 { return new(perf.Time(d, 1, slots.Map, max(1, slots.Reduce))) }
	times := capacity.Times{Average: at(d.Average)}
	if class.Calibration != nil {
		times.Calibrated = at(d.Calibrated(*class.Calibration))
	}
	cp := capacity.ClassPlan{Name: class.Name, Admitted: 1, Slots: &slots, Time: &times}
	if len(sub.Supply.VMTypes) > 0 {
		cp.Types = []capacity.ClassOnType{{VMType: fastest.Name, Admitted: 1, Slots: &slots, Time: &times}}
	}
	class.DeadlineSeconds = deadline
	s.asPredicted(&class, &cp)
	sub.Classes = []capacity.Class{class}
	seconds := float64(c.needed) / float64(s.options.Replications) * *times.Average
	o := s.options.simulation(seconds/3600, 0)
	o.Load, o.ThinkSeconds, o.Lending, o.Policy, o.Measured = ClosedLoad, 0, LendNone, SimulateFair, of(o.Measured, sub.Classes)
	t, err := New(sub, capacity.Plan{Status: capacity.Optimal, Classes: []capacity.ClassPlan{cp}}, o, s.past)
	if err != nil {
		return shown{}, err
	}
	if err := s.Simulate(ctx, t); err != nil {
		return shown{}, err
	}
	s.note(t)
	return t.shownOf(0, c.TargetConfidence()), nil
}
