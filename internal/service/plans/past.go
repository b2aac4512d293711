package plans

import (
	"cmp"
	"slices"
	"time"

	"github.com/shopspring/decimal"

	"example.org/headroom/internal/core/money"
)

// Past lists the plans that were current in some whole hours, and the observations then.
type Past struct {
	From  time.Time  `json:"from"`
	Until time.Time  `json:"until"`
	Total []PastSpan `json:"total"` // one per currency; empty without a plan
	Hours []PastHour `json:"hours"`
}

// PastHour sums up an hour under the plans that were current in it.
type PastHour struct {
	Hour         time.Time  `json:"hour"`
	Plans        []int64    `json:"plans"` // their numbers
	Spans        []PastSpan `json:"spans"` // one per currency; none without a plan
	ObservedVMs  *float64   `json:"observed_vms"`
	Observations int64      `json:"observations"`
}

// PastSpan sums up the plans in one currency over some time. Costs are those of the plans; invoices may differ.
type PastSpan struct {
	Currency      string       `json:"currency"`
	Hours         float64      `json:"hours"` // in which one of them held
	VMHours       float64      `json:"vm_hours"`
	OnDemandHours float64      `json:"on_demand_vm_hours"`
	RefusedHours  float64      `json:"refused_job_hours"`
	VMCost        money.Amount `json:"vm_cost"`
	Penalties     money.Amount `json:"penalties"`
	TotalCost     money.Amount `json:"total_cost"`
}

// PlanStint is a plan with the time in which it was current.
type PlanStint struct {
	Since, Until  time.Time
	Number        int64
	Currency      string
	PeriodSeconds int64
	VMs           float64 `db:"vms"`
	VMsOnDemand   float64 `db:"vms_on_demand"`
	Refused       float64
	TotalCost     money.Amount
	Penalties     money.Amount
}

// SeenVMs holds the observations of an hour.
type SeenVMs struct {
	Hour  time.Time
	VMs   float64 `db:"vms"` // on average
	Count int64
}

// NewPast puts stints, which follow each other, and observations into hours. Costs are rounded once an hour, and
// add up.
func NewPast(from, until time.Time, stints []PlanStint, seen []SeenVMs) Past {
	p := Past{From: from.UTC(), Until: until.UTC(), Total: []PastSpan{}, Hours: []PastHour{}}
	for hour := p.From; hour.Before(p.Until); hour = hour.Add(time.Hour) {
		h := PastHour{Hour: hour, Plans: []int64{}, Spans: []PastSpan{}}
		end := hour.Add(time.Hour)
		for len(stints) > 0 && !stints[0].Until.After(hour) {
			stints = stints[1:]
		}
		for _, s := range stints {
			if !s.Since.Before(end) {
				break
			}
			if !slices.Contains(h.Plans, s.Number) {
				h.Plans = append(h.Plans, s.Number)
			}
			began, ended := hour, end
			if s.Since.After(began) {
				began = s.Since
			}
			if s.Until.Before(ended) {
				ended = s.Until
			}
			spanOf(&h.Spans, s.Currency).add(s, ended.Sub(began))
		}
		for len(seen) > 0 && seen[0].Hour.Before(hour) {
			seen = seen[1:]
		}
		if len(seen) > 0 && seen[0].Hour.Equal(hour) {
			h.ObservedVMs, h.Observations = &seen[0].VMs, seen[0].Count
		}
		for i := range h.Spans {
			h.Spans[i].round()
			spanOf(&p.Total, h.Spans[i].Currency).join(h.Spans[i])
		}
		p.Hours = append(p.Hours, h)
	}
	slices.SortFunc(p.Total, func(a, b PastSpan) int { return cmp.Compare(a.Currency, b.Currency) })
	return p
}

// spanOf returns the span of a currency and adds a missing one.
func spanOf(all *[]PastSpan, currency string) *PastSpan {
	for i := range *all {
		if (*all)[i].Currency == currency {
			return &(*all)[i]
		}
	}
	*all = append(*all, PastSpan{Currency: currency})
	return &(*all)[len(*all)-1]
}

// stintPlaces is the number of decimal places of a stint's cost before an hour's is rounded. Its error is far below
// what the parts of an hour, which are microseconds, could add up to.
const stintPlaces = money.Places + 12

func (p *PastSpan) add(s PlanStint, lasting time.Duration) {
	hours := lasting.Hours()
	p.Hours += hours
	p.VMHours += hours * s.VMs
	p.OnDemandHours += hours * s.VMsOnDemand
	p.RefusedHours += hours * s.Refused
	cost := func(sum *money.Amount, perPeriod decimal.Decimal) {
		part := perPeriod.Mul(decimal.New(lasting.Microseconds(), -6)).DivRound(decimal.NewFromInt(max(1, s.PeriodSeconds)), stintPlaces)
		sum.Decimal = sum.Add(part)
	}
	cost(&p.VMCost, s.TotalCost.Sub(s.Penalties.Decimal))
	cost(&p.Penalties, s.Penalties.Decimal)
}

// round rounds the sums to amounts, so that the total is the sum of its parts.
func (p *PastSpan) round() {
	p.VMCost.Decimal, p.Penalties.Decimal = p.VMCost.Round(money.Places), p.Penalties.Round(money.Places)
	p.TotalCost.Decimal = p.VMCost.Add(p.Penalties.Decimal)
}

func (p *PastSpan) join(o PastSpan) {
	p.Hours += o.Hours
	p.VMHours += o.VMHours
	p.OnDemandHours += o.OnDemandHours
	p.RefusedHours += o.RefusedHours
	p.VMCost.Decimal = p.VMCost.Add(o.VMCost.Decimal)
	p.Penalties.Decimal = p.Penalties.Add(o.Penalties.Decimal)
	p.TotalCost.Decimal = p.TotalCost.Add(o.TotalCost.Decimal)
}
