package sim

import (
	"fmt"
	"math"

	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/perf"
	"example.org/headroom/internal/slots/dispatch"
)

// model is a prepared input: defaults are filled in and derived values computed.
type model struct {
	layout dispatch.Layout
	pools  [2]int // slots; shared ones are all in the first
	rule   dispatch.PolicyConfig
	// perHeartbeat is the number of tasks that a node gets at a heartbeat; 0: as many as it has slots for.
	perHeartbeat int64
	admission    dispatch.AdmissionMode
	shares       []dispatch.Share
	weights      float64
	classes      []classModel
	fleet        *fleet // nil if slots are all alike
	readCap      float64

	horizon, warmUp float64
	limits          Limits
	expected        float64 // events of loads that end; 0 if one does not
	open            bool    // there is a Poisson load
	offered         [2]float64
	overloaded      bool
	warnings        []capacity.Warning
}

type classModel struct {
	Class
	stages       []stage
	reduces      int
	tasks        int // of all kinds and stages
	mapsBefore   int // of the stage before the reduces; they must have ended
	firstShuffle durations
	shuffle      durations
	reduce       durations
	moments      []float64 // submissions of a listed load
	speeds       []float64 // by kind of node
	bounds       *Bounds
}

// stage is a set of tasks that start once those of the stage before have ended. A MapReduce job's maps are its only
// stage.
type stage struct {
	tasks   int
	average float64 // of the profile
	durations
}

// makeModel prepares a valid input.
func makeModel(in Input) *model {
	m := &model{rule: in.Policy.rule(in.DataNodes), horizon: in.HorizonSeconds, warmUp: in.WarmUpSeconds, limits: in.Limits, warnings: []capacity.Warning{}}
	if in.Policy.admits() {
		m.admission = in.Policy.Admission
	}
	if m.rule.Kind == dispatch.PolicyLearned {
		m.perHeartbeat = *m.rule.Filled().TasksPerHeartbeat
	}
	if m.horizon == 0 {
		m.horizon = math.Inf(1)
	}
	if m.limits.Events == 0 {
		m.limits.Events = defaultEvents
	}
	if m.limits.Jobs == 0 {
		m.limits.Jobs = defaultJobs
	}
	slots := in.totals()
	m.pools = [2]int{int(slots.Map), int(slots.Reduce)}
	if slots.Shared > 0 {
		m.layout, m.pools = dispatch.Shared, [2]int{int(slots.Shared), 0}
	}
	m.fleet = makeFleet(&in)
	if in.DataNodes != nil {
		m.readCap = in.DataNodes.CapMBPerSecond
	}
	reducesAfter := defaultReducesAfter
	if in.Policy.ReducesAfter != nil {
		reducesAfter = *in.Policy.ReducesAfter
	}
	for i := range in.Classes {
		m.weights += in.Classes[i].weight()
	}
	for i := range in.Classes {
		slots := in.Classes[i].slots(m.pools, m.weights)
		m.addClass(in.Classes[i], slots, in.Policy.Lending, reducesAfter)
		if m.fleet == nil {
			m.addBounds(i, slots)
		} else {
			m.fleet.addSpeeds(&m.classes[i])
		}
	}
	m.expect()
	return m
}

func (c *Class) weight() float64 {
	if c.Weight == 0 {
		return 1
	}
	return c.Weight
}

// jobs returns the number of jobs that the class's slots are meant for, or 0 if unknown.
func (c *Class) jobs() int64 {
	switch {
	case c.Jobs > 0:
		return c.Jobs
	case c.Load.Kind == Closed:
		return c.Load.Users
	case c.Load.Kind == Batch:
		return c.Load.Jobs
	default:
		return 0
	}
}

// slots returns a class's part of each pool.
func (c *Class) slots(pools [2]int, weights float64) [2]float64 {
	if c.Slots == nil {
		part := c.weight() / weights
		return [2]float64{float64(pools[0]) * part, float64(pools[1]) * part}
	}
	if c.Slots.Shared > 0 {
		return [2]float64{float64(c.Slots.Shared), 0}
	}
	return [2]float64{float64(c.Slots.Map), float64(c.Slots.Reduce)}
}

