package horizon

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/shopspring/decimal"

	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/money"
	"example.org/headroom/internal/core/words"
)

// Retold is the answer with its sentences and facts made anew from its figures, for whoever has checked those.
func (a PurchaseAnswer) Retold(q *PurchaseQuestion) PurchaseAnswer {
	a.Facts, a.Curves = words.Facts{}, slices.Clone(a.Curves)
	a.tell(q)
	return a
}

// tell says what to buy and what that rests on, every sentence as a fact.
func (a *PurchaseAnswer) tell(q *PurchaseQuestion) {
	span := fmt.Sprintf("from %s until %s", words.Moment(q.Start()), words.Moment(q.End()))
	if a.Status == capacity.InfeasibleStatus {
		a.tellInfeasible(span)
		a.Answer, a.Explanation = a.Facts.Text(), a.Facts.Text()
		return
	}
	a.advise(q, span)
	a.tellWhole()
	for _, f := range a.Horizon.Facts {
		if f.Kind == "below_promise" || f.Kind == "refused_for_nothing" {
			a.Facts = append(a.Facts, f)
		}
	}
	if a.Found != nil {
		bought := make([]int64, len(a.Offers))
		for k := range bought {
			bought[k] = a.Offers[k].VMs
		}
		a.tellWithout()
		a.tellFound(bought)
	}
	a.Answer = a.Facts.Text()
	a.tellTerms(q)
	a.tellCosts()
	a.tellUse(q)
	for i := range a.Curves {
		c := &a.Curves[i]
		c.Means = ""
		if f := a.flatness(c); f != nil {
			if c.Means = f.Claim; c.Bought > 0 {
				a.Facts = append(a.Facts, *f)
			}
		}
	}
	a.tellRegret(q)
	a.tellEndings(q)
	a.tellProof()
	a.tellWaiting()
	if !a.Complete {
		a.Facts.Say("incomplete", "", "The work was ended before all curves and other demands were looked at.")
	}
	a.Explanation = a.Facts.Text()
}

// tellWhole says what the plans of single hours come to, where every hour has one and that is another bill.
func (a *PurchaseAnswer) tellWhole() {
	bought, today := a.Recommended.InWholeJobs, a.Today.InWholeJobs
	if bought == nil || today == nil || bought.InfeasibleHours+today.InfeasibleHours > 0 || bought.Bill.Equal(a.Recommended.Bill.Decimal) && today.Bill.Equal(a.Today.Bill.Decimal) {
		return
	}
	bill := fmt.Sprintf("%s %s with today's contracts", words.CentsOf(today.Bill), a.Currency)
	if slices.ContainsFunc(a.Offers, func(o OfferAnswer) bool { return o.VMs > 0 }) {
		bill = fmt.Sprintf("%s %s with this purchase, and %s with today's contracts", words.CentsOf(bought.Bill), a.Currency, words.CentsOf(today.Bill))
	}
	a.Facts.Say("in_whole_jobs", "", fmt.Sprintf("Jobs count in parts here, and plans of single hours hold whole ones: rented as they are made, the VM bill is %s.", bill),
		words.Money("bill", bought.Bill, a.Currency), words.Money("bill_today", today.Bill, a.Currency))
}

// tellProof says how far the purchase that was found may be from the best, as offers were weighed.
func (a *PurchaseAnswer) tellProof() {
	total, this := a.Recommended.Total, "this one"
	if f := a.Found; f != nil {
		if f.VMs == nil {
			return
		}
		if total = f.Bought.Total; slices.Max(f.VMs) > 0 {
			this = a.numbers(f.VMs)
		} else {
			this = "buying nothing"
		}
	}
	figures := []capacity.Figure{words.Money("bound", a.Proof.Bound, a.Currency), words.Count("gap", a.Proof.Gap, "share of bill and value refused")}
	if a.Proof.Gap < provedCents {
		than := ""
		if a.Found != nil {
			than = " than " + this
		}
		a.Facts.Say("proved_best", "", a.apart(fmt.Sprintf("No purchase brings bill and value refused together lower%s, which is proved.", than)), figures...)
		return
	}
	above := total.Sub(a.Proof.Bound.Decimal)
	atMost := words.CentsUp(money.Amount{Decimal: above})
	if a.Proof.Bound.IsPositive() {
		atMost = words.PercentUp(above.Div(a.Proof.Bound.Decimal))
	}
	a.Facts.Say("within_of_the_best", "", a.apart(fmt.Sprintf("No purchase brings bill and value refused together below %s, so %s is at most %s above the best.", words.CentsDown(a.Proof.Bound), this, atMost)), figures...)
}

