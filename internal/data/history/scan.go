package history

import (
	"encoding/binary"
	"encoding/hex"
	"math/bits"
	"unicode/utf8"
)

// scanner reads JSON as programs write it. What it cannot read, it leaves to encoding/json.
type scanner struct {
	text []byte
	at   int
}

// next passes over a byte, if it comes next.
func (s *scanner) next(b byte) bool {
	if s.at < len(s.text) && s.text[s.at] == b {
		s.at++
		return true
	}
	return false
}

// space passes over space.
func (s *scanner) space() { s.at = afterSpace(s.text, s.at) }

// spaced passes over space and a byte, if it comes next.
func (s *scanner) spaced(b byte) bool {
	s.space()
	return s.next(b)
}

func afterSpace(text []byte, at int) int {
	for at < len(text) && (text[at] == ' ' || text[at] == '\n' || text[at] == '\t' || text[at] == '\r') {
		at++
	}
	return at
}

// afterPlain returns the place of the next quote, escape or control character, or the end. It looks at eight bytes at once.
func afterPlain(text []byte, at int) int {
	const ones, tops = 0x0101010101010101, 0x8080808080808080
	for ; at+8 <= len(text); at += 8 {
		x := binary.LittleEndian.Uint64(text[at:])
		quote, escape := x^(ones*'"'), x^(ones*'\\')
		// The lowest of these bits is right: a borrow only changes bytes above a byte that is found.
		if found := ((quote-ones)&^quote | (escape-ones)&^escape | (x-ones*' ')&^x) & tops; found != 0 {
			return at + bits.TrailingZeros64(found)/8
		}
	}
	for at < len(text) && text[at] != '"' && text[at] != '\\' && text[at] >= ' ' {
		at++
	}
	return at
}

// endOfString returns the place after a string that begins at a place, or -1.
func endOfString(text []byte, at int) int {
	if at >= len(text) || text[at] != '"' {
		return -1
	}
	for at = afterPlain(text, at+1); at < len(text); at = afterPlain(text, at) {
		switch text[at] {
		case '"':
			return at + 1
		case '\\':
			if at = endOfEscape(text, at); at < 0 {
				return -1
			}
		default:
			return -1
		}
	}
	return -1
}

// endOfEscape returns the place after an escape that begins at a place, or -1.
func endOfEscape(text []byte, at int) int {
	if at+1 >= len(text) {
		return -1
	}
	switch text[at+1] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return at + 2
	case 'u':
		if _, err := hex.DecodeString(string(text[min(at+2, len(text)):min(at+6, len(text))])); err == nil && at+6 <= len(text) {
			return at + 6
		}
	}
	return -1
}

// string returns a string without escapes, or nil.
func (s *scanner) string() []byte {
	if s.at >= len(s.text) || s.text[s.at] != '"' {
		return nil
	}
	end := afterPlain(s.text, s.at+1)
	if end == len(s.text) || s.text[end] != '"' {
		return nil
	}
	text := s.text[s.at+1 : end]
	s.at = end + 1
	return text
}

// name returns the name of a member with its colon, or nil.
func (s *scanner) name() []byte {
	if name := s.string(); name != nil && s.next(':') {
		return name
	}
	return nil
}

// member passes over space to the next value, and returns its name, or nil.
func (s *scanner) member() []byte {
	s.space()
	name := s.string()
	if name == nil || !s.spaced(':') {
		return nil
	}
	s.space()
	return name
}

// object passes on the names of an object's members, each with its value next.
func (s *scanner) object(member func(name []byte) bool) bool {
	if !s.spaced('{') {
		return false
	}
	for first := true; !first || !s.spaced('}'); first = false {
		if name := s.member(); name == nil || !member(name) {
			return false
		}
		if s.spaced('}') {
			break
		}
		if !s.next(',') {
			return false
		}
	}
	return true
}

// list passes on the items of a list.
func (s *scanner) list(item func() bool) bool {
	if !s.spaced('[') {
		return false
	}
	for first := true; !first || !s.spaced(']'); first = false {
		if !item() {
			return false
		}
		if s.spaced(']') {
			break
		}
		if !s.next(',') {
			return false
		}
	}
	return true
}

// null passes over null, if it comes next.
func (s *scanner) null() bool {
	if s.at < len(s.text) && s.text[s.at] == 'n' {
		return s.skip()
	}
	return false
}

