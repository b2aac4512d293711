package horizon

import (
	"context"
	"math"
	"slices"

	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/money"
	"example.org/headroom/internal/core/plan"
	"example.org/headroom/internal/core/plan/integer"
)

// Purchases are weighed on a convex program that is never dearer than the plans. In every situation each class's jobs
// and loads are replaced by the convex hull of its own, and VMs may be fractions. For whole slots that is the hull of
// the loads that whole slots really take, which is much nearer than gamma·jobs. The program's value is convex and
// piecewise linear in the VMs bought, and its prices of capacity prove a bound for every purchase at once (see bound).

// weighing is a purchase question made ready.
type weighing struct {
	question *PurchaseQuestion
	calendar *calendar
	core     *plan.Recurring // classes with the most jobs they ever have
	offers   []weighed
	byPrice  []int // offers by price at the margin
	stages   []stage
	worths   []plan.Worth // by demand of the calendar
	shortage float64      // the price of a VM that is missing for promised jobs, see newWeighing
	constant float64      // what the horizon costs in any case: contracts billed always, upfront payments of signed ones
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
	scale   float64        // periods of the problem in all its time
	tiers   []integer.Tier // without offers, by price
	offered []bool         // by offer
}

// lowest is the convex program's cost of a stage, per period, when so many VMs of each offer are bought, and
// a price of capacity that proves it. VMs are taken by rising price, by the promised jobs and then by the
// steps by falling worth.
func (w *weighing) lowest(s *stage, bought []float64) (cost, price float64) {
	worth := &w.worths[s.demand]
	need := max(0, worth.Floor-plan.CapacityNoise) // of promised jobs not yet served
	at, left := 0, 0.0                             // the step whose VMs are taken, and how many of them are to come
	if len(worth.Steps) > 0 {
		left = worth.Steps[0].VMs
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
		for at < len(worth.Steps) && worth.Steps[at].Each > p && size > 0 {
			take := min(left, size)
			cost += p * take
			left, size, price = left-take, size-take, p
			if left == 0 {
				if at++; at < len(worth.Steps) {
					left = worth.Steps[at].VMs
				}
			}
		}
		switch {
		case at == len(worth.Steps):
			return cost + worth.Refused(at, 0), price
		case worth.Steps[at].Each <= p:
			return cost + worth.Refused(at, left), max(price, worth.Steps[at].Each)
		}
	}
}

// proved returns a lower bound on the cost of a stage per period, for any purchase, less the most that each VM bought
// may save. It follows from the price of capacity alone.
func (w *weighing) proved(s *stage, price float64) float64 {
	worth := &w.worths[s.demand]
	served, vms := 0, worth.Floor-plan.CapacityNoise
	for ; served < len(worth.Steps) && worth.Steps[served].Each > price; served++ {
		vms += worth.Steps[served].VMs
	}
	cost := worth.Rest[served] + price*vms
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
		if t.VMs >= integer.Unlimited {
			return t.Price
		}
	}
	return math.Inf(1)
}

// bound returns a lower bound on the cost of every purchase, by one price of capacity for each stage. At these prices
// the savings of one VM bought are known, so each offer is decided on its own. Any prices prove a bound; good ones
// prove a good one. Nothing of the search enters here.
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

// boundNoise is the float64 error of a bound, relative to all its terms.
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
