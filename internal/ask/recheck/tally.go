package recheck

import (
	"math/big"
	"time"

	"example.org/headroom/internal/ask/horizon"
	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/money"
)

// money lines of a span, in their order.
var lines = [...]string{"on_demand", "spot", "reserved", "reserved_idle", "upfront", "penalties"}

const upfrontLine, penaltyLine = 4, 5

// span adds up some time.
type span struct {
	start                                            time.Time
	hours, infeasible, unforecast                    *big.Rat
	rests                                            figure // the bill without a forecast
	cost                                             [len(lines)]figure
	vms, onDemand, reserved, idle, admitted, refused figure
}

func newSpan(start time.Time) *span {
	s := &span{start: start, hours: new(big.Rat), infeasible: new(big.Rat), unforecast: new(big.Rat), rests: nothing()}
	for _, f := range []*figure{&s.vms, &s.onDemand, &s.reserved, &s.idle, &s.admitted, &s.refused} {
		*f = nothing()
	}
	for i := range s.cost {
		s.cost[i] = nothing()
	}
	return s
}

// costs are the lines of a cost and their sums.
func costs(cost [len(lines)]figure) map[string]any {
	total, all := nothing(), map[string]any{}
	for i, name := range lines {
		if name == "penalties" {
			all["bill"] = total
		}
		total.is, total.off = add(total.is, cost[i].is), add(total.off, cost[i].off)
		all[name] = cost[i]
	}
	all["total"] = total
	return all
}

// billOf is the sum of the lines that are on a bill.
func billOf(cost [len(lines)]figure) figure { return costs(cost)["bill"].(figure) }

func (s *span) document() map[string]any {
	return map[string]any{"start": s.start, "hours": about(s.hours), "infeasible_hours": about(s.infeasible), "cost": costs(s.cost),
		"hours_without_forecast": about(s.unforecast), "bill_without_forecast": s.rests,
		"vm_hours": about(s.vms.is), "on_demand_vm_hours": about(s.onDemand.is), "reserved_vm_hours": about(s.reserved.is),
		"reserved_idle_vm_hours": about(s.idle.is), "admitted_job_hours": about(s.admitted.is), "refused_job_hours": about(s.refused.is)}
}

// tally makes the answer again from the plans of its situations, cell by cell.
type tally struct {
	k          *calendar
	plans      []settled
	stated     []horizon.PeriodAnswer // the rows as they stand
	lengths    []int64                // and their seconds
	total      *span
	months     []*span
	days       []*span
	rows       []*span
	contracts  []*span // reserved are the used VM hours, idle the others
	classes    []*span
	gap        figure
	status     capacity.Status
	infeasible []any
}

// monthsOf returns the answer that follows from the plans of the situations.
func monthsOf(k *calendar, a *horizon.Answer, plans []settled) map[string]any {
	t := &tally{k: k, plans: plans, stated: a.Periods, lengths: k.lengths(),
		total: newSpan(k.cells[0].start), gap: nothing(), status: capacity.Optimal, infeasible: []any{}}
	for range k.contracts {
		t.contracts = append(t.contracts, newSpan(time.Time{}))
	}
	for range k.h.Problem.Classes {
		t.classes = append(t.classes, newSpan(time.Time{}))
	}
	for i := range k.cells {
		t.cell(i)
	}
	rows := []any{}
	for _, r := range t.rows {
		rows = append(rows, map[string]any{"start": r.start, "hours": about(r.hours), "cost": costs(r.cost)})
	}
	return map[string]any{"status": string(t.status), "total": t.total.document(), "months": documents(t.months), "days": documents(t.days),
		"periods": rows, "infeasible": t.infeasible, "gap": t.gap, "solved": exact(whole(int64(len(plans)))),
		"contracts": k.contractsOf(t.contracts), "classes": k.classesOf(t.classes, a.Detail == horizon.DetailClasses)}
}

