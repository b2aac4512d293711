package plan

import (
	"cmp"
	"context"
	"math"
	"slices"

	"github.com/shopspring/decimal"

	"headroom/internal/core/capacity"
	"headroom/internal/core/money"
	"headroom/internal/core/plan/integer"
)

// What would change a plan is found by planning anew: with one job more of a class or one less, with another penalty,
// another deadline, another price. Dinkelbach's method finds the price or the penalty at which another plan is as good:
// over such a figure two plans are lines. Where the line of this plan meets that of the best plan at some figure, a plan
// is made anew, until none is better there.

const (
	// allClasses is up to how many classes everything is worked out; of more it is the nearest ones.
	allClasses     = 120
	nearestClasses = 50
	// maxClasses is up to how many classes anything is: a search holds the cheapest moves of them all.
	maxClasses = 5_000
	// maxMeets bounds how often a line is met before the search is given up.
	maxMeets = 60
	// maxAnew bounds the plans that are made from nothing, where no search beside the plan's own decides.
	maxAnew = 30
	// maxStates bounds the states of all searches together.
	maxStates = 400_000
)

// counterfactual works out what would change a whole plan of one VM type.
type counterfactual struct {
	*decision
	ctx    context.Context
	plan   integer.Result
	beside *integer.Beside
	series *Series // for plans made from nothing
	anew   int     // how many of those there were
	slack  int64   // by how much a load may exceed its VMs on the plan's grid
	hint   int64   // less load of a class that lately let a better plan in
	bills  map[int64]decimal.Decimal
	out    []classChanges
	prices *capacity.MoneyRange
}

// classChanges holds the changes of a class. One that was not worked out is nil.
type classChanges struct {
	more, less *capacity.JobChange
	stays      capacity.Stays
}

// lookBeside works out what would change the plan, if it is proved and its VMs are the sum of its loads.
func (d *decision) lookBeside(ctx context.Context) {
	terrain, ok := d.front.(integer.Terrain)
	if !ok || d.brief() || len(d.classes) > maxClasses || d.best.Gap > d.complete() || d.best.VMs != integer.VMsFor(d.front, d.best.Jobs) {
		return
	}
	k := &counterfactual{decision: d, ctx: ctx, plan: d.best, bills: map[int64]decimal.Decimal{}, out: make([]classChanges, len(d.classes))}
	most := int64(integer.MaxLoad) / d.front.PerVM() // so many VMs' loads can be counted
	if most < 2*integer.VMsFor(d.front, highest(d.classes))+mostRounding {
		return
	}
	k.beside = integer.NewBeside(terrain, integer.NewSupply(d.tiers).UpTo(most), d.best.Jobs, d.complete(), maxStates, integer.Expired(ctx))
	base := *d.Problem
	base.Options.Gap, base.Options.Engine, base.Options.Near = 0, capacity.EngineExact, nil
	k.series = NewSeries(base, nil)
	k.slack = -d.front.Load(make([]int64, len(d.classes)))
	d.beside = k // when the time is up, what was found until then is told
	order := k.nearest()
	for _, look := range [...]func(i int){k.jobs, k.penalty, k.deadline} { // the first ones get more of the effort
		for _, i := range order {
			if ctx.Err() != nil {
				return
			}
			look(i)
		}
	}
	if len(k.classes) <= allClasses {
		k.prices = k.onDemandPrices()
	}
}

// complete is the gap at which nothing is left to prove.
func (d *decision) complete() float64 {
	return max(integer.ProofResolution/10*integer.Yardstick(d.best.Objective, d.wanted()), money.Smallest, integer.GapNoise*d.wanted())
}

func highest(classes []class) []int64 {
	jobs := make([]int64, len(classes))
	for i := range classes {
		jobs[i] = int64(classes[i].high)
	}
	return jobs
}

