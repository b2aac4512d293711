package proof

import (
	"encoding/json"
	"math"
	"strings"
	"testing"

	"github.com/shopspring/decimal"
	"pgregory.net/rapid"

	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/fault"
	"example.org/headroom/internal/core/money"
)

func infeasible(conflicts ...fault.Finding) capacity.Plan {
	return capacity.Plan{Status: capacity.InfeasibleStatus, Conflicts: conflicts}
}

func cure(where, at string, value any) fault.Finding {
	return fault.Finding{Pointer: where, Detail: "too little", Code: "short", Hint: &fault.Hint{Detail: "change it", Pointer: at, Value: value}}
}

// scarce promises nine jobs of 4.03 VMs and has 30 + 3.
func scarce() capacity.Problem {
	p := nightly()
	p.Supply.OnDemand.Quota = pointer(int64(3))
	return p
}

// late promises jobs whose fixed time alone is longer than the deadline.
func late() capacity.Problem {
	p := nightly()
	p.Classes[0].DeadlineSeconds = 150
	return p
}

// both is late and scarce at once.
func both() capacity.Problem {
	p := scarce()
	class := late().Classes[0]
	class.Name, class.Jobs.Min = "late", 1
	p.Classes = append(p.Classes, class)
	return p
}

func TestInfeasibleAnswers(t *testing.T) {
	const quota, deadline = "/supply/on_demand/quota", "/classes/0/deadline_s"
	tests := []struct {
		name    string
		problem capacity.Problem
		plan    capacity.Plan
		check   string
		want    Outcome
	}{
		{"a shortage with the smallest quota that will do", scarce(), infeasible(cure(quota, quota, int64(7))), CuresCheck, OK},
		{"the same from stored JSON", scarce(), infeasible(cure(quota, quota, 7.0)), CuresCheck, OK},
		{"the same as text", scarce(), infeasible(cure(quota, quota, "7")), CuresCheck, OK},
		{"no quota at all", scarce(), infeasible(cure(quota, quota, nil)), CuresCheck, OK},
		{"a quota one too small", scarce(), infeasible(cure(quota, quota, int64(6))), CuresCheck, Failed},
		{"a larger contract", scarce(), infeasible(cure(quota, "/supply/contracts/0/vms", 34)), CuresCheck, OK},
		{"a contract one too small", scarce(), infeasible(cure(quota, "/supply/contracts/0/vms", 33)), CuresCheck, Failed},
		{"a contract that is not there", scarce(), infeasible(cure(quota, "/supply/contracts/1/vms", 99)), CuresCheck, NotProved},
		{"fewer promised", scarce(), infeasible(cure("/classes/0", "/classes/0/jobs/min", json.Number("8"))), CuresCheck, OK},
		{"one fewer than one too many", scarce(), infeasible(cure("/classes/0", "/classes/0/jobs/min", 9)), CuresCheck, Failed},
		{"a later deadline", scarce(), infeasible(cure(deadline, deadline, 4000.0)), CuresCheck, OK},
		{"a deadline that makes it impossible", scarce(), infeasible(cure(deadline, deadline, 190.0)), CuresCheck, Failed},
		{"a negative quota", scarce(), infeasible(cure(quota, quota, -1)), CuresCheck, Failed},
		{"a value that is none", scarce(), infeasible(cure(quota, quota, "many")), CuresCheck, NotProved},
		{"no conflict named", scarce(), infeasible(), CuresCheck, Failed},
		{"a shortage that is none", nightly(), infeasible(cure(quota, quota, 1)), InfeasibilityCheck, Failed},
		{"a quota that is just enough", withQuota(7), infeasible(cure(quota, quota, 8)), InfeasibilityCheck, Failed},
		{"a quota one short", withQuota(6), infeasible(cure(quota, quota, 7)), InfeasibilityCheck, OK},
		{"an impossible promise", late(), infeasible(cure(deadline, deadline, 500.0)), InfeasibilityCheck, OK},
		{"an impossible promise cured", late(), infeasible(cure(deadline, deadline, 500.0)), CuresCheck, OK},
		{"a deadline still too early", late(), infeasible(cure(deadline, deadline, 190.0)), CuresCheck, Failed},
		{"the wrong conflict", late(), infeasible(cure(quota, quota, 500)), CuresCheck, Failed},
		{"an impossible class and a shortage", both(), infeasible(cure("/classes/1/deadline_s", "/classes/1/deadline_s", 2700.0), cure(quota, quota, 11)), CuresCheck, OK},
		{"the shortage cured without the impossible class", both(), infeasible(cure("/classes/1/deadline_s", "/classes/1/deadline_s", 2700.0), cure(quota, quota, 7)), CuresCheck, OK},
		{"the shortage not cured", both(), infeasible(cure("/classes/1/deadline_s", "/classes/1/deadline_s", 2700.0), cure(quota, quota, 6)), CuresCheck, Failed},
		{"the impossible class unnamed", both(), infeasible(cure(quota, quota, 11)), CuresCheck, Failed},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := Verify(tt.problem, tt.plan, Options{Brief: true})
			if c, _ := r.Find(tt.check); c.Outcome != tt.want {
				t.Errorf("got %q, want %q\n%s", c.Outcome, tt.want, r)
			}
		})
	}
}

