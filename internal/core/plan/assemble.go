package plan

import (
	"context"
	"math"

	"github.com/shopspring/decimal"

	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/fault"
	"example.org/headroom/internal/core/lp"
	"example.org/headroom/internal/core/money"
	"example.org/headroom/internal/core/perf"
	"example.org/headroom/internal/core/plan/integer"
)

// answer is a plan's decisions before they are priced and explained.
type answer struct {
	admitted []float64
	shares   []float64 // VMs of each class
	slots    []*capacity.Slots
	vms      float64
	given    []capacity.Slots // what slots points at
}

func newAnswer(classes int, vms float64) answer {
	return answer{
		admitted: make([]float64, classes), shares: make([]float64, classes), vms: vms,
		slots: make([]*capacity.Slots, classes), given: make([]capacity.Slots, classes),
	}
}

func (a *answer) giveSlots(i int, s capacity.Slots) {
	a.given[i] = s
	a.slots[i] = &a.given[i]
}

// plan writes the decision down.
func (d *decision) plan() capacity.Plan {
	n := len(d.classes)
	d.load = d.front.Load(d.best.Jobs)
	a := newAnswer(n, float64(d.best.VMs))
	for i := range d.classes {
		h := d.best.Jobs[i]
		a.admitted[i] = float64(h)
		if d.classes[i].slotted {
			a.giveSlots(i, d.slotsOf(i, h))
		}
		switch {
		case d.Options.Sharing == capacity.Dedicated:
			a.shares[i] = float64(d.front.Units(i, h))
		case d.Options.Integrality == capacity.Executable && a.slots[i] != nil:
			a.shares[i] = d.classes[i].shape.size(a.slots[i].Map, a.slots[i].Reduce)
		default:
			a.shares[i] = d.classes[i].gamma * float64(h)
		}
	}
	pl := d.priced(a)
	pl.Proof = d.proof(&pl)
	d.grade(&pl, d.cut)
	if d.brief() {
		pl.Prices = &capacity.Prices{Capacity: d.relaxed.capacityPrice()}
		return pl
	}
	pl.Relaxed = d.relaxedSummary(d.relaxed)
	pl.Integer = d.integerSummary()
	pl.Layout = d.layout
	pl.Warnings = append(pl.Warnings, d.warnings...)
	d.explain(&pl, d.relaxed, d.beside)
	return pl
}

// slotsOf is the slots of a class whose slots are known: whole ones in an executable plan, the real
// ones of the formula otherwise.
func (d *decision) slotsOf(i int, jobs int64) capacity.Slots {
	c := &d.classes[i]
	switch {
	case jobs == 0:
		return capacity.Slots{}
	case d.Options.Integrality != capacity.Executable:
		return c.realSlots(float64(jobs))
	}
	mapSlots, redSlots := c.shape.whole(jobs)
	return capacity.Slots{Map: float64(mapSlots), Reduce: float64(redSlots)}
}

func (c *class) realSlots(jobs float64) capacity.Slots {
	if jobs == 0 {
		return capacity.Slots{}
	}
	mapSlots, redSlots := c.shape.perJob()
	return capacity.Slots{Map: mapSlots * jobs, Reduce: redSlots * jobs}
}

// proof says what the plan rests on. The bound is rounded down: it must stay a bound.
func (d *decision) proof(pl *capacity.Plan) *capacity.Proof {
	p := &capacity.Proof{
		Bound: pl.Objective, Method: methodCore,
		Engine: d.second.engine, Agreed: d.second.agreed,
	}
	if d.best.Gap > money.Smallest {
		p.Bound = money.Amount{Decimal: pl.Objective.Sub(decimal.NewFromFloat(d.best.Gap)).RoundFloor(money.Places)}
		p.Gap = relativeGap(pl.Objective.Sub(p.Bound.Decimal).InexactFloat64(), pl)
	}
	return p
}

// grade calls a plan optimal whose gap is small enough. Of another it says whether the clock has ended the search.
func (m *model) grade(pl *capacity.Plan, cut bool) {
	pl.Status = capacity.Feasible
	if pl.Proof.Gap <= max(m.Options.Gap, integer.ProofResolution) {
		pl.Status = capacity.Optimal
	} else if cut {
		pl.Proof.Limited = capacity.ClockCutoff
	}
}

