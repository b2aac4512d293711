package plan

import (
	"cmp"
	"context"
	"math"
	"slices"
	"sync/atomic"

	"headroom/internal/core/capacity"
	"headroom/internal/core/money"
)

// newWeighing makes a valid question ready; the offers' terms follow those of the contracts.
func newWeighing(ctx context.Context, q *capacity.PurchaseQuestion, crew Crew) (*weighing, error) {
	h := &q.Horizon
	whole := term{h.Start(), h.End()}
	w := &weighing{question: q, crew: crew}
	var terms []term
	for _, c := range h.Contracts {
		t := term{c.From, c.Until}
		terms = append(terms, t)
		w.constant += c.Upfront.Float() * float64(t.within(whole)) / float64(c.Until.Unix()-c.From.Unix())
	}
	for _, o := range q.Offers {
		from, until := o.Term(whole.from)
		terms = append(terms, term{from, until})
	}
	w.calendar = newCalendar(h, terms)
	var err error
	if w.base, err = newModel(w.largest()); err != nil {
		return nil, err
	}
	w.base.keepWholeSlots()
	hulls := newHulls(w.base)
	for _, jobs := range w.calendar.jobs {
		if err := capacity.Pause(ctx); err != nil {
			return nil, err
		}
		w.curves = append(w.curves, hulls.curve(jobs))
	}
	most := int64(0) // no plan needs more VMs
	for i := range w.curves {
		most = max(most, w.curves[i].most)
	}
	for k, o := range q.Offers {
		t := terms[len(h.Contracts)+k]
		inside, length := t.within(whole), t.until.Unix()-t.from.Unix()
		x := weighed{price: o.Price.Float() * w.base.hours, most: min(o.Max, most)}
		x.certain = o.Upfront.Float() * float64(inside) / float64(length)
		if o.Billing == capacity.BilledAlways {
			x.price = 0
			x.certain += o.Price.Float() * float64(inside) / 3600
		}
		w.offers = append(w.offers, x)
		w.byPrice = append(w.byPrice, k)
	}
	slices.SortStableFunc(w.byPrice, func(a, b int) int { return cmp.Compare(w.offers[a].price, w.offers[b].price) })
	w.addStages()
	return w, nil
}

// largest is the problem with the most jobs that any period has, and VMs for all of them.
func (w *weighing) largest() *capacity.Problem {
	p := w.calendar.horizon.Problem
	p.Supply = capacity.Supply{OnDemand: capacity.OnDemand{Price: p.Supply.OnDemand.Price}}
	p.Classes = slices.Clone(p.Classes)
	for i := range p.Classes {
		most := 0.0
		for _, jobs := range w.calendar.jobs {
			most = max(most, jobs[i].Max)
		}
		p.Classes[i].Jobs = capacity.JobRange{Max: most}
	}
	return &p
}

func (w *weighing) addStages() {
	h := w.calendar.horizon
	highest, shortest, dearest := 0.0, math.Inf(1), 0.0
	for i := range w.calendar.situations {
		t := &w.calendar.situations[i]
		s := stage{situation: t, scale: float64(t.seconds) / float64(h.Problem.PeriodSeconds), offered: t.inForce[len(h.Contracts):]}
		contracts := slices.Clone(h.Problem.Supply.Contracts)
		for k, c := range h.Contracts {
			if t.inForce[k] {
				contracts = append(contracts, c.Contract)
			}
		}
		m := model{Problem: &capacity.Problem{Supply: capacity.Supply{Contracts: contracts, OnDemand: t.prices.Priced(h.Problem.Supply).OnDemand}}, hours: w.base.hours}
		m.addSupply()
		s.tiers = slices.DeleteFunc(m.tiers, func(t Tier) bool { return t.VMs == 0 })
		w.constant += s.scale * m.committed()
		w.stages = append(w.stages, s)
		shortest = min(shortest, s.scale)
		for _, tier := range s.tiers {
			highest = max(highest, tier.Price)
		}
		if steps := w.curves[t.demand].steps; len(steps) > 0 {
			highest = max(highest, steps[0].worth)
		}
	}
	for _, o := range w.offers {
		highest, dearest = max(highest, o.price), max(dearest, o.certain)
	}
	// Twice what a VM can cost that serves promised jobs in the shortest stage alone: never worth paying.
	w.shortage = 2*(highest+dearest/shortest) + 1
	w.kept.values = make([]map[boughtKey]kept, len(w.stages))
}

// exactCost is what the horizon costs with so many VMs bought of each offer, every stage solved by the core:
// +Inf where the promised jobs of one do not fit. The gap says how much less it may be in truth.
func (w *weighing) exactCost(ctx context.Context, bought []int64) (cost, gap float64, err error) {
	all, err := w.exactAll(ctx, bought)
	return all.cost, all.gap, err
}

// exactAll is exactCost with the part of it that is paid for VMs.
func (w *weighing) exactAll(ctx context.Context, bought []int64) (kept, error) {
	stages := make([]kept, len(w.stages))
	err := each(ctx, len(w.stages), w.crew, w.heed, func(ctx context.Context, i int) (err error) {
		stages[i], err = w.exactStage(ctx, i, bought)
		return err
	})
	if err != nil {
		return kept{}, err
	}
	var sum, vms, open money.Sum
	sum.Add(w.constant)
	vms.Add(w.constant)
	for i, v := range stages {
		if math.IsInf(v.cost, 1) {
			return kept{cost: v.cost}, nil
		}
		scale := w.stages[i].scale
		sum.Add(scale * v.cost)
		vms.Add(scale * v.vms)
		open.Add(scale * v.gap)
	}
	for k, o := range w.offers {
		sum.Add(o.certain * float64(bought[k]))
		vms.Add(o.certain * float64(bought[k]))
	}
	return kept{sum.Value(), vms.Value(), open.Value()}, nil
}

