package timetables

import (
	"fmt"
	"math/big"
	"slices"
	"time"

	"example.org/headroom/internal/ask/horizon"
	"example.org/headroom/internal/ask/timetable"
	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/fault"
	"example.org/headroom/internal/core/money"
	"example.org/headroom/internal/core/proof"
	"example.org/headroom/internal/core/proof/supply"
)

// CheckBuying checks what purchases come to with their schedules: each is paired with arrivals and added up on the fewest VMs, and
// every bound is found again from its prices. Pointers begin under the answer.
func CheckBuying(b timetable.Buying, w *horizon.PurchaseWithWaiting) []fault.Finding {
	c := &bought{asked: &b, answer: w, start: b.Question.Periods[0].Start}
	last := &b.Question.Periods[len(b.Question.Periods)-1]
	if c.hours = int(last.End().Sub(c.start) / time.Hour); !w.Until.Equal(last.End()) {
		c.wrong("/until", "It is %s, and the schedules end at %s.", w.Until.Format(time.RFC3339), last.End().Format(time.RFC3339))
	}
	if len(w.Tried) == 0 {
		c.wrong("/tried", "No purchase is tried.")
		return c.findings
	}
	for i := range w.Tried {
		c.checkTried(i)
	}
	c.checkBound()
	c.checkSaved()
	return c.findings
}

// FaultOfBuying returns an error for purchases that are wrong.
func FaultOfBuying(b timetable.Buying, w *horizon.PurchaseWithWaiting) error {
	if found := CheckBuying(b, w); len(found) > 0 {
		return fmt.Errorf("%w: %s: %s", ErrWrong, found[0].Pointer, found[0].Detail)
	}
	return nil
}

// bought compares purchases with their question.
type bought struct {
	asked    *timetable.Buying
	answer   *horizon.PurchaseWithWaiting
	start    time.Time
	hours    int
	findings []fault.Finding
}

func (c *bought) wrong(at, detail string, values ...any) {
	if len(c.findings) < fault.MaxFindings {
		c.findings = append(c.findings, fault.Finding{Pointer: at, Code: "schedule", Detail: fmt.Sprintf(detail, values...)})
	}
}

func (c *bought) same(at string, got, want *big.Rat) {
	if far := new(big.Rat).Sub(got, want); far.Abs(far).Cmp(big.NewRat(1, 1e8)) > 0 {
		c.wrong(at, "It is %s, and follows as %s.", got.FloatString(9), want.FloatString(9))
	}
}

// offered is an offer in the hours that it covers, from first and before last.
type offered struct {
	first, last int
	begin, end  time.Time // in the time
	upfront     *big.Rat  // of one VM, the share in the time
}

// offer lays an offer out.
func (c *bought) offer(o *capacity.Offer) (x offered) {
	from := c.start
	if o.From != nil {
		from = *o.From
	}
	until := from.Add(time.Duration(o.TermHours) * time.Hour)
	if o.TermYears > 0 {
		hour, minute, second := from.Clock()
		until = time.Date(from.Year()+int(o.TermYears), from.Month(), from.Day(), hour, minute, second, 0, from.Location())
	}
	x.upfront = new(big.Rat)
	begin, end := from, until
	if begin.Before(c.start) {
		begin = c.start
	}
	if end.After(c.asked.End) {
		end = c.asked.End
	}
	if begin.Before(end) {
		x.upfront.Mul(o.Upfront.Rat(), big.NewRat(int64(end.Sub(begin)/time.Second), int64(until.Sub(from)/time.Second)))
	}
	x.begin, x.end = begin, end
	for x.first = 0; x.first < c.hours && c.at(x.first).Before(begin); x.first++ {
	}
	for x.last = x.first; x.last < c.hours && !c.at(x.last+1).After(end); x.last++ {
	}
	return x
}

func (c *bought) at(hour int) time.Time { return c.start.Add(time.Duration(hour) * time.Hour) }

