package horizon

import (
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/shopspring/decimal"

	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/fault"
	"example.org/headroom/internal/core/money"
	"example.org/headroom/internal/core/plan"
	"example.org/headroom/internal/core/strict"
	"example.org/headroom/internal/core/words"
)

// Assumption names the demand that follows the forecast until the longest contract on offer ends.
type Assumption string

// The assumptions. Prices go on as those of the repeated hours, or else as those of the last hour.
const (
	LastWeekRepeats  Assumption = "last_week_repeats"
	LastMonthRepeats Assumption = "last_month_repeats" // 28 days, so that weekdays stay weekdays
	FlatDemand       Assumption = "flat"               // the forecast's average; of whole jobs as many job-hours each month
	DemandEnds       Assumption = "ends"               // no jobs at all
)

var assumptions = []Assumption{LastWeekRepeats, LastMonthRepeats, FlatDemand, DemandEnds}

// leastForecast is the share of a contract's term that a forecast must cover for a recommendation without an assumption.
const leastForecast = 0.25

// cycle is the length of what repeats; 0 for other assumptions.
func (a Assumption) cycle() time.Duration {
	const day = 24 * time.Hour
	return map[Assumption]time.Duration{LastWeekRepeats: 7 * day, LastMonthRepeats: 28 * day}[a]
}

// AssumedAnswer holds the best purchase under an assumption, beside the recommendation there.
type AssumedAnswer struct {
	Assume          Assumption    `json:"assume"`
	Best            []int64       `json:"best"`       // by offer; null where nothing serves the promised jobs
	Obligation      money.Amount  `json:"obligation"` // of the best
	BestBill        *money.Amount `json:"best_bill"`
	BestValue       *money.Amount `json:"best_value_refused"`
	RecommendedBill *money.Amount `json:"recommended_bill"` // null where promised jobs do not fit
	RecommendedBoth *money.Amount `json:"recommended_cost"` // bill and value refused together
	Gap             float64       `json:"gap"`
}

// EndPoint is the recommendation where demand ends early, beside the best purchase there. Without demand the rest of the
// terms is of no use and owed nevertheless, so that bills have all that the offers commit to.
type EndPoint struct {
	Ends       time.Time    `json:"ends"`
	Obligation money.Amount `json:"obligation"` // of the best
	RegretPoint
}

// wholeTerm is the latest end of the contracts on offer.
func (q *PurchaseQuestion) wholeTerm() time.Time {
	end := q.End()
	for _, o := range q.Offers {
		if _, until := o.Term(q.Start()); until.After(end) {
			end = until
		}
	}
	if latest := q.Start().Add(capacity.MaxHorizonHours * time.Hour); end.After(latest) {
		return latest
	}
	return end
}

// Weighed is the horizon that is weighed: the question's without what it leaves out, extended by what it assumes.
func (q *PurchaseQuestion) Weighed() Horizon {
	if q.Assume == "" {
		return q.Without()
	}
	return q.Without().extended(q.wholeTerm(), q.Assume)
}

// extended is the horizon with an assumed demand after it.
func (h Horizon) extended(until time.Time, a Assumption) Horizon {
	end := h.End()
	if !end.Before(until) {
		return h
	}
	h = h.whole()
	h.Periods = slices.Clone(h.Periods)
	add := func(p HorizonPeriod, from, to time.Time) { h.Periods = append(h.Periods, p.part(from, to)) }
	cycle := a.cycle()
	if cycle == 0 {
		last := h.Periods[len(h.Periods)-1]
		n := len(h.Problem.Classes)
		last.Unforecast, last.Jobs = false, make([]float64, n)
		if h.arrives() {
			arrivals := make([]float64, n)
			for i := range h.Periods {
				for k, x := range h.Periods[i].Arrivals {
					arrivals[k] += x
				}
			}
			if last.Arrivals = make([]float64, n); a == FlatDemand {
				last.Arrivals = times(arrivals, float64(last.Length())/end.Sub(h.Start()).Seconds())
			}
		}
		if a == FlatDemand {
			h.Periods = append(h.Periods, h.flat(last, end, until)...)
		} else {
			add(last, end, until)
		}
		return h.carry()
	}
	tail := h.Periods
	for !tail[0].End().After(end.Add(-cycle)) {
		tail = tail[1:]
	}
	tail = slices.Clone(tail)
	for at := end; at.Before(until) && len(h.Periods) <= MaxPeriods; at = at.Add(cycle) {
		for _, p := range tail {
			from, to := maxTime(p.Start, end.Add(-cycle)).Add(at.Sub(end)+cycle), minTime(p.End().Add(at.Sub(end)+cycle), until)
			if from.Before(to) {
				add(p, from, to)
			}
		}
	}
	return h.carry()
}

