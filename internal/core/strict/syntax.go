package strict

import (
	"bytes"
	"fmt"
	"math"
	"slices"

	"example.org/headroom/internal/core/fault"
)

// CheckSyntax reads any JSON document. It refuses what readers interpret differently: repeated members, NaN, numbers
// beyond all bounds, NUL characters, deep nesting and text that is not UTF-8. It also refuses everything that
// ReadProblem would not read. The error is an *InputError.
func CheckSyntax(data []byte) error {
	r := NewReader(data)
	r.Value()
	r.End()
	return r.Result(func(*Checker) {})
}

// maxMembers bounds the remembered names of an object; the largest sensible object has one for each of ten thousand
// classes.
const maxMembers = 20_000

// Value reads any value and notes findings inside it.
func (r *Reader) Value() {
	switch c := r.Space(); {
	case c == '{':
		var names []string
		seen := map[string]bool{} // of objects with many members
		n := 0
		r.Members("", func(key []byte) {
			if n++; n > maxMembers {
				r.fail(r.At, fmt.Sprintf("An object has more than %d members, the most that are read.", maxMembers))
				return
			}
			name := string(key)
			r.Enter(name)
			if seen[name] || len(seen) == 0 && slices.Contains(names, name) {
				r.Twice(name)
			}
			if names = append(names, name); len(names) == 16 || len(seen) > 0 {
				for _, n := range names {
					seen[n] = true
				}
				names = names[:0]
			}
			r.CheckText(key)
			r.Value()
			r.Leave()
		})
	case c == '[':
		r.Array("", func(int) { r.Value() })
	case c == '"':
		if text, ok := r.Quoted(); ok {
			r.CheckText(text)
		}
	case (c == '-' || '0' <= c && c <= '9') && !r.Sees("-Infinity"):
		if n := new(Numeral); r.numeral(n) && (longPower(n.Text) || math.IsInf(n.Float(), 0)) {
			r.Found("range", fmt.Sprintf("%s is beyond what a number can be.", fault.Clip(string(n.Text))), nil)
		}
	default:
		r.Skip()
	}
}

// longPower reports whether a number's power of ten has more than three digits. No float64 needs them, and exact
// decimals would take for ever to add.
func longPower(text []byte) bool {
	e := bytes.IndexAny(text, "eE")
	return e >= 0 && len(bytes.TrimLeft(text[e+1:], "+-")) > 3
}

func (r *Reader) CheckText(text []byte) {
	if slices.Contains(text, 0) {
		r.Found("text", "The text has a NUL character in it; remove it.", nil)
	}
}
