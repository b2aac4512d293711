package recheck

import (
	"maps"
	"math"
	"math/big"
	"slices"

	"github.com/shopspring/decimal"

	"example.org/headroom/internal/ask/whatif"
	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/money"
	"example.org/headroom/internal/core/proof"
)

// changed lays changes over a problem, which stays as it is; false says that one names what is not there.
func changed(p capacity.Problem, changes []whatif.ScenarioChange) (capacity.Problem, bool) {
	p.Classes = slices.Clone(p.Classes)
	p.Supply.Contracts = slices.Clone(p.Supply.Contracts)
	p.Supply.VMTypes = slices.Clone(p.Supply.VMTypes)
	for i := range p.Supply.VMTypes {
		p.Supply.VMTypes[i].Contracts = slices.Clone(p.Supply.VMTypes[i].Contracts)
	}
	for i := range changes {
		if x := (change{&p, &changes[i]}); !x.apply() {
			return p, false
		}
	}
	return p, p.Validate() == nil
}

// varied is the change that a parameter of a sweep makes at one of its numbers.
func varied(v *whatif.Vary, x *big.Rat) whatif.ScenarioChange {
	ch := whatif.ScenarioChange{What: v.What, Class: v.Class, VMType: v.VMType, Contract: v.Contract, Purchase: v.Purchase}
	if factor := float(x); v.By != whatif.ByValue {
		ch.Factor = &factor
	} else {
		ch.Value = &money.Amount{Decimal: decimalOf(x)}
	}
	return ch
}

// change is one change of a problem.
type change struct {
	*capacity.Problem
	of *whatif.ScenarioChange
}

func (x change) apply() bool {
	switch of := x.of; of.What {
	case whatif.ChangeDeadline, whatif.ChangeDemand, whatif.ChangePromised, whatif.ChangePenalty, whatif.ChangeDue:
		return x.classes()
	case whatif.ChangeBound:
		x.Options.Bound = of.Bound
		return x.allArriving()
	case whatif.ChangeBudget, whatif.ChangeTotal:
		return x.budget()
	case whatif.AddVMType:
		return x.addType() && x.allArriving()
	case whatif.DropVMType:
		return x.dropType() && x.allArriving()
	default:
		return x.supply()
	}
}

// number is the changed figure, as exactly as its text says.
func (x change) number(before *big.Rat) *big.Rat {
	if x.of.Value != nil {
		return x.of.Value.Rat()
	}
	return mul(before, number(*x.of.Factor))
}

func (x change) amount(before money.Amount) money.Amount {
	return money.Amount{Decimal: decimalOf(cents(x.number(before.Rat())))}
}

func decimalOf(r *big.Rat) decimal.Decimal {
	d, _ := decimal.NewFromString(r.FloatString(money.Places))
	return d
}

// count is the changed number of whole things, halves rounded up.
func (x change) count(before *big.Rat) int64 {
	r := add(x.number(before), big.NewRat(1, 2))
	return new(big.Int).Div(r.Num(), r.Denom()).Int64()
}

func (x change) jobs(before float64) float64 {
	if x.Options.Integrality == capacity.Relaxed {
		return float(x.number(number(before)))
	}
	return float64(x.count(number(before)))
}

func (x change) classes() bool {
	found := false
	for i := range x.Classes {
		c := &x.Classes[i]
		if x.of.Class != "" && x.of.Class != c.Name {
			continue
		}
		found = true
		switch x.of.What {
		case whatif.ChangeDeadline:
			if c.DeadlineSeconds != 0 {
				c.DeadlineSeconds = float(x.number(number(c.DeadlineSeconds)))
				x.arriving(i)
			}
		case whatif.ChangeDemand:
			if c.ArrivalsPerHour != 0 && x.of.Factor != nil {
				c.ArrivalsPerHour *= *x.of.Factor
				x.arriving(i)
				continue
			}
			c.ArrivalsPerHour = 0
			if c.Jobs.Max = x.jobs(c.Jobs.Max); c.Jobs.All {
				c.Jobs.Min = c.Jobs.Max
			}
			c.Jobs.Min = min(c.Jobs.Min, c.Jobs.Max)
		case whatif.ChangePromised:
			if c.Jobs.Min, c.Jobs.All = x.jobs(c.Jobs.Min), false; c.Jobs.Min > c.Jobs.Max {
				return false // more than are asked for, though a later change may raise the demand
			}
		case whatif.ChangeDue:
			if x.of.Value == nil && c.Due != "" {
				return false
			}
			c.DueSeconds, c.Due = float(x.number(number(c.DueSeconds))), ""
		default:
			c.Penalty = x.amount(c.Penalty)
		}
	}
	return found
}

// arriving counts the jobs of a class at once anew: those that arrive within the time that one of them holds its VMs.
func (x change) arriving(class int) {
	c := &x.Classes[class]
	if c.ArrivalsPerHour == 0 {
		return
	}
	jobs := c.ArrivalsPerHour / 3600 * proof.HeldSeconds(x.Problem, class)
	if x.Options.Integrality != capacity.Relaxed {
		jobs = math.Ceil(jobs - wholeNoise)
	}
	if c.Jobs.Max = jobs; c.Jobs.All {
		c.Jobs.Min = jobs
	}
	c.Jobs.Min = min(c.Jobs.Min, jobs)
}

// allArriving counts the jobs of all classes anew, as arriving does those of one.
func (x change) allArriving() bool {
	for i := range x.Classes {
		x.arriving(i)
	}
	return true
}

// wholeNoise is what a number of jobs may lie above a whole one through rounding.
const wholeNoise = 1e-9

