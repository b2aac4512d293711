// Package mutation changes documents, one place at a time, for tests of whatever should notice that.
package mutation

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math/big"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"example.org/headroom/openapi"
)

// Mutant is a document with one place changed.
type Mutant struct {
	At   string // JSON pointer
	How  string
	root *any
	set  func(any)
	was  any
	now  any
}

// removed stands for a member that is not there.
var removed = new(int)

// Text is the changed document.
func (m Mutant) Text() []byte {
	m.set(m.now)
	text, err := json.Marshal(*m.root)
	m.set(m.was)
	if err != nil {
		panic(err) // it was read from JSON
	}
	return text
}

// String says what is changed.
func (m Mutant) String() string { return fmt.Sprintf("%s: %v for %v (%s)", m.At, m.now, m.was, m.How) }

// Path is the place without the numbers of entries.
func (m Mutant) Path() string { return index.ReplaceAllString(m.At, "/#") }

var index = regexp.MustCompile(`/\d+`)

// Of lists the changes of a document, each at one place. A number has its last place changed, is a hundredth larger, or
// nothing. A sentence has two words exchanged, one replaced or lost, or another figure. A word becomes another of its enum
// in openapi.yaml. A list loses an entry, or has one twice or moved. A flag is turned round. A member is null, or missing.
func Of(t *testing.T, document []byte) (all []Mutant) {
	t.Helper()
	root := new(any)
	decoder := json.NewDecoder(bytes.NewReader(document))
	decoder.UseNumber()
	if err := decoder.Decode(root); err != nil {
		t.Fatal(err)
	}
	var walk func(at string, x any, set func(any))
	walk = func(at string, x any, set func(any)) {
		try := func(how string, now any) {
			all = append(all, Mutant{At: at, How: how, root: root, set: set, was: x, now: now})
		}
		if list, is := x.([]any); is && len(list) == 0 {
			try("null for no entry", nil)
		} else if x != nil && at != "" {
			try("null", nil)
		}
		switch x := x.(type) {
		case map[string]any:
			for _, name := range slices.Sorted(maps.Keys(x)) {
				member := x[name]
				put := func(v any) {
					if x[name] = v; v == removed {
						delete(x, name)
					}
				}
				walk(at+"/"+name, member, put)
				all = append(all, Mutant{At: at + "/" + name, How: "removed", root: root, set: put, was: member, now: removed})
			}
		case []any:
			for i := range x {
				walk(fmt.Sprintf("%s/%d", at, i), x[i], func(v any) { x[i] = v })
				try("dropped", slices.Delete(slices.Clone(x), i, i+1))
				try("doubled", slices.Insert(slices.Clone(x), i, x[i]))
				if i > 0 && !reflect.DeepEqual(x[i-1], x[i]) {
					moved := slices.Clone(x)
					moved[i-1], moved[i] = x[i], x[i-1]
					try("moved", moved)
				}
			}
		case json.Number:
			figures(string(x), 40, func(how, now string) { try(how, json.Number(now)) })
		case string:
			texts(at, x, try)
		case bool:
			try("opposite", !x)
		case nil:
			try("figure", "0.5")
			try("figure", json.Number("0.5"))
		}
	}
	walk("", *root, func(v any) { *root = v })
	return all
}

// amountPlaces is the decimal places that amounts may have.
const amountPlaces = 9

var decimal = regexp.MustCompile(`^-?\d+(\.\d+)?([eE][-+]?\d+)?$`)

