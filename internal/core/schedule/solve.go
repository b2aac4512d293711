package schedule

import (
	"cmp"
	"context"
	"math"
	"slices"

	"example.org/headroom/internal/core/lp"
)

// Options limits the effort of a solve. The context limits its time.
type Options struct {
	Moves     int     // that the search tries at most; 0 is as many as are worth it
	LPSeconds float64 // of each linear program
}

func (o Options) lpSeconds() float64 { return cmp.Or(o.LPSeconds, 2) }

// The effort of a search where nothing is said: moves for each execution, and the most of them.
const (
	movesEach    = 4_000
	hotMoves     = 400_000 // where a few executions are placed anew, as often as they are worth
	DefaultMoves = 4_000_000
	quickMoves   = 120_000
)

// begin returns a first plan, and the linear program over options that are cheap at first prices.
func begin(ctx context.Context, p *Problem) (*search, *master) {
	arrivals := p.arrivals()
	first := newSearch(p, arrivals)
	first.greedy(ctx)
	prices := &pricing{Problem: p, best: math.Inf(-1)}
	prices.try(first.marginal())
	prices.climb(ctx, first.total())
	m := newMaster(prices, arrivals)
	m.add(prices.prices, nearShare)
	return first, m
}

// Solve plans a problem. There is a plan in any case: without an engine its prices come from this package alone, and when the
// time is over the best so far counts.
func Solve(ctx context.Context, p Problem, solver lp.Solver, o Options) Plan {
	first, m := begin(ctx, &p)
	best := first
	if shares := m.solve(ctx, solver, o.lpSeconds()); shares != nil {
		rounded := newSearch(&p, m.arrivals)
		if rounded.round(shares); rounded.total() < first.total() {
			best = rounded
		}
	}
	best.anneal(ctx, quickMoves, warm, false) // first, so that a search that ends early has found something
	moves := min(p.effort(), cmp.Or(o.Moves, DefaultMoves))
	if moves == DefaultMoves {
		best.near = m.near()
	} else if moves > 0 { // so few executions that all of them can be placed anew
		hottest := best.hottest()
		for n := range 2 + hotMoves/moves {
			best.anneal(ctx, moves, hottest, n%2 == 0)
		}
	}
	best.anneal(ctx, moves, warm, moves == DefaultMoves)
	best.again(0)
	best.repair()
	best.spare(ctx)
	best.forward()
	plan := best.plan()
	plan.Prices, plan.Worth, plan.Engine = m.p.prices, m.p.worth, m.p.engine
	plan.Bound = p.told(plan.Prices, plan.Worth)
	return plan
}

// told rounds prices, in place, as decimals can tell them, and returns the bound that follows.
func (p *Problem) told(prices, worth []float64) (bound float64) {
	for i := range worth {
		worth[i] = math.Round(worth[i]*priceParts) / priceParts
	}
	for t := range prices {
		parts := prices[t] * priceParts
		if p.starting(t) == nil {
			parts = math.Round(parts)
		} else { // down, so that no VM that is started pays then
			parts = math.Floor(parts)
		}
		prices[t] = parts / priceParts
	}
	return p.BoundAt(prices, worth)
}

// BoundAt returns a bound on the cost of every plan, which follows from prices of a VM in each step and the worth of budgets.
func (p *Problem) BoundAt(prices, worth []float64) float64 {
	q := p.dearer(worth)
	bound, _ := q.Lagrange(prices)
	worths := p.worthOf(worth)
	return bound - q.slack(prices) - worths*(1+boundNoise)
}

// priceParts are the parts of a unit of money in which prices of the bound are told.
const priceParts = 1e9

// effort returns how many moves are worth trying.
func (p *Problem) effort() int {
	jobs := int64(0)
	for k := range p.Classes {
		for _, n := range p.Classes[k].Arrivals {
			jobs = min(jobs+n, DefaultMoves)
		}
	}
	return int(min(jobs*movesEach, DefaultMoves))
}

// marginal returns the price of one VM more in each step.
func (s *search) marginal() []float64 {
	prices := make([]float64, len(s.load))
	for t := range prices {
		vms := s.whole(s.load[t])
		prices[t] = s.rented(t, vms+1, s.steep) - s.rented(t, vms, s.steep)
	}
	return prices
}

// plan returns the plan as it stands.
func (s *search) plan() Plan {
	var p Plan
	for i, a := range s.arrivals {
		for _, x := range s.taken[i] {
			p.Starts = append(p.Starts, Start{Class: a.class, Arrived: a.at, Run: x.run, At: x.at, Jobs: x.jobs})
			if x.run == Refused {
				p.Refused += float64(x.jobs) * s.Classes[a.class].Penalty
			}
		}
	}
	slices.SortFunc(p.Starts, func(a, b Start) int {
		return cmp.Or(a.Class-b.Class, a.Arrived-b.Arrived, a.Run-b.Run, a.At-b.At)
	})
	p.VMs, p.Rented = s.held(0)
	return p
}
