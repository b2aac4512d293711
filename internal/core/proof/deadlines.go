package proof

import (
	"math/big"

	"headroom/internal/core/capacity"
)

// deadlines checks that each class's jobs finish in time on its slots, and the times said.
func (m *model) deadlines(pl capacity.Plan, a answer) []string {
	var f faults
	for i := range m.classes {
		c, said := &m.classes[i], &pl.Classes[i]
		switch {
		case c.given:
			if said.Slots != nil || said.Time != nil {
				f.addf("%s: only its VMs per job are known, so that it has neither slots nor times.", said.Name)
			}
		case a[i].jobs.Sign() == 0:
			m.idle(&f, said, a[i])
		case !a[i].slots:
			f.addf("%s: %v jobs are admitted and no slots given.", said.Name, said.Admitted)
		default:
			m.deadline(&f, c, said, a[i])
		}
	}
	return f
}

// idle checks a class without jobs.
func (m *model) idle(f *faults, said *capacity.ClassPlan, x part) {
	if x.maps.Sign() != 0 || x.reduces.Sign() != 0 {
		f.addf("%s: no job is admitted and yet slots are given.", said.Name)
	}
	if t := said.Time; t != nil && (t.Lower != nil || t.Average != nil || t.Upper != nil || t.Calibrated != nil) {
		f.addf("%s: no job is admitted, so that none takes the time said.", said.Name)
	}
}

func (m *model) deadline(f *faults, c *class, said *capacity.ClassPlan, x part) {
	executable := m.integrality == capacity.Executable
	if x.maps.Sign() < 0 || x.reduces.Sign() < 0 || executable && (!x.maps.IsInt() || !x.reduces.IsInt()) {
		f.addf("%s: %v map and %v reduce slots cannot be set up.", said.Name, said.Slots.Map, said.Slots.Reduce)
		return
	}
	m.leastSlots(f, c, said.Name, "map", c.hasMap, x.maps, x.jobs)
	m.leastSlots(f, c, said.Name, "reduce", c.hasReduce, x.reduces, x.jobs)
	if !executable { // the slots are gamma's, seen from another side
		if size := c.size(x.maps, x.reduces); less(add(x.need, mul(x.jobs, c.doubt())), size) {
			f.addf("%s: its slots take %s VMs, more than the %s they are counted as.", said.Name, short(size), short(x.need))
		}
	}
	t, _, ok := c.plan.time(x.jobs, x.maps, x.reduces, c.loss)
	if !ok {
		f.addf("%s: a phase with work has no slots.", said.Name)
		return
	}
	if less(add(c.latest(), c.lost(x)), t) {
		f.addf("%s: on %v map and %v reduce slots it takes %s s and has %s s.",
			said.Name, said.Slots.Map, said.Slots.Reduce, short(t), short(c.deadline))
	}
	if said.Time == nil {
		f.addf("%s: no time is given.", said.Name)
		return
	}
	if !c.profiled {
		c.said(f, said.Name, "average", said.Time.Average, c.plan, x)
		if said.Time.Lower != nil || said.Time.Upper != nil || said.Time.Calibrated != nil {
			f.addf("%s: a demand has the average time alone.", said.Name)
		}
		return
	}
	c.said(f, said.Name, "lower", said.Time.Lower, c.lower, x)
	c.said(f, said.Name, "average", said.Time.Average, c.average, x)
	c.said(f, said.Name, "upper", said.Time.Upper, c.upper, x)
	if c.calibrated != nil {
		c.said(f, said.Name, "calibrated", said.Time.Calibrated, *c.calibrated, x)
	} else if said.Time.Calibrated != nil {
		f.addf("%s: a calibrated time is said, and it has no calibration.", said.Name)
	}
}

// latest is the deadline with its tolerance, which applies to the deadline and to the slack alike.
func (c *class) latest() *big.Rat {
	return add(c.deadline, mul(relative, larger(c.deadline, c.slack)))
}

// lost is the time that works lose in floating point, which only shows on the tiniest fractions of slots.
func (c *class) lost(x part) *big.Rat {
	sum := zero()
	for _, slots := range []*big.Rat{x.maps, x.reduces} {
		if slots.Sign() > 0 {
			sum.Add(sum, quo(mul(c.loss, x.jobs), slots))
		}
	}
	return sum
}

// leastSlots checks the slots without which the bounds do not hold (erratum E6 and eq. 3: m >= 1).
func (m *model) leastSlots(f *faults, c *class, name, phase string, has bool, slots, jobs *big.Rat) {
	if !has {
		return
	}
	least := zero()
	switch {
	case c.oneSlot && m.integrality == capacity.Executable:
		least = jobs
	case c.oneSlot:
		least = mul(jobs, sub(whole(1), relative))
	case m.integrality == capacity.Executable:
		least = whole(1)
	}
	if less(slots, least) {
		f.addf("%s: %s %s slots are fewer than the %s needed.", name, short(slots), phase, short(least))
	}
}

// said checks one predicted time.
func (c *class) said(f *faults, name, bound string, figure *float64, d demand, x part) {
	t, scale, ok := d.time(x.jobs, x.maps, x.reduces, c.loss)
	switch {
	case figure == nil && ok:
		f.addf("%s: the %s time is not given.", name, bound)
	case figure != nil && !ok:
		f.addf("%s: the %s time is said, though a phase with work has no slots.", name, bound)
	}
	if figure == nil || !ok {
		return
	}
	if abs(sub(number(*figure), t)).Cmp(add(mul(relative, scale), c.lost(x))) > 0 {
		f.addf("%s: the %s time is %s s, not %v.", name, bound, short(t), *figure)
	}
}
