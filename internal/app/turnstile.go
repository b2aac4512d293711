package app

import (
	"context"
	"fmt"
	"runtime"
	"sync"

	"headroom/internal/auth"
	"headroom/internal/capacity"
)

// turnstile lets so many through at once and so many wait; whoever comes then is sent away at once,
// so that a flood of solves delays nobody's polls. One key has a quarter of the places to wait at
// most, so that it cannot shut others out.
type turnstile struct {
	passing chan struct{}
	waiting int // places to wait

	mu     sync.Mutex
	inside int            // who waits or passes
	byKey  map[string]int // likewise, by principal
	perKey int
}

func newTurnstile(passing, waiting int) *turnstile {
	if passing <= 0 {
		passing = runtime.GOMAXPROCS(0)
	}
	if waiting <= 0 {
		waiting = 48
	}
	return &turnstile{passing: make(chan struct{}, passing), waiting: waiting, byKey: map[string]int{}, perKey: passing + (waiting+3)/4}
}

// enter waits for a place; leave gives it back. A caller who goes away while waiting frees theirs.
func (t *turnstile) enter(ctx context.Context) (leave func(), err error) {
	key := auth.From(ctx).ID
	if err := t.queue(key); err != nil {
		return nil, err
	}
	select {
	case t.passing <- struct{}{}:
		return func() { <-t.passing; t.unqueue(key) }, nil
	case <-ctx.Done():
		t.unqueue(key)
		return nil, ctx.Err()
	}
}

func (t *turnstile) queue(key string) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch {
	case t.inside >= cap(t.passing)+t.waiting:
		return fmt.Errorf("all %d places for solving are taken, and as many wait as may; ask again in a moment: %w", cap(t.passing), capacity.Busy)
	case t.byKey[key] >= t.perKey:
		return fmt.Errorf("%d solves of this key wait or run already; ask again when one has been answered: %w", t.byKey[key], capacity.Busy)
	}
	t.inside++
	t.byKey[key]++
	return nil
}

func (t *turnstile) unqueue(key string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.inside--
	if t.byKey[key]--; t.byKey[key] == 0 {
		delete(t.byKey, key)
	}
}

// count is how many solve and how many wait.
func (t *turnstile) count() (passing, waiting int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return len(t.passing), max(0, t.inside-len(t.passing))
}
