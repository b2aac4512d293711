package trial

import (
	"fmt"
	"maps"
	"slices"
	"strconv"

	"example.org/headroom/internal/ask/whatif"
	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/fault"
	"example.org/headroom/internal/core/perf"
	"example.org/headroom/internal/core/strict"
	"example.org/headroom/internal/slots/sim"
)

// SimulationQuestion holds a problem whose plan is tried before money is spent.
type SimulationQuestion struct {
	Problem capacity.Problem  `json:"problem"`
	Options SimulationOptions `json:"options"`
}

// ClusterSimulationQuestion is about a cluster: its current plan, or with a scenario the plan of its present problem
// with those changes.
type ClusterSimulationQuestion struct {
	Scenario *whatif.AskedScenario `json:"scenario,omitempty"`
	Options  SimulationOptions     `json:"options"`
}

// SimulationOptions configures the trial of a plan.
type SimulationOptions struct {
	Seed         int64    `json:"seed"`
	Hours        float64  `json:"hours"`                   // simulated in each replication
	WarmUpHours  *float64 `json:"warm_up_hours,omitempty"` // of those, left out of every figure; default: a tenth of them
	Replications int64    `json:"replications"`            // each with its own random numbers; confidence needs two
	MaxEvents    int64    `json:"max_events"`              // of all replications; they end sooner beyond

	Policy SimulatedPolicy `json:"policy"`
	// Compare lists policies for comparison, with the same jobs and the same random numbers.
	Compare []SimulatedPolicy `json:"compare,omitempty"`
	Lending SimulatedLending  `json:"lending,omitempty"` // left out: as the problem shares its VMs
	Load    SimulatedLoad     `json:"load"`
	// ThinkSeconds is the mean time from the end of a job to the next one of a closed load. With 0 there are always
	// as many jobs as the plan admits.
	ThinkSeconds float64 `json:"think_s"`

	// Spread begins a closed load with jobs in all phases, as they are after a long time.
	Spread bool `json:"-"`

	// Tasks last as measured, or by the profile's averages and maxima with this distribution; a part of them is slow.
	Durations SimulatedDurations            `json:"durations"`
	Slow      float64                       `json:"slow,omitzero"`
	SlowBy    float64                       `json:"slow_by,omitzero"`
	Measured  map[string]perf.MeasuredTasks `json:"measured,omitempty"` // by class: in place of its profile's seconds
}

// PastTasks holds the measured times of a class's tasks.
type PastTasks struct {
	Executions int64 `json:"executions"` // number of executions behind them
	perf.MeasuredTasks
}

// SimulatedPolicy names a policy that assigns freed slots.
type SimulatedPolicy string

// SimulatedLending selects the jobs that may use slots left idle by a class.
type SimulatedLending string

// SimulatedLoad names a pattern in which jobs are submitted.
type SimulatedLoad string

// SimulatedDurations names a distribution of task times between their average and their maximum.
type SimulatedDurations string

// The words of a simulation's options.
const (
	SimulateFair     SimulatedPolicy = "fair" // the plan's slots of a class are its minimum
	SimulateFIFO     SimulatedPolicy = "fifo"
	SimulateEDF      SimulatedPolicy = "edf"      // earliest deadline first
	SimulateCapacity SimulatedPolicy = "capacity" // they are its share

	LendAll   SimulatedLending = "all"   // nobody waits while a slot is idle
	LendClass SimulatedLending = "class" // no class uses more than its slots
	LendNone  SimulatedLending = "none"  // a job does not get more than its part of them either

	ClosedLoad  SimulatedLoad = "closed"  // as many users as jobs are admitted, each with one job at a time
	PoissonLoad SimulatedLoad = "poisson" // at random, as often as that many jobs are there at once on average

	// MeasuredDurations uses the executions behind a class's profile, if a cluster stores them; other classes use
	// lognormal.
	MeasuredDurations   SimulatedDurations = "measured"
	LognormalDurations  SimulatedDurations = "lognormal"
	UniformDurations    SimulatedDurations = "uniform"
	TriangularDurations SimulatedDurations = "triangular"
	ConstantDurations   SimulatedDurations = "constant" // the average
)

