package recheck

import (
	"fmt"
	"math"
	"math/big"
	"slices"
	"time"

	"headroom/internal/ask/horizon"
	"headroom/internal/core/capacity"
	"headroom/internal/core/proof"
)

// unfollowed checks a horizon in which jobs arrive. Its VMs are held against the work that arrived, and its sums against
// the counts and prices of its periods. Whether other plans are cheaper is left open.
func (c *checking) unfollowed(at string, h *horizon.Horizon, a *horizon.Answer, got any) {
	k := cut(h)
	c.closed(at, k, a, got)
	c.enough(at, h, a)
	c.spanned(at, k, a)
	if a.Detail != horizon.DetailSummary {
		c.stated(at, k, a, got)
	} else if len(a.Periods)+len(a.Situations) > 0 {
		c.wrong(at+"/periods", "stand in a summary")
	}
	if a.Detail == horizon.DetailClasses {
		c.work(at, h, a)
	}
	none := a.Total.InfeasibleHours > 0 || tooFewVMs(a)
	if !slices.Contains(statuses, a.Status) || none != (a.Status == capacity.InfeasibleStatus) || a.Status == capacity.Feasible && a.Gap.IsZero() {
		c.wrong(at+"/status", "is %q, with a gap of %s and %v hours without a plan", a.Status, a.Gap, a.Total.InfeasibleHours)
	}
	c.end(SumsCheck, "The sums follow from the counts, prices and times, and the VMs do the work that has arrived.")
	c.doubt("", "The periods give arrivals: whether other plans of the jobs at once are cheaper is not looked at")
	c.end(PlansCheck, "")
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

// enough checks that the VM-hours of each class, and of all, are no fewer than its work takes at full use.
func (c *checking) enough(at string, h *horizon.Horizon, a *horizon.Answer) {
	start, end := ends(h)
	all := 0.0
	for i := range a.Classes {
		x := &a.Classes[i]
		arrived := []proof.Arrived{}
		if i < len(h.Problem.Classes) {
			arrived = arrivedIn(h, i)
		}
		switch of := x.Arrivals; {
		case (of == nil) != (len(arrived) == 0):
			c.wrong(fmt.Sprintf("%s/classes/%d/arrivals", at, i), "stand where nothing arrives, or are missing")
		case of != nil:
			work, _ := proof.Work(&h.Problem, i, arrived, []proof.Held{{From: start.Unix(), Until: end.Unix()}})
			whole := a.Complete && a.Total.InfeasibleHours == 0
			if of.WorkVMHours < 0 || of.WorkVMHours > work+1e-9*(1+work) || whole && x.RefusedHours == 0 && of.WorkVMHours < work-1e-9*(1+work) {
				c.wrong(fmt.Sprintf("%s/classes/%d/arrivals/work_vm_hours", at, i), "is %v, and what has arrived takes %v", of.WorkVMHours, work)
			}
			if a.Complete {
				c.differ(fmt.Sprintf("%s/classes/%d/arrivals", at, i), tree(marshalled(of)), arrivalsOf(h, i, arrived, x))
			}
			if all += of.WorkVMHours; !tooFewVMs(a) && x.VMHours < of.WorkVMHours-workSlack*(1+of.WorkVMHours) {
				c.wrong(fmt.Sprintf("%s/classes/%d/vm_hours", at, i), "is %v, and what has arrived takes %v", x.VMHours, of.WorkVMHours)
			}
		}
	}
	if !tooFewVMs(a) && a.Total.VMHours < all-workSlack*(1+all) {
		c.wrong(at+"/total/vm_hours", "is %v, and what has arrived takes %v", a.Total.VMHours, all)
	}
}

// arrivalsOf are the figures of what arrives of a class: in the horizon, and the job-hours that begin or end outside of it.
func arrivalsOf(h *horizon.Horizon, class int, arrived []proof.Arrived, x *horizon.ClassTotal) map[string]any {
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
	over := func(of []proof.Arrived, from, until int64) float64 {
		return proof.AtOnce(&h.Problem, class, of, [][2]int64{{from, until}})[0] * float64(until-from) / 3600
	}
	seconds := proof.HeldSeconds(&h.Problem, class)
	before, after := over(earlier, from, until), over(arrived, until, until+int64(math.Ceil(seconds)))
	vms := 0.0
	if x.AdmittedHours > 0 {
		vms = after * x.VMHours / x.AdmittedHours
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
func (c *checking) stated(at string, k *calendar, a *horizon.Answer, got any) {
	rows := c.rowsOf(at, k, a)
	if rows == nil {
		return
	}
	plans := c.settle(at, rows, *a)
	if plans == nil {
		return
	}
	want := monthsOf(rows, a, plans)
	if refuses(a) || a.Detail == horizon.DetailPeriods && slices.ContainsFunc(a.Periods, func(p horizon.PeriodAnswer) bool { return p.Gap != 0 }) {
		delete(want, "gap") // what other plans cost does not stand in the answer
	}
	allowed := mul(number(k.h.Problem.Options.Gap), a.Total.Cost.Total.Rat())
	if tooFewVMs(a) && a.Status == capacity.InfeasibleStatus {
		delete(want, "infeasible")
		delete(want, "status")
	} else if off := big.NewRat(2, 1e9); refuses(a) && want["status"] == string(capacity.Optimal) && a.Gap.Rat().Cmp(add(allowed, off)) > 0 {
		want["status"] = string(capacity.Feasible) // refused jobs stay away, which may cost more than each time's own plan
	}
	c.differ(at, got, want)
}

// refuses reports whether some job is refused. The times are then planned in their order, and what was refused stays away.
func refuses(a *horizon.Answer) bool {
	return slices.ContainsFunc(a.Periods, func(p horizon.PeriodAnswer) bool { return p.Refused > 0 })
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
func (c *checking) rowsOf(at string, k *calendar, a *horizon.Answer) *calendar {
	rows := &calendar{h: k.h, contracts: k.contracts, own: k.own, most: k.most, rows: len(a.Periods)}
	var of []int // the situation of the question's prices and contracts, by that of the answer
	times, end, next := make([][2]int64, len(a.Periods)), k.cells[0].start, 0
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
		times[i] = k.around(&k.h.Periods[x.period], from)
	}
	if len(rows.cells) == 0 || a.Complete != (next == len(k.cells)) {
		c.wrong(at+"/periods", "end at %s, and the horizon at %s", end.UTC().Format(time.RFC3339), k.h.End().UTC().Format(time.RFC3339))
		return nil
	}
	c.atOnce(at, k, a, rows, times)
	return rows
}

// around is the time around a moment for which the jobs at once are counted: of an hour what lies in the period, without that
// before or after a contract begins or ends.
func (k *calendar) around(p *horizon.HorizonPeriod, at int64) [2]int64 {
	hour := at - at%3600
	from, until := max(p.Start.Unix(), hour), min(p.Start.Unix()+lengthOf(p), hour+3600)
	for _, c := range k.contracts[k.own:] {
		for _, edge := range []int64{c.from.Unix(), c.until.Unix()} {
			if edge <= at {
				from = max(from, edge)
			} else {
				until = min(until, edge)
			}
		}
	}
	return [2]int64{from, until}
}

// atOnce gives the situations the jobs that run at once. Those that the answer states are rounded up from those that follow
// from the arrivals, by less than a job of each class.
func (c *checking) atOnce(at string, k *calendar, a *horizon.Answer, rows *calendar, times [][2]int64) {
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
		jobs, sum, kinds := make([]float64, len(running)), 0.0, 0.0
		for n := range jobs {
			if jobs[n] = running[n][x.row]; in.Jobs != nil {
				jobs[n] = max(jobs[n], in.Jobs[n])
			} else if in.Arrivals == nil {
				jobs[n] = max(jobs[n], k.most[n])
			}
			if sum += jobs[n]; jobs[n] > 0 {
				kinds++
			}
		}
		if problem.Options.Integrality == capacity.Relaxed {
			kinds = 0
		}
		all, none := row.Admitted+row.Refused, row.Status == capacity.InfeasibleStatus
		if off := workSlack * (1 + sum); !none && (all < sum-off || all > sum+kinds+off) {
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
				most, least = math.Ceil(most*(1-1e-9)), math.Ceil(min(least, most)*(1-1e-9))
			case a.Detail == horizon.DetailClasses:
				if row.Situation < len(a.Situations) && n < len(a.Situations[row.Situation].Classes) {
					of := &a.Situations[row.Situation].Classes[n]
					most = of.Admitted + of.Refused
				}
				if off := workSlack * (1 + jobs[n]); most < jobs[n]-off || most > jobs[n]+min(1, kinds)+off {
					c.wrong(fmt.Sprintf("%s/situations/%d/classes/%d", at, row.Situation, n), "has %v jobs at once, and %v follow from the arrivals", most, jobs[n])
				}
			case sum > 0:
				most *= all / sum // which class's are rounded up does not stand there
			}
			if p.Classes[n].Jobs = (capacity.JobRange{Min: min(least, most), Max: most}); refuses(a) {
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
			if classes := a.Situations[row.Situation].Classes; i < len(classes) && row.Status != capacity.InfeasibleStatus {
				from := row.Start.Unix()
				held = append(held, proof.Held{From: from, Until: from + int64(math.Round(row.Hours*3600)), VMs: classes[i].VMs, Refused: classes[i].Refused})
			}
		}
		if len(arrived) == 0 || i >= len(a.Classes) {
			continue
		}
		work, short := proof.Work(&h.Problem, i, arrived, held)
		for _, s := range short {
			if a.Status != capacity.InfeasibleStatus { // otherwise it is said
				c.wrong(fmt.Sprintf("%s/classes/%d", at, i), "has VMs for %s VM-hours of work from %s on, and what has arrived takes %s",
					trimmed(number(s.Have)), time.Unix(s.From, 0).UTC().Format(time.RFC3339), trimmed(number(s.Needed)))
			}
		}
		if of := a.Classes[i].Arrivals; of == nil || math.Abs(of.WorkVMHours-work) > 1e-9*(1+work) {
			c.wrong(fmt.Sprintf("%s/classes/%d/arrivals", at, i), "are missing, or do not take %v VM-hours", work)
		}
	}
}
