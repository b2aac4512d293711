package pack

import (
	"container/heap"
	"context"
	"math"

	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/perf"
)

// Bounds by prices. Give every job a price. If no phase is shorter than the sum of its jobs' prices, then no packing
// is shorter than the sum of all prices, because its phases hold every job. Prices that are too high are scaled down
// by the worst phase, the one with the smallest time / prices. Knapsacks find it, one for each rung, for only the
// rungs that may hold it.

const (
	// maxKnapsack bounds the cells of one exact knapsack; larger ones combine plain and extra VMs.
	maxKnapsack = 40_000_000
	// nearWorst is the precision required for the worst phase.
	nearWorst = 1e-4
	// fewest is the smallest number of knapsacks, of any size.
	fewest = 20
)

// stretch holds the rungs low to high with the most valuable jobs that fit high: no phase of these rungs is worth
// more.
type stretch struct {
	low, high int
	worth     float64
	ratio     float64 // time of the lowest / worth: no phase of these rungs has less
}

type worstFirst []stretch

func (h worstFirst) Len() int           { return len(h) }
func (h worstFirst) Less(i, j int) bool { return h[i].ratio < h[j].ratio }
func (h worstFirst) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }
func (h *worstFirst) Push(x any)        { *h = append(*h, x.(stretch)) }
func (h *worstFirst) Pop() any {
	last := (*h)[len(*h)-1]
	*h = (*h)[:len(*h)-1]
	return last
}

// price returns a bound by prices, the phases met on the way that are shorter than their prices, and the largest
// ratio by which prices may be too high. It fills knapsacks of up to cells cells, and at least a few.
func (s *seen) price(ctx context.Context, prices []float64, cells int) (bound float64, short []contents, ratio float64) {
	sum := 0.0
	for i, p := range prices {
		sum += p * float64(s.kinds[i].count)
	}
	if !(sum > 0) {
		return 0, nil, 1
	}
	actual := math.Inf(1)
	worth := func(rung int) float64 {
		c, w := s.dearest(prices, rung)
		if at := s.look(c, 0); at >= 0 && at < s.never() {
			paid := 0.0
			for _, x := range c {
				paid += prices[x.kind] * float64(x.count)
			}
			actual = min(actual, s.times[at]/paid)
			if s.times[at] < paid*(1-provedGap) {
				short = append(short, c)
			}
		}
		return w
	}
	var open worstFirst
	push := func(low, high int, w float64) {
		ratio := math.Inf(1)
		if w > 0 {
			ratio = s.times[low] / w
		}
		heap.Push(&open, stretch{low, high, w, ratio})
	}
	top := s.never() - 1
	push(0, top, worth(top))
	limit := s.cells + cells
	for tries := 1; tries < fewest || s.cells < limit; tries++ {
		_ = capacity.Pause(ctx) // the caller checks whether the time is over
		worst := open[0]
		if worst.low == worst.high || worst.ratio >= actual*(1-nearWorst) {
			break
		}
		heap.Pop(&open)
		middle := s.between(worst.low, worst.high)
		push(worst.low, middle, worth(middle))
		push(middle+1, worst.high, worst.worth)
	}
	return sum * open[0].ratio, short, open[0].ratio
}

// between returns the rung nearest to the geometric middle of two, below the higher.
func (s *seen) between(low, high int) int {
	target := math.Sqrt(s.times[low] * s.times[high])
	return min(high-1, lowest(low, high, func(rung int) bool { return s.times[rung] >= target }))
}

// dearest returns the most valuable jobs that fit a rung together, and their worth. If the knapsack is too large, it
// returns jobs that need not fit but are worth at least as much.
func (s *seen) dearest(prices []float64, rung int) (contents, float64) {
	plain, special := s.ladder.at(rung)
	var hosts, others []item
	mixed := s.extras > 0 && s.mixed(s.everything())
	for i := range s.kinds {
		if plain[i] == impossible || prices[i] <= 0 {
			continue
		}
		it := item{kind: i, plain: int(plain[i]), special: int(special[i]), price: prices[i]}
		if s.kinds[i].role == perf.PlainRole || special[i] == impossible {
			it.special = 0
		}
		if s.kinds[i].role == perf.HostRole && mixed {
			hosts = it.times(s.kinds[i].count, hosts)
		} else {
			others = it.times(s.kinds[i].count, others)
		}
	}
	if !mixed {
		s.cells += len(others) * s.vms
		return contentsOfItems(fill(others, s.vms))
	}
	if len(hosts)*s.vms*s.vms+len(others)*s.vms*s.extras > maxKnapsack {
		s.cells += (len(hosts) + len(others)) * (s.vms + s.extras)
		for i := range others {
			others[i].special = 0
		}
		for i := range hosts {
			hosts[i].special = 0
		}
		return contentsOfItems(fill(append(others, hosts...), s.vms+s.extras))
	}
	s.cells += (len(hosts)*s.vms*s.vms + len(others)*s.vms*s.extras) / 2
	return s.dearestMixed(hosts, others)
}

// dearestMixed divides the disks between plain VMs of possible hosts, plain VMs of others, and hosts. The machines
// left by the plain VMs bound the extra VMs.
func (s *seen) dearestMixed(hosts, others []item) (contents, float64) {
	extra := func(plain int) int { return (s.machines - ceilDiv(plain, s.disks)) * s.perMachine }
	guests := knapsack(others, s.vms, s.extras, extra)
	host := knapsack(hosts, s.vms, s.vms, func(plain int) int { return s.vms - plain })
	best, bestX, bestY := -1.0, 0, 0
	for x := 0; x <= s.vms; x++ {
		for y := 0; x+y <= s.vms; y++ {
			if w := guests.worth(x, extra(x+y)) + host.worth(y, s.vms-x-y); w > best {
				best, bestX, bestY = w, x, y
			}
		}
	}
	chosen := append(guests.chosen(bestX, extra(bestX+bestY)), host.chosen(bestY, s.vms-bestX-bestY)...)
	c, _ := contentsOfItems(chosen, 0)
	return c, best
}
