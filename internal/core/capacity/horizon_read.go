package capacity

import (
	"fmt"
	"slices"
	"time"
	"unicode/utf8"
)

// How much of a horizon is answered: a summary is totals, months and days.
const (
	DetailPeriods Detail = "periods" // every period as well
	DetailClasses Detail = "classes" // and what becomes of each class in it
)

var horizonDetails = []Detail{DetailSummary, DetailPeriods, DetailClasses}

// How much of a horizon is answered: its periods where there are few, and never more of them than fit into
// an answer that is kept.
const (
	ShownPeriods  = 1_000
	mostHorizon   = 30 << 20 // bytes of an answer with all its periods
	periodBytes   = 400
	contractBytes = 12 // in a period
	shareBytes    = 50 // of a class in a situation
)

// HorizonQuestion asks what a horizon comes to.
type HorizonQuestion struct {
	Horizon
	Detail Detail `json:"detail,omitempty"` // left out: periods, where there are few of them
}

// ClusterHorizonQuestion is about a cluster's forecasts, prices and contracts of some time.
type ClusterHorizonQuestion struct {
	Span
	Detail Detail `json:"detail,omitempty"`
}

// ClusterPurchaseQuestion asks what a cluster should buy.
type ClusterPurchaseQuestion struct {
	Span
	VMType   string    `json:"vm_type,omitempty"`   // which the offers are of; needed where several are in use
	Offers   []Offer   `json:"offers,omitempty"`    // null is those that the cluster has,
	Named    []string  `json:"named,omitempty"`     // or of those the named ones
	Factors  []float64 `json:"factors,omitzero"`    // as in PurchaseQuestion
	Gap      *float64  `json:"gap,omitempty"`       // null is DefaultPurchaseGap
	LeaveOut []LeftOut `json:"leave_out,omitempty"` // what the cluster has and purchases are not weighed with
	Detail   Detail    `json:"detail,omitempty"`
}

// LeftOut is something of a cluster that is left out of a question.
type LeftOut string

const (
	WithoutSpot   LeftOut = "spot"
	WithoutBudget LeftOut = "budget"
)

var leftOuts = []LeftOut{WithoutSpot, WithoutBudget}

// DefaultPurchaseGap is the relative gap at which a recommendation is good enough where nothing is said.
const DefaultPurchaseGap = 0.0005

// Span is whole hours of UTC; see Outlook for what is meant where an end is left out.
type Span struct {
	From  time.Time `json:"from,omitzero"`
	Until time.Time `json:"until,omitzero"`
}

// Ends is the span with what was left out: from the next whole hour, for a year of the calendar. open says
// that the end was left out.
func (s Span) Ends(now time.Time) (from, until time.Time, open bool) {
	if from = s.From.UTC(); s.From.IsZero() {
		if from = now.UTC().Truncate(time.Hour); from.Before(now) {
			from = from.Add(time.Hour)
		}
	}
	if until = s.Until.UTC(); s.Until.IsZero() {
		return from, from.AddDate(1, 0, 0), true
	}
	return from, until, false
}

func (s Span) check(c *checker) {
	for _, end := range []struct {
		member string
		at     time.Time
	}{{"from", s.From}, {"until", s.Until}} {
		if end.at.IsZero() || !c.moment(end.member, end.at) {
			continue
		}
		if hour := end.at.UTC().Truncate(time.Hour); !hour.Equal(end.at) {
			c.found(end.member, "range", fmt.Sprintf("The time %s is not a whole hour of UTC, which horizons begin and end with.", end.at.Format(time.RFC3339)),
				c.hint(end.member, hour.Format(time.RFC3339), "Give %s.", hour.Format(time.RFC3339)))
		}
	}
	if s.From.IsZero() || s.Until.IsZero() {
		return
	}
	if c.term("The horizon", s.From, s.Until); s.Until.Sub(s.From) > MaxHorizonHours*time.Hour {
		latest := s.From.UTC().AddDate(10, 0, 0).Format(time.RFC3339)
		c.found("until", "range", fmt.Sprintf("The horizon lasts %.0f hours; it can last %d at most.", s.Until.Sub(s.From).Hours(), MaxHorizonHours),
			c.hint("until", latest, "Give %s at the latest.", latest))
	}
}

