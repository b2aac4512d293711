package recheck

import (
	"fmt"
	"math/big"
	"slices"
	"time"

	"example.org/headroom/internal/ask/horizon"
	"example.org/headroom/internal/ask/whatif"
	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/money"
	"example.org/headroom/internal/core/words"
)

// laid returns a horizon with changes laid over every period; false says that one names what is not there. Terms and promises
// stay, upfront payments follow the VMs of their contract.
func laid(h horizon.Horizon, changes []whatif.ScenarioChange) (horizon.Horizon, bool) {
	terms := h.Contracts
	all := h.Problem
	all.Supply.VMTypes = slices.Clone(all.Supply.VMTypes)
	for i := range terms {
		list := &all.Supply.Contracts
		for n := range all.Supply.VMTypes {
			if all.Supply.VMTypes[n].Name == terms[i].VMType {
				list = &all.Supply.VMTypes[n].Contracts
			}
		}
		*list = append(slices.Clone(*list), terms[i].Contract)
	}
	after, ok := changed(all, changes)
	if !ok {
		return h, false
	}
	inPeriods := slices.DeleteFunc(slices.Clone(changes), func(ch whatif.ScenarioChange) bool { return ch.What == whatif.ChangePromised })
	periods, earlier := slices.Clone(h.Periods), slices.Clone(h.Earlier)
	for i := range periods {
		if !layPeriod(&periods[i], all, inPeriods) {
			return h, false
		}
	}
	for i := range earlier {
		layArrivals(&earlier[i], &all, changes)
	}
	h.Problem, h.Contracts, h.Periods, h.Earlier = after, nil, periods, earlier
	s := &h.Problem.Supply
	s.Contracts = withoutTerms(&h, s.Contracts, "", terms)
	for i := range s.VMTypes {
		s.VMTypes[i].Contracts = withoutTerms(&h, s.VMTypes[i].Contracts, s.VMTypes[i].Name, terms)
	}
	return h, true
}

// withoutTerms moves contracts with a term from the problem to the horizon.
func withoutTerms(h *horizon.Horizon, list []capacity.Contract, vmType string, terms []horizon.TermContract) (own []capacity.Contract) {
	for _, c := range list {
		at := slices.IndexFunc(terms, func(t horizon.TermContract) bool { return t.Name == c.Name })
		if at < 0 {
			own = append(own, c)
			continue
		}
		t := terms[at]
		if before := t.VMs; before > 0 {
			t.Upfront = money.Amount{Decimal: decimalOf(quo(mul(t.Upfront.Rat(), whole(c.VMs)), whole(before)))}
		}
		t.Contract, t.VMType = c, vmType
		h.Contracts = append(h.Contracts, t)
	}
	return own
}

// layPeriod changes the jobs, arrivals and prices of a period.
func layPeriod(p *horizon.HorizonPeriod, all capacity.Problem, changes []whatif.ScenarioChange) bool {
	all.Classes = slices.Clone(all.Classes)
	for i := range all.Classes {
		j := &all.Classes[i].Jobs
		switch {
		case p.Jobs != nil:
			j.Max = p.Jobs[i]
		case p.Arrivals != nil:
			j.Max = 0
		}
		if j.Min = min(j.Min, j.Max); j.All {
			j.Min = j.Max
		}
	}
	price := func(own, of *money.Amount) {
		if of != nil {
			*own = *of
		}
	}
	s := &all.Supply
	price(&s.OnDemand.Price, p.OnDemandPrice)
	if s.Spot != nil {
		spot := *s.Spot
		price(&spot.Price, p.SpotPrice)
		s.Spot = &spot
	}
	s.VMTypes = slices.Clone(s.VMTypes)
	for i := range s.VMTypes {
		t := &s.VMTypes[i]
		price(&t.OnDemand.Price, p.Prices[t.Name].OnDemand)
		if t.Spot != nil {
			spot := *t.Spot
			price(&spot.Price, p.Prices[t.Name].Spot)
			t.Spot = &spot
		}
	}
	after, ok := changed(all, changes)
	if !ok {
		return false
	}
	if p.Jobs != nil || p.Arrivals != nil && slices.ContainsFunc(changes, counts) {
		p.Jobs = nil
		for i := range after.Classes {
			p.Jobs = append(p.Jobs, after.Classes[i].Jobs.Max)
		}
	}
	layArrivals(p, &all, changes)
	p.OnDemandPrice, p.SpotPrice, p.Prices = nil, nil, nil
	if s := &after.Supply; len(s.VMTypes) == 0 {
		if p.OnDemandPrice = &s.OnDemand.Price; s.Spot != nil {
			p.SpotPrice = &s.Spot.Price
		}
		return true
	}
	p.Prices = map[string]horizon.PeriodPrices{}
	for i := range after.Supply.VMTypes {
		t := &after.Supply.VMTypes[i]
		of := horizon.PeriodPrices{OnDemand: &t.OnDemand.Price}
		if t.Spot != nil {
			of.Spot = &t.Spot.Price
		}
		p.Prices[t.Name] = of
	}
	return true
}

