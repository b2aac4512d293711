package app

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"sync"

	"headroom/internal/auth"
	"headroom/internal/capacity"
	"headroom/internal/trace"
)

// turnstile lets so many through at once and so many wait; whoever comes then is sent away at once,
// so that a flood of solves delays nobody's polls. One key has a quarter of the places to wait at
// most, so that it cannot shut others out. The planner gives way to users, but not for ever: of
// plannerTurn places that become free while both wait, one is its own.
type turnstile struct {
	places, waiting, perKey int

	mu       sync.Mutex
	passing  int
	byKey    map[string]int // who waits or passes, by principal
	users    []ticket       // who waits, in the order they came
	planners []ticket
	usersRow int // users let in, one after the other, while the planner waited
	closed   bool
}

// ticket is somebody's wait: for nil, when a place is theirs, or for why they get none.
type ticket chan error

const plannerTurn = 4

// ErrStopping is told to who asks for a place to solve while the server stops.
var ErrStopping = fmt.Errorf("the server is stopping; ask again in a moment: %w", capacity.Busy)

// newTurnstile leaves one processor to those who do not solve, unless told otherwise.
func newTurnstile(places, waiting int) *turnstile {
	if places <= 0 {
		places = max(1, runtime.GOMAXPROCS(0)-1)
	}
	if waiting <= 0 {
		waiting = 48
	}
	return &turnstile{places: places, waiting: waiting, byKey: map[string]int{}, perKey: places + (waiting+3)/4}
}

// enter waits for a place; leave gives it back. A caller who goes away while waiting frees theirs.
func (t *turnstile) enter(ctx context.Context) (leave func(), err error) {
	return t.enterAs(ctx, auth.From(ctx).ID)
}

func (t *turnstile) enterAs(ctx context.Context, key string) (leave func(), err error) {
	mine, err := t.queue(key)
	if err != nil {
		return nil, err
	}
	_, span := trace.Begin(ctx, "wait for a place to solve", trace.Internal)
	defer span.End()
	select {
	case err = <-mine:
	case <-ctx.Done():
		if t.giveUp(key, mine) {
			return nil, ctx.Err()
		}
		err = <-mine // it came at the same moment
	}
	if err == nil {
		return func() { t.leave(key) }, nil
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.forget(key)
	return nil, err
}

// room says whether somebody would be let in to wait.
func (t *turnstile) room(key string) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.mayQueue(key)
}

func (t *turnstile) mayQueue(key string) error {
	switch {
	case t.closed:
		return ErrStopping
	case key == planner.ID: // it asks for no more than it has use for
		return nil
	case len(t.users) >= t.waiting:
		return fmt.Errorf("all %d places for solving are taken, and as many wait as may; ask again in a moment: %w", t.places, capacity.Busy)
	case t.byKey[key] >= t.perKey:
		return fmt.Errorf("%d solves of this key wait or run already; ask again when one has been answered: %w", t.byKey[key], capacity.Busy)
	}
	return nil
}

func (t *turnstile) queue(key string) (ticket, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if err := t.mayQueue(key); err != nil {
		return nil, err
	}
	mine := make(ticket, 1)
	if key == planner.ID {
		t.planners = append(t.planners, mine)
	} else {
		t.users = append(t.users, mine)
	}
	t.byKey[key]++
	t.admit()
	return mine, nil
}

// admit fills the places that are free.
func (t *turnstile) admit() {
	for t.passing < t.places && len(t.users)+len(t.planners) > 0 {
		from := &t.users
		if len(t.planners) > 0 {
			t.usersRow++
			if len(t.users) == 0 || t.usersRow >= plannerTurn {
				from, t.usersRow = &t.planners, 0
			}
		}
		(*from)[0] <- nil
		*from = slices.Delete(*from, 0, 1)
		t.passing++
	}
}

// giveUp ends a wait; false says that it is over already.
func (t *turnstile) giveUp(key string, mine ticket) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	waited := len(t.users) + len(t.planners)
	same := func(other ticket) bool { return other == mine }
	t.users, t.planners = slices.DeleteFunc(t.users, same), slices.DeleteFunc(t.planners, same)
	if len(t.users)+len(t.planners) == waited {
		return false
	}
	t.forget(key)
	return true
}

func (t *turnstile) leave(key string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.passing--
	t.forget(key)
	t.admit()
}

func (t *turnstile) forget(key string) {
	if t.byKey[key]--; t.byKey[key] == 0 {
		delete(t.byKey, key)
	}
}

// close lets nobody new in to wait.
func (t *turnstile) close() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.closed = true
}

// clear sends away who waits. Who is inside stays.
func (t *turnstile) clear() {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, waiting := range slices.Concat(t.users, t.planners) {
		waiting <- ErrStopping
	}
	t.users, t.planners = nil, nil
}

// count is how many solve and how many wait.
func (t *turnstile) count() (passing, waiting int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.passing, len(t.users) + len(t.planners)
}
