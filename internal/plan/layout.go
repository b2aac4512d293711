package plan

import (
	"cmp"
	"slices"

	"headroom/internal/capacity"
)

// slotKind is one class's slots of one phase: so many, each taking 1/perVM of a VM.
type slotKind struct {
	class  string
	reduce bool
	perVM  int64
	count  int64
}

// layout puts whole slots onto VMs, equal VMs listed once. Slots of one size fill VMs exactly; only
// what is left of each size is mixed. Up to 4 slots a VM this takes the sum of sizes rounded up,
// up to 6 at most one VM more.
func layout(kinds []slotKind) (vms []capacity.VMLayout, count int64) {
	bySize := make(map[int64][]slotKind)
	var sizes []int64
	for _, k := range kinds {
		if k.count == 0 {
			continue
		}
		if bySize[k.perVM] == nil {
			sizes = append(sizes, k.perVM)
		}
		bySize[k.perVM] = append(bySize[k.perVM], k)
	}
	slices.Sort(sizes)
	var rest []slotKind // less than one VM of each size
	for _, n := range sizes {
		var full []capacity.VMLayout
		full, rest = fillSize(bySize[n], n, rest)
		vms = append(vms, full...)
	}
	vms = append(vms, mix(rest)...)
	for _, v := range vms {
		count += v.VMs
	}
	return vms, count
}

// fillSize fills whole VMs with slots of one size and appends what is left to rest.
func fillSize(kinds []slotKind, perVM int64, rest []slotKind) ([]capacity.VMLayout, []slotKind) {
	var vms []capacity.VMLayout
	var open []slotKind // the VM being filled from several kinds
	room := perVM
	for _, k := range kinds {
		if take := min(room, k.count); room < perVM && take > 0 {
			open = append(open, slotKind{k.class, k.reduce, perVM, take})
			room -= take
			k.count -= take
			if room == 0 {
				vms = append(vms, one(open))
				open, room = nil, perVM
			}
		}
		if full := k.count / perVM; full > 0 {
			vms = append(vms, capacity.VMLayout{VMs: full, Slots: classSlots([]slotKind{{k.class, k.reduce, perVM, perVM}})})
			k.count -= full * perVM
		}
		if k.count > 0 {
			open = append(open, k)
			room -= k.count
		}
	}
	return vms, append(rest, open...)
}

func one(kinds []slotKind) capacity.VMLayout {
	return capacity.VMLayout{VMs: 1, Slots: classSlots(kinds)}
}

// classSlots lists slots by class.
func classSlots(kinds []slotKind) []capacity.ClassSlots {
	var list []capacity.ClassSlots
	for _, k := range kinds {
		at := slices.IndexFunc(list, func(c capacity.ClassSlots) bool { return c.Class == k.class })
		if at < 0 {
			list = append(list, capacity.ClassSlots{Class: k.class})
			at = len(list) - 1
		}
		if k.reduce {
			list[at].Reduce += k.count
		} else {
			list[at].Map += k.count
		}
	}
	return list
}

// mix packs the odd slots of several sizes. Each VM in turn gets the slots that fill it best;
// where that takes a VM more than the sum of sizes, other fillings are tried.
func mix(rest []slotKind) []capacity.VMLayout {
	if len(rest) == 0 {
		return nil
	}
	grid := int64(1)
	for _, k := range rest {
		if grid = grid / gcd(grid, k.perVM) * k.perVM; grid > fineGrid {
			grid = fineGrid
			break
		}
	}
	sum := int64(0)
	var items []item
	for at, k := range rest {
		for range k.count {
			items = append(items, item{at, ceilDiv(grid, k.perVM)})
			sum += ceilDiv(grid, k.perVM)
		}
	}
	slices.SortStableFunc(items, func(a, b item) int { return cmp.Compare(b.size, a.size) })
	p := packing{items: items, grid: grid, budget: mixMost}
	for bins := int(ceilDiv(sum, grid)); ; bins++ {
		p.bins = make([]int64, bins)
		p.at = make([]int, len(items))
		if p.place(0) || p.firstFit() {
			break
		}
	}
	vms := make([]capacity.VMLayout, 0, len(p.bins))
	for b := range p.bins {
		var slots []slotKind
		for i, it := range items {
			if p.at[i] == b {
				slots = append(slots, slotKind{rest[it.kind].class, rest[it.kind].reduce, rest[it.kind].perVM, 1})
			}
		}
		if len(slots) > 0 {
			vms = append(vms, one(slots))
		}
	}
	return vms
}

// mixMost bounds the search for a packing of odd slots; beyond it the first that fits is taken.
const mixMost = 20_000

type item struct {
	kind int
	size int64
}

// packing is a bin-packing of the odd slots, largest first.
type packing struct {
	items  []item
	grid   int64
	bins   []int64 // used of each
	at     []int   // bin of each item
	budget int
}

// place puts items i and later into the bins, backtracking while the budget lasts.
func (p *packing) place(i int) bool {
	if i == len(p.items) {
		return true
	}
	for b, used := range p.bins {
		if p.budget--; p.budget < 0 {
			return false
		}
		if used+p.items[i].size > p.grid || slices.Contains(p.bins[:b], used) {
			continue
		}
		p.bins[b] += p.items[i].size
		p.at[i] = b
		if p.place(i + 1) {
			return true
		}
		p.bins[b] -= p.items[i].size
	}
	return false
}

// firstFit puts each item into the first bin with room.
func (p *packing) firstFit() bool {
	clear(p.bins)
	for i, it := range p.items {
		b := slices.IndexFunc(p.bins, func(used int64) bool { return used+it.size <= p.grid })
		if b < 0 {
			return false
		}
		p.bins[b] += it.size
		p.at[i] = b
	}
	return true
}
