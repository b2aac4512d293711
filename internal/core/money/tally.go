package money

import (
	"math"
	"math/big"
	"math/bits"

	"github.com/shopspring/decimal"
)

// Tally holds an exact sum of amounts times counts. Whole billionths times whole counts, or times
// millionths, which is nearly everything, are summed in 128 bits each; the rest in decimals.
type Tally struct {
	whole, parts wideSum // of billionths, and of their millionths
	rest         decimal.Decimal
}

// wideSum is a sum of products in 128 bits.
type wideSum struct{ high, low uint64 }

func (s *wideSum) add(x, y int64) {
	high, low := bits.Mul64(uint64(x), uint64(y))
	var carry uint64
	s.low, carry = bits.Add64(s.low, low, 0)
	s.high += high + carry
}

func (s *wideSum) value(places int32) decimal.Decimal {
	sum := new(big.Int).SetUint64(s.high)
	sum.Lsh(sum, 64).Add(sum, new(big.Int).SetUint64(s.low))
	return decimal.NewFromBigInt(sum, -places)
}

// mostCounted bounds a count such that 2^30 products with an int64 fit 128 bits.
const (
	mostCounted    = 1 << 32
	mostMillionths = 1e13
)

// Add adds an amount times a count.
func (s *Tally) Add(m Amount, count float64) {
	n, exact := m.Billionths()
	if exact = exact && n >= 0 && count >= 0 && count <= mostCounted; exact && count == math.Trunc(count) {
		s.whole.add(n, int64(count))
		return
	}
	// A float64 nearest to a decimal of at most 15 digits is nearest to no shorter one. Decimals take the count
	// for the same number, therefore. Two million such products fit 128 bits.
	if millionths := math.Round(count * 1e6); exact && millionths < mostMillionths && millionths/1e6 == count {
		s.parts.add(n, int64(millionths))
		return
	}
	s.rest = s.rest.Add(m.Mul(decimal.NewFromFloat(count)))
}

// Value returns the sum, not rounded.
func (s *Tally) Value() decimal.Decimal {
	sum := s.whole.value(Places)
	if s.parts != (wideSum{}) {
		sum = sum.Add(s.parts.value(Places + 6))
	}
	if !s.rest.IsZero() {
		sum = sum.Add(s.rest)
	}
	return sum
}
