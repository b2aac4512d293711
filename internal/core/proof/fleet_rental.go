package proof

import (
	"math"
	"math/big"

	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/proof/exact"
)

// rental checks the sources of a type's VMs: the counts, and that the same number cannot cost less.
func (t *vmType) rental(pl capacity.Plan) []string {
	var f faults
	total := number(pl.VMs.Total)
	slack := zero()
	if t.integrality == capacity.Relaxed {
		slack = mul(relative, add(whole(1), abs(total)))
	}
	taken := func(name string, vms float64) *exact.Rat {
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
func (t *vmType) dearest() *exact.Rat {
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
func (t *vmType) share(n *exact.Rat) *exact.Rat {
	if t.spot == nil {
		return zero()
	}
	highest := mul(t.spot.share, n)
	if t.integrality != capacity.Relaxed {
		highest = new(exact.Rat).SetInt(highest.Floor())
	}
	return highest
}

// cheapest returns the smallest cost of n VMs of the type, without fixed costs; false if there are not that many. The
// VMs that may not be spot come from contracts and on-demand, the cheapest first. The rest comes from what is left of
// these as long as it costs no more than spot, and from spot.
func (t *vmType) cheapest(n *exact.Rat) (*exact.Rat, bool) {
	cost, rest := zero(), t.share(n)
	steady := sub(n, rest)
	for _, s := range t.supply {
		left := new(exact.Rat).Set(s.vms)
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
func (t *vmType) limit(need *exact.Rat) *exact.Rat {
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
		highest = new(exact.Rat).SetInt(highest.Floor())
	}
	return smaller(need, highest)
}

// line is a number of VMs at one price each; a nil length has no end.
type line struct{ length, price *exact.Rat }

// lines returns the cost of fractional VMs, of which a share may be spot: contracts that are cheaper than spot, then
// spot up to its share of these, then both in proportion. It is convex and never above the cost of whole VMs, whose
// share is rounded down.
func (t *vmType) lines() (lines []line) {
	length := func(s source) *exact.Rat {
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

// Of the VMs whose least costs Rentals keeps, and of the ways to split them over types that it tries, there are so many
// at most.
const (
	mostRentals = 50_000
	mostSplits  = 200_000
)

// Rentals looks for ways to rent so many VMs for a bill in a period, each type's at the least cost.
type Rentals struct {
	f     *fleet
	short *exact.Rat // VMs that the promised jobs need at least; nil where that is not known
	wrong bool       // nothing is rented for such a problem
	rest  func()
	least [][]rental // of each type, by the number of its VMs
}

// rental is the least cost of some VMs of a type; exact is nil where there are not so many.
type rental struct {
	exact *exact.Rat
	near  float64
}

// NewRentals prepares to look at one problem. A nil pause lets nobody go first.
func NewRentals(p capacity.Problem, pause func()) *Rentals {
	r := &Rentals{wrong: len(readable(p)) > 0, rest: pause}
	if r.wrong {
		return r
	}
	if !isFleet(p) {
		if s := newModel(p, nil).shortage(); s.known {
			r.short = s.low
		}
	}
	f := newFleet(p, nil)
	r.f, r.least = f, make([][]rental, len(f.types))
	return r
}

func (f *fleet) rentals(rest func()) *Rentals {
	return &Rentals{f: f, rest: rest, least: make([][]rental, len(f.types))}
}

// of returns the least cost of n VMs of a type.
func (r *Rentals) of(v int, n int64) rental {
	for at := int64(len(r.least[v])); at <= n; at++ {
		if at%256 == 255 && r.rest != nil {
			r.rest()
		}
		cost, ok := r.f.types[v].cheapest(whole(at))
		if !ok {
			r.least[v] = append(r.least[v], rental{})
			continue
		}
		r.least[v] = append(r.least[v], rental{cost, float(cost)})
	}
	return r.least[v][n]
}

// Cost reports whether so many VMs can cost a bill. It does not rule out what it does not know: fractions of VMs of
// several types, and very many ways to split them.
func (r *Rentals) Cost(vms float64, paid *big.Rat) bool {
	if r.wrong || !finite(vms) || vms < 0 {
		return false
	}
	f, n, bill := r.f, number(vms), exact.Of(paid)
	if r.short != nil && less(n, r.short) {
		return false // the promised jobs need more
	}
	left := sub(bill, f.fixed)
	if f.integrality == capacity.Relaxed {
		slack := mul(add(whole(1), add(n, bill)), exact.New(1, 1e6))
		if len(f.types) > 1 {
			return less(left, add(mul(n, f.dearest()), slack))
		}
		return f.types[0].costs(n, left, slack)
	}
	slack := add(roundings, mul(relative, add(bill, f.fixed)))
	switch {
	case !n.IsInt():
		return false
	case len(f.types) == 1:
		return f.types[0].costs(n, left, slack)
	case vms > mostRentals:
		return true
	}
	if r.rest != nil {
		r.rest()
	}
	s := splits{r, slack, left, make([]*exact.Rat, len(f.types)), 0}
	return s.try(0, int64(vms), float(left), float(s.slack)+1e-9*(1+math.Abs(float(left))))
}

// costs reports whether the least cost of n VMs of the type is so much, within a slack.
func (t *vmType) costs(n, want, slack *exact.Rat) bool {
	cost, ok := t.cheapest(n)
	return ok && abs(sub(cost, want)).Cmp(slack) <= 0
}

// splits tries the ways to split VMs over types.
type splits struct {
	*Rentals
	slack, left *exact.Rat
	chosen      []*exact.Rat // the costs of the types before
	tried       int
}

// try splits n VMs over the types from v on, at a cost that is so near to what is left. Those that seem to do are added
// up exactly.
func (s *splits) try(v int, n int64, left, near float64) bool {
	if v == len(s.least)-1 {
		s.tried++
		last := s.of(v, n)
		if last.exact == nil || math.Abs(last.near-left) > near {
			return false
		}
		s.chosen[v] = last.exact
		off := s.left
		for _, cost := range s.chosen {
			off = sub(off, cost)
		}
		return abs(off).Cmp(s.slack) <= 0
	}
	for k := int64(0); k <= n; k++ {
		this := s.of(v, k)
		if this.exact == nil || this.near > left+near {
			return false
		}
		s.chosen[v] = this.exact
		if s.tried > mostSplits || s.try(v+1, n-k, left-this.near, near) {
			return true
		}
	}
	return false
}
