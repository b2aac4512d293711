// Package exact computes with numbers that are never rounded. Most are decimals, or whole numbers over a small one:
// these take a few instructions each. All others are fractions of math/big.
package exact

import (
	"math"
	"math/big"
	"math/bits"
	"strconv"

	"github.com/shopspring/decimal"
)

// Rat is a number, used like a big.Rat: methods set their receiver and return it, and the zero value is 0.
type Rat struct {
	size words // the number is ±size / (over · 10^places)
	scale
	neg   bool
	large *big.Rat // the number, if it does not fit otherwise
}

// scale holds the divisor of a size.
type scale struct {
	over   uint64 // 0 stands for 1, which is not used
	places uint8
}

// mostPlaces is the largest power of ten that numbers are divided by, unless they are fractions.
const mostPlaces = 120

// narrow is false in tests of this package, where all numbers are fractions of math/big.
var narrow = true

// New returns a/b.
func New(a, b int64) *Rat {
	if b == 1 {
		return new(Rat).SetInt64(a)
	}
	return new(Rat).fraction(big.NewRat(a, b))
}

// Decimal returns a decimal.
func Decimal(d decimal.Decimal) *Rat {
	const sure = 18 // so many digits are 64 bits
	if places := -d.Exponent(); narrow && places >= 0 && places <= mostPlaces && d.NumDigits() <= sure {
		z := new(Rat).SetInt64(d.CoefficientInt64())
		if !z.size.zero() {
			z.places = uint8(places)
		}
		return z
	}
	return Of(d.Rat())
}

// Shortest returns the shortest decimal that names a float: the number a person wrote, not the one the hardware stored.
// It is nil if the float is no number.
func Shortest(f float64) *Rat {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return nil
	}
	if f == math.Trunc(f) && math.Abs(f) < 1<<53 {
		return new(Rat).SetInt64(int64(f))
	}
	var text [32]byte
	written := strconv.AppendFloat(text[:0], f, 'e', -1, 64)
	var z Rat
	at, after := 0, 0
	if written[at] == '-' {
		z.neg = true
		at++
	}
	for point := false; written[at] != 'e'; at++ {
		if written[at] == '.' {
			point = true
			continue
		}
		if z.size.low = 10*z.size.low + uint64(written[at]-'0'); point {
			after++
		}
	}
	exponent, _ := strconv.Atoi(string(written[at+1:]))
	if places := after - exponent; narrow && places >= 0 && places <= mostPlaces {
		z.places = uint8(places)
		return &z
	}
	r, _ := new(big.Rat).SetString(string(written))
	return new(Rat).fraction(r)
}

// Of returns a fraction; nil stays nil.
func Of(x *big.Rat) *Rat {
	if x == nil {
		return nil
	}
	return new(Rat).fraction(new(big.Rat).Set(x))
}

// Scaled returns n divided by a power of ten.
func Scaled(n *big.Int, places uint8) *Rat {
	z := new(Rat)
	if narrow && z.whole(n) {
		if !z.size.zero() {
			z.places = places
		}
		return z
	}
	power := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(places)), nil)
	return new(Rat).fraction(new(big.Rat).SetFrac(n, power))
}

// fraction sets z to x, which it may keep.
func (z *Rat) fraction(x *big.Rat) *Rat {
	if *z = (Rat{}); narrow && x.Denom().IsUint64() && z.whole(x.Num()) {
		return z.divide(x.Denom().Uint64())
	}
	z.large = x
	return z
}

// divide divides z by a number in lowest terms. Twos and fives of it become places, so that decimals have nothing else.
func (z *Rat) divide(over uint64) *Rat {
	for _, prime := range [...]uint64{2, 5} {
		for over%prime == 0 && z.places < mostPlaces {
			size, fits := z.size.by(10 / prime)
			if !fits {
				break
			}
			z.size = size
			z.places++
			over /= prime
		}
	}
	if z.over = over; over == 1 {
		z.over = 0
	}
	return z
}

