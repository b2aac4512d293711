package app

import (
	"context"
	"sync"
)

// RunWatch tells those who wait for a run that it has changed. WatchRuns keeps it.
type RunWatch struct {
	mu      sync.Mutex
	waiting map[string]*runWaiters
}

type runWaiters struct {
	changed chan struct{}
	count   int
}

// Watch answers a channel that is closed when the run changes, or may have; leave must follow.
func (w *RunWatch) Watch(id string) (changed <-chan struct{}, leave func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.waiting == nil {
		w.waiting = map[string]*runWaiters{}
	}
	mine := w.waiting[id]
	if mine == nil {
		mine = &runWaiters{changed: make(chan struct{})}
		w.waiting[id] = mine
	}
	mine.count++
	return mine.changed, func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		if mine.count--; mine.count == 0 && w.waiting[id] == mine {
			delete(w.waiting, id)
		}
	}
}

// tell wakes those who wait for a run, or everybody with "".
func (w *RunWatch) tell(id string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if id == "" {
		for _, waiters := range w.waiting {
			close(waiters.changed)
		}
		clear(w.waiting)
		return
	}
	if waiters := w.waiting[id]; waiters != nil {
		close(waiters.changed)
		delete(w.waiting, id)
	}
}

// WatchRuns hears of changes of runs until the context ends; done is closed when it is at rest. While
// nothing can be heard everybody is woken each second, to look for themselves.
func (a *App) WatchRuns(ctx context.Context) (done <-chan struct{}) {
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for ctx.Err() == nil {
			_ = a.Stores.Database.Listen(ctx, RunsChannel, a.RunWatch.tell)
			a.RunWatch.tell("")
			rest(ctx, plannerAgain)
		}
	}()
	return ended
}
