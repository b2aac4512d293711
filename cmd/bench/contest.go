package main

import (
	"context"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"time"

	"example.org/headroom/internal/core/lp"
	"example.org/headroom/internal/core/lp/worker"
)

// found is a solver's plan and its claim that none costs less. In a contest, cost and bound are distances from the best
// known plan.
type found struct {
	cost, bound float64 // cost is infinite without a plan, bound is NaN without one
	took        time.Duration
}

// contest holds what all solvers found for the same problems, in groups that differ by time limit or size.
type contest struct {
	about    string // what the problems are
	measured string // what a distance is relative to
	group    string // what the groups differ by
	groups   []string
	solvers  []string             // Headroom first
	answers  []map[string][]found // by group and solver, in the order of the problems
}

// beside asks the peers what Headroom is asked.
type beside struct {
	pool     *worker.Pool
	peers    []peer
	python   string
	file     string // for programs
	progress io.Writer
}

// solvers returns the names of Headroom and of those of some peers that are asked at all.
func (b *beside) solvers(of []string) []string {
	names := []string{"headroom"}
	for _, p := range b.peers {
		if slices.Contains(of, p.name) {
			names = append(names, p.name)
		}
	}
	return names
}

// ask lets some peers solve a program in whole numbers.
func (b *beside) ask(ctx context.Context, program *lp.Program, limit time.Duration, of []string) (answers []found, err error) {
	if err := writeFile(b.file, program); err != nil {
		return nil, err
	}
	for _, p := range b.peers {
		if !slices.Contains(of, p.name) {
			continue
		}
		a, err := p.solve(ctx, question{program: program, file: b.file, gap: sameCost, limit: limit})
		if err != nil {
			return nil, fmt.Errorf("%s: %w", p.name, err)
		}
		answers = append(answers, found{cost: planned(program, a.x), bound: a.bound, took: a.took})
	}
	return answers, nil
}

// sameCost is the relative difference within which two plans cost the same.
const sameCost = 1e-6

// add adds what the solvers found for one problem whose best known plan and measure these are.
func (c *contest) add(group string, round []found, best, measure float64) {
	k := slices.Index(c.groups, group)
	if k < 0 {
		k = len(c.groups)
		c.groups, c.answers = append(c.groups, group), append(c.answers, map[string][]found{})
	}
	for i, a := range round {
		name := c.solvers[i]
		c.answers[k][name] = append(c.answers[k][name], found{(a.cost - best) / measure, (best - a.bound) / measure, a.took})
	}
}

// addCosts adds plans whose measure is what the best of them costs. None may be below Headroom's bound, which comes first.
func (c *contest) addCosts(group string, round []found) error {
	best := round[0].cost
	for _, a := range round {
		best = min(best, a.cost)
	}
	if bound := round[0].bound; best < bound*(1-proofNoise) {
		return fmt.Errorf("%s: a plan costs %g, below Headroom's bound of %g", group, best, bound)
	}
	c.add(group, round, best, best)
	return nil
}

// text writes the table.
func (c *contest) text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s. Plan: its cost above that of the best known one, median / worst, relative to %s. "+
		"Best: how many plans are as good as the best of their row's %s, within %g. Bound: how far it lies below the best known plan, median. "+
		"CPU: milliseconds without start and reading, median.\n\n", c.about, c.measured, c.group, sameCost)
	fmt.Fprintf(&b, "| solver | %s | plan | best | bound | CPU |\n|---|---|---|---|---|---|\n", c.group)
	for k, group := range c.groups {
		round := c.answers[k]
		for _, name := range c.solvers {
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
			fmt.Fprintf(&b, "| %s | %s | %s / %s | %d of %d | %s | %s |\n", name, group, percent(above[len(above)/2]), percent(above[len(above)-1]), best, len(above),
				percent(middleBound(below)), ms(time.Duration(took[len(took)/2])))
		}
	}
	return b.String()
}

// middleBound is the median of bounds; infinite where most are missing.
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
