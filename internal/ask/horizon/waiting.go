package horizon

import (
	"fmt"
	"math"
	"time"

	"example.org/headroom/internal/core/money"
	"example.org/headroom/internal/core/words"
)

// WithWaiting tells what the same arrivals come to where jobs wait as plans let them, by a schedule of all hours together. It has
// whole executions, on whole slots and in whole hours, until the last has ended. Upfront payments are in none of its bills.
type WithWaiting struct {
	Until        time.Time      `json:"until"` // the last execution may run
	Bill         money.Amount   `json:"bill"`
	ValueRefused money.Amount   `json:"value_refused"`
	AtOnce       WaitingCost    `json:"at_once"` // the cheapest plan found in which nothing waits
	Saved        money.Amount   `json:"saved"`   // bill and value refused are lower than at once by so much
	Gap          money.Amount   `json:"gap"`     // they are at most so much more than necessary
	Months       []WaitingMonth `json:"months"`  // by the calendar, in UTC

	Compared *WaitingCompared `json:"compared,omitempty"` // under a scenario, where there is a schedule without it too
}

// WaitingCompared sets the schedule under a scenario beside that of the same time as it is. Bill, ValueRefused and Total are the
// figures under it less those as it is. The cheapest schedules of both differ by Least to Most in total.
type WaitingCompared struct {
	UnderScenario WaitingSchedule `json:"under_scenario"`
	AsItIs        WaitingSchedule `json:"as_it_is"`
	Bill          money.Amount    `json:"bill"`
	ValueRefused  money.Amount    `json:"value_refused"`
	Total         money.Amount    `json:"total"`
	Least         money.Amount    `json:"least"`
	Most          money.Amount    `json:"most"`
}

// WaitingSchedule is a schedule with what it comes to. None costs less than Bound, which follows from Prices.
type WaitingSchedule struct {
	Bill         money.Amount      `json:"bill"`
	ValueRefused money.Amount      `json:"value_refused"`
	Total        money.Amount      `json:"total"`
	Bound        money.Amount      `json:"bound"`
	Prices       []money.Amount    `json:"prices"`                  // of a VM in each hour; of a type after those of another
	BudgetPrices []money.Amount    `json:"budget_prices,omitempty"` // of a unit of money more of each
	Schedule     []Start           `json:"schedule"`
	Refused      []RefusedArrivals `json:"refused"`
	Earlier      []OnType          `json:"earlier,omitempty"`
}

// Start counts executions of a class that arrive in the hour from Arrived and start in that from Start. Of a class
// that does not wait both are the same: each starts as it arrives. Type names the VMs on which they run.
type Start struct {
	Class       string    `json:"class"`
	Arrived     time.Time `json:"arrived"`
	Start       time.Time `json:"start"`
	RunSeconds  float64   `json:"run_s"`
	Jobs        int64     `json:"jobs"`
	Type        string    `json:"type,omitempty"`
	MapSlots    int64     `json:"map_slots"` // of each execution; 0 for a class with VMs per job
	ReduceSlots int64     `json:"reduce_slots"`
}

// Lasts returns for how many hours from a moment executions still run, at most so many.
func (s *Start) Lasts(from time.Time, most int) int {
	hours := int(math.Ceil(s.RunSeconds/3600)) - int(from.Sub(s.Start)/time.Hour)
	return max(0, min(hours, most))
}

// RefusedArrivals counts executions that do not run.
type RefusedArrivals struct {
	Class   string    `json:"class"`
	Arrived time.Time `json:"arrived"`
	Jobs    int64     `json:"jobs"`
}

// OnType names the type of VMs that executions of a class hold which arrived before the first hour. It is told of classes
// that do not wait and can run on several.
type OnType struct {
	Class string `json:"class"`
	Type  string `json:"type"`
}

// Compare sets two schedules beside each other.
func (w *WithWaiting) Compare(under, asItIs WaitingSchedule) {
	c := WaitingCompared{UnderScenario: under, AsItIs: asItIs}
	c.Bill.Decimal = under.Bill.Sub(asItIs.Bill.Decimal)
	c.ValueRefused.Decimal = under.ValueRefused.Sub(asItIs.ValueRefused.Decimal)
	c.Total.Decimal = under.Total.Sub(asItIs.Total.Decimal)
	c.Least.Decimal = under.Bound.Sub(asItIs.Total.Decimal)
	c.Most.Decimal = under.Total.Sub(asItIs.Bound.Decimal)
	w.Compared = &c
}

