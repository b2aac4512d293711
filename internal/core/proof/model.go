package proof

import (
	"cmp"
	"math"
	"math/big"
	"slices"

	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/proof/exact"
)

// model is a problem in exact numbers.
type model struct {
	problem     capacity.Problem
	integrality capacity.Integrality
	bound       capacity.Bound
	dedicated   bool
	hours       *exact.Rat // of a period
	classes     []*class
	byWorth     []int      // classes by descending penalty a VM
	supply      []source   // by ascending price at the margin
	overspent   bool       // the budget does not even cover the fixed costs
	fixed       *exact.Rat // costs per period that no decision changes
	hair        *exact.Rat // VMs of one type among several that may be lacking in addition, in floating point
	steps       int        // numbers of map slots that may still be tried
	pause       func()     // called in long work; may be nil
}

// source is one source of VMs.
type source struct {
	contract  int        // index in the problem; -1 is on-demand
	price     *exact.Rat // of one more VM, a period
	vms       *exact.Rat
	unlimited bool
}

// demand holds the three coefficients of an execution's time, T = A·h/s_M + B·h/s_R + C.
type demand struct{ a, b, c *exact.Rat }

// class is one class in exact numbers.
type class struct {
	given                 bool // gamma is given: no deadline, no slots
	profiled              bool
	lower, average, upper demand     // of a profile
	calibrated            *demand    // of a profile with a calibration
	promised              bool       // a promise's factor is in what is planned
	stretch               *exact.Rat // its factor, and at least 1: the error of the bounds is multiplied as well
	predictedAs           demand     // the demand under the problem's bound, without a promise's factor
	plan                  demand     // the demand that the deadline is planned with
	deadline, slack       *exact.Rat
	impossible            bool // no number of slots meets the deadline
	perMap, perReduce     int64
	hasMap, hasReduce     bool // the phase exists, so that it needs a slot
	oneSlot               bool
	long                  bool       // gamma is given and has no exact decimal of nine places on this VM type
	low, high             *exact.Rat // gamma lies between; equal if it is rational
	loss                  *exact.Rat // error of a work or fixed time in floating point
	lowest, highest       *exact.Rat // bounds of gamma with that error
	penalty, min, max     *exact.Rat
	fits                  map[int64]fit // by jobs: what has been found; copies of a class share it
}

// newModel reads a problem. Its work rests by pause, which may be nil.
func newModel(p capacity.Problem, pause func()) *model {
	m := &model{
		problem:     p,
		integrality: cmp.Or(p.Options.Integrality, capacity.Executable),
		bound:       cmp.Or(p.Options.Bound, capacity.AverageBound),
		dedicated:   p.Options.Sharing == capacity.Dedicated,
		hours:       exact.New(p.PeriodSeconds, 3600),
		hair:        zero(),
		steps:       maxSteps,
		pause:       pause,
	}
	all := make([]class, len(p.Classes))
	m.classes = make([]*class, len(p.Classes))
	for i := range p.Classes {
		m.rest()
		all[i] = newClass(&p.Classes[i], m.bound, p.Options.OneSlotPerJob)
		m.classes[i] = &all[i]
	}
	m.rank()
	return m.supplied()
}

// supplied fills in the supply of the problem.
func (m *model) supplied() *model {
	p := &m.problem
	m.supply, m.fixed, m.overspent = nil, zero(), false
	for i, c := range p.Supply.Contracts {
		price := mul(amount(c.Price.Decimal), m.hours)
		if c.Billing == capacity.BilledAlways {
			m.fixed.Add(m.fixed, mul(price, whole(c.VMs)))
			price = zero()
		}
		m.supply = append(m.supply, source{contract: i, price: price, vms: whole(c.VMs)})
	}
	onDemand := source{contract: -1, price: mul(amount(p.Supply.OnDemand.Price.Decimal), m.hours), vms: zero(), unlimited: true}
	if q := p.Supply.OnDemand.Quota; q != nil {
		onDemand.vms, onDemand.unlimited = whole(*q), false
	}
	m.supply = append(m.supply, onDemand)
	slices.SortStableFunc(m.supply, func(x, y source) int { return x.price.Cmp(y.price) })
	if b := p.Budget; b != nil && b.VMCost != nil {
		m.keepWithin(forVMs(b))
	}
	return m
}

