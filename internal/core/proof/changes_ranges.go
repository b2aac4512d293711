package proof

import (
	"math"

	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/money"
	"example.org/headroom/internal/core/proof/exact"
)

// end is one end of a range, and where just beyond it lies.
type end struct {
	at, beyond *exact.Rat
	open       bool // the end of what is legal
}

// moneyEnds returns the ends of a range of amounts; nil where an end is on the wrong side of the figure. Just beyond an
// end the objective differs by more than it can be off, if it changes by a unit for each unit of the figure.
func moneyEnds(r *capacity.MoneyRange, now, unit *exact.Rat) []end {
	all := []end{{at: zero(), open: true}, {at: whole(money.Max), open: true}}
	for side, x := range [...]*money.Amount{r.Low, r.High} {
		if x == nil {
			continue
		}
		at := amount(x.Decimal)
		off := add(mul(at, exact.New(1, 1_000_000)), larger(exact.New(1, 10_000_000), unit))
		if side == 0 {
			off.Neg(off)
		}
		if wrong := now.Cmp(at); side == 0 && wrong < 0 || side == 1 && wrong > 0 || at.Sign() < 0 {
			return nil
		}
		all[side] = end{at: at, beyond: add(at, off)}
	}
	return all
}

func (k *changes) penalties(i int, stated *capacity.ClassPlan, r *capacity.MoneyRange) {
	ends := moneyEnds(r, k.m.classes[i].penalty, mul(whole(4), k.tolerance()))
	if ends == nil {
		k.addf("%s: the range of penalties in which the plan stays the best leaves out its own.", stated.Name)
		return
	}
	// at is the problem with another penalty, and what this plan costs there.
	at := func(penalty *exact.Rat) (changed, *exact.Rat) {
		return k.penalized(i, penalty), sub(k.bill.objective, mul(sub(penalty, k.m.classes[i].penalty), whole(k.jobs[i])))
	}
	refused := sub(k.m.classes[i].max, whole(k.jobs[i]))
	k.ends(ends, at, func(penalty *exact.Rat) *exact.Rat {
		return add(k.bill.total, mul(sub(penalty, k.m.classes[i].penalty), refused))
	}, nil, func(penalty *exact.Rat) {
		k.addf("%s: the plan does not stay the best as long as its penalty is said to let it: at %s.", stated.Name, amountOf(penalty))
	})
}

// ends checks the ends of a range of a figure. At one of them the plan is the best, and it pays for itself out of the
// budgets; beyond it, another plan is better or a budget does not pay for this one.
func (k *changes) ends(ends []end, at func(*exact.Rat) (changed, *exact.Rat), total, vms func(*exact.Rat) *exact.Rat, wrong func(*exact.Rat)) {
	affords := func(x *exact.Rat, slack *exact.Rat) bool {
		b := k.m.problem.Budget
		return b == nil || (b.Total == nil || total == nil || sub(total(x), amount(b.Total.Decimal)).Cmp(slack) <= 0) &&
			(b.VMCost == nil || vms == nil || sub(vms(x), forVMs(b)).Cmp(slack) <= 0)
	}
	for _, e := range ends {
		if k.passes() {
			continue
		}
		m, mine := at(e.at)
		if !affords(e.at, add(smallest, mul(relative, add(k.bill.total, e.at)))) {
			k.tested++
			wrong(e.at)
			continue
		}
		slack := zero() // an end is rounded to money's places
		if !e.open {
			slack = mul(smallest, add(whole(2), k.weight()))
		}
		outcome := k.none(m, sub(mine, slack))
		if outcome != Failed && !e.open && e.beyond.Sign() >= 0 && affords(e.beyond, zero()) {
			m, mine = at(e.beyond)
			found, beyond := k.look(m, sub(mine, k.tolerance()), true)
			if !found && beyond == OK {
				beyond = Failed
			}
			outcome = worst(outcome, beyond)
		}
		k.tested++
		switch outcome {
		case Failed:
			wrong(e.at)
		case NotProved:
			k.open++
		}
	}
}

// weight bounds by how much an objective changes with a figure: by jobs, or by VMs and hours.
func (k *changes) weight() *exact.Rat {
	vms, jobs := number(k.pl.VMs.Total), zero()
	for i := range k.m.classes {
		c := k.m.classes[i]
		jobs.Add(jobs, c.max)
		highest := c.highest
		if k.f != nil {
			for v := range k.f.types {
				highest = larger(highest, k.f.types[v].classes[i].highest)
			}
		}
		vms.Add(vms, add(mul(highest, c.max), whole(4))) // whole slots and VMs of its own
	}
	return add(jobs, mul(vms, add(whole(1), k.m.hours)))
}

