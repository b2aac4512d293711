package app

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"headroom/internal/core/fault"
	"headroom/internal/service/auth"
	"headroom/internal/service/plans/solving"
	"headroom/internal/service/runs"
)

// answerOrRun answers the question that read returns, in a place to solve in. If that takes long or the caller does
// not want to wait, it starts a run with the question, from the beginning.
func answerOrRun[Q, A any](ctx context.Context, a *App, n runs.NewRun, background bool, read func() (Q, error), here func(context.Context, Q) (*A, error)) (*A, runs.Run, error) {
	in, leave, err := a.Solver.Enter(ctx)
	if err != nil {
		return nil, runs.Run{}, err
	}
	asked, answer, err := func() (asked Q, answer *A, err error) {
		defer leave()
		if asked, err = read(); err == nil && !background {
			answer, err = here(in, asked)
		}
		return asked, answer, err
	}()
	switch {
	case err != nil && !errors.Is(err, solving.ErrLong):
		return nil, runs.Run{}, err
	case err == nil && answer != nil:
		return answer, runs.Run{}, nil
	}
	if who := auth.From(ctx); n.Cluster == "" && who.Clusters != nil {
		return nil, runs.Run{}, fmt.Errorf("this takes a run in the background, and the key %q, which is limited to clusters, sees only runs of those; ask about a cluster, or about less: %w", who.Name, fault.Forbidden)
	}
	n.Role, n.Input = auth.Planner, asked
	run, err := a.Stores.Runs.StartRun(ctx, n)
	return nil, run, err
}

// known reads a question that is there already.
func known[Q any](q Q) func() (Q, error) { return func() (Q, error) { return q, nil } }

// jsonResult returns the result of a run as JSON, and the error that ended it.
func jsonResult(claim runs.Claim, answer any, worked error) (runs.Result, error) {
	text, err := json.Marshal(answer)
	if err != nil {
		return runs.Result{}, errors.Join(worked, fmt.Errorf("write what run %s made: %w", claim.ID, err))
	}
	return runs.Result{Type: "application/json", Body: text}, worked
}
