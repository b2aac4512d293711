package sim

import (
	"context"
	"math"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"

	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/slots/dispatch"
)

// The simulator beside queueing theory: one task a job makes a cluster a queue.

// simulate runs an input that must be valid, after changes to its model.
func simulate(t *testing.T, in Input, changes ...func(*model)) Report {
	t.Helper()
	s, err := New(in)
	if err != nil {
		t.Fatal(err)
	}
	for _, change := range changes {
		change(s.model)
	}
	if err := s.Work(context.Background()); err != nil {
		t.Fatal(err)
	}
	return s.Report()
}

// single returns a profile of one task with this mean.
func single(mean float64) capacity.Profile {
	return capacity.Profile{MapTasks: 1, MapAvgSeconds: mean, MapMaxSeconds: mean}
}

const manyReplications = 40

// sampled fails if an estimate is more than four standard errors from the truth, or too rough to tell.
func sampled(t *testing.T, what string, e Estimate, want float64) {
	t.Helper()
	standard := *e.HalfWidth / distuv.StudentsT{Mu: 0, Sigma: 1, Nu: manyReplications - 1}.Quantile(0.975)
	if math.Abs(e.Mean-want) > 4*standard {
		t.Errorf("%s: got %.6g, want %.6g (standard error %.2g)", what, e.Mean, want, standard)
	}
	if standard > 0.02*want {
		t.Errorf("%s: the standard error is %.2g of %.6g; the sample says nothing", what, standard, want)
	}
}

// waits returns the probability that a job of M/M/c waits (Erlang C) at an offered load of a servers.
func waits(c int, a float64) float64 {
	term, sum := 1.0, 0.0
	for k := range c {
		sum += term
		term *= a / float64(k+1)
	}
	last := term / (1 - a/float64(c))
	return last / (sum + last)
}

func TestQueuesWithPoissonArrivals(t *testing.T) {
	for _, q := range []struct {
		name    string
		servers int
		load    float64 // of the servers
		policy  dispatch.PolicyKind
	}{
		{"M/M/1", 1, 0.7, dispatch.PolicyFIFO}, {"M/M/1", 1, 0.5, dispatch.PolicyFair}, {"M/M/4", 4, 0.8, dispatch.PolicyFIFO}, {"M/M/4", 4, 0.8, dispatch.PolicyCapacity}, {"M/M/32", 32, 0.9, dispatch.PolicyFIFO},
	} {
		const service = 2.0
		rate := q.load * float64(q.servers) / service
		in := Input{
			Slots: Slots{Map: int64(q.servers)}, Policy: byKind(q.policy), Seed: 7, Replications: manyReplications,
			HorizonSeconds: 20_000 / rate, WarmUpSeconds: 1_000 / rate,
			Classes: []Class{{Name: "a", Profile: single(service), Load: Load{Kind: Poisson, PerHour: 3600 * rate}, Tasks: Tasks{Kind: Exponential}}},
		}
		r := simulate(t, in)
		c := r.Classes[0]
		wait := waits(q.servers, rate*service) * service / (float64(q.servers) * (1 - q.load))
		name := q.name + " " + string(q.policy)
		sampled(t, name+" response", c.Response.Estimate, service+wait)
		sampled(t, name+" jobs", c.InSystem, rate*(service+wait))
		sampled(t, name+" use", r.Pools[0].Use, q.load)
		sampled(t, name+" throughput", c.PerHour, 3600*rate)
		if q.servers == 1 { // the response is exponential
			if got, want := c.Response.P90, (service+wait)*math.Log(10); math.Abs(got-want) > 0.03*want {
				t.Errorf("%s: nine in ten take up to %.4g s, want %.4g", name, got, want)
			}
		}
		if r.Unstable || math.Abs(*r.Pools[0].Offered-q.load) > 1e-9 {
			t.Errorf("%s: unstable %v, offered %g, want a stable %g", name, r.Unstable, *r.Pools[0].Offered, q.load)
		}
	}
}

