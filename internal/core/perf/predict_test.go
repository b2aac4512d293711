package perf

import (
	"math"
	"math/rand/v2"
	"testing"
)

// drawSlots draws slots of nodes with all kinds of loads, some given to other jobs.
func drawSlots(r *rand.Rand, limit int) (slots Slots) {
	for range 1 + r.IntN(limit) {
		switch r.IntN(4) {
		case 0:
			slots = append(slots, 1)
		case 1:
			slots = append(slots, 0)
		default:
			slots = append(slots, r.Float64())
		}
	}
	return append(slots, 0.5)
}

// greedy runs tasks one after the other, each on the slot that ends it first, and returns their ends.
func greedy(m TaskTime, slots Slots, tasks int) (ends []float64) {
	free := make([]float64, len(slots))
	for range tasks {
		best, end := -1, math.Inf(1)
		for i, s := range slots {
			if s > 0 && free[i]+m.Seconds(s) < end {
				best, end = i, free[i]+m.Seconds(s)
			}
		}
		free[best] = end
		ends = append(ends, end)
	}
	return ends
}

// Predictions equal a simulation of the slots: the last end of tasks that go to the slot that ends them first, and
// the number of ends up to a moment.
func TestPredictionsAreWhatHappens(t *testing.T) {
	r := rand.New(rand.NewPCG(8, 28))
	for range 300 {
		m := drawTaskTime(r)
		slots := drawSlots(r, 12)
		tasks := 1 + r.IntN(60)
		ends := greedy(m, slots, tasks)
		c, some := CompletionOf(&m, slots, int64(tasks))
		if !some {
			t.Fatal("no slot")
		}
		last := ends[0]
		for _, e := range ends {
			last = max(last, e)
		}
		within(t, "whole tasks", c.DiscreteSeconds, last, 1e-9)
		if c.FluidSeconds > c.DiscreteSeconds || c.FluidSeconds > c.CautiousSeconds {
			t.Errorf("%+v: cut tasks take longest", c)
		}

		// Fluid is the inverse of completable; at the moment of the last end all tasks are completable.
		real, _ := Completable(&m, slots, c.FluidSeconds)
		within(t, "completable until the fluid time", real, float64(tasks), 1e-9)
		if !OnTrack(real, float64(tasks)) || OnTrack(real, float64(tasks)*1.000001) {
			t.Errorf("%g tasks are completable, and on track is %v", real, OnTrack(real, float64(tasks)))
		}
		if _, whole := Completable(&m, slots, last); whole < int64(tasks) {
			t.Errorf("%d tasks are completable until %g s, want %d at least", whole, last, tasks)
		}
		if _, whole := Completable(&m, slots, last*(1-1e-6)); whole >= int64(tasks) {
			t.Errorf("%d tasks are completable before the last ends", whole)
		}

		// Equation 6, as it is written: n tasks on slots that take the mean of their times.
		sum, n := 0.0, 0.0
		for _, s := range slots {
			if s > 0 {
				sum, n = sum+m.Seconds(s), n+1
			}
		}
		within(t, "eq. 6", c.CautiousSeconds, float64(tasks)/n*(sum/n), 1e-9)
	}
}

func TestPredictionsAtTheirEnds(t *testing.T) {
	m := TaskTime{A: 60}
	c, some := CompletionOf(&m, Slots{1, 1, 1, 1}, 10)
	if want := (Completion{150, 180, 150}); !some || c != want {
		t.Errorf("got %+v, want %+v", c, want)
	}
	if c, some := CompletionOf(&m, Slots{1}, 0); !some || c != (Completion{}) {
		t.Errorf("no tasks: %+v", c)
	}
	for _, slots := range []Slots{nil, {0, 0}} {
		if _, some := CompletionOf(&m, slots, 3); some {
			t.Errorf("%v completes tasks", slots)
		}
	}
	if c, _ := CompletionOf(&m, Slots{1, 0.5}, 1_000_000_000); c.DiscreteSeconds != 3e10 {
		t.Errorf("many: %+v", c)
	}
	for _, seconds := range []float64{0, -5, math.NaN()} {
		if real, whole := Completable(&m, Slots{1}, seconds); real != 0 || whole != 0 {
			t.Errorf("%g s: %g", seconds, real)
		}
	}
	if real, whole := Completable(&m, Slots{0, 1, 0.2}, 90); real != 3 || whole != 2 {
		t.Errorf("got %g and %d", real, whole)
	}
	if u := (Slots{0, 0.04, 0.05, 1}).Usable(DefaultLeastUsable); len(u) != 2 || u[0] != 0.05 {
		t.Errorf("usable %v", u)
	}
}

// A fast slot and slow ones: the orders of the predictions for the cases that the paper mixes up.
func TestPredictionsOfUnequalSlots(t *testing.T) {
	m := TaskTime{A: 1000, B: -5, MinResidual: 0.1}
	slots := Slots{1, 0.1, 0.1, 0.1}
	c, _ := CompletionOf(&m, slots, 40)
	if !(c.CautiousSeconds > 5*c.FluidSeconds) || !(c.DiscreteSeconds < c.CautiousSeconds) {
		t.Errorf("got %+v", c)
	}
}
