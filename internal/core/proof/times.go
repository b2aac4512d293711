package proof

import (
	"math/big"

	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/proof/exact"
)

// Bounds holds the lower, the average and the upper demand of a profile, in this order.
type Bounds [3]demand

// BoundsOf works out the bounds of a profile exactly.
func BoundsOf(p *capacity.Profile) Bounds {
	lower, average, upper := demands(p)
	return Bounds{lower, average, upper}
}

// HasMaps and HasReduces say whether a phase has work, so that it needs a slot.
func (b *Bounds) HasMaps() bool { return b[1].a.Sign() > 0 }

func (b *Bounds) HasReduces() bool { return b[1].b.Sign() > 0 }

// Times are the bounds of an execution alone on so many slots. A phase with work needs one.
func (b *Bounds) Times(mapSlots, reduceSlots int64) (times [3]*big.Rat) {
	for i, d := range b {
		t := new(exact.Rat).Set(d.c)
		if b.HasMaps() {
			t.Add(t, quo(d.a, whole(mapSlots)))
		}
		if b.HasReduces() {
			t.Add(t, quo(d.b, whole(reduceSlots)))
		}
		times[i] = t.Rat()
	}
	return times
}
