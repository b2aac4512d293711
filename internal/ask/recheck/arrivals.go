package recheck

import (
	"fmt"
	"math"
	"math/big"
	"slices"
	"strings"
	"time"

	"example.org/headroom/internal/ask/horizon"
	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/proof"
)

// arriving checks a horizon in which jobs arrive. Its VMs are held against the work that arrived, its sums against the counts
// and prices of its periods, and its cost against the cheapest plan of each hour by itself. Where jobs are refused, months are
// planned in the order of the hours, and purchases are not.
func (c *checking) arriving(at string, h, hours *horizon.Horizon, a *horizon.Answer, got any, ordered bool) {
	k := cut(h)
	c.closed(at, k, a, got)
	c.enough(at, h, a)
	c.spanned(at, k, a)
	each := cut(hours)
	alone := c.span(each)
	inOrder := ordered && (a.Total.RefusedHours > 0 || alone.all && alone.otherwise(each, a) && c.refusing(each))
	if a.Detail != horizon.DetailSummary {
		c.stated(at, k, a, got, inOrder)
	} else {
		c.summarised(at, each, alone, a, got, inOrder || !alone.all)
	}
	for i, x := range a.Infeasible {
		if slices.Contains(a.Infeasible[:i], x) {
			c.wrong(fmt.Sprintf("%s/infeasible/%d", at, i), "stands there twice")
		}
	}
	if a.Detail == horizon.DetailClasses {
		c.work(at, h, a)
	}
	for i := range min(len(a.Classes), len(h.Problem.Classes)) {
		c.promise(fmt.Sprintf("%s/classes/%d/arrivals/below_promise", at, i), h, each, a, i)
	}
	c.unplanned(at, a)
	none := a.Total.InfeasibleHours > 0 || tooFewVMs(a)
	if !slices.Contains(statuses, a.Status) || none != (a.Status == capacity.InfeasibleStatus) || a.Status == capacity.Feasible && a.Gap.IsZero() {
		c.wrong(at+"/status", "is %q, with a gap of %s and %v hours without a plan", a.Status, a.Gap, a.Total.InfeasibleHours)
	}
	c.end(SumsCheck, "The sums follow from the counts, prices and times, and the VMs do the work that has arrived.")
	c.cheapestHours(at, each, alone, a, inOrder)
}

// mostListed bounds the times that an answer lists.
const mostListed = 100

// unplanned checks that the times without a plan add up. Beside them stand times in which a class has too few VMs.
func (c *checking) unplanned(at string, a *horizon.Answer) {
	if len(a.Infeasible) >= mostListed {
		return
	}
	hours := 0.0
	for i := range a.Infeasible {
		if x := &a.Infeasible[i]; !strings.Contains(x.Conflict, " of work, and what has arrived and was admitted takes ") {
			hours += x.Hours
		}
	}
	if math.Abs(hours-a.Total.InfeasibleHours) > 1e-6 {
		c.wrong(at+"/infeasible", "has %v hours without a plan, and the total has %v", hours, a.Total.InfeasibleHours)
	}
}

