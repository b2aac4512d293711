package words

import (
	"math"
	"math/rand/v2"
	"strconv"
	"testing"

	"headroom/internal/test/plantest"
)

// Amounts in sentences are rounded as strconv does, which is much slower: also those that lie between
// two hundredths, or next to there.
func TestCentsAreRoundedAsTheStandardLibraryDoes(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(3, 1))
	check := func(x float64) {
		want := strconv.FormatFloat(x, 'f', 2, 64)
		if got := twoPlaces(x); got != want {
			t.Fatalf("%b: got %s, want %s", x, got, want)
		}
	}
	for range plantest.Trials(200_000, 20_000_000) {
		halfway := (float64(r.IntN(1<<20)) + 0.5) / 100
		check(halfway)
		check(math.Nextafter(halfway, 0))
		check(math.Nextafter(halfway, 1e9))
		check(float64(r.IntN(1<<12)) / 8)
		check(r.Float64() * math.Pow(10, float64(r.IntN(12))))
		check(math.Ldexp(r.Float64(), -r.IntN(1000)))
	}
}

func BenchmarkCents(b *testing.B) {
	x := 17.1049382716
	for b.Loop() {
		x += float64(len(Cents(x))) / 1e6
	}
}
