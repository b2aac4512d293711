package pack

import (
	"cmp"
	"context"
	"errors"
	"math"
	"slices"

	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/lp"
)

// Batches that are too large for the exact method. A search finds phases, prices bound every packing from below and
// find more phases, and CBC combines these.

const (
	// maxPairedStart is the number of jobs from which the cheapest pairs take too long for a start.
	maxPairedStart = 300
	// dividing and generating bound the work of dividing phases anew, and of looking for phases.
	dividing, generating = 100_000_000, 200_000_000
	rounds               = 300 // of prices, at most
	// poolSize is the number of phases that CBC combines, and combineSeconds its time limit.
	poolSize, combineSeconds = 4_000, 2
)

func (b *batch) large(ctx context.Context, f *fitter, seed uint64, solver lp.Solver) (found, error) {
	s := newSeen(f)
	how := match
	if b.size() > maxPairedStart {
		how = matchGreedily
	}
	pairs, err := b.pairs(ctx, how)
	if errors.Is(err, context.DeadlineExceeded) {
		pairs, err = b.pairs(ctx, matchGreedily)
	}
	if err != nil {
		return found{}, err
	}
	starts := [][]contents{b.oneByOne(), pairs, s.firstFit(b.vms), s.firstFit(b.vms / 2)}
	best := s.search(ctx, starts, seed)
	better := func(phases []contents) {
		if len(phases) == 0 {
			return
		}
		d := s.division(ctx, phases)
		s.redivide(ctx, &d, s.effort+dividing)
		s.improve(ctx, &d, s.effort+maxSearched/4)
		if d.time < best.time {
			best = d
		}
	}
	better(best.phases)
	area := b.area()
	left := make([]int, len(b.kinds))
	for i := range left {
		left[i] = b.kinds[i].count
	}
	c := s.columns(left, area)
	c.bound = max(b.weakBound(), paid(area, b.everything())*(1-rounding))
	c.meetAll(best.phases)
	proved := func() bool { return capacity.Pause(ctx) != nil || c.bound >= best.time*(1-provedGap) }
	for _, hardest := range []int{0, len(levels) - 1} {
		if !proved() {
			c.generate(ctx, best.time*(1-provedGap), hardest, rounds, s.effort+generating)
		}
		if !proved() {
			better(c.dive(ctx, s.effort+generating))
		}
	}
	if solver != nil && !proved() {
		better(c.combine(ctx, solver, best))
	}
	if solver == nil {
		b.warnings = append(b.warnings, capacity.Warning{Code: "solver_unavailable",
			Detail: "No solver helped to combine phases, so that the packing may be longer and its gap wider than they need be."})
	}
	return found{phases: best.phases, bound: c.bound}, cancelled(ctx, nil)
}

// firstFit packs the jobs with the largest needs first, each into the first phase whose jobs' fewest VMs stay within
// room.
func (s *seen) firstFit(room int) (phases []contents) {
	jobs := s.oneByOne()
	slices.SortStableFunc(jobs, func(x, y contents) int { return s.kinds[y[0].kind].minVMs - s.kinds[x[0].kind].minVMs })
	var used []int
next:
	for _, j := range jobs {
		kind := j[0].kind
		for i := range phases {
			if used[i]+s.kinds[kind].minVMs <= room {
				used[i] += s.kinds[kind].minVMs
				phases[i] = phases[i].with(kind, 1, nil)
				continue next
			}
		}
		phases, used = append(phases, j), append(used, s.kinds[kind].minVMs)
	}
	return phases
}

// combine returns the best phases that CBC puts together, or none. The best division is its start, and phases are left out that
// no shorter one can hold.
func (c *columns) combine(ctx context.Context, solver lp.Solver, best division) (phases []contents) {
	type dear struct {
		column
		over float64
	}
	var all []dear
	for _, x := range c.pool {
		// A packing with this phase takes at least the bound and what the phase costs beyond its prices.
		if over := c.times[x.rung] - paid(c.cover.center, x.contents); over < best.time-c.guess {
			all = append(all, dear{x, over})
		}
	}
	slices.SortStableFunc(all, func(x, y dear) int { return cmp.Compare(x.over, y.over) })
	var pool []column
	for _, d := range all[:min(poolSize, len(all))] {
		pool = append(pool, d.column)
	}
	start := make([]float64, len(pool), len(pool)+len(best.phases))
	for i, phase := range best.phases {
		pool, start = append(pool, column{phase, best.rungs[i]}), append(start, 1)
	}
	p := c.program(pool)
	answer, err := solver.Solve(ctx, &p, lp.Options{Start: start, Seconds: combineSeconds, Gap: 1e-6})
	if err != nil || len(answer.X) == 0 || lp.CheckAdvice(&p, answer.X, answer.Objective) != nil {
		return nil
	}
	left := slices.Clone(c.left)
	for i, x := range answer.X {
		for range int(math.Round(x)) {
			var phase contents
			for _, want := range pool[i].contents {
				if n := min(want.count, left[want.kind]); n > 0 {
					phase = append(phase, some{want.kind, n})
					left[want.kind] -= n
				}
			}
			if len(phase) > 0 {
				phases = append(phases, phase)
			}
		}
	}
	if slices.ContainsFunc(left, func(n int) bool { return n > 0 }) {
		return nil
	}
	return phases
}

// program returns the program of combining phases: every job in at least one chosen phase. A job in two of them can
// leave either, which makes neither longer.
func (c *columns) program(pool []column) (p lp.Program) {
	for _, n := range c.left {
		p.Row(float64(n), math.Inf(1))
	}
	for _, x := range pool {
		entries := make([]lp.Entry, len(x.contents))
		upper := 0.0
		for i, some := range x.contents {
			entries[i] = lp.Entry{Row: some.kind, Coefficient: float64(some.count)}
			upper = max(upper, float64(ceilDiv(c.left[some.kind], some.count)))
		}
		p.Column(c.times[x.rung], 0, upper, true, entries...)
	}
	return p
}
