package proof

import (
	"slices"
	"strings"

	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/proof/exact"
	"example.org/headroom/internal/core/words"
)

// changesFleet checks what a plan for several prices of capacity says would change it.
func (r *Report) changesFleet(f *fleet, pl capacity.Plan, whole answer, on []answer, b bill, o Options) {
	for _, a := range on {
		for i := range a {
			if jobs := a[i].jobs; f.integrality != capacity.Relaxed && !(jobs.IsInt() && jobs.Num().IsInt64()) {
				return // the shape check names it
			}
		}
	}
	(&changes{Report: r, m: f.model, f: f, on: on, pl: pl, bill: b, o: o}).check(whole)
}

// part is a type's part of the plan.
func (k *changes) part(v int) capacity.Plan { return k.f.part(k.pl, v) }

// with is the fleet with a class changed.
func (f *fleet) with(i int, change func(c *capacity.Class)) *fleet {
	g, m := *f, *f.model
	m.problem.Classes = slices.Clone(m.problem.Classes)
	in := &m.problem.Classes[i]
	change(in)
	m.classes = slices.Clone(m.classes)
	g.model, g.types = &m, slices.Clone(f.types)
	for v := range g.types {
		t := *f.types[v].model
		t.problem.Classes = m.problem.Classes
		t.classes = slices.Clone(t.classes)
		c := classOn(in, g.types[v].name, t.bound, m.problem.Options.OneSlotPerJob)
		c.phasesOf(f.types[v].classes[i])
		t.classes[i] = &c
		if v == 0 || m.classes[i].impossible && !c.impossible {
			m.classes[i] = &c
		}
		g.types[v].model = &t
	}
	return &g
}

// reasons checks each class's sentence: it is made of figures that other checks have looked at. In relaxed plans it also
// says what a job takes on the types where the class runs and on another. These amounts stand between the prices of the types.
func (f *fleet) reasons(pl capacity.Plan) []string {
	if pl.Facts == nil && !told(pl) {
		return nil // older plans have other sentences, and no facts
	}
	if pl.Prices == nil || f.named && len(pl.Prices.Types) != len(f.types) {
		return []string{"Without prices no reason can be told."}
	}
	var all faults
	said, facts := words.InFleet(&f.problem, &pl, func(i int) words.Where {
		where := words.Where{}
		if f.integrality != capacity.Relaxed {
			return where
		}
		stated := &pl.Classes[i]
		for _, on := range stated.Types {
			where.Here = append(where.Here, words.JobOn{VMType: on.VMType})
		}
		if !slices.ContainsFunc(f.types, func(t vmType) bool { return !t.classes[i].impossible && t.name != "" }) || len(where.Here) == 0 || f.choices(i) < 2 {
			return words.Where{}
		}
		if at := strings.LastIndex(stated.Reason, "It runs on "); at < 0 || !where.Read(stated.Reason[at:]) {
			all.addf("%s: the reason does not end with the types of its VMs: %.300q.", stated.Name, stated.Reason)
			return words.Where{}
		}
		f.where(&all, i, &where, pl.Prices.Types)
		return where
	})
	if pl.Facts == nil && len(facts) > 0 {
		return append(all, "facts is missing: the reasons are those of plans that list facts.")
	}
	for i := range pl.Classes {
		if stated := &pl.Classes[i]; stated.Reason != said[i] {
			all.addf("%s: the reason is %.300q, and its figures say %.300q.", stated.Name, stated.Reason, said[i])
		}
	}
	return append(all, factFaults(pl.Facts, facts)...)
}

// choices is the number of types on which a class can run.
func (f *fleet) choices(i int) (n int) {
	for v := range f.types {
		if !f.types[v].classes[i].impossible {
			n++
		}
	}
	return n
}