func (x change) budget() bool {
	b := capacity.Budget{}
	if x.Budget != nil {
		b = *x.Budget
	}
	limit := &b.VMCost
	if x.of.What == whatif.ChangeTotal {
		limit = &b.Total
	}
	switch {
	case x.of.Factor == nil && x.of.Value == nil:
		*limit = nil
	case x.of.Factor != nil && *limit == nil:
		return false
	default:
		before := money.Amount{}
		if *limit != nil {
			before = **limit
		}
		after := x.amount(before)
		*limit = &after
	}
	if x.Budget = nil; b.VMCost != nil || b.Total != nil {
		x.Budget = &b
	}
	return true
}

// supply changes what each type, or the one that is named, has.
func (x change) supply() bool {
	s := &x.Problem.Supply
	if len(s.VMTypes) == 0 {
		one := capacity.VMTypeSupply{Contracts: s.Contracts, OnDemand: s.OnDemand, Spot: s.Spot}
		found := x.oneType(&one)
		s.Contracts, s.OnDemand, s.Spot = one.Contracts, one.OnDemand, one.Spot
		return found
	}
	found := false
	for i := range s.VMTypes {
		found = x.oneType(&s.VMTypes[i]) || found
	}
	return found
}

// oneType changes one type; false says that it has no such thing.
func (x change) oneType(t *capacity.VMTypeSupply) bool {
	of := x.of
	if of.VMType != "" && of.VMType != t.Name {
		return false
	}
	at := slices.IndexFunc(t.Contracts, func(c capacity.Contract) bool { return c.Name == of.Contract })
	switch {
	case of.What == whatif.AddContract:
		added := *of.Add.Contract
		if added.Billing == "" {
			added.Billing = capacity.BilledUsed
		}
		t.Contracts = append(t.Contracts, added)
	case of.What == whatif.DropContract && at >= 0:
		t.Contracts = slices.Delete(t.Contracts, at, at+1)
	case of.What == whatif.ChangeContract && at >= 0:
		t.Contracts[at].VMs = x.count(whole(t.Contracts[at].VMs))
	case of.What == whatif.ChangePrice && of.Contract != "" && at >= 0:
		t.Contracts[at].Price = x.amount(t.Contracts[at].Price)
	case of.What == whatif.ChangePrice && of.Contract == "" && of.Purchase != capacity.PurchaseSpot:
		t.OnDemand.Price = x.amount(t.OnDemand.Price)
	case of.What == whatif.ChangeQuota && of.Factor == nil && of.Value == nil:
		t.OnDemand.Quota = nil
	case of.What == whatif.ChangeQuota && (of.Value != nil || t.OnDemand.Quota != nil):
		before := new(big.Rat)
		if t.OnDemand.Quota != nil {
			before = whole(*t.OnDemand.Quota)
		}
		after := x.count(before)
		t.OnDemand.Quota = &after
	case of.What == whatif.ChangePrice && of.Contract == "" && t.Spot != nil:
		t.Spot = &capacity.Spot{Price: x.amount(t.Spot.Price), MaxShare: t.Spot.MaxShare}
	case of.What == whatif.ChangeSpotShare && t.Spot != nil:
		t.Spot = &capacity.Spot{Price: t.Spot.Price, MaxShare: float(x.number(number(t.Spot.MaxShare)))}
	default:
		return false
	}
	return true
}

func (x change) addType() bool {
	s, added := &x.Problem.Supply, *x.of.Add.VMType
	added.Contracts = slices.Clone(added.Contracts)
	for i := range added.Contracts {
		if added.Contracts[i].Billing == "" {
			added.Contracts[i].Billing = capacity.BilledUsed
		}
	}
	if len(s.VMTypes) == 0 {
		sole := capacity.VMTypeSupply{Name: whatif.SoleVMType, Contracts: s.Contracts, OnDemand: s.OnDemand, Spot: s.Spot}
		*s = capacity.Supply{VMTypes: []capacity.VMTypeSupply{sole}}
	}
	for i := range x.Classes {
		c := &x.Classes[i]
		if slots, named := x.of.Add.SlotsPerVM[c.Name]; named {
			by := maps.Clone(c.SlotsPerVM.ByType)
			if by == nil {
				by = map[string]capacity.SlotsPerVM{}
				for _, t := range s.VMTypes {
					by[t.Name] = c.SlotsPerVM
				}
			}
			by[added.Name] = slots
			c.SlotsPerVM = capacity.SlotsPerVM{ByType: by}
		}
		if speed, named := x.of.Add.Speed[c.Name]; named {
			if c.Speed = maps.Clone(c.Speed); c.Speed == nil {
				c.Speed = capacity.Speed{}
			}
			c.Speed[added.Name] = speed
		}
	}
	s.VMTypes = append(s.VMTypes, added)
	return true
}

func (x change) dropType() bool {
	s := &x.Problem.Supply
	n := len(s.VMTypes)
	s.VMTypes = slices.DeleteFunc(s.VMTypes, func(t capacity.VMTypeSupply) bool { return t.Name == x.of.VMType })
	for i := range x.Classes {
		c := &x.Classes[i]
		if c.SlotsPerVM.ByType != nil {
			by := maps.Clone(c.SlotsPerVM.ByType)
			delete(by, x.of.VMType)
			c.SlotsPerVM.ByType = by
		}
		if c.Speed != nil {
			c.Speed = maps.Clone(c.Speed)
			delete(c.Speed, x.of.VMType)
		}
	}
	return len(s.VMTypes) < n
}