// part is a part of the period, or the period again for another time, with as many arrivals for its length.
func (p HorizonPeriod) part(from, to time.Time) HorizonPeriod {
	seconds := to.Unix() - from.Unix()
	p.Arrivals = times(p.Arrivals, float64(seconds)/float64(p.Length()))
	p.Start = from
	p.SetLength(seconds)
	return p
}

// told is the number of jobs of a class that a period tells to run at once; none where it tells arrivals.
func (h *Horizon) told(period, class int) float64 {
	switch p := &h.Periods[period]; {
	case p.Jobs != nil:
		return p.Jobs[class]
	case p.Arrivals != nil:
		return 0
	}
	if h.parts != nil {
		return h.asked[class].Jobs.Max
	}
	return h.Problem.Classes[class].Jobs.Max
}

// endedAt is the horizon without demand from a moment on.
func (h Horizon) endedAt(end time.Time) Horizon {
	h = h.whole()
	none, periods := make([]float64, len(h.Problem.Classes)), h.Periods
	h.Periods = nil
	for _, p := range periods {
		if p.Start.Before(end) && p.End().After(end) {
			h.Periods = append(h.Periods, p.part(p.Start, end))
			p = p.part(end, p.End())
		}
		if !p.Start.Before(end) {
			p.Jobs, p.Arrivals = none, times(p.Arrivals, 0)
		}
		h.Periods = append(h.Periods, p)
	}
	return h.carry()
}

// forecastShare is the share of an offer's term that the forecast covers.
func (q *PurchaseQuestion) forecastShare(o *capacity.Offer) float64 {
	from, until := o.Term(q.Start())
	covered := int64(0)
	for i := range q.Periods {
		if p := &q.Periods[i]; !p.Unforecast || p.Jobs != nil || p.Arrivals != nil {
			covered += term{from, until}.within(term{p.Start, p.End()})
		}
	}
	return float64(covered) / float64(until.Unix()-from.Unix())
}

func (q *PurchaseQuestion) forecastShares() (shares []float64) {
	for k := range q.Offers {
		shares = append(shares, q.forecastShare(&q.Offers[k]))
	}
	return shares
}

// obligation is all that so many VMs of an offer commit to over its whole term, used or not.
func obligation(o *capacity.Offer, start time.Time, vms int64) money.Amount {
	each := o.Upfront.Decimal
	if o.Billing == capacity.BilledAlways {
		from, until := o.Term(start)
		each = each.Add(o.Price.Mul(decimal.NewFromInt(until.Unix()-from.Unix())).DivRound(decimal.NewFromInt(3600), money.Places))
	}
	return money.Amount{Decimal: each.Mul(decimal.NewFromInt(vms))}
}

// owed adds up what VMs of the offers cost after a moment, used or not, beside what is paid upfront.
func (q *PurchaseQuestion) owed(offers []OfferAnswer, after time.Time) (sum money.Amount) {
	for k := range min(len(q.Offers), len(offers)) {
		o := &q.Offers[k]
		from, until := o.Term(q.Start())
		if from = maxTime(from, after); o.Billing == capacity.BilledAlways && from.Before(until) {
			each := o.Price.Mul(decimal.NewFromInt(until.Unix()-from.Unix())).DivRound(decimal.NewFromInt(3600), money.Places)
			sum.Decimal = sum.Add(each.Mul(decimal.NewFromInt(offers[k].VMs)))
		}
	}
	return sum
}

func (q *PurchaseQuestion) obligations(bought []int64) money.Amount {
	sum := decimal.Zero
	for k := range q.Offers {
		sum = sum.Add(obligation(&q.Offers[k], q.Start(), bought[k]).Decimal)
	}
	return money.Amount{Decimal: sum}
}

