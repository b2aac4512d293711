package proof

import (
	"math/big"

	"headroom/internal/core/capacity"
)

// rental checks the sources of a type's VMs: the counts, and that the same number cannot cost less.
func (t *vmType) rental(pl capacity.Plan) []string {
	var f faults
	total := number(pl.VMs.Total)
	slack := zero()
	if t.integrality == capacity.Relaxed {
		slack = mul(relative, add(whole(1), abs(total)))
	}
	taken := func(name string, vms float64) *big.Rat {
		x := number(vms)
		if x.Sign() < 0 || t.integrality != capacity.Relaxed && !x.IsInt() {
			f.addf("%v VMs cannot be rented from %s.", vms, name)
		}
		return x
	}
	contracts := t.problem.Supply.Contracts
	if len(pl.VMs.Contracts) != len(contracts) {
		f.addf("There are %s, and the plan has %d.", count(len(contracts), "contract", "contracts"), len(pl.VMs.Contracts))
		return f
	}
	reserved, cost := zero(), zero()
	for k, u := range pl.VMs.Contracts {
		c := contracts[k]
		if u.Name != c.Name {
			f.addf("In place %d stands contract %s, not %s.", k, u.Name, c.Name)
			return f
		}
		if number(u.VMs).Cmp(whole(c.VMs)) != 0 {
			f.addf("Contract %s has %d VMs, not %v.", c.Name, c.VMs, u.VMs)
		}
		used := taken("contract "+u.Name, u.Used)
		if less(add(whole(c.VMs), slack), used) {
			f.addf("%s VMs are taken from contract %s, which has %d.", short(used), c.Name, c.VMs)
		}
		reserved.Add(reserved, used)
		if c.Billing != capacity.BilledAlways {
			cost.Add(cost, mul(mul(amount(c.Price.Decimal), t.hours), used))
		}
	}
	onDemand, offered := taken("on-demand", pl.VMs.OnDemand), t.problem.Supply.OnDemand
	if q := offered.Quota; q != nil && less(add(whole(*q), slack), onDemand) {
		f.addf("%s VMs are taken on demand, and the quota is %d.", short(onDemand), *q)
	}
	cost.Add(cost, mul(mul(amount(offered.Price.Decimal), t.hours), onDemand))
	bought := taken("spot", pl.VMs.Spot)
	if t.spot == nil && bought.Sign() != 0 {
		f.addf("%v spot VMs are taken, and none are offered.", pl.VMs.Spot)
	} else if t.spot != nil {
		if highest := t.share(total); less(add(highest, slack), bought) {
			f.addf("%v of %v VMs are spot, and at most %s may be.", pl.VMs.Spot, pl.VMs.Total, short(highest))
		}
		cost.Add(cost, mul(t.spot.price, bought))
	}
	taken("everywhere", pl.VMs.Total)
	if abs(sub(number(pl.VMs.Reserved), reserved)).Cmp(slack) > 0 {
		f.addf("The contracts add up to %s reserved VMs, not %v.", short(reserved), pl.VMs.Reserved)
	}
	if sum := add(add(reserved, onDemand), bought); abs(sub(total, sum)).Cmp(slack) > 0 {
		f.addf("%v VMs are not the %s reserved, on demand and spot together.", pl.VMs.Total, short(sum))
	}
	if len(f) > 0 {
		return f
	}
	lowest, ok := t.cheapest(smaller(total, t.limit(total)))
	tolerance := zero()
	if slack.Sign() > 0 {
		tolerance = add(mul(relative, cost), mul(slack, t.dearest()))
	}
	if ok && less(add(lowest, tolerance), cost) {
		f.addf("%v VMs can be rented for %s, not %s.", pl.VMs.Total, amountOf(lowest), amountOf(cost))
	}
	return f
}

// dearest returns the highest price of a VM of the type.
func (t *vmType) dearest() *big.Rat {
	highest := zero()
	for _, s := range t.supply {
		highest = larger(highest, s.price)
	}
	if t.spot != nil {
		highest = larger(highest, t.spot.price)
	}
	return highest
}

// share returns the number of spot VMs allowed among n, a whole one unless the plan is relaxed.
func (t *vmType) share(n *big.Rat) *big.Rat {
	if t.spot == nil {
		return zero()
	}
	highest := mul(t.spot.share, n)
	if t.integrality != capacity.Relaxed {
		highest = new(big.Rat).SetInt(floor(highest))
	}
	return highest
}

