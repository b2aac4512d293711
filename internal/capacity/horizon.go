package capacity

import (
	"fmt"
	"math"
	"slices"
	"time"
)

// Horizon is a problem over time. Problem says what stays the same; the periods say how many jobs of each
// class there are, and when. Without an offer to decide upon they do not touch each other. As JSON:
//
//	{"problem": {…},
//	 "contracts": [{"name": "2026", "vms": 30, "price": "0.10", "billing": "used", "upfront": "1200.00",
//	                "from": "2026-01-01T00:00:00Z", "until": "2027-01-01T00:00:00Z"}],
//	 "periods": [{"start": "2026-01-01T00:00:00Z", "hours": 1, "jobs": [10, 3], "on_demand_price": "0.20"}, …]}
//
// The problem's own contracts are in force all the time. Money in the problem (penalties) is per its
// period_s; a period of the horizon that is longer pays it in proportion.
type Horizon struct {
	Problem   Problem         `json:"problem"`
	Contracts []TermContract  `json:"contracts,omitempty"`
	Periods   []HorizonPeriod `json:"periods"` // each begins where the one before ends
}

// TermContract is a contract that is in force in [From, Until).
type TermContract struct {
	Contract
	VMType  string    `json:"vm_type,omitempty"` // where the problem has several
	Upfront Money     `json:"upfront"`           // paid once, for the whole contract
	From    time.Time `json:"from"`
	Until   time.Time `json:"until"`
}

// HorizonPeriod is some hours with the same demand and prices.
type HorizonPeriod struct {
	Start time.Time `json:"start"`
	Hours int64     `json:"hours"`
	// Jobs is how many jobs of each class are expected at once, in the order of the problem's classes; null
	// is every class's own jobs.max. It takes the place of jobs.max, and jobs.min becomes the smaller of
	// itself and this. Periods may share one slice.
	Jobs          []float64 `json:"jobs,omitempty"`
	OnDemandPrice *Money    `json:"on_demand_price,omitempty"` // null is the problem's
}

// End is when the period is over.
func (p HorizonPeriod) End() time.Time { return p.Start.Add(time.Duration(p.Hours) * time.Hour) }

// PurchaseQuestion asks how many VMs of each offer to buy for a horizon. As JSON, a horizon with
//
//	"offers": [{"name": "one-year", "price": "0.04", "upfront": "400.00", "term_years": 1, "billing": "always", "max": 200}],
//	"factors": [0.7, 0.8, 0.9, 1, 1.1, 1.2, 1.3]
//
// The problem's options.gap is the relative gap at which a recommendation is good enough.
type PurchaseQuestion struct {
	Horizon
	Offers  []Offer   `json:"offers"`
	Factors []float64 `json:"factors,omitempty"` // demands at which the recommendation is tried; null is −30 to +30 %, empty is none
}

