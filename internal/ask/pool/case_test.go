package pool

import (
	"fmt"
	"testing"

	"example.org/headroom/internal/core/money"
)

func cash(s string) *money.Amount {
	m, err := money.Parse(s)
	if err != nil {
		panic(err)
	}
	return &m
}

// caseStudy returns the paper's case: 90 hours of work at rate 1, 4,250 GB, a round of four hours.
func caseStudy(deadline float64) PoolProblem {
	p := DefaultPool()
	p.Currency, p.Hours = "USD", 4
	p.Types = []PoolType{
		{Name: "m1.large", PerHour: cash("0.34"), DiskGB: 850, Slots: 1, ComputeUnits: 4, Core: true},
		{Name: "c1.medium", PerHour: cash("0.17"), DiskGB: 350, Slots: 1, ComputeUnits: 5, Accelerator: true},
	}
	p.Jobs = []PoolJob{{Name: "case", Work: 90, DeadlineHours: deadline}}
	p.Storage = PoolStorage{DataGB: 4250, Replication: 1, Fill: 1}
	return p
}

func TestCheapestPoolsOfTheCaseStudy(t *testing.T) {
	for _, c := range []struct {
		deadline float64
		cost     string
	}{{4, "7.14"}, {3, "7.82"}, {2, "8.50"}, {1.5, "8.84"}, {1, "9.18"}} {
		a, err := Plan(t.Context(), caseStudy(c.deadline), cbc)
		if err != nil {
			t.Fatal(err)
		}
		if a.Status != PoolOptimal || a.Cost.String() != c.cost || a.LowerBound.String() != c.cost || a.Jobs[0].Late {
			t.Errorf("within %g h: got %s (%s, at least %s), want %s: %+v", c.deadline, a.Cost, a.Status, a.LowerBound, c.cost, a.Mix)
		}
	}
}

func TestConfigurationsOfTheCaseStudy(t *testing.T) {
	for _, c := range []struct {
		core, accelerators int64
		hours, cost        string
	}{
		{5, 0, "4.500", "6.80"}, {9, 0, "2.500", "12.24"}, {5, 4, "2.250", "8.84"}, {5, 5, "2.000", "8.50"}, {5, 6, "1.800", "8.84"},
		{5, 8, "1.500", "9.52"}, {5, 12, "1.125", "10.88"}, {5, 15, "0.947", "9.35"},
	} {
		p := caseStudy(4)
		p.Mix = &PoolMix{Core: []PoolCore{{Type: "m1.large", Count: c.core}}}
		if c.accelerators > 0 {
			p.Mix.Accelerators = []PoolAccelerator{{Type: "c1.medium", Count: c.accelerators}}
		}
		e, err := Evaluate(t.Context(), p, nil)
		if err != nil {
			t.Fatal(err)
		}
		if got := fmt.Sprintf("%.3f", *e.Hours); got != c.hours || e.Cost.String() != c.cost || !e.StorageMet || e.DeadlinesMet != (c.hours <= "4.000") {
			t.Errorf("%d and %d: got %s h, %s, met %v; want %s h, %s", c.core, c.accelerators, got, e.Cost, e.DeadlinesMet, c.hours, c.cost)
		}
	}
}