// tellInfeasible says that the promised jobs are not served, whatever is bought.
func (a *PurchaseAnswer) tellInfeasible(span string) {
	if a.Found != nil {
		a.tellNone(span)
		return
	}
	kind, said := "no_purchase_serves_the_promises", fmt.Sprintf("Whatever is bought, %s not all promised jobs can be served.", span)
	if a.Horizon.Total.InfeasibleHours == 0 {
		kind, said = "too_few_vms", "No purchase can be weighed, because plans have fewer VMs than the work takes."
	}
	if len(a.Horizon.Infeasible) > 0 {
		first := &a.Horizon.Infeasible[0]
		said += fmt.Sprintf(" The first hour is %s: %s", words.Moment(first.Start), first.Conflict)
	}
	a.Facts.Say(kind, "", said)
}

// advise says what to buy, and the effect on the VM bill. The value of refused jobs is on no bill and stands beside it.
func (a *PurchaseAnswer) advise(q *PurchaseQuestion, span string) {
	var buy []string
	figures := []capacity.Figure{words.Money("bill", a.Recommended.Bill, a.Currency)}
	for i := range a.Offers {
		if o := &a.Offers[i]; o.VMs > 0 {
			buy = append(buy, fmt.Sprintf("%s of %q", words.VMs(float64(o.VMs)), o.Name))
			figures = append(figures, words.Count(o.Name, float64(o.VMs), "VMs"))
		}
	}
	if a.BillSaving != nil && a.Avoided != nil && a.ServedMore != nil {
		figures = append(figures, words.Money("bill_today", a.Today.Bill, a.Currency), words.Money("bill_saving", a.BillSaving.Amount, a.Currency),
			words.Money("value_refused_less", *a.Avoided, a.Currency), words.Count("served_more", *a.ServedMore, "job-hours"))
	}
	if len(buy) == 0 {
		a.Facts.Say("buy_nothing", "", a.buyNothing(span), figures...)
		return
	}
	said := "Buy " + words.List(buy) + a.effect(span)
	committed, share := a.committed()
	left := a.after(q)
	figures = append(figures, words.Money("obligation", a.Obligation, a.Currency), words.Count("forecast_share", share, "share of the term"), words.Money("left", left, a.Currency))
	if left.IsPositive() {
		committed += fmt.Sprintf("; %s of that is for the time after %s", words.CentsOf(left), words.Moment(q.End()))
	}
	a.Facts.Say("buy", "", said+". "+committed+a.lasting(q)+".", figures...)
}

// buyNothing says what the bill stays at, where no purchase is better.
func (a *PurchaseAnswer) buyNothing(span string) string {
	bill := fmt.Sprintf("the VM bill stays at %s %s", words.CentsOf(a.Recommended.Bill), a.Currency)
	if a.Found != nil {
		return fmt.Sprintf("Buy none of the offers: %s, %s, %s.", span, a.Found.with(), bill)
	}
	return fmt.Sprintf("Buy none of the offers: %s %s; no number of them lowers bill and value refused together.", span, bill)
}

// effect says what a purchase does.
func (a *PurchaseAnswer) effect(span string) string {
	if a.Found != nil {
		span += ", " + a.Found.with() + ","
	}
	bill := fmt.Sprintf("%s the VM bill is then %s %s%s", span, words.CentsOf(a.Recommended.Bill), a.Currency, a.refusedThen())
	switch {
	case a.Saving == nil && a.SavingOnly == nil:
		return ": without them not all promised jobs can be served; " + bill
	case a.Saving == nil:
		return ", without which today's contracts do not serve all promised jobs; " + bill
	}
	said := ": " + span + " that " + billSentence(&a.Today, &a.Recommended, a.Currency) + a.servedSentence()
	if a.Saving.Amount.IsNegative() && a.Found == nil {
		said += fmt.Sprintf("; together that is %s more than today, which is within the gap", words.CentsOf(a.Saving.Amount.Opposite()))
	}
	return said
}

// refusedThen goes on with the value refused, where there is some.
func (a *PurchaseAnswer) refusedThen() string {
	if a.Recommended.Cost.Penalties.IsZero() {
		return ""
	}
	return fmt.Sprintf(", and what is refused is valued at %s", words.CentsOf(a.Recommended.Cost.Penalties))
}