// summarised checks what a summary says of contracts, and of the problems that were solved.
func (c *checking) summarised(at string, k *calendar, s *spanned, a *horizon.Answer, got any, inOrder bool) {
	if len(a.Periods)+len(a.Situations) > 0 {
		c.wrong(at+"/periods", "stand in a summary")
	}
	if a.Solved < 1 || a.Solved > len(k.cells) {
		c.wrong(at+"/solved", "is %d, and %d problems differ", a.Solved, len(k.cases))
	}
	if !a.Complete {
		return
	}
	inForce, contracts := make([]*big.Rat, len(k.contracts)), []any{}
	for i := range k.contracts {
		of := &k.contracts[i]
		inForce[i] = new(big.Rat)
		for _, x := range k.cells {
			if k.cases[x.situation].inForce[i] && (inOrder || !s.none[x.situation]) {
				inForce[i].Add(inForce[i], big.NewRat(x.seconds, 3600))
			}
		}
		one := map[string]any{"name": of.Name, "vms": exact(whole(of.VMs)), "upfront": exact(k.share(i, k.seconds(len(k.cells))))}
		if of.vmType != "" {
			one["vm_type"] = of.vmType
		}
		if !inOrder || a.Total.InfeasibleHours == 0 {
			one["hours"] = about(inForce[i])
		} else if i < len(a.Contracts) {
			hours, most := number(a.Contracts[i].Hours), add(inForce[i], about(inForce[i]).off)
			if hours.Cmp(most) > 0 || add(hours, number(a.Total.InfeasibleHours)).Cmp(sub(inForce[i], about(inForce[i]).off)) < 0 {
				c.wrong(fmt.Sprintf("%s/contracts/%d/hours", at, i), "is %v, and it is in force for %s", a.Contracts[i].Hours, trimmed(inForce[i]))
			}
		}
		contracts = append(contracts, one)
	}
	c.differ(at, got, map[string]any{"contracts": contracts})
}

// otherwise reports whether an answer costs more than the hours by themselves, or has fewer hours with a plan.
func (s *spanned) otherwise(k *calendar, a *horizon.Answer) bool {
	dearer := s.total.High != nil && running(&a.Total.Cost).Cmp(add(s.total.High, s.total.Slack)) > 0
	return dearer || number(a.Total.InfeasibleHours).Cmp(add(s.hopeless(k), big.NewRat(1, 1e6))) > 0
}

// hopeless are the hours in which promised jobs do not fit in.
func (s *spanned) hopeless(k *calendar) *big.Rat {
	hours := new(big.Rat)
	for _, x := range k.cells {
		if s.none[x.situation] {
			hours = add(hours, big.NewRat(x.seconds, 3600))
		}
	}
	return hours
}

// refusing reports whether the cheapest plan of some hour by itself may refuse jobs.
func (c *checking) refusing(k *calendar) bool {
	for i := range k.cases {
		p := k.cases[i].problem
		least, _ := c.cheapest(&p, nil, nil)
		p.Classes = slices.Clone(p.Classes)
		for n := range p.Classes {
			p.Classes[n].Jobs.Min = p.Classes[n].Jobs.Max
		}
		all, _ := c.cheapest(&p, nil, nil)
		if !least.None && (all.High == nil || least.Low == nil || all.High.Cmp(least.Low) > 0) {
			return true
		}
	}
	return false
}

// cheapestHours holds the cost of an answer against that of the cheapest plan of each hour by itself: it is no less, and no
// more than that and the gap.
func (c *checking) cheapestHours(at string, k *calendar, s *spanned, a *horizon.Answer, inOrder bool) {
	if !s.all {
		c.end(PlansCheck, "")
		return
	}
	none, told := s.hopeless(k), number(a.Total.InfeasibleHours)
	if off := about(none).off; a.Complete && (told.Cmp(sub(none, off)) < 0 || !inOrder && told.Cmp(add(none, off)) > 0) {
		c.wrong(at+"/total/infeasible_hours", "is %v, and in %s hours the promised jobs do not fit in", a.Total.InfeasibleHours, trimmed(none))
	}
	switch {
	case !a.Complete || a.Status == capacity.InfeasibleStatus && (tooFewVMs(a) || inOrder):
		c.doubt("", "The periods give arrivals, and not all hours have a plan: whether other plans are cheaper is not looked at")
		c.end(PlansCheck, "")
		return
	case slices.ContainsFunc(a.Classes, belowPromise):
		c.judge(at+"/total/cost/total", c.promisingLess(k, a).total, running(&a.Total.Cost), nil)
		switch l, least := &s.total, sub(running(&a.Total.Cost), a.Gap.Rat()); {
		case l.High != nil && least.Cmp(add(l.High, l.Slack)) > 0:
			c.wrong(at+"/gap", "is %s, and the hours by themselves cost %s", a.Gap, trimmed(l.High))
		case l.Low == nil || least.Cmp(add(l.Low, l.Slack)) > 0:
			c.doubt(at+"/gap", "is %s: whether the hours by themselves cost so much less is left open", a.Gap)
		}
		c.end(PlansCheck, "No hour by itself is cheaper by more than the gap, and plans with the jobs that run cost so much.")
		return
	}
	c.within(at, s, a)
	c.end(PlansCheck, "The cheapest plans of %d situations cost so much, within the gap.", len(k.cases))
}