// whole sets z to a whole number if it fits.
func (z *Rat) whole(n *big.Int) bool {
	*z = Rat{}
	if n.BitLen() > 192 {
		return false
	}
	z.neg = n.Sign() < 0
	for k, w := range n.Bits() {
		switch at := k * bits.UintSize; {
		case at < 64:
			z.size.low |= uint64(w) << at
		case at < 128:
			z.size.mid |= uint64(w) << (at - 64)
		default:
			z.size.high |= uint64(w) << (at - 128)
		}
	}
	return true
}

// Rat returns the number as a fraction; nil stays nil.
func (x *Rat) Rat() *big.Rat {
	if x == nil {
		return nil
	}
	if x.large != nil {
		return new(big.Rat).Set(x.large)
	}
	n := x.size.big()
	if x.neg {
		n.Neg(n)
	}
	if x.scale == (scale{}) {
		return new(big.Rat).SetInt(n)
	}
	d := new(big.Int).SetUint64(max(1, x.over))
	if x.places < uint8(len(ten)) {
		d.Mul(d, new(big.Int).SetUint64(ten[x.places]))
	} else {
		d.Mul(d, new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(x.places)), nil))
	}
	return new(big.Rat).SetFrac(n, d)
}

func (x words) big() *big.Int {
	if x.high|x.mid == 0 {
		return new(big.Int).SetUint64(x.low)
	}
	n := new(big.Int).SetUint64(x.high)
	n.Lsh(n, 64).Or(n, new(big.Int).SetUint64(x.mid))
	return n.Lsh(n, 64).Or(n, new(big.Int).SetUint64(x.low))
}

// fit sets z to a number that fits.
func (z *Rat) fit(size words, s scale, neg bool) *Rat {
	if size.zero() {
		*z = Rat{}
		return z
	}
	*z = Rat{size: size, scale: s, neg: neg}
	return z
}

// Set sets z to x.
func (z *Rat) Set(x *Rat) *Rat { *z = *x; return z } // nothing changes a large one

// SetInt64 sets z to n.
func (z *Rat) SetInt64(n int64) *Rat {
	if !narrow {
		return z.fraction(new(big.Rat).SetInt64(n))
	}
	size := uint64(n)
	if n < 0 {
		size = -size
	}
	*z = Rat{size: words{low: size}, neg: n < 0}
	return z
}

// SetInt sets z to n.
func (z *Rat) SetInt(n *big.Int) *Rat {
	if narrow && z.whole(n) {
		return z
	}
	return z.fraction(new(big.Rat).SetInt(n))
}

// SetFrac sets z to a/b.
func (z *Rat) SetFrac(a, b *big.Int) *Rat { return z.fraction(new(big.Rat).SetFrac(a, b)) }

// SetFloat64 sets z to the number that the hardware stored; nil if it is none.
func (z *Rat) SetFloat64(f float64) *Rat {
	r := new(big.Rat).SetFloat64(f)
	if r == nil {
		return nil
	}
	return z.fraction(r)
}

// aligned returns the sizes of two numbers at one scale.
func aligned(x, y *Rat) (a, b words, s scale, fits bool) {
	if x.large != nil || y.large != nil {
		return a, b, s, false
	}
	a, b = x.size, y.size
	switch {
	case x.scale == y.scale || b.zero():
		return a, b, x.scale, true
	case a.zero():
		return a, b, y.scale, true
	}
	s, fits = x.scale, true
	if x.places < y.places {
		a, fits = a.tenfold(y.places - x.places)
		s.places = y.places
	} else if y.places < x.places {
		b, fits = b.tenfold(x.places - y.places)
	}
	if x.over != y.over && fits {
		c, d := max(1, x.over), max(1, y.over)
		common := gcd(c, d)
		var above uint64
		if above, s.over = bits.Mul64(c/common, d); above != 0 {
			return a, b, s, false
		}
		if a, fits = a.by(d / common); fits {
			b, fits = b.by(c / common)
		}
	}
	return a, b, s, fits
}

// Add sets z to x + y.
func (z *Rat) Add(x, y *Rat) *Rat {
	if a, b, s, fits := aligned(x, y); fits {
		if z.sum(a, b, s, x.neg, y.neg) {
			return z
		}
	}
	return z.fraction(new(big.Rat).Add(x.Rat(), y.Rat()))
}

