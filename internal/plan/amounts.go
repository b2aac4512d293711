package plan

import (
	"math"
	"math/big"
	"math/bits"

	"github.com/shopspring/decimal"

	"headroom/internal/capacity"
)

// amountSum is an exact sum of amounts times counts. Whole billionths times whole counts, which is
// nearly everything, are summed in 128 bits; the rest in decimals.
type amountSum struct {
	high, low uint64 // billionths
	rest      decimal.Decimal
}

// mostCounted bounds a count such that 2^30 products with an int64 fit 128 bits.
const mostCounted = 1 << 32

func (s *amountSum) add(m capacity.Money, count float64) {
	n, exact := m.Billionths()
	if !exact || n < 0 || !(count >= 0 && count <= mostCounted) || count != math.Trunc(count) {
		s.rest = s.rest.Add(m.Mul(decimal.NewFromFloat(count)))
		return
	}
	high, low := bits.Mul64(uint64(n), uint64(count))
	var carry uint64
	s.low, carry = bits.Add64(s.low, low, 0)
	s.high += high + carry
}

func (s *amountSum) value() decimal.Decimal {
	sum := new(big.Int).SetUint64(s.high)
	sum.Lsh(sum, 64).Add(sum, new(big.Int).SetUint64(s.low))
	return decimal.NewFromBigInt(sum, -capacity.MoneyPlaces).Add(s.rest)
}

// keep puts a value into a list and says where it stands there: one allocation for the optional
// figures of all classes rather than one each.
func keep[T any](list *[]T, x T) *T {
	*list = append(*list, x)
	return &(*list)[len(*list)-1]
}

// amount is an optional sum of money.
func amount(list *[]capacity.Money, x float64) *capacity.Money {
	return keep(list, capacity.RoundMoney(x))
}
