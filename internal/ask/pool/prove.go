package pool

import (
	"context"
	"math"
	"math/big"
	"slices"

	"github.com/shopspring/decimal"

	"headroom/internal/core/capacity"
	"headroom/internal/core/lp"
	"headroom/internal/core/money"
)

// A plan is proved by a search of our own: every node is a linear program, whose row prices bound what is below it. The
// prices come from Clp, and any prices bound (lp.DualBound), so nothing of it is believed.

const (
	// boundTolerance is by which share a bound is taken down for what sums round.
	boundTolerance = 1e-9
	// mostNodes and mostEntries are all the linear programs, and all their entries, that a proof of a pool is worth.
	mostNodes   = 3_000
	mostEntries = 30_000_000
)

// step is the greatest amount of which all bills are multiples.
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

// up is the least bill that is not below a bound.
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

// node is a part of the search: bounds of columns in place of the program's, and what nothing in it costs less than.
type node struct {
	column       []int
	lower, upper []float64
	bound        float64
}

// search is what is to be proved, and what the proof may find.
type search struct {
	program *lp.Program
	least   float64                 // what nothing costs less than, as is known
	cost    func() float64          // of the best solution so far
	up      func(float64) float64   // the least cost that a solution can have which costs so much at least
	offer   func(x []float64) error // takes a solution in which columns that must be whole need not be
	nodes   int                     // how many linear programs it is worth
}

// beaten says whether nothing that costs so much at least is of use.
func (s *search) beaten(bound float64) bool {
	cost := s.cost()
	return s.up(bound) >= cost-boundTolerance*math.Abs(cost)
}

// prove says what nothing costs less than. Where that is less than the best solution costs, the search was cut short, or
// nodes were left that could not be decided.
func (s *search) prove(ctx context.Context, solver lp.Solver) (float64, error) {
	entries := 0
	closed := math.Inf(1) // the least bound of nodes that have no whole solution of use and cannot be split
	open := []node{{bound: s.least}}
	bound := func() float64 {
		least := min(closed, s.cost())
		for i := range open {
			least = min(least, s.up(open[i].bound))
		}
		return least
	}
	for nodes := 0; len(open) > 0 && nodes < s.nodes && entries < mostEntries && capacity.Pause(ctx) == nil; nodes++ {
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

// vacant says that the bounds of columns alone leave a row nothing within its limits.
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

// branch is the column that is farthest from whole by what it costs; -1 where all are whole.
func branch(p *lp.Program, whole []bool, x []float64) int {
	column, most := -1, 0.0
	for j, is := range whole {
		if !is {
			continue
		}
		part := x[j] - math.Floor(x[j])
		if far := min(part, 1-part); far > lp.AdviceTolerance {
			if worth := far * (math.Abs(p.Cost[j]) + 1e-9); worth > most {
				column, most = j, worth
			}
		}
	}
	return column
}
