package plan

import (
	"encoding/json"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/shopspring/decimal"

	"headroom/internal/ask/study"
	"headroom/internal/core/capacity"
	"headroom/internal/core/money"
	"headroom/internal/test/plantest"
)

// TestSeriesAgreesWithSolve draws problems and scenarios over them, ties included: what is answered in brief
// must be what is answered in full, to the last digit, and a plan in brief must be the plan but for what
// it leaves out.
func TestSeriesAgreesWithSolve(t *testing.T) {
	r := rand.New(rand.NewPCG(20, 26))
	compared, infeasible := 0, 0
	for range plantest.Samples(120) {
		p := drawSeries(t, r)
		series := NewSeries(p, nil)
		inFull, err := NewBase(t.Context(), p, alone)
		if err != nil {
			t.Fatal(err)
		}
		inBrief, err := NewBase(t.Context(), p, series.Solve)
		if err != nil {
			t.Fatal(err)
		}
		for range 8 {
			var s capacity.Scenario
			for range 1 + r.IntN(2) {
				s.Changes = append(s.Changes, plantest.DrawChange(r, &p))
			}
			want, err := inFull.Answer(t.Context(), s, false)
			if err != nil {
				continue
			}
			got, err := inBrief.Answer(t.Context(), s, false)
			if err != nil {
				t.Fatal(err)
			}
			compared++
			if got.Status == capacity.InfeasibleStatus {
				infeasible++
			}
			if diff := cmp.Diff(textOf(t, want), textOf(t, got)); diff != "" {
				t.Fatalf("%s\nproblem %s\nscenario %s", diff, textOf(t, p), textOf(t, s))
			}
			changed, err := s.Apply(p)
			if err != nil {
				t.Fatal(err)
			}
			full, err := alone(t.Context(), changed)
			if err != nil {
				continue // more VMs than can be counted
			}
			brief, err := series.Solve(t.Context(), changed)
			if err != nil {
				t.Fatal(err)
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
	pl.Relaxed, pl.Integer, pl.Layout, pl.Warnings = nil, nil, nil, []capacity.Warning{}
	if pl.Prices != nil {
		pl.Prices = &capacity.Prices{Capacity: pl.Prices.Capacity}
	}
	for i := range pl.Classes {
		c := &pl.Classes[i]
		c.Time, c.Verdict, c.Reason, c.BreakEvenPenalty, c.Flips = nil, "", "", nil, capacity.Flips{}
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

// drawSeries draws a problem with coincidences in it, or one of a study's, with profiles.
func drawSeries(t *testing.T, r *rand.Rand) capacity.Problem {
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
		p = plantest.DrawProblem(t, r, 1+r.IntN(6), integrality)
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
