package horizon

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/fault"
	"example.org/headroom/internal/core/money"
	"example.org/headroom/internal/core/strict"
)

// Horizon is a problem over time. Problem says what stays the same; the periods say how many jobs of each
// class there are, and when. Without an offer to decide upon they do not touch each other. As JSON:
//
//	{"problem": {…},
//	 "contracts": [{"name": "2026", "vms": 30, "price": "0.10", "billing": "used", "upfront": "1200.00",
//	                "from": "2026-01-01T00:00:00Z", "until": "2027-01-01T00:00:00Z"}],
//	 "periods": [{"start": "2026-01-01T00:00:00Z", "hours": 1, "jobs": [10, 3], "on_demand_price": "0.20"}, …]}
//
// In place of jobs, which run at once, all periods may have arrivals: executions that arrive in them.
// The problem's own contracts are in force all the time. Money in the problem (penalties) is per its
// period_s; a period of the horizon that is longer pays it in proportion.
type Horizon struct {
	Problem   capacity.Problem `json:"problem"`
	Contracts []TermContract   `json:"contracts,omitempty"`
	Periods   []HorizonPeriod  `json:"periods"` // each begins where the one before ends
	// Earlier holds what arrived before the horizon and may still run in it, in the order of time.
	Earlier []HorizonPeriod `json:"earlier,omitempty"`

	// Set by Carried: into how many parts the jobs of each class are divided, and the classes with whole jobs. A job counts
	// until its deadline, which is so many times as long as it holds VMs.
	parts   []int64
	lasting []float64
	asked   []capacity.Class
	turns   []int64 // when contracts and offers begin or end, in seconds since 1970, in order
}

// TermContract is a contract that is in force in [From, Until).
type TermContract struct {
	capacity.Contract
	VMType  string       `json:"vm_type,omitempty"` // where the problem has several
	Upfront money.Amount `json:"upfront"`           // paid once, for the whole contract
	From    time.Time    `json:"from"`
	Until   time.Time    `json:"until"`
}

// HorizonPeriod is some time with the same demand and prices.
type HorizonPeriod struct {
	Start   time.Time `json:"start"`
	Hours   int64     `json:"hours,omitzero"`   // exactly one of the two
	Seconds int64     `json:"seconds,omitzero"` // of what is no whole number of hours
	// Jobs holds the expected number of concurrent jobs of each class, in the order of the problem's classes. It takes
	// the place of jobs.max, and jobs.min becomes at most as large, or as large where all are promised; null stands for every class's own jobs.max. Periods
	// may share one slice.
	Jobs []float64 `json:"jobs,omitempty"`
	// Arrivals holds the executions of each class that arrive in the period, spread evenly over it, in place of Jobs.
	Arrivals []float64 `json:"arrivals,omitempty"`
	// Prices that differ from the problem's: of the one kind of VM there is, or by VM type.
	OnDemandPrice *money.Amount           `json:"on_demand_price,omitempty"`
	SpotPrice     *money.Amount           `json:"spot_price,omitempty"`
	Prices        map[string]PeriodPrices `json:"prices,omitempty"`
	// Unforecast says that some class counts with its own jobs.max, because a cluster has no forecast of it here. Jobs
	// and Arrivals are null where that is so of all classes.
	Unforecast bool `json:"without_forecast,omitzero"`

	Running []float64 `json:"-"` // where there are arrivals: the mean number of jobs of each class that run at once, not rounded
	cutFrom int       // likewise: the period, counted from 1, that this is a piece of
}

// PeriodPrices is the prices of a VM type in a period; null is the problem's.
type PeriodPrices struct {
	OnDemand *money.Amount `json:"on_demand,omitempty"`
	Spot     *money.Amount `json:"spot,omitempty"`
}

// Length returns the seconds of the period.
func (p *HorizonPeriod) Length() int64 {
	if p.Seconds != 0 {
		return p.Seconds
	}
	return 3600 * p.Hours
}

