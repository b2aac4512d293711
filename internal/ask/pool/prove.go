package pool

import (
	"context"
	"math"
	"math/big"
	"slices"

	"github.com/shopspring/decimal"

	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/lp"
	"example.org/headroom/internal/core/money"
)

// A search proves a plan: every node is a linear program, whose row prices bound the nodes below it. The prices come
// from Clp, and any prices give a bound (lp.DualBound), so nothing of it is believed.

const (
	// boundTolerance is the share by which a bound is reduced for rounding errors of sums.
	boundTolerance = 1e-9
	// maxNodes and maxEntries limit the linear programs, and their total entries, for the proof of one pool.
	maxNodes   = 3_000
	maxEntries = 30_000_000
)

// step is the largest amount that divides all bills.
type step money.Amount

func (m *model) step() step {
	divisor := new(big.Int)
	for _, t := range m.Types {
		units := t.PerHour.Decimal.Shift(money.Places).BigInt()
		if !t.Accelerator {
			units.Mul(units, big.NewInt(m.Hours))
		}
		divisor.GCD(nil, nil, divisor, units)
	}
	return step{decimal.NewFromBigInt(divisor, -money.Places)}
}

// up returns the smallest bill that is not below a bound.
func (s step) up(bound float64) money.Amount {
	if !(bound > 0) || s.IsZero() {
		return money.Amount{}
	}
	n := math.Ceil(bound*(1-boundTolerance)/money.Amount(s).Float() - boundTolerance)
	if n >= 1<<53 {
		return money.Round(bound * (1 - boundTolerance))
	}
	return money.Amount{Decimal: s.Mul(decimal.NewFromInt(int64(n)))}
}

// node is a part of the search: bounds of columns that replace the program's, and a lower bound of its costs.
type node struct {
	column       []int
	lower, upper []float64
	bound        float64
}

// search is a program to prove a bound for, with its callbacks.
type search struct {
	program *lp.Program
	lower   float64                 // known lower bound of all costs
	cost    func() float64          // of the best solution so far
	up      func(float64) float64   // the smallest possible cost not below a bound
	offer   func(x []float64) error // takes a solution whose whole columns may be fractional
	nodes   int                     // limit of linear programs
}

// beaten reports whether no solution with this lower bound can help.
func (s *search) beaten(bound float64) bool {
	cost := s.cost()
	return s.up(bound) >= cost-boundTolerance*math.Abs(cost)
}

// prove returns a lower bound of all costs. If it is below the cost of the best solution, the search was cut short,
// or some nodes could not be decided.
func (s *search) prove(ctx context.Context, solver lp.Solver) (float64, error) {
	entries := 0
	closed := math.Inf(1) // smallest bound of nodes without a useful whole solution that cannot be split
	open := []node{{bound: s.lower}}
	bound := func() float64 {
		lowest := min(closed, s.cost())
		for i := range open {
			lowest = min(lowest, s.up(open[i].bound))
		}
		return lowest
	}
	for nodes := 0; len(open) > 0 && nodes < s.nodes && entries < maxEntries && capacity.Pause(ctx) == nil; nodes++ {
		at := 0
		for i := range open {
			if open[i].bound < open[at].bound {
				at = i
			}
		}
		n := open[at]
		if s.beaten(n.bound) {
			break // and so are all others
		}
		here := *s.program
		here.Lower, here.Upper, here.Whole = slices.Clone(here.Lower), slices.Clone(here.Upper), nil
		for k, column := range n.column {
			here.Lower[column], here.Upper[column] = n.lower[k], n.upper[k]
		}
		if vacant(&here) {
			open = slices.Delete(open, at, at+1)
			continue
		}
		answer, err := solver.Solve(ctx, &here, lp.Options{})
		if err != nil {
			if ctx.Err() != nil {
				break
			}
			return bound(), err
		}
		entries += len(here.Coefficient)
		open = slices.Delete(open, at, at+1)
		if answer.Status != lp.Optimal || len(answer.X) != here.Columns() {
			closed = min(closed, s.up(n.bound))
			continue
		}
		n.bound = max(n.bound, lp.DualBound(&here, answer.RowDual))
		if s.beaten(n.bound) {
			continue
		}
		err = s.offer(answer.X)
		column := branch(&here, s.program.Whole, answer.X)
		if err != nil || column < 0 {
			if closed = min(closed, s.up(n.bound)); err != nil {
				return bound(), err
			}
			continue
		}
		x := math.Floor(answer.X[column])
		for _, half := range []struct{ lower, upper float64 }{{here.Lower[column], min(x, here.Upper[column])}, {max(x+1, here.Lower[column]), here.Upper[column]}} {
			if half.lower > half.upper {
				continue
			}
			open = append(open, node{
				column: append(slices.Clone(n.column), column),
				lower:  append(slices.Clone(n.lower), half.lower),
				upper:  append(slices.Clone(n.upper), half.upper),
				bound:  n.bound,
			})
		}
	}
	return bound(), nil
}

// vacant reports whether the bounds of columns alone make a row's limits impossible.
func vacant(p *lp.Program) bool {
	low, high := make([]float64, p.Rows()), make([]float64, p.Rows())
	for j := range p.Cost {
		for k := p.Start[j]; k < p.Start[j+1]; k++ {
			a, b := p.Coefficient[k]*p.Lower[j], p.Coefficient[k]*p.Upper[j]
			low[p.RowIndex[k]] += min(a, b)
			high[p.RowIndex[k]] += max(a, b)
		}
	}
	for i := range low {
		if low[i] > p.RowUpper[i]+lp.AdviceTolerance*(1+math.Abs(low[i])) || high[i] < p.RowLower[i]-lp.AdviceTolerance*(1+math.Abs(high[i])) {
			return true
		}
	}
	return false
}

// branch returns the column that is farthest from whole, weighted by its cost, or -1 if all are whole.
func branch(p *lp.Program, whole []bool, x []float64) int {
	column, highest := -1, 0.0
	for j, is := range whole {
		if !is {
			continue
		}
		part := x[j] - math.Floor(x[j])
		if far := min(part, 1-part); far > lp.AdviceTolerance {
			if worth := far * (math.Abs(p.Cost[j]) + 1e-9); worth > highest {
				column, highest = j, worth
			}
		}
	}
	return column
}