// figures changes a number as it is written, with so many places at most.
func figures(x string, places int, try func(how, now string)) {
	r, ok := new(big.Rat).SetString(x)
	if !ok {
		return
	}
	mantissa, exponent, _ := strings.Cut(strings.ToLower(x), "e")
	_, fraction, _ := strings.Cut(mantissa, ".")
	last, ok := new(big.Rat).SetString("1e" + "-" + fmt.Sprint(len(fraction)))
	if power, _ := new(big.Rat).SetString("1e" + exponent); ok && power != nil {
		last.Mul(last, power)
	}
	written := func(r *big.Rat) string {
		text := r.FloatString(places)
		if strings.Contains(text, ".") {
			text = strings.TrimRight(strings.TrimRight(text, "0"), ".")
		}
		return text
	}
	change := func(how string, to *big.Rat) {
		by := new(big.Rat).Sub(to, r)
		size := new(big.Rat).Add(big.NewRat(1, 1), new(big.Rat).Abs(r))
		if by.Abs(by).Cmp(size.Mul(size, big.NewRat(1, 1e8))) <= 0 {
			how = Billionth
		}
		try(how, written(to))
	}
	change("last place", new(big.Rat).Add(r, last))
	change("last place", new(big.Rat).Sub(r, last))
	if r.Sign() != 0 {
		change("a hundredth", new(big.Rat).Mul(r, big.NewRat(101, 100)))
		change("nothing", new(big.Rat))
	}
}

// Billionth is the change of a figure that hardly changes.
const Billionth = "a billionth"

// instead are words that turn a sentence round.
var instead = strings.NewReplacer("more", "less", "less", "more", "cheapest", "dearest", "costs", "saves", "refused", "admitted", "least", "most",
	"Raise", "Lower", "VMs", "jobs", "jobs", "VMs", "hour", "day", "promised", "optional", "earlier", "later", "cannot", "can", "rises", "falls", "falls", "rises")

var number = regexp.MustCompile(`\d+(\.\d+)?`)

// texts changes a figure, a word or a sentence.
func texts(at, x string, try func(how string, now any)) {
	words := strings.Fields(x)
	switch {
	case decimal.MatchString(x):
		figures(x, amountPlaces, func(how, now string) { try(how, now) })
	case len(words) < 2:
		others := enums(at[strings.LastIndex(index.ReplaceAllString(at, ""), "/")+1:], x)
		for _, other := range others {
			try("another word", other)
		}
		try("another text", x+"x")
	default:
		for i := 1; i < len(words); i += 1 + len(words)/8 {
			if words[i] != words[i-1] {
				exchanged := slices.Clone(words)
				exchanged[i-1], exchanged[i] = words[i], words[i-1]
				try("words exchanged", strings.Join(exchanged, " "))
			}
			try("a word less", strings.Join(slices.Delete(slices.Clone(words), i, i+1), " "))
		}
		for i, word := range words {
			if other := instead.Replace(word); other != word {
				changed := slices.Clone(words)
				changed[i] = other
				try("a word replaced", strings.Join(changed, " "))
			}
		}
		for _, place := range number.FindAllStringIndex(x, -1) {
			figures(x[place[0]:place[1]], amountPlaces, func(how, now string) {
				if how != Billionth {
					how = "a number in it"
				}
				try(how, x[:place[0]]+now+x[place[1]:])
			})
		}
		try("another sentence", x+" Not so.")
	}
}

// enums lists the other words that openapi.yaml allows for a member with this word.
func enums(member, word string) (others []string) {
	for _, enum := range declared()[member] {
		if slices.Contains(enum, word) {
			for _, other := range enum {
				if other != word && !slices.Contains(others, other) {
					others = append(others, other)
				}
			}
		}
	}
	return others
}

// declared holds the enums of openapi.yaml by the members, or the schemas, that have them.
var declared = func() func() map[string][][]string {
	var known map[string][][]string
	return func() map[string][][]string {
		if known != nil {
			return known
		}
		known = map[string][][]string{}
		for _, m := range regexp.MustCompile(`(\w+): \{[^{}]*enum: \[([^\]]*)\]`).FindAllSubmatch(openapi.Document, -1) {
			known[string(m[1])] = append(known[string(m[1])], strings.Split(strings.ReplaceAll(string(m[2]), `"`, ""), ", "))
		}
		for _, m := range regexp.MustCompile(`(\w+): \{[^{}]*\$ref: '#/components/schemas/(\w+)'`).FindAllSubmatch(openapi.Document, -1) {
			known[string(m[1])] = append(known[string(m[1])], known[string(m[2])]...)
		}
		return known
	}
}()
