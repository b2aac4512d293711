package capacity

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"unicode/utf8"
)

// maxNesting bounds how deep values may stand in one another; no shape of ours needs more than six.
const maxNesting = 32

// reader reads JSON text in one pass, without reflection. It knows two kinds of fault: text that is
// not JSON ends the reading (failure), while a member that is wrong is noted with its pointer and
// passed over, so that all such findings are reported at once.
type reader struct {
	data  []byte
	at    int
	depth int
	path
	findings []Finding
	unlisted int // findings beyond MaxFindings
	failure  *Finding
}

// shape is the member names an object may have; the first Required of them must be there.
type shape struct {
	what     string // such as "a profile", for sentences
	names    []string
	required int
}

func newShape(what string, required []string, optional ...string) *shape {
	return &shape{what, append(append([]string{}, required...), optional...), len(required)}
}

// index is where a name stands among the shape's; -1 where it does not. The search starts at a place
// where it probably stands: members tend to be written in the order they are listed in.
func (s *shape) index(name []byte, from int) int {
	for i := range s.names {
		if i += from; i >= len(s.names) {
			i -= len(s.names)
		}
		if known := s.names[i]; len(name) == len(known) && string(name) == known {
			return i
		}
	}
	return -1
}

// given is the set of a shape's members that an object had.
type given uint32

// given is the set of these members.
func (s *shape) given(names ...string) (g given) {
	for _, name := range names {
		g |= 1 << slices.Index(s.names, name)
	}
	return g
}

// has says whether the object had the member.
func (g given) has(s *shape, name string) bool { return g&s.given(name) != 0 }

// start passes over what may precede a document and refuses what may not.
func (r *reader) start() {
	switch {
	case bytes.HasPrefix(r.data, []byte("\xef\xbb\xbf")):
		r.fail(0, "The document starts with a byte order mark; save it as UTF-8 without one.")
	case bytes.HasPrefix(r.data, []byte("\xff\xfe")), bytes.HasPrefix(r.data, []byte("\xfe\xff")):
		r.fail(0, "The document starts with a UTF-16 byte order mark; save it as UTF-8 without one.")
	case r.space() == 0 && r.at == len(r.data):
		r.fail(r.at, "The document is empty; give a JSON object.")
	}
}

// end refuses text after the document.
func (r *reader) end() {
	if r.space(); r.failure == nil && r.at < len(r.data) {
		r.fail(r.at, fmt.Sprintf("After the end of the document stands %s; give one document only.", r.character(r.at)))
	}
}

// fail ends the reading: everything after sees the end of the text, and only the first failure counts.
func (r *reader) fail(at int, detail string) {
	if r.failure == nil {
		line, column := position(r.data, at)
		r.failure = &Finding{Pointer: r.pointer(), Detail: detail, Code: "syntax", Line: line, Column: column}
	}
	r.at = len(r.data)
}

// unexpected is the failure at a byte that cannot stand where it does.
func (r *reader) unexpected(want string) {
	if r.at >= len(r.data) {
		r.fail(len(r.data), fmt.Sprintf("The document ends where %s should follow; it seems to be cut off.", want))
		return
	}
	r.fail(r.at, fmt.Sprintf("Here stands %s where %s should stand.", r.character(r.at), want))
}

// position is the line and column (in characters, from 1) of a byte.
func position(data []byte, at int) (line, column int) {
	before := data[:at]
	line = 1 + bytes.Count(before, []byte("\n"))
	return line, 1 + utf8.RuneCount(before[bytes.LastIndexByte(before, '\n')+1:])
}

