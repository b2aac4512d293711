package worker

import (
	"errors"
	"fmt"
	"math"

	"headroom/internal/lp"
)

// OptimumTolerance, relative to the sum of the objective's absolute terms (at least 1), is how far a
// linear optimum may stand from the bound its own row prices prove.
const OptimumTolerance = 1e-6

// settle checks a raw answer against the program without believing any of it, rounds whole columns
// and recomputes the objective. A linear optimum must be proved by its row prices, and its Bound
// becomes what they prove. What it cannot check is that CBC's optimum is one.
func settle(p *lp.Program, o lp.Options, s *lp.Solution) error {
	startCost, started := startObjective(p, o)
	switch s.Status {
	case lp.Infeasible, lp.Unbounded, lp.Stopped:
		if s.X != nil {
			return fmt.Errorf("%s, but with a solution", s.Status)
		}
		if s.Status == lp.Infeasible && started {
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
	magnitude := 0.0
	s.Objective = 0
	for j, c := range p.Cost {
		s.Objective += c * s.X[j]
		magnitude += math.Abs(c * s.X[j])
	}
	if err := lp.CheckAdvice(p, s.X, s.Objective); err != nil {
		return fmt.Errorf("once its whole columns are rounded: %w", err)
	}
	tolerance := OptimumTolerance * max(1, magnitude)
	if s.Status == lp.Optimal && started && s.Objective > startCost+max(o.AbsGap, o.Gap*math.Abs(startCost))+tolerance {
		return fmt.Errorf("optimal at %.9g, but the start costs %.9g", s.Objective, startCost)
	}
	if p.Mixed() {
		if !(s.Bound <= s.Objective) {
			s.Bound = s.Objective
		}
		return nil
	}
	return settlePrices(p, s, tolerance)
}

func startObjective(p *lp.Program, o lp.Options) (cost float64, feasible bool) {
	if o.Start == nil {
		return 0, false
	}
	for j, c := range p.Cost {
		cost += c * o.Start[j]
	}
	return cost, lp.Check(p, o.Start, cost) == nil
}

func settlePrices(p *lp.Program, s *lp.Solution, tolerance float64) error {
	if len(s.RowDual) != p.Rows() || len(s.ReducedCost) != p.Columns() {
		return fmt.Errorf("%d row and %d column prices for %d rows and %d columns", len(s.RowDual), len(s.ReducedCost), p.Rows(), p.Columns())
	}
	s.Bound = lp.DualBound(p, s.RowDual)
	if s.Status == lp.Optimal && !(s.Objective <= s.Bound+tolerance) {
		return fmt.Errorf("optimal at %.9g, but its prices prove only %.9g", s.Objective, s.Bound)
	}
	if r := s.Ranges; r != nil {
		if len(r.CostLower) != p.Columns() || len(r.CostUpper) != p.Columns() || len(r.RowLimitLower) != p.Rows() || len(r.RowLimitUpper) != p.Rows() {
			return errors.New("the ranges do not fit the program")
		}
	}
	return nil
}
