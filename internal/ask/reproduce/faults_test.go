package reproduce

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"example.org/headroom/internal/ask/pack"
	"example.org/headroom/internal/ask/pool"
	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/perf"
	"example.org/headroom/internal/slots/dispatch"
	"example.org/headroom/internal/slots/sim"
)

// planted is a mistake planted in a step that an experiment is handed.
type planted struct {
	experiment, what string
	plant            func(*Tools)
	missed           bool // inside every band all the same
}

// planFault changes each problem before it is planned.
func planFault(wrong func(*capacity.Problem)) func(*Tools) {
	return func(t *Tools) {
		t.Plan = func(ctx context.Context, p capacity.Problem) (capacity.Plan, error) {
			p.Classes = slices.Clone(p.Classes)
			wrong(&p)
			return proved(ctx, p)
		}
	}
}

// simFault changes each simulated cluster.
func simFault(wrong func(*sim.Input)) func(*Tools) {
	return func(t *Tools) {
		t.Simulate = func(ctx context.Context, in sim.Input, workers int) (sim.Report, error) {
			wrong(&in)
			return sim.Run(ctx, in, workers)
		}
	}
}

// reportFault changes each class of a simulation's report.
func reportFault(wrong func(*sim.ClassReport)) func(*Tools) {
	return func(t *Tools) {
		t.Simulate = func(ctx context.Context, in sim.Input, workers int) (sim.Report, error) {
			r, err := sim.Run(ctx, in, workers)
			for i := range r.Classes {
				wrong(&r.Classes[i])
			}
			return r, err
		}
	}
}

// coreFault changes each question about a core.
func coreFault(wrong func(*sim.InterferenceQuestion)) func(*Tools) {
	return func(t *Tools) {
		t.Interfere = func(ctx context.Context, q sim.InterferenceQuestion) (sim.InterferenceAnswer, error) {
			q.Policies = slices.Clone(q.Policies)
			wrong(&q)
			return fewRequests(ctx, q)
		}
	}
}

// fewRequests simulates a core with a quarter of the requests, with which the bands still hold.
func fewRequests(ctx context.Context, q sim.InterferenceQuestion) (sim.InterferenceAnswer, error) {
	q.Requests /= 4
	return sim.EstimateInterference(ctx, q)
}

// packFault changes each batch before it is packed.
func packFault(wrong func(*pack.PackingProblem)) func(*Tools) {
	return func(t *Tools) {
		t.Pack = func(ctx context.Context, p pack.PackingProblem) (pack.Packing, error) {
			p.Jobs = slices.Clone(p.Jobs)
			wrong(&p)
			return pack.Pack(ctx, p, nil)
		}
	}
}

// poolFault changes each pool before it is evaluated or planned.
func poolFault(wrong func(*pool.PoolProblem)) func(*Tools) {
	return func(t *Tools) {
		t.EvaluatePool = func(ctx context.Context, p pool.PoolProblem) (pool.PoolEvaluation, error) {
			wrong(&p)
			return pool.Evaluate(ctx, p, nil)
		}
		t.Pool = func(ctx context.Context, p pool.PoolProblem) (pool.PoolPlan, error) {
			wrong(&p)
			return pool.Plan(ctx, p, cbc)
		}
	}
}

// nodeFault changes each node that learns.
func nodeFault(wrong func(*loaded)) func(*Tools) {
	return func(t *Tools) {
		t.node = func(l loaded) borne {
			wrong(&l)
			return l.run()
		}
	}
}

func everyClass(wrong func(*capacity.Class)) func(*Tools) {
	return planFault(func(p *capacity.Problem) {
		for i := range p.Classes {
			wrong(&p.Classes[i])
		}
	})
}

func swapPhases(c *capacity.Class) {
	p := *c.Profile
	p.MapTasks, p.ReduceTasks = p.ReduceTasks, p.MapTasks
	c.Profile = &p
}

func policyFault(from, to dispatch.PolicyKind) func(*Tools) {
	return simFault(func(in *sim.Input) {
		if in.Policy.Kind == from {
			in.Policy.PolicyConfig = dispatch.PolicyConfig{Kind: to}
		}
	})
}

