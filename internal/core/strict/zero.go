package strict

import "bytes"

// WithoutMinusZero rewrites JSON in place: the number -0, which a rounded or negated figure leaves behind, becomes 0.
// The text is almost always returned as it is.
func WithoutMinusZero(text []byte) []byte {
	first := -1
	for at := 0; first < 0; at++ {
		next := bytes.Index(text[at:], []byte("-0"))
		if next < 0 {
			return text
		}
		if at += next; endsNumber(text, at+len("-0")) {
			first = at // it may stand in a string still
		}
	}
	out, quoted := text[:0], false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case quoted && c == '\\' && i+1 < len(text):
			out = append(out, c)
			i++
		case c == '"':
			quoted = !quoted
		case c == '-' && !quoted && i+1 < len(text) && text[i+1] == '0' && endsNumber(text, i+2) && (i == 0 || text[i-1] != 'e' && text[i-1] != 'E'):
			continue
		}
		out = append(out, text[i])
	}
	return out
}

// endsNumber reports whether a number has ended before a place of a text.
func endsNumber(text []byte, at int) bool {
	return at >= len(text) || bytes.IndexByte([]byte(",]} \t\r\n"), text[at]) >= 0
}
