package tree

import (
	"math"
	"slices"

	"example.org/headroom/internal/core/lp"
)

// A row of whole numbers holds for its rounded parts as well (mixed-integer rounding). Rows of that kind that the linear
// program breaks are added to it, so that it says sooner where no better solution is.

const (
	leastBroken   = 1e-3 // by so much of its own length a cut is broken at least
	leastFraction = 0.02 // a side this near to a whole number makes none
	divisorsMost  = 6
	leastWon      = 0.01 // share of what is left that a round of cuts wins at least
)

// cut is a row of at most a side.
type cut struct {
	columns      []int
	coefficients []float64
	side         float64
}

// term is a column of a row, counted from the bound that it is near.
type term struct {
	column      int
	coefficient float64
	value, most float64
	turned      bool // counted down from its upper bound
}

// Tighten adds cuts to the program, round by round, while they win something of what lies between its solution and a limit. It
// returns how many.
func (t *Tree) Tighten(limit float64, rounds int, ended func() bool) int {
	rows := t.p.Rows()
	var entries [][]lp.Entry // of the rows at first; Row is the column
	var before *simplex
	was := 0.0
	for round := range rounds + 1 {
		if ended() || t.solve(limit) != solved {
			break
		}
		if before != nil && t.total()-was < leastWon*(limit-was) { // more rows, and nothing is won
			before.work = t.work
			*t.simplex = *before
			break
		}
		if round == rounds {
			break
		}
		was = t.total()
		t.read()
		if column, _ := t.divided(); column < 0 {
			break
		}
		if entries == nil {
			entries = t.byRow(rows)
		}
		var cuts []cut
		for i := range rows {
			if len(entries[i]) > 0 {
				if c, ok := t.rounded(entries[i], t.p.RowUpper[i]); ok {
					cuts = append(cuts, c)
				}
			}
		}
		if len(cuts) == 0 {
			break
		}
		before = t.kept()
		t.extend(cuts)
	}
	return t.rows - rows
}

// kept is the program and its basis as they are, to return to.
func (s *simplex) kept() *simplex {
	k := *s
	for _, list := range []*[]float64{&k.lower, &k.upper, &k.side, &k.cost, &k.reduced, &k.alpha} {
		*list = slices.Clone(*list)
	}
	k.head, k.basic, k.top = slices.Clone(k.head), slices.Clone(k.basic), slices.Clone(k.top)
	return &k
}

// byRow lists the entries of the rows that can be rounded: all columns whole, some coefficients not.
func (t *Tree) byRow(rows int) [][]lp.Entry {
	entries, can := make([][]lp.Entry, rows), make([]bool, rows)
	for j := range t.x {
		for k := t.p.Start[j]; k < t.p.Start[j+1]; k++ {
			i, a := t.p.RowIndex[k], t.p.Coefficient[k]
			entries[i] = append(entries[i], lp.Entry{Row: j, Coefficient: a})
			can[i] = can[i] || a != math.Trunc(a)
		}
	}
	for i := range entries {
		if !can[i] || math.IsInf(t.p.RowUpper[i], 1) {
			entries[i] = nil
		}
	}
	t.work += len(t.p.RowIndex)
	return entries
}

// rounded returns the most broken cut of a row; false where none is broken.
func (t *Tree) rounded(entries []lp.Entry, side float64) (best cut, ok bool) {
	terms, divisors := make([]term, 0, len(entries)), []float64{1}
	for _, e := range entries {
		low, high := t.lower[e.Row], t.upper[e.Row]
		if math.IsInf(low, -1) {
			return best, false
		}
		x := term{column: e.Row, coefficient: e.Coefficient, value: t.x[e.Row] - low, most: high - low}
		side -= e.Coefficient * low
		if x.value > x.most/2 && !math.IsInf(x.most, 1) {
			side = x.turn(side)
		}
		if d := math.Abs(x.coefficient); x.value > whole && x.value < x.most-whole && len(divisors) < divisorsMost && !slices.Contains(divisors, d) {
			divisors = append(divisors, d)
		}
		terms = append(terms, x)
	}
	divisor, most := 0.0, leastBroken
	try := func(d float64) bool {
		by := broken(terms, side, d)
		if by > most {
			divisor, most = d, by
			return true
		}
		return false
	}
	for _, d := range divisors {
		try(d)
	}
	t.work += len(terms) * (len(divisors) + 4)
	if divisor == 0 {
		return best, false
	}
	for _, part := range []float64{2, 4, 8} {
		try(divisor / part)
	}
	for k := range terms { // counted from its other bound a column may round better
		x := &terms[k]
		if x.value <= whole || x.value >= x.most-whole || math.IsInf(x.most, 1) {
			continue
		}
		before := side
		if side = x.turn(side); !try(divisor) {
			x.turn(side)
			side = before
		}
		t.work += len(terms)
	}
	return t.cutOf(terms, side, divisor), true
}