// keepWithin limits the VMs to those that a budget pays for. They are rented cheapest first, so the budget is a
// quota.
func (m *model) keepWithin(budget *exact.Rat) {
	left := sub(budget, m.fixed)
	m.overspent = left.Sign() < 0
	left = larger(zero(), left)
	for k := range m.supply {
		s := &m.supply[k]
		if s.price.Sign() == 0 {
			continue
		}
		paid := new(exact.Rat).SetInt(quo(left, s.price).Floor())
		if s.unlimited || less(paid, s.vms) {
			s.vms, s.unlimited = paid, false
		}
		if left = sub(left, mul(s.price, s.vms)); less(left, s.price) {
			left = zero() // dearer ones cannot be paid either
		}
	}
}

// rank orders the classes by penalty a VM, theta in the paper; free ones first.
func (m *model) rank() {
	type worth struct {
		class        int
		penalty, low float64
	}
	worths := make([]worth, len(m.classes))
	for i := range m.classes {
		c := m.classes[i]
		worths[i].class = i
		worths[i].penalty = c.penalty.Float()
		worths[i].low = c.low.Float()
	}
	slices.SortFunc(worths, func(x, y worth) int {
		if x.low == 0 || y.low == 0 {
			return cmp.Or(cmp.Compare(x.low, y.low), cmp.Compare(x.class, y.class))
		}
		more, less := y.penalty*x.low, x.penalty*y.low
		if math.Abs(more-less) > nearby*(more+less) {
			return cmp.Compare(more, less)
		}
		p, q := m.classes[x.class], m.classes[y.class]
		return cmp.Or(mul(q.penalty, p.low).Cmp(mul(p.penalty, q.low)), cmp.Compare(x.class, y.class))
	})
	m.byWorth = m.byWorth[:0]
	for _, w := range worths {
		m.byWorth = append(m.byWorth, w.class)
	}
}

// rerank puts one class, which has changed, into its place among the others.
func (m *model) rerank(i int) {
	m.byWorth = slices.DeleteFunc(m.byWorth, func(k int) bool { return k == i })
	at, _ := slices.BinarySearchFunc(m.byWorth, i, func(x, y int) int {
		p, q := m.classes[x], m.classes[y]
		if p.low.Sign() == 0 || q.low.Sign() == 0 {
			return cmp.Or(p.low.Cmp(q.low), cmp.Compare(x, y))
		}
		return cmp.Or(mul(q.penalty, p.low).Cmp(mul(p.penalty, q.low)), cmp.Compare(x, y))
	})
	m.byWorth = slices.Insert(m.byWorth, at, i)
}

// nearby is a relative difference, far more than the rounding error of a product of two factors. Products that differ
// by more differ like the exact ones.
const nearby = 1e-14

// promisedOf returns the promised jobs of a class.
func promisedOf(in *capacity.Class) float64 {
	if in.Jobs.All {
		return in.Jobs.Max
	}
	return in.Jobs.Min
}

func newClass(in *capacity.Class, bound capacity.Bound, oneSlot bool) class {
	return newClassAt(in, in.SlotsPerVM, whole(1), bound, oneSlot)
}

