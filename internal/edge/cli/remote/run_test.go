package remote

import (
	"testing"
)

func TestRestOfARun(t *testing.T) {
	t.Parallel()
	for seconds, want := range map[float64]string{0: "ending", 0.9: "ending", 1: "about 1s more", 61.7: "about 1m1s more"} {
		if got := rest(seconds); got != want {
			t.Errorf("%v s: got %q, want %q", seconds, got, want)
		}
	}
}
