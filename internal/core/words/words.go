// Package words puts figures into words for the sentences of plans and answers.
package words

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/shopspring/decimal"

	"example.org/headroom/internal/core/money"
)

// PerPeriod returns the words for an amount per period of so many seconds, in every sentence and table alike.
func PerPeriod(seconds int64) string {
	switch seconds {
	case 3600:
		return "an hour"
	case 86400:
		return "a day"
	}
	return fmt.Sprintf("a period of %d s", seconds)
}

// Cents writes money for a sentence: with two places, or three significant digits where it is smaller than that. Half of
// the last place is rounded away from zero, by the decimal amount and not by the binary one next to it.
func Cents(x float64) string {
	switch {
	case x != 0 && math.Abs(x) < 0.01:
		return small(decimal.NewFromFloat(x), decimal.Decimal.Round)
	case x >= 0 && x < mostCents:
		return twoPlaces(x)
	}
	return fixed(x, 2)
}

// CentsOf writes an amount as Cents does, every digit before the point and both after it as the amount has them.
func CentsOf(m money.Amount) string { return outwards(m, decimal.Decimal.Round) }

// PartsOf writes amounts that add up to a sum, so that they do so in cents as well, as the sum is written. Each is less than a
// cent from what it is; the cents that rounding down leaves go to those that it takes most from. Amounts of which that cannot
// be said are written as CentsOf does.
func PartsOf(sum string, parts ...money.Amount) []string {
	texts, down := make([]string, len(parts)), make([]decimal.Decimal, len(parts))
	var least []int // those that rounding down makes less, by how much
	left, err := decimal.NewFromString(sum)
	for i, m := range parts {
		texts[i], down[i] = CentsOf(m), m.RoundFloor(2)
		left = left.Sub(down[i])
		if !m.Equal(down[i]) {
			least = append(least, i)
		}
	}
	slices.SortStableFunc(least, func(i, j int) int {
		return parts[j].Sub(down[j]).Cmp(parts[i].Sub(down[i]))
	})
	cents := left.Shift(2)
	small := slices.ContainsFunc(parts, func(m money.Amount) bool { return !m.IsZero() && m.Abs().LessThan(cent) })
	if err != nil || small || !cents.IsInteger() || cents.IsNegative() || cents.GreaterThan(decimal.NewFromInt(int64(len(least)))) {
		return texts
	}
	for n, i := range least {
		if text := down[i]; n < int(cents.IntPart()) {
			texts[i] = text.Add(cent).StringFixed(2)
		} else {
			texts[i] = text.StringFixed(2)
		}
	}
	return texts
}

var cent = decimal.New(1, -2)

// CentsUp writes an amount that nothing exceeds: as Cents, and never less than it is. CentsDown never writes more.
func CentsUp(m money.Amount) string { return outwards(m, decimal.Decimal.RoundCeil) }

func CentsDown(m money.Amount) string { return outwards(m, decimal.Decimal.RoundFloor) }

func outwards(m money.Amount, round func(decimal.Decimal, int32) decimal.Decimal) string {
	if !m.IsZero() && m.Abs().LessThan(cent) {
		return small(m.Decimal, round)
	}
	return round(m.Decimal, 2).StringFixed(2)
}

// small writes an amount below a cent with three digits, without an exponent and in the places that money has.
func small(d decimal.Decimal, round func(decimal.Decimal, int32) decimal.Decimal) string {
	return money.Amount{Decimal: round(d, min(places(d, 3), money.Places))}.String()
}

// places returns the number of decimal places that show so many significant digits of a number.
func places(d decimal.Decimal, digits int32) int32 {
	return digits - int32(d.NumDigits()) - d.Exponent()
}

// fixed writes a number with so many places, half of the last one away from zero.
func fixed(x float64, places int32) string {
	if !(math.Abs(x) < 1e18) { // no amount, or not a number
		return strconv.FormatFloat(x, 'f', int(places), 64)
	}
	return decimal.NewFromFloat(x).Round(money.Places).StringFixed(places)
}

// mostCents keeps an amount's billionths exact in a float64 and in its product.
const mostCents = 2e6

