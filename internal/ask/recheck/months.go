package recheck

import (
	"fmt"
	"math/big"
	"slices"
	"strings"
	"time"

	"example.org/headroom/internal/ask/horizon"
	"example.org/headroom/internal/ask/recheck/timetables"
	"example.org/headroom/internal/ask/timetable"
	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/money"
	"example.org/headroom/internal/core/words"
)

var monthsNotChecked = []string{
	"the classes' shares of the VMs, but for their sums",
}

// months checks the answer about a horizon.
func (c *checking) months(q horizon.HorizonQuestion, a horizon.Answer, got any) {
	if c.NotChecked = monthsNotChecked; a.Detail != horizon.DetailClasses {
		c.NotChecked = append([]string{"the VM-hours that classes ask for"}, monthsNotChecked...)
	}
	if a.Detail == horizon.DetailSummary {
		c.NotChecked = append([]string{
			"the counts of VMs and jobs and the cost of a span, but for its sums and for the cost of the cheapest plans",
			"how much less than the gap the answer may be off"}, c.NotChecked...)
	}
	if a.AsItIs != nil {
		c.NotChecked = append([]string{"of the time as it is, the counts of VMs and jobs, but for their sums and the cost of the cheapest plans"}, c.NotChecked...)
	}
	if !toldApart(&a) && slices.ContainsFunc(a.Classes, belowPromise) {
		c.NotChecked = append([]string{"in which hours fewer jobs run than are promised, but for where they can"}, c.NotChecked...)
	}
	if a.WithWaiting != nil {
		c.NotChecked = append([]string{"the schedule behind with_waiting, which headroom whatif schedule tells of the same time, to be verified"}, c.NotChecked...)
		c.waiting(q.Start(), a.WithWaiting)
		c.waitingCompared(&q, a.WithWaiting)
	}
	h := q.Horizon
	if q.Scenario != nil {
		var ok bool
		if h, ok = laid(q.Horizon, q.Scenario.Changes); !ok {
			c.wrong("/scenario", "cannot be laid over all of the time, and there is an answer")
			c.end(DocumentCheck, "")
			return
		}
	}
	c.spans("", &h, &a, got)
	c.beside(&q, &a, got)
	c.toldMonths("", &h, &a, got)
	c.unwarned("", a.Warnings)
	c.end(SentencesCheck, "The explanation and %d facts say the figures of the answer.", len(a.Facts))
}

// spans checks the sums and plans of an answer about months that stands somewhere in a document.
func (c *checking) spans(at string, h *horizon.Horizon, a *horizon.Answer, got any) {
	if c.carried = newCarrying(h, nil); c.carried != nil {
		hours := c.carried.inJobs(*h, 1)
		c.arriving(at, h, &hours, a, got, true)
	} else {
		c.horizon(at, h, *a, got)
	}
	c.inWholeJobs(at, h, a)
}

// unwarned checks that an answer warns of nothing. Warnings tell what a cluster's data lack and what was left out of it; a question that
// is checked holds all its data itself.
func (c *checking) unwarned(at string, warnings []capacity.Warning) {
	for i, w := range warnings {
		c.wrong(fmt.Sprintf("%s/warnings/%d", at, i), "is %.20q, and the question calls for no warning: %.120q", w.Code, w.Detail)
	}
}

// carriedOver reports whether a horizon tells what arrives, so that what runs at once follows from what was before.
func carriedOver(h *horizon.Horizon) bool {
	return len(h.Earlier) > 0 || slices.ContainsFunc(h.Periods, func(p horizon.HorizonPeriod) bool { return p.Arrivals != nil })
}

