package trial

import (
	"context"
	"slices"
	"sync/atomic"

	"example.org/headroom/internal/slots/sim"
)

// turns are simulations that go on together, one replication after the other. They have the same number of replications.
type turns struct {
	works []*sim.Simulation
	next  atomic.Int64
}

// Total returns the number of steps of the whole work.
func (t *turns) Total() (sum int64) {
	for _, w := range t.works {
		sum += w.Total()
	}
	return sum
}

// Done returns the number of finished steps; callers may ask at any time.
func (t *turns) Done() (sum int64) {
	for _, w := range t.works {
		sum += w.Done()
	}
	return sum
}

// Step simulates one replication and reports whether there was one left; several may run at once. An error is the
// context's: the replication it began is lost. Simulations take turns, so that all have the same replications finished.
func (t *turns) Step(ctx context.Context) (more bool, err error) {
	turn := t.next.Add(1) - 1
	return t.works[turn%int64(len(t.works))].Step(ctx)
}

// Whole returns the replications finished by every simulation: all of them, unless the work was ended early.
func (t *turns) Whole() []int {
	whole := t.works[0].Whole()
	for _, w := range t.works[1:] {
		there := w.Whole()
		whole = slices.DeleteFunc(whole, func(i int) bool { return !slices.Contains(there, i) })
	}
	return whole
}
