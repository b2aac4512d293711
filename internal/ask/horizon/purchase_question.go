package horizon

import (
	"maps"
	"slices"

	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/fault"
	"example.org/headroom/internal/core/strict"
)

// PurchaseQuestion asks how many VMs of each offer to buy for a horizon. As JSON, a horizon with
//
//	"offers": [{"name": "one-year", "price": "0.04", "upfront": "400.00", "term_years": 1, "billing": "always", "max": 200}],
//	"factors": [0.7, 0.8, 0.9, 1, 1.1, 1.2, 1.3]
//
// Offers are weighed without spot VMs and a budget, which the question must leave out by name. What is recommended then is
// planned with them as well, and holds only where it costs no more there.
// The problem's options.gap is the relative gap at which a recommendation is good enough.
type PurchaseQuestion struct {
	Horizon
	Offers   []capacity.Offer `json:"offers"`
	Assume   Assumption       `json:"assume,omitempty"`    // the demand after the periods, until the longest offer ends
	Factors  []float64        `json:"factors,omitzero"`    // demands at which the recommendation is tried; null is −30 to +30 %, empty is none
	LeaveOut []LeftOut        `json:"leave_out,omitempty"` // what offers are not weighed with, though the problem has it
	Detail   Detail           `json:"detail,omitempty"`
	// WithWaiting asks what purchases come to where jobs wait as plans let them.
	WithWaiting bool `json:"with_waiting,omitempty"`

	Whole *WholeCluster `json:"-"` // where the cluster has other types of VMs than the one that is bought
}

// WholeCluster is the cluster as it is, with all types of VMs, and the type that is bought.
type WholeCluster struct {
	Horizon Horizon `json:"horizon"`
	VMType  string  `json:"vm_type"`
}

// leftOut lists what the offers are weighed without: what the question leaves out and its problem has, and in hours planned by
// themselves that refuse jobs which arrive, those that started before.
func (q *PurchaseQuestion) leftOut(hourly ...*Answer) []LeftOut {
	out := []LeftOut{}
	if q.Whole != nil {
		out = append(out, WithoutTypes)
	}
	if q.Problem.Supply.Spot != nil && slices.Contains(q.LeaveOut, WithoutSpot) {
		out = append(out, WithoutSpot)
	}
	if q.Problem.Budget != nil && slices.Contains(q.LeaveOut, WithoutBudget) {
		out = append(out, WithoutBudget)
	}
	if slices.ContainsFunc(hourly, (*Answer).refusesArrivals) {
		out = append(out, WithoutStarted)
	}
	return out
}

// refusesArrivals reports whether some of what arrives is refused.
func (a *Answer) refusesArrivals() bool {
	return slices.ContainsFunc(a.Classes, func(c ClassTotal) bool { return c.Arrivals != nil && c.RefusedHours > 0 })
}

// Without returns the horizon without what the question leaves out.
func (q *PurchaseQuestion) Without() Horizon {
	h := q.Horizon
	if slices.Contains(q.LeaveOut, WithoutBudget) {
		h.Problem.Budget = nil
	}
	if slices.Contains(q.LeaveOut, WithoutSpot) {
		h = h.WithoutSpot()
	}
	return h
}

// WithoutSpot returns the horizon without spot VMs, of any type.
func (h Horizon) WithoutSpot() Horizon {
	s := &h.Problem.Supply
	s.Spot, s.VMTypes = nil, slices.Clone(s.VMTypes)
	for v := range s.VMTypes {
		s.VMTypes[v].Spot = nil
	}
	h.Periods = slices.Clone(h.Periods)
	for i := range h.Periods {
		p := &h.Periods[i]
		p.SpotPrice, p.Prices = nil, maps.Clone(p.Prices)
		for name, of := range p.Prices {
			of.Spot = nil
			p.Prices[name] = of
		}
	}
	return h
}

// DefaultFactors is the demands at which a recommendation is tried where the question names none.
func DefaultFactors() []float64 { return []float64{0.7, 0.8, 0.9, 1, 1.1, 1.2, 1.3} }

// Carried is Horizon.Carried, with periods that are also cut where an offer begins or ends.
func (q PurchaseQuestion) Carried() Horizon {
	h := q.Horizon
	for _, o := range q.Offers {
		from, until := o.Term(h.Start())
		h.turns = append(slices.Clip(h.turns), from.Unix(), until.Unix())
	}
	return h.Carried()
}

// Validate says everything that is wrong with the question, as an *InputError, or nil.
func (q PurchaseQuestion) Validate() error { return strict.Check(q.check) }

func (q *PurchaseQuestion) check(c *strict.Checker) {
	q.Horizon.Check(c)
	p := &q.Problem
	c.Enter("problem")
	if len(p.Supply.VMTypes) > 0 {
		c.Refuse("supply", "not_taken", "Offers are weighed for one kind of VM; ask for each VM type by itself, with the classes that run on it.")
	}
	if p.Supply.Spot != nil && !slices.Contains(q.LeaveOut, WithoutSpot) {
		c.Refuse("supply", "not_taken", "Offers are weighed without spot VMs; say so with \"leave_out\": [\"spot\"]. What is recommended is planned with them as well.")
	}
	if p.Budget != nil && !slices.Contains(q.LeaveOut, WithoutBudget) {
		c.Refuse("budget", "not_taken", "Offers are weighed without a budget; say so with \"leave_out\": [\"budget\"]. What is recommended is planned with it as well.")
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
	checkLeftOut(c, q.LeaveOut)
}

func checkLeftOut(c *strict.Checker, out []LeftOut) {
	c.Enter("leave_out")
	for i, l := range out {
		c.Element(i)
		if strict.OneOf(c, "", l, leftOuts); slices.Contains(out[:i], l) {
			c.Refuse("", "duplicate_name", "%q stands here twice; keep one.", l)
		}
		c.Leave()
	}
	c.Leave()
}

func checkOffers(c *strict.Checker, offers []capacity.Offer, taken map[string]bool) {
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

// checkFree refuses offers that cost nothing: nobody sells such, and all of them would be recommended.
func checkFree(c *strict.Checker, offers []capacity.Offer) {
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
