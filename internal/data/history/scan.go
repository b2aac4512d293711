package history

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"math/bits"
)

// scanner reads JSON without spaces. What it cannot read, it leaves to others.
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

// endOfString returns the place after a string that begins at a place, or -1. It looks at eight bytes at once for a
// quote, an escape or a control character.
func endOfString(text []byte, at int) int {
	const ones, tops = 0x0101010101010101, 0x8080808080808080
	if at >= len(text) || text[at] != '"' {
		return -1
	}
	for at++; at < len(text); {
		if at+8 <= len(text) {
			x := binary.LittleEndian.Uint64(text[at:])
			quote, escape := x^(ones*'"'), x^(ones*'\\')
			// The lowest of these bits is right: a borrow only changes bytes above a byte that is found.
			found := ((quote-ones)&^quote | (escape-ones)&^escape | (x-ones*' ')&^x) & tops
			if found == 0 {
				at += 8
				continue
			}
			at += bits.TrailingZeros64(found) / 8
		}
		switch b := text[at]; {
		case b == '"':
			return at + 1
		case b < ' ':
			return -1
		case b == '\\':
			if at = endOfEscape(text, at); at < 0 {
				return -1
			}
		default:
			at++
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
	end := endOfString(s.text, s.at)
	if end < 0 {
		return nil
	}
	text := s.text[s.at+1 : end-1]
	if s.at = end; bytes.IndexByte(text, '\\') >= 0 {
		return nil
	}
	return text
}

// name returns the name of a member with its colon, or nil.
func (s *scanner) name() []byte {
	if name := s.string(); name != nil && s.next(':') {
		return name
	}
	return nil
}

// word reads a string of ASCII characters.
func (s *scanner) word(to *[]byte) bool {
	text := s.string()
	for _, b := range text {
		if b >= 0x80 {
			return false
		}
	}
	*to = text
	return text != nil
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
	if digits == 0 || digits > longestWhole || digits > 1 && s.text[from] == '0' || s.at < len(s.text) && s.text[s.at] != ',' && s.text[s.at] != '}' {
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
		if at >= len(text) || depth > deepestSkipped {
			return -1
		}
		opened := false
		switch b := text[at]; {
		case b == '{' || b == '[':
			at++
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
			if at >= len(text) {
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
			if at = endOfString(text, at); at >= 0 {
				if at >= len(text) || text[at] != ':' {
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
	digits := func() bool {
		from := at
		for at < len(text) && text[at]-'0' <= 9 {
			at++
		}
		return at > from
	}
	is := func(a, b byte) bool { return at < len(text) && (text[at] == a || text[at] == b) }
	if is('-', '-') {
		at++
	}
	if is('0', '0') {
		at++
	} else if !digits() {
		return -1
	}
	if is('.', '.') {
		if at++; !digits() {
			return -1
		}
	}
	if is('e', 'E') {
		at++
		if is('-', '+') {
			at++
		}
		if !digits() {
			return -1
		}
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