var (
	horizonShape         = newShape("a horizon", []string{"problem", "periods"}, "contracts", "detail")
	purchaseShape        = newShape("a question about offers", []string{"problem", "periods", "offers"}, "contracts", "factors", "detail")
	clusterHorizonShape  = newShape("a horizon", nil, "from", "until", "detail")
	clusterPurchaseShape = newShape("a question about offers", nil, "from", "until", "vm_type", "offers", "named", "factors", "gap", "leave_out", "detail")
	termContractShape    = newShape("a contract", []string{"name", "vms", "price", "from", "until"}, "billing", "vm_type", "upfront")
	periodShape          = newShape("a period", []string{"start"}, "hours", "seconds", "jobs", "on_demand_price", "spot_price", "prices")
	periodPricesShape    = newShape("the prices of a VM type", nil, "on_demand", "spot")
	offerShape           = newShape("an offer", []string{"name", "max"}, "price", "upfront", "billing", "from", "term_hours", "term_years")
)

// ReadHorizon reads a horizon as strictly as ReadProblem. Where its problem names no engine, it is auto. The
// overrides change its options before it is validated with them.
func ReadHorizon(data []byte, limits Limits, overrides ...func(*Options)) (HorizonQuestion, error) {
	var q HorizonQuestion
	q.Problem = Problem{PeriodSeconds: 3600, Options: DefaultOptions()}
	q.Problem.Options.Engine = EngineAuto
	r := &reader{data: data, path: make(path, 0, 8)}
	r.start()
	r.object(horizonShape, func(name string) {
		if name == "detail" {
			r.detail(&q.Detail)
		} else {
			r.horizonMember(name, &q.Horizon, limits)
		}
	})
	r.end()
	for _, override := range overrides {
		override(&q.Problem.Options)
	}
	if err := r.result(q.check); err != nil {
		return HorizonQuestion{}, err
	}
	return q, nil
}

// Check is what is wrong with the question, which it brings in order.
func (q *HorizonQuestion) Check() error { return findingsOf(q.check) }

func (q *HorizonQuestion) check(c *checker) {
	q.Horizon.check(c)
	q.Horizon.checkDetail(c, &q.Detail)
}

// ReadPurchase reads a question about offers as strictly as ReadProblem. Where its problem names no engine, it
// is auto, and where it names no gap, DefaultPurchaseGap.
func ReadPurchase(data []byte, limits Limits, overrides ...func(*Options)) (PurchaseQuestion, error) {
	var q PurchaseQuestion
	q.Problem = Problem{PeriodSeconds: 3600, Options: DefaultOptions()}
	q.Problem.Options.Engine, q.Problem.Options.Gap = EngineAuto, DefaultPurchaseGap
	r := &reader{data: data, path: make(path, 0, 8)}
	r.start()
	r.object(purchaseShape, func(name string) {
		switch name {
		case "detail":
			r.detail(&q.Detail)
		case "offers":
			q.Offers = r.offers()
		case "factors":
			q.Factors = r.factors()
		default:
			r.horizonMember(name, &q.Horizon, limits)
		}
	})
	r.end()
	for _, override := range overrides {
		override(&q.Problem.Options)
	}
	if err := r.result(q.checkAsked); err != nil {
		return PurchaseQuestion{}, err
	}
	return q, nil
}

// Check is what is wrong with the question, which it brings in order.
func (q *PurchaseQuestion) Check() error { return findingsOf(q.checkAsked) }

func (q *PurchaseQuestion) checkAsked(c *checker) {
	q.check(c)
	checkFree(c, q.Offers)
	q.Horizon.checkDetail(c, &q.Detail)
}

// ReadClusterHorizon reads a question about a cluster.
func ReadClusterHorizon(data []byte) (ClusterHorizonQuestion, error) {
	var q ClusterHorizonQuestion
	r := &reader{data: data, path: make(path, 0, 8)}
	r.start()
	r.object(clusterHorizonShape, func(name string) {
		if name == "detail" {
			r.detail(&q.Detail)
		} else {
			r.spanMember(name, &q.Span)
		}
	})
	r.end()
	if err := r.result(func(c *checker) {
		q.Span.check(c)
		checkHorizonDetail(c, q.Detail)
	}); err != nil {
		return ClusterHorizonQuestion{}, err
	}
	return q, nil
}

