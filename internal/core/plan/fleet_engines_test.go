package plan

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/shopspring/decimal"

	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/fault"
	"example.org/headroom/internal/core/lp/worker"
	"example.org/headroom/internal/core/money"
	"example.org/headroom/internal/test/plantest"
)

// unbudgeted is the mixed fleets without the budget, which is drawn by trying everything.
var unbudgeted = plantest.FleetKind{Types: 3, Spot: true, Quota: true, Contracts: true, Spreads: true}

// The linear program of random fleets has the objective that Clp finds, and its prices prove it.
func TestClpFindsTheSamePricesOfFleets(t *testing.T) {
	pool := worker.New(worker.Config{Processes: 1})
	defer pool.Close()
	r := rand.New(rand.NewPCG(4, 77))
	compared, infeasible := 0, 0
	for trial := range plantest.Trials(75, 3_000) {
		p := plantest.DrawFleet(r, unbudgeted, 1+r.IntN(8), 9)
		p.Options.Integrality, p.Options.Sharing, p.Options.Engine = capacity.Relaxed, capacity.Shared, capacity.EngineCBC
		if pl := solved(t, p); pl.Status != capacity.InfeasibleStatus && r.IntN(2) == 0 {
			spent := pl.Cost.Total.Sub(pl.Cost.Penalties.Decimal)
			amount := money.Amount{Decimal: spent.Mul(decimal.NewFromFloat(0.5 + 0.6*r.Float64())).Round(4)}
			p.Budget = &capacity.Budget{VMCost: &amount}
		}
		pl, err := Solve(t.Context(), p, pool)
		text, _ := json.Marshal(p)
		if err != nil {
			t.Fatalf("trial %d: %v\n%s", trial, err, text)
		}
		if pl.Status == capacity.InfeasibleStatus {
			infeasible++
			continue
		}
		compared++
		if pl.Status != capacity.Optimal || pl.Proof.Agreed == nil || !*pl.Proof.Agreed {
			t.Fatalf("trial %d: %s, proof %+v\n%s", trial, pl.Status, pl.Proof, text)
		}
	}
	t.Logf("%d compared, %d infeasible", compared, infeasible)
}

// CBC never finds a better plan of a small fleet than the one that was proved.
func TestCBCAgreesOnSmallFleets(t *testing.T) {
	pool := worker.New(worker.Config{Processes: 1})
	defer pool.Close()
	r := rand.New(rand.NewPCG(8, 15))
	agreed, silent := 0, 0
	for trial := range plantest.Trials(10, 1_000) {
		p := plantest.DrawFleet(r, unbudgeted, 4, 6)
		p.Options.Engine, p.Options.MaxSolveMs = capacity.EngineCBC, 1000
		pl, err := Solve(t.Context(), p, pool)
		text, _ := json.Marshal(p)
		if err != nil {
			t.Fatalf("trial %d: %v\n%s", trial, err, text)
		}
		switch {
		case pl.Status == capacity.InfeasibleStatus:
		case pl.Status != capacity.Optimal || warned(pl, "engines_disagree"):
			t.Fatalf("trial %d: %s, proof %+v, %v\n%s", trial, pl.Status, pl.Proof, pl.Warnings, text)
		case pl.Proof.Agreed == nil:
			silent++
		case !*pl.Proof.Agreed:
			t.Fatalf("trial %d: CBC says something else: %+v\n%s", trial, pl.Proof, text)
		default:
			agreed++
		}
	}
	t.Logf("%d agreed, %d without an answer", agreed, silent)
}

