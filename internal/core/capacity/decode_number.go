package capacity

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/shopspring/decimal"
)

// unread marks a whole number that could not be read, as NaN marks the others: it lies outside every
// range, and its own finding is never reported because the reader has already reported a better one.
const unread = math.MinInt64

// numeral is a number as written: ±digits · 10^exponent, where digits holds them all if exact.
type numeral struct {
	text     []byte
	negative bool
	exact    bool
	digits   uint64
	exponent int
}

// exactDigits is how many decimal digits surely fit an int64.
const exactDigits = 18

// longestNumeral bounds the text of one number; no program writes more than 25 characters.
const longestNumeral = 100

// parseNumeral reads the number at the start of a text by JSON's grammar. The fault, if any, is a
// sentence, and the numeral's text then ends where it was found.
func parseNumeral(b []byte) (n numeral, fault string) {
	fault = n.parse(b)
	return n, fault
}

func (n *numeral) parse(b []byte) (fault string) {
	i, exponent := 0, 0
	digits := uint64(0) // an overflow is seen to below
	if len(b) > 0 && b[0] == '-' {
		n.negative = true
		i++
	}
	whole := i
	for ; i < len(b) && b[i]-'0' <= 9; i++ {
		digits = digits*10 + uint64(b[i]-'0')
	}
	count := i - whole
	switch {
	case count == 0:
		n.text = b[:i]
		return "A digit should follow here."
	case count > 1 && b[whole] == '0':
		n.text = b[:whole]
		return "A number does not start with 0 followed by digits; remove the leading zeros."
	}
	if i < len(b) && b[i] == '.' {
		i++
		point := i
		for ; i < len(b) && b[i]-'0' <= 9; i++ {
			digits = digits*10 + uint64(b[i]-'0')
		}
		if exponent = point - i; i == point {
			n.text = b[:i]
			return "After the decimal point a digit should follow."
		}
		count += i - point
	}
	n.exact = count <= exactDigits
	if !n.exact {
		digits, n.exact = significant(b[whole:i])
	}
	if i < len(b) && (b[i] == 'e' || b[i] == 'E') {
		i++
		sign := 1
		if i < len(b) && (b[i] == '+' || b[i] == '-') {
			if b[i] == '-' {
				sign = -1
			}
			i++
		}
		power, from := 0, i
		for ; i < len(b) && b[i]-'0' <= 9; i++ {
			power = min(power*10+int(b[i]-'0'), 1_000_000)
		}
		if i == from {
			n.text = b[:i]
			return "In the exponent a digit should follow."
		}
		exponent += sign * power
	}
	n.text = b[:i]
	if n.exact {
		for exponent < 0 && digits != 0 && digits%10 == 0 { // 1.50 is 1.5, and 10.0 is whole
			digits /= 10
			exponent++
		}
		if digits == 0 {
			exponent, n.negative = 0, false // -0 is 0
		}
	}
	n.digits, n.exponent = digits, exponent
	return ""
}

// significant is the digits of a text of digits and a point without its leading zeros; false where
// there are more than fit.
func significant(b []byte) (digits uint64, exact bool) {
	count := 0
	for _, c := range b {
		if c == '.' || c == '0' && count == 0 {
			continue
		}
		if count++; count > exactDigits {
			return 0, false
		}
		digits = digits*10 + uint64(c-'0')
	}
	return digits, true
}

// numeral reads the number that stands here.
func (r *reader) numeral(n *numeral) bool {
	fault := n.parse(r.data[r.at:])
	switch {
	case fault != "" && r.at+len(n.text) == len(r.data):
		r.fail(len(r.data), "The document ends inside a number; it seems to be cut off.")
		return false
	case fault != "":
		r.fail(r.at+len(n.text), fault)
		return false
	}
	r.at += len(n.text)
	if r.at < len(r.data) && (isWord(r.data[r.at]) || r.data[r.at] == '.') {
		r.unexpected("the end of the number")
		return false
	}
	return true
}

var powersOfTen = [...]float64{1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22}

// float is the nearest float64; infinite where there is none.
func (n *numeral) float() float64 {
	x, exact := 0.0, false
	if n.exact {
		if x, exact = shortFloat(int64(n.digits), n.exponent); !exact {
			x, exact = longFloat(int64(n.digits), n.exponent)
		}
	}
	if !exact {
		x, _ = strconv.ParseFloat(string(n.text), 64) // out of range is ±Inf, which is the answer wanted
		if x == 0 {
			return 0
		}
		return x
	}
	if n.negative {
		return -x
	}
	return x
}

