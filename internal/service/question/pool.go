package question

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"time"

	"example.org/headroom/internal/ask/pool"
	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/fault"
	"example.org/headroom/internal/core/perf"
	"example.org/headroom/internal/service/plans/solving"
	"example.org/headroom/internal/service/report"
)

// shortRun is the longest time of an attempt at a run that solves one problem.
const shortRun = 15 * time.Minute

// Pool asks for the cheapest mix of machines that does all work in time.
var Pool = known(&Kind[pool.PoolProblem, pool.PoolPlan]{
	Run: "pool", Unit: "plan", Timeout: shortRun, Name: "pool",
	From: map[string]Source[pool.PoolProblem]{
		"/v1/pools":                    ofBody(func(r Request) (pool.PoolProblem, error) { return pool.ReadPool(r.Body, r.Limits) }),
		"/v1/clusters/{cluster}/pools": clusterPoolSource,
	},
	Work: inOne(nil, func(ctx context.Context, b *Bench, p pool.PoolProblem) (pool.PoolPlan, error) {
		return planPool(ctx, b, p)
	}),
	Refuse: refusePool,
	Forms: func(p pool.PoolProblem, a pool.PoolPlan, _ View) Forms {
		text := func(w io.Writer, a pool.PoolPlan) error { return report.PoolPlan(w, p.Currency, a) }
		return usual(a, text, func(a pool.PoolPlan) report.Table { return report.PoolJobs(a.PoolOutcome) }, nil)
	},
	Status: func(a *pool.PoolPlan) capacity.Status { return capacity.Status(a.Status) },
})

func refusePool(a *pool.PoolPlan) error {
	if a.Status == pool.PoolInfeasible {
		return &fault.InfeasibleError{Conflicts: a.Conflicts}
	}
	return nil
}

// PoolMix asks what given machines come to. It takes a linear program at most.
var PoolMix = known(&Kind[pool.PoolProblem, pool.PoolEvaluation]{
	Name: "pool", From: map[string]Source[pool.PoolProblem]{"/v1/pools/evaluate": Pool.From["/v1/pools"]},
	Work: inOne(nil, func(ctx context.Context, b *Bench, p pool.PoolProblem) (pool.PoolEvaluation, error) {
		return budgeted(ctx, b, p.Options.MaxSolveMs, p, solving.CheckedMix)
	}),
	Forms: func(p pool.PoolProblem, a pool.PoolEvaluation, _ View) Forms {
		text := func(w io.Writer, a pool.PoolEvaluation) error { return report.PoolEvaluation(w, p.Currency, a) }
		return usual(a, text, func(a pool.PoolEvaluation) report.Table { return report.PoolJobs(a.PoolOutcome) }, nil)
	},
})

// PoolRounds asks what to rent and to give back round after round.
var PoolRounds = known(&Kind[pool.PoolCourseProblem, pool.PoolCourse]{
	Run: "pool_rounds", Unit: "rounds", Name: "pool",
	From: map[string]Source[pool.PoolCourseProblem]{
		"/v1/pools/rounds": ofBody(func(r Request) (pool.PoolCourseProblem, error) { return pool.ReadPoolCourse(r.Body, r.Limits) }),
	},
	Work: func(ctx context.Context, b *Bench, p pool.PoolCourseProblem) (*pool.PoolCourse, error) {
		b.Tell(0, int64(p.Rounds()))
		answer, err := solving.CheckedCourse(ctx, p, func(ctx context.Context, q pool.PoolProblem) (pool.PoolPlan, error) {
			in, leave, err := b.Turn(ctx)
			if err != nil {
				return pool.PoolPlan{}, err
			}
			defer leave()
			return planPool(in, b, q)
		}, b.Tell)
		if err != nil {
			return nil, err
		}
		return &answer, nil
	},
	Forms: func(p pool.PoolCourseProblem, a pool.PoolCourse, _ View) Forms {
		text := func(w io.Writer, a pool.PoolCourse) error { return report.PoolCourse(w, p.Currency, a) }
		return usual(a, text, report.PoolChanges, nil)
	},
	Status: func(a *pool.PoolCourse) capacity.Status { return capacity.Status(a.Status) },
})

// Shares asks who gets how many slots of different nodes.
var Shares = known(&Kind[pool.SharePlanProblem, pool.SharePlan]{
	Run: "share_plan", Unit: "plan", Timeout: shortRun, Name: "shares",
	From: map[string]Source[pool.SharePlanProblem]{
		"/v1/share-plans": ofBody(func(r Request) (pool.SharePlanProblem, error) { return pool.ReadSharePlan(r.Body, r.Limits) }),
	},
	Work: inOne(nil, func(ctx context.Context, b *Bench, p pool.SharePlanProblem) (pool.SharePlan, error) {
		return budgeted(ctx, b, p.Options.MaxSolveMs, p, solving.CheckedShares)
	}),
	Forms: func(_ pool.SharePlanProblem, a pool.SharePlan, _ View) Forms {
		return usual(a, report.SharePlan, report.SharedJobs, nil)
	},
})

func planPool(ctx context.Context, b *Bench, p pool.PoolProblem) (pool.PoolPlan, error) {
	return budgeted(ctx, b, p.Options.MaxSolveMs, p, solving.CheckedPool)
}

// clusterPoolSource reads a pool and fills in the cluster's data about its VM types.
func clusterPoolSource(ctx context.Context, d *Desk, r Request) (func() (pool.PoolProblem, error), error) {
	at := d.Now().UTC()
	snapshot, err := d.Inputs.Snapshot(ctx, r.Cluster, at)
	return func() (pool.PoolProblem, error) {
		var fitting error
		p, err := pool.ReadPool(r.Body, r.Limits, func(p *pool.PoolProblem) {
			pool.CompletePool(snapshot, p, at)
			fitting = d.rateJobs(ctx, r.Cluster, p)
		})
		if err := cmp.Or(fitting, wrongBody(err)); err != nil {
			return p, err
		}
		if p.Currency != snapshot.Cluster.Currency {
			return p, fault.At("/currency", "currency", fmt.Sprintf("The cluster %q plans in %s, not in %s; leave the currency out.",
				r.Cluster, snapshot.Cluster.Currency, p.Currency))
		}
		return p, nil
	}, err
}

// rateJobs fills in the rates of jobs without any if their tasks were measured on at least one of the types.
func (d *Desk) rateJobs(ctx context.Context, cluster string, p *pool.PoolProblem) error {
	var unrated []string
	for _, j := range p.Jobs {
		if len(j.Rates) == 0 && j.RatesFrom == "" {
			unrated = append(unrated, j.Name)
		}
	}
	if len(unrated) == 0 {
		return nil
	}
	fits, err := d.Fits.LatestFits(ctx, cluster, perf.RateFits, unrated)
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
			j.Rates, j.RatesFrom = rates, fmt.Sprintf("version %d of the fit of its tasks' times by type, of %d measurements", f.Version,
				f.Measurements)
		}
	}
	return nil
}
