package main

import (
	"math"
	"testing"

	"example.org/headroom/internal/core/lp"
)

// A solver's plan counts only if it fits once its numbers are whole.
func TestPlansOfFleetsAreChecked(t *testing.T) {
	var p lp.Program
	load := p.Row(math.Inf(-1), 0)
	p.Column(5, 0, math.Inf(1), true, lp.Entry{Row: load, Coefficient: -1})
	p.Column(-7, 0, 3, true, lp.Entry{Row: load, Coefficient: 1.5})
	for _, c := range []struct {
		x    []float64
		want float64
	}{
		{[]float64{3, 2}, 1},
		{[]float64{2.9999999, 2}, 1},
		{[]float64{2, 2}, math.Inf(1)},
		{[]float64{9, 4}, math.Inf(1)},
		{[]float64{2.4, 1.6}, math.Inf(1)},
		{nil, math.Inf(1)},
	} {
		if got := planned(&p, c.x); got != c.want {
			t.Errorf("%v costs %g, want %g", c.x, got, c.want)
		}
	}
}
