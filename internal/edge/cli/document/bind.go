package document

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

	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/fault"
	"example.org/headroom/internal/core/money"
	"example.org/headroom/internal/edge/cli/shell"
)

// Bind writes a tree as the JSON of a type, which gives bare words of YAML their meaning. The name of a class is a text
// even if it looks like a number; a price is a number with all its digits. Missing members stay out, so that the server
// decides about them. One error lists every value that makes no sense, with its place.
func Bind(n *Node, as reflect.Type) (json.RawMessage, error) {
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

func (b *binder) refuse(p Place, code, detail string, values ...any) {
	b.findings = append(b.findings, p.finding(code, detail, values...))
}

// The types that are written as one word although Go has them as structs.
var (
	TimeType    = reflect.TypeFor[time.Time]()
	MoneyType   = reflect.TypeFor[money.Amount]()
	DecimalType = reflect.TypeFor[decimal.Decimal]()
	SlotsType   = reflect.TypeFor[capacity.SlotsPerVM]() // slots, or slots by VM type
	openType    = reflect.TypeFor[json.RawMessage]()     // any JSON
)

// Slots holds the slots of a VM as files write them.
type Slots struct {
	Map    int64 `json:"map"`
	Reduce int64 `json:"reduce"`
}

// Numeral is a number as JSON has it.
var Numeral = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?$`) })

func isNull(n *Node) bool {
	return n.Kind == BareNode && (n.Text == "" || n.Text == "~" || strings.EqualFold(n.Text, "null"))
}

// value writes one value; name is the member it is given for.
func (b *binder) value(n *Node, as reflect.Type, name string) {
	if as.Kind() == reflect.Pointer {
		if isNull(n) {
			b.out = append(b.out, "null"...)
			return
		}
		as = as.Elem()
	}
	switch {
	case n.Flag != "" && as.Kind() == reflect.String && as != TimeType: // the shell took the quotes away
		b.text(n.Text)
	case as == openType:
		b.open(n, name)
	case isNull(n) && as.Kind() == reflect.Slice:
		b.refuse(n.Place, "null", "Nothing is given for %q; write [] for an empty list, or leave the member out.", name)
	case isNull(n):
		b.refuse(n.Place, "null", "Nothing is given for %q%s", name, orQuotes(as))
	case as == TimeType:
		b.time(n, name)
	case as == MoneyType || as == DecimalType:
		if n.Kind == TextNode {
			b.text(n.Text)
		} else {
			b.number(n, name, "")
		}
	case as == SlotsType && slices.ContainsFunc(n.Members, func(m Member) bool { return m.Value.Kind == ObjectNode }):
		b.value(n, reflect.TypeFor[map[string]capacity.SlotsPerVM](), name)
	case as.Kind() == reflect.Struct:
		b.object(n, as, name)
	case as.Kind() == reflect.Map:
		if b.is(n, ObjectNode, name) {
			b.members(n, func(string) (reflect.Type, bool) { return as.Elem(), true }, name)
		}
	case as.Kind() == reflect.Slice:
		if b.is(n, ListNode, name) {
			b.out = append(b.out, '[')
			for i, item := range n.Items {
				if i > 0 {
					b.out = append(b.out, ',')
				}
				b.value(item, as.Elem(), name)
			}
			b.out = append(b.out, ']')
		}
	case as.Kind() == reflect.String:
		if n.Kind == TextNode || b.is(n, BareNode, name) {
			b.text(n.Text)
		}
	case as.Kind() == reflect.Bool:
		if b.is(n, BareNode, name) {
			if word := strings.ToLower(n.Text); word == "true" || word == "false" {
				b.out = append(b.out, word...)
				return
			}
			b.refuse(n.Place, "type", "%q is neither true nor false; write one of them for %q.", shell.Clipped(n.Text), name)
		}
	default:
		b.number(n, name, "without quotes")
	}
}

// open writes a value of an unknown type. A bare word keeps its meaning in JSON, or else becomes a text.
func (b *binder) open(n *Node, name string) {
	switch {
	case n.Kind == ObjectNode:
		b.members(n, func(string) (reflect.Type, bool) { return openType, true }, name)
	case n.Kind == ListNode:
		b.value(n, reflect.TypeFor[[]json.RawMessage](), name)
	case n.Kind == TextNode:
		b.text(n.Text)
	case isNull(n):
		b.out = append(b.out, "null"...)
	case n.Text == "true", n.Text == "false", Numeral().MatchString(n.Text):
		b.out = append(b.out, n.Text...)
	default:
		b.text(n.Text)
	}
}

// orQuotes ends the sentence about a member without a value.
func orQuotes(as reflect.Type) string {
	if as.Kind() == reflect.String {
		return `; write "" for an empty text, or put the word in quotes.`
	}
	return "; give a value, or leave the member out."
}

func (b *binder) is(n *Node, want nodeKind, name string) bool {
	if n.Kind != want {
		what := want.String()
		if want == BareNode {
			what = "one word"
		}
		b.refuse(n.Place, "type", "Here stands %s where %q needs %s.", n.Kind, name, what)
		return false
	}
	return true
}

func (b *binder) text(s string) {
	text, _ := json.Marshal(s) // a string can always be written
	b.out = append(b.out, text...)
}

// number writes a number as it stands. Forms that some programs read otherwise are refused.
func (b *binder) number(n *Node, name, quotes string) {
	text := n.Text
	switch {
	case n.Kind == TextNode && quotes != "":
		b.refuse(n.Place, "type", "%q stands in quotes; write the number for %q without them.", shell.Clipped(text), name)
	case !b.is(n, BareNode, name):
	case Numeral().MatchString(text):
		b.out = append(b.out, text...)
	case len(text) > 1 && strings.Trim(text, "0123456789") == "":
		b.refuse(n.Place, "type", "%s starts with a zero: some read it as octal and some do not. Write %q without it.", shell.Clipped(text), name)
	default:
		b.refuse(n.Place, "type", "%q is no number such as 12 or 0.25; write %q in digits, with a point.", shell.Clipped(text), name)
	}
}

// time writes a moment. A date alone is its first moment, UTC.
func (b *binder) time(n *Node, name string) {
	if n.Kind != TextNode && !b.is(n, BareNode, name) {
		return
	}
	moment, ok := shell.MomentOf(n.Text)
	if !ok {
		b.refuse(n.Place, "type", "%q is no time for %q; write it like 2026-01-31T06:00:00Z, or a date like 2026-01-31 for its first moment (UTC).", shell.Clipped(n.Text), name)
		return
	}
	b.text(moment)
}

func (b *binder) object(n *Node, as reflect.Type, name string) {
	if !b.is(n, ObjectNode, name) {
		return
	}
	known := MembersOf(as)
	b.members(n, func(name string) (reflect.Type, bool) {
		t, ok := known.Types[name]
		return t, ok
	}, strings.Join(known.Names, ", "))
}

// members writes an object; about says which members there may be.
func (b *binder) members(n *Node, of func(string) (reflect.Type, bool), about string) {
	b.out = append(b.out, '{')
	first := true
	for _, m := range n.Members {
		as, ok := of(m.Name)
		if !ok {
			b.refuse(m.Place, "unknown_member", "There is no member %q here; there are %s.", shell.Clipped(m.Name), about)
			continue
		}
		if !first {
			b.out = append(b.out, ',')
		}
		first = false
		b.text(m.Name)
		b.out = append(b.out, ':')
		b.value(m.Value, as, m.Name)
	}
	b.out = append(b.out, '}')
}

// shapeOf is the members that the JSON of a struct has, in order.
type shapeOf struct {
	Names []string
	Types map[string]reflect.Type
}

var shapes sync.Map // reflect.Type → shapeOf

func MembersOf(t reflect.Type) shapeOf {
	if s, ok := shapes.Load(t); ok {
		return s.(shapeOf)
	}
	s := shapeOf{Types: map[string]reflect.Type{}}
	if t == SlotsType {
		return MembersOf(reflect.TypeFor[Slots]())
	}
	for i := range t.NumField() {
		field := t.Field(i)
		if field.Anonymous {
			maps.Copy(s.Types, MembersOf(field.Type).Types)
			continue // what the server writes is not offered
		}
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		if name == "-" || name == "" {
			continue
		}
		s.Types[name] = field.Type
		if !readOnly[name] {
			s.Names = append(s.Names, name)
		}
	}
	shapes.Store(t, s)
	return s
}

// readOnly is the members that the server alone decides, besides a Stamp's. They are accepted, so that
// what it answered can be sent again.
var readOnly = map[string]bool{"id": true, "inputs_version": true, "created_at": true, "warnings": true, "drift": true}
