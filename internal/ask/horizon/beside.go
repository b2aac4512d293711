package horizon

import (
	"fmt"
	"math"
	"time"

	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/money"
	"example.org/headroom/internal/core/words"
)

// SpanDifference holds the figures of some time with a scenario, less those as it is.
type SpanDifference struct {
	Bill          money.Amount `json:"bill"`
	ValueRefused  money.Amount `json:"value_refused"`
	VMHours       float64      `json:"vm_hours"`
	AdmittedHours float64      `json:"admitted_job_hours"`
}

// Beside sets what the same time comes to as it is beside an answer under a scenario. It is left out unless both are complete.
// start and end are those of the horizon.
func (a *Answer) Beside(scenario string, asItIs Answer, start, end time.Time) {
	if a.Scenario = &scenario; a.Complete && asItIs.Complete {
		asItIs.Show(DetailSummary)
		a.AsItIs = &asItIs
		a.Total.compare(&asItIs.Total)
		for i := range a.Months {
			a.Months[i].compare(&asItIs.Months[i])
		}
		for i := range a.Days {
			a.Days[i].compare(&asItIs.Days[i])
		}
	}
	a.explain(start, end)
}

// compare sets the difference, where every hour has a plan.
func (t *SpanTotal) compare(asItIs *SpanTotal) {
	if t.InfeasibleHours > 0 || asItIs.InfeasibleHours > 0 {
		return
	}
	const places = 9 // of floating point, which leaves traces in differences
	t.Difference = &SpanDifference{
		Bill:          money.Amount{Decimal: t.Cost.Bill.Sub(asItIs.Cost.Bill.Decimal)},
		ValueRefused:  money.Amount{Decimal: t.Cost.Penalties.Sub(asItIs.Cost.Penalties.Decimal)},
		VMHours:       words.Rounded(t.VMHours-asItIs.VMHours, places),
		AdmittedHours: words.Rounded(t.AdmittedHours-asItIs.AdmittedHours, places),
	}
}

// with names the scenario at the start of a sentence.
func (a *Answer) with() string {
	if *a.Scenario == "" {
		return "With the changes"
	}
	return fmt.Sprintf("With the scenario %q", *a.Scenario)
}

// it names what is laid over the time again.
func (a *Answer) it() string {
	if *a.Scenario == "" {
		return "the changes"
	}
	return "the scenario"
}

// verb returns what the scenario does to an amount.
func (a *Answer) verb(difference money.Amount) string {
	does := " raise"
	if difference.IsNegative() {
		does = " lower"
	}
	if *a.Scenario != "" {
		does += "s"
	}
	return a.it() + does
}

// tellAsItIs sets the bill of the same time as it is beside that with the scenario.
func (a *Answer) tellAsItIs() {
	if a.AsItIs == nil {
		a.Facts.Say("not_as_it_is", "", "What the time comes to as it is was not planned, because the work was ended before.")
		return
	}
	was, d := &a.AsItIs.Total, a.Total.Difference
	bill := words.Money("bill_as_it_is", was.Cost.Bill, a.Currency)
	switch {
	case d == nil && was.InfeasibleHours == was.Hours:
		a.Facts.Say("not_compared", "", "As it is, no hour has a plan, so that there is no bill to compare with: "+a.AsItIs.Infeasible[0].Conflict, words.Count("hours_as_it_is", was.Hours, "hours"))
	case d == nil:
		a.Facts.Say("bill_as_it_is", "", fmt.Sprintf("As it is, the VM bill is %s %s.", words.CentsOf(was.Cost.Bill), a.Currency), bill)
		none := []capacity.Figure{words.Count("hours", a.Total.InfeasibleHours, "hours"), words.Count("hours_as_it_is", was.InfeasibleHours, "hours")}
		claim := fmt.Sprintf("The two bills are not compared, because neither counts hours without a plan: %s with %s, and %s as it is.", hoursOrNone(a.Total.InfeasibleHours), a.it(), hoursOrNone(was.InfeasibleHours))
		if was.InfeasibleHours > 0 {
			first := &a.AsItIs.Infeasible[0]
			claim += fmt.Sprintf(" As it is, they begin at %s: %s", words.Moment(first.Start), first.Conflict)
		}
		a.Facts.Say("not_compared", "", claim, none...)
	default:
		before, _, by := closing(was.Cost.Bill, a.Total.Cost.Bill)
		claim := fmt.Sprintf("As it is, the VM bill is %s %s", before, a.Currency)
		switch {
		case d.Bill.IsZero():
			claim += " as well."
		case was.Cost.Bill.IsZero():
			claim += fmt.Sprintf(": %s it by %s.", a.verb(d.Bill), by)
		default:
			claim += fmt.Sprintf(": %s it by %s (%s).", a.verb(d.Bill), by, words.Percent(d.Bill.Abs().Div(was.Cost.Bill.Decimal).InexactFloat64()))
		}
		a.Facts.Say("bill_as_it_is", "", claim, bill, words.Money("difference", d.Bill, a.Currency))
	}
}

