package fault

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Clip shortens a text for a sentence.
func Clip(s string) string { return ClipTo(s, 60) }

// ClipTo shortens a text to so many runes, without looking at the rest.
func ClipTo(s string, longest int) string {
	runes := 0
	for at := range s {
		if runes++; runes > longest {
			return s[:at] + "…"
		}
	}
	return s
}

// Capital makes the first letter of a sentence a capital.
func Capital(s string) string { return strings.ToUpper(s[:1]) + s[1:] }

// Words returns the known words as strings.
func Words[T ~string](known []T) []string {
	all := make([]string, len(known))
	for i, k := range known {
		all[i] = string(k)
	}
	return all
}

// Plain writes a number for people, without an exponent unless the number is absurd.
func Plain(x float64) string {
	if a := math.Abs(x); a != 0 && (a < 1e-6 || a >= 1e15) {
		return strconv.FormatFloat(x, 'g', -1, 64)
	}
	return strconv.FormatFloat(x+0, 'f', -1, 64) // -0 + 0 is 0
}

// Plural counts things: 1 job, 2 jobs.
func Plural(n int64, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
