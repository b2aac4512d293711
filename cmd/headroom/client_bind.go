package main

import (
	"encoding/json"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/shopspring/decimal"

	"headroom/internal/core/capacity"
	"headroom/internal/core/fault"
	"headroom/internal/core/money"
)

// bind writes a tree as the JSON of a type, which says what the bare words of YAML mean: the name of
// a class is a text whatever it looks like, a price is a number with all its digits. What is not
// given stays out, so that the server decides what is missing. Everything that cannot be meant is one
// error with every place.
func bind(n *node, as reflect.Type) (json.RawMessage, error) {
	b := binder{}
	b.value(n, as, "")
	if len(b.findings) > 0 {
		return nil, fault.Refusal(b.findings, 0)
	}
	return b.out, nil
}

type binder struct {
	out      []byte
	findings []fault.Finding
}

func (b *binder) refuse(p place, code, detail string, values ...any) {
	b.findings = append(b.findings, p.finding(code, detail, values...))
}

// The types that are written as one word although Go has them as structs.
var (
	timeType    = reflect.TypeFor[time.Time]()
	moneyType   = reflect.TypeFor[money.Amount]()
	decimalType = reflect.TypeFor[decimal.Decimal]()
	slotsType   = reflect.TypeFor[capacity.SlotsPerVM]() // slots, or slots by VM type
	openType    = reflect.TypeFor[json.RawMessage]()     // whatever JSON it is
)

// slots is how many slots a VM offers as it is written.
type slots struct {
	Map    int64 `json:"map"`
	Reduce int64 `json:"reduce"`
}

// numeral is a number as JSON has it.
var numeral = regexp.MustCompile(`^-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?$`)

func isNull(n *node) bool {
	return n.kind == bareNode && (n.text == "" || n.text == "~" || strings.EqualFold(n.text, "null"))
}

// value writes one value; name is the member it is given for.
func (b *binder) value(n *node, as reflect.Type, name string) {
	if as.Kind() == reflect.Pointer {
		if isNull(n) {
			b.out = append(b.out, "null"...)
			return
		}
		as = as.Elem()
	}
	switch {
	case n.flag != "" && as.Kind() == reflect.String && as != timeType: // the shell took the quotes away
		b.text(n.text)
	case as == openType:
		b.open(n, name)
	case isNull(n) && as.Kind() == reflect.Slice:
		b.refuse(n.place, "null", "Nothing is given for %q; write [] for an empty list, or leave the member out.", name)
	case isNull(n):
		b.refuse(n.place, "null", "Nothing is given for %q%s", name, orQuotes(as))
	case as == timeType:
		b.time(n, name)
	case as == moneyType || as == decimalType:
		if n.kind == textNode {
			b.text(n.text)
		} else {
			b.number(n, name, "")
		}
	case as == slotsType && slices.ContainsFunc(n.members, func(m member) bool { return m.value.kind == objectNode }):
		b.value(n, reflect.TypeFor[map[string]capacity.SlotsPerVM](), name)
	case as.Kind() == reflect.Struct:
		b.object(n, as, name)
	case as.Kind() == reflect.Map:
		if b.is(n, objectNode, name) {
			b.members(n, func(string) (reflect.Type, bool) { return as.Elem(), true }, name)
		}
	case as.Kind() == reflect.Slice:
		if b.is(n, listNode, name) {
			b.out = append(b.out, '[')
			for i, item := range n.items {
				if i > 0 {
					b.out = append(b.out, ',')
				}
				b.value(item, as.Elem(), name)
			}
			b.out = append(b.out, ']')
		}
	case as.Kind() == reflect.String:
		if n.kind == textNode || b.is(n, bareNode, name) {
			b.text(n.text)
		}
	case as.Kind() == reflect.Bool:
		if b.is(n, bareNode, name) {
			if word := strings.ToLower(n.text); word == "true" || word == "false" {
				b.out = append(b.out, word...)
				return
			}
			b.refuse(n.place, "type", "%q is neither true nor false; write one of them for %q.", clipped(n.text), name)
		}
	default:
		b.number(n, name, "without quotes")
	}
}

