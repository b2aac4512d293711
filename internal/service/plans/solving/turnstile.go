package solving

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/fault"
	"example.org/headroom/internal/core/trace"
	"example.org/headroom/internal/service/auth"
)

// turnstile limits the callers that solve at once and those that wait; it refuses further ones at once, so that a
// flood of solves delays nobody's polls. One key has a quarter of the places to wait at most, so that it cannot shut
// others out. A key of which nothing waits or works may wait and begin beyond the limits of all.
//
// Of the users, and of the runs, those of the key that has worked least go next. A key that has asked for less than its
// share may be behind the others by savedUp, which is a few solves: who asks now and then does not wait for those who
// flood. Nobody saves up more.
//
// The planner goes first. Others give their place back while it waits, or when they have had it for a turn and
// anybody waits; they get it again later (see holder.pause). A planner that always has something to plan would shut
// everybody out, so after plannerRow of its work one turn is another's: it keeps three quarters of the time. Of the
// others, users who wait for an answer get most turns and runs in the background one in runTurn.
type turnstile struct {
	places, waiting, perKey int

	mu      sync.Mutex
	passing int
	byKey   map[string]int // waiting and passing callers, by principal
	lines   [ranks][]ticket
	begun   map[string]int           // users who pass or have passed and wait for another turn, by principal
	worked  map[string]time.Duration // by principal, for as long as it is above what is saved up
	floor   time.Duration            // the work of whoever was let in last
	spent   budget                   // of this hour
	users   int                      // admitted one after the other while a run waited
	row     time.Duration            // that the planner has worked while others waited, since they had a turn
	closed  bool

	wanted [ranks]atomic.Int32 // lengths of the lines
}

// runsTurn is the key of all runs.
const runsTurn = "runs"

// rank is the priority of a caller.
type rank int

const (
	first      rank = iota // the planner
	asking                 // a request, whose client waits
	background             // a run
	ranks
)

// ticket is a caller's wait.
type ticket struct {
	key   string
	let   chan admitted // has room for one
	again bool          // it has begun, and keeps its memory meanwhile
}

// admitted ends a wait: with a place, or the reason of a refusal.
type admitted struct {
	owed bool // a whole turn, also while the planner waits
	err  error
}

const (
	TurnTime   = 10 * time.Millisecond // with the work until its next pause, 50 ms of processor time at most
	plannerRow = 3 * TurnTime
	savedUp    = 10 * TurnTime
	runTurn    = 4
	moreBegun  = 4  // users beyond the places whose work may be begun, because it stays in memory
	firstBegun = 16 // users beyond those who may begin if nothing of their key has
)

// ErrStopping refuses a place to solve in while the server stops.
var ErrStopping = fmt.Errorf("the server is stopping; ask again in a moment: %w", fault.Busy)

// newTurnstile leaves one processor to other work by default.
func newTurnstile(places, waiting int) *turnstile {
	if places <= 0 {
		places = max(1, runtime.GOMAXPROCS(0)-1)
	}
	if waiting <= 0 {
		waiting = 48
	}
	return &turnstile{places: places, waiting: waiting, byKey: map[string]int{}, begun: map[string]int{}, worked: map[string]time.Duration{}, perKey: places + (waiting+3)/4,
		spent: budget{now: time.Now, used: map[string]time.Duration{}}}
}

// holder is a caller that has a place to solve in, or waits for another turn in it.
type holder struct {
	t    *turnstile
	key  string // that limits what waits; all runs are one
	by   string // the principal
	rank rank
	life context.Context // the context of the caller

	mu    sync.Mutex // also held while it waits, so that all its workers wait
	held  bool
	owed  bool
	since time.Time
}

// Enter waits for a place; leave returns it. A caller who goes away while waiting frees theirs. Work under the
// returned context lets others go first.
func (t *turnstile) enter(ctx context.Context) (in context.Context, leave func(), err error) {
	return t.enterAs(ctx, asking)
}

// enterAs is enter with a rank, but for the planner, who has its own.
func (t *turnstile) enterAs(ctx context.Context, r rank) (in context.Context, leave func(), err error) {
	by := auth.From(ctx).ID
	key := by
	switch {
	case key == Planner.ID:
		r = first
	case r == background:
		key = runsTurn // their number is limited at their start
	}
	mine, err := t.queue(key, by, r)
	if err != nil {
		return nil, nil, err
	}
	p := &holder{t: t, key: key, by: by, rank: r, life: ctx}
	_, span := trace.Begin(ctx, "wait for a place to solve", trace.Internal)
	defer span.End()
	if err := p.await(ctx, mine); err != nil {
		t.mu.Lock()
		defer t.mu.Unlock()
		t.forget(key)
		return nil, nil, err
	}
	return capacity.WithPause(ctx, p.pause), p.leave, nil
}

