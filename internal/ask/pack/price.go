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
// by the worst phase, the one with the smallest time / prices. It is looked for in only the rungs that may hold it.

// nearWorst is the precision required for the worst phase.
const nearWorst = 1e-4

// stretch holds the rungs low to high with the most that jobs that fit high can be worth: no phase of these rungs is
// worth more.
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

// priced holds a bound by prices, and phases met on the way.
type priced struct {
	bound float64    // on the time of all jobs that are left
	guess float64    // the bound, if no phase is shorter for its prices than those that were met
	short []contents // phases that are shorter than their prices
}

// price returns the bound that prices prove. known is the smallest time / prices of phases that are known, or infinite. The
// bound gets the better the more rungs are tried.
func (s *seen) price(ctx context.Context, k *sack, prices []float64, known float64, tries int) (p priced) {
	sum := 0.0
	for i, price := range prices {
		sum += price * float64(k.left[i])
	}
	if !(sum > 0) {
		return p
	}
	var open worstFirst
	push := func(low, high int, worth float64) {
		ratio := math.Inf(1)
		if worth > 0 {
			ratio = s.above(low) / worth
		}
		heap.Push(&open, stretch{low, high, worth, ratio})
	}
	worth := func(low, rung int) float64 {
		most, c := k.worth(prices, rung, s.above(low)/(known*(1-nearWorst)))
		if at := s.look(c, 0); at >= 0 && at < s.never() {
			ratio := s.times[at] / paid(prices, c)
			known = min(known, ratio)
			if ratio < 1-provedGap {
				p.short = append(p.short, c)
			}
		}
		return most
	}
	top := s.never() - 1
	push(0, top, worth(0, top))
	for range tries {
		worst := open[0]
		if capacity.Pause(ctx) != nil || worst.low == worst.high || worst.ratio >= known*(1-nearWorst) {
			break
		}
		heap.Pop(&open)
		middle := s.between(worst.low, worst.high)
		push(worst.low, middle, worth(worst.low, middle))
		push(middle+1, worst.high, worst.worth)
	}
	p.bound, p.guess = sum*open[0].ratio*(1-rounding), sum*known
	return p
}

// above returns a time that no phase of a rung is shorter than.
func (s *seen) above(rung int) float64 {
	if !s.whole && rung > 0 {
		return s.times[rung-1] // the rungs between the two are missing
	}
	return s.times[rung]
}

// between returns the rung nearest to the geometric middle of two, below the higher.
func (s *seen) between(low, high int) int {
	target := math.Sqrt(s.times[low] * s.times[high])
	return min(high-1, lowest(low, high, func(rung int) bool { return s.times[rung] >= target }))
}

// paid adds up the prices of some jobs.
func paid(prices []float64, c contents) (sum float64) {
	for _, x := range c {
		sum += prices[x.kind] * float64(x.count)
	}
	return sum
}

// areaSteps is the number of shares of extra VMs in all prices that are tried.
const areaSteps = 20

// area returns prices by which no phase is shorter. Disks and extra VMs are paid for by the second, all together with
// 1 a second, and each job costs what it takes at least for its time.
func (b *batch) area() (best []float64) {
	least := make([]float64, len(b.kinds)) // VMs times seconds
	for i := range b.kinds {
		k := &b.kinds[i]
		least[i] = math.Inf(1)
		for n := k.minVMs; n < len(k.times); n++ {
			least[i] = min(least[i], float64(n)*k.times[n])
		}
	}
	most := -1.0
	for step := range areaSteps + 1 {
		share := float64(step) / areaSteps
		if b.extras == 0 && step > 0 {
			break
		}
		disk, extra := (1-share)/float64(b.vms), share/float64(max(1, b.extras))
		plain := disk + extra*float64(b.perMachine)/float64(b.disks) // its machine carries fewer extra VMs
		prices, sum := make([]float64, len(b.kinds)), 0.0
		for i := range b.kinds {
			each := plain
			switch b.kinds[i].role {
			case perf.HostRole:
				each = min(each, b.penalty*disk)
			case perf.GuestRole:
				each = min(each, b.penalty*extra)
			}
			prices[i] = least[i] * each
			sum += prices[i] * float64(b.kinds[i].count)
		}
		if sum > most {
			best, most = prices, sum
		}
	}
	return best
}
