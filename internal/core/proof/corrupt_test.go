package proof

import (
	"encoding/json"
	"math"
	"testing"

	"github.com/shopspring/decimal"
	"pgregory.net/rapid"

	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/fault"
	"example.org/headroom/internal/core/money"
)

func plus(m *money.Amount, by string) { m.Decimal = m.Add(cash(by).Decimal) }

// clone copies a plan so that a corruption changes no other.
func clone(pl capacity.Plan) capacity.Plan {
	var c capacity.Plan
	text, err := json.Marshal(pl)
	if err == nil {
		err = json.Unmarshal(text, &c)
	}
	if err != nil {
		panic(err)
	}
	return c
}

func TestTheStoredFormOfAPlanIsAcceptedToo(t *testing.T) {
	accepted(t, mixed(), clone(planFor(t, mixed())))
}

// corruption is one error put into a right plan, and the check that must refuse it.
type corruption struct {
	name  string
	check string
	spoil func(p *capacity.Problem, pl *capacity.Plan)
}

// replanned returns the plan for exactly these jobs of each class.
func replanned(t testing.TB, p capacity.Problem, jobs ...float64) capacity.Plan {
	t.Helper()
	for i, n := range jobs {
		p.Classes[i].Jobs = capacity.JobRange{Min: n, Max: n}
	}
	return planFor(t, p)
}

