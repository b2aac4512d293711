package proof

import (
	"math/big"

	"headroom/internal/core/capacity"
)

// answer is a plan's classes in exact numbers.
type answer []part

// part is one class's.
type part struct {
	jobs, refused *big.Rat
	slots         bool // given; then maps and reduces are theirs
	maps, reduces *big.Rat
	need          *big.Rat // VMs that the jobs need, at least
	noise         *big.Rat // what need may be off by floating point
}

// read turns a plan whose shape is right into exact numbers.
func (m *model) read(pl capacity.Plan) answer {
	m.settle(pl)
	a := make(answer, len(m.classes))
	for i := range m.classes {
		c, said, x := &m.classes[i], &pl.Classes[i], &a[i]
		x.jobs, x.refused = number(said.Admitted), number(said.Refused)
		x.maps, x.reduces, x.noise = zero(), zero(), zero()
		if said.Slots != nil {
			x.slots, x.maps, x.reduces = true, number(said.Slots.Map), number(said.Slots.Reduce)
		}
		switch {
		case m.integrality == capacity.Executable && !c.given:
			x.need = c.size(x.maps, x.reduces)
		default:
			x.need = mul(c.low, x.jobs)
			x.noise = mul(x.jobs, sub(c.low, c.least))
		}
	}
	return a
}

// shape checks who stands in the plan and how many of them.
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
		c, said := &m.classes[i], &pl.Classes[i]
		if name := m.problem.Classes[i].Name; said.Name != name {
			f.addf("In place %d stands class %s, not %s.", i, said.Name, name)
			continue
		}
		m.shapeOf(&f, c, said)
	}
	return f
}

func (m *model) shapeOf(f *faults, c *class, said *capacity.ClassPlan) {
	jobs, refused := number(said.Admitted), number(said.Refused)
	slack := zero()
	if m.integrality == capacity.Relaxed {
		slack = mul(relative, c.max)
	} else if !jobs.IsInt() || !refused.IsInt() {
		f.addf("%s: %v admitted and %v refused are not whole.", said.Name, said.Admitted, said.Refused)
	}
	if abs(sub(add(jobs, refused), c.max)).Cmp(slack) > 0 {
		f.addf("%s: %v admitted and %v refused are not the %s there are.", said.Name, said.Admitted, said.Refused, short(c.max))
	}
	if less(jobs, sub(c.min, slack)) || less(add(c.max, slack), jobs) || jobs.Sign() < 0 || refused.Cmp(zero().Neg(slack)) < 0 {
		f.addf("%s: %v admitted is outside %s to %s.", said.Name, said.Admitted, short(c.min), short(c.max))
	}
	if c.impossible && jobs.Sign() != 0 {
		f.addf("%s: %v admitted, though its fixed time of %s s leaves nothing of the deadline of %s s.",
			said.Name, said.Admitted, short(c.plan.c), short(c.deadline))
	}
	// In floating point "all" and "none" are met up to rounding: either reading will do.
	exact, rounded := c.verdict(jobs, zero()), c.verdict(jobs, slack)
	if said.Verdict != exact && said.Verdict != rounded {
		f.addf("%s: the verdict is %q and should be %q.", said.Name, said.Verdict, exact)
	}
}

// verdict is what becomes of a class with so many jobs admitted.
func (c *class) verdict(jobs, slack *big.Rat) capacity.Verdict {
	is := func(n *big.Rat) bool { return abs(sub(jobs, n)).Cmp(slack) <= 0 }
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

// conversion checks gamma and what each class's share of the VMs is said to be.
func (m *model) conversion(pl capacity.Plan, a answer) []string {
	var f faults
	for i := range m.classes {
		c, said := &m.classes[i], &pl.Classes[i]
		gamma, share := number(said.VMsPerJob), number(said.VMs)
		switch {
		case c.impossible:
			if gamma.Sign() != 0 || share.Sign() != 0 {
				f.addf("%s: an impossible class takes no VMs, not %v and %v a job.", said.Name, said.VMs, said.VMsPerJob)
			}
			continue
		case !c.agrees(gamma):
			f.addf("%s: one job takes %s VMs, not %v.", said.Name, short(c.low), said.VMsPerJob)
		}
		doubt := add(mul(relative, a[i].need), mul(c.doubt(), a[i].jobs))
		ok := abs(sub(share, a[i].need)).Cmp(doubt) <= 0
		if m.dedicated && !ok { // a class alone on its VMs may count them whole
			most := upTo(a[i].need, zero())
			ok = share.IsInt() && share.Cmp(m.roundUp(i, a[i])) >= 0 && share.Cmp(most) <= 0
		}
		if !ok {
			f.addf("%s: its jobs take %s VMs, not %v.", said.Name, short(a[i].need), said.VMs)
		}
	}
	return f
}

// roundUp is the whole VMs that a class alone on its VMs needs.
func (m *model) roundUp(i int, x part) *big.Rat {
	if m.integrality == capacity.Relaxed {
		return x.need
	}
	return upTo(sub(x.need, x.noise), m.spare(i))
}

// spare is what the VMs of class i, or of all for -1, may lack: nothing where every need is known exactly, which
// ratios of more than nine places are not said to be.
func (m *model) spare(i int) *big.Rat {
	for k := range m.classes {
		c := &m.classes[k]
		if (i < 0 || k == i) && (m.integrality == capacity.Integer && !c.given || m.integrality != capacity.Relaxed && c.long) {
			return spare
		}
	}
	return zero()
}

// upTo is the whole number of VMs for a load, which may exceed them by slack.
func upTo(load, slack *big.Rat) *big.Rat {
	return new(big.Rat).SetInt(ceil(larger(zero(), sub(load, slack))))
}