// cell adds a cell to all that it is part of.
func (t *tally) cell(i int) {
	x := t.k.cells[i]
	s, d := &t.plans[x.situation], big.NewRat(x.seconds, 3600)
	if i == 0 || t.k.cells[i-1].row != x.row {
		t.rows = append(t.rows, newSpan(x.start))
	}
	in := []*span{t.total, of(&t.months, x.start, 1), of(&t.days, x.start, x.start.Day()), t.rows[len(t.rows)-1]}
	for _, span := range in {
		if span.hours = add(span.hours, d); s.none {
			span.infeasible = add(span.infeasible, d)
		}
	}
	for _, span := range in {
		span.cost[upfrontLine].add(exact(t.k.due(x.start, x.start.Add(time.Duration(x.seconds)*time.Second))))
	}
	if s.none {
		t.status = capacity.InfeasibleStatus
		t.infeasible = follows(t.infeasible, x.start, d, s.row.Conflict)
		return
	}
	if s.row.Status == capacity.Feasible && t.status == capacity.Optimal {
		t.status = capacity.Feasible
	}
	period := big.NewRat(x.seconds, t.k.h.Problem.PeriodSeconds)
	rounding := add(big.NewRat(3, 1e8), mul(big.NewRat(1, 1e9), s.yardstick)) // gaps are floats
	t.gap.add(figure{mul(s.gap, period), add(big.NewRat(1, 1e9), mul(period, rounding))})
	cost, idle := t.costs(&x, s, d)
	cost[penaltyLine] = t.penalties(&x, s, d, period)
	for _, span := range in {
		if t.k.h.Periods[x.period].Unforecast {
			span.unforecast = add(span.unforecast, d)
			span.rests.add(billOf(cost))
		}
		for n := range cost {
			span.cost[n].add(cost[n])
		}
		for _, count := range []struct {
			to *figure
			x  *big.Rat
		}{{&span.vms, number(s.row.VMs.Total)}, {&span.onDemand, number(s.row.VMs.OnDemand)}, {&span.reserved, number(s.row.VMs.Reserved)},
			{&span.idle, idle}, {&span.admitted, number(s.row.Admitted)}, {&span.refused, number(s.row.Refused)}} {
			count.to.add(exact(mul(count.x, d)))
		}
	}
}

// said is a cell's part of an amount of its row, for what follows from nothing else.
func (t *tally) said(x *cell, amount money.Amount) figure {
	return figure{mul(amount.Rat(), big.NewRat(x.seconds, t.lengths[x.row])), big.NewRat(1, 1e8)}
}

// costs prices the VMs of a cell, line by line. It also returns the VMs of contracts that are not used.
func (t *tally) costs(x *cell, s *settled, hours *big.Rat) (cost [len(lines)]figure, idle *big.Rat) {
	row := &t.stated[x.row].Cost
	cost[0], cost[1] = t.said(x, row.OnDemand), t.said(x, row.Spot)
	if s.onDemand != nil {
		cost[0], cost[1] = exact(cents(mul(s.onDemand, hours))), exact(cents(mul(s.spot, hours)))
	}
	cost[2], cost[3], cost[upfrontLine], idle = nothing(), nothing(), nothing(), new(big.Rat)
	for n := range t.k.contracts {
		if !t.k.cases[x.situation].inForce[n] {
			continue
		}
		of, used := t.contracts[n], number(s.row.Used[n])
		left := sub(whole(t.k.contracts[n].VMs), used)
		idle.Add(idle, left)
		reserved, unused := exact(cents(mul(s.used[n], hours))), exact(cents(mul(s.idle[n], hours)))
		of.hours = add(of.hours, hours)
		for _, to := range []*[len(lines)]figure{&cost, &of.cost} {
			to[2].add(reserved)
			to[3].add(unused)
		}
		of.reserved.add(exact(mul(used, hours)))
		of.idle.add(exact(mul(left, hours)))
	}
	return cost, idle
}

// penalties adds the classes of a cell up, and returns their penalties.
func (t *tally) penalties(x *cell, s *settled, hours, period *big.Rat) figure {
	if s.classes == nil {
		return t.said(x, t.stated[x.row].Cost.Penalties)
	}
	sum := nothing()
	for n, share := range s.classes {
		of, penalty := t.classes[n], exact(cents(mul(s.penalties[n], period)))
		sum.add(penalty)
		of.cost[penaltyLine].add(penalty)
		of.admitted.add(exact(mul(number(share.Admitted), hours)))
		of.refused.add(exact(mul(number(share.Refused), hours)))
		for _, vms := range share.VMs {
			of.vms.add(exact(mul(number(vms), hours)))
		}
	}
	return sum
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
			one["asked_vm_hours"], one["penalties"] = about(s.vms.is), s.cost[penaltyLine]
		}
		all = append(all, one)
	}
	return all
}