// newClassAt returns a class on VMs with these slots and this speed. The speed divides all of a demand, all of a
// profile but its overhead, and VMs per job.
func newClassAt(in *capacity.Class, slots capacity.SlotsPerVM, speed *exact.Rat, bound capacity.Bound, oneSlot bool) class {
	none := zero() // which nothing changes
	c := class{
		penalty: amount(in.Penalty.Decimal), min: number(promisedOf(in)), max: number(in.Jobs.Max),
		low: none, high: none, lowest: none, highest: none, slack: none, oneSlot: oneSlot,
	}
	if in.VMsPerJob != nil {
		c.given, c.low = true, quo(amount(*in.VMsPerJob), speed)
		c.long = !mul(c.low, whole(1e9)).IsInt()
		c.high, c.lowest, c.highest = c.low, c.low, c.low
		return c
	}
	c.perMap, c.perReduce = slots.Map, slots.Reduce
	c.deadline = number(in.DeadlineSeconds)
	if in.Profile != nil {
		c.profiled = true
		c.lower, c.average, c.upper = demands(in.Profile)
		overhead := number(in.Profile.OverheadSeconds)
		c.lower, c.average, c.upper = c.lower.at(speed, overhead), c.average.at(speed, overhead), c.upper.at(speed, overhead)
		known := map[capacity.Bound]demand{
			capacity.LowerBound: c.lower, capacity.AverageBound: c.average, capacity.UpperBound: c.upper,
			capacity.CalibratedBound: c.average} // of a class without a calibration
		c.stretch = whole(1)
		if k := in.Calibration; k != nil {
			d := known[k.Bound].times(number(k.Factor))
			c.calibrated, known[capacity.CalibratedBound] = &d, d
			c.stretch = larger(c.stretch, number(k.Factor))
		}
		c.plan = known[bound]
		c.predictedAs = c.plan
		if k := in.PromiseOf(); k != nil {
			c.plan = c.plan.times(number(k.Factor))
			c.stretch = mul(c.stretch, larger(whole(1), number(k.Factor)))
			c.promised = true
		}
		c.hasMap, c.hasReduce = true, in.Profile.ReduceTasks > 0
	} else {
		d := in.Demand
		c.plan = demand{number(d.MapWorkSeconds), number(d.ReduceWorkSeconds), number(d.FixedSeconds)}.at(speed, zero())
		c.hasMap, c.hasReduce = c.plan.a.Sign() > 0, c.plan.b.Sign() > 0
	}
	c.slack = sub(c.deadline, c.plan.c)
	if c.impossible = c.slack.Sign() <= 0; !c.impossible {
		c.convert()
	}
	return c
}

// at returns the coefficients at another speed of everything but the overhead. They are sums, differences, minima and
// maxima of task times, so the division applies to them too.
func (d demand) at(speed, overhead *exact.Rat) demand {
	if speed.Cmp(whole(1)) == 0 {
		return d
	}
	return demand{quo(d.a, speed), quo(d.b, speed), add(quo(sub(d.c, overhead), speed), overhead)}
}

// times returns the coefficients of an execution that takes factor times as long.
func (d demand) times(factor *exact.Rat) demand {
	return demand{mul(d.a, factor), mul(d.b, factor), mul(d.c, factor)}
}

// demands returns the coefficients of the three bounds (paper eq. 1-3 with errata E1, E7, E8), clamped so that phases
// shorter than two of their longest tasks have no negative work. A map-only job has no shuffle and no reduce,
// whatever their figures.
func demands(p *capacity.Profile) (lower, average, upper demand) {
	two := whole(2)
	if len(p.Stages) > 0 {
		return chained(p)
	}
	mapWork := mul(whole(p.MapTasks), number(p.MapAvgSeconds))
	mapEnds := mul(two, number(p.MapMaxSeconds))
	overhead := number(p.OverheadSeconds)
	reduceWork, reduceEnds, lowFixed, first := zero(), zero(), zero(), zero()
	if p.ReduceTasks > 0 {
		reduceWork = mul(whole(p.ReduceTasks), add(number(p.ShuffleAvgSeconds), number(p.ReduceAvgSeconds)))
		reduceEnds = mul(two, add(number(p.ShuffleMaxSeconds), number(p.ReduceMaxSeconds)))
		lowFixed = sub(number(p.FirstShuffleAvgSeconds), number(p.ShuffleAvgSeconds))
		first = number(p.FirstShuffleMaxSeconds)
	}
	lower = demand{mapWork, reduceWork, add(lowFixed, overhead)}
	upper = demand{
		a: larger(zero(), sub(mapWork, mapEnds)),
		b: larger(zero(), sub(reduceWork, reduceEnds)),
		c: add(add(smaller(mapEnds, mapWork), smaller(reduceEnds, reduceWork)), add(first, overhead)),
	}
	return lower, mean(lower, upper), upper
}