// counts reports whether a change gives a number of jobs at once, which takes the place of arrivals.
func counts(ch whatif.ScenarioChange) bool { return ch.What == whatif.ChangeDemand && ch.Value != nil }

// layArrivals multiplies arrivals by the factors of demand. Those of a class that has a number of jobs are none.
func layArrivals(p *horizon.HorizonPeriod, all *capacity.Problem, changes []whatif.ScenarioChange) {
	if p.Arrivals == nil {
		return
	}
	before := p.Arrivals
	p.Arrivals = make([]float64, len(before))
	for i := range before {
		x := number(before[i])
		for k := range changes {
			ch := &changes[k]
			switch of := ch.What == whatif.ChangeDemand && (ch.Class == "" || ch.Class == all.Classes[i].Name); {
			case of && ch.Value != nil:
				x = new(big.Rat)
			case of:
				x = mul(x, number(*ch.Factor))
			}
		}
		p.Arrivals[i] = float(x)
	}
}

// beside checks what stands beside an answer under a scenario: the same time as it is, by the checks of any answer about months,
// and the differences.
func (c *checking) beside(q *horizon.HorizonQuestion, a *horizon.Answer, got any) {
	if q.Scenario == nil {
		if a.Scenario != nil || a.AsItIs != nil {
			c.wrong("/scenario", "is there, and none was asked for")
		}
		if c.differences(a); len(c.faults) > 0 {
			c.end(DifferenceCheck, "")
		}
		return
	}
	if a.Scenario == nil || *a.Scenario != q.Scenario.Name {
		c.wrong("/scenario", "is not the one that was asked for, %q", q.Scenario.Name)
	}
	if as := a.AsItIs; as != nil {
		if !as.Complete || !a.Complete || as.Detail != horizon.DetailSummary || as.Scenario != nil {
			c.wrong("/as_it_is", "is no summary of all of the time without a scenario")
		}
		c.differences(as)
		of, _ := got.(map[string]any)
		c.spans("/as_it_is", &q.Horizon, as, of["as_it_is"])
		c.toldMonths("/as_it_is", &q.Horizon, as, of["as_it_is"])
		c.unwarned("/as_it_is", as.Warnings)
	}
	c.differences(a)
	c.changesSaid(a)
	c.end(DifferenceCheck, "Each difference is that of the figures beside it.")
}

// differences checks that each span has its difference from the same span as it is, and that there is none without one.
func (c *checking) differences(a *horizon.Answer) {
	pairs := func(at string, with, without []horizon.SpanTotal) {
		if a.AsItIs != nil && len(with) != len(without) {
			c.wrong("/as_it_is"+at, "has %d entries, and there are %d", len(without), len(with))
			return
		}
		for i := range with {
			was := (*horizon.SpanTotal)(nil)
			if a.AsItIs != nil {
				was = &without[i]
			}
			c.spanDifference(fmt.Sprintf("%s/%d", at, i), &with[i], was)
		}
	}
	as := a.AsItIs
	if as == nil {
		as = &horizon.Answer{}
	}
	pairs("/months", a.Months, as.Months)
	pairs("/days", a.Days, as.Days)
	pairs("/total", []horizon.SpanTotal{a.Total}, []horizon.SpanTotal{as.Total})
}