func belowPromise(x horizon.ClassTotal) bool { return x.Arrivals != nil && x.Arrivals.Below != nil }

// promisingLess brackets the cost of the hours by themselves, where no more jobs are promised than an answer says that it keeps.
func (c *checking) promisingLess(k *calendar, a *horizon.Answer) *spanned {
	less := *k
	less.cases = slices.Clone(k.cases)
	for i := range less.cases {
		p := &less.cases[i].problem
		p.Classes = slices.Clone(p.Classes)
		for n := range min(len(p.Classes), len(a.Classes)) {
			if jobs := &p.Classes[n].Jobs; belowPromise(a.Classes[n]) {
				least := a.Classes[n].Arrivals.Below.Least * float64(c.carried.parts[n]) * (1 - workSlack)
				if p.Options.Integrality != capacity.Relaxed {
					least = math.Ceil(least)
				}
				jobs.Min = max(0, min(jobs.Min, least))
			}
		}
	}
	return c.span(&less)
}

// promise checks in which times a class has fewer jobs at once than are promised. Where the answer does not tell classes apart,
// this is checked of the only class, and otherwise held within the times in which so many jobs can be missing.
func (c *checking) promise(at string, h *horizon.Horizon, hours *calendar, a *horizon.Answer, class int) {
	of := a.Classes[class].Arrivals
	if of == nil {
		return
	}
	promised, missing, least := h.Problem.Classes[class].Jobs.Min, new(big.Rat), math.Inf(1)
	every := h.Problem.Classes[class].Jobs.All
	if every {
		promised = math.Inf(1)
	}
	var first time.Time
	told := toldApart(a)
	for i := range a.Periods {
		row := &a.Periods[i]
		admitted, refused := row.Admitted, row.Refused
		if n := row.Situation; len(a.Classes) > 1 && n >= 0 && n < len(a.Situations) && class < len(a.Situations[n].Classes) {
			admitted, refused = a.Situations[n].Classes[class].Admitted, a.Situations[n].Classes[class].Refused
		}
		all := admitted + refused
		admitted = c.carried.planned(&h.Problem, class, all, admitted)
		if due := min(promised, c.carried.planned(&h.Problem, class, all, all)); row.Status == capacity.InfeasibleStatus || admitted >= due-1e-9*(1+due) {
			continue
		}
		if missing.Sign() == 0 {
			first = row.Start
		}
		missing, least = add(missing, number(row.Hours)), min(least, admitted)
	}
	below := of.Below
	switch {
	case every && (below != nil || told && missing.Sign() > 0):
		c.wrong(at, "is said, or jobs are refused, and all of them are promised")
	case told && (below != nil) != (missing.Sign() > 0):
		c.wrong(at, "is said, or left out, and in %s hours fewer than %v jobs run", trimmed(missing), promised)
	case below == nil:
	case told:
		c.differ(at, tree(marshalled(below)), map[string]any{"hours": about(missing), "first": first.UTC(), "promised": exact(number(promised)), "least": alikeTo(least)})
	default:
		begins, most := false, new(big.Rat)
		for _, x := range hours.cells {
			due := min(promised, hours.h.Periods[x.period].Jobs[class]/float64(c.carried.parts[class]))
			if !x.start.Before(below.First) && due > below.Least {
				begins = begins || x.start.Equal(below.First)
				most = add(most, big.NewRat(x.seconds, 3600))
			}
		}
		if below.Promised != promised || below.Least < 0 || !begins || below.Hours <= 0 || below.Hours > float(most)*(1+1e-9) || a.Classes[class].RefusedHours <= 0 {
			c.wrong(at, "is %+v, with %v jobs promised, %v job-hours refused, and %s hours in which fewer can run", *below, promised, a.Classes[class].RefusedHours, trimmed(most))
		}
	}
}

