package recheck

import (
	"math/big"
	"slices"
	"time"

	"example.org/headroom/internal/ask/horizon"
	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/money"
	"example.org/headroom/internal/core/words"
)

// leftOut takes what a question leaves out from its horizon, and names it.
func leftOut(q *horizon.PurchaseQuestion) (names []horizon.LeftOut) {
	p := &q.Problem
	if slices.Contains(q.LeaveOut, horizon.WithoutSpot) && p.Supply.Spot != nil {
		names, p.Supply.Spot = append(names, horizon.WithoutSpot), nil
		q.Periods = slices.Clone(q.Periods)
		for i := range q.Periods {
			q.Periods[i].SpotPrice = nil
		}
	}
	if slices.Contains(q.LeaveOut, horizon.WithoutBudget) && p.Budget != nil {
		names, p.Budget = append(names, horizon.WithoutBudget), nil
	}
	return names
}

// refuses reports whether hours refuse some of what arrives, as far as the answer tells, and whether they could do so at all.
func (b *buying) refuses() (told, possible bool) {
	if b.carrying == nil {
		return false, false
	}
	all := true
	for i := range b.q.Problem.Classes {
		arrives := len(arrivedIn(&b.q.Horizon, i)) > 0
		all = all && arrives
		possible = possible || arrives && !b.q.Problem.Classes[i].Jobs.All
		told = told || arrives && i < len(b.a.Horizon.Classes) && b.a.Horizon.Classes[i].RefusedHours > 0
	}
	return told || all && b.a.Today.Cost.Penalties.IsPositive(), possible
}

// asItIs checks what follows from the costs of the cluster as it is. They are those of months, which have a check of their own.
func (b *buying) asItIs(left []horizon.LeftOut) {
	as, said := b.a.AsItIs, []horizon.LeftOut{}
	told, possible := b.refuses()
	if as != nil {
		said = as.LeftOut
	}
	started := slices.Contains(said, horizon.WithoutStarted)
	if b.a.Status != capacity.InfeasibleStatus && (told && !started || started && !possible) {
		b.wrong("/as_it_is/left_out", "is %v, and hours refuse jobs: %t", said, told)
	}
	if started {
		left = append(left, horizon.WithoutStarted)
	}
	if as == nil {
		if len(left) > 0 && slices.Max(append(b.bought, 0)) > 0 {
			b.wrong("/as_it_is", "is missing, and %v is left out", left)
		}
		return
	}
	if len(said) > 0 && said[0] == horizon.WithoutTypes { // which a problem of one type does not tell
		said = said[1:]
	}
	if !slices.Equal(said, left) || len(as.LeftOut) == 0 {
		b.wrong("/as_it_is/left_out", "is %v, and %v is left out", as.LeftOut, left)
	}
	for _, of := range []struct {
		at      string
		said    *horizon.PurchaseCost
		without *horizon.WithoutPlan
	}{{"today", &as.Today, as.TodayWithout}, {"bought", &as.Bought, as.BoughtWithout}} {
		b.withoutPlan("/as_it_is/"+of.at+"_without_plan", of.said, of.without)
		b.adds("/as_it_is/"+of.at, of.said)
	}
	dearer := as.Today.Status != capacity.InfeasibleStatus && as.Bought.Total.GreaterThan(as.Today.Total.Decimal)
	if left := as.BoughtWithout; left != nil && (as.TodayWithout == nil || left.Hours > as.TodayWithout.Hours) {
		dearer = true
	}
	if as.Dearer != dearer {
		b.wrong("/as_it_is/dearer", "is %t, and %t follows from the costs", as.Dearer, dearer)
	}
	want := as.VMs
	switch {
	case as.Better != nil:
		want = as.Better.VMs
	case dearer:
		want = make([]int64, len(b.bought))
	}
	if !slices.Equal(b.bought, want) {
		b.wrong("/offers", "buy %v, and %v follows from the cluster as it is", b.bought, want)
	}
	if slices.Max(append(as.VMs, 0)) == 0 {
		b.differ("/as_it_is/bought", tree(marshalled(as.Bought)), tree(marshalled(as.Today)))
	}
	b.others(as)
	b.noCheaper()
}

