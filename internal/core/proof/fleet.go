package proof

import (
	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/proof/exact"
)

// fleet is a problem with several VM types or with spot VMs, or a relaxed one with a budget for VMs, in exact
// numbers. Each type is a model as if the problem had no other. They share the classes' jobs, which may be spread
// over types, and the budgets.
type fleet struct {
	*model // the classes' jobs and penalties; VMs per job depend on the type
	types  []vmType
	named  bool       // the types have names, and the plan separates them
	purse  *exact.Rat // money for VMs beyond the fixed costs; nil without a budget
}

// vmType is one type of VMs. Classes that it cannot run are impossible there.
type vmType struct {
	*model
	name string
	spot *spot
}

// spot describes the spot VMs, which may be at most a share of a type's.
type spot struct{ price, share *exact.Rat }

// isFleet reports whether a problem has more than one price of capacity. A budget for whole VMs of one kind is no
// more than a quota.
func isFleet(p capacity.Problem) bool {
	return len(p.Supply.VMTypes) > 0 || p.Supply.Spot != nil ||
		p.Options.Integrality == capacity.Relaxed && p.Budget != nil && p.Budget.VMCost != nil
}

func newFleet(p capacity.Problem, pause func()) *fleet {
	alone := p
	alone.Supply, alone.Classes, alone.Budget = capacity.Supply{}, nil, nil
	f := &fleet{model: newModel(alone, pause), named: len(p.Supply.VMTypes) > 0}
	f.model.problem = p
	for _, s := range p.Supply.Types() {
		own := alone
		own.Supply = capacity.Supply{Contracts: s.Contracts, OnDemand: s.OnDemand}
		t := vmType{model: newModel(own, pause), name: s.Name}
		t.problem.Classes = p.Classes
		for i := range p.Classes {
			t.rest()
			c := classOn(&p.Classes[i], s.Name, t.bound, p.Options.OneSlotPerJob)
			t.classes = append(t.classes, &c)
		}
		if t.integrality == capacity.Relaxed {
			t.hair = add(spare, mul(relative, spare))
		}
		if o := s.Spot; o != nil {
			t.spot = &spot{mul(amount(o.Price.Decimal), t.hours), number(o.MaxShare)}
		}
		f.fixed.Add(f.fixed, t.fixed)
		f.types = append(f.types, t)
	}
	for i := range p.Classes {
		c := f.types[0].classes[i]
		for v := range f.types {
			if on := f.types[v].classes[i]; c.impossible && !on.impossible {
				c = on
			}
		}
		f.classes = append(f.classes, c)
	}
	if b := p.Budget; b != nil && b.VMCost != nil {
		f.purse = sub(forVMs(b), f.fixed)
		if f.integrality == capacity.Relaxed { // fractions of VMs keep to the budget itself
			f.purse = sub(amount(b.VMCost.Decimal), f.fixed)
		}
		if f.integrality == capacity.Relaxed && f.purse.Sign() < 0 && near(f.fixed, amount(b.VMCost.Decimal), f.fixed) {
			f.purse = zero() // relaxed plans go through floating point
		}
	}
	return f
}

// classOn returns a class on VMs of a type.
func classOn(in *capacity.Class, name string, bound capacity.Bound, oneSlot bool) class {
	if in.RunsOn(name) {
		return newClassAt(in, in.SlotsPerVM.On(name), number(in.Speed.On(name)), bound, oneSlot)
	}
	return class{
		given: in.VMsPerJob != nil, profiled: in.Profile != nil, impossible: true, deadline: number(in.DeadlineSeconds),
		plan: demand{zero(), zero(), number(in.DeadlineSeconds)}, perMap: 1, perReduce: 1,
		penalty: amount(in.Penalty.Decimal), min: number(promisedOf(in)), max: number(in.Jobs.Max),
		low: zero(), high: zero(), lowest: zero(), highest: zero(), slack: zero(), loss: zero(),
	}
}

