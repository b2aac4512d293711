package proof

import (
	"context"
	"math/rand/v2"
	"testing"

	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/plan"
)

// The product's plans for several VM types, spot VMs and budgets are accepted here, and small problems are proved.
func TestPlansForFleetsAreAccepted(t *testing.T) {
	trials := long(300, 20_000)
	count := map[capacity.Status]int{}
	notProved := 0
	for trial := range trials {
		p := drawnFleet(rand.New(rand.NewPCG(1, uint64(trial))))
		if p.Validate() != nil {
			continue
		}
		pl, err := plan.Solve(context.Background(), p, nil)
		if err != nil {
			t.Fatalf("trial %d: %v\n%s", trial, err, text(p))
		}
		r := Verify(p, pl, Options{Brief: true})
		if !r.Accepted() {
			t.Fatalf("trial %d:\n%s\n%s\n%s", trial, r, text(p), text(pl))
		}
		if count[pl.Status]++; r.Outcome == NotProved {
			notProved++
		}
	}
	t.Logf("%v, of which %d not proved", count, notProved)
	if count[capacity.Optimal] < trials*3/4 || count[capacity.InfeasibleStatus] < trials/100 || notProved > trials/100 {
		t.Errorf("%v, of which %d not proved, say too little", count, notProved)
	}
}
