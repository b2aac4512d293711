package plan

import (
	"math"
	"slices"
)

// Tier is some VMs at one price per period. A contract is a tier, on-demand is the last one.
type Tier struct {
	VMs   int64 // Unlimited for on-demand without a quota
	Price float64
}

// Unlimited is the size of a tier that never runs out.
const Unlimited = int64(1) << 52

// supply is the cost of renting N VMs, cheapest first: phi in the paper's extensions. It is convex
// and piecewise linear in N.
type supply struct {
	price []float64 // ascending, distinct
	total []int64   // VMs of this tier and all cheaper ones
}

// newSupply sorts tiers by price and merges those of one price.
func newSupply(tiers []Tier) supply {
	sorted := slices.Clone(tiers)
	slices.SortStableFunc(sorted, func(a, b Tier) int {
		switch {
		case a.Price < b.Price:
			return -1
		case a.Price > b.Price:
			return 1
		}
		return 0
	})
	var s supply
	for _, t := range sorted {
		if t.VMs <= 0 {
			continue
		}
		last := len(s.price) - 1
		switch {
		case last >= 0 && s.price[last] == t.Price:
			s.total[last] = min(s.total[last]+t.VMs, Unlimited)
		case last >= 0:
			s.price = append(s.price, t.Price)
			s.total = append(s.total, min(s.total[last]+t.VMs, Unlimited))
		default:
			s.price = append(s.price, t.Price)
			s.total = append(s.total, min(t.VMs, Unlimited))
		}
	}
	return s
}

// most is how many VMs there are at all.
func (s supply) most() int64 {
	if len(s.total) == 0 {
		return 0
	}
	return s.total[len(s.total)-1]
}

// tier is the VMs before tier k and through it.
func (s supply) tier(k int) (from, to int64) {
	if k > 0 {
		from = s.total[k-1]
	}
	return from, s.total[k]
}

// upTo is the supply cut after so many VMs: what nobody can need is left out, so that VMs times
// grid never overflows.
func (s supply) upTo(vms int64) supply { return s.without(s.most() - vms) }

// without is the supply with so many of its dearest VMs held back.
func (s supply) without(vms int64) supply {
	most := max(0, s.most()-max(0, vms))
	var rest supply
	for k, price := range s.price {
		from, to := s.tier(k)
		if from < most {
			rest.price = append(rest.price, price)
			rest.total = append(rest.total, min(to, most))
		}
	}
	return rest
}

// within is the supply where at least so many VMs are rented, whatever they carry, and at most so many: those cost
// nothing more, and what they cost is left out.
func (s supply) within(least, most int64) supply {
	rest := supply{}
	if least > 0 {
		rest.price, rest.total = append(rest.price, 0), append(rest.total, min(least, s.most()))
	}
	for k, price := range s.price {
		from, to := s.tier(k)
		if to = min(to, most); max(from, least) >= to {
			continue
		}
		if last := len(rest.price) - 1; last >= 0 && price == rest.price[last] {
			rest.total[last] = to
			continue
		}
		rest.price, rest.total = append(rest.price, price), append(rest.total, to)
	}
	return rest
}

// between is what m VMs cost more than n.
func (s supply) between(n, m int64) float64 {
	if m < n {
		return -s.between(m, n)
	}
	sum := 0.0
	for k, price := range s.price {
		from, to := s.tier(k)
		if overlap := min(to, m) - max(from, n); overlap > 0 {
			sum += price * float64(overlap)
		}
	}
	return sum
}

// cost is phi(n); +Inf where there are not so many VMs.
func (s supply) cost(n int64) float64 {
	sum := 0.0
	for k := range s.price {
		from, to := s.tier(k)
		if n <= from {
			return sum
		}
		sum += s.price[k] * float64(min(n, to)-from)
	}
	if n > s.most() {
		return math.Inf(1)
	}
	return sum
}

// costReal is phi at a fractional number of VMs.
func (s supply) costReal(x float64) float64 {
	sum := 0.0
	for k := range s.price {
		from, to := s.tier(k)
		if x <= float64(from) {
			break
		}
		sum += s.price[k] * (min(x, float64(to)) - float64(from))
	}
	return sum
}

// below is how many VMs cost less than the price, and at most the price.
func (s supply) below(price float64) (less, atMost int64) {
	for k := range s.price {
		if s.price[k] < price {
			less = s.total[k]
		}
		if s.price[k] <= price {
			atMost = s.total[k]
		}
	}
	return less, atMost
}

// kink is a supply seen from one price of capacity nu: the VM counts from Low to High cost least
// in phi(N) - nu·N, every other count costs the excess more.
type kink struct {
	supply
	nu        float64
	low, high int64
	grid      int64   // load units in one VM
	perUnit   float64 // nu / grid
	// slopeLow and slopeHigh are what one unit of load less than low-1 VMs, or more than high VMs,
	// costs at least.
	slopeLow, slopeHigh float64
}

func (s supply) at(nu float64, grid int64) kink {
	k := kink{supply: s, nu: nu, grid: grid, perUnit: nu / float64(grid)}
	k.low, k.high = s.below(nu)
	k.slopeLow, k.slopeHigh = math.Inf(1), math.Inf(1)
	for t := range s.price {
		from, to := s.tier(t)
		if to == k.low {
			k.slopeLow = (nu - s.price[t]) / float64(grid)
		}
		if from == k.high {
			k.slopeHigh = (s.price[t] - nu) / float64(grid)
		}
	}
	return k
}

// ceilDiv is the VMs that carry a load.
func ceilDiv(load, grid int64) int64 { return (load + grid - 1) / grid }

// excess is psi(S): what renting whole VMs for the load costs above the bound, in two parts that
// are never negative: VMs away from the kink, and the unused rest of the last VM.
func (k *kink) excess(load int64) float64 {
	n := ceilDiv(load, k.grid)
	return k.awayFromKink(n) + k.perUnit*float64(n*k.grid-load)
}

// awayFromKink is [phi(n) - nu·n] minus its minimum, summed tier by tier so that nothing cancels.
func (k *kink) awayFromKink(n int64) float64 {
	if n >= k.low && n <= k.high {
		return 0
	}
	if n > k.most() {
		return math.Inf(1)
	}
	sum := 0.0
	for t := range k.price {
		from, to := k.tier(t)
		if n < k.low {
			if overlap := min(to, k.low) - max(from, n); overlap > 0 {
				sum += (k.nu - k.price[t]) * float64(overlap)
			}
		} else if overlap := min(to, n) - max(from, k.high); overlap > 0 {
			sum += (k.price[t] - k.nu) * float64(overlap)
		}
	}
	return sum
}
