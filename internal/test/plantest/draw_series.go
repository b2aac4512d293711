package plantest

import (
	"math/rand/v2"
	"testing"

	"github.com/shopspring/decimal"

	"example.org/headroom/internal/ask/study"
	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/money"
)

// DrawSeries draws a problem with coincidences in it, or one of a study's, with profiles.
func DrawSeries(t *testing.T, r *rand.Rand) capacity.Problem {
	t.Helper()
	integrality := []capacity.Integrality{capacity.Relaxed, capacity.Integer, capacity.Executable}[r.IntN(3)]
	var p capacity.Problem
	if r.IntN(4) == 0 {
		family := []string{"table2", "mixed", "hard"}[r.IntN(3)]
		drawn, err := study.Generate(family, 2+r.IntN(20), r.Uint64())
		if err != nil {
			t.Fatal(err)
		}
		if p, err = drawn.Profiled(); err != nil {
			t.Fatal(err)
		}
		p.Options.Integrality = integrality
	} else {
		p = DrawProblem(t, r, 1+r.IntN(6), integrality)
	}
	p.Options.Engine = capacity.EngineExact
	if r.IntN(5) == 0 {
		p.Options.Sharing = capacity.Dedicated
	}
	if r.IntN(6) == 0 {
		p.Options.Gap = 0.05
		p.Options.Near = &capacity.Near{VMs: float64(r.IntN(40)), Jobs: map[string]float64{p.Classes[0].Name: p.Classes[0].Jobs.Max / 2}}
	}
	if r.IntN(6) == 0 {
		limit := money.Amount{Decimal: decimal.New(r.Int64N(200), 0)}
		p.Budget = &capacity.Budget{}
		if r.IntN(2) == 0 {
			p.Budget.VMCost = &limit
		} else {
			p.Budget.Total = &limit
		}
	}
	return p
}
