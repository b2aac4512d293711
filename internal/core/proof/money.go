package proof

import (
	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/money"
	"example.org/headroom/internal/core/proof/exact"
)

// bill holds the cost of a plan's counts in a period, computed exactly.
type bill struct {
	onDemand, spot, reserved, idle, penalties *exact.Rat
	vms, total, objective                     *exact.Rat
	slack                                     *exact.Rat // error of relaxed plans, whose counts are floats
}

// bill prices the counts.
func (m *model) bill(pl capacity.Plan, a answer) bill {
	b := emptyBill()
	b.rent(m, nil, pl.VMs)
	b.sum(m, a)
	return b
}

func emptyBill() bill {
	return bill{onDemand: zero(), spot: zero(), reserved: zero(), idle: zero(), penalties: zero(), slack: zero()}
}

// rent adds the VMs of one type. A used VM of a contract is reserved under any billing; an unused one of a contract
// billed always is paid idle.
func (b *bill) rent(m *model, offer *spot, vms capacity.VMs) {
	b.onDemand.Add(b.onDemand, mul(mul(amount(m.problem.Supply.OnDemand.Price.Decimal), m.hours), number(vms.OnDemand)))
	if offer != nil {
		b.spot.Add(b.spot, mul(offer.price, number(vms.Spot)))
	}
	used := make(map[string]*exact.Rat, len(vms.Contracts))
	for _, u := range vms.Contracts {
		used[u.Name] = number(u.Used)
	}
	for _, c := range m.problem.Supply.Contracts {
		price, n := mul(amount(c.Price.Decimal), m.hours), used[c.Name]
		if n == nil {
			n = zero()
		}
		b.reserved.Add(b.reserved, mul(price, n))
		if c.Billing == capacity.BilledAlways {
			b.idle.Add(b.idle, mul(price, sub(whole(c.VMs), n)))
		}
	}
}

// sum adds up the rents and the penalties.
func (b *bill) sum(m *model, a answer) {
	b.vms = add(add(b.onDemand, b.spot), add(b.reserved, b.idle))
	avoided := zero()
	for i := range m.classes {
		penalty := m.classes[i].penalty
		b.penalties.Add(b.penalties, mul(penalty, a[i].refused))
		avoided.Add(avoided, mul(penalty, a[i].jobs))
	}
	b.total, b.objective = add(b.vms, b.penalties), sub(b.vms, avoided)
	if m.integrality == capacity.Relaxed {
		b.slack = mul(relative, add(add(b.vms, abs(b.penalties)), abs(avoided)))
	}
}

// yardstick is the amount that a gap is a share of: the objective or, if that is less, the whole cost. Penalties that
// say "never" make objectives large, and a small share of them is worth more than all VMs.
func (b bill) yardstick() *exact.Rat { return smaller(abs(b.objective), b.total) }

// fits reports whether a gap is the share of a distance in the yardstick. If that is zero, the VMs' cost replaces it;
// if that is zero too, any amount is a gap of 1.
func (b bill) fits(gap, distance, slack *exact.Rat) bool {
	size := b.yardstick()
	if amountOf(size).IsZero() {
		size = b.vms
	}
	if amountOf(size).IsZero() {
		return gap.Sign() == 0 && distance.Cmp(larger(smallest, slack)) <= 0 || gap.Cmp(whole(1)) == 0 && distance.Cmp(slack) > 0
	}
	return gap.Sign() >= 0 && abs(sub(mul(gap, size), distance)).Cmp(larger(slack, smallest)) <= 0
}

// noise returns the error of a bound from floating point.
func (b bill) noise() *exact.Rat {
	return add(b.slack, add(mul(relative, b.yardstick()), mul(digits, sub(b.total, b.objective))))
}

// money compares every amount of the plan with the bill. An amount may be rounded to money's nine places, and a sum
// may be that of the rounded lines shown.
func (m *model) money(pl capacity.Plan, b bill) []string {
	var f faults
	c := pl.Cost
	line := func(what string, shown money.Amount, slack *exact.Rat, exact ...*exact.Rat) {
		tolerance := add(halfUnit, slack)
		for _, x := range exact {
			if abs(sub(amount(shown.Decimal), x)).Cmp(tolerance) <= 0 {
				return
			}
		}
		f.addf("%s is %s, not %s.", what, amountOf(exact[0]), shown)
	}
	line("The cost on demand", c.OnDemand, b.slack, b.onDemand)
	line("The cost of spot VMs", c.Spot, b.slack, b.spot)
	line("The cost of reserved VMs", c.Reserved, b.slack, b.reserved)
	line("The cost of idle reserved VMs", c.ReservedIdle, b.slack, b.idle)
	line("The sum of penalties", c.Penalties, b.slack, b.penalties)
	lines := zero()
	for _, x := range []money.Amount{c.OnDemand, c.Spot, c.Reserved, c.ReservedIdle} {
		lines.Add(lines, amount(x.Decimal))
	}
	line("The bill", c.Bill, b.slack, b.vms, lines)
	line("The total", c.Total, b.slack, b.total, add(lines, amount(c.Penalties.Decimal)))
	all := zero() // the penalties of refusing all jobs
	for i := range m.classes {
		all.Add(all, mul(m.classes[i].penalty, m.classes[i].max))
	}
	line("The objective", pl.Objective, b.slack, b.objective, sub(amount(c.Total.Decimal), all))
	month := whole(capacity.HoursPerMonth)
	perHour := quo(b.total, m.hours)
	hourSlack := quo(b.slack, m.hours)
	line("The cost an hour", c.PerHour, hourSlack, perHour, quo(amount(c.Total.Decimal), m.hours))
	line("The cost a month", c.PerMonth, mul(hourSlack, month), mul(perHour, month),
		mul(amount(c.PerHour.Decimal), month), mul(quo(amount(c.Total.Decimal), m.hours), month))
	if c.Currency != m.problem.Currency || c.PeriodSeconds != m.problem.PeriodSeconds {
		f.addf("The cost is in %s a %d s, the problem in %s a %d s.", c.Currency, c.PeriodSeconds, m.problem.Currency, m.problem.PeriodSeconds)
	}
	return f
}
