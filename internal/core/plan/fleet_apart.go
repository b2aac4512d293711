package plan

import (
	"context"
	"math"

	"example.org/headroom/internal/core/money"
	"example.org/headroom/internal/core/plan/integer"
)

// The linear program lets jobs and VMs be parts. A better bound sets the types apart: each job has a price, and every
// type takes the jobs that pay it most beside whole VMs. That is the program of one type, which is solved exactly. For
// any prices of the jobs, no plan costs less than all types together and what the classes pay.

const (
	apartTarget = 0.01 // share of the gap to which a type's program is solved
	// apartStep is the share of the gap that the first step wants to win; it shrinks where a step wins nothing.
	apartStep, apartShrinks, apartGrows = 0.15, 0.8, 1.1
	apartKeeps                          = 0.5  // share of its last direction that a step keeps
	apartLeast                          = 1e-4 // share below which steps are no longer worth it
)

// apart holds the types set apart at prices of jobs.
type apart struct {
	parts       []integer.Instance
	prices      []float64 // of a job of each class
	way         []float64 // the direction of the last step
	best, share float64
}

// setApart prepares to set the types apart, near so many VMs of each.
func (s *fleetSearch) setApart(vms []int64) *apart {
	a := &apart{parts: make([]integer.Instance, len(s.types)), prices: s.jobPrices(), way: make([]float64, len(s.penalty)), best: math.Inf(-1), share: apartStep}
	for v := range s.types {
		t := &s.types[v]
		a.parts[v] = t.instance()
		a.parts[v].Supply = t.rental.Tiers(1+s.root.mu, vms[v])
	}
	return a
}

// raise raises the bound by prices of jobs, in so many steps at most.
func (s *fleetSearch) raise(ctx context.Context, a *apart, steps int) {
	for ; steps > 0 && a.share > apartLeast && s.best != nil && !s.proved() && !s.done(); steps-- {
		bound, missing := s.boundApart(ctx, a)
		if s.done() { // the types' programs were not solved to the end
			return
		}
		s.bound = max(s.bound, bound)
		if bound > a.best {
			a.best, a.share = bound, min(1, a.share*apartGrows)
		} else {
			a.share *= apartShrinks
		}
		square := 0.0
		for i, h := range missing {
			a.way[i] = h + apartKeeps*a.way[i]
			square += a.way[i] * a.way[i]
		}
		if square == 0 {
			a.share = 0
			return
		}
		step := (a.best + a.share*(s.best.cost-a.best) - bound) / square
		for i, h := range a.way {
			a.prices[i] = max(0, a.prices[i]+step*h)
		}
	}
}

// jobPrices returns prices halfway between a job's cheapest place and the next one, so that a class's jobs cost something
// wherever a type strays from the linear program.
func (s *fleetSearch) jobPrices() []float64 {
	prices := make([]float64, len(s.penalty))
	for i, penalty := range s.penalty {
		least, next := penalty, math.Inf(1)
		if s.low[i] == s.high[i] {
			least = math.Inf(1)
		}
		for _, v := range s.on[i] {
			cost := s.root.nu[v] * s.types[v].classes[i].gamma
			if cost < least {
				least, cost = cost, least
			}
			next = min(next, cost)
		}
		if s.low[i] > 0 && least == penalty { // jobs that are promised are somewhere
			least = next
			next = math.Inf(1)
			for _, v := range s.on[i] {
				if cost := s.root.nu[v] * s.types[v].classes[i].gamma; cost > least {
					next = min(next, cost)
				}
			}
		}
		switch {
		case math.IsInf(next, 1) && math.IsInf(least, 1):
		case math.IsInf(next, 1):
			prices[i] = least
		default:
			prices[i] = (least + next) / 2
		}
	}
	return prices
}

// boundApart returns the bound at prices of jobs, and by how many jobs of each class the types take too few.
func (s *fleetSearch) boundApart(ctx context.Context, a *apart) (bound float64, missing []float64) {
	prices := a.prices
	var sum money.Sum
	missing = make([]float64, len(prices))
	for i, price := range prices {
		jobs := float64(s.low[i])
		if price < s.penalty[i] {
			jobs = float64(s.high[i])
		}
		missing[i] = jobs
		sum.Add((price - s.penalty[i]) * jobs)
	}
	enough := apartTarget * (s.best.cost - s.bound) / float64(len(a.parts))
	for _, part := range a.parts {
		part.Penalty = prices
		r := integer.P2(ctx, part, func(float64) float64 { return enough })
		sum.Add(r.Objective - r.Gap)
		for i, h := range r.Jobs {
			missing[i] -= float64(h)
		}
	}
	if s.root.mu > 0 {
		sum.Add(-s.root.mu * s.budget)
	}
	sum.Add(-integer.GapNoise * s.all)
	return sum.Value(), missing
}
