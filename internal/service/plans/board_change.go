package plans

import (
	"context"
	"errors"
	"sync"
	"time"

	"example.org/headroom/internal/core/fault"
)

// Changes of a cluster's current plan, or of its freshness, first make the board doubt it, so that later requests see
// the change.

// Changing calls Doubt for a change that ends with the call, or with the transaction that its context carries (see
// Once).
func (d *Desk) Changing(ctx context.Context, cluster string) (settled func()) {
	settled = d.Board.doubt(cluster)
	if joined, ok := ctx.Value(changesKey{}).(*changes); ok {
		joined.add(settled)
		return func() {}
	}
	return settled
}

type changesKey struct{}

// changes lists the functions to call at the end of a transaction.
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
	saved, err := d.store.SavePlan(ctx, r)
	if err == nil {
		d.Board.made(saved)
	}
	return saved, err
}

// Unpin makes the newest good plan current at once.
func (d *Desk) Unpin(ctx context.Context, cluster string) error {
	defer d.Changing(ctx, cluster)()
	return d.store.UnpinPlan(ctx, cluster)
}

// lookWait is the longest wait of a request for the store during a change, if an older plan is known.
const lookWait = 500 * time.Millisecond

// quietFor is the time after a wait in vain in which nobody else waits for the store.
const quietFor = time.Second

// Shown returns a cluster's current plan: from memory if it is known there, otherwise from the store. If the store
// does not answer, it returns the last plan shown, and old is true.
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
