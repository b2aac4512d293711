package plans

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/klauspost/compress/s2"

	"example.org/headroom/internal/core/capacity"
)

// Board serves every cluster's current plan from memory, so that polls need no database and are still answered while
// it is away. A change anywhere reaches it within moments; every minute it is read again in case a notification was
// lost. It is safe for concurrent use.
type Board struct {
	source boardSource
	now    func() time.Time
	warn   func(message string, err error)

	mu       sync.RWMutex
	places   map[string]*place
	changing map[string]int // clusters with a change in progress here
	without  []string       // clusters that cannot be planned and never had a plan
	running  bool           // it is kept up to date
	away     bool           // the store did not answer last
	contact  time.Time      // when the store last answered; a monotonic reading, not the app's clock

	asked sync.Mutex // guards the worker's requests
	all   bool
	dirty map[string]bool
	wake  chan struct{}
}

// boardStores holds the two stores that a Board needs.
type boardStores struct {
	CurrentStore
	Database
}

// boardSource holds the methods of the store that a Board uses.
type boardSource interface {
	// Currents returns the current plans of clusters that have one, in pages; CurrentsOf those of some clusters. See Store.
	Currents(ctx context.Context, after string, limit int, known []string) ([]Current, error)
	CurrentsOf(ctx context.Context, clusters, known []string) ([]Current, error)
	Unplanned(ctx context.Context) ([]string, error)
	Listen(ctx context.Context, channel string, each func(payload string)) error
	Ready(ctx context.Context) error
}

// place holds a cluster's plan.
type place struct {
	shown    *Shown        // nil without one
	made     *Shown        // made here, and perhaps not yet read as the current one
	changed  chan struct{} // closed when another plan, or another freshness, is shown
	doubts   int           // counts the reasons to believe that the store has a newer one
	answered int           // the number of doubts that were settled
	inVain   time.Time     // the last poll that queried the store without an answer in time
}

// Shown is a cluster's current plan. It never changes: a newer state replaces it.
type Shown struct {
	Current               // without the plan's text; see Whole
	Plan    capacity.Plan // its figures, for metrics and autoscalers

	packed []byte // the plan's text: it is ten times as long, and many plans are held that nobody asks for
	tag    string // of the Current
	event  Event
	texts
}

func newBoard(source boardSource, now func() time.Time, warn func(string, error)) *Board {
	return &Board{source: source, now: now, warn: warn, places: map[string]*place{}, changing: map[string]int{}, dirty: map[string]bool{}, wake: make(chan struct{}, 1)}
}

// Find returns a cluster's current plan. It returns nil if the store must be queried, because none is known or a
// newer one is on its way. While the store is away, it returns the last plan shown.
func (b *Board) Find(cluster string) *Shown {
	b.mu.RLock()
	defer b.mu.RUnlock()
	if p := b.places[cluster]; p != nil && (b.away || p.doubts == p.answered && b.changing[cluster] == 0) {
		return p.shown
	}
	return nil
}

// Watch returns a cluster's current plan, or nil if none is known, and a channel that is closed when that changes. A
// closed channel wakes any number of watchers and waits for none.
func (b *Board) Watch(cluster string) (*Shown, <-chan struct{}) {
	b.mu.Lock()
	defer b.mu.Unlock()
	p := b.place(cluster)
	return p.shown, p.changed
}

// All returns the shown plans, by cluster.
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

// Without returns the clusters that had no plan when all were last read, because none could be made.
func (b *Board) Without() []string {
	b.mu.RLock()
	defer b.mu.RUnlock()
	return slices.DeleteFunc(slices.Clone(b.without), func(name string) bool {
		p := b.places[name]
		return p != nil && p.shown != nil
	})
}

// outOfTouch is the silence of the store after which the shown plans count as old.
const outOfTouch = 15 * time.Second

// InTouch reports whether the store has answered lately. Otherwise the shown plans may be old.
func (b *Board) InTouch() bool {
	b.mu.RLock()
	defer b.mu.RUnlock()
	return b.running && !b.away && time.Since(b.contact) < outOfTouch
}

// Running reports whether the board is kept up to date; otherwise every request queries the store.
func (b *Board) Running() bool {
	b.mu.RLock()
	defer b.mu.RUnlock()
	return b.running
}

// doubt makes requests about a cluster query the store until a change in progress has been read, so that its author
// sees it at once. settled must be called once the change is committed or rolled back; earlier reads may be outdated.
func (b *Board) doubt(cluster string) (settled func()) {
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

// CatchUp waits, for a moment at most, until the shown plan of a cluster is no older than the store was at the call.
// A client that comes from another server may know a newer one than this server.
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

// place returns a cluster's place and creates a missing one. The caller holds b.mu.
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
	if p.made != nil && shown != nil && p.made.Record.Number <= shown.Record.Number {
		p.made = nil
	}
	if (before == nil) != (shown == nil) || before != nil && before.tag != shown.tag {
		close(p.changed)
		p.changed = make(chan struct{})
	}
}

// state returns the plan in a place, and the number of its doubts.
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

// quiet reports whether the store left a poll about the cluster without an answer a moment ago: others need not wait
// for it as well.
func (b *Board) quiet(cluster string) bool {
	b.mu.RLock()
	defer b.mu.RUnlock()
	p := b.places[cluster]
	return p != nil && !p.inVain.IsZero() && time.Since(p.inVain) < quietFor
}

// maxRead is the number of plans read at a time, so that neither a statement nor its answer grows with their total.
const maxRead = 500

