package plantest

import (
	"math"
	"math/big"
	"math/bits"
)

// Rational is a class's need for slots in whole numbers, so that every comparison is exact. It holds the work of one
// job and the time for it in one unit, the slots of a VM, and the phases that need slots at all.
type Rational struct {
	MapWork, RedWork, Slack int64
	PerMap, PerRed          int64
	HasMap, HasReduce, One  bool
}

// Whole tries every number of map slots that costs less than the best choice so far and takes the
// fewest reduce slots for it: the second way to find the cheapest slots for some jobs.
func (x Rational) Whole(jobs int64) (mapSlots, redSlots int64) {
	leastMap, leastRed := x.Least(jobs)
	a, b := x.MapWork*jobs, x.RedWork*jobs
	best := int64(math.MaxInt64)
	for m := leastMap; best == math.MaxInt64 || m*x.PerRed+leastRed*x.PerMap < best; m++ {
		left := x.Slack*m - a // time left for the reduce phase, times the map slots
		if left < 0 || left == 0 && b > 0 && m > 0 {
			m = max(m, a/x.Slack-1) // nothing below fits
			continue
		}
		r := leastRed
		if b > 0 && m > 0 {
			r = max(r, ceilProduct(b, m, left))
		} else if b > 0 {
			r = max(r, (b+x.Slack-1)/x.Slack) // without map slots the reduce phase has all the time
		}
		if cost := m*x.PerRed + r*x.PerMap; cost < best {
			mapSlots, redSlots, best = m, r, cost
		}
	}
	return mapSlots, redSlots
}

func (x Rational) Least(jobs int64) (mapSlots, redSlots int64) {
	least := int64(1)
	if x.One {
		least = jobs
	}
	if x.HasMap {
		mapSlots = least
	}
	if x.HasReduce {
		redSlots = least
	}
	return mapSlots, redSlots
}

// ceilProduct is ⌈x·y/d⌉ without overflow.
func ceilProduct(x, y, d int64) int64 {
	high, low := bits.Mul64(uint64(x), uint64(y))
	q, rest := bits.Div64(high, low, uint64(d))
	if rest > 0 {
		q++
	}
	return int64(q)
}

// Late is the execution time over the deadline's time, minus one: how late so many slots are. It is
// a fraction and exact.
func (x Rational) Late(jobs, mapSlots, redSlots int64) *big.Rat {
	t := new(big.Rat)
	if x.MapWork > 0 {
		t.Add(t, new(big.Rat).Mul(big.NewRat(x.MapWork, mapSlots), big.NewRat(jobs, x.Slack)))
	}
	if x.RedWork > 0 {
		t.Add(t, new(big.Rat).Mul(big.NewRat(x.RedWork, redSlots), big.NewRat(jobs, x.Slack)))
	}
	return t.Sub(t, big.NewRat(1, 1))
}