// Limits of a simulation.
const (
	maxSimulatedHours   = 366 * 24
	maxReplications     = 1_000
	maxSimulatedEvents  = 5_000_000_000
	maxSlowBy           = 1_000
	maxMeasuredSeconds  = 1_000 // of a phase: quantiles of more tasks add nothing
	maxMeasuredClasses  = 1_000
	maxSimulationStages = 1_000 // with measured seconds
)

var (
	simulatedPolicies  = []SimulatedPolicy{SimulateFair, SimulateFIFO, SimulateCapacity, SimulateEDF}
	simulatedLendings  = []SimulatedLending{LendAll, LendClass, LendNone}
	simulatedLoads     = []SimulatedLoad{ClosedLoad, PoissonLoad}
	simulatedDurations = []SimulatedDurations{MeasuredDurations, LognormalDurations, UniformDurations, TriangularDurations, ConstantDurations}
)

// DefaultSimulation returns the default options.
func DefaultSimulation() SimulationOptions {
	return SimulationOptions{Seed: 1, Hours: 24, Replications: 10, MaxEvents: 200_000_000, Policy: SimulateFair, Load: ClosedLoad, Durations: MeasuredDurations}
}

// WarmUp returns the hours left out of the figures.
func (o *SimulationOptions) WarmUp() float64 {
	if o.WarmUpHours != nil {
		return *o.WarmUpHours
	}
	return o.Hours / 10
}

var (
	simulationShape        = strict.NewShape("a simulation", []string{"problem"}, "options")
	clusterSimulationShape = strict.NewShape("a simulation", nil, "scenario", "options")
	simulationOptionsShape = strict.NewShape("options of a simulation", nil, "seed", "hours", "warm_up_hours", "replications", "max_events",
		"policy", "compare", "lending", "load", "think_s", "durations", "slow", "slow_by", "measured")
	measuredTasksShape = strict.NewShape("measured tasks", nil, "map_s", "first_shuffle_s", "shuffle_s", "reduce_s", "stage_s")
)

// ReadSimulation reads a simulation that includes its problem, as strictly as ReadProblem. The default engine of the
// problem is auto.
func ReadSimulation(data []byte, limits capacity.Limits) (SimulationQuestion, error) {
	q := SimulationQuestion{Problem: capacity.Problem{PeriodSeconds: 3600, Options: capacity.DefaultOptions()}, Options: DefaultSimulation()}
	q.Problem.Options.Engine = capacity.EngineAuto
	r := strict.NewReader(data)
	r.Object(simulationShape, func(name string) {
		if name == "problem" {
			capacity.ReadProblemInto(r, &q.Problem, limits)
		} else {
			readSimulationOptions(r, &q.Options)
		}
	})
	r.End()
	if err := r.Result(func(c *strict.Checker) {
		c.Enter("problem")
		q.Problem.Check(c)
		c.Leave()
		c.Enter("options")
		q.Options.check(c)
		c.Leave()
	}); err != nil {
		return SimulationQuestion{}, err
	}
	return q, q.Options.CheckFor(&q.Problem)
}

// ReadClusterSimulation reads a simulation of a cluster.
func ReadClusterSimulation(data []byte) (ClusterSimulationQuestion, error) {
	q := ClusterSimulationQuestion{Options: DefaultSimulation()}
	r := strict.NewReader(data)
	r.Object(clusterSimulationShape, func(name string) {
		if name == "scenario" {
			q.Scenario = new(whatif.AskedScenario)
			whatif.ReadScenarioInto(r, q.Scenario, whatif.AskedScenarioShape)
		} else {
			readSimulationOptions(r, &q.Options)
		}
	})
	r.End()
	if err := r.Result(func(c *strict.Checker) {
		if q.Scenario != nil {
			c.Enter("scenario")
			q.Scenario.Check(c)
			c.Leave()
		}
		c.Enter("options")
		q.Options.check(c)
		c.Leave()
	}); err != nil {
		return ClusterSimulationQuestion{}, err
	}
	return q, nil
}

// ReadMeasuredTasks reads measured tasks by class as a file has them.
func ReadMeasuredTasks(data []byte) (map[string]perf.MeasuredTasks, error) {
	r := strict.NewReader(data)
	all := readMeasured(r)
	r.End()
	return all, r.Result(func(*strict.Checker) {})
}

