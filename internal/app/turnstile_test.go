package app

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"

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
		if ts.inside != 0 || len(ts.byKey) != 0 || len(ts.passing) != 0 {
			t.Errorf("everybody left, but %d are inside, %v, %d", ts.inside, ts.byKey, len(ts.passing))
		}
	})
}
