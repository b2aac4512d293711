package app

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"

	"headroom/internal/auth"
	"headroom/internal/capacity"
	"headroom/internal/study"
)

// TestScenariosShareFreePlaces answers a question in one place and in three: the answers must be the same,
// and every place must be given back.
func TestScenariosShareFreePlaces(t *testing.T) {
	drawn, err := study.Generate("mixed", 12, 1)
	if err != nil {
		t.Fatal(err)
	}
	p, err := drawn.Profiled()
	if err != nil {
		t.Fatal(err)
	}
	p.Options.Engine = capacity.EngineExact
	q := capacity.WhatIfQuestion{Problem: p, Detail: capacity.DetailSummary}
	whats := []capacity.What{capacity.ChangeDeadline, capacity.ChangeDemand, capacity.ChangePrice, capacity.ChangePenalty}
	for i := range 60 {
		factor := 0.8 + float64(i)/100
		q.Scenarios = append(q.Scenarios, capacity.AskedScenario{Name: fmt.Sprint(i), Changes: []capacity.ScenarioChange{{What: whats[i%4], Factor: &factor}}})
	}
	var texts []string
	for _, places := range []int{1, 3} {
		a := New(nil, auth.NewKeyring(), Config{Solves: places})
		w, err := a.WhatIf(context.Background(), func() (capacity.WhatIfQuestion, error) { return q, nil })
		if err != nil {
			t.Fatal(err)
		}
		text, err := json.Marshal(w)
		if err != nil {
			t.Fatal(err)
		}
		texts = append(texts, string(text))
		if passing, waiting := a.solves.count(); passing != 0 || waiting != 0 || len(a.solves.byKey) != 0 {
			t.Errorf("of %d places %d are still taken, and %d wait", places, passing, waiting)
		}
	}
	if texts[0] != texts[1] {
		t.Errorf("one place answers\n%s\nthree answer\n%s", texts[0], texts[1])
	}
}

// TestFreePlacesAreThoseNobodyWaitsFor takes places beside the one that a question has.
func TestFreePlacesAreThoseNobodyWaitsFor(t *testing.T) {
	ts := newTurnstile(2, 8)
	leave, err := ts.enter(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	other := ts.enterFree("mine")
	if other == nil {
		t.Fatal("a free place was not given")
	}
	if ts.enterFree("mine") != nil {
		t.Error("a place was given that is not there")
	}
	waiting, err := ts.queue("theirs")
	if err != nil {
		t.Fatal(err)
	}
	other()
	select {
	case err := <-waiting:
		if err != nil {
			t.Fatal(err)
		}
	default:
		t.Error("who waited was not let in")
	}
	if ts.enterFree("mine") != nil {
		t.Error("a place was given that somebody else has")
	}
	leave()
	ts.leave("theirs")
	ts.close()
	if ts.enterFree("mine") != nil {
		t.Error("a place was given although the server stops")
	}
}
