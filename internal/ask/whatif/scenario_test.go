package whatif

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/money"
	"example.org/headroom/internal/core/plan/integer"
	"example.org/headroom/internal/core/proof"
	"example.org/headroom/internal/test/plantest"
)

// TestScenariosCloseAndCanBeCarriedOut draws problems and scenarios of every kind. Every line and every class must add
// up. The scenario's plan must be the changed problem's, and pass the independent proof. The same decisions must be
// the same by the test's own count of the money, and by a plan of just the kept jobs on just the kept VMs.
func TestScenariosCloseAndCanBeCarriedOut(t *testing.T) {
	r := rand.New(rand.NewPCG(11, 5))
	kept, lost, shed, infeasible := 0, 0, 0, 0
	for n := range plantest.Samples(400) {
		p := plantest.DrawAny(r)
		base, err := NewBase(t.Context(), p, alone)
		if err != nil {
			t.Fatal(err)
		}
		s, changed := drawScenario(r, &p)
		a, err := base.Answer(t.Context(), s, true)
		if err != nil {
			t.Fatalf("%d: %v", n, err)
		}
		at := func(format string, values ...any) {
			t.Helper()
			text, _ := json.Marshal(p)
			changes, _ := json.Marshal(s.Changes)
			t.Errorf("sample %d: %s\nproblem %s\nchanges %s", n, fmt.Sprintf(format, values...), text, changes)
		}
		direct := solved(t, changed)
		if direct.Status == capacity.InfeasibleStatus {
			infeasible++
			if a.Status != direct.Status || len(a.Conflicts) == 0 || a.Difference != nil || a.Plan != nil {
				at("infeasible, got %+v", a)
			}
			continue
		}
		if diff := cmp.Diff(capacity.AppendPlan(nil, direct), capacity.AppendPlan(nil, *a.Plan)); diff != "" {
			at("not the plan of the changed problem: %s", diff)
		}
		if report := proof.Verify(changed, *a.Plan, proof.Options{}); !report.Accepted() {
			at("the plan is refuted: %+v", report)
		}
		if base.Plan.Status == capacity.InfeasibleStatus {
			continue
		}
		d := a.Difference
		checkClosed(at, d, &base.Plan, a.Plan)
		same, err := base.sameDecisions(&changed)
		if err != nil {
			t.Fatal(err)
		}
		checkSame(t, at, &changed, same, d)
		switch {
		case d.Kept:
			kept++
		case slices.ContainsFunc(d.KeptBecause, func(s string) bool { return strings.Contains(s, "no room any more") }):
			shed++
		default:
			lost++
		}
		if t.Failed() {
			return
		}
	}
	t.Logf("%d kept, %d kept in part, %d with jobs that no longer fit, %d infeasible", kept, lost, shed, infeasible)
	if kept == 0 || lost == 0 || shed == 0 || infeasible == 0 {
		t.Error("the samples do not cover every case")
	}
}

// checkClosed adds everything up.
func checkClosed(at func(string, ...any), d *ScenarioDifference, from, to *capacity.Plan) {
	sum := MoneySplit{}
	add := func(into *MoneySplit, m MoneySplit) {
		into.From.Decimal = into.From.Add(m.From.Decimal)
		into.Values.Decimal = into.Values.Add(m.Values.Decimal)
		into.Decisions.Decimal = into.Decisions.Add(m.Decisions.Decimal)
		into.To.Decimal = into.To.Add(m.To.Decimal)
	}
	equal := func(a, b MoneySplit) bool {
		return a.From.Equal(b.From.Decimal) && a.Values.Equal(b.Values.Decimal) && a.Decisions.Equal(b.Decisions.Decimal) && a.To.Equal(b.To.Decimal)
	}
	for _, line := range d.Cost {
		if !line.From.Add(line.Values.Decimal).Add(line.Decisions.Decimal).Equal(line.To.Decimal) {
			at("the line %s does not close: %+v", line.Name, line)
		}
	}
	for _, line := range d.Cost[2:] {
		if line.Name == "penalties" && !equal(sum, d.Cost[1]) {
			at("the lines of VMs add up to %+v, the bill is %+v", sum, d.Cost[1])
		}
		add(&sum, line)
	}
	if !equal(sum, d.Cost[0]) {
		at("the lines add up to %+v, the total is %+v", sum, d.Cost[0])
	}
	if !d.Cost[0].From.Equal(from.Cost.Total.Decimal) || !d.Cost[0].To.Equal(to.Cost.Total.Decimal) {
		at("the total goes from %s to %s, the plans' from %s to %s", d.Cost[0].From, d.Cost[0].To, from.Cost.Total, to.Cost.Total)
	}
	sum = *d.Shared
	for _, class := range d.Classes {
		add(&sum, class.MoneySplit)
	}
	if !equal(sum, d.Cost[0]) {
		at("the classes add up to %+v, the total is %+v", sum, d.Cost[0])
	}
}