// M/G/1: the mean wait depends on the mean and the mean square of the tasks (Pollaczek and Khinchine).
func TestQueuesWithOtherTasks(t *testing.T) {
	const rate, mean, longest = 0.35, 2.0, 5.0
	for kind, square := range map[TaskKind]float64{
		Constant: mean * mean,
		Uniform:  mean*mean + mean*mean/3, // from 0 to 4
		// From 0 to 5 with its top at 1: the variance is (a² + b² + c² - ab - ac - bc)/18.
		Triangular: mean*mean + (1+25-5)/18.0,
	} {
		r := simulate(t, Input{
			Slots: Slots{Map: 1}, Policy: byKind(dispatch.PolicyFIFO), Seed: 3, Replications: manyReplications, HorizonSeconds: 80_000, WarmUpSeconds: 3_000,
			Classes: []Class{{Name: "a", Load: Load{Kind: Poisson, PerHour: 3600 * rate}, Tasks: Tasks{Kind: kind},
				Profile: single(mean)}},
		}, func(m *model) { // a profile of one task has its mean as its longest
			m.classes[0].stages[0].durations = newDurations(Tasks{Kind: kind}, nil, mean, longest)
		})
		sampled(t, string(kind), r.Classes[0].Response.Estimate, mean+rate*square/2/(1-rate*mean))
	}
}

// The machine repair model: n users think and then need the one server.
func TestClosedLoadsAreTheMachineRepairModel(t *testing.T) {
	for _, q := range []struct {
		users, servers int
		think          float64
	}{{10, 1, 15}, {20, 3, 8}, {5, 5, 1}} {
		const service = 1.5
		// The probability of k users at the servers, by balance of flows.
		p, sum, busy, there := 1.0, 0.0, 0.0, 0.0
		for k := 0; k <= q.users; k++ {
			if k > 0 {
				p *= float64(q.users-k+1) / q.think * service / float64(min(k, q.servers))
			}
			sum += p
			busy += p * float64(min(k, q.servers))
			there += p * float64(k)
		}
		throughput := busy / sum / service
		r := simulate(t, Input{
			Slots: Slots{Shared: int64(q.servers)}, Policy: byKind(dispatch.PolicyFIFO), Seed: 5, Replications: manyReplications, HorizonSeconds: 15_000, WarmUpSeconds: 500,
			Classes: []Class{{Name: "a", Profile: single(service), Load: Load{Kind: Closed, Users: int64(q.users), ThinkSeconds: q.think}, Tasks: Tasks{Kind: Exponential}}},
		})
		c := r.Classes[0]
		sampled(t, "response", c.Response.Estimate, float64(q.users)/throughput-q.think)
		sampled(t, "throughput", c.PerHour, 3600*throughput)
		sampled(t, "jobs", c.InSystem, there/sum)
		sampled(t, "use", r.Pools[0].Use, busy/sum/float64(q.servers))
	}
}

// Think times and constant times without chance: a cycle of known length.
func TestOneUserWithConstantTimes(t *testing.T) {
	r := simulate(t, Input{
		Slots: Slots{Map: 2}, HorizonSeconds: 1000,
		Classes: []Class{{Name: "a", Profile: capacity.Profile{MapTasks: 3, MapAvgSeconds: 10, MapMaxSeconds: 10, OverheadSeconds: 5},
			Load: Load{Kind: Closed, Users: 1, ThinkSeconds: 25, Think: ThinkConstant}}},
	})
	c := r.Classes[0]
	if c.Response.Min != 25 || c.Response.Max != 25 || c.FromFirstSlot.Max != 20 || c.Wait.Mean != 5 {
		t.Errorf("times: got %+v, from the first slot %+v, wait %+v; want 25, 20 and 5 s", c.Response, c.FromFirstSlot, c.Wait)
	}
	// Submitted at 25, 75, …, 975; the last ends at the horizon.
	if c.Submitted != 20 || c.Ended != 20 || c.InSystem.Mean != 0.5 || c.Slots.Map.Mean != 0.6 {
		t.Errorf("got %d submitted, %d ended, %g in the system, %g slots held; want 20, 20, 0.5 and 0.6", c.Submitted, c.Ended, c.InSystem.Mean, c.Slots.Map.Mean)
	}
}
