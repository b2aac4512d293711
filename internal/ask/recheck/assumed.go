package recheck

import (
	"fmt"
	"math"
	"math/big"
	"slices"
	"time"

	"example.org/headroom/internal/ask/horizon"
	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/money"
	"example.org/headroom/internal/core/proof"
)

func lengthOf(p *horizon.HorizonPeriod) int64 { return 3600*p.Hours + p.Seconds }

// between is the part of a period from one moment to another, moved by some seconds.
func between(p horizon.HorizonPeriod, from, to, moved int64) horizon.HorizonPeriod {
	share := float64(to-from) / float64(lengthOf(&p))
	p.Arrivals = slices.Clone(p.Arrivals)
	for class := range p.Arrivals {
		p.Arrivals[class] *= share
	}
	p.Start, p.Hours, p.Seconds = time.Unix(from+moved, 0).UTC(), 0, to-from
	return p
}

// assumed is a horizon with the demand that is assumed after it, until the last contract on offer ends.
func assumed(q *horizon.PurchaseQuestion, h horizon.Horizon, a horizon.Assumption) horizon.Horizon {
	start, last := ends(&h)
	end := last.Unix()
	until := end
	for i := range q.Offers {
		_, over := termOf(&q.Offers[i], start)
		until = max(until, over.Unix())
	}
	if until = min(until, start.Unix()+3600*capacity.MaxHorizonHours); a == "" || until <= end {
		return h
	}
	known := h.Periods
	h.Periods = slices.Clone(known)
	cycle := map[horizon.Assumption]int64{horizon.LastWeekRepeats: 7 * 86_400, horizon.LastMonthRepeats: 28 * 86_400}[a]
	if cycle == 0 {
		after := between(known[len(known)-1], end, until, 0)
		after.Unforecast, after.Jobs = false, make([]float64, len(h.Problem.Classes))
		for class := range after.Arrivals {
			after.Arrivals[class] = 0
			for k := range known {
				if a == horizon.FlatDemand && known[k].Arrivals != nil {
					after.Arrivals[class] += known[k].Arrivals[class] * float64(until-end) / float64(end-start.Unix())
				}
			}
		}
		if a == horizon.FlatDemand {
			h.Periods = append(h.Periods, flat(&h, known, after)...)
		} else {
			h.Periods = append(h.Periods, after)
		}
		return h
	}
	for moved := cycle; end+moved-cycle < until; moved += cycle {
		for _, p := range known {
			from, to := max(p.Start.Unix(), end-cycle), min(p.Start.Unix()+lengthOf(&p), until-moved)
			if from < to {
				h.Periods = append(h.Periods, between(p, from, to, moved))
			}
		}
	}
	return h
}