// nearest is the classes that are worked out, those first whose penalty is nearest to what their VMs are worth.
func (k *counterfactual) nearest() []int {
	order := make([]int, len(k.classes))
	for i := range order {
		order[i] = i
	}
	r := k.relaxed
	distance := func(i int) float64 {
		c := &k.classes[i]
		if c.impossible || c.gamma == 0 {
			return math.Inf(1)
		}
		worth := r.nuLow
		if r.jobs[i] >= c.high && !math.IsInf(r.nuHigh, 1) {
			worth = r.nuHigh
		}
		return math.Abs(r.theta[i]-worth) / max(worth, r.theta[i])
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(distance(a), distance(b)) })
	if len(order) > allClasses {
		order = order[:nearestClasses]
	}
	return order
}

// variant is a class as it is, or with something changed.
type variant struct {
	class     int
	low, high int64
	penalty   decimal.Decimal
	deadline  float64
}

func (k *counterfactual) variant(i int) variant {
	c := &k.classes[i]
	return variant{i, int64(c.low), int64(c.high), c.Penalty.Decimal, c.DeadlineSeconds}
}

// best is the best plan with a class changed; it is not proved where that takes too long.
func (k *counterfactual) best(v variant) integer.Found {
	own, ok := k.own(v)
	if ok {
		if f := k.beside.Best(own); f.Proved {
			return f
		}
	}
	return k.planAnew(v)
}

// own is the class as the search beside sees it; false where its load cannot be counted on the plan's grid.
func (k *counterfactual) own(v variant) (integer.Own, bool) {
	i := v.class
	own := integer.Own{Class: i, Low: v.low, High: v.high, Penalty: v.penalty.InexactFloat64()}
	if v.deadline == k.classes[i].DeadlineSeconds {
		own.PerJob = k.beside.PerJob(i)
		own.Units = func(jobs int64) int64 { return k.front.Units(i, jobs) }
		return own, true
	}
	c, possible := k.with(i, v.deadline)
	if !possible || !k.countable() {
		return own, false
	}
	own.PerJob = c.gamma
	own.Units = func(jobs int64) int64 { return k.units(&c, jobs) }
	return own, true
}

// planAnew plans the problem with the class changed from nothing.
func (k *counterfactual) planAnew(v variant) integer.Found {
	if k.anew++; k.anew > maxAnew || len(k.classes) > allClasses {
		return integer.Found{}
	}
	p := k.series.base
	p.Classes = slices.Clone(p.Classes)
	c := &p.Classes[k.classes[v.class].index]
	c.Jobs = capacity.JobRange{Min: float64(v.low), Max: float64(v.high)}
	c.Penalty, c.DeadlineSeconds = money.Amount{Decimal: v.penalty.Round(money.Places)}, v.deadline
	if p.Budget != nil { // the total is compared by whoever asks
		p.Budget = &capacity.Budget{VMCost: p.Budget.VMCost}
	}
	pl, err := k.series.Solve(k.ctx, p)
	switch {
	case err != nil:
		return integer.Found{}
	case pl.Status == capacity.InfeasibleStatus:
		return integer.Found{Proved: true}
	}
	f := integer.Found{Feasible: true, Proved: pl.Proof.Gap == 0, VMs: int64(pl.VMs.Total)}
	for j := range k.classes {
		jobs := int64(pl.Classes[k.classes[j].index].Admitted)
		if j == v.class {
			f.Jobs = jobs
		} else if jobs != k.plan.Jobs[j] {
			f.Others = append(f.Others, integer.Moved{Class: j, Jobs: jobs})
		}
	}
	return f
}

func (k *counterfactual) jobs(i int) {
	if !k.classes[i].impossible {
		k.out[i].more, k.out[i].less = k.oneMore(i), k.oneLess(i)
	}
}

func (k *counterfactual) penalty(i int) {
	if !k.classes[i].impossible {
		k.out[i].stays.Penalty = k.penalties(i)
	}
}

func (k *counterfactual) deadline(i int) { k.out[i].stays.DeadlineSeconds = k.deadlines(i) }

// bill returns the cost of so many VMs per period, not rounded: a plan rounds each of its lines.
func (k *counterfactual) bill(vms int64) decimal.Decimal {
	known, ok := k.bills[vms]
	if !ok {
		known = k.unrounded(k.hourly(k.vms(float64(vms))))
		k.bills[vms] = known
	}
	return known
}

