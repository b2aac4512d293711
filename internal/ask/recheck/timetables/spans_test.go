package timetables_test

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/shopspring/decimal"

	"example.org/headroom/internal/ask/recheck/timetables"
	"example.org/headroom/internal/ask/study"
	"example.org/headroom/internal/ask/timetable"
	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/fault"
	"example.org/headroom/internal/core/lp/worker"
	"example.org/headroom/internal/core/money"
	"example.org/headroom/internal/test/plantest"
)

// spent returns what the hours of a schedule from one on and before another cost.
func spent(a *timetable.Answer, from, until int) (sum decimal.Decimal) {
	for _, h := range a.Hours[from:until] {
		sum = sum.Add(h.Cost.Decimal)
	}
	return sum
}

// span is a budget of hours of a question.
func span(q *timetable.Question, from, until int, most decimal.Decimal) timetable.SpanBudget {
	at := func(hour int) time.Time { return q.Start().Add(time.Duration(hour) * time.Hour) }
	return timetable.SpanBudget{From: at(from), Until: at(until), VMCost: money.Amount{Decimal: most.Round(4)}}
}

// Budgets bound what hours cost together, on one type of VMs and on several, with spot VMs or without. Schedules within them are checked, and
// those beyond them are found. A budget that everything keeps changes nothing.
func TestSchedulesKeepToBudgetsOfHours(t *testing.T) {
	pool := worker.New(worker.Config{Processes: 1})
	defer pool.Close()
	clusters, dearer, beyond, gaps := plantest.Trials(4, 30), 0, 0, 0.0
	for seed := range uint64(clusters) {
		q := readSchedule(t, scheduleOn(study.DrawCluster(seed+80, 16, 5, 40, 5), 2*int(seed%2)))
		if seed%4 == 2 {
			q.Problem.Supply.Spot = &capacity.Spot{Price: money.Amount{Decimal: decimal.New(6, -2)}, MaxShare: 0.3}
		}
		if seed%4 > 0 {
			q.Contracts = nil
		}
		free, err := timetable.Plan(t.Context(), q, pool)
		if err != nil {
			t.Fatal(err)
		}
		hours := len(free.Hours)
		loose := q
		loose.Budgets = []timetable.SpanBudget{span(&q, 0, hours, spent(&free, 0, hours).Mul(decimal.NewFromInt(3)))}
		a, err := timetable.Plan(t.Context(), loose, pool)
		if err != nil || a.Cost.Total.LessThan(free.Proof.Bound.Decimal) || free.Cost.Total.LessThan(a.Proof.Bound.Decimal) || a.Proof.Gap > 2*free.Proof.Gap+1e-3 {
			t.Errorf("cluster %d: a budget of three times the bill changes %s, at least %s, to %s, at least %s (%v)", seed, free.Cost.Total, free.Proof.Bound, a.Cost.Total, a.Proof.Bound, err)
		}
		tight := q
		first := hours / 3
		tight.Budgets = []timetable.SpanBudget{span(&q, 0, hours, spent(&free, 0, hours).Mul(decimal.New(85, -2))), span(&q, 0, first, spent(&free, 0, first).Mul(decimal.New(70, -2)))}
		if _, err = timetable.Read(must(json.Marshal(tight))(t), capacity.DefaultLimits()); err != nil { // contracts alone cost more
			t.Logf("cluster %d: %v", seed, err)
			continue
		}
		if a, err = timetable.Plan(t.Context(), tight, pool); err != nil {
			t.Fatal(err)
		}
		for _, f := range timetables.Check(tight, a) {
			t.Errorf("cluster %d, %s: %s", seed, f.Pointer, f.Detail)
		}
		for i, b := range a.Budgets {
			from, until := int(b.From.Sub(q.Start())/time.Hour), int(b.Until.Sub(q.Start())/time.Hour)
			if got := spent(&a, from, until); got.GreaterThan(b.VMCost.Decimal) || !got.Equal(b.Bill.Decimal) {
				t.Errorf("cluster %d: budget %d of %s is told to be spent to %s, and the hours cost %s", seed, i, b.VMCost, b.Bill, got)
			}
		}
		t.Logf("cluster %d: %s, at least %s; without budgets %s", seed, a.Cost.Total, a.Proof.Bound, free.Cost.Total)
		gaps += a.Proof.Gap
		if a.Cost.Total.GreaterThan(free.Cost.Total.Decimal) {
			dearer++
		}
		if found := timetables.Check(tight, free); len(found) > 0 {
			beyond++
		}
		if !strings.Contains(a.Explanation, "budgets are kept") {
			t.Errorf("cluster %d: %s", seed, a.Explanation)
		}
	}
	t.Logf("of %d clusters budgets raise the cost of %d, with a gap of %.2f %% on average", clusters, dearer, 100*gaps/float64(max(1, dearer)))
	if dearer < clusters/3 || beyond < clusters/3 {
		t.Errorf("of %d clusters budgets raise the cost of %d, and %d schedules beyond them are found", clusters, dearer, beyond)
	}
}

func must[T any](x T, err error) func(t *testing.T) T {
	return func(t *testing.T) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return x
	}
}