var statuses = []capacity.Status{capacity.Optimal, capacity.Feasible, capacity.InfeasibleStatus}

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
	c.differ(at, got, monthsOf(k, &a, plans))
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
		want := [len(lines)]figure{}
		for i, line := range lines {
			if want[i] = nothing(); parsed(member(cost, line)) != nil {
				want[i] = exact(parsed(member(cost, line)))
			}
		}
		all := costs(want)
		c.differ(at+"/cost", cost, map[string]any{"bill": all["bill"], "total": all["total"]})
	}
	spanned := func(at string, x any, parts []any) {
		own(at, x)
		adds(at, x, parts, "hours", "infeasible_hours", "hours_without_forecast", "bill_without_forecast", "vm_hours", "on_demand_vm_hours", "reserved_vm_hours", "reserved_idle_vm_hours",
			"admitted_job_hours", "refused_job_hours")
		inside := []any{}
		for _, p := range parts {
			inside = append(inside, member(p, "cost"))
		}
		adds(at+"/cost", member(x, "cost"), inside, append(lines[:], "bill", "total")...)
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
	for i := range a.Days {
		if start := a.Days[i].Start; i < len(days) && a.Complete {
			c.differ(fmt.Sprintf("%s/days/%d/cost", at, i), member(days[i], "cost"), map[string]any{"upfront": exact(k.due(start, start.AddDate(0, 0, 1)))})
		}
	}
	c.dearest(at, a)
	adds(at, got, list(got, "contracts"), "upfront")
	adds(at+"/total/cost", member(total, "cost"), list(got, "contracts"), "upfront")
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
		of := &k.h.Problem.Classes[i]
		one := map[string]any{"name": of.Name}
		if i < len(a.Classes) {
			value := mul(mul(of.Penalty.Rat(), number(a.Classes[i].RefusedHours)), big.NewRat(3600, k.h.Problem.PeriodSeconds))
			one["penalties"] = figure{value, add(big.NewRat(int64(len(k.cells)), 1e9), mul(big.NewRat(1, 1e8), value))}
		}
		classes = append(classes, one)
	}
	c.differ(at, got, map[string]any{"classes": classes, "currency": k.h.Problem.Currency})
	if !slices.Contains([]horizon.Detail{horizon.DetailSummary, horizon.DetailPeriods, horizon.DetailClasses}, a.Detail) {
		c.wrong(at+"/detail", "is %q, which is none", a.Detail)
	}
}

// dearest checks which month is named as the dearest of those with plans alone, and how many have its bill. Where all have the
// same, none is named.
func (c *checking) dearest(at string, a *horizon.Answer) {
	bills := map[string][]string{} // the months of each bill
	most := new(big.Rat)
	for i := range a.Months {
		if a.Months[i].InfeasibleHours > 0 { // its bill is of a part
			continue
		}
		bill := a.Months[i].Cost.Bill.Rat()
		bills[bill.RatString()] = append(bills[bill.RatString()], a.Months[i].Start.UTC().Format("2006-01"))
		if bill.Cmp(most) > 0 {
			most = bill
		}
	}
	want := ""
	if len(bills) > 1 {
		of := bills[most.RatString()]
		want = fmt.Sprintf("%s %s %d", of[0], most.RatString(), len(of))
	}
	said := ""
	for i := range a.Facts {
		if f := &a.Facts[i]; f.Kind == "dearest_month" {
			bill := parsed(words.FigureOf(f, "bill"))
			if bill == nil {
				bill = new(big.Rat)
			}
			said += fmt.Sprintf("%s %s %s", f.Subject, bill.RatString(), words.FigureOf(f, "months"))
		}
	}
	if said != want {
		c.wrong(at+"/facts", "say of the dearest month %q, and by the bills it is %q", said, want)
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

// running returns a cost without upfront payments, which no plan can change.
func running(c *horizon.SpanCost) *big.Rat { return sub(c.Total.Rat(), c.Upfront.Rat()) }

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
			} else if k.h.Periods[x.period].Unforecast {
				t.unforecast = add(t.unforecast, big.NewRat(x.seconds, 3600))
			}
		}
	}
	for i, seconds := 0, k.seconds(len(k.cells)); i < len(k.contracts); i++ {
		one := map[string]any{"name": k.contracts[i].Name, "vms": exact(whole(k.contracts[i].VMs)), "upfront": exact(k.share(i, seconds))}
		if k.contracts[i].vmType != "" {
			one["vm_type"] = k.contracts[i].vmType
		}
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
	c.within(at, s, &a)
	c.hopelessTimes(at, k, s, &a)
	if !slices.Contains(statuses, a.Status) {
		c.wrong(at+"/status", "is %q, which is none", a.Status)
	}
	if infeasible := total.infeasible.Sign() > 0; infeasible != (a.Status == capacity.InfeasibleStatus) || a.Status == capacity.Feasible && a.Gap.IsZero() {
		c.wrong(at+"/status", "is %s, and %v hours have no plan", a.Status, trimmed(total.infeasible))
	}
	c.end(PlansCheck, "The cheapest plans of %d situations cost so much, within the gap.", cases)
}

// hopelessTimes checks that each time without a plan that a summary lists is one, for the reason that is said, in their order.
func (c *checking) hopelessTimes(at string, k *calendar, s *spanned, a *horizon.Answer) {
	for i := range a.Infeasible {
		x, where := &a.Infeasible[i], fmt.Sprintf("%s/infeasible/%d", at, i)
		n := slices.IndexFunc(k.cells, func(y cell) bool { return y.start.Equal(x.Start) })
		if n < 0 || !s.none[k.cells[n].situation] || i > 0 && !x.Start.After(a.Infeasible[i-1].Start) {
			c.wrong(where+"/start", "is %s, where there is a plan or which is out of order", x.Start.Format(time.RFC3339))
			continue
		}
		c.conflict(where, &k.cases[k.cells[n].situation].problem, x.Conflict)
	}
}

