package app

import (
	"context"
	"errors"
	"sync"
	"time"

	"headroom/internal/core/fault"
	"headroom/internal/service/plans"
)

// What changes a cluster's current plan, or what is said of it, makes the board doubt it first, so that
// who asks afterwards sees the change.

// changing is Doubt for a change that ends with the call, or with the transaction that its context
// carries (see Once).
func (a *App) changing(ctx context.Context, cluster string) (settled func()) {
	settled = a.Board.Doubt(cluster)
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

// DeleteCluster makes a cluster and its inputs disappear; its plans stay on record for ever.
func (a *App) DeleteCluster(ctx context.Context, name string, version int64) error {
	defer a.changing(ctx, name)()
	return a.Stores.Inputs.DeleteCluster(ctx, name, version)
}

// lookWait is how long who asks for a plan that is being changed waits for the store at most, where an
// older one is known.
const lookWait = 500 * time.Millisecond

// quietFor is how long nobody else waits for it after somebody has in vain.
const quietFor = time.Second

// Shown is a cluster's current plan: from memory where it is known there, else from the store. Where
// the store does not answer, what was shown last is better than nothing; old says that it is this.
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
