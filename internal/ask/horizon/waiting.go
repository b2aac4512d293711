package horizon

import (
	"fmt"
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
	a.Facts.Say("saved_by_waiting", "", fmt.Sprintf("Its bill and value refused together are %s, and at most %s more than necessary.", than, words.CentsUp(w.Gap)),
		words.Money("saved", w.Saved, a.Currency), words.Money("bill_at_once", w.AtOnce.Bill, a.Currency), words.Money("value_refused_at_once", w.AtOnce.ValueRefused, a.Currency), words.Money("gap", w.Gap, a.Currency))
}
