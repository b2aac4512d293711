package queue

import (
	"context"
	"time"

	"example.org/headroom/internal/service/app"
	"example.org/headroom/internal/service/plans"
	"example.org/headroom/internal/service/question"
	"example.org/headroom/internal/service/report/reporting"
	"example.org/headroom/internal/service/runs"
)

// Kind is a kind of run.
type Kind struct {
	// Do is the work. It ends soon after its context, and reports its progress as often as it likes. A Busy error is
	// tried again. Any other fails the run, and the result so far is stored as a part.
	Do       func(ctx context.Context, a *app.App, claim runs.Claim, report func(runs.Progress)) (Result, error)
	Timeout  time.Duration // of one attempt
	Attempts int           // at most, including those that died with their server
}

// Kinds holds the kinds that need only the App.
var Kinds = withQuestions(map[string]Kind{
	plans.PlanRun:     {Do: plan, Timeout: 15 * time.Minute, Attempts: 5},
	reporting.RunKind: {Do: report, Timeout: time.Hour, Attempts: 5},
})

// withQuestions adds the questions that may become runs.
func withQuestions(kinds map[string]Kind) map[string]Kind {
	for _, q := range question.All {
		if q.RunKind() == "" {
			continue
		}
		do := func(ctx context.Context, a *app.App, claim runs.Claim, report func(runs.Progress)) (Result, error) {
			made, save, err := q.DoRun(ctx, a.Questions, claim, report)
			return Result{Type: made.Type, Body: made.Body, Make: save}, err
		}
		kinds[q.RunKind()] = Kind{Do: do, Timeout: q.RunTimeout(), Attempts: 5}
	}
	return kinds
}

// Result is the product of work; the zero Result is nothing.
type Result struct {
	Type string // a media type
	Body []byte
	// Make, if set, stores the run's product and returns the result, in the transaction that finishes the run. So it
	// is made once, whatever process dies.
	Make func(context.Context) (runs.Result, error)
}

func (r Result) kept() *runs.Result {
	if r.Type == "" {
		return nil
	}
	return &runs.Result{Type: r.Type, Body: r.Body}
}

// plan plans a cluster.
func plan(ctx context.Context, a *app.App, claim runs.Claim, report func(runs.Progress)) (Result, error) {
	report(runs.Progress{Total: 1, Unit: "plan"})
	save, err := a.Plans.ForRun(ctx, claim)
	if err != nil {
		return Result{}, err
	}
	report(runs.Progress{Done: 1, Total: 1, Unit: "plan"})
	return Result{Make: save}, nil
}
