package plans

import (
	"context"
	"errors"
	"sync"
	"time"

	"headroom/internal/core/fault"
)

// What changes a cluster's current plan, or what is said of it, makes the board doubt it first, so that
// who asks afterwards sees the change.

// Changing is Doubt for a change that ends with the call, or with the transaction that its context
// carries (see Once).
func (d *Desk) Changing(ctx context.Context, cluster string) (settled func()) {
	settled = d.Board.Doubt(cluster)
	if joined, ok := ctx.Value(changesKey{}).(*changes); ok {
		joined.add(settled)
		return func() {}
	}
	return settled
}

type changesKey struct{}

// changes are what is settled when a transaction is over.
type changes struct {
	mu      sync.Mutex
	settled []func()
}

func (c *changes) add(settled func()) {
	c.mu.Lock()
	c.settled = append(c.settled, settled)
	c.mu.Unlock()
}

// Save stores a plan, which can be read here at once.
func (d *Desk) Save(ctx context.Context, r PlanRecord) (PlanRecord, error) {
	defer d.Changing(ctx, r.Cluster)()
	return d.store.SavePlan(ctx, r)
}

// Unpin makes the newest good plan current at once.
func (d *Desk) Unpin(ctx context.Context, cluster string) error {
	defer d.Changing(ctx, cluster)()
	return d.store.UnpinPlan(ctx, cluster)
}

// lookWait is how long who asks for a plan that is being changed waits for the store at most, where an
// older one is known.
const lookWait = 500 * time.Millisecond

// quietFor is how long nobody else waits for it after somebody has in vain.
const quietFor = time.Second

// Shown is a cluster's current plan: from memory where it is known there, else from the store. Where
// the store does not answer, what was shown last is better than nothing; old says that it is this.
func (d *Desk) Shown(ctx context.Context, cluster string) (shown *Shown, old bool, err error) {
	if shown := d.Board.Find(cluster); shown != nil {
		return shown, false, nil
	}
	last, _ := d.Board.state(cluster)
	if last != nil && d.Board.quiet(cluster) {
		return last, true, nil
	}
	asking := ctx
	if last != nil {
		var cancel context.CancelFunc
		asking, cancel = context.WithTimeout(ctx, lookWait)
		defer cancel()
	}
	c, err := d.store.Current(asking, cluster)
	if err == nil {
		shown, err = Show(c)
		return shown, false, err
	}
	if last != nil && ctx.Err() == nil && (asking.Err() != nil || errors.Is(err, fault.Busy)) {
		d.Board.askedInVain(cluster)
		return last, true, nil
	}
	return nil, false, err
}

// JoinChanges lets the changes that are made with its context be settled together, when their transaction is over.
func JoinChanges(ctx context.Context) (joined context.Context, settle func()) {
	all := &changes{}
	return context.WithValue(ctx, changesKey{}, all), func() {
		for _, settled := range all.settled {
			settled()
		}
	}
}
