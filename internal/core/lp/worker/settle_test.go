package worker

import (
	"math"
	"testing"

	"example.org/headroom/internal/core/lp"
)

// A linear optimum is believed only as far as its row prices prove it.
func TestLinearOptimumNeedsItsPrices(t *testing.T) {
	p := two() // min x, x ≥ 1.5, 0 ≤ x ≤ 9: 1.5, one more of the limit costs 1
	p.Whole = nil
	for _, c := range []struct {
		name     string
		x, price float64
		status   lp.Status
		ok       bool
	}{
		{"the optimum", 1.5, 1, lp.Optimal, true},
		{"feasible, but not optimal", 2, 1, lp.Optimal, false},
		{"prices that prove nothing", 1.5, 0, lp.Optimal, false},
		{"prices that prove too little", 1.5, 0.5, lp.Optimal, false},
		{"a price with the wrong sign", 1.5, -1, lp.Optimal, false},
		{"a price that is no number", 1.5, math.NaN(), lp.Optimal, false},
		{"not said to be optimal", 2, 0.5, lp.Feasible, true},
	} {
		s := lp.Solution{Status: c.status, X: []float64{c.x}, Objective: c.x, Bound: 99, RowDual: []float64{c.price}, ReducedCost: []float64{99}}
		err := settle(p, lp.Options{}, &s)
		if (err == nil) != c.ok {
			t.Errorf("%s: got %v, want ok %v", c.name, err, c.ok)
		}
		if err == nil && (s.Bound != 1.5*c.price || s.ReducedCost[0] != 1-c.price) {
			t.Errorf("%s: got bound %g and reduced cost %g, want what the price proves", c.name, s.Bound, s.ReducedCost[0])
		}
	}
	if err := settle(p, lp.Options{}, &lp.Solution{Status: lp.Optimal, X: []float64{1.5}, Objective: 1.5}); err == nil {
		t.Error("an optimum without prices is believed")
	}
	ranges := &lp.Ranges{CostLower: []float64{0}}
	if err := settle(p, lp.Options{}, &lp.Solution{Status: lp.Optimal, X: []float64{1.5}, Objective: 1.5, RowDual: []float64{1}, Ranges: ranges}); err == nil {
		t.Error("ranges that do not fit the program are believed")
	}
}

// CBC may state the objective of the whole number beside a value that is whole within its tolerance.
func TestObjectivesOfWholeNumbersAreBelieved(t *testing.T) {
	for objective, ok := range map[float64]bool{1.50000002: true, 1.5: true, 1.5000001: false, 1.5 - 4e-8: false} {
		p := two()
		p.RowLower[0] = 1 // x ≥ 1, whole
		p.Cost[0] = 1.5
		s := lp.Solution{Status: lp.Optimal, X: []float64{1 + 2e-8/1.5}, Objective: objective}
		if err := settle(p, lp.Options{}, &s); (err == nil) != ok || ok && (s.X[0] != 1 || s.Objective != 1.5) {
			t.Errorf("objective %v: got %+v, %v", objective, s, err)
		}
	}
}

func TestWholeColumnsComeRounded(t *testing.T) {
	s := lp.Solution{Status: lp.Optimal, X: []float64{2 - 1e-8}, Objective: 2 - 1e-8, Bound: 7}
	if err := settle(two(), lp.Options{}, &s); err != nil || s.X[0] != 2 || s.Objective != 2 || s.Bound != 2 {
		t.Errorf("got %+v, %v, want x, objective and bound 2", s, err)
	}
}
