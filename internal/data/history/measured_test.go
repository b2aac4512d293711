package history

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// Draws from the tasks of several executions have their mean, and nearly their quantiles.
func TestMeasuredTasks(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 7))
	for _, c := range []struct {
		name   string
		tasks  []int // of each execution
		draw   func() float64
		within float64 // of quantiles, as a part of the mean
	}{
		{"one execution of equal tasks", []int{40}, func() float64 { return 12 }, 1e-9},
		{"one task", []int{1}, func() float64 { return 3.5 }, 1e-9},
		{"two tasks", []int{2}, func() float64 { return 100 * random.Float64() }, math.Inf(1)},
		{"uniform", []int{500, 2000, 50}, func() float64 { return 10 + 20*random.Float64() }, .03},
		{"exponential", []int{3000, 10, 400}, func() float64 { return 30 * random.ExpFloat64() }, .06},
		{"one in a hundred takes fifty times as long", []int{1000, 1000}, func() float64 {
			if random.Float64() < .01 {
				return 500
			}
			return 10 + random.Float64()
		}, .05},
		{"nothing", []int{30}, func() float64 { return 0 }, 0},
	} {
		var records []Record
		var all []float64
		for _, n := range c.tasks {
			var seconds []float64
			for range n {
				seconds = append(seconds, c.draw())
			}
			all = append(all, seconds...)
			records = append(records, Record{Sample: &Sample{Map: durations(seconds)}})
		}
		slices.Sort(all)
		mean := 0.0
		for _, x := range all {
			mean += x / float64(len(all))
		}
		m, n := MeasuredTasks(records, 0)
		got := m.MapSeconds
		if n != int64(len(c.tasks)) || len(got) != drawnFrom || m.ReduceSeconds != nil || !slices.IsSorted(got) {
			t.Fatalf("%s: got %d numbers of %d executions, and reduces %v", c.name, len(got), n, m.ReduceSeconds)
		}
		drawn := (got[0] + got[len(got)-1]) / 2
		for _, x := range got[1 : len(got)-1] {
			drawn += x
		}
		drawn /= float64(len(got) - 1)
		if math.Abs(drawn-mean) > 1e-5*mean {
			t.Errorf("%s: draws have a mean of %g, the tasks of %g", c.name, drawn, mean)
		}
		for _, part := range []int{10, 25, 50, 75, 90} {
			if want := quantile(all, float64(part)/100); math.Abs(got[part]-want) > c.within*mean {
				t.Errorf("%s: %d of 100 draws take up to %g s, of the tasks %g", c.name, part, got[part], want)
			}
		}
		if longest := all[len(all)-1]; got[len(got)-1] > longest*(1+1e-6) && len(all) > 2 {
			t.Errorf("%s: the longest draw takes %g s, the longest task %g", c.name, got[len(got)-1], longest)
		}
	}
	// Only chains with as many stages count, each stage by itself.
	chain := func(stages ...float64) Record {
		c := &Chain{}
		for _, s := range stages {
			c.Phases = append(c.Phases, Phase{Task: durations([]float64{s, s})})
		}
		return Record{Chain: c}
	}
	m, n := MeasuredTasks([]Record{chain(1, 5), chain(3, 7), chain(9), {Sample: &Sample{}}}, 2)
	if n != 2 || len(m.StageSeconds) != 2 || m.StageSeconds[0][0] != 1 || m.StageSeconds[0][100] != 3 || m.StageSeconds[1][50] != 6 {
		t.Errorf("got %d executions and %v", n, m.StageSeconds)
	}
	if m, n := MeasuredTasks([]Record{{Sample: &Sample{Map: Durations{Count: 3, Mean: 2, Max: 3}}}}, 0); n != 1 || m.MapSeconds != nil {
		t.Errorf("without quantiles: got %d executions and %v", n, m)
	}
}