// unrounded turns a cost per hour into one per period.
func (m *model) unrounded(h hourlyCost) decimal.Decimal {
	return h.sum().Mul(decimal.NewFromInt(m.PeriodSeconds)).Div(decimal.NewFromInt(3600))
}

// above returns by how much another plan costs more than this one, in VMs and in jobs of other classes.
func (k *counterfactual) above(f *integer.Found) (bill, others decimal.Decimal) {
	bill = k.bill(f.VMs).Sub(k.bill(k.plan.VMs))
	for _, m := range f.Others {
		others = others.Add(k.classes[m.Class].Penalty.Mul(decimal.NewFromInt(k.plan.Jobs[m.Class] - m.Jobs)))
	}
	return bill, others
}

// oneMore is one job more asked for, and one more than now promised.
func (k *counterfactual) oneMore(i int) *capacity.JobChange {
	v := k.variant(i)
	v.low, v.high = k.plan.Jobs[i]+1, v.high+1
	if v.high > capacity.MaxJobs {
		return nil
	}
	f := k.best(v)
	if !f.Proved {
		return nil
	}
	switch {
	case !f.Feasible && f.VMs > 0:
		missing := float64(f.VMs)
		return &capacity.JobChange{Exact: true, VMs: &missing}
	case !f.Feasible, !k.affords(&f, i, v.low):
		return &capacity.JobChange{Exact: true}
	}
	return k.change(&f, i, v.low, false)
}

// oneLess is one job less asked for, and one less than now admitted at most.
func (k *counterfactual) oneLess(i int) *capacity.JobChange {
	v := k.variant(i)
	v.high = k.plan.Jobs[i] - 1
	if v.high < 0 {
		return &capacity.JobChange{Exact: true}
	}
	v.low = min(v.low, v.high)
	f := k.best(v)
	if !f.Proved || !f.Feasible {
		return nil
	}
	return k.change(&f, i, v.high, true)
}

// change is the difference to the plan; beyond the jobs wanted, those of the class itself count as others do.
func (k *counterfactual) change(f *integer.Found, i int, wanted int64, saved bool) *capacity.JobChange {
	bill, others := k.above(f)
	others = others.Add(k.classes[i].Penalty.Mul(decimal.NewFromInt(wanted - f.Jobs)))
	vms := float64(f.VMs - k.plan.VMs)
	if saved {
		bill, others, vms = bill.Neg(), others.Neg(), -vms
	}
	bill, others = bill.Round(money.Places), others.Round(money.Places)
	total := money.Amount{Decimal: bill.Add(others)}
	return &capacity.JobChange{
		Exact: true, Fits: true, Amount: &total, VMs: &vms,
		Bill: &money.Amount{Decimal: bill}, ValueRefused: &money.Amount{Decimal: others},
	}
}

// affords says that the budget for everything, if there is one, pays for a plan.
func (k *counterfactual) affords(f *integer.Found, i int, wanted int64) bool {
	if k.Budget == nil || k.Budget.Total == nil {
		return true
	}
	bill, others := k.above(f)
	total := k.bill(k.plan.VMs).Add(bill).Add(others).Add(k.classes[i].Penalty.Mul(decimal.NewFromInt(wanted - f.Jobs)))
	for j := range k.classes {
		c := &k.classes[j]
		total = total.Add(c.Penalty.Mul(decimal.NewFromInt(int64(c.Jobs.Max) - k.plan.Jobs[j])))
	}
	return total.LessThanOrEqual(k.Budget.Total.Decimal)
}

// penalties is the range of the class's penalty in which the plan stays the best.
func (k *counterfactual) penalties(i int) *capacity.MoneyRange {
	low, known := k.meet(i, -1)
	if !known {
		return nil
	}
	high, known := k.meet(i, 1)
	if !known {
		return nil
	}
	if budget := k.penaltyWithin(i); budget != nil && (high == nil || budget.LessThan(*high)) {
		high = budget
	}
	var r capacity.MoneyRange
	if low != nil && low.Round(money.Places).Sign() > 0 {
		r.Low = &money.Amount{Decimal: low.Round(money.Places)}
	}
	if high != nil && high.LessThanOrEqual(money.MaxDecimal) {
		r.High = &money.Amount{Decimal: high.Round(money.Places)}
	}
	return &r
}

