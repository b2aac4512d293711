package app_test

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"example.org/headroom/internal/core/fault"
	"example.org/headroom/internal/data/inputs"
	"example.org/headroom/internal/edge/postgres"
	"example.org/headroom/internal/service/app"
	"example.org/headroom/internal/service/auth"
	"example.org/headroom/internal/service/plans"
	"example.org/headroom/internal/test/pgtest"
)

// troubled is a store that is busy for a while.
type troubled struct {
	*postgres.Store
	busy *atomic.Bool
}

func (s troubled) Snapshot(ctx context.Context, cluster string, at time.Time) (inputs.Snapshot, error) {
	if s.busy.Load() {
		return inputs.Snapshot{}, fmt.Errorf("the database is away: %w", fault.Busy)
	}
	return s.Store.Snapshot(ctx, cluster, at)
}

// stores returns the database's stores, with its own for the inputs.
func (s troubled) stores() app.Stores {
	all := s.Store.Stores()
	all.Inputs = s
	return all
}

func TestWhatPassesByItselfIsTriedAgain(t *testing.T) {
	t.Parallel()
	clock := clockAt("2026-06-01T10:00:00Z")
	store := troubled{Store: pgtest.Open(t), busy: new(atomic.Bool)}
	a := app.New(store.stores(), auth.NewKeyring(), app.Config{Clock: clock.now})
	apply(t, a, document("c"))
	startPlanner(t, a)
	current(t, a, "c", "the first plan", numbered(1))
	store.busy.Store(true)
	penalty(t, a, "c", "9")
	c := current(t, a, "c", "trouble", func(c plans.Current) bool { return c.LastAttempt != nil && c.LastAttempt.Failed })
	if c.Record.Number != 1 || c.LastAttempt.Detail != "the database is away: busy" || len(c.LastAttempt.Conflicts) != 0 {
		t.Errorf("got plan %d, %+v", c.Record.Number, c.LastAttempt)
	}
	store.busy.Store(false)
	if c = current(t, a, "c", "the trouble is over", numbered(2)); c.LastAttempt != nil {
		t.Errorf("got %+v", c.LastAttempt)
	}
}
