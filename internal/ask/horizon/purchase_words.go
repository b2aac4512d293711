package horizon

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/shopspring/decimal"

	"headroom/internal/core/capacity"
	"headroom/internal/core/money"
	"headroom/internal/core/words"
)

// tell says what to buy and what that rests on, and lists the figures in it.
func (a *PurchaseAnswer) tell(q *PurchaseQuestion) {
	span := fmt.Sprintf("from %s until %s", moment(q.Start()), moment(q.End()))
	if a.Status == capacity.InfeasibleStatus {
		a.Answer = fmt.Sprintf("Whatever is bought, %s not all promised jobs can be served.", span)
		if len(a.Horizon.Infeasible) > 0 {
			first := &a.Horizon.Infeasible[0]
			a.Answer += fmt.Sprintf(" The first hour is %s: %s", moment(first.Start), first.Conflict)
		}
		a.Explanation = a.Answer
		return
	}
	a.Answer = a.advice(span)
	var b strings.Builder
	b.WriteString(a.Answer)
	a.tellCosts(&b)
	a.tellUse(&b)
	for i := range a.Curves {
		c := &a.Curves[i]
		if c.Means = a.flatness(c); c.Bought > 0 {
			b.WriteString(" " + c.Means)
		}
	}
	a.tellRegret(&b)
	if a.Proof.Gap < provedCents {
		b.WriteString(" No purchase costs less, which is proved.")
	} else {
		fmt.Fprintf(&b, " No purchase costs less than %s, so this one is within %s of the best.", words.Cents(a.Proof.Bound.Float()), gapShare(a.Proof.Gap))
	}
	a.fact("gap", "", plainFigure(a.Proof.Gap), "share of the total")
	if !a.Complete {
		b.WriteString(" The work was ended before all curves and other demands were looked at.")
	}
	a.Explanation = b.String()
}

func (a *PurchaseAnswer) fact(name, of, value, unit string) {
	a.Facts.Say(name, of, "", capacity.Figure{Name: "value", Value: value, Unit: unit})
}

// advice says what to buy, and the effect on the VM bill. The value of refused jobs is on no bill and stands beside it.
func (a *PurchaseAnswer) advice(span string) string {
	var buy []string
	for i := range a.Offers {
		if o := &a.Offers[i]; o.VMs > 0 {
			buy = append(buy, fmt.Sprintf("%s of %q", words.VMs(float64(o.VMs)), o.Name))
			a.fact("buy", o.Name, strconv.FormatInt(o.VMs, 10), "VMs")
		}
	}
	if len(buy) == 0 {
		return fmt.Sprintf("Buy none of the offers: %s the VM bill stays at %s %s; no number of them lowers bill and refused jobs together.", span, words.Cents(a.Recommended.Bill.Float()), a.Currency)
	}
	sentence := "Buy " + words.List(buy)
	bill := fmt.Sprintf("%s the VM bill is then %s %s", span, words.Cents(a.Recommended.Bill.Float()), a.Currency)
	switch {
	case a.Saving == nil && a.SavingOnly == nil:
		return sentence + ": without them not all promised jobs can be served; " + bill + "."
	case a.Saving == nil:
		return sentence + ", without which today's contracts do not serve all promised jobs; " + bill + "."
	}
	sentence += ": " + span + " " + a.billSentence()
	if was, is := a.Today.Cost.Penalties, a.Recommended.Cost.Penalties; !was.Equal(is.Decimal) {
		before, after, _ := closing(was, is)
		sentence += fmt.Sprintf("; refused jobs, which are on no bill, are valued at %s instead of %s", after, before)
	}
	if a.Saving.Amount.IsNegative() {
		sentence += fmt.Sprintf("; together that is %s more than today, which is within the gap", words.Cents(-a.Saving.Amount.Float()))
	}
	return sentence + "."
}

