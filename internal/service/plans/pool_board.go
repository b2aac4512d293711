package plans

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"

	"example.org/headroom/internal/ask/pool"
)

// PoolBoard serves every pool's current plan from memory, so that polls need no database and are still answered while
// it is away. It is read again on every notification, at most once a second, and each minute.
type PoolBoard struct {
	source PoolStore

	mu    sync.RWMutex
	shown map[string]*ShownPool // nil: it is not kept
}

// ShownPool is a pool's current plan. It never changes: a newer state replaces it.
type ShownPool struct {
	CurrentPool
	Schedule pool.PoolSchedule

	tag string
	texts
}

// Tag changes with the plan and its freshness.
func (s *ShownPool) Tag() string { return s.tag }

func showPool(c CurrentPool, before *ShownPool) (*ShownPool, error) {
	s := &ShownPool{CurrentPool: c, tag: c.Tag()}
	if before != nil && before.Record.ID == c.Record.ID {
		if before.tag == s.tag {
			return before, nil
		}
		s.Schedule = before.Schedule
		return s, nil
	}
	if err := json.Unmarshal(c.Record.Plan, &s.Schedule); err != nil {
		return nil, fmt.Errorf("read plan %d of the pool of cluster %s: %v", c.Record.Number, c.Record.Cluster, err)
	}
	return s, nil
}

func (b *PoolBoard) read(ctx context.Context) error {
	all, err := b.source.CurrentPools(ctx)
	if err != nil {
		return fmt.Errorf("read the current plans of pools: %w", err)
	}
	b.mu.RLock()
	before := b.shown
	b.mu.RUnlock()
	shown := make(map[string]*ShownPool, len(all))
	for _, c := range all {
		if shown[c.Record.Cluster], err = showPool(c, before[c.Record.Cluster]); err != nil {
			return err
		}
	}
	b.mu.Lock()
	b.shown = shown
	b.mu.Unlock()
	return nil
}

func (b *PoolBoard) find(cluster string) *ShownPool {
	b.mu.RLock()
	defer b.mu.RUnlock()
	return b.shown[cluster]
}

// Shown returns the current plan of a cluster's pool: from memory if it is known there, otherwise from the store.
func (d *PoolDesk) Shown(ctx context.Context, cluster string) (*ShownPool, error) {
	if shown := d.Board.find(cluster); shown != nil {
		return shown, nil
	}
	c, err := d.store.CurrentPool(ctx, cluster)
	if err != nil {
		return nil, err
	}
	return showPool(c, nil)
}
