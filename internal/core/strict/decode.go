// Package strict reads JSON once and strictly, with a pointer to every fault, and checks values.
package strict

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"unicode/utf8"

	"example.org/headroom/internal/core/fault"
)

// MaxNesting bounds how deep values may be nested; our shapes need at most six levels.
const MaxNesting = 32

// Reader reads JSON text in one pass, without reflection. Text that is not JSON ends the reading (failure). A wrong
// member is noted with its pointer and skipped, so that all such findings are reported at once.
type Reader struct {
	data  []byte
	At    int
	depth int
	path
	Findings []fault.Finding
	unlisted int // findings beyond MaxFindings
	Failure  *fault.Finding
}

// Shape lists the member names of an object; the first Required of them are mandatory.
type Shape struct {
	what     string // for messages, such as "a profile"
	Names    []string
	required int
	others   map[string]string // members that such an object has elsewhere, and who takes them there
}

func NewShape(what string, required []string, optional ...string) *Shape {
	return &Shape{what: what, Names: append(append([]string{}, required...), optional...), required: len(required)}
}

// Elsewhere says who takes members that such an object does not have here.
func (s *Shape) Elsewhere(taken string, names ...string) *Shape {
	s.others = map[string]string{}
	for _, name := range names {
		s.others[name] = taken
	}
	return s
}

// index returns the position of a name in the shape, or -1. The search starts at from, the likely position: members
// tend to be written in the listed order.
func (s *Shape) index(name []byte, from int) int {
	for i := range s.Names {
		if i += from; i >= len(s.Names) {
			i -= len(s.Names)
		}
		if known := s.Names[i]; len(name) == len(known) && string(name) == known {
			return i
		}
	}
	return -1
}

// Given is the set of a shape's members that an object had.
type Given uint32

// Given returns the set of these members.
func (s *Shape) Given(names ...string) (g Given) {
	for _, name := range names {
		g |= 1 << slices.Index(s.Names, name)
	}
	return g
}

// Has reports whether the object had the member.
func (g Given) Has(s *Shape, name string) bool { return g&s.Given(name) != 0 }

// NewReader returns a reader at the start of a document's value.
func NewReader(data []byte) *Reader {
	r := &Reader{data: data, path: make(path, 0, 8)}
	r.start()
	return r
}

// Ahead returns a second reader at the same place, to look ahead without reading.
func (r *Reader) Ahead() *Reader { return &Reader{data: r.data, At: r.At} }

// Since returns the text read since a place.
func (r *Reader) Since(from int) []byte { return r.data[from:r.At] }

// start skips what may precede a document and refuses anything else.
func (r *Reader) start() {
	switch {
	case bytes.HasPrefix(r.data, []byte("\xef\xbb\xbf")):
		r.fail(0, "The document starts with a byte order mark; save it as UTF-8 without one.")
	case bytes.HasPrefix(r.data, []byte("\xff\xfe")), bytes.HasPrefix(r.data, []byte("\xfe\xff")):
		r.fail(0, "The document starts with a UTF-16 byte order mark; save it as UTF-8 without one.")
	case r.Space() == 0 && r.At == len(r.data):
		r.fail(r.At, "The document is empty; give a JSON object.")
	}
}

// End refuses text after the document.
func (r *Reader) End() {
	if r.Space(); r.Failure == nil && r.At < len(r.data) {
		r.fail(r.At, fmt.Sprintf("After the end of the document stands %s; give one document only.", r.character(r.At)))
	}
}

// fail ends the reading: all later reads see the end of the text, and only the first failure counts.
func (r *Reader) fail(at int, detail string) {
	if r.Failure == nil {
		line, column := position(r.data, at)
		r.Failure = &fault.Finding{Pointer: r.pointer(), Detail: detail, Code: "syntax", Line: line, Column: column}
	}
	r.At = len(r.data)
}

// unexpected fails at a byte that cannot occur here.
func (r *Reader) unexpected(want string) {
	if r.At >= len(r.data) {
		r.fail(len(r.data), fmt.Sprintf("The document ends where %s should follow; it seems to be cut off.", want))
		return
	}
	r.fail(r.At, fmt.Sprintf("Here stands %s where %s should stand.", r.character(r.At), want))
}