// lasting says until when demand must last for the purchase to pay. It is silent of a purchase that is worth it by the jobs it
// serves.
func (a *PurchaseAnswer) lasting(q *PurchaseQuestion) string {
	switch {
	case a.BillSaving == nil || !a.BillSaving.Amount.IsPositive() || !a.Obligation.IsPositive():
		return ""
	case a.NeededUntil == nil:
		return "; going on like this, the bills save less than that by the end of the term"
	case a.NeededUntil.Before(q.End()):
		return fmt.Sprintf("; demand must last until the end of %s for it to pay", a.NeededUntil.Format("January 2006"))
	}
	return fmt.Sprintf("; going on like this, demand must last until the end of %s for it to pay", a.NeededUntil.Format("January 2006"))
}

// committed says what a purchase commits to, and how much of that time is forecast: the least share of a term.
func (a *PurchaseAnswer) committed() (said string, share float64) {
	share = 1
	bought := 0
	for i := range a.Offers {
		if o := &a.Offers[i]; o.VMs > 0 {
			share = min(share, o.ForecastShare)
			bought++
		}
	}
	said = fmt.Sprintf("It commits you to %s %s over its term, %s of it forecast", words.CentsOf(a.Obligation), a.Currency, words.Percent(share))
	if bought > 1 {
		said = fmt.Sprintf("They commit you to %s %s over their terms, at least %s of each forecast", words.CentsOf(a.Obligation), a.Currency, words.Percent(math.Floor(1000*share+1e-9)/1000))
	}
	if a.Assume != "" && share < 1 {
		said += ", then assuming that " + a.Assume.words()
	}
	return said, share
}

// apart is a sentence about the question without what was left out, which it names.
func (a *PurchaseAnswer) apart(said string) string {
	if a.Found == nil {
		return said
	}
	return sentence(a.Found.Without()) + ", " + strings.ToLower(said[:1]) + said[1:]
}

// billSentence says what a purchase does to the VM bill, against today.
func billSentence(today, bought *PurchaseCost, currency string) string {
	was, is, by := closing(today.Bill, bought.Bill)
	saved := saving(today.Bill, bought.Bill)
	switch fall := saved.Amount.Float(); {
	case fall < 0 && today.Bill.Sign() <= 0:
		return fmt.Sprintf("raises the VM bill by %s %s, from %s to %s", by, currency, was, is)
	case fall < 0:
		return fmt.Sprintf("raises the VM bill by %s %s (%s), from %s to %s", by, currency, words.Percent(-saved.Share), was, is)
	case fall == 0:
		return fmt.Sprintf("leaves the VM bill at %s %s", is, currency)
	}
	return fmt.Sprintf("cuts the VM bill by %s %s (%s), from %s to %s", by, currency, words.Percent(saved.Share), was, is)
}

// servedSentence says what a purchase serves more or less than today, and at what the user values it.
func (a *PurchaseAnswer) servedSentence() string {
	value, served := a.Avoided.Decimal, *a.ServedMore
	if value.IsZero() && math.Abs(served) < 1e-9 {
		return ""
	}
	more := "more"
	if served < 0 {
		more = "fewer"
	}
	valued := words.Cents(value.Abs().InexactFloat64())
	switch {
	case math.Abs(served) < 1e-9 && value.IsPositive():
		return fmt.Sprintf(", and refuses other jobs, which you value at %s less", valued)
	case math.Abs(served) < 1e-9:
		return fmt.Sprintf(", and refuses other jobs, which you value at %s more", valued)
	}
	said := fmt.Sprintf(", and serves %s", words.Counted(plainHours(math.Abs(served)), more+" job-hour"))
	switch {
	case value.IsZero():
		return said + ", without a change of the value refused"
	case value.IsPositive() == (served > 0):
		return said + ", which you value at " + valued
	case value.IsPositive():
		return said + fmt.Sprintf("; what is refused is valued at %s less", valued)
	}
	return said + fmt.Sprintf("; what is refused is valued at %s more", valued)
}

// closing writes two amounts and their distance with as many places as it takes for the three to add up and for the
// distance to be right within a twentieth.
func closing(was, is money.Amount) (first, second, by string) {
	distance := was.Sub(is.Decimal).Abs()
	for places := int32(2); ; places++ {
		x, y := was.Round(places), is.Round(places)
		shown := x.Sub(y).Abs()
		if shown.Sub(distance).Abs().Mul(decimal.NewFromInt(20)).LessThanOrEqual(distance) || places == money.Places {
			return x.StringFixed(places), y.StringFixed(places), shown.StringFixed(places)
		}
	}
}

