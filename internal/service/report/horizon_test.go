package report

import (
	"bytes"
	"encoding/csv"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/shopspring/decimal"
	"pgregory.net/rapid"

	"example.org/headroom/internal/ask/horizon"
	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/fault"
	"example.org/headroom/internal/core/money"
	"example.org/headroom/internal/data/inputs"
)

// twoMonths returns three hours around the end of a month, one class, a contract and a quota.
func twoMonths(t testing.TB) horizon.PurchaseQuestion {
	t.Helper()
	each, quota := decimal.New(15, -1), int64(20)
	p := capacity.Problem{Currency: "EUR", PeriodSeconds: 3600, Options: capacity.DefaultOptions()}
	p.Options.Integrality, p.Options.Engine = capacity.Integer, capacity.EngineExact
	p.Supply.OnDemand = capacity.OnDemand{Price: amountIn(20), Quota: &quota}
	p.Classes = []capacity.Class{{Name: "=etl", VMsPerJob: &each, Penalty: amountIn(100), Jobs: capacity.JobRange{Max: 4}}}
	start := time.Date(2026, 1, 31, 22, 0, 0, 0, time.UTC)
	q := horizon.PurchaseQuestion{Horizon: horizon.Horizon{Problem: p}, Factors: []float64{1, 2}}
	for i, jobs := range []float64{4, 2, 20} {
		q.Periods = append(q.Periods, horizon.HorizonPeriod{Start: start.Add(time.Duration(i) * time.Hour), Hours: 1, Jobs: []float64{jobs}})
	}
	q.Contracts = []horizon.TermContract{{Contract: capacity.Contract{Name: "+signed", VMs: 4, Price: amountIn(10), Billing: capacity.BilledAlways},
		Upfront: amountIn(300), From: start, Until: start.Add(30 * time.Hour)}}
	q.Offers = []capacity.Offer{{Name: "day", Price: amountIn(4), Upfront: amountIn(24), Billing: capacity.BilledAlways, TermHours: 24, Max: 10}}
	if err := q.Validate(); err != nil {
		t.Fatal(err)
	}
	return q
}

