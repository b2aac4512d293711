package app

import (
	"context"
	"encoding/json"
	"fmt"

	"headroom/internal/ask/whatif"
	"headroom/internal/core/capacity"
	"headroom/internal/core/plan"
	"headroom/internal/service/plans/solving"
	"headroom/internal/service/runs"
)

// SweepRun is the kind of run that plans the points of a sweep.
const SweepRun = "sweep"

// Sweep answers a sweep that includes its problem, or starts a run if it takes long or the caller does not want to
// wait.
func (a *App) Sweep(ctx context.Context, background bool, read func() (whatif.SweepQuestion, error)) (*whatif.SweepAnswer, runs.Run, error) {
	return answerOrRun(ctx, a, runs.NewRun{Kind: SweepRun}, background, read, a.sweepAtOnce)
}

// SweepCluster is Sweep for the problem of a cluster at a moment.
func (a *App) SweepCluster(ctx context.Context, cluster string, q whatif.ClusterSweepQuestion, background bool) (*whatif.SweepAnswer, runs.Run, error) {
	p, err := a.comparable(ctx, cluster, q.At)
	if err != nil {
		return nil, runs.Run{}, err
	}
	if p, err = (whatif.Scenario{Changes: q.Changes}).Apply(p); err != nil {
		return nil, runs.Run{}, err
	}
	question := whatif.SweepQuestion{Problem: p, Vary: q.Vary, Curve: q.Curve}
	if err := question.Check(); err != nil {
		return nil, runs.Run{}, err
	}
	return answerOrRun(ctx, a, runs.NewRun{Kind: SweepRun, Cluster: cluster}, background, known(question), a.sweepAtOnce)
}

func (a *App) sweepAtOnce(ctx context.Context, q whatif.SweepQuestion) (*whatif.SweepAnswer, error) {
	s, brief := whatif.NewSweep(q), a.Solver.PlanLike(q.Problem)
	err := solving.Judged(ctx, func(ctx context.Context, tell func(done, total int64)) error {
		return a.Solver.Together(ctx, int(s.Total()), func(ctx context.Context) error {
			told := func(solve plan.Planner) plan.Planner {
				return func(ctx context.Context, p capacity.Problem) (capacity.Plan, error) {
					pl, err := solve(ctx, p)
					tell(s.Done()+1, s.Total())
					return pl, err
				}
			}
			return s.Work(ctx, told(a.Solver.Plan), told(brief))
		})
	})
	if err != nil {
		return nil, err
	}
	answer, err := s.Answer()
	return &answer, err
}

// SweepForRun plans the points of a run, a turn for each, and reports the number done. The points so far can be read
// meanwhile; if it is cancelled, they come with the error.
func (a *App) SweepForRun(ctx context.Context, claim runs.Claim, report func(runs.Progress)) (runs.Result, error) {
	var q whatif.SweepQuestion
	if err := json.Unmarshal(claim.Input, &q); err != nil {
		return runs.Result{}, fmt.Errorf("read the input of run %s: %w", claim.ID, err)
	}
	s, brief := whatif.NewSweep(q), a.Solver.PlanLike(q.Problem)
	show := func() { report(runs.Progress{Done: s.Done(), Total: s.Total(), Unit: "points"}) }
	show()
	defer a.Runs.Show(claim.ID, func() (runs.Result, error) {
		answer, err := s.Answer()
		if err != nil {
			return runs.Result{}, err
		}
		return jsonResult(claim, answer, nil)
	})()
	worked := a.Solver.AllPlaces(ctx, func(ctx context.Context) error {
		inTurn := func(solve plan.Planner) plan.Planner {
			return func(ctx context.Context, p capacity.Problem) (capacity.Plan, error) {
				ctx, leave, err := a.Solver.Turn(ctx)
				if err != nil {
					return capacity.Plan{}, err
				}
				defer leave()
				pl, err := solve(ctx, p)
				show()
				return pl, err
			}
		}
		return s.Work(ctx, inTurn(a.Solver.Plan), inTurn(brief))
	})
	show()
	answer, err := s.Answer()
	if err != nil && worked == nil {
		return runs.Result{}, err
	}
	return jsonResult(claim, answer, worked)
}
