package money

import (
	"fmt"
	"strings"

	"github.com/shopspring/decimal"

	"example.org/headroom/internal/core/fault"
	"example.org/headroom/internal/core/strict"
)

// Max bounds amounts: beyond it somebody has mistaken a unit.
const Max = 1_000_000_000

var MaxDecimal = decimal.New(Max, 0)

func Check(c *strict.Checker, member, what string, m Amount) {
	if n, exact := m.Billionths(); exact && n >= 0 && n <= Max*1e9 {
		return
	}
	switch {
	case m.IsNegative():
		c.Refuse(member, "range", "%s is %s; it cannot be negative.", what, fault.Clip(m.Decimal.String()))
	case m.GreaterThan(MaxDecimal):
		c.Refuse(member, "range", "%s is %s; it can be %d at most.", what, fault.Clip(m.Decimal.String()), Max)
	case strict.PlacesBeyond(m.Decimal, Places):
		c.Places(member, m.Decimal, Places)
	}
}

func Read(r *strict.Reader, m *Amount) { r.Exact(&m.Decimal, Places, "0.10") }

// ReadStrictly reads the amount as a field of a struct.
func (m *Amount) ReadStrictly(r *strict.Reader) { Read(r, m) }

func CheckCurrency(c *strict.Checker, currency string) {
	const capitals = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	code := func(s string) bool { return len(s) == 3 && strings.Trim(s, capitals) == "" }
	if code(currency) {
		return
	}
	var hint *fault.Hint
	if upper := strings.ToUpper(strings.TrimSpace(currency)); code(upper) {
		hint = c.Hint("currency", upper, "Write %q.", upper)
	}
	c.Found("currency", "text", fmt.Sprintf("%q is no currency; give three capital letters such as \"USD\".", fault.Clip(currency)), hint)
}
