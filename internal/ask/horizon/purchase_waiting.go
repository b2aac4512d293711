package horizon

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"example.org/headroom/internal/core/money"
	"example.org/headroom/internal/core/words"
)

// PurchaseWithWaiting tells what purchases come to where jobs wait as plans let them, each with a schedule of all hours together.
// An offer counts with the share of its upfront payment, and at the hours of its term, that lie in the time asked about.
type PurchaseWithWaiting struct {
	Until time.Time           `json:"until"` // the last execution may run
	Tried []PurchaseScheduled `json:"tried"` // the cheapest first, which is recommended
	// Saved is by how much bill and value refused of the first are lower than without a purchase. They are lower than those of any
	// schedule without a purchase by SavedAtLeast, which may be negative. Null is that not all promised jobs run without one.
	Saved        *money.Amount  `json:"saved"`
	SavedAtLeast *money.Amount  `json:"saved_at_least"`
	Bound        money.Amount   `json:"bound"`  // no purchase with any schedule costs less
	Gap          money.Amount   `json:"gap"`    // the first costs at most so much more than necessary
	Prices       []money.Amount `json:"prices"` // of a VM in each hour, from which the bound follows; of a type after those of another
}

// PurchaseScheduled is a purchase and its schedule. Bill contains Upfront.
type PurchaseScheduled struct {
	VMs          []int64           `json:"vms"` // by offer
	Why          PurchaseTried     `json:"why"`
	Upfront      money.Amount      `json:"upfront"`
	Bill         money.Amount      `json:"bill"`
	ValueRefused money.Amount      `json:"value_refused"`
	Total        money.Amount      `json:"total"`
	Bound        money.Amount      `json:"bound"` // no schedule with this purchase costs less
	Prices       []money.Amount    `json:"prices"`
	Schedule     []Start           `json:"schedule"`
	Refused      []RefusedArrivals `json:"refused"`
	Earlier      []OnType          `json:"earlier,omitempty"`
}

// PurchaseTried says why a purchase is tried.
type PurchaseTried string

const (
	TriedNothing  PurchaseTried = "nothing_bought"
	TriedAtOnce   PurchaseTried = "best_at_once" // where jobs count as they arrive
	TriedProgram  PurchaseTried = "program"      // of the linear program, rounded
	TriedImproved PurchaseTried = "improved"     // the best for the VMs of a schedule
)

// PurchasesTried are why purchases are tried.
var PurchasesTried = []PurchaseTried{TriedNothing, TriedAtOnce, TriedProgram, TriedImproved}

// nothing returns the schedule without a purchase, or nil.
func (w *PurchaseWithWaiting) nothing() *PurchaseScheduled {
	for i := range w.Tried {
		if !slices.ContainsFunc(w.Tried[i].VMs, func(n int64) bool { return n > 0 }) {
			return &w.Tried[i]
		}
	}
	return nil
}

// Compare sets what the first saves, and its gap.
func (w *PurchaseWithWaiting) Compare() {
	w.Gap.Decimal = w.Tried[0].Total.Sub(w.Bound.Decimal)
	w.Saved, w.SavedAtLeast = nil, nil
	if n := w.nothing(); n != nil {
		w.Saved = &money.Amount{Decimal: n.Total.Sub(w.Tried[0].Total.Decimal)}
		w.SavedAtLeast = &money.Amount{Decimal: n.Bound.Sub(w.Tried[0].Total.Decimal)}
	}
}

// Wait sets what purchases come to where jobs wait, in an answer that is complete.
func (a *PurchaseAnswer) Wait(w PurchaseWithWaiting) {
	a.WithWaiting = &w
	a.tellWaiting()
	a.Explanation = a.Facts.Text()
}

// bought names a purchase, as in 3 VMs of "a" and 2 of "b".
func (a *PurchaseAnswer) bought(vms []int64) string {
	var parts []string
	for k, n := range vms {
		if n == 0 {
			continue
		}
		of := fmt.Sprintf("%d", n)
		if len(parts) == 0 {
			of = words.Counted(of, "VM")
		}
		parts = append(parts, fmt.Sprintf("%s of %q", of, a.Offers[k].Name))
	}
	if len(parts) == 0 {
		return "nothing"
	}
	return strings.Join(parts, " and ")
}

// tellWaiting says what to buy where jobs wait, as far as purchases were tried.
func (a *PurchaseAnswer) tellWaiting() {
	w := a.WithWaiting
	if w == nil || len(w.Tried) == 0 {
		return
	}
	best, spotless := &w.Tried[0], ""
	if a.Found != nil && slices.Contains(a.Found.LeftOut, WithoutSpot) {
		spotless = "without spot VMs and "
	}
	a.Facts.Say("with_waiting", "", fmt.Sprintf("Jobs that may wait count above as they arrive. Until %s, %swhere they wait as plans let them, the cheapest of %s tried buys %s: its VM bill is %s %s, its value refused %s.",
		words.Moment(w.Until), spotless, words.Counted(words.Number(float64(len(w.Tried))), "purchase"), a.bought(best.VMs), words.CentsOf(best.Bill), a.Currency, words.CentsOf(best.ValueRefused)),
		words.Money("bill", best.Bill, a.Currency), words.Money("value_refused", best.ValueRefused, a.Currency), words.Count("tried", float64(len(w.Tried)), "purchases"))
	if nothing := w.nothing(); nothing != nil && nothing != best {
		proved := fmt.Sprintf("It saves %s at least, whatever the schedule without it", words.CentsDown(*w.SavedAtLeast))
		if !w.SavedAtLeast.IsPositive() {
			proved = fmt.Sprintf("The gaps of both are larger, so that no saving is proved: a schedule without it may cost down to %s", words.CentsDown(nothing.Bound))
		}
		a.Facts.Say("saved_with_waiting", "", fmt.Sprintf("Bill and value refused together are %s lower than where jobs wait and nothing is bought. %s.", words.CentsOf(*w.Saved), proved),
			words.Money("saved", *w.Saved, a.Currency), words.Money("saved_at_least", *w.SavedAtLeast, a.Currency), words.Money("bound_without", nothing.Bound, a.Currency))
	}
	if i := slices.IndexFunc(w.Tried, func(t PurchaseScheduled) bool { return t.Why == TriedAtOnce }); i > 0 {
		more := money.Amount{Decimal: w.Tried[i].Total.Sub(best.Total.Decimal)}
		a.Facts.Say("at_once_with_waiting", "", fmt.Sprintf("What is recommended where they count as they arrive, %s, costs %s more there.", a.bought(w.Tried[i].VMs), words.CentsOf(more)), words.Money("more", more, a.Currency))
	}
	a.Facts.Say("waiting_gap", "", fmt.Sprintf("No purchase with any schedule is more than %s cheaper.", words.CentsUp(w.Gap)), words.Money("gap", w.Gap, a.Currency))
}
