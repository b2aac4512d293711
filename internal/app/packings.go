package app

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"headroom/internal/capacity"
	"headroom/internal/pack"
	"headroom/internal/proof"
)

// PackingRun is the kind of run that packs a batch.
const PackingRun = "packing"

// Pack answers what is asked about a batch, which is read once there is a place to solve in, or the run that goes on
// with it where it takes long or the caller does not want to wait.
func (a *App) Pack(ctx context.Context, background bool, read func() (capacity.PackingQuestion, error)) (*capacity.PackingAnswer, capacity.Run, error) {
	return answerOrRun(ctx, a, NewRun{Kind: PackingRun}, background, read, a.packAtOnce)
}

func (a *App) packAtOnce(ctx context.Context, q capacity.PackingQuestion) (*capacity.PackingAnswer, error) {
	var answer capacity.PackingAnswer
	err := judged(ctx, func(ctx context.Context, tell func(done, total int64)) (err error) {
		answer, err = pack.Answer(ctx, q, a.pack, tell)
		return err
	})
	if err != nil {
		return nil, err
	}
	return &answer, nil
}

// PackForRun answers what a run asks about a batch, a turn for each packing.
func (a *App) PackForRun(ctx context.Context, claim RunClaim, report func(capacity.Progress)) (RunResult, error) {
	var q capacity.PackingQuestion
	if err := json.Unmarshal(claim.Input, &q); err != nil {
		return RunResult{}, fmt.Errorf("read the input of run %s: %w", claim.ID, err)
	}
	tell := func(done, total int64) { report(capacity.Progress{Done: done, Total: total, Unit: "packings"}) }
	tell(0, 0)
	answer, err := pack.Answer(ctx, q, func(ctx context.Context, p capacity.PackingProblem) (capacity.Packing, error) {
		leave, err := a.turn(ctx)
		if err != nil {
			return capacity.Packing{}, err
		}
		defer leave()
		return a.pack(ctx, p)
	}, tell)
	if err != nil {
		return RunResult{}, err
	}
	return jsonResult(claim, answer, nil)
}

// pack packs a batch within its time budget, for a caller who has a place to solve in. Nobody sees a packing that
// has not passed the independent check.
func (a *App) pack(ctx context.Context, p capacity.PackingProblem) (capacity.Packing, error) {
	budgeted, cancel := context.WithTimeout(ctx, time.Duration(p.Options.MaxSolveMs)*time.Millisecond)
	defer cancel()
	defer context.AfterFunc(a.ended, cancel)()
	packing, err := pack.Pack(budgeted, p, a.config.Solver)
	if errors.Is(err, context.Canceled) && a.ended.Err() != nil {
		err = errStopping
	}
	if err == nil {
		err = proof.PackingFault(p, packing)
	}
	if err != nil {
		return capacity.Packing{}, err
	}
	return packing, nil
}
