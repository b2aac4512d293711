package whatif

import (
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/plan"
	"example.org/headroom/internal/test/plantest"
)

// TestSeriesAgreesWithSolve draws problems and scenarios over them, ties included: a plan in brief must be the plan,
// to the last digit, but for what it leaves out.
func TestSeriesAgreesWithSolve(t *testing.T) {
	r := rand.New(rand.NewPCG(20, 26))
	compared, infeasible := 0, 0
	for range plantest.Samples(120) {
		p := plantest.DrawSeries(t, r)
		series := plan.NewSeries(p, nil)
		for range 8 {
			var s Scenario
			for range 1 + r.IntN(2) {
				s.Changes = append(s.Changes, drawChange(r, &p))
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
			if ofTypes(&changed) {
				full, brief = untold(full), untold(brief)
			} else {
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

// ofTypes reports whether a series solves the problem as Solve does, but for what would change the plan.
func ofTypes(p *capacity.Problem) bool {
	return len(p.Supply.VMTypes) > 0 || p.Supply.Spot != nil ||
		p.Options.Integrality == capacity.Relaxed && p.Budget != nil && p.Budget.VMCost != nil
}

// untold removes from a plan what would change it.
func untold(pl capacity.Plan) capacity.Plan {
	pl.Stays = nil
	for i := range pl.Classes {
		c := &pl.Classes[i]
		c.Reason, c.BreakEvenPenalty, c.Flips, c.OneMore, c.OneLess, c.Stays = "", nil, capacity.Flips{}, nil, nil, nil
	}
	return pl
}

// inBriefOf removes from a plan what a series leaves out.
func inBriefOf(pl capacity.Plan) capacity.Plan {
	pl.Relaxed, pl.Integer, pl.Layout, pl.Warnings, pl.Stays, pl.Facts = nil, nil, nil, []capacity.Warning{}, nil, nil
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
