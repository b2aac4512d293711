package recheck

import (
	"fmt"
	"math"
	"math/big"
	"slices"

	"example.org/headroom/internal/ask/whatif"
	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/money"
	"example.org/headroom/internal/core/plan"
	"example.org/headroom/internal/core/proof"
)

var whatIfNotChecked = []string{
	"how many VMs or jobs keep decisions from being kept",
	"how a difference falls into values and decisions where the decisions cannot be kept, but for its sums",
	"the penalties of kept decisions where penalties or demands change and the plans do not stand there",
	"how costs of the VMs fall to types, contracts and spot where there are several types or spot VMs",
}

// outcomeOf reads the outcome of a scenario or a goal.
func outcomeOf(at string, got any, o plan.Outcome) outcome {
	return outcome{at: at, got: got, status: o.Status, cost: o.Cost, vms: o.VMs,
		admitted: o.Admitted, refused: o.Refused, gap: o.Gap, conflicts: o.Conflicts}
}

// outcomes checks an outcome with its plan, if it has one.
func (c *checking) outcomes(p *capacity.Problem, o outcome, pl *capacity.Plan, full bool) {
	c.outcome(p, o)
	switch {
	case o.status == capacity.InfeasibleStatus:
		c.conflicts(p, o)
	case full && pl == nil:
		c.wrong(o.at+"/plan", "is missing")
	case pl != nil:
		c.plan(p, pl, o)
	}
}

// whatIf checks scenarios laid over a problem.
func (c *checking) whatIf(q whatif.WhatIfQuestion, a whatif.Comparison, got any) {
	c.NotChecked = whatIfNotChecked
	members, _ := got.(map[string]any)
	scenarios, _ := members["scenarios"].([]any)
	full := q.Detail == whatif.DetailFull
	if len(scenarios) != len(q.Scenarios) {
		c.wrong("/scenarios", "are %d, and %d were asked about", len(scenarios), len(q.Scenarios))
		c.end(PlansCheck, "")
		return
	}
	c.outcomes(&q.Problem, outcomeOf("/base", members["base"], a.Base), a.Base.Plan, full)
	c.differ("/base/name", a.Base.Name, "")
	problems := make([]capacity.Problem, len(q.Scenarios))
	for i := range q.Scenarios {
		s, ok := &a.Scenarios[i], false
		c.differ(at(i, "scenarios")+"/name", s.Name, q.Scenarios[i].Name)
		if problems[i], ok = changed(q.Problem, q.Scenarios[i].Changes); !ok {
			c.wrong(at(i, "scenarios"), "is answered, and its changes cannot be laid over the problem")
			problems[i].Classes = nil
			continue
		}
		c.outcomes(&problems[i], outcomeOf(at(i, "scenarios"), scenarios[i], s.Outcome), s.Plan, full)
	}
	sound := len(c.faults) == 0
	if c.end(PlansCheck, "The base and each scenario have such a plan, and none that is cheaper by more than its gap."); !sound {
		return // nothing can be told from wrong plans
	}
	for i := range a.Scenarios {
		if s := &a.Scenarios[i]; problems[i].Classes != nil {
			comparable := a.Base.Status != capacity.InfeasibleStatus && s.Status != capacity.InfeasibleStatus
			if comparable != (s.Difference != nil) {
				c.wrong(at(i, "scenarios")+"/difference", "is missing, or stands beside no plan")
			} else if comparable {
				c.difference(at(i, "scenarios")+"/difference", &q.Problem, &problems[i], &a.Base, s, full)
			}
		}
	}
	c.end(DifferenceCheck, "Every line goes from one plan to the other by way of the same decisions.")
	c.toldScenarios(&q, &a, scenarios)
}