// heed tells how far a search is, of which nobody knows how many stages it will look at.
func (w *weighing) heed(int, int) {
	if w.solved++; w.told != nil {
		w.told(1 - 1/(1+float64(w.solved)/float64(3*len(w.stages))))
	}
}

// keptValues is what stages have been found to cost. Purchases that differ in VMs which a stage does not
// need are the same to it.
type keptValues struct {
	values []map[boughtKey]kept // by stage
	count  atomic.Int64
}

type boughtKey [capacity.MaxOffers]int32

// kept is a cost, the part of it that is paid for VMs, and how much less it may be in truth.
type kept struct{ cost, vms, gap float64 }

// bill is what VMs cost; nil where promised jobs do not fit.
func (k kept) bill() *money.Amount {
	if math.IsInf(k.cost, 1) {
		return nil
	}
	return finite(k.vms)
}

// keptMost bounds the values that are kept, of about a hundred bytes each.
const keptMost = 500_000

// exactStage is a stage's cost per period: VMs and penalties.
func (w *weighing) exactStage(ctx context.Context, i int, bought []int64) (kept, error) {
	s := &w.stages[i]
	curve := &w.curves[s.demand]
	if curve.impossible {
		return kept{cost: math.Inf(1)}, nil
	}
	tiers, key := w.tiersWith(s, curve.most, bought)
	if v, known := w.kept.values[i][key]; known {
		return v, nil
	}
	m := *w.base
	m.tiers = tiers
	m.classes = slices.Clone(m.classes)
	for k := range m.classes {
		c := &m.classes[k]
		if jobs := w.calendar.jobs[s.demand][c.index]; !c.impossible {
			c.low, c.high = jobs.Min, jobs.Max
		}
	}
	v := m.least(ctx)
	v.cost += curve.never
	v.gap += coreNoise * curve.all
	if err := capacity.Pause(ctx); err != nil {
		return v, err
	}
	if w.kept.count.Add(1) <= keptMost {
		if w.kept.values[i] == nil {
			w.kept.values[i] = make(map[boughtKey]kept)
		}
		w.kept.values[i][key] = v
	}
	return v, nil
}

// tiersWith is a stage's tiers with what is bought, and the VMs bought that it could need.
func (w *weighing) tiersWith(s *stage, most int64, bought []int64) (tiers []Tier, key boughtKey) {
	tiers = slices.Clone(s.tiers)
	tier, before := 0, int64(0)
	for _, k := range w.byPrice {
		for ; tier < len(s.tiers) && s.tiers[tier].Price <= w.offers[k].price; tier++ {
			before += min(s.tiers[tier].VMs, most)
		}
		if s.offered[k] {
			vms := min(bought[k], max(0, most-before))
			key[k] = int32(vms)
			before += vms
			tiers = append(tiers, Tier{vms, w.offers[k].price})
		}
	}
	return tiers, key
}

// coreNoise, relative to the penalties of all jobs, is what float64 sums may miss an optimum by.
const coreNoise = 1e-15

// least is what VMs and refused jobs of the model cost as the core plans them, without a plan; +Inf where nothing
// fits. They are added up from its jobs and VMs, because its objective is a difference that large penalties drown.
func (m *model) least(ctx context.Context) kept {
	target := m.target()
	var r Result
	switch {
	case m.Options.Integrality == capacity.Relaxed:
		relaxed, _ := newRelaxation(m)
		if relaxed == nil {
			return kept{cost: math.Inf(1)}
		}
		vms := relaxed.supply.costReal(relaxed.capacity)
		return kept{cost: m.refusing(vms, func(i int) float64 { return relaxed.jobs[i] }), vms: vms}
	case m.wholeLoads():
		r, _ = solve(ctx, m.newOptions(m.Options.Integrality == capacity.Executable), target)
	default:
		r, _ = solve(ctx, newLinear(m.instance()), target)
	}
	if !r.Feasible {
		return kept{cost: math.Inf(1)}
	}
	vms := newSupply(m.tiers).cost(r.VMs)
	return kept{m.refusing(vms, func(i int) float64 { return float64(r.Jobs[i]) }), vms, r.Gap}
}

// refusing adds the penalties of the jobs that are not admitted to what VMs cost.
func (m *model) refusing(vms float64, admitted func(class int) float64) float64 {
	sum := money.Sum{}
	sum.Add(vms)
	for i := range m.classes {
		sum.Add(m.classes[i].penalty * (m.classes[i].high - admitted(i)))
	}
	return sum.Value()
}

// wholeKept bounds the answers that keepWholeSlots works out.
const wholeKept = 1 << 20

// keepWholeSlots works out the slots of all job counts once, where thousands of stages ask for the same.
func (m *model) keepWholeSlots() {
	if m.Options.Integrality != capacity.Executable {
		return
	}
	room := int64(wholeKept)
	for i := range m.classes {
		c := &m.classes[i]
		most := int64(c.high)
		if room -= most; !c.slotted || c.impossible || room < 0 {
			continue
		}
		all := make([]wholeSlots, most+1)
		for jobs := int64(1); jobs <= most; jobs++ {
			all[jobs].jobs = jobs
			all[jobs].mapSlots, all[jobs].redSlots = c.shape.cheapestWhole(jobs)
		}
		c.shape.all = all
	}
}
