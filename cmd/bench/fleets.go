package main

import (
	"context"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"strings"
	"syscall"
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

// fleetLimits are the times that every solver has for a plan.
var fleetLimits = []time.Duration{250 * time.Millisecond, time.Second}

// fleetPeers are those that are asked for fleets.
var fleetPeers = []string{"cbc", "highs", "scip", "cp-sat"}

const (
	fleetClasses, fleetTypes, fleetContracts = 100, 6, 3
	// sameCost is the relative difference within which two plans cost the same.
	sameCost = 1e-6
)

// fleetAnswer holds a solver's plan of a fleet. In a table, cost and bound are distances from the best known plan.
type fleetAnswer struct {
	cost, bound float64 // objectives; cost is infinite without a plan, bound is NaN without one
	took        time.Duration
}

// fleetTable holds the answers by limit and solver, in the order of the fleets.
type fleetTable struct {
	fleets  int
	solvers []string
	answers []map[string][]fleetAnswer
}

func compareFleets(ctx context.Context, s settings, pool *worker.Pool, chosen []peer, file string, progress io.Writer) (fleetTable, error) {
	asked := slices.DeleteFunc(slices.Clone(chosen), func(p peer) bool { return !slices.Contains(fleetPeers, p.name) })
	t := fleetTable{solvers: []string{"headroom"}, answers: make([]map[string][]fleetAnswer, len(fleetLimits))}
	for _, p := range asked {
		t.solvers = append(t.solvers, p.name)
	}
	for k := range t.answers {
		t.answers[k] = map[string][]fleetAnswer{}
	}
	kinds := study.Fleets(fleetClasses, fleetTypes, fleetContracts)
	for seed := 1; seed <= s.fleets; seed++ {
		for _, kind := range fleetKinds {
			fmt.Fprintf(progress, "fleet, %s, seed %d\n", kinds[kind], seed)
			if err := t.compare(ctx, kinds[kind].Problem(uint64(100*seed+kind)), pool, asked, file); err != nil {
				return fleetTable{}, fmt.Errorf("fleet, %s, seed %d: %w", kinds[kind], seed, err)
			}
		}
	}
	return t, nil
}

// compare plans one fleet by everyone; one that nobody finds a plan of is left out.
func (t *fleetTable) compare(ctx context.Context, p capacity.Problem, pool *worker.Pool, peers []peer, file string) error {
	program := study.FleetProgram(p)
	if err := writeFile(file, program); err != nil {
		return err
	}
	wanted, best, bound := 0.0, math.Inf(1), math.Inf(-1)
	for _, c := range p.Classes {
		wanted += c.Penalty.Float() * c.Jobs.Max
	}
	rounds := make([][]fleetAnswer, len(fleetLimits))
	for k, limit := range fleetLimits {
		p.Options.MaxSolveMs, p.Options.Gap = limit.Milliseconds(), sameCost
		mine, err := planFleet(ctx, p, pool)
		if err != nil {
			return err
		}
		bound = max(bound, mine.bound)
		rounds[k] = append(rounds[k], mine)
		for _, peer := range peers {
			a, err := peer.solve(ctx, question{program: program, file: file, gap: sameCost, limit: limit})
			if err != nil {
				return fmt.Errorf("%s: %w", peer.name, err)
			}
			rounds[k] = append(rounds[k], fleetAnswer{cost: planned(program, a.x), bound: a.bound, took: a.took})
		}
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
	t.fleets++
	for k, round := range rounds {
		for i, a := range round {
			name := t.solvers[i]
			t.answers[k][name] = append(t.answers[k][name], fleetAnswer{(a.cost - best) / total, (best - a.bound) / total, a.took})
		}
	}
	return nil
}

// planFleet plans by Headroom as it is used: with CBC's help. The processor time of both counts.
func planFleet(ctx context.Context, p capacity.Problem, pool *worker.Pool) (fleetAnswer, error) {
	ctx, cancel := context.WithTimeout(ctx, time.Duration(p.Options.MaxSolveMs)*time.Millisecond)
	defer cancel()
	before, err := familyCPU()
	if err != nil {
		return fleetAnswer{}, err
	}
	pl, err := plan.Solve(ctx, p, pool)
	if err != nil {
		return fleetAnswer{}, err
	}
	after, err := familyCPU()
	if err != nil {
		return fleetAnswer{}, err
	}
	a := fleetAnswer{cost: math.Inf(1), bound: math.NaN(), took: after - before}
	if pl.Status != capacity.InfeasibleStatus {
		a.cost, a.bound = pl.Objective.Float(), pl.Proof.Bound.Float()
	}
	return a, nil
}

// familyCPU returns the time that this process and its solvers have used, those included that have ended.
func familyCPU() (time.Duration, error) {
	var ended syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_CHILDREN, &ended); err != nil {
		return 0, fmt.Errorf("read the CPU time of ended solvers: %w", err)
	}
	running, err := cpuOf(os.Getpid())
	return running + time.Duration(ended.Utime.Nano()+ended.Stime.Nano()), err
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

func (t *fleetTable) text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d drawn fleets of %d classes, %d VM types and %d contracts each. Plan: its cost above that of the best known one, median / worst, "+
		"relative to that plan's whole cost. Best: how many plans are as good as the best one of the same time, within %g. Bound: how far it lies below the best known plan, median. "+
		"CPU: milliseconds without start and reading, median.\n\n", t.fleets, fleetClasses, fleetTypes, fleetContracts, sameCost)
	b.WriteString("| solver | limit | plan | best | bound | CPU |\n|---|---|---|---|---|---|\n")
	for k, limit := range fleetLimits {
		round := t.answers[k]
		for _, name := range t.solvers {
			var above, below, took []float64
			best := 0
			for i, a := range round[name] {
				least := math.Inf(1)
				for _, others := range round {
					least = min(least, others[i].cost)
				}
				if a.cost <= least+sameCost {
					best++
				}
				above, below, took = append(above, a.cost), append(below, a.bound), append(took, float64(a.took))
			}
			slices.Sort(above)
			slices.Sort(took)
			fmt.Fprintf(&b, "| %s | %s | %s / %s | %d | %s | %s |\n", name, limit, percent(above[len(above)/2]), percent(above[len(above)-1]), best,
				percent(middleBound(below)), ms(time.Duration(took[len(took)/2])))
		}
	}
	return b.String()
}

// middleBound is the median of bounds; NaN where most are missing.
func middleBound(below []float64) float64 {
	for i, x := range below {
		if math.IsNaN(x) {
			below[i] = math.Inf(1)
		}
	}
	slices.Sort(below)
	return below[len(below)/2]
}

func percent(x float64) string {
	if math.IsInf(x, 1) {
		return "none"
	}
	return fmt.Sprintf("%.4f %%", 100*x)
}