// difference checks how a scenario's cost differs from the base's.
func (c *checking) difference(at string, before, after *capacity.Problem, base *plan.Outcome, s *whatif.ScenarioAnswer, full bool) {
	d := s.Difference
	amounts := func(x *capacity.Cost) []*big.Rat {
		all := costOf(x)
		return slices.Insert(all[:], 1, x.Bill.Rat())
	}
	from, to := amounts(&base.Cost), amounts(&s.Cost)
	names := []string{"total", "bill", "on_demand", "spot", "reserved", "reserved_idle", "penalties"}
	if len(d.Cost) != len(names) {
		c.wrong(at+"/cost", "has %d lines, and there are %d", len(d.Cost), len(names))
		return
	}
	kept := map[string]*big.Rat{}
	parts := nothing()
	for i, x := range d.Cost {
		line := fmt.Sprintf("%s/cost/%d", at, i)
		if x.Name != names[i] || x.From.Rat().Cmp(from[i]) != 0 || x.To.Rat().Cmp(to[i]) != 0 {
			c.wrong(line, "is of %s from %s to %s, and %s goes from %s to %s", x.Name, x.From, x.To, names[i], trimmed(from[i]), trimmed(to[i]))
		}
		c.split(line, &d.Cost[i])
		if kept[names[i]] = add(x.From.Rat(), x.Values.Rat()); i > 1 {
			parts.add(exact(kept[names[i]]))
		}
	}
	c.differ(at+"/cost/0/values", sub(kept["total"], from[0]).FloatString(9), exact(sub(parts.is, from[0])))
	c.differ(at+"/cost/1/values", sub(kept["bill"], from[1]).FloatString(9), exact(sub(sub(parts.is, kept["penalties"]), from[1])))
	if d.Kept != (len(d.KeptBecause) == 0) {
		c.wrong(at+"/kept", "is %t, with %d reasons", d.Kept, len(d.KeptBecause))
	}
	c.because(at, d.KeptBecause, after, base.Plan, kept)
	if d.Kept {
		c.kept(at, before, after, base, kept)
	}
	if full {
		c.classes(at, before, after, base, s)
	}
}

// costOf is the total of a cost and its lines.
func costOf(x *capacity.Cost) [6]*big.Rat {
	return [6]*big.Rat{x.Total.Rat(), x.OnDemand.Rat(), x.Spot.Rat(), x.Reserved.Rat(), x.ReservedIdle.Rat(), x.Penalties.Rat()}
}

// split checks that a line closes.
func (c *checking) split(at string, x *whatif.MoneySplit) {
	if add(add(x.From.Rat(), x.Values.Rat()), x.Decisions.Rat()).Cmp(x.To.Rat()) != 0 {
		c.wrong(at, "does not close: %s and %s and %s are not %s", x.From, x.Values, x.Decisions, x.To)
	}
}

