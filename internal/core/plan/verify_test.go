package plan

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/shopspring/decimal"

	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/proof"
	"example.org/headroom/internal/test/plantest"
)

// Every plan is accepted by the checker that shares nothing with planning, optimality included: 600 problems of all
// kinds, 12,000 with HEADROOM_LONG.
func TestPlansAreProvedIndependently(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 12))
	solved, infeasible, notProved := 0, 0, 0
	for trial := 0; trial < plantest.Trials(100, 12_000); trial++ {
		p := plantest.DrawAny(r)
		if err := p.Validate(); err != nil {
			continue
		}
		pl, err := Solve(context.Background(), p, nil)
		if err != nil {
			text, _ := json.Marshal(p)
			t.Fatalf("trial %d: %v\n%s", trial, err, text)
		}
		report := proof.Verify(p, pl, proof.Options{})
		if !report.Accepted() {
			text, _ := json.Marshal(p)
			answer, _ := json.Marshal(pl)
			t.Fatalf("trial %d:\n%s\n%s\n%s", trial, report, text, answer)
		}
		switch {
		case pl.Status == capacity.InfeasibleStatus:
			infeasible++
		case report.Outcome == proof.NotProved:
			notProved++
		default:
			solved++
		}
		// Only odd slots of five a VM may take a VM that no bound knows of.
		if pl.Status == capacity.Feasible && !(p.Options.Integrality == capacity.Executable && pl.VMs.Rounding >= 1) {
			text, _ := json.Marshal(p)
			t.Errorf("trial %d: a small problem was not proved: gap %g\n%s", trial, pl.Proof.Gap, text)
		}
	}
	t.Logf("%d proved twice, %d accepted but too large to prove twice, %d infeasible", solved, notProved, infeasible)
	t.Attr("R4", fmt.Sprintf("%d random plans proved a second time, %d accepted, %d infeasible, 0 refused", solved, notProved, infeasible))
	if solved < plantest.Trials(60, 9_000) {
		t.Errorf("only %d plans were proved twice", solved)
	}
}

// Ratios of more than nine places, as programs print 2/3, are used up to 1e-7 of a VM in all. Plans of them are accepted
// though their loads lie a hair above whole VMs that classes share.
func TestRatiosOfManyPlacesAreProved(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 17))
	count := map[capacity.Status]int{}
	for trial := range plantest.Trials(100, 6_000) {
		p := plantest.DrawAny(r)
		p.Options.Sharing = capacity.Shared
		places := []int32{10, 12, 16}[r.IntN(3)]
		for i := range p.Classes {
			c := &p.Classes[i]
			of := int64(1 + r.IntN(12))
			ratio := decimal.NewFromInt(of).DivRound(decimal.NewFromInt([]int64{2, 3, 6, 7, 9}[r.IntN(5)]), places)
			if r.IntN(3) == 0 {
				ratio = ratio.Add(decimal.New(1, -places))
			}
			c.Profile, c.Demand, c.Calibration, c.VMsPerJob = nil, nil, nil, &ratio
			c.SlotsPerVM, c.DeadlineSeconds = capacity.SlotsPerVM{}, 0
		}
		if p.Options.Integrality == capacity.Relaxed || p.Validate() != nil {
			continue // the linear program is as exact as floats are
		}
		pl, err := Solve(context.Background(), p, nil)
		if err != nil {
			t.Fatalf("trial %d: %v\n%s", trial, err, plantest.Text(p))
		}
		if report := proof.Verify(p, pl, proof.Options{}); !report.Accepted() {
			t.Fatalf("trial %d:\n%s\n%s", trial, report, plantest.Text(p))
		}
		count[pl.Status]++
	}
	t.Log(count)
	if count[capacity.Optimal] < plantest.Trials(25, 1_000) {
		t.Errorf("of the plans %v", count)
	}
}
