package plan

import (
	"fmt"
	"math"
	"slices"

	"headroom/internal/core/capacity"
	"headroom/internal/core/money"
	"headroom/internal/core/words"
)

// Drivers returns facts about what drives a plan's cost: the price of one more VM, the class at the margin, and the
// contracts, the quota and the budget that bind. The prices are the linear program's, per hour; whole plans say so.
func Drivers(p *capacity.Problem, pl *capacity.Plan) words.Facts {
	if pl.Prices == nil {
		return nil
	}
	d := drivers{p: p, pl: pl, hours: float64(p.PeriodSeconds) / 3600, about: About(p.Options.Integrality)}
	d.unit = p.Currency + " per VM and hour"
	if d.about != "" {
		d.counted = " (counted in fractions of VMs)"
	}
	d.vms()
	d.margin()
	for k, use := range pl.VMs.Contracts {
		if k >= len(pl.Prices.Contracts) || use.VMs == 0 || use.Used < use.VMs-1e-9 || pl.Prices.Contracts[k].Worth.Sign() <= 0 {
			continue
		}
		worth := pl.Prices.Contracts[k].Worth
		d.facts.Say("contract_that_binds", use.Name, fmt.Sprintf("Contract %q is used up, and one more VM in it would be worth %s an hour%s.", use.Name, d.perHour(worth), d.counted),
			words.Count("worth", worth.Float()/d.hours, d.unit))
	}
	if q := p.Supply.OnDemand.Quota; q != nil && len(p.Supply.VMTypes) == 0 && pl.VMs.OnDemand >= float64(*q) && *q > 0 {
		d.facts.Say("quota_that_binds", "on_demand", "The quota of "+words.VMs(float64(*q))+" on demand is used up.", words.Count("quota", float64(*q), "VMs"))
	}
	if b := pl.Prices.Budget; b != nil && b.Sign() > 0 {
		d.facts.Say("budget_worth", "", fmt.Sprintf("One %s more in the budget would be worth %s%s%s.", p.Currency, d.about, words.Cents(b.Float()), d.counted),
			words.Money("worth", *b, p.Currency+" worth of one "+p.Currency))
	}
	return d.facts
}

// drivers collects facts about what drives a cost.
type drivers struct {
	p           *capacity.Problem
	pl          *capacity.Plan
	hours       float64
	about, unit string
	counted     string // what is said of a price of the relaxation in a whole plan
	facts       words.Facts
}

func (d *drivers) perHour(m money.Amount) string { return d.about + words.Cents(m.Float()/d.hours) }

// vms tells the price of one more VM of each type that is rented.
func (d *drivers) vms() {
	prices, budget := d.pl.Prices.Types, d.pl.Prices.Budget
	if len(prices) == 0 {
		prices = []capacity.TypePrice{{CapacityPrice: d.pl.Prices.Capacity}}
	}
	for _, price := range rentedTypes(prices, d.pl) {
		of, low := words.OfType(price.Name), words.Count("low", price.Low.Float()/d.hours, d.unit)
		if price.High == nil {
			d.facts.Say("no_more_vms", price.Name, fmt.Sprintf("No more VMs%s can be had, and one more would be worth %s %s an hour or more%s.", of, d.perHour(price.Low), d.p.Currency, d.counted), low)
			continue
		}
		kind, verb := "vm_price", "is worth"
		if budget != nil && budget.Sign() > 0 {
			kind, verb = "vm_worth", "would be worth"
		}
		sentence := fmt.Sprintf("One more VM%s %s %s %s an hour", of, verb, d.perHour(*price.High), d.p.Currency)
		if !price.High.Equal(price.Low.Decimal) {
			sentence += fmt.Sprintf(", the last one %s", d.perHour(price.Low))
		}
		d.facts.Say(kind, price.Name, sentence+d.counted+".", low, words.Count("high", price.High.Float()/d.hours, d.unit))
	}
}

// margin tells which class is at the margin.
func (d *drivers) margin() {
	i, refused := marginalClass(d.pl, d.p)
	if i < 0 {
		return
	}
	c, class := &d.pl.Classes[i], &d.p.Classes[i]
	kind, role := "next_to_be_refused", "the next to be refused"
	if refused {
		kind, role = "next_to_be_served", "the next to be served"
	}
	period := words.PerPeriod(d.p.PeriodSeconds)
	of := fmt.Sprintf("Class %q is %s: a refused job of it is valued at %s %s and ", c.Name, role, class.Penalty, period)
	penalty := words.Money("penalty", class.Penalty, d.p.Currency+" per job "+period)
	if len(d.pl.Prices.Types) > 0 { // its VMs are of several types, and an hour of each is worth something else
		d.facts.Say(kind, c.Name, of+fmt.Sprintf("serving one more takes %s%s%s.", d.about, words.Cents(c.BreakEvenPenalty.Float()), d.counted),
			penalty, words.Money("one_more", *c.BreakEvenPenalty, penalty.Unit))
		return
	}
	worth := class.Penalty.Float() / c.VMsPerJob / d.hours
	d.facts.Say(kind, c.Name, of+fmt.Sprintf("a served one takes %s, so that a VM's hour is worth %s to it.", words.VMs(words.Rounded(c.VMsPerJob, 3)), words.Cents(worth)),
		penalty, words.Count("vms_per_job", c.VMsPerJob, "VMs"), words.Count("worth", worth, d.unit))
}

// rentedTypes is the prices to speak of: the sole one, or those of the first few types that are rented.
func rentedTypes(prices []capacity.TypePrice, pl *capacity.Plan) []capacity.TypePrice {
	const shown = 3
	if len(prices) <= 1 {
		return prices
	}
	var rented []capacity.TypePrice
	for _, t := range pl.VMs.Types {
		at := slices.IndexFunc(prices, func(p capacity.TypePrice) bool { return p.Name == t.Name })
		if at >= 0 && t.Total > 0 && len(rented) < shown {
			rented = append(rented, prices[at])
		}
	}
	return rented
}

// marginalClass is the class whose jobs would come next, or else go next: of those refused the one worth
// most for what it takes, and where nothing is refused the one worth least. What it takes is VMs, or
// where those have several types, what they are worth. -1 where there is none.
func marginalClass(pl *capacity.Plan, p *capacity.Problem) (at int, refused bool) {
	best, worst := -1, -1
	takes := func(i int) float64 {
		c := &pl.Classes[i]
		switch {
		case len(pl.Prices.Types) == 0:
			return c.VMsPerJob
		case c.BreakEvenPenalty == nil:
			return 0
		}
		return c.BreakEvenPenalty.Float()
	}
	worth := func(i int) float64 {
		if i < 0 {
			return math.NaN()
		}
		return p.Classes[i].Penalty.Float() / takes(i)
	}
	for i := range pl.Classes {
		c := &pl.Classes[i]
		if !(takes(i) > 0) || c.Verdict == capacity.VerdictImpossible {
			continue
		}
		if c.Refused > 0 && !(worth(i) <= worth(best)) {
			best = i
		}
		if c.Admitted > p.Classes[i].Jobs.Min && !(worth(i) >= worth(worst)) {
			worst = i
		}
	}
	if best >= 0 {
		return best, true
	}
	return worst, false
}
