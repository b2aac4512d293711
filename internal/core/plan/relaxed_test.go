package plan

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/shopspring/decimal"

	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/lp"
	"example.org/headroom/internal/core/lp/worker"
	"example.org/headroom/internal/core/plan/integer"
	"example.org/headroom/internal/test/plantest"
)

func TestClosedFormEqualsClp(t *testing.T) {
	pool := worker.New(worker.Config{Processes: 1})
	defer pool.Close()
	r := rand.New(rand.NewPCG(3, 1))
	var infeasible, exhausted, degenerate, decided, open int
	for trial := range plantest.Trials(500, 20_000) {
		n := int(math.Round(math.Pow(1000, r.Float64())))
		p := plantest.DrawProblem(t, r, n, capacity.Relaxed)
		m, err := newModel(&p)
		if err != nil {
			t.Fatal(err)
		}
		relaxed, short := newRelaxation(m)
		program := relaxedProgram(&relaxation{supply: integer.NewSupply(m.tiers), classes: m.classes})
		clp, err := pool.Solve(t.Context(), &program, lp.Options{})
		if err != nil {
			t.Fatalf("trial %d: %v", trial, err)
		}
		if relaxed == nil {
			infeasible++
			promised := 0.0
			for i := range m.classes {
				promised += m.classes[i].gamma * m.classes[i].low
			}
			if clp.Status != lp.Infeasible || !plantest.Near(short, promised-float64(integer.NewSupply(m.tiers).Most()), 1e-9) {
				t.Fatalf("trial %d: the closed form misses %g VMs of %g, Clp says %s", trial, short, promised, clp.Status)
			}
			continue
		}
		if clp.Status != lp.Optimal {
			t.Fatalf("trial %d: Clp says %s of a program with the answer %g", trial, clp.Status, relaxed.objective)
		}
		if !plantest.Near(relaxed.objective, clp.Objective, 1e-7) {
			t.Fatalf("trial %d, %d classes: objective %.12g, Clp %.12g", trial, n, relaxed.objective, clp.Objective)
		}
		if nu := -clp.RowDual[0]; nu < relaxed.nuLow-1e-7*max(1, nu) || nu > relaxed.nuHigh+1e-7*max(1, nu) {
			t.Fatalf("trial %d: Clp's price %.12g lies outside [%.12g, %.12g]", trial, nu, relaxed.nuLow, relaxed.nuHigh)
		}
		switch {
		case math.IsInf(relaxed.nuHigh, 1):
			exhausted++
		case relaxed.nuHigh > relaxed.nuLow:
			degenerate++
		}
		checkRelaxation(t, trial, relaxed)
		first := len(relaxed.supply.Price)
		for i := range m.classes {
			if !determined(relaxed, i) {
				open++
				continue
			}
			decided++
			if !plantest.Near(relaxed.jobs[i], clp.X[first+i], 1e-6/min(1, max(1e-3, m.classes[i].gamma))) {
				t.Fatalf("trial %d class %d: %.12g jobs, Clp %.12g (gamma %g, theta %g, price %g..%g)", trial, i,
					relaxed.jobs[i], clp.X[first+i], m.classes[i].gamma, relaxed.theta[i], relaxed.nuLow, relaxed.nuHigh)
			}
		}
	}
	t.Logf("%d infeasible, %d without more to be had, %d with an interval of prices; %d classes determined, %d open", infeasible, exhausted, degenerate, decided, open)
	if infeasible == 0 || exhausted == 0 || degenerate == 0 || open == 0 || decided < 1000 {
		t.Error("every kind must occur")
	}
}