// mean returns the average of two demands.
func mean(x, y demand) demand {
	return demand{add(x.a, y.a), add(x.b, y.b), add(x.c, y.c)}.times(exact.New(1, 2))
}

// chained returns the coefficients of a job of stages: each is a phase on map slots (the map terms of eq. 1-3,
// clamped), and their times add up.
func chained(p *capacity.Profile) (lower, average, upper demand) {
	overhead := number(p.OverheadSeconds)
	work, ends := zero(), zero()
	for _, s := range p.Stages {
		phase := mul(whole(s.Tasks), number(s.AvgSeconds))
		work.Add(work, phase)
		ends.Add(ends, smaller(phase, mul(whole(2), number(s.MaxSeconds))))
	}
	lower = demand{work, zero(), overhead}
	upper = demand{sub(work, ends), zero(), add(ends, overhead)}
	return lower, mean(lower, upper), upper
}

// convert computes gamma, exactly and with the errors of its terms. Works and slack are differences, so they may be
// off by a few last places of their terms.
func (c *class) convert() {
	off := func(d demand) *exact.Rat {
		return mul(floating, add(add(d.a, d.b), abs(d.c)))
	}
	c.loss = add(off(c.plan), mul(floating, c.deadline))
	if c.profiled {
		c.loss.Add(c.loss, mul(c.stretch, add(off(c.lower), off(c.upper))))
	}
	loss := c.loss
	c.fits = map[int64]fit{}
	c.low = c.gamma(c.plan.a, c.plan.b, c.slack, false)
	c.high = c.gamma(c.plan.a, c.plan.b, c.slack, true)
	c.lowest = c.gamma(larger(zero(), sub(c.plan.a, loss)), larger(zero(), sub(c.plan.b, loss)), add(c.slack, loss), false)
	c.highest = c.gamma(add(c.plan.a, loss), add(c.plan.b, loss), larger(mul(c.slack, exact.New(1, 2)), sub(c.slack, loss)), true)
}

// floating is the relative error of a few operations in floating point.
var floating = exact.New(1, 1e15)

