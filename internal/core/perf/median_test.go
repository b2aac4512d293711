package perf

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

func TestMedian(t *testing.T) {
	for _, c := range []struct {
		of   []float64
		want float64
	}{{[]float64{3}, 3}, {[]float64{1, 4}, 2.5}, {[]float64{1, 2, 9}, 2}, {[]float64{1, 2, 5, 9}, 3.5}} {
		if got := Median(c.of); got != c.want {
			t.Errorf("got %g, want %g", got, c.want)
		}
	}
	if got := Median([]time.Duration{time.Second, 2 * time.Second}); got != 1500*time.Millisecond {
		t.Errorf("got %s", got)
	}
}

// The median is where the sum of distances is least, in the middle of all such places.
func TestMedianIsNearestToAll(t *testing.T) {
	r := rand.New(rand.NewPCG(27, 2))
	for range 1000 {
		x := make([]float64, 1+r.IntN(12))
		for i := range x {
			x[i] = float64(r.IntN(30))
		}
		distance := func(to float64) (sum float64) {
			for _, v := range x {
				sum += math.Abs(v - to)
			}
			return sum
		}
		slices.Sort(x)
		least := math.Inf(1)
		var places []float64
		for at := 0.0; at <= 30; at += 0.5 {
			if d := distance(at); d < least {
				least, places = d, nil
			}
			if distance(at) == least {
				places = append(places, at)
			}
		}
		if want := (places[0] + places[len(places)-1]) / 2; Median(x) != want {
			t.Fatalf("of %v: got %g, want %g", x, Median(x), want)
		}
	}
}
