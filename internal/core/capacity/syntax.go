package capacity

import (
	"bytes"
	"fmt"
	"math"
	"slices"
)

// CheckSyntax reads a JSON document whatever its members, and refuses what readers take in different
// ways: repeated members, NaN, numbers beyond all bounds, NUL characters, deep nesting, text that is
// not UTF-8, and whatever ReadProblem would not read. The error is an *InputError.
func CheckSyntax(data []byte) error {
	r := &reader{data: data, path: make(path, 0, 8)}
	r.start()
	r.value()
	r.end()
	return r.result(func(*checker) {})
}

// mostMembers bounds the names that are kept of an object; the largest that mean something have one for each of
// ten thousand classes.
const mostMembers = 20_000

// value reads any value, noting what is wrong inside it.
func (r *reader) value() {
	switch c := r.space(); {
	case c == '{':
		var names []string
		seen := map[string]bool{} // of objects with many members
		n := 0
		r.members("", func(key []byte) {
			if n++; n > mostMembers {
				r.fail(r.at, fmt.Sprintf("An object has more than %d members, the most that are read.", mostMembers))
				return
			}
			name := string(key)
			r.enter(name)
			if seen[name] || len(seen) == 0 && slices.Contains(names, name) {
				r.twice(name)
			}
			if names = append(names, name); len(names) == 16 || len(seen) > 0 {
				for _, n := range names {
					seen[n] = true
				}
				names = names[:0]
			}
			r.checkText(key)
			r.value()
			r.leave()
		})
	case c == '[':
		r.array("", func(int) { r.value() })
	case c == '"':
		if text, ok := r.quoted(); ok {
			r.checkText(text)
		}
	case (c == '-' || '0' <= c && c <= '9') && !r.sees("-Infinity"):
		if n := new(numeral); r.numeral(n) && (longPower(n.text) || math.IsInf(n.float(), 0)) {
			r.found("range", fmt.Sprintf("%s is beyond what a number can be.", clip(string(n.text))), nil)
		}
	default:
		r.skip()
	}
}

// longPower says whether a number's power of ten has more than three digits: no float64 needs them, and
// exact decimals would take for ever to add.
func longPower(text []byte) bool {
	e := bytes.IndexAny(text, "eE")
	return e >= 0 && len(bytes.TrimLeft(text[e+1:], "+-")) > 3
}

func (r *reader) checkText(text []byte) {
	if slices.Contains(text, 0) {
		r.found("text", "The text has a NUL character in it; remove it.", nil)
	}
}

// Nearest is the known name that a mistaken one may have meant; "" where none is near.
func Nearest(name string, known []string) string { return nearest(name, known) }
