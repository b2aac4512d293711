package app

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"headroom/internal/ask/pool"
	"headroom/internal/ask/recheck"
	"headroom/internal/core/fault"
	"headroom/internal/core/perf"
	"headroom/internal/service/plans/solving"
	"headroom/internal/service/runs"
)

// PoolRun and SharePlanRun are the kinds of runs that plan a pool and share slots.
const (
	PoolRun       = "pool"
	SharePlanRun  = "share_plan"
	PoolRoundsRun = "pool_rounds"
)

// PlanPool plans a pool, whose problem is read once there is a place to solve in. It starts a run if that takes long
// or the caller does not want to wait.
func (a *App) PlanPool(ctx context.Context, background bool, read func() (pool.PoolProblem, error)) (*pool.PoolPlan, runs.Run, error) {
	return answerOrRun(ctx, a, runs.NewRun{Kind: PoolRun}, background, read, a.poolAtOnce)
}

// PlanClusterPool is PlanPool for a cluster: read gets the cluster's data about its VM types.
func (a *App) PlanClusterPool(ctx context.Context, cluster string, background bool, read func(fill func(*pool.PoolProblem)) (pool.PoolProblem, error)) (*pool.PoolPlan, runs.Run, error) {
	at := a.Now().UTC()
	snapshot, err := a.Stores.Inputs.Snapshot(ctx, cluster, at)
	if err != nil {
		return nil, runs.Run{}, err
	}
	return answerOrRun(ctx, a, runs.NewRun{Kind: PoolRun, Cluster: cluster}, background, func() (pool.PoolProblem, error) {
		var fitting error
		p, err := read(func(p *pool.PoolProblem) {
			pool.CompletePool(snapshot, p, at)
			fitting = a.rateJobs(ctx, cluster, p)
		})
		err = cmp.Or(fitting, err)
		if err == nil && p.Currency != snapshot.Cluster.Currency {
			err = &fault.InputError{Findings: []fault.Finding{{Pointer: "/currency", Code: "currency", Detail: fmt.Sprintf("The cluster %q plans in %s, not in %s; leave the currency out.", cluster, snapshot.Cluster.Currency, p.Currency)}}}
		}
		return p, err
	}, a.poolAtOnce)
}

// rateJobs fills in the rates of jobs without any if their tasks were measured on at least one of the types.
func (a *App) rateJobs(ctx context.Context, cluster string, p *pool.PoolProblem) error {
	var unrated []string
	for _, j := range p.Jobs {
		if len(j.Rates) == 0 && j.RatesFrom == "" {
			unrated = append(unrated, j.Name)
		}
	}
	if len(unrated) == 0 {
		return nil
	}
	fits, err := a.Stores.Fits.LatestFits(ctx, cluster, perf.RateFits, unrated)
	if err != nil {
		return err
	}
	for i := range p.Jobs {
		j := &p.Jobs[i]
		f, measured := fits[j.Name]
		if !measured || f.Rate == nil || len(j.Rates) > 0 || j.RatesFrom != "" {
			continue
		}
		if rates := f.Rate.OfInstances(pool.NodeTypes(p.Types)); len(rates) > 0 {
			j.Rates, j.RatesFrom = rates, fmt.Sprintf("version %d of the fit of its tasks' times by type, of %d measurements", f.Version, f.Measurements)
		}
	}
	return nil
}

func (a *App) poolAtOnce(ctx context.Context, p pool.PoolProblem) (*pool.PoolPlan, error) {
	return solving.WaitedFor(ctx, func(ctx context.Context) (pool.PoolPlan, error) { return a.Pools.Plan(ctx, p) })
}

// PoolForRun plans the pool of a run.
func (a *App) PoolForRun(ctx context.Context, claim runs.Claim, report func(runs.Progress)) (runs.Result, error) {
	return oneForRun(ctx, a, claim, report, "plan", a.Pools.Plan)
}

// oneForRun does the work of a run that makes one thing from its input in one turn.
func oneForRun[Q, A any](ctx context.Context, a *App, claim runs.Claim, report func(runs.Progress), unit string, work func(context.Context, Q) (A, error)) (runs.Result, error) {
	var q Q
	if err := json.Unmarshal(claim.Input, &q); err != nil {
		return runs.Result{}, fmt.Errorf("read the input of run %s: %w", claim.ID, err)
	}
	report(runs.Progress{Total: 1, Unit: unit})
	ctx, leave, err := a.Solver.Turn(ctx)
	if err != nil {
		return runs.Result{}, err
	}
	defer leave()
	answer, err := work(ctx, q)
	if err != nil {
		return runs.Result{}, err
	}
	report(runs.Progress{Done: 1, Total: 1, Unit: unit})
	return jsonResult(claim, answer, nil)
}

