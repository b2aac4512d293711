// Package words puts figures into words for the sentences of plans and answers.
package words

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"headroom/internal/core/money"
)

// PerPeriod returns the words for an amount per period of so many seconds.
func PerPeriod(seconds int64) string {
	switch seconds {
	case 3600:
		return "an hour"
	case 86400:
		return "a day"
	}
	return "a period"
}

// Cents writes money for a sentence: with two places, or three significant digits where it is smaller than that.
func Cents(x float64) string {
	switch {
	case x != 0 && math.Abs(x) < 0.01:
		return smallCents(x)
	case x >= 0 && x < mostCents:
		return twoPlaces(x)
	}
	return strconv.FormatFloat(x, 'f', 2, 64)
}

// smallCents writes an amount below a cent with three digits, without an exponent and in the places that money has.
func smallCents(x float64) string {
	rounded, _ := strconv.ParseFloat(strconv.FormatFloat(x, 'g', 3, 64), 64)
	return money.Round(rounded).String()
}

// mostCents keeps an amount's hundredths exact in a float64.
const mostCents = 1e12

// twoPlaces writes a number with two places as strconv does, in a fifth of its time: strconv takes the long way for a
// fixed number of places. The product's rounding error is known exactly. So the nearest hundredth is found, the even
// one of two equally near.
func twoPlaces(x float64) string {
	product := x * 100
	missing := math.FMA(x, 100, -product)
	n := math.Floor(product)
	if above := (product - n - 0.5) + missing; above > 0 || above == 0 && math.Mod(n, 2) == 1 {
		n++
	}
	var text [24]byte
	digits := strconv.AppendInt(text[:0], int64(n)/100, 10)
	rest := byte(int64(n) % 100)
	return string(append(digits, '.', '0'+rest/10, '0'+rest%10))
}

// Number writes a figure for a sentence, with three decimals at most.
func Number(x float64) string {
	return strings.TrimSuffix(strings.TrimRight(strconv.FormatFloat(x, 'f', 3, 64), "0"), ".")
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

// Percent writes a share in per cent, with one decimal at most.
func Percent(share float64) string { return Number(Rounded(100*share, 1)) + " %" }

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
