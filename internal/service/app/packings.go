package app

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"headroom/internal/ask/pack"
	"headroom/internal/ask/recheck"
	"headroom/internal/data/storage"
	"headroom/internal/service/plans/solving"
	"headroom/internal/service/runs"
)

// PackingRun is the kind of run that packs a batch.
const PackingRun = "packing"

// Pack answers a question about a batch, which is read once there is a place to solve in. It starts a run if the
// answer takes long or the caller does not want to wait.
func (a *App) Pack(ctx context.Context, background bool, read func() (pack.PackingQuestion, error)) (*pack.PackingAnswer, runs.Run, error) {
	return answerOrRun(ctx, a, runs.NewRun{Kind: PackingRun}, background, read, a.packAtOnce)
}

func (a *App) packAtOnce(ctx context.Context, q pack.PackingQuestion) (*pack.PackingAnswer, error) {
	var answer pack.PackingAnswer
	err := solving.Judged(ctx, func(ctx context.Context, tell func(done, total int64)) (err error) {
		answer, err = pack.Answer(ctx, q, a.pack, tell)
		return err
	})
	if err != nil {
		return nil, err
	}
	return &answer, nil
}

// PackForRun answers a run's question about a batch, a turn for each packing.
func (a *App) PackForRun(ctx context.Context, claim runs.Claim, report func(runs.Progress)) (runs.Result, error) {
	var q pack.PackingQuestion
	if err := json.Unmarshal(claim.Input, &q); err != nil {
		return runs.Result{}, fmt.Errorf("read the input of run %s: %w", claim.ID, err)
	}
	tell := func(done, total int64) { report(runs.Progress{Done: done, Total: total, Unit: "packings"}) }
	tell(0, 0)
	answer, err := pack.Answer(ctx, q, func(ctx context.Context, p pack.PackingProblem) (pack.Packing, error) {
		ctx, leave, err := a.Solver.Turn(ctx)
		if err != nil {
			return pack.Packing{}, err
		}
		defer leave()
		return a.pack(ctx, p)
	}, tell)
	if err != nil {
		return runs.Result{}, err
	}
	return jsonResult(claim, answer, nil)
}

// pack packs a batch within its time budget, for a caller who has a place to solve in. Nobody sees a packing that
// has not passed the independent check.
func (a *App) pack(ctx context.Context, p pack.PackingProblem) (pack.Packing, error) {
	budgeted, cancel := context.WithTimeout(ctx, time.Duration(p.Options.MaxSolveMs)*time.Millisecond)
	defer cancel()
	defer context.AfterFunc(a.Solver.Ended, cancel)()
	packing, err := pack.Pack(budgeted, p, a.Solver.Engine)
	if errors.Is(err, context.Canceled) && a.Solver.Ended.Err() != nil {
		err = solving.ErrStopping
	}
	if err == nil {
		err = recheck.PackingFault(p, packing)
	}
	if err != nil {
		return pack.Packing{}, err
	}
	return packing, nil
}

// Packings stores packings. No plan depends on them, and none changes.
type Packings interface {
	SavePacking(ctx context.Context, k pack.KeptPacking) (pack.KeptPacking, error) // ID, CreatedAt and CreatedBy are the store's
	// Packings lists the newest first.
	Packings(ctx context.Context, cluster string, page storage.Page) (storage.Listed[pack.PackingSummary], error)
	Packing(ctx context.Context, cluster, id string) (pack.KeptPacking, error)
	DeletePacking(ctx context.Context, cluster, id string) error
}

// KeptPackingRun is the kind of run that packs a batch and stores the packing.
const KeptPackingRun = "kept_packing"

// KeepPacking packs a batch and keeps the packing in a cluster, or starts the run that does.
func (a *App) KeepPacking(ctx context.Context, cluster string, background bool, read func() (pack.PackingProblem, error)) (*pack.KeptPacking, runs.Run, error) {
	if _, err := a.Stores.Inputs.Cluster(ctx, cluster); err != nil {
		return nil, runs.Run{}, err
	}
	kept, run, err := answerOrRun(ctx, a, runs.NewRun{Kind: KeptPackingRun, Cluster: cluster}, background, read, func(ctx context.Context, p pack.PackingProblem) (*pack.KeptPacking, error) {
		answer, err := a.packAtOnce(ctx, pack.PackingQuestion{Batch: p})
		if err != nil {
			return nil, err
		}
		kept, err := pack.Keep(cluster, p, *answer.Packing)
		return &kept, err
	})
	if err != nil || kept == nil {
		return nil, run, err
	}
	saved, err := a.Stores.Packings.SavePacking(ctx, *kept)
	return &saved, run, err
}

// KeepPackingForRun packs the batch of a run. save stores the packing.
func (a *App) KeepPackingForRun(ctx context.Context, claim runs.Claim) (save func(context.Context) (runs.Result, error), err error) {
	var p pack.PackingProblem
	if err := json.Unmarshal(claim.Input, &p); err != nil {
		return nil, fmt.Errorf("read the input of run %s: %w", claim.ID, err)
	}
	ctx, leave, err := a.Solver.Turn(ctx)
	if err != nil {
		return nil, err
	}
	defer leave()
	packing, err := a.pack(ctx, p)
	if err != nil {
		return nil, err
	}
	kept, err := pack.Keep(claim.Cluster, p, packing)
	return func(ctx context.Context) (runs.Result, error) {
		saved, err := a.Stores.Packings.SavePacking(ctx, kept)
		if err != nil {
			return runs.Result{}, err
		}
		return jsonResult(claim, saved, nil)
	}, err
}
