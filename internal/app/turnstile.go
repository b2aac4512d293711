package app

import (
	"context"
	"fmt"
	"runtime"

	"headroom/internal/capacity"
)

// turnstile lets so many through at once and so many wait; whoever comes then is sent away at once,
// so that a flood of solves delays nobody's polls.
type turnstile struct {
	waiting chan struct{}
	passing chan struct{}
}

func newTurnstile(passing, waiting int) *turnstile {
	if passing <= 0 {
		passing = runtime.GOMAXPROCS(0)
	}
	if waiting <= 0 {
		waiting = 48
	}
	return &turnstile{waiting: make(chan struct{}, passing+waiting), passing: make(chan struct{}, passing)}
}

// enter waits for a place; leave gives it back. A caller who goes away while waiting frees theirs.
func (t *turnstile) enter(ctx context.Context) (leave func(), err error) {
	select {
	case t.waiting <- struct{}{}:
	default:
		return nil, fmt.Errorf("all %d places for solving are taken and as many wait as may; ask again in a moment: %w", cap(t.passing), capacity.Busy)
	}
	select {
	case t.passing <- struct{}{}:
		return func() { <-t.passing; <-t.waiting }, nil
	case <-ctx.Done():
		<-t.waiting
		return nil, ctx.Err()
	}
}
