package app

import (
	"context"
	"errors"
	"sync"
	"time"

	"headroom/internal/core/fault"
	"headroom/internal/service/plans"
)

// Changes of a cluster's current plan, or of its freshness, first make the board doubt it, so that later requests see
// the change.

// changing calls Doubt for a change that ends with the call, or with the transaction that its context carries (see
// Once).
func (a *App) changing(ctx context.Context, cluster string) (settled func()) {
	settled = a.Board.Doubt(cluster)
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

// Once does something at most once per principal and key (see Store).
func (a *App) Once(ctx context.Context, key OnceKey, do func(context.Context) (Answer, error)) (Answer, bool, error) {
	all := &changes{}
	defer func() {
		for _, settled := range all.settled {
			settled()
		}
	}()
	return a.Stores.Database.Once(context.WithValue(ctx, changesKey{}, all), key, do)
}

// SavePlan stores a plan, which can be read here at once.
func (a *App) SavePlan(ctx context.Context, r plans.PlanRecord) (plans.PlanRecord, error) {
	defer a.changing(ctx, r.Cluster)()
	return a.Stores.Plans.SavePlan(ctx, r)
}

// UnpinPlan makes the newest good plan current at once.
func (a *App) UnpinPlan(ctx context.Context, cluster string) error {
	defer a.changing(ctx, cluster)()
	return a.Stores.Plans.UnpinPlan(ctx, cluster)
}

// DeleteCluster hides a cluster and its inputs; its plans stay on record for ever.
func (a *App) DeleteCluster(ctx context.Context, name string, version int64) error {
	defer a.changing(ctx, name)()
	return a.Stores.Inputs.DeleteCluster(ctx, name, version)
}

// lookWait is the longest wait of a request for the store during a change, if an older plan is known.
const lookWait = 500 * time.Millisecond

// quietFor is the time after a wait in vain in which nobody else waits for the store.
const quietFor = time.Second

// Shown returns a cluster's current plan: from memory if it is known there, otherwise from the store. If the store
// does not answer, it returns the last plan shown, and old is true.
func (a *App) Shown(ctx context.Context, cluster string) (shown *Shown, old bool, err error) {
	if shown := a.Board.Find(cluster); shown != nil {
		return shown, false, nil
	}
	last, _ := a.Board.state(cluster)
	if last != nil && a.Board.quiet(cluster) {
		return last, true, nil
	}
	asking := ctx
	if last != nil {
		var cancel context.CancelFunc
		asking, cancel = context.WithTimeout(ctx, lookWait)
		defer cancel()
	}
	c, err := a.Stores.Plans.Current(asking, cluster)
	if err == nil {
		shown, err = Show(c)
		return shown, false, err
	}
	if last != nil && ctx.Err() == nil && (asking.Err() != nil || errors.Is(err, fault.Busy)) {
		a.Board.askedInVain(cluster)
		return last, true, nil
	}
	return nil, false, err
}
