package lp

import (
	"fmt"
	"math"
)

// The tolerances of the checks. Bounds and rows of whole columns have none in Check.
const (
	// feasibleTolerance is the amount by which a solution may miss a bound or a row with continuous columns. It is
	// not relative: a billionth of a million machines would be a thousandth of one.
	feasibleTolerance = 1e-7
	// roundingTolerance, times the sum of a row's absolute terms, is added for rows with continuous columns: the
	// error of a float64's 53 bits.
	roundingTolerance = 1e-12
	// objectiveTolerance, times the sum of the objective's absolute terms (at least 1), bounds the difference between
	// the stated and the computed objective.
	objectiveTolerance = 1e-9

	// AdviceTolerance takes the place of feasibleTolerance in CheckAdvice: ten times the tolerance requested of CBC
	// and Clp, because they measure in scaled rows.
	AdviceTolerance = 1e-6
	// AdviceRelative takes the place of roundingTolerance and objectiveTolerance in CheckAdvice.
	AdviceRelative = 1e-8
)

// Check checks one solution without any solver: column bounds, rows, whole columns and objective. It reads every
// number of the program as the decimal a person would write for it (its shortest one). Rows whose columns are all
// whole are checked exactly in those decimals, without any tolerance; other rows and columns have feasibleTolerance.
// A solution that passes is feasible and has the stated cost; it need not be optimal. The program must be valid (see
// Validate).
func Check(p *Program, x []float64, objective float64) error {
	return check(p, x, objective, tolerances{feasible: feasibleTolerance, rounding: roundingTolerance, objective: objectiveTolerance, exact: true})
}

// CheckAdvice checks a solver's raw answer with the tolerances that solvers work with. An answer that passes may
// still miss a limit by AdviceTolerance: a caller that acts on it repairs it and then calls Check.
func CheckAdvice(p *Program, x []float64, objective float64) error {
	return check(p, x, objective, tolerances{feasible: AdviceTolerance, rounding: AdviceRelative, objective: AdviceRelative})
}

type tolerances struct {
	feasible, rounding, objective float64
	exact                         bool // whole columns have no tolerance at all
}

func check(p *Program, x []float64, objective float64, t tolerances) error {
	if len(x) != p.Columns() {
		return fmt.Errorf("the solution has %d values for %d columns", len(x), p.Columns())
	}
	if math.IsNaN(objective) || math.IsInf(objective, 0) {
		return fmt.Errorf("the objective is said to be %g", objective)
	}
	if err := checkColumns(p, x, t); err != nil {
		return err
	}
	if err := checkRows(p, x, t); err != nil {
		return err
	}
	value, magnitude, rounding := 0.0, 0.0, 0.0
	for j, c := range p.Cost {
		value += c * x[j]
		magnitude += math.Abs(c * x[j])
		if p.Whole != nil && p.Whole[j] { // its objective may be that of the rounded number
			rounding += math.Abs(c * (x[j] - math.Round(x[j])))
		}
	}
	allowed := t.objective*max(1, magnitude) + rounding
	if noise := float64(len(x)+3) * unit * magnitude; math.Abs(objective-value) > allowed-noise {
		// Too close to decide in float64, or wrong: in exact decimals.
		exact := new(decimalSum)
		for j, c := range p.Cost {
			exact.add(c, x[j])
		}
		if !exact.within(objective-allowed, objective+allowed) {
			return fmt.Errorf("the objective is %.17g, not %.17g as said", value, objective)
		}
	}
	return nil
}

func checkColumns(p *Program, x []float64, t tolerances) error {
	for j, v := range x {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return fmt.Errorf("column %d is %g", j, v)
		}
		slack := t.feasible
		if p.Whole != nil && p.Whole[j] {
			if t.exact {
				slack = 0
			}
			if math.Abs(v-math.Round(v)) > slack {
				return fmt.Errorf("column %d must be whole, but is %.17g", j, v)
			}
		}
		if v < p.Lower[j]-slack || v > p.Upper[j]+slack {
			return fmt.Errorf("column %d is %.17g, outside its bounds %g to %g", j, v, p.Lower[j], p.Upper[j])
		}
	}
	return nil
}

// unit is the largest relative error of one float64 operation.
const unit = 0x1p-53

// checkRows sums all rows in float64 with a bound on the error. It sums again in decimals only the rows where that
// error could decide.
func checkRows(p *Program, x []float64, t tolerances) error {
	rows := make([]rowSum, p.Rows())
	for j, v := range x {
		whole := p.Whole != nil && p.Whole[j]
		for k := p.Start[j]; k < p.Start[j+1]; k++ {
			r := &rows[p.RowIndex[k]]
			term := p.Coefficient[k] * v
			r.value += term
			r.magnitude += math.Abs(term)
			r.terms++
			r.continuous = r.continuous || !whole
		}
	}
	doubtful := false
	for i := range rows {
		r := &rows[i]
		// One rounding each for the decimal's float64, the product and the sum so far.
		rounding := float64(r.terms+3) * unit * r.magnitude
		if t.exact && !r.continuous {
			r.doubtful = r.value-rounding < p.RowLower[i] || r.value+rounding > p.RowUpper[i]
			doubtful = doubtful || r.doubtful
			continue
		}
		if slack := t.feasible + t.rounding*r.magnitude + rounding; r.value < p.RowLower[i]-slack || r.value > p.RowUpper[i]+slack {
			return rowError(p, i, r.value)
		}
	}
	if doubtful {
		return checkDoubtful(p, x, rows)
	}
	return nil
}

type rowSum struct {
	value, magnitude float64
	terms            int
	continuous       bool // has a column that need not be whole
	doubtful         bool // too close to a limit to decide in float64
	exact            *decimalSum
}

func checkDoubtful(p *Program, x []float64, rows []rowSum) error {
	for i := range rows {
		if rows[i].doubtful {
			rows[i].exact = new(decimalSum)
		}
	}
	for j, v := range x {
		for k := p.Start[j]; k < p.Start[j+1]; k++ {
			if s := rows[p.RowIndex[k]].exact; s != nil {
				s.add(p.Coefficient[k], v)
			}
		}
	}
	for i := range rows {
		if s := rows[i].exact; s != nil && !s.within(p.RowLower[i], p.RowUpper[i]) {
			return rowError(p, i, rows[i].value)
		}
	}
	return nil
}

func rowError(p *Program, i int, value float64) error {
	if value < p.RowLower[i] || value-p.RowLower[i] < p.RowUpper[i]-value {
		return fmt.Errorf("row %d is %.17g, below its limit %.17g", i, value, p.RowLower[i])
	}
	return fmt.Errorf("row %d is %.17g, above its limit %.17g", i, value, p.RowUpper[i])
}
