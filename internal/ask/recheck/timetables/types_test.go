package timetables_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/shopspring/decimal"

	"example.org/headroom/internal/ask/horizon"
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

// Executions of a class run on one type of VMs at a time: others wait until those have ended that run on a dearer one, or take it too
// where they cannot wait so long. A schedule that mixes the types is found.
func TestAClassOnOneTypeAtATime(t *testing.T) {
	for _, x := range []struct {
		one   bool
		run   int
		due   int
		hour  int
		on    string
		wrong bool // where it is to be one type
	}{{true, 7200, 36000, 10, "large", false}, {true, 10800, 14400, 9, "small", false}, {false, 7200, 36000, 9, "large", true}} {
		q := readSchedule(t, fmt.Appendf(nil, `{"one_type": %v, "problem": {"currency": "EUR", "supply": {"vm_types": [{"name": "small", "on_demand": {"price": "1"}}, {"name": "large", "on_demand": {"price": "1.5"}}]}, "classes": [
		  {"name": "etl", "vms_per_job": "1", "speed": {"large": 2}, "deadline_s": 7200, "due_s": %d, "jobs": {"min": 0, "max": 0}, "penalty": "50"}]},
		 "before": {"running": [{"class": "etl", "arrived": "2026-03-02T02:00:00Z", "start": "2026-03-02T08:00:00Z", "run_s": %d, "jobs": 2, "type": "small", "map_slots": 0, "reduce_slots": 0}]},
		 "periods": [{"start": "2026-03-02T08:00:00Z", "hours": 1, "arrivals": [4]}, {"start": "2026-03-02T09:00:00Z", "hours": 11, "arrivals": [0]}]}`, x.one, x.due, x.run))
		a, err := timetable.Plan(t.Context(), q, nil)
		if err != nil {
			t.Fatal(err)
		}
		if f := timetables.Check(q, a); len(f) > 0 {
			t.Fatalf("%+v: the schedule itself: %v", x, f)
		}
		if len(a.Schedule) != 1 || a.Schedule[0].Type != x.on || a.Schedule[0].Start.Hour() != x.hour || a.Schedule[0].Jobs != 4 {
			t.Errorf("%+v: got %+v", x, a.Schedule)
		}
		q.OneType = true
		if f := timetables.Check(q, a); x.wrong != (len(f) > 0) || x.wrong && f[0].Pointer != "/schedule/0/type" {
			t.Errorf("%+v: on one type it has the faults %v", x, f)
		}
	}
}

// What runs keeps its type of VMs when the cluster gets another one, or when a class names the only one. What runs on a type that is
// not used any more is left out, and what waits is not.
func TestTypesOfWhatRunsAreRenamed(t *testing.T) {
	start := time.Date(2026, 3, 2, 8, 0, 0, 0, time.UTC)
	classes := []capacity.Class{{Name: "etl", VMsPerJob: &decimal.Decimal{}, DueSeconds: 36000, DeadlineSeconds: 7200}}
	for _, x := range []struct {
		was, is timetable.Types
		on      string
		want    []string
	}{
		{timetable.Types{Names: []string{"m"}}, timetable.Types{Names: []string{"m"}}, "", []string{""}},
		{timetable.Types{Names: []string{"m"}}, timetable.Types{Names: []string{"m", "n"}, Named: true}, "", []string{"m"}},
		{timetable.Types{Names: []string{"m", "n"}, Named: true}, timetable.Types{Names: []string{"n"}}, "n", []string{""}},
		{timetable.Types{Names: []string{"m", "n"}, Named: true}, timetable.Types{Names: []string{"n"}}, "m", nil},
		{timetable.Types{}, timetable.Types{Names: []string{"m"}, Named: true}, "", []string{"m"}},
		{timetable.Types{}, timetable.Types{Names: []string{"m", "n"}, Named: true}, "", nil},
	} {
		f := timetable.Followed{Types: x.was}
		f.Question.Periods = []horizon.HorizonPeriod{{Start: start, Hours: 9}}
		f.Answer.Classes = []timetable.Class{{Name: "etl", Waits: true}}
		for _, begins := range []int{0, 3} {
			f.Answer.Schedule = append(f.Answer.Schedule, timetable.Start{Class: "etl", Arrived: start.Add(-time.Hour), Start: start.Add(time.Duration(begins) * time.Hour), RunSeconds: 7200, Jobs: 1, Type: x.on})
		}
		b := f.Leaves(start.Add(time.Hour), x.is, classes, nil, nil)
		var got []string
		for _, s := range b.Running {
			got = append(got, s.Type)
		}
		if !slices.Equal(got, x.want) || len(b.Waiting) != 1 || b.Waiting[0].Jobs != 1 {
			t.Errorf("%+v: it runs on %v, and %v waits", x, got, b.Waiting)
		}
	}
}

