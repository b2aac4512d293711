package proof

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/shopspring/decimal"

	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/fault"
)

// restricted returns a problem with fewer possibilities: other numbers of jobs, or a class kept from a type. Its
// plans are plans of the problem itself.
func restricted(r *rand.Rand, p capacity.Problem) capacity.Problem {
	p.Classes = slices.Clone(p.Classes)
	i := r.IntN(len(p.Classes))
	c := &p.Classes[i]
	if types := p.Supply.Types(); len(types) > 1 && r.IntN(2) == 0 {
		speed := capacity.Speed{}
		for _, t := range types {
			speed[t.Name] = c.Speed.On(t.Name)
		}
		speed[types[r.IntN(len(types))].Name] = 0
		c.Speed = speed
		return p
	}
	n := c.Jobs.Min + float64(r.IntN(int(c.Jobs.Max-c.Jobs.Min)+1))
	c.Jobs = capacity.JobRange{Min: n, Max: n}
	return p
}

// of turns a restricted problem's plan into one of the problem.
func of(p capacity.Problem, pl capacity.Plan) capacity.Plan {
	f := newFleet(p, nil)
	before := pl.Cost.Penalties.Decimal
	pl.Cost.Penalties.Decimal = decimal.Zero
	for i := range pl.Classes {
		c := &pl.Classes[i]
		c.Refused = p.Classes[i].Jobs.Max - c.Admitted
		c.Verdict = f.classes[i].verdict(number(c.Admitted), zero())
		pl.Cost.Penalties.Decimal = pl.Cost.Penalties.Add(p.Classes[i].Penalty.Mul(dec(c.Refused)))
		if c.Admitted == 0 {
			for v := range f.types {
				if on := f.types[v].classes[i]; !on.impossible {
					c.VMsPerJob = float(on.low)
				}
			}
		}
	}
	pl.Cost.Total.Decimal = pl.Cost.Total.Sub(before).Add(pl.Cost.Penalties.Decimal)
	pl.Cost.PerHour.Decimal = pl.Cost.Total.Mul(decimal.NewFromInt(3600)).Div(decimal.NewFromInt(p.PeriodSeconds))
	pl.Cost.PerMonth.Decimal = pl.Cost.PerHour.Mul(decimal.NewFromInt(730))
	return pl
}

// A plan that is worse than the best by more than the gap is refuted by a plan as good as the best, and for no other
// reason. With the best one's bound it may stand as a feasible one.
func TestNoSuboptimalFleetPlanPassesAsOptimal(t *testing.T) {
	refuted := 0
	for trial := range long(300, 6000) {
		r := rand.New(rand.NewPCG(5, uint64(trial)))
		p := drawnFleet(r)
		if p.Options.Integrality == capacity.Relaxed || p.Validate() != nil || !isFleet(p) {
			continue
		}
		for i := range p.Classes {
			if d := p.Classes[i].Demand; d != nil && d.MapWorkSeconds == 0 {
				d.MapWorkSeconds = 1
			}
		}
		best, found, _ := newFleetPlanner(p).plan()
		if !found {
			continue
		}
		pl, found, _ := newFleetPlanner(restricted(r, p)).plan()
		if !found {
			continue
		}
		pl = of(p, pl)
		distance := pl.Objective.Sub(best.Objective.Decimal).InexactFloat64()
		if distance <= 1e-6*(1e-2+math.Abs(pl.Objective.Float())) {
			continue
		}
		if highest := p.Budget; highest != nil && highest.Total != nil && pl.Cost.Total.GreaterThan(highest.Total.Decimal) {
			continue
		}
		refuted++
		report := refused(t, p, pl, OptimalityCheck)
		if report.Better == nil || report.Better.Objective.Sub(best.Objective.Decimal).Abs().GreaterThan(decimal.New(1, -8)) &&
			report.Better.Objective.LessThan(best.Objective.Decimal) {
			t.Fatalf("trial %d: got %+v, want a plan of no less than %s\n%s", trial, report.Better, best.Objective, text(p))
		}
		for _, c := range report.Checks {
			if c.Outcome != OK && c.Name != OptimalityCheck && c.Name != BoundCheck {
				t.Fatalf("trial %d: check %s: got %s: %s, want ok: only the choice is wrong\n%s\n%s", trial, c.Name, c.Outcome, c.Detail, text(p), text(pl))
			}
		}
		pl.Status, pl.Proof.Bound = capacity.Feasible, best.Objective
		pl.Proof.Gap = 1
		for _, size := range []decimal.Decimal{decimal.Min(pl.Objective.Abs(), pl.Cost.Total.Decimal), pl.Cost.Total.Sub(pl.Cost.Penalties.Decimal)} {
			if size.IsPositive() {
				pl.Proof.Gap = distance / size.InexactFloat64()
				break
			}
		}
		if report := Verify(p, pl, Options{Brief: true}); !report.Accepted() {
			t.Fatalf("trial %d: with an honest bound: %s\n%s\n%s", trial, report, text(p), text(pl))
		}
	}
	t.Logf("%d refuted", refuted)
	if refuted < 30 {
		t.Errorf("%d worse plans say too little", refuted)
	}
}

