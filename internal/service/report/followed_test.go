package report_test

import (
	"strings"
	"testing"
	"time"

	"example.org/headroom/internal/ask/horizon"
	"example.org/headroom/internal/ask/timetable"
	"example.org/headroom/internal/service/report"
)

// The schedule that plans follow says who asks and who is missed, and of which classes nobody knows what started.
func TestFollowedScheduleTellsOfLeases(t *testing.T) {
	hour := time.Date(2026, 3, 2, 8, 0, 0, 0, time.UTC)
	f := timetable.Followed{
		Question: timetable.Question{Periods: []horizon.HorizonPeriod{{Start: hour, Hours: 5}}, Before: &timetable.Before{Leases: []timetable.HourLeases{
			{Class: "etl", Hour: hour.Add(-2 * time.Hour), Waiting: 3, Missed: 1}, {Class: "etl", Hour: hour.Add(-time.Hour), Waiting: 4, Missed: 5}}}},
		Answer: timetable.Answer{Classes: []timetable.Class{{Name: "etl", Waits: true}, {Name: "zip", Waits: true}, {Name: "web"}},
			Schedule: []timetable.Start{{Class: "etl", Arrived: hour.Add(-time.Hour), Start: hour.Add(2 * time.Hour), RunSeconds: 3600, Jobs: 9}}},
	}
	var b strings.Builder
	if err := report.FollowedText(&b, f); err != nil {
		t.Fatal(err)
	}
	text := strings.Join(strings.Fields(b.String()), " ")
	for _, want := range []string{"Waiting Of them ask Next start Of them Missed", "etl 0 9 7 2026-03-02T10:00:00Z 9 6",
		"In the last day no job of zip asked for a lease, so that the schedule counts as followed."} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in %s", want, text)
		}
	}
}