// tellRestAsItIs sets beside each other what is on no bill: the value of refused jobs, how far costs may be off, and the jobs.
func (a *Answer) tellRestAsItIs() {
	was, d := &a.AsItIs.Total, a.Total.Difference
	if was.InfeasibleHours < was.Hours && (!was.Cost.Penalties.IsZero() || !a.Total.Cost.Penalties.IsZero()) {
		before, _, by := closing(was.Cost.Penalties, a.Total.Cost.Penalties)
		claim := fmt.Sprintf("As it is, they are valued at %s", before)
		figures := []capacity.Figure{words.Money("value_refused_as_it_is", was.Cost.Penalties, a.Currency)}
		switch {
		case d == nil:
		case d.ValueRefused.IsZero():
			claim += " as well"
		default:
			claim += fmt.Sprintf(": %s that by %s", a.verb(d.ValueRefused), by)
		}
		if d != nil {
			figures = append(figures, words.Money("difference", d.ValueRefused, a.Currency))
		}
		a.Facts.Say("value_refused_as_it_is", "", claim+".", figures...)
	}
	if d != nil && d.AdmittedHours != 0 {
		more := "more"
		if d.AdmittedHours < 0 {
			more = "fewer"
		}
		a.Facts.Say("admitted_as_it_is", "", fmt.Sprintf("%s are admitted, %s %s than as it is.", jobHours(a.Total.AdmittedHours), plainHours(math.Abs(d.AdmittedHours)), more),
			words.Count("admitted", a.Total.AdmittedHours, "job-hours"), words.Count("difference", d.AdmittedHours, "job-hours"))
	}
}

func hoursOrNone(x float64) string {
	if x == 0 {
		return "none"
	}
	return words.Hours(x)
}

// tellChangedMost names the month whose bill changes most, where it is one alone of several.
func (a *Answer) tellChangedMost() {
	most, alike, compared := -1, 0, 0
	for i := range a.Months {
		d := a.Months[i].Difference
		if d == nil {
			continue
		}
		compared++
		switch {
		case most < 0 || d.Bill.Abs().GreaterThan(a.Months[most].Difference.Bill.Abs()):
			most, alike = i, 1
		case d.Bill.Abs().Equal(a.Months[most].Difference.Bill.Abs()):
			alike++
		}
	}
	if compared < 2 || alike > 1 {
		return
	}
	m, was := &a.Months[most], a.AsItIs.Months[most].Cost.Bill
	before, now, _ := closing(was, m.Cost.Bill)
	a.Facts.Say("changes_most", m.Start.Format("2006-01"), fmt.Sprintf("The bill changes most in %s: it is %s, and %s as it is.", m.Start.Format("January 2006"), now, before),
		words.Money("bill", m.Cost.Bill, a.Currency), words.Money("bill_as_it_is", was, a.Currency), words.Money("difference", m.Difference.Bill, a.Currency))
}