// once notes that a member was there, and reports whether it is the first time.
func once(seen *int, bit int) bool {
	first := *seen&bit == 0
	*seen |= bit
	return first
}

// word reads a string without escapes.
func (s *scanner) word(to *[]byte) bool {
	*to = s.string()
	return *to != nil && utf8.Valid(*to)
}

// longestWhole is the number of digits that every whole number of 64 bits can have.
const longestWhole = 18

// number reads a whole number of up to 18 digits.
func (s *scanner) number(to *int64) bool {
	negative := s.next('-')
	from, n := s.at, int64(0)
	for s.at < len(s.text) && s.at-from <= longestWhole && s.text[s.at]-'0' <= 9 {
		n = 10*n + int64(s.text[s.at]-'0')
		s.at++
	}
	digits := s.at - from
	if digits == 0 || digits > longestWhole || digits > 1 && s.text[from] == '0' || s.at < len(s.text) && s.text[s.at] != ',' && s.text[s.at] != '}' && s.text[s.at] > ' ' {
		return false
	}
	if *to = n; negative {
		*to = -n
	}
	return true
}

func (s *scanner) truth(to *bool) bool {
	from := s.at
	if !s.skip() {
		return false
	}
	word := string(s.text[from:s.at])
	*to = word == "true"
	return *to || word == "false"
}

// skip passes over a value.
func (s *scanner) skip() bool {
	end := endOfValue(s.text, s.at)
	if end < 0 {
		return false
	}
	s.at = end
	return true
}

// deepestSkipped bounds the nesting of values that are passed over: a bit of open says of each whether it is an object.
const deepestSkipped = 60

// endOfValue returns the place after a value that begins at a place, or -1.
func endOfValue(text []byte, at int) int {
	depth, open := 0, uint64(0)
	for {
		at = afterSpace(text, at)
		if at >= len(text) || depth > deepestSkipped {
			return -1
		}
		opened := false
		switch b := text[at]; {
		case b == '{' || b == '[':
			at = afterSpace(text, at+1)
			if at < len(text) && text[at] == b+2 { // its own closing bracket
				at++
				break
			}
			depth, open, opened = depth+1, open<<1|uint64(b>>5&1), true // of both brackets only { has this bit
		case b == '"':
			at = endOfString(text, at)
		case b == '-' || b-'0' <= 9:
			at = endOfNumber(text, at)
		default:
			at = endOfWord(text, at)
		}
		for ; !opened && at >= 0; at++ { // what follows a value
			if depth == 0 {
				return at
			}
			if at = afterSpace(text, at); at >= len(text) {
				return -1
			}
			if text[at] == ',' {
				at++
				break
			}
			if text[at] != byte(']'|open&1<<5) { // or }
				return -1
			}
			depth, open = depth-1, open>>1
		}
		if at >= 0 && open&1 == 1 {
			if at = endOfString(text, afterSpace(text, at)); at >= 0 {
				if at = afterSpace(text, at); at >= len(text) || text[at] != ':' {
					return -1
				}
				at++
			}
		}
		if at < 0 {
			return -1
		}
	}
}

// endOfNumber returns the place after a number that begins at a place, or -1.
func endOfNumber(text []byte, at int) int {
	if at < len(text) && text[at] == '-' {
		at++
	}
	from := at
	if at = afterDigits(text, at); at == from {
		return -1
	}
	if text[from] == '0' {
		at = from + 1
	}
	if at < len(text) && text[at] == '.' {
		from = at + 1
		if at = afterDigits(text, from); at == from {
			return -1
		}
	}
	if at < len(text) && (text[at] == 'e' || text[at] == 'E') {
		if at++; at < len(text) && (text[at] == '-' || text[at] == '+') {
			at++
		}
		from = at
		if at = afterDigits(text, from); at == from {
			return -1
		}
	}
	return at
}

func afterDigits(text []byte, at int) int {
	for at < len(text) && text[at]-'0' <= 9 {
		at++
	}
	return at
}

// endOfWord returns the place after true, false or null, or -1.
func endOfWord(text []byte, at int) int {
	for _, word := range []string{"true", "false", "null"} {
		if len(text)-at >= len(word) && string(text[at:at+len(word)]) == word {
			return at + len(word)
		}
	}
	return -1
}
