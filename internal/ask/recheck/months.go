package recheck

import (
	"encoding/json"
	"fmt"
	"math"
	"math/big"
	"slices"
	"strings"
	"time"

	"headroom/internal/ask/horizon"
	"headroom/internal/core/capacity"
	"headroom/internal/core/proof"
)

var monthsNotChecked = []string{
	"explanations, warnings and the sentences of conflicts",
	"the classes' shares of the VMs, but for their sums",
}

// months checks the answer about a horizon.
func (c *checking) months(q horizon.HorizonQuestion, a horizon.Answer, got any) {
	if c.NotChecked = monthsNotChecked; a.Detail != horizon.DetailClasses {
		c.NotChecked = append([]string{"the classes' VM hours"}, monthsNotChecked...)
	}
	if a.Detail == horizon.DetailSummary {
		c.NotChecked = append([]string{"the counts of VMs and jobs and the cost of a span, but for its sums and for the cost of the cheapest plans",
			"how much less than the gap the answer may be off"}, c.NotChecked...)
	}
	c.horizon("", &q.Horizon, a, got)
}

// money lines of a span, in their order.
var lines = [...]string{"on_demand", "spot", "reserved", "reserved_idle", "penalties"}

// span adds up some time.
type span struct {
	start                                                       time.Time
	hours, infeasible                                           *big.Rat
	cost                                                        [len(lines)]figure
	vms, onDemand, reserved, idle, admitted, refused, penalties figure
}

func newSpan(start time.Time) *span {
	s := &span{start: start, hours: new(big.Rat), infeasible: new(big.Rat)}
	for _, f := range []*figure{&s.vms, &s.onDemand, &s.reserved, &s.idle, &s.admitted, &s.refused} {
		*f = nothing()
	}
	for i := range s.cost {
		s.cost[i] = nothing()
	}
	return s
}

// costs are the lines of a cost and their sum.
func costs(cost [len(lines)]figure) map[string]any {
	total, all := nothing(), map[string]any{}
	for i, name := range lines {
		total.add(cost[i])
		all[name] = cost[i]
	}
	all["total"] = total
	return all
}

func (s *span) document() map[string]any {
	return map[string]any{"start": s.start, "hours": about(s.hours), "infeasible_hours": about(s.infeasible), "cost": costs(s.cost),
		"vm_hours": about(s.vms.is), "on_demand_vm_hours": about(s.onDemand.is), "reserved_vm_hours": about(s.reserved.is),
		"reserved_idle_vm_hours": about(s.idle.is), "admitted_job_hours": about(s.admitted.is), "refused_job_hours": about(s.refused.is)}
}

// settled is a situation's plan as the answer states it, and its exact rates.
type settled struct {
	row       *horizon.PeriodAnswer
	seconds   int64 // of the row
	classes   []horizon.ClassShare
	none      bool
	onDemand  *big.Rat   // per hour; nil where the answer does not say of which type
	spot      *big.Rat   // likewise
	used      []*big.Rat // per hour by contract, in force or not
	idle      []*big.Rat
	penalties []*big.Rat // per period of the problem by class; nil where the answer does not say
	cost      *big.Rat   // per period, all together
	off       *big.Rat   // of cost
	gap       *big.Rat   // per period
	yardstick *big.Rat
}

// horizon checks an answer about a horizon that stands somewhere in a document.
func (c *checking) horizon(at string, h *horizon.Horizon, a horizon.Answer, got any) {
	k := cut(h)
	cells := len(k.cells)
	if !a.Complete {
		for n, left := 0, a.Total.Hours-1e-6; n < len(k.cells); n++ {
			if left <= 0 {
				cells = n
				break
			}
			left -= float64(k.cells[n].seconds) / 3600
		}
		if cells == len(k.cells) {
			c.wrong(at+"/complete", "is false, and nothing is missing")
		}
	}
	if cells == 0 {
		c.wrong(at+"/total/hours", "is %v: nothing is answered", a.Total.Hours)
		c.end(SumsCheck, "")
		return
	}
	k.cells = k.cells[:cells]
	c.closed(at, k, &a, got)
	if a.Detail == horizon.DetailSummary {
		c.summary(at, k, a, got)
		return
	}
	plans := c.settle(at, k, a)
	if plans == nil {
		c.end(SumsCheck, "")
		return
	}
	c.differ(at, got, c.monthsOf(k, a, plans))
	c.end(SumsCheck, "Every sum of %s in %d situations follows from the counts, prices and times.", spans(cells), len(plans))
	for i := range plans {
		c.planned(fmt.Sprintf("%s situation %d", at, i), &k.cases[i].problem, &plans[i])
	}
	c.end(PlansCheck, "Each situation has such a plan, and none that is cheaper by more than its gap.")
}

