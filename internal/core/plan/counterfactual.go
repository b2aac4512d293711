package plan

import (
	"cmp"
	"context"
	"math"
	"slices"

	"github.com/shopspring/decimal"

	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/money"
	"example.org/headroom/internal/core/plan/integer"
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
)

// counterfactual works out what would change a whole plan.
type counterfactual struct {
	neighbour
	*model
	ctx    context.Context
	jobs   []int64         // of each class in the plan
	spent  decimal.Decimal // on the plan's VMs per period, not rounded
	margin float64         // what a proof can be off by
	gap    float64         // by how much the plan may cost more than the best; 0 where it is proved
	out    []classChanges
	plan   *capacity.PlanStays
	huge   bool // a fleet of so many VMs that the tolerance of a deadline is worth some of them
}

// neighbour finds the best plans of problems that differ in one class.
type neighbour interface {
	// best is the best plan with a class changed; it is not proved where that takes too long.
	best(v variant) other
	// between bounds the cost of the best plan with a class changed above this one: at least and at most.
	between(v variant) (least, most float64)
	// possible says that some number of slots meets another deadline of a class.
	possible(class int, deadline float64) bool
	// shortest is the shortest deadline of a class with which the plan's VMs carry its jobs; nil where any is enough.
	shortest(class int) *float64
	// later is a deadline with which another plan is better, if one is known, and the one that is to be tried first.
	later(class int) (known *float64, try float64)
}

// variant is a class as it is, or with something changed.
type variant struct {
	class     int
	low, high int64
	penalty   decimal.Decimal
	deadline  float64
	near      *other // a plan to begin at, if one is known
}

// other is the best plan of a changed problem, seen from this plan.
type other struct {
	feasible, proved bool
	jobs             int64           // of the changed class
	bill             decimal.Decimal // what its VMs cost more
	others           decimal.Decimal // what the jobs of other classes are worth that give way, less those that come along
	vms              float64         // what it has more; where there is no plan, the VMs that are missing
	// from is the shortest deadline of the changed class, at most so long, with which the plan's VMs carry it.
	from func(most float64) *float64
	one  integer.Found // the plan itself, of one VM type
	many *fleetPlan    // or of a fleet
	// least and most bound what the best plan costs above this one, where it is not proved.
	least, most float64
}

// classChanges holds the changes of a class. One that was not worked out is nil.
type classChanges struct {
	more, less             *capacity.JobChange
	moreWithin, lessWithin *within // where there is no exact change
	stays                  capacity.Stays
	withMore, withLess     *other // the plans with them
}

// within bounds what a job more costs or one less saves; high is nil where no plan with it is known.
type within struct{ low, high *money.Amount }

// nearest is the classes that are worked out, those first that are nearest to a flip.
func nearest(classes int, distance func(class int) float64) []int {
	order := make([]int, classes)
	away := make([]float64, classes)
	for i := range order {
		order[i], away[i] = i, distance(i)
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(away[a], away[b]) })
	if len(order) > allClasses {
		order = order[:nearestClasses]
	}
	return order
}

// look works out the changes of classes, until the time is up.
func (k *counterfactual) look(order []int) {
	for _, look := range [...]func(i int){k.oneJob, k.penalty, k.deadline} { // the first ones get more of the effort
		for _, i := range order {
			if k.ctx.Err() != nil {
				return
			}
			look(i)
		}
	}
}

func (k *counterfactual) variant(i int) variant {
	c := &k.classes[i]
	return variant{class: i, low: int64(c.low), high: int64(c.high), penalty: c.Penalty.Decimal, deadline: c.DeadlineSeconds}
}