var faults = []planted{
	{experiment: "accuracy", what: "the average form for the upper bound", plant: reportFault(func(c *sim.ClassReport) { c.Bounds.UpperSeconds = c.Bounds.AverageSeconds })},
	{experiment: "accuracy", what: "the upper bound for the average form", plant: reportFault(func(c *sim.ClassReport) { c.Bounds.AverageSeconds = c.Bounds.UpperSeconds }), missed: true},
	{experiment: "accuracy", what: "one user too few", plant: simFault(func(in *sim.Input) {
		for i := range in.Classes {
			in.Classes[i].Load.Users--
		}
	})},
	{experiment: "scalability", what: "one job of the first class too few", plant: planFault(func(p *capacity.Problem) { p.Classes[0].Jobs.Max--; p.Classes[0].Jobs.Min-- })},
	{experiment: "scalability", what: "plans that take ten times as long", plant: func(t *Tools) {
		clock, plan := t.Clock, t.Plan
		t.Plan = func(ctx context.Context, p capacity.Problem) (capacity.Plan, error) {
			for range 9 {
				clock()
			}
			return plan(ctx, p)
		}
	}},
	{experiment: "sharing", what: "the upper bound", plant: planFault(func(p *capacity.Problem) { p.Options.Bound = capacity.UpperBound })},
	{experiment: "sharing", what: "the linear program", plant: planFault(func(p *capacity.Problem) { p.Options.Integrality = capacity.Relaxed })},
	{experiment: "sharing", what: "half the deadlines", plant: everyClass(func(c *capacity.Class) { c.DeadlineSeconds /= 2 })},
	{experiment: "sharing", what: "one job too few", plant: everyClass(func(c *capacity.Class) { c.Jobs.Max--; c.Jobs.Min-- })},
	{experiment: "concurrency", what: "the linear program for the whole one", plant: planFault(func(p *capacity.Problem) { p.Options.Integrality = capacity.Relaxed })},
	{experiment: "concurrency", what: "the whole program for the linear one", plant: planFault(func(p *capacity.Problem) { p.Options.Integrality = capacity.Integer })},
	{experiment: "concurrency", what: "one job too many", plant: everyClass(func(c *capacity.Class) { c.Jobs.Max++; c.Jobs.Min++ })},
	{experiment: "deadlines", what: "the lower bound", plant: planFault(func(p *capacity.Problem) { p.Options.Bound = capacity.LowerBound })},
	{experiment: "deadlines", what: "the upper bound", plant: planFault(func(p *capacity.Problem) { p.Options.Bound = capacity.UpperBound })},
	{experiment: "deadlines", what: "map and reduce tasks swapped", plant: everyClass(swapPhases), missed: true},
	{experiment: "packing", what: "alpha of 1.1 for 1.3", plant: packFault(func(p *pack.PackingProblem) { p.Machines.Penalty = 1.1 })},
	{experiment: "packing", what: "one job too many", plant: packFault(func(p *pack.PackingProblem) { p.Jobs[0].Count++ })},
	{experiment: "packing", what: "hosts and guests swapped", plant: packFault(func(p *pack.PackingProblem) {
		for i, j := range p.Jobs {
			switch j.Role {
			case perf.HostRole:
				p.Jobs[i].Role = perf.GuestRole
			case perf.GuestRole:
				p.Jobs[i].Role = perf.HostRole
			}
		}
	})},
	{experiment: "packing", what: "one machine too few", plant: packFault(func(p *pack.PackingProblem) { p.Machines.Count-- })},
	{experiment: "packing", what: "pairs for any number at once", plant: packFault(func(p *pack.PackingProblem) {
		if p.Options.Algorithm == pack.PackMulti {
			p.Options.Algorithm = pack.PackPair
		}
	})},
	{experiment: "learning", what: "twelve heartbeats for one", plant: nodeFault(func(l *loaded) {
		late := int64(12)
		l.policy.EvaluationDelay = &late
	})},
	{experiment: "learning", what: "half the load", plant: nodeFault(func(l *loaded) { l.load /= 2 })},
	{experiment: "learning", what: "naive Bayes for the perceptron", plant: nodeFault(func(l *loaded) { l.policy.Classifier = dispatch.NaiveBayes })},
	{experiment: "learning", what: "right and wrong swapped", plant: func(t *Tools) {
		t.node = func(l loaded) borne {
			b := l.run()
			for i := range b.right {
				b.right[i] = 1 - b.right[i]
			}
			return b
		}
	}},
	{experiment: "progress-share", what: "fair for progress share", plant: policyFault(dispatch.PolicyProgressShare, dispatch.PolicyFair)},
	{experiment: "progress-share", what: "rates of the two types swapped", plant: simFault(func(in *sim.Input) {
		for _, c := range in.Classes {
			c.Rates["n1"], c.Rates["n2"] = c.Rates["n2"], c.Rates["n1"]
		}
	})},
	{experiment: "progress-share", what: "one slot too many", plant: simFault(func(in *sim.Input) { in.Nodes[0].Count++ })},
	{experiment: "mimp", what: "first in, first out for earliest deadline first", plant: policyFault(dispatch.PolicyEDF, dispatch.PolicyFIFO)},
	{experiment: "mimp", what: "earliest deadline first for max-progress", plant: policyFault(dispatch.PolicyMaxProgress, dispatch.PolicyEDF)},
	{experiment: "mimp", what: "VMs without other work", plant: simFault(func(in *sim.Input) {
		for i := range in.Nodes {
			in.Nodes[i].Background = nil
		}
	})},
	{experiment: "admission", what: "no admission", plant: simFault(func(in *sim.Input) { in.Policy.Admission = "" })},
	{experiment: "admission", what: "the paper's admission for the strict one", plant: simFault(func(in *sim.Input) {
		if in.Policy.Admission == dispatch.AdmissionStrict {
			in.Policy.Admission = dispatch.AdmissionPaper
		}
	})},
	{experiment: "admission", what: "deadlines four times as long", plant: simFault(func(in *sim.Input) {
		for i := range in.Classes {
			in.Classes[i].Deadlines.Low *= 4
			in.Classes[i].Deadlines.High *= 4
		}
	})},
	{experiment: "pools", what: "one core instance too many", plant: poolFault(func(p *pool.PoolProblem) {
		if p.Mix != nil {
			p.Mix.Core[0].Count++
		}
	})},
	{experiment: "pools", what: "one hour of work too many", plant: poolFault(func(p *pool.PoolProblem) { p.Jobs[0].Work++ })},
	{experiment: "pools", what: "three copies of the data", plant: poolFault(func(p *pool.PoolProblem) { p.Storage.Replication = 3 })},
	{experiment: "interference", what: "slices of 10 ms for 30", plant: coreFault(func(q *sim.InterferenceQuestion) {
		for i := range q.Policies {
			q.Policies[i].SliceMs /= 3
		}
	})},
	{experiment: "interference", what: "a fifth more requests", plant: coreFault(func(q *sim.InterferenceQuestion) { q.Interactive.PerSecond *= 1.2 })},
	{experiment: "interference", what: "twice the floor", plant: coreFault(func(q *sim.InterferenceQuestion) {
		for i := range q.Policies {
			q.Policies[i].FloorMs *= 2
		}
	})},
}