// enterFree takes a free place that nobody waits for; leave is nil without one.
func (t *turnstile) enterFree(ctx context.Context) (in context.Context, leave func()) {
	key := auth.From(ctx).ID
	r := asking
	if key == Planner.ID {
		r = first
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.closed || t.passing >= t.places || t.anybody() {
		return nil, nil
	}
	t.passing++
	t.byKey[key]++
	if r == asking {
		t.begun[key]++
	}
	p := &holder{t: t, key: key, by: key, rank: r, life: ctx, held: true, since: time.Now()}
	return capacity.WithPause(ctx, p.pause), p.leave
}

// await waits until the ticket is called. A caller whose time budget has ended still waits, because its answer must
// be written; work that nobody wants any more does not.
func (p *holder) await(ctx context.Context, mine ticket) error {
	var in admitted
	for gone, wanted := ctx.Done(), true; wanted; {
		select {
		case in = <-mine.let:
			wanted = false
		case <-gone:
			if errors.Is(ctx.Err(), context.DeadlineExceeded) && p.life.Err() == nil {
				gone = p.life.Done()
				continue
			}
			if p.t.giveUp(p.rank, mine) {
				return ctx.Err()
			}
			in, wanted = <-mine.let, false // it came at the same moment
		}
	}
	if in.err == nil {
		p.held, p.owed, p.since = true, in.owed, time.Now()
	}
	return in.err
}

// pause returns the place and waits for another turn, if somebody else should have one.
func (p *holder) pause(ctx context.Context) {
	if !p.t.anybody() {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.held && p.due() {
		p.held = false
		_ = p.await(ctx, p.t.again(p)) // the context has the error, too
	}
}

// due reports whether a waiting caller should have the place now.
func (p *holder) due() bool {
	return p.rank != first && !p.owed && p.t.wanted[first].Load() > 0 || time.Since(p.since) >= TurnTime
}

// leave ends the work.
func (p *holder) leave() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.t.mu.Lock()
	defer p.t.mu.Unlock()
	if p.held {
		p.t.vacate(p)
	}
	p.held = false
	if p.rank == asking {
		lessOf(p.t.begun, p.by)
	}
	p.t.forget(p.key)
	p.t.admit()
}

// room reports whether a caller would be allowed to wait.
func (t *turnstile) room(key string) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.mayQueue(key, asking)
}

func (t *turnstile) mayQueue(key string, r rank) error {
	switch {
	case t.closed:
		return ErrStopping
	case r != asking || key == Planner.ID: // they ask for no more than they can use
		return nil
	case t.byKey[key] > 0 && t.newcomers(asking) >= t.waiting, t.newcomers(asking) >= 2*t.waiting:
		return fmt.Errorf("all %d places for solving are taken, and as many wait as may; ask again in a moment: %w", t.places, fault.Busy)
	case t.byKey[key] >= t.perKey:
		return &fault.TooManyError{RetryAfter: time.Second,
			Detail: fmt.Sprintf("%d solves of this key wait or run already; ask again when one has been answered.", t.byKey[key])}
	}
	return t.spent.check(key)
}

func (t *turnstile) queue(key, by string, r rank) (ticket, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if err := t.mayQueue(key, r); err != nil {
		return ticket{}, err
	}
	t.byKey[key]++
	return t.line(by, r, false), nil
}

// again returns a place and joins the line again.
func (t *turnstile) again(p *holder) ticket {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.vacate(p)
	return t.line(p.by, p.rank, true)
}

func (t *turnstile) line(by string, r rank, again bool) ticket {
	mine := ticket{key: by, let: make(chan admitted, 1), again: again}
	t.lines[r] = append(t.lines[r], mine)
	t.wanted[r].Add(1)
	t.admit()
	return mine
}

