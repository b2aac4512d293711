package plan

import (
	"math"
	"math/bits"

	"github.com/shopspring/decimal"

	"headroom/internal/core/capacity"
	"headroom/internal/core/plan/integer"
)

// rental gives the cost of VMs of one type: its contracts and on-demand VMs, and spot VMs for a share of all. With spot
// it is not convex in whole VMs, because a share of five VMs is rounded down. The linear program sees the convex line
// below it.
type rental struct {
	integer.Supply
	spot  *spot
	most  int64 // VMs that can be had
	limit int64 // likewise, or as many as are ever needed
	need  int64
}

// spot is VMs that may be at most share = numerator/denominator of all.
type spot struct {
	price                  float64
	share                  float64
	numerator, denominator uint64
}

// shareDigits is the number of decimals of a share that count: a float64 has no more.
const shareDigits = 18

func newRental(tiers []integer.Tier, offer *capacity.Spot, hours float64, need int64) rental {
	r := rental{Supply: integer.NewSupply(tiers)}
	if share := spotShare(offer); share.IsPositive() {
		power := max(0, -share.Exponent())
		r.spot = &spot{
			price: offer.Price.Float() * hours, share: offer.MaxShare,
			numerator: uint64(share.Shift(power).IntPart()), denominator: uint64(wholePower(power)),
		}
	}
	r.most, r.need = r.mostVMs(), need
	r.limit = min(need, r.most)
	if r.spot == nil {
		r.Supply = r.Supply.UpTo(need)
	}
	return r
}

// steady returns the worth of one VM that is not spot, if VMs are worth nu and a budget's money costs mu more. Where spot
// is cheap, it brings a share of spot with it.
func (r *rental) steady(nu, mu float64) float64 {
	if r.spot == nil || r.spot.share >= 1 || nu <= r.spot.price*(1+mu) {
		return nu
	}
	return (nu - r.spot.share*r.spot.price*(1+mu)) / (1 - r.spot.share)
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
func (s *spot) most(n int64) int64 {
	if s == nil {
		return 0
	}
	high, low := bits.Mul64(uint64(n), s.numerator)
	quotient, _ := bits.Div64(high, low, s.denominator)
	return int64(quotient)
}

// mostVMs returns the number of VMs that can be had at all.
func (r *rental) mostVMs() int64 {
	most := r.Supply.Most()
	if r.spot == nil || most >= integer.Unlimited {
		return most
	}
	low, high := most, integer.Unlimited
	for low < high {
		if middle := low + (high-low+1)/2; middle-r.spot.most(middle) <= most {
			low = middle
		} else {
			high = middle - 1
		}
	}
	return low
}

// spotOf returns the number of spot VMs among n in the cheapest rental, the fewest if several cost the same.
func (r *rental) spotOf(n int64) int64 {
	if r.spot == nil {
		return 0
	}
	_, cheap := r.Supply.Below(r.spot.price)
	return min(r.spot.most(n), max(0, n-cheap, n-r.Supply.Most()))
}

// cost is phi(n); +Inf where there are not so many VMs.
func (r *rental) cost(n int64) float64 {
	if r.spot == nil {
		return r.Supply.Cost(n)
	}
	s := r.spotOf(n)
	return r.spot.price*float64(s) + r.Supply.Cost(n-s)
}

// segment is a number of VMs that cost the same each.
type segment struct{ length, price float64 }

// hullMost bounds the VMs over which the convex line below whole rentals is found by trying all.
const hullMost = 64

// segments returns the cost of low VMs, and a convex line for each more up to high. The line is never above phi at any
// whole number of VMs, and meets it at both ends if they are near each other.
func (r *rental) segments(low, high int64, dst []segment) (start float64, line []segment) {
	if r.spot != nil && high-low <= hullMost {
		return r.hull(low, high, dst)
	}
	return r.straight(low, high, dst)
}

// straight is segments for VMs that need not be whole.
func (r *rental) straight(low, high int64, dst []segment) (start float64, line []segment) {
	lines := r.lines()
	at := 0.0
	for _, l := range lines {
		from, to := max(at, float64(low)), min(at+l.length, float64(high))
		start += l.price * max(0, min(at+l.length, float64(low))-at)
		if to > from {
			dst = append(dst, segment{to - from, l.price})
		}
		at += l.length
	}
	return start, dst
}

// reach returns the number of real VMs that can be had.
func (r *rental) reach() (vms float64) {
	for _, l := range r.lines() {
		vms += l.length
	}
	return vms
}

// lines is the linear program's phi: of x real VMs, share·x real ones may be spot.
func (r *rental) lines() (lines []segment) {
	tier := func(k int) (length float64) {
		from, to := r.Supply.Tier(k)
		return float64(to - from)
	}
	if r.spot == nil {
		for k, price := range r.Supply.Price {
			lines = append(lines, segment{tier(k), price})
		}
		return lines
	}
	share, cheap, k := r.spot.share, 0.0, 0
	for ; k < len(r.Supply.Price) && r.Supply.Price[k] <= r.spot.price; k++ {
		lines = append(lines, segment{tier(k), r.Supply.Price[k]})
		cheap += tier(k)
	}
	if share >= 1 {
		return append(lines, segment{math.Inf(1), r.spot.price})
	}
	if cheap > 0 {
		lines = append(lines, segment{cheap * share / (1 - share), r.spot.price})
	}
	for ; k < len(r.Supply.Price); k++ {
		lines = append(lines, segment{tier(k) / (1 - share), share*r.spot.price + (1-share)*r.Supply.Price[k]})
	}
	return lines
}

// hull is the lower convex hull of phi over a few whole VMs.
func (r *rental) hull(low, high int64, dst []segment) (start float64, line []segment) {
	start = r.cost(low)
	last := start
	first := len(dst)
	for n := low + 1; n <= high; n++ {
		cost := r.cost(n)
		next := segment{1, cost - last}
		last = cost
		for len(dst) > first && dst[len(dst)-1].price >= next.price {
			before := dst[len(dst)-1]
			length := before.length + next.length
			next = segment{length, (before.price*before.length + next.price*next.length) / length}
			dst = dst[:len(dst)-1]
		}
		dst = append(dst, next)
	}
	return start, dst
}