// table returns the timetable of the question with so many VMs of each offer, at prices, and what is read with it.
func (c *bought) table(at string, vms []int64, prices []money.Amount) (s *scheduled, fine bool) {
	q := c.asked.Question
	s = &scheduled{question: &q, answer: &timetable.Answer{}, hours: c.hours}
	s.prepareTable()
	if len(prices) != len(s.table.Types)*c.hours {
		c.wrong(at+"/prices", "There are %d, of %d.", len(prices), len(s.table.Types)*c.hours)
		return s, false
	}
	for v := range s.table.Types {
		for h := range c.hours {
			if s.table.Types[v].Hours[h].Price = prices[v*c.hours+h].Decimal; s.table.Types[v].Hours[h].Price.IsNegative() {
				c.wrong(fmt.Sprintf("%s/prices/%d", at, v*c.hours+h), "It is below zero.")
			}
		}
	}
	on := s.typeNamed(c.asked.VMType)
	for k := range c.asked.Offers {
		o := &c.asked.Offers[k]
		x := c.offer(o)
		for h := x.first; vms != nil && h < x.last; h++ {
			hour := &s.table.Types[on].Hours[h]
			hour.Supply = append(hour.Supply, supply.Source{VMs: vms[k], Price: o.Price.Decimal, Always: o.Billing == capacity.BilledAlways})
		}
		for h := 0; vms != nil && o.Billing == capacity.BilledAlways && h < c.hours; h++ {
			if seconds := overlap(x.begin, x.end, c.at(h), c.at(h+1)); seconds > 0 && seconds < 3600 {
				hour := &s.table.Types[on].Hours[h]
				if hour.Paid == nil {
					hour.Paid = new(big.Rat)
				}
				hour.Paid.Add(hour.Paid, new(big.Rat).Mul(o.Price.Rat(), big.NewRat(vms[k]*seconds, 3600)))
			}
		}
		if vms != nil {
			continue
		}
		fixed, price := new(big.Rat).Set(x.upfront), o.Price.Rat()
		if o.Billing == capacity.BilledAlways {
			fixed.Add(fixed, new(big.Rat).Mul(price, big.NewRat(overlap(x.begin, x.end, x.begin, x.end), 3600)))
			price = new(big.Rat)
		}
		s.table.Offers = append(s.table.Offers, proof.TimedOffer{On: on, From: x.first, Until: x.last, Max: o.Max, Fixed: fixed, Price: price})
	}
	return s, true
}

// checkTried checks a purchase with its schedule.
func (c *bought) checkTried(i int) {
	t, at := &c.answer.Tried[i], fmt.Sprintf("/tried/%d", i)
	if len(t.VMs) != len(c.asked.Offers) {
		c.wrong(at+"/vms", "Here are %d offers, of %d.", len(t.VMs), len(c.asked.Offers))
		return
	}
	upfront, all := new(big.Rat), int64(0)
	for k, n := range t.VMs {
		o := &c.asked.Offers[k]
		if n < 0 || n > o.Max {
			c.wrong(fmt.Sprintf("%s/vms/%d", at, k), "Here are %d VMs, of %d.", n, o.Max)
			return
		}
		all += n
		upfront.Add(upfront, new(big.Rat).Mul(c.offer(o).upfront, big.NewRat(n, 1)))
	}
	if i > 0 && c.answer.Tried[i-1].Total.Cmp(t.Total.Decimal) > 0 {
		c.wrong(at+"/total", "It is %s, and that before is %s: the cheapest comes first.", t.Total, c.answer.Tried[i-1].Total)
	}
	for j := range i {
		if slices.Equal(c.answer.Tried[j].VMs, t.VMs) {
			c.wrong(at+"/vms", "The same purchase stands here twice.")
		}
	}
	if !slices.Contains(horizon.PurchasesTried, t.Why) || all > 0 && t.Why == horizon.TriedNothing {
		c.wrong(at+"/why", "It is %q, with %d VMs bought.", t.Why, all)
	}
	if s, fine := c.table(at, t.VMs, t.Prices); fine {
		c.same(at+"/upfront", t.Upfront.Rat(), upfront)
		c.checkScheduled(s, at, upfront, &horizon.WaitingSchedule{Bill: t.Bill, ValueRefused: t.ValueRefused, Total: t.Total, Bound: t.Bound, Schedule: t.Schedule, Refused: t.Refused, Earlier: t.Earlier})
	}
}

// checkScheduled checks a schedule in its timetable, beside what is paid for it besides.
func (c *bought) checkScheduled(s *scheduled, at string, paid *big.Rat, t *horizon.WaitingSchedule) {
	s.answer.Refused = t.Refused
	s.answer.Schedule = t.Schedule
	s.starts, s.earlier = s.timed("", s.answer.Schedule, t.Refused), s.heldOn("/earlier", t.Earlier)
	if len(s.findings) == 0 {
		sum, faults := s.table.CheckFewest(s.starts, s.earlier)
		for _, sentence := range faults {
			s.wrong("/schedule", "%s.", sentence)
		}
		bill := new(big.Rat).Add(sum.Rented, paid)
		c.same(at+"/bill", t.Bill.Rat(), bill)
		c.same(at+"/value_refused", t.ValueRefused.Rat(), sum.Refused)
		c.same(at+"/total", t.Total.Rat(), new(big.Rat).Add(bill, sum.Refused))
		if above := new(big.Rat).Sub(t.Bound.Rat(), new(big.Rat).Add(sum.Bound, paid)); above.Cmp(big.NewRat(1, 1e8)) > 0 || t.Bound.Cmp(t.Total.Decimal) > 0 {
			c.wrong(at+"/bound", "It is %s; the prices prove %s, and the total is %s.", t.Bound, new(big.Rat).Add(sum.Bound, paid).FloatString(9), t.Total)
		}
		s.checkRows("/schedule", s.answer.Schedule, t.Refused, s.starts)
	}
	for _, f := range s.findings {
		c.wrong(at+f.Pointer, "%s", f.Detail)
	}
}

