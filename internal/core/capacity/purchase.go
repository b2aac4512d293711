package capacity

import (
	"time"

	"headroom/internal/core/fault"
	"headroom/internal/core/money"
	"headroom/internal/core/strict"
)

// PurchaseQuestion asks how many VMs of each offer to buy for a horizon. As JSON, a horizon with
//
//	"offers": [{"name": "one-year", "price": "0.04", "upfront": "400.00", "term_years": 1, "billing": "always", "max": 200}],
//	"factors": [0.7, 0.8, 0.9, 1, 1.1, 1.2, 1.3]
//
// The problem's options.gap is the relative gap at which a recommendation is good enough.
type PurchaseQuestion struct {
	Horizon
	Offers  []Offer   `json:"offers"`
	Factors []float64 `json:"factors,omitzero"` // demands at which the recommendation is tried; null is −30 to +30 %, empty is none
	Detail  Detail    `json:"detail,omitempty"`
}

// Offer is a contract that may be bought: any number of VMs up to Max. It holds for its term from From on.
//
// An offer counts by what of it lies in the horizon: the hourly price (used: of the VM-hours used; always: of
// every hour) for the hours that lie in both, and of the upfront payment the share of the term's seconds that
// do. A term that ends before the horizon does is not renewed.
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

// Term is when the offer is in force, in a horizon that begins at start.
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

// DefaultFactors is the demands at which a recommendation is tried where the question names none.
func DefaultFactors() []float64 { return []float64{0.7, 0.8, 0.9, 1, 1.1, 1.2, 1.3} }

// Validate says everything that is wrong with the question, as an *InputError, or nil.
func (q PurchaseQuestion) Validate() error { return strict.Check(q.check) }

func (q *PurchaseQuestion) check(c *strict.Checker) {
	q.Horizon.check(c)
	p := &q.Problem
	c.Enter("problem")
	if len(p.Supply.VMTypes) > 0 || p.Supply.Spot != nil {
		c.Refuse("supply", "not_taken", "Offers are weighed for one kind of VM without spot VMs; ask for each VM type by itself, with the classes that run on it.")
	}
	if p.Budget != nil {
		c.Refuse("budget", "not_taken", "Offers are weighed without a budget; leave it out, and see what the recommendation costs.")
	}
	c.Leave()
	taken := make(map[string]bool)
	for _, contract := range p.Supply.Contracts {
		taken[contract.Name] = true
	}
	for _, contract := range q.Contracts {
		taken[contract.Name] = true
	}
	checkOffers(c, q.Offers, taken)
	checkFactors(c, q.Factors)
}

func checkOffers(c *strict.Checker, offers []Offer, taken map[string]bool) {
	c.Enter("offers")
	defer c.Leave()
	if len(offers) == 0 {
		c.Refuse("", "missing", "There is no offer; give at least one, or ask for the horizon alone.")
	}
	if len(offers) > MaxOffers {
		c.Refuse("", "too_many", "Here are %d offers; %d are weighed at once at most.", len(offers), MaxOffers)
		return
	}
	for i, o := range offers {
		c.Element(i)
		c.Name(o.Name)
		if taken[o.Name] {
			c.Refuse("name", "duplicate_name", "Another offer or contract is called %q as well; give each a name of its own.", fault.Clip(o.Name))
		}
		taken[o.Name] = true
		o.CheckTerms(c)
		c.Leave()
	}
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
		checkWholeSecond(c, "from", *o.From)
	}
}

// checkFree refuses offers that cost nothing: nobody sells such, and all of them would be recommended.
func checkFree(c *strict.Checker, offers []Offer) {
	c.Enter("offers")
	for i, o := range offers {
		if o.Price.IsZero() && o.Upfront.IsZero() {
			c.Element(i)
			c.Refuse("price", "range", "The offer costs nothing: its price and its upfront payment are 0. Give at least one of them.")
			c.Leave()
		}
	}
	c.Leave()
}

func checkFactors(c *strict.Checker, factors []float64) {
	c.Enter("factors")
	if len(factors) > MaxFactors {
		c.Refuse("", "too_many", "Here are %d factors; give %d at most.", len(factors), MaxFactors)
	}
	for i, f := range factors {
		c.Element(i)
		if c.Number("", "The factor", "", f, MaxDemandFactor) && f == 0 {
			c.Refuse("", "range", "The factor is 0; without demand there is nothing to compare.")
		}
		c.Leave()
	}
	c.Leave()
}
