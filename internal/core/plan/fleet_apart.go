package plan

import (
	"cmp"
	"context"
	"math"
	"slices"

	"example.org/headroom/internal/core/money"
	"example.org/headroom/internal/core/plan/integer"
)

// The linear program lets jobs and VMs be parts. A better bound sets the types apart: each job has a price, and every
// type takes the jobs that pay it most beside whole VMs. That is the program of one type, which is solved exactly. For
// any prices of the jobs, no plan costs less than all types together and what the classes pay.

const (
	apartTarget = 0.05 // share of the gap to which a type's program is solved
	// apartStep is the share of the gap that the first step wants to win; it shrinks where a step wins nothing.
	apartStep, apartShrinks, apartGrows = 0.15, 0.8, 1.1
	apartKeeps                          = 0.5  // share of its last direction that a step keeps
	apartLeast                          = 1e-4 // share below which steps are no longer worth it
	apartWork                           = 400  // of a step, for each class on a type
)

// apart holds the types set apart at prices of jobs.
type apart struct {
	parts       []integer.Instance
	prices      []float64 // of a job of each class
	way         []float64 // the direction of the last step
	top         []float64 // the prices of the best bound
	best, share float64
	sharp       bool // numbers of VMs are tried with what they really cost
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

// raise raises the bound by prices of jobs, in one step and as many more as so much work allows.
func (s *fleetSearch) raise(ctx context.Context, a *apart, work int) {
	end := s.work + work
	for step := 0; (step == 0 || s.work < end) && a.share > apartLeast && !s.proved() && !s.done(); step++ {
		bound, missing := s.boundApart(ctx, a)
		s.work += apartWork * s.columns()
		if s.done() { // the types' programs were not solved to the end
			return
		}
		s.bound = max(s.bound, bound)
		if bound > a.best {
			a.best, a.share = bound, min(1, a.share*apartGrows)
			a.top = append(a.top[:0], a.prices...)
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
	sum.Add(s.paidByJobs(prices, missing))
	enough := apartTarget * (s.best.cost - s.bound) / float64(len(a.parts))
	for v, part := range a.parts {
		part.Penalty = prices
		r := integer.P2(ctx, part, func(float64) float64 { return enough })
		least := r.Objective - r.Gap
		if a.sharp && s.types[v].rental.Spot != nil {
			if real, jobs := s.sharp(ctx, v, part, r.VMs, enough); real > least {
				least = real
				if jobs != nil {
					r.Jobs = jobs
				}
			}
		}
		sum.Add(least)
		for i, h := range r.Jobs {
			missing[i] -= float64(h)
		}
	}
	return sum.Value(), missing
}

// paidByJobs returns what classes cost beside what the types take for their jobs, and notes the jobs.
func (s *fleetSearch) paidByJobs(prices, jobs []float64) float64 {
	var sum money.Sum
	for i, price := range prices {
		jobs[i] = float64(s.low[i])
		if price < s.penalty[i] {
			jobs[i] = float64(s.high[i])
		}
		sum.Add((price - s.penalty[i]) * jobs[i])
	}
	if s.root.mu > 0 {
		sum.Add(-s.root.mu * s.budget)
	}
	sum.Add(-integer.GapNoise * s.all)
	return sum.Value()
}

// sharpen raises the bound where VMs with spot cost more than the convex line below them. From the best prices of jobs on,
// it tries the numbers of VMs that could be the cheapest, with what they really cost.
func (s *fleetSearch) sharpen(ctx context.Context, a *apart, work int) {
	spot := slices.ContainsFunc(s.types, func(t vmType) bool { return t.rental.Spot != nil })
	if !spot || a.top == nil {
		return
	}
	a.sharp, a.best, a.share = true, math.Inf(-1), sharpStep
	copy(a.prices, a.top)
	clear(a.way)
	s.raise(ctx, a, work)
}

// sharp returns what no number of VMs of a type costs less than, less what its jobs are worth. It tries those that cost
// least by the linear program of their jobs, and answers the jobs on the cheapest.
func (s *fleetSearch) sharp(ctx context.Context, v int, part integer.Instance, near int64, enough float64) (least float64, jobs []int64) {
	type trial struct {
		vms   int64
		least float64
	}
	rental := &s.types[v].rental
	order := make([]int, 0, len(part.Gamma))
	for i, gamma := range part.Gamma {
		if gamma > 0 && part.High[i] > 0 && part.Penalty[i] > 0 {
			order = append(order, i)
		}
	}
	slices.SortStableFunc(order, func(a, b int) int {
		return cmp.Compare(part.Penalty[b]*part.Gamma[a], part.Penalty[a]*part.Gamma[b])
	})
	free := 0.0
	for i, gamma := range part.Gamma {
		if gamma == 0 {
			free += max(0, part.Penalty[i]) * float64(part.High[i])
		}
	}
	tolerance := float64(s.types[v].loads.Grid.Tolerance) / float64(s.types[v].loads.Grid.PerVM)
	worth, at, next, left := free, 0.0, 0, 0.0
	worthOf := func(n int64) float64 { // of the jobs on so many VMs, which grow from call to call
		for to := float64(n) + tolerance; at < to && next < len(order); {
			i := order[next]
			if left == 0 {
				left = part.Gamma[i] * float64(part.High[i])
			}
			by := min(left, to-at)
			worth += by * part.Penalty[i] / part.Gamma[i]
			at += by
			if left -= by; left <= 0 {
				next, left = next+1, 0
			}
		}
		return worth
	}
	first, last := max(0, near-sharpAround), min(rental.Limit, near+sharpAround)
	found := math.Inf(1)
	var list []trial
	for n := max(0, first-1); n <= min(rental.Limit, last+1); n++ {
		avoided := worthOf(n)
		if n < first || n > last { // the line is convex: what lies beyond costs no less, if it rises towards there
			found = min(found, tierCost(part.Supply, n)-avoided)
			continue
		}
		list = append(list, trial{n, (1+s.root.mu)*rental.Cost(n) - avoided})
	}
	for _, t := range list {
		if t.vms == near && found < t.least { // not the place to look at
			return math.Inf(-1), nil
		}
	}
	slices.SortStableFunc(list, func(a, b trial) int { return cmp.Compare(a.least, b.least) })
	for tried, t := range list {
		if t.least >= found {
			break
		}
		if tried == sharpMost {
			return min(found, t.least), jobs
		}
		fixed := part
		fixed.Supply = []integer.Tier{{VMs: t.vms, Price: 0}}
		r := integer.P2(ctx, fixed, func(float64) float64 { return enough })
		if cost := (1+s.root.mu)*rental.Cost(t.vms) + r.Objective - r.Gap; cost < found {
			found, jobs = cost, r.Jobs
		}
		s.work += apartWork * len(part.Gamma)
	}
	return found, jobs
}

// tierCost returns what VMs cost along tiers.
func tierCost(tiers []integer.Tier, vms int64) (cost float64) {
	for _, t := range tiers {
		n := min(vms, t.VMs)
		cost += t.Price * float64(n)
		vms -= n
	}
	return cost
}

const (
	sharpAround = 24 // VMs more or less that are tried
	sharpMost   = 16 // programs that are solved for it
	sharpStep   = 0.05
)

// pool raises the bound by one type that has the VMs of all: a job takes there what it takes where it takes least. That is
// next to nothing lost where the types differ in their prices alone. There its plan is spread over the types.
func (s *fleetSearch) pool(ctx context.Context, a *apart) (better bool) {
	in := integer.Instance{Penalty: s.penalty, Low: s.low, High: s.high, Gamma: make([]float64, len(s.penalty))}
	var supply []kindTier
	for v := range s.types {
		if s.types[v].loads.Grid.Tolerance != 0 { // of all types together it would be more
			return false
		}
		for _, t := range a.parts[v].Supply {
			supply = append(supply, kindTier{integer.Tier{VMs: t.VMs, Price: t.Price / (1 + s.root.mu)}, v})
		}
	}
	slices.SortStableFunc(supply, func(a, b kindTier) int { return cmp.Compare(a.Price, b.Price) })
	left := s.budget * (1 + budgetNoise)
	for k := range supply { // as many as the budget pays for
		t := &supply[k]
		if most := left / t.Price; t.Price > 0 && most < float64(t.VMs) {
			t.VMs = max(0, int64(most))
		}
		left -= t.Price * float64(t.VMs)
		in.Supply = append(in.Supply, t.Tier)
	}
	alike := true
	for i, on := range s.on {
		for k, v := range on {
			gamma := s.types[v].classes[i].gamma
			alike = alike && (k == 0 || gamma == in.Gamma[i])
			if k == 0 || gamma < in.Gamma[i] {
				in.Gamma[i] = gamma
			}
		}
	}
	r := integer.P2(ctx, in, func(float64) float64 { return poolTarget * (s.best.cost - s.bound) })
	if !r.Feasible || s.done() {
		return false
	}
	s.bound = max(s.bound, r.Objective-r.Gap-integer.GapNoise*s.all)
	if !alike {
		return false
	}
	better = s.spread(supply, &r)
	for _, ease := range poolEases { // what has a little room is spread more easily
		if s.done() || s.proved() {
			break
		}
		eased := in
		eased.Gamma = slices.Clone(in.Gamma)
		for i := range eased.Gamma {
			eased.Gamma[i] *= 1 + ease
		}
		if r := integer.P2(ctx, eased, func(float64) float64 { return poolTarget * (s.best.cost - s.bound) }); r.Feasible {
			better = s.spread(supply, &r) || better
		}
	}
	return better
}

// poolEases are shares by which jobs of a pool take more than they need.
var poolEases = [...]float64{1e-5, 5e-5, 2e-4, 1e-3}

// kindTier is VMs of a type.
type kindTier struct {
	integer.Tier
	kind int
}

// budgetNoise is the share by which a sum of prices may exceed the budget.
const budgetNoise = 1e-12

// spread spreads the jobs of a pool over the types, the largest first, each where most room is left. Jobs that fit nowhere
// are left out, and what room is left goes to others.
func (s *fleetSearch) spread(supply []kindTier, r *integer.Result) (better bool) {
	room, left := make([]int64, len(s.types)), r.VMs
	for _, t := range supply {
		vms := min(left, t.VMs)
		left -= vms
		room[t.kind] += vms * s.types[t.kind].loads.Grid.PerVM
	}
	order := make([]int, len(s.penalty))
	for i := range order {
		order[i] = i
	}
	size := func(i int) float64 {
		if len(s.on[i]) == 0 {
			return 0
		}
		return s.types[s.on[i][0]].classes[i].gamma
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(size(b), size(a)) })
	jobs := make([][]int64, len(s.penalty))
	roomiest := func(i int) bool { // takes one job more
		at := -1
		for _, v := range s.on[i] {
			if units := s.types[v].loads.Units(i, 1); units <= room[v] && (at < 0 || room[v] > room[at]) {
				at = v
			}
		}
		if at >= 0 {
			jobs[i][at]++
			room[at] -= s.types[at].loads.Units(i, 1)
		}
		return at >= 0
	}
	for _, i := range order {
		jobs[i] = make([]int64, len(s.types))
		for range r.Jobs[i] {
			if !roomiest(i) {
				break
			}
		}
		if !s.allows(i, jobs[i]) {
			return false
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(s.penalty[b], s.penalty[a]) })
	for _, i := range order {
		total := int64(0)
		for _, h := range jobs[i] {
			total += h
		}
		for ; total < s.high[i] && roomiest(i); total++ {
		}
	}
	return s.consider(jobs)
}

// poolTarget is the share of the gap to which the program of the pool is solved.
const poolTarget = 1e-4