// checkSame recomputes what the same decisions cost with rational numbers, and has a plan made of just
// the kept jobs on just the kept VMs.
func checkSame(t *testing.T, at func(string, ...any), p *capacity.Problem, s *same, d *ScenarioDifference) {
	t.Helper()
	u := &s.uses[0]
	rat := func(m money.Amount) *big.Rat { return m.Decimal.Rat() }
	times := func(x *big.Rat, n float64) *big.Rat { return new(big.Rat).Mul(x, new(big.Rat).SetFloat64(n)) }
	hourly := times(rat(p.Supply.OnDemand.Price), u.onDemand)
	for k, c := range p.Supply.Contracts {
		n := u.contracts[k]
		if n < 0 || n > float64(c.VMs) {
			at("%g VMs of contract %s are used, which has %d", n, c.Name, c.VMs)
		}
		if c.Billing == capacity.BilledAlways {
			n = float64(c.VMs)
		}
		hourly.Add(hourly, times(rat(c.Price), n))
	}
	if q := p.Supply.OnDemand.Quota; q != nil && u.onDemand > float64(*q) {
		at("%g VMs are rented on demand, and the quota is %d", u.onDemand, *q)
	}
	total := times(hourly, float64(p.PeriodSeconds)/3600)
	if p.PeriodSeconds%3600 != 0 {
		total = new(big.Rat).Mul(hourly, big.NewRat(p.PeriodSeconds, 3600))
	}
	fixed := *p
	fixed.Classes = slices.Clone(p.Classes)
	for i := range fixed.Classes {
		refused := new(big.Rat).Sub(new(big.Rat).SetFloat64(p.Classes[i].Jobs.Max), new(big.Rat).SetFloat64(u.jobs[i]))
		total.Add(total, new(big.Rat).Mul(rat(p.Classes[i].Penalty), refused))
		fixed.Classes[i].Jobs = capacity.JobRange{Min: u.jobs[i], Max: u.jobs[i]}
		if u.jobs[i] > s.base.Plan.Classes[i].Admitted || u.jobs[i] > p.Classes[i].Jobs.Max {
			at("%g jobs of class %s are kept, the base has %g and %g are asked for", u.jobs[i], p.Classes[i].Name, s.base.Plan.Classes[i].Admitted, p.Classes[i].Jobs.Max)
		}
	}
	said := new(big.Rat).Add(rat(d.Cost[0].From), rat(d.Cost[0].Values))
	if off, _ := new(big.Rat).Sub(said, total).Float64(); math.Abs(off) > 5e-9 { // five lines are rounded to nine places
		at("the same decisions cost %s by hand, %s by the answer", total.FloatString(9), said.FloatString(9))
	}
	fixed.Supply.Contracts = slices.Clone(p.Supply.Contracts)
	quota := int64(math.Ceil(u.onDemand - integer.LoadNoise))
	for k := range fixed.Supply.Contracts {
		fixed.Supply.Contracts[k].VMs = int64(math.Ceil(u.contracts[k] - integer.LoadNoise))
	}
	fixed.Supply.OnDemand.Quota = &quota
	fixed.Budget = nil
	if pl := solved(t, fixed); pl.Status == capacity.InfeasibleStatus {
		at("the kept jobs do not fit the kept VMs: %s", pl.Conflicts[0].Detail)
	}
}

