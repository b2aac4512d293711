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
	apartMost   = 8    // attempts
	apartGain   = 0.02 // share of the gap that an attempt must win so that another follows
	apartTarget = 0.01 // share of the gap to which a type's program is solved
	apartStep   = 0.7  // share of the way at which the gap would be closed if costs were linear
)

// setApart raises the bound by prices of jobs.
func (s *fleetSearch) setApart(ctx context.Context) {
	if s.best == nil || s.proved() {
		return
	}
	parts := make([]integer.Instance, len(s.types))
	for v := range s.types {
		t := &s.types[v]
		tiers, ok := t.rental.Tiers(1 + s.root.mu)
		if !ok {
			return
		}
		parts[v] = t.instance()
		parts[v].Supply = tiers
	}
	prices := s.jobPrices()
	for range apartMost {
		bound, missing := s.apart(ctx, parts, prices)
		gain := bound - s.bound
		s.bound = max(s.bound, bound)
		gap := s.best.cost - bound
		square := 0.0
		for _, h := range missing {
			square += h * h
		}
		if s.done() || square == 0 || s.proved() || gain < apartGain*gap {
			return
		}
		for i, h := range missing {
			prices[i] = max(0, prices[i]+apartStep*gap*h/square)
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

// apart returns the bound at prices of jobs, and by how many jobs of each class the types take too few.
func (s *fleetSearch) apart(ctx context.Context, parts []integer.Instance, prices []float64) (bound float64, missing []float64) {
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
	enough := apartTarget * (s.best.cost - s.bound) / float64(len(parts))
	for _, part := range parts {
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