// flat is the average demand after the forecast. Of whole jobs, each month begins with one more of a class, for the time
// that the part of a job beyond whole ones takes. Where jobs arrive, more arrive then, for whole hours. Of too many classes
// and months the average is rounded up.
func flat(h *horizon.Horizon, known []horizon.HorizonPeriod, after horizon.HorizonPeriod) (periods []horizon.HorizonPeriod) {
	n, from := len(h.Problem.Classes), after.Start.Unix()
	until, forecast := from+lengthOf(&after), from-known[0].Start.Unix()
	relaxed, months := h.Problem.Options.Integrality == capacity.Relaxed, []int64{from}
	for at := after.Start.UTC(); ; {
		at = time.Date(at.Year(), at.Month()+1, 1, 0, 0, 0, 0, time.UTC)
		months = append(months, min(until, at.Unix()))
		if at.Unix() >= until {
			break
		}
	}
	last := time.Unix(until, 0).UTC()
	counted := 12*(last.Year()-after.Start.UTC().Year()) + int(last.Month()) - int(after.Start.UTC().Month()) + 1
	up := counted*n*(n+1) > horizon.MaxHorizonLoad/10
	if relaxed || up {
		months = []int64{from, until}
	}
	means := make([]*big.Rat, n)
	for class := range means {
		means[class] = mean(h, known, class, forecast)
	}
	for i, end := range months[1:] {
		begin := months[i]
		full, cuts := make([]float64, n), []int64{begin, end}
		rest := make([]int64, n) // until when more arrive
		for class := range after.Arrivals {
			if _, part := atOnce(h, &after, class); part > 1e-9 && !relaxed && !up {
				rest[class] = min(end, begin+3600*int64(math.Ceil(part*float64(end-begin)/3600-1e-9)))
				cuts = append(cuts, rest[class])
			}
		}
		extra := make([]int64, n) // until when one more runs
		for class, x := range means {
			whole, part := floored(x)
			switch full[class] = float(whole); {
			case relaxed:
				full[class] = float(x)
			case up && part.Sign() > 0:
				full[class]++
			case part.Sign() > 0:
				extra[class] = begin + proof.Ceil(mul(part, big.NewRat(end-begin, 1))).Int64()
				cuts = append(cuts, extra[class])
			}
		}
		slices.Sort(cuts)
		cuts = slices.Compact(cuts)
		for k, cut := range cuts[1:] {
			p := between(after, cuts[k], cut, 0)
			p.Jobs = slices.Clone(full)
			for class := range p.Jobs {
				if extra[class] >= cut {
					p.Jobs[class]++
				}
			}
			for class := range p.Arrivals {
				if rest[class] == 0 {
					continue
				}
				whole, part := atOnce(h, &after, class)
				each := after.Arrivals[class] / float64(until-from) / (whole + part) // a second, which keep one job running
				p.Arrivals[class] = each * whole * float64(cut-cuts[k])
				if cut <= rest[class] {
					p.Arrivals[class] += each * part * float64(end-begin) * float64(cut-cuts[k]) / float64(rest[class]-begin)
				}
			}
			periods = append(periods, p)
		}
	}
	return periods
}

// atOnce is the jobs of a class that run at once on average where they arrive: whole ones, and the rest.
func atOnce(h *horizon.Horizon, after *horizon.HorizonPeriod, class int) (whole, part float64) {
	jobs := after.Arrivals[class] / float64(lengthOf(after)) * proof.HeldSeconds(&h.Problem, class)
	whole = math.Floor(jobs + 1e-9)
	return whole, max(0, jobs-whole)
}

// floored splits a number into a whole one and the rest; roundedUp is the next whole one.
func floored(x *big.Rat) (whole, part *big.Rat) {
	whole = new(big.Rat).SetInt(new(big.Int).Div(x.Num(), x.Denom()))
	return whole, sub(x, whole)
}

// mean is the average demand of a class, of whole jobs unless the problem is relaxed.
func mean(h *horizon.Horizon, known []horizon.HorizonPeriod, class int, seconds int64) *big.Rat {
	sum := new(big.Rat)
	for i := range known {
		jobs := h.Problem.Classes[class].Jobs.Max
		if known[i].Jobs != nil {
			jobs = known[i].Jobs[class]
		} else if known[i].Arrivals != nil {
			jobs = 0
		}
		if h.Problem.Options.Integrality != capacity.Relaxed {
			jobs = math.Ceil(jobs - 1e-9)
		}
		sum.Add(sum, mul(number(jobs), big.NewRat(lengthOf(&known[i]), seconds)))
	}
	return sum
}

// ended is a horizon without demand from a moment on.
func ended(h horizon.Horizon, end int64) horizon.Horizon {
	periods := h.Periods
	h.Periods = nil
	for _, p := range periods {
		from := p.Start.Unix()
		to := from + lengthOf(&p)
		if from < end {
			h.Periods = append(h.Periods, between(p, from, min(to, end), 0))
		}
		if to > end {
			none := between(p, max(from, end), to, 0)
			none.Jobs = make([]float64, len(h.Problem.Classes))
			clear(none.Arrivals)
			h.Periods = append(h.Periods, none)
		}
	}
	return h
}

