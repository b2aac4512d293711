package horizon

import (
	"fmt"
	"slices"
	"time"
	"unicode/utf8"

	"example.org/headroom/internal/ask/whatif"
	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/fault"
	"example.org/headroom/internal/core/money"
	"example.org/headroom/internal/core/strict"
)

// Detail says how much of a horizon is answered.
type Detail string

// The details of an answer, each with those before it.
const (
	DetailSummary Detail = "summary" // totals, months and days
	DetailPeriods Detail = "periods" // every period
	DetailClasses Detail = "classes" // the jobs and VMs of each class in every period
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
	Scenario *whatif.AskedScenario `json:"scenario,omitempty"` // laid over all of the time; a saved one has its changes here
	Detail   Detail                `json:"detail,omitempty"`   // left out: periods, where there are few of them
	// WithWaiting asks what the same time comes to where jobs wait as plans let them.
	WithWaiting bool `json:"with_waiting,omitempty"`

	laid *Horizon // under the scenario
}

// ClusterHorizonQuestion is about a cluster's forecasts, prices and contracts of some time.
type ClusterHorizonQuestion struct {
	Span
	Scenario *whatif.AskedScenario `json:"scenario,omitempty"` // laid over all of the time
	Assume   Assumption            `json:"assume,omitempty"`   // the demand after the forecasts, until the end
	Detail   Detail                `json:"detail,omitempty"`
	// WithWaiting asks what the same time comes to where jobs wait as plans let them.
	WithWaiting bool `json:"with_waiting,omitempty"`
}

// ClusterPurchaseQuestion asks what a cluster should buy.
type ClusterPurchaseQuestion struct {
	Span
	Scenario *whatif.AskedScenario `json:"scenario,omitempty"`  // laid over all of the time
	VMType   string                `json:"vm_type,omitempty"`   // which the offers are of; needed where several are in use
	Offers   []capacity.Offer      `json:"offers,omitempty"`    // null is those that the cluster has,
	Named    []string              `json:"named,omitempty"`     // or of those the named ones
	Assume   Assumption            `json:"assume,omitempty"`    // as in PurchaseQuestion
	Factors  []float64             `json:"factors,omitzero"`    // as in PurchaseQuestion
	Gap      *float64              `json:"gap,omitempty"`       // null is DefaultPurchaseGap
	LeaveOut []LeftOut             `json:"leave_out,omitempty"` // what the cluster has and purchases are not weighed with
	Detail   Detail                `json:"detail,omitempty"`
	// WithWaiting is as in PurchaseQuestion.
	WithWaiting bool `json:"with_waiting,omitempty"`
}

// LeftOut is something of a cluster that is left out of a question.
type LeftOut string