// ReadClusterPurchase reads a question about a cluster.
func ReadClusterPurchase(data []byte) (ClusterPurchaseQuestion, error) {
	var q ClusterPurchaseQuestion
	r := &reader{data: data, path: make(path, 0, 8)}
	r.start()
	r.object(clusterPurchaseShape, func(name string) {
		switch name {
		case "vm_type":
			q.VMType, _ = r.text()
		case "offers":
			q.Offers = r.offers()
		case "named":
			before := len(r.findings)
			q.Named = list(r, "of names of offers", MaxOffers, func(name *string) { *name, _ = r.text() })
			if len(q.Named) == 0 && len(r.findings) == before {
				r.found("missing", "No offer is named; name at least one, or leave this out for all of them.", nil)
			}
		case "factors":
			q.Factors = r.factors()
		case "gap":
			q.Gap = new(float64)
			r.float(q.Gap)
		case "leave_out":
			q.LeaveOut = list(r, "of what is left out", len(leftOuts), func(l *LeftOut) { word(r, l, leftOuts) })
		case "detail":
			r.detail(&q.Detail)
		default:
			r.spanMember(name, &q.Span)
		}
	})
	r.end()
	if err := r.result(q.check); err != nil {
		return ClusterPurchaseQuestion{}, err
	}
	return q, nil
}

func (q *ClusterPurchaseQuestion) check(c *checker) {
	q.Span.check(c)
	if q.Offers != nil {
		checkOffers(c, q.Offers, map[string]bool{})
		checkFree(c, q.Offers)
	}
	c.short("vm_type", q.VMType)
	c.enter("named")
	for i, name := range q.Named {
		c.element(i)
		c.short("", name)
		c.leave()
		if slices.Contains(q.Named[:i], name) {
			c.element(i)
			c.refuse("", "duplicate_name", "The offer %q is named twice; keep one.", clip(name))
			c.leave()
		}
	}
	c.leave()
	if q.Named != nil && q.Offers != nil {
		c.refuse("named", "one_of", `Here are offers and names of offers; give "offers", or name those of the cluster.`)
	}
	checkFactors(c, q.Factors)
	if q.Gap != nil {
		c.number("gap", "The gap", "", *q.Gap, MaxGap)
	}
	c.enter("leave_out")
	for i, l := range q.LeaveOut {
		c.element(i)
		if oneOf(c, "", l, leftOuts); slices.Contains(q.LeaveOut[:i], l) {
			c.refuse("", "duplicate_name", "%q stands here twice; keep one.", l)
		}
		c.leave()
	}
	c.leave()
	checkHorizonDetail(c, q.Detail)
}

// short refuses a text that is longer than any name.
func (c *checker) short(member, text string) {
	if n := utf8.RuneCountInString(text); n > MaxNameLength {
		c.refuse(member, "too_long", "The name has %d characters; names have %d at most.", n, MaxNameLength)
	}
}

func checkHorizonDetail(c *checker, detail Detail) {
	if detail != "" {
		oneOf(c, "detail", detail, horizonDetails)
	}
}

// CheckDetail is what is wrong with how much of the horizon is answered, which it decides where nobody has.
func (h *Horizon) CheckDetail(detail *Detail) error {
	return findingsOf(func(c *checker) { h.checkDetail(c, detail) })
}

// checkDetail says how much is answered where nobody has said, and refuses an answer that is too large.
func (h *Horizon) checkDetail(c *checker, detail *Detail) {
	checkHorizonDetail(c, *detail)
	if *detail == "" {
		if *detail = DetailSummary; len(h.Periods) <= ShownPeriods {
			*detail = DetailPeriods
		}
	}
	if size := h.answerBytes(*detail); size > mostHorizon {
		less := DetailSummary
		if h.answerBytes(DetailPeriods) <= mostHorizon {
			less = DetailPeriods
		}
		c.found("detail", "too_large", fmt.Sprintf("An answer with %s of all %d periods would have about %d MB; %d MB are answered at most. Days, months and totals are answered in any case.", *detail, len(h.Periods), size>>20, mostHorizon>>20),
			c.hint("detail", less, "Ask for the detail %q, or for a shorter time.", less))
	}
}