// toldApart reports whether an answer tells how many jobs of each class run in its periods.
func toldApart(a *horizon.Answer) bool {
	return a.Detail == horizon.DetailClasses || a.Detail == horizon.DetailPeriods && len(a.Classes) == 1
}

// arrivedIn lists what arrives of a class.
func arrivedIn(h *horizon.Horizon, class int) (arrived []proof.Arrived) {
	for _, periods := range [][]horizon.HorizonPeriod{h.Earlier, h.Periods} {
		for k := range periods {
			if p := &periods[k]; class < len(p.Arrivals) && p.Arrivals[class] > 0 {
				arrived = append(arrived, proof.Arrived{From: p.Start.Unix(), Until: p.Start.Unix() + lengthOf(p), Jobs: p.Arrivals[class]})
			}
		}
	}
	return arrived
}

// workSlack is the part of the work that may be missing through rounding.
const workSlack = 1e-6

// workOf returns the VM-hours of the admitted work in some times. The tasks are added up here anew where there is one kind of
// VM and a profile; the lowest bound and calibrations change the tasks.
func workOf(p *capacity.Problem, class int, arrived []proof.Arrived, held []proof.Held) (hours float64, short []proof.Shortage) {
	hours, short = proof.Work(p, class, arrived, held)
	perJob, known := tasksOf(&p.Classes[class], &p.Options)
	if !known || hours == 0 || len(p.Supply.VMTypes) > 0 {
		return hours, short
	}
	times := make([][2]int64, len(held))
	for i, x := range held {
		times[i] = [2]int64{x.From, x.Until}
	}
	hours = 0
	for i, jobs := range proof.AtOnce(p, class, arrived, times) {
		hours += max(0, jobs-held[i].Refused) * perJob / proof.HeldSeconds(p, class) * float64(held[i].Until-held[i].From) / 3600
	}
	return hours, short
}

// tasksOf returns the VM-seconds of all tasks of a job with a profile, at full use.
func tasksOf(c *capacity.Class, o *capacity.Options) (seconds float64, known bool) {
	p := c.Profile
	if p == nil || o.Bound == capacity.LowerBound || o.Bound == capacity.CalibratedBound {
		return 0, false
	}
	seconds = float64(p.MapTasks) * p.MapAvgSeconds / float64(c.SlotsPerVM.Map)
	if p.ReduceTasks > 0 {
		seconds += float64(p.ReduceTasks) * (p.ShuffleAvgSeconds + p.ReduceAvgSeconds) / float64(c.SlotsPerVM.Reduce)
	}
	for _, s := range p.Stages {
		seconds += float64(s.Tasks) * s.AvgSeconds / float64(c.SlotsPerVM.Map)
	}
	return seconds, true
}

