package proof

import (
	"fmt"
	"testing"

	"github.com/shopspring/decimal"
	"pgregory.net/rapid"

	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/money"
)

func cash(s string) money.Amount {
	m, err := money.Parse(s)
	if err != nil {
		panic(err)
	}
	return m
}

func pointer[T any](x T) *T { return &x }

// nightly returns the problem of docs/reference/problem.md: one class of ten jobs.
func nightly() capacity.Problem {
	return capacity.Problem{
		Currency: "USD", PeriodSeconds: 3600,
		Supply: capacity.Supply{
			Contracts: []capacity.Contract{{Name: "three-year", VMs: 30, Price: cash("0.10"), Billing: capacity.BilledUsed}},
			OnDemand:  capacity.OnDemand{Price: cash("0.20")},
		},
		Classes: []capacity.Class{{
			Name: "nightly-etl",
			Profile: &capacity.Profile{MapTasks: 300, ReduceTasks: 40, MapAvgSeconds: 30, MapMaxSeconds: 60,
				FirstShuffleAvgSeconds: 12, FirstShuffleMaxSeconds: 20, ShuffleAvgSeconds: 40, ShuffleMaxSeconds: 90,
				ReduceAvgSeconds: 20, ReduceMaxSeconds: 50},
			DeadlineSeconds: 2700, SlotsPerVM: capacity.SlotsPerVM{Map: 2, Reduce: 2},
			Jobs: capacity.JobRange{Min: 9, Max: 10}, Penalty: cash("5.00"),
		}},
		Options: capacity.DefaultOptions(),
	}
}

// mixed has a class of each kind, a contract of each billing, and refuses some jobs.
func mixed() capacity.Problem {
	p := nightly()
	p.Supply.Contracts = []capacity.Contract{
		{Name: "used", VMs: 4, Price: cash("0.12"), Billing: capacity.BilledUsed},
		{Name: "always", VMs: 6, Price: cash("0.07"), Billing: capacity.BilledAlways},
	}
	p.Classes[0].Jobs = capacity.JobRange{Min: 1, Max: 3}
	gamma := decimal.RequireFromString("0.85")
	p.Classes = append(p.Classes,
		capacity.Class{Name: "reports", Demand: &capacity.Demand{MapWorkSeconds: 900, ReduceWorkSeconds: 700, FixedSeconds: 40},
			DeadlineSeconds: 400, SlotsPerVM: capacity.SlotsPerVM{Map: 4, Reduce: 3}, Jobs: capacity.JobRange{Min: 1, Max: 4}, Penalty: cash("0.33")},
		capacity.Class{Name: "service", VMsPerJob: &gamma, Jobs: capacity.JobRange{Max: 5}, Penalty: cash("0.10")},
	)
	return p
}

func accepted(t testing.TB, p capacity.Problem, pl capacity.Plan) Report {
	t.Helper()
	r := Verify(p, pl, Options{Brief: true})
	if r.Outcome != OK {
		t.Fatalf("got %s, want ok\n%s\nplan %+v", r.Outcome, r, pl)
	}
	return r
}

func TestThePublishedPairIsAccepted(t *testing.T) {
	pl := planFor(t, nightly())
	if got, want := pl.Objective.String(), "-44.80"; got != want {
		t.Fatalf("the test's planner finds %s, want %s", got, want)
	}
	pl.Integer = &capacity.IntegerPlan{Objective: cash("-44.80"), VMs: 41, Executable: true}
	r := accepted(t, nightly(), pl)
	for _, name := range []string{ProblemCheck, ShapeCheck, ConversionCheck, DeadlinesCheck, CapacityCheck, LayoutCheck, RentalCheck,
		MoneyCheck, CertificateCheck, BoundCheck, OptimalityCheck, RelaxationCheck, PricesCheck, IntegerCheck} {
		if c, ok := r.Find(name); !ok || c.Outcome != OK || c.Detail == "" {
			t.Errorf("check %s: got %+v, want ok with a sentence", name, c)
		}
	}
}

func TestRightPlansAreAccepted(t *testing.T) {
	for _, integrality := range []capacity.Integrality{capacity.Relaxed, capacity.Integer, capacity.Executable} {
		for _, sharing := range []capacity.Sharing{capacity.Shared, capacity.Dedicated} {
			for _, bound := range []capacity.Bound{capacity.LowerBound, capacity.AverageBound, capacity.UpperBound, capacity.CalibratedBound} {
				if integrality == capacity.Relaxed && sharing == capacity.Dedicated {
					continue // nothing is rounded, so it is the shared problem
				}
				t.Run(fmt.Sprint(integrality, sharing, bound), func(t *testing.T) {
					p := mixed()
					p.Options.Integrality, p.Options.Sharing, p.Options.Bound = integrality, sharing, bound
					accepted(t, p, planFor(t, p))
				})
			}
		}
	}
}