const (
	WithoutSpot   LeftOut = "spot"
	WithoutBudget LeftOut = "budget"
	// No question asks for these: a cluster's offers are weighed for one type alone, and where jobs are refused each hour is
	// weighed by itself, without the jobs that earlier ones had admitted.
	WithoutTypes   LeftOut = "other_types"
	WithoutStarted LeftOut = "started_jobs"
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

// Check says to a checker what is wrong with the span.
func (s Span) Check(c *strict.Checker) {
	for _, end := range []struct {
		member string
		at     time.Time
	}{{"from", s.From}, {"until", s.Until}} {
		if end.at.IsZero() || !c.Moment(end.member, end.at) {
			continue
		}
		if hour := end.at.UTC().Truncate(time.Hour); !hour.Equal(end.at) {
			c.Found(end.member, "range", fmt.Sprintf("The time %s is not a whole hour of UTC, which horizons begin and end with.", end.at.Format(time.RFC3339)),
				c.Hint(end.member, hour.Format(time.RFC3339), "Give %s.", hour.Format(time.RFC3339)))
		}
	}
	if s.From.IsZero() || s.Until.IsZero() {
		return
	}
	if c.Term("The horizon", s.From, s.Until); s.Until.Sub(s.From) > capacity.MaxHorizonHours*time.Hour {
		latest := s.From.UTC().AddDate(10, 0, 0).Format(time.RFC3339)
		c.Found("until", "range", fmt.Sprintf("The horizon lasts %.0f hours; it can last %d at most.", s.Until.Sub(s.From).Hours(), capacity.MaxHorizonHours),
			c.Hint("until", latest, "Give %s at the latest.", latest))
	}
}

var (
	horizonShape         = strict.NewShape("a horizon", []string{"problem", "periods"}, "contracts", "earlier", "scenario", "detail", "with_waiting")
	purchaseShape        = strict.NewShape("a question about offers", []string{"problem", "periods", "offers"}, "contracts", "earlier", "assume", "factors", "leave_out", "detail", "with_waiting")
	clusterHorizonShape  = strict.NewShape("a horizon", nil, "from", "until", "scenario", "assume", "detail", "with_waiting")
	clusterPurchaseShape = strict.NewShape("a question about offers", nil, "from", "until", "scenario", "vm_type", "offers", "named", "assume", "factors", "gap", "leave_out", "detail", "with_waiting")
	termContractShape    = strict.NewShape("a contract", []string{"name", "vms", "price", "from", "until"}, "billing", "vm_type", "upfront")
	periodShape          = strict.NewShape("a period", []string{"start"}, "hours", "seconds", "jobs", "arrivals", "on_demand_price", "spot_price", "prices", "without_forecast")
	periodPricesShape    = strict.NewShape("the prices of a VM type", nil, "on_demand", "spot")
	offerShape           = strict.NewShape("an offer", []string{"name", "max"}, "price", "upfront", "billing", "from", "term_hours", "term_years")
)

// ReadHorizon reads a horizon as strictly as ReadProblem. Where its problem names no engine, it is auto. The
// overrides change its options before it is validated with them.
func ReadHorizon(data []byte, limits capacity.Limits, overrides ...func(*capacity.Options)) (HorizonQuestion, error) {
	var q HorizonQuestion
	q.Problem = capacity.Problem{PeriodSeconds: 3600, Options: capacity.DefaultOptions()}
	q.Problem.Options.Engine = capacity.EngineAuto
	limits.Due = true
	r := strict.NewReader(data)
	r.Object(horizonShape, func(name string) {
		switch name {
		case "with_waiting":
			r.Flag(&q.WithWaiting)
		case "detail":
			strict.Word(r, &q.Detail, horizonDetails)
		case "scenario":
			q.Scenario = whatif.ReadAskedScenario(r, whatif.ScenarioShape)
		default:
			ReadMember(r, name, &q.Horizon, limits)
		}
	})
	r.End()
	for _, override := range overrides {
		override(&q.Problem.Options)
	}
	err := r.Result(func(c *strict.Checker) {
		q.CheckOneOf(c)
		q.check(c)
		q.Horizon.checkDue(c, q.WithWaiting, "the same time comes to")
	})
	if err == nil && q.Scenario != nil && !q.WithWaiting {
		err = q.Scenario.RefuseDue()
	}
	if err == nil {
		err = q.checkLaid()
	}
	if err != nil {
		return HorizonQuestion{}, err
	}
	return q, nil
}

// Check sets the defaults of the question and finds its faults.
func (q *HorizonQuestion) Check() error {
	if err := strict.Check(q.check); err != nil {
		return err
	}
	return q.checkLaid()
}

func (q *HorizonQuestion) check(c *strict.Checker) {
	q.Horizon.Check(c)
	if whatif.CheckAskedScenario(c, q.Scenario); q.Scenario == nil {
		q.checkDetail(c, &q.Detail)
	}
}

// checkLaid finds the faults of the horizon under the scenario, if there is one.
func (q *HorizonQuestion) checkLaid() error {
	if q.Scenario == nil {
		return nil
	}
	laid, err := q.Laid()
	if err != nil {
		return err
	}
	return strict.Check(func(c *strict.Checker) {
		laid.Check(c)
		laid.checkDetail(c, &q.Detail)
	})
}

// Laid returns the horizon that is planned: that of the question, under its scenario if it has one.
func (q *HorizonQuestion) Laid() (*Horizon, error) {
	if q.Scenario == nil {
		return &q.Horizon, nil
	}
	if q.laid == nil {
		laid, err := q.Under(q.Scenario.Scenario(), q.WithWaiting)
		if err != nil {
			return nil, q.Scenario.Place(err)
		}
		q.laid = &laid
	}
	return q.laid, nil
}

// ReadPurchase reads a question about offers as strictly as ReadProblem. Where its problem names no engine, it
// is auto, and where it names no gap, DefaultPurchaseGap.
func ReadPurchase(data []byte, limits capacity.Limits, overrides ...func(*capacity.Options)) (PurchaseQuestion, error) {
	var q PurchaseQuestion
	q.Problem = capacity.Problem{PeriodSeconds: 3600, Options: capacity.DefaultOptions()}
	q.Problem.Options.Engine, q.Problem.Options.Gap = capacity.EngineAuto, DefaultPurchaseGap
	limits.Due = true
	r := strict.NewReader(data)
	r.Object(purchaseShape, func(name string) {
		switch name {
		case "detail":
			strict.Word(r, &q.Detail, horizonDetails)
		case "offers":
			q.Offers = readOffers(r)
		case "assume":
			strict.Word(r, &q.Assume, assumptions)
		case "factors":
			q.Factors = readFactors(r)
		case "leave_out":
			q.LeaveOut = readLeftOut(r)
		case "with_waiting":
			r.Flag(&q.WithWaiting)
		default:
			ReadMember(r, name, &q.Horizon, limits)
		}
	})
	r.End()
	for _, override := range overrides {
		override(&q.Problem.Options)
	}
	if err := r.Result(func(c *strict.Checker) { q.CheckOneOf(c); q.checkAsked(c) }); err != nil {
		return PurchaseQuestion{}, err
	}
	return q, nil
}

// Check sets the defaults of the question and finds its faults.
func (q *PurchaseQuestion) Check() error { return strict.Check(q.checkAsked) }

func (q *PurchaseQuestion) checkAsked(c *strict.Checker) {
	q.check(c)
	q.Horizon.checkDue(c, q.WithWaiting, "purchases come to")
	checkWaiting(c, q.WithWaiting, q.Assume)
	checkFree(c, q.Offers)
	if c.Sound() {
		q.checkAssumption(c)
	}
	weighed := q.Horizon
	if c.Sound() {
		weighed = q.Weighed()
	}
	weighed.checkDetail(c, &q.Detail)
}

// checkDue refuses a time until which executions may wait where the question does not ask what that does.
func (h *Horizon) checkDue(c *strict.Checker, waiting bool, what string) {
	if waiting {
		return
	}
	c.Enter("problem")
	c.Enter("classes")
	for k := range h.Problem.Classes {
		c.Element(k)
		class := &h.Problem.Classes[k]
		for _, of := range []struct {
			member string
			has    bool
		}{{"due_s", class.DueSeconds != 0}, {"due", class.Due != ""}} {
			if of.has {
				c.Refuse(of.member, "not_taken", `Jobs count as they arrive. Leave this out, or ask with "with_waiting" what %s where jobs wait.`, what)
			}
		}
		c.Leave()
	}
	c.Leave()
	c.Leave()
}

// ReadClusterHorizon reads a question about a cluster.
func ReadClusterHorizon(data []byte) (ClusterHorizonQuestion, error) {
	var q ClusterHorizonQuestion
	r := strict.NewReader(data)
	r.Object(clusterHorizonShape, func(name string) {
		switch name {
		case "scenario":
			q.Scenario = whatif.ReadAskedScenario(r, whatif.AskedScenarioShape)
		case "assume":
			strict.Word(r, &q.Assume, assumptions)
		case "detail":
			strict.Word(r, &q.Detail, horizonDetails)
		case "with_waiting":
			r.Flag(&q.WithWaiting)
		default:
			ReadSpanMember(r, name, &q.Span)
		}
	})
	r.End()
	if err := r.Result(func(c *strict.Checker) {
		q.Span.Check(c)
		whatif.CheckAskedScenario(c, q.Scenario)
		checkHorizonDetail(c, q.Detail)
		if q.WithWaiting && q.Assume != "" {
			c.Refuse("with_waiting", "not_taken", "A schedule goes on with no demand that is assumed. Leave assume out, and end the time with the forecasts.")
		}
	}); err != nil {
		return ClusterHorizonQuestion{}, err
	}
	return q, nil
}

// ReadClusterPurchase reads a question about a cluster.
func ReadClusterPurchase(data []byte) (ClusterPurchaseQuestion, error) {
	var q ClusterPurchaseQuestion
	r := strict.NewReader(data)
	r.Object(clusterPurchaseShape, func(name string) {
		switch name {
		case "scenario":
			q.Scenario = whatif.ReadAskedScenario(r, whatif.AskedScenarioShape)
		case "vm_type":
			q.VMType, _ = r.Text()
		case "offers":
			q.Offers = readOffers(r)
		case "named":
			before := len(r.Findings)
			q.Named = strict.List(r, "of names of offers", MaxOffers, func(r *strict.Reader, name *string) { *name, _ = r.Text() })
			if len(q.Named) == 0 && len(r.Findings) == before {
				r.Found("missing", "No offer is named; name at least one, or leave this out for all of them.", nil)
			}
		case "assume":
			strict.Word(r, &q.Assume, assumptions)
		case "factors":
			q.Factors = readFactors(r)
		case "gap":
			q.Gap = new(float64)
			r.Float(q.Gap)
		case "leave_out":
			q.LeaveOut = readLeftOut(r)
		case "detail":
			strict.Word(r, &q.Detail, horizonDetails)
		case "with_waiting":
			r.Flag(&q.WithWaiting)
		default:
			ReadSpanMember(r, name, &q.Span)
		}
	})
	r.End()
	if err := r.Result(q.check); err != nil {
		return ClusterPurchaseQuestion{}, err
	}
	return q, nil
}

func (q *ClusterPurchaseQuestion) check(c *strict.Checker) {
	q.Span.Check(c)
	whatif.CheckAskedScenario(c, q.Scenario)
	if q.Offers != nil {
		checkOffers(c, q.Offers, map[string]bool{})
		checkFree(c, q.Offers)
	}
	checkShort(c, "vm_type", q.VMType)
	c.Enter("named")
	for i, name := range q.Named {
		c.Element(i)
		checkShort(c, "", name)
		c.Leave()
		if slices.Contains(q.Named[:i], name) {
			c.Element(i)
			c.Refuse("", "duplicate_name", "The offer %q is named twice; keep one.", fault.Clip(name))
			c.Leave()
		}
	}
	c.Leave()
	if q.Named != nil && q.Offers != nil {
		c.Refuse("named", "one_of", `Here are offers and names of offers; give "offers", or name those of the cluster.`)
	}
	checkFactors(c, q.Factors)
	if q.Gap != nil {
		c.Number("gap", "The gap", "", *q.Gap, capacity.MaxGap)
	}
	checkLeftOut(c, q.LeaveOut)
	checkWaiting(c, q.WithWaiting, q.Assume)
	checkHorizonDetail(c, q.Detail)
}

// checkWaiting refuses an assumption that no schedule of the forecasts' time has.
func checkWaiting(c *strict.Checker, waiting bool, assume Assumption) {
	if waiting && assume == DemandEnds {
		c.Refuse("with_waiting", "not_taken", "Schedules look at the time of the forecasts, after which this demand ends, and offers count there with their share of it. Leave this out, or assume that demand goes on.")
	}
}

// checkShort refuses a text that is longer than any name.
func checkShort(c *strict.Checker, member, text string) {
	if n := utf8.RuneCountInString(text); n > strict.MaxNameLength {
		c.Refuse(member, "too_long", "The name has %d characters; names have %d at most.", n, strict.MaxNameLength)
	}
}

func checkHorizonDetail(c *strict.Checker, detail Detail) {
	if detail != "" {
		strict.OneOf(c, "detail", detail, horizonDetails)
	}
}

// CheckDetail finds the faults of a detail, and sets the default if it is empty.
func (h *Horizon) CheckDetail(detail *Detail) error {
	return strict.Check(func(c *strict.Checker) { h.checkDetail(c, detail) })
}

// checkDetail says how much is answered where nobody has said, and refuses an answer that is too large.
func (h *Horizon) checkDetail(c *strict.Checker, detail *Detail) {
	if checkHorizonDetail(c, *detail); h.arrives() {
		if !c.Sound() {
			return
		}
		carried := h.Carried()
		h = &carried
	}
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
		c.Found("detail", "too_large", fmt.Sprintf("An answer with %s of all %d periods would have about %d MB; %d MB are answered at most. Days, months and totals are answered in any case.", *detail, len(h.Periods), size>>20, mostHorizon>>20),
			c.Hint("detail", less, "Ask for the detail %q, or for a shorter time.", less))
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

// ReadSpanMember reads a member of a span.
func ReadSpanMember(r *strict.Reader, name string, s *Span) {
	if name == "from" {
		r.Moment(&s.From)
	} else {
		r.Moment(&s.Until)
	}
}

// ReadMember reads a member that a horizon shares with other questions about time.
func ReadMember(r *strict.Reader, name string, h *Horizon, limits capacity.Limits) {
	switch name {
	case "problem":
		capacity.ReadProblemInto(r, &h.Problem, limits)
	case "contracts":
		h.Contracts = strict.List(r, "of contracts", limits.Contracts, readTermContract)
	case "earlier":
		h.Earlier = strict.List(r, "of earlier periods", MaxPeriods, func(r *strict.Reader, p *HorizonPeriod) { readPeriod(r, p, limits) })
	case "periods":
		before := len(r.Findings)
		h.Periods = strict.List(r, "of periods", MaxPeriods, func(r *strict.Reader, p *HorizonPeriod) { readPeriod(r, p, limits) })
		if len(h.Periods) == 0 && len(r.Findings) == before {
			r.Found("missing", "There is no period; give at least one.", nil)
		}
	}
}

func readTermContract(r *strict.Reader, t *TermContract) {
	t.Billing = capacity.BilledUsed
	r.Object(termContractShape, func(name string) {
		switch name {
		case "vm_type":
			t.VMType, _ = r.Text()
		case "upfront":
			money.Read(r, &t.Upfront)
		case "from":
			r.Moment(&t.From)
		case "until":
			r.Moment(&t.Until)
		default:
			capacity.ReadContractMember(r, name, &t.Contract)
		}
	})
}

func readPeriod(r *strict.Reader, p *HorizonPeriod, limits capacity.Limits) {
	had := r.Object(periodShape, func(name string) {
		switch name {
		case "start":
			r.Moment(&p.Start)
		case "hours":
			r.Whole(&p.Hours)
		case "seconds":
			r.Whole(&p.Seconds)
		case "jobs":
			if p.Jobs = strict.List(r, "of jobs by class", limits.Classes, (*strict.Reader).Float); p.Jobs == nil {
				p.Jobs = []float64{}
			}
		case "arrivals":
			if p.Arrivals = strict.List(r, "of arrivals by class", limits.Classes, (*strict.Reader).Float); p.Arrivals == nil {
				p.Arrivals = []float64{}
			}
		case "on_demand_price":
			p.OnDemandPrice = new(money.Amount)
			money.Read(r, p.OnDemandPrice)
		case "spot_price":
			p.SpotPrice = new(money.Amount)
			money.Read(r, p.SpotPrice)
		case "without_forecast":
			r.Flag(&p.Unforecast)
		case "prices":
			p.Prices = strict.Named(r, "of prices by VM type", "VM type", limits.VMTypes, readPeriodPrices)
		}
	})
	if had != 0 && !had.Has(periodShape, "hours") && !had.Has(periodShape, "seconds") {
		r.Missing("hours", "a period that has no seconds")
	}
}

func readPeriodPrices(r *strict.Reader, p *PeriodPrices) {
	r.Object(periodPricesShape, func(name string) {
		price := new(money.Amount)
		money.Read(r, price)
		if name == "on_demand" {
			p.OnDemand = price
		} else {
			p.Spot = price
		}
	})
}

func readOffers(r *strict.Reader) []capacity.Offer {
	before := len(r.Findings)
	all := strict.List(r, "of offers", MaxOffers, readOffer)
	if len(all) == 0 && len(r.Findings) == before {
		r.Found("missing", "There is no offer; give at least one, or ask for the horizon alone.", nil)
	}
	return all
}

func readOffer(r *strict.Reader, o *capacity.Offer) {
	o.Billing = capacity.BilledUsed
	r.Object(offerShape, func(name string) {
		switch name {
		case "name":
			o.Name, _ = r.Text()
		case "price":
			money.Read(r, &o.Price)
		case "upfront":
			money.Read(r, &o.Upfront)
		case "billing":
			strict.Word(r, &o.Billing, capacity.Billings)
		case "from":
			o.From = new(time.Time)
			r.Moment(o.From)
		case "term_hours":
			r.Whole(&o.TermHours)
		case "term_years":
			r.Whole(&o.TermYears)
		case "max":
			r.Whole(&o.Max)
		}
	})
}

func readLeftOut(r *strict.Reader) []LeftOut {
	return strict.List(r, "of what is left out", len(leftOuts), func(r *strict.Reader, l *LeftOut) { strict.Word(r, l, leftOuts) })
}

func readFactors(r *strict.Reader) []float64 {
	all := strict.List(r, "of factors", MaxFactors, (*strict.Reader).Float)
	if all == nil {
		all = []float64{}
	}
	return all
}
