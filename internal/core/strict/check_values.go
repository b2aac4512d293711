package strict

import (
	"fmt"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"example.org/headroom/internal/core/fault"
)

// MaxAhead bounds how far in the future past events may lie, because clocks differ a little.
const MaxAhead = time.Minute

// MaxNameLength is the maximum number of characters of a name.
const MaxNameLength = 200

// MaxCompared bounds the known names that mistaken ones are compared with. It covers every mistake of a usual
// problem; a hostile one costs some tenths of a second.
const MaxCompared = 50_000

// MaxDescription is the maximum number of bytes of a description or note.
const MaxDescription = 2000

// Names maps names to indices.
type Names map[string]int

// Add refuses a name that something of the same kind has already.
func (n Names) Add(c *Checker, kind, name string, i int) {
	j, taken := n[name]
	if !taken {
		n[name] = i
		return
	}
	if name != "" { // an empty name is refused already
		c.Refuse("name", "duplicate_name", "The %s with index %d is called %q as well; give each %s a name of its own.", kind, j, fault.Clip(name), kind)
	}
}

func Check(check func(*Checker)) error {
	var k Checker
	check(&k)
	return fault.Refusal(k.Findings, k.Unlisted)
}

// StoredName checks a name that can be part of an address.
func (c *Checker) StoredName(name string) {
	switch {
	case name == "." || name == "..":
		c.Refuse("name", "text", "The name %q means something else in addresses; give another.", name)
	case name != strings.TrimSpace(name):
		c.Found("name", "text", fmt.Sprintf("The name %q begins or ends with a space.", fault.Clip(name)), c.Hint("name", strings.TrimSpace(name), "Write it without."))
	default:
		c.Name(name)
	}
}

func (c *Checker) Description(member, text string) {
	switch {
	case len(text) > MaxDescription:
		c.Refuse(member, "too_long", "The text has %d bytes; at most %d are kept.", len(text), MaxDescription)
	case strings.ContainsRune(text, 0):
		c.Refuse(member, "text", "The text has a NUL character in it; remove it.")
	}
}

// Moment checks a point in time that calendars and the database represent equally.
func (c *Checker) Moment(member string, t time.Time) bool {
	const day = 24 * 3600
	_, offset := t.Zone()
	switch year := t.UTC().Year(); {
	case offset <= -day || offset >= day:
		c.Refuse(member, "range", "The time's offset from UTC is a day or more; offsets are shorter, such as +02:00.")
	case t.IsZero():
		c.Refuse(member, "missing", "The time is missing; give one such as \"2026-01-01T00:00:00Z\".")
	case year < 1970 || year > 2200:
		c.Refuse(member, "range", "The year is %d; times from 1970 to 2200 can be planned.", year)
	default:
		return true
	}
	return false
}

// Term refuses periods shorter than a microsecond, the smallest stored unit.
func (c *Checker) Term(what string, from, until time.Time) {
	from, until = from.Truncate(time.Microsecond), until.Truncate(time.Microsecond)
	switch {
	case until.Equal(from):
		c.Refuse("until", "order", "%s ends the moment it starts, %s; give a later end.", what, from.UTC().Format(time.RFC3339Nano))
	case until.Before(from):
		c.Refuse("until", "order", "%s ends at %s, before it starts at %s; perhaps the two are swapped.", what, until.UTC().Format(time.RFC3339), from.UTC().Format(time.RFC3339))
	}
}

// Between refuses numbers outside the range from low to high, and then returns false.
func (c *Checker) Between(member, what string, x, low, high float64) bool {
	if x >= low && x <= high {
		return true
	}
	if c.Finite(member, what, x) {
		c.Refuse(member, "range", "%s is %s; it must be from %s to %s.", what, fault.Plain(x), fault.Plain(low), fault.Plain(high))
	}
	return false
}

// NameAt checks the name in another member as StoredName does.
func (c *Checker) NameAt(member, name string) {
	before := len(c.Findings)
	c.StoredName(name)
	for i := range c.Findings[before:] {
		f := &c.Findings[before+i]
		f.Pointer = strings.TrimSuffix(f.Pointer, "name") + member
		if f.Hint != nil {
			f.Hint.Pointer = f.Pointer
		}
	}
}

// Label checks a name that is not part of an address.
func (c *Checker) Label(member, text string) {
	if plainName(text) {
		return
	}
	if text == "" || !utf8.ValidString(text) || utf8.RuneCountInString(text) > MaxNameLength || strings.ContainsFunc(text, unicode.IsControl) {
		c.Refuse(member, "text", "%q is no name: give 1 to %d characters without control characters.", fault.Clip(text), MaxNameLength)
	}
}

// UnknownName refuses a name that nothing of a kind has, and suggests the one probably meant.
func UnknownName(c *Checker, member, kind, name string, known []string) {
	var hint *fault.Hint
	if best := fault.Nearest(name, known[:min(len(known), MaxCompared)]); best != "" {
		hint = c.Hint(member, best, "Did you mean %q?", best)
	} else if len(known) > 0 {
		hint = &fault.Hint{Detail: fmt.Sprintf("There is %q, for instance.", fault.Clip(known[0]))}
	}
	c.Found(member, "unknown_name", fmt.Sprintf("There is no %s %q.", kind, fault.Clip(name)), hint)
}

// Optional checks a word that may be missing.
func Optional[T ~string](c *Checker, member string, x T, known []T) {
	if x != "" {
		OneOf(c, member, x, known)
	}
}

// Above checks that a number, if present, is above 0.
func Above(c *Checker, member, what string, x *float64, limit float64) {
	if x != nil && c.Number(member, what, "", *x, limit) && *x == 0 {
		c.Refuse(member, "range", "%s is 0; it must be above 0.", what)
	}
}

// Within checks a whole number, if present.
func Within(c *Checker, member, what, unit string, x *int64, low, high int64) {
	if x != nil {
		c.Whole(member, what, unit, *x, low, high)
	}
}

func AtMost(c *Checker, member, what string, n, most int) {
	if n > most {
		c.Refuse(member, "too_many", "There are %d %s; %d are possible.", n, what, most)
	}
}

// Each checks the elements of a list, each at its own pointer.
func Each[T any](c *Checker, member string, items []T, check func(*T)) {
	c.Enter(member)
	for i := range items {
		c.Enter(fmt.Sprint(i))
		check(&items[i])
		c.Leave()
	}
	c.Leave()
}

// plainName reports whether a name is short printable ASCII. Most names are, and need no other check.
func plainName(name string) bool {
	for i := range len(name) {
		if c := name[i]; c < ' ' || c > '~' {
			return false
		}
	}
	return name != "" && len(name) <= MaxNameLength
}
