package plans

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"headroom/internal/core/capacity"
	"headroom/internal/core/fault"
)

// Board shows every cluster's current plan from memory, so that polls ask no database and go on to
// be answered while it is away. A change anywhere reaches it within moments; every minute it is read
// anew in case word was lost. It is safe for concurrent use.
type Board struct {
	source boardSource
	now    func() time.Time
	warn   func(message string, err error)

	mu       sync.RWMutex
	places   map[string]*place
	changing map[string]int // clusters of which something is being changed here
	running  bool           // it is kept up to date
	away     bool           // the store did not answer last
	contact  time.Time      // when the store last answered; a monotonic reading, not the app's clock

	asked sync.Mutex // guards what is asked of the worker
	all   bool
	dirty map[string]bool
	wake  chan struct{}
}

// boardStores holds the two stores that a Board needs.
type boardStores struct {
	Store
	Database
}

// boardSource is what a Board reads.
type boardSource interface {
	// Current is a cluster's current plan; NotFound where there is none.
	Current(ctx context.Context, cluster string) (Current, error)
	// Currents are those of clusters that have a plan, a part at a time; see Planning.
	Currents(ctx context.Context, after string, limit int, known []string) ([]Current, error)
	Listen(ctx context.Context, channel string, each func(payload string)) error
	Ready(ctx context.Context) error
}

// place is where a cluster's plan hangs.
type place struct {
	shown    *Shown        // nil is none
	changed  chan struct{} // closed when another plan, or another freshness, is shown
	doubts   int           // counts the reasons to believe that the store has a newer one
	answered int           // how many of them were answered
	inVain   time.Time     // when the store was last asked by a poll and did not answer in time
}

// Shown is a cluster's current plan. It never changes: a newer state takes its place.
type Shown struct {
	Current
	Plan capacity.Plan

	tag   string // of the Current
	event Event
	texts
}

func newBoard(source boardSource, now func() time.Time, warn func(string, error)) *Board {
	return &Board{source: source, now: now, warn: warn, places: map[string]*place{}, changing: map[string]int{}, dirty: map[string]bool{}, wake: make(chan struct{}, 1)}
}

// Find is a cluster's current plan; nil says that the store must be asked, because none is known or
// a newer one is on its way. While the store is away, what was shown last is all there is.
func (b *Board) Find(cluster string) *Shown {
	b.mu.RLock()
	defer b.mu.RUnlock()
	if p := b.places[cluster]; p != nil && (b.away || p.doubts == p.answered && b.changing[cluster] == 0) {
		return p.shown
	}
	return nil
}

// Watch is a cluster's current plan, nil where none is known, and a channel that is closed when that
// changes. A closed channel wakes any number of watchers and waits for none.
func (b *Board) Watch(cluster string) (*Shown, <-chan struct{}) {
	b.mu.Lock()
	defer b.mu.Unlock()
	p := b.place(cluster)
	return p.shown, p.changed
}

// All are the plans that are shown, by cluster.
func (b *Board) All() map[string]*Shown {
	b.mu.RLock()
	defer b.mu.RUnlock()
	all := make(map[string]*Shown, len(b.places))
	for name, p := range b.places {
		if p.shown != nil {
			all[name] = p.shown
		}
	}
	return all
}

// outOfTouch is how long the store may be silent before what is shown counts as old.
const outOfTouch = 15 * time.Second

// InTouch says whether the store has answered lately. When it has not, what is shown may be old.
func (b *Board) InTouch() bool {
	b.mu.RLock()
	defer b.mu.RUnlock()
	return b.running && !b.away && time.Since(b.contact) < outOfTouch
}

// Running says whether the board is kept up to date; otherwise everything is asked of the store.
func (b *Board) Running() bool {
	b.mu.RLock()
	defer b.mu.RUnlock()
	return b.running
}

// Doubt makes the store be asked about a cluster until what is being changed there has been read: who
// changed something wants to see it at once. settled must follow once the change is committed, or is
// not; what was read before may be older.
func (b *Board) Doubt(cluster string) (settled func()) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.running {
		return func() {}
	}
	b.place(cluster).doubts++
	b.changing[cluster]++
	return sync.OnceFunc(func() {
		b.mu.Lock()
		b.place(cluster).doubts++
		if b.changing[cluster]--; b.changing[cluster] == 0 {
			delete(b.changing, cluster)
		}
		b.mu.Unlock()
		b.changed(cluster)
	})
}

// CatchUp waits until what is shown of a cluster is no older than the store was at the call, for a moment at most:
// who was told by another server may know of more than this one has heard of.
func (b *Board) CatchUp(ctx context.Context, cluster string) {
	b.mu.Lock()
	if !b.running {
		b.mu.Unlock()
		return
	}
	p := b.place(cluster)
	p.doubts++
	doubts := p.doubts
	b.mu.Unlock()
	b.changed(cluster)
	ctx, cancel := context.WithTimeout(ctx, lookWait)
	defer cancel()
	for again := time.NewTicker(2 * time.Millisecond); ; {
		b.mu.RLock()
		caught := p.answered >= doubts || b.places[cluster] != p
		b.mu.RUnlock()
		select {
		case <-again.C:
		case <-ctx.Done():
			caught = true
		}
		if caught {
			again.Stop()
			return
		}
	}
}

