package lp

import (
	"fmt"
	"math"
)

// Largest is the largest finite number a program may hold. Clp and CBC silently read numbers from 1e27 on as
// infinite, so they would take larger ones differently.
const Largest = 1e20

// Validate returns an error for a malformed program: wrong lengths or indices, repeated entries, NaN, or bounds the
// wrong way round. Malformed data in a C++ solver is memory corruption, so a program is validated before it is sent
// and again by the process that solves it.
func (p *Program) Validate() error {
	columns, rows := p.Columns(), p.Rows()
	for _, l := range []struct {
		name      string
		got, want int
	}{
		{"Lower", len(p.Lower), columns},
		{"Upper", len(p.Upper), columns},
		{"RowUpper", len(p.RowUpper), rows},
		{"Coefficient", len(p.Coefficient), len(p.RowIndex)},
	} {
		if l.got != l.want {
			return fmt.Errorf("%s has %d values, but there must be %d", l.name, l.got, l.want)
		}
	}
	if p.Whole != nil && len(p.Whole) != columns {
		return fmt.Errorf("the list Whole has %d values, but there must be %d or none", len(p.Whole), columns)
	}
	for j, c := range p.Cost {
		if !(math.Abs(c) <= Largest) { // written this way so that NaN fails too
			return fmt.Errorf("the cost of column %d is %g, but it must be a number up to %g", j, c, Largest)
		}
		if err := validateBounds(p.Lower[j], p.Upper[j]); err != nil {
			return fmt.Errorf("column %d: %w", j, err)
		}
	}
	for i := range p.RowLower {
		if err := validateBounds(p.RowLower[i], p.RowUpper[i]); err != nil {
			return fmt.Errorf("row %d: %w", i, err)
		}
	}
	return p.validateMatrix()
}

func validateBounds(lower, upper float64) error {
	for _, v := range []float64{lower, upper} {
		if !(math.Abs(v) <= Largest || math.IsInf(v, 0)) {
			return fmt.Errorf("the limit %g must be infinite or a number up to %g", v, Largest)
		}
	}
	if lower > upper || math.IsInf(lower, 1) || math.IsInf(upper, -1) {
		return fmt.Errorf("nothing lies between the limits %g and %g", lower, upper)
	}
	return nil
}

func (p *Program) validateMatrix() error {
	columns, rows := p.Columns(), p.Rows()
	if columns == 0 && len(p.Start) == 0 && len(p.RowIndex) == 0 {
		return nil
	}
	if len(p.Start) != columns+1 {
		return fmt.Errorf("the list Start has %d values, but there must be %d", len(p.Start), columns+1)
	}
	if p.Start[0] != 0 || p.Start[columns] != len(p.RowIndex) {
		return fmt.Errorf("the list Start runs from %d to %d, but it must run from 0 to %d", p.Start[0], p.Start[columns], len(p.RowIndex))
	}
	seen := make([]int, rows) // the last column with an entry in this row, counted from 1
	for j := range columns {
		from, to := p.Start[j], p.Start[j+1]
		if from > to || to > len(p.RowIndex) {
			return fmt.Errorf("the entries of column %d run from %d to %d of %d", j, from, to, len(p.RowIndex))
		}
		for k := from; k < to; k++ {
			i := p.RowIndex[k]
			if i < 0 || i >= rows {
				return fmt.Errorf("column %d has an entry in row %d, but there are %d rows", j, i, rows)
			}
			if seen[i] == j+1 {
				return fmt.Errorf("column %d has two entries in row %d", j, i)
			}
			seen[i] = j + 1
			if a := p.Coefficient[k]; !(math.Abs(a) <= Largest) {
				return fmt.Errorf("the coefficient of column %d in row %d is %g, but it must be a number up to %g", j, i, a, Largest)
			}
		}
	}
	return nil
}

// Mixed reports whether any column must be whole.
func (p *Program) Mixed() bool {
	for _, w := range p.Whole {
		if w {
			return true
		}
	}
	return false
}
