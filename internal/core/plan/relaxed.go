package plan

import (
	"math"
	"slices"

	"example.org/headroom/internal/core/money"
	"example.org/headroom/internal/core/plan/integer"
)

// relaxation is P2 as a linear program, solved in closed form: classes by falling ratio of penalty
// to VMs (theta in the paper) take supply by rising price while they are worth it. At most one
// class is left with a fraction.
type relaxation struct {
	supply    integer.Supply
	classes   []class
	theta     []float64 // penalty per VM; +Inf for a class that takes none
	jobs      []float64
	capacity  float64
	objective float64
	// nuLow and nuHigh are the worth of one VM of capacity at the margin: one less, one more. nuHigh is +Inf if nothing
	// more can be had.
	nuLow, nuHigh float64

	// rank is the classes by falling theta, place where each stands there, before[k] the load above their promised jobs of the
	// first k of them, and floor the load of all promised jobs.
	rank   []int
	place  []int
	before []float64
	floor  float64
	// steps is all thetas and prices, ascending: only there does anything change. In the interval
	// below step k (above the last one for k = len) cheaper[k] VMs cost less, and classes with more
	// theta take dearer[k] of them beyond their promised jobs.
	steps           []float64
	cheaper, dearer []float64
	own             []int // the step that is a class's theta; len(steps) where it is infinite
}

// newRelaxation is nil where not even the promised jobs fit; short is then the VMs missing. Whole
// slots may be late by the deadlines' tolerance, so that the promised jobs of a plan that can be
// carried out may exceed the VMs by as much here.
func newRelaxation(m *model) (r *relaxation, short float64) {
	n := len(m.classes)
	r = &relaxation{supply: integer.NewSupply(m.tiers), classes: m.classes, theta: make([]float64, n), jobs: make([]float64, n)}
	var floor money.Sum
	for i := range m.classes {
		c := &m.classes[i]
		r.theta[i] = math.Inf(1)
		if c.gamma > 0 {
			r.theta[i] = c.penalty / c.gamma
		} else if c.penalty == 0 {
			r.theta[i] = 0
		}
		r.jobs[i] = c.low
		floor.Add(c.gamma * c.low)
	}
	r.floor = floor.Value()
	if most := float64(r.supply.Most()); r.floor > most*(1+1e-9)+integer.LoadNoise {
		return nil, r.floor - most
	}
	if m.brief() {
		r.ranked()
	} else {
		r.order()
	}
	r.fill()
	r.margins()
	return r, 0
}

func (r *relaxation) order() {
	n := len(r.classes)
	r.ranked()
	r.before = make([]float64, n+1)
	r.place = make([]int, n)
	for k, i := range r.rank {
		r.place[i] = k
		r.before[k+1] = r.before[k] + r.span(i)
	}
	r.steps = make([]float64, 0, n+len(r.supply.Price))
	prices := r.supply.Price
	for k := n - 1; k >= 0 && !math.IsInf(r.theta[r.rank[k]], 1); k-- { // merged: both ascend
		theta := r.theta[r.rank[k]]
		for len(prices) > 0 && prices[0] <= theta {
			r.steps, prices = append(r.steps, prices[0]), prices[1:]
		}
		r.steps = append(r.steps, theta)
	}
	r.steps = slices.Compact(append(r.steps, prices...))
	r.cheaper = make([]float64, len(r.steps)+1)
	r.dearer = make([]float64, len(r.steps)+1)
	r.dearer[0] = r.before[n]
	r.own = make([]int, n)
	for i := range r.own {
		r.own[i] = len(r.steps)
	}
	ahead, tier := n, 0
	for k, step := range r.steps {
		for ahead > 0 && r.theta[r.rank[ahead-1]] <= step {
			ahead--
			r.own[r.rank[ahead]] = k
		}
		for tier < len(r.supply.Price) && r.supply.Price[tier] <= step {
			tier++
		}
		if r.dearer[k+1] = r.before[ahead]; tier > 0 {
			r.cheaper[k+1] = float64(r.supply.Total[tier-1])
		}
	}
}

// ranked fills in rank. Classes stand in the order of their names, by which ties fall.
func (r *relaxation) ranked() {
	type ranking struct {
		theta float64
		class int
	}
	list := make([]ranking, len(r.classes))
	for i, theta := range r.theta {
		list[i] = ranking{theta, i}
	}
	slices.SortFunc(list, func(a, b ranking) int {
		switch { // there is no NaN, so that this is cmp.Compare
		case a.theta > b.theta:
			return -1
		case a.theta < b.theta:
			return 1
		}
		return a.class - b.class
	})
	r.rank = make([]int, len(list))
	for k, x := range list {
		r.rank[k] = x.class
	}
}

// span is the load of a class's jobs above the promised ones.
func (r *relaxation) span(i int) float64 {
	return r.classes[i].gamma * (r.classes[i].high - r.classes[i].low)
}

func (r *relaxation) fill() {
	var used, cost money.Sum
	used.Add(r.floor)
	tier := 0
	room := func() float64 { // of the tier
		for tier < len(r.supply.Price) {
			_, to := r.supply.Tier(tier)
			if left := float64(to) - used.Value(); left > 0 {
				return left
			}
			tier++
		}
		return 0
	}
	for _, i := range r.rank {
		c := &r.classes[i]
		if c.gamma == 0 {
			if c.penalty > 0 {
				r.jobs[i] = c.high
			}
		} else {
			for need := r.span(i); need > 0; {
				left := room()
				if left <= 0 || r.theta[i] <= r.supply.Price[tier] {
					break
				}
				if need <= left {
					r.jobs[i] = c.high
					used.Add(need)
					break
				}
				used.Add(left)
				r.jobs[i] = min(c.high, r.jobs[i]+left/c.gamma)
				need -= left
			}
		}
		cost.Add(-c.penalty * r.jobs[i])
	}
	r.capacity = used.Value()
	cost.Add(r.supply.CostReal(r.capacity))
	r.objective = cost.Value()
}

// realNoise returns the distance within which a real number of VMs counts as a whole one: the float error of relations
// between large sums, and no more.
func realNoise(vms float64) float64 { return integer.ProofResolution * (1 + vms) }

// margins is the interval of optimal duals of the capacity row.
func (r *relaxation) margins() {
	r.nuHigh = math.Inf(1)
	for k, price := range r.supply.Price {
		from, to := r.supply.Tier(k)
		if r.capacity > float64(from)+realNoise(r.capacity) {
			r.nuLow = max(r.nuLow, price)
		}
		if r.capacity < float64(to)-realNoise(r.capacity) {
			r.nuHigh = min(r.nuHigh, price)
		}
	}
	for i := range r.classes {
		c := &r.classes[i]
		if c.gamma == 0 {
			continue
		}
		if r.jobs[i] < c.high {
			r.nuLow = max(r.nuLow, r.theta[i])
		}
		if r.jobs[i] > c.low {
			r.nuHigh = min(r.nuHigh, r.theta[i])
		}
	}
	r.nuHigh = max(r.nuHigh, r.nuLow) // apart by rounding at most
}

// interval is the VMs a class finds whose theta lies in interval k (below step k, the last above
// all steps), its own promised jobs included, once dearer classes have taken theirs. Own is the step
// at which its theta stands now.
func (r *relaxation) interval(i, k, own int) float64 {
	c := &r.classes[i]
	others := r.floor - c.gamma*c.low + r.dearer[k]
	if k <= own {
		others -= r.span(i)
	}
	return max(0, r.cheaper[k]-others)
}

// whole is the whole jobs in a real number of them.
func whole(jobs float64) float64 { return math.Floor(jobs + 1e-9) }
