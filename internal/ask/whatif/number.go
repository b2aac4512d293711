package whatif

import (
	"bytes"
	"math/bits"
	"strconv"

	"github.com/shopspring/decimal"

	"example.org/headroom/internal/core/money"
	"example.org/headroom/internal/core/strict"
)

// timesFloat is the float64 nearest to a number times a factor, each taken for the decimal that is written
// for it.
func timesFloat(x float64, factor decimal.Decimal) float64 {
	if product, ok := timesShort(x, factor); ok {
		return product
	}
	return money.Amount{Decimal: decimal.NewFromFloat(x).Mul(factor)}.Float()
}

// timesShort is timesFloat without big numbers, where the factor has few digits: they and those of x, 17 at
// most, are multiplied in 128 bits, and strconv rounds the product.
func timesShort(x float64, factor decimal.Decimal) (product float64, ok bool) {
	if factor.NumDigits() > strict.ExactDigits || factor.Sign() < 0 || !(x >= 0) {
		return 0, false
	}
	var room [48]byte
	text := strconv.AppendFloat(room[:0], x, 'e', -1, 64) // such as 1.25e+03
	end := bytes.IndexByte(text, 'e')
	if end < 0 { // it is no number
		return 0, false
	}
	power, err := strconv.Atoi(string(text[end+1:]))
	if err != nil {
		return 0, false
	}
	digits := uint64(0)
	for at, c := range text[:end] {
		if c == '.' {
			power -= end - at - 1
			continue
		}
		digits = digits*10 + uint64(c-'0')
	}
	const half = 1e19 // what a uint64 holds in decimal digits
	high, low := bits.Mul64(digits, uint64(factor.CoefficientInt64()))
	high, low = bits.Div64(high, low, half)
	text = room[:0]
	if high > 0 {
		text = strconv.AppendUint(text, high, 10)
		from := len(text)
		text = append(text, "0000000000000000000"...)
		for at := len(text) - 1; at >= from; at-- {
			text[at] += byte(low % 10)
			low /= 10
		}
	} else {
		text = strconv.AppendUint(text, low, 10)
	}
	text = strconv.AppendInt(append(text, 'e'), int64(power)+int64(factor.Exponent()), 10)
	product, err = strconv.ParseFloat(string(text), 64)
	return product, err == nil
}
