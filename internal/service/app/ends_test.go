package app_test

import (
	"testing"

	"example.org/headroom/internal/data/inputs"
)

// A plan gives its VMs back when the last job of the hour before has ended, and not at the next full hour.
func TestVMsAreGivenBackAsTheLastJobEnds(t *testing.T) {
	t.Parallel()
	clock := clockAt("2026-06-01T10:20:00Z")
	a := planning(t, 1, clock.now)
	d := document("c")
	one, none := 1.0, 0.0
	d.Classes[0].Jobs.Min = 0
	d.Forecasts = []inputs.Forecast{
		{Class: "nightly", Hour: moment("2026-06-01T10:00:00Z"), Arrivals: &one},
		{Class: "nightly", Hour: moment("2026-06-01T11:00:00Z"), Arrivals: &none}, {Class: "nightly", Hour: moment("2026-06-01T12:00:00Z"), Arrivals: &none},
	}
	apply(t, a, d)
	for n, step := range []struct {
		at, boundary string
		rents        bool
	}{
		{"2026-06-01T10:20:00Z", "2026-06-01T11:00:00Z", true},
		{"2026-06-01T11:00:00Z", "2026-06-01T11:10:00Z", true}, // a job runs for 600 s
		{"2026-06-01T11:10:00Z", "2026-06-01T12:00:00Z", false},
	} {
		clock.set(moment(step.at))
		c := current(t, a, "c", "a plan at "+step.at, numbered(int64(n+1)))
		if c.Boundary == nil || !c.Boundary.Equal(moment(step.boundary)) || c.Record.VMs > 0 != step.rents {
			t.Errorf("at %s: %v VMs until %v, want some: %v, and until %s", step.at, c.Record.VMs, c.Boundary, step.rents, step.boundary)
		}
	}
}