func spans(n int) string { return fmt.Sprintf("%d spans of time", n) }

// closed checks the sums that close whatever the detail: lines to totals, days to months, months to all, and contracts
// and classes to all.
func (c *checking) closed(at string, k *calendar, a *horizon.Answer, got any) {
	member := func(x any, name string) any { m, _ := x.(map[string]any); return m[name] }
	list := func(x any, name string) []any { l, _ := member(x, name).([]any); return l }
	adds := func(at string, x any, parts []any, names ...string) { // names of x, or pairs of names, which add up those of parts
		for _, name := range names {
			to, from, pair := strings.Cut(name, "=")
			if !pair {
				from = to
			}
			want := nothing()
			for _, p := range parts {
				if y := parsed(member(p, from)); y != nil {
					want.add(exact(y))
				}
			}
			if strings.HasSuffix(to, "hours") {
				want = about(want.is)
			}
			c.differ(at+"/"+to, member(x, to), want)
		}
	}
	own := func(at string, x any) {
		cost := member(x, "cost")
		want := nothing()
		for _, line := range lines {
			want.add(exact(parsed(member(cost, line))))
		}
		c.differ(at+"/cost/total", member(cost, "total"), want)
	}
	spanned := func(at string, x any, parts []any) {
		own(at, x)
		adds(at, x, parts, "hours", "infeasible_hours", "vm_hours", "on_demand_vm_hours", "reserved_vm_hours", "reserved_idle_vm_hours",
			"admitted_job_hours", "refused_job_hours")
		inside := []any{}
		for _, p := range parts {
			inside = append(inside, member(p, "cost"))
		}
		adds(at+"/cost", member(x, "cost"), inside, append(lines[:], "total")...)
	}
	months, days, total := list(got, "months"), list(got, "days"), member(got, "total")
	spanned(at+"/total", total, months)
	for i, m := range months {
		start, _ := member(m, "start").(string)
		spanned(fmt.Sprintf("%s/months/%d", at, i), m, slices.DeleteFunc(slices.Clone(days), func(d any) bool {
			day, _ := member(d, "start").(string)
			return len(day) < 8 || len(start) < 8 || day[:7] != start[:7]
		}))
	}
	for i, d := range days {
		own(fmt.Sprintf("%s/days/%d", at, i), d)
	}
	adds(at, got, list(got, "contracts"), "upfront")
	adds(at+"/total", total, list(got, "contracts"), "reserved_vm_hours=used_vm_hours", "reserved_idle_vm_hours=idle_vm_hours")
	adds(at+"/total/cost", member(total, "cost"), list(got, "contracts"), "reserved", "reserved_idle")
	adds(at+"/total", total, list(got, "classes"), "admitted_job_hours", "refused_job_hours")
	adds(at+"/total/cost", member(total, "cost"), list(got, "classes"), "penalties")
	for i := range a.Contracts {
		if i < len(k.contracts) {
			c.differ(fmt.Sprintf("%s/contracts/%d", at, i), list(got, "contracts")[i], k.contracts[i].use(&a.Contracts[i]))
		}
	}
	classes := []any{}
	for i := range k.h.Problem.Classes {
		classes = append(classes, map[string]any{"name": k.h.Problem.Classes[i].Name})
	}
	c.differ(at, got, map[string]any{"classes": classes, "currency": k.h.Problem.Currency})
	if !slices.Contains([]horizon.Detail{horizon.DetailSummary, horizon.DetailPeriods, horizon.DetailClasses}, a.Detail) {
		c.wrong(at+"/detail", "is %q, which is none", a.Detail)
	}
}

// use returns the figures of a contract that follow from its hours, used and idle.
func (s *signed) use(t *horizon.ContractTotal) map[string]any {
	used, idle := number(t.UsedHours), number(t.IdleHours)
	off := add(big.NewRat(1, 1e5), mul(big.NewRat(1, 1e9), s.Price.Rat())) // each span rounds once
	want := map[string]any{"used_vm_hours": about(sub(mul(whole(t.VMs), number(t.Hours)), idle)), "utilisation": nil, "idle_share": nil,
		"reserved": figure{mul(s.Price.Rat(), used), off}, "reserved_idle": nothing()}
	if all := add(used, idle); all.Sign() > 0 {
		want["utilisation"], want["idle_share"] = about(quo(used, all)), about(quo(idle, all))
	}
	if s.Billing == capacity.BilledAlways {
		want["reserved_idle"] = figure{mul(s.Price.Rat(), idle), off}
	}
	return want
}