// gamma returns the VMs of one concurrent job (paper eq. 29-30): with x = s_M/h and y = s_R/h, the smallest x/c_M +
// y/c_R for which A/x + B/y fits the slack. Both are at least one if every job keeps a slot in each of its phases.
// Without that, x = (A + r/c_R)/F, y = (B + r/c_M)/F with r = sqrt(A·B·c_M·c_R), and gamma = (A·c_R + B·c_M +
// 2r)/(F·c_M·c_R). It is rounded down, or up, to the fine grid.
func (c *class) gamma(work, reduceWork, slack *exact.Rat, up bool) *exact.Rat {
	a, b, f := work.Units(finePlaces, up), reduceWork.Units(finePlaces, up), slack.Units(finePlaces, !up)
	perMap, perReduce := big.NewInt(c.perMap), big.NewInt(c.perReduce)
	times := func(x, y *big.Int) *big.Int { return new(big.Int).Mul(x, y) }
	plus := func(x, y *big.Int) *big.Int { return new(big.Int).Add(x, y) }
	over := func(x, y *big.Int) *big.Int { // in units of the fine grid
		n := times(x, fineGrid)
		if up {
			return n.Neg(n.Div(n.Neg(n), y))
		}
		return n.Div(n, y)
	}
	both := times(perMap, perReduce)
	r := new(big.Int).Sqrt(times(times(a, b), both))
	if up {
		r = plus(r, big.NewInt(1))
	}
	var gamma *big.Int
	alone := func(phase, other, perPhase, perOther *big.Int, otherHas bool) { // one slot a job in one phase
		y := over(other, new(big.Int).Sub(f, phase)) // the phase's work is below the slack, so its slots would be below one
		if otherHas && y.Cmp(fineGrid) < 0 {
			y = fineGrid
		}
		gamma = plus(over(big.NewInt(1), perPhase), over(y, times(perOther, fineGrid)))
	}
	switch {
	case c.oneSlot && c.hasMap && plus(times(a, perReduce), r).Cmp(times(f, perReduce)) < 0:
		alone(a, b, perMap, perReduce, c.hasReduce)
	case c.oneSlot && c.hasReduce && plus(times(b, perMap), r).Cmp(times(f, perMap)) < 0:
		alone(b, a, perReduce, perMap, c.hasMap)
	default:
		sum := plus(plus(times(a, perReduce), times(b, perMap)), plus(r, r))
		gamma = over(sum, times(f, both))
	}
	return exact.Scaled(gamma, finePlaces)
}

// settle reads a demand without work in a phase like the plan: such a phase may be absent, or exist and take one slot
// a job. A profile says which; a demand leaves it open.
func (m *model) settle(pl capacity.Plan) {
	changed := false
	for i := range m.classes {
		c := m.classes[i]
		if c.given || c.profiled || c.impossible || c.hasMap && c.hasReduce {
			continue
		}
		other := *c
		other.hasMap, other.hasReduce = true, true
		other.convert()
		if c.oneSlot {
			stated := number(pl.Classes[i].VMsPerJob)
			if c.agrees(stated) || !other.agrees(stated) {
				continue
			}
		} else if s := pl.Classes[i].Slots; s == nil || !c.hasMap && s.Map == 0 || !c.hasReduce && s.Reduce == 0 {
			continue
		}
		*c = other
		changed = true
	}
	if changed {
		m.rank()
	}
}

// agrees reports whether a gamma fits this class.
func (c *class) agrees(gamma *exact.Rat) bool {
	return gamma.Cmp(mul(c.lowest, sub(whole(1), relative))) >= 0 && gamma.Cmp(mul(c.highest, add(whole(1), relative))) <= 0
}

// doubt returns the error of a job's VMs.
func (c *class) doubt() *exact.Rat { return add(mul(relative, c.low), sub(c.highest, c.lowest)) }

// time returns T for h jobs on the slots, and the sum of its terms' sizes, the scale of rounding errors. It returns
// false if a phase has work beyond rounding, and no slots.
func (d demand) time(h, maps, reduces, rounding *exact.Rat) (t, scale *exact.Rat, ok bool) {
	t, scale = new(exact.Rat).Set(d.c), abs(d.c)
	for _, phase := range []struct{ work, slots *exact.Rat }{{d.a, maps}, {d.b, reduces}} {
		if phase.work.Sign() == 0 {
			continue
		}
		if phase.slots.Sign() <= 0 && phase.work.Cmp(rounding) <= 0 {
			continue
		}
		if phase.slots.Sign() <= 0 {
			return nil, nil, false
		}
		term := quo(mul(phase.work, h), phase.slots)
		t.Add(t, term)
		scale.Add(scale, term)
	}
	return t, scale, true
}

// size returns the VMs that slots take (erratum E16: a slot is a map slot or a reduce slot).
func (c *class) size(maps, reduces *exact.Rat) *exact.Rat {
	return add(quo(maps, whole(c.perMap)), quo(reduces, whole(c.perReduce)))
}
