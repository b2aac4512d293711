package proof

import (
	"math"
	"math/big"
	"strconv"

	"github.com/shopspring/decimal"

	"example.org/headroom/internal/core/money"
	"example.org/headroom/internal/core/proof/exact"
)

// Tolerances. Everything else is compared exactly.
var (
	// relative is the relative error allowed in a figure that went through floating point.
	relative = exact.New(1, 1e9)
	// halfUnit is the error of rounding to money's nine places.
	halfUnit = exact.New(5, 1e10)
	// spare is the part of a VM that whole VMs may lack if a gamma is irrational: sums of such gammas are computed in
	// floating point and rounded up only beyond it. It includes the error of floats. certain is the part that they
	// may lack in any case.
	spare   = exact.New(1001, 1e10)
	certain = exact.New(1, 1e8)
	// digits is the relative error of float64 in sums with large penalties.
	digits = exact.New(1, 1e13)
	// smallest is an amount below which objectives count as equal, because a relative gap says nothing.
	smallest = exact.New(1, 1e8)
)

func zero() *exact.Rat               { return new(exact.Rat) }
func whole(n int64) *exact.Rat       { return new(exact.Rat).SetInt64(n) }
func add(x, y *exact.Rat) *exact.Rat { return new(exact.Rat).Add(x, y) }
func sub(x, y *exact.Rat) *exact.Rat { return new(exact.Rat).Sub(x, y) }
func mul(x, y *exact.Rat) *exact.Rat { return new(exact.Rat).Mul(x, y) }
func quo(x, y *exact.Rat) *exact.Rat { return new(exact.Rat).Quo(x, y) }
func abs(x *exact.Rat) *exact.Rat    { return new(exact.Rat).Abs(x) }
func less(x, y *exact.Rat) bool      { return x.Cmp(y) < 0 }
func larger(x, y *exact.Rat) *exact.Rat {
	if less(x, y) {
		return y
	}
	return x
}

func smaller(x, y *exact.Rat) *exact.Rat {
	if less(y, x) {
		return y
	}
	return x
}

// number returns a float as the shortest decimal that names it: the number a person wrote, not the one the hardware
// stored.
func number(f float64) *exact.Rat { return exact.Shortest(f) }

// amount returns a decimal as a fraction.
func amount(d decimal.Decimal) *exact.Rat { return exact.Decimal(d) }

// amountOf returns a fraction rounded like money.
func amountOf(x *exact.Rat) money.Amount {
	d, _ := decimal.NewFromString(x.FloatString(money.Places))
	return money.Amount{Decimal: d}
}

// short returns a fraction for a sentence.
func short(x *exact.Rat) string {
	f := x.Float()
	return strconv.FormatFloat(f, 'g', 10, 64)
}

// moreThan returns x for a sentence that says it is more than y, with enough digits to show that.
func moreThan(x, y *exact.Rat) string {
	stated, other := short(x), short(y)
	for places := 9; stated == other && x.Cmp(y) != 0 && places <= 30; places++ {
		stated, other = x.FloatString(places), y.FloatString(places)
	}
	return stated
}

// near reports whether two numbers differ by at most the relative tolerance of a scale.
func near(x, y, scale *exact.Rat) bool {
	return abs(sub(x, y)).Cmp(mul(relative, abs(scale))) <= 0
}

// Ceil returns the smallest whole number not below x.
func Ceil(x *big.Rat) *big.Int { return exact.Of(x).Ceil() }

// Alike compares figures that went through floating point in two ways.
func Alike(x, y float64) bool {
	const tolerance = 1e-9
	return math.Abs(x-y) <= tolerance*max(math.Abs(x), math.Abs(y), tolerance)
}

// finePlaces are so many that nothing rounded to them shows in nine places of any sum.
const finePlaces = 30

// fineGrid is the units of finePlaces in one.
var fineGrid = new(big.Int).Exp(big.NewInt(10), big.NewInt(finePlaces), nil)

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
