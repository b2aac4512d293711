// Package tree looks for whole solutions of small programs by branch and bound: depth first, from one basis to the next. It
// is quick where a solver process takes longer to be asked than to answer, and the same program always gets the same
// answer. It proves nothing: whoever asks checks what it finds.
package tree

import (
	"math"

	"example.org/headroom/internal/core/lp"
)

// Tree is a search for solutions of one program.
type Tree struct {
	*simplex
	limit float64 // what solutions must cost less than
	left  int     // work
	ended func() bool
	take  func(x []float64) float64
	x     []float64
}

// New prepares a search; false where the program has no end.
func New(p *lp.Program) (*Tree, bool) {
	s, ok := newSimplex(p)
	return &Tree{simplex: s, x: make([]float64, p.Columns())}, ok
}

// Work returns what has been done so far, in units of about ten nanoseconds.
func (t *Tree) Work() int { return t.work }

// Improve looks for solutions that cost less than a limit, until its work is done, and says whether it has looked
// everywhere. It hands every one to take, which answers the limit from then on.
func (t *Tree) Improve(limit float64, work int, ended func() bool, take func(x []float64) float64) (all bool) {
	t.limit, t.left, t.ended, t.take = limit, t.work+work, ended, take
	return t.visit()
}

// visit searches within the bounds as they are.
func (t *Tree) visit() (all bool) {
	if t.work > t.left || t.ended() {
		return false
	}
	switch t.solve(t.limit) {
	case beyond:
		return true
	case failed:
		return false
	}
	if t.total() >= t.limit {
		return true
	}
	t.read()
	column, x := t.divided()
	t.limit = min(t.limit, t.take(t.x))
	if column < 0 || t.total() >= t.limit {
		return true
	}
	low, high, below := t.lower[column], t.upper[column], math.Floor(x)
	all = true
	up := x-below > 0.5
	for range 2 {
		if up {
			t.lower[column], t.upper[column] = below+1, high
		} else {
			t.lower[column], t.upper[column] = low, below
		}
		all = t.visit() && all
		if t.work > t.left {
			all = false
			break
		}
		up = !up
	}
	t.lower[column], t.upper[column] = low, high
	return all
}

// Dive follows one way down: it bounds one column after the other on the side that it draws, the nearer one more often, and
// turns round once where that leads nowhere. The bounds are as before in the end.
func (t *Tree) Dive(limit float64, greedy bool, draw func() float64, ended func() bool, take func(x []float64) float64) {
	t.limit, t.take = limit, take
	n := len(t.x)
	lower, upper := append([]float64(nil), t.lower[:n]...), append([]float64(nil), t.upper[:n]...)
	defer func() {
		copy(t.lower, lower)
		copy(t.upper, upper)
	}()
	column, low, high, turned := -1, 0.0, 0.0, false
	for !ended() {
		switch t.solve(t.limit) {
		case failed:
			return
		case beyond:
			if column < 0 || turned {
				return
			}
			turned = true
			if t.lower[column] > low {
				t.lower[column], t.upper[column] = low, t.lower[column]-1
			} else {
				t.lower[column], t.upper[column] = t.upper[column]+1, high
			}
			continue
		}
		turned = false
		t.read()
		t.limit = min(t.limit, t.take(t.x))
		var x float64
		if column, x = t.drawn(greedy, draw); column < 0 {
			return
		}
		low, high = t.lower[column], t.upper[column]
		below := math.Floor(x)
		up := x-below > draw()
		if greedy {
			up = t.cost[column] < 0
		}
		if up {
			t.lower[column] = below + 1
		} else {
			t.upper[column] = below
		}
	}
}

// drawn is divided, with luck.
func (t *Tree) drawn(greedy bool, draw func() float64) (column int, value float64) {
	return t.heaviest(func(far, cost float64) float64 {
		if greedy {
			far = 1
		}
		return far * cost * (0.25 + draw())
	})
}

// read reads the values of the columns.
func (t *Tree) read() {
	for j := range t.x {
		if !t.basic[j] {
			t.x[j] = t.at(j)
		}
	}
	for k, j := range t.head {
		if j < len(t.x) {
			t.x[j] = t.value[k]
		}
	}
}

// whole is the distance from a whole number that counts as none.
const whole = 1e-6

// divided returns the column to branch at, the dearest of those that are not whole; -1 where all are.
func (t *Tree) divided() (column int, value float64) {
	return t.heaviest(func(far, cost float64) float64 { return far * cost })
}

// heaviest returns the column with the most weight of those that are not whole, by how far it is from that and what it costs.
func (t *Tree) heaviest(weigh func(far, cost float64) float64) (column int, value float64) {
	column = -1
	most := 0.0
	for k, j := range t.head {
		if j >= len(t.x) || !t.p.Whole[j] {
			continue
		}
		v := t.value[k]
		far := math.Abs(v - math.Round(v))
		if far <= whole {
			continue
		}
		if weight := weigh(far, math.Abs(t.cost[j])+tiny); weight > most {
			column, value, most = j, v, weight
		}
	}
	return column, value
}
