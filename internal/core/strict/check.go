package strict

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/shopspring/decimal"

	"example.org/headroom/internal/core/fault"
)

// Checker collects findings about the value at path below base. covered, if set, reports whether a pointer already
// has a finding.
type Checker struct {
	Base string
	path
	Findings []fault.Finding
	Unlisted int // findings beyond MaxFindings
	Covered  func(pointer string) bool
	spoilt   bool // a member could not be read
}

// Sound reports that every member was read and nothing is wrong so far. Only then may a check compute with the value.
func (c *Checker) Sound() bool { return !c.spoilt && len(c.Findings) == 0 && c.Unlisted == 0 }

// At returns the pointer to a member of the checked value; "" is the value itself.
func (c *Checker) At(member string) string {
	pointer := c.Base + c.pointer()
	if member != "" {
		pointer += "/" + PointerEscapes.Replace(member)
	}
	return pointer
}

func (c *Checker) Found(member, code, detail string, hint *fault.Hint) {
	switch {
	case c.Covered != nil && c.Covered(c.At(member)):
	case len(c.Findings) >= fault.MaxFindings:
		c.Unlisted++
	default:
		c.Findings = append(c.Findings, fault.Finding{Pointer: c.At(member), Code: code, Detail: detail, Hint: hint})
	}
}

// Refuse notes a finding whose sentence already gives the remedy.
func (c *Checker) Refuse(member, code, detail string, values ...any) {
	c.Found(member, code, fmt.Sprintf(detail, values...), nil)
}

// Hint returns a cure that puts a value at a member.
func (c *Checker) Hint(member string, value any, detail string, values ...any) *fault.Hint {
	return &fault.Hint{Detail: fmt.Sprintf(detail, values...), Pointer: c.At(member), Value: value}
}

func (c *Checker) Name(name string) {
	if plainName(name) {
		return
	}
	runes := utf8.RuneCountInString(name)
	switch {
	case name == "":
		c.Refuse("name", "text", "The name is empty; give one of 1 to %d characters.", MaxNameLength)
	case !utf8.ValidString(name):
		c.Refuse("name", "text", "The name %q is not UTF-8.", fault.Clip(name))
	case runes > MaxNameLength:
		c.Refuse("name", "text", "The name has %d characters; shorten it to at most %d.", runes, MaxNameLength)
	default:
		if i := strings.IndexFunc(name, unicode.IsControl); i >= 0 {
			r, _ := utf8.DecodeRuneInString(name[i:])
			c.Refuse("name", "text", "The name %q has the control character %U in it; remove it.", fault.Clip(name), r)
		}
	}
}

func (c *Checker) Whole(member, what, unit string, x, low, high int64) {
	if x < low || x > high {
		nearest := min(max(x, low), high)
		if unit != "" {
			unit = " " + unit
		}
		c.Found(member, "range", fmt.Sprintf("%s is %d; it must be from %d to %d%s.", what, x, low, high, unit),
			c.Hint(member, nearest, "The nearest is %d.", nearest))
	}
}

// Number refuses numbers that are not finite, negative or above the limit, and then returns false.
func (c *Checker) Number(member, what, unit string, x, limit float64) bool {
	if x >= 0 && x <= limit {
		return true
	}
	if unit != "" {
		unit = " " + unit
	}
	switch {
	case !c.Finite(member, what, x):
	case x < 0:
		c.Refuse(member, "range", "%s is %s%s; it cannot be negative.", what, fault.Plain(x), unit)
	default:
		c.Refuse(member, "range", "%s is %s%s; it can be %s%s at most.", what, fault.Plain(x), unit, fault.Plain(limit), unit)
	}
	return false
}

func (c *Checker) Finite(member, what string, x float64) bool {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		c.Refuse(member, "not_finite", "%s is %v; give a finite number.", what, x)
		return false
	}
	return true
}

// Places notes a decimal with more places than are stored.
func (c *Checker) Places(member string, d decimal.Decimal, places int) {
	detail, rounded := tooManyPlaces(d, places)
	c.Found(member, "precision", detail, c.Hint(member, rounded, "Write %q.", rounded))
}

func PlacesBeyond(d decimal.Decimal, places int) bool {
	return d.Exponent() < -int32(places) && !d.Equal(d.Truncate(int32(places)))
}

func tooManyPlaces(d decimal.Decimal, places int) (detail, rounded string) {
	return fmt.Sprintf("%s has more than %d decimal places.", fault.Clip(d.String()), places), d.Round(int32(places)).String()
}

func OneOf[T ~string](c *Checker, member string, x T, known []T) {
	if !slices.Contains(known, x) {
		detail, best := fault.UnknownWord(string(x), fault.Words(known))
		var hint *fault.Hint
		if best != "" {
			hint = c.Hint(member, best, "Did you mean %q?", best)
		}
		c.Found(member, "choice", detail, hint)
	}
}
