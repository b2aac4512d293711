package recheck

import (
	"encoding/json"
	"fmt"
	"math"
	"math/big"
	"slices"
	"time"

	"github.com/shopspring/decimal"

	"example.org/headroom/internal/ask/horizon"
	"example.org/headroom/internal/ask/recheck/timetables"
	"example.org/headroom/internal/ask/timetable"
	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/money"
	"example.org/headroom/internal/core/proof"
)

var purchaseNotChecked = append([]string{
	"the bound by prices alone, but for being no higher than the bound",
	"gaps of the best purchases at other demands, but by trying their neighbours",
	"whether a curve could be exact",
	"bills at other numbers of VMs and at other demands, but for being no higher than the costs",
	"which ends of demand are tried",
	"what other purchases come to that were tried in the cluster as it is",
	"how many more job-hours are served than today, but for what the value refused allows",
}, monthsNotChecked...)

// purchase checks what to buy for a horizon.
func (c *checking) purchase(q horizon.PurchaseQuestion, a horizon.PurchaseAnswer, got any) {
	c.NotChecked = purchaseNotChecked
	if a.WithWaiting != nil {
		c.NotChecked = append([]string{"that no purchase is cheaper where jobs wait, but for the bound"}, c.NotChecked...)
		c.buyingWithWaiting(&q, a.WithWaiting)
	}
	if q.Factors == nil {
		q.Factors = []float64{0.7, 0.8, 0.9, 1, 1.1, 1.2, 1.3}
	}
	members, _ := got.(map[string]any)
	_, forecast := ends(&q.Horizon)
	budget, whole := q.Problem.Budget, q
	left := leftOut(&q)
	asked := q.Horizon
	carrying := newCarrying(&asked, q.Offers)
	c.carried = carrying
	q.Horizon = assumed(&q, asked, q.Assume)
	own := len(a.Horizon.Contracts) - len(q.Offers)
	if own < 0 {
		c.wrong("/horizon/contracts", "are %d, with %d offers among them", len(a.Horizon.Contracts), len(q.Offers))
		c.end(SumsCheck, "")
		return
	}
	b := &buying{checking: c, carrying: carrying, q: q, asked: asked, a: a, got: got, budget: budget, lp: map[string][3]*big.Rat{}}
	for i := range q.Offers {
		b.bought = append(b.bought, a.Horizon.Contracts[own+i].VMs)
		if n := b.bought[i]; n < 0 || n > q.Offers[i].Max {
			c.wrong(fmt.Sprintf("/offers/%d/vms", i), "is %d of %d", n, q.Offers[i].Max)
		}
	}
	b.hours = b.inJobs(q.Horizon, 1)
	weighed := *b
	if b.found(left); a.Found != nil {
		whole.Horizon = assumed(&whole, whole.Horizon, whole.Assume)
		b.q, b.hours = whole, b.inJobs(whole.Horizon, 1)
	}
	h, hours := b.with(b.q.Horizon, b.bought), b.with(b.hours, b.bought)
	b.calendar = cut(&hours)
	switch {
	case b.otherTypes():
		c.doubt("/horizon", "is of all types of VMs, and the question of one: it is not looked at")
	case b.carrying != nil:
		c.arriving("/horizon", &h, &hours, &a.Horizon, members["horizon"], a.Found != nil)
	default:
		c.horizon("/horizon", &h, a.Horizon, members["horizon"])
	}
	if !b.otherTypes() {
		c.toldMonths("/horizon", &h, &a.Horizon, members["horizon"])
	}
	b.costs()
	b.inWholeJobs()
	if a.Found != nil {
		b.better()
	}
	if a.Status == capacity.InfeasibleStatus {
		if !a.Complete && a.Found == nil { // otherwise not all were tried
			b.wrong("/complete", "is false, and nothing is missing")
		}
		b.hopeless()
		b.told()
		return
	}
	b.savings()
	b.terms(forecast)
	if a.Found != nil { // other numbers and demands are of the offers as they were weighed
		b.q, b.hours = weighed.q, weighed.hours
		with := b.with(b.hours, b.bought)
		b.calendar = cut(&with)
	}
	b.curves()
	b.regrets()
	b.endings()
	b.assumptions()
	b.bound()
	b.told()
}

