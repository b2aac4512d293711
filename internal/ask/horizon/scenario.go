package horizon

import (
	"fmt"
	"slices"

	"github.com/shopspring/decimal"

	"example.org/headroom/internal/ask/whatif"
	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/money"
)

// Under returns the horizon with the changes of a scenario, which hold all the time. In every period they do what they
// do to the problem of that time, but that promises are those of the classes. An added contract has no end. The upfront
// payment of a contract follows its VMs. Arrivals are multiplied by factors; a value of the demand takes their place. Where
// no jobs wait, changes of how long they may are left alone.
func (h Horizon) Under(s whatif.Scenario, waiting bool) (Horizon, error) {
	if len(s.Changes) == 0 {
		return h, nil
	}
	whole := h.withTerms()
	changed, err := s.ApplyInTime(whole, waiting)
	if err != nil {
		return Horizon{}, err
	}
	u := underScenario{s: inPeriods(s), problem: whole, factors: make([]float64, len(whole.Classes)), counted: make([]bool, len(whole.Classes))}
	if err := u.learn(); err != nil {
		return Horizon{}, err
	}
	h.Problem = changed
	h.takeTerms()
	before := h.Periods
	h.Periods = slices.Clone(before)
	for i := range h.Periods {
		if err := u.change(&h.Periods[i]); err != nil {
			return Horizon{}, err
		}
	}
	h.Earlier = slices.Clone(h.Earlier)
	for i := range h.Earlier {
		h.Earlier[i].Arrivals = u.arrivals(h.Earlier[i].Arrivals)
	}
	return h, nil
}

// withTerms returns the problem with all contracts of the horizon, whenever they are in force.
func (h *Horizon) withTerms() capacity.Problem {
	p := h.Problem
	p.Supply.Contracts = slices.Clip(p.Supply.Contracts)
	p.Supply.VMTypes = slices.Clone(p.Supply.VMTypes)
	for _, t := range h.Contracts {
		list := &p.Supply.Contracts
		if at := slices.IndexFunc(p.Supply.VMTypes, func(v capacity.VMTypeSupply) bool { return v.Name == t.VMType }); at >= 0 {
			list = &p.Supply.VMTypes[at].Contracts
		}
		*list = append(slices.Clip(*list), t.Contract)
	}
	return p
}

// takeTerms takes the contracts of the horizon, as they are now, back out of its problem, and leaves out those that are
// not there.
func (h *Horizon) takeTerms() {
	terms := h.Contracts
	h.Contracts = nil
	take := func(vmType string, list *[]capacity.Contract) {
		var rest []capacity.Contract
		for _, c := range *list {
			at := slices.IndexFunc(terms, func(t TermContract) bool { return t.Name == c.Name })
			if at < 0 {
				rest = append(rest, c)
				continue
			}
			t := terms[at]
			if c.VMs != t.VMs && t.VMs > 0 {
				t.Upfront = money.Amount{Decimal: t.Upfront.Mul(decimal.NewFromInt(c.VMs)).DivRound(decimal.NewFromInt(t.VMs), money.Places)}
			}
			t.Contract, t.VMType = c, vmType
			h.Contracts = append(h.Contracts, t)
		}
		*list = rest
	}
	s := &h.Problem.Supply
	take("", &s.Contracts)
	s.VMTypes = slices.Clone(s.VMTypes)
	for i := range s.VMTypes {
		take(s.VMTypes[i].Name, &s.VMTypes[i].Contracts)
	}
}

// inPeriods returns the scenario with changes of promised jobs that change nothing: a period promises as much as the
// class does, and no more than its demand.
func inPeriods(s whatif.Scenario) whatif.Scenario {
	s.Changes = slices.Clone(s.Changes)
	for i := range s.Changes {
		if ch := &s.Changes[i]; ch.What == whatif.ChangePromised {
			same := 1.0
			ch.Factor, ch.Value = &same, nil
		}
	}
	return s
}

// underScenario changes periods.
type underScenario struct {
	s       whatif.Scenario
	problem capacity.Problem // before, with all contracts
	factors []float64        // by class: of arrivals,
	counted []bool           // or whether a number of jobs takes their place
	priced  bool             // whether prices or VM types change
}

// learn finds the factors of arrivals.
func (u *underScenario) learn() error {
	p := u.problem
	p.Options.Integrality = capacity.Relaxed
	p.Classes = slices.Clone(p.Classes)
	for k := range p.Classes {
		p.Classes[k].Jobs = capacity.JobRange{Max: 1}
	}
	one, err := u.s.ApplyInTime(p, false)
	if err != nil {
		return err
	}
	for k := range one.Classes {
		u.factors[k] = one.Classes[k].Jobs.Max
	}
	for i := range u.s.Changes {
		switch ch := &u.s.Changes[i]; ch.What {
		case whatif.ChangeDemand:
			for k := range u.counted {
				u.counted[k] = u.counted[k] || ch.Value != nil && (ch.Class == "" || ch.Class == p.Classes[k].Name)
			}
		case whatif.ChangePrice, whatif.AddVMType, whatif.DropVMType:
			u.priced = true
		}
	}
	return nil
}

// arrivals returns changed arrivals.
func (u *underScenario) arrivals(before []float64) []float64 {
	if before == nil {
		return nil
	}
	after := make([]float64, len(before))
	for k, x := range before {
		if !u.counted[k] {
			after[k] = x * u.factors[k]
		}
	}
	return after
}

// change changes a period.
func (u *underScenario) change(p *HorizonPeriod) error {
	before := u.problem
	before.Supply = p.Priced(before.Supply)
	before.Classes = slices.Clone(before.Classes)
	for k := range before.Classes {
		j := &before.Classes[k].Jobs
		switch {
		case p.Jobs != nil:
			*j = j.Of(p.Jobs[k])
		case p.Arrivals != nil:
			*j = j.Of(0)
		}
	}
	after, err := u.s.ApplyInTime(before, false)
	if err != nil {
		return fmt.Errorf("from %s on: %w", p.Start.UTC().Format("2006-01-02T15:04Z"), err)
	}
	if p.Jobs != nil || p.Arrivals != nil && slices.Contains(u.counted, true) {
		p.Jobs = make([]float64, len(after.Classes))
		for k := range after.Classes {
			p.Jobs[k] = after.Classes[k].Jobs.Max
		}
	}
	if p.Arrivals = u.arrivals(p.Arrivals); !u.priced {
		return nil
	}
	p.OnDemandPrice, p.SpotPrice, p.Prices = nil, nil, nil
	for _, t := range after.Supply.VMTypes {
		if p.Prices == nil {
			p.Prices = make(map[string]PeriodPrices, len(after.Supply.VMTypes))
		}
		of := PeriodPrices{OnDemand: &t.OnDemand.Price}
		if t.Spot != nil {
			of.Spot = &t.Spot.Price
		}
		p.Prices[t.Name] = of
	}
	if s := &after.Supply; len(s.VMTypes) == 0 {
		if p.OnDemandPrice = &s.OnDemand.Price; s.Spot != nil {
			p.SpotPrice = &s.Spot.Price
		}
	}
	return nil
}