// deadlines checks a range of deadlines. With a tighter one the plan's VMs no longer carry the class; with a later one
// another plan costs less.
func (k *changes) deadlines(i int, stated *capacity.ClassPlan, r *capacity.Range) {
	now := k.m.problem.Classes[i].DeadlineSeconds
	wrong := func(at float64) {
		k.addf("%s: the plan does not stay the best as long as its deadline is said to let it: at %v s.", stated.Name, at)
	}
	if r.Low != nil && *r.Low > now || r.High != nil && *r.High < now {
		k.addf("%s: the range of deadlines in which the plan stays the best leaves out its own.", stated.Name)
		return
	}
	at := func(deadline float64) changed {
		return k.with(i, func(c *capacity.Class) { c.DeadlineSeconds = deadline })
	}
	fixed := k.fixed(i)
	off := func(deadline float64) float64 {
		return 1e-7*math.Abs(deadline-fixed) + 4e-9*math.Max(deadline, fixed) + 4e-9
	}
	carried := func(deadline float64) Outcome {
		c := at(deadline)
		if k.jobs[i] > 0 && c.base().classes[i].impossible {
			return Failed
		}
		if f, ok := c.(*fleet); ok {
			return k.carriesAll(f, i)
		}
		return k.carries(c.base(), i)
	}
	k.tested += 2
	switch {
	case k.jobs[i] == 0 && r.Low != nil:
		wrong(*r.Low)
	case r.Low != nil:
		inside, beyond := OK, Failed
		if *r.Low+off(*r.Low) < now {
			inside = carried(*r.Low + off(*r.Low))
		}
		if less := *r.Low - off(*r.Low); less > 0 {
			beyond = carried(less)
		}
		if inside == Failed || beyond == OK {
			wrong(*r.Low)
		}
	case k.jobs[i] > 0:
		from := math.Max(fixed, 0) // near it, so many slots are needed that nothing may be decided
		for _, at := range []float64{from + off(from), from + (now-from)/100, from + (now-from)/2, now - (now-from)/100} {
			if at > from && at < now && carried(at) == Failed {
				wrong(at)
				break
			}
		}
	}
	if k.passes() {
		return
	}
	last, objective := float64(capacity.MaxSeconds), k.bill.objective
	if r.High != nil {
		last = *r.High - off(*r.High)
	}
	outcome := OK
	if last > now {
		outcome = k.none(at(last), objective)
	}
	if r.High != nil && outcome != Failed {
		found, beyond := k.look(at(*r.High+off(*r.High)), objective, true) // however little that plan saves
		if !found && beyond == OK {
			beyond = Failed
		}
		outcome = worst(outcome, beyond)
	}
	switch outcome {
	case Failed:
		wrong(last)
	case NotProved:
		k.open++
	}
}

// fixed is the time of a class that no slots shorten, on the type where it is longest of those that run its jobs.
func (k *changes) fixed(i int) float64 {
	if k.m.classes[i].given {
		return 0
	}
	if k.f == nil {
		return float(k.m.classes[i].plan.c)
	}
	longest := float(k.m.classes[i].plan.c)
	for v, a := range k.on {
		if a[i].jobs.Sign() > 0 {
			longest = math.Max(longest, float(k.f.types[v].classes[i].plan.c))
		}
	}
	return longest
}

// carriesAll says whether the VMs of each type carry the plan's jobs on it where class i is changed.
func (k *changes) carriesAll(f *fleet, i int) Outcome {
	outcome := OK
	for v, a := range k.on {
		t := &f.types[v]
		low, high := zero(), zero()
		for j := range a {
			if a[j].jobs.Sign() == 0 {
				continue
			}
			l, h, _, ok := t.needs(j, a[j].jobs.Num().Int64())
			if !ok {
				return Failed
			}
			low.Add(low, l)
			high.Add(high, h)
		}
		possibly, surely := t.lacking()
		vms := number(k.part(v).VMs.Total)
		switch {
		case sub(low, possibly).Cmp(vms) > 0:
			return Failed
		case sub(high, surely).Cmp(vms) > 0:
			outcome = NotProved
		}
	}
	return outcome
}

// carries says whether the plan's VMs carry its jobs where class i is changed.
func (k *changes) carries(m *model, i int) Outcome {
	low, high := zero(), zero()
	for j := range k.m.classes {
		if k.jobs[j] == 0 {
			continue
		}
		at := k.m
		if j == i {
			at = m
		} else if k.needs[j] != nil {
			low.Add(low, k.needs[j][0])
			high.Add(high, k.needs[j][1])
			continue
		}
		k.Report.rest()
		l, h, _, ok := at.needs(j, k.jobs[j])
		if !ok {
			return NotProved
		}
		if j != i {
			k.needs[j] = &[2]*exact.Rat{l, h}
		}
		low.Add(low, l)
		high.Add(high, h)
	}
	k.Report.rest()
	possibly, surely := m.lacking()
	vms := number(k.pl.VMs.Total)
	switch {
	case sub(high, surely).Cmp(vms) <= 0:
		return OK
	case sub(low, possibly).Cmp(vms) > 0:
		return Failed
	}
	return NotProved
}
