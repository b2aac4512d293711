package dispatch

import (
	"math"
	"math/bits"
)

// exactSum is a sum of numbers that come and go. It is exact: the order does not matter, and numbers that went leave
// nothing behind. It has 128 bits in units of 2^-80, for numbers from 0 to 2^46; numbers below 2^-28 lose their last
// bits.
type exactSum struct {
	high int64
	low  uint64
}

const (
	unitBits     = 80
	maxOfSum     = 1 << 46
	mantissaBits = 53
)

func (s *exactSum) add(x float64) {
	high, low := inUnits(x)
	var carry uint64
	s.low, carry = bits.Add64(s.low, low, 0)
	s.high += int64(high + carry)
}

func (s *exactSum) remove(x float64) {
	high, low := inUnits(x)
	var borrow uint64
	s.low, borrow = bits.Sub64(s.low, low, 0)
	s.high -= int64(high + borrow)
}

// inUnits returns a number in units of 2^-80, as 128 bits.
func inUnits(x float64) (high, low uint64) {
	if !(x > 0) {
		return 0, 0
	}
	fraction, exponent := math.Frexp(min(x, maxOfSum))
	whole := uint64(fraction * (1 << mantissaBits)) // exact
	switch shift := exponent - mantissaBits + unitBits; {
	case shift <= -64:
		return 0, 0
	case shift < 0:
		return 0, whole >> -shift
	case shift >= 64:
		return whole << (shift - 64), 0
	default:
		return whole >> (64 - shift), whole << shift
	}
}

func (s exactSum) value() float64 {
	return math.Ldexp(float64(s.high), 64-unitBits) + math.Ldexp(float64(s.low), -unitBits)
}