// enough checks that the VM-hours of each class, and of all, are no fewer than its work takes at full use.
func (c *checking) enough(at string, h *horizon.Horizon, a *horizon.Answer) {
	start, end := ends(h)
	all, shares := 0.0, 0.0
	for i := range a.Classes {
		x := &a.Classes[i]
		shares += x.AskedVMHours
		arrived := []proof.Arrived{}
		if i < len(h.Problem.Classes) {
			arrived = arrivedIn(h, i)
		}
		switch of := x.Arrivals; {
		case (of == nil) != (len(arrived) == 0):
			c.wrong(fmt.Sprintf("%s/classes/%d/arrivals", at, i), "stand where nothing arrives, or are missing")
		case of != nil:
			until := end.Unix() // or once nothing runs any more, because a sum over much longer is off by more
			if last := arrived[len(arrived)-1].Until + int64(math.Ceil(proof.HeldSeconds(&h.Problem, i))); last > start.Unix() {
				until = min(until, last)
			}
			work, _ := workOf(&h.Problem, i, arrived, []proof.Held{{From: start.Unix(), Until: until}})
			whole := a.Complete && a.Total.InfeasibleHours == 0
			if of.WorkVMHours < 0 || of.WorkVMHours > work+1e-9*(1+work) || whole && x.RefusedHours == 0 && of.WorkVMHours < work-1e-9*(1+work) {
				c.wrong(fmt.Sprintf("%s/classes/%d/arrivals/work_vm_hours", at, i), "is %v, and what has arrived takes %v", of.WorkVMHours, work)
			}
			if a.Complete {
				c.differ(fmt.Sprintf("%s/classes/%d/arrivals", at, i), tree(marshalled(of)), c.carried.arrivalsOf(h, i, arrived, x))
			}
			if all += of.WorkVMHours; !tooFewVMs(a) && x.AskedVMHours < of.WorkVMHours-workSlack*(1+of.WorkVMHours) {
				c.wrong(fmt.Sprintf("%s/classes/%d/asked_vm_hours", at, i), "is %v, and what has arrived takes %v", x.AskedVMHours, of.WorkVMHours)
			}
		}
	}
	if shares > a.Total.VMHours*(1+1e-9)+1e-6*(1+a.Total.Hours) {
		c.wrong(at+"/total/vm_hours", "is %v, and the classes have %v of them", a.Total.VMHours, shares)
	}
	if !tooFewVMs(a) && a.Total.VMHours < all-workSlack*(1+all) {
		c.wrong(at+"/total/vm_hours", "is %v, and what has arrived takes %v", a.Total.VMHours, all)
	}
}

// arrivalsOf are the figures of what arrives of a class: in the horizon, and the job-hours that begin or end outside of it.
func (x *carrying) arrivalsOf(h *horizon.Horizon, class int, arrived []proof.Arrived, of *horizon.ClassTotal) map[string]any {
	start, end := ends(h)
	from, until := start.Unix(), end.Unix()
	jobs, earlier := 0.0, []proof.Arrived{}
	for _, s := range arrived {
		if s.From >= from {
			jobs += s.Jobs
		} else {
			earlier = append(earlier, s)
		}
	}
	over := func(spans []proof.Arrived, from, until int64) float64 {
		return proof.AtOnce(&h.Problem, class, spans, [][2]int64{{from, until}})[0] * float64(until-from) / 3600 * x.lasting[class]
	}
	seconds := proof.HeldSeconds(&h.Problem, class)
	before, after := over(earlier, from, until), over(arrived, until, until+int64(math.Ceil(seconds)))
	vms := 0.0
	if of.AdmittedHours > 0 {
		vms = after * of.AskedVMHours / of.AdmittedHours
	}
	return map[string]any{"jobs": alikeTo(jobs), "run_s": alikeTo(seconds), "earlier_job_hours": nearTo(before, before+after), "later_job_hours": nearTo(after, before+after),
		"later_vm_hours": nearTo(vms, vms)}
}

// nearTo is a sum and difference of numbers as large as another, in floating point.
func nearTo(x, of float64) figure { return figure{number(x), number(1e-9 + 1e-7*of)} }