func costLines(s *horizon.SpanCost) [6]*big.Rat {
	return [6]*big.Rat{s.Total.Rat(), s.OnDemand.Rat(), s.Spot.Rat(), s.Reserved.Rat(), s.ReservedIdle.Rat(), s.Penalties.Rat()}
}

// settle reads the plan of each situation, and checks its counts; nil where rows and situations do not fit the horizon.
func (c *checking) settle(at string, k *calendar, a horizon.Answer) []settled {
	last := k.cells[len(k.cells)-1]
	cases := 0
	for _, x := range k.cells {
		cases = max(cases, x.situation+1)
	}
	if len(a.Periods) != last.row+1 {
		c.wrong(at+"/periods", "are %d, and the periods and contracts make %d", len(a.Periods), last.row+1)
		return nil
	}
	if detailed := a.Detail == horizon.DetailClasses; detailed && len(a.Situations) != cases || !detailed && len(a.Situations) > 0 {
		c.wrong(at+"/situations", "are %d, and there are %d", len(a.Situations), cases)
		return nil
	}
	plans := make([]settled, cases)
	lengths := make([]int64, last.row+1)
	for _, x := range k.cells {
		lengths[x.row] += x.seconds
	}
	for i, x := range k.cells {
		if i > 0 && k.cells[i-1].row == x.row {
			continue
		}
		row, where := &a.Periods[x.row], fmt.Sprintf("%s/periods/%d", at, x.row)
		if row.Situation != x.situation {
			c.wrong(where+"/situation", "is %d, and %d follows from the question", row.Situation, x.situation)
			return nil
		}
		if len(row.Used) != len(k.contracts) {
			c.wrong(where+"/used", "has %d contracts, and there are %d", len(row.Used), len(k.contracts))
			return nil
		}
		if s := &plans[x.situation]; s.row != nil {
			if f := s.row; f.Status != row.Status || f.VMs != row.VMs || !slices.Equal(f.Used, row.Used) || f.Admitted != row.Admitted ||
				f.Refused != row.Refused || f.Gap != row.Gap || f.Conflict != row.Conflict {
				c.wrong(where, "is planned otherwise than other times of the same situation")
			}
			continue
		}
		s := &plans[x.situation]
		s.row, s.seconds = row, lengths[x.row]
		var types []capacity.TypeVMs
		if a.Detail == horizon.DetailClasses {
			s.classes, types = a.Situations[x.situation].Classes, a.Situations[x.situation].Types
		}
		if !c.rates(where, k, &k.cases[x.situation], s, types, a.Detail == horizon.DetailClasses) {
			return nil
		}
	}
	return plans
}

// rates checks the counts of a plan and prices them.
func (c *checking) rates(at string, k *calendar, x *situation, s *settled, types []capacity.TypeVMs, detailed bool) bool {
	p, row := &x.problem, s.row
	n := len(k.contracts)
	s.none = row.Status == capacity.InfeasibleStatus
	s.used, s.idle = make([]*big.Rat, n), make([]*big.Rat, n)
	if s.none {
		if row.VMs.Total != 0 || row.Admitted != 0 || row.Refused != 0 || row.Gap != 0 || len(s.classes)+len(types) > 0 || slices.Max(append(row.Used, 0)) != 0 {
			c.wrong(at, "has no plan, and figures of one")
		}
		return true
	}
	if row.Conflict != "" || row.Status != capacity.Optimal && row.Status != capacity.Feasible {
		c.wrong(at+"/status", "is %q, and the conflict %q", row.Status, row.Conflict)
	}
	supply := p.Supply.Types()
	if len(p.Supply.VMTypes) == 0 {
		types = []capacity.TypeVMs{{Total: row.VMs.Total, Reserved: row.VMs.Reserved, OnDemand: row.VMs.OnDemand, Spot: row.VMs.Spot}}
	} else if detailed && len(types) != len(supply) {
		c.wrong(at, "has %d types of VMs, and there are %d", len(types), len(supply))
		return false
	}
	hours := big.NewRat(p.PeriodSeconds, 3600)
	if detailed || len(p.Supply.VMTypes) == 0 {
		s.onDemand, s.spot = new(big.Rat), new(big.Rat)
		sum := capacity.TypeVMs{}
		for v, t := range types {
			c.rented(at, k, x, &supply[v], &t, row.Used)
			s.onDemand.Add(s.onDemand, mul(supply[v].OnDemand.Price.Rat(), number(t.OnDemand)))
			if supply[v].Spot != nil {
				s.spot.Add(s.spot, mul(supply[v].Spot.Price.Rat(), number(t.Spot)))
			}
			sum.Total, sum.Reserved, sum.OnDemand, sum.Spot = sum.Total+t.Total, sum.Reserved+t.Reserved, sum.OnDemand+t.OnDemand, sum.Spot+t.Spot
		}
		if v := &row.VMs; !alike(sum.Total, v.Total) || !alike(sum.Reserved, v.Reserved) || !alike(sum.OnDemand, v.OnDemand) || !alike(sum.Spot, v.Spot) {
			c.wrong(at+"/vms", "are not the sums of the VM types'")
		}
	}
	for i, signed := range k.contracts {
		s.used[i], s.idle[i] = new(big.Rat), new(big.Rat)
		if used := number(row.Used[i]); x.inForce[i] {
			if s.used[i] = mul(signed.Price.Rat(), used); signed.Billing == capacity.BilledAlways {
				s.idle[i] = mul(signed.Price.Rat(), sub(whole(signed.VMs), used))
			}
		} else if row.Used[i] != 0 {
			c.wrong(fmt.Sprintf("%s/used/%d", at, i), "is %v of a contract that is not in force", row.Used[i])
		}
	}
	return c.served(at, p, s, detailed, hours)
}

