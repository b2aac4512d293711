package study

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// A drawn cluster takes about as many VMs as were asked for, and comes out alike from a seed.
func TestClustersAreAsLargeAsAsked(t *testing.T) {
	for _, mean := range []float64{400, 50, 10} {
		sum := 0.0
		const seeds = 20
		for seed := range uint64(seeds) {
			c := DrawCluster(seed, 168, 50, mean, 12)
			if again := DrawCluster(seed, 168, 50, mean, 12); cmp.Diff(c, again) != "" {
				t.Fatalf("seed %d gives two clusters", seed)
			}
			if len(c.Prices) != 180 || len(c.Classes) != 50 || len(c.Classes[0].Arrivals) != 168 {
				t.Fatalf("seed %d has %d prices, %d classes and %d hours of arrivals", seed, len(c.Prices), len(c.Classes), len(c.Classes[0].Arrivals))
			}
			for k, a := range c.Classes {
				if (a.Due > 0) != (k%2 == 0) || a.Demand.FixedSeconds >= a.Deadline {
					t.Errorf("seed %d, class %d: due %g, fixed %g of %g s", seed, k, a.Due, a.Demand.FixedSeconds, a.Deadline)
				}
				root := math.Sqrt(a.Demand.MapWorkSeconds/float64(a.Slots.Map)) + math.Sqrt(a.Demand.ReduceWorkSeconds/float64(a.Slots.Reduce))
				vms := root * root / (a.Deadline - a.Demand.FixedSeconds)
				for _, n := range a.Arrivals {
					sum += float64(n) * vms * a.Deadline / 3600 / 168
				}
			}
		}
		if sum /= seeds; sum < 0.6*mean || sum > 1.2*mean {
			t.Errorf("clusters of %g VMs take %g on average", mean, sum)
		}
	}
}
