package worker

import (
	"errors"
	"fmt"
	"math"

	"example.org/headroom/internal/core/lp"
)

// optimumTolerance, relative to one more than the sum of the objective's absolute terms, bounds the distance of a
// linear optimum from the bound that its own row prices prove.
const optimumTolerance = 1e-6

// settle checks a raw answer against the program without believing any of it, rounds whole columns and recomputes the
// objective. The row prices of a linear optimum must prove it. Its Bound and its reduced costs are computed from
// them. A start, if any, is feasible. settle cannot check that CBC's optimum is one.
func settle(p *lp.Program, o lp.Options, s *lp.Solution) error {
	switch s.Status {
	case lp.Infeasible, lp.Unbounded, lp.Stopped:
		if s.X != nil {
			return fmt.Errorf("%s, but with a solution", s.Status)
		}
		if s.Status == lp.Infeasible && o.Start != nil {
			return errors.New("infeasible, but the start is feasible")
		}
		return nil
	}
	if err := lp.CheckAdvice(p, s.X, s.Objective); err != nil {
		return err
	}
	for j := range s.X {
		if p.Whole != nil && p.Whole[j] {
			s.X[j] = math.Round(s.X[j]) + 0 // no negative zero
		}
	}
	s.Objective = dot(p.Cost, s.X)
	if err := lp.CheckAdvice(p, s.X, s.Objective); err != nil {
		return fmt.Errorf("once its whole columns are rounded: %w", err)
	}
	magnitude := 1.0
	for j, c := range p.Cost {
		magnitude += math.Abs(c * s.X[j])
	}
	tolerance := optimumTolerance * magnitude
	if o.Start != nil && s.Status == lp.Optimal {
		if cost := dot(p.Cost, o.Start); s.Objective > cost+max(o.AbsGap, o.Gap*math.Abs(cost))+tolerance {
			return fmt.Errorf("optimal at %.9g, but the start costs %.9g", s.Objective, cost)
		}
	}
	if p.Mixed() {
		if !(s.Bound <= s.Objective) {
			s.Bound = s.Objective
		}
		return nil
	}
	return settlePrices(p, s, tolerance)
}

func dot(a, b []float64) float64 {
	sum := 0.0
	for i := range a {
		sum += a[i] * b[i]
	}
	return sum
}

func settlePrices(p *lp.Program, s *lp.Solution, tolerance float64) error {
	if len(s.RowDual) != p.Rows() {
		return fmt.Errorf("%d row prices for %d rows", len(s.RowDual), p.Rows())
	}
	s.Bound = lp.DualBound(p, s.RowDual)
	if s.Status == lp.Optimal && !(s.Objective <= s.Bound+tolerance) {
		return fmt.Errorf("optimal at %.9g, but its prices prove only %.9g", s.Objective, s.Bound)
	}
	s.ReducedCost = make([]float64, p.Columns())
	for j, reduced := range p.Cost {
		for k := p.Start[j]; k < p.Start[j+1]; k++ {
			reduced -= s.RowDual[p.RowIndex[k]] * p.Coefficient[k]
		}
		s.ReducedCost[j] = reduced
	}
	if r := s.Ranges; r != nil {
		if len(r.CostLower) != p.Columns() || len(r.CostUpper) != p.Columns() || len(r.RowLimitLower) != p.Rows() || len(r.RowLimitUpper) != p.Rows() {
			return errors.New("the ranges do not fit the program")
		}
	}
	return nil
}
