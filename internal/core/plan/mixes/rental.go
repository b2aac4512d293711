package mixes

import (
	"math"
	"math/bits"

	"github.com/shopspring/decimal"

	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/plan/integer"
)

// Rental gives the cost of VMs of one type: its contracts and on-demand VMs, and spot VMs for a share of all. With spot
// it is not convex in whole VMs, because a share of five VMs is rounded down. The linear program sees the convex line
// below it.
type Rental struct {
	integer.Supply
	Spot    *Spot
	MostVMs int64 // VMs that can be had
	Limit   int64 // likewise, or as many as are ever needed
	Need    int64
	whole   []Segment // the convex line below whole VMs, with spot and up to the limit; nil where these are too many
}

// Spot is VMs that may be at most share = numerator/denominator of all.
type Spot struct {
	Price                  float64
	Share                  float64
	numerator, denominator uint64
}

// shareDigits is the number of decimals of a share that count: a float64 has no more.
const shareDigits = 18

// NewRental sets up the rental of VMs of one type, of which no more than need are ever wanted.
func NewRental(tiers []integer.Tier, offer *capacity.Spot, hours float64, need int64) Rental {
	r := Rental{Supply: integer.NewSupply(tiers)}
	if share := spotShare(offer); share.IsPositive() {
		power := max(0, -share.Exponent())
		r.Spot = &Spot{
			Price: offer.Price.Float() * hours, Share: offer.MaxShare,
			numerator: uint64(share.Shift(power).IntPart()), denominator: uint64(wholePower(power)),
		}
	}
	r.MostVMs, r.Need = r.available(), need
	r.Limit = min(need, r.MostVMs)
	if r.Spot == nil {
		r.Supply = r.Supply.UpTo(need)
	} else if r.Limit <= tiersMost {
		_, r.whole = r.hull(0, r.Limit, nil)
	}
	return r
}

// Steady returns the worth of one VM that is not spot, if VMs are worth nu and a budget's money costs mu more. Where spot
// is cheap, it brings a share of spot with it.
func (r *Rental) Steady(nu, mu float64) float64 {
	vms, spot := r.Brings(nu, mu)
	return nu*vms - spot*(1+mu)
}

// Brings returns the VMs there are with one VM more that is not spot, and what the spot VMs among them cost.
func (r *Rental) Brings(nu, mu float64) (vms, spot float64) {
	if r.Spot == nil || r.Spot.Share >= 1 || nu <= r.Spot.Price*(1+mu) {
		return 1, 0
	}
	steady := 1 - r.Spot.Share
	return 1 / steady, r.Spot.Share * r.Spot.Price / steady
}

// spotShare is the share of an offer, 0 where it is too small for a single VM of all there can be.
func spotShare(offer *capacity.Spot) decimal.Decimal {
	if offer == nil {
		return decimal.Zero
	}
	return decimal.NewFromFloat(offer.MaxShare).Truncate(shareDigits)
}

func wholePower(n int32) int64 {
	power := int64(1)
	for range n {
		power *= 10
	}
	return power
}

// most returns the number of spot VMs allowed among n.
func (s *Spot) most(n int64) int64 {
	if s == nil {
		return 0
	}
	high, low := bits.Mul64(uint64(n), s.numerator)
	quotient, _ := bits.Div64(high, low, s.denominator)
	return int64(quotient)
}

// available returns the number of VMs that can be had at all.
func (r *Rental) available() int64 {
	most := r.Supply.Most()
	if r.Spot == nil || most >= integer.Unlimited {
		return most
	}
	low, high := most, integer.Unlimited
	for low < high {
		if middle := low + (high-low+1)/2; middle-r.Spot.most(middle) <= most {
			low = middle
		} else {
			high = middle - 1
		}
	}
	return low
}

// SpotOf returns the number of spot VMs among n in the cheapest rental, the fewest if several cost the same.
func (r *Rental) SpotOf(n int64) int64 {
	if r.Spot == nil {
		return 0
	}
	_, cheap := r.Supply.Below(r.Spot.Price)
	return min(r.Spot.most(n), max(0, n-cheap, n-r.Supply.Most()))
}

// Cost is phi(n); +Inf where there are not so many VMs.
func (r *Rental) Cost(n int64) float64 {
	if r.Spot == nil {
		return r.Supply.Cost(n)
	}
	s := r.SpotOf(n)
	return r.Spot.Price*float64(s) + r.Supply.Cost(n-s)
}

// Segment is a number of VMs that cost the same each.
type Segment struct{ Length, Price float64 }

// hullMost bounds the VMs over which the convex line below whole rentals is found by trying all.
const hullMost = 64

// Segments returns the cost of low VMs, and a convex line for each more up to high. The line is never above phi at any
// whole number of VMs, and meets it at both ends if they are near each other.
func (r *Rental) Segments(low, high int64, dst []Segment) (start float64, line []Segment) {
	switch {
	case r.Spot == nil:
		return r.Straight(low, high, dst)
	case high-low <= hullMost:
		return r.hull(low, high, dst)
	case r.whole == nil:
		return r.Straight(low, high, dst)
	}
	return between(r.whole, low, high, dst)
}