// position returns the line and column (in characters, from 1) of a byte.
func position(data []byte, at int) (line, column int) {
	before := data[:at]
	line = 1 + bytes.Count(before, []byte("\n"))
	return line, 1 + utf8.RuneCount(before[bytes.LastIndexByte(before, '\n')+1:])
}

// character names the character at a byte for a sentence.
func (r *Reader) character(at int) string {
	c, size := utf8.DecodeRune(r.data[at:])
	switch {
	case c == utf8.RuneError && size == 1:
		return fmt.Sprintf("the byte %#02x", r.data[at])
	case strconv.IsPrint(c):
		return strconv.QuoteRune(c)
	default:
		return fmt.Sprintf("the character %U", c)
	}
}

// full reports that no more findings are listed, so that no more sentences need be made.
func (r *Reader) full() bool { return len(r.Findings) >= fault.MaxFindings }

// Found notes something wrong at the current pointer.
func (r *Reader) Found(code, detail string, hint *fault.Hint) {
	if r.full() {
		r.unlisted++
	} else {
		r.Findings = append(r.Findings, fault.Finding{Pointer: r.pointer(), Detail: detail, Code: code, Hint: hint})
	}
}

// Space passes over white space and answers the byte after it, 0 at the end of the text.
func (r *Reader) Space() byte {
	for ; r.At < len(r.data); r.At++ {
		switch c := r.data[r.At]; c {
		case ' ', '\n', '\t', '\r':
		default:
			return c
		}
	}
	return 0
}

// Object reads an object of a shape. It calls read at each member's value, which read must consume. Unknown, repeated
// and missing members are findings.
func (r *Reader) Object(s *Shape, read func(name string)) (g Given) {
	next := 0
	opened := r.Members(s.what, func(key []byte) {
		i := s.index(key, next)
		next = i + 1
		switch {
		case r.full() && (i < 0 || g&(1<<i) != 0):
			r.unlisted++
			r.Skip()
			return
		case i < 0:
			r.Enter(string(key))
			if taken := s.others[string(key)]; taken == "" {
				r.Found("unknown_member", fmt.Sprintf("%s has no member %q.", fault.Capital(s.what), fault.Clip(string(key))), fault.DidYouMean(string(key), s.Names))
			} else {
				r.Found("unknown_member", fmt.Sprintf("%s has no member %q here: %s. Leave it out.", fault.Capital(s.what), string(key), taken), nil)
			}
			r.Skip()
		case g&(1<<i) != 0:
			r.Enter(s.Names[i])
			r.Twice(s.Names[i])
			r.Skip()
		default:
			g |= 1 << i
			r.Enter(s.Names[i])
			read(s.Names[i])
		}
		r.Leave()
	})
	if opened {
		for i, name := range s.Names[:s.required] {
			if g&(1<<i) == 0 {
				r.Missing(name, s.what)
			}
		}
	}
	return g
}

func (r *Reader) Twice(name string) {
	r.Found("duplicate_member", fmt.Sprintf("The member %q is given twice; keep one.", fault.Clip(name)), nil)
}

// Missing notes that the object being read lacks a member.
func (r *Reader) Missing(name, what string) {
	r.Enter(name)
	r.Found("missing", fmt.Sprintf("The member %q is missing; %s needs it.", name, what), nil)
	r.Leave()
}

// Members reads an object with any member names. It calls read at each member's value, and returns false if the value
// is no object.
func (r *Reader) Members(what string, read func(key []byte)) bool {
	if !r.open('{', what) {
		return false
	}
	for first := true; ; first = false {
		c := r.Space()
		if c == '}' && first {
			break
		}
		if c != '"' {
			switch c {
			case '}':
				r.fail(r.At, "After the comma a member should follow; remove the comma.")
			case '\'', '/':
				r.explain(c)
			default:
				r.unexpected("a member name in double quotes")
			}
			return true
		}
		key, ok := r.Quoted()
		if !ok {
			return true
		}
		if r.Space() != ':' {
			r.unexpected("a colon")
			return true
		}
		r.At++
		r.Space()
		read(key)
		if c := r.Space(); c == '}' {
			break
		} else if c != ',' {
			r.unexpected("a comma or the end of the object, '}',")
			return true
		}
		r.At++
	}
	r.At++
	r.depth--
	return true
}

