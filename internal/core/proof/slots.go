package proof

import (
	"math"
	"math/big"

	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/money"
	"example.org/headroom/internal/core/proof/exact"
)

// slotting is a whole number of map and reduce slots for a class's jobs.
type slotting struct{ maps, reduces int64 }

// fit holds the whole slots for a number of jobs, and their VMs: the fewest with the tolerance of deadlines, which low
// counts, and without it.
type fit struct {
	slots     slotting
	low, high *exact.Rat
}

// fit finds the slots for a number of jobs. Problems that differ elsewhere ask for the same numbers again and again.
func (c *class) fit(jobs int64, steps *int) (f fit, ok bool) {
	if f, ok = c.fits[jobs]; ok {
		return f, true
	}
	loose, ok := c.slots(jobs, c.tolerant(), steps)
	if !ok {
		return f, false
	}
	f.slots = loose
	if t, _, fine := c.plan.time(whole(jobs), whole(loose.maps), whole(loose.reduces), zero()); jobs > 0 && (!fine || less(c.deadline, t)) {
		if f.slots, ok = c.slots(jobs, c.slack, steps); !ok {
			return f, false
		}
	}
	f.low = c.size(whole(loose.maps), whole(loose.reduces))
	f.high = c.size(whole(f.slots.maps), whole(f.slots.reduces))
	if c.fits != nil {
		c.fits[jobs] = f
	}
	return f, true
}

// slots finds the fewest VMs' worth of whole slots on which these jobs finish in time. With a = A·h/F and b = B·h/F
// the deadline reads a/s_M + b/s_R <= 1, so s_M > a needs s_R = ceil(b·s_M/(s_M-a)). Without that rounding the VMs
// are a convex function of s_M. It walks both ways from any start until this function, which never exceeds the true
// cost, reaches the best cost seen. It returns false if the numbers are beyond reason or the steps are used up.
func (c *class) slots(jobs int64, slack *exact.Rat, steps *int) (slotting, bool) {
	if jobs == 0 {
		return slotting{}, true
	}
	lowest := func(has bool) int64 {
		switch {
		case !has:
			return 0
		case c.oneSlot:
			return jobs
		}
		return 1
	}
	minMap, minReduce := lowest(c.hasMap), lowest(c.hasReduce)
	h := whole(jobs)
	a, b := quo(mul(c.plan.a, h), slack), quo(mul(c.plan.b, h), slack)
	limit := whole(maxSlots)
	if limit.Cmp(a) < 0 || limit.Cmp(b) < 0 || max(jobs, c.perMap, c.perReduce) > maxSlots {
		return slotting{}, false
	}
	lcm := c.perMap / gcd(c.perMap, c.perReduce) * c.perReduce
	if lcm > maxSlots {
		return slotting{}, false
	}
	if a.Sign() == 0 {
		return slotting{minMap, max(minReduce, b.Ceil().Int64())}, true
	}
	if b.Sign() == 0 {
		return slotting{max(minMap, a.Ceil().Int64()), minReduce}, true
	}
	// a = p/d, b = q/d, and slots cost x and y if a VM costs lcm.
	d := new(big.Int).Mul(a.Denom(), b.Denom())
	p := new(big.Int).Mul(a.Num(), b.Denom())
	q := new(big.Int).Mul(b.Num(), a.Denom())
	x, y := lcm/c.perMap, lcm/c.perReduce

	first := max(minMap, a.Floor().Int64()+1)
	fa := a.Float()
	fb := b.Float()
	start := max(first, int64(fa+math.Sqrt(fa*fb*float64(c.perMap)/float64(c.perReduce))))
	var best slotting
	cost := int64(math.MaxInt64)
	free, need, part := new(big.Int), new(big.Int), new(big.Int)
	// try tests one s_M and reports whether none beyond it can be better.
	try := func(s int64) bool {
		free.Sub(part.Mul(d, part.SetInt64(s)), p) // d·(s - a)
		need.Mul(q, need.SetInt64(s))              // d·b·s
		reduces, rest := part.DivMod(need, free, new(big.Int))
		r := minReduce
		if reduces.Cmp(big.NewInt(2*maxSlots*maxSlots)) < 0 { // otherwise s is far too near to a
			n := reduces.Int64()
			if rest.Sign() > 0 {
				n++
			}
			r = max(r, n)
			if w := s*x + r*y; r <= 2*maxSlots && w < cost {
				best, cost = slotting{s, r}, w
			}
		}
		if cost == math.MaxInt64 {
			return false
		}
		if s*x+minReduce*y >= cost {
			return true
		}
		// s·x + y·b·s/(s-a) >= cost
		return need.Mul(need, big.NewInt(y)).Cmp(free.Mul(free, big.NewInt(cost-s*x))) >= 0
	}
	for s := start; *steps > 0; s++ {
		if *steps--; try(s) && s > best.maps {
			break
		}
	}
	for s := start - 1; s >= first && *steps > 0; s-- {
		if *steps--; try(s) && s < best.maps {
			break
		}
	}
	return best, *steps > 0
}

// maxSteps bounds the numbers of map slots tried for one plan: some twenty a class and number of jobs are usual, and
// more with more slots.
const maxSteps = 3_000_000

// maxSlots bounds one class's slots, so that their products fit 64 bits.
const maxSlots = 1_000_000_000

func gcd(x, y int64) int64 {
	for y != 0 {
		x, y = y, x%y
	}
	return x
}

// tolerant returns the largest slack that is still accepted, which a lower bound must use.
func (c *class) tolerant() *exact.Rat { return sub(c.latest(), c.plan.c) }

// needs returns the VMs for this number of a class's jobs: at least low, and certainly no more than high, which
// differ by tolerances alone. Slots are those of high, for executable plans.
func (m *model) needs(i int, jobs int64) (low, high *exact.Rat, s slotting, ok bool) {
	c := m.classes[i]
	h := whole(jobs)
	switch {
	case c.impossible && jobs > 0:
		return nil, nil, s, false
	case c.given: // plans may hold more than nine places rounded up
		low, high = mul(c.low, h), mul(new(exact.Rat).Round(c.low, money.Places, true), h)
	case m.integrality == capacity.Executable:
		f, ok := c.fit(jobs, &m.steps)
		if !ok {
			return nil, nil, s, false
		}
		low, high, s = f.low, f.high, f.slots
	default:
		low, high = mul(c.lowest, h), mul(c.highest, h)
	}
	if m.dedicated && m.integrality != capacity.Relaxed {
		slack := m.spare(i)
		low, high = upTo(low, slack), upTo(high, smaller(slack, certain))
	}
	return low, high, s, true
}

// lacking returns the largest part of VMs shared by all that may be lacking, and the certain one.
func (m *model) lacking() (limit, surely *exact.Rat) {
	if m.dedicated {
		return zero(), zero() // the needs are whole already
	}
	return m.spare(-1), smaller(m.spare(-1), certain)
}
