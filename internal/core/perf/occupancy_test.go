package perf

import (
	"math"
	"math/rand/v2"
	"slices"
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

// VMs become free when the last execution of a class ends before more arrive. An hour in which many classes end has the last
// of these moments.
func TestWhenVMsBecomeFree(t *testing.T) {
	const hour = 3600
	flow := NewArrivals([]Arriving{{From: 0, Until: hour, Jobs: 1}, {From: hour, Until: 2 * hour, Jobs: 2}, {From: 3 * hour, Until: 4 * hour, Jobs: 1}})
	for _, c := range []struct {
		seconds float64
		want    []int64
	}{
		{40, []int64{2*hour + 40, 4*hour + 40}},
		{39.2, []int64{2*hour + 40, 4*hour + 40}}, // rounded up
		{40 + 1e-9, []int64{2*hour + 40, 4*hour + 40}},
		{0, []int64{2 * hour, 4 * hour}},
		{hour, []int64{5 * hour}}, // what arrives next does so as the last one ends
		{5400, []int64{5*hour + 1800}},
	} {
		if got := flow.Ends(c.seconds); !slices.Equal(got, c.want) {
			t.Errorf("%v s: got %v, want %v", c.seconds, got, c.want)
		}
		for _, end := range c.want {
			if after := flow.Running(c.seconds, end, end+1); after != 0 && end != 5*hour && end != 2*hour {
				t.Errorf("%v s: %v run after %d", c.seconds, after, end)
			}
		}
	}
	if got, want := Frees([]int64{10, 7200, 40, 10, 20, 30}), []int64{10, 20, 30, 40, 7200}; !slices.Equal(got, want) {
		t.Errorf("of four in an hour: got %v, want %v", got, want)
	}
	if got, want := Frees([]int64{10, 7200, 40, 10, 20, 30, 3599}), []int64{3599, 7200}; !slices.Equal(got, want) {
		t.Errorf("of five in an hour: got %v, want %v", got, want)
	}
}