// buyingWithWaiting checks purchases with their schedules.
func (c *checking) buyingWithWaiting(q *horizon.PurchaseQuestion, w *horizon.PurchaseWithWaiting) {
	if !q.WithWaiting {
		c.wrong("/with_waiting", "stands here, and the question does not ask for it")
		return
	}
	b, err := timetable.BuyingOf(q)
	if err != nil {
		c.wrong("/with_waiting", "stands here, and there is no schedule of the question: %v", err)
		return
	}
	for _, f := range timetables.CheckBuying(b, w) {
		c.wrong("/with_waiting"+f.Pointer, "%s", f.Detail)
	}
}

// buying checks a purchase.
type buying struct {
	*checking
	*carrying // nil without arrivals
	q         horizon.PurchaseQuestion
	a         horizon.PurchaseAnswer
	got       any
	asked     horizon.Horizon  // without what is assumed after it
	hours     horizon.Horizon  // with it, and with jobs at once for arrivals
	budget    *capacity.Budget // that was left out, or nil
	bought    []int64
	calendar  *calendar // with the recommendation
	lp        map[string][3]*big.Rat
	allOwed   bool // purchases count by all that they commit to
}

// with is a horizon with so many VMs of each offer among its contracts.
func (b *buying) with(h horizon.Horizon, bought []int64) horizon.Horizon {
	h.Contracts = slices.Clone(h.Contracts)
	for i, o := range b.q.Offers {
		from, until := b.term(i)
		h.Contracts = append(h.Contracts, horizon.TermContract{
			Contract: capacity.Contract{Name: o.Name, VMs: bought[i], Price: o.Price, Billing: o.Billing},
			Upfront:  money.Amount{Decimal: o.Upfront.Mul(decimal.NewFromInt(bought[i]))}, From: from, Until: until})
	}
	return h
}

func (b *buying) term(i int) (from, until time.Time) {
	return termOf(&b.q.Offers[i], b.q.Periods[0].Start)
}

// termOf is the time of an offer's contract.
func termOf(o *capacity.Offer, start time.Time) (from, until time.Time) {
	if from = start; o.From != nil {
		from = *o.From
	}
	if o.TermYears > 0 {
		hour, minute, second := from.Clock()
		return from, time.Date(from.Year()+int(o.TermYears), from.Month(), from.Day(), hour, minute, second, 0, from.Location())
	}
	return from, from.Add(time.Duration(o.TermHours) * time.Hour)
}

