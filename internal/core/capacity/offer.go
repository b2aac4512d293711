package capacity

import (
	"time"

	"example.org/headroom/internal/core/money"
	"example.org/headroom/internal/core/strict"
)

// Limits of offers.
const (
	MaxOfferVMs  = 1_000_000
	MaxTermYears = 10

	MaxHorizonHours = 10 * 8784 // ten years
)

// Offer is a contract that may be bought: any number of VMs up to Max. It holds for its term from From on.
//
// An offer counts by the part of it that lies in the horizon. The hourly price counts for the hours in both: for the
// VM-hours used, or always. The upfront payment counts by the share of the term's seconds in both. A term that ends
// before the horizon does is not renewed.
type Offer struct {
	Name      string       `json:"name"`
	Price     money.Amount `json:"price"`   // per VM-hour
	Upfront   money.Amount `json:"upfront"` // per VM, paid at From
	Billing   Billing      `json:"billing"`
	From      *time.Time   `json:"from,omitempty"`      // null is the horizon's start
	TermHours int64        `json:"term_hours,omitzero"` // exactly one of the two
	TermYears int64        `json:"term_years,omitzero"` // calendar years
	Max       int64        `json:"max"`
}

// Term returns the time in which the offer is in force, in a horizon that begins at start.
func (o Offer) Term(start time.Time) (from, until time.Time) {
	from = start
	if o.From != nil {
		from = *o.From
	}
	if o.TermYears > 0 {
		return from, from.AddDate(int(o.TermYears), 0, 0)
	}
	return from, from.Add(time.Duration(o.TermHours) * time.Hour)
}

// CheckTerms is the check of an offer without its name.
func (o Offer) CheckTerms(c *strict.Checker) {
	money.Check(c, "price", "The price", o.Price)
	money.Check(c, "upfront", "The upfront payment", o.Upfront)
	strict.OneOf(c, "billing", o.Billing, Billings)
	c.Whole("max", "The most VMs", "VMs", o.Max, 0, MaxOfferVMs)
	switch {
	case o.TermHours != 0 && o.TermYears != 0:
		c.Refuse("term_years", "one_of", `Here are two terms; give "term_hours" or "term_years".`)
	case o.TermHours == 0 && o.TermYears == 0:
		c.Found("term_years", "missing", "The offer has no term; say for how many years, or hours, it is bought.", c.Hint("term_years", 1, "Give 1, for a year."))
	case o.TermYears != 0:
		c.Whole("term_years", "The term", "years", o.TermYears, 1, MaxTermYears)
	default:
		c.Whole("term_hours", "The term", "hours", o.TermHours, 1, MaxHorizonHours)
	}
	if o.From != nil {
		CheckWholeSecond(c, "from", *o.From)
	}
}

// CheckWholeSecond refuses what is no moment, or not a whole second.
func CheckWholeSecond(c *strict.Checker, member string, at time.Time) bool {
	if !c.Moment(member, at) {
		return false
	}
	if at.Nanosecond() != 0 {
		c.Refuse(member, "range", "The moment %s is not a whole second.", at.UTC().Format(time.RFC3339Nano))
		return false
	}
	return true
}