// kept checks what the base's decisions cost at the new figures, where they can be kept.
func (c *checking) kept(at string, before, after *capacity.Problem, base *plan.Outcome, kept map[string]*big.Rat) {
	if l, looked := c.cheapest(after, kept["total"], new(big.Rat)); looked && l.Holds(kept["total"], nil) == proof.Failed {
		c.wrong(at, "keeps decisions for %s, and no plan costs so little", trimmed(kept["total"]))
	}
	hours := big.NewRat(after.PeriodSeconds, 3600)
	near := func(x *big.Rat) figure {
		if after.Options.Integrality == capacity.Relaxed {
			return about(x)
		}
		return figure{x, big.NewRat(2, 1e9)}
	}
	same := true
	for i := range after.Classes {
		now, then := &after.Classes[i], &before.Classes[i]
		same = same && now.Penalty.Equal(then.Penalty.Decimal) && now.Jobs.Max == then.Jobs.Max
	}
	switch penalties := new(big.Rat); {
	case same:
		c.differ(at+"/cost/penalties kept", kept["penalties"].FloatString(9), near(base.Cost.Penalties.Rat()))
	case base.Plan != nil || len(after.Classes) == 1:
		for i := range after.Classes {
			admitted := base.Admitted
			if base.Plan != nil {
				admitted = base.Plan.Classes[i].Admitted
			}
			penalties.Add(penalties, mul(after.Classes[i].Penalty.Rat(), sub(number(after.Classes[i].Jobs.Max), number(admitted))))
		}
		c.differ(at+"/cost/penalties kept", kept["penalties"].FloatString(9), near(penalties))
	}
	if len(before.Supply.VMTypes)+len(after.Supply.VMTypes) > 0 || before.Supply.Spot != nil || after.Supply.Spot != nil {
		return
	}
	onDemand := mul(mul(after.Supply.OnDemand.Price.Rat(), number(base.VMs.OnDemand)), hours)
	c.differ(at+"/cost/on_demand kept", kept["on_demand"].FloatString(9), near(onDemand))
	// Which contracts are used, cheapest first; where prices are alike that may be otherwise, as the base's lines show.
	contracts := slices.Clone(before.Supply.Contracts)
	slices.SortStableFunc(contracts, func(x, y capacity.Contract) int { return marginal(x).Cmp(marginal(y)) })
	used, left := map[string]*big.Rat{}, number(base.VMs.Reserved)
	reserved, then, idle := new(big.Rat), new(big.Rat), new(big.Rat)
	for _, k := range contracts {
		used[k.Name] = least(left, whole(k.VMs))
		left = sub(left, used[k.Name])
		reserved.Add(reserved, mul(mul(k.Price.Rat(), used[k.Name]), hours))
	}
	if abs(sub(cents(reserved), base.Cost.Reserved.Rat())).Cmp(near(reserved).off) > 0 {
		return
	}
	for _, k := range after.Supply.Contracts {
		n := used[k.Name]
		if n == nil {
			n = new(big.Rat)
		}
		if then.Add(then, mul(mul(k.Price.Rat(), n), hours)); k.Billing == capacity.BilledAlways {
			idle.Add(idle, mul(mul(k.Price.Rat(), sub(whole(k.VMs), n)), hours))
		}
	}
	c.differ(at+"/cost/reserved kept", kept["reserved"].FloatString(9), near(then))
	c.differ(at+"/cost/reserved_idle kept", kept["reserved_idle"].FloatString(9), near(idle))
}

// classes checks how a difference falls to classes.
func (c *checking) classes(at string, before, after *capacity.Problem, base *plan.Outcome, s *whatif.ScenarioAnswer) {
	d := s.Difference
	if base.Plan == nil || s.Plan == nil || len(d.Classes) != len(after.Classes) || d.Shared == nil {
		c.wrong(at+"/classes", "are %d, and there are %d", len(d.Classes), len(after.Classes))
		return
	}
	var sums [4]*big.Rat
	for i := range sums {
		sums[i] = new(big.Rat)
	}
	count := func(x *whatif.MoneySplit) {
		for i, y := range []money.Amount{x.From, x.Values, x.Decisions, x.To} {
			sums[i].Add(sums[i], y.Rat())
		}
	}
	for i := range d.Classes {
		x, line := &d.Classes[i], fmt.Sprintf("%s/classes/%d", at, i)
		c.split(line, &x.MoneySplit)
		count(&x.MoneySplit)
		b := &x.Bill
		c.split(line+"/bill", &whatif.MoneySplit{From: b.From, Values: b.Values, Decisions: b.Decisions, To: b.To})
		off := big.NewRat(1, 1e7)
		from, to := shareOf(before, base.Plan, i), shareOf(after, s.Plan, i)
		values := add(b.Values.Rat(), sub(mul(after.Classes[i].Penalty.Rat(), sub(number(after.Classes[i].Jobs.Max), number(x.Admitted.Kept))), refusedOf(before, base.Plan, i)))
		c.differ(line, tree(marshalled(x)), map[string]any{"name": after.Classes[i].Name, "values": figure{values, off},
			"from": figure{add(from, refusedOf(before, base.Plan, i)), off}, "to": figure{add(to, refusedOf(after, s.Plan, i)), off},
			"bill":     map[string]any{"from": figure{from, off}, "to": figure{to, off}},
			"admitted": map[string]any{"from": exact(number(base.Plan.Classes[i].Admitted)), "to": exact(number(s.Plan.Classes[i].Admitted))}})
		if x.Admitted.Kept > x.Admitted.From || x.Admitted.Kept < 0 || d.Kept && x.Admitted.Kept != x.Admitted.From {
			c.wrong(line+"/admitted/kept", "is %v of %v", x.Admitted.Kept, x.Admitted.From)
		}
	}
	c.split(at+"/shared", d.Shared)
	count(d.Shared)
	c.differ(at+"/shared/name", d.Shared.Name, "shared")
	for i, y := range []money.Amount{d.Cost[0].From, d.Cost[0].Values, d.Cost[0].Decisions, d.Cost[0].To} {
		if sums[i].Cmp(y.Rat()) != 0 {
			c.wrong(at+"/classes", "add up to %s, and the total is %s", trimmed(sums[i]), y)
		}
	}
}