// terms checks what the offers commit to over their whole terms, and what one VM more of each would do.
func (b *buying) terms(forecast time.Time) {
	all, offers := new(big.Rat), []any{}
	for i := range b.q.Offers {
		from, until := b.term(i)
		o := &b.q.Offers[i]
		each := b.committed(i)
		covered := int64(0)
		for k := range b.asked.Periods {
			if p := &b.asked.Periods[k]; !p.Unforecast || p.Jobs != nil {
				covered += max(0, min(until.Unix(), p.Start.Unix()+lengthOf(p))-max(from.Unix(), p.Start.Unix()))
			}
		}
		committed := mul(each, whole(b.bought[i]))
		all.Add(all, committed)
		one := map[string]any{"obligation": exact(committed), "forecast_share": about(big.NewRat(covered, until.Unix()-from.Unix())), "one_more": nil}
		if b.bought[i] > 0 && b.bought[i] == o.Max {
			if one["one_more"] = map[string]any{"obligation": exact(each)}; b.unpaid(i) {
				one["one_more"] = nil
			}
			b.more(i)
		}
		offers = append(offers, one)
	}
	want := map[string]any{"obligation": exact(all), "forecast_until": forecast, "offers": offers}
	if b.q.Assume != "" {
		want["assume"] = string(b.q.Assume)
	} else if b.a.Assume != "" {
		b.wrong("/assume", "is %q, and nothing was", b.a.Assume)
	}
	b.differ("", b.got, want)
	b.end(TermsCheck, "The offers commit to so much over their whole terms.")
}

// owing are the figures of facts about what a purchase commits to.
func (b *buying) owing() figures {
	share, all := whole(1), new(big.Rat)
	_, end := ends(&b.q.Horizon)
	left := b.owed(end)
	for i := range min(len(b.bought), len(b.a.Offers)) {
		if o := &b.a.Offers[i]; b.bought[i] > 0 {
			all.Add(all, mul(b.committed(i), whole(b.bought[i])))
			left.Add(left, sub(o.Paid.Rat(), o.Upfront.Rat()))
			if is := number(o.ForecastShare); is.Cmp(share) < 0 {
				share = is
			}
		}
	}
	f := figures{"buy/obligation": all, "buy/forecast_share": share, "demand_ends/left": left, "buy/left": left}
	if b.a.BillEven != nil {
		f["paid_for_itself/owed"] = b.owed(b.a.BillEven.UTC().AddDate(0, 1, 0))
		f["bills_so_far_from/owed"] = f["paid_for_itself/owed"]
	}
	return f
}

// owed adds up what a purchase costs after a moment, used or not, beside what is paid upfront.
func (b *buying) owed(after time.Time) *big.Rat {
	sum := new(big.Rat)
	for i := range b.bought {
		from, until := b.term(i)
		seconds := until.Unix() - max(from.Unix(), after.Unix())
		if o := &b.q.Offers[i]; o.Billing == capacity.BilledAlways && seconds > 0 {
			sum.Add(sum, mul(whole(b.bought[i]), cents(mul(o.Price.Rat(), big.NewRat(seconds, 3600)))))
		}
	}
	return sum
}

// committed is all that one VM of an offer commits to over its whole term.
func (b *buying) committed(i int) *big.Rat {
	o := &b.q.Offers[i]
	from, until := b.term(i)
	if o.Billing != capacity.BilledAlways {
		return o.Upfront.Rat()
	}
	return add(o.Upfront.Rat(), cents(mul(o.Price.Rat(), big.NewRat(until.Unix()-from.Unix(), 3600))))
}

// unpaid reports whether it is said that one VM more of an offer leaves hours without a plan, which a budget may do alone. An answer
// whose work was ended may lack it, too.
func (b *buying) unpaid(i int) bool {
	missing := b.a.Found != nil && (b.budget != nil || !b.a.Complete) && i < len(b.a.Offers) && b.a.Offers[i].OneMore == nil
	if !missing || !b.a.Complete || b.otherTypes() || b.carrying != nil {
		return missing
	}
	with := slices.Clone(b.bought)
	with[i]++
	l, looked := b.purchased(b.hours, with)
	return !looked || l.None
}

