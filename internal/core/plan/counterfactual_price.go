package plan

import (
	"github.com/shopspring/decimal"

	"headroom/internal/core/capacity"
	"headroom/internal/core/money"
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
	for range maxPricePlans {
		changed, _ := k.atPrice(try)
		other, err := k.series.Solve(k.besideOne.ctx, *changed)
		if err != nil || other.Proof != nil && other.Proof.Gap > 0 {
			return nil, false
		}
		// better says whether the other plan is, at a price, and by how much this one costs more.
		better := func(price decimal.Decimal) (is bool, by decimal.Decimal) {
			_, m := k.atPrice(price)
			mine, affordable := k.total(m, k.besideOne.plan.VMs, refused)
			if !affordable || other.Status == capacity.InfeasibleStatus {
				return !affordable, by
			}
			theirs, affordable := k.total(m, int64(other.VMs.Total), other.Cost.Penalties.Decimal)
			by = mine.Sub(theirs)
			return affordable && by.GreaterThan(meetNoise), by
		}
		if is, _ := better(try); !is {
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
	total = m.unrounded(m.hourly(m.vms(float64(vms)))).Add(refused)
	b := m.Budget
	return total, b == nil || (b.VMCost == nil || total.Sub(refused).LessThanOrEqual(b.VMCost.Decimal)) && (b.Total == nil || total.LessThanOrEqual(b.Total.Decimal))
}