// rented checks the VMs of one type.
func (c *checking) rented(at string, k *calendar, x *situation, of *capacity.VMTypeSupply, t *capacity.TypeVMs, used []float64) {
	reserved := 0.0
	for i, s := range k.contracts {
		if s.vmType != of.Name {
			continue
		}
		reserved += used[i]
		if used[i] < 0 || used[i] > float64(s.VMs)*(1+1e-9) {
			c.wrong(fmt.Sprintf("%s/used/%d", at, i), "is %v of %d VMs", used[i], s.VMs)
		}
	}
	q := of.OnDemand.Quota
	switch whole := x.problem.Options.Integrality != capacity.Relaxed; {
	case !alike(reserved, t.Reserved) || !alike(t.Reserved+t.OnDemand+t.Spot, t.Total) || t.Name != of.Name:
		c.wrong(at+"/vms", "do not add up, of type %q", of.Name)
	case t.OnDemand < 0 || q != nil && t.OnDemand > float64(*q)*(1+1e-9) || t.Spot < 0 || of.Spot == nil && t.Spot > 0 ||
		of.Spot != nil && t.Spot > of.Spot.MaxShare*t.Total*(1+1e-9)+1e-9:
		c.wrong(at+"/vms", "are more than there are: %v on demand and %v as spot", t.OnDemand, t.Spot)
	case whole && (t.OnDemand != math.Trunc(t.OnDemand) || t.Spot != math.Trunc(t.Spot) || reserved != math.Trunc(reserved)):
		c.wrong(at+"/vms", "are not whole")
	}
}

// served checks the jobs of a plan, and adds its cost up.
func (c *checking) served(at string, p *capacity.Problem, s *settled, detailed bool, hours *big.Rat) bool {
	row, most, refusing := s.row, new(big.Rat), new(big.Rat)
	for i := range p.Classes {
		jobs := number(p.Classes[i].Jobs.Max)
		most.Add(most, jobs)
		refusing.Add(refusing, mul(jobs, p.Classes[i].Penalty.Rat()))
	}
	if all := row.Admitted + row.Refused; !alike(all, float(most)) || row.Admitted < 0 || row.Refused < -1e-9 {
		c.wrong(at, "has %v admitted and %v refused jobs, and %s are asked for", row.Admitted, row.Refused, trimmed(most))
	}
	penalties := new(big.Rat)
	s.off = new(big.Rat)
	if !detailed {
		part := big.NewRat(p.PeriodSeconds, s.seconds)
		penalties = mul(row.Cost.Penalties.Rat(), part)
		s.off = mul(big.NewRat(s.seconds/86_400+2, 1e9), part)
	} else if len(s.classes) != len(p.Classes) {
		c.wrong(at, "has shares of %d classes, and there are %d", len(s.classes), len(p.Classes))
		return false
	} else {
		admitted, refused, shares := 0.0, 0.0, 0.0
		for i, x := range s.classes {
			jobs := &p.Classes[i].Jobs
			if !alike(x.Admitted+x.Refused, jobs.Max) || x.Admitted < jobs.Min-1e-9*(1+jobs.Min) || x.Refused < -1e-9 || len(x.VMs) != len(p.Supply.Types()) {
				c.wrong(at, "has %v admitted and %v refused jobs of %s", x.Admitted, x.Refused, p.Classes[i].Name)
				return false
			}
			s.penalties = append(s.penalties, mul(number(x.Refused), p.Classes[i].Penalty.Rat()))
			penalties.Add(penalties, s.penalties[i])
			admitted, refused = admitted+x.Admitted, refused+x.Refused
			for _, vms := range x.VMs {
				shares += vms
			}
		}
		if !alike(admitted, row.Admitted) || !alike(refused, row.Refused) || shares > row.VMs.Total*(1+1e-9)+1e-6 {
			c.wrong(at, "has %v admitted and %v refused jobs on %v VMs, and its classes %v and %v on %v", row.Admitted, row.Refused, row.VMs.Total, admitted, refused, shares)
		}
	}
	rate := new(big.Rat)
	if s.onDemand != nil {
		rate.Add(s.onDemand, s.spot)
	} else { // several types, and nothing says which
		rate = quo(add(row.Cost.OnDemand.Rat(), row.Cost.Spot.Rat()), big.NewRat(s.seconds, 3600))
		s.off.Add(s.off, mul(big.NewRat(2*(s.seconds/86_400+2), 1e9), big.NewRat(p.PeriodSeconds, s.seconds)))
	}
	for i := range s.used {
		rate.Add(rate, add(s.used[i], s.idle[i]))
	}
	s.cost = add(mul(rate, hours), penalties)
	s.yardstick, s.gap = spread(row.Gap, s.cost, refusing, mul(rate, hours))
	if row.Gap < 0 || row.Status == capacity.Optimal && s.gap.Cmp(add(big.NewRat(2, 1e8), mul(add(number(p.Options.Gap), big.NewRat(1, 1e9)), s.yardstick))) > 0 {
		c.wrong(at+"/gap", "is %v, and the plan is called %s", row.Gap, row.Status)
	}
	return true
}