func (k *counterfactual) oneJob(i int) {
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

// unrounded turns a cost per hour into one per period.
func (m *model) unrounded(h hourlyCost) decimal.Decimal {
	return h.sum().Mul(decimal.NewFromInt(m.PeriodSeconds)).Div(decimal.NewFromInt(3600))
}

// oneMore is one job more promised than is now served. One more is asked for only where none is refused.
func (k *counterfactual) oneMore(i int) *capacity.JobChange {
	v := k.oneMoreOf(i)
	if v.high > capacity.MaxJobs {
		return nil
	}
	f := k.best(v)
	k.out[i].withMore = &f
	switch {
	case !f.proved:
		k.out[i].moreWithin = k.moreWithin(i, f.least, f.most)
		return nil
	case !f.feasible && f.vms > 0:
		return &capacity.JobChange{Exact: true, VMs: &f.vms, Budget: k.budgetFor(i, float64(v.low), float64(v.high))}
	case !f.feasible, !k.affords(&f, v):
		return &capacity.JobChange{Exact: true, Budget: k.budgetFor(i, float64(v.low), float64(v.high))}
	}
	return k.change(&f, i, 1)
}

// budgetFor returns the least budget that pays for a plan with other jobs of a class, or nil where none is known to.
func (k *counterfactual) budgetFor(class int, low, high float64) *money.Amount {
	if b := k.Budget; b == nil || b.VMCost != nil && b.Total != nil || len(k.classes) > allClasses {
		return nil
	}
	p := k.copied()
	p.Options.Gap = 0
	p.Classes[k.classes[class].index].Jobs = capacity.JobRange{Min: low, Max: high}
	if k.Budget.VMCost != nil {
		p = promisedAlone(p)
	}
	switch pl, ok := withoutBudget(k.ctx, p); {
	case !ok || pl.Proof.Gap > 0:
		return nil
	case k.Budget.VMCost != nil:
		return &pl.Cost.Bill
	default:
		return &pl.Cost.Total
	}
}

func (k *counterfactual) oneMoreOf(i int) variant {
	v := k.variant(i)
	v.low = k.jobs[i] + 1
	v.high = max(v.high, v.low)
	return v
}

// oneLess is one job less asked for, and one less than now admitted at most.
func (k *counterfactual) oneLess(i int) *capacity.JobChange {
	if k.jobs[i] == 0 {
		return nil
	}
	v := k.oneLessOf(i)
	f := k.best(v)
	k.out[i].withLess = &f
	if !f.proved || !f.feasible {
		k.out[i].lessWithin = k.lessWithin(i, f.least, f.most)
		return nil
	}
	return k.change(&f, i, -1)
}

func (k *counterfactual) oneLessOf(i int) variant {
	v := k.variant(i)
	v.high = k.jobs[i] - 1
	v.low = min(v.low, v.high)
	return v
}

// moreWithin bounds what a job more costs. Without it the changed plan would be one of this problem, so that the cost is
// not negative.
func (k *counterfactual) moreWithin(i int, least, most float64) *within {
	p := k.classes[i].penalty
	asked := p * float64(k.oneMoreOf(i).high-int64(k.classes[i].high))
	if b := k.Budget; b != nil && b.Total != nil && !(k.spent.Add(k.refusedValue()).InexactFloat64()+most+asked < b.Total.Float()-k.margin) {
		most = math.Inf(1)
	}
	return k.bounded(max(least+p, -k.gap), most+p+k.gap)
}

// lessWithin bounds what a job less saves.
func (k *counterfactual) lessWithin(i int, least, most float64) *within {
	p := k.classes[i].penalty
	return k.bounded(max(p-most-k.gap, -k.gap), p-least)
}

// bounded rounds bounds away from each other, by what their sums may be off as well.
func (k *counterfactual) bounded(low, high float64) *within {
	if math.IsInf(low, 0) || math.IsNaN(low) || math.IsNaN(high) || low < -money.Max {
		return nil
	}
	off := k.margin + 1e-12*math.Abs(low)
	w := &within{low: &money.Amount{Decimal: decimal.NewFromFloat(low - off).RoundFloor(money.Places)}}
	if low == 0 {
		w.low = &money.Amount{}
	}
	if high <= money.Max {
		w.high = &money.Amount{Decimal: decimal.NewFromFloat(high + k.margin + 1e-12*math.Abs(high)).RoundCeil(money.Places)}
	}
	return w
}

// rest bounds the changes that were not worked out.
func (k *counterfactual) rest() {
	for i := range k.out {
		c, known := &k.classes[i], &k.out[i]
		if c.impossible {
			continue
		}
		if k.ctx.Err() != nil {
			return
		}
		if v := k.oneMoreOf(i); known.more == nil && known.moreWithin == nil && v.high <= capacity.MaxJobs {
			least, most := k.between(v)
			known.moreWithin = k.moreWithin(i, least, most)
		}
		if known.less == nil && known.lessWithin == nil && k.jobs[i] > 0 {
			least, most := k.between(k.oneLessOf(i))
			known.lessWithin = k.lessWithin(i, least, most)
		}
	}
}

// relaxedWithin is the relaxation's figure of a change, moved to where it is proved to be.
func (w *within) relaxedWithin(c *capacity.JobChange) *capacity.JobChange {
	if w == nil || c == nil || c.Exact || w.high == nil && !c.Fits {
		return c
	}
	moved := capacity.JobChange{Fits: true, Amount: c.Amount, Low: w.low, High: w.high}
	if w.high != nil && (c.Amount == nil || c.Amount.GreaterThan(w.high.Decimal)) {
		moved.Amount = w.high
	} else if c.Amount.LessThan(w.low.Decimal) {
		moved.Amount = w.low
	}
	return &moved
}

// change is the difference to the plan with one job more (1) or less (-1); further jobs of the class count as others do.
func (k *counterfactual) change(f *other, i int, by int64) *capacity.JobChange {
	sign, more := decimal.NewFromInt(by), f.jobs-k.jobs[i]
	bill, vms := f.bill.Mul(sign).Round(money.Places), 0+float64(by)*f.vms
	others := f.others.Add(k.classes[i].Penalty.Mul(decimal.NewFromInt(by - more))).Mul(sign).Round(money.Places)
	total := money.Amount{Decimal: bill.Add(others)}
	c := capacity.JobChange{
		Exact: true, Fits: true, Amount: &total, VMs: &vms,
		Bill: &money.Amount{Decimal: bill}, ValueRefused: &money.Amount{Decimal: others},
	}
	if jobs := float64(by * more); jobs != 1 {
		c.Jobs = &jobs
	}
	return &c
}

// affords says that the budget for everything, if there is one, pays for a plan with more jobs of a class.
func (k *counterfactual) affords(f *other, v variant) bool {
	if k.Budget == nil || k.Budget.Total == nil {
		return true
	}
	more := f.bill.Add(f.others).Add(v.penalty.Mul(decimal.NewFromInt(v.high - f.jobs))).Sub(k.refusedOf(v.class))
	return k.spent.Add(k.refusedValue()).Add(more).LessThanOrEqual(k.Budget.Total.Decimal)
}

// refusedValue adds up the worth of the jobs that the plan refuses.
func (k *counterfactual) refusedValue() (sum decimal.Decimal) {
	for i := range k.classes {
		sum = sum.Add(k.refusedOf(i))
	}
	return sum
}

func (k *counterfactual) refusedOf(i int) decimal.Decimal {
	c := &k.classes[i]
	return c.Penalty.Mul(decimal.NewFromInt(int64(c.Jobs.Max) - k.jobs[i]))
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
	now := k.jobs[i]
	v := k.variant(i)
	if side > 0 {
		v.low = now + 1
	} else {
		v.high = now - 1
	}
	if v.low > v.high {
		return nil, true
	}
	var f other
	for step := range maxMeets {
		if known := k.first(i, side); step == 0 && known != nil {
			f = *known
		} else {
			f = k.best(v)
		}
		switch {
		case !f.proved:
			return nil, false
		case !f.feasible:
			return at, true
		}
		meets := f.bill.Add(f.others).Div(decimal.NewFromInt(f.jobs - now))
		if at != nil && (side > 0 && meets.GreaterThanOrEqual(at.Sub(meetNoise)) || side < 0 && meets.LessThanOrEqual(at.Add(meetNoise))) {
			return at, true
		}
		if side < 0 && meets.Sign() <= 0 && v.penalty.IsZero() {
			return nil, true // not even for nothing is it refused
		}
		at = &meets
		v.penalty, v.near = decimal.Max(decimal.Zero, meets), &f
	}
	return nil, false
}

// first is the best plan with more (1) or fewer (-1) jobs of a class at its own penalty, if a job more or less has found
// it.
func (k *counterfactual) first(i int, side int64) *other {
	if side < 0 {
		return k.out[i].withLess
	}
	return k.out[i].withMore
}

// meetNoise is less than two penalties at which plans meet differ by.
var meetNoise = decimal.New(1, -9)

// penaltyWithin is the penalty beyond which refused jobs cost more than the budget for everything pays for.
func (k *counterfactual) penaltyWithin(i int) *decimal.Decimal {
	c := &k.classes[i]
	refused := int64(c.Jobs.Max) - k.jobs[i]
	if k.Budget == nil || k.Budget.Total == nil || refused == 0 {
		return nil
	}
	left := k.Budget.Total.Sub(k.spent).Sub(k.refusedValue()).Add(k.refusedOf(i))
	most := left.Div(decimal.NewFromInt(refused))
	return &most
}

// besideRelaxed writes the relaxation's figures of a job more or less, until planning anew gives better ones.
func besideRelaxed(out *capacity.ClassPlan, more, less float64) {
	out.OneMore = &capacity.JobChange{Fits: !math.IsInf(more, 1), Amount: money.Finite(more)}
	if out.Admitted > 0 {
		out.OneLess = &capacity.JobChange{Fits: true, Amount: money.Finite(less)}
	}
}

// tell writes what was worked out about a class. Its flips are the nearer ends of the ranges in which the plan stays
// the best. A class that is served in full breaks even at the lower end of its penalties, another at the upper end.
func (k *counterfactual) tell(i int, out *capacity.ClassPlan) {
	c, known := &k.classes[i], &k.out[i]
	if out.OneMore = known.moreWithin.relaxedWithin(out.OneMore); known.more != nil {
		out.OneMore = known.more
	}
	if out.OneLess = known.lessWithin.relaxedWithin(out.OneLess); known.less != nil && known.less.Fits {
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
	if k.plan != nil && k.plan.OnDemandPrice != nil {
		out.Flips.OnDemandPrice = k.plan.OnDemandPrice.Nearest(k.Supply.OnDemand.Price)
	}
}