// vacate frees a place. The work counts for its key, and the planner's while others wait.
func (t *turnstile) vacate(p *holder) {
	t.passing--
	t.spent.add(p.by, time.Since(p.since))
	switch {
	case p.rank != first:
		t.worked[p.by] = t.workOf(p.by) + time.Since(p.since)
	case len(t.lines[asking])+len(t.lines[background]) > 0:
		t.row += time.Since(p.since)
	default:
		t.row = 0
	}
}

// admit fills the places that are free.
func (t *turnstile) admit() {
	for t.passing < t.places {
		r, at, owed := t.next()
		if at < 0 {
			return
		}
		mine := t.lines[r][at]
		t.lines[r] = slices.Delete(t.lines[r], at, at+1)
		t.wanted[r].Add(-1)
		if r == asking && !mine.again {
			t.begun[mine.key]++
		}
		if r != first && t.worked[mine.key] > t.floor {
			t.floor = t.worked[mine.key]
			maps.DeleteFunc(t.worked, func(_ string, worked time.Duration) bool { return worked <= t.floor-savedUp })
		}
		t.passing++
		mine.let <- admitted{owed: owed}
	}
}

// next returns the line and the position in it of the next caller, -1 for nobody.
func (t *turnstile) next() (r rank, at int, owed bool) {
	begun := 0
	for _, n := range t.begun {
		begun += n
	}
	user := t.least(asking, func(x ticket) bool {
		return x.again || begun < t.places+moreBegun || t.begun[x.key] == 0 && begun < t.places+moreBegun+firstBegun
	})
	run := len(t.lines[background]) > 0
	if len(t.lines[first]) > 0 {
		if user < 0 && !run || t.row < plannerRow {
			return first, 0, false
		}
		owed = true
	}
	t.row = 0
	switch {
	case run && (user < 0 || t.users >= runTurn-1):
		t.users = 0
		return background, t.least(background, func(ticket) bool { return true }), owed
	case run:
		t.users++
	}
	return asking, user, owed
}

// least returns the position in a line of the first caller of the key that has worked least; -1 if nobody may go.
func (t *turnstile) least(r rank, may func(ticket) bool) int {
	least, at := time.Duration(0), -1
	for i, x := range t.lines[r] {
		if worked := t.workOf(x.key); (at < 0 || worked < least) && may(x) {
			least, at = worked, i
		}
	}
	return at
}

// workOf returns the work of a key that counts.
func (t *turnstile) workOf(key string) time.Duration {
	return max(t.worked[key], t.floor-savedUp)
}

// giveUp ends a wait; false means that it is already over.
func (t *turnstile) giveUp(r rank, mine ticket) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	at := slices.Index(t.lines[r], mine)
	if at < 0 {
		return false
	}
	t.lines[r] = slices.Delete(t.lines[r], at, at+1)
	t.wanted[r].Add(-1)
	return true
}

func (t *turnstile) forget(key string) {
	lessOf(t.byKey, key)
}

// lessOf takes one off a count.
func lessOf(counts map[string]int, key string) {
	if counts[key]--; counts[key] == 0 {
		delete(counts, key)
	}
}

// anybody reports whether anybody waits.
func (t *turnstile) anybody() bool {
	for r := range t.wanted {
		if t.wanted[r].Load() > 0 {
			return true
		}
	}
	return false
}

// newcomers counts the waiting callers of a rank that have not begun.
func (t *turnstile) newcomers(r rank) (n int) {
	for _, x := range t.lines[r] {
		if !x.again {
			n++
		}
	}
	return n
}

// close refuses new callers.
func (t *turnstile) close() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.closed = true
}

// clear refuses the waiting callers. Those inside stay.
func (t *turnstile) clear() {
	t.mu.Lock()
	defer t.mu.Unlock()
	for r := range t.lines {
		for _, waiting := range t.lines[r] {
			waiting.let <- admitted{err: ErrStopping}
		}
		t.lines[r] = nil
		t.wanted[r].Store(0)
	}
}

// count counts the callers that solve and those that wait to begin.
func (t *turnstile) count() (passing, waiting int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for r := range ranks {
		waiting += t.newcomers(r)
	}
	return t.passing, waiting
}

// Planner is the principal of automatic planning.
var Planner = auth.Principal{ID: "planner", Name: "planner", Role: auth.Planner}

// Voter asks for votes on plans that are out.
var Voter = auth.Principal{ID: "voter", Name: "voter", Role: auth.Planner}

// Foresight plans moments ahead, behind everybody else.
var Foresight = auth.Principal{ID: "foresight", Name: "foresight", Role: auth.Planner}
