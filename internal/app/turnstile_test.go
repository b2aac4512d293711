package app

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	"headroom/internal/auth"
	"headroom/internal/capacity"
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
				leave, err := ts.enter(ctx)
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
		if e := <-enter(as(t.Context(), "a")); !errors.Is(e.err, capacity.Busy) {
			t.Errorf("a's fifth: got %v, want busy", e.err)
		}
		var others []chan entered
		for i := range 6 {
			others = append(others, enter(as(t.Context(), string(rune('b'+i)))))
			waits("another key", others[i])
		}
		if e := <-enter(as(t.Context(), "z")); !errors.Is(e.err, capacity.Busy) {
			t.Errorf("one more than may wait: got %v, want busy", e.err)
		}
		if passing, waiting := ts.count(); passing != 2 || waiting != 8 {
			t.Errorf("got %d passing and %d waiting, want 2 and 8", passing, waiting)
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
		if passing, waiting := ts.count(); len(ts.byKey) != 0 || passing != 0 || waiting != 0 {
			t.Errorf("everybody left, but %d pass and %d wait, %v", passing, waiting, ts.byKey)
		}
	})
}

// The planner lets users pass, but gets every fourth place that they both wait for; it is never sent away.
func TestTurnstileForThePlanner(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ts := newTurnstile(1, 8)
		order := make(chan string, 20)
		enter := func(key string) {
			go func() {
				leave, err := ts.enter(as(t.Context(), key))
				if err != nil {
					t.Error(key, err)
					return
				}
				order <- key
				leave()
			}()
			synctest.Wait()
		}
		leave, err := ts.enter(as(t.Context(), "first"))
		if err != nil {
			t.Fatal(err)
		}
		enter(planner.ID)
		for i := range 8 {
			enter(string(rune('a' + i)))
		}
		enter(planner.ID) // as many wait as may
		leave()
		synctest.Wait()
		close(order)
		var got []string
		for key := range order {
			got = append(got, key)
		}
		if diff := cmp.Diff([]string{"a", "b", "c", planner.ID, "d", "e", "f", planner.ID, "g", "h"}, got); diff != "" {
			t.Error(diff)
		}
		if passing, waiting := ts.count(); len(ts.byKey) != 0 || passing != 0 || waiting != 0 {
			t.Errorf("everybody left, but %d pass and %d wait, %v", passing, waiting, ts.byKey)
		}
	})
}

// When the server stops nobody comes to wait any more, and who waits too long is sent away.
func TestTurnstileCloses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ts := newTurnstile(1, 8)
		leave, err := ts.enter(as(t.Context(), "a"))
		if err != nil {
			t.Fatal(err)
		}
		waited := make(chan error, 2)
		for _, key := range []string{"b", planner.ID} {
			go func() {
				_, err := ts.enter(as(t.Context(), key))
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
			if err := <-waited; !errors.Is(err, capacity.Busy) {
				t.Errorf("who waited: got %v, want busy", err)
			}
		}
		if _, err := ts.enter(as(t.Context(), "c")); !errors.Is(err, capacity.Busy) {
			t.Errorf("who comes: got %v, want busy", err)
		}
		if passing, waiting := ts.count(); passing != 1 || waiting != 0 {
			t.Errorf("got %d inside and %d waiting, want 1 and none", passing, waiting)
		}
		leave()
		if passing, _ := ts.count(); len(ts.byKey) != 0 || passing != 0 {
			t.Errorf("everybody left, but %d pass, %v", passing, ts.byKey)
		}
	})
}
