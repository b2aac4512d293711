package plan

import (
	"context"
	"math"
	"slices"

	"github.com/shopspring/decimal"

	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/plan/integer"
	"example.org/headroom/internal/core/plan/mixes"
)

// besideWork bounds the work of all plans beside a fleet's, as a multiple of what the plan itself took and at least so
// much; besideMost bounds that of a single one.
const (
	besideShare = 2
	besideLeast = 4_000_000
	besideMost  = 400_000
)

// besideSteps bounds the work of bounding changes that are not worked out: classes times types, over all plans tried.
const besideSteps = 20_000_000

// mostFleet is the number of classes times types up to which a fleet's changes are worked out.
const mostFleet = 20_000

// hugeFleet is the number of VMs of a type above which ranges of deadlines are not told.
const hugeFleet = 1_000_000

// besideFleet finds plans beside one of a fleet. Each is searched for from the prices and the jobs of that plan.
type besideFleet struct {
	*fleet // with room for one more job of each class
	ctx    context.Context
	plan   *fleetPlan
	nu     []float64
	mu     float64
	bound  float64         // of the plan's problem, at these prices
	nearby [][]alternative // each class's mixes near the cheapest, at these prices
	whole  []bool          // they are all that cost less than reach above it
	reach  float64
	excess []typeExcess // of each type
	cheap  []float64    // of each class's cheapest mix
	margin float64      // what a proof can be off by
	left   int          // work that may still be done
	steps  int          // of bounding changes
}

// lookBeside works out what would change a fleet's whole plan.
func (d *fleetDecision) lookBeside(ctx context.Context, best *fleetPlan, root *treeNode) {
	if d.ofSeries || len(d.classes) > maxClasses || len(d.classes)*len(d.types) > mostFleet || ctx.Err() != nil {
		return
	}
	b := &besideFleet{ctx: ctx, plan: best, nu: root.nu, mu: root.mu, left: max(besideLeast, besideShare*d.work)}
	if b.fleet = d.roomier(); b.fleet == nil || !slices.Equal(b.loaded(best.jobs), best.vms) {
		return
	}
	b.done, b.most = integer.Expired(ctx), math.MaxInt
	b.margin = 0.35 * max(integer.ProofResolution*integer.Yardstick(best.cost+d.committed(), d.wanted()), integer.GapNoise*d.wanted(), 3e-9)
	b.list()
	jobs := make([]int64, len(d.classes))
	for i, mix := range best.jobs {
		for _, h := range mix {
			jobs[i] += h
		}
	}
	k := &counterfactual{
		neighbour: b, model: d.model, ctx: ctx, jobs: jobs, spent: b.spentOn(b.fleet, best), margin: b.margin,
		out: make([]classChanges, len(d.classes)),
	}
	for _, n := range best.vms {
		k.huge = k.huge || n > hugeFleet
	}
	d.beside = k // when the time is up, what was found until then is told
	defer k.rest()
	if d.gap > b.margin { // the search has ended within the gap that the options allow
		if f := b.found(b.fleet, b.itself()); !f.proved || f.plan.cost < best.cost-b.margin {
			k.gap = d.gap
			return
		}
	}
	k.look(nearest(len(d.classes), d.fromFlip))
	k.plan = b.supplies(k)
}

// fromFlip returns the distance of a class's penalty from the cost of its jobs where that is least.
func (d *fleetDecision) fromFlip(i int) float64 {
	_, cost := d.cheapestOn(i, d.relaxed.nu)
	if d.classes[i].impossible || math.IsInf(cost, 1) || cost == 0 {
		return math.Inf(1)
	}
	return math.Abs(d.penalty[i]-cost) / max(d.penalty[i], cost)
}

// roomier is the fleet with room for one more job of each class; nil where those are too many.
func (f *fleet) roomier() *fleet {
	p := *f.Problem
	p.Classes = slices.Clone(p.Classes)
	for i := range p.Classes {
		p.Classes[i].Jobs.Max++
	}
	g, err := newFleet(&p)
	if err != nil {
		return nil
	}
	g.low, g.high = f.low, f.high
	return g
}

// loaded is the VMs that carry the jobs.
func (f *fleet) loaded(jobs [][]int64) []int64 {
	loads, plan := make([]int64, len(f.types)), fleetPlan{vms: make([]int64, len(f.types))}
	for i, mix := range jobs {
		for v, load := range f.loadsOf(i, mix) {
			loads[v] += load
		}
	}
	f.rent(&plan, loads)
	return plan.vms
}

