package horizon

import (
	"cmp"
	"context"
	"math"
	"slices"
	"sync/atomic"

	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/money"
	"example.org/headroom/internal/core/plan"
	"example.org/headroom/internal/core/plan/integer"
)

// newWeighing makes a valid question ready; the offers' terms follow those of the contracts.
func newWeighing(ctx context.Context, q *PurchaseQuestion, crew Crew) (*weighing, error) {
	return weighingOf(ctx, q, crew, false)
}

// weighingOf is newWeighing. Where all is owed, offers cost what they commit to over their whole terms, and not the share
// of it that lies in the horizon.
func weighingOf(ctx context.Context, q *PurchaseQuestion, crew Crew, allOwed bool) (*weighing, error) {
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
	if w.core, err = plan.NewRecurring(w.largest()); err != nil {
		return nil, err
	}
	if w.worths, err = w.core.Worths(ctx, w.calendar.jobs); err != nil {
		return nil, err
	}
	most, hours := int64(0), float64(h.Problem.PeriodSeconds)/3600 // no plan needs more VMs
	for i := range w.worths {
		most = max(most, w.worths[i].Most)
	}
	for k, o := range q.Offers {
		t := terms[len(h.Contracts)+k]
		inside, length := t.within(whole), t.until.Unix()-t.from.Unix()
		x := weighed{price: o.Price.Float() * hours, most: min(o.Max, most)}
		x.certain = o.Upfront.Float() * float64(inside) / float64(length)
		if o.Billing == capacity.BilledAlways {
			x.price = 0
			x.certain += o.Price.Float() * float64(inside) / 3600
		}
		if allOwed {
			x.certain = obligation(&o, whole.from, 1).Float()
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
		var committed float64
		s.tiers, committed = w.core.Tiers(capacity.Supply{Contracts: contracts, OnDemand: t.prices.Priced(h.Problem.Supply).OnDemand})
		w.constant += s.scale * committed
		w.stages = append(w.stages, s)
		shortest = min(shortest, s.scale)
		for _, tier := range s.tiers {
			highest = max(highest, tier.Price)
		}
		if steps := w.worths[t.demand].Steps; len(steps) > 0 {
			highest = max(highest, steps[0].Each)
		}
	}
	for _, o := range w.offers {
		highest, dearest = max(highest, o.price), max(dearest, o.certain)
	}
	// Twice what a VM can cost that serves promised jobs in the shortest stage alone: never worth paying.
	w.shortage = 2*(highest+dearest/shortest) + 1
	w.kept.values = make([]map[boughtKey]plan.Spent, len(w.stages))
}

// exactCost returns the cost of the horizon with so many VMs bought of each offer; the core solves every stage. It is
// +Inf if the promised jobs of one do not fit. The true cost may be lower by the gap.
func (w *weighing) exactCost(ctx context.Context, bought []int64) (cost, gap float64, err error) {
	all, err := w.exactAll(ctx, bought)
	return all.Cost, all.Gap, err
}

// exactAll is exactCost with the part of it that is paid for VMs.
func (w *weighing) exactAll(ctx context.Context, bought []int64) (plan.Spent, error) {
	stages := make([]plan.Spent, len(w.stages))
	err := each(ctx, len(w.stages), w.crew, w.heed, func(ctx context.Context, i int) (err error) {
		stages[i], err = w.exactStage(ctx, i, bought)
		return err
	})
	if err != nil {
		return plan.Spent{}, err
	}
	var sum, vms, open money.Sum
	sum.Add(w.constant)
	vms.Add(w.constant)
	for i, v := range stages {
		if math.IsInf(v.Cost, 1) {
			return plan.Spent{Cost: v.Cost}, nil
		}
		scale := w.stages[i].scale
		sum.Add(scale * v.Cost)
		vms.Add(scale * v.VMs)
		open.Add(scale * v.Gap)
	}
	for k, o := range w.offers {
		sum.Add(o.certain * float64(bought[k]))
		vms.Add(o.certain * float64(bought[k]))
	}
	return plan.Spent{Cost: sum.Value(), VMs: vms.Value(), Gap: open.Value()}, nil
}

// heed tells how far a search is, of which nobody knows how many stages it will look at.
func (w *weighing) heed(int, int) {
	if w.solved++; w.told != nil {
		w.told(1 - 1/(1+float64(w.solved)/float64(3*len(w.stages))))
	}
}

// keptValues holds the known costs of stages. Purchases that differ only in VMs that a stage does not need share an
// entry.
type keptValues struct {
	values []map[boughtKey]plan.Spent // by stage
	count  atomic.Int64
}

type boughtKey [MaxOffers]int32

// billOf returns what VMs cost; nil where promised jobs do not fit.
func billOf(s plan.Spent) *money.Amount {
	if math.IsInf(s.Cost, 1) {
		return nil
	}
	return money.Finite(s.VMs)
}

// keptMost bounds the values that are kept, of about a hundred bytes each.
const keptMost = 500_000

// exactStage is a stage's cost per period: VMs and penalties.
func (w *weighing) exactStage(ctx context.Context, i int, bought []int64) (plan.Spent, error) {
	s := &w.stages[i]
	worth := &w.worths[s.demand]
	if worth.Impossible {
		return plan.Spent{Cost: math.Inf(1)}, nil
	}
	tiers, key := w.tiersWith(s, worth.Most, bought)
	if v, known := w.kept.values[i][key]; known {
		return v, nil
	}
	v := w.core.Least(ctx, w.calendar.jobs[s.demand], tiers)
	v.Cost += worth.Never
	v.Gap += coreNoise * worth.All
	if err := capacity.Pause(ctx); err != nil {
		return v, err
	}
	if w.kept.count.Add(1) <= keptMost {
		if w.kept.values[i] == nil {
			w.kept.values[i] = make(map[boughtKey]plan.Spent)
		}
		w.kept.values[i][key] = v
	}
	return v, nil
}

// tiersWith is a stage's tiers with what is bought, and the VMs bought that it could need.
func (w *weighing) tiersWith(s *stage, most int64, bought []int64) (tiers []integer.Tier, key boughtKey) {
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
			tiers = append(tiers, integer.Tier{VMs: vms, Price: w.offers[k].price})
		}
	}
	return tiers, key
}

// coreNoise is the float64 error of an optimum, relative to the penalties of all jobs.
const coreNoise = 1e-15