// readSome reads the current plans of some clusters again.
func (b *Board) readSome(ctx context.Context, clusters []string) error {
	doubts, known := b.known(clusters)
	var ids []string
	for _, cluster := range clusters {
		for _, s := range known[cluster] {
			ids = append(ids, s.Record.ID)
		}
	}
	currents, err := b.source.CurrentsOf(ctx, clusters, ids)
	if err != nil {
		return fmt.Errorf("read the current plans of %d clusters: %w", len(clusters), err)
	}
	read := make(map[string]bool, len(currents))
	for _, c := range currents {
		read[c.Record.Cluster] = true
		if err := b.take(c, doubts[c.Record.Cluster], known[c.Record.Cluster]); err != nil {
			return err
		}
	}
	for _, cluster := range clusters {
		if !read[cluster] {
			b.show(cluster, nil, doubts[cluster])
		}
	}
	return nil
}

// known returns the doubts there are now about some clusters, and the plans whose texts need not be read, by cluster.
func (b *Board) known(clusters []string) (doubts map[string]int, known map[string][]*Shown) {
	b.mu.RLock()
	defer b.mu.RUnlock()
	doubts, known = make(map[string]int, len(clusters)), make(map[string][]*Shown, len(clusters))
	for _, name := range clusters {
		p := b.places[name]
		if p == nil {
			continue
		}
		doubts[name] = p.doubts
		for _, s := range []*Shown{p.shown, p.made} {
			if s != nil {
				known[name] = append(known[name], s)
			}
		}
	}
	return doubts, known
}

// readAll reads every changed current plan, and removes the places of clusters without one.
func (b *Board) readAll(ctx context.Context) error {
	b.mu.RLock()
	all := slices.Collect(maps.Keys(b.places))
	b.mu.RUnlock()
	doubts, known := b.known(all)
	names := slices.Sorted(maps.Keys(known))
	for after := ""; ; {
		first, _ := slices.BinarySearch(names, after)
		var ids []string // more than one page if some are new, fewer if some are gone
		for _, name := range names[first:min(first+maxRead+1, len(names))] {
			for _, s := range known[name] {
				ids = append(ids, s.Record.ID)
			}
		}
		currents, err := b.source.Currents(ctx, after, maxRead, ids)
		if err != nil {
			return fmt.Errorf("read the current plans: %w", err)
		}
		for _, c := range currents {
			if err := b.take(c, doubts[c.Record.Cluster], known[c.Record.Cluster]); err != nil {
				return err
			}
			delete(doubts, c.Record.Cluster)
			after = c.Record.Cluster
		}
		if len(currents) < maxRead {
			break
		}
	}
	without, err := b.source.Unplanned(ctx)
	if err != nil {
		return fmt.Errorf("read the clusters without a plan: %w", err)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.without = without
	for name := range doubts {
		close(b.places[name].changed) // waiting callers look again, and create a new place
		delete(b.places, name)
	}
	return nil
}

// made keeps a plan that was stored just now until the board reads that it is current: its text need not be read.
func (b *Board) made(r PlanRecord) {
	s, err := showing(Current{Record: r}, r.Answer)
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.running && err == nil {
		b.place(r.Cluster).made = s
	}
}

// take shows a plan that was read. Its text was left out if it is that of a known one.
func (b *Board) take(c Current, doubts int, known []*Shown) (err error) {
	cluster := c.Record.Cluster
	var shown *Shown
	for _, s := range known {
		if s.Record.ID == c.Record.ID {
			c.Record.Plan = nil
			shown = &Shown{Current: c, Plan: s.Plan, packed: s.packed, tag: c.Tag(), event: s.event}
		}
	}
	if shown == nil {
		if shown, err = Show(c); err != nil {
			return err
		}
	}
	b.show(cluster, shown, doubts)
	return nil
}

// Show parses a current plan, for callers without a board.
func Show(c Current) (*Shown, error) {
	p, err := capacity.ReadPlan(c.Record.Plan)
	if err != nil {
		return nil, fmt.Errorf("read plan %d of cluster %s: %v", c.Record.Number, c.Record.Cluster, err) // not the caller's input
	}
	return showing(c, p)
}

func showing(c Current, p capacity.Plan) (s *Shown, err error) {
	packed := bytes.Clone(s2.EncodeBetter(nil, c.Record.Plan)) // which leaves much room behind it
	s = &Shown{Current: c, Plan: figuresOf(p), packed: packed, tag: c.Tag()}
	s.Record.Plan, s.Record.Problem, s.Record.Answer = nil, nil, capacity.Plan{}
	s.event, err = eventOf(s)
	return s, err
}

// figuresOf returns the part of a plan that metrics and autoscalers ask for.
func figuresOf(p capacity.Plan) capacity.Plan {
	of := capacity.Plan{Status: p.Status, Objective: p.Objective, Cost: p.Cost, VMs: p.VMs, Classes: make([]capacity.ClassPlan, len(p.Classes))}
	if p.Relaxed != nil {
		of.Relaxed = &capacity.RelaxedPlan{Objective: p.Relaxed.Objective}
	}
	for i, c := range p.Classes {
		of.Classes[i] = capacity.ClassPlan{Name: c.Name, Admitted: c.Admitted, Refused: c.Refused, VMs: c.VMs, Slots: c.Slots}
	}
	return of
}

// Whole returns the current plan with its text.
func (s *Shown) Whole() (Current, error) {
	text, err := s2.Decode(nil, s.packed)
	if err != nil {
		return Current{}, fmt.Errorf("unpack plan %d of cluster %s: %w", s.Record.Number, s.Record.Cluster, err)
	}
	c := s.Current
	c.Record.Plan = text
	return c, nil
}

// Tag changes with the plan and its freshness.
func (s *Shown) Tag() string { return s.tag }

// scalingAt returns the targets of autoscalers; see plans.Current.
func (s *Shown) ScalingAt(now time.Time, o ScalingOptions) (Scaling, bool) {
	return s.Current.scalingAt(now, s.Plan, o)
}
