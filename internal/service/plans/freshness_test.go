package plans

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"testing"

	"example.org/headroom/internal/core/capacity"
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
