package proof

import (
	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/proof/exact"
)

// deadlines checks that each class's jobs finish in time on its slots, and the stated times.
func (m *model) deadlines(pl capacity.Plan, a answer) []string {
	var f faults
	for i := range m.classes {
		m.rest()
		c, stated := m.classes[i], &pl.Classes[i]
		switch {
		case c.given:
			if stated.Slots != nil || stated.Time != nil {
				f.addf("%s: only its VMs per job are known, so that it has neither slots nor times.", stated.Name)
			}
		case a[i].jobs.Sign() == 0:
			m.idle(&f, stated, a[i])
		case !a[i].slots:
			f.addf("%s: %v jobs are admitted and no slots given.", stated.Name, stated.Admitted)
		default:
			m.deadline(&f, c, stated, a[i])
		}
	}
	return f
}

// idle checks a class without jobs.
func (m *model) idle(f *faults, stated *capacity.ClassPlan, x part) {
	if x.maps.Sign() != 0 || x.reduces.Sign() != 0 {
		f.addf("%s: no job is admitted and yet slots are given.", stated.Name)
	}
	if t := stated.Time; t != nil && (t.Lower != nil || t.Average != nil || t.Upper != nil || t.Calibrated != nil || t.Promised != nil) {
		f.addf("%s: no job is admitted, so that none takes the time said.", stated.Name)
	}
}

func (m *model) deadline(f *faults, c *class, stated *capacity.ClassPlan, x part) {
	executable := m.integrality == capacity.Executable
	if x.maps.Sign() < 0 || x.reduces.Sign() < 0 || executable && (!x.maps.IsInt() || !x.reduces.IsInt()) {
		f.addf("%s: %v map and %v reduce slots cannot be set up.", stated.Name, stated.Slots.Map, stated.Slots.Reduce)
		return
	}
	m.minSlots(f, c, stated.Name, "map", c.hasMap, x.maps, x.jobs)
	m.minSlots(f, c, stated.Name, "reduce", c.hasReduce, x.reduces, x.jobs)
	if !executable { // the slots are gamma's in another form
		if size := c.size(x.maps, x.reduces); less(add(x.need, mul(x.jobs, c.doubt())), size) {
			f.addf("%s: its slots take %s VMs, more than the %s they are counted as.", stated.Name, short(size), short(x.need))
		}
	}
	t, _, ok := c.plan.time(x.jobs, x.maps, x.reduces, c.loss)
	if !ok {
		f.addf("%s: a phase with work has no slots.", stated.Name)
		return
	}
	if less(add(c.latest(), c.lost(x)), t) {
		f.addf("%s: on %v map and %v reduce slots it takes %s s and has %s s.",
			stated.Name, stated.Slots.Map, stated.Slots.Reduce, short(t), short(c.deadline))
	}
	if stated.Time == nil {
		f.addf("%s: no time is given.", stated.Name)
		return
	}
	if !c.profiled {
		c.predicted(f, stated.Name, "average", stated.Time.Average, c.plan, x)
		if stated.Time.Lower != nil || stated.Time.Upper != nil || stated.Time.Calibrated != nil || stated.Time.Promised != nil {
			f.addf("%s: a demand has the average time alone.", stated.Name)
		}
		return
	}
	c.predicted(f, stated.Name, "lower", stated.Time.Lower, c.lower, x)
	c.predicted(f, stated.Name, "average", stated.Time.Average, c.average, x)
	c.predicted(f, stated.Name, "upper", stated.Time.Upper, c.upper, x)
	if c.calibrated != nil {
		c.predicted(f, stated.Name, "calibrated", stated.Time.Calibrated, *c.calibrated, x)
	} else if stated.Time.Calibrated != nil {
		f.addf("%s: a calibrated time is said, and it has no calibration.", stated.Name)
	}
	if c.promised {
		c.predicted(f, stated.Name, "promised", stated.Time.Promised, c.plan, x)
	} else if stated.Time.Promised != nil {
		f.addf("%s: a promised time is said, and it has no promise.", stated.Name)
	}
}

// latest returns the deadline with its tolerance, which applies to the deadline and the slack alike.
func (c *class) latest() *exact.Rat {
	return add(c.deadline, mul(relative, larger(c.deadline, c.slack)))
}

// lost returns the time that works lose in floating point, which only shows on the tiniest fractions of slots.
func (c *class) lost(x part) *exact.Rat {
	sum := zero()
	for _, slots := range []*exact.Rat{x.maps, x.reduces} {
		if slots.Sign() > 0 {
			sum.Add(sum, quo(mul(c.loss, x.jobs), slots))
		}
	}
	return sum
}

// minSlots checks for the slots that the bounds require (erratum E6 and eq. 3: m >= 1).
func (m *model) minSlots(f *faults, c *class, name, phase string, has bool, slots, jobs *exact.Rat) {
	if !has {
		return
	}
	lowest := zero()
	switch {
	case c.oneSlot && m.integrality == capacity.Executable:
		lowest = jobs
	case c.oneSlot:
		lowest = mul(jobs, sub(whole(1), relative))
	case m.integrality == capacity.Executable:
		lowest = whole(1)
	}
	if less(slots, lowest) {
		f.addf("%s: %s %s slots are fewer than the %s needed.", name, short(slots), phase, short(lowest))
	}
}

// predicted checks one predicted time.
func (c *class) predicted(f *faults, name, bound string, figure *float64, d demand, x part) {
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