// character names the character at a byte for a sentence.
func (r *reader) character(at int) string {
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

// full says that no more findings are listed, so that nothing need be put into words.
func (r *reader) full() bool { return len(r.findings) >= MaxFindings }

// found notes something wrong at the current pointer.
func (r *reader) found(code, detail string, hint *Hint) {
	if r.full() {
		r.unlisted++
	} else {
		r.findings = append(r.findings, Finding{Pointer: r.pointer(), Detail: detail, Code: code, Hint: hint})
	}
}

// space passes over white space and answers the byte after it, 0 at the end of the text.
func (r *reader) space() byte {
	for ; r.at < len(r.data); r.at++ {
		switch c := r.data[r.at]; c {
		case ' ', '\n', '\t', '\r':
		default:
			return c
		}
	}
	return 0
}

// object reads an object of a shape; read is called at each member's value and must consume it.
// Unknown, repeated and missing members are findings.
func (r *reader) object(s *shape, read func(name string)) (g given) {
	next := 0
	opened := r.members(s.what, func(key []byte) {
		i := s.index(key, next)
		next = i + 1
		switch {
		case r.full() && (i < 0 || g&(1<<i) != 0):
			r.unlisted++
			r.skip()
			return
		case i < 0:
			r.enter(string(key))
			r.found("unknown_member", fmt.Sprintf("%s has no member %q.", capital(s.what), clip(string(key))), didYouMean(string(key), s.names))
			r.skip()
		case g&(1<<i) != 0:
			r.enter(s.names[i])
			r.twice(s.names[i])
			r.skip()
		default:
			g |= 1 << i
			r.enter(s.names[i])
			read(s.names[i])
		}
		r.leave()
	})
	if opened {
		for i, name := range s.names[:s.required] {
			if g&(1<<i) == 0 {
				r.missing(name, s.what)
			}
		}
	}
	return g
}

func (r *reader) twice(name string) {
	r.found("duplicate_member", fmt.Sprintf("The member %q is given twice; keep one.", clip(name)), nil)
}

// missing notes that the object being read lacks a member.
func (r *reader) missing(name, what string) {
	r.enter(name)
	r.found("missing", fmt.Sprintf("The member %q is missing; %s needs it.", name, what), nil)
	r.leave()
}

// members reads an object's members whatever their names; read is called at each member's value. It
// is false where the value is no object.
func (r *reader) members(what string, read func(key []byte)) bool {
	if !r.open('{', what) {
		return false
	}
	for first := true; ; first = false {
		c := r.space()
		if c == '}' && first {
			break
		}
		if c != '"' {
			switch c {
			case '}':
				r.fail(r.at, "After the comma a member should follow; remove the comma.")
			case '\'', '/':
				r.explain(c)
			default:
				r.unexpected("a member name in double quotes")
			}
			return true
		}
		key, ok := r.quoted()
		if !ok {
			return true
		}
		if r.space() != ':' {
			r.unexpected("a colon")
			return true
		}
		r.at++
		r.space()
		read(key)
		if c := r.space(); c == '}' {
			break
		} else if c != ',' {
			r.unexpected("a comma or the end of the object, '}',")
			return true
		}
		r.at++
	}
	r.at++
	r.depth--
	return true
}

// array reads an array; read is called at each element, with its index. It is false where the value
// is no array.
func (r *reader) array(what string, read func(i int)) bool {
	if !r.open('[', what) {
		return false
	}
	for i := 0; ; i++ {
		c := r.space()
		if c == ']' && i == 0 {
			break
		}
		if c == ']' {
			r.fail(r.at, "After the comma an element should follow; remove the comma.")
			return true
		}
		r.element(i)
		read(i)
		r.leave()
		if c := r.space(); c == ']' {
			break
		} else if c != ',' {
			r.unexpected("a comma or the end of the array, ']',")
			return true
		}
		r.at++
	}
	r.at++
	r.depth--
	return true
}

// open passes over the bracket that opens an object or array; another value is a finding.
func (r *reader) open(bracket byte, what string) bool {
	if r.space() != bracket {
		kind := "an object"
		if bracket == '[' {
			kind = "an array"
		}
		r.wrongType(fmt.Sprintf("%s (%s)", kind, what))
		return false
	}
	if r.depth++; r.depth > maxNesting {
		r.fail(r.at, fmt.Sprintf("Here values are nested deeper than %d levels; no document of ours is.", maxNesting))
		return false
	}
	r.at++
	return true
}

// wrongType notes that the value is of another type than wanted and passes over it.
func (r *reader) wrongType(want string) {
	switch c := r.space(); {
	case c == '{':
		r.found("type", "Here "+want+" is needed, not an object.", nil)
	case c == '[':
		r.found("type", "Here "+want+" is needed, not an array.", nil)
	case c == '"':
		r.found("type", "Here "+want+" is needed, not a string.", nil)
	case c == '-' || '0' <= c && c <= '9':
		if !r.sees("-Infinity") {
			r.found("type", "Here "+want+" is needed, not a number.", nil)
		}
	case r.sees("null"):
		r.found("null", "Here "+want+" is needed, not null.", nil)
	case r.sees("true"), r.sees("false"):
		r.found("type", "Here "+want+" is needed, not true or false.", nil)
	}
	r.skip()
}

// sees says whether a word of JSON (or of what is taken for it) stands here.
func (r *reader) sees(word string) bool {
	rest := r.data[r.at:]
	return len(rest) >= len(word) && string(rest[:len(word)]) == word &&
		(len(rest) == len(word) || !isWord(rest[len(word)]))
}

func isWord(c byte) bool {
	return c == '_' || '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
}

// skip passes over a value of any type.
func (r *reader) skip() {
	switch c := r.space(); {
	case c == '{':
		r.members("", func([]byte) { r.skip() })
	case c == '[':
		r.array("", func(int) { r.skip() })
	case c == '"':
		r.quoted()
	case r.sees("null"), r.sees("true"):
		r.at += 4
	case r.sees("false"):
		r.at += 5
	case r.notFinite():
	case c == '-' || '0' <= c && c <= '9':
		r.numeral(new(numeral))
	default:
		r.explain(c)
	}
}

// notFinite notes and passes over the words that some programs write for numbers JSON cannot hold.
func (r *reader) notFinite() bool {
	for _, word := range [...]string{"NaN", "Infinity", "-Infinity"} {
		if r.sees(word) {
			r.found("not_finite", fmt.Sprintf("%s is not a number; give a finite one.", word), nil)
			r.at += len(word)
			return true
		}
	}
	return false
}

// explain is the failure at a byte that starts no value, with what its writer may have meant.
func (r *reader) explain(c byte) {
	switch {
	case c == '\'':
		r.fail(r.at, "Strings stand in double quotes, not in single ones.")
	case c == '/' || c == '#':
		r.fail(r.at, "JSON has no comments; remove this one.")
	case c == '+':
		r.fail(r.at, "A number has no plus sign in JSON; remove it.")
	case c == '.':
		r.fail(r.at, "A number starts with a digit in JSON; write 0.5 instead of .5.")
	case r.at < len(r.data) && isWord(c):
		end := r.at
		for end < len(r.data) && isWord(r.data[end]) {
			end++
		}
		r.fail(r.at, fmt.Sprintf("%q is no value; strings stand in double quotes, and the words are true, false and null.", clip(string(r.data[r.at:end]))))
	default:
		r.unexpected("a value")
	}
}
