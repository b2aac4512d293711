package proof

import (
	"fmt"

	"github.com/shopspring/decimal"

	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/proof/exact"
	"example.org/headroom/internal/core/words"
)

// certificate checks that bound, gap and status agree with each other and with the objective.
func (r *Report) certificate(m *model, pl capacity.Plan, b bill) {
	var f faults
	if pl.Proof == nil {
		f.addf("The plan carries no proof.")
		r.add(CertificateCheck, f, "")
		return
	}
	f = m.maker(pl.Proof)
	bound, gap := amount(pl.Proof.Bound.Decimal), number(pl.Proof.Gap)
	distance := sub(b.objective, bound)
	size := b.yardstick()
	slack := add(halfUnit, b.noise())
	if less(add(distance, slack), zero()) {
		f.addf("The bound %s is above the objective %s, which the plan itself reaches.", pl.Proof.Bound, amountOf(b.objective))
	}
	if !b.fits(gap, larger(distance, zero()), slack) {
		f.addf("The gap between %s and the bound %s is not %v.", amountOf(b.objective), pl.Proof.Bound, pl.Proof.Gap)
	}
	if allowed := number(m.problem.Options.Gap); pl.Status == capacity.Optimal && less(add(larger(smallest, mul(allowed, size)), slack), distance) {
		f.addf("The plan is called optimal with a gap of %v, and %v is allowed.", pl.Proof.Gap, m.problem.Options.Gap)
	}
	if pl.Status == capacity.Optimal && pl.Proof.Limited != "" {
		f.addf("The plan is called optimal, and its search is said to have been ended by the %s.", pl.Proof.Limited)
	}
	if pl.Status == capacity.Feasible && pl.Proof.Gap <= m.problem.Options.Gap {
		f.addf("The plan is called feasible with a gap of %v, and is optimal with up to %v.", pl.Proof.Gap, m.problem.Options.Gap)
	}
	r.add(CertificateCheck, f, "Bound, gap and status agree with the objective.")
}

// optimality looks for a plan that refutes the claims: that none is cheaper than the bound and, for an optimal plan,
// that none is cheaper by more than the allowed gap.
func (r *Report) optimality(m *model, pl capacity.Plan, b bill, look func(threshold *exact.Rat) (finding, string)) {
	allowed := sub(b.objective, larger(smallest, mul(number(m.problem.Options.Gap), b.yardstick())))
	allowed.Sub(allowed, add(halfUnit, b.slack))
	claim, threshold := "more than the gap below "+amountOf(b.objective).String(), allowed
	var f finding
	var why string
	if pl.Proof != nil {
		bound := amount(pl.Proof.Bound.Decimal)
		// The bound may have come from floating point.
		certain := sub(bound, add(halfUnit, b.noise()))
		f, why = look(certain)
		var wrong faults
		if f.better != nil {
			r.Better = m.describe(f.better)
			wrong.addf("A plan on %v VMs costs %s, less than the bound %s.", r.Better.VMs, r.Better.Objective, pl.Proof.Bound)
		}
		r.add(BoundCheck, wrong, "No plan found here is below the bound.")
		if pl.Status == capacity.Feasible {
			claim, threshold = "below the bound "+pl.Proof.Bound.String(), certain
		}
	}
	refuted := f.better != nil && less(f.better.objective, threshold)
	if pl.Status == capacity.Optimal && !refuted && (f.bound == nil || less(f.bound, threshold)) {
		f, why = look(threshold)
	}
	switch {
	case f.bound == nil:
		r.note(OptimalityCheck, NotProved, "The plan claims nothing about better ones.")
		return
	case f.better != nil && less(f.better.objective, threshold):
		r.Better = m.describe(f.better)
		r.note(OptimalityCheck, Failed, fmt.Sprintf("A plan on %v VMs costs %s, which is %s.", r.Better.VMs, r.Better.Objective, claim))
		return
	case f.bound.Cmp(threshold) >= 0:
		r.note(OptimalityCheck, OK, fmt.Sprintf("No plan is %s.", claim))
	default:
		within := "an unknown share"
		if b.objective.Sign() != 0 {
			share := quo(sub(b.objective, f.bound), abs(b.objective)).Float()
			within = words.PercentUp(decimal.NewFromFloat(share))
		}
		r.note(OptimalityCheck, NotProved, fmt.Sprintf("No plan %s was found; the bound says within %s: %s.", claim, within, why))
	}
	stated := amountOf(f.bound)
	r.Bound = &stated
}

// look bounds the cost of every plan, by the linear program first and then by a search.
func (r *Report) look(m *model, lp relaxed, threshold *exact.Rat, o Options) (f finding, why string) {
	if !lp.feasible { // the checked plan is a plan, up to faults that other checks name
		return finding{bound: new(exact.Rat).Set(threshold)}, ""
	}
	f.bound = sub(lp.objective, m.leeway(lp))
	if f.bound.Cmp(threshold) >= 0 {
		return f, ""
	}
	if m.integrality == capacity.Relaxed {
		f.better = &selection{vms: lp.load, objective: lp.objective}
		for _, h := range lp.jobs {
			jobs := h.Float()
			f.better.jobs = append(f.better.jobs, jobs)
		}
		return f, ""
	}
	lp.objective = new(exact.Rat).Round(f.bound, finePlaces, false)
	s, why := m.choices(lp, threshold)
	if s == nil {
		return f, why
	}
	r.rest()
	linear := f.bound
	if f = m.search(s, threshold, o.Nodes, o.expected); f.better == nil {
		f.bound = larger(f.bound, linear)
	}
	if f.doubt {
		return f, "a better one would have to use the tolerances of deadlines or of irrational gammas"
	}
	return f, fmt.Sprintf("the search stopped at %s", count(f.states, "state", "states"))
}