// within holds the cost of an answer, and of each of its months, against that of the cheapest plans.
func (c *checking) within(at string, s *spanned, a *horizon.Answer) {
	for i := range s.months {
		if i < len(a.Months) && a.Gap.IsZero() {
			c.judge(fmt.Sprintf("%s/months/%d/cost/total", at, i), s.months[i], running(&a.Months[i].Cost), new(big.Rat))
		}
	}
	c.judge(at+"/total/cost/total", s.total, running(&a.Total.Cost), a.Gap.Rat())
}

// times returns the figures of a span that are known without its plans.
func (s *span) times(stated *horizon.SpanTotal, known, spot bool) map[string]any {
	m := map[string]any{"start": s.start, "hours": about(s.hours)}
	if known {
		m["infeasible_hours"], m["hours_without_forecast"] = about(s.infeasible), about(s.unforecast)
		m["refused_job_hours"] = about(sub(s.admitted.is, number(stated.AdmittedHours)))
	}
	if !spot {
		m["vm_hours"] = about(add(number(stated.OnDemandHours), number(stated.ReservedHours)))
	}
	return m
}

// waitingCompared checks what a scenario does where jobs wait.
func (c *checking) waitingCompared(q *horizon.HorizonQuestion, w *horizon.WithWaiting) {
	if w.Compared == nil {
		return
	}
	if q.Scenario == nil || !q.WithWaiting {
		c.wrong("/with_waiting/compared", "stands here, and the question does not ask for it")
		return
	}
	h, ok := laid(q.Horizon, q.Scenario.Changes)
	if !ok {
		return
	}
	under := timetable.Question{Problem: h.Problem, Contracts: h.Contracts, Periods: h.Periods, Earlier: h.Earlier}
	asItIs := timetable.Question{Problem: q.Problem, Contracts: q.Contracts, Periods: q.Periods, Earlier: q.Earlier}
	for _, f := range timetables.CheckCompared(under, asItIs, w.Compared) {
		c.wrong("/with_waiting/compared"+f.Pointer, "%s", f.Detail)
	}
	for _, of := range []struct {
		at       string
		got, has money.Amount
	}{{"bill", w.Bill, w.Compared.UnderScenario.Bill}, {"value_refused", w.ValueRefused, w.Compared.UnderScenario.ValueRefused}} {
		if !of.got.Equal(of.has.Decimal) {
			c.wrong("/with_waiting/"+of.at, "is %s, and %s where it is compared", of.got, of.has)
		}
	}
}

// waiting checks that the figures of a schedule add up.
func (c *checking) waiting(start time.Time, w *horizon.WithWaiting) {
	begins := start.UTC() // of a month by the calendar; schedules begin with a whole hour
	if n := len(w.Months); n > 0 && w.Months[0].Start.Sub(begins).Abs() < time.Hour {
		begins = w.Months[0].Start.UTC()
	}
	sum, total := new(big.Rat), add(w.Bill.Rat(), w.ValueRefused.Rat())
	for i, m := range w.Months {
		if sum = add(sum, m.Bill.Rat()); !m.Start.Equal(begins) {
			c.wrong(fmt.Sprintf("/with_waiting/months/%d/start", i), "is %s, and the month begins at %s", m.Start.Format(time.RFC3339), begins.Format(time.RFC3339))
		}
		begins = time.Date(begins.Year(), begins.Month()+1, 1, 0, 0, 0, 0, time.UTC)
	}
	if sum.Cmp(w.Bill.Rat()) != 0 {
		c.wrong("/with_waiting/bill", "is %s, and its months add up to %s", w.Bill, trimmed(sum))
	}
	if saved := sub(add(w.AtOnce.Bill.Rat(), w.AtOnce.ValueRefused.Rat()), total); saved.Cmp(w.Saved.Rat()) != 0 {
		c.wrong("/with_waiting/saved", "is %s, and the two totals differ by %s", w.Saved, trimmed(saved))
	}
	if w.Gap.IsNegative() || w.Gap.Rat().Cmp(total) > 0 {
		c.wrong("/with_waiting/gap", "is %s, of a total of %s", w.Gap, trimmed(total))
	}
	if n := len(w.Months); n == 0 || !w.Months[n-1].Start.Before(w.Until) || begins.Before(w.Until) {
		c.wrong("/with_waiting/until", "is %s, and the months are %d", w.Until.Format(time.RFC3339), n)
	}
}
