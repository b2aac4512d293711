package proof

import (
	"fmt"
	"math"
	"slices"

	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/money"
	"example.org/headroom/internal/core/proof/exact"
)

// What a whole plan says would change it is checked by searching the changed problems. A cost is right if no plan of the
// changed problem costs less, and one costs no more. A range is right if no plan is better than this one at its ends,
// and one is better just beyond. In between, the cost of the best plan is a concave function of a penalty.

// changes checks one plan's statements.
type changes struct {
	*Report
	faults
	m       *model
	f       *fleet   // with several prices of capacity; nil otherwise
	rentals *Rentals // of the fleet, once they are asked for
	on      []answer // of the fleet's types
	pl      capacity.Plan
	bill    bill
	jobs    []int64
	needs   []*[2]*exact.Rat // VMs for each class's jobs, once they are known
	o       Options
	looks   int // searches that may still be made
	open    int // statements that no search decided
	passed  int // statements that were not looked at
	tested  int
}

// The searches in one plan are bounded: fewer where classes are many, since each looks at all of them, and of fewer
// states.
const (
	maxLooks      = 4000
	looksByClass  = 60_000 // looks times classes
	fewClasses    = 20
	fewClassNodes = defaultNodes
	manyNodes     = 10_000
	// A search over several types weighs each class's jobs on each of them.
	maxFleetLooks     = 600
	fleetLooksByClass = 6000
)

func (r *Report) changes(m *model, pl capacity.Plan, a answer, b bill, o Options) {
	(&changes{Report: r, m: m, pl: pl, bill: b, o: o}).check(a)
}

func (k *changes) check(a answer) {
	pl, o := k.pl, k.o
	k.looks = min(maxLooks, looksByClass/max(1, len(pl.Classes)))
	if k.f != nil {
		k.looks = min(maxFleetLooks, fleetLooksByClass/max(1, len(pl.Classes)*len(k.f.types)))
	}
	k.needs = make([]*[2]*exact.Rat, len(pl.Classes))
	k.o.Nodes = nodesFor(len(pl.Classes), o)
	if k.m.integrality == capacity.Relaxed {
		k.noneMore()
		k.sum("Linear programs with one job more have no solution where that is said")
		return
	}
	for i := range pl.Classes {
		if !a[i].jobs.IsInt() || !a[i].jobs.Num().IsInt64() {
			return // the shape check names it
		}
		k.jobs = append(k.jobs, a[i].jobs.Num().Int64())
	}
	for i := range pl.Classes {
		k.class(i)
	}
	k.supplies()
	k.sum("Plans made for one job more or less, and at the ends of the ranges in which this plan stays the best, agree")
}

// sum adds the check to the report, with how many statements there were.
func (k *changes) sum(fine string) {
	if k.tested+k.passed == 0 && len(k.faults) == 0 {
		return
	}
	statements := count(k.tested, "statement", "statements")
	if k.passed > 0 {
		statements += fmt.Sprintf("; %d more were not looked at, since the classes are many", k.passed)
	}
	if k.open > 0 {
		statements += fmt.Sprintf("; %d of them were left open by tolerances or by the limit of states", k.open)
	}
	k.Report.add(ChangesCheck, k.faults, fmt.Sprintf("%s (%s).", fine, statements))
}

// noneMore checks of which classes a relaxed plan says that nothing has room for one job more.
func (k *changes) noneMore() {
	for i := range k.pl.Classes {
		stated := &k.pl.Classes[i]
		more := stated.OneMore
		if stated.OneLess != nil || stated.Stays != nil || more != nil && (!more.Exact || more.Fits || more.Low != nil || more.High != nil || more.Jobs != nil) {
			k.addf("%s: one_more says more than that none fits, or one_less or stays is there, and only whole plans have them.", stated.Name)
			continue
		}
		if more != nil {
			jobs := stated.Admitted + 1
			k.unserved(stated.Name+": one job more costs", k.with(i, func(c *capacity.Class) { c.Jobs = capacity.JobRange{Min: jobs, Max: max(c.Jobs.Max, jobs)} }), more)
		}
	}
}

// nodesFor returns the number of states of each of many searches.
func nodesFor(classes int, o Options) int {
	if classes <= fewClasses {
		return min(o.Nodes, fewClassNodes)
	}
	return min(o.Nodes, manyNodes)
}

// most is how many searches one statement takes at most.
const most = 4

