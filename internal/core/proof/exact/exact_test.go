package exact

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/shopspring/decimal"
)

// drawn returns a number and the same as a fraction: small and huge ones, decimals and fractions, near the ends of words.
func drawn(r *rand.Rand) (*Rat, *big.Rat) {
	digits := func() *big.Int {
		n := new(big.Int).SetUint64(r.Uint64())
		for range r.IntN(4) {
			n.Lsh(n, 64).Or(n, new(big.Int).SetUint64(r.Uint64()))
		}
		n.Rsh(n, uint(r.IntN(n.BitLen()+1)))
		if r.IntN(4) == 0 { // all ones, or a one and zeros
			n.Lsh(big.NewInt(1), uint(r.IntN(260))).Sub(n, big.NewInt(r.Int64N(2)))
		}
		if r.IntN(2) == 0 {
			n.Neg(n)
		}
		return n
	}
	switch r.IntN(6) {
	case 0:
		n := r.Int64N(9) - 4
		return New(n, 1), big.NewRat(n, 1)
	case 1:
		a, b := int64(r.Uint64()>>r.IntN(64)), int64(1+r.Uint64()>>(1+r.IntN(63)))
		b = max(1, b)
		return New(a, b), big.NewRat(a, b)
	case 2:
		d := decimal.NewFromBigInt(digits(), int32(r.IntN(160)-130))
		return Decimal(d), d.Rat()
	case 3:
		f := math.Float64frombits(r.Uint64())
		for math.IsNaN(f) || math.IsInf(f, 0) || math.Abs(f) > 1e60 || math.Abs(f) < 1e-60 {
			f = math.Float64frombits(r.Uint64())
		}
		if r.IntN(2) == 0 {
			f = math.Round(f*100) / 100
		}
		d := decimal.NewFromFloat(f)
		return Shortest(f), d.Rat()
	case 4:
		n, places := digits(), uint8(r.IntN(40))
		d := decimal.NewFromBigInt(n, -int32(places))
		return Scaled(n, places), d.Rat()
	}
	x := new(big.Rat).SetFrac(digits(), new(big.Int).Add(new(big.Int).Abs(digits()), big.NewInt(1)))
	return Of(x), x
}

// TestLikeFractions does the same with these numbers and with those of math/big, in chains, so that scales mix.
func TestLikeFractions(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	small, large := 0, 0
	for range 20_000 {
		x, wantX := drawn(r)
		for range 1 + r.IntN(6) {
			y, wantY := drawn(r)
			if r.IntN(8) == 0 {
				y, wantY = x, wantX
			}
			z, want := new(Rat), new(big.Rat)
			switch op := r.IntN(6); {
			case op == 0:
				z.Add(x, y)
				want.Add(wantX, wantY)
			case op == 1:
				z.Sub(x, y)
				want.Sub(wantX, wantY)
			case op == 2:
				z.Mul(x, y)
				want.Mul(wantX, wantY)
			case op == 3 && wantY.Sign() != 0:
				z.Quo(x, y)
				want.Quo(wantX, wantY)
			case op == 4:
				places, up := uint8(r.IntN(40)), r.IntN(2) == 0
				z.Round(x, places, up)
				grid := new(big.Rat).SetInt(new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(places)), nil))
				scaled := new(big.Rat).Mul(wantX, grid)
				n := new(big.Int).Div(scaled.Num(), scaled.Denom())
				if up {
					n.Neg(n.Div(n.Neg(scaled.Num()), scaled.Denom()))
				}
				want.Quo(want.SetInt(n), grid)
			default: // in place
				z.Set(x)
				z.Add(z, y)
				z.Sub(y, z)
				want.Neg(wantX)
			}
			same(t, z, want)
			if places := uint8(r.IntN(40)); Scaled(z.Units(places, true), places).Cmp(new(Rat).Round(z, places, true)) != 0 {
				t.Fatalf("%v is %v in units of %d places", want, z.Units(places, true), places)
			}
			if got, want := x.Cmp(y), wantX.Cmp(wantY); got != want {
				t.Fatalf("%v and %v compare as %d, not %d", wantX, wantY, got, want)
			}
			if x, wantX = z, want; x.large == nil {
				small++
			} else {
				large++
			}
		}
	}
	if small < 10_000 || large < 10_000 {
		t.Errorf("%d numbers fit and %d are fractions: both must be many", small, large)
	}
}

// same compares everything that a number says.
func same(t *testing.T, x *Rat, want *big.Rat) {
	t.Helper()
	if x.Rat().Cmp(want) != 0 || x.String() != want.RatString() {
		t.Fatalf("got %v, want %v", x, want)
	}
	if x.Sign() != want.Sign() || x.IsInt() != want.IsInt() || x.Num().Cmp(want.Num()) != 0 || x.Denom().Cmp(want.Denom()) != 0 {
		t.Fatalf("%v: got sign %d, whole %t, %v over %v", want, x.Sign(), x.IsInt(), x.Num(), x.Denom())
	}
	if got, ok := x.Int64(); ok != (want.IsInt() && want.Num().IsInt64() && want.Num().Int64() != math.MinInt64) || ok && got != want.Num().Int64() {
		t.Fatalf("%v: got %d of 64 bits, %t", want, got, ok)
	}
	down := new(big.Int).Div(want.Num(), want.Denom())
	up := new(big.Int).Neg(want.Num())
	up.Neg(up.Div(up, want.Denom()))
	if x.Floor().Cmp(down) != 0 || x.Ceil().Cmp(up) != 0 {
		t.Fatalf("%v: got %v and %v, want %v and %v", want, x.Floor(), x.Ceil(), down, up)
	}
	if nearest, _ := want.Float64(); x.Float() != nearest {
		t.Fatalf("%v: the nearest float is %v, not %v", want, nearest, x.Float())
	}
	if got, text := x.FloatString(9), want.FloatString(9); got != text {
		t.Fatalf("%v: got %s, want %s", want, got, text)
	}
	same := new(Rat).Neg(x)
	if same.Abs(same); same.Rat().Cmp(new(big.Rat).Abs(want)) != 0 || same.Sign() < 0 {
		t.Fatalf("%v: the size is %v", want, same)
	}
}

// TestTies rounds to floats halfway between two, and just beside.
func TestTies(t *testing.T) {
	for _, n := range []int64{1<<53 + 1, 1<<53 + 3, 1<<54 + 2, 1<<62 + 1<<9, -(1<<53 + 1)} {
		for _, beside := range []int64{-1, 0, 1} {
			want := new(big.Rat).SetFrac(new(big.Int).Add(new(big.Int).Mul(big.NewInt(n), big.NewInt(1e18)), big.NewInt(beside)), big.NewInt(1e18))
			same(t, Scaled(want.Num(), 0).Quo(Scaled(want.Num(), 0), Of(new(big.Rat).SetInt(want.Denom()))), want)
		}
	}
}

func TestNothing(t *testing.T) {
	if Of(nil) != nil || (*Rat)(nil).Rat() != nil || Shortest(math.NaN()) != nil || Shortest(math.Inf(-1)) != nil || new(Rat).SetFloat64(math.NaN()) != nil {
		t.Error("what is no number became one")
	}
	same(t, new(Rat), new(big.Rat))
	same(t, new(Rat).SetInt64(math.MinInt64), new(big.Rat).SetInt64(math.MinInt64))
	if got := Shortest(0.1); got.Cmp(New(1, 10)) != 0 {
		t.Errorf("0.1 is %v", got)
	}
	if got := new(Rat).SetFloat64(0.1); got.Cmp(New(1, 10)) == 0 {
		t.Error("the hardware stores no tenth")
	}
}