// WaitingCost is a bill, with the value of the refused executions beside it.
type WaitingCost struct {
	Bill         money.Amount `json:"bill"`
	ValueRefused money.Amount `json:"value_refused"`
}

// WaitingMonth is the bill of the hours of a month.
type WaitingMonth struct {
	Start time.Time    `json:"start"`
	Bill  money.Amount `json:"bill"`
}

// Add adds an hour to the bills of months, the last of which it may belong to.
func (w *WithWaiting) Add(hour time.Time, bill money.Amount) {
	hour = hour.UTC()
	if n := len(w.Months); n == 0 || w.Months[n-1].Start.Month() != hour.Month() {
		w.Months = append(w.Months, WaitingMonth{Start: hour})
	}
	last := &w.Months[len(w.Months)-1]
	last.Bill.Decimal = last.Bill.Add(bill.Decimal)
}

// Wait sets what waiting comes to beside the bill. start and end are those of the horizon.
func (a *Answer) Wait(w WithWaiting, start, end time.Time) {
	a.WithWaiting = &w
	a.explain(start, end)
}

// tellWaiting says what waiting comes to.
func (a *Answer) tellWaiting() {
	w := a.WithWaiting
	if w == nil {
		return
	}
	than := "as high as in the cheapest plan found without waiting"
	switch {
	case w.Saved.IsPositive():
		than = words.CentsOf(w.Saved) + " lower than in the cheapest plan found without waiting"
	case w.Saved.IsNegative():
		than = words.CentsOf(money.Amount{Decimal: w.Saved.Neg()}) + " higher than in the cheapest plan found without waiting"
	}
	a.Facts.Say("with_waiting", "", fmt.Sprintf("Jobs that may wait count here as they arrive. A schedule of whole executions, the last of which may run until %s, has a VM bill of %s %s.",
		words.Moment(w.Until), words.CentsOf(w.Bill), a.Currency), words.Money("bill", w.Bill, a.Currency), words.Money("value_refused", w.ValueRefused, a.Currency))
	defer a.tellCompared()
	a.Facts.Say("saved_by_waiting", "", fmt.Sprintf("Its bill and value refused together are %s, and at most %s more than necessary.", than, words.CentsUp(w.Gap)),
		words.Money("saved", w.Saved, a.Currency), words.Money("bill_at_once", w.AtOnce.Bill, a.Currency), words.Money("value_refused_at_once", w.AtOnce.ValueRefused, a.Currency), words.Money("gap", w.Gap, a.Currency))
}

// tellCompared says what a scenario does where jobs wait. A difference that the gaps of both schedules may make is none.
func (a *Answer) tellCompared() {
	c := a.WithWaiting.Compared
	if c == nil {
		return
	}
	did := "which is within the gaps of the two schedules: it is not known that they differ"
	switch {
	case c.Least.IsPositive():
		did = fmt.Sprintf("and raises them by %s at least, whatever the schedules", words.CentsDown(c.Least))
	case c.Most.IsNegative():
		did = fmt.Sprintf("and lowers them by %s at least, whatever the schedules", words.CentsDown(c.Most.Opposite()))
	}
	than := "more"
	if c.Total.IsNegative() {
		than = "less"
	}
	what := fmt.Sprintf("%s makes them %s %s together, %s", a.theScenario(), words.CentsOf(money.Amount{Decimal: c.Total.Abs()}), than, did)
	if c.Total.IsZero() {
		what = fmt.Sprintf("%s changes nothing there that is more than the gaps of the two schedules", a.theScenario())
	}
	a.Facts.Say("compared_with_waiting", "", fmt.Sprintf("As it is, a schedule where jobs wait has a VM bill of %s %s and a value refused of %s. %s.",
		words.CentsOf(c.AsItIs.Bill), a.Currency, words.CentsOf(c.AsItIs.ValueRefused), what),
		words.Money("bill_as_it_is", c.AsItIs.Bill, a.Currency), words.Money("value_refused_as_it_is", c.AsItIs.ValueRefused, a.Currency), words.Money("difference", c.Total, a.Currency),
		words.Money("least", c.Least, a.Currency), words.Money("most", c.Most, a.Currency))
}

// theScenario begins a sentence.
func (a *Answer) theScenario() string {
	if a.Scenario == nil || *a.Scenario == "" {
		return "The scenario"
	}
	return fmt.Sprintf("The scenario %q", *a.Scenario)
}