// Changes that can only help never make a plan worse, and the order of classes and types changes nothing.
func TestFleetsAreMonotone(t *testing.T) {
	r := rand.New(rand.NewPCG(16, 3))
	changes := map[string]func(p *capacity.Problem){
		"more supply": func(p *capacity.Problem) {
			v := r.IntN(len(p.Supply.VMTypes))
			s := &p.Supply.VMTypes[v]
			if s.OnDemand.Quota != nil {
				more := *s.OnDemand.Quota + 1 + r.Int64N(4)
				s.OnDemand.Quota = &more
			}
			s.Contracts = append(append([]capacity.Contract(nil), s.Contracts...), capacity.Contract{Name: "more", VMs: 1 + r.Int64N(5), Price: plantest.Hundredths(1 + r.IntN(30)), Billing: capacity.BilledUsed})
		},
		"later deadline": func(p *capacity.Problem) {
			for i := range p.Classes {
				if p.Classes[i].VMsPerJob == nil {
					p.Classes[i].DeadlineSeconds *= 1.25
				}
			}
		},
		"higher budget": func(p *capacity.Problem) {
			if p.Budget != nil && p.Budget.VMCost != nil {
				more := money.Amount{Decimal: p.Budget.VMCost.Mul(decimal.NewFromFloat(1.2)).Round(6)}
				p.Budget = &capacity.Budget{VMCost: &more, Total: p.Budget.Total}
			}
		},
		"fewer promised": func(p *capacity.Problem) {
			for i := range p.Classes {
				p.Classes[i].Jobs.Min = math.Floor(p.Classes[i].Jobs.Min / 2)
			}
		},
		"other order": func(p *capacity.Problem) {
			r.Shuffle(len(p.Classes), func(a, b int) { p.Classes[a], p.Classes[b] = p.Classes[b], p.Classes[a] })
			r.Shuffle(len(p.Supply.VMTypes), func(a, b int) {
				p.Supply.VMTypes[a], p.Supply.VMTypes[b] = p.Supply.VMTypes[b], p.Supply.VMTypes[a]
			})
		},
	}
	for trial := range plantest.Trials(10, 1_500) {
		p := plantest.DrawFleet(r, unbudgeted, 5, 8)
		if pl := solved(t, p); pl.Status != capacity.InfeasibleStatus && r.IntN(2) == 0 {
			spent := money.Amount{Decimal: pl.Cost.Total.Sub(pl.Cost.Penalties.Decimal).Mul(decimal.NewFromFloat(0.8)).Round(4)}
			p.Budget = &capacity.Budget{VMCost: &spent}
		}
		before := solved(t, p)
		for name, change := range changes {
			q := plantest.Copied(p)
			q.Supply.VMTypes = append([]capacity.VMTypeSupply(nil), p.Supply.VMTypes...)
			change(&q)
			after := solved(t, q)
			text, _ := json.Marshal(q)
			if before.Status == capacity.InfeasibleStatus {
				if name == "other order" && after.Status != before.Status {
					t.Fatalf("trial %d: infeasible in one order only\n%s", trial, text)
				}
				continue
			}
			if after.Status != capacity.Optimal || after.Objective.GreaterThan(before.Objective.Decimal) || name == "other order" && !after.Objective.Equal(before.Objective.Decimal) {
				t.Fatalf("trial %d, %s: %s with %v, before %v\n%s", trial, name, after.Status, after.Objective, before.Objective, text)
			}
		}
	}
}

// A cure that is offered does cure, and a little less would not.
func TestCuresOfFleetsCure(t *testing.T) {
	r := rand.New(rand.NewPCG(23, 42))
	tried := 0
	for trial := 0; tried < plantest.Trials(30, 800) && trial < 20_000; trial++ {
		p := plantest.DrawFleet(r, plantest.FleetKinds[[]string{"mixed", "quota", "spot", "budget"}[r.IntN(4)]], 4, 6)
		pl := solved(t, p)
		if pl.Status != capacity.InfeasibleStatus {
			continue
		}
		if len(pl.Conflicts) == 0 {
			t.Fatalf("trial %d: infeasible without a conflict", trial)
		}
		for _, conflict := range pl.Conflicts {
			if conflict.Hint == nil {
				continue
			}
			q := cureByButton(t, p, conflict.Hint.Pointer, conflict.Hint.Value)
			tried++
			after := solved(t, q)
			text, _ := json.Marshal(p)
			if after.Status == capacity.InfeasibleStatus && !impossibleElsewhere(pl, conflict) {
				t.Fatalf("trial %d: %v does not cure: %v\n%s", trial, conflict.Hint, after.Conflicts, text)
			}
		}
	}
	t.Logf("%d cures tried", tried)
}

// impossibleElsewhere says that the plan has a conflict of another kind beside this one.
func impossibleElsewhere(pl capacity.Plan, conflict fault.Finding) bool {
	for _, other := range pl.Conflicts {
		if other.Code == "impossible_deadline" && other.Pointer != conflict.Pointer {
			return true
		}
	}
	return false
}

// The least cost named for plans over the budget is that of the cheapest plan, with any engine.
func TestCheapestPlanOverBudgetIsNamed(t *testing.T) {
	pool := worker.New(worker.Config{Processes: 1})
	defer pool.Close()
	ratio, quota := decimal.New(37, -1), int64(2)
	p := capacity.Problem{
		Currency: "EUR", PeriodSeconds: 3600, Options: capacity.DefaultOptions(), Budget: &capacity.Budget{Total: new(plantest.Hundredths(444))},
		Supply: capacity.Supply{VMTypes: []capacity.VMTypeSupply{
			{Name: "usual", OnDemand: capacity.OnDemand{Price: plantest.Hundredths(101), Quota: &quota},
				Contracts: []capacity.Contract{{Name: "four", VMs: 4, Price: plantest.Hundredths(45), Billing: capacity.BilledAlways}}},
			{Name: "other", OnDemand: capacity.OnDemand{Price: plantest.Hundredths(186)}},
		}},
		Classes: []capacity.Class{{Name: "two", VMsPerJob: &ratio, Speed: capacity.Speed{"other": 0.7}, Jobs: capacity.JobRange{Max: 2}, Penalty: plantest.Hundredths(306)}},
	}
	p.Options.Sharing, p.Options.MaxSolveMs = capacity.Dedicated, 60_000
	for _, engine := range []capacity.Engine{capacity.EngineExact, capacity.EngineCBC} {
		p.Options.Engine = engine
		pl, err := Solve(t.Context(), p, pool)
		if err != nil || len(pl.Conflicts) != 1 || pl.Conflicts[0].Hint == nil || pl.Conflicts[0].Hint.Value != "4.86" { // four VMs, one job refused
			t.Errorf("%s: got %v %+v", engine, err, pl.Conflicts)
		}
	}
}
