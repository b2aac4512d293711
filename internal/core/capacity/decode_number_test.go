package capacity

import (
	"math"
	"math/big"
	"math/rand/v2"
	"os"
	"strconv"
	"testing"

	"example.org/headroom/internal/core/strict"
)

// many returns a count of drawn cases, the larger with HEADROOM_LONG=1.
func many(few, lots int) int {
	if os.Getenv("HEADROOM_LONG") == "1" {
		return lots
	}
	return few
}

// Numbers are the floats that strconv reads, whichever of the ways to them is taken: also those that
// lie next to the middle between two floats.
func TestNumbersAreReadAsTheStandardLibraryDoes(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 9))
	samples := many(80_000, 20_000_000)
	var ways [3]int
	check := func(text string) {
		want, err := strconv.ParseFloat(text, 64)
		if err != nil {
			return
		}
		var n strict.Numeral
		if fault := n.Parse([]byte(text)); fault != "" || string(n.Text) != text {
			t.Fatalf("%s is said to be no number: %s", text, fault)
		}
		if got := n.Float(); got != want {
			t.Fatalf("%s: got %b, want %b", text, got, want)
		}
		short, long := false, false
		if n.Exact {
			_, short = strict.ShortFloat(int64(n.Digits), n.Exponent)
			_, long = strict.LongFloat(int64(n.Digits), n.Exponent)
		}
		switch {
		case short:
			ways[0]++
		case long:
			ways[1]++
		default:
			ways[2]++
		}
	}
	for range samples {
		x := r.Float64() * math.Pow(10, float64(r.IntN(8)-1))
		check(strconv.FormatFloat(x, 'g', -1, 64))
		check(strconv.FormatFloat(x, 'f', r.IntN(20), 64))
		check(strconv.FormatInt(r.Int64(), 10) + "e" + strconv.Itoa(r.IntN(60)-40))
		middle := new(big.Float).SetPrec(200).SetFloat64(x)
		middle.Add(middle, new(big.Float).SetFloat64(math.Nextafter(x, math.Inf(1))))
		check(middle.Quo(middle, big.NewFloat(2)).Text('g', 15+r.IntN(4)))
		ties := (r.Int64N(1<<54) + 1<<53) | 1 // between two floats exactly
		check(strconv.FormatInt(ties, 10) + "0e-1")
		check(new(big.Float).Quo(new(big.Float).SetInt64(ties), big.NewFloat(1024)).Text('f', -1))
	}
	for way, count := range ways {
		if count < samples/10 {
			t.Errorf("%d numbers were read the way %d; want more", count, way)
		}
	}
}
