package solving

import (
	"context"
	"testing"
	"testing/synctest"
)

// TestFreePlacesAreThoseNobodyWaitsFor takes places beside the one that a question has.
func TestFreePlacesAreThoseNobodyWaitsFor(t *testing.T) {
	synctest.Test(t, freePlaces)
}

func freePlaces(t *testing.T) {
	ts, mine := newTurnstile(2, 8), as(context.Background(), "mine")
	_, leave, err := ts.enter(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	_, other := ts.enterFree(mine)
	if other == nil {
		t.Fatal("a free place was not given")
	}
	if _, leave := ts.enterFree(mine); leave != nil {
		t.Error("a place was given that is not there")
	}
	let := make(chan func())
	go func() {
		_, leave, err := ts.enter(as(context.Background(), "theirs"))
		if err != nil {
			t.Error(err)
		}
		let <- leave
	}()
	synctest.Wait()
	if _, leave := ts.enterFree(mine); leave != nil {
		t.Error("a place was given that somebody waits for")
	}
	other()
	others := <-let
	if _, leave := ts.enterFree(mine); leave != nil {
		t.Error("a place was given that somebody else has")
	}
	leave()
	others()
	ts.close()
	if _, leave := ts.enterFree(mine); leave != nil {
		t.Error("a place was given although the server stops")
	}
}

// TestSharedPlacesAreGivenBack gives a crew all places, of which none is taken afterwards and nobody is remembered.
func TestSharedPlacesAreGivenBack(t *testing.T) {
	d := New(nil, 3, 0, nil)
	ctx, leave, err := d.turns.enter(as(context.Background(), "mine"))
	if err != nil {
		t.Fatal(err)
	}
	crew, dismiss := d.Crew(ctx, 5)
	if crew.Workers != 3 {
		t.Errorf("%d work, and there are 3 places", crew.Workers)
	}
	dismiss()
	leave()
	if passing, waiting := d.Count(); passing != 0 || waiting != 0 || len(d.turns.byKey) != 0 {
		t.Errorf("%d places are still taken, %d wait, and %d keys are remembered", passing, waiting, len(d.turns.byKey))
	}
}
