package plan

import (
	"cmp"
	"context"
	"math"
	"slices"

	"headroom/internal/core/capacity"
	"headroom/internal/core/money"
)

// What is bought is weighed on a convex program that is never dearer than the plans: in every situation each
// class's jobs and loads are replaced by the convex hull of its own (for whole slots the hull of the loads
// that whole slots really take, which is much nearer than gamma·jobs), and VMs may be fractions. Its value is
// convex and piecewise linear in what is bought, and its prices of capacity prove a bound for every purchase
// at once (see bound).

// weighing is a purchase question made ready.
type weighing struct {
	question *capacity.PurchaseQuestion
	calendar *calendar
	base     *model // classes with the most jobs they ever have; no tiers
	offers   []weighed
	byPrice  []int // offers by price at the margin
	stages   []stage
	curves   []demandCurve // by demand of the calendar
	shortage float64       // the price of a VM that is missing for promised jobs, see newWeighing
	constant float64       // what the horizon costs in any case: contracts billed always, upfront payments of signed ones
	crew     Crew
	kept     keptValues
	told     func(share float64) // how far the part is that is worked on
	solved   int                 // stages, for that
}

// weighed is an offer as it counts in the horizon.
type weighed struct {
	price   float64 // per VM and period of the problem, at the margin
	certain float64 // per VM for the whole horizon: upfront, and the hours billed always
	most    int64
}

// stage is a situation of the calendar as the program sees it.
type stage struct {
	*situation
	scale   float64 // periods of the problem in all its time
	tiers   []Tier  // without offers, by price
	offered []bool  // by offer
}

// demandCurve is what jobs are worth by the VMs there are for them, convexified.
type demandCurve struct {
	floor      float64 // VMs of the promised jobs
	never      float64 // penalties of jobs that cannot be served at all
	all        float64 // penalties when nothing is served
	most       int64   // no plan needs more VMs
	steps      []worthStep
	rest       []float64 // penalties when the first steps are served: of none, of one, … of all, which leaves never
	impossible bool      // a promised class cannot meet its deadline
}

// refused is the penalties left when the steps before one are served and so many of its VMs are still missing.
// They are summed up and not what remains of a difference: penalties that say "never refuse" are so much larger
// than what VMs cost that a difference would have no digit of it.
func (c *demandCurve) refused(step int, missing float64) float64 {
	if step == len(c.steps) {
		return c.rest[step]
	}
	return c.rest[step+1] + c.steps[step].worth*missing
}

// worthStep is VMs whose jobs avoid so much penalty each.
type worthStep struct{ vms, worth float64 }

// capacityNoise, in VMs, is more than any grid lets a load exceed its VMs by: what the bound allows for.
const capacityNoise = 1.5 * loadNoise

// lowest is the convex program's cost of a stage, per period, when so many VMs of each offer are bought, and
// a price of capacity that proves it. VMs are taken by rising price, by the promised jobs and then by the
// steps by falling worth.
func (w *weighing) lowest(s *stage, bought []float64) (cost, price float64) {
	curve := &w.curves[s.demand]
	need := max(0, curve.floor-capacityNoise) // of promised jobs not yet served
	at, left := 0, 0.0                        // the step whose VMs are taken, and how many of them are to come
	if len(curve.steps) > 0 {
		left = curve.steps[0].vms
	}
	tier, offer := 0, 0
	for {
		p, size := w.shortage, math.Inf(1)
		for offer < len(w.byPrice) && !s.offered[w.byPrice[offer]] {
			offer++
		}
		switch {
		case tier < len(s.tiers) && (offer == len(w.byPrice) || s.tiers[tier].Price <= w.offers[w.byPrice[offer]].price):
			p, size = s.tiers[tier].Price, float64(s.tiers[tier].VMs)
			tier++
		case offer < len(w.byPrice):
			p, size = w.offers[w.byPrice[offer]].price, bought[w.byPrice[offer]]
			offer++
		}
		if take := min(need, size); take > 0 {
			cost += p * take
			need, size, price = need-take, size-take, p
		}
		if need > 0 {
			continue
		}
		for at < len(curve.steps) && curve.steps[at].worth > p && size > 0 {
			take := min(left, size)
			cost += p * take
			left, size, price = left-take, size-take, p
			if left == 0 {
				if at++; at < len(curve.steps) {
					left = curve.steps[at].vms
				}
			}
		}
		switch {
		case at == len(curve.steps):
			return cost + curve.refused(at, 0), price
		case curve.steps[at].worth <= p:
			return cost + curve.refused(at, left), max(price, curve.steps[at].worth)
		}
	}
}

