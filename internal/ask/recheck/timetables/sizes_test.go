package timetables_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"example.org/headroom/internal/ask/recheck/timetables"
	"example.org/headroom/internal/ask/timetable"
	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/fault"
)

// Jobs that start as they arrive may fill whole VMs. Parts of them are rounded up, and a VM more is neither rented nor told.
func TestLoadsThatFillWholeVMs(t *testing.T) {
	for _, x := range []struct{ run, each, vms int }{{5000, 18, 25}, {4200, 6, 7}, {6600, 12, 22}, {5400, 18, 27}} {
		q := readSchedule(t, fmt.Appendf(nil, `{"problem": {"currency": "EUR", "supply": {"on_demand": {"price": "1"}}, "classes": [
		  {"name": "web", "vms_per_job": "1", "deadline_s": %d, "jobs": {"min": 0, "max": 0}, "penalty": "50"},
		  {"name": "etl", "vms_per_job": "1", "deadline_s": 3600, "due_s": 14400, "jobs": {"min": 0, "max": 0}, "penalty": "50"}]},
		 "earlier": [{"start": "2026-03-02T00:00:00Z", "hours": 8, "arrivals": [%d, 0]}],
		 "periods": [{"start": "2026-03-02T08:00:00Z", "hours": 6, "arrivals": [%d, 0]}, {"start": "2026-03-02T14:00:00Z", "hours": 6, "arrivals": [0, 0]}]}`, x.run, 8*x.each, 6*x.each))
		a, err := timetable.Plan(t.Context(), q, nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range timetables.Check(q, a) {
			t.Errorf("%d s: %s %s", x.run, f.Pointer, f.Detail)
		}
		for h := range 6 {
			if a.Hours[h].VMs != int64(x.vms) {
				t.Errorf("%d jobs an hour of %d s: hour %d has %d VMs, want %d", x.each, x.run, h, a.Hours[h].VMs, x.vms)
			}
		}
	}
}

// What the time before leaves counts as what arrives: too much of it is refused, and what is taken is checked in time.
func TestHowMuchMayBeLeft(t *testing.T) {
	start := time.Date(2026, 3, 2, 8, 0, 0, 0, time.UTC)
	ask := func(class, due string, rows []string, member string, hours int) (timetable.Question, error) {
		return timetable.Read(fmt.Appendf(nil, `{"problem": {"currency": "EUR", "supply": {"on_demand": {"price": "1"}}, "classes": [
		  {"name": "etl", %s, "due_s": %s, "jobs": {"min": 0, "max": 0}, "penalty": "50"}]}, "before": {"%s": [%s]},
		 "periods": [{"start": "2026-03-02T08:00:00Z", "hours": %d, "arrivals": [0]}]}`, class, due, member, strings.Join(rows, ","), hours), capacity.DefaultLimits())
	}
	waiting := func(rows, jobs int) (all []string) {
		for i := range rows {
			all = append(all, fmt.Sprintf(`{"class": "etl", "arrived": %q, "jobs": %d}`, start.Add(-time.Duration(i+1)*time.Hour).Format(time.RFC3339), jobs))
		}
		return all
	}
	running := func(rows, jobs, slots int) (all []string) {
		for i := range rows {
			all = append(all, fmt.Sprintf(`{"class": "etl", "arrived": "2026-03-02T06:00:00Z", "start": "2026-03-02T07:00:00Z", "run_s": 9999999, "jobs": %d, "map_slots": %d, "reduce_slots": 1}`, jobs, slots+i%9))
		}
		return all
	}
	slots := `"demand": {"map_work_s": 100000, "reduce_work_s": 3600, "fixed_s": 10}, "slots_per_vm": {"map": 7, "reduce": 2}, "deadline_s": 36000`
	for name, test := range map[string]struct {
		class, due string
		rows       []string
		member     string
	}{
		"executions that wait":     {slots, "36000", waiting(3, 400_000), "waiting"},
		"starts of what waits":     {slots, "9000000", waiting(1500, 1), "waiting"},
		"VMs of what waits":        {`"vms_per_job": "1000000000", "deadline_s": 3600`, "36000", waiting(1, 1_000_000), "waiting"},
		"VMs of what runs":         {slots, "36000", running(1, 1_000_000, 1_000_000_000), "running"},
		"VMs of what runs in all":  {slots, "36000", running(50, 1_000_000, 1_000_000), "running"},
		"VMs of jobs of one class": {`"vms_per_job": "1000000000", "deadline_s": 3600`, "36000", []string{strings.Replace(strings.Replace(running(1, 1_000_000, 0)[0], `"reduce_slots": 1`, `"reduce_slots": 0`, 1), "9999999", "7201", 1)}, "running"},
	} {
		_, err := ask(test.class, test.due, test.rows, test.member, 2208)
		var input *fault.InputError
		if !errors.As(err, &input) || input.Findings[0].Code != "too_many" {
			t.Errorf("%s: got %v", name, err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel() // the first schedule found is enough to be checked
	for _, x := range []struct {
		rows   []string
		member string
	}{{waiting(400, 2), "waiting"}, {running(20_000, 3, 1), "running"}} {
		q, err := ask(slots, "1440000", x.rows, x.member, 500)
		if err != nil {
			t.Fatal(err)
		}
		a, err := timetable.Plan(ctx, q, nil)
		if err != nil {
			t.Fatal(err)
		}
		from := time.Now()
		for _, f := range timetables.Check(q, a) {
			t.Errorf("%d rows: %s %s", len(x.rows), f.Pointer, f.Detail)
		}
		if took := time.Since(from); took > 5*time.Second {
			t.Errorf("the check of %d rows took %v", len(x.rows), took)
		}
	}
}

// What has started keeps its VMs before what is promised, also in the plan in which nothing waits, which may refuse promised jobs.
func TestPromisedJobsBesideWhatHasStarted(t *testing.T) {
	q := readSchedule(t, []byte(`{"problem": {"currency": "EUR", "supply": {"on_demand": {"price": "1", "quota": 8}}, "classes": [
	  {"name": "reports", "vms_per_job": "2", "deadline_s": 3600, "due_s": 21600, "jobs": {"min": 0, "max": 0, "all": true}, "penalty": "50"},
	  {"name": "web", "vms_per_job": "1", "deadline_s": 7200, "jobs": {"min": 0, "max": 0}, "penalty": "0.01"}]},
	 "earlier": [{"start": "2026-03-02T01:00:00Z", "hours": 2, "arrivals": [0, 4]}],
	 "before": {"waiting": [{"class": "reports", "arrived": "2026-03-02T00:00:00Z", "jobs": 3}, {"class": "reports", "arrived": "2026-03-02T02:00:00Z", "jobs": 1}]},
	 "periods": [{"start": "2026-03-02T03:00:00Z", "hours": 1, "arrivals": [0, 2]}, {"start": "2026-03-02T04:00:00Z", "hours": 1, "arrivals": [2, 2], "on_demand_price": "3"},
	  {"start": "2026-03-02T05:00:00Z", "hours": 14, "arrivals": [0, 0]}]}`))
	a, err := timetable.Plan(t.Context(), q, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range timetables.Check(q, a) {
		t.Errorf("%s %s", f.Pointer, f.Detail)
	}
	if a.AtOnce.ValueRefused.IsZero() || a.Hours[0].VMs > 8 || a.Hours[0].VMs < 5 {
		t.Errorf("at once %s is refused, and the first hour has %d VMs", a.AtOnce.ValueRefused, a.Hours[0].VMs)
	}
}
