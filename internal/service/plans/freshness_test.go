package plans

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"testing"
	"time"

	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/fault"
	"example.org/headroom/internal/test/plantest"
)

// A problem is written as the standard library does, and its sum does not depend on the plan before.
func TestTextOfProblems(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(3, 28))
	for range 200 {
		p := plantest.DrawAny(r)
		var sums [2][]byte
		for i, near := range []*capacity.Near{nil, {VMs: 17, Jobs: map[string]float64{"a": 1, `b"}`: 3}}} {
			p.Options.Near = near
			want, err := json.Marshal(p)
			if err != nil {
				t.Fatal(err)
			}
			text, sum, err := textOf(p)
			if err != nil || !bytes.Equal(text, want) {
				t.Fatalf("got %s, %v, want %s", text, err, want)
			}
			sums[i] = sum
		}
		if !bytes.Equal(sums[0], sums[1]) {
			t.Fatalf("the sum of %+v depends on the plan before", p)
		}
	}
}

// People read why an older plan stays in force, with the cure.
func TestTroubleIsTold(t *testing.T) {
	t.Parallel()
	failed := &Attempt{At: noon, Reason: "inputs", Failed: true, Detail: "No plan meets the demands", Conflicts: []fault.Finding{
		{Detail: "The quota of vm is 0.", Hint: &fault.Hint{Detail: "A quota of 2 is enough."}}}}
	boundary := &Attempt{At: noon, Reason: "boundary", Failed: true, Detail: "vm has no price."}
	for _, c := range []struct {
		f    Freshness
		want string
	}{
		{Freshness{LastAttempt: &Attempt{Detail: "nothing changed"}}, ""},
		{Freshness{Pin: &Pin{Number: 7, Until: noon, By: "ada"}}, "Plan 7 is pinned until 2026-11-21T12:00:00Z by ada."},
		{Freshness{Pin: &Pin{Number: 7, Until: noon, By: "ada"}, Waiting: new(int64(9)), LastAttempt: boundary},
			"Plan 7 is pinned until 2026-11-21T12:00:00Z by ada. Plan 9 waits until then. The attempt of 2026-11-21T12:00:00Z to plan anew failed: vm has no price. Plan 7, of older inputs, stays in force."},
		{Freshness{InputsChangedAt: noon, LastAttempt: failed},
			"The change of 2026-11-21T12:00:00Z could not be planned: The quota of vm is 0. A quota of 2 is enough. Plan 7, of older inputs, stays in force."},
		{Freshness{LastAttempt: boundary, Stale: true}, "The attempt of 2026-11-21T12:00:00Z to plan anew failed: vm has no price. Plan 7, of older inputs, stays in force."},
		{Freshness{Stale: true, ValidUntil: noon, InputsChangedAt: noon.Add(-time.Hour)},
			`Plan 7 is stale: it was due to be renewed at 2026-11-21T12:00:00Z, for inputs of 2026-11-21T11:00:00Z. "headroom server doctor" says whether a server can plan.`},
	} {
		if got := c.f.Trouble(7); got != c.want {
			t.Errorf("got %q, want %q", got, c.want)
		}
	}
}