// where checks what a job takes on types of VMs. Where it runs, a VM's price lies between those of one less and one more.
// Elsewhere the price is that of one more, on the type where a job then takes least.
func (f *fleet) where(all *faults, i int, w *words.Where, prices []capacity.TypePrice) {
	name := f.problem.Classes[i].Name
	least, at := (*exact.Rat)(nil), ""
	for v := range f.types {
		on, price := f.types[v].classes[i], &prices[v]
		if on.impossible {
			continue
		}
		low, high := mul(on.low, amount(price.Low.Decimal)), (*exact.Rat)(nil)
		if price.High != nil {
			high = mul(on.low, amount(price.High.Decimal))
		}
		slack := add(mul(halfUnit, on.low), mul(on.doubt(), add(whole(1), amount(price.Low.Decimal))))
		k := slices.IndexFunc(w.Here, func(x words.JobOn) bool { return x.VMType == f.types[v].name })
		switch {
		case k >= 0:
			if !said(w.Here[k].Amount, low, high, slack) {
				all.addf("%s: on %s a job takes from %s to %v, not %.30s.", name, w.Here[k].VMType, amountOf(low), orNone(price.High), w.Here[k].Amount)
			}
		case w.Other != nil && w.Other.VMType == f.types[v].name:
			if at = w.Other.VMType; high == nil || !said(w.Other.Amount, high, high, slack) {
				all.addf("%s: on %s a job would not take %.30s.", name, w.Other.VMType, w.Other.Amount)
			}
			fallthrough
		default:
			if high != nil && (least == nil || less(high, least)) {
				least = high
			}
		}
	}
	switch {
	case (w.Other == nil) != (least == nil) || w.Other != nil && at == "":
		all.addf("%s: another type on which a job could run is named, and there is none, or it is missing.", name)
	case w.Other != nil && !said(w.Other.Amount, zero(), least, mul(relative, least)):
		all.addf("%s: another type takes less than %.30s a job.", name, w.Other.Amount)
	}
}

// said reports whether an amount as it is written can stand for one between two; nil has no end.
func said(text string, low, high, slack *exact.Rat) bool {
	x, ok := value(text)
	if !ok {
		return false
	}
	half := add(slack, mul(exact.New(1, 200), whole(1))) // of a hundredth
	if less(abs(x), exact.New(1, 100)) {                 // three digits are written
		half = add(slack, mul(exact.New(1, 199), abs(x)))
	}
	return !less(add(x, half), low) && (high == nil || !less(add(high, half), x))
}

// rangesOf checks that flips and the break-even penalty are ends of the class's ranges, and says which of them are.
func (f *faults) rangesOf(class *capacity.Class, stated *capacity.ClassPlan) (penalty, deadline bool) {
	if stated.Stays == nil {
		return false, false
	}
	if r := stated.Stays.Penalty; r != nil {
		f.nearest(stated, "penalty", stated.Flips.Penalty, r.Nearest(class.Penalty))
		breaksEven := r.High
		if stated.Verdict == capacity.VerdictFull {
			breaksEven = r.Low
		}
		f.nearest(stated, "break-even penalty", stated.BreakEvenPenalty, breaksEven)
		penalty = true
	}
	if r := stated.Stays.DeadlineSeconds; r != nil {
		if at, shown := r.Nearest(class.DeadlineSeconds), stated.Flips.DeadlineSeconds; (at == nil) != (shown == nil) || at != nil && *at != *shown {
			f.addf("%s: the deadline that flips it is %v, and the nearer end of its range is %v.", stated.Name, orNone(shown), orNone(at))
		}
		deadline = true
	}
	return penalty, deadline
}

// relaxedJob checks what one job more or less changes where the linear program says so; exact is nil where no more VMs
// are to be had. far judges the distance of the two.
func (f *faults) relaxedJob(stated *capacity.ClassPlan, what string, shown *capacity.JobChange, exact *exact.Rat, far func(distance *exact.Rat) bool) {
	if shown == nil || shown.Exact {
		return
	}
	none := exact == nil
	if shown.Bill != nil || shown.ValueRefused != nil || shown.VMs != nil || shown.Budget != nil {
		f.addf("%s: one job %s has parts that only planning anew gives.", stated.Name, what)
		return
	}
	if low, high := shown.Low, shown.High; low != nil || high != nil { // the figure stands between them
		if low == nil || high == nil && none || high != nil && high.LessThan(low.Decimal) {
			f.addf("%s: one job %s is bounded by %v and %v.", stated.Name, what, orNone(low), orNone(high))
			return
		}
		if high != nil && (none || less(amount(high.Decimal), exact)) {
			none, exact = false, amount(high.Decimal)
		} else if less(exact, amount(low.Decimal)) {
			exact = amount(low.Decimal)
		}
	}
	switch {
	case none != (shown.Amount == nil) || none == shown.Fits:
		f.addf("%s: one job %s is said to change %v.", stated.Name, what, orNone(shown.Amount))
	case !none && far(abs(sub(amount(shown.Amount.Decimal), exact))):
		f.addf("%s: one job %s changes %s in the linear program, not %s.", stated.Name, what, amountOf(exact), shown.Amount)
	}
}
