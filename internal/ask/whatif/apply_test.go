package whatif

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/shopspring/decimal"

	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/money"
	"example.org/headroom/internal/core/strict"
)

// TestChangedPartsAreCheckedAsTheWhole changes what scenarios may change, sensibly and not: what is found in
// the changed parts must be what is found in the whole.
func TestChangedPartsAreCheckedAsTheWhole(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 14))
	faults := 0
	for n := range 20_000 {
		before := laidOver(t)
		if n%2 == 1 {
			before = withTypes(t)
		}
		p := before
		p.Classes = slices.Clone(p.Classes)
		number := func() float64 {
			return []float64{-1, 0, 0.5, 3, 1e5, 1e8, 1e12, math.NaN(), math.Inf(1)}[r.IntN(9)]
		}
		money := func() money.Amount { return money.Amount{Decimal: decimal.New(r.Int64N(40)-4, int32(r.IntN(14)-11))} }
		for range r.IntN(3) {
			c := &p.Classes[r.IntN(len(p.Classes))]
			switch r.IntN(5) {
			case 0:
				c.DeadlineSeconds = number()
			case 1:
				c.Jobs.Min = number()
			case 2:
				c.Jobs.Max = number()
			case 3:
				c.Penalty = money()
			}
		}
		o := &p.Supply.OnDemand
		if len(p.Supply.VMTypes) > 0 {
			p.Supply.VMTypes = slices.Clone(p.Supply.VMTypes)
			o = &p.Supply.VMTypes[r.IntN(len(p.Supply.VMTypes))].OnDemand
		}
		switch r.IntN(6) {
		case 0:
			o.Price = money()
		case 1:
			quota := r.Int64N(5) - 2
			o.Quota = &quota
		case 2:
			total := money()
			p.Budget = &capacity.Budget{Total: &total}
		}
		var whole, changed strict.Checker
		p.Check(&whole)
		p.CheckChanged(&changed, &before)
		if len(whole.Findings) > 0 {
			faults++
		}
		if diff := cmp.Diff(whole.Findings, changed.Findings, cmp.Comparer(func(a, b float64) bool { return a == b || a != a && b != b })); diff != "" {
			t.Fatalf("sample %d: %s", n, diff)
		}
	}
	if faults < 2000 {
		t.Errorf("only %d problems had a fault", faults)
	}
}

// TestFactorsMultiplyAsDecimals holds the fast product against that of decimals.
func TestFactorsMultiplyAsDecimals(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 71))
	numbers := []float64{0, 1, 0.1, 1e7, 5e-324, math.MaxFloat64, 1 << 53, 1<<53 + 2, 0.30000000000000004, 9007199254740993}
	factors := []float64{0, 1, 0.5, 1.1, 1000, 1e-9, 0.8, 1.25, 0.30000000000000004, 999.9999999999999}
	for n := range 200_000 {
		x, f := r.Float64()*1e4, math.Round(r.Float64()*2000)/1000
		switch {
		case n < len(numbers)*len(factors):
			x, f = numbers[n/len(factors)], factors[n%len(factors)]
		case n%3 == 0:
			x = math.Float64frombits(r.Uint64() >> 1)
		case n%3 == 1:
			f = r.Float64()
		}
		if math.IsNaN(x) || math.IsInf(x, 0) {
			continue
		}
		factor := decimal.NewFromFloat(f)
		want := money.Amount{Decimal: decimal.NewFromFloat(x).Mul(factor)}.InexactFloat64()
		got, ok := timesShort(x, factor)
		if !ok && !math.IsInf(want, 0) {
			t.Fatalf("%v times %v took the long way", x, f)
		}
		if ok && got != want {
			t.Fatalf("%v times %v is %v, want %v", x, f, got, want)
		}
	}
}
