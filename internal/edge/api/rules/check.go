package rules

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"example.org/headroom/internal/core/fault"
	"example.org/headroom/internal/core/strict"
)

// Check returns the violations of a decoded JSON value, with numbers as json.Number or float64. It lists at most
// fault.MaxFindings.
func (s *Shape) Check(value any) []fault.Finding {
	var c checker
	c.check(s, value)
	if c.Unlisted > 0 {
		c.Findings[fault.MaxFindings-1] = fault.Finding{Code: "more", Detail: "And more than these; mend these first."}
	}
	return c.Findings
}

// fits reports whether a value has no violation.
func (s *Shape) fits(value any) bool {
	c := checker{first: true}
	c.check(s, value)
	return len(c.Findings) == 0
}

type checker struct {
	strict.Checker
	first bool // only the first finding is of interest
}

func (c *checker) full() bool { return c.first && len(c.Findings) > 0 || c.Unlisted > 0 }

// add notes a finding at the current place. The first one of a place is enough.
func (c *checker) add(f fault.Finding) {
	f.Pointer = c.At("")
	if f.Hint != nil && f.Hint.Value != nil {
		f.Hint.Pointer = f.Pointer
	}
	switch {
	case slices.ContainsFunc(c.Findings, func(g fault.Finding) bool { return g.Pointer == f.Pointer }):
	case len(c.Findings) < fault.MaxFindings:
		c.Findings = append(c.Findings, f)
	default:
		c.Unlisted++
	}
}

// enter steps to a member, and leave back. A place is of interest to findings alone.
func (c *checker) enter(name string) {
	if len(name) > strict.MaxNameLength {
		name = fmt.Sprintf("%.*s", strict.MaxNameLength, name)
	}
	if !c.first {
		c.Enter(name)
	}
}

func (c *checker) leave() {
	if !c.first {
		c.Leave()
	}
}

// check looks at forms first, then at the words that may stand here, at the kind of the value, and at what it holds.
func (c *checker) check(s *Shape, value any) {
	if value == nil && s.Nullable || c.full() || !c.forms(s, value) {
		return
	}
	if _, text := value.(string); !text && strings.HasPrefix(s.Rules, "oneof=") {
		c.add(noWord(s.words(), value))
		return
	}
	switch x := value.(type) {
	case nil:
		c.add(fault.Finding{Code: "null", Detail: fmt.Sprintf("Here %s is needed, not null; leave the member out where it has no value.", s.wanted())})
	case map[string]any:
		if c.is(s, value, Object) {
			c.rules(s, value)
			c.members(s, x)
		}
	case []any:
		if c.is(s, value, Array) {
			c.rules(s, value)
			for i := 0; s.Items != nil && i < len(x) && !c.full(); i++ {
				if !c.first {
					c.Element(i)
				}
				c.check(s.Items, x[i])
				c.leave()
			}
		}
	case string:
		if c.is(s, value, Text, Time) {
			c.rules(s, value)
		}
	case bool:
		c.is(s, value, Bool)
	case float64:
		if c.is(s, value, Whole, Number) {
			c.rules(s, value)
		}
	case json.Number:
		if number, err := x.Float64(); err != nil {
			c.add(wrongKind(s, value))
		} else if c.is(s, value, Whole, Number) {
			c.rules(s, number)
		}
	}
}

// is reports whether one of these kinds is needed here, and notes a finding otherwise.
func (c *checker) is(s *Shape, value any, kinds ...string) bool {
	if s.Kind == "" || slices.Contains(kinds, s.Kind) {
		return true
	}
	c.add(wrongKind(s, value))
	return false
}

// members checks an object: what it has, in the order of names, then what it lacks.
func (c *checker) members(s *Shape, object map[string]any) {
	known := 0
	for i := range s.Members {
		if _, given := object[s.Members[i].Name]; given {
			known++
		}
	}
	member := func(shape *Shape, name string, value any) {
		c.enter(name)
		if shape != nil {
			c.check(shape, value)
		} else {
			c.add(unknownMember(s, name))
		}
		c.leave()
	}
	switch {
	case known == len(object):
		for i := range s.Members {
			if value, given := object[s.Members[i].Name]; given {
				member(s.Members[i].Shape, s.Members[i].Name, value)
			}
		}
	case c.first: // in any order
		for name, value := range object {
			member(s.member(name), name, value)
		}
	default:
		for _, name := range slices.Sorted(maps.Keys(object)) {
			member(s.member(name), name, object[name])
		}
	}
	for _, name := range s.Required {
		if _, given := object[name]; !given {
			c.missing(name, "it is needed here.")
		}
	}
}

