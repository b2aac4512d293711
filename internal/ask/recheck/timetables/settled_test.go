package timetables_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"example.org/headroom/internal/ask/recheck/timetables"
	"example.org/headroom/internal/ask/timetable"
	"example.org/headroom/internal/core/fault"
)

// VMs of an hour were asked for ahead of it. So nothing starts in it but what the schedule before starts there, and what would be too
// late in another one, although it is the cheapest. A plan does not promise what is still to start.
func TestStartsOfAnHourAreSettledBeforeIt(t *testing.T) {
	const text = `{"place_all": true, "problem": {"currency": "EUR", "supply": {"on_demand": {"price": "2", "quota": 3}}, "classes": [
	  {"name": "etl", "vms_per_job": "1", "deadline_s": 3600, "due_s": 21600, "jobs": {"min": 0, "max": 0}, "penalty": "50"}]},
	 "before": {"settled": true, "waiting": [{"class": "etl", "arrived": "2026-03-02T03:00:00Z", "jobs": 1}, {"class": "etl", "arrived": "2026-03-02T06:00:00Z", "jobs": 1}],
	   "running": [{"class": "etl", "arrived": "2026-03-02T05:00:00Z", "start": "2026-03-02T08:00:00Z", "run_s": 3600, "jobs": 1, "map_slots": 0, "reduce_slots": 0},
	               {"class": "etl", "arrived": "2026-03-02T07:00:00Z", "start": "2026-03-02T07:00:00Z", "run_s": 7200, "jobs": 1, "map_slots": 0, "reduce_slots": 0}]},
	 "periods": [{"start": "2026-03-02T08:00:00Z", "hours": 1, "arrivals": [0], "on_demand_price": "1"}, {"start": "2026-03-02T09:00:00Z", "hours": 5, "arrivals": [0]}]}`
	plan := func(text string) (timetable.Followed, error) {
		f := timetable.Followed{Question: readSchedule(t, []byte(text))}
		var err error
		if f.Answer, err = timetable.Plan(t.Context(), f.Question, nil); err == nil {
			for _, wrong := range timetables.Check(f.Question, f.Answer) {
				t.Errorf("%s: %s", wrong.Pointer, wrong.Detail)
			}
		}
		return f, err
	}
	starts := func(f timetable.Followed) (hours []int) {
		for _, s := range f.Answer.Schedule {
			hours = append(hours, s.Start.Hour())
		}
		return hours
	}
	hour := time.Date(2026, 3, 2, 8, 0, 0, 0, time.UTC)
	for _, x := range []struct {
		text    string
		starts  []int
		settled bool
	}{
		{text, []int{8, 9}, true},
		{strings.Replace(text, `"settled": true, `, "", 1), []int{8, 9}, false}, // the quota is full
		{strings.Replace(text, `"quota": 3`, `"quota": 9`, 1), []int{8, 9}, true},
		{strings.Replace(strings.Replace(text, `"settled": true, `, "", 1), `"quota": 3`, `"quota": 9`, 1), []int{8, 8}, false},
	} {
		f, err := plan(x.text)
		if err != nil {
			t.Fatal(err)
		}
		if got := starts(f); !slices.Equal(got, x.starts) {
			t.Errorf("settled %v: starts at %v, want %v", x.settled, got, x.starts)
		}
		begun := 2.0
		if x.settled {
			begun = 1
		}
		p := f.Question.Problem
		p.Classes = slices.Clone(p.Classes)
		f.Lay(&p, hour, func(_ string, started float64) float64 { return started })
		if p.Classes[0].Jobs.Min != begun {
			t.Errorf("settled %v: %g are promised, want %g", x.settled, p.Classes[0].Jobs.Min, begun)
		}
		if left := f.Leaves(hour.Add(time.Hour), timetable.Types{}, p.Classes, nil, nil); !left.Settled || len(left.Waiting) > 0 {
			t.Errorf("settled %v: the hour after it is left with %+v", x.settled, left)
		}
		if left := f.Leaves(hour, timetable.Types{}, p.Classes, nil, nil); left.Settled {
			t.Errorf("settled %v: in the hour itself starts are settled anew", x.settled)
		}
	}
	// Without room for what was to start, it waits again.
	f, err := plan(strings.Replace(text, `"quota": 3`, `"quota": 1`, 1))
	var infeasible *fault.InfeasibleError
	if !errors.As(err, &infeasible) {
		t.Fatalf("one VM is enough for two: %v", err)
	}
	if b := f.Question.Before; !b.Unsettle(hour) || b.Settled || len(b.Running) != 1 || len(b.Waiting) != 3 || b.Unsettle(hour) {
		t.Errorf("unsettled: %+v", b)
	}
	if f.Answer, err = timetable.Plan(t.Context(), f.Question, nil); err != nil || len(f.Answer.Schedule) != 2 || len(f.Answer.Refused) != 1 {
		t.Errorf("unsettled: %v, %+v", err, f.Answer)
	}
}

// Of executions that started in one hour the longest runs are still there, where leases count fewer than started.
func TestLongestRunsAreStillThere(t *testing.T) {
	q := readSchedule(t, []byte(`{"problem": {"currency": "EUR", "supply": {"on_demand": {"price": "1"}}, "classes": [
	  {"name": "etl", "demand": {"map_work_s": 14000, "reduce_work_s": 0, "fixed_s": 0}, "slots_per_vm": {"map": 2, "reduce": 1}, "deadline_s": 10800, "due_s": 21600, "jobs": {"min": 0, "max": 0}, "penalty": "50"}]},
	 "periods": [{"start": "2026-03-02T08:00:00Z", "hours": 9, "arrivals": [0]}]}`))
	at := q.Start()
	row := func(arrived int, seconds float64, slots int64) timetable.Start {
		return timetable.Start{Class: "etl", Arrived: at.Add(time.Duration(arrived) * time.Hour), Start: at, RunSeconds: seconds, Jobs: 1, MapSlots: slots}
	}
	f := timetable.Followed{Question: q, Answer: timetable.Answer{Classes: []timetable.Class{{Name: "etl", Waits: true}}, Schedule: []timetable.Start{row(-3, 3600, 4), row(-1, 10800, 2)}}}
	left := f.Leaves(at.Add(time.Hour), timetable.Types{}, q.Problem.Classes, nil, []timetable.HourLeases{{Class: "etl", Hour: at, Started: 2, Running: 1}})
	if len(left.Running) != 1 || left.Running[0].RunSeconds != 10800 {
		t.Errorf("got %+v", left.Running)
	}
	// What ended in a later hour leaves its run to nobody who started before.
	f.Question.Before, f.Answer.Schedule = left, []timetable.Start{row(0, 3600, 4)}
	f.Question.Periods[0].Start = at.Add(time.Hour)
	f.Answer.Schedule[0].Start = at.Add(time.Hour)
	left = f.Leaves(at.Add(2*time.Hour), timetable.Types{}, q.Problem.Classes, nil, []timetable.HourLeases{{Class: "etl", Hour: at, Started: 1, Running: 1}, {Class: "etl", Hour: at.Add(time.Hour), Started: 1}})
	if len(left.Running) != 1 || left.Running[0].RunSeconds != 10800 || !left.Running[0].Start.Equal(at) {
		t.Errorf("got %+v", left.Running)
	}
}