// passes says that no more statements are searched, and counts the one at hand.
func (k *changes) passes() bool {
	if k.looks < most {
		k.passed++
		return true
	}
	return false
}

// tolerance returns by how much two objectives may differ that count as the same.
func (k *changes) tolerance() *exact.Rat {
	return add(add(smallest, smallest), k.bill.noise())
}

// decide counts a statement that searches decide.
func (k *changes) decide(outcome Outcome, format string, args ...any) {
	k.tested++
	switch outcome {
	case Failed:
		k.addf(format, args...)
	case NotProved:
		k.open++
	}
	k.Report.rest()
}

// changed is a problem with something changed: a *model or a *fleet.
type changed interface{ base() *model }

func (m *model) base() *model { return m }

// look searches a changed problem for a plan below a threshold, where one is expected or not.
func (k *changes) look(c changed, threshold *exact.Rat, expected bool) (found bool, outcome Outcome) {
	k.looks--
	o := k.o
	o.expected = expected
	var f finding
	switch x := c.(type) {
	case *fleet:
		f, _ = x.look(threshold, k.o.Nodes)
	case *model:
		lp := x.relax(zero())
		if !lp.feasible {
			return false, OK
		}
		f, _ = k.Report.look(x, lp, threshold, o)
	}
	switch {
	case f.better != nil:
		return true, OK
	case f.bound == nil || less(f.bound, threshold) || f.doubt:
		return false, NotProved
	}
	return false, OK
}

// none says whether no plan of a problem costs less than an objective.
func (k *changes) none(m changed, objective *exact.Rat) Outcome {
	found, outcome := k.look(m, sub(objective, k.tolerance()), false)
	if found {
		return Failed
	}
	return outcome
}

// some says whether a plan of a problem costs an objective at most.
func (k *changes) some(m changed, objective *exact.Rat) Outcome {
	found, outcome := k.look(m, add(objective, k.tolerance()), true)
	if !found && outcome == OK {
		return Failed
	}
	return outcome
}

// worst is the worse of two outcomes.
func worst(a, b Outcome) Outcome {
	for _, o := range [...]Outcome{Failed, NotProved} {
		if a == o || b == o {
			return o
		}
	}
	return OK
}

// with is the problem with a class changed.
func (k *changes) with(i int, change func(c *capacity.Class)) changed {
	if k.f != nil {
		return k.f.with(i, change)
	}
	return k.m.with(i, change)
}

func (was *model) with(i int, change func(c *capacity.Class)) *model {
	m := was.copied()
	m.problem.Classes = slices.Clone(m.problem.Classes)
	in := &m.problem.Classes[i]
	change(in)
	c := newClass(in, m.bound, m.problem.Options.OneSlotPerJob)
	c.phasesOf(was.classes[i])
	m.classes[i] = &c
	m.rest()
	m.rerank(i)
	return m
}

// copied is the same problem with a list of classes of its own.
func (was *model) copied() *model {
	m := *was
	m.classes, m.byWorth = slices.Clone(m.classes), slices.Clone(m.byWorth)
	return &m
}

// penalized is the problem with another penalty of a class.
func (k *changes) penalized(i int, penalty *exact.Rat) changed {
	m := k.m.copied()
	c := *m.classes[i]
	c.penalty = penalty
	m.classes[i] = &c
	m.rerank(i)
	if k.f == nil {
		return m
	}
	f := *k.f
	f.model = m
	return &f
}

// phasesOf gives a class the phases of another one: as a plan reads a demand without work.
func (c *class) phasesOf(was *class) {
	if !c.given && !c.impossible && !was.impossible && (c.hasMap != was.hasMap || c.hasReduce != was.hasReduce) {
		c.hasMap, c.hasReduce = was.hasMap, was.hasReduce
		c.convert()
	}
}