// longFloat is the float64 nearest to digits·10^power where there are more digits than a float64 holds,
// as in most figures that programs write, and power is a small negative one. It divides two floats that
// add up to the digits and knows the error it makes to some 100 bits; where that could turn the
// rounding it leaves the number to strconv, which takes three times as long for any.
func longFloat(digits int64, power int) (x float64, exact bool) {
	if power >= 0 || power < -22 {
		return 0, false
	}
	divisor := powersOfTen[-power]
	high := float64(digits)
	low := float64(digits - int64(high))
	quotient := high / divisor
	rest := math.FMA(-quotient, divisor, high) // exact
	correction := (rest + low) / divisor
	x = quotient + correction
	missing := correction - (x - quotient) // exact
	return x, x+missing*(1+0x1p-30) == x
}

// decimal is the number exactly; false where it is absurdly long or large.
func (n *numeral) decimal() (decimal.Decimal, bool) {
	switch {
	case n.exponent < -longestNumeral || n.exponent > longestNumeral || len(n.text) > longestNumeral:
		return decimal.Decimal{}, false
	case n.exact && n.negative:
		return decimal.New(-int64(n.digits), int32(n.exponent)), true
	case n.exact:
		return decimal.New(int64(n.digits), int32(n.exponent)), true
	}
	d, err := decimal.NewFromString(string(n.text))
	return d, err == nil
}

// beyondDecimals says why a number is none that is kept exactly.
func (n *numeral) beyondDecimals() string {
	text, why := clip(string(n.text)), "long"
	switch {
	case len(n.text) > longestNumeral:
	case n.exponent > longestNumeral:
		why = "large"
	case n.exponent < -longestNumeral:
		why = "small"
	}
	return text + " is too " + why + " for a decimal."
}

// isNumber says whether a number (or what is taken for one) starts here; another value is a finding.
func (r *reader) isNumber(want string) bool {
	if c := r.space(); (c == '-' || '0' <= c && c <= '9') && !r.sees("-Infinity") {
		return true
	}
	r.wrongType(want)
	return false
}

// float reads a finite number; what is none leaves NaN.
func (r *reader) float(into *float64) {
	*into = math.NaN()
	if !r.isNumber("a number") {
		return
	}
	var n numeral
	if !r.numeral(&n) {
		return
	}
	x := n.float()
	if math.IsInf(x, 0) {
		r.found("range", fmt.Sprintf("%s is too large for a number.", clip(string(n.text))), nil)
		return
	}
	*into = x
}

// whole reads a whole number, however written (10, 10.0, 1e1); what is none leaves unread.
func (r *reader) whole(into *int64) {
	*into = unread
	if !r.isNumber("a whole number") {
		return
	}
	var n numeral
	if !r.numeral(&n) {
		return
	}
	if n.exact && n.exponent == 0 { // nearly always
		*into = int64(n.digits)
		if n.negative {
			*into = -*into
		}
		return
	}
	d, ok := n.decimal()
	switch {
	case n.exact && n.exponent < 0, ok && !d.IsInteger():
		r.found("not_whole", fmt.Sprintf("%s is not a whole number.", clip(string(n.text))), nil)
	case !ok, d.Abs().GreaterThan(decimal.New(1, exactDigits)):
		r.found("range", fmt.Sprintf("%s is too large for a whole number.", clip(string(n.text))), nil)
	default:
		*into = d.IntPart()
	}
}

// exact reads a decimal with at most so many places, given as a string or as a number.
func (r *reader) exact(into *decimal.Decimal, places int, example string) {
	var n numeral
	if r.space() == '"' {
		b, read := r.quoted()
		if !read {
			return
		}
		if fault := n.parse(b); fault != "" || len(n.text) != len(b) {
			r.notDecimal(string(b), example)
			return
		}
	} else if !r.isNumber(fmt.Sprintf("a decimal such as %q", example)) {
		return
	} else if !r.numeral(&n) {
		return
	}
	d, ok := n.decimal()
	if !ok {
		r.found("range", n.beyondDecimals(), nil)
		return
	}
	if placesBeyond(d, places) {
		detail, rounded := tooManyPlaces(d, places)
		r.found("precision", detail, &Hint{Detail: fmt.Sprintf("Write %q.", rounded), Pointer: r.pointer(), Value: rounded})
	}
	*into = d
}

func (r *reader) notDecimal(text, example string) {
	var hint *Hint
	if point := strings.Replace(strings.TrimSpace(text), ",", ".", 1); point != text {
		if n, fault := parseNumeral([]byte(point)); fault == "" && len(n.text) == len(point) {
			hint = &Hint{Detail: fmt.Sprintf("Write %q.", point), Pointer: r.pointer(), Value: point}
		}
	}
	r.found("type", fmt.Sprintf("%q is not a decimal such as %q.", clip(text), example), hint)
}