// Sub sets z to x - y.
func (z *Rat) Sub(x, y *Rat) *Rat {
	if a, b, s, fits := aligned(x, y); fits {
		if z.sum(a, b, s, x.neg, !y.neg) {
			return z
		}
	}
	return z.fraction(new(big.Rat).Sub(x.Rat(), y.Rat()))
}

// sum sets z to ±a ± b, if that fits.
func (z *Rat) sum(a, b words, s scale, aNeg, bNeg bool) bool {
	switch {
	case aNeg == bNeg:
		size, fits := a.plus(b)
		if !fits {
			return false
		}
		z.fit(size, s, aNeg)
	case a.cmp(b) >= 0:
		z.fit(a.minus(b), s, aNeg)
	default:
		z.fit(b.minus(a), s, bNeg)
	}
	return true
}

// Mul sets z to x · y.
func (z *Rat) Mul(x, y *Rat) *Rat {
	if x.large == nil && y.large == nil && int(x.places)+int(y.places) <= mostPlaces {
		size, fits := x.size.times(y.size)
		over, small := product(x.over, y.over)
		if fits && small {
			return z.fit(size, scale{over, x.places + y.places}, x.neg != y.neg)
		}
	}
	return z.fraction(new(big.Rat).Mul(x.Rat(), y.Rat()))
}

// product multiplies two divisors.
func product(x, y uint64) (over uint64, fits bool) {
	if x == 0 || y == 0 {
		return x + y, true
	}
	above, over := bits.Mul64(x, y)
	return over, above == 0
}

// Quo sets z to x / y.
func (z *Rat) Quo(x, y *Rat) *Rat {
	if x.large == nil && y.large == nil && y.size.low != 0 && y.size.mid|y.size.high == 0 {
		size, fits := x.size.by(max(1, y.over))
		over, small := product(x.over, y.size.low)
		places := x.places
		if fits && places < y.places {
			size, fits = size.tenfold(y.places - places)
			places = y.places
		}
		if fits && small {
			if whole, rest := size.over(over); rest == 0 {
				size, over = whole, 0
			} else if over < 1<<32 { // larger ones rarely get smaller
				common := gcd(over, rest)
				size, _ = size.over(common)
				return z.fit(size, scale{0, places - y.places}, x.neg != y.neg).divide(over / common)
			}
			return z.fit(size, scale{over, places - y.places}, x.neg != y.neg)
		}
	}
	return z.fraction(new(big.Rat).Quo(x.Rat(), y.Rat()))
}

// Neg sets z to -x.
func (z *Rat) Neg(x *Rat) *Rat {
	if x.large != nil {
		return z.fraction(new(big.Rat).Neg(x.large))
	}
	return z.fit(x.size, x.scale, !x.neg)
}

// Abs sets z to |x|.
func (z *Rat) Abs(x *Rat) *Rat {
	if x.Sign() < 0 {
		return z.Neg(x)
	}
	return z.Set(x)
}

// Sign returns -1, 0 or 1.
func (x *Rat) Sign() int {
	switch {
	case x.large != nil:
		return x.large.Sign()
	case x.size.zero():
		return 0
	case x.neg:
		return -1
	}
	return 1
}

// Cmp compares x with y.
func (x *Rat) Cmp(y *Rat) int {
	one, other := x.Sign(), y.Sign()
	if one != other {
		return max(-1, min(1, one-other))
	}
	if a, b, _, fits := aligned(x, y); fits {
		return one * a.cmp(b)
	}
	return x.Rat().Cmp(y.Rat())
}

// down divides the size by its scale, and says whether something is left.
func (x *Rat) down() (whole words, rest bool) {
	whole = x.size
	for places := x.places; places > 0; {
		step := min(places, uint8(len(ten)-1))
		var left uint64
		whole, left = whole.over(ten[step])
		rest = rest || left != 0
		places -= step
	}
	if x.over != 0 {
		var left uint64
		whole, left = whole.over(x.over)
		rest = rest || left != 0
	}
	return whole, rest
}