// due returns the moment by which a job must be done, or 0 without a deadline.
func (spec *classModel) due(submitted float64, number int64, seed uint64) float64 {
	seconds := spec.DeadlineSeconds
	if d := spec.Deadlines; d != nil {
		switch {
		case d.AtSeconds > 0:
			return d.AtSeconds
		case len(d.EachSeconds) > 0:
			seconds = d.EachSeconds[int(number-1)%len(d.EachSeconds)]
		default:
			s := child(seed, 0)
			seconds = d.Low + float64((d.High-d.Low)*s.unit())
		}
	}
	if seconds == 0 {
		return 0
	}
	return submitted + seconds
}

// hasDeadlines reports whether jobs of the class may have deadlines.
func (c *Class) hasDeadlines() bool { return c.DeadlineSeconds > 0 || c.Deadlines != nil }

// work returns the slot seconds of one execution, from its profile or measured tasks.
func (c *Class) work() float64 {
	spec := makeClass(*c, 0)
	work := spec.work()
	return work[0] + work[1]
}

// wholeSlots returns the whole slots in a number, forgiving a rounding error.
func wholeSlots(part float64) int { return int(math.Floor(part * (1 + capacity.PremiseSlack))) }

func (m *model) addClass(c Class, slots [2]float64, lending Lending, reducesAfter float64) {
	share := dispatch.Share{Weight: [2]float64{c.weight(), c.weight()}}
	for p, n := range slots {
		if m.rule.Kind == dispatch.PolicyCapacity {
			share.Weight[p] = n
		} else if c.Slots != nil {
			share.Min[p] = n
		}
		if lending == LendClass || lending == LendNone {
			share.Most[p] = wholeSlots(n)
		}
		if lending == LendNone {
			share.MaxPerJob[p] = max(1, wholeSlots(n/float64(max(1, c.jobs()))))
		}
	}
	m.shares = append(m.shares, share)
	m.classes = append(m.classes, makeClass(c, reducesAfter))
}

func makeClass(c Class, reducesAfter float64) classModel {
	p, t := c.Profile, c.Tasks
	spec := classModel{Class: c, reduces: int(p.ReduceTasks)}
	maps := newDurations(t, t.MapSeconds, p.MapAvgSeconds, p.MapMaxSeconds)
	if c.TaskTime != nil && len(t.MapSeconds) == 0 {
		maps = durations{kind: Constant, a: c.TaskTime.Seconds(1), slow: t.Slow, slowBy: t.SlowBy}
	}
	spec.stages = []stage{{int(p.MapTasks), p.MapAvgSeconds, maps}}
	if p.Stages != nil {
		spec.stages = spec.stages[:0]
	}
	for i, s := range p.Stages {
		var measured []float64
		if i < len(t.StageSeconds) {
			measured = t.StageSeconds[i]
		}
		spec.stages = append(spec.stages, stage{int(s.Tasks), s.AvgSeconds, newDurations(t, measured, s.AvgSeconds, s.MaxSeconds)})
	}
	spec.tasks = spec.reduces
	for i := range spec.stages {
		spec.tasks += spec.stages[i].tasks
	}
	spec.mapsBefore = int(math.Ceil(reducesAfter * float64(p.MapTasks) * (1 - capacity.PremiseSlack)))
	if spec.reduces > 0 {
		spec.firstShuffle = newDurations(t, t.FirstShuffleSeconds, p.FirstShuffleAvgSeconds, p.FirstShuffleMaxSeconds)
		spec.shuffle = newDurations(t, t.ShuffleSeconds, p.ShuffleAvgSeconds, p.ShuffleMaxSeconds)
		spec.reduce = newDurations(t, t.ReduceSeconds, p.ReduceAvgSeconds, p.ReduceMaxSeconds)
	}
	switch c.Load.Kind {
	case Trace:
		spec.moments = c.Load.AtSeconds
	case Batch:
		at := 0.0
		if len(c.Load.AtSeconds) > 0 {
			at = c.Load.AtSeconds[0]
		}
		for range c.Load.Jobs {
			spec.moments = append(spec.moments, at)
		}
	}
	return spec
}

// work returns the slot seconds of one execution by kind of task, in the long run.
func (spec *classModel) work() [2]float64 {
	p := &spec.Profile
	maps := 0.0
	for i := range spec.stages {
		s := &spec.stages[i]
		maps += float64(s.tasks) * s.mean(s.average)
	}
	reduces := float64(spec.reduces) * (spec.shuffle.mean(p.ShuffleAvgSeconds) + spec.reduce.mean(p.ReduceAvgSeconds))
	return [2]float64{maps, reduces}
}

