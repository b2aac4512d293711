package money

import (
	"fmt"
	"testing"

	"github.com/shopspring/decimal"
)

func TestMoneyIsWrittenWithTwoPlacesAtLeast(t *testing.T) {
	for want, m := range map[string]Amount{
		"5.20": {decimal.New(52, -1)}, "-44.80": {decimal.New(-448, -1)}, "3.00": {decimal.New(3, 0)}, "0.00": {},
		"0.123456789": {decimal.New(123456789, -9)}, "100.00": {decimal.New(1, 2)},
	} {
		if got := m.String(); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
		if got := fmt.Sprintf("%s %v", m, m); got != want+" "+want {
			t.Errorf("formatted: got %s, want %s twice", got, want)
		}
	}
}

func TestParseMoneyRefuses(t *testing.T) {
	for _, s := range []string{"", "x", "1.", ".5", "+1", "0x1", "1e9999999", "1 ", "0.1234567891", "NaN", "1,5"} {
		if m, err := Parse(s); err == nil {
			t.Errorf("%q is read as %s, want an error", s, m)
		}
	}
}