// CheckWaiting checks a schedule with what it comes to. It returns the VMs of the hour with the most, and how many classes may wait.
// Pointers begin at a member.
func CheckWaiting(at string, q timetable.Question, w *horizon.WaitingSchedule) (most, waiting int64, all []fault.Finding) {
	c := &bought{asked: &timetable.Buying{Question: q}, start: q.Periods[0].Start}
	c.hours = int(q.Periods[len(q.Periods)-1].End().Sub(c.start) / time.Hour)
	s, fine := c.table(at, nil, w.Prices)
	if !fine {
		return 0, 0, c.findings
	}
	if len(w.BudgetPrices) != len(q.Budgets) {
		c.wrong(at+"/budget_prices", "There are %d, of %d budgets.", len(w.BudgetPrices), len(q.Budgets))
		return 0, 0, c.findings
	}
	for i := range q.Budgets {
		if s.addBudget(&q.Budgets[i], w.BudgetPrices[i].Rat()); w.BudgetPrices[i].IsNegative() {
			c.wrong(at+"/budget_prices", "The price of budget %d is negative.", i)
		}
	}
	c.checkScheduled(s, at, new(big.Rat), w)
	for k := range s.table.Classes {
		if x := &s.table.Classes[k]; x.Window > 0 || x.Windows != nil {
			waiting++
		}
	}
	for h := range c.hours {
		vms := int64(0)
		for v := range s.table.Types {
			vms += s.table.Types[v].Hours[h].VMs
		}
		most = max(most, vms)
	}
	return most, waiting, c.findings
}

// CheckCompared checks schedules of a time under a scenario and as it is, and what they differ by. Pointers begin under the comparison.
func CheckCompared(under, asItIs timetable.Question, w *horizon.WaitingCompared) []fault.Finding {
	both := &bought{}
	var all []fault.Finding
	for _, part := range []struct {
		at string
		q  timetable.Question
		w  *horizon.WaitingSchedule
	}{{"/under_scenario", under, &w.UnderScenario}, {"/as_it_is", asItIs, &w.AsItIs}} {
		_, _, findings := CheckWaiting(part.at, part.q, part.w)
		all = append(all, findings...)
	}
	x, y := &w.UnderScenario, &w.AsItIs
	both.same("/bill", w.Bill.Rat(), new(big.Rat).Sub(x.Bill.Rat(), y.Bill.Rat()))
	both.same("/value_refused", w.ValueRefused.Rat(), new(big.Rat).Sub(x.ValueRefused.Rat(), y.ValueRefused.Rat()))
	both.same("/total", w.Total.Rat(), new(big.Rat).Sub(x.Total.Rat(), y.Total.Rat()))
	both.same("/least", w.Least.Rat(), new(big.Rat).Sub(x.Bound.Rat(), y.Total.Rat()))
	both.same("/most", w.Most.Rat(), new(big.Rat).Sub(x.Total.Rat(), y.Bound.Rat()))
	return append(all, both.findings...)
}

// checkBound finds the bound of all purchases again.
func (c *bought) checkBound() {
	s, fine := c.table("", nil, c.answer.Prices)
	if !fine {
		return
	}
	w, proved := c.answer, s.table.Bound()
	if above := new(big.Rat).Sub(w.Bound.Rat(), proved); above.Cmp(big.NewRat(1, 1e8)) > 0 || w.Bound.Cmp(w.Tried[0].Total.Decimal) > 0 {
		c.wrong("/bound", "It is %s; the prices prove %s, and the total is %s.", w.Bound, proved.FloatString(9), w.Tried[0].Total)
	}
	c.same("/gap", w.Gap.Rat(), new(big.Rat).Sub(w.Tried[0].Total.Rat(), w.Bound.Rat()))
}

// checkSaved compares with nothing bought.
func (c *bought) checkSaved() {
	w := c.answer
	var nothing *horizon.PurchaseScheduled
	for i := range w.Tried {
		if !slices.ContainsFunc(w.Tried[i].VMs, func(n int64) bool { return n != 0 }) {
			nothing = &w.Tried[i]
		}
	}
	if nothing == nil || w.Saved == nil || w.SavedAtLeast == nil {
		if nothing != nil || w.Saved != nil || w.SavedAtLeast != nil {
			c.wrong("/saved", "It stands here where nothing bought has a schedule, and else not.")
		}
		return
	}
	best := w.Tried[0].Total.Rat()
	c.same("/saved", w.Saved.Rat(), new(big.Rat).Sub(nothing.Total.Rat(), best))
	c.same("/saved_at_least", w.SavedAtLeast.Rat(), new(big.Rat).Sub(nothing.Bound.Rat(), best))
}
