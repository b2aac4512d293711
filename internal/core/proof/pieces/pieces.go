// Package pieces raises a concave function of linear pieces to its highest point by cutting planes, with a simplex method of its own.
package pieces

import (
	"math"
	"slices"
)

// Piece is one evaluation of a function: its value at zero on this piece, and its slope in each direction.
type Piece struct {
	Base  float64
	Slope []float64
}

// Best is the highest point found.
type Best struct {
	At      []float64
	Value   float64 // of the function there
	Size    float64 // of the terms of its sum
	Above   float64 // the highest point of all pieces seen, which is no lower
	Missing float64 // slope of a mixture of pieces there, where a limit of top holds the point back
}

const mostCuts = 400

// Highest looks for the highest point from 0 to top. It next tries the best point of all pieces seen so far, and a point halfway to the
// best one so far, so that it does not swing. It ends when the same point comes twice in a row: nothing new is seen there.
func Highest(top []float64, starts [][]float64, at func(x []float64) (p Piece, value, size float64)) Best {
	m := &master{top: top}
	best := Best{At: make([]float64, len(top)), Value: math.Inf(-1)}
	try := func(x []float64) {
		p, value, size := at(x)
		m.pieces = append(m.pieces, p)
		if value > best.Value {
			best.At, best.Value, best.Size = slices.Clone(x), value, size
		}
	}
	for _, x := range starts {
		try(x)
	}
	var last []float64
	for range mostCuts {
		x, above, broken := m.solve()
		best.Above, best.Missing = above, broken
		if above-best.Value <= 1e-13*(1+best.Size) || slices.Equal(x, last) {
			break
		}
		last = x
		try(x)
		half := make([]float64, len(top))
		for k := range half {
			half[k] = (x[k] + best.At[k]) / 2
		}
		try(half)
	}
	return best
}

// master is the linear program over the pieces seen so far. It seeks the highest point under all of
// them, from 0 to top. It solves the dual,
//
//	min base·share + top·over,  the shares of all pieces adding up to one,  slope·share <= over in each price,
//
// by the simplex method, whose row prices are the point. There are few rows and many columns.
type master struct {
	top     []float64
	pieces  []Piece
	basis   []int // columns: pieces from 0; -1-2k over, -2-2k left in row k
	value   []float64
	inverse [][]float64
}

// column returns a column's entries; row 0 is the sum of shares.
func (m *master) column(j int, dst []float64) []float64 {
	rows := len(m.top) + 1
	dst = append(dst[:0], make([]float64, rows)...)
	switch {
	case j >= 0:
		dst[0] = 1
		copy(dst[1:], m.pieces[j].Slope)
	case j%2 == 0: // -2-2k: left
		dst[1+(-j-2)/2] = 1
	default: // -1-2k: over
		dst[1+(-j-1)/2] = -1
	}
	return dst
}

func (m *master) cost(j int) float64 {
	switch {
	case j >= 0:
		return m.pieces[j].Base
	case j%2 == 0:
		return 0
	}
	return m.top[(-j-1)/2]
}

// reduced returns a column's cost less the worth of its entries at the rows' prices, and the size of the terms of that sum.
func (m *master) reduced(j int, price []float64) (reduced, size float64) {
	reduced, size = m.cost(j), math.Abs(m.cost(j))
	switch {
	case j >= 0:
		reduced -= price[0]
		size += math.Abs(price[0])
		for k, x := range m.pieces[j].Slope {
			worth := price[1+k] * x
			reduced -= worth
			size += math.Abs(worth)
		}
	case j%2 == 0:
		reduced -= price[1+(-j-2)/2]
		size += math.Abs(price[1+(-j-2)/2])
	default:
		reduced += price[1+(-j-1)/2]
		size += math.Abs(price[1+(-j-1)/2])
	}
	return reduced, size
}

// mostPivots bounds the steps of one solve. Pieces come one at a time, so that few are needed. With figures of very
// different sizes floats may lead in circles; whatever point is reached then has a bound of its own.
const mostPivots = 300

// solve returns the point, its height, and the amount by which the pieces' mixture breaks the rows.
func (m *master) solve() (point []float64, height, broken float64) {
	rows := len(m.top) + 1
	if m.basis == nil {
		m.basis = []int{0}
		for k := range m.top {
			if m.pieces[0].Slope[k] > 0 {
				m.basis = append(m.basis, -1-2*k)
			} else {
				m.basis = append(m.basis, -2-2*k)
			}
		}
	}
	price := make([]float64, rows)
	var entries []float64
	for range mostPivots {
		if !m.invert() {
			break
		}
		scale := 1e-300
		for r := range price {
			price[r] = 0
			for k, j := range m.basis {
				price[r] += m.cost(j) * m.inverse[k][r]
			}
			scale = max(scale, math.Abs(price[r]))
		}
		enter, lowest := 0, 0.0
		found := false
		for j := -2 * len(m.top); j < len(m.pieces); j++ {
			reduced, size := m.reduced(j, price)
			if reduced < -1e-13*size && reduced < lowest {
				enter, lowest, found = j, reduced, true
			}
		}
		if !found {
			break
		}
		entries = m.column(enter, entries)
		leave, limit, strength := -1, math.Inf(1), 0.0
		for k := range m.basis {
			change := 0.0
			for r, x := range entries {
				change += m.inverse[k][r] * x
			}
			if change <= 1e-12 {
				continue
			}
			ratio := max(0, m.value[k]) / change
			if ratio < limit-1e-15 || ratio <= limit+1e-15 && change > strength {
				leave, limit, strength = k, ratio, change
			}
		}
		if leave < 0 {
			break
		}
		m.basis[leave] = enter
	}
	point = make([]float64, len(m.top))
	height = price[0]
	for k := range point {
		point[k] = min(m.top[k], max(0, -price[1+k]))
	}
	for k, j := range m.basis {
		if j < 0 && j%2 != 0 && m.value[k] > 0 {
			broken += m.value[k]
		}
	}
	return point, height, broken
}

// invert computes the basis's inverse and its values; it returns false if there is no inverse any more.
func (m *master) invert() bool {
	rows := len(m.basis)
	a := make([][]float64, rows)
	var entries []float64
	for r := range a {
		a[r] = make([]float64, 2*rows)
		a[r][rows+r] = 1
	}
	for k, j := range m.basis {
		entries = m.column(j, entries)
		for r, x := range entries {
			a[r][k] = x
		}
	}
	for k := range rows {
		at := k
		for r := k + 1; r < rows; r++ {
			if math.Abs(a[r][k]) > math.Abs(a[at][k]) {
				at = r
			}
		}
		a[k], a[at] = a[at], a[k]
		pivot := a[k][k]
		if math.Abs(pivot) < 1e-13 {
			return false
		}
		for c := range a[k] {
			a[k][c] /= pivot
		}
		for r := range a {
			if factor := a[r][k]; r != k && factor != 0 {
				for c := range a[r] {
					a[r][c] -= factor * a[k][c]
				}
			}
		}
	}
	m.inverse, m.value = make([][]float64, rows), make([]float64, rows)
	for k := range a {
		m.inverse[k] = a[k][rows:]
		m.value[k] = m.inverse[k][0] // the right-hand side is a total share of one
	}
	return true
}
