package recheck

import (
	"math/big"
	"slices"
	"time"

	"example.org/headroom/internal/ask/horizon"
	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/money"
	"example.org/headroom/internal/core/proof"
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
	return told || all && (b.a.Today.Cost.Penalties.IsPositive() || b.a.OnDemandOnly.Cost.Penalties.IsPositive()), possible
}

// promises reports whether some jobs are promised, of which months may keep fewer than hours by themselves.
func (b *buying) promises() bool {
	return slices.ContainsFunc(b.q.Problem.Classes, func(c capacity.Class) bool { return c.Jobs.Min > 0 })
}

// otherTypes reports whether other types of VMs were left out, which a problem of one type does not tell.
func (b *buying) otherTypes() bool {
	return b.a.Found != nil && slices.Contains(b.a.Found.LeftOut, horizon.WithoutTypes)
}

// found checks how a purchase was found that was not found in the cluster as it is, and what follows for what is recommended.
func (b *buying) found(left []horizon.LeftOut) {
	f, said := b.a.Found, []horizon.LeftOut{}
	told, possible := b.refuses()
	if f != nil {
		said = f.LeftOut
	}
	started := slices.Contains(said, horizon.WithoutStarted)
	apart := len(left) > 0 || b.otherTypes() // then hours may refuse jobs with what was left out alone
	if b.a.Status != capacity.InfeasibleStatus && (told && !started && !apart || started && !possible) {
		b.wrong("/found/left_out", "is %v, and hours refuse jobs: %t", said, told)
	}
	if started {
		left = append(left, horizon.WithoutStarted)
	}
	if f == nil {
		if len(left) > 0 {
			b.wrong("/found", "is missing, and %v is left out", left)
		}
		return
	}
	if b.otherTypes() {
		said = slices.DeleteFunc(slices.Clone(said), func(l horizon.LeftOut) bool { return l == horizon.WithoutTypes })
	}
	if !slices.Equal(said, left) || len(f.LeftOut) == 0 {
		b.wrong("/found/left_out", "is %v, and %v is left out", f.LeftOut, left)
	}
	b.adds("/found/today", &f.Today)
	b.adds("/found/bought", &f.Bought)
	b.adds("/found/as_it_is", &f.AsItIs)
	b.withoutPlan("/found/today_without_plan", &b.a.Today, f.TodayWithout)
	b.withoutPlan("/found/without_plan", &f.AsItIs, f.WithoutPlan)
	if !b.offered(f) {
		return
	}
	none := make([]int64, len(b.bought))
	b.hourly("/found/today", none, &f.Today)
	if f.VMs == nil {
		if f.Bought.Status != capacity.InfeasibleStatus {
			b.wrong("/found/bought/status", "is %s, and no purchase is found", f.Bought.Status)
		}
		return
	}
	b.hourly("/found/bought", f.VMs, &f.Bought)
	b.started(f)
	for _, of := range []struct {
		vms  []int64
		cost *horizon.PurchaseCost
		name string
	}{{b.bought, &b.a.Recommended, "recommended"}, {none, &b.a.Today, "today"}} { // the same VMs cost the same
		if slices.Equal(f.VMs, of.vms) && (!f.AsItIs.Total.Equal(of.cost.Total.Decimal) || !f.AsItIs.Bill.Equal(of.cost.Bill.Decimal) || f.AsItIs.Status != of.cost.Status) {
			b.wrong("/found/as_it_is", "is %s, and %s as %s", f.AsItIs.Total, of.cost.Total, of.name)
		}
	}
}

// started holds months with the VMs that were found against their hours by themselves, where these differ by started jobs alone. Months
// cost no less, unless they keep fewer promises, and are not optimal where they cost more than the gap above.
func (b *buying) started(f *horizon.Found) {
	if len(f.LeftOut) != 1 || f.LeftOut[0] != horizon.WithoutStarted || f.Bought.Status == capacity.InfeasibleStatus || f.AsItIs.Status == capacity.InfeasibleStatus {
		return
	}
	allowed := add(big.NewRat(1, 1e6), mul(number(b.q.Problem.Options.Gap), f.AsItIs.Total.Rat()))
	switch above := sub(f.AsItIs.Total.Rat(), f.Bought.Total.Rat()); {
	case !b.promises() && add(above, allowed).Sign() < 0:
		b.wrong("/found/as_it_is/total", "is %s, and hours by themselves cost %s", f.AsItIs.Total, f.Bought.Total)
	case f.AsItIs.Status == capacity.Optimal && above.Cmp(allowed) > 0:
		b.wrong("/found/as_it_is/status", "is optimal, and hours by themselves cost %s of %s", f.Bought.Total, f.AsItIs.Total)
	}
}

