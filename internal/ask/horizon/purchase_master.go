package horizon

import (
	"math"
)

// region is the purchases between two corners, both included.
type region struct{ low, high []int64 }

// lowestPoint returns the point of a region at which the highest of all cuts is lowest, and the value there: a lower
// bound on everything in the region. It is a linear program with one row for each offer and one more, solved as its
// dual:
//
//	max Σ share·value − Σ width·s   subject to   Σ share = 1,   Σ share·slope + s − r = 0 per offer
//
// Shares of the cuts that add up to 1 prove their average as a bound wherever the simplex method stops.
func lowestPoint(cuts []cut, in region) (value float64, at, share []float64) {
	n := len(in.low)
	m := master{cuts: cuts, in: in, rows: n + 1, corner: make([]float64, len(cuts))}
	first, best := 0, math.Inf(-1)
	for j := range cuts {
		v := cuts[j].value
		for k, g := range cuts[j].slope {
			v += g * (float64(in.low[k]) - cuts[j].at[k])
		}
		m.corner[j] = v
		for k, g := range cuts[j].slope {
			v += min(0, g) * float64(in.high[k]-in.low[k])
		}
		if v > best {
			first, best = j, v
		}
		m.noise = max(m.noise, math.Abs(m.corner[j]))
	}
	m.noise = masterNoise * (1 + m.noise)
	m.basis = []int{first}
	for k, g := range cuts[first].slope {
		if g < 0 {
			m.basis = append(m.basis, len(cuts)+k) // s
		} else {
			m.basis = append(m.basis, len(cuts)+n+k) // r
		}
	}
	for range masterPivots {
		if !m.pivot() {
			break
		}
	}
	share = make([]float64, len(cuts))
	total := 0.0
	for row, x := range m.values() {
		if j := m.basis[row]; j < len(cuts) && x > 0 {
			share[j], total = x, total+x
		}
	}
	slope := make([]float64, n)
	for j := range share {
		if share[j] /= total; share[j] > 0 {
			value += share[j] * m.corner[j]
			for k, g := range cuts[j].slope {
				slope[k] += share[j] * g
			}
		}
	}
	at = make([]float64, n)
	dual := m.duals()
	for k := range at {
		width := float64(in.high[k] - in.low[k])
		value += min(0, slope[k]) * width
		at[k] = float64(in.low[k]) + min(max(0, -dual[k+1]), width)
		if whole := math.Round(at[k]); math.Abs(at[k]-whole) < wholePoint {
			at[k] = whole
		}
	}
	return value, at, share
}

const (
	masterNoise  = 1e-13 // relative: a reduced cost below it is none
	masterPivots = 2_000
	plainPivots  = 200 // after so many pivots the first column that helps is taken, which cannot cycle
	wholePoint   = 1e-6
)

// master is the linear program of lowestPoint. Its columns are the cuts, then s, then r.
type master struct {
	cuts   []cut
	in     region
	rows   int
	corner []float64 // values of the cuts at the region's low corner
	basis  []int
	noise  float64
	pivots int
}

func (m *master) column(j int, into []float64) (cost float64) {
	clear(into)
	n := m.rows - 1
	switch {
	case j < len(m.cuts):
		into[0] = 1
		copy(into[1:], m.cuts[j].slope)
		return m.corner[j]
	case j < len(m.cuts)+n:
		k := j - len(m.cuts)
		into[1+k] = 1
		return -float64(m.in.high[k] - m.in.low[k])
	}
	into[1+j-len(m.cuts)-n] = -1
	return 0
}

// values is the basic columns' values, duals the prices of the rows.
func (m *master) values() []float64 {
	right := make([]float64, m.rows)
	right[0] = 1
	return m.solve(right, false)
}

func (m *master) duals() []float64 {
	costs, col := make([]float64, m.rows), make([]float64, m.rows)
	for i, j := range m.basis {
		costs[i] = m.column(j, col)
	}
	return m.solve(costs, true)
}

// solve solves B·x = right, or x·B = right, by elimination with pivoting.
func (m *master) solve(right []float64, transposed bool) []float64 {
	n := m.rows
	a := make([][]float64, n)
	col := make([]float64, n)
	for i := range a {
		a[i] = make([]float64, n+1)
		a[i][n] = right[i]
	}
	for j, b := range m.basis {
		m.column(b, col)
		for i, x := range col {
			if transposed {
				a[j][i] = x
			} else {
				a[i][j] = x
			}
		}
	}
	for k := range n {
		p := k
		for i := k + 1; i < n; i++ {
			if math.Abs(a[i][k]) > math.Abs(a[p][k]) {
				p = i
			}
		}
		a[k], a[p] = a[p], a[k]
		if a[k][k] == 0 {
			continue // cannot be: a basis has an inverse
		}
		for i := range n {
			if f := a[i][k] / a[k][k]; i != k && f != 0 {
				for j := k; j <= n; j++ {
					a[i][j] -= f * a[k][j]
				}
			}
		}
	}
	x := make([]float64, n)
	for k := range x {
		if a[k][k] != 0 {
			x[k] = a[k][n] / a[k][k]
		}
	}
	return x
}

// pivot brings in a column that raises the objective; false where none does.
func (m *master) pivot() bool {
	m.pivots++
	y := m.duals()
	basic := make(map[int]bool, m.rows)
	for _, j := range m.basis {
		basic[j] = true
	}
	enter, most := -1, m.noise
	col := make([]float64, m.rows)
	for j := range len(m.cuts) + 2*(m.rows-1) {
		gain := m.column(j, col)
		for i, a := range col {
			gain -= y[i] * a
		}
		if gain > most && !basic[j] {
			if enter = j; m.pivots > plainPivots {
				break
			}
			most = gain
		}
	}
	if enter < 0 {
		return false
	}
	x := m.values()
	m.column(enter, col)
	d := m.solve(col, false)
	leave, step := -1, math.Inf(1)
	for i, a := range d {
		if a > 1e-11 {
			if s := max(0, x[i]) / a; s < step || s == step && m.basis[i] < m.basis[leave] {
				leave, step = i, s
			}
		}
	}
	if leave < 0 {
		return false
	}
	m.basis[leave] = enter
	return true
}
