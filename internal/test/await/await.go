// Package await polls conditions that nothing announces.
package await

import (
	"iter"
	"testing"
	"time"
)

// Between two tries there is a pause. The first is short, and each is twice as long as the one before, up to the longest.
const (
	shortest = time.Millisecond
	longest  = 20 * time.Millisecond
)

// Tries gives turns to try something until the limit has passed. The last turn begins after the limit; it is true, the others
// are false.
func Tries(limit time.Duration) iter.Seq[bool] {
	return func(try func(last bool) bool) {
		end := time.Now().Add(limit)
		for pause := shortest; ; pause = min(2*pause, longest) {
			last := !time.Now().Before(end)
			if !try(last) || last {
				return
			}
			time.Sleep(pause) // the condition may be anything, so there is nothing to wait for but the next try
		}
	}
}

// Until polls until a condition holds. The test ends here if it does not hold within the limit.
func Until(t testing.TB, limit time.Duration, what string, holds func() bool) {
	t.Helper()
	for range Tries(limit) {
		if holds() {
			return
		}
	}
	t.Fatalf("not within %v: %s", limit, what)
}