// open writes a value of which nothing is known: a bare word is what it is in JSON, or else a text.
func (b *binder) open(n *node, name string) {
	switch {
	case n.kind == objectNode:
		b.members(n, func(string) (reflect.Type, bool) { return openType, true }, name)
	case n.kind == listNode:
		b.value(n, reflect.TypeFor[[]json.RawMessage](), name)
	case n.kind == textNode:
		b.text(n.text)
	case isNull(n):
		b.out = append(b.out, "null"...)
	case n.text == "true", n.text == "false", numeral.MatchString(n.text):
		b.out = append(b.out, n.text...)
	default:
		b.text(n.text)
	}
}

// orQuotes ends the sentence about a member without a value.
func orQuotes(as reflect.Type) string {
	if as.Kind() == reflect.String {
		return `; write "" for an empty text, or put the word in quotes.`
	}
	return "; give a value, or leave the member out."
}

func (b *binder) is(n *node, want nodeKind, name string) bool {
	if n.kind != want {
		what := want.String()
		if want == bareNode {
			what = "one word"
		}
		b.refuse(n.place, "type", "Here stands %s where %q needs %s.", n.kind, name, what)
		return false
	}
	return true
}

func (b *binder) text(s string) {
	text, _ := json.Marshal(s) // a string can always be written
	b.out = append(b.out, text...)
}

// number writes a number as it stands. Forms that some programs read otherwise are refused.
func (b *binder) number(n *node, name, quotes string) {
	text := n.text
	switch {
	case n.kind == textNode && quotes != "":
		b.refuse(n.place, "type", "%q stands in quotes; write the number for %q without them.", clipped(text), name)
	case !b.is(n, bareNode, name):
	case numeral.MatchString(text):
		b.out = append(b.out, text...)
	case len(text) > 1 && strings.Trim(text, "0123456789") == "":
		b.refuse(n.place, "type", "%s starts with a zero: some read it as octal and some do not. Write %q without it.", clipped(text), name)
	default:
		b.refuse(n.place, "type", "%q is no number such as 12 or 0.25; write %q in digits, with a point.", clipped(text), name)
	}
}

// time writes a moment. A date alone is its first moment, UTC.
func (b *binder) time(n *node, name string) {
	if n.kind != textNode && !b.is(n, bareNode, name) {
		return
	}
	moment, ok := momentOf(n.text)
	if !ok {
		b.refuse(n.place, "type", "%q is no time for %q; write it like 2026-01-31T06:00:00Z, or a date like 2026-01-31 for its first moment (UTC).", clipped(n.text), name)
		return
	}
	b.text(moment)
}

func (b *binder) object(n *node, as reflect.Type, name string) {
	if !b.is(n, objectNode, name) {
		return
	}
	known := membersOf(as)
	b.members(n, func(name string) (reflect.Type, bool) {
		t, ok := known.types[name]
		return t, ok
	}, strings.Join(known.names, ", "))
}

// members writes an object; about says which members there may be.
func (b *binder) members(n *node, of func(string) (reflect.Type, bool), about string) {
	b.out = append(b.out, '{')
	first := true
	for _, m := range n.members {
		as, ok := of(m.name)
		if !ok {
			b.refuse(m.place, "unknown_member", "There is no member %q here; there are %s.", clipped(m.name), about)
			continue
		}
		if !first {
			b.out = append(b.out, ',')
		}
		first = false
		b.text(m.name)
		b.out = append(b.out, ':')
		b.value(m.value, as, m.name)
	}
	b.out = append(b.out, '}')
}

// shapeOf is the members that the JSON of a struct has, in order.
type shapeOf struct {
	names []string
	types map[string]reflect.Type
}

var shapes sync.Map // reflect.Type → shapeOf

func membersOf(t reflect.Type) shapeOf {
	if s, ok := shapes.Load(t); ok {
		return s.(shapeOf)
	}
	s := shapeOf{types: map[string]reflect.Type{}}
	if t == slotsType {
		return membersOf(reflect.TypeFor[slots]())
	}
	for i := range t.NumField() {
		field := t.Field(i)
		if field.Anonymous {
			maps.Copy(s.types, membersOf(field.Type).types)
			continue // what the server writes is not offered
		}
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		if name == "-" || name == "" {
			continue
		}
		s.types[name] = field.Type
		if !readOnly[name] {
			s.names = append(s.names, name)
		}
	}
	shapes.Store(t, s)
	return s
}

// readOnly is the members that the server alone decides, besides a Stamp's. They are accepted, so that
// what it answered can be sent again.
var readOnly = map[string]bool{"id": true, "inputs_version": true, "created_at": true, "warnings": true, "drift": true}
