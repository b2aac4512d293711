package trial

import (
	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/perf"
	"example.org/headroom/internal/core/strict"
)

// TargetQuestion asks for the promises of a problem's classes with a target.
type TargetQuestion struct {
	Problem capacity.Problem `json:"problem"`
	Options TargetOptions    `json:"options"`
}

// ClusterTargetQuestion asks for those of a cluster's classes.
type ClusterTargetQuestion struct {
	Options TargetOptions `json:"options"`
}

// TargetOptions configures the simulations that look for promises, as SimulationOptions do those of a plan.
type TargetOptions struct {
	Seed         int64 `json:"seed"`
	Executions   int64 `json:"executions"`   // of a class in each simulation, unless its jobs are many
	Replications int64 `json:"replications"` // of each simulation
	MaxEvents    int64 `json:"max_events"`   // of all simulations

	Policy       SimulatedPolicy               `json:"policy"`
	Lending      SimulatedLending              `json:"lending,omitempty"` // left out: as the problem shares its VMs
	Load         SimulatedLoad                 `json:"load"`
	ThinkSeconds float64                       `json:"think_s"`
	Durations    SimulatedDurations            `json:"durations"`
	Slow         float64                       `json:"slow,omitzero"`
	SlowBy       float64                       `json:"slow_by,omitzero"`
	Measured     map[string]perf.MeasuredTasks `json:"measured,omitempty"` // by class
}

// Limits of a question about targets.
const (
	minTargetExecutions   = 20
	maxTargetExecutions   = 1_000_000
	minTargetReplications = 2
)

// DefaultTarget returns the default options.
func DefaultTarget() TargetOptions {
	return TargetOptions{Seed: 1, Executions: 2_000, Replications: 10, MaxEvents: 30_000_000, Policy: SimulateFair, Load: ClosedLoad,
		Durations: MeasuredDurations}
}

var (
	targetShape        = strict.NewShape("a question about targets", []string{"problem"}, "options")
	clusterTargetShape = strict.NewShape("a question about targets", nil, "options")
	targetOptionsShape = strict.NewShape("options of a question about targets", nil, "seed", "executions", "replications", "max_events",
		"policy", "lending", "load", "think_s", "durations", "slow", "slow_by", "measured")
)

// ReadTarget reads a question about targets that includes its problem, as strictly as ReadProblem.
func ReadTarget(data []byte, limits capacity.Limits) (TargetQuestion, error) {
	q := TargetQuestion{Problem: capacity.Problem{PeriodSeconds: 3600, Options: capacity.DefaultOptions()}, Options: DefaultTarget()}
	r := strict.NewReader(data)
	r.Object(targetShape, func(name string) {
		if name == "problem" {
			capacity.ReadProblemInto(r, &q.Problem, limits)
		} else {
			readTargetOptions(r, &q.Options)
		}
	})
	r.End()
	if err := r.Result(func(c *strict.Checker) {
		c.Enter("problem")
		q.Problem.Check(c)
		c.Leave()
		q.Options.enter(c)
	}); err != nil {
		return TargetQuestion{}, err
	}
	return q, q.Check()
}

// ReadClusterTarget reads a question about a cluster's targets.
func ReadClusterTarget(data []byte) (ClusterTargetQuestion, error) {
	q := ClusterTargetQuestion{Options: DefaultTarget()}
	r := strict.NewReader(data)
	r.Object(clusterTargetShape, func(string) { readTargetOptions(r, &q.Options) })
	r.End()
	return q, r.Result(q.Options.enter)
}

func readTargetOptions(r *strict.Reader, o *TargetOptions) {
	r.Object(targetOptionsShape, func(name string) {
		switch name {
		case "policy":
			strict.Word(r, &o.Policy, simulatedPolicies)
		case "lending":
			strict.Word(r, &o.Lending, simulatedLendings)
		case "load":
			strict.Word(r, &o.Load, simulatedLoads)
		case "durations":
			strict.Word(r, &o.Durations, simulatedDurations)
		case "measured":
			o.Measured = readMeasured(r)
		default:
			r.Field(o, name)
		}
	})
}

// CheckOptions checks options that did not come in a document.
func (o *TargetOptions) CheckOptions() error { return strict.Check(o.enter) }

func (o *TargetOptions) enter(c *strict.Checker) {
	c.Enter("options")
	o.check(c)
	c.Leave()
}

func (o *TargetOptions) check(c *strict.Checker) {
	c.Whole("executions", "The number of executions", "executions", o.Executions, minTargetExecutions, maxTargetExecutions)
	c.Whole("replications", "The number of replications", "replications", o.Replications, minTargetReplications, maxReplications)
	of := o.simulation(1, 0.1)
	of.check(c)
}

// Check checks a question about a problem that is valid by itself.
func (q *TargetQuestion) Check() error {
	of := q.Options.simulation(1, 0.1)
	if err := of.CheckFor(&q.Problem); err != nil {
		return err
	}
	for i := range q.Problem.Classes {
		if q.Problem.Classes[i].Target > 0 {
			return nil
		}
	}
	return refuse("/problem/classes", "premise", "No class has a target; give one to a class that has a profile, such as \"target\": 0.99.")
}

// simulation returns the options of one simulation.
func (o *TargetOptions) simulation(hours, warmUp float64) SimulationOptions {
	return SimulationOptions{Seed: o.Seed, Hours: hours, WarmUpHours: &warmUp, Replications: o.Replications, MaxEvents: o.MaxEvents,
		Policy: o.Policy, Lending: o.Lending, Load: o.Load, ThinkSeconds: o.ThinkSeconds, Spread: true, Durations: o.Durations, Slow: o.Slow, SlowBy: o.SlowBy,
		Measured: o.Measured}
}