// TestNoChangeChangesNothing: the same plan, and zeros.
func TestNoChangeChangesNothing(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 1))
	for range plantest.Samples(200) {
		p := plantest.DrawAny(r)
		base, err := NewBase(t.Context(), p, alone)
		if err != nil {
			t.Fatal(err)
		}
		a, err := base.Answer(t.Context(), Scenario{}, true)
		if err != nil {
			t.Fatal(err)
		}
		if base.Plan.Status == capacity.InfeasibleStatus {
			if a.Status != capacity.InfeasibleStatus {
				t.Errorf("got %s of an infeasible problem", a.Status)
			}
			continue
		}
		if diff := cmp.Diff(capacity.AppendPlan(nil, base.Plan), capacity.AppendPlan(nil, *a.Plan)); diff != "" {
			t.Errorf("another plan: %s", diff)
		}
		if !a.Difference.Kept || a.Sentence != "No change changes nothing." {
			t.Errorf("got %q %q", a.Sentence, a.Difference.KeptBecause)
		}
		lines := append(slices.Clone(a.Difference.Cost), *a.Difference.Shared)
		for _, class := range a.Difference.Classes {
			lines = append(lines, class.MoneySplit)
		}
		for _, line := range lines {
			if !line.Values.IsZero() || !line.Decisions.IsZero() || !line.From.Equal(line.To.Decimal) {
				text, _ := json.Marshal(p)
				t.Fatalf("%s: got %+v\n%s", line.Name, line, text)
			}
		}
	}
}

// market2 has a contract of 30 VMs at 0.10 and on-demand VMs at 0.20. Its classes have 20 jobs that take two VMs each
// at 600 s, worth 5 each, and 5 jobs of one VM worth 0.15.
func market2(t *testing.T) capacity.Problem {
	p := plantest.Market(t, 30, "0.10", "0.20", capacity.Executable)
	etl := capacity.Class{Name: "etl", Demand: &capacity.Demand{MapWorkSeconds: 1200}, DeadlineSeconds: 600, SlotsPerVM: capacity.SlotsPerVM{Map: 1, Reduce: 1},
		Jobs: capacity.JobRange{Min: 2, Max: 20}, Penalty: plantest.AmountIn(t, "5.00")}
	p.Classes = []capacity.Class{etl, plantest.ByGamma(t, "adhoc", "1", "0.15", 0, 5)}
	return p
}