// spanned checks the hours of all, of months and of days, and their bills for VMs on demand, which lie between the lowest and
// the highest price.
func (c *checking) spanned(at string, k *calendar, a *horizon.Answer) {
	total, months, days := newSpan(k.cells[0].start), []*span{}, []*span{}
	lowest, highest := map[*span]*big.Rat{}, map[*span]*big.Rat{}
	for _, x := range k.cells {
		for _, t := range []*span{total, of(&months, x.start, 1), of(&days, x.start, x.start.Day())} {
			t.hours = add(t.hours, big.NewRat(x.seconds, 3600))
			for _, v := range k.cases[x.situation].problem.Supply.Types() {
				price := v.OnDemand.Price.Rat()
				if lowest[t] == nil || price.Cmp(lowest[t]) < 0 {
					lowest[t] = price
				}
				if highest[t] == nil || price.Cmp(highest[t]) > 0 {
					highest[t] = price
				}
			}
		}
	}
	spot := slices.ContainsFunc(k.h.Problem.Supply.Types(), func(v capacity.VMTypeSupply) bool { return v.Spot != nil })
	check := func(at string, t *span, stated *horizon.SpanTotal) {
		if hours := about(t.hours); a.Complete && abs(sub(number(stated.Hours), hours.is)).Cmp(hours.off) > 0 || !stated.Start.Equal(t.start) {
			c.wrong(at, "begins at %s and has %v hours, and %s hours from %s follow from the question",
				stated.Start.Format(time.RFC3339), stated.Hours, trimmed(t.hours), t.start.Format(time.RFC3339))
		}
		rest := stated.VMHours - stated.OnDemandHours - stated.ReservedHours
		if off := 1e-9 * (1 + stated.VMHours); rest < -off || !spot && rest > off {
			c.wrong(at+"/vm_hours", "is %v, and on demand and of contracts are %v and %v", stated.VMHours, stated.OnDemandHours, stated.ReservedHours)
		}
		cost, hours := stated.Cost.OnDemand.Rat(), number(stated.OnDemandHours)
		off := add(big.NewRat(1, 1e6), mul(big.NewRat(1, 1e9), cost))
		if cost.Cmp(sub(mul(lowest[t], hours), off)) < 0 || cost.Cmp(add(mul(highest[t], hours), off)) > 0 {
			c.wrong(at+"/cost/on_demand", "is %s, and %s VM-hours cost %s to %s", trimmed(cost), trimmed(hours), trimmed(mul(lowest[t], hours)), trimmed(mul(highest[t], hours)))
		}
	}
	check(at+"/total", total, &a.Total)
	for _, list := range []struct {
		name   string
		of     []*span
		stated []horizon.SpanTotal
	}{{"months", months, a.Months}, {"days", days, a.Days}} {
		if len(list.stated) > len(list.of) || a.Complete && len(list.stated) < len(list.of) {
			c.wrong(at+"/"+list.name, "are %d, and there are %d", len(list.stated), len(list.of))
			continue
		}
		for i := range list.stated {
			check(fmt.Sprintf("%s/%s/%d", at, list.name, i), list.of[i], &list.stated[i])
		}
	}
}

// stated makes the answer again from the counts of its periods, the jobs at once and the prices.
func (c *checking) stated(at string, k *calendar, a *horizon.Answer, got any, inOrder bool) {
	rows := c.rowsOf(at, k, a, inOrder)
	if rows == nil {
		return
	}
	plans := c.settle(at, rows, *a)
	if plans == nil {
		return
	}
	want := monthsOf(rows, a, plans)
	if inOrder || a.Detail == horizon.DetailPeriods && slices.ContainsFunc(a.Periods, func(p horizon.PeriodAnswer) bool { return p.Gap != 0 }) {
		delete(want, "gap") // what other plans cost does not stand in the answer
	}
	allowed := mul(number(k.h.Problem.Options.Gap), running(&a.Total.Cost))
	if tooFewVMs(a) && a.Status == capacity.InfeasibleStatus {
		delete(want, "infeasible")
		delete(want, "status")
	} else if off := big.NewRat(2, 1e9); inOrder && want["status"] == string(capacity.Optimal) && a.Gap.Rat().Cmp(add(allowed, off)) > 0 {
		want["status"] = string(capacity.Feasible) // refused jobs stay away, which may cost more than each time's own plan
	}
	c.differ(at, got, want)
}

// tooFewVMs reports whether an answer says of itself that a class has too few VMs somewhere: that is listed beside the hours
// without a plan.
func tooFewVMs(a *horizon.Answer) bool {
	hours := 0.0
	for i := range a.Infeasible {
		hours += a.Infeasible[i].Hours
	}
	return hours > a.Total.InfeasibleHours+1e-9
}

