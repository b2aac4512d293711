package proof

import (
	"fmt"

	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/proof/exact"
)

// shape checks the classes and types of the plan, and that parts add up to wholes.
func (f *fleet) shape(pl capacity.Plan) []string {
	all := faults(f.model.shape(pl))
	if len(pl.Classes) != len(f.classes) {
		return all
	}
	if !f.named {
		return append(all, typed(pl)...)
	}
	if len(pl.VMs.Types) != len(f.types) {
		all.addf("The problem has %s, the plan's VMs %d.", count(len(f.types), "VM type", "VM types"), len(pl.VMs.Types))
		return all
	}
	for v := range f.types {
		if stated := pl.VMs.Types[v].Name; stated != f.types[v].name {
			all.addf("In place %d of the VMs stands type %s, not %s.", v, stated, f.types[v].name)
		}
	}
	for i := range pl.Classes {
		f.spread(&all, i, &pl.Classes[i])
	}
	return all
}

// slotless lists the classes whose slots are missing, or that have none.
func (m *model) slotless(pl capacity.Plan) []string {
	var f faults
	for i := range pl.Classes {
		if given := i < len(m.problem.Classes) && m.problem.Classes[i].VMsPerJob != nil; given != (pl.Classes[i].Slots == nil) {
			f.addf("%s: its slots are missing, or it has none.", pl.Classes[i].Name)
		}
	}
	return f
}

// typed lists what a plan says of types if the problem names none.
func typed(pl capacity.Plan) []string {
	var f faults
	if len(pl.VMs.Types) > 0 {
		f.addf("The plan's VMs have types, and the problem has none.")
	}
	for i := range pl.Classes {
		if c := &pl.Classes[i]; len(c.Types) > 0 {
			f.addf("%s: it runs on types, and the problem has none.", c.Name)
		}
	}
	for _, u := range pl.VMs.Contracts {
		if u.VMType != "" {
			f.addf("Contract %s has a VM type, and the problem has none.", u.Name)
		}
	}
	for k, l := range pl.Layout {
		if l.VMType != "" {
			f.addf("Line %d of the layout has a VM type, and the problem has none.", k+1)
		}
	}
	return f
}

// spread checks the types that a class's jobs run on.
func (f *fleet) spread(all *faults, i int, stated *capacity.ClassPlan) {
	jobs, vms, maps, reduces := zero(), zero(), zero(), zero()
	at := 0
	for _, on := range stated.Types {
		for at < len(f.types) && f.types[at].name != on.VMType {
			at++
		}
		if at == len(f.types) {
			all.addf("%s: the type %q is not there, or not in its place.", stated.Name, on.VMType)
			return
		}
		if f.types[at].classes[i].impossible {
			all.addf("%s: it cannot run on %s.", stated.Name, on.VMType)
		}
		n := number(on.Admitted)
		if n.Sign() <= 0 || f.integrality != capacity.Relaxed && !n.IsInt() {
			all.addf("%s: %v jobs cannot run on %s.", stated.Name, on.Admitted, on.VMType)
		}
		jobs.Add(jobs, n)
		vms.Add(vms, number(on.VMs))
		if on.Slots != nil {
			maps.Add(maps, number(on.Slots.Map))
			reduces.Add(reduces, number(on.Slots.Reduce))
		}
		at++
	}
	differs := func(what string, sum, whole *exact.Rat) {
		slack := mul(relative, add(whole1, abs(whole)))
		if f.integrality != capacity.Relaxed && what == "jobs" {
			slack = zero()
		}
		if abs(sub(sum, whole)).Cmp(slack) > 0 {
			all.addf("%s: its types have %s %s together, not %s.", stated.Name, short(sum), what, short(whole))
		}
	}
	differs("jobs", jobs, number(stated.Admitted))
	differs("VMs", vms, number(stated.VMs))
	if s := stated.Slots; s != nil {
		differs("map slots", maps, number(s.Map))
		differs("reduce slots", reduces, number(s.Reduce))
	} else if maps.Sign() != 0 || reduces.Sign() != 0 {
		all.addf("%s: its types have slots, and it has none.", stated.Name)
	}
}

var whole1 = whole(1)

// averages checks the VMs per job of classes as a whole.
func (f *fleet) averages(pl capacity.Plan) []string {
	var all faults
	for i := range pl.Classes {
		stated := &pl.Classes[i]
		if !f.named {
			continue
		}
		if f.classes[i].impossible {
			if stated.VMsPerJob != 0 {
				all.addf("%s: on no type can it run, and a job is said to take %v VMs.", stated.Name, stated.VMsPerJob)
			}
			continue
		}
		gamma, jobs := number(stated.VMsPerJob), zero()
		if len(stated.Types) == 0 { // that of the cheapest type, which depends on prices
			known := false
			for v := range f.types {
				c := f.types[v].classes[i]
				known = known || !c.impossible && c.agrees(gamma)
			}
			if !known {
				all.addf("%s: on no type does one job take %v VMs.", stated.Name, stated.VMsPerJob)
			}
			continue
		}
		sum := zero()
		for _, on := range stated.Types {
			jobs.Add(jobs, number(on.Admitted))
			sum.Add(sum, mul(number(on.Admitted), number(on.VMsPerJob)))
		}
		if !near(mul(gamma, jobs), sum, sum) {
			all.addf("%s: a job takes %s VMs on average, not %v.", stated.Name, short(quo(sum, jobs)), stated.VMsPerJob)
		}
	}
	return all
}

