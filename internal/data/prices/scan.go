package prices

import (
	"bytes"
	"encoding/json"
	"io"
)

// scanner reads a JSON document from front to back in constant memory. Unneeded values are skipped without being
// made, but checked: it accepts only valid JSON. encoding/json's tokens do the same at a quarter of the speed, and
// hold a text of any length in memory.
//
// After a fault, which err holds, every method returns nothing.
type scanner struct {
	in        io.Reader
	buf       []byte
	at, end   int   // unread: buf[at:end]
	start     int64 // the offset of buf[0] in the document
	lines     int   // lines that end before buf[0]
	lineStart int64 // start of the line of buf[0]
	depth     int
	err       error
	atEnd     bool
}

const (
	windowSize = 2 * maxToken
	maxToken   = 64 << 10
	deepest    = 64
)

func newScanner(in io.Reader) *scanner { return &scanner{in: in, buf: make([]byte, windowSize)} }

// offset returns the position of the next byte in the document.
func (s *scanner) offset() int64 { return s.start + int64(s.at) }

// more reads on, keeping the bytes from keep on; it returns false at the end.
func (s *scanner) more(keep int) bool {
	if s.err != nil || s.atEnd {
		return false
	}
	if s.end-keep > maxToken {
		s.tooLong()
		return false
	}
	if gone := s.buf[:keep]; len(gone) > 0 {
		if last := bytes.LastIndexByte(gone, '\n'); last >= 0 {
			s.lines += bytes.Count(gone, []byte{'\n'})
			s.lineStart = s.start + int64(last) + 1
		}
		copy(s.buf, s.buf[keep:s.end])
		s.at, s.end, s.start = s.at-keep, s.end-keep, s.start+int64(keep)
	}
	for range 100 {
		n, err := s.in.Read(s.buf[s.end:])
		s.end += n
		s.atEnd = err == io.EOF
		if err != nil && err != io.EOF {
			s.err = err
		}
		if n > 0 || err != nil {
			return n > 0 && s.err == nil
		}
	}
	s.err = io.ErrNoProgress
	return false
}

// fail ends the reading at the next byte.
func (s *scanner) fail(code, sentence string, values ...any) {
	if s.err != nil {
		return
	}
	at := place{line: s.lines + 1 + bytes.Count(s.buf[:s.at], []byte{'\n'}), column: int(s.offset()-s.lineStart) + 1}
	if last := bytes.LastIndexByte(s.buf[:s.at], '\n'); last >= 0 {
		at.column = s.at - last
	}
	s.err = refusal(at, code, sentence+" (byte %d)", append(values, s.offset())...)
}

func (s *scanner) tooLong() {
	s.fail("too_long", "A text is longer than %d bytes, which no price sheet has.", maxToken)
}

func (s *scanner) cutOff() {
	s.fail("cut_off", "The sheet ends here, in the middle; it was cut off. Fetch it again.")
}

func (s *scanner) unexpected(want string) {
	if s.at == s.end {
		s.cutOff()
		return
	}
	s.fail("syntax", "%q stands where %s should; the sheet is not JSON as AWS writes it. Fetch it again.", rune(s.buf[s.at]), want)
}

// next returns the next byte that is not white space, still unread; 0 at the end.
func (s *scanner) next() byte {
	if s.err != nil {
		return 0
	}
	for {
		for ; s.at < s.end; s.at++ {
			switch c := s.buf[s.at]; c {
			case ' ', '\t', '\r', '\n':
			default:
				return c
			}
		}
		if !s.more(s.at) {
			return 0
		}
	}
}

// enter begins an object or array; it returns false if that is empty.
//
//	for ok := s.enter('{', '}'); ok; ok = s.again('}') {
//		name := s.key()
//		…read or skip the value
//	}
func (s *scanner) enter(open, shut byte) bool {
	if s.next() != open || s.err != nil {
		s.unexpected(string(rune(open)))
		return false
	}
	if s.depth == deepest {
		s.fail("too_deep", "The sheet is nested more than %d deep, which no price sheet is.", deepest)
		return false
	}
	s.at++
	if s.next() == shut {
		s.at++
		return false
	}
	s.depth++
	return s.err == nil
}

