package plan

import (
	"context"
	"encoding/json"
	"testing"
	"time"

	"example.org/headroom/internal/ask/study"
	"example.org/headroom/internal/core/capacity"
)

// A plan whose search the clock ended says so. One whose work was done before does not, and comes out the same again.
func TestPlansSayThatTheClockEndedThem(t *testing.T) {
	open := study.Fleets(100, 6, 3)[31].Problem(131)
	open.Options.MaxSolveMs = 250
	one, err := study.Generate("concave", 1000, 1)
	if err != nil {
		t.Fatal(err)
	}
	single := one.Problem()
	single.Options.Engine, single.Options.Gap = capacity.EngineExact, 0
	small := study.Fleets(4, 2, 1)[0].Problem(1)
	for _, c := range []struct {
		name   string
		p      capacity.Problem
		time   time.Duration // 0: no end
		status capacity.Status
		limit  capacity.Cutoff
	}{
		{"a fleet whose time ends", open, 60 * time.Millisecond, capacity.Feasible, capacity.ClockCutoff},
		{"a fleet with all the time for its work", open, 0, capacity.Feasible, ""},
		{"one type whose time ends", single, time.Microsecond, capacity.Feasible, capacity.ClockCutoff},
		{"a fleet that is proved", small, 0, capacity.Optimal, ""},
	} {
		var plans []string
		for range 2 {
			ctx, cancel := context.WithCancel(t.Context())
			if c.time > 0 {
				ctx, cancel = context.WithTimeout(t.Context(), c.time)
			}
			pl, err := Solve(ctx, c.p, nil)
			cancel()
			if err != nil {
				t.Fatalf("%s: %v", c.name, err)
			}
			if pl.Status != c.status || pl.Proof.Limited != c.limit {
				t.Errorf("%s: it is %s with a gap of %g, limited by %q; want %s and %q", c.name, pl.Status, pl.Proof.Gap, pl.Proof.Limited, c.status, c.limit)
			}
			text, err := json.Marshal(pl)
			if err != nil {
				t.Fatal(err)
			}
			plans = append(plans, string(text))
		}
		if c.limit == "" && plans[0] != plans[1] {
			t.Errorf("%s: two plans of the same problem differ", c.name)
		}
	}
}