// rowsOf returns the calendar that the periods of an answer make. Prices and contracts are the question's, the jobs at once
// are the answer's. It is nil where the periods do not fit the question.
func (c *checking) rowsOf(at string, k *calendar, a *horizon.Answer, inOrder bool) *calendar {
	rows := &calendar{h: k.h, contracts: k.contracts, own: k.own, most: k.most, rows: len(a.Periods)}
	var of []int // the situation of the question's prices and contracts, by that of the answer
	times, end, next, edges := make([][2]int64, len(a.Periods)), k.cells[0].start, 0, k.edges()
	for i := range a.Periods {
		row, where := &a.Periods[i], fmt.Sprintf("%s/periods/%d", at, i)
		from := row.Start.Unix()
		until := from + int64(math.Round(row.Hours*3600))
		if !row.Start.Equal(end) || until <= from || next == len(k.cells) {
			c.wrong(where+"/start", "is %s, and the time before ends at %s", row.Start.Format(time.RFC3339), end.UTC().Format(time.RFC3339))
			return nil
		}
		end = time.Unix(until, 0)
		x := k.cells[next]
		if n := row.Situation; n < 0 || n > len(of) || n < len(of) && of[n] != x.situation {
			c.wrong(where+"/situation", "is %d, which is none, or has other prices or contracts", n)
			return nil
		} else if n == len(of) {
			of = append(of, x.situation)
			rows.cases = append(rows.cases, k.cases[x.situation])
		}
		for ; next < len(k.cells) && k.cells[next].start.Unix() < until; next++ {
			y := k.cells[next]
			if y.period != x.period || y.situation != x.situation {
				c.wrong(where+"/hours", "is %v, and other prices, contracts or arrivals begin before", row.Hours)
				return nil
			}
			begin, over := max(from, y.start.Unix()), min(until, y.start.Unix()+y.seconds)
			rows.cells = append(rows.cells, cell{time.Unix(begin, 0).UTC(), over - begin, y.period, i, row.Situation})
			if until < y.start.Unix()+y.seconds {
				break
			}
		}
		times[i] = steadyAround(&k.h.Periods[x.period], from, edges)
	}
	if len(rows.cells) == 0 || a.Complete != (next == len(k.cells)) {
		c.wrong(at+"/periods", "end at %s, and the horizon at %s", end.UTC().Format(time.RFC3339), k.h.End().UTC().Format(time.RFC3339))
		return nil
	}
	c.atOnce(at, k, a, rows, times, inOrder)
	return rows
}

