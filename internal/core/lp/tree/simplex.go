package tree

import (
	"math"

	"example.org/headroom/internal/core/lp"
)

// simplex solves a program without its demand for whole numbers, by the dual simplex method with an inverse in full.
// Bounds of columns may change between calls: the last basis is the start of the next call.
type simplex struct {
	p            *lp.Program
	rows         int
	lower, upper []float64 // of the columns, and then of what each row leaves
	side         []float64 // of the rows: columns and what is left add up to it
	cost         []float64
	head         []int  // the basic variable of each row
	basic, top   []bool // of each variable; top: it stands at its upper bound
	inverse      []float64
	value        []float64 // of the basic variables
	reduced      []float64 // costs
	alpha        []float64 // the row that is left, by variable
	entering     []float64
	rest         []float64
	candidates   []candidate
	crossing     []int // what moves from one bound to the other with the next pivot
	filled       []int // places of the row that is left that are not 0
	pivots       int   // since the inverse was made
	work         int
}

type verdict int

const (
	solved verdict = iota
	beyond         // infeasible, or not below the limit
	failed         // noise, or too many steps
)

const (
	fits      = 1e-8 // by so much a value may miss its bounds
	tiny      = 1e-9
	noise     = 1e-11 // of reduced costs
	pivotsMax = 200   // until the inverse is made again
	stepsMost = 2000
)

// newSimplex begins at what the rows leave; false where a column would grow without end.
func newSimplex(p *lp.Program) (*simplex, bool) {
	n, m := p.Columns(), p.Rows()
	s := &simplex{p: p, rows: m, side: make([]float64, m), head: make([]int, m), basic: make([]bool, n+m), top: make([]bool, n+m),
		inverse: make([]float64, m*m), value: make([]float64, m), reduced: make([]float64, n+m), alpha: make([]float64, n+m), entering: make([]float64, m), rest: make([]float64, m)}
	s.lower = append(append(make([]float64, 0, n+m), p.Lower...), make([]float64, m)...)
	s.upper = append(append(make([]float64, 0, n+m), p.Upper...), make([]float64, m)...)
	s.cost = append(append(make([]float64, 0, n+m), p.Cost...), make([]float64, m)...)
	for i := range m {
		if s.side[i] = p.RowUpper[i]; math.IsInf(s.side[i], 1) {
			s.side[i], s.lower[n+i] = p.RowLower[i], math.Inf(-1)
		} else {
			s.upper[n+i] = p.RowUpper[i] - p.RowLower[i]
		}
		s.head[i], s.basic[n+i] = n+i, true
		s.inverse[i*m+i] = 1
	}
	copy(s.reduced, s.cost)
	for j := range n {
		if s.top[j] = s.cost[j] < 0; s.top[j] && math.IsInf(s.upper[j], 1) {
			return nil, false
		}
	}
	return s, true
}

// column visits the entries of a variable.
func (s *simplex) column(j int, f func(row int, by float64)) {
	if n := s.p.Columns(); j >= n {
		f(j-n, 1)
		return
	}
	for k := s.p.Start[j]; k < s.p.Start[j+1]; k++ {
		f(s.p.RowIndex[k], s.p.Coefficient[k])
	}
}

// at is the value of a variable outside the basis.
func (s *simplex) at(j int) float64 {
	if s.top[j] {
		return s.upper[j]
	}
	return s.lower[j]
}

// place moves the variables outside the basis to the bounds that their costs ask for, and computes the others.
func (s *simplex) place() {
	rest := s.rest
	copy(rest, s.side)
	for j := range s.reduced {
		if s.basic[j] {
			continue
		}
		switch {
		case s.reduced[j] < -noise && !math.IsInf(s.upper[j], 1) || math.IsInf(s.lower[j], -1):
			s.top[j] = true
		case s.reduced[j] > noise || math.IsInf(s.upper[j], 1):
			s.top[j] = false
		}
		if x := s.at(j); x != 0 {
			s.column(j, func(row int, by float64) { rest[row] -= by * x })
		}
	}
	m := s.rows
	for i := range m {
		sum := 0.0
		for k, b := range s.inverse[i*m : i*m+m] {
			sum += b * rest[k]
		}
		s.value[i] = sum
	}
	s.work += (len(s.reduced)*2 + m*m) / 8
}

