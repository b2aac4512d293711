package capacity

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/shopspring/decimal"
)

// checker collects findings about the value at path below base. covered, if given, says that a
// pointer has a finding already.
type checker struct {
	base string
	path
	findings []Finding
	unlisted int // findings beyond MaxFindings
	covered  func(pointer string) bool
}

// at is the pointer to a member of the value being checked; "" is the value itself.
func (c *checker) at(member string) string {
	pointer := c.base + c.pointer()
	if member != "" {
		pointer += "/" + pointerEscapes.Replace(member)
	}
	return pointer
}

func (c *checker) found(member, code, detail string, hint *Hint) {
	switch {
	case c.covered != nil && c.covered(c.at(member)):
	case len(c.findings) >= MaxFindings:
		c.unlisted++
	default:
		c.findings = append(c.findings, Finding{Pointer: c.at(member), Code: code, Detail: detail, Hint: hint})
	}
}

// refuse notes a finding whose sentence holds the way out.
func (c *checker) refuse(member, code, detail string, values ...any) {
	c.found(member, code, fmt.Sprintf(detail, values...), nil)
}

// hint is the cure that puts a value at a member.
func (c *checker) hint(member string, value any, detail string, values ...any) *Hint {
	return &Hint{Detail: fmt.Sprintf(detail, values...), Pointer: c.at(member), Value: value}
}

func (c *checker) name(name string) {
	if plainName(name) {
		return
	}
	runes := utf8.RuneCountInString(name)
	switch {
	case name == "":
		c.refuse("name", "text", "The name is empty; give one of 1 to %d characters.", MaxNameLength)
	case !utf8.ValidString(name):
		c.refuse("name", "text", "The name %q is not UTF-8.", clip(name))
	case runes > MaxNameLength:
		c.refuse("name", "text", "The name has %d characters; shorten it to at most %d.", runes, MaxNameLength)
	default:
		if i := strings.IndexFunc(name, unicode.IsControl); i >= 0 {
			r, _ := utf8.DecodeRuneInString(name[i:])
			c.refuse("name", "text", "The name %q has the control character %U in it; remove it.", clip(name), r)
		}
	}
}

// plainName says that a name is of printable ASCII and not too long: most are, and need no other look.
func plainName(name string) bool {
	for i := range len(name) {
		if c := name[i]; c < ' ' || c > '~' {
			return false
		}
	}
	return name != "" && len(name) <= MaxNameLength
}

func (c *checker) whole(member, what, unit string, x, low, high int64) {
	if x < low || x > high {
		nearest := min(max(x, low), high)
		if unit != "" {
			unit = " " + unit
		}
		c.found(member, "range", fmt.Sprintf("%s is %d; it must be from %d to %d%s.", what, x, low, high, unit),
			c.hint(member, nearest, "The nearest is %d.", nearest))
	}
}

// number refuses what is not finite, negative or above the limit; it is false then.
func (c *checker) number(member, what, unit string, x, limit float64) bool {
	if x >= 0 && x <= limit {
		return true
	}
	if unit != "" {
		unit = " " + unit
	}
	switch {
	case !c.finite(member, what, x):
	case x < 0:
		c.refuse(member, "range", "%s is %s%s; it cannot be negative.", what, plain(x), unit)
	default:
		c.refuse(member, "range", "%s is %s%s; it can be %s%s at most.", what, plain(x), unit, plain(limit), unit)
	}
	return false
}

func (c *checker) finite(member, what string, x float64) bool {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		c.refuse(member, "not_finite", "%s is %v; give a finite number.", what, x)
		return false
	}
	return true
}

var maxMoney = decimal.New(MaxMoney, 0)

func (c *checker) money(member, what string, m Money) {
	if n, exact := m.Billionths(); exact && n >= 0 && n <= MaxMoney*1e9 {
		return
	}
	switch {
	case m.IsNegative():
		c.refuse(member, "range", "%s is %s; it cannot be negative.", what, clip(m.Decimal.String()))
	case m.GreaterThan(maxMoney):
		c.refuse(member, "range", "%s is %s; it can be %d at most.", what, clip(m.Decimal.String()), MaxMoney)
	case placesBeyond(m.Decimal, MoneyPlaces):
		c.places(member, m.Decimal, MoneyPlaces)
	}
}

// places notes a decimal with more places than are kept.
func (c *checker) places(member string, d decimal.Decimal, places int) {
	detail, rounded := tooManyPlaces(d, places)
	c.found(member, "precision", detail, c.hint(member, rounded, "Write %q.", rounded))
}

func placesBeyond(d decimal.Decimal, places int) bool {
	return d.Exponent() < -int32(places) && !d.Equal(d.Truncate(int32(places)))
}

func tooManyPlaces(d decimal.Decimal, places int) (detail, rounded string) {
	return fmt.Sprintf("%s has more than %d decimal places.", clip(d.String()), places), d.Round(int32(places)).String()
}

func oneOf[T ~string](c *checker, member string, x T, known []T) {
	if !slices.Contains(known, x) {
		detail, best := unknownWord(string(x), words(known))
		var hint *Hint
		if best != "" {
			hint = c.hint(member, best, "Did you mean %q?", best)
		}
		c.found(member, "choice", detail, hint)
	}
}

func words[T ~string](known []T) []string {
	all := make([]string, len(known))
	for i, k := range known {
		all[i] = string(k)
	}
	return all
}

// plain writes a number as people do, without an exponent where it is not absurd.
func plain(x float64) string {
	if a := math.Abs(x); a != 0 && (a < 1e-6 || a >= 1e15) {
		return strconv.FormatFloat(x, 'g', -1, 64)
	}
	return strconv.FormatFloat(x, 'f', -1, 64)
}
