package schedule

import (
	"context"

	"example.org/headroom/internal/core/lp"
)

// Offer is VMs that may be bought, beside those of the supply. Each costs Fixed, and Price more in every step in which it is used.
// It can be used in the steps from From on and before Until, which are of one type.
type Offer struct {
	Max          int64
	Fixed, Price float64
	From, Until  int
}

// worth returns what one VM costs less than the prices of VMs in the steps in which it is used. It is bought where that is
// negative.
func (o *Offer) worth(prices []float64) float64 {
	cost := o.Fixed
	for _, price := range prices[o.From:o.Until] {
		cost += min(0, o.Price-price)
	}
	return cost
}

// Proposal holds the VMs of each offer that the linear program buys, in parts, or nil where no engine says. No purchase with any plan
// costs less than Bound, which follows from Prices.
type Proposal struct {
	Bought []float64
	Bound  float64
	Prices []float64
	Engine string
}

// offerRounds are the programs with offers at most. What is bought moves many prices at once, so that more of them are needed.
const offerRounds = 12

// Propose looks for prices of VMs that bound what any purchase with its plan costs, and for the purchase of the linear program.
func (p Problem) Propose(ctx context.Context, solver lp.Solver, o Options) (x Proposal) {
	_, m := begin(ctx, &p)
	prices := m.p
	m.rounds = offerRounds
	if m.solve(ctx, solver, o.lpSeconds()); m.bought != nil {
		prices.climb(ctx, m.least)
	}
	x = Proposal{Bought: m.bought, Prices: prices.prices, Engine: prices.engine}
	x.Bound = p.told(x.Prices, nil)
	return x
}
