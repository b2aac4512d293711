package proof

import (
	"slices"

	"example.org/headroom/internal/core/capacity"
)

// layOut puts slots on VMs one by one, full VMs of one slot size first, then anywhere with room.
func layOut(p capacity.Problem, pl capacity.Plan) []capacity.VMLayout {
	const size = 12 // twelfths of a VM, for up to four slots
	type slot struct {
		class  int
		reduce bool
		units  int64
	}
	var slots []slot
	for i, c := range pl.Classes {
		if c.Slots == nil {
			continue
		}
		for range int(c.Slots.Map) {
			slots = append(slots, slot{i, false, size / p.Classes[i].SlotsPerVM.Map})
		}
		for range int(c.Slots.Reduce) {
			slots = append(slots, slot{i, true, size / p.Classes[i].SlotsPerVM.Reduce})
		}
	}
	dedicated := p.Options.Sharing == capacity.Dedicated
	slices.SortStableFunc(slots, func(x, y slot) int {
		if dedicated && x.class != y.class {
			return x.class - y.class
		}
		return int(y.units - x.units)
	})
	var vms [][]slot
	var rest []slot
	for from := 0; from < len(slots); {
		n := int(size / slots[from].units)
		if to := from + n; to <= len(slots) && slots[to-1].units == slots[from].units && (!dedicated || slots[to-1].class == slots[from].class) {
			vms = append(vms, slots[from:to])
			from = to
			continue
		}
		rest = append(rest, slots[from])
		from++
	}
	free := int(pl.VMs.Total) - len(vms)
	bins := make([][]slot, free)
	room := make([]int64, free)
	for i := range room {
		room[i] = size
	}
	var place func(k int) bool
	place = func(k int) bool {
		if k == len(rest) {
			return true
		}
		for i := range bins {
			if room[i] < rest[k].units || dedicated && len(bins[i]) > 0 && bins[i][0].class != rest[k].class {
				continue
			}
			bins[i], room[i] = append(bins[i], rest[k]), room[i]-rest[k].units
			if place(k + 1) {
				return true
			}
			bins[i], room[i] = bins[i][:len(bins[i])-1], room[i]+rest[k].units
		}
		return false
	}
	place(0)
	var out []capacity.VMLayout
	for _, vm := range append(vms, bins...) {
		var l capacity.VMLayout
		l.VMs = 1
		for _, s := range vm {
			k := slices.IndexFunc(l.Slots, func(c capacity.ClassSlots) bool { return c.Class == p.Classes[s.class].Name })
			if k < 0 {
				k = len(l.Slots)
				l.Slots = append(l.Slots, capacity.ClassSlots{Class: p.Classes[s.class].Name})
			}
			if s.reduce {
				l.Slots[k].Reduce++
			} else {
				l.Slots[k].Map++
			}
		}
		if len(l.Slots) > 0 {
			out = append(out, l)
		}
	}
	return out
}
