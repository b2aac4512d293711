// Package plantest draws problems for tests of planning, and solves small ones by trying everything. It uses
// nothing of the planner.
package plantest

import (
	"encoding/json"
	"math"
	"os"
	"testing"

	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/money"
)

// Trials returns the normal count of a randomised test, or the long one of make test-long.
func Trials(normal, long int) int {
	if os.Getenv("HEADROOM_LONG") != "" {
		return long
	}
	return normal
}

// Samples returns n in a long run, half of it in a normal one, and a tenth in a short one.
func Samples(n int) int {
	if testing.Short() {
		return n / 10
	}
	return Trials(n/2, n)
}

// Near reports whether two numbers differ by no more than a tolerance relative to the larger of them, and of 1.
func Near(got, want, tolerance float64) bool {
	return math.Abs(got-want) <= tolerance*max(1, math.Abs(got), math.Abs(want))
}

// Text writes a problem as somebody would send it, for messages.
func Text(p capacity.Problem) string {
	text, err := json.Marshal(p)
	if err != nil {
		return err.Error()
	}
	return string(text)
}

// Amount parses an amount, and panics where it cannot.
func Amount(s string) money.Amount {
	m, err := money.Parse(s)
	if err != nil {
		panic(err)
	}
	return m
}

// Number rounds a number to an amount that a document may point to.
func Number(x float64) *money.Amount { m := money.Round(x); return &m }
