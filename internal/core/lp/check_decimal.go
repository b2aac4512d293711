package lp

import (
	"math"
	"math/big"
	"strconv"
)

// decimalSum is an exact sum of products. Each float64 counts as its shortest decimal, that is as digits times a
// power of ten. Terms of one power are added as integers, and the powers meet once at the end. That is much cheaper
// than a sum of big.Rat, which looks for common divisors every time.
type decimalSum struct {
	powers map[int]*big.Int // power of ten -> sum of its digits; summed in order of the powers
	term   big.Int
	factor big.Int
	text   []byte
}

// add adds a·x.
func (s *decimalSum) add(a, x float64) {
	if a == 0 || x == 0 {
		return
	}
	if s.powers == nil {
		s.powers = make(map[int]*big.Int)
	}
	digits, power := s.decimal(a)
	s.term.SetInt64(digits)
	digits, p := s.decimal(x)
	s.factor.SetInt64(digits)
	s.term.Mul(&s.term, &s.factor)
	at := s.powers[power+p]
	if at == nil {
		at = new(big.Int)
		s.powers[power+p] = at
	}
	at.Add(at, &s.term)
}

// decimal returns v's shortest decimal as digits·10^power; 17 digits fit an int64.
func (s *decimalSum) decimal(v float64) (digits int64, power int) {
	if v == math.Trunc(v) && math.Abs(v) < 1e15 {
		return int64(v), 0
	}
	s.text = strconv.AppendFloat(s.text[:0], v, 'e', -1, 64)
	i := 0
	negative := s.text[0] == '-'
	if negative {
		i++
	}
	fraction := false
	for ; s.text[i] != 'e'; i++ {
		if s.text[i] == '.' {
			fraction = true
			continue
		}
		digits = digits*10 + int64(s.text[i]-'0')
		if fraction {
			power--
		}
	}
	exponent, err := strconv.Atoi(string(s.text[i+1:]))
	if err != nil {
		panic("lp: strconv wrote the float64 " + string(s.text)) // NaN and infinities are refused before
	}
	if negative {
		digits = -digits
	}
	return digits, power + exponent
}

// within reports whether the sum lies between the limits, which may be infinite.
func (s *decimalSum) within(lower, upper float64) bool {
	return (math.IsInf(lower, -1) || s.minus(lower) >= 0) && (math.IsInf(upper, 1) || s.minus(upper) <= 0)
}

// minus returns the sign of the sum minus v.
func (s *decimalSum) minus(v float64) int {
	digits, lowest := s.decimal(v)
	for power := range s.powers {
		lowest = min(lowest, power)
	}
	_, power := s.decimal(v)
	total := new(big.Int).Mul(big.NewInt(-digits), powerOfTen(power-lowest))
	var term big.Int
	for power, sum := range s.powers { // a sum of integers: the order cannot matter
		total.Add(total, term.Mul(sum, powerOfTen(power-lowest)))
	}
	return total.Sign()
}

func powerOfTen(n int) *big.Int {
	return new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(n)), nil)
}
