package integer

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

// MostVMs bounds what all demand together may need: beyond it float64 sums lose whole VMs.
const MostVMs = 1e9

// Supply tells the cost of renting N VMs, cheapest first: phi in the paper's extensions. It is convex
// and piecewise linear in N.
type Supply struct {
	Price []float64 // ascending, distinct
	Total []int64   // VMs of this tier and all cheaper ones
}

// NewSupply sorts tiers by price and merges those of one price.
func NewSupply(tiers []Tier) Supply {
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
	var s Supply
	for _, t := range sorted {
		if t.VMs <= 0 {
			continue
		}
		last := len(s.Price) - 1
		switch {
		case last >= 0 && s.Price[last] == t.Price:
			s.Total[last] = min(s.Total[last]+t.VMs, Unlimited)
		case last >= 0:
			s.Price = append(s.Price, t.Price)
			s.Total = append(s.Total, min(s.Total[last]+t.VMs, Unlimited))
		default:
			s.Price = append(s.Price, t.Price)
			s.Total = append(s.Total, min(t.VMs, Unlimited))
		}
	}
	return s
}

// Most returns the number of VMs there are at all.
func (s Supply) Most() int64 {
	if len(s.Total) == 0 {
		return 0
	}
	return s.Total[len(s.Total)-1]
}

// Tier returns the VMs before tier k and through it.
func (s Supply) Tier(k int) (from, to int64) {
	if k > 0 {
		from = s.Total[k-1]
	}
	return from, s.Total[k]
}

// UpTo returns the supply cut after so many VMs: what nobody can need is left out, so that VMs times
// grid never overflows.
func (s Supply) UpTo(vms int64) Supply { return s.without(s.Most() - vms) }

// without is the supply with so many of its dearest VMs held back.
func (s Supply) without(vms int64) Supply {
	most := max(0, s.Most()-max(0, vms))
	var rest Supply
	for k, price := range s.Price {
		from, to := s.Tier(k)
		if from < most {
			rest.Price = append(rest.Price, price)
			rest.Total = append(rest.Total, min(to, most))
		}
	}
	return rest
}

// within is the supply where at least so many VMs are rented, whatever they carry, and at most so many: those cost
// nothing more, and what they cost is left out.
func (s Supply) within(least, most int64) Supply {
	rest := Supply{}
	if least > 0 {
		rest.Price, rest.Total = append(rest.Price, 0), append(rest.Total, min(least, s.Most()))
	}
	for k, price := range s.Price {
		from, to := s.Tier(k)
		if to = min(to, most); max(from, least) >= to {
			continue
		}
		if last := len(rest.Price) - 1; last >= 0 && price == rest.Price[last] {
			rest.Total[last] = to
			continue
		}
		rest.Price, rest.Total = append(rest.Price, price), append(rest.Total, to)
	}
	return rest
}

// between returns the extra cost of m VMs over n.
func (s Supply) between(n, m int64) float64 {
	if m < n {
		return -s.between(m, n)
	}
	sum := 0.0
	for k, price := range s.Price {
		from, to := s.Tier(k)
		if overlap := min(to, m) - max(from, n); overlap > 0 {
			sum += price * float64(overlap)
		}
	}
	return sum
}

// Cost returns phi(n); +Inf where there are not so many VMs.
func (s Supply) Cost(n int64) float64 {
	sum := 0.0
	for k := range s.Price {
		from, to := s.Tier(k)
		if n <= from {
			return sum
		}
		sum += s.Price[k] * float64(min(n, to)-from)
	}
	if n > s.Most() {
		return math.Inf(1)
	}
	return sum
}

// CostReal returns phi at a fractional number of VMs.
func (s Supply) CostReal(x float64) float64 {
	sum := 0.0
	for k := range s.Price {
		from, to := s.Tier(k)
		if x <= float64(from) {
			break
		}
		sum += s.Price[k] * (min(x, float64(to)) - float64(from))
	}
	return sum
}

// Below counts the VMs that cost less than the price, and at most the price.
func (s Supply) Below(price float64) (less, atMost int64) {
	for k := range s.Price {
		if s.Price[k] < price {
			less = s.Total[k]
		}
		if s.Price[k] <= price {
			atMost = s.Total[k]
		}
	}
	return less, atMost
}

// kink is a supply seen from one price of capacity nu: the VM counts from Low to High cost least
// in phi(N) - nu·N, every other count costs the excess more.
type kink struct {
	Supply
	nu        float64
	low, high int64
	grid      int64   // load units in one VM
	perUnit   float64 // nu / grid
	// slopeLow and slopeHigh are the smallest costs of one unit of load less than low-1 VMs, or more than high VMs.
	slopeLow, slopeHigh float64
}

func (s Supply) at(nu float64, grid int64) kink {
	k := kink{Supply: s, nu: nu, grid: grid, perUnit: nu / float64(grid)}
	k.low, k.high = s.Below(nu)
	k.slopeLow, k.slopeHigh = math.Inf(1), math.Inf(1)
	for t := range s.Price {
		from, to := s.Tier(t)
		if to == k.low {
			k.slopeLow = (nu - s.Price[t]) / float64(grid)
		}
		if from == k.high {
			k.slopeHigh = (s.Price[t] - nu) / float64(grid)
		}
	}
	return k
}

// CeilDiv returns the VMs that carry a load.
func CeilDiv(load, grid int64) int64 { return (load + grid - 1) / grid }

// excess is psi(S): what renting whole VMs for the load costs above the bound, in two parts that
// are never negative: VMs away from the kink, and the unused rest of the last VM.
func (k *kink) excess(load int64) float64 {
	n := CeilDiv(load, k.grid)
	return k.awayFromKink(n) + k.perUnit*float64(n*k.grid-load)
}

// awayFromKink is [phi(n) - nu·n] minus its minimum, summed tier by tier so that nothing cancels.
func (k *kink) awayFromKink(n int64) float64 {
	if n >= k.low && n <= k.high {
		return 0
	}
	if n > k.Most() {
		return math.Inf(1)
	}
	sum := 0.0
	for t := range k.Price {
		from, to := k.Tier(t)
		if n < k.low {
			if overlap := min(to, k.low) - max(from, n); overlap > 0 {
				sum += (k.nu - k.Price[t]) * float64(overlap)
			}
		} else if overlap := min(to, n) - max(from, k.high); overlap > 0 {
			sum += (k.Price[t] - k.nu) * float64(overlap)
		}
	}
	return sum
}
