package plan

import (
	"math"
)

// stayNear trades what the gap leaves open for calm: among the plans that are still within the
// gap, it takes one close to the previous plan, by VMs first and by jobs then. It walks both ways:
// from the best plan back to the previous one, and from the previous one towards the best.
func (d *decision) stayNear(tolerance float64) {
	limit := max(d.best.Objective, d.best.Objective-d.best.Gap+tolerance)
	previous := append([]int64(nil), d.best.Jobs...)
	for i := range d.classes {
		c := &d.classes[i]
		if jobs, known := d.Options.Near.Jobs[c.Name]; known {
			previous[i] = int64(math.Round(min(c.high, max(c.low, jobs))))
		}
	}
	chosen := d.distance(d.best.Jobs, previous)
	for _, jobs := range [][]int64{d.walk(d.best.Jobs, previous, limit, false), d.walk(previous, d.best.Jobs, limit, true)} {
		cost := d.front.objective(jobs)
		if cost > limit {
			continue
		}
		if at := d.distance(jobs, previous); at.less(chosen) {
			chosen = at
			d.best.Gap = max(0, d.best.Gap+cost-d.best.Objective)
			d.best.Jobs, d.best.Objective, d.best.VMs = jobs, cost, vms(d.front, jobs)
		}
	}
}

// away is how far a plan is from the previous one.
type away struct{ vms, jobs float64 }

func (a away) less(b away) bool { return a.vms < b.vms || a.vms == b.vms && a.jobs < b.jobs }

func (d *decision) distance(jobs, previous []int64) away {
	a := away{vms: math.Abs(float64(vms(d.front, jobs)) - d.Options.Near.VMs)}
	for i := range jobs {
		a.jobs += math.Abs(float64(jobs[i] - previous[i]))
	}
	return a
}

// walk moves classes one by one from one plan to another. Wanting to stop, it ends at the first
// plan within the limit; otherwise it takes every step that stays within it.
func (d *decision) walk(from, to []int64, limit float64, stop bool) []int64 {
	jobs := append([]int64(nil), from...)
	supply := newSupply(d.tiers)
	load, worth := d.front.load(jobs), neumaier{}
	for i, h := range jobs {
		worth.add(-d.classes[i].penalty * float64(h))
	}
	within := func() bool { return supply.cost(ceilDiv(load, d.front.perVM()))+worth.value() <= limit }
	move := func(i int, h int64) {
		load += d.front.units(i, h) - d.front.units(i, jobs[i])
		worth.add(-d.classes[i].penalty * float64(h-jobs[i]))
		jobs[i] = h
	}
	for moved := true; moved && !(stop && within()); {
		moved = false
		for i, before := range jobs {
			if before == to[i] {
				continue
			}
			move(i, to[i])
			switch ok := within(); {
			case stop && ok:
				return jobs
			case stop || ok:
				moved = true
			default:
				move(i, before)
			}
		}
	}
	return jobs
}