// costs checks what the recommendation, no offer, and no contract at all cost.
func (b *buying) costs() {
	a := &b.a
	t := &a.Horizon.Total.Cost
	total := t.Total.Rat()
	b.differ("/recommended", b.member("recommended"), map[string]any{
		"status": string(a.Horizon.Status), "upfront": exact(a.Horizon.Upfront.Rat()), "total": exact(total),
		"bill": exact(sub(total, t.Penalties.Rat())), "cost": tree(marshalled(t))})
	if a.Currency != b.q.Problem.Currency {
		b.wrong("/currency", "is %s, and the question is in %s", a.Currency, b.q.Problem.Currency)
	}
	bare := b.hours
	bare.Contracts, bare.Problem.Supply.Contracts = nil, nil
	for _, of := range []struct {
		at   string
		said *horizon.PurchaseCost
		h    *horizon.Horizon
	}{{"today", &a.Today, &b.hours}, {"on_demand_only", &a.OnDemandOnly, &bare}} {
		k := cut(of.h)
		upfront := new(big.Rat)
		for i := range k.contracts {
			upfront.Add(upfront, k.share(i, k.seconds(len(k.cells))))
		}
		cost := &of.said.Cost
		bill := new(big.Rat)
		for _, x := range []money.Amount{cost.OnDemand, cost.Spot, cost.Reserved, cost.ReservedIdle, cost.Upfront} {
			bill.Add(bill, x.Rat())
		}
		total := add(bill, cost.Penalties.Rat())
		b.differ("/"+of.at, b.member(of.at), map[string]any{"upfront": exact(upfront), "total": exact(total), "bill": exact(bill),
			"cost": map[string]any{"upfront": exact(upfront), "total": exact(total), "bill": exact(bill)}})
		if !slices.Contains(statuses, of.said.Status) {
			b.wrong("/"+of.at+"/status", "is %q, which is none", of.said.Status)
		}
		if b.otherTypes() {
			continue
		}
		s := b.span(k)
		if !s.all {
			continue
		}
		if a.Found != nil && b.carrying != nil { // an admitted job goes on, so that months cost no less than their hours if they keep as many promises
			if all := add(running(cost), s.total.Slack); !b.promises() && s.total.Low != nil && of.said.Status != capacity.InfeasibleStatus && all.Cmp(s.total.Low) < 0 {
				b.wrong("/"+of.at+"/cost/total", "is %s, and hours by themselves cost %s", cost.Total, trimmed(s.total.Low))
			}
			continue
		}
		if none := slices.Contains(s.none, true) || tooFewVMs(&a.Horizon); none != (of.said.Status == capacity.InfeasibleStatus) {
			b.wrong("/"+of.at+"/status", "is %s", of.said.Status)
		}
		b.judge("/"+of.at+"/cost/total", s.total, running(cost), new(big.Rat))
		if of.at != "today" {
			continue
		}
		for i, m := range a.Months { // today's months are the recommendation's and what it saves
			if i < len(s.months) && i < len(a.Horizon.Months) {
				start := a.Horizon.Months[i].Start
				today := sub(add(m.Saved.Rat(), a.Horizon.Months[i].Cost.Total.Rat()), k.due(start, start.AddDate(0, 1, 0)))
				b.judge(fmt.Sprintf("/months/%d/saved", i), s.months[i], today, new(big.Rat))
			}
		}
	}
	b.end(CostsCheck, "The costs are the sums of their lines, and those of the cheapest plans with no offer and with no contract.")
}

// inWholeJobs checks what the plans of single hours come to. An answer whose work was ended may lack it.
func (b *buying) inWholeJobs() {
	a := &b.a
	due := b.carrying != nil && slices.Max(b.carrying.parts) > 1
	bare := b.q.Horizon
	bare.Contracts, bare.Problem.Supply.Contracts = nil, nil
	for _, of := range []struct {
		at   string
		cost *horizon.PurchaseCost
		h    horizon.Horizon
	}{{"recommended", &a.Recommended, b.with(b.q.Horizon, b.bought)}, {"today", &a.Today, b.q.Horizon}, {"on_demand_only", &a.OnDemandOnly, bare}} {
		switch there := of.cost.InWholeJobs != nil; {
		case b.otherTypes():
		case there && !due || !there && due && a.Complete:
			b.wrong("/"+of.at+"/in_whole_jobs", "stands where no job is planned in parts, or is missing")
		case there:
			b.wholeHours("/"+of.at+"/in_whole_jobs", b.carrying, &of.h, of.cost.InWholeJobs, of.cost.Upfront.Rat())
		}
	}
	if f := a.Found; f != nil && (f.Today.InWholeJobs != nil || f.Bought.InWholeJobs != nil || f.AsItIs.InWholeJobs != nil) {
		b.wrong("/found", "has figures in whole jobs, which are told of the cluster as it is alone")
	}
}

func (b *buying) member(name string) any { m, _ := b.got.(map[string]any); return m[name] }

func marshalled(x any) []byte {
	text, err := json.Marshal(x)
	if err != nil {
		return nil
	}
	return text
}

// hopeless checks that not even all VMs of all offers serve the promised jobs.
func (b *buying) hopeless() {
	if tooFewVMs(&b.a.Horizon) || b.a.Found != nil { // there are plans, which do not do the work; or not all purchases were tried
		b.end(BoundCheck, "")
		return
	}
	most := make([]int64, len(b.q.Offers))
	for i := range most {
		most[i] = b.q.Offers[i].Max
	}
	h := b.with(b.hours, most)
	if s := b.span(cut(&h)); s.all && !slices.Contains(s.none, true) {
		if s.total.High != nil {
			b.wrong("/status", "is infeasible, and with all offers there are plans")
		} else {
			b.doubt("/status", "is infeasible: that is left open")
		}
	}
	b.end(BoundCheck, "Not even all VMs of all offers serve the promised jobs.")
}

