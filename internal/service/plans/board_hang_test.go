package plans

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"example.org/headroom/internal/service/auth"
)

// hanging is a store that answers nothing.
type hanging struct{ Store }

func (hanging) Current(ctx context.Context, _ string) (c Current, err error) {
	<-ctx.Done()
	return c, ctx.Err()
}

// While a change hangs in a silent store, one poll now and then looks there for news; the others are answered from
// memory at once.
func TestPollsDoNotWaitForAStoreThatHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := newKept()
		k.add(1, 5, began)
		a := New(Config{Now: time.Now, Ring: auth.NewKeyring(), Store: hanging{}})
		a.Board.source = k
		if err := a.Board.readAll(t.Context()); err != nil {
			t.Fatal(err)
		}
		a.Board.running = true
		a.Board.doubt("c") // which is never settled
		var waited []time.Duration
		next := time.Tick(10 * time.Millisecond)
		for range 100 {
			asked := time.Now()
			shown, old, err := a.Shown(t.Context(), "c")
			if err != nil || !old || shown.Record.Number != 1 {
				t.Fatalf("got %+v, %t, %v", shown, old, err)
			}
			if took := time.Since(asked); took > 0 {
				waited = append(waited, took)
			}
			<-next
		}
		if len(waited) != 1 || waited[0] != lookWait {
			t.Errorf("of 100 polls these waited: %v; want one, for %v", waited, lookWait)
		}
	})
}