func (c *checker) missing(name, why string) {
	c.enter(name)
	c.add(fault.Finding{Code: "missing", Detail: fmt.Sprintf("The member %q is missing; %s", name, why)})
	c.leave()
}

// forms checks the alternatives of a shape, and reports whether its other rules are to be looked at.
func (c *checker) forms(s *Shape, value any) bool {
	fitting := 0
	for _, form := range s.OneOf {
		if form.fits(value) {
			fitting++
		}
	}
	if len(s.OneOf) > 0 && fitting != 1 {
		c.add(noAmount(value))
		return false
	}
	fits := func(form *Shape) bool { return form.fits(value) }
	if len(s.AnyOf) > 0 && !slices.ContainsFunc(s.AnyOf, fits) {
		if s.AnyOf[0].Rest != nil {
			c.ofForm(s, value)
		} else {
			c.lacks(s, value)
		}
		return false
	}
	for _, form := range s.AllOf {
		if !form.fits(value) {
			c.add(otherwise)
			return false
		}
	}
	return value != nil || len(s.OneOf)+len(s.AnyOf)+len(s.AllOf) == 0
}

// lacks handles an object that lacks members of each of its possible forms. It reports the missing members of the
// form with most members present, of several the last. It checks the other members as well.
func (c *checker) lacks(s *Shape, value any) {
	object, _ := value.(map[string]any)
	var form *Shape
	var missing []string
	most := 0
	for _, f := range s.AnyOf {
		lacks := slices.DeleteFunc(slices.Clone(f.Required), func(name string) bool { _, given := object[name]; return given })
		if given := len(f.Required) - len(lacks); len(lacks) > 0 && given >= most {
			form, missing, most = f, lacks, given
		}
	}
	for _, name := range missing {
		c.missing(name, form.Title+" needs it.")
	}
	before := len(c.Findings)
	rest := *s
	rest.AnyOf = nil
	c.check(&rest, value)
	if missing == nil && len(c.Findings) == before {
		c.add(otherwise)
	}
}

// ofForm handles an object of either named objects or, by the last form, plain members: it reports the violations of
// the form that the object seems to have.
func (c *checker) ofForm(s *Shape, value any) {
	form := s.AnyOf[len(s.AnyOf)-1]
	object, _ := value.(map[string]any)
	for _, member := range object {
		if _, named := member.(map[string]any); named {
			form = s.AnyOf[0]
			break
		}
	}
	c.check(form, value)
}

// Unreadable finds values that fit but cannot be read as what they stand for: a whole number written as 1e3, or an
// amount with too many decimal places.
func (s *Shape) Unreadable(value any) []fault.Finding {
	var c checker
	c.unreadable(s, value)
	return c.Findings
}

func (c *checker) unreadable(s *Shape, value any) {
	for _, form := range slices.Concat(s.AllOf, s.AnyOf) {
		c.unreadable(form, value)
	}
	switch x := value.(type) {
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(x)) {
			if shape := s.member(name); shape != nil {
				c.enter(name)
				c.unreadable(shape, x[name])
				c.leave()
			}
		}
	case []any:
		for i := 0; s.Items != nil && i < len(x); i++ {
			c.Element(i)
			c.unreadable(s.Items, x[i])
			c.Leave()
		}
	case json.Number:
		if _, err := x.Int64(); err != nil && s.Kind == Whole {
			c.add(notWritten(x))
			return
		}
	}
	if len(s.OneOf) > 0 && (value != nil || !s.Nullable) {
		if f := amountFault(value, true); f != nil {
			c.add(*f)
		}
	}
}

// words lists the words that may stand here.
func (s *Shape) words() []string { return strings.Fields(param(s.Rules, "oneof")) }