// savings checks what the recommendation saves, month by month, and what is used of it.
func (b *buying) savings() {
	a, total := &b.a, &b.a.Horizon.Total
	saving := func(from, to *horizon.PurchaseCost, of func(*horizon.PurchaseCost) money.Amount) any {
		if from.Status == capacity.InfeasibleStatus {
			return nil
		}
		saved := sub(of(from).Rat(), of(to).Rat())
		share := new(big.Rat)
		if x := of(from).Rat(); x.Sign() > 0 {
			share = quo(saved, x)
		}
		return map[string]any{"amount": exact(saved), "share": about(share)}
	}
	bill := func(x *horizon.PurchaseCost) money.Amount { return x.Bill }
	all := func(x *horizon.PurchaseCost) money.Amount { return x.Total }
	want := map[string]any{
		"bill_saving": saving(&a.Today, &a.Recommended, bill), "bill_saving_against_on_demand": saving(&a.OnDemandOnly, &a.Recommended, bill),
		"saving": saving(&a.Today, &a.Recommended, all), "saving_against_on_demand": saving(&a.OnDemandOnly, &a.Recommended, all),
		"coverage": nil, "utilisation": nil, "penalties_avoided": nil, "bill_break_even_month": nil, "break_even_month": nil,
		"demand_needed_until": nil,
	}
	if total.VMHours > 0 {
		want["coverage"] = about(quo(number(total.ReservedHours), number(total.VMHours)))
	}
	offers, used, bought := []any{}, new(big.Rat), new(big.Rat)
	for i, o := range b.q.Offers {
		t := &a.Horizon.Contracts[len(a.Horizon.Contracts)-len(b.q.Offers)+i]
		from, until := b.term(i)
		start, end := b.calendar.cells[0].start.Unix(), b.calendar.cells[0].start.Unix()+b.calendar.seconds(len(b.calendar.cells))
		inside := max(0, min(until.Unix(), end)-max(from.Unix(), start))
		one := map[string]any{"name": o.Name, "vms": exact(whole(b.bought[i])), "max": exact(whole(o.Max)), "utilisation": nil,
			"share": about(big.NewRat(inside, until.Unix()-from.Unix())), "paid": exact(mul(o.Upfront.Rat(), whole(b.bought[i]))),
			"upfront": exact(t.Upfront.Rat()), "reserved": exact(t.Reserved.Rat()), "reserved_idle": exact(t.ReservedIdle.Rat())}
		if t.Utilisation != nil {
			one["utilisation"] = about(number(*t.Utilisation))
		}
		offers = append(offers, one)
		used.Add(used, number(t.UsedHours))
		bought.Add(bought, add(number(t.UsedHours), number(t.IdleHours)))
	}
	if want["offers"] = offers; bought.Sign() > 0 {
		want["utilisation"] = about(quo(used, bought))
	}
	if a.Today.Status != capacity.InfeasibleStatus {
		want["penalties_avoided"] = exact(sub(a.Today.Cost.Penalties.Rat(), a.Recommended.Cost.Penalties.Rat()))
		b.months(want)
	}
	if (a.ServedMore == nil) != (a.Today.Status == capacity.InfeasibleStatus) {
		b.wrong("/served_more_job_hours", "is there if today's contracts serve all promised jobs, and only then")
	}
	b.servedMore()
	b.differ("", b.got, want)
	b.end(SavingsCheck, "What is saved follows from the costs, by month and in all.")
}

