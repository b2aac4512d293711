package horizon

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/shopspring/decimal"

	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/fault"
	"example.org/headroom/internal/core/perf"
	"example.org/headroom/internal/test/plantest"
)

// fridays is January 2026, which has five Fridays: twenty Spark jobs of 16.416 slot-hours arrive on each, in so many hours
// from 22:00 on, or over the day.
func fridays(t *testing.T, integrality string, hours int) HorizonQuestion {
	t.Helper()
	var periods []string
	at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for at.Month() == time.January {
		jobs, length := 0, 22
		if hours == 24 {
			length = 24
		} else if at.Hour() >= 22 {
			length = 1
		}
		if at.Weekday() == time.Friday && (hours == 24 || at.Hour() == 22) {
			jobs = 20
		}
		periods = append(periods, fmt.Sprintf(`{"start": %q, "hours": %d, "arrivals": [%d]}`, at.Format(time.RFC3339), length, jobs))
		at = at.Add(time.Duration(length) * time.Hour)
	}
	q, err := ReadHorizon([]byte(fmt.Sprintf(`{"problem": {"currency": "USD", "supply": {"on_demand": {"price": "0.192"}},
		"classes": [{"name": "spark", "demand": {"map_work_s": 59097.6, "reduce_work_s": 0, "fixed_s": 120}, "deadline_s": 14400,
			"slots_per_vm": {"map": 4, "reduce": 4}, "jobs": {"min": 20, "max": 20}, "penalty": "5.00"}],
		"options": {"integrality": %q}}, "periods": [%s]}`, integrality, strings.Join(periods, ", "))), capacity.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	return q
}

// A hundred jobs of 4.104 VM-hours are 410.4 VM-hours, whatever the hours in which they arrive. Counted at the speed of the
// old cluster they were half of that.
func TestFridaysKeepTheirWork(t *testing.T) {
	const work, deadline, fixed, price = 100 * 4.104, 14400.0, 120.0, 0.192
	exact := work * deadline / (deadline - fixed) // Σ K·p/(p − C)
	for _, integrality := range []string{"relaxed", "integer", "executable"} {
		for _, hours := range []int{1, 24} {
			q := fridays(t, integrality, hours)
			a := planned(t, q.Horizon)
			got, busy := a.Total.Cost.Total.Float(), 0.0
			for _, p := range a.Periods {
				if p.Admitted > 0 {
					busy += p.Hours
				}
			}
			most := 1.05*exact + busy*(1+0.25) // an hour is rounded to a whole VM and a whole slot
			if integrality == "relaxed" {
				most = exact * (1 + 1e-9)
			}
			t.Logf("%s, %d hours: %.2f, %.1f VM-hours in %v hours, at most %.1f", integrality, hours, got, a.Total.VMHours, busy, most)
			if got < 78.79 || a.Total.VMHours < work || a.Total.VMHours > most || got > price*most {
				t.Errorf("%s, %d hours: got %.2f for %.1f VM-hours, want at least 78.79, and at most %.1f VM-hours", integrality, hours, got, a.Total.VMHours, most)
			}
			of := a.Classes[0].Arrivals
			if of == nil || math.Abs(of.Jobs-100) > 1e-9 || math.Abs(of.WorkVMHours+of.LaterHours/4*4.104-work) > 1e-6 {
				t.Errorf("%s, %d hours: got %+v, want 100 jobs of %v VM-hours", integrality, hours, of, work)
			}
			if hours == 1 {
				var seen []float64
				for _, p := range a.Periods {
					if p.Admitted > 0 && p.Start.Day() < 8 {
						seen = append(seen, p.Admitted, p.Hours)
					}
				}
				if fmt.Sprint(seen) != "[10 1 20 1 20 2 10 1]" {
					t.Errorf("got %v, want jobs and hours from 22:00 until 3:00", seen)
				}
			}
		}
	}
}

// Jobs that arrive near the end run on after it. That is said, and no figure counts it.
func TestWorkAfterTheEndIsTold(t *testing.T) {
	h := Horizon{Problem: oneClass(t, "1"), Periods: []HorizonPeriod{
		{Start: firstHour, Hours: 5, Arrivals: []float64{0}}, {Start: firstHour.Add(5 * time.Hour), Hours: 1, Arrivals: []float64{6}}}}
	h.Problem.Classes[0].DeadlineSeconds = 3 * 3600
	a := planned(t, h)
	of := a.Classes[0].Arrivals
	if a.Total.VMHours != 3 || of.LaterHours != 15 || of.LaterVMHours != 15 || of.WorkVMHours != 3 {
		t.Errorf("got %v VM-hours and %+v, want 3, and 15 after the end", a.Total.VMHours, of)
	}
	if want := "Jobs that arrive shortly before the end run on after it: about 15 VM-hours more, which no figure counts."; !strings.Contains(a.Explanation, want) {
		t.Errorf("got %q", a.Explanation)
	}
}

// A planner that forgets what arrived earlier, or counts at another speed, is found out by the check of the answer.
func TestLostWorkIsFound(t *testing.T) {
	for _, fault := range []struct {
		name  string
		spoil func(h *Horizon)
	}{
		{"nothing is carried over", func(h *Horizon) {
			for i := range h.Periods {
				p := &h.Periods[i]
				p.Running = []float64{p.Arrivals[0] * min(1, 4*3600/float64(p.Length()))}
			}
		}},
		{"jobs run as fast as on the old cluster", func(h *Horizon) {
			for i := range h.Periods {
				h.Periods[i].Running[0] /= 2
			}
		}},
		{"an hour is skipped", func(h *Horizon) {
			at := slices.IndexFunc(h.Periods, func(p HorizonPeriod) bool { return p.Running[0] == 10 })
			h.Periods[at].Running = []float64{0}
		}},
	} {
		h := fridays(t, "executable", 1).Carried()
		fault.spoil(&h)
		a, err := Plan(t.Context(), h, nil, 1, nil)
		if err != nil {
			t.Fatal(err)
		}
		if a.Status != capacity.InfeasibleStatus || len(a.Infeasible) == 0 || !strings.Contains(a.Infeasible[0].Conflict, "what has arrived and was admitted takes") {
			t.Errorf("%s: got %s, %v", fault.name, a.Status, a.Infeasible)
		} else {
			t.Logf("%s: %v", fault.name, a.Infeasible[0])
		}
	}
}

func TestArrivalsThatMakeNoSense(t *testing.T) {
	const text = `{"problem": {"currency": "USD", "supply": {"on_demand": {"price": "1"}}, "options": {"integrality": "integer"},
		"classes": [{"name": "etl", "vms_per_job": "1.5", "deadline_s": 7200, "jobs": {"min": 0, "max": 10}, "penalty": "5.00"},
			{"name": "ad-hoc", "vms_per_job": "1", "jobs": {"min": 0, "max": 1}, "penalty": "1"}]},
		"periods": [{"start": "2026-01-01T00:00:00Z", "hours": 1, %s}, {"start": "2026-01-01T01:00:00Z", "hours": 23, %s}]}`
	for _, c := range []struct{ first, second, pointer, code, detail string }{
		{`"arrivals": [2.5, 0], "jobs": [1, 1]`, `"arrivals": [1, 0]`, "/periods/0/jobs", "one_of", "arrivals at /periods/0/arrivals"},
		{`"arrivals": [2.5, 0]`, `"jobs": [1, 1]`, "/periods/1/jobs", "one_of", "at /periods/0/arrivals there are arrivals"},
		{`"jobs": [1, 1]`, `"arrivals": [2.5, 0]`, "/periods/0/jobs", "one_of", "at /periods/1/arrivals there are arrivals"},
		{`"arrivals": [2.5, 0]`, `"on_demand_price": "2"`, "/periods/1/arrivals", "missing", "/periods/0"},
		{`"arrivals": [2.5, 0]`, `"arrivals": [1]`, "/periods/1/arrivals", "range", "arrivals of 1 classes; the problem has 2"},
		{`"arrivals": [2.5, 0]`, `"arrivals": [-1, 0]`, "/periods/1/arrivals/0", "range", "cannot be negative"},
		{`"arrivals": [2.5, 0]`, `"arrivals": [0, 1]`, "/problem/classes/1/deadline_s", "missing", `"ad-hoc" has arrivals and no deadline`},
		{`"arrivals": [2.5, 0]`, `"arrivals": [1e9, 0]`, "/periods", "range", "run at once"},
	} {
		_, err := ReadHorizon(fmt.Appendf(nil, text, c.first, c.second), capacity.Limits{})
		var input *fault.InputError
		if !errors.As(err, &input) {
			t.Errorf("%s and %s: got %v, want an input error", c.first, c.second, err)
		} else if f := input.Findings[0]; f.Pointer != c.pointer || f.Code != c.code || !strings.Contains(f.Detail, c.detail) {
			t.Errorf("%s and %s: got %+v", c.first, c.second, f)
		}
	}
	for _, c := range []struct{ earlier, pointer, code string }{
		{`{"start": "2025-12-31T23:00:00Z", "hours": 1, "arrivals": [1]}`, "/earlier/0/arrivals", "range"},
		{`{"start": "2025-12-31T23:00:00Z", "hours": 1, "jobs": [1, 0]}`, "/earlier/0/arrivals", "one_of"},
		{`{"start": "2025-12-31T23:00:00Z", "hours": 2, "arrivals": [1, 0]}`, "/earlier/0/start", "order"},
		{`{"start": "2025-12-31T23:00:00Z", "hours": -2, "arrivals": [1, 0]}`, "/earlier/0/hours", "range"},
	} {
		doc := strings.Replace(fmt.Sprintf(text, `"arrivals": [1, 0]`, `"arrivals": [1, 0]`), `"periods"`, `"earlier": [`+c.earlier+`], "periods"`, 1)
		_, err := ReadHorizon([]byte(doc), capacity.Limits{})
		var input *fault.InputError
		if !errors.As(err, &input) || input.Findings[0].Pointer != c.pointer || input.Findings[0].Code != c.code {
			t.Errorf("%s: got %v", c.earlier, err)
		}
	}
	q, err := ReadHorizon(fmt.Appendf(nil, text, `"arrivals": [2.5, 0]`, `"arrivals": [23, 0]`), capacity.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	a := planned(t, q.Horizon)
	checkArrived(t, &q.Horizon, &a)
}

// checkArrived holds an answer's arrivals against sums over them.
func checkArrived(t *testing.T, h *Horizon, a *Answer) {
	t.Helper()
	for k := range h.Problem.Classes {
		jobs := 0.0
		for _, p := range h.Periods {
			jobs += p.Arrivals[k]
		}
		of := a.Classes[k].Arrivals
		if of == nil {
			if jobs > 0 {
				t.Errorf("class %d: %v jobs arrived, and nothing is said of them", k, jobs)
			}
			continue
		}
		ran := jobs*h.Problem.Classes[k].DeadlineSeconds/3600 + of.EarlierHours - of.LaterHours
		if math.Abs(of.Jobs-jobs) > 1e-9*(1+jobs) || a.Classes[k].AdmittedHours+a.Classes[k].RefusedHours < ran*(1-1e-9) {
			t.Errorf("class %d: got %+v and %+v, want %v jobs, which run %v job-hours", k, *of, a.Classes[k], jobs, ran)
		}
		if h.Problem.Options.Integrality == capacity.Relaxed && math.Abs(a.Classes[k].AdmittedHours+a.Classes[k].RefusedHours-ran) > 1e-6*(1+ran) {
			t.Errorf("class %d: %v job-hours are planned, %v run", k, a.Classes[k].AdmittedHours+a.Classes[k].RefusedHours, ran)
		}
	}
}

// A document cut into other periods, kept as JSON or cut short costs the same in its hours.
func TestArrivalsSurviveStorage(t *testing.T) {
	q := fridays(t, "executable", 24)
	a := planned(t, q.Horizon)
	text, err := json.Marshal(q)
	if err != nil {
		t.Fatal(err)
	}
	var again HorizonQuestion
	if err := json.Unmarshal(text, &again); err != nil {
		t.Fatal(err)
	}
	b := planned(t, again.Horizon)
	c := planned(t, q.Carried())
	if !a.Total.Cost.Total.Equal(b.Total.Cost.Total.Decimal) || !a.Total.Cost.Total.Equal(c.Total.Cost.Total.Decimal) {
		t.Errorf("got %v, %v and %v", a.Total.Cost.Total, b.Total.Cost.Total, c.Total.Cost.Total)
	}
	first := planned(t, q.First(50))
	cost := decimal.Zero
	for _, p := range a.Periods {
		if p.Start.Before(q.Start().Add(50 * time.Hour)) {
			cost = cost.Add(p.Cost.Total.Decimal)
		}
	}
	if first.Total.Hours != 50 || !first.Total.Cost.Total.Equal(cost) {
		t.Errorf("the first 50 hours cost %v, want %v", first.Total.Cost.Total, cost)
	}
	twice := planned(t, q.Scaled(2))
	if of := twice.Classes[0].Arrivals; math.Abs(of.Jobs-200) > 1e-9 || twice.Status == capacity.InfeasibleStatus {
		t.Errorf("twice as much: got %+v", of)
	}
}

// With one class and a steady number of arrivals every hour is the plan of the problem with that many jobs.
func TestSteadyArrivalsAreTheProblemOfEachHour(t *testing.T) {
	for _, integrality := range []capacity.Integrality{capacity.Relaxed, capacity.Integer, capacity.Executable} {
		h := fridays(t, string(integrality), 1).Horizon
		start := h.Start()
		h.Periods = []HorizonPeriod{{Start: start, Hours: 240, Arrivals: []float64{240 * 5}}}
		h.Earlier = []HorizonPeriod{{Start: start.Add(-10 * time.Hour), Hours: 10, Arrivals: []float64{50}}}
		a := planned(t, h)
		one := h
		one.Earlier, one.Periods = nil, []HorizonPeriod{{Start: start, Hours: 240, Jobs: []float64{20}}}
		want := planned(t, one)
		if len(a.Periods) != 1 || !a.Total.Cost.Total.Equal(want.Total.Cost.Total.Decimal) || a.Total.VMHours != want.Total.VMHours || a.Total.AdmittedHours != want.Total.AdmittedHours {
			t.Errorf("%s: got %+v in %d periods, want %+v", integrality, a.Total, len(a.Periods), want.Total)
		}
		if of := a.Classes[0].Arrivals; math.Abs(of.EarlierHours-of.LaterHours) > 1e-6 || math.Abs(of.EarlierHours-40) > 1e-6 {
			t.Errorf("%s: got %+v, want 40 job-hours at either end", integrality, of)
		}
	}
}

// A job that is admitted keeps its VMs through dear hours, and one that is refused does not come back in cheap ones.
func TestStartedJobsKeepTheirVMs(t *testing.T) {
	for _, c := range []struct {
		name            string
		prices          []string
		admitted        string
		bill, penalties float64
	}{
		{"cheap, then dear", []string{"0.50", "0.50", "2.00", "2.00", "2.00"}, "[2 4 4 2 0]", 1 + 2 + 8 + 4, 0},
		{"dear, then cheap", []string{"2.00", "0.50", "0.50", "0.50", "0.50"}, "[0 0 0 0 0]", 0, 12},
		{"cheap", []string{"0.50", "0.50", "0.50", "0.50", "0.50"}, "[2 4 4 2 0]", 6, 0},
	} {
		p := oneClass(t, "1")
		p.Classes[0].DeadlineSeconds, p.Classes[0].Penalty = 3*3600, plantest.AmountIn(t, "1.00")
		h := Horizon{Problem: p}
		for i, price := range c.prices {
			x := HorizonPeriod{Start: firstHour.Add(time.Duration(i) * time.Hour), Hours: 1, Arrivals: []float64{0}, OnDemandPrice: new(plantest.AmountIn(t, price))}
			if i == 0 {
				x.Arrivals[0] = 4
			}
			h.Periods = append(h.Periods, x)
		}
		a := planned(t, h)
		var admitted []float64
		for _, p := range a.Periods {
			for range int(p.Hours) {
				admitted = append(admitted, p.Admitted)
			}
		}
		cost := a.Total.Cost
		if fmt.Sprint(admitted) != c.admitted || cost.Total.Float()-cost.Penalties.Float() != c.bill || cost.Penalties.Float() != c.penalties || a.Status == capacity.InfeasibleStatus {
			t.Errorf("%s: got %v, %v, %s; want %s, %v and %v", c.name, admitted, cost, a.Status, c.admitted, c.bill, c.penalties)
		}
		best := 0.0 // of each hour by itself
		for i, jobs := range []float64{2, 4, 4, 2, 0} {
			price, _ := strconv.ParseFloat(c.prices[i], 64)
			best += jobs * min(1, price)
		}
		if gap := cost.Total.Float() - best; math.Abs(a.Gap.Float()-gap) > 1e-9 {
			t.Errorf("%s: the gap is %v, want %v", c.name, a.Gap, gap)
		} else if proved := gap < 1e-9; proved != (a.Status == capacity.Optimal) {
			t.Errorf("%s: with a gap of %v it is %s", c.name, a.Gap, a.Status)
		}
	}
}

// Promised jobs are kept until they end, though refusing them would be cheaper. Where they do not fit in, that is said.
func TestPromisedJobsAreNotRefused(t *testing.T) {
	for _, c := range []struct {
		name     string
		quota    int64
		admitted string
		below    *BelowPromise
		fact     string
	}{
		{"all fit in", 9, "[2 4 4 2 0]", nil, ""},
		{"three do", 3, "[1.5 3 3 1.5 0]", &BelowPromise{Hours: 2, First: firstHour, Promised: 2, Least: 1.5},
			`In 2 hours, the first at 2026-01-31 20:00 UTC, class "etl" has fewer jobs at once than it is promised, 2 or all that there would be, because some were refused as they arrived.`},
	} {
		p := oneClass(t, "1")
		p.Classes[0].DeadlineSeconds, p.Classes[0].Penalty, p.Classes[0].Jobs.Min = 3*3600, plantest.AmountIn(t, "0.10"), 2
		p.Supply.OnDemand.Quota = &c.quota
		h := Horizon{Problem: p, Periods: []HorizonPeriod{{Start: firstHour, Hours: 1, Arrivals: []float64{4}}, {Start: firstHour.Add(time.Hour), Hours: 4, Arrivals: []float64{0}}}}
		a := planned(t, h)
		var admitted []float64
		for _, p := range a.Periods {
			for range int(p.Hours) {
				admitted = append(admitted, p.Admitted)
			}
		}
		if fmt.Sprint(admitted) != c.admitted || !cmp.Equal(a.Classes[0].Arrivals.Below, c.below) || !strings.Contains(a.Explanation, c.fact) {
			t.Errorf("%s: got %v, %+v, %q", c.name, admitted, a.Classes[0].Arrivals.Below, a.Explanation)
		}
	}
}

// Where jobs are refused, in whole and relaxed plans, sums close, no work is lost and no admitted job is dropped.
func TestStartedJobsOfRandomHorizons(t *testing.T) {
	refused := 0
	for seed := range uint64(40) {
		h := drawnRefusals(t, seed)
		a := planned(t, h)
		if a.Total.RefusedHours > 0 {
			refused++
		}
		if a.Status == capacity.InfeasibleStatus {
			t.Errorf("seed %d: %v", seed, a.Infeasible)
			continue
		}
		checkArrived(t, &h, &a)
		for k := range h.Problem.Classes { // what runs in an hour and came before it was admitted before
			seconds, before := a.Classes[k].Arrivals.RunSeconds, 0.0
			for i, s := range hourly(&a) {
				admitted := a.Situations[s].Classes[k].Admitted / h.Problem.Classes[k].DeadlineSeconds * seconds
				fresh := perf.NewArrivals([]perf.Arriving{{From: h.Periods[i].Start.Unix(), Until: h.Periods[i].End().Unix(), Jobs: h.Periods[i].Arrivals[k]}})
				at := h.Periods[i].Start.Unix()
				most := before + fresh.Running(seconds, at, at+3600)
				if admitted > math.Ceil(most)+1 {
					t.Errorf("seed %d, hour %d, class %d: %v are admitted, and %v could be", seed, i, k, admitted, most)
				}
				before = admitted + fresh.Jobs()
			}
		}
	}
	if refused < 15 {
		t.Errorf("only %d horizons refuse jobs", refused)
	}
}

// drawnRefusals draws a horizon of 40 hours in which jobs are often refused.
func drawnRefusals(t *testing.T, seed uint64) Horizon {
	r := rand.New(rand.NewPCG(28, seed))
	h := fridays(t, []string{"relaxed", "integer", "executable"}[r.IntN(3)], 1).Horizon
	c := &h.Problem.Classes[0]
	c.Jobs.Min, c.DeadlineSeconds = 0, float64(3600+r.IntN(20_000))
	c.Demand.MapWorkSeconds = c.DeadlineSeconds * float64(1+r.IntN(20))
	c.Penalty = plantest.AmountIn(t, fmt.Sprintf("%d.%d", r.IntN(3), 1+r.IntN(9)))
	other := *c
	demand := *c.Demand
	other.Name, other.Demand = "other", &demand
	demand.MapWorkSeconds /= 3
	h.Problem.Classes = append(h.Problem.Classes, other)
	quota := int64(5 + r.IntN(60))
	if r.IntN(2) == 0 {
		h.Problem.Supply.OnDemand.Quota = &quota
	}
	start := h.Start()
	h.Periods = nil
	for i := range 40 {
		h.Periods = append(h.Periods, HorizonPeriod{Start: start.Add(time.Duration(i) * time.Hour), Hours: 1,
			Arrivals: []float64{float64(r.IntN(9)) / 2, float64(r.IntN(2) * r.IntN(9))}, OnDemandPrice: new(plantest.AmountIn(t, fmt.Sprintf("0.%d", 1+r.IntN(5))))})
	}
	return h
}

// hourly returns the situation of every hour.
func hourly(a *Answer) (situations []int) {
	for _, p := range a.Periods {
		for range int(math.Round(p.Hours)) {
			situations = append(situations, p.Situation)
		}
	}
	return situations
}

// Where a contract or an offer begins or ends, or a price changes inside an hour, the hour is planned in parts. Each has the
// jobs that a simulation of every execution finds in it.
func TestHoursAreCutWhereContractsBegin(t *testing.T) {
	for seed := range uint64(20) {
		r := rand.New(rand.NewPCG(28, 100+seed))
		p := oneClass(t, "1")
		p.Options.Integrality, p.Classes[0].Jobs.Min, p.Classes[0].DeadlineSeconds = capacity.Relaxed, 0, float64(60+r.IntN(9000))
		q := PurchaseQuestion{Horizon: Horizon{Problem: p}, Factors: []float64{}}
		at := firstHour
		for range 12 {
			x := HorizonPeriod{Start: at, Arrivals: []float64{float64(r.IntN(30))}, OnDemandPrice: new(plantest.AmountIn(t, fmt.Sprintf("0.%d", 1+r.IntN(3))))}
			x.SetLength(int64(900 * (1 + r.IntN(8))))
			q.Periods, at = append(q.Periods, x), x.End()
		}
		from := firstHour.Add(time.Duration(60+r.IntN(7200)) * time.Second)
		q.Contracts = []TermContract{{Contract: capacity.Contract{Name: "own", VMs: 3, Price: plantest.AmountIn(t, "0.05"), Billing: capacity.BilledUsed},
			From: from, Until: from.Add(time.Duration(600+r.IntN(7200)) * time.Second)}}
		begins := firstHour.Add(time.Duration(60+r.IntN(7200)) * time.Second)
		q.Offers = []capacity.Offer{{Name: "offer", Price: plantest.AmountIn(t, "0.05"), Billing: capacity.BilledAlways, From: &begins, TermHours: 2, Max: 9}}
		bought, err := Purchase(t.Context(), q, nil, 1, nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, a := range []Answer{planned(t, q.Horizon), bought.Horizon} {
			cut := 0
			for _, row := range a.Periods {
				start, seconds := float64(row.Start.Unix()), math.Round(row.Hours*3600)
				if want := simulated(&q.Horizon, 0, start, start+seconds); math.Abs(row.Admitted-want) > 0.01 {
					t.Errorf("seed %d, %s: %v jobs run at once, and %v do for %v h", seed, row.Start, row.Admitted, want, row.Hours)
				}
				if row.Start.Equal(from) || row.Start.Equal(begins) {
					cut++
				}
			}
			if cut == 0 {
				t.Errorf("seed %d: no period begins with a contract", seed)
			}
		}
	}
}

// simulated lets thousands of executions arrive in each period and returns how many run at once on average in some time.
func simulated(h *Horizon, class int, from, until float64) float64 {
	const executions = 4000
	total := 0.0
	for i := range h.Periods {
		p := &h.Periods[i]
		for n := range executions {
			at := float64(p.Start.Unix()) + (float64(n)+0.5)/executions*float64(p.Length())
			ran := min(until, at+h.Problem.Classes[class].DeadlineSeconds) - max(from, at)
			total += max(0, ran) * p.Arrivals[class] / executions
		}
	}
	return total / (until - from)
}

// One job a night takes 40 s. Its VM is held for the hour in which it arrives and until it must have ended, and not for the
// hour after that.
func TestANightsJobHoldsNoVMForAnotherHour(t *testing.T) {
	for _, c := range []struct {
		seconds int
		hours   float64 // held each night
	}{{40, 1 + 40.0/3600}, {3600, 2}, {5400, 2.5}, {7201, 3 + 1.0/3600}} {
		var periods []string
		at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
		for range 31 {
			periods = append(periods, fmt.Sprintf(`{"start": %q, "hours": 1, "arrivals": [0]}, {"start": %q, "hours": 1, "arrivals": [1]}, {"start": %q, "hours": 22, "arrivals": [0]}`,
				at.Format(time.RFC3339), at.Add(time.Hour).Format(time.RFC3339), at.Add(2*time.Hour).Format(time.RFC3339)))
			at = at.AddDate(0, 0, 1)
		}
		q, err := ReadHorizon([]byte(fmt.Sprintf(`{"problem": {"currency": "USD", "supply": {"on_demand": {"price": "0.50"}},
			"classes": [{"name": "nightly", "demand": {"map_work_s": 20, "reduce_work_s": 0, "fixed_s": 10}, "deadline_s": %d,
				"slots_per_vm": {"map": 4, "reduce": 4}, "jobs": {"min": 0, "max": 1}, "penalty": "50"}], "options": {"one_slot_per_job": false}}, "periods": [%s]}`, c.seconds, strings.Join(periods, ", "))), capacity.Limits{})
		if err != nil {
			t.Fatal(err)
		}
		a := planned(t, q.Horizon)
		if got, want := a.Total.Cost.Bill.Float(), 31*0.50*c.hours; math.Abs(got-want) > 1e-6 || a.Total.RefusedHours > 0 {
			t.Errorf("%d s: the bill is %.4f, with %v refused; want %.4f", c.seconds, got, a.Total.RefusedHours, want)
		}
	}
}

// Many classes end in the hour after that in which their jobs arrive: VMs are held until the last of them ends, and the hour is
// cut once.
func TestManyClassesEndInAnHour(t *testing.T) {
	for _, classes := range []int{4, 5} {
		var of, none, one []string
		for n := range classes {
			of = append(of, fmt.Sprintf(`{"name": "c%d", "demand": {"map_work_s": 20, "reduce_work_s": 0, "fixed_s": 10}, "deadline_s": %d,
				"slots_per_vm": {"map": 1, "reduce": 1}, "jobs": {"min": 0, "max": 1}, "penalty": "50"}`, n, 600*(n+1)))
			none, one = append(none, "0"), append(one, "1")
		}
		q, err := ReadHorizon([]byte(fmt.Sprintf(`{"problem": {"currency": "USD", "supply": {"on_demand": {"price": "0.50"}}, "classes": [%s], "options": {"one_slot_per_job": false}},
			"periods": [{"start": "2026-01-01T00:00:00Z", "hours": 1, "arrivals": [%s]}, {"start": "2026-01-01T01:00:00Z", "hours": 3, "arrivals": [%s]}]}`,
			strings.Join(of, ", "), strings.Join(one, ", "), strings.Join(none, ", "))), capacity.Limits{})
		if err != nil {
			t.Fatal(err)
		}
		var lengths []float64
		for _, p := range planned(t, q.Horizon).Periods {
			lengths = append(lengths, math.Round(60*p.Hours))
		}
		want := []float64{60, 10, 10, 10, 10, 20, 60, 60}
		if classes > 4 {
			want = []float64{60, 50, 10, 60, 60}
		}
		if diff := cmp.Diff(want, lengths); diff != "" {
			t.Errorf("%d classes: minutes of the periods (-want +got):\n%s", classes, diff)
		}
	}
}

// The costs of hours are rounded to a billionth each. What that comes to is no gap.
func TestRoundedCostsAreNoGap(t *testing.T) {
	q, err := ReadHorizon([]byte(`
		{"problem":{"currency":"USD","period_s":3600,"supply":{"contracts":[{"name":"contract-0","vms":6,"price":"0.23","billing":"used"},
		{"name":"contract-1","vms":6,"price":"0.26","billing":"used"},{"name":"contract-2","vms":2,"price":"0.48","billing":"used"}],
		"on_demand":{"price":"0.53","quota":null},"spot":{"price":"0.01","max_share":0.25}},"classes":[{"name":"class-0",
		"profile":{"stages":[{"tasks":23,"avg_s":46.3,"max_s":57.6},{"tasks":4,"avg_s":21.4,"max_s":59.8}],"overhead_s":0},
		"calibration":{"bound":"average","factor":0.5},
		"deadline_s":376.9,"slots_per_vm":{"map":1,"reduce":1},"jobs":{"min":0,"max":1},"penalty":"1.5158"},{"name":"class-1",
		"profile":{"map_tasks":37,"reduce_tasks":3,"map_avg_s":25.4,"map_max_s":32.8,
		"first_shuffle_avg_s":14.7,"first_shuffle_max_s":33.2,"shuffle_avg_s":51,"shuffle_max_s":58.1,"reduce_avg_s":1.5,"reduce_max_s":1.8,"overhead_s":0},
		"deadline_s":306.9,"slots_per_vm":{"map":3,"reduce":1},"jobs":{"min":0,"max":1},"penalty":"5.4477"}],
		"options":{"integrality":"integer","bound":"upper","engine":"exact","gap":0,"max_solve_ms":2000,"one_slot_per_job":true,"sharing":"shared"}},
		"periods":[{"start":"2026-01-31T20:00:00Z","hours":3,"arrivals":[9,15],"on_demand_price":"0.39"},
		{"start":"2026-01-31T23:00:00Z","seconds":823,"arrivals":[0,21]},
		{"start":"2026-01-31T23:13:43Z","hours":1,"arrivals":[0,12]}]}`), capacity.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	a, err := Plan(t.Context(), q.Horizon, nil, 1, nil)
	if err != nil {
		t.Fatal(err)
	}
	if a.Total.RefusedHours == 0 || a.Status != capacity.Optimal || !a.Gap.IsZero() {
		t.Errorf("%v job-hours are refused, and the answer is %s with a gap of %s", a.Total.RefusedHours, a.Status, a.Gap)
	}
}
