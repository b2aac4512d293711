package strict

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/shopspring/decimal"

	"example.org/headroom/internal/core/fault"
)

// Unread marks a whole number that could not be read, as NaN marks the others. It lies outside every range. Its own
// finding is never reported because the reader has already reported a better one.
const Unread = math.MinInt64

// Numeral holds a number as written: ±digits · 10^exponent. If exact, digits holds all digits.
type Numeral struct {
	Text     []byte
	negative bool
	Exact    bool
	Digits   uint64
	Exponent int
}

// ExactDigits is the number of decimal digits that surely fit an int64.
const ExactDigits = 18

// LongestNumeral bounds the text of one number; no program writes more than 25 characters.
const LongestNumeral = 100

// ParseNumeral reads the number at the start of a text by JSON's grammar. The fault, if any, is a sentence, and the
// numeral's text then ends at the faulty byte.
func ParseNumeral(b []byte) (n Numeral, fault string) {
	fault = n.Parse(b)
	return n, fault
}

func (n *Numeral) Parse(b []byte) (fault string) {
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
		n.Text = b[:i]
		return "A digit should follow here."
	case count > 1 && b[whole] == '0':
		n.Text = b[:whole]
		return "A number does not start with 0 followed by digits; remove the leading zeros."
	}
	if i < len(b) && b[i] == '.' {
		i++
		point := i
		for ; i < len(b) && b[i]-'0' <= 9; i++ {
			digits = digits*10 + uint64(b[i]-'0')
		}
		if exponent = point - i; i == point {
			n.Text = b[:i]
			return "After the decimal point a digit should follow."
		}
		count += i - point
	}
	n.Exact = count <= ExactDigits
	if !n.Exact {
		digits, n.Exact = significant(b[whole:i])
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
			n.Text = b[:i]
			return "In the exponent a digit should follow."
		}
		exponent += sign * power
	}
	n.Text = b[:i]
	if n.Exact {
		for exponent < 0 && digits != 0 && digits%10 == 0 { // 1.50 is 1.5, and 10.0 is whole
			digits /= 10
			exponent++
		}
		if digits == 0 {
			exponent, n.negative = 0, false // -0 is 0
		}
	}
	n.Digits, n.Exponent = digits, exponent
	return ""
}

// significant returns the digits of a text of digits and a point without its leading zeros, or false if they do not
// fit.
func significant(b []byte) (digits uint64, exact bool) {
	count := 0
	for _, c := range b {
		if c == '.' || c == '0' && count == 0 {
			continue
		}
		if count++; count > ExactDigits {
			return 0, false
		}
		digits = digits*10 + uint64(c-'0')
	}
	return digits, true
}

// numeral reads a number.
func (r *Reader) numeral(n *Numeral) bool {
	fault := n.Parse(r.data[r.At:])
	switch {
	case fault != "" && r.At+len(n.Text) == len(r.data):
		r.fail(len(r.data), "The document ends inside a number; it seems to be cut off.")
		return false
	case fault != "":
		r.fail(r.At+len(n.Text), fault)
		return false
	}
	r.At += len(n.Text)
	if r.At < len(r.data) && (isWord(r.data[r.At]) || r.data[r.At] == '.') {
		r.unexpected("the end of the number")
		return false
	}
	return true
}

var powersOfTen = [...]float64{1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22}

// Float returns the nearest float64, or an infinity if the number is too large.
func (n *Numeral) Float() float64 {
	x, exact := 0.0, false
	if n.Exact {
		if x, exact = ShortFloat(int64(n.Digits), n.Exponent); !exact {
			x, exact = LongFloat(int64(n.Digits), n.Exponent)
		}
	}
	if !exact {
		x, _ = strconv.ParseFloat(string(n.Text), 64) // out of range is ±Inf, which is the answer wanted
		if x == 0 {
			return 0
		}
		return x
	}
	if n.negative && x != 0 { // -0 is 0
		return -x
	}
	return x
}

