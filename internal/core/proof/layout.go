package proof

import (
	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/proof/exact"
)

// layout checks that VMs can carry their slots, and that all slots have a VM.
func (m *model) layout(pl capacity.Plan, a answer) []string {
	var f faults
	place := make(map[string]int, len(m.classes))
	for i := range m.problem.Classes {
		place[m.problem.Classes[i].Name] = i
	}
	maps, reduces := make([]*exact.Rat, len(m.classes)), make([]*exact.Rat, len(m.classes))
	for i := range maps {
		maps[i], reduces[i] = zero(), zero()
	}
	vms := zero()
	for k, l := range pl.Layout {
		if l.VMs < 1 {
			f.addf("Line %d of the layout has %d VMs.", k+1, l.VMs)
			continue
		}
		n, load := whole(l.VMs), zero()
		vms.Add(vms, n)
		for _, s := range l.Slots {
			i, known := place[s.Class]
			if !known || m.classes[i].given || s.Map < 0 || s.Reduce < 0 {
				f.addf("Line %d of the layout has %d map and %d reduce slots of %q, which has none to place.", k+1, s.Map, s.Reduce, s.Class)
				continue
			}
			if m.dedicated && s.Class != l.Slots[0].Class {
				f.addf("Line %d of the layout mixes %s with %s on a dedicated VM.", k+1, s.Class, l.Slots[0].Class)
			}
			load.Add(load, m.classes[i].size(whole(s.Map), whole(s.Reduce)))
			maps[i].Add(maps[i], mul(n, whole(s.Map)))
			reduces[i].Add(reduces[i], mul(n, whole(s.Reduce)))
		}
		if load.Cmp(whole(1)) > 0 {
			f.addf("Line %d of the layout puts %s VMs' slots on one VM.", k+1, short(load))
		}
	}
	for i := range m.classes {
		if name := m.problem.Classes[i].Name; maps[i].Cmp(a[i].maps) != 0 || reduces[i].Cmp(a[i].reduces) != 0 {
			f.addf("%s: %s map and %s reduce slots are laid out, and %s and %s planned.",
				name, short(maps[i]), short(reduces[i]), short(a[i].maps), short(a[i].reduces))
		}
		if m.dedicated && m.classes[i].given { // its VMs have no slots to list
			vms.Add(vms, m.roundUp(i, a[i]))
		}
	}
	if less(number(pl.VMs.Total), vms) {
		f.addf("The layout needs %s VMs and %v are rented.", moreThan(vms, number(pl.VMs.Total)), pl.VMs.Total)
	}
	return f
}
