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
// find more phases, and CBC combines all phases seen.

const (
	// maxPairedStart is the number of jobs from which the cheapest pairs take too long for a start.
	maxPairedStart = 300
	ownRounds      = 15 // of prices without Clp
	// coarse and fine are the cells of knapsacks in a round of prices, and in one after a coarse round finds nothing
	// more. maxPriced bounds those of all rounds with Clp.
	coarse, fine, maxPriced = 20_000_000, 200_000_000, 600_000_000
	// poolSize is the number of seen phases in the first linear program.
	poolSize = 4_000
	// combineSeconds is the time limit of CBC for combining phases.
	combineSeconds = 2
	// nearLimit is the share of the linear program's value by which a good enough bound may fall short of it.
	nearLimit = 2e-4
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
	prices := s.ownPrices(best)
	bound := b.weakBound()
	raise := func(maximum int) (short []contents, ratio float64) {
		value, short, ratio := s.price(ctx, prices, maximum)
		bound = max(bound, value*(1-same))
		return short, ratio
	}
	proved := func() bool { return capacity.Pause(ctx) != nil || bound >= best.time*(1-provedGap) }
	advised := solver != nil
	if advised {
		pool := s.pool(prices, best, math.Inf(1), poolSize)
		for cells := coarse; !proved() && s.cells < maxPriced; {
			limit, err := s.advise(ctx, solver, pool, prices)
			if advised = err == nil; !advised {
				break
			}
			short, _ := raise(cells)
			for _, c := range short {
				pool = append(pool, column{c, s.look(c, 0)})
			}
			if bound >= limit*(1-nearLimit) || len(short) == 0 && cells == fine {
				break
			}
			if len(short) == 0 {
				cells = fine
			}
		}
	}
	if !advised {
		for round := 0; round < ownRounds && !proved(); round++ {
			short, _ := raise(coarse)
			s.lower(prices, short)
		}
	}
	if !proved() {
		_, ratio := raise(fine)
		for i := range prices { // now no phase seems shorter than its prices
			prices[i] *= ratio
		}
	}
	if advised && !proved() {
		pool := s.pool(prices, best, best.time-bound, poolSize)
		if d, ok := s.combine(ctx, solver, pool, best); ok && d.time < best.time {
			s.improve(ctx, &d, s.effort+maxSearched/4)
			best = d
		}
	}
	if !advised {
		b.warnings = append(b.warnings, capacity.Warning{Code: "solver_unavailable",
			Detail: "No solver helped to combine phases, so that the packing may be longer and its gap wider than they need be."})
	}
	return found{phases: best.phases, bound: bound}, cancelled(ctx, nil)
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

// ownPrices shares every phase's time among its jobs by their VMs.
func (s *seen) ownPrices(d division) []float64 {
	prices := make([]float64, len(s.kinds))
	for i, c := range d.phases {
		plain, _ := s.ladder.at(d.rungs[i])
		sum := 0.0
		for _, x := range c {
			sum += float64(x.count) * float64(plain[x.kind])
		}
		for _, x := range c {
			prices[x.kind] += s.at(d.rungs[i]) * float64(x.count) * float64(plain[x.kind]) / sum / float64(s.kinds[x.kind].count)
		}
	}
	return prices
}

// lower reduces the prices of phases that are shorter than their prices.
func (s *seen) lower(prices []float64, short []contents) {
	for _, c := range short {
		paid := 0.0
		for _, x := range c {
			paid += prices[x.kind] * float64(x.count)
		}
		if ratio := s.at(s.look(c, 0)) / paid; ratio < 1 {
			for _, x := range c {
				prices[x.kind] *= math.Sqrt(ratio)
			}
		}
	}
}

// pool returns the seen phases that exceed the prices of their jobs the least, by at most beyond, and the phases of a
// division.
func (s *seen) pool(prices []float64, best division, beyond float64, limit int) []column {
	type dear struct {
		at   int
		over float64
	}
	var all []dear
	for i, c := range s.list {
		if c.rung == s.never() {
			continue
		}
		over := s.at(c.rung)
		for _, x := range c.contents {
			over -= prices[x.kind] * float64(x.count)
		}
		if over <= beyond {
			all = append(all, dear{i, over})
		}
	}
	slices.SortStableFunc(all, func(x, y dear) int { return cmp.Compare(x.over, y.over) })
	var pool []column
	for _, d := range all[:min(limit, len(all))] {
		pool = append(pool, s.list[d.at])
	}
	for i, c := range best.phases {
		pool = append(pool, column{c, best.rungs[i]})
	}
	return pool
}

// master returns the program of combining phases: every job in at least one chosen phase. A job in two of them can
// leave either, which makes neither longer.
func (s *seen) master(pool []column, whole bool) (p lp.Program) {
	for i := range s.kinds {
		p.Row(float64(s.kinds[i].count), math.Inf(1))
	}
	for _, c := range pool {
		entries := make([]lp.Entry, len(c.contents))
		upper := 0.0
		for i, x := range c.contents {
			entries[i] = lp.Entry{Row: x.kind, Coefficient: float64(x.count)}
			upper = max(upper, float64(ceilDiv(s.kinds[x.kind].count, x.count)))
		}
		if !whole {
			upper = math.Inf(1)
		}
		p.Column(s.at(c.rung), 0, upper, whole, entries...)
	}
	return p
}

// advise takes Clp's prices for some phases, and returns the linear program's value. It is no bound, since phases are
// missing.
func (s *seen) advise(ctx context.Context, solver lp.Solver, pool []column, prices []float64) (value float64, err error) {
	p := s.master(pool, false)
	answer, err := solver.Solve(ctx, &p, lp.Options{})
	if err != nil {
		return 0, err
	}
	if answer.Status != lp.Optimal || len(answer.RowDual) != len(s.kinds) {
		return 0, lp.ErrCrashed
	}
	for i, y := range answer.RowDual {
		prices[i] = 0
		if y > 0 { // written this way so that NaN fails too
			prices[i] = y
		}
	}
	return answer.Objective, nil
}

// combine returns the best division into some phases that CBC finds, starting from the best one, whose phases stand
// last.
func (s *seen) combine(ctx context.Context, solver lp.Solver, pool []column, best division) (division, bool) {
	p := s.master(pool, true)
	start := make([]float64, len(pool))
	for i := len(pool) - len(best.phases); i < len(pool); i++ {
		start[i] = 1
	}
	answer, err := solver.Solve(ctx, &p, lp.Options{Start: start, Seconds: combineSeconds, Gap: 1e-6})
	if err != nil || len(answer.X) == 0 || lp.CheckAdvice(&p, answer.X, answer.Objective) != nil {
		return division{}, false
	}
	left := s.everything()
	var phases []contents
	for i, x := range answer.X {
		for range int(math.Round(x)) {
			var c contents
			for _, want := range pool[i].contents {
				if n := min(want.count, left[want.kind].count); n > 0 {
					c = append(c, some{want.kind, n})
					left[want.kind].count -= n
				}
			}
			if len(c) > 0 {
				phases = append(phases, c)
			}
		}
	}
	for _, x := range left {
		if x.count > 0 {
			return division{}, false
		}
	}
	return s.division(ctx, phases), true
}