// checkAssumption refuses a recommendation that rests on next to nothing, and an assumption that the forecast is too
// short for.
func (q *PurchaseQuestion) checkAssumption(c *strict.Checker) {
	if q.Assume != "" {
		if strict.OneOf(c, "assume", q.Assume, assumptions); !c.Sound() {
			return
		}
		if q.Assume.tooLong(&q.Horizon) {
			c.Found("assume", "range", fmt.Sprintf("The forecast lasts %s, and %q needs %s of it.", words.Hours(q.End().Sub(q.Start()).Hours()), q.Assume, words.Hours(q.Assume.cycle().Hours())),
				c.Hint("assume", FlatDemand, "Give a longer forecast, or assume %q.", FlatDemand))
			return
		}
		weighed := *q
		weighed.Horizon = q.Weighed()
		if n := len(weighed.Carried().Periods); n > maxPieces {
			c.Found("assume", "too_many", fmt.Sprintf("With %q until %s there are %d periods; there can be %d at most.", q.Assume, words.Moment(q.wholeTerm()), n, maxPieces),
				c.Hint("assume", FlatDemand, "Assume %q, or give offers of shorter terms.", FlatDemand))
		}
	}
	if !slices.ContainsFunc(q.Periods, func(p HorizonPeriod) bool { return !p.Unforecast || p.Jobs != nil || p.Arrivals != nil }) {
		c.Refuse("", "no_forecast", "There is no forecast from %s until %s, so that a recommendation would rest on the most jobs that classes may have at once. Give forecasts for that time, or ask about a time that has some.", words.Moment(q.Start()), words.Moment(q.End()))
		return
	}
	if q.Assume != "" {
		return
	}
	for i := range q.Offers {
		o := &q.Offers[i]
		if share := q.forecastShare(o); share < leastForecast {
			word := LastWeekRepeats
			if q.End().Sub(q.Start()) < word.cycle() {
				word = FlatDemand
			}
			c.Found("assume", "missing", fmt.Sprintf("The forecast covers %s of the term of %q; below a quarter nothing is recommended unless it is said what follows.", words.Percent(share), fault.Clip(o.Name)),
				c.Hint("assume", word, "Give a longer forecast, or say what to assume after it: %s.", words.Either(fault.Words(assumptions))))
			return
		}
	}
}

// assumed weighs the offers under the other assumptions that the forecast is long enough for.
func (w *weighing) assumed(ctx context.Context, known Horizon, bought []int64) ([]AssumedAnswer, error) {
	all, until := []AssumedAnswer{}, w.question.wholeTerm()
	for _, a := range assumptions {
		if w.question.Assume == "" || known.End().Sub(known.Start()) < a.cycle() || !known.End().Before(until) {
			continue
		}
		q := *w.question
		if q.Horizon = known.extended(until, a); len(q.Periods) > MaxPeriods {
			continue
		}
		there, best, err := w.elsewhere(ctx, &q, false, bought)
		if err != nil {
			return all, err
		}
		answer := AssumedAnswer{Assume: a, Obligation: q.obligations(best.bought)}
		this, err := there.exactAll(ctx, bought)
		if err == nil && !math.IsInf(this.Cost, 1) {
			answer.RecommendedBill, answer.RecommendedBoth = billOf(this), money.Finite(this.Cost)
		}
		var spent plan.Spent
		if err == nil {
			spent, err = there.exactAll(ctx, best.bought)
		}
		if err != nil {
			return all, err
		}
		if !math.IsInf(best.cost, 1) {
			answer.Best, answer.BestBill, answer.BestValue = best.bought, billOf(spent), money.Finite(max(0, spent.Cost-spent.VMs))
			answer.Gap = best.gap()
		} else {
			answer.Obligation = money.Amount{}
		}
		all = append(all, answer)
	}
	return all, nil
}

// elsewhere weighs the same offers for another horizon, by all that they commit to or by their share of it.
func (w *weighing) elsewhere(ctx context.Context, q *PurchaseQuestion, allOwed bool, bought []int64) (*weighing, choiceOfOffers, error) {
	there, err := weighingOf(ctx, q, w.crew, allOwed)
	if err != nil {
		return nil, choiceOfOffers{}, err
	}
	there.told = w.told
	best, err := there.search(ctx, quickEffort, q.Problem.Options.Gap, bought)
	return there, best, err
}

// gap is the distance that a choice may have from the cheapest, relative to its cost.
func (c *choiceOfOffers) gap() float64 {
	if !(c.cost > 0) || math.IsInf(c.cost, 1) {
		return 0
	}
	return max(0, c.cost-c.bound) / c.cost
}

// endings are the moments at which demand is tried to end: the ends of the first month and of each quarter of a
// horizon's months.
func endings(h *Horizon) (all []time.Time) {
	var months []time.Time
	for at := h.Start().UTC(); ; {
		at = time.Date(at.Year(), at.Month()+1, 1, 0, 0, 0, 0, time.UTC)
		if !at.Before(h.End()) {
			break
		}
		months = append(months, at)
	}
	n := len(months) + 1
	for _, k := range []int{1, n / 4, n / 2, 3 * n / 4} {
		if k >= 1 && k <= len(months) && !slices.Contains(all, months[k-1]) {
			all = append(all, months[k-1])
		}
	}
	return all
}

