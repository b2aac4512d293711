// Package money holds decimal amounts, exact sums and rounding.
package money

import (
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"github.com/shopspring/decimal"

	"example.org/headroom/internal/core/fault"
	"example.org/headroom/internal/core/strict"
)

// Amount is an exact amount in the problem's currency. JSON has it as a decimal string with two to nine places; a
// JSON number is accepted as well.
type Amount struct {
	decimal.Decimal
}

// Places is the maximum number of decimal places of money (numeric(20,9) in the database).
const Places = 9

// longestMoney is the maximum number of digits before the point, in any notation. It is far above MaxMoney, and low
// enough that every amount, written out, can be read again.
const longestMoney = strict.LongestNumeral - Places - 2

func Parse(s string) (Amount, error) {
	n, wrong := strict.ParseNumeral([]byte(s))
	if wrong != "" || len(n.Text) != len(s) {
		return Amount{}, fmt.Errorf("%q is not a decimal such as \"0.10\"", fault.Clip(s))
	}
	d, ok := n.Decimal()
	if !ok || strict.PlacesBeyond(d, Places) || d.NumDigits()+int(d.Exponent()) > longestMoney {
		return Amount{}, fmt.Errorf("%q is too long for an amount; it can have %d decimal places at most", fault.Clip(s), Places)
	}
	return Amount{d}, nil
}

// Round returns the amount nearest to x. It serves figures of floating-point work (duals, bounds); sums of input
// amounts stay exact and do not need it.
func Round(x float64) Amount {
	if units := math.Round(x * 1e9); math.Abs(units) < 1<<53 { // exact in an int64: the usual case
		return Amount{decimal.New(int64(units), -Places)}
	}
	return Amount{decimal.NewFromFloat(x).Round(Places)}
}

// Opposite returns the amount with the other sign.
func (m Amount) Opposite() Amount { return Amount{m.Neg()} }

// Smallest is the least amount above nothing that money holds.
const Smallest = 1e-9

// Over is an amount a period as one for another time, both in seconds. A bill is rounded to nine places a period, each of
// its lines. So a longer time has only as many places as that leaves certain.
func (m Amount) Over(seconds, period int64) Amount {
	places := int32(Places)
	if seconds > period {
		places--
	}
	for reach := period; reach < seconds && places > 2; reach *= 10 {
		places--
	}
	return Amount{m.Mul(decimal.NewFromInt(seconds)).DivRound(decimal.NewFromInt(period), places)}
}

// Finite returns the amount nearest to x, and nil if x is infinite.
func Finite(x float64) *Amount {
	if math.IsInf(x, 1) {
		return nil
	}
	m := Round(x)
	return &m
}

// Billionths returns the amount in whole billionths, its last place, if an int64 holds them. That covers nearly all
// amounts and needs no big numbers. For other amounts exact is false.
func (m Amount) Billionths() (n int64, exact bool) {
	places := Places + int(m.Exponent())
	if places < 0 || places >= len(wholePowers) || m.NumDigits() > strict.ExactDigits {
		return 0, false
	}
	n, power := m.CoefficientInt64(), wholePowers[places]
	if limit := math.MaxInt64 / power; n > limit || n < -limit {
		return 0, false
	}
	return n * power, true
}

// wholePowers holds the powers of ten that fit an int64.
var wholePowers = [...]int64{1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18}

// String formats the amount with at least two places: 5.2 is "5.20".
func (m Amount) String() string { return string(m.append(make([]byte, 0, 24))) }

func (m Amount) append(dst []byte) []byte {
	n, exact := m.Billionths()
	if !exact {
		return m.AppendLong(dst)
	}
	if n < 0 {
		dst, n = append(dst, '-'), -n
	}
	dst = strconv.AppendInt(dst, n/1e9, 10)
	fraction, places := n%1e9, Places
	for ; places > 2 && fraction%10 == 0; places-- {
		fraction /= 10
	}
	dst = append(dst, ".000000000"[:1+places]...)
	for at := len(dst) - 1; fraction > 0; at-- {
		dst[at] += byte(fraction % 10)
		fraction /= 10
	}
	return dst
}

// AppendLong does the same as append for amounts of any size.
func (m Amount) AppendLong(dst []byte) []byte {
	s := m.Decimal.Round(Places).String()
	dst = append(dst, s...)
	switch point := strings.IndexByte(s, '.'); {
	case point < 0:
		return append(dst, ".00"...)
	case len(s)-point == 2:
		return append(dst, '0')
	}
	return dst
}

// Format makes every verb write what String does; the decimal's own Format would omit places.
func (m Amount) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, m.String()) }

// MarshalJSON writes the amount as a string, so that readers do not turn it into a float.
func (m Amount) MarshalJSON() ([]byte, error) { return AppendMoney(make([]byte, 0, 24), m), nil }

func AppendMoney(dst []byte, m Amount) []byte { return append(m.append(append(dst, '"')), '"') }

// UnmarshalJSON reads an amount written as a decimal string or as a number.
func (m *Amount) UnmarshalJSON(text []byte) (err error) {
	*m, err = Parse(strings.TrimSuffix(strings.TrimPrefix(string(text), `"`), `"`))
	return err
}

// Float returns the float64 nearest to the amount, for solvers.
func (m Amount) Float() float64 {
	if m.NumDigits() <= strict.ExactDigits {
		digits, power := m.CoefficientInt64(), int(m.Exponent())
		if x, exact := strict.ShortFloat(digits, power); exact {
			return x
		}
		if x, exact := strict.LongFloat(digits, power); exact {
			return x
		}
	}
	return m.InexactFloat64()
}