// noCheaper holds months where jobs are refused against their hours by themselves, which cost no more. What costs more than the
// gap above these is not optimal.
func (b *buying) noCheaper() {
	as := b.a.AsItIs
	if len(as.LeftOut) != 1 || as.LeftOut[0] != horizon.WithoutStarted || len(as.VMs) != len(b.bought) {
		return
	}
	none := make([]int64, len(b.bought))
	costs := []struct {
		at   string
		said *horizon.PurchaseCost
		vms  []int64
	}{{"today", &as.Today, none}, {"bought", &as.Bought, as.VMs}}
	if f := as.Better; f != nil && len(f.VMs) == len(b.bought) {
		costs = append(costs, struct {
			at   string
			said *horizon.PurchaseCost
			vms  []int64
		}{"better/cost", &f.Cost, f.VMs})
	}
	for _, of := range costs {
		l, looked := b.purchased(b.hours, of.vms)
		if !looked || l.None || l.Low == nil || of.said.Status == capacity.InfeasibleStatus {
			continue
		}
		if all := add(of.said.Total.Rat(), l.Slack); all.Cmp(l.Low) < 0 {
			b.wrong("/as_it_is/"+of.at+"/total", "is %s, and hours by themselves cost %s", of.said.Total, trimmed(l.Low))
		}
		allowed := add(l.Slack, mul(number(b.q.Problem.Options.Gap), of.said.Total.Rat()))
		if l.High != nil && of.said.Status == capacity.Optimal && of.said.Total.Rat().Cmp(add(l.High, allowed)) > 0 {
			b.wrong("/as_it_is/"+of.at+"/status", "is optimal, and hours by themselves cost %s of %s", trimmed(l.High), of.said.Total)
		}
	}
}

// others checks the other purchases in the cluster as it is: how many there can be, and that the best is better than the purchase
// and than none.
func (b *buying) others(as *horizon.AsItIs) {
	by := 0
	for k := range as.VMs {
		if as.VMs[k] < 0 || k >= len(b.q.Offers) || as.VMs[k] > b.q.Offers[k].Max {
			b.wrong("/as_it_is/vms", "are %v, which are not offered", as.VMs)
			return
		}
		if as.VMs[k] > as.VMs[by] {
			by = k
		}
	}
	if len(as.VMs) != len(b.q.Offers) {
		b.wrong("/as_it_is/vms", "are of %d offers, and there are %d", len(as.VMs), len(b.q.Offers))
		return
	}
	weighed := as.VMs[by]
	most := min(2*weighed, b.q.Offers[by].Max)
	if as.OthersTried < 0 || as.OthersTried > min(8, max(0, most-1)) || as.OthersTried == 0 && most > 1 && b.a.Complete {
		b.wrong("/as_it_is/others_tried", "is %d, of %d purchases that there are", as.OthersTried, most-1)
	}
	f := as.Better
	if f == nil {
		return
	}
	inProportion := as.OthersTried > 0 && len(f.VMs) == len(as.VMs) && f.VMs[by] > 0 && f.VMs[by] != weighed && f.VMs[by] <= most
	for i := range f.VMs {
		inProportion = inProportion && f.VMs[i] == min(b.q.Offers[i].Max, as.VMs[i]*f.VMs[by]/weighed)
	}
	if !inProportion {
		b.wrong("/as_it_is/better/vms", "are %v, which are not in the proportion of %v", f.VMs, as.VMs)
	}
	b.adds("/as_it_is/better/cost", &f.Cost)
	lower := func(than *horizon.PurchaseCost) bool {
		return than.Status == capacity.InfeasibleStatus || f.Cost.Total.LessThan(than.Total.Decimal)
	}
	if f.Cost.Status != capacity.Optimal && f.Cost.Status != capacity.Feasible || !lower(&as.Bought) || !lower(&as.Today) {
		b.wrong("/as_it_is/better/cost", "of %s, %s, is not better than that of the purchase and of none", f.Cost.Total, f.Cost.Status)
	}
}