// slowest checks that a class's times are those of its slowest type, by the average.
func (f *fleet) slowest(pl capacity.Plan) []string {
	var all faults
	for i := range pl.Classes {
		stated := &pl.Classes[i]
		if !f.named {
			continue
		}
		var highest *exact.Rat
		timed, fits := false, false
		average := func(t *capacity.Times) *exact.Rat {
			if t == nil || t.Average == nil {
				return nil
			}
			return number(*t.Average)
		}
		for _, on := range stated.Types {
			timed = timed || on.Time != nil
			if x := average(on.Time); x != nil && (highest == nil || less(highest, x)) {
				highest = x
			}
		}
		for _, on := range stated.Types {
			x := average(on.Time)
			slowest := (x == nil) == (highest == nil) && (x == nil || near(x, highest, highest))
			fits = fits || on.Time != nil && stated.Time != nil && slowest && sameTimes(*on.Time, *stated.Time)
		}
		if timed != (stated.Time != nil) || timed && !fits {
			all.addf("%s: its times are not those of its slowest type.", stated.Name)
		}
		if f.classes[i].given == (stated.Slots != nil) {
			all.addf("%s: slots are given though only its VMs per job are known, or are missing.", stated.Name)
		}
	}
	return all
}

func sameTimes(x, y capacity.Times) bool {
	same := func(a, b *float64) bool {
		return a == nil && b == nil || a != nil && b != nil && near(number(*a), number(*b), number(*a))
	}
	return same(x.Lower, y.Lower) && same(x.Average, y.Average) && same(x.Upper, y.Upper) && same(x.Calibrated, y.Calibrated) && same(x.Promised, y.Promised)
}

// rounding checks that the types' rounding adds up.
func (f *fleet) rounding(pl capacity.Plan) []string {
	var all faults
	if !f.named {
		return nil
	}
	sum, scale := zero(), whole(1)
	for _, t := range pl.VMs.Types {
		sum.Add(sum, number(t.Rounding))
		scale.Add(scale, abs(number(t.Total)))
	}
	if !near(sum, number(pl.VMs.Rounding), scale) {
		all.addf("The types' rounding is %s together, not %v.", short(sum), pl.VMs.Rounding)
	}
	return all
}

// strangers checks that every line of the layout and every contract is of an existing type.
func (f *fleet) strangers(pl capacity.Plan) []string {
	var all faults
	for k, l := range pl.Layout {
		if _, ok := f.typeOf(l.VMType); f.named && !ok {
			all.addf("Line %d of the layout is of the type %q, which is not there.", k+1, l.VMType)
		}
	}
	return all
}

func (f *fleet) typeOf(name string) (v int, ok bool) {
	for v := range f.types {
		if f.types[v].name == name {
			return v, true
		}
	}
	return 0, false
}

// totals checks that the types' VMs add up to the plan's.
func (f *fleet) totals(pl capacity.Plan) []string {
	var all faults
	if !f.named {
		return nil
	}
	for _, u := range pl.VMs.Contracts {
		if _, ok := f.typeOf(u.VMType); !ok {
			all.addf("Contract %s is of the type %q, which is not there.", u.Name, u.VMType)
		}
	}
	for _, x := range []struct {
		what string
		sum  float64
		of   func(capacity.TypeVMs) float64
	}{
		{"VMs", pl.VMs.Total, func(t capacity.TypeVMs) float64 { return t.Total }},
		{"reserved VMs", pl.VMs.Reserved, func(t capacity.TypeVMs) float64 { return t.Reserved }},
		{"VMs on demand", pl.VMs.OnDemand, func(t capacity.TypeVMs) float64 { return t.OnDemand }},
		{"spot VMs", pl.VMs.Spot, func(t capacity.TypeVMs) float64 { return t.Spot }},
	} {
		sum := zero()
		for _, t := range pl.VMs.Types {
			sum.Add(sum, number(x.of(t)))
		}
		slack := zero()
		if f.integrality == capacity.Relaxed {
			slack = mul(relative, add(whole(1), sum))
		}
		if abs(sub(sum, number(x.sum))).Cmp(slack) > 0 {
			all.addf("The types have %s %s together, not %v.", short(sum), x.what, x.sum)
		}
	}
	return all
}

// budget checks that the plan's costs keep the problem's budgets.
func (r *Report) budget(m *model, b bill) {
	limits := m.problem.Budget
	if limits == nil || limits.VMCost == nil && limits.Total == nil {
		return
	}
	var f faults
	if highest := limits.VMCost; highest != nil && less(add(forVMs(limits), b.slack), b.vms) {
		f.addf("The VMs cost %s and the budget for them is %s.", amountOf(b.vms), *highest)
	}
	if largest := limits.Total; largest != nil && less(add(amount(largest.Decimal), add(b.slack, roundings)), b.total) {
		f.addf("The plan costs %s and the budget is %s.", amountOf(b.total), *largest)
	}
	r.add(BudgetCheck, f, fmt.Sprintf("The plan costs %s, of which %s for VMs, and keeps the budget.", amountOf(b.total), amountOf(b.vms)))
}