// proved is what a stage costs per period at least, whatever is bought, less what each VM bought may save: by
// its price of capacity alone.
func (w *weighing) proved(s *stage, price float64) float64 {
	curve := &w.curves[s.demand]
	served, vms := 0, curve.floor-capacityNoise
	for ; served < len(curve.steps) && curve.steps[served].worth > price; served++ {
		vms += curve.steps[served].vms
	}
	cost := curve.rest[served] + price*vms
	for _, t := range s.tiers {
		if t.Price < price {
			cost -= (price - t.Price) * float64(t.VMs)
		}
	}
	return cost
}

// ceiling is the most a VM can be worth in a stage: the price of a tier that never runs out.
func (s *stage) ceiling() float64 {
	for _, t := range s.tiers {
		if t.VMs >= Unlimited {
			return t.Price
		}
	}
	return math.Inf(1)
}

// bound is the least that any purchase can cost, by one price of capacity for each stage: what one VM bought
// saves at these prices is known, and buying it or not is then decided offer by offer. Any prices prove a
// bound; good ones prove a good one. Nothing of the search enters here.
func (w *weighing) bound(prices []float64) float64 {
	var sum, size money.Sum
	sum.Add(w.constant)
	saved := make([]money.Sum, len(w.offers))
	for i := range w.stages {
		s := &w.stages[i]
		price := min(max(0, prices[i]), s.ceiling())
		cost := s.scale * w.proved(s, price)
		sum.Add(cost)
		size.Add(math.Abs(cost))
		for k, o := range w.offers {
			if s.offered[k] && o.price < price {
				saved[k].Add(s.scale * (price - o.price))
			}
		}
	}
	for k, o := range w.offers {
		if net := o.certain - saved[k].Value(); net < 0 {
			sum.Add(net * float64(o.most))
			size.Add(-net * float64(o.most))
		}
	}
	return sum.Value() - boundNoise*size.Value()
}

// boundNoise, relative to all terms of a bound, is what their float64 may be wrong by.
const boundNoise = 1e-12

// cut is a straight line that the convex program's cost is nowhere below: its value at a purchase, and how
// it changes with each VM bought.
type cut struct {
	at    []float64
	value float64
	slope []float64
	short bool // promised jobs do not fit there
}

// cutAt is the convex program's cost of the horizon, and the line that touches it there.
func (w *weighing) cutAt(ctx context.Context, bought []float64) (cut, error) {
	const chunk = 512 // stages summed by themselves, so that the sum is the same for any number of workers
	n := (len(w.stages) + chunk - 1) / chunk
	parts := make([]cut, n)
	err := each(ctx, n, w.crew, nil, func(ctx context.Context, part int) error {
		var sum money.Sum
		slope, short := make([]float64, len(w.offers)), false
		for i := part * chunk; i < min(len(w.stages), (part+1)*chunk); i++ {
			if i%64 == 0 {
				_ = capacity.Pause(ctx)
			}
			s := &w.stages[i]
			cost, price := w.lowest(s, bought)
			sum.Add(s.scale * cost)
			short = short || price == w.shortage
			for k, o := range w.offers {
				if s.offered[k] && o.price < price {
					slope[k] -= s.scale * (price - o.price)
				}
			}
		}
		parts[part] = cut{value: sum.Value(), slope: slope, short: short}
		return nil
	})
	c := cut{at: slices.Clone(bought), slope: make([]float64, len(w.offers))}
	var sum money.Sum
	sum.Add(w.constant)
	for _, part := range parts {
		sum.Add(part.value)
		c.short = c.short || part.short
		for k, x := range part.slope {
			c.slope[k] += x
		}
	}
	for k, o := range w.offers {
		sum.Add(o.certain * bought[k])
		c.slope[k] += o.certain
	}
	c.value = sum.Value()
	return c, err
}

// pricesAt is the prices of capacity of all stages, averaged over some purchases: what proves as much as the
// cuts there do together, or more.
func (w *weighing) pricesAt(cuts []cut, share []float64) []float64 {
	prices := make([]float64, len(w.stages))
	for j, c := range cuts {
		if share[j] <= 0 {
			continue
		}
		for i := range w.stages {
			_, price := w.lowest(&w.stages[i], c.at)
			prices[i] += share[j] * price
		}
	}
	return prices
}

