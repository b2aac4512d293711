package plan

import (
	"context"
	"strings"
	"testing"

	"headroom/internal/core/capacity"
	"headroom/internal/core/money"
	"headroom/internal/test/plantest"
)

func answeredPlan(t *testing.T, p capacity.Problem) Answered {
	t.Helper()
	answer, err := Solve(context.Background(), p, nil)
	if err != nil {
		t.Fatal(err)
	}
	return Answered{p, answer}
}

func TestCompareSaysWhatChangedAndWhy(t *testing.T) {
	read := func(text string) capacity.Problem {
		p, err := capacity.ReadProblem([]byte(text), capacity.Limits{})
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	const classes = `{"name":"a","vms_per_job":"2","jobs":{"min":0,"max":5},"penalty":"9"},{"name":"b","vms_per_job":"1","jobs":{"min":0,"max":3},"penalty":"0.15"}`
	const options = `"options":{"engine":"exact"}`
	before := answeredPlan(t, read(`{"currency":"USD","supply":{"on_demand":{"price":"0.1"}},"classes":[`+classes+`],`+options+`}`))
	after := answeredPlan(t, read(`{"currency":"USD","supply":{"on_demand":{"price":"0.2"}},"classes":[`+strings.Replace(classes, `"max":5`, `"max":6`, 1)+`],`+options+`}`))

	same := Compare(before, before)
	if same.Sentence != "Nothing changed." || len(same.Classes)+len(same.Inputs) != 0 {
		t.Errorf("the same plan twice: got %+v", same)
	}
	d := Compare(before, after)
	// 13 VMs at 0.10 and nobody refused; then 12 VMs at 0.20 and three times 0.15.
	if got := d.Cost[0]; got.From.String() != "1.30" || got.To.String() != "2.85" || got.Change.String() != "1.55" {
		t.Errorf("total: got %+v", got)
	}
	if got := d.VMs[0]; got.From != 13 || got.To != 12 || got.Change != -1 {
		t.Errorf("VMs: got %+v", got)
	}
	if len(d.Classes) != 2 || d.Classes[0].To.Admitted != 6 || d.Classes[1].To.Admitted != 0 || d.Classes[1].From.Admitted != 3 {
		t.Errorf("classes: got %+v", d.Classes)
	}
	var inputs []string
	for _, f := range d.Inputs {
		inputs = append(inputs, f.Pointer)
	}
	if got := strings.Join(inputs, " "); got != "/classes/a/jobs/max /supply/on_demand/price" {
		t.Errorf("inputs: got %s", got)
	}
	if want := "The cost rises by 1.55 to 2.85 USD, 12 VMs are rented, 1 fewer, 1 job more admitted, 3 jobs fewer admitted."; d.Sentence != want {
		t.Errorf("got %q, want %q", d.Sentence, want)
	}
	for i, line := range Compare(after, before).Cost {
		if !line.Change.Equal(d.Cost[i].Change.Neg()) {
			t.Errorf("backwards, %s changes by %s instead of %s", line.Name, line.Change, d.Cost[i].Change.Neg())
		}
	}
}

func TestCompareAcrossCurrenciesAndPeriods(t *testing.T) {
	in := func(currency string, seconds int64, total, hour string) Answered {
		money := func(text string) money.Amount {
			m, err := money.Parse(text)
			if err != nil {
				t.Fatal(err)
			}
			return m
		}
		p := capacity.Problem{Currency: currency, PeriodSeconds: seconds, Options: capacity.DefaultOptions()}
		return Answered{p, capacity.Plan{Cost: capacity.Cost{Currency: currency, PeriodSeconds: seconds, Total: money(total), PerHour: money(hour)}}}
	}
	hourly := in("USD", 3600, "8", "8")
	for _, c := range []struct {
		to   Answered
		want string
	}{
		{in("EUR", 3600, "7", "7"), "The cost was 8.00 USD and is 7.00 EUR, "},
		{in("USD", 900, "2", "8"), "The cost per hour was 8.00 USD and is 8.00, "},
		{in("EUR", 900, "2", "8"), "The cost per hour was 8.00 USD and is 8.00 EUR, "},
	} {
		if got := Compare(hourly, c.to).Sentence; !strings.HasPrefix(got, c.want) {
			t.Errorf("got %q, want it to begin with %q", got, c.want)
		}
	}
}

func TestImpossibleDeadlines(t *testing.T) {
	p, err := capacity.ReadProblem([]byte(`{"currency":"USD","supply":{"on_demand":{"price":"0.1"}},"classes":[
		{"name":"fine","demand":{"map_work_s":100,"reduce_work_s":10,"fixed_s":5},"deadline_s":60,"slots_per_vm":{"map":1,"reduce":1},"jobs":{"min":1,"max":2},"penalty":"1"},
		{"name":"hopeless","demand":{"map_work_s":100,"reduce_work_s":10,"fixed_s":70},"deadline_s":60,"slots_per_vm":{"map":1,"reduce":1},"jobs":{"min":0,"max":2},"penalty":"1"},
		{"name":"promised","demand":{"map_work_s":100,"reduce_work_s":10,"fixed_s":70},"deadline_s":60,"slots_per_vm":{"map":1,"reduce":1},"jobs":{"min":1,"max":2},"penalty":"1"}]}`), capacity.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	findings, warnings, err := ImpossibleDeadlines(p)
	if err != nil || len(findings) != 1 || len(warnings) != 1 {
		t.Fatalf("got %v, %v, %v", findings, warnings, err)
	}
	if f := findings[0]; f.Pointer != "/classes/2/deadline_s" || f.Hint == nil || !(f.Hint.Value.(float64) > 70) {
		t.Errorf("got %+v", f)
	}
	if w := warnings[0]; w.Pointer != "/classes/1/deadline_s" || !strings.Contains(w.Detail, "No job of class \"hopeless\" will be admitted") {
		t.Errorf("got %+v", w)
	}
}

// With several VM types a deadline is impossible only if no type meets it, however fast.
func TestImpossibleDeadlinesOfSeveralTypes(t *testing.T) {
	p, err := capacity.ReadProblem([]byte(`{"currency":"USD","supply":{"vm_types":[
		{"name":"slow","on_demand":{"price":"0.1"}},{"name":"fast","on_demand":{"price":"0.3"}}]},"classes":[
		{"name":"only on fast","demand":{"map_work_s":100,"reduce_work_s":10,"fixed_s":100},"deadline_s":60,"speed":{"fast":2},"slots_per_vm":{"map":1,"reduce":1},"jobs":{"min":1,"max":2},"penalty":"1"},
		{"name":"too slow","demand":{"map_work_s":100,"reduce_work_s":10,"fixed_s":70},"deadline_s":60,"speed":{"slow":0.5,"fast":0},"slots_per_vm":{"map":1,"reduce":1},"jobs":{"min":1,"max":2},"penalty":"1"},
		{"name":"nowhere","demand":{"map_work_s":100,"reduce_work_s":10,"fixed_s":70},"deadline_s":60,"slots_per_vm":{"slow":{"map":1,"reduce":1}},"jobs":{"min":0,"max":2},"penalty":"1"},
		{"name":"by gamma","vms_per_job":"2","speed":{"slow":0},"jobs":{"min":1,"max":2},"penalty":"1"}]}`), capacity.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	findings, warnings, err := ImpossibleDeadlines(p)
	if err != nil || len(findings) != 1 || len(warnings) != 1 {
		t.Fatalf("got %v, %v, %v", findings, warnings, err)
	}
	if f := findings[0]; f.Pointer != "/classes/1/deadline_s" || f.Hint == nil || f.Hint.Value != 141.0 {
		t.Errorf("got %+v", f)
	}
	if w := warnings[0]; w.Pointer != "/classes/2/deadline_s" || !strings.Contains(w.Detail, "Allow 71 s or more.") {
		t.Errorf("got %+v", w)
	}
	p.Classes = p.Classes[:1]
	p.Classes[0].DeadlineSeconds = 50
	pl := solved(t, p)
	if pl.Status != capacity.InfeasibleStatus || pl.Conflicts[0].Hint.Value != 51.0 {
		t.Errorf("got %s with %v", pl.Status, pl.Conflicts)
	}
}

// The lines of a difference add up to its total, spot among them.
func TestADifferenceWithSpotCloses(t *testing.T) {
	t.Parallel()
	p := plantest.Market(t, 0, "0.10", "0.40", capacity.Integer)
	p.Classes = []capacity.Class{plantest.ByGamma(t, "a", "1", "2", 0, 4)}
	from := Answered{p, solved(t, p)}
	p.Supply.Spot = &capacity.Spot{Price: plantest.AmountIn(t, "0.05"), MaxShare: 0.5}
	d := Compare(from, Answered{p, solved(t, p)})
	sum, vms := money.Amount{}, 0.0
	for _, line := range d.Cost[1:] {
		sum.Decimal = sum.Add(line.Change.Decimal)
	}
	for _, line := range d.VMs[1:] {
		vms += line.Change
	}
	if !sum.Equal(d.Cost[0].Change.Decimal) || vms != d.VMs[0].Change || sum.String() != "-0.70" {
		t.Errorf("the lines come to %s and %g VMs: %+v, %+v", sum, vms, d.Cost, d.VMs)
	}
}
