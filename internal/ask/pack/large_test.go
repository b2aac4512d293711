package pack

import (
	"context"
	"math/rand/v2"
	"testing"
	"time"

	"example.org/headroom/internal/core/lp"
)

// The search's results for batches within the exact method, and their bounds.
func TestSearchesAndBoundsEncloseTheShortest(t *testing.T) {
	r := rand.New(rand.NewPCG(21, 22))
	worst, found, bounds := 0.0, 0, 0.0
	cases := 40
	for i := range cases {
		p := draw(r, []sizes{{12, 4, 9, 1}, {8, 4, 4, 9}}[i%2])
		b, err := ready(p)
		if err != nil {
			continue
		}
		want := packed(t, p, PackMulti).BusySeconds
		for name, solver := range map[string]lp.Solver{"alone": nil, "advised": cbc} {
			got, err := b.large(t.Context(), newFitter(b, newLadder(t.Context(), b)), 1, solver)
			if err != nil {
				t.Fatal(err)
			}
			f := newFitter(b, newLadder(t.Context(), b))
			busy := total(f.phases(got.phases))
			if busy < want*(1-1e-9) || got.bound > want*(1+1e-9) {
				t.Fatalf("%s: found %g s and bound %g s, the shortest takes %g s: %+v", name, busy, got.bound, want, p)
			}
			if name == "advised" {
				worst = max(worst, busy/want-1)
				bounds += got.bound / want / float64(cases)
				if busy <= want*(1+1e-9) {
					found++
				}
			}
		}
	}
	t.Logf("found the shortest in %d of %d, the worst %.2f %% longer; bounds %.2f %% of it on average", found, cases, 100*worst, 100*bounds)
	if worst > 0.02 {
		t.Errorf("a packing is %.2f %% longer than the shortest", 100*worst)
	}
}

// Gaps of batches beyond the exact method. Forty jobs on 50 machines are promised 1 %, and two hundred on 100
// machines 3 %. The latter take up to 10 s of processor time.
func TestLargeBatchesAreNearTheShortest(t *testing.T) {
	for _, c := range []struct {
		machines int64
		jobs     int
		gap      float64
		long     bool
	}{{11, 40, 0.02, false}, {50, 40, 0.01, false}, {100, 200, 0.03, true}} {
		if c.long && !wholeSamples {
			continue
		}
		p := sixteen(c.machines, c.jobs, 5)
		ctx, cancel := context.WithTimeout(t.Context(), 60*time.Second)
		began := time.Now()
		a, err := Pack(ctx, p, cbc)
		cancel()
		if err != nil {
			t.Fatal(err)
		}
		if wrong := Recheck(p, a); len(wrong) > 0 {
			t.Fatal(wrong)
		}
		t.Logf("%d jobs on %d machines: %d phases, %.1f s, bound %.1f s, gap %.3f %%, one after the other %.1f s; %v", c.jobs, c.machines, len(a.Phases), a.BusySeconds, a.LowerBoundSeconds, 100*a.Gap, a.SequentialSeconds, time.Since(began).Round(10*time.Millisecond))
		if a.Gap > c.gap {
			t.Errorf("%d jobs on %d machines: the gap is %g", c.jobs, c.machines, a.Gap)
		}
	}
}