// part returns one type's part of a plan, as a plan of that type alone.
func (f *fleet) part(pl capacity.Plan, v int) capacity.Plan {
	t := &f.types[v]
	if !f.named {
		return pl
	}
	stated := pl.VMs.Types[v]
	own := capacity.Plan{Status: pl.Status, VMs: capacity.VMs{
		Total: stated.Total, Reserved: stated.Reserved, OnDemand: stated.OnDemand, Spot: stated.Spot, Rounding: stated.Rounding,
	}}
	for _, u := range pl.VMs.Contracts {
		if u.VMType == t.name {
			own.VMs.Contracts = append(own.VMs.Contracts, u)
		}
	}
	for _, l := range pl.Layout {
		if l.VMType == t.name {
			own.Layout = append(own.Layout, l)
		}
	}
	for i := range pl.Classes {
		c := capacity.ClassPlan{Name: pl.Classes[i].Name}
		if c.VMsPerJob = t.classes[i].low.Float(); !t.classes[i].given {
			c.Slots = &capacity.Slots{}
		}
		for _, on := range pl.Classes[i].Types {
			if on.VMType == t.name {
				c.Admitted, c.VMs, c.VMsPerJob, c.Slots, c.Time = on.Admitted, on.VMs, on.VMsPerJob, on.Slots, on.Time
			}
		}
		own.Classes = append(own.Classes, c)
	}
	return own
}

// each runs a check for every type and names the type of each fault.
func (f *fleet) each(check func(t *vmType, v int) []string) []string {
	var all faults
	for v := range f.types {
		for _, fault := range check(&f.types[v], v) {
			if f.named {
				fault = "On " + f.types[v].name + ": " + fault
			}
			all = append(all, fault)
		}
	}
	return all
}

// fleet checks a plan for several types, step by step as Verify does for a single type.
func (r *Report) fleet(p capacity.Problem, pl capacity.Plan, o Options) {
	f := newFleet(p, o.Pause)
	if pl.Status == capacity.InfeasibleStatus {
		if !o.Brief {
			r.add(PartsCheck, append(f.blank(pl), f.warnings(pl, true)...), nothingThere)
		}
		r.infeasibleFleet(f, pl, o)
		return
	}
	if !r.add(ShapeCheck, f.shape(pl), "Every class stands there once, in order, within its jobs; its types add up to it.") {
		return
	}
	if !o.Brief {
		r.add(PartsCheck, f.parts(pl, true), partsThere)
	}
	parts, answers := make([]capacity.Plan, len(f.types)), make([]answer, len(f.types))
	for v := range f.types {
		parts[v] = f.part(pl, v)
		answers[v] = f.types[v].read(parts[v])
	}
	r.add(ConversionCheck, append(f.averages(pl), f.each(func(t *vmType, v int) []string {
		return t.conversion(parts[v], answers[v])
	})...), "VMs per job and the classes' shares are what the paper's formula gives on each type.")
	r.add(DeadlinesCheck, append(append(f.slowest(pl), f.slotless(pl)...), f.each(func(t *vmType, v int) []string {
		return t.deadlines(parts[v], answers[v])
	})...), "Every admitted job meets its deadline on the slots given, on each type.")
	r.add(CapacityCheck, append(f.rounding(pl), f.each(func(t *vmType, v int) []string {
		return t.capacity(parts[v], answers[v])
	})...), "What the classes need fits on the VMs rented of each type.")
	if f.integrality == capacity.Executable {
		r.add(LayoutCheck, append(f.strangers(pl), f.each(func(t *vmType, v int) []string {
			return t.layout(parts[v], answers[v])
		})...), "The slots fit on the VMs they stand on.")
	}
	rented := r.add(RentalCheck, append(f.totals(pl), f.each(func(t *vmType, v int) []string {
		return t.rental(parts[v])
	})...), "VMs of each type are taken at the least cost within counts, quotas and shares, and add up.")
	whole := make(answer, len(f.classes))
	for i := range whole {
		whole[i].jobs, whole[i].refused = number(pl.Classes[i].Admitted), number(pl.Classes[i].Refused)
	}
	b := emptyBill()
	for v := range f.types {
		b.rent(f.types[v].model, f.types[v].spot, parts[v].VMs)
	}
	b.sum(f.model, whole)
	r.add(MoneyCheck, f.money(pl, b), "Every amount is what the counts and prices give.")
	r.budget(f.model, b)
	r.certificate(f.model, pl, b)
	if !rented {
		return
	}
	r.optimality(f.model, pl, b, func(threshold *exact.Rat) (finding, string) { return f.look(threshold, o.Nodes) })
	lp := f.newProgram(true, objective).sides()
	if pl.Relaxed != nil {
		r.relaxedFleet(f, pl, lp)
	}
	if pl.Prices != nil {
		r.pricesFleet(f, *pl.Prices, lp)
	}
	r.changesFleet(f, pl, whole, answers, b, o)
	if !o.Brief {
		r.add(ReasonsCheck, f.reasons(pl), "Each reason says what the figures say.")
	}
	r.add(FlipsCheck, f.flips(pl), "Penalties, deadlines and prices that would change a decision are right.")
}