// shortOfAll has promises that neither the quotas nor the budget allow.
func shortOfAll() capacity.Problem {
	p := twoTypes()
	p.Classes[0].Jobs = capacity.JobRange{Min: 6, Max: 6}
	p.Supply.VMTypes[1].OnDemand.Quota = pointer(int64(1))
	p.Budget = nil
	return p
}

func TestCuresOfFleetsAreTried(t *testing.T) {
	poor, dear := twoTypes(), twoTypes()
	*poor.Budget.VMCost = cash("1.50")
	*dear.Budget.Total = cash("1.50")
	late := twoTypes()
	late.Classes[0].DeadlineSeconds = 60
	for _, c := range []struct {
		name    string
		p       capacity.Problem
		finding fault.Finding
		check   string
		want    Outcome
	}{
		{"a plan though there is said to be none", twoTypes(), cure("/supply/vm_types/1/on_demand/quota", "/supply/vm_types/1/on_demand/quota", 50), InfeasibilityCheck, Failed},
		{"a quota that is enough", shortOfAll(), cure("/supply/vm_types/1/on_demand/quota", "/supply/vm_types/1/on_demand/quota", 50), CuresCheck, OK},
		{"no quota", shortOfAll(), cure("/supply/vm_types/1/on_demand/quota", "/supply/vm_types/1/on_demand/quota", nil), CuresCheck, OK},
		{"a quota that is too small", shortOfAll(), cure("/supply/vm_types/0/on_demand/quota", "/supply/vm_types/0/on_demand/quota", 3), CuresCheck, Failed},
		{"a contract that is large enough", shortOfAll(), cure("/supply/vm_types/1/contracts/0/vms", "/supply/vm_types/1/contracts/0/vms", 50), CuresCheck, OK},
		{"a contract that is too small", shortOfAll(), cure("/supply/vm_types/1/contracts/0/vms", "/supply/vm_types/1/contracts/0/vms", 4), CuresCheck, Failed},
		{"fewer promises", shortOfAll(), cure("/classes/0/jobs/min", "/classes/0/jobs/min", 0), CuresCheck, OK},
		{"hardly fewer promises", shortOfAll(), cure("/classes/0/jobs/min", "/classes/0/jobs/min", 5), CuresCheck, Failed},
		{"money enough", poor, cure("/budget/vm_cost", "/budget/vm_cost", "9.00"), CuresCheck, OK},
		{"too little money", poor, cure("/budget/vm_cost", "/budget/vm_cost", "1.60"), CuresCheck, Failed},
		{"a cure of something else", poor, cure("/supply/vm_types/0/on_demand/quota", "/supply/vm_types/0/on_demand/quota", 9), CuresCheck, Failed},
		{"a total that is enough", dear, cure("/budget/total", "/budget/total", "8.00"), CuresCheck, OK},
		{"a total that is too low", dear, cure("/budget/total", "/budget/total", "1.75"), CuresCheck, Failed},
		{"later", late, cure("/classes/0/deadline_s", "/classes/0/deadline_s", 2700), CuresCheck, OK},
		{"hardly later", late, cure("/classes/0/deadline_s", "/classes/0/deadline_s", 61), CuresCheck, Failed},
		{"another class later", late, cure("/classes/1/deadline_s", "/classes/1/deadline_s", 2700), CuresCheck, Failed},
		{"a type that is not there", shortOfAll(), cure("/supply/vm_types/7/on_demand/quota", "/supply/vm_types/7/on_demand/quota", 50), CuresCheck, NotProved},
		{"no conflict", shortOfAll(), fault.Finding{}, CuresCheck, Failed},
	} {
		t.Run(c.name, func(t *testing.T) {
			pl := infeasible(c.finding)
			if c.finding.Pointer == "" {
				pl = infeasible()
			}
			r := Verify(c.p, pl, Options{Brief: true})
			if got, _ := r.Find(c.check); got.Outcome != c.want {
				t.Errorf("got %q for %s, want %q\n%s", got.Outcome, c.check, c.want, r)
			}
			if none, _ := r.Find(InfeasibilityCheck); c.check == CuresCheck && none.Outcome != OK {
				t.Errorf("got %q, want that there is no plan\n%s", none.Outcome, r)
			}
		})
	}
}

