package solving

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/fault"
	"example.org/headroom/internal/service/auth"
)

func as(ctx context.Context, key string) context.Context {
	return auth.With(ctx, auth.Principal{ID: key})
}

func TestTurnstile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ts := newTurnstile(2, 8) // a key may have 4
		type entered struct {
			leave func()
			err   error
		}
		enter := func(ctx context.Context) chan entered {
			got := make(chan entered, 1)
			go func() {
				_, leave, err := ts.enter(ctx)
				got <- entered{leave, err}
			}()
			synctest.Wait()
			return got
		}
		waits := func(who string, c chan entered) {
			t.Helper()
			select {
			case e := <-c:
				t.Fatalf("%s does not wait: got %v", who, e.err)
			default:
			}
		}
		var inside []func()
		for range 2 {
			e := <-enter(as(t.Context(), "a"))
			if e.err != nil {
				t.Fatal(e.err)
			}
			inside = append(inside, e.leave)
		}
		gone, goAway := context.WithCancel(as(t.Context(), "a"))
		third, fourth := enter(as(t.Context(), "a")), enter(gone)
		waits("a's third", third)
		waits("a's fourth", fourth)
		if e := <-enter(as(t.Context(), "a")); !errors.Is(e.err, fault.Busy) {
			t.Errorf("a's fifth: got %v, want busy", e.err)
		}
		var others []chan entered
		for i := range 6 {
			others = append(others, enter(as(t.Context(), string(rune('b'+i)))))
			waits("another key", others[i])
		}
		if e := <-enter(as(t.Context(), "b")); !errors.Is(e.err, fault.Busy) {
			t.Errorf("one more than may wait: got %v, want busy", e.err)
		}
		for i := range 8 { // keys of which nothing waits may wait beyond
			others = append(others, enter(as(t.Context(), string(rune('j'+i)))))
			waits("a new key", others[len(others)-1])
		}
		if e := <-enter(as(t.Context(), "z")); !errors.Is(e.err, fault.Busy) {
			t.Errorf("twice as many as may wait: got %v, want busy", e.err)
		}
		if passing, waiting := ts.count(); passing != 2 || waiting != 16 {
			t.Errorf("got %d passing and %d waiting, want 2 and 16", passing, waiting)
		}
		goAway()
		if e := <-fourth; !errors.Is(e.err, context.Canceled) {
			t.Errorf("gone while waiting: got %v", e.err)
		}
		late := enter(as(t.Context(), "z"))
		waits("z in the place that became free", late)
		for _, leave := range inside {
			leave()
		}
		for _, c := range append(append([]chan entered{third}, others...), late) { // in the order they came
			e := <-c
			if e.err != nil {
				t.Fatal(e.err)
			}
			e.leave()
		}
		if passing, waiting := ts.count(); len(ts.byKey) != 0 || len(ts.begun) != 0 || passing != 0 || waiting != 0 {
			t.Errorf("everybody left, but %d pass and %d wait, %v", passing, waiting, ts.byKey)
		}
	})
}

// pass moves the clock of the test, and lets everybody else do what is due until then.
func pass(d time.Duration) { time.Sleep(d) } // the clock is that of synctest: no time is lost

// work takes a place with a key and a rank, works in pieces of a length, and pauses after each if it must.
func work(t *testing.T, ts *turnstile, key string, r rank, pieces int, piece time.Duration, did func()) {
	t.Helper()
	ctx, leave, err := ts.enterAs(as(t.Context(), key), r)
	if err != nil {
		t.Error(key, err)
		return
	}
	defer leave()
	for range pieces {
		pass(piece)
		did()
		if err := capacity.Pause(ctx); err != nil {
			t.Error(key, err)
		}
	}
}