// tellCosts sets the costs beside each other: the bill first, then what was made as low as possible, which counts
// refused jobs as well.
func (a *PurchaseAnswer) tellCosts() {
	if only := &a.OnDemandOnly; only.Status != capacity.InfeasibleStatus {
		figures := []capacity.Figure{words.Money("bill", only.Bill, a.Currency), words.Money("value_refused", only.Cost.Penalties, a.Currency)}
		if a.BillOnly != nil {
			figures = append(figures, words.Money("bill_saving", a.BillOnly.Amount, a.Currency))
		}
		a.Facts.Say("on_demand_only", "", fmt.Sprintf("With VMs on demand only the VM bill is %s %s, and the value refused is %s.", words.CentsOf(only.Bill), a.Currency, words.CentsOf(only.Cost.Penalties)), figures...)
	}
	if !a.Recommended.Upfront.IsZero() || !a.Today.Upfront.IsZero() {
		a.Facts.Say("upfront_share", "", "The bill counts upfront payments by their share of this time.", words.Money("recommended", a.Recommended.Upfront, a.Currency), words.Money("today", a.Today.Upfront, a.Currency))
	}
	var together []string
	var figures []capacity.Figure
	for _, of := range []struct {
		cost       *PurchaseCost
		name, what string
	}{{&a.Recommended, "recommended", "this purchase"}, {&a.Today, "today", "today's contracts"}, {&a.OnDemandOnly, "on_demand_only", "VMs on demand only"}} {
		if of.cost.Status != capacity.InfeasibleStatus {
			together = append(together, fmt.Sprintf("%s with %s", words.CentsOf(of.cost.Total), of.what))
			figures = append(figures, words.Money(of.name, of.cost.Total, a.Currency))
		}
	}
	a.Facts.Say("bill_and_value_refused", "", fmt.Sprintf("Bill and value refused together come to %s.", words.List(together)), figures...)
}

func (a *PurchaseAnswer) tellUse(q *PurchaseQuestion) {
	bought, paid := false, money.Amount{}
	for i := range a.Offers {
		bought, paid.Decimal = bought || a.Offers[i].VMs > 0, paid.Add(a.Offers[i].Paid.Decimal)
	}
	if bought && paid.IsPositive() {
		a.Facts.Say("paid_upfront", "", fmt.Sprintf("%s is paid upfront.", words.CentsOf(paid)), words.Money("upfront", paid, a.Currency))
	}
	lower := a.BillSaving != nil && a.BillSaving.Amount.IsPositive()
	switch {
	case !bought || a.BillSaving == nil:
	case a.BillEven != nil && (paid.IsPositive() || lower):
		kind, said := "bills_so_far_from", fmt.Sprintf("At the end of %s, and of each month after it, the bills so far come to no more than with today's contracts", a.BillEven.Format("January 2006"))
		if paid.IsPositive() {
			kind, said = "paid_for_itself", fmt.Sprintf("By the end of %s the bills have fallen by what was paid until then", a.BillEven.Format("January 2006"))
		}
		owed := q.owed(a.Offers, a.BillEven.AddDate(0, 1, 0))
		if owed.IsPositive() {
			said += fmt.Sprintf("; %s %s is still owed after that month, used or not", words.CentsOf(owed), a.Currency)
		}
		a.Facts.Say(kind, "", said+".", capacity.Figure{Name: "month", Value: a.BillEven.Format("2006-01"), Unit: "month"}, words.Money("owed", owed, a.Currency))
	case lower:
		a.Facts.Say("not_paid_for_itself", "", "In this time the bills do not fall by what is paid upfront, which is for a longer term.")
	case a.Avoided.IsPositive():
		a.Facts.Say("bill_is_not_lower", "", "It does not lower the bill; it is worth it by the value of the jobs that it serves.")
	}
	if a.Coverage == nil {
		return
	}
	said, figures := fmt.Sprintf("Contracts and offers cover %s of all VM-hours", words.Percent(*a.Coverage)), []capacity.Figure{words.Count("coverage", *a.Coverage, "share of VM-hours")}
	if a.Utilisation != nil {
		said += fmt.Sprintf(", and %s of the hours bought are used", words.Percent(*a.Utilisation))
		figures = append(figures, words.Count("utilisation", *a.Utilisation, "share of VM-hours bought"))
	}
	a.Facts.Say("coverage", "", said+".", figures...)
}

// nearlyBest is the extra cost, relative to the recommendation, up to which a number of VMs counts as equally good.
const nearlyBest = 0.005