// besides is the best plan of a changed fleet, as far as it was found.
type besides struct {
	proved bool
	plan   *fleetPlan // nil where there is none
	bound  float64
}

// found searches a changed fleet, beginning at plans that are known.
func (b *besideFleet) found(g *fleet, starts [][][]int64) besides {
	s := g.newSearch(b.ctx, func(float64) float64 { return 0 }, b.nu)
	s.effort = s.work + min(b.left, besideMost)
	s.patience, s.most = s.effort, s.effort
	before := s.work
	if b.left > 0 {
		for _, jobs := range starts {
			s.consider(jobs)
		}
		s.run()
	}
	b.left -= s.work - before + besideSetup*len(g.classes)
	return besides{proved: len(s.open) == 0 || s.best != nil && s.best.cost-s.bound <= b.margin, plan: s.best, bound: s.bound}
}

// list lists each class's mixes near the cheapest, once for all searches beside the plan.
func (b *besideFleet) list() {
	root := b.everything()
	b.bound = b.boundAt(&root, b.weigher(&root), b.nu, b.mu, false)
	b.reach = b.plan.cost - b.bound
	for v := range b.nu {
		b.reach += b.nu[v]
	}
	n := len(b.classes)
	b.nearby, b.whole, b.cheap = make([][]alternative, n), make([]bool, n), make([]float64, n)
	before := b.work
	for i := range b.classes {
		p := pricing{b.nu, b.penalty[i], nil}
		_, _, b.cheap[i], _ = b.cheapest(i, p)
		b.nearby[i], b.whole[i] = b.alternatives(i, p, b.cheap[i], b.reach, max(listedLeast, listedMost/n))
	}
	d := field{fleetSearch: &fleetSearch{fleet: b.fleet}, nu: b.nu, mu: b.mu}
	b.excess = d.excessesOf(&root)
	b.left -= b.work - before
}

// enumerated finds the best plan with a class changed among all mixes near the plan's prices; false where those are not
// all that count, or too many.
func (b *besideFleet) enumerated(g *fleet, class int, starts [][][]int64) (f besides, ok bool) {
	for v := range g.types {
		if b.left <= 0 || g.types[v].loads.Grid != b.types[v].loads.Grid {
			return f, false
		}
	}
	s := g.newSearch(b.ctx, func(float64) float64 { return 0 }, b.nu)
	s.most = math.MaxInt
	before := s.work
	defer func() { b.left -= s.work - before + besideSetup }()
	for _, jobs := range starts {
		s.consider(jobs)
	}
	if s.best == nil {
		return f, false
	}
	p := pricing{b.nu, g.penalty[class], nil}
	_, _, least, found := g.cheapest(class, p)
	d := &field{fleetSearch: s, nu: b.nu, mu: b.mu, bound: b.bound - b.cheap[class] + least, lists: slices.Clone(b.nearby)}
	if len(g.on[class]) == len(b.on[class]) { // no more VMs are needed on any type
		d.excesses = b.excess
	}
	below := s.best.cost - d.bound
	if !found || below > b.reach {
		return f, false
	}
	for i, list := range b.nearby {
		if i != class && (len(list) == 0 || !b.whole[i] && list[len(list)-1].extra < below) {
			return f, false
		}
	}
	if d.lists[class], ok = g.alternatives(class, p, least, below+1e-12*math.Abs(least), listedMost); !ok || len(d.lists[class]) == 0 {
		return f, false
	}
	if all := *s.root; !d.enumerate(&all) { // not the root: that would be worth more
		return f, false
	}
	return besides{proved: true, plan: s.best, bound: s.best.cost}, true
}

// besideSetup is the work of beginning a search, for each class.
const besideSetup = 20

// itself is this plan alone.
func (b *besideFleet) itself() [][][]int64 { return [][][]int64{b.plan.jobs} }

// starts is this plan with the jobs of a class within its limits: those that are too many go where they are, and those
// that are missing come to each type in turn.
func (b *besideFleet) starts(g *fleet, class int) (list [][][]int64) {
	with := func(v int, by int64) {
		jobs := slices.Clone(b.plan.jobs)
		jobs[class] = slices.Clone(jobs[class])
		if jobs[class][v] += by; jobs[class][v] >= 0 && g.allows(class, jobs[class]) {
			list = append(list, jobs)
		}
	}
	total := int64(0)
	for _, h := range b.plan.jobs[class] {
		total += h
	}
	by := min(max(total, g.low[class]), g.high[class]) - total
	if by == 0 {
		return b.itself()
	}
	for _, v := range g.on[class] {
		with(v, by)
	}
	return list
}

