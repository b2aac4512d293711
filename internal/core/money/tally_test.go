package money_test

import (
	"math/rand/v2"
	"testing"

	"github.com/shopspring/decimal"

	"example.org/headroom/internal/core/money"
	"example.org/headroom/internal/test/plantest"
)

// Sums of amounts are exact whatever their size, and whatever is counted.
func TestAmountsAddUpExactly(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(8, 1))
	for range plantest.Trials(2000, 100_000) {
		var sum money.Tally
		want := decimal.Zero
		for range r.IntN(20) {
			m := money.Amount{Decimal: decimal.New(r.Int64N(1_000_000), -int32(r.IntN(12)))}
			count := float64(r.IntN(1000))
			switch r.IntN(8) {
			case 0:
				m.Decimal = decimal.New(9e18+r.Int64N(1e17), int32(r.IntN(20))-12)
			case 1:
				m.Decimal = m.Neg()
			case 2:
				m.Decimal = decimal.New(1e9, 0)
			}
			switch r.IntN(10) {
			case 8:
				count = float64(r.IntN(1e9)) / []float64{10, 1000, 1e6, 1e7, 3}[r.IntN(5)]
			case 0:
				count /= 8
			case 1:
				count = -count
			case 2:
				count = 1 << 32 * []float64{1, 1, 2, 1e6}[r.IntN(4)]
			}
			sum.Add(m, count)
			want = want.Add(m.Mul(decimal.NewFromFloat(count)))
		}
		if got := sum.Value(); !got.Equal(want) {
			t.Fatalf("got %s, want %s", got, want)
		}
	}
}
