package plan

import (
	"fmt"
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
// up to 16 the fewest VMs that carry them.
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
	return count + int64(len(mixed(rest).vms))
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

// mix adds the odd slots of several sizes. Each VM takes what it carries of a size from the kinds in their order.
func (l *loadedVMs) mix(rest []slotKind) {
	m := mixed(rest)
	for _, vm := range m.vms {
		var slots []slotKind
		for k := range rest {
			of := slices.Index(m.perVM, rest[k].perVM)
			if n := min(vm[of], rest[k].count); n > 0 {
				slots = append(slots, slotKind{rest[k].class, rest[k].reduce, rest[k].perVM, n})
				vm[of] -= n
				rest[k].count -= n
			}
		}
		l.add(1, slots...)
	}
}

// mixing puts odd slots of several sizes onto VMs, which are filled one after the other.
type mixing struct {
	perVM []int64 // slots of each size on a VM, ascending: the largest slots come first
	units []int64 // of a slot of each size
	left  []int64 // slots that stand nowhere yet
	grid  int64   // units of a VM
	vms   [][]int64
	tries int
	dead  map[string]int // VMs that are too few for what was left
}

// mixMost bounds the search for a mixing; beyond it the first that fits is taken.
const mixMost = 20_000

// mixed puts odd slots, ordered by size, onto the fewest VMs. The sum of sizes is tried first, and then a VM more.
func mixed(rest []slotKind) *mixing {
	m := &mixing{grid: 1, tries: mixMost, dead: map[string]int{}}
	for _, k := range rest {
		if n := len(m.perVM); n == 0 || m.perVM[n-1] != k.perVM {
			m.perVM, m.left = append(m.perVM, k.perVM), append(m.left, 0)
			if m.grid = m.grid / integer.GCD(m.grid, k.perVM) * k.perVM; m.grid > integer.FineGrid {
				m.grid = integer.FineGrid
			}
		}
		m.left[len(m.left)-1] += k.count
	}
	for _, perVM := range m.perVM {
		m.units = append(m.units, integer.CeilDiv(m.grid, perVM))
	}
	for vms := int(integer.CeilDiv(m.volume(), m.grid)); !m.fit(vms) && !m.firstFit(vms); {
		vms++
	}
	return m
}

// volume is the units of all that is left.
func (m *mixing) volume() (sum int64) {
	for k, n := range m.left {
		sum += n * m.units[k]
	}
	return sum
}

// fit puts what is left onto so many more VMs. The first of them takes one of the largest slots that are left.
func (m *mixing) fit(vms int) bool {
	largest := slices.IndexFunc(m.left, func(n int64) bool { return n > 0 })
	switch {
	case largest < 0:
		return true
	case m.volume() > int64(vms)*m.grid:
		return false
	}
	if len(m.dead) > 0 && m.dead[fmt.Sprint(m.left)] >= vms {
		return false
	}
	m.vms = append(m.vms, make([]int64, len(m.left)))
	if m.fill(largest, largest, m.grid, vms) {
		return true
	}
	m.vms = m.vms[:len(m.vms)-1]
	if m.tries >= 0 {
		m.dead[fmt.Sprint(m.left)] = vms
	}
	return false
}

// fill puts slots of a size and of smaller ones onto the last VM, in every way that leaves no room for another slot, and the
// rest onto the other VMs.
func (m *mixing) fill(size, largest int, room int64, vms int) bool {
	if size == len(m.left) {
		for k, n := range m.left {
			if n > 0 && m.units[k] <= room {
				return false
			}
		}
		return m.fit(vms - 1)
	}
	if m.tries--; m.tries < 0 {
		return false
	}
	vm, least := m.vms[len(m.vms)-1], int64(0)
	if size == largest {
		least = 1
	}
	for n := min(m.left[size], room/m.units[size]); n >= least; n-- {
		vm[size] = n
		m.left[size] -= n
		if m.fill(size+1, largest, room-n*m.units[size], vms) {
			return true
		}
		m.left[size] += n
	}
	return false
}

// firstFit puts each slot onto the first VM with room.
func (m *mixing) firstFit(vms int) bool {
	bins, room := make([][]int64, vms), make([]int64, vms)
	for b := range bins {
		bins[b], room[b] = make([]int64, len(m.left)), m.grid
	}
	for k, n := range m.left {
		for range n {
			b := slices.IndexFunc(room, func(room int64) bool { return m.units[k] <= room })
			if b < 0 {
				return false
			}
			bins[b][k]++
			room[b] -= m.units[k]
		}
	}
	m.vms = slices.DeleteFunc(bins, func(vm []int64) bool { return !slices.ContainsFunc(vm, func(n int64) bool { return n > 0 }) })
	return true
}