// Under any prices, no plan is below their bound. The best prices give the linear program's answer.
func TestAnyPricesGiveABound(t *testing.T) {
	tried := 0
	for trial := range long(150, 2000) {
		r := rand.New(rand.NewPCG(11, uint64(trial)))
		p := drawnFleet(r)
		if p.Options.Integrality == capacity.Relaxed || p.Validate() != nil || !isFleet(p) {
			continue
		}
		for i := range p.Classes {
			if d := p.Classes[i].Demand; d != nil && d.MapWorkSeconds == 0 {
				d.MapWorkSeconds = 1
			}
		}
		best, found, _ := newFleetPlanner(p).plan()
		if !found {
			continue
		}
		tried++
		reached := best.Objective.InexactFloat64()
		reached += 1e-6 * (1 + math.Abs(reached)) // whole plans may use tolerances unknown to the linear program
		f := newFleet(p, nil)
		for _, linear := range []bool{true, false} {
			program := f.newProgram(linear, objective)
			for range 20 {
				nu, mu := make([]float64, len(f.types)), 0.0
				for v := range nu {
					nu[v] = r.Float64() * r.Float64() * 6
				}
				if f.purse != nil {
					mu = r.Float64() * float64(r.IntN(2))
				}
				_, value, size := program.at(nu, mu)
				paid := float(program.paid())
				if low := paid + value - program.noise(dual{size: size}); low > reached {
					t.Fatalf("trial %d: at %v and %v the bound is %v, above the plan of %v\n%s", trial, nu, mu, low, reached, text(p))
				}
				if exact := paid + float(program.exactly(nu, mu)); linear && math.Abs(exact-paid-value) > program.noise(dual{size: size}) {
					t.Fatalf("trial %d: at %v and %v the bound is %v in fractions and %v in floating point\n%s", trial, nu, mu, exact, paid+value, text(p))
				}
			}
			if d := program.solve(); linear && program.above(d) != nil && d.above-d.value > 1e-9*(1+d.size) {
				t.Errorf("trial %d: the linear program is between %v and %v\n%s", trial, d.value, d.above, text(p))
			}
		}
	}
	if tried < 50 {
		t.Errorf("%d problems say too little", tried)
	}
}
