package proof

import (
	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/proof/exact"
)

// answer holds a plan's classes in exact numbers.
type answer []part

// part holds one class's numbers.
type part struct {
	jobs, refused *exact.Rat
	slots         bool // given; then maps and reduces hold them
	maps, reduces *exact.Rat
	need          *exact.Rat // smallest number of VMs that the jobs need
	noise         *exact.Rat // error of need in floating point
}

// read turns a plan whose shape is right into exact numbers.
func (m *model) read(pl capacity.Plan) answer {
	m.settle(pl)
	a := make(answer, len(m.classes))
	for i := range m.classes {
		c, stated, x := m.classes[i], &pl.Classes[i], &a[i]
		x.jobs, x.refused = number(stated.Admitted), number(stated.Refused)
		x.maps, x.reduces, x.noise = zero(), zero(), zero()
		if stated.Slots != nil {
			x.slots, x.maps, x.reduces = true, number(stated.Slots.Map), number(stated.Slots.Reduce)
		}
		switch {
		case m.integrality == capacity.Executable && !c.given:
			x.need = c.size(x.maps, x.reduces)
		default:
			x.need = mul(c.low, x.jobs)
			x.noise = mul(x.jobs, sub(c.low, c.lowest))
		}
	}
	return a
}

// shape checks the plan's classes and their jobs.
func (m *model) shape(pl capacity.Plan) []string {
	var f faults
	if pl.Status != capacity.Optimal && pl.Status != capacity.Feasible {
		f.addf("The status %q is none that a plan can have.", pl.Status)
	}
	if len(pl.Conflicts) > 0 {
		f.addf("A plan that can be carried out names %s.", count(len(pl.Conflicts), "conflict", "conflicts"))
	}
	if len(pl.Classes) != len(m.classes) {
		f.addf("The problem has %s, the plan %d.", count(len(m.classes), "class", "classes"), len(pl.Classes))
		return f
	}
	for i := range m.classes {
		c, stated := m.classes[i], &pl.Classes[i]
		if name := m.problem.Classes[i].Name; stated.Name != name {
			f.addf("In place %d stands class %s, not %s.", i, stated.Name, name)
			continue
		}
		m.shapeOf(&f, c, stated)
	}
	return f
}

func (m *model) shapeOf(f *faults, c *class, stated *capacity.ClassPlan) {
	jobs, refused := number(stated.Admitted), number(stated.Refused)
	slack := zero()
	if m.integrality == capacity.Relaxed {
		slack = mul(relative, c.max)
	} else if !jobs.IsInt() || !refused.IsInt() {
		f.addf("%s: %v admitted and %v refused are not whole.", stated.Name, stated.Admitted, stated.Refused)
	}
	if abs(sub(add(jobs, refused), c.max)).Cmp(slack) > 0 {
		f.addf("%s: %v admitted and %v refused are not the %s there are.", stated.Name, stated.Admitted, stated.Refused, short(c.max))
	}
	if less(jobs, sub(c.min, slack)) || less(add(c.max, slack), jobs) || jobs.Sign() < 0 || refused.Cmp(zero().Neg(slack)) < 0 {
		f.addf("%s: %v admitted is outside %s to %s.", stated.Name, stated.Admitted, short(c.min), short(c.max))
	}
	if c.impossible && jobs.Sign() != 0 {
		f.addf("%s: %v admitted, though its fixed time of %s s leaves nothing of the deadline of %s s.",
			stated.Name, stated.Admitted, short(c.plan.c), short(c.deadline))
	}
	// In floating point "all" and "none" are met up to rounding: either reading will do.
	exact, rounded := c.verdict(jobs, zero()), c.verdict(jobs, slack)
	if stated.Verdict != exact && stated.Verdict != rounded {
		f.addf("%s: the verdict is %q and should be %q.", stated.Name, stated.Verdict, exact)
	}
}

// verdict returns the verdict on a class with this number of admitted jobs.
func (c *class) verdict(jobs, slack *exact.Rat) capacity.Verdict {
	is := func(n *exact.Rat) bool { return abs(sub(jobs, n)).Cmp(slack) <= 0 }
	switch {
	case c.impossible:
		return capacity.VerdictImpossible
	case is(c.max):
		return capacity.VerdictFull
	case is(zero()):
		return capacity.VerdictNone
	case is(c.min):
		return capacity.VerdictMinimum
	}
	return capacity.VerdictPartial
}

// conversion checks gamma and each class's stated share of the VMs.
func (m *model) conversion(pl capacity.Plan, a answer) []string {
	var f faults
	for i := range m.classes {
		c, stated := m.classes[i], &pl.Classes[i]
		gamma, share := number(stated.VMsPerJob), number(stated.VMs)
		switch {
		case c.impossible:
			if gamma.Sign() != 0 || share.Sign() != 0 {
				f.addf("%s: an impossible class takes no VMs, not %v and %v a job.", stated.Name, stated.VMs, stated.VMsPerJob)
			}
			continue
		case !c.agrees(gamma):
			f.addf("%s: one job takes %s VMs, not %v.", stated.Name, short(c.low), stated.VMsPerJob)
		}
		doubt := add(mul(relative, a[i].need), mul(c.doubt(), a[i].jobs))
		ok := abs(sub(share, a[i].need)).Cmp(doubt) <= 0
		if m.dedicated && !ok { // a class alone on its VMs may count them whole
			highest := upTo(a[i].need, zero())
			ok = share.IsInt() && share.Cmp(m.roundUp(i, a[i])) >= 0 && share.Cmp(highest) <= 0
		}
		if !ok {
			f.addf("%s: its jobs take %s VMs, not %v.", stated.Name, short(a[i].need), stated.VMs)
		}
	}
	return f
}

// roundUp returns the whole VMs that a class alone on its VMs needs.
func (m *model) roundUp(i int, x part) *exact.Rat {
	if m.integrality == capacity.Relaxed {
		return x.need
	}
	return upTo(sub(x.need, x.noise), m.spare(i))
}

// spare returns the part of the VMs of class i, or of all for -1, that may be lacking. It is zero if every need is
// known exactly; ratios of more than nine places are not.
func (m *model) spare(i int) *exact.Rat {
	for k := range m.classes {
		c := m.classes[k]
		if (i < 0 || k == i) && (m.integrality == capacity.Integer && !c.given || m.integrality != capacity.Relaxed && c.long) {
			return spare
		}
	}
	return zero()
}

// upTo returns the whole number of VMs for a load, which may exceed them by slack.
func upTo(load, slack *exact.Rat) *exact.Rat {
	return new(exact.Rat).SetInt(larger(zero(), sub(load, slack)).Ceil())
}
