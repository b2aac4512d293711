package question

import (
	"context"
	"testing"

	"example.org/headroom/internal/service/plans/solving"
	"example.org/headroom/internal/service/runs"
)

type runStore = runs.Store

// startedRuns keeps the runs that are started, and answers nothing else.
type startedRuns struct {
	runStore
	started []runs.NewRun
}

func (s *startedRuns) StartRun(_ context.Context, n runs.NewRun) (runs.Run, error) {
	s.started = append(s.started, n)
	return runs.Run{ID: "1"}, nil
}

// Work that turns out to take long has an answer begun; it becomes a run all the same.
func TestLongWorkBecomesARunWithAnAnswerBegun(t *testing.T) {
	store := &startedRuns{}
	d := &Desk{Solver: solving.New(nil, 1, 0, nil), Store: store}
	k := &Kind[string, int]{Run: "long", From: map[string]Source[string]{"/here": ofBody(func(Request) (string,
		error) {
		return "asked", nil
	})},
		Work: func(context.Context, *Bench, string) (*int, error) { return new(int), solving.ErrLong }}
	answer, run, err := k.Ask(t.Context(), d, "/here", Request{})
	if answer != nil || run.ID != "1" || err != nil || len(store.started) != 1 || store.started[0].Input != "asked" {
		t.Errorf("got %v, %+v, %v and %+v", answer, run, err, store.started)
	}
}