// servedMore bounds the job-hours that the recommendation serves more than today: today refuses what its value allows. Hours by
// themselves keep each promise. Planned as months are, jobs that an hour promises may have been refused as they arrived.
func (b *buying) servedMore() {
	if b.a.ServedMore == nil || b.a.Today.Status == capacity.InfeasibleStatus {
		return
	}
	type room struct{ value, hours *big.Rat } // of a job-hour, and how many may be refused
	var rooms []room
	for _, x := range b.calendar.cells {
		p := &b.calendar.cases[x.situation].problem
		for i := range p.Classes {
			class := &p.Classes[i]
			each := b.calendar.filled(x.period, i)
			value := mul(b.q.Problem.Classes[i].Penalty.Rat(), big.NewRat(3600, p.PeriodSeconds))
			jobs := class.Jobs.Max - class.Jobs.Min
			if b.a.Found != nil && !class.Jobs.All {
				jobs = class.Jobs.Max
			}
			rooms = append(rooms, room{value, mul(each, mul(number(jobs), big.NewRat(x.seconds, 3600)))})
		}
	}
	slices.SortFunc(rooms, func(a, b room) int { return a.value.Cmp(b.value) })
	hours := func(in []room) *big.Rat {
		refused, left := new(big.Rat), b.a.Today.Cost.Penalties.Rat()
		for _, r := range in {
			value := mul(r.value, r.hours)
			if value.Cmp(left) > 0 {
				return add(refused, quo(left, r.value))
			}
			refused, left = add(refused, r.hours), sub(left, value)
		}
		return refused
	}
	most := hours(rooms)
	rooms = slices.DeleteFunc(rooms, func(r room) bool { return r.value.Sign() == 0 }) // of jobs without a value none need be refused
	slices.Reverse(rooms)
	least, here := hours(rooms), number(b.a.Horizon.Total.RefusedHours)
	said, slack := number(*b.a.ServedMore), mul(big.NewRat(1, 1e6), add(big.NewRat(1, 1), most))
	if said.Cmp(sub(sub(least, here), slack)) < 0 || said.Cmp(add(sub(most, here), slack)) > 0 {
		b.wrong("/served_more_job_hours", "is %v; the value refused today allows %s to %s", *b.a.ServedMore, sub(least, here).FloatString(3), sub(most, here).FloatString(3))
	}
}

// months adds the months of the savings, which add up to those of the whole time.
func (b *buying) months(want map[string]any) {
	a, months := &b.a, []any{}
	saved, billSaved := new(big.Rat), new(big.Rat)
	var balances [2]*big.Rat
	balances[0], balances[1] = new(big.Rat), new(big.Rat)
	var since [2]any
	today := cut(&b.hours)
	if len(a.Months) != len(a.Horizon.Months) {
		b.wrong("/months", "are %d, and there are %d", len(a.Months), len(a.Horizon.Months))
		return
	}
	for i, m := range a.Months {
		start := a.Horizon.Months[i].Start
		paid := new(big.Rat)
		for k, o := range b.q.Offers {
			from, _ := b.term(k)
			if from = from.UTC(); from.Before(start.AddDate(0, 1, 0)) && (i == 0 || !from.Before(start)) {
				paid.Add(paid, mul(o.Upfront.Rat(), whole(b.bought[k])))
			}
		}
		end := start.AddDate(0, 1, 0)
		upfront := sub(b.calendar.due(start, end), today.due(start, end))
		saved.Add(saved, m.Saved.Rat())
		billSaved.Add(billSaved, m.BillSaved.Rat())
		for k, x := range []money.Amount{m.BillSaved, m.Saved} {
			if balances[k] = add(balances[k], sub(add(x.Rat(), upfront), paid)); balances[k].Sign() < 0 {
				since[k] = nil
			} else if since[k] == nil {
				since[k] = start
			}
		}
		months = append(months, map[string]any{"month": start, "upfront": exact(upfront), "paid": exact(paid),
			"bill_balance": exact(balances[0]), "balance": exact(balances[1])})
	}
	if slices.Max(append(b.bought, 0)) == 0 {
		since = [2]any{}
	}
	want["months"], want["bill_break_even_month"], want["break_even_month"] = months, since[0], since[1]
	want["demand_needed_until"] = b.neededUntil()
	t, r := &a.Today, &a.Recommended
	if all := sub(t.Total.Rat(), r.Total.Rat()); saved.Cmp(all) != 0 {
		b.wrong("/months", "save %s together, and the costs differ by %s", trimmed(saved), trimmed(all))
	}
	if all := sub(t.Bill.Rat(), r.Bill.Rat()); billSaved.Cmp(all) != 0 {
		b.wrong("/months", "save %s on bills together, and those differ by %s", trimmed(billSaved), trimmed(all))
	}
}