func withQuota(n int64) capacity.Problem {
	p := nightly()
	p.Supply.OnDemand.Quota = &n
	return p
}

// A problem is confirmed infeasible exactly if enumeration finds no plan.
func TestInfeasibleMeansThatEnumerationFindsNone(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := aProblem(t)
		_, feasible := tryPlan(p)
		c, _ := Verify(p, infeasible(cure("/classes/0", "", nil)), Options{Brief: true}).Find(InfeasibilityCheck)
		want := OK
		if feasible {
			want = Failed
		}
		if c.Outcome != want {
			t.Fatalf("a plan exists: %t; got %s %s", feasible, c.Outcome, c.Detail)
		}
	})
}

func TestAnUnpromisedImpossibleClassIsTurnedAway(t *testing.T) {
	p := mixed()
	p.Classes[0].DeadlineSeconds, p.Classes[0].Jobs.Min = 150, 0
	pl := planFor(t, p)
	if pl.Classes[0].Verdict != capacity.VerdictImpossible {
		t.Fatalf("got %s, want impossible", pl.Classes[0].Verdict)
	}
	accepted(t, p, pl)
	pl.Classes[0].Admitted, pl.Classes[0].Refused = 1, 2
	refused(t, p, pl, ShapeCheck)
}

func TestUnreadableProblemsAreNamed(t *testing.T) {
	spoil := map[string]func(p *capacity.Problem){
		"period":        func(p *capacity.Problem) { p.PeriodSeconds = 0 },
		"price":         func(p *capacity.Problem) { p.Supply.OnDemand.Price = cash("-1") },
		"beyond reason": func(p *capacity.Problem) { p.Supply.OnDemand.Price = money.Amount{Decimal: decimal.New(1, 900)} },
		"quota":         func(p *capacity.Problem) { p.Supply.OnDemand.Quota = pointer(int64(-1)) },
		"exactly one":   func(p *capacity.Problem) { p.Classes[0].Demand = &capacity.Demand{} },
		"not a range":   func(p *capacity.Problem) { p.Classes[0].Jobs.Min = 99 },
		"not whole":     func(p *capacity.Problem) { p.Classes[0].Jobs.Max = 10.5 },
		"proper number": func(p *capacity.Problem) { p.Classes[0].DeadlineSeconds = math.NaN() },
		"at least one":  func(p *capacity.Problem) { p.Classes[0].SlotsPerVM.Map = 0 },
		"the gap":       func(p *capacity.Problem) { p.Options.Gap = math.Inf(1) },
		"guessed":       func(p *capacity.Problem) { p.Options.Bound = "guessed" },
		"as well": func(p *capacity.Problem) {
			p.Classes[0].Profile.Stages = []capacity.Stage{{Tasks: 2, AvgSeconds: 1, MaxSeconds: 1}}
		},
		"negative": func(p *capacity.Problem) {
			p.Classes[0].Profile = &capacity.Profile{Stages: []capacity.Stage{{Tasks: 2, AvgSeconds: -1, MaxSeconds: 1}}}
		},
		"of the bound": func(p *capacity.Problem) {
			p.Classes[0].Calibration = &capacity.Calibration{Bound: capacity.CalibratedBound, Factor: 1}
		},
		"positive factor": func(p *capacity.Problem) {
			p.Classes[0].Calibration = &capacity.Calibration{Bound: capacity.LowerBound}
		},
		"half":           func(p *capacity.Problem) { p.Options.Integrality = "half" },
		"contract x":     func(p *capacity.Problem) { p.Supply.Contracts[0] = capacity.Contract{Name: "x", VMs: -1} },
		"of nightly-etl": func(p *capacity.Problem) { p.Classes[0].Penalty = cash("-5") },
	}
	for want, f := range spoil {
		p := nightly()
		p.Classes[0].Profile = pointer(*p.Classes[0].Profile)
		f(&p)
		c, _ := Verify(p, planFor(t, nightly()), Options{Brief: true}).Find(ProblemCheck)
		if c.Outcome != Failed || !strings.Contains(strings.ToLower(c.Detail), want) {
			t.Errorf("got %s %q, want a failure that says %q", c.Outcome, c.Detail, want)
		}
	}
}