// spread is the amount that a relative gap stands for, and what it is a share of: the objective, or the whole cost where
// that is less, or the VMs' where both are nothing.
func spread(gap float64, cost, refusing, vms *big.Rat) (yardstick, amount *big.Rat) {
	yardstick = least(abs(sub(cost, refusing)), cost)
	if cents(yardstick).Sign() == 0 {
		yardstick = vms
	}
	return yardstick, mul(number(gap), yardstick)
}

func float(x *big.Rat) float64 { f, _ := x.Float64(); return f }

// monthsOf is the answer that follows from the plans of the situations.
func (c *checking) monthsOf(k *calendar, a horizon.Answer, plans []settled) map[string]any {
	total := newSpan(k.cells[0].start)
	var months, days []*span
	rows, gap := []any{}, nothing()
	status := capacity.Optimal
	infeasible := []any{}
	contracts := make([]*span, len(k.contracts)) // used are reserved, the rest idle
	for i := range contracts {
		contracts[i] = newSpan(time.Time{})
	}
	classes := make([]*span, len(k.h.Problem.Classes))
	for i := range classes {
		classes[i] = newSpan(time.Time{})
		classes[i].penalties = nothing()
	}
	var row *span
	for i, x := range k.cells {
		s := &plans[x.situation]
		in, d := []*span{total, of(&months, x.start, 1), of(&days, x.start, x.start.Day())}, big.NewRat(x.seconds, 3600)
		if i == 0 || k.cells[i-1].row != x.row {
			row = newSpan(x.start)
			rows = append(rows, row)
		}
		in = append(in, row)
		for _, t := range in {
			t.hours = add(t.hours, d)
		}
		if s.none {
			for _, t := range in {
				t.infeasible = add(t.infeasible, d)
			}
			status = capacity.InfeasibleStatus
			infeasible = follows(infeasible, x.start, d, s.row.Conflict)
			continue
		}
		if s.row.Status == capacity.Feasible && status == capacity.Optimal {
			status = capacity.Feasible
		}
		period := big.NewRat(x.seconds, k.h.Problem.PeriodSeconds)
		gap.add(figure{mul(s.gap, period), add(big.NewRat(1, 1e9), mul(period, add(big.NewRat(3, 1e8), mul(big.NewRat(1, 1e9), s.yardstick))))})
		cost := [len(lines)]figure{nothing(), nothing(), nothing(), nothing(), nothing()}
		part := big.NewRat(x.seconds, s.seconds) // of the amounts of a row, for what follows from nothing else
		said := func(amount *big.Rat) figure { return figure{mul(amount, part), big.NewRat(1, 1e8)} }
		if cost[0], cost[1] = said(s.row.Cost.OnDemand.Rat()), said(s.row.Cost.Spot.Rat()); s.onDemand != nil {
			cost[0], cost[1] = exact(cents(mul(s.onDemand, d))), exact(cents(mul(s.spot, d)))
		}
		idle := new(big.Rat)
		for n := range k.contracts {
			if !k.cases[x.situation].inForce[n] {
				continue
			}
			t, used := contracts[n], number(s.row.Used[n])
			left := sub(whole(k.contracts[n].VMs), used)
			idle.Add(idle, left)
			reserved, unused := exact(cents(mul(s.used[n], d))), exact(cents(mul(s.idle[n], d)))
			cost[2].add(reserved)
			cost[3].add(unused)
			t.hours = add(t.hours, d)
			t.cost[2].add(reserved)
			t.cost[3].add(unused)
			t.reserved.add(exact(mul(used, d)))
			t.idle.add(exact(mul(left, d)))
		}
		if cost[4] = said(s.row.Cost.Penalties.Rat()); s.classes != nil {
			cost[4] = nothing()
			for n, of := range s.classes {
				t, penalty := classes[n], exact(cents(mul(s.penalties[n], period)))
				cost[4].add(penalty)
				t.penalties.add(penalty)
				t.admitted.add(exact(mul(number(of.Admitted), d)))
				t.refused.add(exact(mul(number(of.Refused), d)))
				for _, vms := range of.VMs {
					t.vms.add(exact(mul(number(vms), d)))
				}
			}
		}
		for _, t := range in {
			for n := range cost {
				t.cost[n].add(cost[n])
			}
			t.vms.add(exact(mul(number(s.row.VMs.Total), d)))
			t.onDemand.add(exact(mul(number(s.row.VMs.OnDemand), d)))
			t.reserved.add(exact(mul(number(s.row.VMs.Reserved), d)))
			t.idle.add(exact(mul(idle, d)))
			t.admitted.add(exact(mul(number(s.row.Admitted), d)))
			t.refused.add(exact(mul(number(s.row.Refused), d)))
		}
	}
	for i, r := range rows {
		r := r.(*span)
		rows[i] = map[string]any{"start": r.start, "hours": about(r.hours), "cost": costs(r.cost)}
	}
	want := map[string]any{"status": string(status), "total": total.document(), "months": documents(months), "days": documents(days),
		"periods": rows, "infeasible": infeasible, "gap": gap, "solved": exact(whole(int64(len(plans)))),
		"contracts": k.contractsOf(contracts), "classes": k.classesOf(classes, a.Detail == horizon.DetailClasses)}
	return want
}