// Offer is a contract that may be bought: any number of VMs up to Max. It holds for its term from From on.
//
// An offer counts by what of it lies in the horizon: the hourly price (used: of the VM-hours used; always: of
// every hour) for the hours that lie in both, and of the upfront payment the share of the term's seconds that
// do. A term that ends before the horizon does is not renewed.
type Offer struct {
	Name      string     `json:"name"`
	Price     Money      `json:"price"`   // per VM-hour
	Upfront   Money      `json:"upfront"` // per VM, paid at From
	Billing   Billing    `json:"billing"`
	From      *time.Time `json:"from,omitempty"`      // null is the horizon's start
	TermHours int64      `json:"term_hours,omitzero"` // exactly one of the two
	TermYears int64      `json:"term_years,omitzero"` // calendar years
	Max       int64      `json:"max"`
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

// Limits of horizons.
const (
	MaxPeriods      = 3 * 8784 // three years of hours
	MaxHorizonLoad  = 2_000_000
	MaxOffers       = 8
	MaxOfferVMs     = 1_000_000
	MaxFactors      = 13
	MaxTermYears    = 10
	MaxHorizonHours = 10 * 8784
)

// Start is when the horizon begins, and End when it is over.
func (h Horizon) Start() time.Time { return h.Periods[0].Start }

// End is when the horizon is over.
func (h Horizon) End() time.Time { return h.Periods[len(h.Periods)-1].End() }

// JobsIn is the jobs of a class in a period.
func (h *Horizon) JobsIn(period, class int) JobRange {
	own := h.Problem.Classes[class].Jobs
	if jobs := h.Periods[period].Jobs; jobs != nil {
		own.Max = jobs[class]
		own.Min = min(own.Min, own.Max)
	}
	return own
}

// Scaled is the horizon with all demand times a factor, rounded up to whole jobs as forecasts are unless the
// problem is relaxed. Promised jobs never exceed the demand. Periods that shared their jobs still do.
func (h Horizon) Scaled(factor float64) Horizon {
	scale := func(x float64) float64 {
		if h.Problem.Options.Integrality == Relaxed {
			return x * factor
		}
		return wholeJobs(x * factor)
	}
	h.Problem.Classes = slices.Clone(h.Problem.Classes)
	for i := range h.Problem.Classes {
		j := &h.Problem.Classes[i].Jobs
		j.Max = scale(j.Max)
		j.Min = min(j.Min, j.Max)
	}
	h.Periods = slices.Clone(h.Periods)
	known := make(map[*float64][]float64)
	for i := range h.Periods {
		before := h.Periods[i].Jobs
		if len(before) == 0 {
			continue
		}
		after := known[&before[0]]
		if after == nil {
			after = make([]float64, len(before))
			for k, x := range before {
				after[k] = scale(x)
			}
			known[&before[0]] = after
		}
		h.Periods[i].Jobs = after
	}
	return h
}

// Validate says everything that is wrong with the horizon, as an *InputError, or nil.
func (h Horizon) Validate() error { return findingsOf(func(c *checker) { h.check(c) }) }

func (h Horizon) check(c *checker) {
	c.enter("problem")
	h.Problem.check(c)
	c.leave()
	h.checkPeriods(c)
	named := make(map[string]bool)
	types := make(map[string]bool)
	for _, t := range h.Problem.Supply.Types() {
		types[t.Name] = true
		for _, contract := range t.Contracts {
			named[contract.Name] = true
		}
	}
	c.enter("contracts")
	for i, contract := range h.Contracts {
		c.element(i)
		c.name(contract.Name)
		if named[contract.Name] {
			c.refuse("name", "duplicate_name", "Another contract is called %q as well; give each contract a name of its own.", clip(contract.Name))
		}
		named[contract.Name] = true
		c.whole("vms", "The number of VMs", "VMs", contract.VMs, 0, MaxVMs)
		c.money("price", "The price", contract.Price)
		c.money("upfront", "The upfront payment", contract.Upfront)
		oneOf(c, "billing", contract.Billing, billings)
		if !types[contract.VMType] {
			c.refuse("vm_type", "unknown_name", "The problem has no VM type %q.", clip(contract.VMType))
		}
		if c.wholeSecond("from", contract.From) && c.wholeSecond("until", contract.Until) {
			c.term("The contract", contract.From, contract.Until)
		}
		c.leave()
	}
	c.leave()
}

func (h Horizon) checkPeriods(c *checker) {
	c.enter("periods")
	defer c.leave()
	classes := h.Problem.Classes
	switch {
	case len(h.Periods) == 0:
		c.refuse("", "missing", "There is no period; give at least one.")
		return
	case len(h.Periods) > MaxPeriods:
		c.refuse("", "too_many", "Here are %d periods; a horizon has %d at most.", len(h.Periods), MaxPeriods)
		return
	case len(h.Periods)*len(classes) > MaxHorizonLoad:
		c.refuse("", "too_many", "Here are %d periods of %d classes; a horizon has %d of both together at most. Give longer periods.", len(h.Periods), len(classes), MaxHorizonLoad)
		return
	}
	hours := int64(0)
	for i := range h.Periods {
		p := &h.Periods[i]
		c.element(i)
		c.whole("hours", "The length", "hours", p.Hours, 1, MaxHorizonHours)
		hours = min(hours+p.Hours, math.MaxInt64/2)
		if c.wholeSecond("start", p.Start) && i > 0 {
			if end := h.Periods[i-1].End(); !p.Start.Equal(end) {
				c.found("start", "range", fmt.Sprintf("The period begins at %s and the one before ends at %s; periods follow each other without a gap.", p.Start.Format(time.RFC3339), end.Format(time.RFC3339)),
					c.hint("start", end.Format(time.RFC3339), "Begin at %s.", end.Format(time.RFC3339)))
			}
		}
		if p.Jobs != nil && len(p.Jobs) != len(classes) {
			c.refuse("jobs", "range", "Here are jobs of %d classes; the problem has %d.", len(p.Jobs), len(classes))
		} else if p.Jobs != nil {
			h.checkJobs(c, i)
		}
		if p.OnDemandPrice != nil {
			c.money("on_demand_price", "The price", *p.OnDemandPrice)
			if len(h.Problem.Supply.VMTypes) > 0 {
				c.refuse("on_demand_price", "not_here", "The problem has several VM types; prices of a period are taken for one kind of VM alone.")
			}
		}
		c.leave()
		if len(c.findings) >= MaxFindings {
			return
		}
	}
	if hours > MaxHorizonHours {
		c.refuse("", "range", "The periods last %d hours; a horizon lasts %d at most.", hours, MaxHorizonHours)
	}
}

func (h *Horizon) checkJobs(c *checker, period int) {
	c.enter("jobs")
	for k, x := range h.Periods[period].Jobs {
		if x >= 0 && x <= MaxJobs && (x == math.Trunc(x) || h.Problem.Options.Integrality == Relaxed) {
			continue
		}
		c.element(k)
		if c.number("", "The number of jobs", "", x, MaxJobs) && x != math.Trunc(x) {
			c.refuse("", "not_whole", "Here are %s jobs; give a whole number, or plan with integrality %q.", plain(x), Relaxed)
		}
		c.leave()
	}
	c.leave()
}

// wholeSecond refuses what is no moment, or not a whole second.
func (c *checker) wholeSecond(member string, at time.Time) bool {
	if !c.moment(member, at) {
		return false
	}
	if at.Nanosecond() != 0 {
		c.refuse(member, "range", "The moment %s is not a whole second.", at.UTC().Format(time.RFC3339Nano))
		return false
	}
	return true
}

// Validate says everything that is wrong with the question, as an *InputError, or nil.
func (q PurchaseQuestion) Validate() error {
	return findingsOf(func(c *checker) {
		q.Horizon.check(c)
		q.checkOffers(c)
		c.enter("factors")
		if len(q.Factors) > MaxFactors {
			c.refuse("", "too_many", "Here are %d factors; give %d at most.", len(q.Factors), MaxFactors)
		}
		for i, f := range q.Factors {
			c.element(i)
			if c.number("", "The factor", "", f, 10) && f == 0 {
				c.refuse("", "range", "The factor is 0; without demand there is nothing to compare.")
			}
			c.leave()
		}
		c.leave()
	})
}

func (q *PurchaseQuestion) checkOffers(c *checker) {
	p := &q.Problem
	c.enter("problem")
	if len(p.Supply.VMTypes) > 0 || p.Supply.Spot != nil {
		c.refuse("supply", "not_taken", "Offers are weighed for one kind of VM without spot VMs; ask for each VM type by itself.")
	}
	if p.Budget != nil {
		c.refuse("budget", "not_taken", "Offers are weighed without a budget; leave it out, and see what the recommendation costs.")
	}
	c.leave()
	taken := make(map[string]bool)
	for _, contract := range p.Supply.Contracts {
		taken[contract.Name] = true
	}
	for _, contract := range q.Contracts {
		taken[contract.Name] = true
	}
	c.enter("offers")
	defer c.leave()
	if len(q.Offers) == 0 {
		c.refuse("", "missing", "There is no offer; give at least one, or ask for the horizon alone.")
	}
	if len(q.Offers) > MaxOffers {
		c.refuse("", "too_many", "Here are %d offers; %d are weighed at once at most.", len(q.Offers), MaxOffers)
		return
	}
	for i, o := range q.Offers {
		c.element(i)
		c.name(o.Name)
		if taken[o.Name] {
			c.refuse("name", "duplicate_name", "Another offer or contract is called %q as well; give each a name of its own.", clip(o.Name))
		}
		taken[o.Name] = true
		o.checkTerms(c)
		c.leave()
	}
}

// checkTerms is check without the name.
func (o Offer) checkTerms(c *checker) {
	c.money("price", "The price", o.Price)
	c.money("upfront", "The upfront payment", o.Upfront)
	oneOf(c, "billing", o.Billing, billings)
	c.whole("max", "The most VMs", "VMs", o.Max, 0, MaxOfferVMs)
	switch {
	case o.TermHours != 0 && o.TermYears != 0:
		c.refuse("term_years", "one_of", `Here are two terms; give "term_hours" or "term_years".`)
	case o.TermYears != 0:
		c.whole("term_years", "The term", "years", o.TermYears, 1, MaxTermYears)
	default:
		c.whole("term_hours", "The term", "hours", o.TermHours, 1, MaxHorizonHours)
	}
	if o.From != nil {
		c.wholeSecond("from", *o.From)
	}
}