func (k *changes) class(i int) {
	c, stated := k.m.classes[i], &k.pl.Classes[i]
	penalty := c.penalty
	if more := stated.OneMore; more != nil && (more.Exact || more.Low != nil || more.High != nil) {
		jobs := float64(k.jobs[i] + 1)
		m := k.with(i, func(c *capacity.Class) { c.Jobs = capacity.JobRange{Min: jobs, Max: max(c.Jobs.Max, jobs)} })
		at := func(x *exact.Rat) *exact.Rat { return sub(add(k.bill.objective, x), penalty) }
		if what := stated.Name + ": one job more costs"; more.Exact {
			k.change(what, i, m, more, 1, at)
		} else {
			k.within(what, m, more.Low, more.High, at)
		}
	}
	if less := stated.OneLess; less != nil && (less.Exact || less.Low != nil || less.High != nil) {
		if k.jobs[i] == 0 {
			k.addf("%s: no job runs, and one less is said to save something.", stated.Name)
			return
		}
		most := float64(k.jobs[i] - 1)
		m := k.with(i, func(c *capacity.Class) { c.Jobs = capacity.JobRange{Min: min(promisedOf(c), most), Max: most} })
		at := func(x *exact.Rat) *exact.Rat { return add(sub(k.bill.objective, x), penalty) }
		if what := stated.Name + ": one job less saves"; less.Exact {
			k.change(what, i, m, less, -1, at)
		} else {
			k.within(what, m, less.High, less.Low, at)
		}
	}
	if stated.Stays == nil {
		return
	}
	if r := stated.Stays.Penalty; r != nil {
		k.penalties(i, stated, r)
	}
	if r := stated.Stays.DeadlineSeconds; r != nil {
		k.deadlines(i, stated, r)
	}
}

// change checks what a job more or less of a class changes; objective is that of the changed problem if it changes by an
// amount. The plan that costs no more has as many jobs of the class as is said.
func (k *changes) change(what string, i int, m changed, stated *capacity.JobChange, sign int64, objective func(*exact.Rat) *exact.Rat) {
	if !stated.Fits {
		k.unserved(what, m, stated)
		return
	}
	if stated.Budget != nil {
		k.addf("%s an amount, and a budget is said to be lacking.", what)
	}
	if stated.Amount == nil || stated.Bill == nil || stated.ValueRefused == nil || stated.VMs == nil {
		k.addf("%s an amount that is not there.", what)
		return
	}
	x := amount(stated.Amount.Decimal)
	if !k.passes() {
		at, jobs := objective(x), 1.0
		if stated.Jobs != nil {
			jobs = *stated.Jobs
		}
		jobs = float64(k.jobs[i]) + float64(sign)*jobs
		if in := &m.base().problem.Classes[i]; jobs != math.Trunc(jobs) || jobs < promisedOf(in) || jobs > in.Jobs.Max {
			k.addf("%s %s with %v jobs of its class.", what, stated.Amount, jobs)
			return
		}
		outcome := worst(k.none(m, at), k.some(k.with(i, func(c *capacity.Class) { c.Jobs = capacity.JobRange{Min: jobs, Max: jobs} }), at))
		if m.base().limited() && at.Cmp(m.base().allowed(roundings)) > 0 {
			outcome = Failed
		}
		k.decide(outcome, "%s another amount than %s.", what, stated.Amount)
	}
	if sum := add(amount(stated.Bill.Decimal), amount(stated.ValueRefused.Decimal)); abs(sub(sum, x)).Cmp(add(smallest, smallest)) > 0 {
		k.addf("%s %s, and its parts add up to %s.", what, stated.Amount, amountOf(sum))
	}
	rent := k.m.rent
	if k.f != nil && len(k.f.types) == 1 {
		rent = k.f.types[0].cheapest
	} else if k.f != nil { // of which types VMs come or go is not told
		vms, bill := k.pl.VMs.Total+float64(sign)**stated.VMs, add(k.bill.vms, mul(whole(sign), amount(stated.Bill.Decimal)))
		if k.rentals == nil {
			k.rentals = k.f.rentals(k.Report.rest)
		}
		if !k.rentals.Cost(vms, bill.Rat()) {
			k.addf("%s %s in VMs, which %v VMs do not.", what, stated.Bill, *stated.VMs)
		}
		return
	}
	now, _ := rent(number(k.pl.VMs.Total))
	vms := add(number(k.pl.VMs.Total), mul(whole(sign), number(*stated.VMs)))
	then, ok := rent(vms)
	if vms.Sign() < 0 || !vms.IsInt() || !ok || abs(sub(mul(whole(sign), sub(then, now)), amount(stated.Bill.Decimal))).Cmp(mul(whole(8), smallest)) > 0 {
		k.addf("%s %s in VMs, which %v VMs do not.", what, stated.Bill, *stated.VMs)
	}
}

// within checks bounds of what a job more or less changes: no plan is better than best says, and one is as good as worst.
func (k *changes) within(what string, m changed, best, worst *money.Amount, objective func(*exact.Rat) *exact.Rat) {
	for side, x := range [...]*money.Amount{best, worst} {
		if x == nil || k.passes() {
			continue
		}
		at := objective(amount(x.Decimal))
		outcome := k.none
		if side == 1 {
			outcome = k.some
		}
		k.decide(outcome(m, at), "%s an amount beyond the bound of %s.", what, x)
	}
}