// refusedOf returns the penalties of a class.
func refusedOf(p *capacity.Problem, pl *capacity.Plan, class int) *big.Rat {
	return mul(p.Classes[class].Penalty.Rat(), sub(number(p.Classes[class].Jobs.Max), number(pl.Classes[class].Admitted)))
}

// shareOf returns the bill of a class: its share of what is paid for the VMs in use of each type.
func shareOf(p *capacity.Problem, pl *capacity.Plan, class int) *big.Rat {
	stated := &pl.Classes[class]
	sum := new(big.Rat)
	for _, t := range p.Supply.Types() {
		vms, rented := number(stated.VMs), capacity.TypeVMs{OnDemand: pl.VMs.OnDemand, Spot: pl.VMs.Spot}
		if len(p.Supply.VMTypes) > 0 {
			vms = new(big.Rat)
			for _, on := range stated.Types {
				if on.VMType == t.Name {
					vms = number(on.VMs)
				}
			}
			rented = pl.VMs.Types[slices.IndexFunc(pl.VMs.Types, func(v capacity.TypeVMs) bool { return v.Name == t.Name })]
		}
		paid, all := mul(t.OnDemand.Price.Rat(), number(rented.OnDemand)), add(number(rented.OnDemand), number(rented.Spot))
		if t.Spot != nil {
			paid = add(paid, mul(t.Spot.Price.Rat(), number(rented.Spot)))
		}
		for _, k := range t.Contracts {
			for _, use := range pl.VMs.Contracts {
				if use.Name == k.Name {
					paid, all = add(paid, mul(k.Price.Rat(), number(use.Used))), add(all, number(use.Used))
				}
			}
		}
		if all.Sign() > 0 {
			sum = add(sum, mul(mul(paid, quo(vms, all)), big.NewRat(p.PeriodSeconds, 3600)))
		}
	}
	return sum
}

var sweepNotChecked = []string{"figures of the linear program in facts about the ends of a range",
	"whether a fact is missing there about the next job, the budget, or a contract, but for contracts beside dearer VMs", "where a curve bends, what changes there, and whether it could be exact",
	"of several types, which of them the price of capacity is that of, where bounds of their prices overlap"}