var corruptions = []corruption{
	{"a class is missing", ShapeCheck, func(_ *capacity.Problem, pl *capacity.Plan) { pl.Classes = pl.Classes[:2] }},
	{"a class stands there twice", ShapeCheck, func(_ *capacity.Problem, pl *capacity.Plan) { pl.Classes[1] = pl.Classes[0] }},
	{"two classes are swapped", ShapeCheck, func(_ *capacity.Problem, pl *capacity.Plan) {
		pl.Classes[0], pl.Classes[1] = pl.Classes[1], pl.Classes[0]
	}},
	{"one job is lost between admitted and refused", ShapeCheck, func(_ *capacity.Problem, pl *capacity.Plan) { pl.Classes[1].Refused-- }},
	{"more jobs than there are", ShapeCheck, func(_ *capacity.Problem, pl *capacity.Plan) {
		pl.Classes[0].Admitted, pl.Classes[0].Refused = 4, -1
	}},
	{"fewer jobs than promised", ShapeCheck, func(_ *capacity.Problem, pl *capacity.Plan) {
		pl.Classes[0].Admitted, pl.Classes[0].Refused = 0, 3
	}},
	{"half a job", ShapeCheck, func(_ *capacity.Problem, pl *capacity.Plan) {
		pl.Classes[0].Admitted, pl.Classes[0].Refused = 2.5, 0.5
	}},
	{"a wrong verdict", ShapeCheck, func(_ *capacity.Problem, pl *capacity.Plan) { pl.Classes[0].Verdict = capacity.VerdictPartial }},
	{"a possible class called impossible", ShapeCheck, func(_ *capacity.Problem, pl *capacity.Plan) {
		pl.Classes[0].Verdict = capacity.VerdictImpossible
	}},
	{"an unknown status", ShapeCheck, func(_ *capacity.Problem, pl *capacity.Plan) { pl.Status = "good" }},
	{"a conflict in a plan", ShapeCheck, func(_ *capacity.Problem, pl *capacity.Plan) {
		pl.Conflicts = []fault.Finding{{Detail: "no"}}
	}},
	{"infinite VMs", ShapeCheck, func(_ *capacity.Problem, pl *capacity.Plan) { pl.VMs.Total = math.Inf(1) }},
	{"an admitted figure that is no number", ShapeCheck, func(_ *capacity.Problem, pl *capacity.Plan) { pl.Classes[0].Admitted = math.NaN() }},
	{"gamma off by a millionth", ConversionCheck, func(_ *capacity.Problem, pl *capacity.Plan) { pl.Classes[0].VMsPerJob *= 1 + 1e-6 }},
	{"a share off by a millionth", ConversionCheck, func(_ *capacity.Problem, pl *capacity.Plan) { pl.Classes[0].VMs *= 1 + 1e-6 }},
	{"one map slot too few", DeadlinesCheck, func(_ *capacity.Problem, pl *capacity.Plan) { pl.Classes[0].Slots.Map-- }},
	{"one reduce slot too few", DeadlinesCheck, func(_ *capacity.Problem, pl *capacity.Plan) { pl.Classes[1].Slots.Reduce-- }},
	{"half a slot", DeadlinesCheck, func(_ *capacity.Problem, pl *capacity.Plan) { pl.Classes[0].Slots.Map += 0.5 }},
	{"slots forgotten", DeadlinesCheck, func(_ *capacity.Problem, pl *capacity.Plan) { pl.Classes[0].Slots = nil }},
	{"slots of a class without any", DeadlinesCheck, func(_ *capacity.Problem, pl *capacity.Plan) {
		pl.Classes[2].Slots = &capacity.Slots{Map: 1}
	}},
	{"an average time off by a millionth", DeadlinesCheck, func(_ *capacity.Problem, pl *capacity.Plan) { *pl.Classes[0].Time.Average *= 1 + 1e-6 }},
	{"the lower and the upper time swapped", DeadlinesCheck, func(_ *capacity.Problem, pl *capacity.Plan) {
		x := pl.Classes[0].Time
		x.Lower, x.Upper = x.Upper, x.Lower
	}},
	{"an upper time of a demand", DeadlinesCheck, func(_ *capacity.Problem, pl *capacity.Plan) {
		pl.Classes[1].Time.Upper = pl.Classes[1].Time.Average
	}},
	{"a time not given", DeadlinesCheck, func(_ *capacity.Problem, pl *capacity.Plan) { pl.Classes[0].Time.Lower = nil }},
	{"one VM fewer", CapacityCheck, func(_ *capacity.Problem, pl *capacity.Plan) {
		pl.VMs.Total--
		pl.VMs.Rounding--
		if pl.VMs.OnDemand > 0 {
			pl.VMs.OnDemand--
		} else {
			pl.VMs.Reserved--
			pl.VMs.Contracts[0].Used--
		}
	}},
	{"rounding that does not close the sum", CapacityCheck, func(_ *capacity.Problem, pl *capacity.Plan) { pl.VMs.Rounding += 0.001 }},
	{"a total that is not its parts", RentalCheck, func(_ *capacity.Problem, pl *capacity.Plan) { pl.VMs.OnDemand++ }},
	{"reserved VMs that are not the contracts'", RentalCheck, func(_ *capacity.Problem, pl *capacity.Plan) { pl.VMs.Reserved-- }},
	{"half a VM", RentalCheck, func(_ *capacity.Problem, pl *capacity.Plan) {
		pl.VMs.Contracts[0].Used -= 0.5
		pl.VMs.Contracts[1].Used += 0.5
	}},
	{"more of a contract than it has", RentalCheck, func(_ *capacity.Problem, pl *capacity.Plan) {
		pl.VMs.Contracts[1].Used += 2
		pl.VMs.Contracts[0].Used -= 2
	}},
	{"dearer VMs while cheaper ones idle", RentalCheck, func(_ *capacity.Problem, pl *capacity.Plan) {
		pl.VMs.Contracts[0].Used--
		pl.VMs.Reserved--
		pl.VMs.OnDemand++
	}},
	{"two contracts' use swapped", RentalCheck, func(_ *capacity.Problem, pl *capacity.Plan) {
		c := pl.VMs.Contracts
		c[0].Used, c[1].Used = c[1].Used, c[0].Used
	}},
	{"another size of a contract", RentalCheck, func(_ *capacity.Problem, pl *capacity.Plan) { pl.VMs.Contracts[0].VMs++ }},
	{"a contract missing", RentalCheck, func(_ *capacity.Problem, pl *capacity.Plan) { pl.VMs.Contracts = pl.VMs.Contracts[:1] }},
	{"a contract nobody signed", RentalCheck, func(_ *capacity.Problem, pl *capacity.Plan) { pl.VMs.Contracts[0].Name = "other" }},
	{"beyond the quota", RentalCheck, func(p *capacity.Problem, pl *capacity.Plan) {
		p.Supply.OnDemand.Quota = pointer(int64(pl.VMs.OnDemand) - 1)
	}},
	{"the on-demand cost off by a billionth", MoneyCheck, func(_ *capacity.Problem, pl *capacity.Plan) { plus(&pl.Cost.OnDemand, "0.000000001") }},
	{"the reserved cost off", MoneyCheck, func(_ *capacity.Problem, pl *capacity.Plan) { plus(&pl.Cost.Reserved, "-0.01") }},
	{"idle VMs charged that are not", MoneyCheck, func(_ *capacity.Problem, pl *capacity.Plan) { plus(&pl.Cost.ReservedIdle, "0.07") }},
	{"a penalty forgotten", MoneyCheck, func(_ *capacity.Problem, pl *capacity.Plan) { plus(&pl.Cost.Penalties, "-0.10") }},
	{"a wrong total", MoneyCheck, func(_ *capacity.Problem, pl *capacity.Plan) { plus(&pl.Cost.Total, "0.01") }},
	{"a wrong objective", MoneyCheck, func(_ *capacity.Problem, pl *capacity.Plan) { plus(&pl.Objective, "-0.01") }},
	{"a wrong cost an hour", MoneyCheck, func(_ *capacity.Problem, pl *capacity.Plan) { plus(&pl.Cost.PerHour, "0.01") }},
	{"a month of 720 hours", MoneyCheck, func(_ *capacity.Problem, pl *capacity.Plan) {
		pl.Cost.PerMonth.Decimal = pl.Cost.PerHour.Mul(decimal.NewFromInt(720))
	}},
	{"another currency", MoneyCheck, func(_ *capacity.Problem, pl *capacity.Plan) { pl.Cost.Currency = "EUR" }},
	{"another period", MoneyCheck, func(_ *capacity.Problem, pl *capacity.Plan) { pl.Cost.PeriodSeconds = 7200 }},
	{"another price than was paid", MoneyCheck, func(p *capacity.Problem, _ *capacity.Plan) { p.Supply.OnDemand.Price = cash("0.21") }},
	{"a bound above the plan", CertificateCheck, func(_ *capacity.Problem, pl *capacity.Plan) { plus(&pl.Proof.Bound, "0.01") }},
	{"a gap that is not the distance to the bound", CertificateCheck, func(_ *capacity.Problem, pl *capacity.Plan) { plus(&pl.Proof.Bound, "-0.01") }},
	{"optimal with a gap beyond what is allowed", CertificateCheck, func(_ *capacity.Problem, pl *capacity.Plan) {
		objective := pl.Objective.Float()
		plus(&pl.Proof.Bound, "-0.01")
		pl.Proof.Gap = 0.01 / math.Abs(objective)
	}},
	{"optimal though the clock ended its search", CertificateCheck, func(_ *capacity.Problem, pl *capacity.Plan) { pl.Proof.Limited = capacity.ClockCutoff }},
	{"no proof", CertificateCheck, func(_ *capacity.Problem, pl *capacity.Plan) { pl.Proof = nil }},
	{"a VM that carries too much", LayoutCheck, func(_ *capacity.Problem, pl *capacity.Plan) { pl.Layout[0].Slots[0].Map += 9 }},
	{"a VM forgotten in the layout", LayoutCheck, func(_ *capacity.Problem, pl *capacity.Plan) { pl.Layout = pl.Layout[1:] }},
	{"a layout on more VMs than are rented", LayoutCheck, func(_ *capacity.Problem, pl *capacity.Plan) {
		pl.Layout = append(pl.Layout, capacity.VMLayout{VMs: 50})
	}},
	{"slots of a stranger", LayoutCheck, func(_ *capacity.Problem, pl *capacity.Plan) {
		pl.Layout[0].Slots = append(pl.Layout[0].Slots, capacity.ClassSlots{Class: "stranger", Map: 1})
	}},
	{"a layout of minus one VM", LayoutCheck, func(_ *capacity.Problem, pl *capacity.Plan) { pl.Layout[0].VMs = -1 }},
	{"a relaxation that is too good", RelaxationCheck, func(_ *capacity.Problem, pl *capacity.Plan) { plus(&pl.Relaxed.Objective, "-0.001") }},
	{"a relaxation without its capacity", RelaxationCheck, func(_ *capacity.Problem, pl *capacity.Plan) { pl.Relaxed.Capacity-- }},
	{"relaxed jobs beyond the demand", RelaxationCheck, func(_ *capacity.Problem, pl *capacity.Plan) { pl.Relaxed.Jobs[0] += 1 }},
	{"a wrong price of capacity", PricesCheck, func(_ *capacity.Problem, pl *capacity.Plan) { plus(&pl.Prices.Capacity.Low, "-0.01") }},
	{"no price where more can be had", PricesCheck, func(_ *capacity.Problem, pl *capacity.Plan) { pl.Prices.Capacity.High = nil }},
	{"a contract worth more than it is", PricesCheck, func(_ *capacity.Problem, pl *capacity.Plan) { plus(&pl.Prices.Contracts[0].Worth, "0.01") }},
	{"an integer answer below the relaxation", IntegerCheck, func(_ *capacity.Problem, pl *capacity.Plan) {
		pl.Integer = &capacity.IntegerPlan{Objective: cash("-1000"), VMs: 14, Executable: true}
	}},
	{"executable though VMs are missing", IntegerCheck, func(_ *capacity.Problem, pl *capacity.Plan) {
		pl.Integer = &capacity.IntegerPlan{Objective: pl.Objective, VMs: 14, Executable: true, ShortVMs: 1}
	}},
}