// checkRelaxation checks the answer against its own program: bounds, supply, objective, and that at
// most one class has a fraction of its range where the prices differ.
func checkRelaxation(t *testing.T, trial int, r *relaxation) {
	t.Helper()
	load, worth := 0.0, 0.0
	fractions := 0
	for i := range r.classes {
		c := &r.classes[i]
		h := r.jobs[i]
		if h < c.low || h > c.high {
			t.Fatalf("trial %d class %d: %g jobs, range %g to %g", trial, i, h, c.low, c.high)
		}
		if h > c.low && h < c.high {
			fractions++
		}
		load += c.gamma * h
		worth += c.penalty * h
	}
	if fractions > 1 {
		t.Fatalf("trial %d: %d classes inside their range, want one at most", trial, fractions)
	}
	if !plantest.Near(load, r.capacity, 1e-9) || load > float64(r.supply.Most())+integer.LoadNoise {
		t.Fatalf("trial %d: load %.12g, capacity %.12g of %d", trial, load, r.capacity, r.supply.Most())
	}
	if !plantest.Near(r.supply.CostReal(load)-worth, r.objective, 1e-9) {
		t.Fatalf("trial %d: objective %.12g, its jobs cost %.12g", trial, r.objective, r.supply.CostReal(load)-worth)
	}
}

// determined says whether every optimal solution gives class i the same jobs: at an optimal price it is
// at one of its ends, or it is alone in filling what the others leave.
func determined(r *relaxation, i int) bool {
	price := r.nuLow
	if !math.IsInf(r.nuHigh, 1) {
		price = (r.nuLow + r.nuHigh) / 2
	}
	tied := func(x float64) bool { return plantest.Near(x/max(price, 1e-300), 1, 1e-9) || x == price }
	switch c := &r.classes[i]; {
	case c.high == c.low:
		return true
	case c.gamma == 0:
		return c.penalty > 0
	case !tied(r.theta[i]):
		return true
	}
	if price == 0 {
		return false
	}
	for j := range r.classes {
		if j != i && r.classes[j].gamma > 0 && r.classes[j].high > r.classes[j].low && tied(r.theta[j]) {
			return false
		}
	}
	for _, x := range r.supply.Price {
		if tied(x) {
			return false
		}
	}
	return true
}

// The product's own comparison with Clp says that they agree.
func TestRelaxedPlanAgreesWithClp(t *testing.T) {
	pool := worker.New(worker.Config{Processes: 1})
	defer pool.Close()
	r := rand.New(rand.NewPCG(3, 2))
	for trial := range plantest.Trials(50, 1_000) {
		p := plantest.DrawProblem(t, r, 1+r.IntN(60), capacity.Relaxed)
		p.Options.Engine = capacity.EngineCBC
		pl, err := Solve(t.Context(), p, pool)
		if err != nil {
			t.Fatal(err)
		}
		if pl.Status == capacity.InfeasibleStatus {
			continue
		}
		if pl.Proof.Agreed == nil || !*pl.Proof.Agreed || pl.Proof.Engine == "" {
			t.Fatalf("trial %d: engine %q agreed %v, want an engine that agrees", trial, pl.Proof.Engine, pl.Proof.Agreed)
		}
		_, relaxed := relax(t, p)
		if got, want := pl.Objective.Float(), relaxed.objective+committedCost(p); !plantest.Near(got, want, 1e-8) {
			t.Fatalf("trial %d: the plan's objective is %g, the program's with what is paid anyway %g", trial, got, want)
		}
	}
}

func committedCost(p capacity.Problem) float64 {
	sum := decimal.Zero
	for _, c := range p.Supply.Contracts {
		if c.Billing == capacity.BilledAlways {
			sum = sum.Add(c.Price.Mul(decimal.NewFromInt(c.VMs)))
		}
	}
	return sum.InexactFloat64() * float64(p.PeriodSeconds) / 3600
}

