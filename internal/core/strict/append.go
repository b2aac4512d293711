package strict

import (
	"math"
	"strconv"
	"unicode/utf8"
)

// AppendNumber writes a float64 in its shortest form, as ECMAScript does.
func AppendNumber(dst []byte, x float64) []byte {
	size := math.Abs(x)
	switch {
	case x == math.Trunc(x) && size < 1e15: // whole: the usual case
		return strconv.AppendInt(dst, int64(x), 10)
	case !(size <= math.MaxFloat64):
		return append(dst, "null"...)
	case size != 0 && size < 1e-6 || size >= 1e21:
		dst = strconv.AppendFloat(dst, x, 'e', -1, 64)
		if n := len(dst); n >= 4 && dst[n-4] == 'e' && dst[n-3] == '-' && dst[n-2] == '0' { // 1e-09 is 1e-9
			dst[n-2] = dst[n-1]
			dst = dst[:n-1]
		}
		return dst
	default:
		return strconv.AppendFloat(dst, x, 'f', -1, 64)
	}
}

// AppendText writes a string. It escapes the characters that JSON requires to be escaped, and the line separators
// that old JavaScript takes for line ends. Bytes that are not UTF-8 become U+FFFD.
func AppendText(dst []byte, s string) []byte {
	dst = append(dst, '"')
	from := 0 // the text between from and at needs no escape
	for at := 0; at < len(s); {
		c := s[at]
		if ordinary[c] {
			at++
			continue
		}
		if c < utf8.RuneSelf {
			dst = append(dst, s[from:at]...)
			dst = appendEscaped(dst, c)
			at++
			from = at
			continue
		}
		char, size := utf8.DecodeRuneInString(s[at:])
		switch {
		case char == utf8.RuneError && size == 1:
			dst = append(append(dst, s[from:at]...), `\ufffd`...)
			from = at + size
		case char == '\u2028', char == '\u2029':
			dst = append(append(dst, s[from:at]...), `\u202`...)
			dst = append(dst, hexDigits[char&0xf])
			from = at + size
		}
		at += size
	}
	return append(append(dst, s[from:]...), '"')
}

const hexDigits = "0123456789abcdef"

func appendEscaped(dst []byte, c byte) []byte {
	switch c {
	case '"', '\\':
		return append(dst, '\\', c)
	case '\b':
		return append(dst, `\b`...)
	case '\f':
		return append(dst, `\f`...)
	case '\n':
		return append(dst, `\n`...)
	case '\r':
		return append(dst, `\r`...)
	case '\t':
		return append(dst, `\t`...)
	}
	return append(dst, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&0xf])
}