// relativeGap is the gap as a share of the plan's yardstick, 0 where no amount of money or float can tell
// it from nothing. Where the yardstick is 0 it is a share of the VMs' cost, or 1 where that is 0 too.
func relativeGap(gap float64, pl *capacity.Plan) float64 {
	total := pl.Cost.Total.Float()
	size := min(math.Abs(pl.Objective.Float()), total)
	switch vms := total - pl.Cost.Penalties.Float(); {
	case gap <= max(integer.ProofResolution*size, money.Smallest, integer.GapNoise*(total-pl.Objective.Float())):
		return 0
	case size != 0:
		return gap / size
	case vms != 0:
		return gap / vms
	}
	return 1
}

// tolerance returns the extra cost up to which a plan with this objective counts as optimal. Contracts that are billed
// always are a constant beside the objective.
func (m *model) tolerance(objective float64) float64 {
	return max(m.Options.Gap, integer.ProofResolution) * integer.Yardstick(objective+m.committed(), m.wanted())
}

// target is the tolerance as a search asks for it, a little below what is reported.
func (m *model) target() func(objective float64) float64 {
	committed, wanted, gap := m.committed(), m.wanted(), max(m.Options.Gap, integer.ProofResolution/10)
	return func(objective float64) float64 { return gap * integer.Yardstick(objective+committed, wanted) }
}

// priced fills in jobs, VMs and money, the money exactly from the counts.
func (m *model) priced(a answer) capacity.Plan {
	pl := capacity.Plan{Warnings: []capacity.Warning{}, Conflicts: []fault.Finding{}, Classes: make([]capacity.ClassPlan, len(m.classes))}
	shares := 0.0
	var times timetable
	if !m.brief() {
		times = newTimetable(len(m.classes), m.Options.Bound)
	}
	for i := range m.classes {
		c := &m.classes[i]
		h := a.admitted[i]
		pl.Classes[c.index] = capacity.ClassPlan{
			Name: c.Name, Admitted: h, Refused: c.Jobs.Max - h, VMs: a.shares[i], VMsPerJob: c.gamma, Slots: a.slots[i], Promise: c.PromiseOf(),
		}
		if !m.brief() {
			pl.Classes[c.index].Time = times.of(c, h, a.slots[i])
		}
		shares += a.shares[i]
	}
	pl.VMs = m.vms(a.vms)
	pl.VMs.Rounding = a.vms - shares
	pl.Cost, pl.Objective = m.money(pl.VMs, a.admitted)
	return pl
}

// money returns the cost of the VMs and the refused jobs, and P2's objective: VMs minus penalties avoided.
func (m *model) money(v capacity.VMs, admitted []float64) (capacity.Cost, money.Amount) {
	var penalties, avoided money.Tally
	for i := range m.classes {
		c := &m.classes[i]
		penalties.Add(c.Penalty, c.Jobs.Max-admitted[i])
		avoided.Add(c.Penalty, admitted[i])
	}
	return m.cost(m.hourly(v), penalties.Value(), avoided.Value())
}

// vms spreads a number of VMs over the tiers, cheapest first.
func (m *model) vms(total float64) capacity.VMs {
	v := capacity.VMs{Total: total, Contracts: make([]capacity.ContractUse, len(m.Supply.Contracts))}
	for i, c := range m.Supply.Contracts {
		v.Contracts[i] = capacity.ContractUse{Name: c.Name, VMs: float64(c.VMs)}
	}
	left := total
	for k, t := range m.tiers {
		used := min(left, float64(t.VMs))
		left -= used
		if m.source[k] == onDemand {
			v.OnDemand = used
		} else {
			v.Contracts[m.source[k]].Used = used
			v.Reserved += used
		}
	}
	return v
}

// hourlyCost holds the payments per hour, by line. Contracts have two: for their VMs in use, and for the idle ones that
// are paid as well.
type hourlyCost struct{ onDemand, spot, used, idle decimal.Decimal }

