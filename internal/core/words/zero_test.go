package words_test

import (
	"math"
	"testing"

	"example.org/headroom/internal/core/words"
)

func TestSentencesHaveNoMinusZero(t *testing.T) {
	t.Parallel()
	for _, x := range []float64{math.Copysign(0, -1), -0.0001} {
		if got := words.Number(x); got != "0" {
			t.Errorf("%g: got %s, want 0", x, got)
		}
	}
}
