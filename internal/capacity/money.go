package capacity

import (
	"fmt"
	"io"
	"math"
	"strings"

	"github.com/shopspring/decimal"
)

// Money is an exact amount in the problem's currency. In JSON it is a decimal string with at
// least two and at most nine places; a JSON number is accepted as well.
type Money struct {
	decimal.Decimal
}

// MoneyPlaces is how many decimal places money keeps at most (numeric(20,9) in the database).
const MoneyPlaces = 9

// ParseMoney reads a decimal such as "0.10".
func ParseMoney(s string) (Money, error) {
	n, fault := parseNumeral([]byte(s))
	if fault != "" || len(n.text) != len(s) {
		return Money{}, fmt.Errorf("%q is not a decimal such as \"0.10\"", clip(s))
	}
	d, ok := n.decimal()
	if !ok || placesBeyond(d, MoneyPlaces) {
		return Money{}, fmt.Errorf("%q is too long for an amount; it can have %d decimal places at most", clip(s), MoneyPlaces)
	}
	return Money{d}, nil
}

// RoundMoney is the amount nearest to x that money can hold. It is for figures that come out of
// floating-point work (duals, bounds); sums of input amounts stay exact and do not need it.
func RoundMoney(x float64) Money {
	if units := math.Round(x * 1e9); math.Abs(units) < 1<<53 { // exact in an int64: the usual case
		return Money{decimal.New(int64(units), -MoneyPlaces)}
	}
	return Money{decimal.NewFromFloat(x).Round(MoneyPlaces)}
}

// String is the amount with at least two places: 5.2 is "5.20".
func (m Money) String() string {
	s := m.Decimal.Round(MoneyPlaces).String()
	point := strings.IndexByte(s, '.')
	if point < 0 {
		return s + ".00"
	}
	if len(s)-point == 2 {
		return s + "0"
	}
	return s
}

// Format makes every verb write what String does; the decimal's own Format would leave places out.
func (m Money) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, m.String()) }

// MarshalJSON writes the amount as a string, so that no reader makes a float of it.
func (m Money) MarshalJSON() ([]byte, error) { return []byte(`"` + m.String() + `"`), nil }

// UnmarshalJSON reads an amount written as a decimal string or as a number.
func (m *Money) UnmarshalJSON(text []byte) (err error) {
	*m, err = ParseMoney(strings.TrimSuffix(strings.TrimPrefix(string(text), `"`), `"`))
	return err
}

// Float is the float64 nearest to the amount, for solvers.
func (m Money) Float() float64 { return m.InexactFloat64() }