// fewer is the number of instances of experiments that take long; their bands hold for it.
var fewer = map[string]int{"accuracy": 6, "packing": 1, "deadlines": 20}

// Each experiment is run right, then with each fault. The bands of each notice at least two faults, in the short form one. That
// plants no more in an experiment once so many are noticed.
func TestBandsNoticePlantedFaults(t *testing.T) {
	noticed, wanted := map[string]int{}, 1
	if wholeSamples {
		wanted = 2
	}
	for _, e := range Experiments() {
		s := short
		s.Instances = fewer[e.Name]
		var r Reproduction
		if s == short && e.Name != "interference" {
			r = shortRun(t, e.Name)
		} else {
			right := tools()
			right.Interfere = fewRequests
			r = reproduce(t, e.Name, right, s)
		}
		if !r.Holds {
			t.Errorf("%s without a fault: %s", e.Name, r.Verdict)
		}
		for _, f := range faults {
			if f.experiment != e.Name || !wholeSamples && noticed[e.Name] >= wanted {
				continue
			}
			t.Run(fmt.Sprintf("%s, %s", e.Name, f.what), func(t *testing.T) {
				wrong := tools()
				f.plant(&wrong)
				var outside []string
				for _, c := range reproduce(t, e.Name, wrong, s).Checks {
					if c.Band != Inside {
						outside = append(outside, c.Figure)
					}
				}
				if (len(outside) == 0) != f.missed {
					t.Errorf("%d figures are outside their bands", len(outside))
				}
				if len(outside) > 0 {
					noticed[e.Name]++
					t.Logf("%d figures are outside, first: %s", len(outside), outside[0])
				}
			})
		}
		if noticed[e.Name] < wanted {
			t.Errorf("the bands of %s notice %d faults", e.Name, noticed[e.Name])
		}
	}
}
