package main

import (
	"context"
	"fmt"
	"math"
	"time"

	"example.org/headroom/internal/ask/study"
	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/lp"
	"example.org/headroom/internal/core/lp/worker"
	"example.org/headroom/internal/core/plan"
)

// Fleets of several VM types are planned by everyone for the same time. What counts is the plan, and the bound that says
// how much cheaper another could be.

// fleetKinds are places in study.Fleets: every difficulty alone, some together, and all.
var fleetKinds = []int{0, 1, 2, 4, 8, 16, 3, 6, 7, 15, 19, 31}

// fleetLimits are the processor times that every solver has for a plan.
var fleetLimits = []time.Duration{250 * time.Millisecond, time.Second}

// fleetPeers are those that are asked for fleets.
var fleetPeers = []string{"cbc", "highs", "scip", "cp-sat"}

const fleetClasses, fleetTypes, fleetContracts = 100, 6, 3

func (b *beside) fleets(ctx context.Context, seeds int) (*contest, error) {
	t := &contest{solvers: b.solvers(fleetPeers), group: "limit", measured: "that plan's whole cost",
		about: fmt.Sprintf("Drawn fleets of %d classes, %d VM types and %d contracts each, twelve kinds", fleetClasses, fleetTypes, fleetContracts)}
	kinds := study.Fleets(fleetClasses, fleetTypes, fleetContracts)
	for seed := 1; seed <= seeds; seed++ {
		for _, kind := range fleetKinds {
			fmt.Fprintf(b.progress, "fleet, %s, seed %d\n", kinds[kind], seed)
			if err := b.fleet(ctx, t, kinds[kind].Problem(uint64(100*seed+kind))); err != nil {
				return nil, fmt.Errorf("fleet, %s, seed %d: %w", kinds[kind], seed, err)
			}
		}
	}
	return t, nil
}

// fleet plans one fleet by everyone; one that nobody finds a plan of is left out.
func (b *beside) fleet(ctx context.Context, t *contest, p capacity.Problem) error {
	program := study.FleetProgram(p)
	wanted, best, bound := 0.0, math.Inf(1), math.Inf(-1)
	for _, c := range p.Classes {
		wanted += c.Penalty.Float() * c.Jobs.Max
	}
	rounds := make([][]found, len(fleetLimits))
	for k, limit := range fleetLimits {
		p.Options.MaxSolveMs, p.Options.Gap = limit.Milliseconds(), sameCost
		mine, err := planFleet(ctx, p, b.pool)
		if err != nil {
			return err
		}
		bound = max(bound, mine.bound)
		theirs, err := b.ask(ctx, program, limit, fleetPeers)
		if err != nil {
			return err
		}
		rounds[k] = append([]found{mine}, theirs...)
		for _, a := range rounds[k] {
			best = min(best, a.cost)
		}
	}
	if math.IsInf(best, 1) {
		return nil
	}
	total := best + wanted
	if best < bound-proofNoise*total {
		return fmt.Errorf("a plan costs %g, below Headroom's bound of %g", best, bound)
	}
	for k, round := range rounds {
		t.add(fleetLimits[k].String(), round, best, total)
	}
	return nil
}

// planFleet plans by Headroom as it is used: with CBC's help. The processor time of both counts.
func planFleet(ctx context.Context, p capacity.Problem, pool *worker.Pool) (found, error) {
	var pl capacity.Plan
	took, err := within(ctx, time.Duration(p.Options.MaxSolveMs)*time.Millisecond, func(ctx context.Context) (err error) {
		pl, err = plan.Solve(ctx, p, pool)
		return err
	})
	if err != nil {
		return found{}, err
	}
	a := found{cost: math.Inf(1), bound: math.NaN(), took: took}
	if pl.Status != capacity.InfeasibleStatus {
		a.cost, a.bound = pl.Objective.Float(), pl.Proof.Bound.Float()
	}
	return a, nil
}

// planned returns the cost of a solver's plan; infinite if there is none, or if it does not fit.
func planned(p *lp.Program, x []float64) float64 {
	if x == nil {
		return math.Inf(1)
	}
	whole, cost := make([]float64, len(x)), 0.0
	for j, v := range x {
		whole[j] = math.Round(v)
		cost += p.Cost[j] * whole[j]
	}
	if lp.CheckAdvice(p, whole, cost) != nil {
		return math.Inf(1)
	}
	return cost
}
