package timetables_test

import (
	"errors"
	"fmt"
	"testing"

	"example.org/headroom/internal/ask/recheck/timetables"
	"example.org/headroom/internal/ask/study"
	"example.org/headroom/internal/ask/timetable"
	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/fault"
	"example.org/headroom/internal/test/plantest"
)

// promising has a class that is worth no VM, and of which some jobs are promised. In the hour before four arrived.
func promising(promised int, supply string) []byte {
	return fmt.Appendf(nil, `{"problem": {"currency": "EUR", "supply": {"on_demand": {"price": "1"%s}}, "classes": [
	  {"name": "web", "vms_per_job": "1", "deadline_s": 3600, "jobs": {"min": %d, "max": 9}, "penalty": "0.01"}]},
	 "earlier": [{"start": "2026-03-02T07:00:00Z", "hours": 1, "arrivals": [4]}],
	 "periods": [{"start": "2026-03-02T08:00:00Z", "hours": 3, "arrivals": [18]}, {"start": "2026-03-02T11:00:00Z", "hours": 1, "arrivals": [0]}]}`, supply, promised)
}

// Promised jobs run though they are worth no VM, on the VMs of so many at once. More than these are refused, and a schedule that
// refuses one of them is found.
func TestPromisedJobsInSchedules(t *testing.T) {
	plan := func(data []byte) (timetable.Question, timetable.Answer, error) {
		q := readSchedule(t, data)
		a, err := timetable.Plan(t.Context(), q, nil)
		return q, a, err
	}
	_, free, err := plan(promising(0, ""))
	if err != nil || free.Classes[0].Refused != 18 {
		t.Fatalf("without a promise %d are refused: %v", free.Classes[0].Refused, err)
	}
	q, a, err := plan(promising(3, ""))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range timetables.Check(q, a) {
		t.Errorf("%s %s", f.Pointer, f.Detail)
	}
	// Of the four that arrived before two run in the first hour, where two of the six that arrive fill the third place. Their other
	// half leaves two places in the next hour, and so on.
	want := []int64{3, 3, 3, 1}
	for h, n := range want {
		if a.Hours[h].VMs != n {
			t.Errorf("hour %d has %d VMs, want %d", h, a.Hours[h].VMs, n)
		}
	}
	if a.Classes[0].Refused != 18-2-4-2 || a.Proof.Gap > 1e-5 {
		t.Errorf("%d are refused, with a gap of %g", a.Classes[0].Refused, a.Proof.Gap)
	}
	if len(timetables.Check(q, free)) == 0 {
		t.Error("a schedule that keeps no promise passes")
	}
	_, _, err = plan(promising(3, `, "quota": 2`))
	if full, is := errors.AsType[*fault.InfeasibleError](err); !is || full.Conflicts[0].Pointer != "/problem/classes/0/jobs/min" {
		t.Errorf("with two VMs three at once: %v", err)
	}
}

// Drawn schedules with promises pass their checks, refuse less than without, and cost no less than their bound.
func TestPromisesInDrawnSchedules(t *testing.T) {
	kept := 0
	for seed := range uint64(plantest.Trials(3, 40)) {
		c := study.DrawCluster(seed, 12+int(seed%7), 5, 15, 8)
		c.Quota = study.Unlimited
		for k := range c.Classes {
			c.Classes[k].Penalty /= 20
		}
		q := readSchedule(t, scheduleOn(c, int(seed%3)))
		free, err := timetable.Plan(t.Context(), q, nil)
		if err != nil {
			t.Fatal(err)
		}
		for k := range q.Problem.Classes {
			if class := &q.Problem.Classes[k]; !class.MayWait() {
				class.Jobs = capacity.JobRange{Min: 2, Max: 9}
			}
		}
		a, err := timetable.Plan(t.Context(), q, nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range timetables.Check(q, a) {
			t.Errorf("seed %d: %s %s", seed, f.Pointer, f.Detail)
		}
		for k := range a.Classes {
			if a.Classes[k].Refused < free.Classes[k].Refused && len(timetables.Check(q, free)) > 0 {
				kept++
			}
		}
		if a.Cost.Total.LessThan(free.Proof.Bound.Decimal) || a.Proof.Bound.GreaterThan(a.Cost.Total.Decimal) {
			t.Errorf("seed %d: %s with promises, bound %s; without them no less than %s", seed, a.Cost.Total, a.Proof.Bound, free.Proof.Bound)
		}
	}
	if kept == 0 {
		t.Error("no class runs more jobs because they are promised")
	}
}