// sweep checks a problem over a range of figures.
func (c *checking) sweep(q whatif.SweepQuestion, a whatif.SweepAnswer, got any) {
	c.NotChecked = sweepNotChecked
	numbers, total := make([][]*big.Rat, len(q.Vary)), 1
	for i := range q.Vary {
		numbers[i] = values(&q.Vary[i])
		total *= len(numbers[i])
	}
	members, _ := got.(map[string]any)
	points, _ := members["points"].([]any)
	c.differ("", got, map[string]any{"currency": q.Problem.Currency, "period_s": exact(whole(q.Problem.PeriodSeconds)),
		"total": exact(whole(int64(total))), "vary": tree(marshalled(q.Vary)), "complete": len(points) == total})
	next := 0
	for i := range points {
		p, at := &a.Points[i], at(i, "points")
		found := false
		for ; next < total && !found; next++ { // points may be missing
			changes, same := changesAt(q.Vary, numbers, next, p.Parameters)
			if found = same; same {
				c.point(at, q.Problem, changes, p, points[i])
			} else if a.Complete {
				break
			}
		}
		if !found {
			c.wrong(at+"/parameters", "is %v, which is not the next of the points", p.Parameters)
			break
		}
	}
	c.end(PlansCheck, "Each point has such a plan, and none that is cheaper by more than its gap.")
	if a.Curve != nil || q.Curve {
		c.curve(q, a.Curve)
	}
	c.limitsAtEnds(&q, &a, numbers)
	c.listed(a.Facts, sweepFacts(&a))
	if len(points) > 0 {
		c.toldSweep(&q, &a, got)
	}
}

// changesAt returns the changes at a point of a sweep, of which the last parameter moves first, and whether it says the numbers there.
func changesAt(vary []whatif.Vary, numbers [][]*big.Rat, point int, said []float64) (changes []whatif.ScenarioChange, same bool) {
	changes, same = make([]whatif.ScenarioChange, len(numbers)), len(said) == len(numbers)
	for k := len(numbers) - 1; k >= 0; k-- {
		x := numbers[k][point%len(numbers[k])]
		point /= len(numbers[k])
		changes[k] = varied(&vary[k], x)
		same = same && proof.Alike(said[k], float(x))
	}
	return changes, same
}

// values are the numbers of a parameter: a list, or equal steps or ratios.
func values(v *whatif.Vary) (all []*big.Rat) {
	for _, x := range v.Values {
		all = append(all, x.Rat())
	}
	if v.Values != nil {
		return all
	}
	from, to := v.From.Rat(), v.To.Rat()
	whats := []whatif.What{whatif.ChangeDemand, whatif.ChangePromised, whatif.ChangeQuota, whatif.ChangeContract}
	counted := v.By == whatif.ByValue && slices.Contains(whats, v.What)
	for k := range v.Steps {
		share := big.NewRat(k, v.Steps-1)
		x := add(from, mul(sub(to, from), share))
		if v.Spacing == whatif.Geometric && k > 0 && k < v.Steps-1 {
			x = number(float(from) * math.Exp(math.Log(float(quo(to, from)))*float(share)))
		}
		if x = cents(x); counted {
			x, _ = new(big.Rat).SetString(x.FloatString(0))
		}
		if len(all) == 0 || all[len(all)-1].Cmp(x) != 0 {
			all = append(all, x)
		}
	}
	return all
}

// point checks one point of a sweep.
func (c *checking) point(at string, p capacity.Problem, changes []whatif.ScenarioChange, said *whatif.SweepPoint, got any) {
	there, ok := changed(p, changes)
	if !ok {
		if said.Status != capacity.InfeasibleStatus {
			c.wrong(at, "has a plan, and the problem there cannot be planned")
		}
		return
	}
	o := outcome{at: at, got: got, status: said.Status, cost: said.Cost, vms: said.VMs,
		admitted: said.Admitted, refused: said.Refused, gap: said.Gap}
	if c.outcome(&there, o); said.Status == capacity.InfeasibleStatus {
		c.conflict(at, &there, said.Conflict)
		return
	}
	if said.Conflict != "" {
		c.wrong(at+"/conflict", "stands beside a plan")
	}
	if said.Price == nil {
		c.wrong(at+"/price", "is missing")
	} else if wrong := proof.PriceFaults(there, *said.Price); len(wrong) > 0 {
		c.wrong(at+"/price", "is wrong: %s", wrong[0])
	}
}

