package plan

import (
	"encoding/json"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"

	"headroom/internal/core/capacity"
	"headroom/internal/test/plantest"
)

// TestSeriesAgreesWithSolve draws problems and scenarios over them, ties included: a plan in brief must be the plan,
// to the last digit, but for what it leaves out.
func TestSeriesAgreesWithSolve(t *testing.T) {
	r := rand.New(rand.NewPCG(20, 26))
	compared, infeasible := 0, 0
	for range plantest.Samples(120) {
		p := plantest.DrawSeries(t, r)
		series := NewSeries(p, nil)
		for range 8 {
			var s capacity.Scenario
			for range 1 + r.IntN(2) {
				s.Changes = append(s.Changes, plantest.DrawChange(r, &p))
			}
			changed, err := s.Apply(p)
			if err != nil {
				continue
			}
			full, err := alone(t.Context(), changed)
			if err != nil {
				continue // more VMs than can be counted
			}
			brief, err := series.Solve(t.Context(), changed)
			if err != nil {
				t.Fatal(err)
			}
			compared++
			if brief.Status == capacity.InfeasibleStatus {
				infeasible++
			}
			if !isFleet(&changed) {
				full = inBriefOf(full)
				brief.Warnings = full.Warnings // an infeasible one has some
			}
			if diff := cmp.Diff(textOf(t, full), textOf(t, brief)); diff != "" {
				t.Fatalf("%s\nproblem %s\nscenario %s", diff, textOf(t, p), textOf(t, s))
			}
		}
	}
	if compared < plantest.Samples(120)*4 || infeasible == 0 || infeasible > compared/2 {
		t.Errorf("%d answers compared, %d of them infeasible", compared, infeasible)
	}
}

// inBriefOf is a plan without what a series leaves out.
func inBriefOf(pl capacity.Plan) capacity.Plan {
	pl.Relaxed, pl.Integer, pl.Layout, pl.Warnings, pl.Stays = nil, nil, nil, []capacity.Warning{}, nil
	if pl.Prices != nil {
		pl.Prices = &capacity.Prices{Capacity: pl.Prices.Capacity}
	}
	for i := range pl.Classes {
		c := &pl.Classes[i]
		c.Time, c.Verdict, c.Reason, c.BreakEvenPenalty, c.Flips = nil, "", "", nil, capacity.Flips{}
		c.OneMore, c.OneLess, c.Stays = nil, nil, nil
	}
	return pl
}

func textOf(t *testing.T, x any) string {
	t.Helper()
	text, err := json.Marshal(x)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