// cheapest returns the smallest cost of n VMs of the type, without fixed costs; false if there are not that many. The
// VMs that may not be spot come from contracts and on-demand, the cheapest first. The rest comes from what is left of
// these as long as it costs no more than spot, and from spot.
func (t *vmType) cheapest(n *big.Rat) (*big.Rat, bool) {
	cost, rest := zero(), t.share(n)
	steady := sub(n, rest)
	for _, s := range t.supply {
		left := new(big.Rat).Set(s.vms)
		if s.unlimited {
			left = add(steady, rest)
		}
		take := smaller(left, steady)
		steady = sub(steady, take)
		if left = sub(left, take); t.spot != nil && s.price.Cmp(t.spot.price) <= 0 {
			more := smaller(left, rest)
			rest = sub(rest, more)
			take = add(take, more)
		}
		cost.Add(cost, mul(take, s.price))
	}
	if rest.Sign() > 0 {
		cost.Add(cost, mul(rest, t.spot.price))
	}
	return cost, steady.Sign() <= 0
}

// limit returns the largest number of VMs of the type that can be rented, at most need.
func (t *vmType) limit(need *big.Rat) *big.Rat {
	steady, bounded := t.existing()
	if !bounded {
		return need
	}
	if t.spot == nil {
		return smaller(need, steady)
	}
	if t.spot.share.Cmp(whole(1)) >= 0 {
		return need
	}
	highest := quo(steady, sub(whole(1), t.spot.share)) // (1-share) of them are steady
	if t.integrality != capacity.Relaxed {
		highest = new(big.Rat).SetInt(floor(highest))
	}
	return smaller(need, highest)
}

// line is a number of VMs at one price each; a nil length has no end.
type line struct{ length, price *big.Rat }

// lines returns the cost of fractional VMs, of which a share may be spot: contracts that are cheaper than spot, then
// spot up to its share of these, then both in proportion. It is convex and never above the cost of whole VMs, whose
// share is rounded down.
func (t *vmType) lines() (lines []line) {
	length := func(s source) *big.Rat {
		if s.unlimited {
			return nil
		}
		return s.vms
	}
	if t.spot == nil || t.spot.share.Sign() == 0 {
		for _, s := range t.supply {
			lines = append(lines, line{length(s), s.price})
		}
		return lines
	}
	steady, cheap, mixing := sub(whole(1), t.spot.share), zero(), false
	for _, s := range t.supply {
		if !mixing && s.price.Cmp(t.spot.price) > 0 {
			mixing = true
			if steady.Sign() <= 0 {
				return append(lines, line{nil, t.spot.price})
			}
			lines = append(lines, line{quo(mul(cheap, t.spot.share), steady), t.spot.price})
		}
		own := length(s)
		if !mixing {
			lines = append(lines, line{own, s.price})
			if own == nil {
				return lines
			}
			cheap.Add(cheap, own)
			continue
		}
		if own != nil {
			own = quo(own, steady)
		}
		lines = append(lines, line{own, add(mul(t.spot.share, t.spot.price), mul(steady, s.price))})
	}
	if !mixing && steady.Sign() <= 0 {
		return append(lines, line{nil, t.spot.price})
	}
	if !mixing {
		lines = append(lines, line{quo(mul(cheap, t.spot.share), steady), t.spot.price})
	}
	return lines
}

// mostSplits bounds the ways to split VMs over types that Rents tries.
const mostSplits = 100_000

// Rents reports whether so many VMs can cost a bill in a period, each type's rented at the least cost. It does not rule out
// what it does not know: fractions of VMs of several types, and very many ways to split them.
func Rents(p capacity.Problem, vms float64, bill *big.Rat) bool {
	if !finite(vms) || len(readable(p)) > 0 {
		return false
	}
	if !isFleet(p) {
		if s := newModel(p, nil).shortage(); s.known && less(number(vms), s.low) {
			return false // the promised jobs need more
		}
	}
	f, tried := newFleet(p, nil), 0
	n, left := number(vms), sub(bill, f.fixed)
	slack := add(roundings, mul(relative, add(bill, f.fixed)))
	if f.integrality == capacity.Relaxed {
		slack = mul(add(whole(1), add(n, bill)), big.NewRat(1, 1e6))
		if len(f.types) > 1 {
			return less(left, add(mul(n, f.dearest()), slack))
		}
	} else if !n.IsInt() || !n.Num().IsInt64() {
		return false
	}
	var split func(v int, n, left *big.Rat) bool
	split = func(v int, n, left *big.Rat) bool {
		t := &f.types[v]
		if v == len(f.types)-1 {
			cost, ok := t.cheapest(n)
			tried++
			return ok && abs(sub(cost, left)).Cmp(slack) <= 0
		}
		for k := int64(0); k <= n.Num().Int64(); k++ {
			cost, ok := t.cheapest(whole(k))
			if !ok || less(add(left, slack), cost) {
				return false
			}
			if tried > mostSplits || split(v+1, sub(n, whole(k)), sub(left, cost)) {
				return true
			}
		}
		return false
	}
	return split(0, n, left)
}