func (h hourlyCost) add(x hourlyCost) hourlyCost {
	return hourlyCost{h.onDemand.Add(x.onDemand), h.spot.Add(x.spot), h.used.Add(x.used), h.idle.Add(x.idle)}
}

func (h hourlyCost) sum() decimal.Decimal { return h.onDemand.Add(h.spot).Add(h.used).Add(h.idle) }

// hourly returns the cost of the VMs per hour, exactly.
func (m *model) hourly(v capacity.VMs) hourlyCost {
	used, idle := decimal.Zero, decimal.Zero
	for i, c := range m.Supply.Contracts {
		n := decimal.NewFromFloat(v.Contracts[i].Used)
		used = used.Add(c.Price.Mul(n))
		if c.Billing == capacity.BilledAlways {
			idle = idle.Add(c.Price.Mul(decimal.NewFromInt(c.VMs).Sub(n)))
		}
	}
	h := hourlyCost{onDemand: m.Supply.OnDemand.Price.Mul(decimal.NewFromFloat(v.OnDemand)), used: used, idle: idle}
	if s := m.Supply.Spot; s != nil {
		h.spot = s.Price.Mul(decimal.NewFromFloat(v.Spot))
	}
	return h
}

// cost is exact: prices per hour times counts times seconds, divided by 3600 once. Each line is
// rounded by itself and the total is the sum of the lines; the objective is rounded once.
func (m *model) cost(v hourlyCost, penalties, avoided decimal.Decimal) (capacity.Cost, money.Amount) {
	hour, period := decimal.NewFromInt(3600), decimal.NewFromInt(m.PeriodSeconds)
	perPeriod := func(perHour decimal.Decimal) money.Amount {
		return money.Amount{Decimal: perHour.Mul(period).DivRound(hour, money.Places)}
	}
	cost := capacity.Cost{
		OnDemand: perPeriod(v.onDemand), Reserved: perPeriod(v.used), ReservedIdle: perPeriod(v.idle),
		Penalties: money.Amount{Decimal: penalties.Round(money.Places)},
		Currency:  m.Currency, PeriodSeconds: m.PeriodSeconds,
	}
	bill := cost.OnDemand.Add(cost.Reserved.Decimal).Add(cost.ReservedIdle.Decimal)
	if !v.spot.IsZero() {
		cost.Spot = perPeriod(v.spot)
		bill = bill.Add(cost.Spot.Decimal)
	}
	total := bill.Add(cost.Penalties.Decimal)
	whole := v.sum().Mul(period).Add(penalties.Mul(hour)) // not rounded, so that a month tells no rounding of its periods
	perSecond := func(seconds int64) money.Amount {
		return money.Amount{Decimal: whole.Mul(decimal.NewFromInt(seconds)).DivRound(period.Mul(hour), money.Places)}
	}
	cost.Bill, cost.Total = money.Amount{Decimal: bill}, money.Amount{Decimal: total}
	cost.PerHour, cost.PerMonth = perSecond(3600), perSecond(3600*capacity.HoursPerMonth)
	exact := v.sum().Mul(period).Sub(avoided.Mul(hour))
	return cost, money.Amount{Decimal: exact.DivRound(hour, money.Places)}
}

// committed returns the certain cost per period of contracts billed always: a constant of every objective.
func (m *model) committed() float64 {
	sum := 0.0
	for _, c := range m.Supply.Contracts {
		if c.Billing == capacity.BilledAlways {
			sum += c.Price.Float() * float64(c.VMs) * m.hours
		}
	}
	return sum
}

func (m *model) relaxedSummary(r *relaxation) *capacity.RelaxedPlan {
	jobs := make([]float64, len(r.jobs))
	for i := range m.classes {
		jobs[m.classes[i].index] = r.jobs[i]
	}
	return &capacity.RelaxedPlan{Objective: money.Round(r.objective + m.committed()), Capacity: r.capacity, Jobs: jobs}
}

