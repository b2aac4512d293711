// Package supply adds up what VMs of an hour cost, and what they cost at least, for proofs of schedules.
package supply

import (
	"math/big"
	"slices"

	"github.com/shopspring/decimal"
)

// Hour lists the sources of VMs in an hour, and what is claimed of it: the VMs rented, and a price of one for the bound.
type Hour struct {
	Supply []Source
	Spot   *Spot
	Paid   *big.Rat // beside all of these, whatever is used
	VMs    int64
	Price  decimal.Decimal
}

// Spot is VMs at a price, of which there are at most a share of all.
type Spot struct {
	Price, Share *big.Rat
}

// Source is a number of VMs, or any number, at a price. Those that are always billed cost nothing more when they are used.
type Source struct {
	VMs       int64
	Unlimited bool
	Price     decimal.Decimal
	Always    bool
}

// Bound adds to a bound what the VMs of an hour gain at its price, where each costs so many times its own, and what they cost in any case.
// It returns the price, or that of VMs without a limit where it is lower.
func (h *Hour) Bound(bound, dearer *big.Rat) (price *big.Rat) {
	price = larger(new(big.Rat), h.Price.Rat())
	parts := h.parts()
	for i := range parts {
		parts[i].price = new(big.Rat).Mul(parts[i].price, dearer)
	}
	for _, p := range parts {
		if p.vms == nil {
			price = smaller(price, p.price)
		}
	}
	for _, p := range parts {
		if p.vms != nil {
			gain := new(big.Rat).Sub(p.price, price)
			bound.Add(bound, gain.Mul(p.vms, smaller(new(big.Rat), gain)))
		}
	}
	bound.Add(bound, h.Fixed())
	return price
}

// Fixed returns what an hour costs in any case.
func (h *Hour) Fixed() *big.Rat {
	sum := new(big.Rat)
	for _, s := range h.Supply {
		if s.Always {
			sum.Add(sum, times(s.Price.Rat(), s.VMs))
		}
	}
	if h.Paid != nil {
		sum.Add(sum, h.Paid)
	}
	return sum
}

// Lines returns what the rented VMs of an hour cost, how many of them are on demand, where contracts at the same price come
// first, and how many are spot.
func (h *Hour) Lines() (cost *big.Rat, onDemand, spot int64) {
	cost, _ = h.Cost(h.VMs)
	rented := &h.Supply[len(h.Supply)-1]
	spot = h.spot(h.VMs)
	onDemand = h.VMs - spot
	for i := range h.Supply[:len(h.Supply)-1] {
		if s := &h.Supply[i]; rented.margin().Cmp(s.margin()) >= 0 {
			onDemand -= min(onDemand, s.VMs)
		}
	}
	if !rented.Unlimited {
		onDemand = min(onDemand, rented.VMs)
	}
	return cost, onDemand, spot
}

// spot returns how many of some VMs are spot: as many as may be, after all others that cost no more.
func (h *Hour) spot(vms int64) int64 {
	if h.Spot == nil {
		return 0
	}
	others := int64(0)
	for _, s := range h.Supply {
		switch {
		case h.Spot.Price.Cmp(s.margin()) < 0:
		case s.Unlimited:
			return 0
		default:
			others += s.VMs
		}
	}
	return max(0, min(down(times(h.Spot.Share, vms)), vms-others))
}

// byPrice returns the sources of an hour, the cheapest first.
func (h *Hour) byPrice() []Source {
	all := slices.Clone(h.Supply)
	slices.SortStableFunc(all, func(a, b Source) int { return a.margin().Cmp(b.margin()) })
	return all
}

// Cost returns what VMs cost in an hour, the cheapest first, with all that is always billed. It is false if there are too few.
func (h *Hour) Cost(vms int64) (cost *big.Rat, ok bool) {
	cost = new(big.Rat)
	if h.Paid != nil {
		cost.Set(h.Paid)
	}
	if spot := h.spot(vms); spot > 0 {
		cost.Add(cost, times(h.Spot.Price, spot))
		vms -= spot
	}
	for _, s := range h.byPrice() {
		if s.Always {
			cost.Add(cost, times(s.Price.Rat(), s.VMs))
		}
		n := min(vms, s.VMs)
		if s.Unlimited {
			n = vms
		}
		cost.Add(cost, times(s.margin(), n))
		vms -= n
	}
	return cost, vms == 0
}

// part is parts of VMs at a price in an hour. Without VMs there is no limit.
type part struct{ vms, price *big.Rat }

// parts returns what VMs cost at least if a part of each may be spot. Cheaper ones come first, then as many spot VMs as they allow,
// and then others with spot VMs among them.
func (h *Hour) parts() (all []part) {
	cheaper, limited := int64(0), true
	sources := h.byPrice()
	for len(sources) > 0 && limited && (h.Spot == nil || h.Spot.Price.Cmp(sources[0].margin()) >= 0) {
		s := sources[0]
		if sources = sources[1:]; s.Unlimited {
			all, limited = append(all, part{nil, s.margin()}), false
			continue
		}
		all = append(all, part{big.NewRat(s.VMs, 1), s.margin()})
		cheaper += s.VMs
	}
	if h.Spot == nil || !limited {
		return all
	}
	rest := new(big.Rat).Sub(big.NewRat(1, 1), h.Spot.Share)
	if rest.Sign() == 0 {
		return append(all, part{nil, h.Spot.Price})
	}
	all = append(all, part{new(big.Rat).Quo(times(h.Spot.Share, cheaper), rest), h.Spot.Price})
	for _, s := range sources {
		x := part{price: new(big.Rat).Mul(h.Spot.Share, h.Spot.Price)}
		x.price.Add(x.price, new(big.Rat).Mul(rest, s.margin()))
		if !s.Unlimited {
			x.vms = new(big.Rat).Quo(big.NewRat(s.VMs, 1), rest)
		}
		all = append(all, x)
	}
	return all
}

// margin returns the price of using one VM more.
func (s *Source) margin() *big.Rat {
	if s.Always {
		return new(big.Rat)
	}
	return s.Price.Rat()
}

// times returns a figure so many times.
func times(x *big.Rat, n int64) *big.Rat { return new(big.Rat).Mul(x, big.NewRat(n, 1)) }

// down rounds a figure down that is not below zero.
func down(x *big.Rat) int64 { return new(big.Int).Quo(x.Num(), x.Denom()).Int64() }

func larger(x, y *big.Rat) *big.Rat {
	if x.Cmp(y) < 0 {
		return y
	}
	return x
}

func smaller(x, y *big.Rat) *big.Rat {
	if y.Cmp(x) < 0 {
		return y
	}
	return x
}
