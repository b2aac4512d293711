package recheck

import (
	"math"
	"testing"
)

// The printed table of Student's distribution, two-sided 95 %.
func TestStudentsDistributionIsThePrintedOne(t *testing.T) {
	for freedom, want := range map[int]float64{1: 12.706, 2: 4.303, 3: 3.182, 4: 2.776, 5: 2.571, 10: 2.228, 29: 2.045, 30: 2.042, 120: 1.980} {
		if got := studentT(freedom); math.Abs(got-want) > 0.0006 {
			t.Errorf("%d degrees of freedom: got %.4f, want %.3f", freedom, got, want)
		}
	}
}