// expect adds up the demand of the loads: events if they end, and the part of the slots that open loads keep busy.
// From 1 on the queue grows without end.
func (m *model) expect() {
	m.expected = 1
	for i := range m.classes {
		spec := &m.classes[i]
		tasks := 1 + float64(spec.tasks)
		if spec.Load.Kind == Closed || spec.Load.Kind == Poisson {
			m.expected = math.Inf(1)
		}
		m.expected += tasks * float64(len(spec.moments))
		if spec.Load.Kind != Poisson || m.fleet != nil { // the capacity of nodes depends on the tasks they run
			continue
		}
		for k, seconds := range spec.work() {
			p := m.layout.Of(dispatch.Kind(k))
			busy := seconds * spec.Load.PerHour / 3600
			m.offered[p] += busy / max(1, float64(m.pools[p]))
			m.open = true
			if limit := m.shares[i].Most[p]; limit > 0 && busy >= float64(limit) && knowsShares(m.rule.Kind) {
				m.overloaded = true
				m.warn("overloaded", "The jobs of class %q bring work for %.4g slots, and it may hold %d of them: its queue grows without end.", spec.Name, busy, limit)
			}
		}
	}
	for p, part := range m.offered {
		if part >= 1 {
			m.overloaded = true
			m.warn("overloaded", "The open loads bring work for %.4g slots, and there are %d: queues grow without end.", part*float64(m.pools[p]), m.pools[p])
		}
	}
}

// rule returns the policy of dispatch.
func (p Policy) rule(d *DataNodes) dispatch.PolicyConfig {
	rule := p.PolicyConfig
	if rule.Kind == "" {
		rule.Kind = dispatch.PolicyFair
	}
	if rule.Kind == dispatch.PolicyMaxProgress && rule.IOCap == nil && d != nil && d.CapMBPerSecond > 0 {
		rule.IOCap = &d.CapMBPerSecond
	}
	return rule
}

// knowsShares reports whether a policy uses shares.
func knowsShares(k dispatch.PolicyKind) bool {
	return k == "" || k == dispatch.PolicyFair || k == dispatch.PolicyCapacity
}

func (m *model) policy() dispatch.Policy {
	p, err := dispatch.New(m.rule, dispatch.Setting{Layout: m.layout, Shares: m.shares})
	if err != nil {
		panic(err) // Validate has made one
	}
	return p
}

// addBounds computes the expected range of a class's executions on its slots, with the number of concurrent jobs that
// they are meant for. Only Upper is a bound, from a job's first slot on and with a slot for each job. If slots are
// lent, Lower is an estimate (spec E5, E6).
func (m *model) addBounds(i int, slots [2]float64) {
	spec := &m.classes[i]
	jobs := float64(spec.jobs())
	if jobs == 0 {
		return
	}
	mapSlots, reduceSlots := slots[m.layout.Of(dispatch.Map)], slots[m.layout.Of(dispatch.Reduce)]
	if mapSlots == 0 || spec.reduces > 0 && reduceSlots == 0 {
		m.warn(perf.TooFewSlotsWarning, "Class %q is promised no slots of a kind that its jobs need, so that there are no bounds for them.", spec.Name)
		return
	}
	d := perf.Demands(spec.Profile)
	spec.bounds = &Bounds{
		LowerSeconds:   max(perf.Time(d.Lower, jobs, mapSlots, reduceSlots), spec.Profile.OverheadSeconds),
		AverageSeconds: perf.Time(d.Average, jobs, mapSlots, reduceSlots),
		UpperSeconds:   perf.Time(d.Upper, jobs, mapSlots, reduceSlots),
		PremiseOK:      true,
	}
	scarcer := mapSlots
	if spec.reduces > 0 {
		scarcer = min(scarcer, reduceSlots)
	}
	if scarcer < jobs*(1-capacity.PremiseSlack) {
		spec.bounds.PremiseOK = false
		m.warn(perf.TooFewSlotsWarning, "The %.0f jobs of class %q have %.4g slots of a kind between them: the upper bound holds from one slot per job on.", jobs, spec.Name, scarcer)
	}
	for _, w := range d.Warnings {
		w.Pointer = fmt.Sprintf("/classes/%d/profile%s", i, w.Pointer)
		m.warnings = append(m.warnings, w)
	}
}

func (m *model) warn(code, format string, values ...any) {
	m.warnings = append(m.warnings, capacity.Warning{Code: code, Detail: fmt.Sprintf(format, values...)})
}
