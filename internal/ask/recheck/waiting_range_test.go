package recheck

import (
	"testing"

	"example.org/headroom/internal/ask/timetable"
	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/proof"
)

// rangeText is a time in which reports may wait, over a grid of how long and of the demand; one point has no schedule.
const rangeText = `{
 "problem": {"currency": "EUR", "supply": {"contracts": [{"name": "one-year", "vms": 2, "price": "0.12", "billing": "always"}], "on_demand": {"price": "0.20"}},
  "classes": [
   {"name": "reports", "vms_per_job": "1.5", "deadline_s": 3600, "due_s": 21600, "jobs": {"min": 0, "max": 0}, "penalty": "2"},
   {"name": "alerts", "demand": {"map_work_s": 7200, "reduce_work_s": 0, "fixed_s": 60}, "deadline_s": 3600, "slots_per_vm": {"map": 4, "reduce": 2}, "jobs": {"min": 0, "max": 0}, "penalty": "5"}]},
 "periods": [
  {"start": "2026-03-02T08:00:00Z", "hours": 2, "arrivals": [12, 8], "on_demand_price": "0.24"},
  {"start": "2026-03-02T10:00:00Z", "hours": 4, "arrivals": [0, 4], "on_demand_price": "0.16"},
  {"start": "2026-03-02T14:00:00Z", "hours": 6, "arrivals": [0, 0], "on_demand_price": "0.20"}],
 "vary": [{"what": "due", "class": "reports", "by": "value", "values": ["0", "600", "14400"]}, {"what": "demand", "values": ["1", "0.5"]}],
 "schedules": true}`

// The figures of each point are those of its schedule, and of the question with its values. Every change of an answer is found.
func TestSchedulesOverARangeAreChecked(t *testing.T) {
	q, err := timetable.ReadSweep([]byte(rangeText), capacity.DefaultLimits())
	if err != nil {
		t.Fatal(err)
	}
	s := timetable.NewSweep(q, false)
	for s.Done() < s.Total() {
		if err := s.Next(func(q timetable.Question) (timetable.Answer, error) { return timetable.Plan(t.Context(), q, nil) }); err != nil {
			t.Fatal(err)
		}
	}
	a := s.Answer()
	answer := marshalled(a)
	if r := verified(t, []byte(rangeText), answer); r.Outcome != proof.OK {
		t.Fatalf("%s\n%s", r, answer)
	}
	if a.Points[2].Status != capacity.InfeasibleStatus || a.Points[4].Later == 0 || a.Points[5].Total.GreaterThanOrEqual(a.Points[4].Total.Decimal) {
		t.Errorf("the points are %+v", a.Points)
	}
	every := 7
	if !testing.Short() {
		every = 1
	}
	allMutationsFail(t, []byte(rangeText), answer, every, "/points/2/conflict", "/points/3/conflict", "/prices/", "/run_s", "/earlier", "/warnings")
}