// spanDifference checks that of one span.
func (c *checking) spanDifference(at string, is, was *horizon.SpanTotal) {
	d := is.Difference
	if was == nil || is.InfeasibleHours > 0 || was.InfeasibleHours > 0 {
		if d != nil {
			c.wrong(at+"/difference", "is there, and there is nothing to compare: not both have a plan for every hour")
		}
		return
	}
	if d == nil {
		c.wrong(at+"/difference", "is missing, and both have a plan for every hour")
		return
	}
	if !is.Start.Equal(was.Start) {
		c.wrong(at+"/start", "is %s, and %s as it is", is.Start.Format(time.RFC3339), was.Start.Format(time.RFC3339))
	}
	c.differ(at+"/difference", tree(marshalled(d)), map[string]any{
		"bill":               exact(sub(is.Cost.Bill.Rat(), was.Cost.Bill.Rat())),
		"value_refused":      exact(sub(is.Cost.Penalties.Rat(), was.Cost.Penalties.Rat())),
		"vm_hours":           about(sub(number(is.VMHours), number(was.VMHours))),
		"admitted_job_hours": about(sub(number(is.AdmittedHours), number(was.AdmittedHours))),
	})
}

// changesSaid checks the figures of the facts that set two times beside each other, and which month is said to change most.
func (c *checking) changesSaid(a *horizon.Answer) {
	want := map[string]map[string]*big.Rat{}
	most, alike, compared := new(big.Rat), []int{}, 0
	if as := a.AsItIs; as != nil {
		if as.Total.InfeasibleHours < as.Total.Hours {
			want["bill_as_it_is"] = map[string]*big.Rat{"bill_as_it_is": as.Total.Cost.Bill.Rat()}
		}
		if is, was := a.Total.Cost.Bill.Rat(), as.Total.Cost.Bill.Rat(); a.Total.Difference != nil {
			want["bill_as_it_is"]["difference"] = sub(is, was)
		}
		for i := range min(len(a.Months), len(as.Months)) {
			if a.Months[i].InfeasibleHours > 0 || as.Months[i].InfeasibleHours > 0 {
				continue
			}
			compared++
			by := abs(sub(a.Months[i].Cost.Bill.Rat(), as.Months[i].Cost.Bill.Rat()))
			if order := by.Cmp(most); order > 0 || len(alike) == 0 {
				most, alike = by, []int{i}
			} else if order == 0 {
				alike = append(alike, i)
			}
		}
		if compared > 1 && len(alike) == 1 {
			m, was := &a.Months[alike[0]], &as.Months[alike[0]]
			want["changes_most "+m.Start.UTC().Format("2006-01")] = map[string]*big.Rat{"bill": m.Cost.Bill.Rat(), "bill_as_it_is": was.Cost.Bill.Rat(),
				"difference": sub(m.Cost.Bill.Rat(), was.Cost.Bill.Rat())}
		}
	}
	for i := range a.Facts {
		f := &a.Facts[i]
		if f.Kind != "bill_as_it_is" && f.Kind != "changes_most" {
			continue
		}
		key := f.Kind
		if f.Subject != "" {
			key += " " + f.Subject
		}
		figures := want[key]
		if figures == nil || len(f.Figures) != len(figures) {
			c.wrong(fmt.Sprintf("/facts/%d", i), "says %s, which does not follow from the bills", key)
			continue
		}
		for name, x := range figures {
			if said := parsed(words.FigureOf(f, name)); said == nil || said.Cmp(x) != 0 {
				c.wrong(fmt.Sprintf("/facts/%d/figures", i), "has %s as %q, and it is %s", name, words.FigureOf(f, name), trimmed(x))
			}
		}
		delete(want, key)
	}
	for key := range want {
		c.wrong("/facts", "lack %s", key)
	}
}
