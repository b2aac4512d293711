package schedule

import (
	"context"
	"testing"

	"example.org/headroom/internal/ask/study"
)

// looks is a context that ends when it has been asked so often whether it has.
type looks struct {
	context.Context
	left int
}

func (l *looks) Err() error {
	if l.left--; l.left < 0 {
		return context.DeadlineExceeded
	}
	return nil
}

// A search that ends early has improved its first plan: it is within a few hundredths of the one that has all its time.
func TestSearchesThatEndEarlyHaveFoundSomething(t *testing.T) {
	for seed := range uint64(3) {
		p := drawnOn(study.DrawCluster(seed+100, 36, 12, 50, 12), 1)
		first, _ := begin(t.Context(), &p)
		early, whole := Solve(&looks{t.Context(), 800}, p, nil, Options{}), Solve(t.Context(), p, nil, Options{Moves: 400_000})
		checkPlan(t, &p, &early)
		t.Logf("seed %d: %.2f at first, %.2f early, %.2f at the end", seed, first.total(), early.Cost(), whole.Cost())
		if early.Cost()-whole.Cost() > max(0.4*(first.total()-whole.Cost()), 0.005*whole.Cost()) {
			t.Errorf("seed %d: the first plan costs %g, an early one %g, and the last one %g", seed, first.total(), early.Cost(), whole.Cost())
		}
	}
}