// best is the best plan with a class changed.
func (b *besideFleet) best(v variant) other {
	g := b.with(v)
	if v.low > v.high {
		return other{proved: true}
	}
	starts := b.starts(g, v.class)
	if v.near != nil && v.near.many != nil {
		starts = append(starts, v.near.many.jobs)
	}
	f, ok := b.enumerated(g, v.class, starts)
	if !ok {
		f = b.found(g, starts)
	}
	o := other{most: math.Inf(1)}
	if f.plan != nil {
		o = b.seen(g, f.plan, v.class)
		o.most = f.plan.cost - b.plan.cost
	}
	if o.proved = f.proved; !f.proved {
		least, _ := b.between(v)
		o.least = max(least, f.bound-b.plan.cost)
	}
	return o
}

// between: the prices of the plan bound the cost from below, and the plan with the class changed as little as may be
// bounds it from above.
func (b *besideFleet) between(v variant) (least, most float64) {
	g := b.with(v)
	_, _, is, ok := g.cheapest(v.class, pricing{b.nu, g.penalty[v.class], nil})
	if least = b.bound - b.cheap[v.class] + is - b.plan.cost; !ok {
		least = math.Inf(-1)
	}
	most = math.Inf(1)
	if b.steps > besideSteps {
		return least, most
	}
	for _, jobs := range b.starts(g, v.class) {
		b.steps += len(b.classes) * len(b.types)
		if p := g.evaluate(jobs); p != nil {
			most = min(most, p.cost-b.plan.cost)
		}
	}
	return least, most
}

// seen is another plan as it is seen from this one.
func (b *besideFleet) seen(g *fleet, p *fleetPlan, class int) other {
	o := other{feasible: true, many: p, bill: b.spentOn(g, p).Sub(b.spentOn(b.fleet, b.plan))}
	for v := range p.vms {
		o.vms += float64(p.vms[v] - b.plan.vms[v])
	}
	for i := range p.jobs {
		more := int64(0)
		for v, h := range p.jobs[i] {
			more += h - b.plan.jobs[i][v]
			if i == class {
				o.jobs += h
			}
		}
		if i != class && more != 0 {
			o.others = o.others.Sub(b.classes[i].Penalty.Mul(decimal.NewFromInt(more)))
		}
	}
	if class >= 0 {
		o.from = func(most float64) *float64 { return b.carried(p, class, most) }
	}
	return o
}

// spentOn is the cost of a plan's VMs per period, not rounded.
func (b *besideFleet) spentOn(g *fleet, p *fleetPlan) decimal.Decimal {
	vms := make([]float64, len(p.vms))
	for v, n := range p.vms {
		vms[v] = float64(n)
	}
	return g.spend(vms).Mul(decimal.NewFromInt(g.PeriodSeconds)).Div(decimal.NewFromInt(3600))
}

// with is the fleet with a class changed.
func (b *besideFleet) with(v variant) *fleet {
	g := *b.fleet
	if v.deadline != b.classes[v.class].DeadlineSeconds {
		g.at(v.class, v.deadline)
	}
	g.low, g.high, g.penalty = slices.Clone(g.low), slices.Clone(g.high), slices.Clone(g.penalty)
	g.low[v.class], g.high[v.class], g.penalty[v.class] = v.low, v.high, v.penalty.InexactFloat64()
	return &g
}

// at gives a class another deadline on all types.
func (f *fleet) at(i int, deadline float64) {
	types := f.types
	f.types, f.on = make([]vmType, len(types)), slices.Clone(f.on)
	f.on[i] = nil
	for v := range types {
		t := types[v]
		m := *t.model
		m.classes = slices.Clone(m.classes)
		if m.classes[i] = f.classOn(&t, i, deadline); !m.classes[i].impossible {
			f.on[i] = append(f.on[i], v)
		}
		t.model, t.loads = &m, m.newOptions(f.Options.Integrality == capacity.Executable)
		was, is := types[v].loads.Loader.(*slotLoads), t.loads.Loader.(*slotLoads)
		if was.fine.PerVM == is.fine.PerVM { // the other classes have the same loads
			copy(is.memo, was.memo)
			is.memo[i] = nil
		}
		need := int64(1)
		for j := range m.classes {
			need += int64(m.classes[j].gamma*m.classes[j].high) + mostRounding
		}
		t.rental = mixes.NewRental(t.tiers, t.Supply.Spot, f.hours, need)
		f.types[v] = t
	}
}