// integerSummary is the plan with whole jobs and VMs alone (the paper's, where VMs are shared), and
// the VMs it falls short once its slots are whole. It is left out where the time is up before it is proved.
func (d *decision) integerSummary() *capacity.IntegerPlan {
	if !d.integer.Feasible || d.integer.Gap > d.tolerance(d.integer.Objective) {
		return nil // not feasible: whole slots fit by the deadlines' tolerance alone
	}
	jobs := make([]float64, len(d.integer.Jobs))
	for i, h := range d.integer.Jobs {
		jobs[i] = float64(h)
	}
	_, objective := d.money(d.vms(float64(d.integer.VMs)), jobs)
	need := d.vmsFor(d.integer.Jobs)
	short := max(0, need-d.integer.VMs)
	return &capacity.IntegerPlan{Objective: objective, VMs: float64(d.integer.VMs), Executable: short == 0, ShortVMs: float64(short)}
}

// relaxedPlan is the linear program's plan: fractional and closed form, checked against Clp where
// the engine asks for it.
func (m *model) relaxedPlan(ctx context.Context, solver lp.Solver, r *relaxation) capacity.Plan {
	n := len(m.classes)
	a := newAnswer(n, r.capacity)
	a.admitted = r.jobs
	for i := range m.classes {
		c := &m.classes[i]
		a.shares[i] = c.gamma * r.jobs[i]
		switch {
		case c.slotted && c.impossible:
			a.giveSlots(i, capacity.Slots{})
		case c.slotted:
			a.giveSlots(i, c.realSlots(r.jobs[i]))
		}
	}
	pl := m.priced(a)
	pl.Status = capacity.Optimal
	pl.Proof = &capacity.Proof{Bound: pl.Objective, Method: methodLP}
	if !m.brief() {
		pl.Relaxed = m.relaxedSummary(r)
		pl.Warnings = append(pl.Warnings, m.warnings...)
	}
	if m.Options.Engine == capacity.EngineCBC {
		s := m.askLinear(ctx, solver, r)
		pl.Proof.Engine, pl.Proof.Agreed = s.engine, s.agreed
		if s.warning != nil && !m.brief() {
			pl.Warnings = append(pl.Warnings, *s.warning)
		}
	}
	if m.brief() {
		pl.Prices = &capacity.Prices{Capacity: r.capacityPrice()}
	} else {
		m.explain(&pl, r, nil)
	}
	return pl
}

// Methods a plan is proved by.
const (
	methodLP   = "lp"   // the closed form of the linear program
	methodCore = "core" // a Lagrangian bound and a complete search of what it leaves open
)

// timetable is the predicted execution times of all classes.
type timetable struct {
	bound   capacity.Bound
	times   []capacity.Times
	seconds []float64
}

func newTimetable(classes int, bound capacity.Bound) timetable {
	return timetable{bound, make([]capacity.Times, 0, classes), make([]float64, 0, 3*classes)}
}

// of returns the time of an execution on the class's slots. It is null if a bound that the plan was not made with needs
// slots of a phase that got none.
func (k *timetable) of(c *class, jobs float64, slots *capacity.Slots) *capacity.Times {
	if slots == nil || jobs == 0 {
		return nil
	}
	at := func(d capacity.Demand) *float64 {
		if t := perf.Time(d, jobs, slots.Map, slots.Reduce); !math.IsInf(t, 1) {
			return keep(&k.seconds, t)
		}
		return nil
	}
	if c.demands == nil {
		return keep(&k.times, capacity.Times{Average: at(*c.Demand)})
	}
	t := capacity.Times{Lower: at(c.demands.Lower), Average: at(c.demands.Average), Upper: at(c.demands.Upper)}
	if c.Calibration != nil {
		t.Calibrated = at(c.demands.Calibrated(*c.Calibration))
	}
	if c.PromiseOf() != nil {
		t.Promised = at(c.demands.Planned(k.bound, c.Class))
	}
	return keep(&k.times, t)
}

// keep puts a value into a list and says where it stands there: one allocation for the optional
// figures of all classes rather than one each.
func keep[T any](list *[]T, x T) *T {
	*list = append(*list, x)
	return &(*list)[len(*list)-1]
}

// amount is an optional sum of money.
func amount(list *[]money.Amount, x float64) *money.Amount {
	return keep(list, money.Round(x))
}
