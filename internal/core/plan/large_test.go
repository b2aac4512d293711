package plan

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"runtime"
	"testing"
	"time"

	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/test/plantest"
)

// The most that a class may take, in bytes: of the problem as read with its plan, and handed out on the way from text
// to text. A class with a profile is itself some 480 bytes of text, and its part of the plan 500 to 800. The places for a
// target and a promise take 48 of them, also where there is none, and that for a time of day 16.
const (
	mostKept  = 1570
	mostGiven = 4500
	// Plans of up to maxClasses tell of each class what one job more costs and one less saves: amounts and their bounds.
	mostChanges = 1000
	// The searches for them may look at so many states, however many classes there are, of which each keeps a node.
	roomOfChanges = 12 * maxStates
)

// TestLargeProblemsGrowAsTheirText: what reading, solving and writing take of memory grows with the number of
// classes and no faster, and is a small multiple of the text. With HEADROOM_LONG time does as well, up to a million.
func TestLargeProblemsGrowAsTheirText(t *testing.T) {
	sizes := []int{2_000, 10_000}
	long := os.Getenv("HEADROOM_LONG") != ""
	if long {
		sizes = []int{10_000, 100_000, 1_000_000}
	}
	for _, family := range []string{"table2", "hard"} {
		for _, integrality := range []capacity.Integrality{capacity.Integer, capacity.Executable} {
			t.Run(fmt.Sprintf("%s/%s", family, integrality), func(t *testing.T) {
				var before large
				for i, n := range sizes {
					x := measureLarge(t, plantest.CallBody(t, family, integrality, n), n)
					t.Logf("%9d classes: %4.0f bytes kept, %4.0f handed out, %.2f µs of CPU a class", n, x.kept, x.given, x.micros)
					kept, given := float64(mostKept), float64(mostGiven)
					if n <= maxClasses {
						kept, given = kept+mostChanges, given+mostChanges+roomOfChanges/float64(n)
					}
					if x.kept > kept || x.given > given {
						t.Errorf("%d classes: %.0f bytes of memory a class are kept and %.0f handed out; at most %.0f and %.0f are meant", n, x.kept, x.given, kept, given)
					}
					if i > 0 && (x.kept > 1.2*before.kept || x.given > 1.5*before.given || long && x.micros > 3*before.micros) {
						t.Errorf("%d classes take more each than %d: %+v, before %+v", n, sizes[i-1], x, before)
					}
					before = x
				}
			})
		}
	}
}

// large holds the memory and the time for a class of a large problem.
type large struct{ kept, given, micros float64 }

func measureLarge(t *testing.T, text []byte, n int) large {
	t.Helper()
	var before, after, held runtime.MemStats
	for range 2 { // what was only kept for another use goes with the second
		runtime.GC()
	}
	runtime.ReadMemStats(&before)
	began := plantest.CPUSeconds(t)
	p, err := capacity.ReadProblem(text, capacity.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
	defer cancel()
	pl, err := Solve(ctx, p, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := capacity.WritePlan(io.Discard, pl); err != nil {
		t.Fatal(err)
	}
	spent := plantest.CPUSeconds(t) - began
	runtime.ReadMemStats(&after)
	runtime.GC()
	runtime.ReadMemStats(&held)
	runtime.KeepAlive(text)
	var written bytes.Buffer
	if err := capacity.WritePlan(&written, pl); err != nil {
		t.Fatal(err)
	}
	again, err := capacity.ReadPlan(written.Bytes())
	if err != nil || len(again.Classes) != n || len(p.Classes) != n {
		t.Fatalf("%d classes became %d and %d: %v", n, len(p.Classes), len(again.Classes), err)
	}
	return large{
		kept:   (float64(held.HeapAlloc) - float64(before.HeapAlloc)) / float64(n),
		given:  float64(after.TotalAlloc-before.TotalAlloc) / float64(n),
		micros: spent * 1e6 / float64(n),
	}
}
