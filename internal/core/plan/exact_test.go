package plan

import (
	"context"
	"math/rand/v2"
	"testing"

	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/test/plantest"
)

// answered is the plan of a problem that must be valid.
func answered(t *testing.T, p capacity.Problem) capacity.Plan {
	t.Helper()
	if err := p.Validate(); err != nil {
		t.Fatalf("%v\n%s", err, plantest.Text(p))
	}
	pl, err := Solve(context.Background(), p, nil)
	if err != nil {
		t.Fatalf("%v\n%s", err, plantest.Text(p))
	}
	return pl
}

// All plans with whole jobs equal what trying everything finds, and say so.
func TestPlansEqualEnumeration(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		plantest.Sample
	}{
		{"executable, shared", plantest.Sample{Classes: 3, Width: 8, Slots: 4, Integrality: capacity.Executable, Sharing: capacity.Shared}},
		{"executable, dedicated", plantest.Sample{Classes: 3, Width: 8, Slots: 8, Integrality: capacity.Executable, Sharing: capacity.Dedicated}},
		{"integer, dedicated", plantest.Sample{Classes: 3, Width: 8, Slots: 8, Integrality: capacity.Integer, Sharing: capacity.Dedicated}},
		{"integer, shared", plantest.Sample{Classes: 3, Width: 8, Slots: 8, Integrality: capacity.Integer, Sharing: capacity.Shared}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			r := rand.New(rand.NewPCG(31, 1))
			feasible, refusing := 0, 0
			for trial := range plantest.Trials(150, 50_000) {
				p := c.Problem(r)
				want, jobs, is := plantest.NewBrute(p).Best()
				pl := answered(t, p)
				if (pl.Status != capacity.InfeasibleStatus) != is {
					t.Fatalf("trial %d: status %s, but a plan is %v\n%s", trial, pl.Status, jobs, plantest.Text(p))
				}
				if !is {
					continue
				}
				feasible++
				for i := range pl.Classes {
					if pl.Classes[i].Refused > 0 && pl.Classes[i].Admitted > p.Classes[i].Jobs.Min {
						refusing++
						break
					}
				}
				if got := plantest.Millionths(pl.Objective.Decimal); got != want || pl.Status != capacity.Optimal || pl.Proof.Gap != 0 {
					t.Fatalf("trial %d: %s plan costs %s (gap %g), want %d millionths with jobs %v\n%s", trial, pl.Status, pl.Objective, pl.Proof.Gap, want, jobs, plantest.Text(p))
				}
				if bound := plantest.Millionths(pl.Proof.Bound.Round(6)); bound > want {
					t.Fatalf("trial %d: the bound %s is above the optimum, %d millionths\n%s", trial, pl.Proof.Bound, want, plantest.Text(p))
				}
				if c.Integrality == capacity.Executable {
					checkPlanLayout(t, plantest.Text(p), p, pl)
				}
			}
			if feasible < plantest.Trials(150, 50_000)/2 || refusing < feasible/20 {
				t.Errorf("%d problems had a plan and %d plans were partial; want many", feasible, refusing)
			}
		})
	}
}