// meet is the penalty nearest to the class's own, in one direction, beyond which a plan with more (1) or fewer (-1) of
// its jobs is better; nil where there is none.
func (k *counterfactual) meet(i int, side int64) (at *decimal.Decimal, known bool) {
	now := k.plan.Jobs[i]
	v := k.variant(i)
	if side > 0 {
		v.low = now + 1
	} else {
		v.high = now - 1
	}
	if v.low > v.high {
		return nil, true
	}
	for range maxMeets {
		f := k.best(v)
		switch {
		case !f.Proved:
			return nil, false
		case !f.Feasible:
			return at, true
		}
		bill, others := k.above(&f)
		meets := bill.Add(others).Div(decimal.NewFromInt(f.Jobs - now))
		if at != nil && (side > 0 && meets.GreaterThanOrEqual(at.Sub(meetNoise)) || side < 0 && meets.LessThanOrEqual(at.Add(meetNoise))) {
			return at, true
		}
		if side < 0 && meets.Sign() <= 0 && v.penalty.IsZero() {
			return nil, true // not even for nothing is it refused
		}
		at = &meets
		v.penalty = decimal.Max(decimal.Zero, meets)
	}
	return nil, false
}

// meetNoise is less than two penalties at which plans meet differ by.
var meetNoise = decimal.New(1, -9)

// penaltyWithin is the penalty beyond which refused jobs cost more than the budget for everything pays for.
func (k *counterfactual) penaltyWithin(i int) *decimal.Decimal {
	c := &k.classes[i]
	refused := int64(c.Jobs.Max) - k.plan.Jobs[i]
	if k.Budget == nil || k.Budget.Total == nil || refused == 0 {
		return nil
	}
	left := k.Budget.Total.Sub(k.bill(k.plan.VMs))
	for j := range k.classes {
		if j != i {
			c := &k.classes[j]
			left = left.Sub(c.Penalty.Mul(decimal.NewFromInt(int64(c.Jobs.Max) - k.plan.Jobs[j])))
		}
	}
	most := left.Div(decimal.NewFromInt(refused))
	return &most
}

// besideRelaxed writes the relaxation's figures of a job more or less, until planning anew gives better ones.
func (m *model) besideRelaxed(out *capacity.ClassPlan, c *class, r *relaxation) {
	if c.impossible {
		return
	}
	more := capacity.JobChange{Fits: !math.IsInf(r.nuHigh, 1) || c.gamma == 0}
	if more.Fits {
		amount := money.Round(0)
		if c.gamma > 0 {
			amount = money.Round(c.gamma * r.nuHigh)
		}
		more.Amount = &amount
	}
	out.OneMore = &more
	if out.Admitted > 0 {
		amount := money.Round(c.gamma * r.nuLow)
		out.OneLess = &capacity.JobChange{Fits: true, Amount: &amount}
	}
}

// tell writes what was worked out about a class. Its flips are the nearer ends of the ranges in which the plan stays
// the best. A class that is served in full breaks even at the lower end of its penalties, another at the upper end.
func (k *counterfactual) tell(i int, out *capacity.ClassPlan) {
	c, known := &k.classes[i], &k.out[i]
	if known.more != nil {
		out.OneMore = known.more
	}
	if known.less != nil && known.less.Fits {
		out.OneLess = known.less
	}
	if known.stays != (capacity.Stays{}) {
		out.Stays = &known.stays
	}
	if r := known.stays.Penalty; r != nil {
		out.Flips.Penalty = r.Nearest(c.Penalty)
		out.BreakEvenPenalty = r.High
		if out.Verdict == capacity.VerdictFull {
			out.BreakEvenPenalty = r.Low
		}
	}
	if r := known.stays.DeadlineSeconds; r != nil {
		out.Flips.DeadlineSeconds = r.Nearest(c.DeadlineSeconds)
	}
	if k.prices != nil {
		out.Flips.OnDemandPrice = k.prices.Nearest(k.Supply.OnDemand.Price)
	}
}