// renew makes the inverse and the reduced costs again; false where the basis has none.
func (s *simplex) renew() bool {
	m := s.rows
	a := make([]float64, m*m)
	for k, j := range s.head {
		s.column(j, func(row int, by float64) { a[row*m+k] = by })
	}
	inverse := s.inverse
	clear(inverse)
	for i := range m {
		inverse[i*m+i] = 1
	}
	// Rows are exchanged and combined until a is the unit matrix; the head stays in its order.
	for k := range m {
		at := k
		for i := k + 1; i < m; i++ {
			if math.Abs(a[i*m+k]) > math.Abs(a[at*m+k]) {
				at = i
			}
		}
		pivot := a[at*m+k]
		if math.Abs(pivot) < tiny {
			return false
		}
		for c := range m {
			a[k*m+c], a[at*m+c] = a[at*m+c], a[k*m+c]
			inverse[k*m+c], inverse[at*m+c] = inverse[at*m+c], inverse[k*m+c]
		}
		if pivot != 1 {
			for c := range m {
				a[k*m+c] /= pivot
				inverse[k*m+c] /= pivot
			}
		}
		for i := range m {
			if by := a[i*m+k]; i != k && by != 0 {
				s.work += m / 4
				for c := k; c < m; c++ {
					a[i*m+c] -= by * a[k*m+c]
				}
				for c := range m {
					inverse[i*m+c] -= by * inverse[k*m+c]
				}
			}
		}
	}
	price := make([]float64, m)
	for k, j := range s.head {
		if c := s.cost[j]; c != 0 {
			for i := range m {
				price[i] += c * inverse[k*m+i]
			}
		}
	}
	for j := range s.reduced {
		s.reduced[j] = 0
		if !s.basic[j] {
			sum := s.cost[j]
			s.column(j, func(row int, by float64) { sum -= price[row] * by })
			s.reduced[j] = sum
		}
	}
	s.pivots = 0
	return true
}

// total is the cost of the values as they are: a bound while they do not fit.
func (s *simplex) total() float64 {
	sum := 0.0
	for k, j := range s.head {
		sum += s.cost[j] * s.value[k]
	}
	for j := range s.p.Columns() {
		if !s.basic[j] {
			sum += s.cost[j] * s.at(j)
		}
	}
	return sum
}

// solve finds the best values within the bounds, unless they cost as much as the limit.
func (s *simplex) solve(limit float64) verdict {
	s.place()
	total := s.total()
	for range stepsMost {
		if total >= limit {
			return beyond
		}
		if s.pivots >= pivotsMax {
			if !s.renew() {
				return failed
			}
			s.place()
			total = s.total()
		}
		row, by := -1, fits
		for k, j := range s.head {
			if short := max(s.lower[j]-s.value[k], s.value[k]-s.upper[j]); short > by {
				row, by = k, short
			}
		}
		if row < 0 {
			return solved
		}
		enter, gain := s.ratio(row, by)
		if enter < 0 {
			return beyond
		}
		total += gain
		if !s.pivot(row, enter) {
			if s.pivots == 0 || !s.renew() {
				return failed
			}
			s.place()
			total = s.total()
		}
	}
	return failed
}

// candidate is a variable that may enter the basis.
type candidate struct {
	column          int
	ratio, strength float64
}