// unserved checks that no plan within the limits serves a job more.
func (k *changes) unserved(what string, c changed, stated *capacity.JobChange) {
	outcome := OK
	parts := stated.Amount != nil || stated.Bill != nil || stated.ValueRefused != nil
	switch m := c.(type) {
	case *fleet:
		if parts || stated.VMs != nil {
			outcome = Failed
			break
		}
		if k.passes() {
			return
		}
		k.looks -= most
		there, _ := m.exists(k.o.Nodes, zero().Neg(roundings))
		outcome = map[likelihood]Outcome{no: OK, yes: Failed, open: NotProved}[there]
	case *model:
		s := m.shortage()
		if parts || stated.VMs != nil && !m.lacks(s, number(*stated.VMs)) {
			outcome = Failed
		} else if !s.short() && len(s.impossible) == 0 {
			if outcome = NotProved; k.passes() {
				return
			}
			if m.limited() { // more than the budget pays for
				outcome = k.none(m, sub(amount(m.problem.Budget.Total.Decimal), m.refusals()))
			} else if s.enough() {
				outcome = Failed
			}
		}
	}
	k.decide(outcome, "%s nothing, for no plan is said to serve it; one does.", what)
	if stated.Budget != nil && !k.passes() {
		k.decide(k.leastBudget(c, stated.Budget), "%s nothing, and a budget of %s is not the least with which a plan serves it.", what, stated.Budget)
	}
}

// leastBudget checks that a plan of a problem keeps to another budget, and none to a budget that is hardly smaller.
func (k *changes) leastBudget(c changed, least *money.Amount) Outcome {
	m := c.base()
	was := m.problem.Budget
	if was == nil || (was.VMCost == nil) == (was.Total == nil) {
		return Failed // it would not be all that changes
	}
	k.looks -= most
	with := func(budget *exact.Rat, more *exact.Rat) likelihood {
		b, amount := capacity.Budget{}, amountOf(budget)
		if was.VMCost != nil {
			b.VMCost = &amount
		} else {
			b.Total = &amount
		}
		return budgeted(c, &b, k.o.Nodes, more)
	}
	at := amountOf(amount(least.Decimal))
	enough := with(amount(at.Decimal), roundings)
	if enough == no || amount(least.Decimal).Sign() < 0 {
		return Failed
	}
	lacking := with(sub(amount(at.Decimal), mul(whole(4), roundings)), zero().Neg(roundings))
	switch {
	case lacking == yes:
		return Failed
	case enough == yes && lacking == no:
		return OK
	}
	return NotProved
}

// budgeted tells whether a problem has a plan within another budget, of which one for everything may be missed by more.
func budgeted(c changed, b *capacity.Budget, nodes int, more *exact.Rat) likelihood {
	m := c.base().copied()
	m.problem.Budget = b
	if f, ok := c.(*fleet); ok {
		g := *f
		if g.model = m; b.VMCost != nil {
			g.purse = sub(forVMs(b), f.fixed)
		}
		there, _ := g.exists(nodes, more)
		return there
	}
	m = m.supplied()
	s := m.shortage()
	switch {
	case m.overspent || len(s.impossible) > 0 || s.short():
		return no
	case b.Total != nil:
		return m.total(nodes, more)
	case s.enough():
		return yes
	}
	return open
}

// lacks reports whether so many VMs are missing, or parts of VMs in a relaxed plan.
func (m *model) lacks(s shortage, vms *exact.Rat) bool {
	if !s.known || s.vms == nil || vms.Sign() <= 0 {
		return false
	}
	need := add(s.vms, vms)
	if m.integrality == capacity.Relaxed {
		return s.low.Cmp(need) <= 0 && add(s.high, mul(whole(2), m.hairOf(s.high))).Cmp(need) >= 0
	}
	return upTo(s.low, zero()).Cmp(need) <= 0 && upTo(s.high, zero()).Cmp(need) >= 0
}

// refusals returns the cost of refusing all jobs.
func (m *model) refusals() *exact.Rat {
	sum := zero()
	for i := range m.classes {
		sum.Add(sum, mul(m.classes[i].penalty, m.classes[i].max))
	}
	return sum
}