// twoPlaces does the same as fixed, in whole numbers.
func twoPlaces(x float64) string {
	n := (int64(math.Round(x*1e9)) + 5e6) / 1e7
	var text [24]byte
	digits := strconv.AppendInt(text[:0], n/100, 10)
	rest := byte(n % 100)
	return string(append(digits, '.', '0'+rest/10, '0'+rest%10))
}

// Number writes a figure for a sentence, with three decimals at most.
func Number(x float64) string {
	said := strings.TrimSuffix(strings.TrimRight(strconv.FormatFloat(x, 'f', 3, 64), "0"), ".")
	if said == "-0" {
		return "0"
	}
	return said
}

// More writes a figure that a sentence says to be more than another, with as many decimals as show that.
func More(x float64, than int64) string {
	said := Number(x)
	if said == strconv.FormatInt(than, 10) && x > float64(than) {
		return strconv.FormatFloat(x, 'f', -1, 64)
	}
	return said
}

// Jobs counts jobs, which a relaxed problem may give in fractions.
func Jobs(n float64) string {
	return Counted(Number(n), "job")
}

// VMs counts VMs.
func VMs(n float64) string {
	return Counted(Number(n), "VM")
}

// Seconds writes a time as 1h30m or 45s, rounded up.
func Seconds(s float64) string {
	text := time.Duration(math.Ceil(s) * float64(time.Second)).String()
	if strings.HasSuffix(text, "m0s") {
		text = strings.TrimSuffix(text, "0s")
	}
	return text
}

// Counted puts a written number before a thing.
func Counted(n, thing string) string {
	if n == "1" {
		return "1 " + thing
	}
	return n + " " + thing + "s"
}

// OfType returns the words that name a VM type after a noun, none where it has no name.
func OfType(vmType string) string {
	if vmType == "" {
		return ""
	}
	return fmt.Sprintf(" of type %q", vmType)
}

// Rounded returns a number with so many decimal places.
func Rounded(x float64, places int) float64 {
	scale := math.Pow10(places)
	return math.Round(x*scale) / scale
}

// Percent writes a share in per cent, with one decimal at most, and Share with one always. Both take more where a share
// would read as all, or as nothing, and is not.
func Percent(share float64) string {
	said := OfHundred(share, 1)
	if strings.Contains(said, ".") {
		said = strings.TrimSuffix(strings.TrimRight(said, "0"), ".")
	}
	return said + " %"
}

func Share(share float64) string { return OfHundred(share, 1) + " %" }

// OfHundred writes how many of 100 a share is, with so many decimals, or as many as tell it from 0 and from 100.
func OfHundred(share float64, places int) string {
	const hair = 1e-9 // of floating point
	part := 100 * share
	for ; places < 9; places++ {
		shown := Rounded(part, places)
		if (shown == 0) == (math.Abs(part) < hair) && (shown >= 100) == (part > 100-hair) {
			break
		}
	}
	said := strconv.FormatFloat(Rounded(part, places), 'f', places, 64)
	if strings.Trim(said, "-0.") == "" {
		said = strings.TrimPrefix(said, "-")
	}
	return said
}

// PercentUp writes a share that nothing exceeds in per cent, with two significant digits and never less than it is.
func PercentUp(share decimal.Decimal) string {
	percent := share.Shift(2)
	return percent.RoundCeil(max(0, places(percent, 2))).String() + " %"
}

// Either writes words of which one is to be taken: a, b or c.
func Either(all []string) string {
	if n := len(all); n > 1 {
		return strings.Join(all[:n-1], ", ") + " or " + all[n-1]
	}
	return strings.Join(all, "")
}

// List joins parts with commas, and "and" before the last. No parts are no text.
func List(parts []string) string {
	if n := len(parts); n > 1 {
		return strings.Join(parts[:n-1], ", ") + " and " + parts[n-1]
	}
	return strings.Join(parts, "")
}

// IsAre returns the verb for so many.
func IsAre(n float64) string {
	if n == 1 {
		return "is"
	}
	return "are"
}