// Verify answers any plan. A changed plan never passes unnoticed by chance alone: the figures that are checked are
// those drawn here.
func TestAnyChangedFigureIsNoticed(t *testing.T) {
	for _, integrality := range []capacity.Integrality{capacity.Relaxed, capacity.Integer, capacity.Executable} {
		p := mixed()
		p.Options.Integrality = integrality
		right := planFor(t, p)
		rapid.Check(t, func(t *rapid.T) {
			pl := clone(right)
			figures := []*float64{&pl.VMs.Total, &pl.VMs.Reserved, &pl.VMs.OnDemand, &pl.VMs.Rounding, &pl.VMs.Contracts[0].Used,
				&pl.VMs.Contracts[1].Used, &pl.VMs.Contracts[1].VMs, &pl.Relaxed.Capacity, &pl.Relaxed.Jobs[1], &pl.Proof.Gap}
			for i := range pl.Classes {
				c := &pl.Classes[i]
				figures = append(figures, &c.Admitted, &c.Refused, &c.VMs, &c.VMsPerJob)
				if c.Time != nil {
					figures = append(figures, c.Time.Average)
				}
			}
			x := rapid.SampledFrom(figures).Draw(t, "figure")
			y := rapid.SampledFrom([]float64{-1, 0, 1e-3, 1, 7.5, 1e17, 1e300, math.Inf(-1), math.NaN(), *x + 1e-4, *x * 1.001, *x - 1}).Draw(t, "value")
			if math.Abs(y-*x) < 1e-5 {
				t.Skip("no change")
			}
			*x = y
			if r := Verify(p, pl, Options{Brief: true, Nodes: 1000}); r.Accepted() {
				t.Fatalf("got %s, want the change noticed\n%s", r.Outcome, r)
			}
		})
	}
}

func TestCorruptionsOfOtherModes(t *testing.T) {
	mode := func(i capacity.Integrality, s capacity.Sharing) capacity.Problem {
		p := mixed()
		p.Options.Integrality, p.Options.Sharing = i, s
		return p
	}
	dedicated := mode(capacity.Executable, capacity.Dedicated)
	paper := mode(capacity.Integer, capacity.Shared)
	loose := mode(capacity.Relaxed, capacity.Shared)
	tests := []struct {
		name    string
		problem capacity.Problem
		check   string
		spoil   func(pl *capacity.Plan)
	}{
		{"two classes on a dedicated VM", dedicated, LayoutCheck, func(pl *capacity.Plan) {
			pl.Layout[0].Slots = append(pl.Layout[0].Slots, capacity.ClassSlots{Class: "reports"})
		}},
		{"a shared plan called dedicated", dedicated, CapacityCheck, func(pl *capacity.Plan) { *pl = planFor(t, mixed()) }},
		{"a paper plan with slots that are too small", paper, DeadlinesCheck, func(pl *capacity.Plan) { pl.Classes[0].Slots.Map *= 0.999 }},
		{"a paper plan with slots that take more than its share", paper, DeadlinesCheck, func(pl *capacity.Plan) { pl.Classes[0].Slots.Reduce *= 1.01 }},
		{"a paper plan on half a VM more", paper, RentalCheck, func(pl *capacity.Plan) { pl.VMs.OnDemand += .5; pl.VMs.Total += .5 }},
		{"an integer answer that is not the plan", paper, IntegerCheck, func(pl *capacity.Plan) {
			pl.Integer = &capacity.IntegerPlan{Objective: pl.Objective, VMs: pl.VMs.Total + 1, Executable: true}
		}},
		{"missing VMs overlooked", paper, IntegerCheck, func(pl *capacity.Plan) {
			pl.Integer = &capacity.IntegerPlan{Objective: pl.Objective, VMs: pl.VMs.Total, Executable: true}
		}},
		{"too many VMs missing", paper, IntegerCheck, func(pl *capacity.Plan) {
			pl.Integer = &capacity.IntegerPlan{Objective: pl.Objective, VMs: pl.VMs.Total, ShortVMs: 9}
		}},
		{"a relaxed plan on less capacity", loose, CapacityCheck, func(pl *capacity.Plan) { pl.VMs.Total -= 0.01 }},
		{"a relaxed price off", loose, PricesCheck, func(pl *capacity.Plan) { plus(pl.Prices.Capacity.High, "0.001") }},
		{"a relaxed worth off", loose, PricesCheck, func(pl *capacity.Plan) { plus(&pl.Prices.Contracts[1].Worth, "0.001") }},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			pl := planFor(t, tt.problem)
			accepted(t, tt.problem, pl)
			tt.spoil(&pl)
			refused(t, tt.problem, pl, tt.check)
		})
	}
}

