package supply

import (
	"math/big"
	"slices"
)

// Starts says what each VM costs by which an hour has more than the one before, and how many are there before the first.
type Starts struct {
	Prices []*big.Rat // by hour
	Before int64
}

// Cost returns how many VMs are started for an hour, and what that costs. The hour before has others; the first one has those before it.
func (s *Starts) Cost(hour int, was, now int64) (n int64, cost *big.Rat) {
	if hour == 0 {
		was = s.Before
	}
	n = max(0, now-was)
	return n, times(s.Prices[hour], n)
}

// cuts returns numbers of VMs between which each VM of an hour costs the same, the first of them 0.
func (s *Starts) cuts(hours []Hour, more ...int64) []int64 {
	all := append([]int64{0, s.Before}, more...)
	for h := range hours {
		sum := int64(0)
		for _, of := range hours[h].byPrice() {
			if !of.Unlimited {
				sum += of.VMs
			}
			all = append(all, sum)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// Stay raises VMs of the hours, in place, by those that are cheaper to keep without work than to start again, or to start earlier.
func (s *Starts) Stay(hours []Hour, vms []int64) {
	needed := slices.Clone(vms)
	cuts := s.cuts(hours, needed...)
	for i := range len(cuts) - 1 {
		s.keep(hours, needed, vms, cuts[i], cuts[i+1])
	}
}

// keep raises VMs by those from one number to another.
func (s *Starts) keep(hours []Hour, needed, vms []int64, low, high int64) {
	last, there := -1, s.Before > low
	for h := range hours {
		if needed[h] <= low {
			continue
		}
		idle, some := new(big.Rat), true
		from, cheapest := h, times(s.Prices[h], high-low)
		for at := h - 1; at > last && some; at-- {
			var more *big.Rat
			if more, some = hours[at].between(low, high); some {
				idle.Add(idle, more)
				if begun := new(big.Rat).Add(idle, times(s.Prices[at], high-low)); begun.Cmp(cheapest) < 0 {
					from, cheapest = at, begun
				}
			}
		}
		if there && some && idle.Cmp(cheapest) < 0 {
			from = last + 1
		}
		for at := from; at < h; at++ {
			vms[at] = max(vms[at], high)
		}
		last, there = h, true
	}
}

// between returns what VMs from one number to another cost in an hour. It is false if there are too few.
func (h *Hour) between(low, high int64) (cost *big.Rat, ok bool) {
	less, _ := h.Cost(low)
	more, ok := h.Cost(high)
	return more.Sub(more, less), ok
}

// Bound adds to a bound what the VMs of all hours gain at their prices, and what they cost in any case. It returns the prices. It is
// false where any number of VMs would gain: such prices prove nothing.
func (s *Starts) Bound(hours []Hour, bound *big.Rat) (prices []*big.Rat, ok bool) {
	limited := true
	for h := range hours {
		prices = append(prices, larger(new(big.Rat), hours[h].Price.Rat()))
		bound.Add(bound, hours[h].Fixed())
		for i := range hours[h].Supply {
			limited = limited && !hours[h].Supply[i].Unlimited
		}
	}
	cuts := s.cuts(hours)
	for i, low := range cuts {
		high := low + 1
		if i+1 < len(cuts) {
			high = cuts[i+1]
		} else if limited {
			break
		}
		gained := s.gain(hours, prices, low, high)
		if i+1 == len(cuts) {
			return prices, gained.Sign() >= 0
		}
		bound.Add(bound, gained)
	}
	return prices, true
}

// gain returns what VMs from one number to another cost less than they are worth at prices, as a negative amount, where they are
// there in the hours that are best for it.
func (s *Starts) gain(hours []Hour, prices []*big.Rat, low, high int64) *big.Rat {
	gone := new(big.Rat) // the least until an hour, if they are not there in it
	var there *big.Rat   // the least if they are
	if s.Before > low {
		there = new(big.Rat)
	}
	for h := range hours {
		cost, some := hours[h].between(low, high)
		cost.Sub(cost, times(prices[h], high-low))
		begun := new(big.Rat).Add(gone, times(s.Prices[h], high-low))
		if there != nil {
			gone = smaller(gone, there)
			begun = smaller(begun, there)
		}
		if there = nil; some {
			there = begun.Add(begun, cost)
		}
	}
	if there != nil {
		return smaller(gone, there)
	}
	return gone
}