// A budget of each hour is the same as budgets of single hours: no schedule under one costs less than the bound of the other.
func TestBudgetsOfEachHour(t *testing.T) {
	q := readSchedule(t, scheduleOf(study.DrawCluster(41, 8, 3, 8, 4)))
	free := plannedAndChecked(t, q)
	dearest := slices.MaxFunc(free.Hours, func(a, b timetable.Hour) int { return a.Cost.Cmp(b.Cost.Decimal) })
	most := money.Amount{Decimal: dearest.Cost.Mul(decimal.New(7, -1)).Round(4)}
	hourly, spans := q, q
	hourly.Problem.Budget = &capacity.Budget{VMCost: &most}
	for h := range free.Hours {
		spans.Budgets = append(spans.Budgets, span(&q, h, h+1, most.Decimal))
	}
	x, y := plannedAndChecked(t, hourly), plannedAndChecked(t, spans)
	if x.Cost.Total.LessThan(y.Proof.Bound.Decimal) || y.Cost.Total.LessThan(x.Proof.Bound.Decimal) || !x.Cost.Total.GreaterThan(free.Cost.Total.Decimal) {
		t.Errorf("by the hour %s, at least %s; as spans %s, at least %s; without a budget %s", x.Cost.Total, x.Proof.Bound, y.Cost.Total, y.Proof.Bound, free.Cost.Total)
	}
}

// A budget of just what the schedule costs changes nothing, however many moves were tried.
func TestBudgetsThatAreSpentToTheEnd(t *testing.T) {
	pool := worker.New(worker.Config{Processes: 1})
	defer pool.Close()
	same, cases := 0, plantest.Trials(4, 40)
	for seed := range uint64(cases) {
		q := readSchedule(t, scheduleOf(study.DrawCluster(seed+90, 12, 3, 4, 5)))
		q.Contracts = nil
		free, err := timetable.Plan(t.Context(), q, pool)
		if err != nil {
			t.Fatal(err)
		}
		b := span(&q, 0, len(free.Hours), decimal.Zero)
		b.VMCost = free.Cost.Bill
		q.Budgets = []timetable.SpanBudget{b}
		a, err := timetable.Plan(t.Context(), q, pool)
		if err != nil {
			t.Fatal(err)
		}
		if over := a.Cost.Total.Sub(free.Cost.Total.Decimal); !over.IsPositive() {
			same++
		} else {
			t.Logf("cluster %d: %s within a budget of %s, and %s without", seed, a.Cost.Total, b.VMCost, free.Cost.Total)
		}
	}
	if same < cases*9/10 {
		t.Errorf("of %d schedules %d cost no more within their own bill", cases, same)
	}
}

// Each changed figure of budgets is found.
func TestChangedBudgetsAreFound(t *testing.T) {
	q := readSchedule(t, scheduleOf(study.DrawCluster(83, 8, 4, 5, 6)))
	free := plannedAndChecked(t, q)
	q.Budgets = []timetable.SpanBudget{span(&q, 0, len(free.Hours), spent(&free, 0, len(free.Hours)).Mul(decimal.New(8, -1)))}
	pool := worker.New(worker.Config{Processes: 1})
	defer pool.Close()
	a, err := timetable.Plan(t.Context(), q, pool)
	if err == nil {
		err = timetables.Fault(q, &a)
	}
	if err != nil {
		t.Fatal(err)
	}
	if !a.Budgets[0].Price.IsPositive() {
		t.Fatalf("the budget is worth %s", a.Budgets[0].Price)
	}
	changed(t, must(json.Marshal(q))(t), a)
}

// What is no budget of these hours is told at its member.
func TestFaultsOfBudgets(t *testing.T) {
	const good = `{"from": "2026-03-02T00:00:00Z", "until": "2026-03-02T08:00:00Z", "vm_cost": "9"}`
	for _, c := range [][3]string{
		{"T00:00:00Z", "T00:30:00Z", "/budgets/0/from"},
		{"T00:00:00Z", "T09:00:00Z", "/budgets/0/from"},
		{"T08:00:00Z", "T09:00:00Z", "/budgets/0/until"},
		{"T08:00:00Z", "T00:00:00Z", "/budgets/0/until"},
		{`"9"`, `"-9"`, "/budgets/0/vm_cost"},
		{`"9"`, `"2.39"`, "/budgets/0/vm_cost"}, // three VMs of a contract for eight hours
		{`, "vm_cost": "9"`, "", "/budgets/0/vm_cost"},
		{`"9"`, `"2.4"`, ""},
	} {
		text := strings.NewReplacer("START", "0", "BEFORE", `, "budgets": [`+strings.Replace(good, c[0], c[1], 1)+`]`, `, "start": {"price": "START", "min_billed_s": 600}`, "").Replace(gapped)
		_, err := timetable.Read([]byte(text), capacity.DefaultLimits())
		var wrong *fault.InputError
		switch {
		case c[2] == "" && err == nil:
		case !errors.As(err, &wrong) || wrong.Findings[0].Pointer != c[2]:
			t.Errorf("with %s: %v, want a fault at %s", c[1], err, c[2])
		}
	}
	text := strings.NewReplacer("START", "0.05", "BEFORE", `, "budgets": [`+good+`]`).Replace(gapped)
	if _, err := timetable.Read([]byte(text), capacity.DefaultLimits()); err == nil {
		t.Error("a budget is taken where starting VMs costs something")
	}
}