func TestSameDecisionsByHand(t *testing.T) {
	factor := func(x float64) *float64 { return &x }
	value := func(text string) *money.Amount { m := plantest.AmountIn(t, text); return &m }
	for _, c := range []struct {
		name    string
		changes []ScenarioChange
		// of the total: base 30·0.10 + 10·0.20 + 5·0.15 = 5.75
		values, decisions string
		because           string
		sentence          string
	}{
		{"a longer deadline keeps the VMs until one decides", []ScenarioChange{{What: ChangeDeadline, Factor: factor(2)}}, "0.00", "-3.25", "",
			// 20 VMs for etl, 5 for adhoc at 0.10, which is less than 0.15
			"Longer deadlines of all classes cut the VM bill by 2.50 USD an hour: 10 VMs fewer on demand, 5 VMs fewer in contracts; nothing is refused any more. The value refused falls by 0.75 to 0.00."},
		{"a shorter deadline needs VMs whoever decides", []ScenarioChange{{What: ChangeDeadline, Class: "etl", Factor: factor(0.5)}}, "8.00", "0.00", "For the same jobs 40 VMs had to be rented anew.",
			`Shorter deadlines of class "etl" raise the VM bill by 8.00 USD an hour: 40 VMs more on demand; 5 jobs are refused as before.`},
		{"a price of what is rented", []ScenarioChange{{What: ChangePrice, Value: value("0.30")}}, "1.00", "0.00", "",
			"A price of 0.30 for VMs on demand raises the VM bill by 1.00 USD an hour: the same VMs; 5 jobs are refused as before."},
		{"a price that pays for another decision", []ScenarioChange{{What: ChangePrice, Value: value("0.14")}}, "-0.60", "-0.05", "",
			"A price of 0.14 for VMs on demand raises the VM bill by 0.10 USD an hour: 5 VMs more on demand; nothing is refused any more. The value refused falls by 0.75 to 0.00."},
		{"more demand is refused until one decides", []ScenarioChange{{What: ChangeDemand, Class: "etl", Value: value("22")}}, "10.00", "-9.20", "",
			`A demand of 22 jobs of class "etl" raises the VM bill by 0.80 USD an hour: 4 VMs more on demand; 5 jobs are refused as before.`},
		{"less demand leaves VMs empty until one decides", []ScenarioChange{{What: ChangeDemand, Class: "etl", Value: value("15")}}, "0.00", "-2.00", `5 jobs of class "etl" had been admitted and are no longer asked for.`,
			`A demand of 15 jobs of class "etl" cuts the VM bill by 2.00 USD an hour: 10 VMs fewer on demand; 5 jobs are refused as before.`},
		{"a penalty of who is refused", []ScenarioChange{{What: ChangePenalty, Class: "adhoc", Factor: factor(2)}}, "0.75", "-0.50", "",
			`Higher penalties of class "adhoc" raise the VM bill by 1.00 USD an hour: 5 VMs more on demand; nothing is refused any more. The value refused falls by 0.75 to 0.00.`},
		{"a smaller contract is replaced on demand", []ScenarioChange{{What: ChangeContract, Contract: "reserved", Value: value("20")}}, "1.00", "0.00", "10 VMs can no longer be had from where they came.\nFor the same jobs 10 VMs had to be rented anew.",
			`20 VMs in contract "reserved" raise the VM bill by 1.00 USD an hour: 10 VMs more on demand, 10 VMs fewer in contracts; 5 jobs are refused as before.`},
		{"no contract at all", []ScenarioChange{{What: DropContract, Contract: "reserved"}}, "3.00", "0.00", "30 VMs can no longer be had from where they came.\nFor the same jobs 30 VMs had to be rented anew.",
			`Dropping contract "reserved" raises the VM bill by 3.00 USD an hour: 30 VMs more on demand, 30 VMs fewer in contracts; 5 jobs are refused as before.`},
		{"a quota under what is rented", []ScenarioChange{{What: ChangeQuota, Value: value("4")}}, "13.80", "0.00", "6 VMs can no longer be had from where they came.\nThere is no room any more for 3 jobs of class \"etl\" on the VMs there are.",
			"A quota of 4 VMs cuts the VM bill by 1.20 USD an hour: 6 VMs fewer on demand; 8 jobs are refused, 3 more than before. The value refused rises by 15.00 to 15.75."},
		{"a promise costs nothing until one keeps it", []ScenarioChange{{What: ChangePromised, Class: "adhoc", Value: value("3")}}, "0.00", "0.15", `Of class "adhoc" 3 jobs are promised now, and the plan admitted 0.`,
			`A promise of 3 jobs of class "adhoc" raises the VM bill by 0.60 USD an hour: 3 VMs more on demand; 2 jobs are refused, 3 fewer than before. The value refused falls by 0.45 to 0.30.`},
		{"a contract that is paid in any case", []ScenarioChange{{What: AddContract, Add: &AddedSupply{Contract: &capacity.Contract{Name: "new", VMs: 20, Price: plantest.AmountIn(t, "0.05"), Billing: capacity.BilledAlways}}}}, "1.00", "-3.25", "",
			`Contract "new" cuts the VM bill by 1.50 USD an hour: 10 VMs fewer on demand, 15 VMs more in contracts; nothing is refused any more. The value refused falls by 0.75 to 0.00.`},
	} {
		base, err := NewBase(t.Context(), market2(t), alone)
		if err != nil {
			t.Fatal(err)
		}
		if got := base.Plan.Cost.Total.String(); got != "5.75" {
			t.Fatalf("the base costs %s", got)
		}
		a, err := base.Answer(t.Context(), Scenario{Changes: c.changes}, true)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		total := a.Difference.Cost[0]
		if got, want := total.Values.String()+" "+total.Decisions.String(), c.values+" "+c.decisions; got != want {
			t.Errorf("%s: got values and decisions %s, want %s; %+v", c.name, got, want, a.Difference.Cost)
		}
		if got := strings.Join(a.Difference.KeptBecause, "\n"); got != c.because {
			t.Errorf("%s: kept because\n%s\nwant\n%s", c.name, got, c.because)
		}
		if a.Sentence != c.sentence {
			t.Errorf("%s: got %q, want %q", c.name, a.Sentence, c.sentence)
		}
	}
}