// ratio finds the variable that enters when a row's variable leaves, and what the costs grow by at least. Variables with
// less to lose move from one bound to the other as long as that alone is not enough.
func (s *simplex) ratio(row int, short float64) (enter int, gain float64) {
	own := s.inverse[row*s.rows : (row+1)*s.rows]
	sign := 1.0
	if out := s.head[row]; s.value[row] < s.lower[out] {
		sign = -1
	}
	n, list := s.p.Columns(), s.candidates[:0]
	for j := range s.alpha {
		if s.alpha[j] = 0; s.basic[j] {
			continue
		}
		alpha := 0.0
		if j >= n {
			alpha = own[j-n]
		} else {
			for k := s.p.Start[j]; k < s.p.Start[j+1]; k++ {
				alpha += own[s.p.RowIndex[k]] * s.p.Coefficient[k]
			}
		}
		s.alpha[j] = alpha
		if alpha *= sign; s.top[j] {
			alpha = -alpha
		}
		if alpha > tiny && s.lower[j] < s.upper[j] {
			list = append(list, candidate{j, math.Abs(s.reduced[j]) / alpha, alpha})
		}
	}
	s.candidates = list
	s.work += len(s.alpha) / 3
	s.crossing = s.crossing[:0]
	last := 0.0
	for len(list) > 0 {
		best := 0
		for k := range list {
			if c := &list[k]; c.ratio < list[best].ratio-1e-12 || c.ratio <= list[best].ratio+1e-12 && c.strength > list[best].strength {
				best = k
			}
		}
		s.work += len(list) / 8
		c := list[best]
		gain += max(0, c.ratio-last) * short
		last = max(last, c.ratio)
		if short -= c.strength * (s.upper[c.column] - s.lower[c.column]); !(short > fits) {
			return c.column, gain
		}
		s.crossing = append(s.crossing, c.column)
		list[best] = list[len(list)-1]
		list = list[:len(list)-1]
	}
	return -1, 0
}

// pivot exchanges a row's variable for the one that enters; false where only noise lets it.
func (s *simplex) pivot(row, enter int) bool {
	m, change := s.rows, s.entering
	clear(change)
	s.column(enter, func(k int, by float64) {
		for i := range m {
			change[i] += s.inverse[i*m+k] * by
		}
	})
	pivot := change[row]
	if math.Abs(pivot) < tiny || math.Abs(pivot-s.alpha[enter]) > 1e-6*(1+math.Abs(pivot)) {
		return false
	}
	step := s.reduced[enter] / pivot
	for j, alpha := range s.alpha {
		if alpha != 0 {
			s.reduced[j] -= step * alpha
		}
	}
	s.cross()
	out := s.head[row]
	s.reduced[enter], s.reduced[out] = 0, -step
	s.top[out] = s.value[row] > s.upper[out]
	by := (s.value[row] - s.at(out)) / pivot
	for i := range m {
		s.value[i] -= by * change[i]
	}
	s.value[row] = s.at(enter) + by
	own := s.inverse[row*m : row*m+m]
	s.filled = s.filled[:0]
	for k, x := range own {
		if x != 0 {
			own[k] = x / pivot
			s.filled = append(s.filled, k)
		}
	}
	for i := range m {
		if by := change[i]; by != 0 && i != row {
			other := s.inverse[i*m : i*m+m]
			for _, k := range s.filled {
				other[k] -= by * own[k]
			}
			s.work += len(s.filled) / 8
		}
	}
	s.head[row], s.basic[enter], s.basic[out] = enter, true, false
	s.pivots++
	s.work += (len(s.alpha) + 6*m) / 8
	return true
}

// cross moves variables from one bound to the other.
func (s *simplex) cross() {
	if len(s.crossing) == 0 {
		return
	}
	clear(s.rest)
	for _, j := range s.crossing {
		by := s.at(j)
		s.top[j] = !s.top[j]
		by -= s.at(j)
		s.column(j, func(row int, x float64) { s.rest[row] += by * x })
	}
	m := s.rows
	for k, by := range s.rest {
		if by != 0 {
			for i := range m {
				s.value[i] += s.inverse[i*m+k] * by
			}
			s.work += m / 8
		}
	}
}