// curve checks the costs of the linear program along a parameter.
func (c *checking) curve(q whatif.SweepQuestion, curve *plan.Curve) {
	if curve == nil || !q.Curve {
		c.wrong("/curve", "is missing, or was not asked for")
		c.end(CurvesCheck, "")
		return
	}
	linear := q.Problem
	linear.Options.Integrality = capacity.Relaxed
	if (curve.Conflict != "") != (len(curve.Points) == 0) || !slices.Contains([]string{"convex", "concave", "decreasing"}, curve.Shape) {
		c.wrong("/curve", "is %s with %d points and the conflict %q", curve.Shape, len(curve.Points), curve.Conflict)
	}
	for i := 1; i < len(curve.Points) && curve.Shape == "decreasing"; i++ {
		if a, b := curve.Points[i-1].Cost, curve.Points[i].Cost; a.LessThan(b.Decimal) {
			c.wrong("/curve/shape", "is decreasing, and goes from %s to %s", a, b)
		}
	}
	for i := 2; i < len(curve.Points) && curve.Exact; i++ {
		a, b := curve.Points[i-2].Slope, curve.Points[i-1].Slope
		if a != nil && b != nil && (curve.Shape == "convex") == (a.Cmp(b.Decimal) > 0) && !proof.Alike(a.Float(), b.Float()) {
			c.wrong("/curve/shape", "is %s, and its slopes go from %s to %s", curve.Shape, a, b)
		}
	}
	first := number(0)
	if len(curve.Points) > 0 {
		first = number(curve.Points[0].At)
	}
	if x := curve.Least; x != nil && (number(*x).Cmp(values(&q.Vary[0])[0]) <= 0 || len(curve.Points) > 0 && !proof.Alike(*x, float(first)) && (q.Vary[0].What != whatif.ChangeDeadline || *x > float(first))) {
		c.wrong("/curve/least", "is %v, and the curve begins at %s", *x, trimmed(first))
	}
	if curve.Asymptote != nil && q.Vary[0].What != whatif.ChangeDeadline {
		c.wrong("/curve/asymptote", "is %v, and deadlines alone have one", *curve.Asymptote)
	}
	costs := make([]*big.Rat, len(curve.Points))
	for i, p := range curve.Points {
		at := fmt.Sprintf("/curve/points/%d", i)
		there, ok := changed(linear, []whatif.ScenarioChange{varied(&q.Vary[0], number(p.At))})
		if !ok {
			c.doubt(at, "cannot be reached by the change that is asked for")
			continue
		}
		if i > 0 && p.At <= curve.Points[i-1].At {
			c.wrong(at+"/at", "is %v, out of its order", p.At)
			continue
		}
		if last := i == len(curve.Points)-1; last != (p.Slope == nil) && curve.Exact {
			c.wrong(at+"/slope", "is missing, or stands at the end")
		}
		there.Budget = nil
		cost, _, _ := proof.Relaxation(there)
		if q.Problem.Budget != nil || q.Vary[0].What == whatif.ChangeBudget || cost == nil {
			c.doubt(at, "is not looked at: a budget bounds fractions of VMs otherwise")
			continue
		}
		costs[i] = cost
		off := add(big.NewRat(1, 1e6), mul(big.NewRat(1, 1e7), abs(cost))) // the number is rounded
		c.differ(at+"/cost", p.Cost.String(), figure{cost, off})
		if i == 0 || costs[i-1] == nil || curve.Points[i-1].Slope == nil || !curve.Exact {
			continue
		}
		run := sub(number(p.At), number(curve.Points[i-1].At))
		c.differ(fmt.Sprintf("/curve/points/%d/slope", i-1), curve.Points[i-1].Slope.String(),
			figure{quo(sub(cost, costs[i-1]), run), add(quo(mul(whole(4), off), run), mul(big.NewRat(1, 1e6), abs(curve.Points[i-1].Slope.Rat())))})
	}
	c.end(CurvesCheck, "The curve has the linear program's costs at its points.")
}
