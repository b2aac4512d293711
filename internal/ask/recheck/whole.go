package recheck

import (
	"fmt"
	"math/big"
	"slices"

	"example.org/headroom/internal/ask/horizon"
	"example.org/headroom/internal/core/capacity"
)

// inWholeJobs checks what the plans of single hours come to, which stands where jobs that arrive are planned in parts. The cheapest
// plans of the jobs at once, rounded up, cost as much.
func (c *checking) inWholeJobs(at string, h *horizon.Horizon, a *horizon.Answer) {
	spans := map[string]*horizon.SpanTotal{at + "/total": &a.Total}
	for i := range a.Months {
		spans[fmt.Sprintf("%s/months/%d", at, i)] = &a.Months[i]
	}
	for i := range a.Days {
		spans[fmt.Sprintf("%s/days/%d", at, i)] = &a.Days[i]
	}
	due := c.carried != nil && slices.Max(c.carried.parts) > 1
	for where, t := range spans {
		if (t.InWholeJobs != nil) != due {
			c.wrong(where+"/in_whole_jobs", "stands where no job is planned in parts, or is missing")
			return
		}
	}
	if !due {
		return
	}
	c.addsWhole(at+"/total", &a.Total, a.Months, func(*horizon.SpanTotal) bool { return true })
	for i := range a.Months {
		m := &a.Months[i]
		c.addsWhole(fmt.Sprintf("%s/months/%d", at, i), m, a.Days, func(d *horizon.SpanTotal) bool { return d.Start.Format("2006-01") == m.Start.Format("2006-01") })
	}
	if !a.Complete {
		return
	}
	if s := c.wholeHours(at+"/total/in_whole_jobs", c.carried, h, a.Total.InWholeJobs, a.Total.Cost.Upfront.Rat()); s != nil {
		for i := range min(len(s.months), len(a.Months)) {
			m := &a.Months[i]
			c.judge(fmt.Sprintf("%s/months/%d/in_whole_jobs/bill", at, i), s.months[i], wholeBoth(m.InWholeJobs, m.Cost.Upfront.Rat()), m.InWholeJobs.Gap.Rat())
		}
	}
}

// wholeBoth is bill and value refused in whole jobs, without upfront payments.
func wholeBoth(of *horizon.WholeJobs, upfront *big.Rat) *big.Rat {
	return sub(add(of.Bill.Rat(), of.ValueRefused.Rat()), upfront)
}

// wholeHours holds figures in whole jobs against the cheapest plans of a horizon's hours; it is nil where these are too many.
func (c *checking) wholeHours(at string, carried *carrying, h *horizon.Horizon, of *horizon.WholeJobs, upfront *big.Rat) *spanned {
	x := *carried
	x.parts = make([]int64, len(x.parts))
	for i := range x.parts {
		x.parts[i] = 1
	}
	hours := x.inJobs(*h, 1)
	for i := range hours.Periods {
		hours.Periods[i].Running = nil // each planned job is one
	}
	k := cut(&hours)
	s := c.span(k)
	if !s.all {
		c.doubt(at, "is %s: there are too many hours to plan", of.Bill)
		return nil
	}
	if none := s.hopeless(k); abs(sub(none, number(of.InfeasibleHours))).Cmp(about(none).off) > 0 {
		c.wrong(at+"/infeasible_hours", "is %v, and in %s hours the promised jobs do not fit in", of.InfeasibleHours, trimmed(none))
	}
	c.judge(at+"/bill", s.total, wholeBoth(of, upfront), of.Gap.Rat())
	valued := slices.ContainsFunc(h.Problem.Classes, func(x capacity.Class) bool { return x.Penalty.IsPositive() && !x.Jobs.All })
	if of.ValueRefused.IsNegative() || of.ValueRefused.IsPositive() && !valued {
		c.wrong(at+"/value_refused", "is %s, and refused jobs are not valued so", of.ValueRefused)
	}
	return s
}

// addsWhole checks that the figures in whole jobs are the sums of those of some parts.
func (c *checking) addsWhole(at string, t *horizon.SpanTotal, parts []horizon.SpanTotal, in func(*horizon.SpanTotal) bool) {
	bill, value, gap, none := new(big.Rat), new(big.Rat), new(big.Rat), new(big.Rat)
	for i := range parts {
		if of := parts[i].InWholeJobs; of != nil && in(&parts[i]) {
			bill, value, gap = add(bill, of.Bill.Rat()), add(value, of.ValueRefused.Rat()), add(gap, of.Gap.Rat())
			none = add(none, number(of.InfeasibleHours))
		}
	}
	of := t.InWholeJobs
	if of.Bill.Rat().Cmp(bill) != 0 || of.ValueRefused.Rat().Cmp(value) != 0 || of.Gap.Rat().Cmp(gap) != 0 || abs(sub(number(of.InfeasibleHours), none)).Cmp(about(none).off) > 0 {
		c.wrong(at+"/in_whole_jobs", "is %s with %s refused, and the parts of this time come to %s with %s", of.Bill, of.ValueRefused, trimmed(bill), trimmed(value))
	}
}
