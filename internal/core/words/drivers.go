package words

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"example.org/headroom/internal/core/capacity"
)

// QuotaBinds is the kind of the fact that the quota of VMs on demand is used up.
const QuotaBinds = "quota_that_binds"

// Drivers returns facts about what drives a plan's cost: the price of one more VM, the class at the margin, and the
// contracts, the quota and the budget that bind. The prices are the linear program's, per hour. Of whole VMs they can be
// far off, even by their sign, so that whole plans tell the quota alone, which is told of every plan that uses it up.
func Drivers(p *capacity.Problem, pl *capacity.Plan) Facts {
	d := drivers{p: p, pl: pl, hours: float64(p.PeriodSeconds) / 3600, unit: p.Currency + " per VM and hour"}
	if q := p.Supply.OnDemand.Quota; q != nil && len(p.Supply.VMTypes) == 0 && pl.VMs.OnDemand >= float64(*q)-1e-9 && *q > 0 {
		d.say(QuotaBinds, "on_demand", Count("quota", float64(*q), "VMs"))
	}
	if p.Options.Integrality != capacity.Relaxed || pl.Prices == nil {
		return d.facts
	}
	d.vms()
	d.margin()
	for k, use := range pl.VMs.Contracts {
		if k < len(pl.Prices.Contracts) && use.VMs > 0 && use.Used >= use.VMs-1e-9 && pl.Prices.Contracts[k].Worth.Sign() > 0 {
			d.say("contract_that_binds", use.Name, Count("worth", pl.Prices.Contracts[k].Worth.Float()/d.hours, d.unit))
		}
	}
	if b := pl.Prices.Budget; b != nil && b.Sign() > 0 {
		d.say("budget_worth", "", Money("worth", *b, p.Currency+" worth of one "+p.Currency))
	}
	return d.facts
}

// drivers collects facts about what drives a cost.
type drivers struct {
	p     *capacity.Problem
	pl    *capacity.Plan
	hours float64
	unit  string
	facts Facts
}

func (d *drivers) say(kind, subject string, figures ...capacity.Figure) {
	d.facts.Say(kind, subject, "", figures...)
	f := &d.facts[len(d.facts)-1]
	f.Claim = DriverClaim(d.p, f)
}

// DriverClaim is the sentence of a fact about what drives a cost, from its figures; "" where it is none that a plan tells.
func DriverClaim(p *capacity.Problem, f *capacity.Fact) string {
	figure := func(name string) float64 {
		x, _ := strconv.ParseFloat(FigureOf(f, name), 64)
		return x
	}
	cents := func(name string) string { return Cents(figure(name)) }
	of := OfType(f.Subject)
	if p.Options.Integrality != capacity.Relaxed && f.Kind != QuotaBinds {
		return ""
	}
	switch f.Kind {
	case "contract_that_binds":
		return fmt.Sprintf("Contract %q is used up, and one more VM in it would be worth %s an hour.", f.Subject, cents("worth"))
	case QuotaBinds:
		return "The quota of " + VMs(figure("quota")) + " on demand is used up."
	case "budget_worth":
		return fmt.Sprintf("One %s more in the budget would be worth %s.", p.Currency, cents("worth"))
	case "no_more_vms":
		return fmt.Sprintf("No more VMs%s can be had, and one more would be worth %s %s an hour.", of, cents("low"), p.Currency)
	case "vm_price", "vm_worth":
		said := fmt.Sprintf("One more VM%s %s %s %s an hour", of, map[string]string{"vm_price": "is worth", "vm_worth": "would be worth"}[f.Kind], cents("low"), p.Currency)
		if FigureOf(f, "low") != FigureOf(f, "high") {
			said += ", and one less would cost " + cents("high")
		}
		return said + "."
	case "next_to_be_refused", "next_to_be_served":
		said := fmt.Sprintf("Class %q is %s: a refused job of it is valued at %s %s and ", f.Subject, strings.ReplaceAll(f.Kind, "next_to_be_", "the next to be "), FigureOf(f, "penalty"), PerPeriod(p.PeriodSeconds))
		if FigureOf(f, "one_more") != "" {
			return said + fmt.Sprintf("serving one more takes %s.", cents("one_more"))
		}
		return said + fmt.Sprintf("a served one takes %s, so that a VM's hour is worth %s to it.", VMs(Rounded(figure("vms_per_job"), 3)), Cents(figure("worth")))
	}
	return ""
}

// vms tells the price of one more VM of each type that is rented.
func (d *drivers) vms() {
	prices, budget := d.pl.Prices.Types, d.pl.Prices.Budget
	if len(prices) == 0 {
		prices = []capacity.TypePrice{{CapacityPrice: d.pl.Prices.Capacity}}
	}
	for _, price := range rentedTypes(prices, d.pl) {
		low := Count("low", price.Low.Float()/d.hours, d.unit)
		switch {
		case price.High == nil:
			d.say("no_more_vms", price.Name, low)
		case budget != nil && budget.Sign() > 0:
			d.say("vm_worth", price.Name, low, Count("high", price.High.Float()/d.hours, d.unit))
		default:
			d.say("vm_price", price.Name, low, Count("high", price.High.Float()/d.hours, d.unit))
		}
	}
}

// margin tells which class is at the margin.
func (d *drivers) margin() {
	i, refused := marginalClass(d.pl, d.p)
	if i < 0 {
		return
	}
	c, class := &d.pl.Classes[i], &d.p.Classes[i]
	kind := "next_to_be_refused"
	if refused {
		kind = "next_to_be_served"
	}
	penalty := Money("penalty", class.Penalty, d.p.Currency+" per job "+PerPeriod(d.p.PeriodSeconds))
	if len(d.pl.Prices.Types) > 0 { // its VMs are of several types, and an hour of each is worth something else
		d.say(kind, c.Name, penalty, Money("one_more", *c.BreakEvenPenalty, penalty.Unit))
		return
	}
	d.say(kind, c.Name, penalty, Count("vms_per_job", c.VMsPerJob, "VMs"), Count("worth", class.Penalty.Float()/c.VMsPerJob/d.hours, d.unit))
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

// About is the word before a price of the relaxation: a plan of whole VMs or slots only comes near it.
func About(i capacity.Integrality) string {
	if i == capacity.Relaxed {
		return ""
	}
	return "about "
}