// ended tries the recommendation where demand ends early.
func (w *weighing) ended(ctx context.Context, bought []int64) ([]EndPoint, error) {
	all := []EndPoint{}
	for _, end := range endings(&w.question.Horizon) {
		q := *w.question
		q.Horizon = q.endedAt(end)
		there, best, err := w.elsewhere(ctx, &q, true, bought)
		if err != nil {
			return all, err
		}
		point := EndPoint{Ends: end, RegretPoint: RegretPoint{Factor: 1}}
		if !math.IsInf(best.cost, 1) {
			point.Obligation = q.obligations(best.bought)
		}
		if err := point.fill(ctx, there, &best, bought); err != nil {
			return all, err
		}
		all = append(all, point)
	}
	return all, nil
}

// MoreOffered holds the effect of one VM more than the most on offer.
type MoreOffered struct {
	BillSaving   money.Amount `json:"bill_saving"`        // negative where the bill would rise
	ValueRefused money.Amount `json:"value_refused_less"` // by which the value of refused jobs would fall
	Obligation   money.Amount `json:"obligation"`         // of the one VM
}

// oneMore looks at one VM more of each offer of which all are bought.
func (w *weighing) oneMore(ctx context.Context, a *PurchaseAnswer, bought []int64) error {
	for k := range a.Offers {
		if o := &a.Offers[k]; o.VMs == 0 || o.VMs < o.Most {
			continue
		}
		more := slices.Clone(bought)
		more[k]++
		is, err := w.exactAll(ctx, bought)
		if err != nil {
			return err
		}
		with, err := w.exactAll(ctx, more)
		if err != nil {
			return err
		}
		a.Offers[k].OneMore = &MoreOffered{BillSaving: money.Round(is.VMs - with.VMs), ValueRefused: money.Round((is.Cost - is.VMs) - (with.Cost - with.VMs)),
			Obligation: obligation(&w.question.Offers[k], w.question.Start(), 1)}
	}
	return nil
}

// wholeJobs says how an average is planned in whole jobs.
func (q *PurchaseQuestion) wholeJobs(from time.Time) string {
	switch {
	case q.Assume != FlatDemand || q.Problem.Options.Integrality == capacity.Relaxed:
		return ""
	case q.keepsJobHours(from.UTC(), q.wholeTerm().UTC()):
		return " Jobs are whole: where the average is not, one more runs in the first part of each month, for as many job-hours."
	}
	return " It is rounded up to whole jobs, which may be much more."
}

// tellTerms says what a purchase commits to, and what is known of that time.
func (a *PurchaseAnswer) tellTerms(q *PurchaseQuestion) {
	beside := ""
	if len(a.Offers) > 1 {
		beside = ", with the other offers as they are"
	}
	for i := range a.Offers {
		o := &a.Offers[i]
		if o.VMs > 0 {
			a.Facts.Say("obligation", o.Name, fmt.Sprintf("Over its whole term %q commits to %s %s, used or not; the forecast covers %s of that term.", o.Name, words.CentsOf(o.Obligation), a.Currency, words.Percent(o.ForecastShare)),
				words.Money("obligation", o.Obligation, a.Currency), words.Count("forecast_share", o.ForecastShare, "share of the term"))
		}
		if m := o.OneMore; m != nil {
			a.Facts.Say("all_on_offer_bought", o.Name, fmt.Sprintf("All of %q that is on offer is bought, %d; one more would %s%s.", o.Name, o.Most, m.sentence(), beside),
				words.Money("bill_saving", m.BillSaving, a.Currency), words.Money("value_refused_less", m.ValueRefused, a.Currency))
		}
	}
	if a.Assume == "" {
		return
	}
	a.Facts.Say("assumed", string(a.Assume), fmt.Sprintf("From %s on it is assumed that %s.%s", words.Moment(a.ForecastUntil), a.Assume.words(), q.wholeJobs(a.ForecastUntil)))
	for i := range a.Assumptions {
		s := &a.Assumptions[i]
		if s.Assume == a.Assume || s.BestBill == nil {
			continue
		}
		said, figures := fmt.Sprintf("If %s instead, bill and value refused together are lowest if one buys %s, with a VM bill of %s", s.Assume.words(), a.numbers(s.Best), words.CentsOf(*s.BestBill)), []capacity.Figure{words.Money("best_bill", *s.BestBill, a.Currency)}
		if s.RecommendedBill != nil {
			said += fmt.Sprintf("; with this purchase the VM bill is then %s", words.CentsOf(*s.RecommendedBill))
			figures = append(figures, words.Money("bill", *s.RecommendedBill, a.Currency))
		}
		a.Facts.Say("best_if_instead", string(s.Assume), a.apart(said+"."), figures...)
	}
}