// place is a cluster's, made where there is none. b.mu is held.
func (b *Board) place(cluster string) *place {
	p := b.places[cluster]
	if p == nil {
		p = &place{changed: make(chan struct{})}
		b.places[cluster] = p
	}
	return p
}

// show puts a plan (nil: none) in its place. answered are the doubts there were before it was read.
func (b *Board) show(cluster string, shown *Shown, answered int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	p := b.place(cluster)
	before := p.shown
	p.shown, p.answered = shown, max(p.answered, answered)
	if (before == nil) != (shown == nil) || before != nil && before.tag != shown.tag {
		close(p.changed)
		p.changed = make(chan struct{})
	}
}

// state is what hangs in a place, and how much it is doubted.
func (b *Board) state(cluster string) (*Shown, int) {
	b.mu.RLock()
	defer b.mu.RUnlock()
	if p := b.places[cluster]; p != nil {
		return p.shown, p.doubts
	}
	return nil, 0
}

// askedInVain notes that a poll was not answered by the store in time.
func (b *Board) askedInVain(cluster string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.place(cluster).inVain = time.Now()
}

// quiet says whether the store left a poll about the cluster without an answer a moment ago: others need
// not wait for it as well.
func (b *Board) quiet(cluster string) bool {
	b.mu.RLock()
	defer b.mu.RUnlock()
	p := b.places[cluster]
	return p != nil && !p.inVain.IsZero() && time.Since(p.inVain) < quietFor
}

// readOne reads a cluster's current plan anew.
func (b *Board) readOne(ctx context.Context, cluster string) error {
	_, doubts := b.state(cluster)
	c, err := b.source.Current(ctx, cluster)
	if errors.Is(err, fault.NotFound) {
		b.show(cluster, nil, doubts)
		return nil
	}
	if err != nil {
		return fmt.Errorf("read the current plan of cluster %s: %w", cluster, err)
	}
	return b.take(c, doubts)
}

// mostRead is how many plans are read at a time, so that neither a statement nor its answer grows with their number.
const mostRead = 500

// readAll reads every cluster's current plan anew, where it is another one, and forgets the places of those that have
// none.
func (b *Board) readAll(ctx context.Context) error {
	b.mu.RLock()
	doubts := make(map[string]int, len(b.places))
	known := make(map[string]string, len(b.places)) // ids by cluster
	for name, p := range b.places {
		doubts[name] = p.doubts
		if p.shown != nil {
			known[name] = p.shown.Record.ID
		}
	}
	b.mu.RUnlock()
	names := slices.Sorted(maps.Keys(known))
	for after := ""; ; {
		first, _ := slices.BinarySearch(names, after)
		var ids []string // of more clusters than are read where some are new, of fewer where some are gone
		for _, name := range names[first:min(first+mostRead+1, len(names))] {
			ids = append(ids, known[name])
		}
		currents, err := b.source.Currents(ctx, after, mostRead, ids)
		if err != nil {
			return fmt.Errorf("read the current plans: %w", err)
		}
		for _, c := range currents {
			if err := b.take(c, doubts[c.Record.Cluster]); err != nil {
				return err
			}
			delete(doubts, c.Record.Cluster)
			after = c.Record.Cluster
		}
		if len(currents) < mostRead {
			break
		}
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	for name := range doubts {
		close(b.places[name].changed) // whoever waits there looks again, and makes a new place
		delete(b.places, name)
	}
	return nil
}

// take shows what was read.
func (b *Board) take(c Current, doubts int) error {
	cluster := c.Record.Cluster
	before, _ := b.state(cluster)
	var shown *Shown
	var err error
	if before != nil && before.Record.ID == c.Record.ID {
		c.Record.Plan = before.Record.Plan
		shown = &Shown{Current: c, Plan: before.Plan, tag: c.Tag(), event: before.event}
	} else if shown, err = Show(c); err != nil {
		return err
	}
	b.show(cluster, shown, doubts)
	return nil
}

// Show reads a current plan, for whoever asks where none hangs yet.
func Show(c Current) (*Shown, error) {
	p, err := capacity.ReadPlan(c.Record.Plan)
	if err != nil {
		return nil, fmt.Errorf("read plan %d of cluster %s: %v", c.Record.Number, c.Record.Cluster, err) // not the caller's input
	}
	s := &Shown{Current: c, Plan: p, tag: c.Tag()}
	s.event, err = eventOf(s)
	return s, err
}

// Tag is the version of what is shown: another one when the plan or its freshness is.
func (s *Shown) Tag() string { return s.tag }

// ScalingAt is what autoscalers are told of the plan; see capacity.Current.
func (s *Shown) ScalingAt(now time.Time, o ScalingOptions) (Scaling, bool) {
	return s.Current.ScalingAt(now, s.Plan, o)
}
