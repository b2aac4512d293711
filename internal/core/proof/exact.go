package proof

import (
	"math"
	"math/big"
	"strconv"

	"github.com/shopspring/decimal"

	"example.org/headroom/internal/core/money"
)

// Tolerances. Everything else is compared exactly.
var (
	// relative is the relative error allowed in a figure that went through floating point.
	relative = big.NewRat(1, 1e9)
	// halfUnit is the error of rounding to money's nine places.
	halfUnit = big.NewRat(5, 1e10)
	// spare is the part of a VM that whole VMs may lack if a gamma is irrational: sums of such gammas are computed in
	// floating point and rounded up only beyond it. It includes the error of floats. certain is the part that they
	// may lack in any case.
	spare   = big.NewRat(1001, 1e10)
	certain = big.NewRat(1, 1e8)
	// digits is the relative error of float64 in sums with large penalties.
	digits = big.NewRat(1, 1e13)
	// smallest is an amount below which objectives count as equal, because a relative gap says nothing.
	smallest = big.NewRat(1, 1e8)
)

func zero() *big.Rat             { return new(big.Rat) }
func whole(n int64) *big.Rat     { return new(big.Rat).SetInt64(n) }
func add(x, y *big.Rat) *big.Rat { return new(big.Rat).Add(x, y) }
func sub(x, y *big.Rat) *big.Rat { return new(big.Rat).Sub(x, y) }
func mul(x, y *big.Rat) *big.Rat { return new(big.Rat).Mul(x, y) }
func quo(x, y *big.Rat) *big.Rat { return new(big.Rat).Quo(x, y) }
func abs(x *big.Rat) *big.Rat    { return new(big.Rat).Abs(x) }
func less(x, y *big.Rat) bool    { return x.Cmp(y) < 0 }
func larger(x, y *big.Rat) *big.Rat {
	if less(x, y) {
		return y
	}
	return x
}

func smaller(x, y *big.Rat) *big.Rat {
	if less(y, x) {
		return y
	}
	return x
}

// number returns a float as the shortest decimal that names it: the number a person wrote, not the one the hardware
// stored.
func number(f float64) *big.Rat {
	if f == math.Trunc(f) && math.Abs(f) < 1<<53 {
		return whole(int64(f))
	}
	r, _ := new(big.Rat).SetString(strconv.FormatFloat(f, 'g', -1, 64))
	return r
}

// amount returns a decimal as a fraction.
func amount(d decimal.Decimal) *big.Rat { return d.Rat() }

// amountOf returns a fraction rounded like money.
func amountOf(x *big.Rat) money.Amount {
	d, _ := decimal.NewFromString(x.FloatString(money.Places))
	return money.Amount{Decimal: d}
}

// short returns a fraction for a sentence.
func short(x *big.Rat) string {
	f, _ := x.Float64()
	return strconv.FormatFloat(f, 'g', 10, 64)
}

// moreThan returns x for a sentence that says it is more than y, with enough digits to show that.
func moreThan(x, y *big.Rat) string {
	stated, other := short(x), short(y)
	for places := 9; stated == other && x.Cmp(y) != 0 && places <= 30; places++ {
		stated, other = x.FloatString(places), y.FloatString(places)
	}
	return stated
}

// near reports whether two numbers differ by at most the relative tolerance of a scale.
func near(x, y, scale *big.Rat) bool {
	return abs(sub(x, y)).Cmp(mul(relative, abs(scale))) <= 0
}

// floor returns the largest whole number not above x.
func floor(x *big.Rat) *big.Int {
	return new(big.Int).Div(x.Num(), x.Denom()) // Euclidean: rounds down, the denominator being positive
}

// Ceil returns the smallest whole number not below x.
func Ceil(x *big.Rat) *big.Int {
	n := new(big.Int).Neg(x.Num())
	return n.Neg(n.Div(n, x.Denom()))
}

// Alike compares figures that went through floating point in two ways.
func Alike(x, y float64) bool {
	const tolerance = 1e-9
	return math.Abs(x-y) <= tolerance*max(math.Abs(x), math.Abs(y), tolerance)
}

// onGrid returns x rounded down, or up, to a multiple of 1/per.
func onGrid(x *big.Rat, per *big.Int, up bool) *big.Rat {
	scaled := mul(x, new(big.Rat).SetInt(per))
	if up {
		return new(big.Rat).SetFrac(Ceil(scaled), per)
	}
	return new(big.Rat).SetFrac(floor(scaled), per)
}

// fineGrid is fine enough that nothing rounded to it shows in nine places of any sum.
var fineGrid = new(big.Int).Exp(big.NewInt(10), big.NewInt(30), nil)

// maxExponent bounds the powers of ten of decimals, so that no number takes megabytes.
const maxExponent = 60

func modest(d decimal.Decimal) bool {
	return d.Exponent() >= -maxExponent && d.Exponent() <= maxExponent && d.NumDigits() <= 2*maxExponent
}

func finite(fs ...float64) bool {
	for _, f := range fs {
		if math.IsNaN(f) || math.IsInf(f, 0) || math.Abs(f) > maxNumber {
			return false
		}
	}
	return true
}

const (
	maxNumber = 1e30 // bounds every floating-point figure of problems and plans
	maxJobs   = 1e15 // bounds the jobs of a class, so that they are whole numbers of 64 bits
)
