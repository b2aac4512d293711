package plan

import (
	"cmp"
	"math"
	"slices"

	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/money"
	"example.org/headroom/internal/core/plan/integer"
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

// vmsFor returns the number of VMs that pack takes.
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
	if d.known != nil {
		kinds = d.known.kinds[:0]
	} else {
		kinds = make([]slotKind, 0, 2*len(d.classes))
	}
	var sum money.Sum
	for i := range d.classes {
		c := &d.classes[i]
		if jobs[i] == 0 {
			continue
		}
		if !c.slotted {
			sum.Add(c.gamma * float64(jobs[i]))
			continue
		}
		mapSlots, redSlots := c.shape.whole(jobs[i])
		sum.Add(c.shape.size(float64(mapSlots), float64(redSlots)))
		kinds = append(kinds, slotKind{c.Name, false, c.SlotsPerVM.Map, mapSlots}, slotKind{c.Name, true, c.SlotsPerVM.Reduce, redSlots})
	}
	if d.known != nil {
		d.known.kinds = kinds
	}
	load := sum.Value()
	return kinds, int64(math.Ceil(load - d.lack(load, true)))
}

// looseVMs is the VMs of the classes without known slots where each has VMs of its own.
func (d *decision) looseVMs(jobs []int64) (vms int64) {
	for i := range d.classes {
		if c := &d.classes[i]; !c.slotted && jobs[i] > 0 {
			vms += c.ownVMs(jobs[i])
		}
	}
	return vms
}

// layout puts whole slots onto VMs, equal VMs listed once. Slots of one size fill VMs exactly; only
// what is left of each size is mixed. Up to 4 slots a VM this takes the sum of sizes rounded up,
// up to 6 at most one VM more.
func layout(kinds []slotKind) (vms []capacity.VMLayout, count int64) {
	kinds = bySize(kinds)
	list := loadedVMs{vms: make([]capacity.VMLayout, 0, 2*len(kinds)), slots: make([]capacity.ClassSlots, 0, 3*len(kinds))}
	var rest []slotKind // less than one VM of each size
	for len(kinds) > 0 {
		same := 1
		for same < len(kinds) && kinds[same].perVM == kinds[0].perVM {
			same++
		}
		rest = list.fill(kinds[:same], rest)
		kinds = kinds[same:]
	}
	list.mix(rest)
	for _, v := range list.vms {
		count += v.VMs
	}
	return list.vms, count
}

// bySize is the kinds that have slots by the number of them on a VM, in their order where it is equal.
func bySize(kinds []slotKind) []slotKind {
	var at [capacity.MaxSlotsPerVM + 2]int // where kinds of a size go
	for _, k := range kinds {
		if k.count > 0 {
			at[k.perVM+1]++
		}
	}
	for n := range at[1:] {
		at[n+1] += at[n]
	}
	sorted := make([]slotKind, at[len(at)-1])
	for _, k := range kinds {
		if k.count > 0 {
			sorted[at[k.perVM]] = k
			at[k.perVM]++
		}
	}
	return sorted
}

// vmCount returns the number of VMs that layout takes, in any order.
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

// loadedVMs is VMs and what stands on them; the slots of all VMs share one list.
type loadedVMs struct {
	vms   []capacity.VMLayout
	slots []capacity.ClassSlots
}

// add appends VMs that carry the same slots, listed by class.
func (l *loadedVMs) add(vms int64, kinds ...slotKind) {
	from := len(l.slots)
	for _, k := range kinds {
		own := l.slots[from:]
		at := slices.IndexFunc(own, func(c capacity.ClassSlots) bool { return c.Class == k.class })
		if at < 0 {
			l.slots = append(l.slots, capacity.ClassSlots{Class: k.class})
			own = l.slots[from:]
			at = len(own) - 1
		}
		if k.reduce {
			own[at].Reduce += k.count
		} else {
			own[at].Map += k.count
		}
	}
	l.vms = append(l.vms, capacity.VMLayout{VMs: vms, Slots: slices.Clip(l.slots[from:])})
}

// fill fills whole VMs with slots of one size and appends what is left to rest.
func (l *loadedVMs) fill(kinds []slotKind, rest []slotKind) []slotKind {
	perVM := kinds[0].perVM
	var open []slotKind // the VM being filled from several kinds
	room := perVM
	for _, k := range kinds {
		if take := min(room, k.count); room < perVM && take > 0 {
			open = append(open, slotKind{k.class, k.reduce, perVM, take})
			room -= take
			k.count -= take
			if room == 0 {
				l.add(1, open...)
				open, room = open[:0], perVM
			}
		}
		if full := k.count / perVM; full > 0 {
			l.add(full, slotKind{k.class, k.reduce, perVM, perVM})
			k.count -= full * perVM
		}
		if k.count > 0 {
			open = append(open, k)
			room -= k.count
		}
	}
	return append(rest, open...)
}

// mix adds the odd slots of several sizes.
func (l *loadedVMs) mix(rest []slotKind) {
	p := mixed(rest)
	for b := range p.bins {
		var slots []slotKind
		for i, it := range p.items {
			if p.at[i] == b {
				slots = append(slots, slotKind{rest[it.kind].class, rest[it.kind].reduce, rest[it.kind].perVM, 1})
			}
		}
		if len(slots) > 0 {
			l.add(1, slots...)
		}
	}
}

// mixed packs odd slots. Each VM in turn gets the slots that fill it best; where that takes a VM
// more than the sum of sizes, other fillings are tried.
func mixed(rest []slotKind) packing {
	if len(rest) == 0 {
		return packing{}
	}
	grid := int64(1)
	for _, k := range rest {
		if grid = grid / integer.GCD(grid, k.perVM) * k.perVM; grid > integer.FineGrid {
			grid = integer.FineGrid
			break
		}
	}
	sum := int64(0)
	var items []item
	for at, k := range rest {
		for range k.count {
			items = append(items, item{at, integer.CeilDiv(grid, k.perVM)})
			sum += integer.CeilDiv(grid, k.perVM)
		}
	}
	slices.SortStableFunc(items, func(a, b item) int { return cmp.Compare(b.size, a.size) })
	p := packing{items: items, grid: grid, budget: mixMost}
	for bins := int(integer.CeilDiv(sum, grid)); ; bins++ {
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