// adds checks that a cost of the cluster as it is adds up.
func (b *buying) adds(at string, said *horizon.PurchaseCost) {
	c := &said.Cost
	if !slices.Contains(statuses, said.Status) {
		b.wrong(at+"/status", "is %.20q, which is none", said.Status)
	}
	bill := new(big.Rat)
	for _, x := range []money.Amount{c.OnDemand, c.Spot, c.Reserved, c.ReservedIdle, c.Upfront} {
		bill.Add(bill, x.Rat())
	}
	total := add(bill, c.Penalties.Rat())
	if bill.Cmp(said.Bill.Rat()) != 0 || total.Cmp(said.Total.Rat()) != 0 || bill.Cmp(c.Bill.Rat()) != 0 || total.Cmp(c.Total.Rat()) != 0 ||
		said.Upfront.Rat().Cmp(c.Upfront.Rat()) != 0 {
		b.wrong(at, "does not add up: its lines come to a bill of %s, and to %s with the value refused", trimmed(bill), trimmed(total))
	}
}

// withoutPlan checks that hours without a plan stand where there are some, within the horizon, and that a cure is a larger budget.
func (b *buying) withoutPlan(at string, cost *horizon.PurchaseCost, w *horizon.WithoutPlan) {
	if (w != nil) != (cost.Status == capacity.InfeasibleStatus) {
		b.wrong(at, "does not go with the status %s", cost.Status)
	}
	if w == nil {
		return
	}
	start, end := ends(&b.q.Horizon)
	if w.First.Before(start) || !w.First.Before(end) || !(w.Hours > 0) || w.Hours > end.Sub(w.First).Hours()*(1+1e-9) || w.Conflict == "" {
		b.wrong(at, "has %v hours from %s on, which the horizon does not have, or no reason", w.Hours, w.First.Format(time.RFC3339))
	}
	if w.Cure == nil || b.budget == nil {
		return
	}
	text, _ := w.Cure.Value.(string)
	value, err := money.Parse(text)
	was := map[string]*money.Amount{"/problem/budget/vm_cost": b.budget.VMCost, "/problem/budget/total": b.budget.Total}[w.Cure.Pointer]
	if err != nil || was == nil || !value.GreaterThan(was.Decimal) || w.Cure.Detail != words.RaiseBudget(value) {
		b.wrong(at+"/cure", "does not raise the budget: %q, %v", w.Cure.Detail, w.Cure.Value)
	}
}

// beyond returns the amount that a purchase commits to beside its share of the horizon, where that counts.
func (b *buying) beyond(bought []int64) *big.Rat {
	sum := new(big.Rat)
	if !b.allOwed {
		return sum
	}
	start, end := ends(&b.q.Horizon)
	for i, n := range bought {
		from, until := b.term(i)
		o := &b.q.Offers[i]
		inside := max(0, min(until.Unix(), end.Unix())-max(from.Unix(), start.Unix()))
		each := sub(b.committed(i), mul(o.Upfront.Rat(), big.NewRat(inside, until.Unix()-from.Unix())))
		if o.Billing == capacity.BilledAlways {
			each = sub(each, mul(o.Price.Rat(), big.NewRat(inside, 3600)))
		}
		sum.Add(sum, mul(each, whole(n)))
	}
	return sum
}

// neededUntil returns the month until whose end demand must last for the bills to fall by all that the purchase commits to.
func (b *buying) neededUntil() any {
	if slices.Max(append(b.bought, 0)) == 0 || len(b.a.Months) == 0 {
		return nil
	}
	start, end := ends(&b.q.Horizon)
	all, last := new(big.Rat), start
	for i, n := range b.bought {
		all.Add(all, mul(b.committed(i), whole(n)))
		if _, until := b.term(i); n > 0 && until.After(last) {
			last = until
		}
	}
	var since any
	open := new(big.Rat)
	for _, m := range b.a.Months {
		at := m.Month.AddDate(0, 1, 0)
		if at.After(end) {
			at = end
		}
		if open = sub(b.owed(at), m.BillBalance.Rat()); open.Sign() > 0 {
			since = nil
		} else if since == nil {
			since = m.Month
		}
	}
	saved := sub(all, open)
	if since != nil || saved.Sign() <= 0 {
		return since
	}
	more := roundedUp(quo(mul(open, whole(end.Unix()-start.Unix())), saved))
	if more > last.Unix()-end.Unix() {
		return nil
	}
	month := time.Unix(end.Unix()+more-1, 0).UTC()
	return time.Date(month.Year(), month.Month(), 1, 0, 0, 0, 0, time.UTC)
}