// leeway returns the amount by which the linear program's cost may exceed a plan's, because plans may use the
// tolerances of deadlines and of irrational gammas.
func (m *model) leeway(lp relaxed) *exact.Rat {
	if m.integrality == capacity.Relaxed {
		return zero()
	}
	sum := mul(m.spare(-1), whole(int64(len(m.classes)))) // of each class if VMs are dedicated
	for i := range m.classes {
		c := m.classes[i]
		if c.given || c.impossible {
			continue
		}
		share := sub(c.low, c.lowest)
		if m.integrality == capacity.Executable {
			share = mul(c.low, sub(quo(c.tolerant(), c.slack), whole(1)))
		}
		sum.Add(sum, mul(c.max, larger(zero(), new(exact.Rat).Round(share, finePlaces, true))))
	}
	return sum.Mul(sum, lp.low)
}

func (m *model) describe(s *selection) *Better {
	b := &Better{Objective: amountOf(s.objective), Jobs: s.jobs}
	b.VMs = s.vms.Float()
	for _, o := range s.options {
		b.Jobs = append(b.Jobs, float64(o.jobs))
	}
	return b
}

// integer checks a plan's answer of the integer program.
func (m *model) integer(pl capacity.Plan, a answer, lp relaxed, b bill) []string {
	var f faults
	x := pl.Integer
	objective, vms, missing := amount(x.Objective.Decimal), number(x.VMs), number(x.ShortVMs)
	if lp.feasible && m.integrality != capacity.Relaxed {
		without := *m // slots
		without.integrality = capacity.Integer
		lowest := sub(sub(lp.objective, without.leeway(lp)), add(halfUnit, mul(relative, m.magnitude(lp))))
		if less(objective, lowest) {
			f.addf("Its objective %s is below the linear program's %s.", x.Objective, amountOf(lp.objective))
		}
	}
	if !vms.IsInt() || vms.Sign() < 0 || missing.Sign() < 0 || !missing.IsInt() {
		f.addf("%v VMs and %v missing are not whole.", x.VMs, x.ShortVMs)
	}
	if x.Executable != (missing.Sign() == 0) {
		f.addf("%v VMs are missing, and it is said to be executable: %t.", x.ShortVMs, x.Executable)
	}
	if m.integrality != capacity.Integer {
		return f
	}
	if abs(sub(objective, b.objective)).Cmp(halfUnit) > 0 || vms.Cmp(number(pl.VMs.Total)) != 0 {
		f.addf("%s on %v VMs is not this integer plan's %s on %v.", x.Objective, x.VMs, amountOf(b.objective), pl.VMs.Total)
	}
	executable := *m
	executable.integrality = capacity.Executable
	sizes, certain := make([]option, len(m.classes)), true
	low, high := zero(), zero()
	for i := range m.classes {
		m.rest()
		n := a[i].jobs.Num()
		if !a[i].jobs.IsInt() || !n.IsInt64() {
			return f // the shape check names it
		}
		l, h, s, ok := executable.needs(i, n.Int64())
		if !ok {
			return f
		}
		sizes[i] = option{slots: s}
		certain = certain && l.Cmp(h) == 0
		low.Add(low, l)
		high.Add(high, h)
	}
	smallest := larger(zero(), sub(upTo(low, executable.spare(-1)), vms))
	highest := larger(zero(), sub(new(exact.Rat).SetInt(high.Ceil()), vms))
	if !executable.packs(sizes, add(vms, highest)) {
		return f // slots of odd sizes may take more VMs than their sum
	}
	if less(missing, smallest) || less(highest, missing) {
		f.addf("With whole slots %s VMs are missing, not %v.", short(smallest), x.ShortVMs)
	}
	return f
}

// integerProgram searches the integer program of an executable plan: no plan of whole jobs costs less than it says, and
// on as many VMs as it says the best one costs that.
func (r *Report) integerProgram(m *model, pl capacity.Plan, b bill, o Options) []string {
	var f faults
	o.Nodes = nodesFor(len(m.classes), o)
	x := pl.Integer
	objective, vms := amount(x.Objective.Decimal), number(x.VMs)
	program := *m
	program.integrality = capacity.Integer
	rent, there := program.rent(vms)
	if !vms.IsInt() || vms.Sign() < 0 || !there {
		f.addf("%v VMs cannot be rented.", x.VMs)
		return f
	}
	tolerance := add(add(smallest, smallest), b.noise())
	below := func(m *model, threshold *exact.Rat) (found, sure bool) {
		lp := m.relax(zero())
		if !lp.feasible {
			return false, true
		}
		at, _ := r.look(m, lp, threshold, o)
		return at.better != nil, at.better != nil || at.bound != nil && at.bound.Cmp(threshold) >= 0 && !at.doubt
	}
	allowed := larger(smallest, mul(number(m.problem.Options.Gap), abs(objective)))
	if found, _ := below(&program, sub(sub(objective, allowed), tolerance)); found && pl.Status == capacity.Optimal {
		f.addf("A plan of whole jobs costs less than %s.", x.Objective)
	}
	free := program // so many VMs for nothing: what remains is what their jobs are worth
	free.problem.Budget = nil
	free.supply, free.fixed = []source{{vms: vms, price: zero(), contract: -1}}, zero()
	worth := sub(objective, rent)
	if found, sure := below(&free, add(worth, tolerance)); sure && !found {
		f.addf("No jobs on %v VMs make it %s.", x.VMs, x.Objective)
	}
	if found, _ := below(&free, sub(sub(worth, allowed), tolerance)); found && m.problem.Budget == nil {
		f.addf("Jobs worth more fit on %v VMs, so that it costs less than %s there.", x.VMs, x.Objective)
	}
	return f
}
