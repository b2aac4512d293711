package whatif

import (
	"context"
	"strings"
	"testing"

	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/money"
	"example.org/headroom/internal/core/plan"
	"example.org/headroom/internal/test/plantest"
)

func answeredPlan(t *testing.T, p capacity.Problem) Answered {
	t.Helper()
	answer, err := plan.Solve(context.Background(), p, nil)
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
	if want := "The bill rises by 1.10 to 2.40 USD an hour, the value refused rises by 0.45 to 0.45, 12 VMs are rented, 1 fewer, 1 job more admitted, 3 jobs fewer admitted."; d.Sentence != want {
		t.Errorf("got %q, want %q", d.Sentence, want)
	}
	for i, line := range Compare(after, before).Cost {
		if !line.Change.Equal(d.Cost[i].Change.Neg()) {
			t.Errorf("backwards, %s changes by %s instead of %s", line.Name, line.Change, d.Cost[i].Change.Neg())
		}
	}
}

// The change of a line is over the same length of time in both plans, and there is none between currencies.
func TestCompareByTheSameLength(t *testing.T) {
	t.Parallel()
	in := func(currency string, seconds int64, bill string) Answered {
		m := plantest.AmountIn(t, bill)
		p := capacity.Problem{Currency: currency, PeriodSeconds: seconds, Options: capacity.DefaultOptions()}
		return Answered{p, capacity.Plan{Cost: capacity.Cost{Currency: currency, PeriodSeconds: seconds, Bill: m, Total: m}}}
	}
	for _, c := range []struct {
		from, to    Answered
		was, change string
	}{
		{in("USD", 3600, "0.40"), in("USD", 86400, "9.60"), "9.60", "0.00"},
		{in("USD", 86400, "9.60"), in("USD", 3600, "0.60"), "0.40", "0.20"},
		{in("USD", 3600, "0.40"), in("USD", 3600, "0.10"), "0.40", "-0.30"},
		{in("USD", 3600, "0.40"), in("EUR", 3600, "0.40"), "0.40", ""},
	} {
		bill := Compare(c.from, c.to).Cost[1]
		change := ""
		if bill.Change != nil {
			change = bill.Change.String()
		}
		if bill.Name != "bill" || bill.From.String() != c.was || change != c.change || !bill.To.Equal(c.to.Plan.Cost.Bill.Decimal) {
			t.Errorf("got %+v with the change %q, want %s and %q", bill, change, c.was, c.change)
		}
	}
}

func TestCompareAcrossCurrenciesAndPeriods(t *testing.T) {
	in := func(currency string, seconds int64, bill string) Answered {
		money := func(text string) money.Amount {
			m, err := money.Parse(text)
			if err != nil {
				t.Fatal(err)
			}
			return m
		}
		p := capacity.Problem{Currency: currency, PeriodSeconds: seconds, Options: capacity.DefaultOptions()}
		return Answered{p, capacity.Plan{Cost: capacity.Cost{Currency: currency, PeriodSeconds: seconds, Bill: money(bill)}}}
	}
	hourly := in("USD", 3600, "8")
	for _, c := range []struct {
		to   Answered
		want string
	}{
		{in("EUR", 3600, "7"), "The bill was 8.00 USD an hour and is 7.00 EUR an hour, "},
		{in("USD", 900, "2"), "The bill was 8.00 USD an hour and is 2.00 USD a period of 900 s, "},
		{in("EUR", 900, "2"), "The bill was 8.00 USD an hour and is 2.00 EUR a period of 900 s, "},
	} {
		if got := Compare(hourly, c.to).Sentence; !strings.HasPrefix(got, c.want) {
			t.Errorf("got %q, want it to begin with %q", got, c.want)
		}
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
	for _, line := range d.Cost[2:] {
		sum.Decimal = sum.Add(line.Change.Decimal)
	}
	for _, line := range d.VMs[1:] {
		vms += line.Change
	}
	if !sum.Equal(d.Cost[0].Change.Decimal) || vms != d.VMs[0].Change || sum.String() != "-0.70" {
		t.Errorf("the lines come to %s and %g VMs: %+v, %+v", sum, vms, d.Cost, d.VMs)
	}
}
