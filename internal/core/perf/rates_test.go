package perf

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestRates(t *testing.T) {
	types := []NodeType{{"n1", 4, 2}, {"n2", 1, 4}, {"gpu", 20, 1}}
	var none *Rates
	want := []TypeRate{{"n1", 4, 8, 0, true}, {"n2", 1, 4, 0, true}, {"gpu", 20, 20, 0, true}}
	if diff := cmp.Diff(want, none.Of(types)); diff != "" {
		t.Errorf("nothing measured: %s", diff)
	}
	var r Rates
	if got := r.Calibrating(types); !slices.Equal(got, []string{"n1", "n2", "gpu"}) {
		t.Errorf("calibrating %v", got)
	}
	// The job of the paper's example runs three times as fast on n1.
	r.Add("n1", 2)
	r.Add("n2", 5)
	r.Add("n2", 7)
	for _, no := range []float64{0, -1, math.NaN(), math.Inf(1), 1e300} {
		if r.Add("n2", no) || r.Add("other", no) {
			t.Errorf("%g s was counted", no)
		}
	}
	want = []TypeRate{{"n1", 3, 6, 1, false}, {"n2", 1, 4, 2, false}, {"gpu", 20, 20, 0, true}}
	if diff := cmp.Diff(want, r.Of(types)); diff != "" {
		t.Error(diff)
	}
	if got := r.Calibrating(types); !slices.Equal(got, []string{"gpu"}) {
		t.Errorf("calibrating %v", got)
	}
	// The slowest measured type is n1: its compute units are the reference.
	r = Rates{}
	r.Add("n1", 10)
	want = []TypeRate{{"n1", 1, 2, 1, false}, {"n2", 0.25, 1, 0, true}, {"gpu", 5, 5, 0, true}}
	if diff := cmp.Diff(want, r.Of(types)); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]TypeRate{{"a", 1, 3, 0, true}}, none.Of([]NodeType{{"a", 0, 3}})); diff != "" {
		t.Error(diff)
	}
}

// Ratios are those of the means, in any order of samples, and survive the end of a process.
func TestRatesAreRatiosOfMeans(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 27))
	kinds := []string{"a", "b", "c"}
	var rates Rates
	total, count := map[string]float64{}, map[string]float64{}
	for range 5000 {
		k := kinds[r.IntN(3)]
		s := math.Exp(8 * r.Float64())
		rates.Add(k, s)
		total[k], count[k] = total[k]+s, count[k]+1
	}
	text, err := json.Marshal(rates)
	if err != nil {
		t.Fatal(err)
	}
	rates = Rates{}
	if err := json.Unmarshal(text, &rates); err != nil {
		t.Fatal(err)
	}
	lowest := math.Inf(1)
	for _, k := range kinds {
		for _, other := range kinds {
			x, _ := rates.Rate(k)
			y, measured := rates.Rate(other)
			within(t, "ratio", x/y, (total[other]/count[other])/(total[k]/count[k]), 1e-9)
			if lowest = min(lowest, x); !measured {
				t.Errorf("%s is not measured", other)
			}
		}
	}
	if lowest != 1 {
		t.Errorf("the slowest type has the rate %g", lowest)
	}
	if _, measured := rates.Rate("d"); measured {
		t.Error("d was measured")
	}
}