func (m *MoreOffered) sentence() string {
	said := "leave the bill as it is"
	switch m.BillSaving.Sign() {
	case 1:
		said = "save " + words.CentsOf(m.BillSaving) + " of the bill"
	case -1:
		said = "raise the bill by " + words.CentsOf(m.BillSaving.Opposite())
	}
	if m.ValueRefused.Sign() > 0 {
		said += ", and the value refused would fall by " + words.CentsOf(m.ValueRefused)
	}
	return said
}

// words is an assumption as a part of a sentence.
func (a Assumption) words() string {
	return map[Assumption]string{LastWeekRepeats: "the last week repeats", LastMonthRepeats: "the last 28 days repeat",
		FlatDemand: "demand stays at the forecast's average", DemandEnds: "demand ends"}[a]
}

// numbers counts the VMs of each offer in words.
func (a *PurchaseAnswer) numbers(bought []int64) string {
	var parts []string
	for k, n := range bought {
		if n > 0 && k < len(a.Offers) {
			parts = append(parts, fmt.Sprintf("%d of %q", n, a.Offers[k].Name))
		}
	}
	if parts == nil {
		return "nothing"
	}
	return words.List(parts)
}

// tellEndings says what it costs where demand ends early.
func (a *PurchaseAnswer) tellEndings(q *PurchaseQuestion) {
	left := a.after(q)
	after := ""
	if left.IsPositive() {
		after = fmt.Sprintf(", with %s of what the purchase commits to after %s", words.CentsOf(left), words.Moment(q.End()))
	}
	for i := range a.Ends {
		p := &a.Ends[i]
		if p.Regret == nil || p.Bill == nil || p.BestBill == nil || i > 0 || p.Regret.Sign() <= 0 {
			continue
		}
		a.Facts.Say("demand_ends", p.Ends.Format(time.DateOnly), a.apart(fmt.Sprintf("If demand ends on %s, the VM bill is %s%s; bill and value refused together would be lowest if one bought %s, with a VM bill of %s.", words.Moment(p.Ends), words.CentsOf(*p.Bill), after, a.numbers(p.Best), words.CentsOf(*p.BestBill))),
			words.Money("bill", *p.Bill, a.Currency), words.Money("best_bill", *p.BestBill, a.Currency), words.Money("regret", *p.Regret, a.Currency), words.Money("left", left, a.Currency))
	}
}

// after returns the part of what the purchase commits to that the bill of the horizon does not have: what is paid by the
// hour after it, and the rest of upfront payments.
func (a *PurchaseAnswer) after(q *PurchaseQuestion) money.Amount {
	left := q.owed(a.Offers, q.End())
	for i := range a.Offers {
		left.Decimal = left.Add(a.Offers[i].Paid.Sub(a.Offers[i].Upfront.Decimal))
	}
	return left
}

// neededUntil returns the month until whose end demand must last for the purchase to pay. The balance of the bills so
// far, which has upfront payments in full, is then as much as the debt that is left. After the horizon it is assumed to save as in
// the mean of the horizon. It is nil where the terms end before.
func (a *PurchaseAnswer) neededUntil(q *PurchaseQuestion) (month *time.Time) {
	if len(a.Months) == 0 || !slices.ContainsFunc(a.Offers, func(o OfferAnswer) bool { return o.VMs > 0 }) {
		return nil
	}
	var short decimal.Decimal
	for i := range a.Months {
		m := &a.Months[i]
		short = q.owed(a.Offers, minTime(m.Month.AddDate(0, 1, 0), q.End())).Sub(m.BillBalance.Decimal)
		month = evenSince(month, short.Neg(), m.Month)
	}
	covered := a.Obligation.Sub(short) // by what the horizon saves
	if month != nil || !covered.IsPositive() {
		return month
	}
	last := q.Start()
	for k := range q.Offers {
		if _, until := q.Offers[k].Term(q.Start()); a.Offers[k].VMs > 0 {
			last = maxTime(last, until)
		}
	}
	more := short.Mul(decimal.NewFromInt(q.End().Unix() - q.Start().Unix())).Div(covered).Ceil()
	if more.GreaterThan(decimal.NewFromInt(last.Unix() - q.End().Unix())) {
		return nil
	}
	end := time.Unix(q.End().Unix()+more.IntPart()-1, 0).UTC()
	return new(time.Date(end.Year(), end.Month(), 1, 0, 0, 0, 0, time.UTC))
}