// EvaluatePool evaluates a given mix. It takes a linear program at most.
func (a *App) EvaluatePool(ctx context.Context, read func() (pool.PoolProblem, error)) (answer pool.PoolEvaluation, err error) {
	ctx, leave, err := a.Solver.Enter(ctx)
	if err != nil {
		return answer, err
	}
	defer leave()
	p, err := read()
	if err != nil {
		return answer, err
	}
	err = a.Solver.Budgeted(ctx, p.Options.MaxSolveMs, func(ctx context.Context) error {
		if answer, err = pool.Evaluate(ctx, p, a.Solver.Engine); err != nil {
			return err
		}
		return recheck.PoolFault(recheck.PoolEvaluation(p, answer))
	})
	return answer, err
}

// PlanShares shares slots, or starts the run that does.
func (a *App) PlanShares(ctx context.Context, background bool, read func() (pool.SharePlanProblem, error)) (*pool.SharePlan, runs.Run, error) {
	return answerOrRun(ctx, a, runs.NewRun{Kind: SharePlanRun}, background, read, func(ctx context.Context, p pool.SharePlanProblem) (*pool.SharePlan, error) {
		return solving.WaitedFor(ctx, func(ctx context.Context) (pool.SharePlan, error) { return a.sharePlan(ctx, p) })
	})
}

func (a *App) sharePlan(ctx context.Context, p pool.SharePlanProblem) (answer pool.SharePlan, err error) {
	err = a.Solver.Budgeted(ctx, p.Options.MaxSolveMs, func(ctx context.Context) error {
		if answer, err = pool.Share(ctx, p, a.Solver.Engine); err != nil {
			return err
		}
		return recheck.PoolFault(recheck.Share(p, answer))
	})
	return answer, err
}

// SharePlanForRun shares the slots of a run.
func (a *App) SharePlanForRun(ctx context.Context, claim runs.Claim, report func(runs.Progress)) (runs.Result, error) {
	return oneForRun(ctx, a, claim, report, "plan", a.sharePlan)
}

// PlanPoolRounds plans a pool round after round, or starts the run that does.
func (a *App) PlanPoolRounds(ctx context.Context, background bool, read func() (pool.PoolCourseProblem, error)) (*pool.PoolCourse, runs.Run, error) {
	return answerOrRun(ctx, a, runs.NewRun{Kind: PoolRoundsRun}, background, read, func(ctx context.Context, p pool.PoolCourseProblem) (*pool.PoolCourse, error) {
		var answer pool.PoolCourse
		err := solving.Judged(ctx, func(ctx context.Context, tell func(done, total int64)) (err error) {
			answer, err = a.Pools.Rounds(ctx, p, a.poolRound, tell)
			return err
		})
		return &answer, err
	})
}

// poolRound plans a round; an infeasible one is an answer.
func (a *App) poolRound(ctx context.Context, p pool.PoolProblem) (pool.PoolPlan, error) {
	answer, err := a.Pools.Plan(ctx, p)
	if errors.Is(err, fault.Infeasible) {
		err = nil
	}
	return answer, err
}

// PoolRoundsForRun plans the rounds of a run, a turn for each.
func (a *App) PoolRoundsForRun(ctx context.Context, claim runs.Claim, report func(runs.Progress)) (runs.Result, error) {
	var p pool.PoolCourseProblem
	if err := json.Unmarshal(claim.Input, &p); err != nil {
		return runs.Result{}, fmt.Errorf("read the input of run %s: %w", claim.ID, err)
	}
	tell := func(done, total int64) { report(runs.Progress{Done: done, Total: total, Unit: "rounds"}) }
	tell(0, int64(p.Rounds()))
	answer, err := a.Pools.Rounds(ctx, p, func(ctx context.Context, q pool.PoolProblem) (pool.PoolPlan, error) {
		ctx, leave, err := a.Solver.Turn(ctx)
		if err != nil {
			return pool.PoolPlan{}, err
		}
		defer leave()
		return a.poolRound(ctx, q)
	}, tell)
	if err != nil {
		return runs.Result{}, err
	}
	return jsonResult(claim, answer, nil)
}
