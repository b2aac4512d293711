package main

import (
	"math"
	"strings"
	"testing"
	"time"

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

func TestTheTableOfFleetsIsWritten(t *testing.T) {
	none := math.Inf(1)
	mine := []fleetAnswer{{0, 0.001, 80 * time.Millisecond}, {0, 0.002, 90 * time.Millisecond}, {0.02, 0.003, 100 * time.Millisecond}}
	theirs := []fleetAnswer{{1e-7, math.NaN(), time.Second}, {none, math.NaN(), time.Second}, {0.01, 0.001, time.Second}}
	round := map[string][]fleetAnswer{"headroom": mine, "other": theirs}
	table := fleetTable{fleets: 3, solvers: []string{"headroom", "other"}, answers: []map[string][]fleetAnswer{round, round}}
	want := `
| headroom | 250ms | 0.0000 % / 2.0000 % | 2 | 0.2000 % | 90 |
| other | 250ms | 1.0000 % / none | 2 | none | 1000 |
| headroom | 1s |`
	if got := table.text(); !strings.Contains(got, want) {
		t.Errorf("got\n%s\nwant in it\n%s", got, want)
	}
}