// Straight is Segments for VMs that need not be whole.
func (r *Rental) Straight(low, high int64, dst []Segment) (start float64, line []Segment) {
	return between(r.Lines(), low, high, dst)
}

// between returns the cost of low VMs along lines, and the lines from there up to high.
func between(lines []Segment, low, high int64, dst []Segment) (start float64, line []Segment) {
	at := 0.0
	for _, l := range lines {
		from, to := max(at, float64(low)), min(at+l.Length, float64(high))
		start += l.Price * max(0, min(at+l.Length, float64(low))-at)
		if to > from {
			dst = append(dst, Segment{to - from, l.Price})
		}
		at += l.Length
	}
	return start, dst
}

// Reach returns the number of real VMs that can be had.
func (r *Rental) Reach() (vms float64) {
	for _, l := range r.Lines() {
		vms += l.Length
	}
	return vms
}

// Lines is the linear program's phi: of x real VMs, share·x real ones may be spot.
func (r *Rental) Lines() (lines []Segment) {
	tier := func(k int) (length float64) {
		from, to := r.Supply.Tier(k)
		return float64(to - from)
	}
	if r.Spot == nil {
		for k, price := range r.Supply.Price {
			lines = append(lines, Segment{tier(k), price})
		}
		return lines
	}
	share, cheap, k := r.Spot.Share, 0.0, 0
	for ; k < len(r.Supply.Price) && r.Supply.Price[k] <= r.Spot.Price; k++ {
		lines = append(lines, Segment{tier(k), r.Supply.Price[k]})
		cheap += tier(k)
	}
	if share >= 1 {
		return append(lines, Segment{math.Inf(1), r.Spot.Price})
	}
	if cheap > 0 {
		lines = append(lines, Segment{cheap * share / (1 - share), r.Spot.Price})
	}
	for ; k < len(r.Supply.Price); k++ {
		lines = append(lines, Segment{tier(k) / (1 - share), share*r.Spot.Price + (1-share)*r.Supply.Price[k]})
	}
	return lines
}

// tiersMost is the number of VMs of which Tiers tries all with spot.
const tiersMost = 4096

// Tiers returns VMs whose prices, times a factor, never cost more than so many whole VMs do. With spot VMs they cost just
// that, if that is convex, near a number of VMs.
func (r *Rental) Tiers(factor float64, near int64) (tiers []integer.Tier) {
	if r.Spot == nil {
		for k, price := range r.Supply.Price {
			from, to := r.Supply.Tier(k)
			tiers = append(tiers, integer.Tier{VMs: to - from, Price: factor * price})
		}
		return tiers
	}
	first := max(0, min(near-tiersMost/2, r.Limit-tiersMost))
	last := min(r.Limit, first+tiersMost)
	lines := r.Lines()
	var line []Segment
	at, cost := int64(0), 0.0
	visit := func(n int64, price float64) {
		if n > at {
			line = convex(line, Segment{float64(n - at), (price - cost) / float64(n-at)})
			at, cost = n, price
		}
	}
	// Elsewhere it is the linear program's line, at the whole numbers about its corners.
	straight := func(from, to int64) {
		corner := 0.0
		for _, l := range lines {
			corner += l.Length
			for _, x := range [2]float64{math.Floor(corner), math.Ceil(corner)} {
				if n := int64(min(x, float64(to))); n > from && n <= to {
					visit(n, along(lines, float64(n)))
				}
			}
		}
		if to > from {
			visit(to, along(lines, float64(to)))
		}
	}
	straight(0, first-1)
	for n := first; n <= last; n++ {
		visit(n, r.Cost(n))
	}
	straight(last, r.Limit)
	for _, s := range line {
		tiers = append(tiers, integer.Tier{VMs: int64(s.Length), Price: factor * s.Price})
	}
	return tiers
}

// along returns the cost of VMs along lines.
func along(lines []Segment, vms float64) (cost float64) {
	for _, l := range lines {
		cost += l.Price * min(vms, l.Length)
		if vms -= l.Length; vms <= 0 {
			break
		}
	}
	return cost
}

// hull is the lower convex hull of phi over a few whole VMs.
func (r *Rental) hull(low, high int64, dst []Segment) (start float64, line []Segment) {
	start = r.Cost(low)
	last := start
	own := dst[len(dst):]
	for n := low + 1; n <= high; n++ {
		cost := r.Cost(n)
		own = convex(own, Segment{1, cost - last})
		last = cost
	}
	return start, append(dst, own...)
}

// convex adds a segment to a line and keeps it convex, by what lies below it.
func convex(line []Segment, next Segment) []Segment {
	for len(line) > 0 && line[len(line)-1].Price >= next.Price {
		before := line[len(line)-1]
		length := before.Length + next.Length
		next = Segment{length, (before.Price*before.Length + next.Price*next.Length) / length}
		line = line[:len(line)-1]
	}
	return append(line, next)
}