// What arrived earlier may have ended on a fast type of VMs and still run on a slow one: on the fast one it holds nothing.
func TestWhatArrivedEarlierHasEndedOnAFastType(t *testing.T) {
	q := readSchedule(t, []byte(`{"problem": {"currency": "EUR", "supply": {"vm_types": [{"name": "slow", "on_demand": {"price": "1"}}, {"name": "fast", "on_demand": {"price": "9"}}]}, "classes": [
	  {"name": "web", "demand": {"map_work_s": 12000, "reduce_work_s": 0, "fixed_s": 2000}, "slots_per_vm": {"map": 4, "reduce": 1}, "speed": {"fast": 4}, "deadline_s": 9000, "jobs": {"min": 0, "max": 0}, "penalty": "50"}]},
	 "earlier": [{"start": "2026-03-02T05:00:00Z", "hours": 1, "arrivals": [4]}],
	 "periods": [{"start": "2026-03-02T08:00:00Z", "hours": 6, "arrivals": [0]}]}`))
	a, err := timetable.Plan(t.Context(), q, nil)
	if err != nil {
		t.Fatal(err)
	}
	if f := timetables.Check(q, a); len(f) > 0 {
		t.Errorf("the schedule: %v", f)
	}
	if len(a.Earlier) != 1 || a.Earlier[0].Type != "fast" || a.Hours[0].VMs != 0 {
		t.Errorf("they hold VMs of %v, and the first hour has %+v", a.Earlier, a.Hours[0])
	}
}

// A class on one type of VMs at a time costs little more, even where the price of each type moves by a tenth from hour to hour. The
// long form tries four clusters of three sizes, each on two, three and five types.
func TestOneTypeAtATimeCostsLittleMore(t *testing.T) {
	clusters, means, types := plantest.Trials(1, 4), []float64{10, 50, 200}, []int{2, 3, 5}
	if clusters == 1 {
		means, types = means[:1], types[:1]
	}
	for _, mean := range means {
		for _, n := range types {
			more, most := 0.0, 0.0
			for seed := range uint64(clusters) {
				q := readSchedule(t, scheduleOn(study.DrawCluster(seed+100, 24*min(2, clusters), 10, mean, 12), n))
				q.PlaceAll = true
				free, err := timetable.Plan(t.Context(), q, nil)
				if err != nil {
					t.Fatal(err)
				}
				q.OneType = true
				one, err := timetable.Plan(t.Context(), q, nil)
				if err != nil {
					t.Fatal(err)
				}
				for _, f := range timetables.Check(q, one) {
					t.Errorf("%g VMs on %d types, seed %d: %s %s", mean, n, seed, f.Pointer, f.Detail)
				}
				share := one.Cost.Total.Float()/free.Cost.Total.Float() - 1
				more, most = more+share/float64(clusters), max(most, share)
			}
			if t.Logf("%g VMs on %d types: one type at a time costs %.1f %% more, at most %.1f %%", mean, n, 100*more, 100*most); most > 0.12 {
				t.Errorf("%g VMs on %d types: one type at a time costs %.1f %% more", mean, n, 100*most)
			}
		}
	}
}
