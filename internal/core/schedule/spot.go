package schedule

import (
	"math"
	"math/bits"
)

// Spot is cheap VMs of a step that may be taken away. At most Share parts of Of of all VMs may be spot.
type Spot struct {
	Price     float64
	Share, Of int64 // Share is at most Of, and 0 where there are none
}

// Most returns how many of some VMs may be spot.
func (s Spot) Most(vms int64) int64 {
	if s.Share <= 0 || vms <= 0 {
		return 0
	}
	high, low := bits.Mul64(uint64(vms), uint64(s.Share))
	most, _ := bits.Div64(high, low, uint64(s.Of))
	return int64(most)
}

// spotAt returns the spot VMs of a step.
func (p *Problem) spotAt(step int) Spot {
	if p.Spot == nil {
		return Spot{}
	}
	return p.Spot[step]
}

// spot returns how many of some VMs of a step are spot. Others that cost no more come first.
func (p *Problem) spot(step int, vms int64) int64 {
	s := p.spotAt(step)
	if s.Share == 0 {
		return 0
	}
	most, others := s.Most(vms), int64(0)
	for _, t := range p.Supply[step] {
		if t.Price <= s.Price {
			others = min(Unlimited, others+t.VMs)
		}
	}
	return max(0, min(most, vms-others))
}

// tiers calls with what parts of VMs cost at least, the cheapest first: from the price of spot VMs on, each VM is spot to the share
// that may be. No whole number of VMs costs less. The last may have no limit.
func (p *Problem) tiers(step int, with func(vms, price float64)) {
	s := p.spotAt(step)
	spot, rest, cheaper := 0.0, 1.0, 0.0
	if s.Share > 0 {
		spot = float64(s.Share) / float64(s.Of)
		rest = float64(s.Of-s.Share) / float64(s.Of)
	}
	begun := spot == 0
	begin := func() {
		if begun = true; rest == 0 {
			with(math.Inf(1), s.Price)
		} else if cheaper > 0 {
			with(cheaper*spot/rest, s.Price)
		}
	}
	for _, t := range p.Supply[step] {
		vms := float64(t.VMs)
		if t.VMs >= Unlimited {
			vms = math.Inf(1)
		}
		if !begun && t.Price > s.Price {
			begin()
		}
		switch {
		case spot == 0 || !begun:
			with(vms, t.Price)
			cheaper += vms
		case rest > 0:
			with(vms/rest, spot*s.Price+rest*t.Price)
		}
	}
	if !begun && !math.IsInf(cheaper, 1) {
		begin()
	}
}

// widened returns the most VMs with spot VMs among them where there are so many others.
func (s Spot) widened(others int64) int64 {
	if s.Share == 0 || others >= Unlimited {
		return others
	}
	if s.Share == s.Of {
		return Unlimited
	}
	fits := func(vms int64) bool { return vms-s.Most(vms) <= others }
	vms := int64(math.Min(float64(Unlimited), float64(others)*float64(s.Of)/float64(s.Of-s.Share)))
	for !fits(vms) {
		vms--
	}
	for vms < Unlimited && fits(vms+1) {
		vms++
	}
	return vms
}