// LongFloat returns the float64 nearest to digits·10^power if there are more digits than a float64 holds, as in most
// figures that programs write, and power is a small negative one. It divides two floats whose sum is the digits, and
// knows its error to some 100 bits. If the error could change the rounding, it leaves the number to strconv, which
// takes three times as long.
func LongFloat(digits int64, power int) (x float64, exact bool) {
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

// Decimal returns the number exactly, or false if it is absurdly long or large.
func (n *Numeral) Decimal() (decimal.Decimal, bool) {
	switch {
	case n.Exponent < -LongestNumeral || n.Exponent > LongestNumeral || len(n.Text) > LongestNumeral:
		return decimal.Decimal{}, false
	case n.Exact && n.negative:
		return decimal.New(-int64(n.Digits), int32(n.Exponent)), true
	case n.Exact:
		return decimal.New(int64(n.Digits), int32(n.Exponent)), true
	}
	d, err := decimal.NewFromString(string(n.Text))
	return d, err == nil
}

// beyondDecimals explains why a number cannot be stored exactly.
func (n *Numeral) beyondDecimals() string {
	text, why := fault.Clip(string(n.Text)), "long"
	switch {
	case len(n.Text) > LongestNumeral:
	case n.Exponent > LongestNumeral:
		why = "large"
	case n.Exponent < -LongestNumeral:
		why = "small"
	}
	return text + " is too " + why + " for a decimal."
}

// isNumber reports whether a number (or something mistaken for one) starts here. Any other value is a finding.
func (r *Reader) isNumber(want string) bool {
	if c := r.Space(); (c == '-' || '0' <= c && c <= '9') && !r.Sees("-Infinity") {
		return true
	}
	r.WrongType(want)
	return false
}

// Float reads a finite number; any other value leaves NaN.
func (r *Reader) Float(into *float64) {
	*into = math.NaN()
	if !r.isNumber("a number") {
		return
	}
	var n Numeral
	if !r.numeral(&n) {
		return
	}
	x := n.Float()
	if math.IsInf(x, 0) {
		r.Found("range", fmt.Sprintf("%s is too large for a number.", fault.Clip(string(n.Text))), nil)
		return
	}
	*into = x
}

// Whole reads a whole number in any notation (10, 10.0, 1e1); any other value leaves Unread.
func (r *Reader) Whole(into *int64) {
	*into = Unread
	if !r.isNumber("a whole number") {
		return
	}
	var n Numeral
	if !r.numeral(&n) {
		return
	}
	if n.Exact && n.Exponent == 0 { // nearly always
		*into = int64(n.Digits)
		if n.negative {
			*into = -*into
		}
		return
	}
	d, ok := n.Decimal()
	switch {
	case n.Exact && n.Exponent < 0, ok && !d.IsInteger():
		r.Found("not_whole", fmt.Sprintf("%s is not a whole number.", fault.Clip(string(n.Text))), nil)
	case !ok, d.Abs().GreaterThan(decimal.New(1, ExactDigits)):
		r.Found("range", fmt.Sprintf("%s is too large for a whole number.", fault.Clip(string(n.Text))), nil)
	default:
		*into = d.IntPart()
	}
}

// Exact reads a decimal with at most that many places, given as a string or as a number.
func (r *Reader) Exact(into *decimal.Decimal, places int, example string) {
	var n Numeral
	if r.Space() == '"' {
		b, read := r.Quoted()
		if !read {
			return
		}
		if fault := n.Parse(b); fault != "" || len(n.Text) != len(b) {
			r.notDecimal(string(b), example)
			return
		}
	} else if !r.isNumber(fmt.Sprintf("a decimal such as %q", example)) {
		return
	} else if !r.numeral(&n) {
		return
	}
	d, ok := n.Decimal()
	if !ok {
		r.Found("range", n.beyondDecimals(), nil)
		return
	}
	if PlacesBeyond(d, places) {
		detail, rounded := tooManyPlaces(d, places)
		r.Found("precision", detail, &fault.Hint{Detail: fmt.Sprintf("Write %q.", rounded), Pointer: r.pointer(), Value: rounded})
	}
	*into = d
}

func (r *Reader) notDecimal(text, example string) {
	var hint *fault.Hint
	if point := strings.Replace(strings.TrimSpace(text), ",", ".", 1); point != text {
		if n, wrong := ParseNumeral([]byte(point)); wrong == "" && len(n.Text) == len(point) {
			hint = &fault.Hint{Detail: fmt.Sprintf("Write %q.", point), Pointer: r.pointer(), Value: point}
		}
	}
	r.Found("type", fmt.Sprintf("%q is not a decimal such as %q.", fault.Clip(text), example), hint)
}

// ShortFloat returns the float64 nearest to digits·10^power if one operation on two exact numbers suffices: then
// there is only one rounding, which is the correct one.
func ShortFloat(digits int64, power int) (x float64, exact bool) {
	switch {
	case digits > 1<<53 || digits < -1<<53 || power < -22 || power > 22:
		return 0, false
	case power < 0:
		return float64(digits) / powersOfTen[-power], true
	default:
		return float64(digits) * powersOfTen[power], true
	}
}
