package timetables_test

import (
	"bytes"
	"fmt"
	"testing"
	"time"

	"example.org/headroom/internal/ask/recheck/timetables"
	"example.org/headroom/internal/ask/study"
	"example.org/headroom/internal/ask/timetable"
	"example.org/headroom/internal/test/plantest"
)

// Executions that are due by a time of day end before clocks show it, also on days that have 23 and 25 hours, or pass over it.
func TestSchedulesToATimeOfDay(t *testing.T) {
	starts := 0
	for _, day := range []string{"2026-03-28", "2026-10-24", "2026-06-01"} {
		for n, zone := range []string{"Europe/Berlin", "Asia/Kolkata", "America/St_Johns", ""}[:plantest.Trials(2, 4)] {
			for seed := range uint64(plantest.Trials(1, 8)) {
				text := scheduleOf(study.DrawCluster(seed, 20, 4, 10, 60))
				text = bytes.ReplaceAll(text, []byte("2026-03-02"), []byte(day))
				for i := range 4 { // the days after it
					at, _ := time.Parse(time.DateOnly, day)
					text = bytes.ReplaceAll(text, []byte(fmt.Sprintf("2026-03-%02d", 3+i)), []byte(at.AddDate(0, 0, 1+i).Format(time.DateOnly)))
				}
				due := []string{"06:00", "02:30", "23:45", "00:00"}[(int(seed)+n)%4]
				was := []byte(`"due_s":216000`)
				if !bytes.Contains(text, was) {
					t.Fatalf("no class has %s: %s", was, text)
				}
				text = bytes.ReplaceAll(text, was, []byte(fmt.Sprintf(`"due":%q`, due)))
				if zone != "" {
					text = append([]byte(fmt.Sprintf(`{"time_zone":%q,`, zone)), text[1:]...)
				}
				q := readSchedule(t, text)
				a, err := timetable.Plan(t.Context(), q, nil)
				if err != nil {
					t.Fatal(err)
				}
				for _, f := range timetables.Check(q, a) {
					t.Errorf("%s, %s, due %s: %s %s", day, zone, due, f.Pointer, f.Detail)
				}
				where, _ := time.LoadLocation(zone)
				for _, s := range a.Schedule {
					if q.Problem.Classes[0].Name != s.Class && q.Problem.Classes[2].Name != s.Class {
						continue
					}
					starts++
					end := s.Start.Add(time.Duration(s.RunSeconds) * time.Second).In(where)
					for at := s.Start.In(where); at.Before(end); at = at.Add(time.Minute) { // nothing runs through the time after a deadline's room
						if early := at.Sub(s.Arrived) < time.Hour+time.Duration(q.Problem.Classes[0].DeadlineSeconds)*time.Second; at.Format("15:04") == due && !early && !at.Equal(s.Start) {
							t.Errorf("%s, %s: %+v runs at %s", day, zone, s, at)
						}
					}
				}
			}
		}
	}
	if starts == 0 {
		t.Error("nothing started")
	}
}

// A report of two hours that arrives in the evening and is due by six is planned by its price before six. One that arrives too
// late for that is due the day after.
func TestDueByATimeOfDay(t *testing.T) {
	text := `{"time_zone": "Europe/Berlin", "problem": {"currency": "EUR", "supply": {"on_demand": {"price": "3"}}, "classes": [
	  {"name": "reports", "vms_per_job": "1", "deadline_s": 7200, "due": "06:00", "jobs": {"min": 0, "max": 0}, "penalty": "50"}]}, "periods": [`
	for h := range 36 { // from 20:00 in Berlin; the lowest prices are at 05:00 and, the day after, at 04:00
		n, price := 0, 3.0
		switch h {
		case 0:
			n = 1
		case 7:
			n = 1
		case 8, 9:
			price = 2
		case 10, 11:
			price = 1
		case 32, 33:
			price = 0.5
		}
		text += fmt.Sprintf(`{"start": "%s", "hours": 1, "arrivals": [%d], "on_demand_price": "%g"},`, time.Date(2026, 6, 1, 18, 0, 0, 0, time.UTC).Add(time.Duration(h)*time.Hour).Format(time.RFC3339), n, price)
	}
	q := readSchedule(t, []byte(text[:len(text)-1]+"]}"))
	a, err := timetable.Plan(t.Context(), q, nil)
	if err != nil {
		t.Fatal(err)
	}
	if f := timetables.Check(q, a); len(f) > 0 {
		t.Fatal(f)
	}
	// 06:00 is hour 10. The first may end by then: hours 8 and 9. The second arrives in hour 7, when three hours are left, which is
	// its next hour and its deadline: it is due by then too.
	if len(a.Schedule) != 2 || a.Schedule[0].Start.Hour() != 2 || a.Schedule[1].Start.Hour() != 2 || a.Cost.Bill.String() != "8.00" {
		t.Errorf("got %+v for %s", a.Schedule, a.Cost.Bill)
	}
	// Arriving an hour later it is due the day after, and runs where that is cheapest.
	later := q
	later.Periods[7].Arrivals, later.Periods[8].Arrivals = []float64{0}, []float64{1}
	if a, err = timetable.Plan(t.Context(), later, nil); err != nil || len(timetables.Check(later, a)) > 0 {
		t.Fatal(err, timetables.Check(later, a))
	}
	if len(a.Schedule) != 2 || a.Schedule[1].Start.Format("02 15") != "03 02" || a.Cost.Bill.String() != "5.00" {
		t.Errorf("got %+v for %s", a.Schedule, a.Cost.Bill)
	}
}

// Executions that arrived long ago are over, and looking for when they were due takes no time.
func TestDueLongAgo(t *testing.T) {
	q := readSchedule(t, []byte(`{"time_zone": "Europe/Berlin", "problem": {"currency": "EUR", "supply": {"on_demand": {"price": "3"}}, "classes": [
	  {"name": "reports", "vms_per_job": "1", "deadline_s": 7200, "due": "06:00", "jobs": {"min": 0, "max": 0}, "penalty": "50"}]},
	 "before": {"waiting": [{"class": "reports", "arrived": "1800-01-01T00:00:00Z", "jobs": 2}, {"class": "reports", "arrived": "2026-05-30T00:00:00Z", "jobs": 2}, {"class": "reports", "arrived": "2026-05-31T22:00:00Z", "jobs": 3}]},
	 "periods": [{"start": "2026-06-01T00:00:00Z", "hours": 6, "arrivals": [0]}]}`))
	a, err := timetable.Plan(t.Context(), q, nil)
	if err != nil {
		t.Fatal(err)
	}
	if f := timetables.Check(q, a); len(f) > 0 {
		t.Fatal(f)
	}
	if x := a.Classes[0]; x.Refused != 4 || x.Arrived != 7 || len(a.Schedule) != 1 || a.Schedule[0].Jobs != 3 {
		t.Errorf("got %+v, %+v", x, a.Schedule)
	}
}
