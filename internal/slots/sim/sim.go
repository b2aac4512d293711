// Package sim simulates a cluster in virtual time: users submit jobs, a policy of dispatch hands out the slots, and
// distributions give the durations of tasks. A report gives response times, missed deadlines and the place of every
// execution between its bounds. It is pure: one input and seed give one report, on any number of workers.
//
//	{
//	  "slots": {"map": 64, "reduce": 64},                          or {"shared": 128}
//	  "policy": {"kind": "fair", "lending": "all"},                fair, capacity, fifo, edf; all, class, none
//	  "classes": [{
//	    "name": "etl", "profile": {…}, "deadline_s": 900,
//	    "slots": {"map": 40, "reduce": 30}, "jobs": 10,            what a plan promises it, for how many at once
//	    "load": {"kind": "closed", "users": 10, "think_s": 60},    or poisson per_hour, trace at_s, batch jobs
//	    "tasks": {"kind": "lognormal", "slow": 0.01, "slow_by": 4} or measured map_s, shuffle_s, reduce_s
//	  }],
//	  "horizon_s": 86400, "warm_up_s": 3600, "seed": 1, "replications": 10
//	}
//
// For each class the answer has its response times (mean with its confidence, quantiles), met and missed deadlines,
// slots held and jobs in the system. It counts the executions below the lower, up to the average, up to the upper and
// above the upper bound, from submission and from the first slot. It also has the use of each pool of slots, and says
// if the cluster is unstable.
//
// A job's maps may start after its overhead. Its reduces may start when a part of the maps has ended. A reduce that
// starts before the last map has ended holds its slot until then, and goes on with its first shuffle and its work. A
// later one takes a typical shuffle and its reduce. The stages of a chain run on map slots, each after the one
// before.
package sim

import (
	"context"
	"math"
	"sync"
	"sync/atomic"
)

// Simulation is an input being simulated: any number of workers take replications until none is left.
type Simulation struct {
	// Finished, if set, is called for every execution that ends, by the worker of the replication (from 0). Several
	// workers call it at once.
	Finished func(replication int, x Execution)

	model    *model
	names    []string      // of the policy and its rivals
	rivals   []*Simulation // the same input under the compared policies
	seed     uint64
	seeds    []uint64
	outcomes []outcome
	next     atomic.Int64
	parts    []atomic.Int64 // of each replication, in thousandths
}

// New prepares an input, or returns an error with all its mistakes (see Validate).
func New(in Input) (*Simulation, error) {
	if err := Validate(in); err != nil {
		return nil, err
	}
	s := newSimulation(in)
	s.names = names(append([]Policy{in.Policy}, in.Compare...))
	for _, p := range in.Compare {
		in.Policy = p
		s.rivals = append(s.rivals, newSimulation(in))
	}
	return s, nil
}

func newSimulation(in Input) *Simulation {
	n := max(1, in.Replications)
	s := &Simulation{model: makeModel(in), seed: in.Seed, outcomes: make([]outcome, n), parts: make([]atomic.Int64, n)}
	seeds := stream(in.Seed)
	for range n {
		s.seeds = append(s.seeds, seeds.next())
	}
	return s
}

// perReplication is the number of progress steps of a replication.
const perReplication = 1000

// Total returns the number of steps.
func (s *Simulation) Total() int64 {
	return perReplication * int64(len(s.parts)) * int64(1+len(s.rivals))
}

// Done returns the number of finished steps; callers may ask at any time.
func (s *Simulation) Done() int64 {
	var sum int64
	for i := range s.parts {
		sum += s.parts[i].Load()
	}
	for _, r := range s.rivals {
		sum += r.Done()
	}
	return sum
}

// Step runs one replication of one policy and reports whether there was one left; several may run at once. An error
// is the context's: the replication it began is lost.
func (s *Simulation) Step(ctx context.Context) (more bool, err error) {
	if ctx.Err() != nil {
		return false, context.Cause(ctx)
	}
	policies := 1 + len(s.rivals)
	n := int(s.next.Add(1)) - 1
	if n >= len(s.outcomes)*policies {
		return false, nil
	}
	of := s
	if p := n % policies; p > 0 { // all policies of a replication before the next one
		of = s.rivals[p-1]
	}
	return true, of.replicate(ctx, n/policies)
}

func (s *Simulation) replicate(ctx context.Context, i int) error {
	e := newEngine(s.model, s.seeds[i])
	if s.Finished != nil {
		e.finished = func(x Execution) { s.Finished(i, x) }
	}
	if err := e.run(ctx, func(events int64, now float64) { s.parts[i].Store(s.model.part(events, now)) }); err != nil {
		return err
	}
	s.outcomes[i] = e.outcome()
	s.parts[i].Store(perReplication)
	return nil
}

// Work steps until no replication is left or the context ends.
func (s *Simulation) Work(ctx context.Context) error {
	for {
		if more, err := s.Step(ctx); err != nil || !more {
			return err
		}
	}
}

// part returns the progress of a replication, by its nearest limit.
func (m *model) part(events int64, now float64) int64 {
	part := max(float64(events)/min(float64(m.limits.Events), m.expected), now/m.horizon)
	return int64(math.Floor(min(part, 1) * (perReplication - 1)))
}

func (e *engine) outcome() outcome {
	o := outcome{whole: true, events: e.events, end: e.end, stopped: e.stopped}
	for i := range e.classes {
		o.classes = append(o.classes, e.classes[i].measures)
		o.counts = append(o.counts, e.classes[i].submitted)
	}
	if e.mixed != nil {
		o.nodes = e.mixed.outcome()
	}
	return o
}

// Whole returns the replications finished under all policies: all of them, unless the work was ended early.
func (s *Simulation) Whole() (replications []int) {
	for i := range s.outcomes {
		whole := s.outcomes[i].whole
		for _, r := range s.rivals {
			whole = whole && r.outcomes[i].whole
		}
		if whole {
			replications = append(replications, i)
		}
	}
	return replications
}

// Report returns the results of the finished replications, once the work is over.
func (s *Simulation) Report() Report { return s.ReportOf(s.Whole()) }

// ReportOf is Report for the given replications.
func (s *Simulation) ReportOf(replications []int) Report {
	var outcomes []outcome
	for _, i := range replications {
		outcomes = append(outcomes, s.outcomes[i])
	}
	r := s.model.report(s.seed, outcomes)
	r.Compared = s.compared(replications)
	return r
}

// Run simulates with the given number of workers.
func Run(ctx context.Context, in Input, workers int) (Report, error) {
	s, err := New(in)
	if err != nil {
		return Report{}, err
	}
	errs := make([]error, max(1, workers))
	var all sync.WaitGroup
	for i := range errs {
		all.Go(func() { errs[i] = s.Work(ctx) })
	}
	all.Wait()
	for _, err := range errs {
		if err != nil {
			return Report{}, err
		}
	}
	return s.Report(), nil
}
