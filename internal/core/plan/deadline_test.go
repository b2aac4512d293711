package plan

import (
	"context"
	"fmt"
	"testing"
	"time"

	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/test/plantest"
)

// A million jobs a class, all as dear as their VMs: the time limit holds inside every loop, and what
// is there when it passes is a plan worth having.
func TestTimeLimitHoldsForWideClasses(t *testing.T) {
	var p capacity.Problem
	quota := int64(3_000_000)
	p.Currency, p.PeriodSeconds, p.Options = "USD", 3600, capacity.DefaultOptions()
	p.Options.Engine = capacity.EngineExact
	p.Supply.OnDemand = capacity.OnDemand{Price: plantest.ExactMoney(1), Quota: &quota}
	for i := range 50 {
		p.Classes = append(p.Classes, capacity.Class{
			Name: fmt.Sprintf("class-%02d", i), Demand: &capacity.Demand{MapWorkSeconds: 100, ReduceWorkSeconds: 50, FixedSeconds: 10},
			DeadlineSeconds: 600, SlotsPerVM: capacity.SlotsPerVM{Map: 3, Reduce: 2}, Jobs: capacity.JobRange{Max: 1_000_000}, Penalty: plantest.ExactMoney(2),
		})
	}
	if err := p.Validate(); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	began := time.Now()
	pl, err := Solve(ctx, p, nil)
	if err != nil {
		t.Fatal(err)
	}
	if took := time.Since(began); took > 5*time.Second {
		t.Errorf("took %s of the 0.1 s allowed", took)
	}
	if pl.Proof.Gap > 0.01 {
		t.Errorf("the plan is up to %g from optimal: objective %v, bound %v", pl.Proof.Gap, pl.Objective, pl.Proof.Bound)
	}
}
