package report

import (
	"math"
	"testing"
)

func TestTablesHaveNoMinusZero(t *testing.T) {
	t.Parallel()
	zero := math.Copysign(0, -1)
	for _, got := range []string{number(zero).Text, rounded(zero, 2), rounded(-0.001, 2)} {
		if got != "0" {
			t.Errorf("got %s, want 0", got)
		}
	}
}