// of is the month or day that a moment lies in, which is the last one or a new one.
func of(list *[]*span, at time.Time, day int) *span {
	start := time.Date(at.Year(), at.Month(), day, 0, 0, 0, 0, time.UTC)
	if n := len(*list); n == 0 || !(*list)[n-1].start.Equal(start) {
		*list = append(*list, newSpan(start))
	}
	return (*list)[len(*list)-1]
}

func documents(list []*span) []any {
	all := []any{}
	for _, s := range list {
		all = append(all, s.document())
	}
	return all
}

// mostInfeasible bounds the times without a plan that are listed.
const mostInfeasible = 100

// follows adds some time without a plan to those that are listed: one that goes on counts once.
func follows(list []any, start time.Time, hours *big.Rat, conflict string) []any {
	if n := len(list); n > 0 {
		last := list[n-1].(map[string]any)
		length := last["hours"].(figure).is
		end := last["start"].(time.Time).Add(time.Duration(float(length)*3600+0.5) * time.Second)
		if end.Equal(start) && last["conflict"] == any(conflict) {
			last["hours"] = about(add(length, hours))
			return list
		}
		if n == mostInfeasible {
			return list
		}
	}
	return append(list, map[string]any{"start": start, "hours": about(hours), "conflict": conflict})
}

func (k *calendar) contractsOf(spans []*span) []any {
	all, seconds := []any{}, k.seconds(len(k.cells))
	for i, s := range spans {
		of := &k.contracts[i]
		one := map[string]any{"name": of.Name, "vms": exact(whole(of.VMs)), "hours": about(s.hours), "upfront": exact(k.share(i, seconds)),
			"used_vm_hours": about(s.reserved.is), "idle_vm_hours": about(s.idle.is), "reserved": s.cost[2], "reserved_idle": s.cost[3],
			"utilisation": nil, "idle_share": nil}
		if all := add(s.reserved.is, s.idle.is); all.Sign() > 0 {
			one["utilisation"], one["idle_share"] = about(quo(s.reserved.is, all)), about(quo(s.idle.is, all))
		}
		if of.vmType != "" {
			one["vm_type"] = of.vmType
		}
		all = append(all, one)
	}
	return all
}