// The planner has the next turn however many wait, and long work gives its place back for it within one piece.
func TestThePlannerGoesFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ts := newTurnstile(1, 8)
		var all sync.WaitGroup
		for i := range 4 {
			all.Go(func() { work(t, ts, "analyst", []rank{asking, background}[i%2], 500, 5*time.Millisecond, func() {}) })
		}
		longest := time.Duration(0)
		for range 50 {
			pass(97 * time.Millisecond)
			began := time.Now()
			work(t, ts, Planner.ID, asking, 1, time.Millisecond, func() {})
			longest = max(longest, time.Since(began))
		}
		all.Wait()
		if longest > 6*time.Millisecond {
			t.Errorf("the planner waited for %v, want a piece of other work, 5ms, at most", longest-time.Millisecond)
		}
		if passing, waiting := ts.count(); len(ts.byKey) != 0 || len(ts.begun) != 0 || passing != 0 || waiting != 0 {
			t.Errorf("everybody left, but %d pass and %d wait, %v", passing, waiting, ts.byKey)
		}
	})
}

// Ten keys that ask for long work without end leave an eleventh its turn: it waits for one turn of others.
func TestKeysShareTheTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ts := newTurnstile(1, 48)
		var all sync.WaitGroup
		work50 := func(key string, r rank) {
			for range 10 {
				work(t, ts, key, r, 100, 5*time.Millisecond, func() {})
			}
		}
		for i := range 10 {
			for range 4 {
				all.Go(func() { work50(string(rune('a'+i)), asking) })
			}
		}
		longest := time.Duration(0)
		for range 30 {
			pass(97 * time.Millisecond)
			began := time.Now()
			work(t, ts, "eleventh", asking, 1, time.Millisecond, func() {})
			longest = max(longest, time.Since(began))
		}
		if longest > TurnTime+6*time.Millisecond {
			t.Errorf("the eleventh key waited for %v, want a turn at most", longest)
		}
		all.Wait()
		if len(ts.byKey) != 0 || len(ts.begun) != 0 || len(ts.worked) > 11 {
			t.Errorf("everybody left, and %v, %v, %v are kept", ts.byKey, ts.begun, ts.worked)
		}
	})
}

// A planner that plans one cluster after the other without end keeps three quarters of the time, and others have the rest.
func TestABusyPlannerShutsNobodyOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ts := newTurnstile(1, 8)
		var planned, asked, ran int
		began := time.Now()
		busy := func() bool { return time.Since(began) < 10*time.Second }
		var all sync.WaitGroup
		for range 2 { // two plans at once, so that one always waits
			all.Go(func() {
				for busy() {
					work(t, ts, Planner.ID, asking, 1, 2*time.Millisecond, func() { planned++ })
				}
			})
		}
		all.Go(func() {
			for busy() {
				work(t, ts, "analyst", asking, 100, 2*time.Millisecond, func() { asked++ })
			}
		})
		all.Go(func() {
			for busy() {
				work(t, ts, "analyst", background, 100, 2*time.Millisecond, func() { ran++ })
			}
		})
		all.Wait()
		whole := float64(planned + asked + ran)
		if share := float64(planned) / whole; share < 0.7 || share > 0.82 {
			t.Errorf("the planner had %.2f of the time, want three quarters", share)
		}
		if asked < 2*ran || ran < int(whole)/25 {
			t.Errorf("users had %d pieces and runs %d of %g, want about three to one", asked, ran, whole)
		}
	})
}

// Long solves take turns of the same length, and of any number only a few are in memory: of one key fewer than of many.
func TestLongWorkTakesTurns(t *testing.T) {
	for keys, begin := range map[int]int{2: 1 + moreBegun, 20: min(20, 1+moreBegun+firstBegun)} {
		longWorkTakesTurns(t, keys, begin)
	}
}

