package plan

import (
	"math"

	"github.com/shopspring/decimal"

	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/money"
)

// Of two plans the one with more VMs only loses as the price on demand grows: every VM more costs no less then. So the
// prices at which a plan is the best are a range, and any other plan is better on one side of one price alone.

// maxPricePlans bounds the plans that are made for one end of the range of prices.
const maxPricePlans = 24

// pricesBeside looks for the prices at which other plans are better, for VMs of one type.
type pricesBeside struct {
	*counterfactual
	*besideOne
}

// onDemand is the range of the price on demand in which the plan stays the best; nil where that was not worked out.
func (k *pricesBeside) onDemand() *capacity.MoneyRange {
	high, known := k.price(money.MaxDecimal)
	if !known {
		return nil
	}
	low, known := k.price(decimal.Zero)
	if !known {
		return nil
	}
	return &capacity.MoneyRange{Low: low, High: high}
}

// price is the price between the plan's own and a limit beyond which another plan is better; nil where there is none.
func (k *pricesBeside) price(limit decimal.Decimal) (at *money.Amount, known bool) {
	own := k.Supply.OnDemand.Price.Decimal
	if own.Equal(limit) {
		return nil, true
	}
	try, refused := limit, k.refusedValue()
	var breaks []decimal.Decimal
	for _, c := range k.Supply.Contracts {
		breaks = append(breaks, c.Price.Decimal)
	}
	other := k.neighbourAt(limit, refused)
	for range maxPricePlans {
		guessed := other != nil
		if !guessed {
			changed, _ := k.atPrice(try)
			pl, err := k.series.Solve(k.besideOne.ctx, *changed)
			if err != nil || pl.Proof != nil && pl.Proof.Gap > 0 {
				return nil, false
			}
			other = &rented{vms: int64(pl.VMs.Total), refused: pl.Cost.Penalties.Decimal, none: pl.Status == capacity.InfeasibleStatus}
		}
		theirs := *other
		other = nil
		// better says whether the other plan is, at a price, and by how much this one costs more.
		better := func(price decimal.Decimal) (is bool, by decimal.Decimal) {
			_, m := k.atPrice(price)
			mine, affordable := k.total(m, k.besideOne.plan.VMs, refused)
			if !affordable || theirs.none {
				return !affordable, by
			}
			cost, affordable := k.total(m, theirs.vms, theirs.refused)
			by = mine.Sub(cost)
			return affordable && by.GreaterThan(meetNoise), by
		}
		if is, _ := better(try); !is && guessed {
			continue // it takes VMs that are cheaper than those whose price changes
		} else if !is {
			return at, true
		}
		good := meets(own, try, breaks, k.Budget == nil, better)
		at = &money.Amount{Decimal: good}
		if good.Equal(own) || try.Equal(good) {
			return at, true
		}
		try = good
	}
	return nil, false
}

// rented is a plan as money sees it: its VMs, and the worth of the jobs that it refuses.
type rented struct {
	vms     int64
	refused decimal.Decimal
	none    bool // there is no plan
}

// neighbourAt is a plan with a job more or less of a class that is better at a limit of the price. Of those known it is the
// one that is better soonest on the way there, as far as a line says. It saves most plans that a search from the limit
// would make; nil where none is known.
func (k *pricesBeside) neighbourAt(limit, refused decimal.Decimal) (best *rented) {
	own, soonest := k.Supply.OnDemand.Price.Decimal, math.Inf(1)
	if k.Budget != nil {
		return nil
	}
	dearer := limit.GreaterThan(own)
	onDemand := func(vms int64) float64 { return k.vms(float64(vms)).OnDemand }
	mine := onDemand(k.besideOne.plan.VMs)
	for i := range k.out {
		for _, f := range [2]*other{k.out[i].withMore, k.out[i].withLess} {
			c := &k.classes[i]
			if f == nil || !f.feasible || f.jobs < int64(c.Jobs.Min) || f.jobs > int64(c.Jobs.Max) {
				continue // a plan of another problem
			}
			more := onDemand(f.one.VMs) - mine
			if more == 0 || (more < 0) != dearer {
				continue
			}
			value := f.others.Sub(c.Penalty.Mul(decimal.NewFromInt(f.jobs - k.jobs[i])))
			if after := f.bill.Add(value).InexactFloat64() / math.Abs(more); after < soonest {
				soonest, best = after, &rented{vms: f.one.VMs, refused: refused.Add(value)}
			}
		}
	}
	return best
}

// meets is the last price, on the way from one at which this plan is the better to one at which another is, at which it
// still is. Between the prices at which other VMs are cheaper, both plans cost what lines say, unless there is a budget.
func meets(good, bad decimal.Decimal, breaks []decimal.Decimal, lines bool, better func(price decimal.Decimal) (is bool, by decimal.Decimal)) decimal.Decimal {
	for _, price := range breaks {
		if price.Sub(good).Mul(price.Sub(bad)).Sign() < 0 {
			if is, _ := better(price); is {
				bad = price
			} else {
				good = price
			}
		}
	}
	_, from := better(good)
	if _, to := better(bad); lines && from.Sign() <= 0 && to.Sign() > 0 {
		return good.Add(bad.Sub(good).Mul(from.Neg()).Div(to.Sub(from))).Round(money.Places)
	}
	two := decimal.NewFromInt(2)
	for range 200 { // what a budget pays for changes at a price of its own
		middle := good.Add(bad).Div(two).Round(money.Places)
		if middle.Equal(good) || middle.Equal(bad) {
			break
		}
		if is, _ := better(middle); is {
			bad = middle
		} else {
			good = middle
		}
	}
	return good
}

// atPrice is the problem at a price on demand, and as much of its model as money needs.
func (k *pricesBeside) atPrice(price decimal.Decimal) (*capacity.Problem, *model) {
	changed := k.series.base
	changed.Supply.OnDemand.Price = money.Amount{Decimal: price}
	m := &model{Problem: &changed, hours: k.hours}
	m.addSupply()
	return &changed, m
}

// total returns the cost of so many VMs and the refused jobs by a model's prices. It says if the budgets pay for it.
func (k *pricesBeside) total(m *model, vms int64, refused decimal.Decimal) (total decimal.Decimal, affordable bool) {
	hourly, b := m.hourly(m.vms(float64(vms))), m.Budget
	total = m.unrounded(hourly).Add(refused)
	return total, b.PaysForVMs(hourly.sum(), m.PeriodSeconds) && (b == nil || b.Total == nil || total.LessThanOrEqual(b.Total.Decimal))
}