// Degenerate cases have more than one price of capacity: one VM less and one more differ.
func TestPriceOfCapacityWhereItIsNotUnique(t *testing.T) {
	quota := func(vms int64) *int64 { return &vms }
	for _, c := range []struct {
		name      string
		reserved  int64
		quota     *int64
		class     capacity.Class
		low, high float64
		jobs      float64
	}{
		{"contract exactly used up by promises", 10, nil, plantest.ByGamma(t, "a", "1", "100", 10, 10), 5, 8, 10},
		{"contract exactly used up by a class worth less than on-demand", 10, nil, plantest.ByGamma(t, "a", "1", "7", 0, 10), 5, 7, 10},
		{"contract exactly used up by part of a class", 10, nil, plantest.ByGamma(t, "a", "1", "7", 0, 12), 7, 7, 10},
		{"nothing is worth a VM", 0, nil, plantest.ByGamma(t, "a", "1", "3", 0, 10), 3, 8, 0},
		{"nothing is wanted", 10, nil, plantest.ByGamma(t, "a", "1", "3", 0, 0), 0, 5, 0},
		{"quota exhausted by promises", 10, quota(5), plantest.ByGamma(t, "a", "1.5", "3", 10, 10), 8, math.Inf(1), 10},
		{"quota exhausted by choice", 10, quota(5), plantest.ByGamma(t, "a", "1.5", "30", 0, 10), 8, 20, 10},
		{"quota exhausted, more wanted", 10, quota(5), plantest.ByGamma(t, "a", "1", "30", 0, 20), 30, 30, 15},
		{"quota exhausted by promises, more wanted", 10, quota(5), plantest.ByGamma(t, "a", "1", "30", 15, 20), 30, math.Inf(1), 15},
		{"no VMs at all", 0, quota(0), plantest.ByGamma(t, "a", "1", "30", 0, 20), 30, math.Inf(1), 0},
		{"worth exactly on-demand: not added", 10, nil, plantest.ByGamma(t, "a", "1", "8", 0, 20), 8, 8, 10},
		{"worth exactly the contract: not added", 10, nil, plantest.ByGamma(t, "a", "1", "5", 0, 20), 5, 5, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := plantest.Market(t, c.reserved, "5", "8", capacity.Relaxed)
			p.Supply.OnDemand.Quota = c.quota
			p.Classes = []capacity.Class{c.class}
			pl := solved(t, p)
			if got := pl.Relaxed.Jobs[0]; got != c.jobs {
				t.Errorf("got %g jobs, want %g", got, c.jobs)
			}
			price := pl.Prices.Capacity
			if got := price.Low.Float(); got != c.low {
				t.Errorf("one VM less: got %g, want %g", got, c.low)
			}
			if math.IsInf(c.high, 1) {
				if price.High != nil || pl.Classes[0].BreakEvenPenalty != nil {
					t.Errorf("one VM more: got %v and a break-even penalty of %v, want null for both", price.High, pl.Classes[0].BreakEvenPenalty)
				}
				return
			}
			if price.High == nil {
				t.Fatalf("one VM more: got null, want %g", c.high)
			}
			if got := price.High.Float(); got != c.high {
				t.Errorf("one VM more: got %g, want %g", got, c.high)
			}
		})
	}
}

// 0.58 an hour is 13.919999999999998 a day in float64, and a class is worth 13.92 a VM: noise that small
// must not, times all the VMs that could be rented, make Clp's answer look wrong.
func TestClpAgreesWhereAClassIsWorthExactlyAPrice(t *testing.T) {
	pool := worker.New(worker.Config{Processes: 1})
	defer pool.Close()
	p := plantest.Market(t, 0, "0.88", "0.58", capacity.Relaxed)
	p.PeriodSeconds = 86400
	p.Options.Engine = capacity.EngineCBC
	p.Classes = []capacity.Class{plantest.ByGamma(t, "a", "2", "27.84", 0, 4)}
	pl, err := Solve(t.Context(), p, pool)
	if err != nil {
		t.Fatal(err)
	}
	if pl.Proof.Agreed == nil || !*pl.Proof.Agreed {
		t.Errorf("engine %q agreed %v, warnings %v, want Clp to agree", pl.Proof.Engine, pl.Proof.Agreed, pl.Warnings)
	}
}
