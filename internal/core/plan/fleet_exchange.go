package plan

import (
	"math"

	"example.org/headroom/internal/core/plan/exchange"
)

// exchangeUnit is the units of the exchanges' work that take as long as one of the search.
const exchangeUnit = 3

// exchange improves the best plan by exchanges of jobs between types, with so much work.
func (s *fleetSearch) exchange(work int) {
	if work = min(work, s.effort-s.work); work <= 0 || s.best == nil || s.exhausted() || s.proved() {
		return
	}
	x := exchange.New(s.exchanged(), cloneMixes(s.best.jobs))
	x.Improve(s.root.bound, exchangeUnit*work, s.done)
	s.work += x.Work / exchangeUnit
	jobs, _ := x.Best()
	s.consider(jobs)
}

// exchanged writes the fleet down for exchanges near the prices at the root. A job in a place that costs more than the
// cheapest one by the whole gap is in no better plan.
func (s *fleetSearch) exchanged() *exchange.Fleet {
	nu, gap := s.root.nu, s.best.cost-s.root.bound
	x := &exchange.Fleet{Budget: s.budget, Nu: nu, Mu: s.root.mu, Units: func(i, v int, jobs int64) int64 { return s.types[v].loads.Units(i, jobs) }}
	for v := range s.types {
		t := &s.types[v]
		x.Types = append(x.Types, exchange.Type{Grid: t.loads.Grid, Most: t.rental.MostVMs, Cost: t.rental.Cost})
	}
	for i, penalty := range s.penalty {
		c := exchange.Class{Low: s.low[i], High: s.high[i], Penalty: penalty}
		least := math.Inf(1)
		if c.Low < c.High {
			least = penalty
		}
		for _, v := range s.on[i] {
			least = min(least, nu[v]*s.types[v].classes[i].gamma)
		}
		for _, v := range s.on[i] {
			if nu[v]*s.types[v].classes[i].gamma <= least+gap {
				c.Places = append(c.Places, v)
			}
		}
		if c.Low < c.High && penalty <= least+gap {
			c.Places = append(c.Places, exchange.Outside)
		}
		x.Classes = append(x.Classes, c)
	}
	return x
}