func readMeasured(r *strict.Reader) map[string]perf.MeasuredTasks {
	return strict.Named(r, "of measured tasks by class", "class", maxMeasuredClasses, readMeasuredTasks)
}

func readSimulationOptions(r *strict.Reader, o *SimulationOptions) {
	readOptions(r, simulationOptionsShape, o)
}

func readOptions(r *strict.Reader, shape *strict.Shape, o *SimulationOptions) {
	r.Object(shape, func(name string) {
		switch name {
		case "seed":
			r.Whole(&o.Seed)
		case "hours":
			r.Float(&o.Hours)
		case "warm_up_hours":
			o.WarmUpHours = new(float64)
			r.Float(o.WarmUpHours)
		case "replications":
			r.Whole(&o.Replications)
		case "max_events":
			r.Whole(&o.MaxEvents)
		case "policy":
			strict.Word(r, &o.Policy, simulatedPolicies)
		case "compare":
			o.Compare = strict.List(r, "of policies", len(simulatedPolicies), func(r *strict.Reader, p *SimulatedPolicy) { strict.Word(r, p, simulatedPolicies) })
		case "lending":
			strict.Word(r, &o.Lending, simulatedLendings)
		case "load":
			strict.Word(r, &o.Load, simulatedLoads)
		case "think_s":
			r.Float(&o.ThinkSeconds)
		case "durations":
			strict.Word(r, &o.Durations, simulatedDurations)
		case "slow":
			r.Float(&o.Slow)
		case "slow_by":
			r.Float(&o.SlowBy)
		case "measured":
			o.Measured = readMeasured(r)
		}
	})
}

func readMeasuredTasks(r *strict.Reader, m *perf.MeasuredTasks) {
	seconds := func() []float64 { return strict.List(r, "of seconds", maxMeasuredSeconds, (*strict.Reader).Float) }
	r.Object(measuredTasksShape, func(name string) {
		switch name {
		case "map_s":
			m.MapSeconds = seconds()
		case "first_shuffle_s":
			m.FirstShuffleSeconds = seconds()
		case "shuffle_s":
			m.ShuffleSeconds = seconds()
		case "reduce_s":
			m.ReduceSeconds = seconds()
		case "stage_s":
			m.StageSeconds = strict.List(r, "of stages", maxSimulationStages, func(r *strict.Reader, s *[]float64) { *s = seconds() })
		}
	})
}

// Check checks options that did not come in a document.
func (o *SimulationOptions) Check() error {
	return strict.Check(func(c *strict.Checker) {
		c.Enter("options")
		o.check(c)
		c.Leave()
	})
}

