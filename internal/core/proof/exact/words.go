package exact

import "math/bits"

// words is a whole number of 192 bits, not below zero.
type words struct{ low, mid, high uint64 }

// ten holds the powers of ten of one word.
var ten = func() (all [20]uint64) {
	all[0] = 1
	for k := 1; k < len(all); k++ {
		all[k] = 10 * all[k-1]
	}
	return all
}()

func (x words) zero() bool { return x.low|x.mid|x.high == 0 }

// len returns the number of bits.
func (x words) len() int {
	switch {
	case x.high != 0:
		return 128 + bits.Len64(x.high)
	case x.mid != 0:
		return 64 + bits.Len64(x.mid)
	}
	return bits.Len64(x.low)
}

func (x words) cmp(y words) int {
	switch {
	case x == y:
		return 0
	case x.high < y.high || x.high == y.high && (x.mid < y.mid || x.mid == y.mid && x.low < y.low):
		return -1
	}
	return 1
}

func (x words) plus(y words) (sum words, fits bool) {
	var carry uint64
	sum.low, carry = bits.Add64(x.low, y.low, 0)
	sum.mid, carry = bits.Add64(x.mid, y.mid, carry)
	sum.high, carry = bits.Add64(x.high, y.high, carry)
	return sum, carry == 0
}

// minus subtracts a number that is no larger.
func (x words) minus(y words) (rest words) {
	var borrow uint64
	rest.low, borrow = bits.Sub64(x.low, y.low, 0)
	rest.mid, borrow = bits.Sub64(x.mid, y.mid, borrow)
	rest.high, _ = bits.Sub64(x.high, y.high, borrow)
	return rest
}

// by multiplies with one word.
func (x words) by(y uint64) (product words, fits bool) {
	var above, more, carry uint64
	above, product.low = bits.Mul64(x.low, y)
	more, product.mid = bits.Mul64(x.mid, y)
	product.mid, carry = bits.Add64(product.mid, above, 0)
	above, product.high = bits.Mul64(x.high, y)
	product.high, carry = bits.Add64(product.high, more, carry)
	return product, above|carry == 0
}

// times multiplies numbers that have 192 bits together.
func (x words) times(y words) (product words, fits bool) {
	switch {
	case y.mid|y.high == 0:
		return x.by(y.low)
	case x.mid|x.high == 0:
		return y.by(x.low)
	case x.len()+y.len() > 192:
		return words{}, false
	}
	product, _ = x.by(y.low) // both have two words
	part, _ := x.by(y.mid)
	product, _ = product.plus(words{0, part.low, part.mid})
	return product, true
}

// tenfold multiplies with a power of ten.
func (x words) tenfold(places uint8) (product words, fits bool) {
	for fits = true; places > 0 && fits; {
		step := min(places, uint8(len(ten)-1))
		x, fits = x.by(ten[step])
		places -= step
	}
	return x, fits
}

// over divides by one word.
func (x words) over(y uint64) (quotient words, rest uint64) {
	if x.high|x.mid == 0 {
		return words{low: x.low / y}, x.low % y
	}
	quotient.high, rest = bits.Div64(0, x.high, y)
	quotient.mid, rest = bits.Div64(rest, x.mid, y)
	quotient.low, rest = bits.Div64(rest, x.low, y)
	return quotient, rest
}

// shifted returns the number with so many zeros behind it, below 192.
func (x words) shifted(by int) words {
	for ; by >= 64; by -= 64 {
		x = words{0, x.low, x.mid}
	}
	up, down := uint(by), uint(64-by)
	return words{x.low << up, x.mid<<up | x.low>>down, x.high<<up | x.mid>>down}
}

// gcd returns the greatest common divisor.
func gcd(x, y uint64) uint64 {
	for y != 0 {
		x, y = y, x%y
	}
	return x
}