// hullMostJobs bounds the job counts of one class whose loads are looked at one by one; the straight line
// through gamma bounds those of larger classes.
const hullMostJobs = 1 << 12

// hulls makes demand curves; what it has found out about a class with so many jobs is kept.
type hulls struct {
	model *model
	loads *slotLoads
	known map[[3]int64]classHull
}

// classHull is a class's part of a demand curve.
type classHull struct {
	floor, most float64
	steps       []worthStep
}

func newHulls(m *model) *hulls {
	h := &hulls{model: m, known: make(map[[3]int64]classHull)}
	if m.wholeLoads() {
		shared := *m
		shared.Problem = new(capacity.Problem)
		*shared.Problem = *m.Problem
		shared.Options.Sharing = capacity.Shared // whole VMs per class are made below, without a grid's tolerance
		h.loads = shared.newOptions(m.Options.Integrality == capacity.Executable).loader.(*slotLoads)
	}
	return h
}

// wholeLoads says that the load of a class's jobs is not a multiple of one job's.
func (m *model) wholeLoads() bool {
	return m.Options.Integrality == capacity.Executable || m.Options.Integrality == capacity.Integer && m.Options.Sharing == capacity.Dedicated
}

// load is what so many jobs take at least, in VMs.
func (h *hulls) load(class int, jobs int64) float64 {
	if jobs == 0 {
		return 0
	}
	vms := float64(h.loads.units(class, jobs)) / float64(h.loads.fine.perVM)
	if h.model.Options.Sharing == capacity.Dedicated {
		return max(0, math.Ceil(vms-capacityNoise))
	}
	return vms
}

func (h *hulls) class(i int, low, high float64) classHull {
	c := &h.model.classes[i]
	if h.loads == nil || high-low > hullMostJobs || c.gamma == 0 {
		line := classHull{floor: c.gamma * low, most: c.gamma * high}
		if c.gamma > 0 && (high-low)*c.penalty > 0 { // without load they are served for nothing
			line.steps = []worthStep{{c.gamma * (high - low), c.penalty / c.gamma}}
		}
		if h.loads != nil {
			line.most += mostRounding
		}
		return line
	}
	key := [3]int64{int64(i), int64(low), int64(high)}
	if known, seen := h.known[key]; seen {
		return known
	}
	var found classHull
	found.floor, found.most = h.load(i, key[1]), h.load(i, key[2])
	// The jobs at the corners of the upper hull of penalties avoided over load.
	jobs, loads := []int64{key[1]}, []float64{found.floor}
	for n := key[1] + 1; n <= key[2] && c.penalty > 0; n++ {
		load := max(h.load(i, n), loads[len(loads)-1])
		for k := len(jobs) - 1; k >= 0; k-- {
			if load > loads[k] && (k == 0 || float64(n-jobs[k])*(loads[k]-loads[k-1]) <= float64(jobs[k]-jobs[k-1])*(load-loads[k])) {
				break
			}
			jobs, loads = jobs[:k], loads[:k]
		}
		jobs, loads = append(jobs, n), append(loads, load)
	}
	for k := 1; k < len(jobs); k++ {
		vms := loads[k] - loads[k-1]
		found.steps = append(found.steps, worthStep{vms, c.penalty * float64(jobs[k]-jobs[k-1]) / vms})
	}
	h.known[key] = found
	return found
}

// curve is what the jobs of a demand are worth.
func (h *hulls) curve(jobs []capacity.JobRange) demandCurve {
	var d demandCurve
	most := 1.0
	for i := range h.model.classes {
		c := &h.model.classes[i]
		j := jobs[c.index]
		d.all += c.penalty * j.Max
		if c.impossible {
			d.never += c.penalty * j.Max
			d.impossible = d.impossible || j.Min > 0
			continue
		}
		part := h.class(i, j.Min, j.Max)
		d.floor += part.floor
		most += part.most
		d.steps = append(d.steps, part.steps...)
	}
	d.most = int64(math.Ceil(most))
	slices.SortStableFunc(d.steps, func(a, b worthStep) int { return cmp.Compare(b.worth, a.worth) })
	d.steps = slices.Clip(d.steps)
	d.rest = make([]float64, len(d.steps)+1)
	d.rest[len(d.steps)] = d.never
	for k := len(d.steps) - 1; k >= 0; k-- {
		d.rest[k] = d.rest[k+1] + d.steps[k].worth*d.steps[k].vms
	}
	return d
}