func (o *SimulationOptions) check(c *strict.Checker) {
	if o.Seed < 0 || o.Seed > sim.MaxSeed {
		c.Refuse("seed", "range", "The seed is %d; give a whole number from 0 to %d.", o.Seed, int64(sim.MaxSeed))
	}
	hours := c.Number("hours", "The time", "hours", o.Hours, maxSimulatedHours)
	if hours && o.Hours == 0 {
		c.Refuse("hours", "range", "The time is 0 hours; give more, %d at most.", maxSimulatedHours)
		hours = false
	}
	if w := o.WarmUpHours; w != nil && c.Number("warm_up_hours", "The warm-up", "hours", *w, maxSimulatedHours) && hours && *w >= o.Hours {
		c.Refuse("warm_up_hours", "premise", "The warm-up of %s hours leaves nothing of %s hours; make it shorter.", fault.Plain(*w), fault.Plain(o.Hours))
	}
	c.Whole("replications", "The number of replications", "replications", o.Replications, 1, maxReplications)
	c.Whole("max_events", "The number of events", "events", o.MaxEvents, 1, maxSimulatedEvents)
	strict.OneOf(c, "policy", o.Policy, simulatedPolicies)
	c.Enter("compare")
	for i, p := range o.Compare {
		strict.OneOf(c, strconv.Itoa(i), p, simulatedPolicies)
		if p == o.Policy || slices.Contains(o.Compare[:i], p) {
			c.Refuse(strconv.Itoa(i), "duplicate", "The policy %q is there twice; name each once.", p)
		}
	}
	c.Leave()
	if o.Lending != "" {
		strict.OneOf(c, "lending", o.Lending, simulatedLendings)
	}
	strict.OneOf(c, "load", o.Load, simulatedLoads)
	c.Number("think_s", "The think time", "s", o.ThinkSeconds, capacity.MaxSeconds)
	if o.Load == PoissonLoad && o.ThinkSeconds > 0 {
		c.Refuse("think_s", "not_here", "Jobs of a Poisson load come whether others have ended or not, so nobody thinks; leave the think time out, or choose a closed load.")
	}
	strict.OneOf(c, "durations", o.Durations, simulatedDurations)
	if c.Number("slow", "The part of slow tasks", "", o.Slow, 1) && o.Slow > 0 {
		if c.Number("slow_by", "What slow tasks take", "times", o.SlowBy, maxSlowBy) && o.SlowBy < 1 {
			c.Refuse("slow_by", "range", "A slow task takes %s times as long as others; give 1 at least.", fault.Plain(o.SlowBy))
		}
	}
	c.Enter("measured")
	for _, name := range slices.Sorted(maps.Keys(o.Measured)) {
		m := o.Measured[name]
		c.Enter(name)
		checkMeasured(c, "map_s", m.MapSeconds)
		checkMeasured(c, "first_shuffle_s", m.FirstShuffleSeconds)
		checkMeasured(c, "shuffle_s", m.ShuffleSeconds)
		checkMeasured(c, "reduce_s", m.ReduceSeconds)
		c.Enter("stage_s")
		for i, seconds := range m.StageSeconds {
			checkMeasured(c, strconv.Itoa(i), seconds)
		}
		c.Leave()
		c.Leave()
	}
	c.Leave()
}

func checkMeasured(c *strict.Checker, member string, seconds []float64) {
	c.Enter(member)
	for i, s := range seconds {
		if !c.Number(strconv.Itoa(i), "The measured task", "s", s, capacity.MaxSeconds) {
			break
		}
	}
	c.Leave()
}

// CheckFor checks options against a problem.
func (o *SimulationOptions) CheckFor(p *capacity.Problem) error {
	return strict.Check(func(c *strict.Checker) {
		c.Enter("options")
		defer c.Leave()
		for _, policy := range append([]SimulatedPolicy{o.Policy}, o.Compare...) {
			if policy != SimulateFIFO && policy != SimulateEDF || o.lendingFor(p) == LendAll {
				continue
			}
			if o.Lending == "" {
				c.Refuse("policy", "not_here", "The problem's VMs are dedicated to classes, and %s gives any slot to any job; choose fair or capacity, or say that slots are lent to all.", policy)
			} else {
				c.Refuse("lending", "not_here", "%s gives any slot to any job, so that all are lent; leave lending out, or choose fair or capacity.", policy)
			}
			break
		}
		c.Enter("measured")
		defer c.Leave()
		var known []string
		for i := range p.Classes {
			known = append(known, p.Classes[i].Name)
		}
		for _, name := range slices.Sorted(maps.Keys(o.Measured)) {
			i := slices.Index(known, name)
			switch {
			case i < 0:
				c.Found(name, "unknown_name", fmt.Sprintf("There is no class %q.", fault.Clip(name)), fault.DidYouMean(name, known))
			case p.Classes[i].Profile == nil:
				c.Refuse(name, "not_here", "The class %q has no profile, so that nothing says how many tasks its jobs have; give it a profile, or leave its measured tasks out.", fault.Clip(name))
			case len(o.Measured[name].StageSeconds) > len(p.Classes[i].Profile.Stages):
				c.Refuse(name, "range", "There are measured tasks of %d stages, and the class %q has %d; give a list for each.", len(o.Measured[name].StageSeconds), fault.Clip(name), len(p.Classes[i].Profile.Stages))
			}
		}
	})
}

// lendingFor returns the rule for idle slots; by default everybody may use them, unless VMs are dedicated.
func (o *SimulationOptions) lendingFor(p *capacity.Problem) SimulatedLending {
	switch {
	case o.Lending != "":
		return o.Lending
	case p.Options.Sharing == capacity.Dedicated:
		return LendClass
	default:
		return LendAll
	}
}