func TestCorruptedPlansAreRefusedByTheRightCheck(t *testing.T) {
	right := planFor(t, mixed())
	accepted(t, mixed(), right)
	for _, c := range corruptions {
		t.Run(c.name, func(t *testing.T) {
			p, pl := mixed(), clone(right)
			c.spoil(&p, &pl)
			refused(t, p, pl, c.check)
		})
	}
}

func refused(t testing.TB, p capacity.Problem, pl capacity.Plan, check string) Report {
	t.Helper()
	r := Verify(p, pl, Options{Brief: true})
	if c, _ := r.Find(check); c.Outcome != Failed || r.Accepted() {
		t.Fatalf("got %q for check %s, want it to fail\n%s", c.Outcome, check, r)
	}
	return r
}

func TestAWorsePlanIsRefutedByABetterOne(t *testing.T) {
	right := planFor(t, mixed())
	best := []float64{right.Classes[0].Admitted, right.Classes[1].Admitted, right.Classes[2].Admitted}
	worse := append([]float64(nil), best...)
	worse[0]-- // a penalty of 5.00 instead of a few VMs
	pl := replanned(t, mixed(), worse...)
	p := mixed()
	for i, c := range p.Classes {
		pl.Classes[i].Refused = c.Jobs.Max - pl.Classes[i].Admitted
		pl.Cost.Penalties.Decimal = pl.Cost.Penalties.Add(c.Penalty.Mul(dec(pl.Classes[i].Refused)))
	}
	pl.Classes[0].Verdict = capacity.VerdictPartial
	pl.Classes[1].Verdict, pl.Classes[2].Verdict = right.Classes[1].Verdict, right.Classes[2].Verdict
	pl.Cost.Total.Decimal = pl.Cost.Total.Add(pl.Cost.Penalties.Decimal)
	pl.Cost.PerHour = pl.Cost.Total
	pl.Cost.PerMonth.Decimal = pl.Cost.PerHour.Mul(decimal.NewFromInt(730))
	pl.Relaxed, pl.Prices = right.Relaxed, right.Prices
	for i := range pl.Classes {
		pl.Classes[i].BreakEvenPenalty, pl.Classes[i].Flips = right.Classes[i].BreakEvenPenalty, right.Classes[i].Flips
	}
	r := refused(t, p, pl, OptimalityCheck)
	if r.Better == nil || !r.Better.Objective.Equal(right.Objective.Decimal) {
		t.Errorf("got %+v, want the plan of %s", r.Better, right.Objective)
	}
	for _, c := range r.Checks {
		if c.Outcome != OK && c.Name != OptimalityCheck && c.Name != BoundCheck {
			t.Errorf("check %s: got %s: %s, want ok: only the choice is wrong", c.Name, c.Outcome, c.Detail)
		}
	}
	pl.Status = capacity.Feasible // with an honest bound it may stand as a feasible plan
	pl.Proof.Bound = right.Objective
	pl.Proof.Gap = pl.Objective.Sub(right.Objective.Decimal).Div(decimal.Min(pl.Objective.Abs(), pl.Cost.Total.Decimal)).InexactFloat64()
	accepted(t, p, pl)
	plus(&pl.Proof.Bound, "0.01")
	pl.Proof.Gap = pl.Objective.Sub(pl.Proof.Bound.Decimal).Div(decimal.Min(pl.Objective.Abs(), pl.Cost.Total.Decimal)).InexactFloat64()
	refused(t, p, pl, BoundCheck)
}

