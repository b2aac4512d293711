package api

import (
	"os"
	"testing"

	"example.org/headroom/internal/ask/horizon"
)

const smallSchedule = `{"problem":{"currency":"EUR","supply":{"on_demand":{"price":"9"}},"classes":[{"name":"etl","vms_per_job":"2","deadline_s":3600,"due_s":14400,"jobs":{"min":0,"max":0},"penalty":"50"}]},
 "periods":[{"start":"2026-03-02T00:00:00Z","hours":1,"arrivals":[3],"on_demand_price":"1"},{"start":"2026-03-02T01:00:00Z","hours":1,"arrivals":[0],"on_demand_price":"4"},{"start":"2026-03-02T02:00:00Z","hours":2,"arrivals":[0],"on_demand_price":"2"}]}`

// A server answers a schedule at once, checked, and refuses what it cannot plan at its member.
func TestSchedulesAreAnswered(t *testing.T) {
	t.Parallel()
	s := newService(t)
	var a horizon.ScheduleAnswer
	s.ask(s.admin, "POST", "/v1/schedule", smallSchedule).want(t, 200).into(t, &a)
	if a.Cost.Bill.String() != "12.00" || a.Saved.String() != "12.00" || !a.Proof.Checked || len(a.Hours) != 4 {
		t.Errorf("got a bill of %s, %s saved, %d hours: %s", a.Cost.Bill, a.Saved, len(a.Hours), a.Explanation)
	}
	text, err := os.ReadFile("../../../openapi/examples/day-with-windows.json")
	if err != nil {
		t.Fatal(err)
	}
	if s.ask(s.admin, "POST", "/v1/schedule", string(text)).want(t, 200).into(t, &a); len(a.Schedule) == 0 || a.Saved.Sign() <= 0 {
		t.Errorf("the example has %d starts and saves %s", len(a.Schedule), a.Saved)
	}
	s.ask(s.admin, "POST", "/v1/horizons", smallSchedule).want(t, 400)
}