// more checks that one VM more of an offer lowers bill and value refused together by what is said.
func (b *buying) more(i int) {
	if i >= len(b.a.Offers) || b.a.Offers[i].OneMore == nil {
		return // it is missing, which is said
	}
	said := b.a.Offers[i].OneMore
	with := slices.Clone(b.bought)
	with[i]++
	cost := sub(sub(b.a.Recommended.Total.Rat(), said.BillSaving.Rat()), said.ValueRefused.Rat())
	if b.otherTypes() {
		return
	}
	l, looked := b.purchased(b.hours, with)
	switch at := fmt.Sprintf("/offers/%d/one_more", i); {
	case !looked || l.None:
	case b.a.Found == nil || b.carrying == nil:
		b.judge(at, l, cost, new(big.Rat))
	case l.Low != nil && add(cost, l.Slack).Cmp(l.Low) < 0 && !b.promises(): // months
		b.wrong(at, "costs %s, and hours by themselves cost %s", trimmed(cost), trimmed(l.Low))
	}
}

// endings checks demands that end early.
func (b *buying) endings() {
	for i := range b.a.Ends {
		p, at := &b.a.Ends[i], fmt.Sprintf("/demand_ends/%d", i)
		end := p.Ends.UTC()
		start, last := ends(&b.q.Horizon)
		if !end.Equal(time.Date(end.Year(), end.Month(), 1, 0, 0, 0, 0, time.UTC)) || !end.After(start) || !end.Before(last) {
			b.wrong(at+"/ends", "is %s, which begins no month of the time", p.Ends)
			continue
		}
		if i > 0 && !p.Ends.After(b.a.Ends[i-1].Ends) {
			b.wrong(at+"/ends", "is %s, out of its order", p.Ends)
		}
		if p.Factor != 1 {
			b.wrong(at+"/factor", "is %v", p.Factor)
		}
		b.allOwed = true
		b.regret(at, b.inJobs(ended(b.q.Horizon, end.Unix()), 1), &p.RegretPoint)
		b.allOwed = false
		committed := new(big.Rat)
		for k, n := range p.Best {
			if k < len(b.q.Offers) {
				committed.Add(committed, mul(b.committed(k), whole(n)))
			}
		}
		if committed.Cmp(p.Obligation.Rat()) != 0 {
			b.wrong(at+"/obligation", "is %s, and the best purchase commits to %s", p.Obligation, trimmed(committed))
		}
	}
	b.end(EndingsCheck, "Where demand ends early the recommendation and the best purchase cost what is said.")
}

// assumptions checks the recommendation and the best purchases under other assumptions.
func (b *buying) assumptions() {
	for i := range b.a.Assumptions {
		s, at := &b.a.Assumptions[i], fmt.Sprintf("/assumptions/%d", i)
		order := []horizon.Assumption{horizon.LastWeekRepeats, horizon.LastMonthRepeats, horizon.FlatDemand, horizon.DemandEnds}
		if i > 0 && slices.Index(order, s.Assume) <= slices.Index(order, b.a.Assumptions[i-1].Assume) {
			b.wrong(at+"/assume", "is %q, out of its order", s.Assume)
		}
		if s.Gap < 0 || s.Gap > 1 {
			b.wrong(at+"/gap", "is %v", s.Gap)
		}
		h := b.inJobs(assumed(&b.q, b.asked, s.Assume), 1)
		b.priced(at+"/recommended_cost", h, b.bought, s.RecommendedBoth)
		b.dearer(at+"/recommended_bill", s.RecommendedBill, s.RecommendedBoth)
		if len(s.Best) != len(b.q.Offers) || s.BestBill == nil || s.BestValue == nil {
			if s.Best != nil || s.BestBill != nil || s.BestValue != nil {
				b.wrong(at+"/best", "has %d offers, and there are %d", len(s.Best), len(b.q.Offers))
			}
			continue
		}
		cost := money.Amount{Decimal: s.BestBill.Add(s.BestValue.Decimal)}
		b.priced(at+"/best_bill", h, s.Best, &cost)
		committed := new(big.Rat)
		for k, n := range s.Best {
			committed.Add(committed, mul(b.committed(k), whole(n)))
		}
		b.differ(at, tree(marshalled(s)), map[string]any{"obligation": exact(committed)})
		b.noneBelow(at+"/best_bill", h, neighbours(s.Best, b.q.Offers), mul(cost.Rat(), sub(whole(1), number(s.Gap))))
	}
	b.end(AssumptionsCheck, "Under other assumptions the recommendation and the best purchase cost what is said.")
}
