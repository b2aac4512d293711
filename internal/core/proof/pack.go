package proof

import (
	"math/big"
	"slices"

	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/proof/exact"
)

// packs reports whether the slots of a selection fit on the given number of VMs. Shares of VMs only add up if slots
// of different sizes fill one. So it first sets up VMs full of one size, then tries the few remaining slots in all
// ways.
func (m *model) packs(chosen []option, vms *exact.Rat) bool {
	if m.integrality != capacity.Executable || m.dedicated {
		return true // one class alone fits the ceiling of its size
	}
	slots := map[int64]int64{} // number of slots of size 1/key
	for i := range chosen {
		if c := m.classes[i]; !c.given {
			slots[c.perMap] += chosen[i].slots.maps
			slots[c.perReduce] += chosen[i].slots.reduces
		}
	}
	lcm, full := int64(1), int64(0)
	var left []int64 // denominators of the remaining slots' sizes
	for per, n := range slots {
		full += n / per
		for range n % per {
			left = append(left, per)
		}
		if lcm = lcm / gcd(lcm, per) * per; lcm > maxSlots || len(left) > maxLeftOver {
			return false
		}
	}
	slices.Sort(left) // the largest slots first
	free := sub(vms, whole(full))
	if free.Sign() < 0 {
		return false
	}
	bins := new(big.Int).Set(free.Num())
	if !bins.IsInt64() || bins.Int64() >= int64(len(left)) {
		return true
	}
	p := packer{lcm: lcm, free: make([]int64, bins.Int64()), tries: maxTries}
	for k := range p.free {
		p.free[k] = lcm
	}
	return p.place(left)
}

const (
	maxLeftOver = 500
	maxTries    = 20_000
)

// packer puts slots into VMs by trying.
type packer struct {
	lcm   int64
	free  []int64 // of each VM, in units of 1/lcm
	tries int
}

func (p *packer) place(left []int64) bool {
	if len(left) == 0 {
		return true
	}
	size := p.lcm / left[0]
	for k, free := range p.free {
		if free < size || slices.Contains(p.free[:k], free) { // an equally free VM was tried
			continue
		}
		if p.tries--; p.tries < 0 {
			return false
		}
		p.free[k] -= size
		if p.place(left[1:]) {
			return true
		}
		p.free[k] += size
	}
	return false
}
