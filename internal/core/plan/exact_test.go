package plan

import (
	"context"
	"encoding/json"
	"math/rand/v2"
	"testing"

	"headroom/internal/core/capacity"
)

// asText is a problem as somebody would send it, for messages.
func asText(p capacity.Problem) string {
	text, err := json.Marshal(p)
	if err != nil {
		return err.Error()
	}
	return string(text)
}

// answered is the plan of a problem that must be valid.
func answered(t *testing.T, p capacity.Problem) capacity.Plan {
	t.Helper()
	if err := p.Validate(); err != nil {
		t.Fatalf("%v\n%s", err, asText(p))
	}
	pl, err := Solve(context.Background(), p, nil)
	if err != nil {
		t.Fatalf("%v\n%s", err, asText(p))
	}
	return pl
}

// All plans with whole jobs equal what trying everything finds, and say so.
func TestPlansEqualEnumeration(t *testing.T) {
	for _, c := range []struct {
		name string
		sample
	}{
		{"executable, shared", sample{3, 8, 4, capacity.Executable, capacity.Shared}},
		{"executable, dedicated", sample{3, 8, 8, capacity.Executable, capacity.Dedicated}},
		{"integer, dedicated", sample{3, 8, 8, capacity.Integer, capacity.Dedicated}},
		{"integer, shared", sample{3, 8, 8, capacity.Integer, capacity.Shared}},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := rand.New(rand.NewPCG(31, 1))
			feasible, refusing := 0, 0
			for trial := range trials(2500, 50_000) {
				p := c.problem(r)
				want, jobs, is := newBrute(p).best()
				pl := answered(t, p)
				if (pl.Status != capacity.InfeasibleStatus) != is {
					t.Fatalf("trial %d: status %s, but a plan is %v\n%s", trial, pl.Status, jobs, asText(p))
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
				if got := millionths(pl.Objective.Decimal); got != want || pl.Status != capacity.Optimal || pl.Proof.Gap != 0 {
					t.Fatalf("trial %d: %s plan costs %s (gap %g), want %d millionths with jobs %v\n%s", trial, pl.Status, pl.Objective, pl.Proof.Gap, want, jobs, asText(p))
				}
				if bound := millionths(pl.Proof.Bound.Round(6)); bound > want {
					t.Fatalf("trial %d: the bound %s is above the optimum, %d millionths\n%s", trial, pl.Proof.Bound, want, asText(p))
				}
				if c.integrality == capacity.Executable {
					checkPlanLayout(t, asText(p), p, pl)
				}
			}
			if feasible < trials(2500, 50_000)/2 || refusing < feasible/20 {
				t.Errorf("%d problems had a plan and %d plans were partial; want many", feasible, refusing)
			}
		})
	}
}