// atOnce gives the situations the jobs that run at once on average, which follow from the arrivals. Promised ones are as large
// a part of them as of the jobs that VMs are held for.
func (c *checking) atOnce(at string, k *calendar, a *horizon.Answer, rows *calendar, times [][2]int64, inOrder bool) {
	problem := &k.h.Problem
	running := make([][]float64, len(problem.Classes))
	for n := range running {
		running[n] = proof.AtOnce(problem, n, arrivedIn(k.h, n), times)
	}
	known := make([]bool, len(rows.cases))
	for i, x := range rows.cells {
		if i > 0 && rows.cells[i-1].row == x.row {
			continue
		}
		row, in := &a.Periods[x.row], &k.h.Periods[x.period]
		jobs, sum := make([]float64, len(running)), 0.0
		for n := range jobs {
			if jobs[n] = running[n][x.row]; in.Jobs != nil {
				jobs[n] = max(jobs[n], in.Jobs[n])
			} else if in.Arrivals == nil {
				jobs[n] = max(jobs[n], k.most[n])
			}
			jobs[n] *= c.carried.lasting[n]
			sum += jobs[n]
		}
		all, none := row.Admitted+row.Refused, row.Status == capacity.InfeasibleStatus
		if off := workSlack * (1 + sum); !none && math.Abs(all-sum) > off {
			c.wrong(fmt.Sprintf("%s/periods/%d", at, x.row), "has %v jobs at once, and %v follow from the arrivals", all, sum)
		}
		if known[x.situation] {
			continue
		}
		known[x.situation] = true
		p := &rows.cases[x.situation].problem
		p.Classes = slices.Clone(p.Classes)
		for n := range p.Classes {
			most, least := jobs[n], problem.Classes[n].Jobs.Min
			switch {
			case none: // conflicts are told of whole jobs
				most /= c.carried.lasting[n]
				most, least = math.Ceil(most*(1-1e-9)), math.Ceil(min(least, most)*(1-1e-9))
			case a.Detail == horizon.DetailClasses:
				if row.Situation < len(a.Situations) && n < len(a.Situations[row.Situation].Classes) {
					of := &a.Situations[row.Situation].Classes[n]
					most = of.Admitted + of.Refused
				}
				if off := workSlack * (1 + jobs[n]); most < jobs[n]-off || most > jobs[n]+off {
					c.wrong(fmt.Sprintf("%s/situations/%d/classes/%d", at, row.Situation, n), "has %v jobs at once, and %v follow from the arrivals", most, jobs[n])
				}
			case sum > 0:
				most *= all / sum // as near as the answer says
			}
			if held := c.carried.planned(problem, n, most, most); !none && held > 0 {
				least *= most / held
			}
			every := problem.Classes[n].Jobs.All
			if p.Classes[n].Jobs = (capacity.JobRange{Min: min(least, most), Max: most, All: every}); every {
				p.Classes[n].Jobs.Min = most
			} else if inOrder {
				p.Classes[n].Jobs.Min, rows.cases[x.situation].unpromised = 0, true
			}
		}
	}
}

// work checks that no work of what arrives is lost: the VMs of a class do what has arrived and was admitted.
func (c *checking) work(at string, h *horizon.Horizon, a *horizon.Answer) {
	for i := range h.Problem.Classes {
		arrived := arrivedIn(h, i)
		var held []proof.Held
		for k := range a.Periods {
			row := &a.Periods[k]
			if row.Situation < 0 || row.Situation >= len(a.Situations) {
				c.wrong(fmt.Sprintf("%s/periods/%d/situation", at, k), "is %d, and there are %d", row.Situation, len(a.Situations))
				return
			}
			classes := a.Situations[row.Situation].Classes
			if i < len(classes) && len(classes[i].VMs) != len(h.Problem.Supply.Types()) {
				c.wrong(fmt.Sprintf("%s/situations/%d/classes/%d/vms", at, row.Situation, i), "are of %d types of VMs, and there are %d", len(classes[i].VMs), len(h.Problem.Supply.Types()))
				return
			}
			if i < len(classes) && row.Status != capacity.InfeasibleStatus {
				from := row.Start.Unix()
				held = append(held, proof.Held{From: from, Until: from + int64(math.Round(row.Hours*3600)), VMs: classes[i].VMs, Refused: classes[i].Refused / c.carried.lasting[i]})
			}
		}
		if len(arrived) == 0 || i >= len(a.Classes) {
			continue
		}
		work, short := workOf(&h.Problem, i, arrived, held)
		for _, s := range short {
			if a.Status != capacity.InfeasibleStatus { // otherwise it is said
				c.wrong(fmt.Sprintf("%s/classes/%d", at, i), "has VMs for %s VM-hours of work from %s on, and what has arrived takes %s",
					trimmed(number(s.Have)), time.Unix(s.From, 0).UTC().Format(time.RFC3339), trimmed(number(s.Needed)))
			}
		}
		for n := range held { // what is refused is taken off all that arrives
			held[n].Refused = 0
		}
		all, _ := workOf(&h.Problem, i, arrived, held)
		if of := a.Classes[i].Arrivals; of == nil || math.Abs(of.WorkVMHours-work) > 1e-9*(1+all) {
			c.wrong(fmt.Sprintf("%s/classes/%d/arrivals", at, i), "are missing, or do not take %v VM-hours", work)
		}
	}
}
