package plans

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"example.org/headroom/internal/data/storage"
)

const (
	plansEvery = time.Minute      // all plans are read at least this often
	plansAgain = time.Second      // after a lost connection
	plansPing  = 2 * time.Second  // interval of pings to the store
	plansWait  = 10 * time.Second // for an answer of the store

	// plansRest is between two reads of changed plans: of many that change together, many are read at a time.
	plansRest = 20 * time.Millisecond
)

func (b *Board) run(ctx context.Context) (<-chan struct{}, error) {
	if err := b.readAll(ctx); err != nil {
		return nil, err
	}
	b.mu.Lock()
	b.running, b.contact = true, time.Now()
	b.mu.Unlock()
	var all sync.WaitGroup
	all.Go(func() { b.listen(ctx) })
	all.Go(func() { b.work(ctx) })
	all.Go(func() { b.ping(ctx) })
	done := make(chan struct{})
	go func() {
		all.Wait()
		b.mu.Lock()
		b.running = false
		b.mu.Unlock()
		close(done)
	}()
	return done, nil
}

// listen receives notifications of changes. It restarts every minute, which reads all plans.
func (b *Board) listen(ctx context.Context) {
	for ctx.Err() == nil {
		listening, cancel := context.WithTimeout(ctx, plansEvery)
		err := b.source.Listen(listening, Channel, b.changed)
		over := listening.Err() != nil
		cancel()
		if err != nil && !over {
			b.heard(err)
			b.changed("")
			select {
			case <-time.After(plansAgain):
			case <-ctx.Done():
			}
		}
	}
}

// changed asks the worker to read a cluster again, or all with "". It does not wait, so that any number of changes
// during a read become one.
func (b *Board) changed(cluster string) {
	b.asked.Lock()
	if cluster == "" {
		b.all = true
	} else {
		b.dirty[cluster] = true
	}
	b.asked.Unlock()
	select {
	case b.wake <- struct{}{}:
	default:
	}
}

// work reads changed plans. It alone shows plans.
func (b *Board) work(ctx context.Context) {
	for ctx.Err() == nil {
		select {
		case <-ctx.Done():
			return
		case <-b.wake:
			b.readChanged(ctx)
			storage.Rest(ctx, plansRest)
		}
	}
}

// ping checks beside the reads whether the store answers, because a read may hang.
func (b *Board) ping(ctx context.Context) {
	again := time.NewTicker(plansPing)
	defer again.Stop()
	for ctx.Err() == nil {
		select {
		case <-ctx.Done():
			return
		case <-again.C:
			b.ask(ctx, b.source.Ready)
		}
	}
}

func (b *Board) readChanged(ctx context.Context) {
	b.asked.Lock()
	all, dirty := b.all, b.dirty
	b.all, b.dirty = false, map[string]bool{}
	b.asked.Unlock()
	if all {
		if !b.ask(ctx, b.readAll) {
			b.again(ctx, "")
		}
		return
	}
	for some := range slices.Chunk(slices.Collect(maps.Keys(dirty)), maxRead) {
		if !b.ask(ctx, func(ctx context.Context) error { return b.readSome(ctx, some) }) {
			b.again(ctx, "")
			return
		}
	}
}

// again repeats a request to the worker a moment later.
func (b *Board) again(ctx context.Context, cluster string) {
	select {
	case <-time.After(plansAgain):
		b.changed(cluster)
	case <-ctx.Done():
	}
}

// ask queries the store and notes whether it answered.
func (b *Board) ask(ctx context.Context, what func(context.Context) error) bool {
	asking, cancel := context.WithTimeout(ctx, plansWait)
	defer cancel()
	err := what(asking)
	if ctx.Err() != nil {
		return true
	}
	b.heard(err)
	return err == nil
}

// heard notes an answer of the store, or its absence. When the store is back all plans are read.
func (b *Board) heard(err error) {
	b.mu.Lock()
	returned, left := b.away && err == nil, !b.away && err != nil
	b.away = err != nil
	if err == nil {
		b.contact = time.Now()
	}
	b.mu.Unlock()
	if left {
		b.warn("current plans not refreshed", err)
	}
	if returned {
		b.changed("")
	}
}