// turn counts a column from its other bound, and returns what that leaves of the side.
func (x *term) turn(side float64) float64 {
	side -= x.coefficient * x.most
	x.coefficient, x.value, x.turned = -x.coefficient, x.most-x.value, !x.turned
	return side
}

// roundedBy is the coefficient in the cut whose side has the fraction.
func roundedBy(coefficient, fraction float64) float64 {
	below := math.Floor(coefficient)
	return below + max(0, coefficient-below-fraction)/(1-fraction)
}

// broken says by how much of its length the cut of a divisor is broken; negative where it is not, or says nothing.
func broken(terms []term, side, divisor float64) float64 {
	below := math.Floor(side / divisor)
	fraction := side/divisor - below
	if fraction < leastFraction || fraction > 1-leastFraction {
		return -1
	}
	sum, square := -below, 0.0
	for k := range terms {
		c := roundedBy(terms[k].coefficient/divisor, fraction)
		sum += c * terms[k].value
		square += c * c
	}
	if square == 0 {
		return -1
	}
	return sum / math.Sqrt(square)
}

// cutOf writes the cut of a divisor in the columns themselves.
func (t *Tree) cutOf(terms []term, side, divisor float64) (c cut) {
	below := math.Floor(side / divisor)
	fraction := side/divisor - below
	c.side = below
	for k := range terms {
		x := &terms[k]
		by := roundedBy(x.coefficient/divisor, fraction)
		if math.Abs(by) < tiny {
			continue
		}
		if x.turned {
			c.side -= by * t.upper[x.column]
			by = -by
		} else {
			c.side += by * t.lower[x.column]
		}
		c.columns, c.coefficients = append(c.columns, x.column), append(c.coefficients, by)
	}
	return c
}

// extend adds rows to the program, from the basis as it is: what they leave joins it.
func (s *simplex) extend(cuts []cut) {
	n, m := s.p.Columns(), s.rows
	rows := m + len(cuts)
	wide := make([][]lp.Entry, n)
	p := *s.p
	p.RowLower, p.RowUpper = slices.Clone(p.RowLower), slices.Clone(p.RowUpper)
	for _, c := range cuts {
		row := p.Row(math.Inf(-1), c.side)
		for k, j := range c.columns {
			wide[j] = append(wide[j], lp.Entry{Row: row, Coefficient: c.coefficients[k]})
		}
	}
	p.Start, p.RowIndex, p.Coefficient = make([]int, 1, n+1), make([]int, 0, 2*len(s.p.RowIndex)), make([]float64, 0, 2*len(s.p.RowIndex))
	for j := range n {
		p.RowIndex = append(p.RowIndex, s.p.RowIndex[s.p.Start[j]:s.p.Start[j+1]]...)
		p.Coefficient = append(p.Coefficient, s.p.Coefficient[s.p.Start[j]:s.p.Start[j+1]]...)
		for _, e := range wide[j] {
			p.RowIndex, p.Coefficient = append(p.RowIndex, e.Row), append(p.Coefficient, e.Coefficient)
		}
		p.Start = append(p.Start, len(p.RowIndex))
	}
	inverse := make([]float64, rows*rows)
	for i := range m {
		copy(inverse[i*rows:i*rows+m], s.inverse[i*m:i*m+m])
	}
	for i, c := range cuts {
		own := inverse[(m+i)*rows : (m+i+1)*rows]
		own[m+i] = 1
		at := map[int]float64{}
		for k, j := range c.columns {
			at[j] = c.coefficients[k]
		}
		for k, j := range s.head {
			if by := at[j]; by != 0 && j < n {
				for x := range m {
					own[x] -= by * s.inverse[k*m+x]
				}
			}
		}
		s.lower, s.upper, s.side, s.cost = append(s.lower, 0), append(s.upper, math.Inf(1)), append(s.side, c.side), append(s.cost, 0)
		s.basic, s.top = append(s.basic, true), append(s.top, false)
		s.reduced, s.alpha = append(s.reduced, 0), append(s.alpha, 0)
		s.head = append(s.head, n+m+i)
	}
	s.p, s.rows, s.inverse = &p, rows, inverse
	s.value, s.entering, s.rest = make([]float64, rows), make([]float64, rows), make([]float64, rows)
	s.work += rows * rows / 4
}