func TestScenariosOfInfeasibleProblems(t *testing.T) {
	none := money.Amount{}
	tight := Scenario{Name: "tight", Changes: []ScenarioChange{{What: DropContract, Contract: "reserved"}, {What: ChangeQuota, Value: &none}}}
	p := market2(t)
	w, err := CompareScenarios(context.Background(), p, []Scenario{tight}, true, alone)
	if err != nil {
		t.Fatal(err)
	}
	if a := w.Scenarios[0]; a.Status != capacity.InfeasibleStatus || a.Name != "tight" || a.Difference != nil || len(a.Conflicts) == 0 ||
		a.Sentence != "Dropping contract \"reserved\" and a quota of 0 VMs make the demands impossible to meet. The promised jobs need 4 VMs and there are 0." {
		t.Errorf("got %+v", a)
	}
	p, err = tight.Apply(p)
	if err != nil {
		t.Fatal(err)
	}
	back := Scenario{Changes: []ScenarioChange{{What: ChangeQuota}}}
	w, err = CompareScenarios(context.Background(), p, []Scenario{back}, true, alone)
	if err != nil {
		t.Fatal(err)
	}
	if a := w.Scenarios[0]; w.Base.Status != capacity.InfeasibleStatus || a.Status != capacity.Optimal || a.Difference != nil || a.Sentence != "No quota on demand makes the demands possible to meet, for a bill of 8.00 USD an hour and a value refused of 0.75." {
		t.Errorf("got %+v", w)
	}
}

// TestABudgetIsOverdrawnByTheSameDecisions: it takes no job away by itself.
func TestABudgetIsOverdrawnByTheSameDecisions(t *testing.T) {
	base, err := NewBase(t.Context(), market2(t), alone)
	if err != nil {
		t.Fatal(err)
	}
	p := market2(t)
	budget := plantest.AmountIn(t, "4.00")
	p.Budget = &capacity.Budget{VMCost: &budget, Total: &budget}
	same, err := base.sameDecisions(&p)
	if err != nil {
		t.Fatal(err)
	}
	kept := billOf(&p, same.uses)
	want := []string{"Its VMs would cost 5.00 USD, and the budget for VMs is 4.00.", "Bill and value refused would come to 5.75 USD, and the budget for both is 4.00."}
	if diff := cmp.Diff(want, same.because(&kept)); diff != "" {
		t.Error(diff)
	}
}

// BenchmarkScenario is one scenario over a hundred classes, by integrality.
func BenchmarkScenario(b *testing.B) {
	for _, integrality := range []capacity.Integrality{capacity.Relaxed, capacity.Integer, capacity.Executable} {
		for _, what := range []What{ChangeDeadline, ChangeDemand, ChangePrice} {
			b.Run(fmt.Sprintf("%s/%s", integrality, what), func(b *testing.B) {
				p, err := capacity.ReadProblem(plantest.CallBody(b, "mixed", integrality, 100), capacity.Limits{})
				if err != nil {
					b.Fatal(err)
				}
				base, err := NewBase(context.Background(), p, alone)
				if err != nil {
					b.Fatal(err)
				}
				factor := 0.9
				proved, before := 0, plantest.CPUSeconds(b)
				for b.Loop() {
					factor += 0.0001
					a, err := base.Answer(context.Background(), Scenario{Changes: []ScenarioChange{{What: what, Factor: &factor}}}, false)
					if err != nil {
						b.Fatal(err)
					}
					if a.Gap <= p.Options.Gap {
						proved++
					}
				}
				b.ReportMetric(float64(proved)/float64(b.N), "proved")
				b.ReportMetric((plantest.CPUSeconds(b)-before)/float64(b.N)*1e3, "cpu-ms/op")
			})
		}
	}
}
