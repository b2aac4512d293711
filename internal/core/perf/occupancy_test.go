package perf

import (
	"math"
	"math/rand/v2"
	"testing"
)

// A job that arrives at 22:30 and runs for four hours touches five hours.
func TestRunningCountsFractionsOfHours(t *testing.T) {
	a := NewArrivals([]Arriving{{22*3600 + 1800, 22*3600 + 1801, 1}})
	for i, want := range []float64{0, 0.5, 1, 1, 1, 0.5, 0} {
		from := int64(21+i) * 3600
		if got := a.Running(4*3600, from, from+3600); math.Abs(got-want) > 2e-4 {
			t.Errorf("hour %d: got %v, want %v", 21+i, got, want)
		}
	}
	even := NewArrivals([]Arriving{{22 * 3600, 23 * 3600, 20}})
	for i, want := range []float64{0, 10, 20, 20, 20, 10, 0} {
		from := int64(21+i) * 3600
		if got := even.Running(4*3600, from, from+3600); got != want {
			t.Errorf("20 jobs over an hour, hour %d: got %v, want %v", 21+i, got, want)
		}
	}
}

// Running agrees with a sum over single executions, and no second of them is lost.
func TestRunningIsTheSumOverExecutions(t *testing.T) {
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(27, seed))
		seconds := math.Round(math.Exp(r.Float64()*math.Log(72_000/10))) * 10
		var spans []Arriving
		at := int64(r.IntN(5000))
		for range 1 + r.IntN(6) {
			at += int64(r.IntN(2) * r.IntN(9000))
			length := int64(1 + r.IntN(20_000))
			spans = append(spans, Arriving{at, at + length, float64(r.IntN(50))})
			at += length
		}
		a := NewArrivals(spans)
		work := 0.0
		for from := int64(0); float64(from) < float64(at)+seconds; {
			until := from + int64(1+r.IntN(7200))
			got, want := a.Running(seconds, from, until), 0.0
			const parts = 400
			for _, s := range spans {
				for i := range parts {
					u := float64(s.From) + (float64(i)+0.5)/parts*float64(s.Until-s.From)
					want += s.Jobs / parts * max(0, min(u+seconds, float64(until))-max(u, float64(from)))
				}
			}
			want /= float64(until - from)
			if math.Abs(got-want) > 0.02*(a.Jobs()+1) {
				t.Fatalf("seed %d, [%d, %d) at %v s: got %v, want %v of %v", seed, from, until, seconds, got, want, spans)
			}
			work += got * float64(until-from)
			from = until
		}
		if want := a.Jobs() * seconds; math.Abs(work-want) > 1e-9*want {
			t.Fatalf("seed %d: %v seconds run, %v arrived", seed, work, want)
		}
	}
}