// End returns the end of the period.
func (p HorizonPeriod) End() time.Time {
	return p.Start.Add(time.Duration(p.Length()) * time.Second)
}

// SetLength says how long the period is, in hours where they are whole.
func (p *HorizonPeriod) SetLength(seconds int64) {
	p.Hours, p.Seconds = 0, seconds
	if seconds%3600 == 0 {
		p.Hours, p.Seconds = seconds/3600, 0
	}
}

// Priced is a supply at the period's prices.
func (p *HorizonPeriod) Priced(s capacity.Supply) capacity.Supply {
	if p.OnDemandPrice != nil {
		s.OnDemand.Price = *p.OnDemandPrice
	}
	if p.SpotPrice != nil && s.Spot != nil {
		s.Spot = &capacity.Spot{Price: *p.SpotPrice, MaxShare: s.Spot.MaxShare}
	}
	if len(p.Prices) == 0 {
		return s
	}
	s.VMTypes = slices.Clone(s.VMTypes)
	for i := range s.VMTypes {
		t := &s.VMTypes[i]
		of := p.Prices[t.Name]
		if of.OnDemand != nil {
			t.OnDemand.Price = *of.OnDemand
		}
		if of.Spot != nil && t.Spot != nil {
			t.Spot = &capacity.Spot{Price: *of.Spot, MaxShare: t.Spot.MaxShare}
		}
	}
	return s
}

// PriceKey tells periods of different prices apart.
func (p *HorizonPeriod) PriceKey() string {
	if p.OnDemandPrice == nil && p.SpotPrice == nil && len(p.Prices) == 0 {
		return ""
	}
	var key strings.Builder
	write := func(m *money.Amount) {
		key.WriteByte(' ')
		if m != nil {
			key.WriteString(m.String())
		}
	}
	write(p.OnDemandPrice)
	write(p.SpotPrice)
	for _, name := range slices.Sorted(maps.Keys(p.Prices)) {
		fmt.Fprintf(&key, " %q", name)
		write(p.Prices[name].OnDemand)
		write(p.Prices[name].Spot)
	}
	return key.String()
}

// Limits of horizons.
const (
	MaxPeriods      = 3 * 8784       // three years of hours
	maxPieces       = 2 * MaxPeriods // where the work of classes ends within hours
	MaxHorizonLoad  = 2_000_000
	MaxOffers       = 8
	MaxFactors      = 13
	MaxDemandFactor = 10
)

// Start returns the beginning of the horizon.
func (h Horizon) Start() time.Time { return h.Periods[0].Start }

// End returns the end of the horizon.
func (h Horizon) End() time.Time { return h.Periods[len(h.Periods)-1].End() }

// First is so many hours of the horizon from its start.
func (h Horizon) First(hours float64) Horizon {
	end := h.Start().Add(time.Duration(math.Round(hours*3600)) * time.Second)
	n := 0
	for n < len(h.Periods) && h.Periods[n].Start.Before(end) {
		n++
	}
	if h.Periods = slices.Clone(h.Periods[:n]); n > 0 && h.Periods[n-1].End().After(end) {
		last := &h.Periods[n-1]
		whole := float64(last.Length())
		last.SetLength(end.Unix() - last.Start.Unix())
		last.Arrivals = times(last.Arrivals, float64(last.Length())/whole)
	}
	return h
}

// JobsIn is the jobs of a class in a period.
func (h *Horizon) JobsIn(period, class int) capacity.JobRange {
	own := h.Problem.Classes[class].Jobs
	if p := &h.Periods[period]; p.Running != nil {
		return own.Of(h.held(class, p.Running[class]))
	} else if p.Jobs != nil {
		return own.Of(p.Jobs[class])
	}
	return own.Of(own.Max)
}

