package strict

import (
	"fmt"
	"unicode/utf16"
	"unicode/utf8"

	"example.org/headroom/internal/core/fault"
)

// Quoted reads a string, starting at its opening quote. Without escapes the answer is a part of the input and must
// not be kept.
func (r *Reader) Quoted() ([]byte, bool) {
	start := r.At + 1
	for i := start; i < len(r.data); {
		switch c := r.data[i]; {
		case ordinary[c]:
			i++
		case c == '"':
			r.At = i + 1
			return r.data[start:i], true
		case c == '\\':
			return r.escaped(start, i)
		default:
			size := r.plain(i)
			if size == 0 {
				return nil, false
			}
			i += size
		}
	}
	r.cutString()
	return nil, false
}

// ordinary marks the bytes that represent themselves in a string: ASCII but for quotes, backslashes and control
// characters.
var ordinary = func() (table [256]bool) {
	for c := ' '; c < utf8.RuneSelf; c++ {
		table[c] = c != '"' && c != '\\'
	}
	return table
}()

// plain returns the length of the unescaped character at i of a string, or 0 if it is not allowed there.
func (r *Reader) plain(i int) int {
	c := r.data[i]
	if c < ' ' {
		if c == '\n' || c == '\r' {
			r.fail(i, "The line ends inside a string; close the string first.")
		} else {
			r.fail(i, fmt.Sprintf("A control character (U+%04X) stands in a string; remove it.", c))
		}
		return 0
	}
	if c < utf8.RuneSelf {
		return 1
	}
	char, size := utf8.DecodeRune(r.data[i:])
	if char == utf8.RuneError && size == 1 {
		r.fail(i, fmt.Sprintf("The byte %#02x is not UTF-8; save the document as UTF-8.", c))
		return 0
	}
	return size
}

func (r *Reader) cutString() {
	r.fail(len(r.data), "The document ends inside a string; it seems to be cut off.")
}

// escaped reads the rest of a string that started at start and has its first backslash at i.
func (r *Reader) escaped(start, i int) ([]byte, bool) {
	text := append(make([]byte, 0, i-start+32), r.data[start:i]...)
	for i < len(r.data) {
		switch c := r.data[i]; c {
		case '"':
			r.At = i + 1
			return text, true
		case '\\':
			char, size := r.escape(i)
			if size == 0 {
				return nil, false
			}
			text = utf8.AppendRune(text, char)
			i += size
		default:
			size := r.plain(i)
			if size == 0 {
				return nil, false
			}
			text = append(text, r.data[i:i+size]...)
			i += size
		}
	}
	r.cutString()
	return nil, false
}

// escape returns the character of the escape sequence at i, and its length, or 0 if there is none.
func (r *Reader) escape(i int) (char rune, size int) {
	if i+1 >= len(r.data) {
		r.cutString()
		return 0, 0
	}
	switch c := r.data[i+1]; c {
	case '"', '\\', '/':
		return rune(c), 2
	case 'b':
		return '\b', 2
	case 'f':
		return '\f', 2
	case 'n':
		return '\n', 2
	case 'r':
		return '\r', 2
	case 't':
		return '\t', 2
	case 'u':
		char, ok := r.hex(i)
		if !ok {
			return 0, 0
		}
		if !utf16.IsSurrogate(char) {
			return char, 6
		}
		if i+7 < len(r.data) && r.data[i+6] == '\\' && r.data[i+7] == 'u' {
			second, ok := r.hex(i + 6)
			if !ok {
				return 0, 0
			}
			if pair := utf16.DecodeRune(char, second); pair != utf8.RuneError {
				return pair, 12
			}
		}
		r.fail(i, fmt.Sprintf("The escape \\u%04x is half of a surrogate pair without its other half; write the whole character.", char))
		return 0, 0
	default:
		r.fail(i, fmt.Sprintf("A backslash cannot stand before %s in a string; write \\\\ for a backslash.", r.character(i+1)))
		return 0, 0
	}
}

// hex returns the number in a \uXXXX escape at i.
func (r *Reader) hex(i int) (x rune, ok bool) {
	if i+6 > len(r.data) {
		r.cutString()
		return 0, false
	}
	for _, c := range r.data[i+2 : i+6] {
		switch {
		case '0' <= c && c <= '9':
			x = x<<4 | rune(c-'0')
		case 'a' <= c && c <= 'f':
			x = x<<4 | rune(c-'a'+10)
		case 'A' <= c && c <= 'F':
			x = x<<4 | rune(c-'A'+10)
		default:
			r.fail(i, "After \\u four hexadecimal digits should follow.")
			return 0, false
		}
	}
	return x, true
}

// Text reads a string; another value is a finding.
func (r *Reader) Text() (s string, ok bool) {
	if r.Space() != '"' {
		r.WrongType("a string")
		return "", false
	}
	b, ok := r.Quoted()
	return string(b), ok
}

// Word reads one of a few known words.
func Word[T ~string](r *Reader, into *T, known []T) {
	if r.Space() != '"' {
		r.WrongType("a string")
		return
	}
	b, ok := r.Quoted()
	if !ok {
		return
	}
	for _, k := range known {
		if string(b) == string(k) {
			*into = k
			return
		}
	}
	if len(b) == 0 { // a check may take it for a member that is not there
		detail, _ := fault.UnknownWord("", fault.Words(known))
		r.Found("choice", detail, nil)
		return
	}
	*into = T(b) // for the check of the whole to refuse
}

// Flag reads true or false; another value is a finding.
func (r *Reader) Flag(into *bool) {
	switch r.Space(); {
	case r.Sees("true"):
		*into, r.At = true, r.At+4
	case r.Sees("false"):
		*into, r.At = false, r.At+5
	default:
		r.WrongType("true or false")
	}
}