func TestTheIntegerPlanSaysHowManyVMsItLacks(t *testing.T) {
	p := mixed()
	p.Options.Integrality = capacity.Integer
	pl := planFor(t, p)
	load := 0.0
	for i, c := range pl.Classes {
		if c.Slots == nil {
			load += c.VMs
			continue
		}
		_, _, size := kindOf(&p.Classes[i], p.Options).wholeSlots(int64(c.Admitted), p.Options)
		load += size
	}
	short := math.Ceil(load-1e-9) - pl.VMs.Total
	if short < 1 {
		t.Fatalf("got %v VMs missing: the case is of no use", short)
	}
	pl.Integer = &capacity.IntegerPlan{Objective: pl.Objective, VMs: pl.VMs.Total, ShortVMs: short}
	accepted(t, p, pl)
}

// A demand without work in a phase may mean an absent phase or a short one: both readings stand.
func TestADemandWithoutReduceWorkIsReadAsThePlanDoes(t *testing.T) {
	p := nightly()
	p.Classes = []capacity.Class{{Name: "maps", Demand: &capacity.Demand{MapWorkSeconds: 90, FixedSeconds: 10}, DeadlineSeconds: 100,
		SlotsPerVM: capacity.SlotsPerVM{Map: 2, Reduce: 2}, Jobs: capacity.JobRange{Min: 2, Max: 2}, Penalty: cash("1")}}
	absent := planFor(t, p)
	if c := absent.Classes[0]; c.VMsPerJob != 0.5 || c.Slots.Reduce != 0 {
		t.Fatalf("got %+v, want half a VM and no reduce slot", c)
	}
	accepted(t, p, absent)

	short := clone(absent) // two reduce slots beside the two map slots: one VM more
	c := &short.Classes[0]
	c.VMsPerJob, c.VMs, c.Slots.Reduce = 1, 2, 2
	short.Layout = append(short.Layout, capacity.VMLayout{VMs: 1, Slots: []capacity.ClassSlots{{Class: "maps", Reduce: 2}}})
	short.VMs.Total, short.VMs.Reserved, short.VMs.Contracts[0].Used = 2, 2, 2
	for _, m := range []*money.Amount{&short.Objective, &short.Cost.Reserved, &short.Cost.Bill, &short.Cost.Total, &short.Cost.PerHour, &short.Proof.Bound} {
		plus(m, "0.10")
	}
	plus(&short.Cost.PerMonth, "73")
	short.Relaxed.Capacity = 2
	plus(&short.Relaxed.Objective, "0.10")
	plus(c.BreakEvenPenalty, "0.05")
	accepted(t, p, short)

	c.VMsPerJob = 0.75 // and no other figure
	refused(t, p, short, ConversionCheck)
}

func TestAReportReadsAsLines(t *testing.T) {
	r := Verify(nightly(), infeasible(), Options{Brief: true})
	text := r.String()
	if !strings.Contains(text, "infeasibility failed     There is a plan") || !strings.HasSuffix(text, "overall       failed\n") {
		t.Errorf("got\n%s", text)
	}
}
