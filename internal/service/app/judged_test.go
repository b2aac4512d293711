package app

import (
	"context"
	"testing"

	"headroom/internal/service/auth"
	"headroom/internal/service/plans/solving"
	"headroom/internal/service/runs"
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
	a := New(Stores{Runs: store}, auth.NewKeyring(), Config{})
	answer, run, err := answerOrRun(t.Context(), a, runs.NewRun{Kind: PoolRoundsRun}, false, known("asked"), func(context.Context, string) (*int, error) {
		return new(int), solving.ErrLong
	})
	if answer != nil || run.ID != "1" || err != nil || len(store.started) != 1 {
		t.Errorf("got %v, %+v, %v and %d runs", answer, run, err, len(store.started))
	}
}
