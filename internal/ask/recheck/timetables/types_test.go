package timetables_test

import (
	"encoding/json"
	"testing"

	"github.com/shopspring/decimal"

	"example.org/headroom/internal/ask/recheck/timetables"
	"example.org/headroom/internal/ask/study"
	"example.org/headroom/internal/ask/timetable"
	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/test/plantest"
)

// followedOn plans a drawn cluster on some types of VMs, and again from a later hour on with what the first schedule leaves.
func followedOn(t *testing.T, c study.Cluster, types, hour int) (first, next timetable.Followed) {
	t.Helper()
	var err error
	first.Question = readSchedule(t, scheduleOn(c, types))
	if first.Answer, err = timetable.Plan(t.Context(), first.Question, nil); err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(from(first.Question, first, hour))
	if err != nil {
		t.Fatal(err)
	}
	if next.Question, err = timetable.Read(text, capacity.DefaultLimits()); err != nil {
		t.Fatal(err)
	}
	if next.Answer, err = timetable.Plan(t.Context(), next.Question, nil); err != nil {
		t.Fatal(err)
	}
	return first, next
}

// Schedules on several types pass their checks, also where executions run on them already. Going on with a schedule is never
// below the bound of the next.
func TestSchedulesOnSeveralTypes(t *testing.T) {
	used, chosen, held := map[string]int64{}, map[string]int{}, map[string]int64{}
	for seed := range uint64(plantest.Trials(2, 40)) {
		first, next := followedOn(t, study.DrawCluster(seed, 12+int(seed%7), 5, 30, 8), 2+int(seed%2), 3)
		for n, f := range []timetable.Followed{first, next} {
			for _, f := range timetables.Check(f.Question, f.Answer) {
				t.Errorf("seed %d, schedule %d: %s %s", seed, n, f.Pointer, f.Detail)
			}
		}
		for _, s := range first.Answer.Schedule {
			used[s.Type] += s.Jobs
		}
		for _, s := range next.Question.Before.Running {
			held[s.Type] += s.Jobs
		}
		for _, x := range next.Answer.Earlier {
			chosen[x.Type]++
		}
		on := decimal.Zero
		for _, h := range first.Answer.Hours[3:] {
			on = on.Add(h.Cost.Decimal)
		}
		for _, r := range first.Answer.Refused {
			if !r.Arrived.Before(next.Question.Start()) {
				on = on.Add(valueOf(&first.Question, r))
			}
		}
		if on.Add(decimal.New(1, -6)).LessThan(next.Answer.Proof.Bound.Decimal) {
			t.Errorf("seed %d: going on costs %s, below the bound of %s", seed, on, next.Answer.Proof.Bound)
		}
	}
	if len(used) < 2 || len(held) == 0 || len(chosen) == 0 {
		t.Errorf("executions start on %v, run on %v, and those that arrived earlier on %v", used, held, chosen)
	}
}

// A change of any figure of a schedule on two types is found.
func TestChangedSchedulesOfTypesAreFound(t *testing.T) {
	for seed := uint64(plantest.Trials(8, 0)); ; seed++ { // no cluster before the eighth has all that is looked for; the long form tries them
		_, next := followedOn(t, study.DrawCluster(seed, 8, 5, 6, 6), 2, 2)
		if len(next.Answer.Earlier) == 0 || len(next.Answer.Refused) == 0 || next.Answer.Status != capacity.Feasible || next.Answer.Saved.IsZero() {
			continue
		}
		if err := timetables.Fault(next.Question, &next.Answer); err != nil {
			t.Fatal(err)
		}
		question, err := json.Marshal(next.Question)
		if err != nil {
			t.Fatal(err)
		}
		changed(t, question, next.Answer)
		return
	}
}

// What runs already stays on its type, what arrived earlier takes the cheapest one, and what waits fills both. Other figures are
// found to be wrong.
func TestFaultsOnSeveralTypes(t *testing.T) {
	q := readSchedule(t, []byte(`{"problem": {"currency": "EUR", "supply": {"vm_types": [{"name": "small", "on_demand": {"price": "1"}}, {"name": "large", "on_demand": {"price": "1.5"}}]}, "classes": [
	  {"name": "etl", "vms_per_job": "1", "speed": {"large": 2}, "deadline_s": 7200, "due_s": 28800, "jobs": {"min": 0, "max": 0}, "penalty": "50"},
	  {"name": "web", "vms_per_job": "1", "speed": {"large": 2}, "deadline_s": 7200, "jobs": {"min": 0, "max": 0}, "penalty": "50"}]},
	 "earlier": [{"start": "2026-03-02T07:00:00Z", "hours": 1, "arrivals": [0, 4]}],
	 "before": {"waiting": [{"class": "etl", "arrived": "2026-03-02T03:00:00Z", "jobs": 3}],
	            "running": [{"class": "etl", "arrived": "2026-03-02T02:00:00Z", "start": "2026-03-02T07:00:00Z", "run_s": 7200, "jobs": 2, "type": "small", "map_slots": 0, "reduce_slots": 0}]},
	 "periods": [{"start": "2026-03-02T08:00:00Z", "hours": 1, "arrivals": [0, 0], "prices": {"small": {"on_demand": "9"}, "large": {"on_demand": "9"}}}, {"start": "2026-03-02T09:00:00Z", "hours": 5, "arrivals": [0, 0]}]}`))
	a, err := timetable.Plan(t.Context(), q, nil)
	if err != nil {
		t.Fatal(err)
	}
	if f := timetables.Check(q, a); len(f) > 0 {
		t.Fatalf("the schedule itself: %v", f)
	}
	// In the first hour two small VMs run what started, and two large ones the four that arrived earlier, of which the next hour has
	// half. Of the three that wait two share a large VM and one takes a small one, from nine until eleven.
	if first := a.Hours[0].ByType; len(first) != 2 || first[0].VMs != 2 || first[1].VMs != 2 || len(a.Earlier) != 1 || a.Earlier[0].Type != "large" || len(a.Schedule) != 2 || a.Cost.Bill.String() != "42.50" {
		t.Fatalf("got %+v", a)
	}
	planted(t, q, a, map[string]func(*timetable.Answer){
		"no type for what arrived earlier": func(a *timetable.Answer) { a.Earlier = nil },
		"another one for it":               func(a *timetable.Answer) { a.Earlier[0].Type = "small" },
		"an unknown one":                   func(a *timetable.Answer) { a.Schedule[0].Type = "huge" },
		"all on the first type":            func(a *timetable.Answer) { a.Schedule[0].Type, a.Schedule[1].Type = "small", "small" },
		"VMs of the other type": func(a *timetable.Answer) {
			x := a.Hours[0].ByType
			x[0].VMs, x[0].OnDemand, x[1].VMs, x[1].OnDemand = 1, 1, 3, 3
		},
		"one type of VMs":             func(a *timetable.Answer) { a.Hours[1].ByType = a.Hours[1].ByType[:1] },
		"types in another order":      func(a *timetable.Answer) { a.Hours[1].ByType[0].Type = "large" },
		"a bound above what is known": func(a *timetable.Answer) { a.Proof.Bound.Decimal = a.Proof.Bound.Add(decimal.New(1, 0)) },
	})
}