// Every selection of jobs that is worse than the best by more than the gap is refuted.
func TestNoSuboptimalPlanPassesAsOptimal(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := aProblem(t)
		best, ok := tryPlan(p)
		if !ok {
			t.Skip("infeasible")
		}
		var jobs []float64
		for i, c := range p.Classes {
			n := rapid.IntRange(int(c.Jobs.Min), int(c.Jobs.Max)).Draw(t, "jobs")
			if best.Classes[i].Verdict == capacity.VerdictImpossible {
				n = 0
			}
			jobs = append(jobs, float64(n))
		}
		other := p
		other.Classes = append([]capacity.Class(nil), p.Classes...)
		for i := range jobs {
			other.Classes[i].Jobs = capacity.JobRange{Min: jobs[i], Max: jobs[i]}
		}
		pl, ok := tryPlan(other)
		if !ok {
			t.Skip("too few VMs")
		}
		distance := pl.Objective.Sub(best.Objective.Decimal).InexactFloat64()
		if distance <= 1e-6*(1e-3+math.Abs(pl.Objective.Float())) {
			t.Skip("as good as the best")
		}
		r := Verify(p, pl, Options{Brief: true})
		if s, _ := r.Find(ShapeCheck); s.Outcome == Failed {
			for i, c := range p.Classes { // the counts that another demand changes
				pl.Classes[i].Refused = c.Jobs.Max - jobs[i]
				pl.Classes[i].Verdict = newModel(p, nil).classes[i].verdict(number(jobs[i]), zero())
			}
			r = Verify(p, pl, Options{Brief: true})
		}
		if c, _ := r.Find(OptimalityCheck); c.Outcome != Failed {
			t.Fatalf("got %q, want failed: the best costs %s and this %s\n%s\nproblem %+v", c.Outcome, best.Objective, pl.Objective, r, p)
		}
	})
}
