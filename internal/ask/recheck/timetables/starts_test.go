package timetables_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/shopspring/decimal"

	"example.org/headroom/internal/ask/recheck/timetables"
	"example.org/headroom/internal/ask/study"
	"example.org/headroom/internal/ask/timetable"
	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/fault"
	"example.org/headroom/internal/core/money"
	"example.org/headroom/internal/test/plantest"
)

// withStarts lets the start of a VM of each type cost so much.
func withStarts(q timetable.Question, price string, lead float64) timetable.Question {
	start := &capacity.VMStart{Price: money.Amount{Decimal: decimal.RequireFromString(price)}, LeadSeconds: lead}
	if q.Problem.Supply.VMTypes == nil {
		q.Problem.Supply.Start = start
		return q
	}
	q.Problem.Supply.VMTypes = append([]capacity.VMTypeSupply{}, q.Problem.Supply.VMTypes...)
	for v := range q.Problem.Supply.VMTypes {
		q.Problem.Supply.VMTypes[v].Start = start
	}
	return q
}

func plannedAndChecked(t *testing.T, q timetable.Question) timetable.Answer {
	t.Helper()
	a, err := timetable.Plan(t.Context(), q, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range timetables.Check(q, a) {
		t.Fatalf("%s: %s", f.Pointer, f.Detail)
	}
	return a
}

// startsOf counts the VMs that a schedule's hours have more than the hours before, of all types.
func startsOf(a *timetable.Answer) (n int64) {
	eachStart(a, func(_, _ int, started int64) { n += started })
	return n
}

// costOfStarts returns what they cost: a price, and the VMs from so many seconds before their hour at the price of the hour before.
func costOfStarts(q *timetable.Question, a *timetable.Answer, price string, lead float64) (sum decimal.Decimal) {
	eachStart(a, func(hour, v int, started int64) {
		before := a.Hours[max(0, hour-1)].Start
		for i := range q.Periods {
			if p := &q.Periods[i]; !before.Before(p.Start) && before.Before(p.End()) {
				each := p.Priced(q.Problem.Supply).Types()[v].OnDemand.Price.Mul(decimal.NewFromFloat(lead / 3600))
				sum = sum.Add(each.Add(decimal.RequireFromString(price)).Mul(decimal.NewFromInt(started)))
			}
		}
	})
	return sum
}

func eachStart(a *timetable.Answer, of func(hour, v int, started int64)) {
	was := make([]int64, len(a.Hours[0].ByType)+1)
	for i := range a.Hours {
		rows := []int64{a.Hours[i].VMs}
		if len(a.Hours[i].ByType) > 0 {
			rows = rows[:0]
			for _, of := range a.Hours[i].ByType {
				rows = append(rows, of.VMs)
			}
		}
		for v, vms := range rows {
			of(i, v, max(0, vms-was[v]))
			was[v] = vms
		}
	}
}

// Schedules with a price for starts pass their check, start fewer VMs, and cost no more than the schedule made without the price, with its
// starts. At a price of 0 they are the same schedules.
func TestSchedulesWithStarts(t *testing.T) {
	clusters, fewer, saved := plantest.Trials(3, 30), 0, 0
	for seed := range uint64(clusters) {
		free := readSchedule(t, scheduleOn(study.DrawCluster(seed+60, 12, 4, 10, 5), 2*int(seed%2)))
		without := plannedAndChecked(t, free)
		if zero := plannedAndChecked(t, withStarts(free, "0", 0)); startsOf(&zero) != startsOf(&without) || !zero.Cost.Total.Equal(without.Cost.Total.Decimal) || !zero.Proof.Bound.Equal(without.Proof.Bound.Decimal) {
			t.Errorf("cluster %d: free starts change the schedule", seed)
		}
		const price, lead = "0.05", 720
		with := plannedAndChecked(t, withStarts(free, price, lead))
		starts, before := startsOf(&with), startsOf(&without)
		if starts < before {
			fewer++
		}
		told, cost := int64(0), decimal.Zero
		for i := range with.Hours {
			if x := &with.Hours[i]; x.StartCost != nil {
				told, cost = told+x.Started, cost.Add(x.StartCost.Decimal)
			}
		}
		if want := costOfStarts(&free, &with, price, lead); cost.Sub(want).Abs().GreaterThan(decimal.New(1, -6)) {
			t.Errorf("cluster %d: starts are said to cost %s, and cost %s", seed, cost, want)
		}
		if told != starts || starts > 0 && !strings.Contains(with.Explanation, "starting VMs") {
			t.Errorf("cluster %d: %d VMs are started, and the hours tell of %d: %s", seed, starts, told, with.Explanation)
		}
		priced := without.Cost.Total.Add(costOfStarts(&free, &without, price, lead))
		if with.Cost.Total.LessThan(priced) {
			saved++
		}
		if with.Cost.Total.GreaterThan(priced.Mul(decimal.RequireFromString("1.01"))) || with.Proof.Bound.GreaterThan(priced) {
			t.Errorf("cluster %d: the schedule costs %s, at least %s, and the one made without the price %s with its starts", seed, with.Cost.Total, with.Proof.Bound, priced)
		}
	}
	if fewer < clusters*2/3 || saved < clusters*2/3 {
		t.Errorf("of %d schedules %d start fewer VMs, and %d cost less", clusters, fewer, saved)
	}
}

// gapped is two executions that do not wait, four hours apart and with four VMs on average for two hours each, on VMs of a contract and on demand.
const gapped = `{"problem": {"currency": "EUR", "supply": {"on_demand": {"price": "0.2"}, "start": {"price": "START", "min_billed_s": 600}},
	"classes": [{"name": "etl", "vms_per_job": "8", "deadline_s": 3600, "due_s": 7200, "jobs": {"min": 0, "max": 0, "all": true}, "penalty": "0"}]},
	"contracts": [{"name": "kept", "vms": 3, "price": "0.1", "billing": "always", "from": "2026-03-02T00:00:00Z", "until": "2026-03-03T00:00:00Z"}],
	"periods": [{"start": "2026-03-02T00:00:00Z", "hours": 1, "arrivals": [1]}, {"start": "2026-03-02T01:00:00Z", "hours": 3, "arrivals": [0]},
		{"start": "2026-03-02T04:00:00Z", "hours": 1, "arrivals": [1]}, {"start": "2026-03-02T05:00:00Z", "hours": 3, "arrivals": [0]}]BEFORE}`

// VMs stay where that is cheaper than to start them again. Those of a contract that is billed anyway stay at any price of a start, and
// those on demand from the price of the hours between. Those that are there before need no start.
func TestVMsStayWhereThatIsCheaper(t *testing.T) {
	for _, c := range []struct {
		price, before string
		vms           string // of the hours
		bill          string
	}{
		{"0", "", "4 4 0 0 4 4 0 0", "3.20"},
		{"0.05", "", "4 4 3 3 4 4 0 0", "3.45"}, // four starts and one
		{"0.39", "", "4 4 3 3 4 4 0 0", "5.15"},
		{"0.41", "", "4 4 4 4 4 4 0 0", "5.24"}, // four starts, and two VM-hours
		{"0.05", `, "before": {"vms": [2]}`, "4 4 3 3 4 4 0 0", "3.35"},
	} {
		q := readSchedule(t, []byte(strings.NewReplacer("START", c.price, "BEFORE", c.before).Replace(gapped)))
		a := plannedAndChecked(t, q)
		var vms []string
		for _, h := range a.Hours {
			vms = append(vms, decimal.NewFromInt(h.VMs).String())
		}
		if got := strings.Join(vms, " "); got != c.vms || a.Cost.Bill.String() != c.bill {
			t.Errorf("at %s%s there are %s VMs for %s, want %s for %s", c.price, c.before, got, a.Cost.Bill, c.vms, c.bill)
		}
	}
}

// VMs are started once where that is worth it: those of a contract that costs nothing more, and those of work that comes in two bursts.
func TestFewVMsAreStarted(t *testing.T) {
	const of = `{"problem": {"currency": "EUR", "supply": {"on_demand": {"price": "0.2"}, "start": {"price": "0.3"}}, "classes": [{"name": "r", "demand": {"map_work_s": 3600, "reduce_work_s": 0, "fixed_s": 0},
		"deadline_s": 3600, "due_s": 14400, "slots_per_vm": {"map": 1, "reduce": 1}, "jobs": {"min": 0, "max": 9}, "penalty": "9"}]}, CONTRACTS "periods": [PERIODS]}`
	for _, c := range []struct {
		contracts string
		arrivals  string
		total     string
	}{
		{`"contracts": [{"name": "kept", "vms": 2, "price": "0.1", "billing": "always", "from": "2026-03-02T00:00:00Z", "until": "2026-03-03T00:00:00Z"}],`, "0 0 3 1 0 0 0 0 0", "2.10"},
		{"", "4 0 0 0 4 0 0 0 0 0", "2.60"}, // two VMs for five hours, of which one is idle
	} {
		var periods []string
		for h, n := range strings.Fields(c.arrivals) {
			periods = append(periods, fmt.Sprintf(`{"start": "2026-03-02T%02d:00:00Z", "hours": 1, "arrivals": [%s]}`, h, n))
		}
		q := readSchedule(t, []byte(strings.NewReplacer("CONTRACTS", c.contracts, "PERIODS", strings.Join(periods, ",")).Replace(of)))
		if a := plannedAndChecked(t, q); a.Cost.Total.String() != c.total {
			t.Errorf("arrivals %s: it costs %s, want %s", c.arrivals, a.Cost.Total, c.total)
		}
	}
}

// Each changed figure of a schedule with starts is found.
func TestChangedStartsAreFound(t *testing.T) {
	question := []byte(strings.NewReplacer("START", "0.05", "BEFORE", "").Replace(gapped))
	q := readSchedule(t, question)
	a, err := timetable.Plan(t.Context(), q, nil)
	if err == nil {
		err = timetables.Fault(q, &a)
	}
	if err != nil {
		t.Fatal(err)
	}
	changed(t, question, a)
}

// What cannot be planned with is told at its member.
func TestFaultsOfStarts(t *testing.T) {
	for _, c := range [][3]string{
		{`"price": "0.05"`, `"price": "-1"`, "/problem/supply/start/price"},
		{`"min_billed_s": 600`, `"min_billed_s": 7200`, "/problem/supply/start/min_billed_s"},
		{`"min_billed_s": 600`, `"lead_s": 3601`, "/problem/supply/start/lead_s"},
		{`"min_billed_s": 600`, `"lead_s": -1`, "/problem/supply/start/lead_s"},
		{`"price": "0.05", "min_billed_s": 600`, `"lead_s": 600`, ""},
		{`"supply": {`, `"supply": {"spot": {"price": "0.1", "max_share": 0.5}, `, "/problem/supply/start"},
		{`"problem": {`, `"problem": {"budget": {"vm_cost": "9"}, `, "/problem/budget"},
		{`"periods": [`, `"before": {"vms": [1, 2]}, "periods": [`, "/before/vms"},
		{`"periods": [`, `"before": {"vms": [-1]}, "periods": [`, "/before/vms/0"},
		{`, "start": {"price": "0.05", "min_billed_s": 600}`, "", ""},
		{`"problem": {`, `"before": {"vms": [1]}, "problem": {`, ""},
	} {
		text := strings.NewReplacer("START", "0.05", "BEFORE", "").Replace(gapped)
		if !strings.Contains(text, c[0]) {
			t.Fatalf("there is no %s", c[0])
		}
		_, err := timetable.Read([]byte(strings.Replace(text, c[0], c[1], 1)), capacity.DefaultLimits())
		var wrong *fault.InputError
		switch {
		case c[2] == "" && err == nil:
		case !errors.As(err, &wrong) || wrong.Findings[0].Pointer != c[2]:
			t.Errorf("with %s: %v, want a fault at %s", c[1], err, c[2])
		}
	}
}
