package plan

import (
	"encoding/json"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/shopspring/decimal"

	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/money"
	"example.org/headroom/internal/test/plantest"
)

// Every plan of a small fleet costs what trying everything finds, and no problem is called infeasible
// that is not.
func TestFleetsAreAsGoodAsTryingEverything(t *testing.T) {
	names := make([]string, 0, len(plantest.FleetKinds))
	for name := range plantest.FleetKinds {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		t.Run(name, func(t *testing.T) {
			r := rand.New(rand.NewPCG(99, uint64(len(name))))
			plans, infeasible := 0, 0
			for trial := range plantest.Trials(30, 2_000) {
				p := plantest.DrawFleet(r, plantest.FleetKinds[name], 3, 5)
				b := plantest.NewBruteFleet(p)
				objective, jobs, feasible := b.Best()
				if feasible && b.Total >= 0 {
					cost := objective
					for i, c := range p.Classes {
						cost += b.Penalty[i] * int64(c.Jobs.Max)
					}
					feasible = cost <= b.Total
				}
				pl, err := Solve(t.Context(), p, nil)
				text, _ := json.Marshal(p)
				if err != nil {
					t.Fatalf("trial %d: %v\n%s", trial, err, text)
				}
				if !feasible {
					infeasible++
					if pl.Status != capacity.InfeasibleStatus || len(pl.Conflicts) == 0 {
						t.Fatalf("trial %d: got %s with %d conflicts, want infeasible\n%s", trial, pl.Status, len(pl.Conflicts), text)
					}
					continue
				}
				plans++
				want := money.Amount{Decimal: decimal.New(objective, -6)}
				if pl.Status != capacity.Optimal || !pl.Objective.Equal(want.Decimal) {
					t.Fatalf("trial %d: got %s with %v, bound %v; want %v with %v\n%s", trial, pl.Status, pl.Objective, proofBound(pl), want, jobs, text)
				}
			}
			t.Logf("%d plans, %d infeasible", plans, infeasible)
			if plans < plantest.Trials(10, 700) {
				t.Errorf("only %d plans", plans)
			}
		})
	}
}

func proofBound(pl capacity.Plan) any {
	if pl.Proof == nil {
		return nil
	}
	return pl.Proof.Bound
}