// answerBytes is about how large an answer is.
func (h *Horizon) answerBytes(detail Detail) int {
	if detail == DetailSummary {
		return 0
	}
	contracts := len(h.Contracts)
	for _, t := range h.Problem.Supply.Types() {
		contracts += len(t.Contracts)
	}
	each := periodBytes + contractBytes*contracts
	if detail == DetailClasses {
		each += shareBytes * len(h.Problem.Classes)
	}
	return len(h.Periods) * each
}

func (r *reader) detail(into *Detail) {
	before := len(r.findings)
	if word(r, into, horizonDetails); *into == "" && len(r.findings) == before {
		detail, _ := unknownWord("", words(horizonDetails))
		r.found("choice", detail, nil)
	}
}

func (r *reader) spanMember(name string, s *Span) {
	if name == "from" {
		r.moment(&s.From)
	} else {
		r.moment(&s.Until)
	}
}

func (r *reader) horizonMember(name string, h *Horizon, limits Limits) {
	switch name {
	case "problem":
		r.problem(&h.Problem, limits)
	case "contracts":
		h.Contracts = list(r, "of contracts", limits.Contracts, r.termContract)
	case "periods":
		before := len(r.findings)
		h.Periods = list(r, "of periods", MaxPeriods, func(p *HorizonPeriod) { r.period(p, limits) })
		if len(h.Periods) == 0 && len(r.findings) == before {
			r.found("missing", "There is no period; give at least one.", nil)
		}
	}
}

func (r *reader) termContract(t *TermContract) {
	t.Billing = BilledUsed
	r.object(termContractShape, func(name string) {
		switch name {
		case "vm_type":
			t.VMType, _ = r.text()
		case "upfront":
			r.money(&t.Upfront)
		case "from":
			r.moment(&t.From)
		case "until":
			r.moment(&t.Until)
		default:
			r.contractMember(name, &t.Contract)
		}
	})
}

func (r *reader) period(p *HorizonPeriod, limits Limits) {
	had := r.object(periodShape, func(name string) {
		switch name {
		case "start":
			r.moment(&p.Start)
		case "hours":
			r.whole(&p.Hours)
		case "seconds":
			r.whole(&p.Seconds)
		case "jobs":
			if p.Jobs = list(r, "of jobs by class", limits.Classes, r.float); p.Jobs == nil {
				p.Jobs = []float64{}
			}
		case "on_demand_price":
			p.OnDemandPrice = new(Money)
			r.money(p.OnDemandPrice)
		case "spot_price":
			p.SpotPrice = new(Money)
			r.money(p.SpotPrice)
		case "prices":
			p.Prices = named(r, "of prices by VM type", "VM type", limits.VMTypes, r.periodPrices)
		}
	})
	if had != 0 && !had.has(periodShape, "hours") && !had.has(periodShape, "seconds") {
		r.missing("hours", "a period that has no seconds")
	}
}

func (r *reader) periodPrices(p *PeriodPrices) {
	r.object(periodPricesShape, func(name string) {
		price := new(Money)
		r.money(price)
		if name == "on_demand" {
			p.OnDemand = price
		} else {
			p.Spot = price
		}
	})
}

func (r *reader) offers() []Offer {
	before := len(r.findings)
	all := list(r, "of offers", MaxOffers, r.offer)
	if len(all) == 0 && len(r.findings) == before {
		r.found("missing", "There is no offer; give at least one, or ask for the horizon alone.", nil)
	}
	return all
}

func (r *reader) offer(o *Offer) {
	o.Billing = BilledUsed
	r.object(offerShape, func(name string) {
		switch name {
		case "name":
			o.Name, _ = r.text()
		case "price":
			r.money(&o.Price)
		case "upfront":
			r.money(&o.Upfront)
		case "billing":
			word(r, &o.Billing, billings)
		case "from":
			o.From = new(time.Time)
			r.moment(o.From)
		case "term_hours":
			r.whole(&o.TermHours)
		case "term_years":
			r.whole(&o.TermYears)
		case "max":
			r.whole(&o.Max)
		}
	})
}

func (r *reader) factors() []float64 {
	all := list(r, "of factors", MaxFactors, r.float)
	if all == nil {
		all = []float64{}
	}
	return all
}