// Array reads an array. It calls read at each element, with its index, and returns false if the value is no array.
func (r *Reader) Array(what string, read func(i int)) bool {
	if !r.open('[', what) {
		return false
	}
	for i := 0; ; i++ {
		c := r.Space()
		if c == ']' && i == 0 {
			break
		}
		if c == ']' {
			r.fail(r.At, "After the comma an element should follow; remove the comma.")
			return true
		}
		r.Element(i)
		read(i)
		r.Leave()
		if c := r.Space(); c == ']' {
			break
		} else if c != ',' {
			r.unexpected("a comma or the end of the array, ']',")
			return true
		}
		r.At++
	}
	r.At++
	r.depth--
	return true
}

// open passes over the bracket that opens an object or array; another value is a finding.
func (r *Reader) open(bracket byte, what string) bool {
	if r.Space() != bracket {
		kind := "an object"
		if bracket == '[' {
			kind = "an array"
		}
		r.WrongType(fmt.Sprintf("%s (%s)", kind, what))
		return false
	}
	if r.depth++; r.depth > MaxNesting {
		r.fail(r.At, fmt.Sprintf("Here values are nested deeper than %d levels; no document of ours is.", MaxNesting))
		return false
	}
	r.At++
	return true
}

// WrongType notes that the value is of another type than wanted and passes over it.
func (r *Reader) WrongType(want string) {
	switch c := r.Space(); {
	case c == '{':
		r.Found("type", "Here "+want+" is needed, not an object.", nil)
	case c == '[':
		r.Found("type", "Here "+want+" is needed, not an array.", nil)
	case c == '"':
		r.Found("type", "Here "+want+" is needed, not a string.", nil)
	case c == '-' || '0' <= c && c <= '9':
		if !r.Sees("-Infinity") {
			r.Found("type", "Here "+want+" is needed, not a number.", nil)
		}
	case r.Sees("null"):
		r.Found("null", "Here "+want+" is needed, not null.", nil)
	case r.Sees("true"), r.Sees("false"):
		r.Found("type", "Here "+want+" is needed, not true or false.", nil)
	}
	r.Skip()
}

// Sees reports whether a word of JSON (or one mistaken for it) follows.
func (r *Reader) Sees(word string) bool {
	rest := r.data[r.At:]
	return len(rest) >= len(word) && string(rest[:len(word)]) == word &&
		(len(rest) == len(word) || !isWord(rest[len(word)]))
}

func isWord(c byte) bool {
	return c == '_' || '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
}

// Skip passes over a value of any type.
func (r *Reader) Skip() {
	switch c := r.Space(); {
	case c == '{':
		r.Members("", func([]byte) { r.Skip() })
	case c == '[':
		r.Array("", func(int) { r.Skip() })
	case c == '"':
		r.Quoted()
	case r.Sees("null"), r.Sees("true"):
		r.At += 4
	case r.Sees("false"):
		r.At += 5
	case r.notFinite():
	case c == '-' || '0' <= c && c <= '9':
		r.numeral(new(Numeral))
	default:
		r.explain(c)
	}
}

// notFinite notes and passes over the words that some programs write for numbers JSON cannot hold.
func (r *Reader) notFinite() bool {
	for _, word := range [...]string{"NaN", "Infinity", "-Infinity"} {
		if r.Sees(word) {
			r.Found("not_finite", fmt.Sprintf("%s is not a number; give a finite one.", word), nil)
			r.At += len(word)
			return true
		}
	}
	return false
}

// explain fails at a byte that starts no value, with a guess at the writer's intention.
func (r *Reader) explain(c byte) {
	switch {
	case c == '\'':
		r.fail(r.At, "Strings stand in double quotes, not in single ones.")
	case c == '/' || c == '#':
		r.fail(r.At, "JSON has no comments; remove this one.")
	case c == '+':
		r.fail(r.At, "A number has no plus sign in JSON; remove it.")
	case c == '.':
		r.fail(r.At, "A number starts with a digit in JSON; write 0.5 instead of .5.")
	case r.At < len(r.data) && isWord(c):
		end := r.At
		for end < len(r.data) && isWord(r.data[end]) {
			end++
		}
		r.fail(r.At, fmt.Sprintf("%q is no value; strings stand in double quotes, and the words are true, false and null.", fault.Clip(string(r.data[r.At:end]))))
	default:
		r.unexpected("a value")
	}
}