// offered checks the VMs that were found, and that what is recommended is nothing, them or others in their proportion.
func (b *buying) offered(f *horizon.Found) bool {
	if f.VMs != nil && len(f.VMs) != len(b.q.Offers) {
		b.wrong("/found/vms", "are of %d offers, and there are %d", len(f.VMs), len(b.q.Offers))
		return false
	}
	by := 0
	for k := range f.VMs {
		if f.VMs[k] < 0 || f.VMs[k] > b.q.Offers[k].Max {
			b.wrong("/found/vms", "are %v, which are not offered", f.VMs)
			return false
		}
		if f.VMs[k] > f.VMs[by] {
			by = k
		}
	}
	bought := slices.Max(append(b.bought, 0))
	another := bought > 0 && !slices.Equal(b.bought, f.VMs)
	inProportion := f.OthersTried > 0
	if f.VMs != nil && f.VMs[by] > 0 {
		n := b.bought[by]
		inProportion = inProportion && n > 0 && n <= 2*f.VMs[by]+8
		for k := range b.bought {
			inProportion = inProportion && b.bought[k] == min(b.q.Offers[k].Max, f.VMs[k]*n/f.VMs[by])
		}
	} else { // of one offer
		sum := int64(0)
		for _, n := range b.bought {
			sum += n
		}
		inProportion = inProportion && sum == bought
	}
	if another && !inProportion {
		b.wrong("/offers", "buy %v, which are not in the proportion of %v", b.bought, f.VMs)
	}
	if f.OthersTried < 0 || f.OthersTried > 8 || b.a.Complete && f.OthersTried == 0 && f.VMs != nil && slices.Max(f.VMs) > 1 {
		b.wrong("/found/others_tried", "is %d", f.OthersTried)
	}
	return true
}

// hourly holds the cost of a purchase hour by hour against the cheapest plans. Where plans do not do the work, hours have none.
func (b *buying) hourly(at string, vms []int64, said *horizon.PurchaseCost) {
	l, looked := b.purchased(b.hours, vms)
	switch {
	case !looked:
	case said.Status == capacity.InfeasibleStatus && tooFewVMs(&b.a.Horizon):
	case l.None != (said.Status == capacity.InfeasibleStatus):
		b.wrong(at+"/status", "is %s", said.Status)
	case !l.None:
		b.judge(at+"/total", l, said.Total.Rat(), mul(number(b.q.Problem.Options.Gap), said.Total.Rat()))
	}
}

// better checks that what is recommended is no worse than today and than what was found: with fewer hours without a plan, or a lower
// cost. Which promises are kept does not stand in the costs.
func (b *buying) better() {
	f, a := b.a.Found, &b.a
	for _, of := range []struct {
		name string
		cost *horizon.PurchaseCost
	}{{"today's contracts", &a.Today}, {"what was found", &f.AsItIs}} {
		worse := of.cost.Status != capacity.InfeasibleStatus && (a.Recommended.Status == capacity.InfeasibleStatus ||
			a.Recommended.Total.GreaterThan(of.cost.Total.Decimal) && !(b.carrying != nil && b.promises()))
		if worse {
			b.wrong("/recommended/total", "is %s, and %s with %s", a.Recommended.Total, of.cost.Total, of.name)
		}
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
	more := proof.Ceil(quo(mul(open, whole(end.Unix()-start.Unix())), saved)).Int64()
	if more > last.Unix()-end.Unix() {
		return nil
	}
	month := time.Unix(end.Unix()+more-1, 0).UTC()
	return time.Date(month.Year(), month.Month(), 1, 0, 0, 0, 0, time.UTC)
}
