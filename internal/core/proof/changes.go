package proof

import (
	"fmt"
	"math"
	"math/big"
	"slices"
	"strings"

	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/money"
	"example.org/headroom/internal/core/words"
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
	needs   []*[2]*big.Rat // VMs for each class's jobs, once they are known
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
	k.needs = make([]*[2]*big.Rat, len(pl.Classes))
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
func (k *changes) tolerance() *big.Rat {
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

// look searches a changed problem for a plan below a threshold.
func (k *changes) look(c changed, threshold *big.Rat) (found bool, outcome Outcome) {
	k.looks--
	var f finding
	switch x := c.(type) {
	case *fleet:
		f, _ = x.look(threshold, k.o.Nodes)
	case *model:
		lp := x.relax(zero())
		if !lp.feasible {
			return false, OK
		}
		f, _ = k.Report.look(x, lp, threshold, k.o)
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
func (k *changes) none(m changed, objective *big.Rat) Outcome {
	found, outcome := k.look(m, sub(objective, k.tolerance()))
	if found {
		return Failed
	}
	return outcome
}

// some says whether a plan of a problem costs an objective at most.
func (k *changes) some(m changed, objective *big.Rat) Outcome {
	found, outcome := k.look(m, add(objective, k.tolerance()))
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
	c.phasesOf(&was.classes[i])
	m.classes[i] = c
	m.rest()
	m.rank()
	return m
}

// copied is the same problem with classes of its own.
func (was *model) copied() *model {
	m := *was
	m.classes, m.byWorth = slices.Clone(m.classes), slices.Clone(m.byWorth)
	return &m
}

// penalized is the problem with another penalty of a class.
func (k *changes) penalized(i int, penalty *big.Rat) changed {
	m := k.m.copied()
	m.classes[i].penalty = penalty
	m.rank()
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
	c, stated := &k.m.classes[i], &k.pl.Classes[i]
	penalty := c.penalty
	if more := stated.OneMore; more != nil && (more.Exact || more.Low != nil || more.High != nil) {
		jobs := float64(k.jobs[i] + 1)
		m := k.with(i, func(c *capacity.Class) { c.Jobs = capacity.JobRange{Min: jobs, Max: max(c.Jobs.Max, jobs)} })
		at := func(x *big.Rat) *big.Rat { return sub(add(k.bill.objective, x), penalty) }
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
		m := k.with(i, func(c *capacity.Class) { c.Jobs = capacity.JobRange{Min: min(c.Jobs.Min, most), Max: most} })
		at := func(x *big.Rat) *big.Rat { return add(sub(k.bill.objective, x), penalty) }
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
func (k *changes) change(what string, i int, m changed, stated *capacity.JobChange, sign int64, objective func(*big.Rat) *big.Rat) {
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
		if in := m.base().problem.Classes[i].Jobs; jobs != math.Trunc(jobs) || jobs < in.Min || jobs > in.Max {
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
		if !k.rentals.Cost(vms, bill) {
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
func (k *changes) within(what string, m changed, best, worst *money.Amount, objective func(*big.Rat) *big.Rat) {
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
	with := func(budget *big.Rat, more *big.Rat) likelihood {
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
func budgeted(c changed, b *capacity.Budget, nodes int, more *big.Rat) likelihood {
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
func (m *model) lacks(s shortage, vms *big.Rat) bool {
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
func (m *model) refusals() *big.Rat {
	sum := zero()
	for i := range m.classes {
		sum.Add(sum, mul(m.classes[i].penalty, m.classes[i].max))
	}
	return sum
}

// end is one end of a range, and where just beyond it lies.
type end struct {
	at, beyond *big.Rat
	open       bool // the end of what is legal
}

// moneyEnds returns the ends of a range of amounts; nil where an end is on the wrong side of the figure. Just beyond an
// end the objective differs by more than it can be off, if it changes by a unit for each unit of the figure.
func moneyEnds(r *capacity.MoneyRange, now, unit *big.Rat) []end {
	all := []end{{at: zero(), open: true}, {at: whole(money.Max), open: true}}
	for side, x := range [...]*money.Amount{r.Low, r.High} {
		if x == nil {
			continue
		}
		at := amount(x.Decimal)
		off := add(mul(at, big.NewRat(1, 1_000_000)), larger(big.NewRat(1, 10_000_000), unit))
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
	at := func(penalty *big.Rat) (changed, *big.Rat) {
		return k.penalized(i, penalty), sub(k.bill.objective, mul(sub(penalty, k.m.classes[i].penalty), whole(k.jobs[i])))
	}
	refused := sub(k.m.classes[i].max, whole(k.jobs[i]))
	k.ends(ends, at, func(penalty *big.Rat) *big.Rat {
		return add(k.bill.total, mul(sub(penalty, k.m.classes[i].penalty), refused))
	}, nil, func(penalty *big.Rat) {
		k.addf("%s: the plan does not stay the best as long as its penalty is said to let it: at %s.", stated.Name, amountOf(penalty))
	})
}

// ends checks the ends of a range of a figure. At one of them the plan is the best, and it pays for itself out of the
// budgets; beyond it, another plan is better or a budget does not pay for this one.
func (k *changes) ends(ends []end, at func(*big.Rat) (changed, *big.Rat), total, vms func(*big.Rat) *big.Rat, wrong func(*big.Rat)) {
	affords := func(x *big.Rat, slack *big.Rat) bool {
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
			found, beyond := k.look(m, sub(mine, k.tolerance()))
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
func (k *changes) weight() *big.Rat {
	vms, jobs := number(k.pl.VMs.Total), zero()
	for i := range k.m.classes {
		c := &k.m.classes[i]
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
		found, beyond := k.look(at(*r.High+off(*r.High)), objective) // however little that plan saves
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
			k.needs[j] = &[2]*big.Rat{l, h}
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

// reasons checks each class's sentence: it is made of figures that other checks have looked at.
func (m *model) reasons(pl capacity.Plan) []string {
	var f faults
	fixed := func(i int) float64 {
		if c := &m.classes[i]; !c.given {
			return float(c.plan.c)
		}
		return 0
	}
	said, facts := words.Reasons(&m.problem, pl.Classes, fixed)
	if pl.Facts == nil && len(facts) > 0 {
		return withoutFacts(pl, said)
	}
	for i := range pl.Classes {
		if stated := &pl.Classes[i]; stated.Reason != said[i] {
			f.addf("%s: the reason is %.200q, and its figures say %.200q.", stated.Name, stated.Reason, said[i])
		}
	}
	return append(f, factFaults(pl.Facts, facts)...)
}

// withoutFacts checks a plan that lists no facts: it must be an older one, whose sentences and members are others.
func withoutFacts(pl capacity.Plan, said []string) []string {
	const missing = "facts is missing: the reasons are those of plans that list facts."
	if told(pl) {
		return []string{missing}
	}
	for i := range pl.Classes {
		if c := &pl.Classes[i]; c.Reason == said[i] && strings.Contains(c.Reason, "valued") {
			return []string{missing}
		}
	}
	return nil
}

// factFaults compares the facts of a plan with those that its checked figures give.
func factFaults(stated, want []capacity.Fact) []string {
	var f faults
	if len(stated) != len(want) {
		f.addf("There are %d facts, and the figures give %d.", len(stated), len(want))
		return f
	}
	for i := range want {
		if got := &stated[i]; got.Kind != want[i].Kind || got.Subject != want[i].Subject || got.Claim != want[i].Claim ||
			!slices.Equal(got.Figures, want[i].Figures) {
			f.addf("Fact %d is %.300v, and the figures say %.300v.", i+1, *got, want[i])
		}
	}
	return f
}
