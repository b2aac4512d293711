package queue

import (
	"context"
	"time"

	"headroom/internal/service/app"
	"headroom/internal/service/plans"
	"headroom/internal/service/reporting"
	"headroom/internal/service/runs"
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
var Kinds = map[string]Kind{
	plans.PlanRun:      {Do: plan, Timeout: 15 * time.Minute, Attempts: 5},
	app.SweepRun:       {Do: kept((*app.App).SweepForRun), Timeout: time.Hour, Attempts: 5},
	app.HorizonRun:     {Do: kept((*app.App).HorizonForRun), Timeout: time.Hour, Attempts: 5},
	app.PurchaseRun:    {Do: kept((*app.App).PurchaseForRun), Timeout: time.Hour, Attempts: 5},
	app.SimulationRun:  {Do: kept((*app.App).SimulationForRun), Timeout: time.Hour, Attempts: 5},
	app.PackingRun:     {Do: kept((*app.App).PackForRun), Timeout: time.Hour, Attempts: 5},
	app.KeptPackingRun: {Do: keptPacking, Timeout: 15 * time.Minute, Attempts: 5},
	app.PoolRun:        {Do: kept((*app.App).PoolForRun), Timeout: 15 * time.Minute, Attempts: 5},
	app.PoolRoundsRun:  {Do: kept((*app.App).PoolRoundsForRun), Timeout: time.Hour, Attempts: 5},
	app.SharePlanRun:   {Do: kept((*app.App).SharePlanForRun), Timeout: 15 * time.Minute, Attempts: 5},
	reporting.RunKind:  {Do: report, Timeout: time.Hour, Attempts: 5},
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

// keptPacking packs a batch and stores the packing.
func keptPacking(ctx context.Context, a *app.App, claim runs.Claim, report func(runs.Progress)) (Result, error) {
	report(runs.Progress{Total: 1, Unit: "packings"})
	save, err := a.KeepPackingForRun(ctx, claim)
	if err != nil {
		return Result{}, err
	}
	report(runs.Progress{Done: 1, Total: 1, Unit: "packings"})
	return Result{Make: save}, nil
}

// kept wraps work of the service whose result, whole or partial, is stored unchanged.
func kept(work func(a *app.App, ctx context.Context, claim runs.Claim, report func(runs.Progress)) (runs.Result, error)) func(context.Context, *app.App, runs.Claim, func(runs.Progress)) (Result, error) {
	return func(ctx context.Context, a *app.App, claim runs.Claim, report func(runs.Progress)) (Result, error) {
		made, err := work(a, ctx, claim, report)
		return Result{Type: made.Type, Body: made.Body}, err
	}
}