func (k *calendar) classesOf(spans []*span, detailed bool) []any {
	all := []any{}
	for i, s := range spans {
		one := map[string]any{"name": k.h.Problem.Classes[i].Name}
		if detailed {
			one["admitted_job_hours"], one["refused_job_hours"] = about(s.admitted.is), about(s.refused.is)
			one["vm_hours"], one["penalties"] = about(s.vms.is), s.penalties
		}
		all = append(all, one)
	}
	return all
}

// planned asks proof about the plan of a situation: one for its cost exists, also with just its jobs, and none is
// cheaper by more than its gap.
func (c *checking) planned(at string, p *capacity.Problem, s *settled) {
	if s.none {
		c.nowhere(at, p)
		return
	}
	c.holds(at, p, s.cost, s.gap, s.off)
	if s.classes == nil {
		return
	}
	pinned := *p
	pinned.Classes = slices.Clone(p.Classes)
	for i := range pinned.Classes {
		pinned.Classes[i].Jobs = capacity.JobRange{Min: s.classes[i].Admitted, Max: p.Classes[i].Jobs.Max}
	}
	if l, looked := c.cheapest(&pinned, s.cost, new(big.Rat)); looked && l.Holds(add(s.cost, s.off), nil) == proof.Failed {
		c.wrong(at, "costs %s, and its VMs do not carry its jobs", trimmed(s.cost))
	}
}

// holds asks proof whether a cost and its gap are right.
func (c *checking) holds(at string, p *capacity.Problem, cost, gap, off *big.Rat) proof.Least {
	l, looked := c.cheapest(p, cost, gap)
	if looked && off.Sign() > 0 && l.Slack != nil {
		l.Slack = add(l.Slack, off)
	}
	if looked {
		c.judge(at, l, cost, gap)
	}
	return l
}

// judge says what a bracket says of a cost.
func (c *checking) judge(at string, l proof.Least, cost, gap *big.Rat) {
	switch l.Holds(cost, gap) {
	case proof.Failed:
		switch {
		case l.None:
			c.wrong(at, "costs %s, and there is no plan", trimmed(cost))
		case l.Low != nil && add(cost, l.Slack).Cmp(l.Low) < 0:
			c.wrong(at, "costs %s, and no plan costs less than %s", trimmed(cost), trimmed(l.Low))
		default:
			c.wrong(at, "costs %s, and there is a plan for %s", trimmed(cost), trimmed(l.High))
		}
	case proof.NotProved:
		c.doubt(at, "costs %s: whether that is the least is left open", trimmed(cost))
	}
}

// nowhere asks proof whether there is no plan.
func (c *checking) nowhere(at string, p *capacity.Problem) {
	switch l, looked := c.cheapest(p, nil, nil); {
	case !looked || l.None:
	case l.High != nil:
		c.wrong(at, "has a plan, for %s, and none is said to be there", trimmed(l.High))
	default:
		c.doubt(at, "has no plan, it says: that is left open")
	}
}

// mostKnown bounds the brackets that are kept.
const mostKnown = 50_000

// cheapest brackets the cost of a problem, within the work that is allowed.
func (c *checking) cheapest(p *capacity.Problem, near, gap *big.Rat) (l proof.Least, looked bool) {
	if c.looks <= 0 {
		c.passed++
		return l, false
	}
	if c.options.Pause != nil {
		c.options.Pause()
	}
	text, err := json.Marshal(p)
	key := fmt.Sprint(string(text), near, gap)
	if known, seen := c.known[key]; err == nil && seen {
		return known, true
	}
	l = proof.Cheapest(*p, near, gap, proof.Options{Pause: c.options.Pause})
	if c.looks -= 1 + l.Looks; len(c.known) < mostKnown {
		c.known[key] = l
	}
	return l, true
}

// spanned brackets what a horizon comes to by month; where none is false, a situation has a plan or may have one.
type spanned struct {
	months []proof.Least
	total  proof.Least
	none   []bool // by situation
	all    bool   // every situation was looked at
}

// span brackets all cells of a calendar.
func (c *checking) span(k *calendar) *spanned {
	s := &spanned{all: true}
	known := make([]proof.Least, len(k.cases))
	for i := range k.cases {
		l, looked := c.cheapest(&k.cases[i].problem, nil, nil)
		s.all = s.all && looked
		s.none = append(s.none, l.None)
		known[i] = l
	}
	if !s.all {
		return s
	}
	var month time.Time
	var seconds [][]int64 // by month and situation
	rounded := make([]int64, 0)
	for _, x := range k.cells {
		if at := time.Date(x.start.Year(), x.start.Month(), 1, 0, 0, 0, 0, time.UTC); at.After(month) || len(seconds) == 0 {
			month = at
			seconds, rounded = append(seconds, make([]int64, len(k.cases))), append(rounded, 0)
		}
		if !s.none[x.situation] {
			seconds[len(seconds)-1][x.situation] += x.seconds
			rounded[len(rounded)-1] += int64(len(k.contracts) + len(k.h.Problem.Classes) + 2)
		}
	}
	for m := range seconds {
		sum := proof.Least{Low: new(big.Rat), High: new(big.Rat), Slack: big.NewRat(rounded[m], 1e9)}
		for i, n := range seconds[m] {
			if n > 0 {
				sum.Add(known[i], big.NewRat(n, k.h.Problem.PeriodSeconds))
			}
		}
		s.months = append(s.months, sum)
	}
	for _, m := range s.months {
		s.total.Add(m, whole(1))
	}
	return s
}