// aProblem draws a small problem whose figures are awkward enough for no two plans to tie.
func aProblem(t *rapid.T) capacity.Problem {
	seconds := func(low, high int, what string) float64 {
		return float64(rapid.IntRange(low*10, high*10).Draw(t, what)) / 10
	}
	price := func(low, high int, what string) money.Amount {
		return money.Amount{Decimal: decimal.New(int64(rapid.IntRange(low, high).Draw(t, what)), -4)}
	}
	p := capacity.Problem{Currency: "EUR", PeriodSeconds: rapid.SampledFrom([]int64{3600, 7200, 900}).Draw(t, "period"), Options: capacity.DefaultOptions()}
	p.Options.Integrality = rapid.SampledFrom([]capacity.Integrality{capacity.Relaxed, capacity.Integer, capacity.Executable}).Draw(t, "integrality")
	p.Options.Bound = rapid.SampledFrom([]capacity.Bound{capacity.LowerBound, capacity.AverageBound, capacity.UpperBound, capacity.CalibratedBound}).Draw(t, "bound")
	p.Options.OneSlotPerJob = rapid.Bool().Draw(t, "one slot")
	if p.Options.Integrality != capacity.Relaxed {
		p.Options.Sharing = rapid.SampledFrom([]capacity.Sharing{capacity.Shared, capacity.Dedicated}).Draw(t, "sharing")
	}
	p.Supply.OnDemand.Price = price(1000, 9999, "on-demand")
	if rapid.Bool().Draw(t, "limited") {
		p.Supply.OnDemand.Quota = pointer(int64(rapid.IntRange(0, 40).Draw(t, "quota")))
	}
	for k := range rapid.IntRange(0, 2).Draw(t, "contracts") {
		p.Supply.Contracts = append(p.Supply.Contracts, capacity.Contract{Name: fmt.Sprint("contract", k), VMs: int64(rapid.IntRange(0, 15).Draw(t, "vms")),
			Price: price(500, 9999, "price"), Billing: rapid.SampledFrom([]capacity.Billing{capacity.BilledUsed, capacity.BilledAlways}).Draw(t, "billing")})
	}
	for k := range rapid.IntRange(1, 3).Draw(t, "classes") {
		c := capacity.Class{Name: fmt.Sprint("class", k), Penalty: price(100, 29999, "penalty")}
		low := rapid.IntRange(0, 4).Draw(t, "min")
		c.Jobs = capacity.JobRange{Min: float64(low), Max: float64(low + rapid.IntRange(0, 5).Draw(t, "more"))}
		c.DeadlineSeconds = seconds(300, 900, "deadline")
		c.SlotsPerVM = capacity.SlotsPerVM{Map: int64(rapid.IntRange(1, 4).Draw(t, "map slots")), Reduce: int64(rapid.IntRange(1, 4).Draw(t, "reduce slots"))}
		switch rapid.IntRange(0, 3).Draw(t, "kind") {
		case 0:
			gamma := decimal.New(int64(rapid.IntRange(1, 4000).Draw(t, "gamma")), -3)
			c = capacity.Class{Name: c.Name, Penalty: c.Penalty, Jobs: c.Jobs, VMsPerJob: &gamma}
		case 1:
			c.Demand = &capacity.Demand{MapWorkSeconds: seconds(1, 900, "A"), ReduceWorkSeconds: seconds(1, 900, "B"), FixedSeconds: seconds(0, 290, "C")}
		default:
			c.Profile = aProfile(t, seconds)
			if rapid.Bool().Draw(t, "calibrated") {
				c.Calibration = &capacity.Calibration{Bound: rapid.SampledFrom([]capacity.Bound{capacity.LowerBound, capacity.AverageBound, capacity.UpperBound}).Draw(t, "of"),
					Factor: float64(rapid.IntRange(50, 180).Draw(t, "factor")) / 100}
			}
		}
		p.Classes = append(p.Classes, c)
	}
	return p
}

func aProfile(t *rapid.T, seconds func(low, high int, what string) float64) *capacity.Profile {
	phase := func(tasks int64, what string) (mean, longest float64) {
		mean = seconds(1, 30, what)
		if tasks == 1 {
			return mean, mean
		}
		return mean, mean + float64(rapid.IntRange(0, 100).Draw(t, what))/10
	}
	if rapid.IntRange(0, 2).Draw(t, "chain") == 0 {
		p := &capacity.Profile{OverheadSeconds: seconds(0, 20, "overhead")}
		for range rapid.IntRange(1, 4).Draw(t, "stages") {
			s := capacity.Stage{Tasks: int64(rapid.IntRange(1, 40).Draw(t, "tasks"))}
			s.AvgSeconds, s.MaxSeconds = phase(s.Tasks, "stage")
			s.MaxSeconds = min(s.MaxSeconds, float64(s.Tasks)*s.AvgSeconds)
			p.Stages = append(p.Stages, s)
		}
		return p
	}
	p := &capacity.Profile{MapTasks: int64(rapid.IntRange(1, 60).Draw(t, "maps")), ReduceTasks: int64(rapid.IntRange(0, 20).Draw(t, "reduces"))}
	p.MapAvgSeconds, p.MapMaxSeconds = phase(p.MapTasks, "map")
	p.ShuffleAvgSeconds, p.ShuffleMaxSeconds = phase(p.ReduceTasks, "shuffle")
	p.ReduceAvgSeconds, p.ReduceMaxSeconds = phase(p.ReduceTasks, "reduce")
	p.FirstShuffleAvgSeconds, p.FirstShuffleMaxSeconds = phase(p.ReduceTasks, "first shuffle")
	p.OverheadSeconds = seconds(0, 20, "overhead")
	return p
}

func TestOptimaFoundByEnumerationAreAccepted(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := aProblem(t)
		pl, ok := tryPlan(p)
		if !ok {
			t.Skip("infeasible")
		}
		r := Verify(p, pl, Options{Brief: true})
		if r.Outcome != OK {
			t.Fatalf("got %s, want ok\n%s\nproblem %+v\nplan %+v", r.Outcome, r, p, pl)
		}
	})
}