// Scaled is the horizon with all demand times a factor, rounded up to whole jobs as forecasts are unless the
// problem is relaxed. The classes go on promising what they promise, of which JobsIn never holds more than the
// demand of a period, whatever their own demand is. Periods that shared their jobs still do.
func (h Horizon) Scaled(factor float64) Horizon {
	scale := func(x float64) float64 {
		if h.Problem.Options.Integrality == capacity.Relaxed {
			return x * factor
		}
		return capacity.WholeJobs(x * factor)
	}
	h = h.Carried()
	h.Problem.Classes = slices.Clone(h.Problem.Classes)
	for i := range h.Problem.Classes {
		j := &h.Problem.Classes[i].Jobs
		j.Max = scale(j.Max)
	}
	h.Periods = slices.Clone(h.Periods)
	known := make(map[*float64][]float64)
	h.Earlier = slices.Clone(h.Earlier)
	for i := range h.Earlier {
		h.Earlier[i].Arrivals = times(h.Earlier[i].Arrivals, factor)
	}
	for i := range h.Periods {
		p := &h.Periods[i]
		p.Arrivals, p.Running = times(p.Arrivals, factor), times(p.Running, factor)
		before := p.Jobs
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
func (h Horizon) Validate() error { return strict.Check(func(c *strict.Checker) { h.Check(c) }) }

// Check says to a checker what is wrong with the horizon.
func (h Horizon) Check(c *strict.Checker) {
	c.Enter("problem")
	h.Problem.Check(c)
	c.Leave()
	h.checkPeriods(c)
	h.checkArrivals(c)
	named := make(map[string]bool)
	types := make(map[string]bool)
	for _, t := range h.Problem.Supply.Types() {
		types[t.Name] = true
		for _, contract := range t.Contracts {
			named[contract.Name] = true
		}
	}
	c.Enter("contracts")
	for i, contract := range h.Contracts {
		c.Element(i)
		c.Name(contract.Name)
		if named[contract.Name] {
			c.Refuse("name", "duplicate_name", "Another contract is called %q as well; give each contract a name of its own.", fault.Clip(contract.Name))
		}
		named[contract.Name] = true
		c.Whole("vms", "The number of VMs", "VMs", contract.VMs, 0, capacity.MaxVMs)
		money.Check(c, "price", "The price", contract.Price)
		money.Check(c, "upfront", "The upfront payment", contract.Upfront)
		strict.OneOf(c, "billing", contract.Billing, capacity.Billings)
		if !types[contract.VMType] {
			c.Refuse("vm_type", "unknown_name", "The problem has no VM type %q.", fault.Clip(contract.VMType))
		}
		if capacity.CheckWholeSecond(c, "from", contract.From) && capacity.CheckWholeSecond(c, "until", contract.Until) {
			c.Term("The contract", contract.From, contract.Until)
		}
		c.Leave()
	}
	c.Leave()
}

func (h Horizon) checkPeriods(c *strict.Checker) {
	c.Enter("periods")
	defer c.Leave()
	classes := h.Problem.Classes
	switch {
	case len(h.Periods) == 0:
		c.Refuse("", "missing", "There is no period; give at least one.")
		return
	case len(h.Periods) > MaxPeriods:
		c.Refuse("", "too_many", "Here are %d periods; a horizon has %d at most.", len(h.Periods), MaxPeriods)
		return
	case len(h.Periods)*len(classes) > MaxHorizonLoad:
		c.Refuse("", "too_many", "Here are %d periods of %d classes; a horizon has %d of both together at most. Give longer periods.", len(h.Periods), len(classes), MaxHorizonLoad)
		return
	}
	seconds := int64(0)
	for i := range h.Periods {
		p := &h.Periods[i]
		c.Element(i)
		switch {
		case p.Hours != 0 && p.Seconds != 0:
			c.Refuse("seconds", "one_of", `Here are two lengths; give "hours" or "seconds".`)
		case p.Seconds != 0:
			c.Whole("seconds", "The length", "seconds", p.Seconds, 1, capacity.MaxHorizonHours*3600)
		default:
			c.Whole("hours", "The length", "hours", p.Hours, 1, capacity.MaxHorizonHours)
		}
		seconds = min(seconds+max(0, min(p.Length(), math.MaxInt64/4)), math.MaxInt64/2)
		if capacity.CheckWholeSecond(c, "start", p.Start) && i > 0 {
			if end := h.Periods[i-1].End(); !p.Start.Equal(end) {
				c.Found("start", "range", fmt.Sprintf("The period begins at %s and the one before ends at %s; periods follow each other without a gap.", p.Start.Format(time.RFC3339), end.Format(time.RFC3339)),
					c.Hint("start", end.Format(time.RFC3339), "Begin at %s.", end.Format(time.RFC3339)))
			}
		}
		if p.Jobs != nil && len(p.Jobs) != len(classes) {
			c.Refuse("jobs", "range", "Here are jobs of %d classes; the problem has %d.", len(p.Jobs), len(classes))
		} else if p.Jobs != nil {
			h.checkJobs(c, i)
		}
		h.checkPrices(c, p)
		c.Leave()
	}
	if seconds > capacity.MaxHorizonHours*3600 {
		c.Refuse("", "range", "The periods last %d hours; a horizon lasts %d at most. Ask for a part of it.", seconds/3600, capacity.MaxHorizonHours)
	}
}

// checkPrices checks a period's prices, which must be for things that the problem has.
func (h *Horizon) checkPrices(c *strict.Checker, p *HorizonPeriod) {
	typed := len(h.Problem.Supply.VMTypes) > 0
	for _, price := range []struct {
		member string
		amount *money.Amount
		spot   *capacity.Spot
	}{{"on_demand_price", p.OnDemandPrice, nil}, {"spot_price", p.SpotPrice, h.Problem.Supply.Spot}} {
		switch {
		case price.amount == nil:
		case typed:
			c.Refuse(price.member, "not_taken", `The problem has several VM types; give each its price in "prices", by its name.`)
		case price.member == "spot_price" && price.spot == nil:
			c.Refuse(price.member, "not_taken", `The problem has no spot VMs; add "spot" to its supply, or leave this price out.`)
		default:
			money.Check(c, price.member, "The price", *price.amount)
		}
	}
	if len(p.Prices) == 0 {
		return
	}
	c.Enter("prices")
	defer c.Leave()
	if !typed {
		c.Refuse("", "not_taken", `The problem has one kind of VM; give its prices as "on_demand_price" and "spot_price".`)
		return
	}
	types := h.Problem.Supply.VMTypes
	for _, name := range slices.Sorted(maps.Keys(p.Prices)) {
		at := slices.IndexFunc(types, func(t capacity.VMTypeSupply) bool { return t.Name == name })
		if at < 0 {
			c.Refuse(name, "unknown_name", "The problem has no VM type %q.", fault.Clip(name))
			continue
		}
		c.Enter(name)
		of := p.Prices[name]
		if of.OnDemand != nil {
			money.Check(c, "on_demand", "The price", *of.OnDemand)
		}
		if of.Spot != nil {
			if money.Check(c, "spot", "The price", *of.Spot); types[at].Spot == nil {
				c.Refuse("spot", "not_taken", `The VM type %q has no spot VMs; add "spot" to it, or leave this price out.`, fault.Clip(name))
			}
		}
		c.Leave()
	}
}

func (h *Horizon) checkJobs(c *strict.Checker, period int) {
	c.Enter("jobs")
	for k, x := range h.Periods[period].Jobs {
		if x >= 0 && x <= capacity.MaxJobs && (x == math.Trunc(x) || h.Problem.Options.Integrality == capacity.Relaxed) {
			continue
		}
		c.Element(k)
		if c.Number("", "The number of jobs", "", x, capacity.MaxJobs) && x != math.Trunc(x) {
			c.Refuse("", "not_whole", "Here are %s jobs; give a whole number, or plan with integrality %q.", fault.Plain(x), capacity.Relaxed)
		}
		c.Leave()
	}
	c.Leave()
}