// classOn is a class on a type with another deadline.
func (f *fleet) classOn(t *vmType, i int, deadline float64) class {
	c := t.classes[i]
	if !f.classes[i].RunsOn(t.name) {
		return c
	}
	changed := *c.Class
	changed.DeadlineSeconds = deadline
	c.Class, c.low, c.high, c.gamma = &changed, 0, 0, 0
	possible := false
	if c.shape, possible = newShape(&changed, c.shape.work, t.Options.OneSlotPerJob); possible {
		c.gamma, c.high = c.shape.gamma(), c.Jobs.Max
	}
	if c.impossible = !possible || c.gamma*c.high > integer.MostVMs; c.impossible {
		c.gamma, c.high = 0, 0
	}
	return c
}

func (b *besideFleet) possible(i int, deadline float64) bool {
	return slices.ContainsFunc(b.types, func(t vmType) bool { return !b.classOn(&t, i, deadline).impossible })
}

func (b *besideFleet) shortest(i int) *float64 {
	return b.carried(b.plan, i, b.classes[i].DeadlineSeconds)
}

// carried is the shortest deadline of a class, at most so long, with which a plan's VMs carry it on each of its types.
func (b *besideFleet) carried(p *fleetPlan, i int, most float64) (at *float64) {
	for v, jobs := range p.jobs[i] {
		if jobs == 0 {
			continue
		}
		if on := b.carriedOn(v, i, jobs, b.room(p, v, i), most); on != nil && (at == nil || *on > *at) {
			at = on
		}
	}
	return at
}

// room is the load there is on a type for a class beside the others in a plan.
func (f *fleet) room(p *fleetPlan, v, i int) int64 {
	t := &f.types[v]
	room := p.vms[v]*t.loads.Grid.PerVM + t.loads.Grid.Tolerance
	for j, mix := range p.jobs {
		if j != i && mix[v] > 0 {
			room -= t.loads.Units(j, mix[v])
		}
	}
	return room
}

// carriedOn is the shortest deadline with which so much room on a type carries jobs of a class; nil where any does.
func (b *besideFleet) carriedOn(v, i int, jobs, room int64, most float64) *float64 {
	t := &b.types[v]
	loads := t.loads.Loader.(*slotLoads)
	perVM := t.loads.Grid.PerVM
	fits := func(deadline float64) bool {
		c := b.classOn(t, i, deadline)
		need := c.gamma * float64(jobs) * float64(perVM)
		switch {
		case c.impossible || need >= integer.MaxLoad:
			return false
		case loads.exact || loads.dedicated:
			return loads.other(&c, jobs) <= room
		case float64(perVM) < integer.FineGrid:
			return need <= float64(room)+integer.LoadNoise*float64(perVM)
		}
		units, _ := integer.UnitsFor(c.gamma, perVM)
		return units*jobs <= room
	}
	return leastDeadline(&t.classes[i], float64(room)/float64(perVM)/float64(jobs), most, fits)
}

// later: at a deadline with which the plan's own jobs need a VM less, or one more job fits, at least one plan is better.
func (b *besideFleet) later(i int) (known *float64, try float64) {
	most := float64(capacity.MaxSeconds)
	first := func(at *float64) {
		if at != nil && (known == nil || *at < *known) {
			known = at
		}
	}
	total := int64(0)
	for _, h := range b.plan.jobs[i] {
		total += h
	}
	for v, jobs := range b.plan.jobs[i] {
		t, n := &b.types[v], b.plan.vms[v]
		if !b.classes[i].RunsOn(t.name) {
			continue
		}
		room := b.room(b.plan, v, i)
		if jobs > 0 && n > 0 && t.rental.Cost(n-1) < t.rental.Cost(n)*(1-1e-9) {
			first(b.carriedOn(v, i, jobs, room-t.loads.Grid.PerVM, most))
		}
		if total < int64(b.classes[i].Jobs.Max)-1 && b.penalty[i] > 0 { // room for one more makes it one too many here
			first(b.carriedOn(v, i, jobs+1, room, most))
		}
	}
	if try = most; known != nil {
		try = *known * (1 - later)
	}
	return known, try
}
