package run_test

import (
	"context"
	"testing"

	"headroom/internal/app"
	"headroom/internal/capacity"
	"headroom/internal/pgtest"
	"headroom/internal/run"
)

type does = map[string]func(ctx context.Context, claim app.RunClaim, report func(capacity.Progress)) (run.Result, error)

func TestARunIsDoneAndItsResultKept(t *testing.T) {
	t.Parallel()
	s := start(t, pgtest.Database(t), run.Config{Kinds: kinds(does{"count": func(ctx context.Context, claim app.RunClaim, report func(capacity.Progress)) (run.Result, error) {
		report(capacity.Progress{Done: 3, Total: 3, Unit: "steps"})
		return text(`{"by": "` + claim.By.Name + `"}`), nil
	}})})
	r := succeeded(t, s, begin(t, s, "count"))
	if string(r.Result) != `{"by": "Ada"}` || r.Attempt != 1 || r.Progress != (capacity.Progress{Done: 3, Total: 3, Unit: "steps"}) || r.FinishedAt == nil || r.Error != nil || r.Partial {
		t.Errorf("the run is %+v", r)
	}
}
