package pool

import (
	"math"
	"slices"
)

// empty returns the outcome without a mix.
func (m *model) empty() PoolOutcome {
	return PoolOutcome{
		Mix:  PoolMix{Core: []PoolCore{}, Accelerators: []PoolAccelerator{}},
		Jobs: []PoolJobDone{}, NeededGB: m.needed, Warnings: slices.Clone(m.warnings),
	}
}

// outcome returns the outcome of a mix with a division of the work.
func (m *model) outcome(a PoolMix, supplies []supply, d division) PoolOutcome {
	o := m.empty()
	o.Mix = a
	for _, x := range a.Core {
		o.CoreCost.Decimal = o.CoreCost.Add(x.Cost.Decimal)
		o.DiskGB += float64(x.Count) * m.Types[m.places[x.Type]].DiskGB
	}
	for _, x := range a.Accelerators {
		o.AcceleratorCost.Decimal = o.AcceleratorCost.Add(x.Cost.Decimal)
	}
	o.Cost.Decimal = o.CoreCost.Add(o.AcceleratorCost.Decimal)
	finish, _ := m.finishes(supplies, d)
	all := 0.0
	for j, job := range m.Jobs {
		done := PoolJobDone{Name: job.Name, DeadlineHours: m.deadlines[j], Late: m.late(j, finish[j]), On: []PoolWorkOn{}}
		if !math.IsInf(finish[j], 1) {
			done.FinishHours = &finish[j]
		}
		all = max(all, finish[j])
		for i, t := range m.Types {
			if d[j][i] > 0 {
				done.On = append(done.On, PoolWorkOn{Type: t.Name, Rate: m.rates[j][i], Imputed: m.imputed[j][i], InstanceHours: d[j][i]})
			}
		}
		o.Jobs = append(o.Jobs, done)
	}
	if !math.IsInf(all, 1) {
		o.Hours = &all
	}
	return o
}