func plannedHorizon(t testing.TB, h horizon.Horizon) horizon.Answer {
	t.Helper()
	a, err := horizon.Plan(t.Context(), h, nil, 1, nil)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func TestHorizonInWords(t *testing.T) {
	q := twoMonths(t)
	a := plannedHorizon(t, q.Horizon)
	var b strings.Builder
	if err := HorizonText(&b, a); err != nil {
		t.Fatal(err)
	}
	want := `From 2026-01-31 22:00 UTC until 2026-02-01 01:00 UTC (3 hours) the VM bill is 5.90 EUR: 4.40 on demand, 1.10 for VMs of contracts in use, 0.10 for idle ones and 0.30 for upfront payments, their share of this time. Refused jobs, which are on no bill, are valued at 4.00. The dearest month is February 2026, with a bill of 4.40. Contract "+signed" is used 91.7 % of its VM-hours. 4 of 26 job-hours are refused.

Month    hours  vm hours  on demand vm hours  reserved vm hours  reserved idle vm hours  admitted job hours  refused job hours  bill EUR  on demand EUR  reserved EUR  reserved idle EUR  upfront EUR  value refused EUR  bill and value refused EUR
2026-01      2         9                   2                  7                       1                   6                  0      1.50           0.40          0.70               0.10         0.30               0.00                        1.50
2026-02      1        24                  20                  4                       0                  16                  4      4.40           4.00          0.40               0.00         0.00               4.00                        8.40

Contract  VMs    Used  Idle VM hours  By the hour EUR  Idle EUR  Upfront EUR
+signed     4  91.7 %              1             1.10      0.10         0.30
`
	if diff := cmp.Diff(want, b.String()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// under returns the answer with other jobs in its last hour, beside that as it is.
func under(t *testing.T, q *horizon.PurchaseQuestion, scenario string, jobs float64, change func(c *capacity.Class)) horizon.Answer {
	t.Helper()
	changed := q.Horizon
	changed.Periods = slices.Clone(changed.Periods)
	changed.Periods[2].Jobs = []float64{jobs}
	changed.Problem.Classes = slices.Clone(changed.Problem.Classes)
	change(&changed.Problem.Classes[0])
	a := plannedHorizon(t, changed)
	a.Beside(scenario, plannedHorizon(t, q.Horizon), changed.Start(), changed.End())
	return a
}

func firstOf(text, otherwise string) string {
	if text == "" {
		return otherwise
	}
	return text
}

func TestMonthsBesideTheTimeAsItIs(t *testing.T) {
	q := twoMonths(t)
	fewer := under(t, &q, "night shift off", 10, func(*capacity.Class) {})
	var b strings.Builder
	if err := HorizonText(&b, fewer); err != nil {
		t.Fatal(err)
	}
	want := `With the scenario "night shift off" the VM bill from 2026-01-31 22:00 UTC until 2026-02-01 01:00 UTC (3 hours) is 4.10 EUR: 2.60 on demand, 1.10 for VMs of contracts in use, 0.10 for idle ones and 0.30 for upfront payments, their share of this time. As it is, the VM bill is 5.90 EUR: the scenario lowers it by 1.80 (30.5 %). Refused jobs, which are on no bill, are valued at 0.00. As it is, they are valued at 4.00: the scenario lowers that by 4.00. 16 job-hours are admitted, 6 fewer than as it is. The bill changes most in February 2026: it is 2.60, and 4.40 as it is. The dearest month is February 2026, with a bill of 2.60. Contract "+signed" is used 91.7 % of its VM-hours.

Month    hours  bill EUR  bill as it is EUR  bill difference EUR  value refused EUR  value refused as it is EUR  value refused difference EUR
2026-01      2      1.50               1.50                 0.00               0.00                        0.00                          0.00
2026-02      1      2.60               4.40                -1.80               0.00                        4.00                         -4.00
Total        3      4.10               5.90                -1.80               0.00                        4.00                         -4.00

Contract  VMs    Used  Idle VM hours  By the hour EUR  Idle EUR  Upfront EUR
+signed     4  91.7 %              1             1.10      0.10         0.30
`
	if diff := cmp.Diff(want, b.String()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	b.Reset()
	for _, per := range []Span{PerMonth, PerDay} {
		if err := Horizon(fewer, per).CSV(&b); err != nil {
			t.Fatal(err)
		}
	}
	head := "start,hours,hours_without_plan,hours_without_plan_as_it_is,vm_hours,on_demand_vm_hours,reserved_vm_hours,reserved_idle_vm_hours,admitted_job_hours,refused_job_hours,bill_EUR,bill_as_it_is_EUR,bill_difference_EUR,on_demand_EUR,spot_EUR,reserved_EUR,reserved_idle_EUR,upfront_EUR,value_refused_EUR,value_refused_as_it_is_EUR,value_refused_difference_EUR,bill_and_value_refused_EUR,hours_without_forecast,bill_without_forecast_EUR\n"
	first, last := ",2,0,0,9,2,7,1,6,0,1.50,1.50,0.00,0.40,0.00,0.70,0.10,0.30,0.00,0.00,0.00,1.50,0,0.00\n", ",1,0,0,15,11,4,0,10,0,2.60,4.40,-1.80,2.20,0.00,0.40,0.00,0.00,0.00,4.00,-4.00,2.60,0,0.00\n"
	want = head + "2026-01-01T00:00:00Z" + first + "2026-02-01T00:00:00Z" + last + head + "2026-01-31T00:00:00Z" + first + "2026-02-01T00:00:00Z" + last
	if diff := cmp.Diff(want, b.String()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	var summary figureSheet
	horizonSummary(&summary, fewer)
	for what, value := range map[string]string{"VM bill": "4.10", "VM bill as it is": "5.90", "VM bill with the scenario, less that as it is": "-1.80",
		"value of refused jobs as it is, on no bill": "4.00", "value of refused jobs with the scenario, less that as it is": "-4.00", "admitted jobs with the scenario, less those as it is": "-6"} {
		if !slices.ContainsFunc(summary.rows, func(row []Cell) bool { return row[0].Text == what && row[2].Text == value }) {
			t.Errorf("the summary lacks %q with %s: %v", what, value, summary.rows)
		}
	}
}

// Hours without a plan are in no bill. Where some have none, months are not compared, and cells stay empty.
func TestMonthsWithoutAPlanAreNotCompared(t *testing.T) {
	none := func(c *capacity.Class) { c.Jobs.Min = 20 }
	q := twoMonths(t)
	scenario := under(t, &q, "", 20, none)
	none(&q.Problem.Classes[0])
	for name, of := range map[string]struct {
		a    horizon.Answer
		said string
		rows []string // hours without a plan with the scenario and as it is, the bills and their difference
	}{
		"with the scenario": {scenario,
			"is 1.50 EUR: 0.40 on demand, 0.70 for VMs of contracts in use, 0.10 for idle ones and 0.30 for upfront payments, their share of all this time. As it is, the VM bill is 5.90 EUR. The two bills are not compared, because neither counts hours without a plan: 1 hour with the changes, and none as it is. ",
			[]string{"0 0 1.50 1.50 0.00", "1 0 - 4.40 -", "1 0 1.50 5.90 -"}},
		"as it is": {under(t, &q, "few", 4, func(c *capacity.Class) { c.Jobs.Min = 0 }),
			"As it is, the VM bill is 1.50 EUR. The two bills are not compared, because neither counts hours without a plan: none with the scenario, and 1 hour as it is. As it is, they begin at 2026-02-01: The promised jobs need 30 VMs and there are 24. ",
			[]string{"0 0 1.50 1.50 0.00", "0 1 0.80 - -", "0 1 2.30 1.50 -"}},
	} {
		if !strings.Contains(of.a.Explanation, of.said) {
			t.Errorf("%s: it says\n%s\nand not\n%s", name, of.a.Explanation, of.said)
		}
		var rows []string
		_, table := compareBriefly(of.a)
		for _, row := range table.Rows {
			var cells []string
			for _, column := range []string{"hours_without_plan", "hours_without_plan_as_it_is", "bill_EUR", "bill_as_it_is_EUR", "bill_difference_EUR"} {
				cells = append(cells, firstOf(row[slices.Index(table.Columns, column)].Text, "-"))
			}
			rows = append(rows, strings.Join(cells, " "))
		}
		if !slices.Equal(rows, of.rows) {
			t.Errorf("%s: the rows are %q, want %q", name, rows, of.rows)
		}
	}
}

// The text names demands that do not fit, and has no costs of them.
func TestHorizonInWordsWithoutAPlan(t *testing.T) {
	q := twoMonths(t)
	q.Problem.Classes[0].Jobs = capacity.JobRange{Min: 20, Max: 20}
	a := plannedHorizon(t, q.Horizon)
	if want := "For 1 of 3 hours there is no plan, and the bill lacks that time, also what contracts cost then; it begins at 2026-02-01: The promised jobs need 30 VMs and there are 24. " +
		"From 2026-01-31 22:00 UTC until 2026-02-01 01:00 UTC (3 hours) the VM bill of 2 hours with a plan is 1.50 EUR"; !strings.HasPrefix(a.Explanation, want) {
		t.Errorf("got %q, want %q at its beginning", a.Explanation, want)
	}
	var b bytes.Buffer
	err := Focus(&b, q.Horizon, a, FocusNames{})
	if !errors.Is(err, fault.Infeasible) || !strings.Contains(err.Error(), "the promised jobs do not fit in 1 hour of the horizon, first at 2026-02-01T00:00:00Z") {
		t.Errorf("got %v", err)
	}
	classes, err := horizonClasses(q.Horizon, a)
	if err != nil || classes.Rows[0][3].Text == "" || classes.Rows[0][2].Text != "" || classes.Rows[0][5].Text != "" {
		t.Errorf("got %v (%v), want job hours and nothing billed", classes.Rows, err)
	}
	if err := HorizonWorkbook(&b, q.Horizon, a); err != nil {
		t.Error(err)
	}
}

// Tables have every digit, name their currency and add up.
func TestHorizonTables(t *testing.T) {
	q := twoMonths(t)
	a := plannedHorizon(t, q.Horizon)
	classes, err := horizonClasses(q.Horizon, a)
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for _, table := range []Table{Horizon(a, PerMonth), Horizon(a, PerDay), Horizon(a, PerPeriod), horizonContracts(a), classes} {
		if err := table.CSV(&b); err != nil {
			t.Fatal(err)
		}
	}
	want := `start,hours,hours_without_plan,vm_hours,on_demand_vm_hours,reserved_vm_hours,reserved_idle_vm_hours,admitted_job_hours,refused_job_hours,bill_EUR,on_demand_EUR,spot_EUR,reserved_EUR,reserved_idle_EUR,upfront_EUR,value_refused_EUR,bill_and_value_refused_EUR,hours_without_forecast,bill_without_forecast_EUR
2026-01-01T00:00:00Z,2,0,9,2,7,1,6,0,1.50,0.40,0.00,0.70,0.10,0.30,0.00,1.50,0,0.00
2026-02-01T00:00:00Z,1,0,24,20,4,0,16,4,4.40,4.00,0.00,0.40,0.00,0.00,4.00,8.40,0,0.00
start,hours,hours_without_plan,vm_hours,on_demand_vm_hours,reserved_vm_hours,reserved_idle_vm_hours,admitted_job_hours,refused_job_hours,bill_EUR,on_demand_EUR,spot_EUR,reserved_EUR,reserved_idle_EUR,upfront_EUR,value_refused_EUR,bill_and_value_refused_EUR,hours_without_forecast,bill_without_forecast_EUR
2026-01-31T00:00:00Z,2,0,9,2,7,1,6,0,1.50,0.40,0.00,0.70,0.10,0.30,0.00,1.50,0,0.00
2026-02-01T00:00:00Z,1,0,24,20,4,0,16,4,4.40,4.00,0.00,0.40,0.00,0.00,4.00,8.40,0,0.00
start,hours,status,vms,on_demand_vms,reserved_vms,spot_vms,admitted_jobs,refused_jobs,gap,bill_EUR,on_demand_EUR,spot_EUR,reserved_EUR,reserved_idle_EUR,upfront_EUR,value_refused_EUR,bill_and_value_refused_EUR,conflict
2026-01-31T22:00:00Z,1,optimal,6,2,4,0,4,0,0,1.10,0.40,0.00,0.40,0.00,0.30,0.00,1.10,
2026-01-31T23:00:00Z,1,optimal,3,0,3,0,2,0,0,0.40,0.00,0.00,0.30,0.10,0.00,0.00,0.40,
2026-02-01T00:00:00Z,1,optimal,24,20,4,0,16,4,0,4.40,4.00,0.00,0.40,0.00,0.00,4.00,8.40,
contract,vm_type,vms,hours_in_force,used_vm_hours,idle_vm_hours,utilisation,idle_share,reserved_EUR,reserved_idle_EUR,upfront_share_EUR,bill_EUR
'+signed,,4,3,11,1,0.9166666666666666,0.08333333333333333,1.10,0.10,0.30,1.50
class,asked_vm_hours,billed_vm_hours,admitted_job_hours,refused_job_hours,bill_EUR,value_refused_EUR
'=etl,33,33,22,4,5.775,4.00
(idle contracts),0,0,0,0,0.125,0.00
`
	if diff := cmp.Diff(want, b.String()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestPurchaseInWords(t *testing.T) {
	q := twoMonths(t)
	a, err := horizon.Purchase(t.Context(), q, nil, 1, nil)
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	if err := PurchaseText(&b, a); err != nil {
		t.Fatal(err)
	}
	want := `Buy 10 VMs of "day": from 2026-01-31 22:00 UTC until 2026-02-01 01:00 UTC that raises the VM bill by 0.30 EUR (5.1 %), from 5.90 to 6.20, and serves 4 more job-hours, which you value at 4.00. It commits you to 12.00 EUR over its term, 12.5 % of it forecast; 10.50 of that is for the time after 2026-02-01 01:00 UTC. Over its whole term "day" commits to 12.00 EUR, used or not; the forecast covers 12.5 % of that term. All of "day" that is on offer is bought, 10; one more would save 0.05 of the bill. With VMs on demand only the VM bill is 5.80 EUR, and the value refused is 7.00. The bill counts upfront payments by their share of this time. Bill and value refused together come to 6.20 with this purchase, 9.90 with today's contracts and 12.80 with VMs on demand only. 2.40 is paid upfront. It does not lower the bill; it is worth it by the value of the jobs that it serves. Contracts and offers cover 59 % of all VM-hours, and 40 % of the hours bought are used. Of "day" the number matters: of those looked at, with already the next ones bill and value refused together are more than 0.5 % higher; without any of it bill and value refused together come to 3.70 more; it is all that is on offer. With 100 % more demand than expected it is as good as any. If demand ends on 2026-02-01, the VM bill is 13.50, with 10.50 of what the purchase commits to after 2026-02-01 01:00 UTC; bill and value refused together would be lowest if one bought nothing, with a VM bill of 1.90. No purchase brings bill and value refused together lower, which is proved.

Offer  Buy  Of at most  Paid upfront EUR  Counted here  By the hour EUR    Used  Obligation EUR  Forecast
day     10          10              2.40          0.30             1.20  40.0 %           12.00    12.5 %

In EUR          On demand  Contracts  Idle  Upfront  VM bill  Value refused  Together
Recommended          3.20       1.58  0.82     0.60     6.20           0.00      6.20
Today                4.40       1.10  0.10     0.30     5.90           4.00      9.90
On demand only       5.80       0.00  0.00     0.00     5.80           7.00     12.80

Month by month, upfront payments when they are due:
Month    bill saved EUR  upfront share EUR  paid upfront EUR  bill balance EUR  value refused less EUR  bill and value refused balance EUR
2026-01           -0.70               0.30              2.40             -2.80                    0.00                               -2.80
2026-02            0.40               0.00              0.00             -2.40                    4.00                                1.60

Other numbers of VMs of each offer:
Offer  VMs  VM bill EUR  Bill falls by EUR  Value refused EUR  Together EUR
day      0         5.90               0.00               4.00          9.90
day      2         5.80               0.10               3.00          8.80
day      4         5.90               0.00               2.00          7.90
day      6         6.40              -0.50               0.00          6.40
day      8         6.30              -0.40               0.00          6.30
day     10         6.20              -0.30               0.00          6.20  recommended

The recommendation at other demands, beside the best purchase there:
Demand  Bill today EUR  Bill EUR  Best bill EUR  Together today EUR  Together EUR  Together at best EUR  Together more EUR  Best purchase
 100 %            5.90      6.20           6.20                9.90          6.20                  6.20               0.00  10 of "day"
 200 %            7.50      6.80           6.80               31.50         24.80                 24.80               0.00  10 of "day"

Where demand goes on or ends otherwise:
Demand           VM bill EUR  Best bill EUR  Its obligation EUR  Best purchase
ends 2026-02-01        13.50           1.90                0.00  nothing
`
	if diff := cmp.Diff(want, b.String()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	// Purchases are exported like any other contract.
	var rows bytes.Buffer
	if err := Focus(&rows, a.Bought(&q), a.Horizon, FocusNames{}); err != nil {
		t.Fatal(err)
	}
	checkFocusSums(t, new(a.Bought(&q)), &a.Horizon, focusRows(t, &rows))
}

// A purchase that buys nothing, and one that serves nobody, are written like any other.
func TestPurchasesWithoutAnything(t *testing.T) {
	dear, short := twoMonths(t), twoMonths(t)
	dear.Offers[0].Price = amountIn(50)
	short.Problem.Classes[0].Jobs, short.Offers[0].Max = capacity.JobRange{Min: 20, Max: 20}, 1
	for _, c := range []struct {
		q    horizon.PurchaseQuestion
		want string
	}{
		{dear, "Buy none of the offers: from 2026-01-31 22:00 UTC until 2026-02-01 01:00 UTC the VM bill stays at 5.90 EUR; no number of them lowers bill and value refused together."},
		{short, "Whatever is bought, from 2026-01-31 22:00 UTC until 2026-02-01 01:00 UTC not all promised jobs can be served. The first hour is 2026-02-01: The promised jobs need 30 VMs and there are 25."},
	} {
		a, err := horizon.Purchase(t.Context(), c.q, nil, 1, nil)
		if err != nil {
			t.Fatal(err)
		}
		var words strings.Builder
		if err := PurchaseText(&words, a); err != nil || !strings.HasPrefix(words.String(), c.want) {
			t.Errorf("got %q (%v), want %q", words.String(), err, c.want)
		}
		var book bytes.Buffer
		if err := PurchaseWorkbook(&book, c.q, a); err != nil {
			t.Fatal(err)
		}
		_, sheets := sheetsOf(t, book.Bytes())
		if got := sheets["summary"][1]; got[0] != "in words" || !strings.HasPrefix(got[2], c.want) {
			t.Errorf("the workbook begins with %q, want %q", got, c.want)
		}
	}
}

// The quick computation of a part of an amount equals that with decimals.
func TestPartIsRoundedAlike(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		amount := decimal.New(rapid.Int64().Draw(t, "amount"), rapid.Int32Range(-12, 3).Draw(t, "places"))
		of := rapid.OneOf(rapid.Int64Range(1, 20), rapid.Int64Range(1, 1<<60)).Draw(t, "of")
		n := rapid.Int64Range(0, of).Draw(t, "n")
		want := amount.Mul(decimal.NewFromInt(n)).DivRound(decimal.NewFromInt(of), money.Places)
		if n == of {
			want = amount
		}
		if got := part(amount, n, of); !got.Equal(want) {
			t.Fatalf("%s·%d/%d: got %s, want %s", amount, n, of, got, want)
		}
	})
}

// Names like formulas, or with text that reverses direction, stay names in every table.
func TestHorizonOfHostileNames(t *testing.T) {
	for _, name := range hostileNames {
		q := twoMonths(t)
		q.Problem.Classes[0].Name, q.Contracts[0].Name, q.Offers[0].Name = name, name+"1", name+"2"
		a, err := horizon.Purchase(t.Context(), q, nil, 1, nil)
		if err != nil {
			t.Fatal(err)
		}
		var b bytes.Buffer
		for _, table := range []Table{horizonContracts(a.Horizon), Purchase(a), purchaseCurve(a), purchaseRegret(a)} {
			if err := table.CSV(&b); err != nil {
				t.Fatal(err)
			}
		}
		in := csv.NewReader(&b)
		in.FieldsPerRecord = -1
		records, err := in.ReadAll()
		if err != nil {
			t.Fatal(err)
		}
		for _, record := range records {
			for _, field := range record {
				if inputs.StartsFormula(field) && !plainNumber.MatchString(strings.TrimPrefix(field, "-")) {
					t.Errorf("%q is written as it is", field)
				}
			}
		}
		b.Reset()
		if err := PurchaseText(&b, a); err != nil || strings.ContainsAny(b.String(), "\u202e\t\r") {
			t.Errorf("%q reaches the terminal (%v)", name, err)
		}
	}
}

// Half a VM and a quarter are asked for, and a whole one is billed: tables say both by their names, and the rows of FOCUS
// have the billed one.
func TestVMHoursOfClassesAreAskedForOrBilled(t *testing.T) {
	half, quarter := decimal.New(5, -1), decimal.New(25, -2)
	p := capacity.Problem{Currency: "EUR", PeriodSeconds: 3600, Options: capacity.DefaultOptions()}
	p.Options.Integrality, p.Options.Engine = capacity.Integer, capacity.EngineExact
	p.Supply.OnDemand = capacity.OnDemand{Price: amountIn(30)}
	one := capacity.JobRange{Min: 1, Max: 1}
	p.Classes = []capacity.Class{{Name: "half", VMsPerJob: &half, Jobs: one}, {Name: "quarter", VMsPerJob: &quarter, Jobs: one}}
	h := horizon.Horizon{Problem: p, Periods: []horizon.HorizonPeriod{{Start: time.Date(2026, 1, 31, 22, 0, 0, 0, time.UTC), Hours: 3, Jobs: []float64{1, 1}}}}
	if err := h.Validate(); err != nil {
		t.Fatal(err)
	}
	a := plannedHorizon(t, h)
	classes, err := horizonClasses(h, a)
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := classes.CSV(&b); err != nil {
		t.Fatal(err)
	}
	want := `class,asked_vm_hours,billed_vm_hours,admitted_job_hours,refused_job_hours,bill_EUR,value_refused_EUR
half,1.5,2,3,0,0.60,0.00
quarter,0.75,1,3,0,0.30,0.00
(idle contracts),0,0,0,0,0.00,0.00
`
	if diff := cmp.Diff(want, b.String()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if got := []float64{a.Classes[0].AskedVMHours, a.Classes[1].AskedVMHours, a.Total.VMHours}; !cmp.Equal(got, []float64{1.5, 0.75, 3}) {
		t.Errorf("the answer has %v VM-hours, want 1.5 and 0.75 asked for, of 3", got)
	}
	b.Reset()
	if err := Focus(&b, h, a, FocusNames{}); err != nil {
		t.Fatal(err)
	}
	rows := focusRows(t, &b)
	for name, billed := range map[string]string{"half": "2", "quarter": "1"} {
		hours, bill := decimal.Zero, decimal.Zero
		for _, r := range rows {
			if r["x_JobClass"] == name {
				hours, bill = hours.Add(r.number(t, "ConsumedQuantity")), bill.Add(r.number(t, "EffectiveCost"))
			}
		}
		if want := decimal.RequireFromString(billed); !hours.Equal(want) || !bill.Equal(want.Mul(decimal.New(30, -2))) {
			t.Errorf("FOCUS has %v VM-hours and %v for class %s, want %s of them", hours, bill, name, billed)
		}
	}
}