// purchased brackets the cost of a purchase: of the plans, and of the upfront payments.
func (b *buying) purchased(h horizon.Horizon, bought []int64) (l proof.Least, looked bool) {
	h = b.with(h, bought)
	k := cut(&h)
	s := b.span(k)
	if !s.all {
		return l, false
	}
	l = s.total
	if l.None = slices.Contains(s.none, true); l.None {
		return l, true
	}
	upfront := new(big.Rat)
	for i := range k.contracts {
		upfront.Add(upfront, k.share(i, k.seconds(len(k.cells))))
	}
	upfront.Add(upfront, b.beyond(bought))
	l.Add(proof.Least{Low: upfront, High: upfront, Slack: new(big.Rat)}, whole(1))
	l.Slack = add(l.Slack, mul(big.NewRat(1, 1e9), add(whole(1), upfront))) // the search adds up in floats
	return l, true
}

// priced holds the cost of a purchase against what is said of it; null says that it has no plan.
func (b *buying) priced(at string, h horizon.Horizon, bought []int64, said *money.Amount) {
	l, looked := b.purchased(h, bought)
	switch {
	case !looked:
	case said == nil && !l.None && l.High != nil:
		b.wrong(at, "is null, and there are plans for %s", trimmed(l.High))
	case said != nil:
		l.Slack = add(l.Slack, mul(big.NewRat(1, 1e9), said.Rat()))
		b.judge(at, l, said.Rat(), new(big.Rat))
	}
}

// curves checks other numbers of one offer.
func (b *buying) curves() {
	a := &b.a
	today, known := b.weighedCosts()
	if there := len(a.Curves) == len(b.q.Offers) && len(a.Regret) == len(b.q.Factors); a.Found != nil && a.Found.VMs == nil {
		if len(a.Curves)+len(a.Regret)+len(a.Ends)+len(a.Assumptions) > 0 {
			b.wrong("/curves", "stand there, and no purchase is found")
		}
	} else if a.Complete != there {
		b.wrong("/complete", "is %t, with %d curves and %d demands", a.Complete, len(a.Curves), len(a.Regret))
	}
	for i := range min(len(a.Curves), len(b.q.Offers)) {
		curve, at := &a.Curves[i], fmt.Sprintf("/curves/%d", i)
		if curve.Offer != b.q.Offers[i].Name || curve.Bought != b.bought[i] {
			b.wrong(at, "is of %d VMs of %q, and %d of %q are bought", curve.Bought, curve.Offer, b.bought[i], b.q.Offers[i].Name)
		}
		for n, p := range curve.Points {
			at := fmt.Sprintf("%s/points/%d", at, n)
			if n > 0 && p.VMs <= curve.Points[n-1].VMs || p.VMs < 0 || p.VMs > b.q.Offers[i].Max {
				b.wrong(at+"/vms", "is %d, out of its order", p.VMs)
			}
			other := slices.Clone(b.bought)
			if other[i] = p.VMs; curve.Exact {
				b.priced(at+"/cost", b.hours, other, p.Cost)
				b.saved(at, "saving", p.Saving, p.Cost, today, today.Total)
				b.saved(at, "bill_saving", p.BillSaving, p.Bill, today, today.Bill)
				b.dearer(at+"/bill", p.Bill, p.Cost)
			} else if p.VMs == b.bought[i] && known != nil {
				if p.Cost != nil && !p.Cost.Equal(known.Total.Decimal) {
					b.wrong(at+"/cost", "is %s, and the recommendation's %s", p.Cost, known.Total)
				}
			} else if l, looked := b.purchased(b.hours, other); looked && p.Cost != nil && l.High != nil {
				if p.Cost.Rat().Cmp(add(l.High, l.Slack)) > 0 {
					b.wrong(at+"/cost", "is %s, and there are plans for %s", p.Cost, trimmed(l.High))
				}
			}
			if !curve.Exact && p.Bill != nil {
				b.wrong(at+"/bill", "stands on a curve that is not exact")
			}
			if p.VMs == b.bought[i] && known != nil && curve.Exact && p.Bill != nil && p.Bill.Rat().Cmp(known.Bill.Rat()) != 0 {
				b.wrong(at+"/bill", "is %s, and the recommendation's %s", p.Bill, known.Bill)
			}
		}
	}
	b.end(CurvesCheck, "Other numbers of VMs cost and save what is said.")
}

