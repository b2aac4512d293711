package runs

import (
	"context"
	"sync"
	"time"

	"example.org/headroom/internal/data/storage"
)

// watchAgain is the time until listening begins anew after a lost connection.
const watchAgain = time.Second

// Watchers wakes those who wait for a change of a run. WatchRuns feeds it.
type Watchers struct {
	mu      sync.Mutex
	waiting map[string]*runWaiters
}

type runWaiters struct {
	changed chan struct{}
	count   int
}

// Watch answers a channel that is closed when the run changes, or may have; leave must follow.
func (w *Watchers) Watch(id string) (changed <-chan struct{}, leave func()) {
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
func (w *Watchers) tell(id string) {
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

// Watch listens to changes of runs until the context ends; done is closed when it has stopped. While listening
// fails everybody is woken each second, to look for themselves.
func (d *Desk) Watch(ctx context.Context) (done <-chan struct{}) {
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for ctx.Err() == nil {
			_ = d.listener.Listen(ctx, Channel, d.Watchers.tell)
			d.Watchers.tell("")
			storage.Rest(ctx, watchAgain)
		}
	}()
	return ended
}