// Round sets z to x rounded down, or up, to decimal places.
func (z *Rat) Round(x *Rat, places uint8, up bool) *Rat {
	if x.large == nil {
		if x.over == 0 && x.places <= places {
			return z.Set(x)
		}
		if size, fits := x.size.tenfold(places); fits {
			y := Rat{size: size, scale: x.scale}
			size, rest := y.down()
			if rest && up != x.neg {
				size, fits = size.plus(words{low: 1})
			}
			if fits {
				return z.fit(size, scale{places: places}, x.neg)
			}
		}
	}
	grid := Scaled(big.NewInt(1), places)
	n := new(Rat).Quo(x, grid)
	if up {
		return z.Mul(grid, new(Rat).SetInt(n.Ceil()))
	}
	return z.Mul(grid, new(Rat).SetInt(n.Floor()))
}

// Units returns x in units of so many decimal places, rounded down or up.
func (x *Rat) Units(places uint8, up bool) *big.Int {
	y := new(Rat).Round(x, places, up)
	if y.large == nil && y.over == 0 && y.places <= places {
		if size, fits := y.size.tenfold(places - y.places); fits {
			return (&Rat{size: size, neg: y.neg}).Num()
		}
	}
	return new(Rat).Quo(y, Scaled(big.NewInt(1), places)).Num()
}

// IsInt reports whether the number is whole.
func (x *Rat) IsInt() bool {
	if x.large != nil {
		return x.large.IsInt()
	}
	_, rest := x.down()
	return !rest
}

// Int64 returns a whole number of 64 bits; false if it is none.
func (x *Rat) Int64() (n int64, ok bool) {
	if x.large != nil {
		return x.large.Num().Int64(), x.large.IsInt() && x.large.Num().IsInt64()
	}
	whole, rest := x.down()
	if rest || whole.mid|whole.high != 0 || whole.low > math.MaxInt64 {
		return 0, false
	}
	if n = int64(whole.low); x.neg {
		n = -n
	}
	return n, true
}

// Floor returns the largest whole number not above x.
func (x *Rat) Floor() *big.Int {
	if x.large != nil {
		return new(big.Int).Div(x.large.Num(), x.large.Denom()) // Euclidean: rounds down, the denominator being positive
	}
	whole, rest := x.down()
	n := whole.big()
	if !x.neg {
		return n
	}
	if rest {
		n.Add(n, big.NewInt(1))
	}
	return n.Neg(n)
}

// Ceil returns the smallest whole number not below x.
func (x *Rat) Ceil() *big.Int {
	n := new(Rat).Neg(x).Floor()
	return n.Neg(n)
}

// Num returns the numerator in lowest terms.
func (x *Rat) Num() *big.Int {
	if x.large != nil || x.scale != (scale{}) {
		return x.Rat().Num()
	}
	n := x.size.big()
	if x.neg {
		n.Neg(n)
	}
	return n
}

// Denom returns the denominator in lowest terms.
func (x *Rat) Denom() *big.Int { return x.Rat().Denom() }

// Float returns the nearest float.
func (x *Rat) Float() float64 {
	if x.large != nil || x.places > 2*uint8(len(ten)-1) {
		f, _ := x.Rat().Float64()
		return f
	}
	if x.size.zero() {
		return 0
	}
	if x.over == 0 && x.places < uint8(len(tens)) && x.size.len() <= 53 { // both are floats, and their quotient is the nearest one
		if x.neg {
			return -float64(x.size.low) / tens[x.places]
		}
		return float64(x.size.low) / tens[x.places]
	}
	// The quotient has at least 64 bits after the shift unless the divisor is too long; what is left decides ties.
	by := 192 - x.size.len()
	y := Rat{size: x.size.shifted(by), scale: x.scale}
	whole, rest := y.down()
	long := whole.len()
	if long < 64 {
		f, _ := x.Rat().Float64()
		return f
	}
	above := long - 64
	top := whole.shifted(192 - long)
	if rest || top.low|top.mid != 0 {
		top.high |= 1
	}
	f := math.Ldexp(float64(top.high), above-by)
	if x.neg {
		return -f
	}
	return f
}

// String returns the number as a fraction in lowest terms.
func (x *Rat) String() string { return x.Rat().RatString() }

// tens holds the powers of ten that are floats.
var tens = [...]float64{1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22}

// FloatString returns the number rounded to places, half away from zero.
func (x *Rat) FloatString(places int) string { return x.Rat().FloatString(places) }