// again reports whether another member follows in an object or array that ends with shut.
func (s *scanner) again(shut byte) bool {
	switch c := s.next(); {
	case s.err != nil:
		return false
	case c == ',':
		s.at++
		return true
	case c == shut && s.at < s.end:
		s.at++
		s.depth--
		return false
	}
	s.unexpected("a comma or " + string(rune(shut)))
	return false
}

// key reads a member's name and the colon; it is valid until the next call of any method.
func (s *scanner) key() []byte {
	if s.next() != '"' {
		s.unexpected("a name in quotes")
		return nil
	}
	name := s.text()
	if s.err != nil {
		return nil
	}
	if s.colonFollows() { // nearly always
		return name
	}
	name = bytes.Clone(name) // the rest may move the window
	if s.next() != ':' {
		s.unexpected("a colon")
		return nil
	}
	s.at++
	return name
}

// colonFollows skips white space and a colon within the window.
func (s *scanner) colonFollows() bool {
	for i := s.at; i < s.end; i++ {
		switch s.buf[i] {
		case ' ', '\t', '\r', '\n':
		case ':':
			s.at = i + 1
			return true
		default:
			return false
		}
	}
	return false
}

// ordinary marks the bytes that stand for themselves in a string. The text is known to be UTF-8.
var ordinary = func() (table [256]bool) {
	for c := ' '; c < 256; c++ {
		table[c] = c != '"' && c != '\\'
	}
	return table
}()

// text reads a string, at its opening quote; it is valid until the next call of any method.
func (s *scanner) text() []byte {
	escaped := false
	for i := s.at + 1; ; {
		for i < s.end {
			switch c := s.buf[i]; {
			case ordinary[c]:
				i++
			case c == '"':
				raw := s.buf[s.at : i+1]
				if len(raw) > maxToken {
					s.tooLong()
					return nil
				}
				if escaped {
					return s.unescape(raw)
				}
				s.at = i + 1
				return raw[1 : len(raw)-1]
			case c == '\\':
				escaped = true
				i += 2
			default:
				s.at = i
				s.fail("syntax", "A control character (U+%04X) stands in a text; the sheet is damaged. Fetch it again.", c)
				return nil
			}
		}
		before := s.at
		if !s.more(s.at) {
			s.at = s.end
			s.cutOff()
			return nil
		}
		i -= before - s.at
	}
}

// unescape reads a string with backslashes, which price sheets rarely have.
func (s *scanner) unescape(raw []byte) []byte {
	var decoded string
	if json.Unmarshal(raw, &decoded) != nil {
		s.fail("syntax", "A backslash in this text stands before what cannot follow it; the sheet is damaged. Fetch it again.")
		return nil
	}
	s.at += len(raw)
	return []byte(decoded)
}

// bare reads a number, true, false or null; it is valid until the next call of any method.
func (s *scanner) bare() []byte {
	s.next()
	for i := s.at; ; {
		for i < s.end && isBare(s.buf[i]) {
			i++
		}
		if i == s.end {
			before := s.at
			if s.more(s.at) {
				i -= before - s.at
				continue
			}
			if s.err != nil {
				return nil
			}
			i = s.end
		}
		word := s.buf[s.at:i]
		switch {
		case len(word) == 0:
			s.unexpected("a value")
			return nil
		case len(word) > maxToken:
			s.tooLong()
			return nil
		}
		if !json.Valid(word) {
			if i == s.end {
				s.cutOff()
			} else {
				s.fail("syntax", "%q is no value; the sheet is not JSON as AWS writes it. Fetch it again.", clip(string(word)))
			}
			return nil
		}
		s.at = i
		return word
	}
}

func isBare(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '-' || c == '+' || c == '.'
}

// skip skips a value.
func (s *scanner) skip() {
	switch s.next() {
	case '{':
		for ok := s.enter('{', '}'); ok; ok = s.again('}') {
			s.key()
			s.skip()
		}
	case '[':
		for ok := s.enter('[', ']'); ok; ok = s.again(']') {
			s.skip()
		}
	case '"':
		s.text()
	default:
		s.bare()
	}
}