// flatness says what a curve shows: over which numbers the cost hardly changes, and what none would cost.
func (a *PurchaseAnswer) flatness(c *SavingCurve) *capacity.Fact {
	at, best := -1, 0.0
	for i, p := range c.Points {
		if p.VMs == c.Bought && p.Cost != nil {
			at, best = i, p.Cost.Float()
		}
	}
	if at < 0 {
		return nil
	}
	nearly := func(i int) bool {
		return c.Points[i].Cost != nil && c.Points[i].Cost.Float() <= best+nearlyBest*math.Abs(best)
	}
	low, high := at, at
	for low > 0 && nearly(low-1) {
		low--
	}
	for high < len(c.Points)-1 && nearly(high+1) {
		high++
	}
	var said string
	switch n := len(c.Points) - 1; {
	case low == 0 && high == n && n > 0:
		said = fmt.Sprintf("Of %q any number up to %d comes to nearly the same, within %s", c.Offer, c.Points[n].VMs, words.Percent(nearlyBest))
	case low < high:
		said = fmt.Sprintf("Of %q any number looked at from %d to %d leaves bill and value refused together within %s", c.Offer, c.Points[low].VMs, c.Points[high].VMs, words.Percent(nearlyBest))
	default:
		said = fmt.Sprintf("Of %q the number matters: of those looked at, with already the next ones bill and value refused together are more than %s higher", c.Offer, words.Percent(nearlyBest))
	}
	if none := c.Points[0]; c.Bought > 0 && none.VMs == 0 {
		switch {
		case none.Cost == nil:
			said += "; without any of it promised jobs are not served"
		case none.Cost.Float() > best:
			near := ""
			if !c.Exact {
				near = "about "
			}
			said += fmt.Sprintf("; without any of it bill and value refused together come to %s%s more", near, words.Cents(none.Cost.Float()-best))
		}
	}
	for i := range a.Offers {
		if o := &a.Offers[i]; o.Name == c.Offer && o.VMs > 0 && o.VMs == o.Most {
			said += "; it is all that is on offer"
		}
	}
	if !c.Exact {
		said += "; other numbers were weighed in parts of VMs and jobs, and only come near"
	}
	return &capacity.Fact{Kind: "nearly_as_good", Subject: c.Offer, Claim: a.apart(said + "."), Figures: []capacity.Figure{
		words.Count("bought", float64(c.Bought), "VMs"), words.Count("low", float64(c.Points[low].VMs), "VMs"), words.Count("high", float64(c.Points[high].VMs), "VMs"),
	}}
}

func (a *PurchaseAnswer) tellRegret(q *PurchaseQuestion) {
	var said []string
	var figures []capacity.Figure
	for i := range a.Regret {
		p := &a.Regret[i]
		if p.Factor == 1 {
			continue
		}
		of := words.Decimal(p.Factor)
		change := fmt.Sprintf("%s more", words.Percent(p.Factor-1))
		if p.Factor < 1 {
			change = fmt.Sprintf("%s less", words.Percent(1-p.Factor))
		}
		switch {
		case p.Regret != nil:
			figures = append(figures, words.Money("demand_"+of, *p.Regret, a.Currency))
			switch {
			case i > 0 && i < len(a.Regret)-1:
			case !q.differs(p.Factor):
				said = append(said, fmt.Sprintf("%s demand than expected is just as many whole jobs", change))
			case p.Regret.Sign() <= 0:
				said = append(said, fmt.Sprintf("with %s demand than expected it is as good as any", change))
			default:
				said = append(said, fmt.Sprintf("with %s demand than expected bill and value refused together are %s above those of the best purchase for that", change, words.CentsOf(*p.Regret)))
			}
		case p.Best != nil:
			said = append(said, fmt.Sprintf("with %s demand it does not serve all promised jobs, and another purchase would", change))
		}
	}
	if len(said) > 0 {
		text := words.List(said)
		a.Facts.Say("regret", "", a.apart(strings.ToUpper(text[:1])+text[1:]+"."), figures...)
	}
}

// differs says whether demand times a factor is other demand, in whole jobs unless the problem is relaxed.
func (q *PurchaseQuestion) differs(factor float64) bool {
	weighed := *q
	weighed.Horizon = q.Weighed()
	h := weighed.Carried()
	scaled := h.Scaled(factor)
	for i := range h.Periods {
		for class := range h.Problem.Classes {
			if h.JobsIn(i, class).Max != scaled.JobsIn(i, class).Max {
				return true
			}
		}
	}
	return false
}

// provedCents is a gap that nobody pays for.
const provedCents = 1e-6