// weighedCosts are those of today and of the recommendation as offers were weighed; the latter is nil where it was not.
func (b *buying) weighedCosts() (today, known *horizon.PurchaseCost) {
	f := b.a.Found
	switch {
	case f == nil:
		return &b.a.Today, &b.a.Recommended
	case slices.Equal(f.VMs, b.bought):
		return &f.Today, &f.Bought
	}
	return &f.Today, nil
}

// saved checks a difference from today.
func (b *buying) saved(at, name string, said, cost *money.Amount, from *horizon.PurchaseCost, today money.Amount) {
	switch {
	case from.Status == capacity.InfeasibleStatus:
	case (said == nil) != (cost == nil):
		b.wrong(at+"/"+name, "stands there without a cost, or is missing")
	case said != nil && said.Rat().Cmp(sub(today.Rat(), cost.Rat())) != 0:
		b.wrong(at+"/"+name, "is %s, and %s follows from the costs", said, trimmed(sub(today.Rat(), cost.Rat())))
	}
}

// dearer checks that a bill is no higher than the cost that it is part of.
func (b *buying) dearer(at string, bill, cost *money.Amount) {
	var most *big.Rat
	if cost != nil {
		most = add(cost.Rat(), mul(big.NewRat(1, 1e8), add(whole(1), cost.Rat())))
	}
	if (bill == nil) != (most == nil) || bill != nil && bill.Rat().Cmp(most) > 0 {
		b.wrong(at, "does not go with a cost of %v", cost)
	}
}

// regrets checks other demands.
func (b *buying) regrets() {
	a := &b.a
	for i := range min(len(a.Regret), len(b.q.Factors)) {
		p, at := &a.Regret[i], fmt.Sprintf("/regret/%d", i)
		if p.Factor != b.q.Factors[i] {
			b.wrong(at+"/factor", "is %v, and %v was asked for", p.Factor, b.q.Factors[i])
			continue
		}
		b.regret(at, b.scaled(p.Factor), p)
		if p.Factor == 1 && p.Best != nil {
			b.unscaled(at, p)
		}
	}
	b.end(RegretCheck, "At other demands the recommendation and the best purchase cost what is said, and no neighbour of the best is better.")
}

// regret checks the recommendation and the best purchase of another horizon.
func (b *buying) regret(at string, h horizon.Horizon, p *horizon.RegretPoint) {
	if p.Best == nil {
		most := make([]int64, len(b.q.Offers))
		for k := range most {
			most[k] = b.q.Offers[k].Max
		}
		b.priced(at+"/best", h, most, nil)
		if p.Cost != nil || p.BestCost != nil || p.Regret != nil {
			b.wrong(at+"/best", "is null, and costs are given")
		}
		return
	}
	if len(p.Best) != len(b.q.Offers) || p.BestCost == nil {
		b.wrong(at+"/best", "has %d offers, and there are %d", len(p.Best), len(b.q.Offers))
		return
	}
	for k, n := range p.Best {
		if n < 0 || n > b.q.Offers[k].Max {
			b.wrong(at+"/best", "has %d of %d VMs", n, b.q.Offers[k].Max)
			return
		}
	}
	b.priced(at+"/today_cost", h, make([]int64, len(p.Best)), p.TodayCost)
	b.priced(at+"/cost", h, b.bought, p.Cost)
	b.priced(at+"/best_cost", h, p.Best, p.BestCost)
	b.dearer(at+"/today_bill", p.TodayBill, p.TodayCost)
	b.dearer(at+"/bill", p.Bill, p.Cost)
	b.dearer(at+"/best_bill", p.BestBill, p.BestCost)
	if (p.Cost == nil) != (p.Regret == nil) || p.Cost != nil && p.Regret.Rat().Cmp(sub(p.Cost.Rat(), p.BestCost.Rat())) != 0 {
		b.wrong(at+"/regret", "is %v, and does not follow from the costs", p.Regret)
	}
	if p.Gap < 0 || p.Gap > 1 {
		b.wrong(at+"/gap", "is %v", p.Gap)
	}
	claimed := mul(p.BestCost.Rat(), sub(whole(1), number(p.Gap)))
	b.noneBelow(at+"/best_cost", h, neighbours(p.Best, b.q.Offers), claimed)
}

