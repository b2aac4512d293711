package plan

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"headroom/internal/core/capacity"
	"headroom/internal/core/money"
	"headroom/internal/core/words"
)

// Drivers returns what drives a plan's cost: the price of one more VM, the class at the margin, and the
// contracts, the quota and the budget that bind. The prices are the linear program's, per hour.
func Drivers(p *capacity.Problem, pl *capacity.Plan) (facts []words.Fact, text string) {
	if pl.Prices == nil {
		return []words.Fact{}, ""
	}
	facts = []words.Fact{}
	hours := float64(p.PeriodSeconds) / 3600
	about := About(p.Options.Integrality)
	perHour := func(m money.Amount) string { return about + words.Cents(m.Float()/hours) }
	unit := p.Currency + " per VM and hour"
	var said []string
	fact := func(name, of, value, unit string) {
		facts = append(facts, words.Fact{Name: name, Of: of, Value: value, Unit: unit})
	}

	prices := pl.Prices.Types
	if len(prices) == 0 {
		prices = []capacity.TypePrice{{CapacityPrice: pl.Prices.Capacity}}
	}
	budget := pl.Prices.Budget
	for _, price := range prices {
		fact("vm_price_low", price.Name, money.Round(price.Low.Float()/hours).String(), unit)
		if price.High != nil {
			fact("vm_price_high", price.Name, money.Round(price.High.Float()/hours).String(), unit)
		}
	}
	for _, price := range rentedTypes(prices, pl) {
		of := words.OfType(price.Name)
		if price.High == nil {
			said = append(said, fmt.Sprintf("no more VMs%s can be had, and one more would be worth %s %s an hour or more", of, perHour(price.Low), p.Currency))
			continue
		}
		sentence := fmt.Sprintf("one more VM%s is worth %s %s an hour", of, perHour(*price.High), p.Currency)
		if budget != nil && budget.Sign() > 0 {
			sentence = fmt.Sprintf("one more VM%s would be worth %s %s an hour", of, perHour(*price.High), p.Currency)
		}
		if !price.High.Equal(price.Low.Decimal) {
			sentence += fmt.Sprintf(", the last one %s", perHour(price.Low))
		}
		said = append(said, sentence)
	}
	if i, refused := marginalClass(pl, p); i >= 0 {
		c, class := &pl.Classes[i], &p.Classes[i]
		role := "the next to be refused"
		if refused {
			role = "the next to be served"
		}
		of := fmt.Sprintf("class %q is %s: a refused job of it is valued at %s %s and ", c.Name, role, class.Penalty, words.PerPeriod(p.PeriodSeconds))
		if len(pl.Prices.Types) > 0 { // its VMs are of several types, and an hour of each is worth something else
			fact("class_at_the_margin", c.Name, c.BreakEvenPenalty.String(), p.Currency+" per job "+words.PerPeriod(p.PeriodSeconds))
			said = append(said, of+fmt.Sprintf("serving one more takes %s%s", about, words.Cents(c.BreakEvenPenalty.Float())))
		} else {
			worth := class.Penalty.Float() / c.VMsPerJob / hours
			fact("class_at_the_margin", c.Name, money.Round(worth).String(), unit)
			fact("class_at_the_margin_vms_per_job", c.Name, money.Round(c.VMsPerJob).String(), "VMs")
			said = append(said, of+fmt.Sprintf("a served one takes %s, so that a VM's hour is worth %s to it", words.VMs(words.Rounded(c.VMsPerJob, 3)), words.Cents(worth)))
		}
	}
	for k, use := range pl.VMs.Contracts {
		if k >= len(pl.Prices.Contracts) || use.VMs == 0 || use.Used < use.VMs-1e-9 || pl.Prices.Contracts[k].Worth.Sign() <= 0 {
			continue
		}
		worth := pl.Prices.Contracts[k].Worth
		fact("contract_that_binds", use.Name, money.Round(worth.Float()/hours).String(), unit)
		said = append(said, fmt.Sprintf("contract %q is used up, and one more VM in it would be worth %s an hour", use.Name, perHour(worth)))
	}
	if q := p.Supply.OnDemand.Quota; q != nil && len(p.Supply.VMTypes) == 0 && pl.VMs.OnDemand >= float64(*q) && *q > 0 {
		fact("quota_that_binds", "on_demand", fmt.Sprint(*q), "VMs")
		said = append(said, fmt.Sprintf("the quota of %d VMs on demand is used up", *q))
	}
	if b := budget; b != nil && b.Sign() > 0 {
		fact("budget_worth", "", b.String(), p.Currency+" worth of one "+p.Currency)
		said = append(said, fmt.Sprintf("one %s more in the budget would be worth %s%s", p.Currency, about, words.Cents(b.Float())))
	}
	if len(said) == 0 {
		return facts, ""
	}
	text = strings.Join(said, "; ") + "."
	return facts, strings.ToUpper(text[:1]) + text[1:]
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
