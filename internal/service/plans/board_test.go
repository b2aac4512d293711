package plans

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"example.org/headroom/internal/core/fault"
	"example.org/headroom/internal/test/await"
)

// kept is a store of one cluster's plans, for states that a real one cannot be brought into.
type kept struct {
	mu      sync.Mutex
	plans   []PlanSummary // the newest first
	past    []PastVMs
	without []string
	err     error
	tell    func(string)
	reads   int
	ending  chan struct{}
}

var began = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

func (k *kept) add(number int64, vms float64, at time.Time) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.plans = append([]PlanSummary{{ID: fmt.Sprint("id", number), Number: number, Cluster: "c", VMs: vms, At: at, CreatedAt: at, PeriodSeconds: 3600}}, k.plans...)
}

func (k *kept) set(err error) {
	k.mu.Lock()
	k.err = err
	k.mu.Unlock()
}

func (k *kept) Current(context.Context, string) (c Current, err error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.reads++
	if k.err != nil || len(k.plans) == 0 {
		return c, errors.Join(k.err, fault.NotFound)
	}
	p := k.plans[0]
	text := fmt.Sprintf(`{"status":"optimal","objective":"0","cost":{"total":0,"on_demand":0,"reserved":0,"reserved_idle":0,"penalties":0,"currency":"USD","period_s":3600,"per_hour":0,"per_month":0},"vms":{"total":%v,"reserved":0,"on_demand":%v,"contracts":[],"rounding":0},"classes":[],"warnings":[],"conflicts":[]}`, p.VMs, p.VMs)
	return Current{Record: PlanRecord{PlanSummary: p, Plan: []byte(text)}, ConfirmedAt: p.CreatedAt, Past: k.past}, nil
}

func (k *kept) Currents(ctx context.Context, _ string, _ int, _ []string) ([]Current, error) {
	c, err := k.Current(ctx, "c")
	if k.err != nil {
		return nil, k.err
	}
	if err != nil {
		return nil, nil
	}
	return []Current{c}, nil
}

func (k *kept) CurrentsOf(ctx context.Context, clusters, _ []string) ([]Current, error) {
	if !slices.Contains(clusters, "c") {
		return nil, nil
	}
	return k.Currents(ctx, "", 1, nil)
}

func (k *kept) Unplanned(context.Context) ([]string, error) { return k.without, nil }

func (k *kept) Listen(ctx context.Context, _ string, each func(string)) error {
	k.mu.Lock()
	err := k.err
	k.tell = each
	k.mu.Unlock()
	if err != nil {
		return err
	}
	each("")
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-k.ending:
		return errors.New("the connection is lost")
	}
}

func (k *kept) Ready(context.Context) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.err
}

func newKept() *kept { return &kept{ending: make(chan struct{})} }

func board(t *testing.T, k *kept, now *time.Time) *Board {
	t.Helper()
	b := newBoard(k, func() time.Time { return *now }, func(string, error) {})
	if err := b.readAll(t.Context()); err != nil {
		t.Fatal(err)
	}
	return b
}

func total(t *testing.T, b *Board, now time.Time) int64 {
	t.Helper()
	s := b.Find("c")
	if s == nil {
		t.Fatal("no plan is shown")
	}
	document, _ := s.ScalingAt(now, ScalingOptions{})
	return document.VMs.Total
}

func TestBoardWakesAllWatchersAtOnce(t *testing.T) {
	t.Parallel()
	k, now := newKept(), began
	b := board(t, k, &now)
	shown, changed := b.Watch("c")
	if shown != nil {
		t.Fatal("a plan is shown before there is one")
	}
	const watchers = 100
	woken := make(chan int64, watchers)
	for range watchers {
		go func() { <-changed; s, _ := b.Watch("c"); woken <- s.Record.Number }()
	}
	k.add(1, 5, began)
	if err := b.readSome(t.Context(), []string{"c"}); err != nil {
		t.Fatal(err)
	}
	for range watchers {
		if got := <-woken; got != 1 {
			t.Fatalf("a watcher sees plan %d, want 1", got)
		}
	}
	_, changed = b.Watch("c")
	if err := b.readAll(t.Context()); err != nil {
		t.Fatal(err)
	}
	select {
	case <-changed:
		t.Error("watchers were woken though nothing changed")
	default:
	}
	k.plans = nil
	if err := b.readAll(t.Context()); err != nil {
		t.Fatal(err)
	}
	<-changed
	if s, _ := b.Watch("c"); s != nil {
		t.Error("the plan of a cluster that is gone is still shown")
	}
}

// During a change here, requests query the store until it was read after the change: reads in between may be
// outdated.
func TestBoardIsDoubtedUntilTheChangeWasRead(t *testing.T) {
	t.Parallel()
	k, now := newKept(), began
	k.add(1, 5, began)
	b := board(t, k, &now)
	b.running = true
	read := func() {
		t.Helper()
		if err := b.readSome(t.Context(), []string{"c"}); err != nil {
			t.Fatal(err)
		}
	}
	first, second := b.doubt("c"), b.doubt("c")
	for what, do := range map[string]func(){"before the change was committed": func() {}, "before the other one was": first} {
		do()
		read()
		if b.Find("c") != nil {
			t.Errorf("a plan is shown that was read %s", what)
		}
	}
	first() // only the first call counts
	second()
	if b.Find("c") != nil {
		t.Error("a plan is shown that was read before the change was committed")
	}
	if !b.dirty["c"] {
		t.Error("nobody is asked to read the plan anew")
	}
	read()
	if b.Find("c") == nil || len(b.changing) > 0 {
		t.Error("the plan is not shown after it was read")
	}
	b.doubt("c")
	b.heard(errors.New("away"))
	if b.Find("c") == nil {
		t.Error("the last plan is not shown while the store is away")
	}
}

// While the store is away the last plans are shown as old; afterwards the newest come by themselves.
func TestBoardOutlivesItsStore(t *testing.T) {
	t.Parallel()
	k := newKept()
	k.add(1, 5, began)
	b := newBoard(k, func() time.Time { return began }, func(string, error) {})
	ctx, stop := context.WithCancel(t.Context())
	done, err := b.run(ctx)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { stop(); <-done }()
	until(t, "it is in touch", b.InTouch)
	k.set(errors.New("away"))
	close(k.ending)
	until(t, "it is out of touch", func() bool { return !b.InTouch() })
	if total(t, b, began) != 5 {
		t.Error("the last plan is not shown")
	}
	k.add(2, 6, began)
	k.mu.Lock()
	k.ending, k.err = make(chan struct{}), nil
	k.mu.Unlock()
	until(t, "the newest plan is shown", func() bool { return b.InTouch() && total(t, b, began) == 6 })
	k.mu.Lock()
	tell, reads := k.tell, k.reads
	k.mu.Unlock()
	for range 1000 {
		tell("c")
	}
	k.add(3, 7, began)
	tell("c")
	until(t, "the last change is shown", func() bool { return total(t, b, began) == 7 })
	k.mu.Lock()
	defer k.mu.Unlock()
	if got := k.reads - reads; got > 500 {
		t.Errorf("1,001 words of changes made %d readings", got)
	}
}

func until(t *testing.T, what string, so func() bool) {
	t.Helper()
	await.Until(t, 20*time.Second, what, so)
}