// summary checks an answer without its periods: its sums, its times, and its cost against that of the cheapest plans.
func (c *checking) summary(at string, k *calendar, a horizon.Answer, got any) {
	if len(a.Periods)+len(a.Situations) > 0 {
		c.wrong(at+"/periods", "stand in a summary")
	}
	s := c.span(k)
	total := newSpan(k.cells[0].start)
	var months, days []*span
	cases, spot, contracts := 0, false, []any{}
	for _, t := range k.h.Problem.Supply.Types() {
		spot = spot || t.Spot != nil
	}
	inForce := make([]*big.Rat, len(k.contracts))
	for i := range inForce {
		inForce[i] = new(big.Rat)
	}
	for _, x := range k.cells {
		cases = max(cases, x.situation+1)
		if s.all && !s.none[x.situation] {
			for i, in := range k.cases[x.situation].inForce {
				if in {
					inForce[i].Add(inForce[i], big.NewRat(x.seconds, 3600))
				}
			}
			for _, class := range k.cases[x.situation].problem.Classes {
				asked := exact(mul(number(class.Jobs.Max), big.NewRat(x.seconds, 3600)))
				for _, t := range []*span{total, of(&months, x.start, 1), of(&days, x.start, x.start.Day())} {
					t.admitted.add(asked)
				}
			}
		}
		for _, t := range []*span{total, of(&months, x.start, 1), of(&days, x.start, x.start.Day())} {
			if t.hours = add(t.hours, big.NewRat(x.seconds, 3600)); s.all && s.none[x.situation] {
				t.infeasible = add(t.infeasible, big.NewRat(x.seconds, 3600))
			}
		}
	}
	for i, seconds := 0, k.seconds(len(k.cells)); i < len(k.contracts); i++ {
		one := map[string]any{"name": k.contracts[i].Name, "vms": exact(whole(k.contracts[i].VMs)), "upfront": exact(k.share(i, seconds))}
		if contracts = append(contracts, one); s.all {
			one["hours"] = about(inForce[i])
		}
	}
	spans := func(mine []*span, stated []horizon.SpanTotal) any {
		all := []any{}
		for i, t := range mine {
			if len(mine) == len(stated) {
				all = append(all, t.times(&stated[i], s.all, spot))
			}
		}
		return all
	}
	c.differ(at, got, map[string]any{"total": total.times(&a.Total, s.all, spot), "contracts": contracts, "solved": exact(whole(int64(cases))),
		"months": spans(months, a.Months), "days": spans(days, a.Days)})
	c.end(SumsCheck, "The sums close, and the times are right; which counts they come from does not stand in a summary.")
	if !s.all {
		c.end(PlansCheck, "")
		return
	}
	for i := range s.months {
		if i < len(a.Months) && a.Gap.IsZero() {
			c.judge(fmt.Sprintf("%s/months/%d/cost/total", at, i), s.months[i], a.Months[i].Cost.Total.Rat(), new(big.Rat))
		}
	}
	c.judge(at+"/total/cost/total", s.total, a.Total.Cost.Total.Rat(), a.Gap.Rat())
	if infeasible := total.infeasible.Sign() > 0; infeasible != (a.Status == capacity.InfeasibleStatus) {
		c.wrong(at+"/status", "is %s, and %v hours have no plan", a.Status, trimmed(total.infeasible))
	}
	c.end(PlansCheck, "The cheapest plans of %d situations cost so much, within the gap.", cases)
}

// times returns the figures of a span that are known without its plans.
func (s *span) times(stated *horizon.SpanTotal, known, spot bool) map[string]any {
	m := map[string]any{"start": s.start, "hours": about(s.hours)}
	if known {
		m["infeasible_hours"] = about(s.infeasible)
		m["refused_job_hours"] = about(sub(s.admitted.is, number(stated.AdmittedHours)))
	}
	if !spot {
		m["vm_hours"] = about(add(number(stated.OnDemandHours), number(stated.ReservedHours)))
	}
	return m
}
