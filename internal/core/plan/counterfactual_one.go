package plan

import (
	"context"
	"math"
	"slices"

	"github.com/shopspring/decimal"

	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/money"
	"example.org/headroom/internal/core/plan/integer"
)

const (
	// maxAnew bounds the plans that are made from nothing, where no search beside the plan's own decides.
	maxAnew = 30
	// maxStates bounds the states of all searches together.
	maxStates = 800_000
)

// besideOne finds plans beside one for VMs of one type.
type besideOne struct {
	*decision
	ctx    context.Context
	plan   integer.Result
	beside *integer.Beside
	series *Series // for plans made from nothing
	anew   int     // how many of those there were
	slack  int64   // by how much a load may exceed its VMs on the plan's grid
	hint   int64   // less load of a class that lately let a better plan in
	bills  map[int64]decimal.Decimal
}

// lookBeside works out what would change the plan, if it is proved and its VMs are the sum of its loads.
func (d *decision) lookBeside(ctx context.Context) {
	terrain, ok := d.front.(integer.Terrain)
	if !ok || d.brief() || len(d.classes) > maxClasses || d.best.VMs != integer.VMsFor(d.front, d.best.Jobs) {
		return
	}
	b := &besideOne{decision: d, ctx: ctx, plan: d.best, bills: map[int64]decimal.Decimal{}}
	most := int64(integer.MaxLoad) / d.front.PerVM() // so many VMs' loads can be counted
	if most < 2*integer.VMsFor(d.front, highest(d.classes))+mostRounding {
		return
	}
	b.beside = integer.NewBeside(terrain, integer.NewSupply(d.tiers).UpTo(most), d.best.Jobs, d.complete(), maxStates, integer.Expired(ctx))
	base := *d.Problem
	base.Options.Gap, base.Options.Engine, base.Options.Near = 0, capacity.EngineExact, nil
	b.series = NewSeries(base, nil)
	b.slack = -d.front.Load(make([]int64, len(d.classes)))
	k := &counterfactual{
		neighbour: b, model: d.model, ctx: ctx, jobs: d.best.Jobs, spent: b.bill(d.best.VMs), margin: d.complete(),
		out: make([]classChanges, len(d.classes)),
	}
	d.beside = k // when the time is up, what was found until then is told
	defer k.rest()
	if d.best.Gap > d.complete() && !b.proves(k.variant(0)) {
		k.gap = d.best.Gap
		return
	}
	k.look(nearest(len(d.classes), b.fromFlip))
	if len(d.classes) <= allClasses && ctx.Err() == nil {
		prices := pricesBeside{k, b}
		if stays := (capacity.PlanStays{OnDemandPrice: prices.onDemand(), Quota: prices.quotas()}); stays.OnDemandPrice != nil || stays.Quota != nil {
			k.plan = &stays
		}
	}
}

// proves says that no plan is better, where a class is as it is: that was known up to the gap of a proof.
func (b *besideOne) proves(v variant) bool {
	own, _ := b.own(v)
	f := b.beside.Best(own, integer.Found{})
	return f.Proved && f.Feasible && f.Jobs == b.plan.Jobs[v.class] && f.VMs == b.plan.VMs && len(f.Others) == 0
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

// fromFlip returns the distance of a class's penalty from the worth of its VMs.
func (b *besideOne) fromFlip(i int) float64 {
	c, r := &b.classes[i], b.relaxed
	if c.impossible || c.gamma == 0 {
		return math.Inf(1)
	}
	worth := r.nuLow
	if r.jobs[i] >= c.high && !math.IsInf(r.nuHigh, 1) {
		worth = r.nuHigh
	}
	return math.Abs(r.theta[i]-worth) / max(worth, r.theta[i])
}

// best is the best plan with a class changed; it is not proved where that takes too long.
func (b *besideOne) best(v variant) other {
	f := b.find(v)
	o := other{feasible: f.Feasible, proved: f.Proved, jobs: f.Jobs, vms: float64(f.VMs), one: f}
	if !f.Proved {
		o.least, o.most = b.between(v)
	}
	if !f.Feasible {
		return o
	}
	o.vms -= float64(b.plan.VMs)
	o.bill = b.bill(f.VMs).Sub(b.bill(b.plan.VMs))
	for _, m := range f.Others {
		o.others = o.others.Add(b.classes[m.Class].Penalty.Mul(decimal.NewFromInt(b.plan.Jobs[m.Class] - m.Jobs)))
	}
	o.from = func(most float64) *float64 { return b.from(&f, v.class, most) }
	return o
}

func (b *besideOne) between(v variant) (least, most float64) {
	own, ok := b.own(v)
	if !ok {
		return math.Inf(-1), math.Inf(1)
	}
	return b.beside.Between(own)
}

func (b *besideOne) find(v variant) integer.Found {
	own, ok := b.own(v)
	if ok {
		known := integer.Found{}
		if v.near != nil {
			known = v.near.one
		}
		if f := b.beside.Best(own, known); f.Proved {
			return f
		}
	}
	return b.planAnew(v)
}

// own is the class as the search beside sees it; false where its load cannot be counted on the plan's grid.
func (b *besideOne) own(v variant) (integer.Own, bool) {
	i := v.class
	own := integer.Own{Class: i, Low: v.low, High: v.high, Penalty: v.penalty.InexactFloat64()}
	if v.deadline == b.classes[i].DeadlineSeconds {
		own.PerJob = b.beside.PerJob(i)
		own.Units = func(jobs int64) int64 { return b.front.Units(i, jobs) }
		return own, true
	}
	c, possible := b.with(i, v.deadline)
	if !possible || !b.countable() {
		return own, false
	}
	own.PerJob = c.gamma
	own.Units = func(jobs int64) int64 { return b.units(&c, jobs) }
	return own, true
}

// planAnew plans the problem with the class changed from nothing.
func (b *besideOne) planAnew(v variant) integer.Found {
	if b.anew++; b.anew > maxAnew || len(b.classes) > allClasses {
		return integer.Found{}
	}
	p := b.series.base
	p.Classes = slices.Clone(p.Classes)
	c := &p.Classes[b.classes[v.class].index]
	c.Jobs = capacity.JobRange{Min: float64(v.low), Max: float64(v.high)}
	c.Penalty, c.DeadlineSeconds = money.Amount{Decimal: v.penalty.Round(money.Places)}, v.deadline
	if p.Budget != nil { // the total is compared by whoever asks
		p.Budget = &capacity.Budget{VMCost: p.Budget.VMCost}
	}
	pl, err := b.series.Solve(b.ctx, p)
	switch {
	case err != nil:
		return integer.Found{}
	case pl.Status == capacity.InfeasibleStatus:
		return integer.Found{Proved: true}
	}
	f := integer.Found{Feasible: true, Proved: pl.Proof.Gap == 0, VMs: int64(pl.VMs.Total)}
	for j := range b.classes {
		jobs := int64(pl.Classes[b.classes[j].index].Admitted)
		if j == v.class {
			f.Jobs = jobs
		} else if jobs != b.plan.Jobs[j] {
			f.Others = append(f.Others, integer.Moved{Class: j, Jobs: jobs})
		}
	}
	return f
}

// bill returns the cost of so many VMs per period, not rounded: a plan rounds each of its lines.
func (b *besideOne) bill(vms int64) decimal.Decimal {
	known, ok := b.bills[vms]
	if !ok {
		known = b.unrounded(b.hourly(b.vms(float64(vms))))
		b.bills[vms] = known
	}
	return known
}
