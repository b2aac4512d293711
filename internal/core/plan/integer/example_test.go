package integer_test

import (
	"context"
	"fmt"

	"example.org/headroom/internal/core/plan/integer"
)

// P2 is the bare optimisation: VMs per job, penalties, ranges of jobs, and tiers from the cheapest.
// The objective is 10 · 0.5 − 4 · 3, the VMs less the penalties avoided.
func ExampleP2() {
	r := integer.P2(context.Background(), integer.Instance{
		Gamma: []float64{2.5, 1.5}, Penalty: []float64{3, 0.4}, Low: []int64{0, 0}, High: []int64{4, 4},
		Supply: []integer.Tier{{VMs: integer.Unlimited, Price: 0.5}},
	}, integer.Within(0))
	fmt.Println(r.Feasible, r.Jobs, r.VMs, r.Objective, r.Gap)
	// Output:
	// true [4 0] 10 -7 0
}