// unscaled checks that without another demand the costs are those of the answer itself.
func (b *buying) unscaled(at string, p *horizon.RegretPoint) {
	today, known := b.weighedCosts()
	type same struct {
		name     string
		said, is *money.Amount
	}
	all := []same{}
	if today.Status != capacity.InfeasibleStatus {
		all = append(all, same{"today_cost", p.TodayCost, &today.Total}, same{"today_bill", p.TodayBill, &today.Bill})
	}
	if known != nil && known.Status != capacity.InfeasibleStatus {
		all = append(all, same{"cost", p.Cost, &known.Total}, same{"bill", p.Bill, &known.Bill})
	}
	switch f := b.a.Found; {
	case f != nil && slices.Equal(p.Best, f.VMs):
		all = append(all, same{"best_bill", p.BestBill, &f.Bought.Bill})
	case f == nil && slices.Equal(p.Best, b.bought):
		all = append(all, same{"best_bill", p.BestBill, &known.Bill})
	}
	for _, x := range all {
		if x.said != nil && !x.said.Equal(x.is.Decimal) {
			b.wrong(at+"/"+x.name, "is %s, and %s without another demand", x.said, x.is)
		}
	}
}

// neighbours are purchases near one: a VM of each offer more and less, none and all.
func neighbours(at []int64, offers []capacity.Offer) (all [][]int64) {
	for k := range at {
		for _, n := range []int64{at[k] - 1, at[k] + 1, 0, offers[k].Max} {
			if n >= 0 && n <= offers[k].Max && n != at[k] {
				other := slices.Clone(at)
				other[k] = n
				all = append(all, other)
			}
		}
	}
	return all
}

// noneBelow looks for a purchase among some that costs less than an amount.
func (b *buying) noneBelow(at string, h horizon.Horizon, purchases [][]int64, bound *big.Rat) (all bool) {
	all = true
	for _, n := range purchases {
		l, looked := b.purchased(h, n)
		switch {
		case !looked:
			all = false
		case l.None:
		case l.High != nil && add(l.High, l.Slack).Cmp(bound) < 0:
			b.wrong(at, "is %s at least, and buying %v costs %s", trimmed(bound), n, trimmed(l.High))
		case l.Low == nil || add(l.Low, l.Slack).Cmp(bound) < 0:
			all = false
		}
	}
	return all
}

// scaled is the horizon with all demand times a factor, rounded up to whole jobs unless the problem is relaxed.
func (b *buying) scaled(factor float64) horizon.Horizon {
	if b.carrying != nil {
		return b.inJobs(b.q.Horizon, factor)
	}
	h := b.q.Horizon
	scale := func(x float64) float64 {
		y := mul(number(x), number(factor))
		if h.Problem.Options.Integrality == capacity.Relaxed {
			return x * factor
		}
		return math.Ceil(float(sub(y, big.NewRat(1, 1e9))))
	}
	h.Problem.Classes = slices.Clone(h.Problem.Classes)
	for i := range h.Problem.Classes {
		j := &h.Problem.Classes[i].Jobs
		j.Max = scale(j.Max)
	}
	h.Periods = slices.Clone(h.Periods)
	for i := range h.Periods {
		if h.Periods[i].Jobs = slices.Clone(h.Periods[i].Jobs); len(h.Periods[i].Jobs) == 0 {
			h.Periods[i].Jobs = nil
		}
		for k, x := range h.Periods[i].Jobs {
			h.Periods[i].Jobs[k] = scale(x)
		}
	}
	return h
}
