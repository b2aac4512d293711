package plan

import (
	"cmp"
	"math"
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

// pack lays out the whole slots of so many jobs and says how many VMs that takes. Classes without
// known slots take the share of VMs they were given.
func (d *decision) pack(jobs []int64) (all []capacity.VMLayout, vms int64) {
	kinds, least := d.slotKinds(jobs)
	if d.Options.Sharing != capacity.Dedicated {
		all, vms = layout(kinds)
		return all, max(vms, least)
	}
	for k := 0; k < len(kinds); k += 2 {
		own, n := layout(kinds[k : k+2])
		all, vms = append(all, own...), vms+n
	}
	return all, vms + d.looseVMs(jobs)
}

// vmsFor is how many VMs pack takes.
func (d *decision) vmsFor(jobs []int64) (vms int64) {
	kinds, least := d.slotKinds(jobs)
	if d.Options.Sharing != capacity.Dedicated {
		return max(vmCount(kinds), least)
	}
	for k := 0; k < len(kinds); k += 2 {
		vms += vmCount(kinds[k : k+2])
	}
	return vms + d.looseVMs(jobs)
}

// slotKinds is the slots of so many jobs, two kinds a class with known slots, and the VMs that all
// loads together take at least.
func (d *decision) slotKinds(jobs []int64) (kinds []slotKind, least int64) {
	kinds = make([]slotKind, 0, 2*len(d.classes))
	loose, sum := 0.0, 0.0
	for i := range d.classes {
		c := &d.classes[i]
		if jobs[i] == 0 {
			continue
		}
		if !c.slotted {
			loose += c.gamma * float64(jobs[i])
			continue
		}
		mapSlots, redSlots := c.shape.whole(jobs[i])
		sum += c.shape.size(float64(mapSlots), float64(redSlots))
		kinds = append(kinds, slotKind{c.Name, false, c.SlotsPerVM.Map, mapSlots}, slotKind{c.Name, true, c.SlotsPerVM.Reduce, redSlots})
	}
	return kinds, int64(math.Ceil(sum + loose - loadNoise))
}

// looseVMs is the VMs of the classes without known slots where each has VMs of its own.
func (d *decision) looseVMs(jobs []int64) (vms int64) {
	for i := range d.classes {
		if c := &d.classes[i]; !c.slotted {
			vms += int64(math.Ceil(c.gamma*float64(jobs[i]) - loadNoise))
		}
	}
	return vms
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

// vmCount is how many VMs layout takes: what is on which VM makes no difference to it.
func vmCount(kinds []slotKind) (count int64) {
	var slots [capacity.MaxSlotsPerVM + 1]int64 // of each size
	for _, k := range kinds {
		slots[k.perVM] += k.count
	}
	var rest []slotKind
	for i, n := range slots {
		perVM := int64(i)
		if n == 0 {
			continue
		}
		count += n / perVM
		if odd := n % perVM; odd > 0 {
			rest = append(rest, slotKind{perVM: perVM, count: odd})
		}
	}
	for _, used := range mixed(rest).bins {
		if used > 0 {
			count++
		}
	}
	return count
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

// mix packs the odd slots of several sizes.
func mix(rest []slotKind) []capacity.VMLayout {
	p := mixed(rest)
	vms := make([]capacity.VMLayout, 0, len(p.bins))
	for b := range p.bins {
		var slots []slotKind
		for i, it := range p.items {
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

// mixed packs odd slots. Each VM in turn gets the slots that fill it best; where that takes a VM
// more than the sum of sizes, other fillings are tried.
func mixed(rest []slotKind) packing {
	if len(rest) == 0 {
		return packing{}
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
			return p
		}
	}
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