// billSentence says what a purchase does to the VM bill, against today.
func (a *PurchaseAnswer) billSentence() string {
	was, is, by := closing(a.Today.Bill, a.Recommended.Bill)
	switch fall := a.BillSaving.Amount.Float(); {
	case fall < 0 && a.Today.Bill.Sign() <= 0:
		return fmt.Sprintf("the VM bill rises by %s %s, from %s to %s", by, a.Currency, was, is)
	case fall < 0:
		return fmt.Sprintf("the VM bill rises by %s %s (%s), from %s to %s", by, a.Currency, words.Percent(-a.BillSaving.Share), was, is)
	case fall == 0:
		return fmt.Sprintf("the VM bill stays at %s %s", is, a.Currency)
	}
	return fmt.Sprintf("the VM bill falls by %s %s (%s), from %s to %s", by, a.Currency, words.Percent(a.BillSaving.Share), was, is)
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
func (a *PurchaseAnswer) tellCosts(b *strings.Builder) {
	all := []struct {
		cost       *PurchaseCost
		name, what string
	}{{&a.Recommended, "recommended", "this purchase"}, {&a.Today, "today", "today's contracts"}, {&a.OnDemandOnly, "on_demand_only", "VMs on demand only"}}
	if only := all[2].cost; only.Status != capacity.InfeasibleStatus {
		fmt.Fprintf(b, " With %s the VM bill is %s %s, and refused jobs are valued at %s.", all[2].what, words.Cents(only.Bill.Float()), a.Currency, words.Cents(only.Cost.Penalties.Float()))
	}
	var together []string
	for _, of := range all {
		if of.cost.Status == capacity.InfeasibleStatus {
			continue
		}
		a.fact("bill_"+of.name, "", of.cost.Bill.String(), a.Currency)
		a.fact("penalties_"+of.name, "", of.cost.Cost.Penalties.String(), a.Currency)
		a.fact("cost_"+of.name, "", of.cost.Total.String(), a.Currency)
		together = append(together, fmt.Sprintf("%s with %s", words.Cents(of.cost.Total.Float()), of.what))
	}
	if !a.Recommended.Upfront.IsZero() || !a.Today.Upfront.IsZero() {
		b.WriteString(" The bill counts upfront payments by their share of this time.")
	}
	fmt.Fprintf(b, " Bill and refused jobs together come to %s.", words.List(together))
	for _, s := range []struct {
		saving *Saving
		name   string
	}{{a.BillSaving, "bill_saving"}, {a.BillOnly, "bill_saving_against_on_demand"}, {a.Saving, "saving"}, {a.SavingOnly, "saving_against_on_demand"}} {
		if s.saving != nil {
			a.fact(s.name, "", s.saving.Amount.String(), a.Currency)
		}
	}
}

func (a *PurchaseAnswer) tellUse(b *strings.Builder) {
	bought, paid := false, 0.0
	for i := range a.Offers {
		bought, paid = bought || a.Offers[i].VMs > 0, paid+a.Offers[i].Paid.Float()
	}
	if bought && paid > 0 {
		fmt.Fprintf(b, " %s is paid upfront.", words.Cents(paid))
	}
	lower := a.BillSaving != nil && a.BillSaving.Amount.IsPositive()
	switch {
	case !bought || a.BillSaving == nil:
	case a.BillEven != nil && paid > 0:
		fmt.Fprintf(b, " By the end of %s that has paid for itself, by the bill alone.", a.BillEven.Format("January 2006"))
	case a.BillEven != nil && lower:
		fmt.Fprintf(b, " From %s on the bill is lower.", a.BillEven.Format("January 2006"))
	case lower:
		b.WriteString(" In this time it does not pay for itself: what is paid upfront is for a longer term.")
	case a.Avoided.IsPositive():
		b.WriteString(" It does not lower the bill; it pays by what refused jobs are valued at.")
	}
	for _, month := range []struct {
		name string
		at   *time.Time
	}{{"bill_break_even_month", a.BillEven}, {"break_even_month", a.BreakEven}} {
		if bought && month.at != nil {
			a.fact(month.name, "", month.at.Format("2006-01"), "month")
		}
	}
	if a.Coverage != nil {
		fmt.Fprintf(b, " Contracts and offers cover %s of all VM-hours", words.Percent(*a.Coverage))
		a.fact("coverage", "", plainFigure(*a.Coverage), "share of VM-hours")
		if a.Utilisation != nil {
			fmt.Fprintf(b, ", and %s of the hours bought are used", words.Percent(*a.Utilisation))
			a.fact("utilisation", "", plainFigure(*a.Utilisation), "share of VM-hours bought")
		}
		b.WriteString(".")
	}
}

// nearlyBest is the extra cost, relative to the recommendation, up to which a number of VMs counts as equally good.
const nearlyBest = 0.005

// flatness says what a curve shows: over which numbers the cost hardly changes, and what none would cost.
func (a *PurchaseAnswer) flatness(c *SavingCurve) string {
	at, best := -1, 0.0
	for i, p := range c.Points {
		if p.VMs == c.Bought && p.Cost != nil {
			at, best = i, p.Cost.Float()
		}
	}
	if at < 0 {
		return ""
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
		said = fmt.Sprintf("Of %q any number looked at from %d to %d costs at most %s more", c.Offer, c.Points[low].VMs, c.Points[high].VMs, words.Percent(nearlyBest))
	default:
		said = fmt.Sprintf("Of %q the number matters: of those looked at, already the next ones cost more than %s more", c.Offer, words.Percent(nearlyBest))
	}
	if none := c.Points[0]; c.Bought > 0 && none.VMs == 0 {
		switch {
		case none.Cost == nil:
			said += "; without any of it promised jobs are not served"
		case none.Cost.Float() > best:
			said += fmt.Sprintf("; without any of it bill and refused jobs together come to %s more", words.Cents(none.Cost.Float()-best))
		}
	}
	for i := range a.Offers {
		if o := &a.Offers[i]; o.Name == c.Offer && o.VMs > 0 && o.VMs == o.Most {
			said += "; it is all that is on offer"
		}
	}
	return said + "."
}

func (a *PurchaseAnswer) tellRegret(b *strings.Builder) {
	var said []string
	for i := range a.Regret {
		p := &a.Regret[i]
		if p.Factor == 1 {
			continue
		}
		of := plainFigure(p.Factor)
		change := fmt.Sprintf("%s more", words.Percent(p.Factor-1))
		if p.Factor < 1 {
			change = fmt.Sprintf("%s less", words.Percent(1-p.Factor))
		}
		switch {
		case p.Regret != nil:
			a.fact("regret", "demand "+of, p.Regret.String(), a.Currency)
			switch {
			case i > 0 && i < len(a.Regret)-1:
			case p.Regret.Float() < 0.005:
				said = append(said, fmt.Sprintf("with %s demand than expected it is as good as any", change))
			default:
				said = append(said, fmt.Sprintf("with %s demand than expected it costs %s more than the best purchase for that", change, words.Cents(p.Regret.Float())))
			}
		case p.Best != nil:
			said = append(said, fmt.Sprintf("with %s demand it does not serve all promised jobs, and another purchase would", change))
		}
	}
	if len(said) > 0 {
		text := words.List(said)
		b.WriteString(" " + strings.ToUpper(text[:1]) + text[1:] + ".")
	}
}

// provedCents is a gap that nobody pays for.
const provedCents = 1e-6

func gapShare(gap float64) string {
	return strconv.FormatFloat(100*gap, 'g', 2, 64) + " %"
}

func plainFigure(x float64) string { return money.Round(x).Decimal.String() }