func longWorkTakesTurns(t *testing.T, keys, begin int) {
	synctest.Test(t, func(t *testing.T) {
		ts := newTurnstile(1, 40)
		begun, most, turn, longest, last := map[int]bool{}, 0, 0, 0, -1
		var all sync.WaitGroup
		for i := range 20 {
			all.Go(func() {
				work(t, ts, string(rune('a'+i%keys)), asking, 100, 5*time.Millisecond, func() {
					begun[i] = true
					most = max(most, len(begun))
					if turn++; last != i {
						turn = 1
					}
					last = i
					if ts.anybody() {
						longest = max(longest, turn)
					}
				})
				delete(begun, i)
			})
		}
		all.Wait()
		turns := int(TurnTime / (5 * time.Millisecond))
		if begin < 20 && keys > 2 { // keys that could not begin have saved up time
			turns += int(savedUp / (5 * time.Millisecond))
		}
		if most != begin || longest > turns || longest < int(TurnTime/(5*time.Millisecond)) {
			t.Errorf("%d had begun at once, and the longest turn was %d pieces; want %d and %d", most, longest, begin, turns)
		}
	})
}

// A caller that is gone waits for no other turn; one that has used up a time budget does, because the answer must
// still be made.
func TestPausesEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ts := newTurnstile(1, 8)
		ctx, leave, err := ts.enter(as(t.Context(), "a"))
		if err != nil {
			t.Fatal(err)
		}
		entered := make(chan func(), 1)
		let := func(key string) {
			go func() {
				_, leave, err := ts.enter(as(t.Context(), key))
				if err != nil {
					t.Error(err)
				}
				entered <- leave
			}()
			synctest.Wait()
		}
		let("b")
		budgeted, cancel := context.WithTimeout(ctx, 30*time.Millisecond)
		defer cancel()
		pass(TurnTime)
		paused := make(chan error, 1)
		go func() { paused <- capacity.Pause(budgeted) }()
		other := <-entered
		pass(time.Minute)
		select {
		case <-paused:
			t.Error("work went on without a place once its budget was used up")
		default:
		}
		other()
		if err := <-paused; !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("after its budget: got %v", err)
		}
		let("c") // that has worked less than a
		wanted, goAway := context.WithCancel(ctx)
		pass(TurnTime)
		go func() { paused <- capacity.Pause(wanted) }()
		other = <-entered
		goAway()
		if err := <-paused; !errors.Is(err, context.Canceled) {
			t.Errorf("of a client that is gone: got %v", err)
		}
		leave()
		other()
		if passing, waiting := ts.count(); len(ts.byKey) != 0 || len(ts.begun) != 0 || passing != 0 || waiting != 0 {
			t.Errorf("everybody left, but %d pass and %d wait, %v", passing, waiting, ts.byKey)
		}
	})
}

// When the server stops new callers are refused, and those that wait too long are sent away.
func TestTurnstileCloses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ts := newTurnstile(1, 8)
		_, leave, err := ts.enter(as(t.Context(), "a"))
		if err != nil {
			t.Fatal(err)
		}
		waited := make(chan error, 2)
		for _, key := range []string{"b", Planner.ID} {
			go func() {
				_, _, err := ts.enter(as(t.Context(), key))
				waited <- err
			}()
		}
		synctest.Wait()
		ts.close()
		synctest.Wait()
		if passing, waiting := ts.count(); passing != 1 || waiting != 2 {
			t.Errorf("closed: got %d inside and %d waiting, want 1 and 2", passing, waiting)
		}
		ts.clear()
		for range 2 {
			if err := <-waited; !errors.Is(err, fault.Busy) {
				t.Errorf("who waited: got %v, want busy", err)
			}
		}
		if _, _, err := ts.enter(as(t.Context(), "c")); !errors.Is(err, fault.Busy) {
			t.Errorf("who comes: got %v, want busy", err)
		}
		if passing, waiting := ts.count(); passing != 1 || waiting != 0 {
			t.Errorf("got %d inside and %d waiting, want 1 and none", passing, waiting)
		}
		leave()
		if passing, _ := ts.count(); len(ts.byKey) != 0 || len(ts.begun) != 0 || passing != 0 {
			t.Errorf("everybody left, but %d pass, %v", passing, ts.byKey)
		}
	})
}
