package whatif

import (
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/shopspring/decimal"

	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/fault"
	"example.org/headroom/internal/core/money"
	"example.org/headroom/internal/core/perf"
	"example.org/headroom/internal/core/strict"
	"example.org/headroom/internal/core/words"
)

// Apply is the problem with the scenario's changes laid over it; the problem itself, which is valid,
// stays as it is. What is wrong is an *InputError with pointers into the scenario.
func (s Scenario) Apply(p capacity.Problem) (capacity.Problem, error) {
	return s.apply(applying{Problem: p})
}

// ApplyInTime is Apply for the problem of a horizon. Where no jobs wait, changes of how long they may are left alone.
func (s Scenario) ApplyInTime(p capacity.Problem, waiting bool) (capacity.Problem, error) {
	return s.apply(applying{Problem: p, inTime: true, waiting: waiting})
}

func (s Scenario) apply(a applying) (capacity.Problem, error) {
	p := a.Problem
	var c strict.Checker
	s.check(&c)
	if len(c.Findings) > 0 {
		return capacity.Problem{}, fault.Refusal(c.Findings, c.Unlisted)
	}
	if len(s.Changes) == 0 {
		return p, nil
	}
	a.Supply.Contracts = slices.Clone(p.Supply.Contracts)
	a.Supply.VMTypes = slices.Clone(p.Supply.VMTypes)
	for i := range a.Supply.VMTypes {
		a.Supply.VMTypes[i].Contracts = slices.Clone(a.Supply.VMTypes[i].Contracts)
	}
	a.Enter("changes")
	for i := range s.Changes {
		a.Element(i)
		if f := s.Changes[i].Factor; f != nil {
			a.factor = decimal.NewFromFloat(*f)
		}
		a.change(&s.Changes[i])
		a.Leave()
	}
	a.Leave()
	if len(a.Findings) == 0 {
		s.blame(&a, &p)
	}
	if len(a.Findings) > 0 {
		return capacity.Problem{}, fault.Refusal(a.Findings, a.Unlisted)
	}
	return a.Problem, nil
}

// blame validates what has changed and leads each finding back to the last change that may have brought
// it about.
func (s Scenario) blame(a *applying, before *capacity.Problem) {
	var result strict.Checker
	if a.retyped {
		a.Problem.Check(&result)
	} else {
		a.Problem.CheckChanged(&result, before)
	}
	for _, f := range result.Findings {
		for i := len(s.Changes) - 1; i >= 0; i-- {
			if s.Changes[i].concerns(&a.Problem, f.Pointer) {
				f.Detail = "This makes a problem that cannot be planned, at " + f.Pointer + ": " + f.Detail
				f.Pointer = fmt.Sprintf("/changes/%d", i)
				break
			}
		}
		if f.Hint != nil {
			f.Hint = &fault.Hint{Detail: f.Hint.Detail} // its pointer leads into the problem, which is not there to be mended
		}
		a.Findings = append(a.Findings, f)
	}
}

// applying is a problem that changes, and where in the scenario one is.
type applying struct {
	capacity.Problem
	strict.Checker
	factor  decimal.Decimal // of the change, if it has one
	inTime  bool            // the problem is that of a horizon,
	waiting bool            // in which jobs may wait
	owned   bool            // the classes are no longer those of the problem before
	retyped bool            // something has changed that all classes have to do with: VM types have come or gone, another bound
}

func (a *applying) change(ch *ScenarioChange) {
	switch ch.What {
	case ChangeDeadline, ChangeDemand, ChangePromised, ChangePenalty:
		a.changeClasses(ch)
	case ChangeDue:
		if !a.inTime {
			a.Refuse("what", "not_taken", "How long jobs may wait changes no plan of one moment. Ask about a schedule, or about months or purchases with waiting.")
			return
		}
		if a.waiting {
			a.changeClasses(ch)
		}
	case ChangePrice, ChangeQuota, ChangeSpotShare:
		a.changeTypes(ch)
	case ChangeContract:
		if t, i := a.contract(ch); t != nil {
			c := &(*t)[i]
			c.VMs = a.wholeNumber(ch, float64(c.VMs), capacity.MaxVMs, "VMs")
		}
	case ChangeBudget, ChangeTotal:
		a.changeBudget(ch)
	case ChangeBound:
		a.retyped = true
		a.ownClasses()
		a.Options.Bound = ch.Bound
		a.carryAll(ch)
	case AddContract:
		a.addContract(ch)
	case DropContract:
		if t, i := a.contract(ch); t != nil {
			*t = slices.Delete(*t, i, i+1)
		}
	case AddVMType:
		a.retyped = true
		a.ownClasses()
		a.addVMType(ch)
		a.carryAll(ch)
	case DropVMType:
		a.retyped = true
		a.ownClasses()
		a.dropVMType(ch)
		a.carryAll(ch)
	}
}

// ownClasses sees to it that the classes may be changed.
func (a *applying) ownClasses() {
	if !a.owned {
		a.Classes, a.owned = slices.Clone(a.Classes), true
	}
}

func (a *applying) changeClasses(ch *ScenarioChange) {
	a.ownClasses()
	found, timed := false, false
	for i := range a.Classes {
		class := &a.Classes[i]
		if ch.Class != "" && class.Name != ch.Class {
			continue
		}
		found, timed = true, timed || class.DeadlineSeconds != 0
		switch ch.What {
		case ChangeDeadline:
			a.changeDeadline(ch, class)
		case ChangeDemand:
			a.changeDemand(ch, class)
		case ChangePromised:
			jobs := a.jobs(ch, class.Jobs.Min)
			if a.inTime && class.Jobs.Max == 0 { // it has arrivals, and asks for no number of jobs at once
				class.Jobs.Max = jobs
			}
			if jobs > class.Jobs.Max {
				detail := fmt.Sprintf("Of class %q %s would be promised, but only %s asked for.", fault.Clip(class.Name), words.Counted(fault.Plain(jobs), "job"), fault.Plain(class.Jobs.Max)+" "+words.IsAre(class.Jobs.Max))
				a.Found(numberOf(ch), "order", detail, &fault.Hint{Detail: fmt.Sprintf("Promise at most %s, or raise the demand in a change before this one.", fault.Plain(class.Jobs.Max))})
				return
			}
			class.Jobs.Min, class.Jobs.All = jobs, false
		case ChangePenalty:
			class.Penalty = a.amount(ch, class.Penalty)
		case ChangeDue:
			a.changeDue(ch, class)
		}
	}
	switch {
	case ch.What == ChangeDeadline && found && !timed:
		a.Refuse("class", "not_taken", "No class that is to be changed has a deadline: they are given by their VMs per job.")
	case !found:
		a.unknown("class", ch.Class, `To change all classes, leave "class" out.`, a.classNames())
	}
}

func (a *applying) changeDeadline(ch *ScenarioChange, class *capacity.Class) {
	if class.DeadlineSeconds == 0 { // given by its VMs per job alone
		return
	}
	seconds := a.number(ch, class.DeadlineSeconds)
	switch {
	case seconds <= 0:
		a.Refuse(numberOf(ch), "range", "The deadline of class %q would be %s s; a job needs some time.", fault.Clip(class.Name), fault.Plain(seconds))
	case seconds > capacity.MaxSeconds:
		a.Refuse(numberOf(ch), "range", "The deadline of class %q would be %s s; it can be %s s at most. Deadlines are in seconds.", fault.Clip(class.Name), fault.Plain(seconds), fault.Plain(capacity.MaxSeconds))
	default:
		class.DeadlineSeconds = seconds
		a.carry(ch, class)
	}
}

// changeDue changes how long jobs of a class may wait. A factor for all classes leaves those alone that do not wait.
func (a *applying) changeDue(ch *ScenarioChange, class *capacity.Class) {
	name := fault.Clip(class.Name)
	switch {
	case ch.Value != nil && ch.Value.Float() > capacity.MaxSeconds:
		a.Refuse("value", "range", "Jobs of class %q would be due after %s s; it can be %s s at most.", name, fault.Plain(ch.Value.Float()), fault.Plain(capacity.MaxSeconds))
	case ch.Value != nil:
		class.DueSeconds, class.Due = ch.Value.Float(), ""
	case class.Due != "":
		a.Refuse("factor", "not_taken", "Jobs of class %q are due at %s, which no factor multiplies. Give the seconds after their arrival, as a value.", name, class.Due)
	case class.DueSeconds == 0 && ch.Class != "":
		a.Refuse("factor", "not_taken", "Jobs of class %q do not wait, so that there is nothing to multiply. Give the seconds after their arrival, as a value.", name)
	default:
		class.DueSeconds = min(a.number(ch, class.DueSeconds), capacity.MaxSeconds)
	}
}

// changeDemand changes how many jobs run at once. Where as many arrive as before times a factor, those are counted anew.
func (a *applying) changeDemand(ch *ScenarioChange, class *capacity.Class) {
	if class.ArrivalsPerHour == 0 || ch.Factor == nil {
		class.ArrivalsPerHour = 0 // the number is given
		class.Jobs = class.Jobs.Of(a.jobs(ch, class.Jobs.Max))
		return
	}
	class.ArrivalsPerHour *= *ch.Factor
	a.carry(ch, class)
}

// carryAll counts the jobs of all classes anew, where a job on one slot of each kind may hold its VMs for another time.
func (a *applying) carryAll(ch *ScenarioChange) {
	for i := range a.Classes {
		a.carry(ch, &a.Classes[i])
	}
}

// carry counts the jobs of a class that run at once anew, where it says how many arrive.
func (a *applying) carry(ch *ScenarioChange, class *capacity.Class) {
	if class.ArrivalsPerHour == 0 {
		return
	}
	jobs := perf.AtOnce(*class, a.Supply, a.Options)
	if !(jobs <= capacity.MaxJobs) {
		a.Refuse(numberOf(ch), "range", "There would be %s jobs of class %q at once; there can be %d at most.", fault.Plain(jobs), fault.Clip(class.Name), capacity.MaxJobs)
		return
	}
	class.Jobs = class.Jobs.Of(jobs)
}

// jobs is a changed number of jobs.
func (a *applying) jobs(ch *ScenarioChange, before float64) float64 {
	jobs := a.number(ch, before)
	if a.Options.Integrality == capacity.Relaxed {
		if jobs > capacity.MaxJobs {
			a.Refuse(numberOf(ch), "range", "There would be %s jobs; there can be %d at most.", fault.Plain(jobs), capacity.MaxJobs)
			return before
		}
		return jobs
	}
	return float64(a.wholeNumber(ch, before, capacity.MaxJobs, "jobs"))
}

// wholeNumber is a changed count: a factor's is rounded, a value must be whole.
func (a *applying) wholeNumber(ch *ScenarioChange, before float64, most int64, what string) int64 {
	x := a.number(ch, before)
	switch whole := math.Floor(x + 0.5); {
	case ch.Value != nil && whole != x:
		a.Found("value", "not_whole", fmt.Sprintf("There would be %s %s; give a whole number.", fault.Plain(x), what), a.Hint("value", whole, "Give %s.", fault.Plain(whole)))
	case x > float64(most):
		a.Refuse(numberOf(ch), "range", "There would be %s %s; there can be %d at most.", fault.Plain(x), what, most)
	default:
		return int64(whole)
	}
	return int64(before)
}

// number is a changed figure. Factors multiply as decimals do, so that 0.8 and 1.25 undo each other.
func (a *applying) number(ch *ScenarioChange, before float64) float64 {
	if ch.Value != nil {
		return ch.Value.Float()
	}
	if digits, power, exact := a.product(int64(before), 0); exact && before == math.Trunc(before) {
		if x, exact := strict.ShortFloat(digits, power); exact {
			return x
		}
	}
	return timesFloat(before, a.factor)
}

// product is the factor times digits·10^power in the same form, where an int64 surely holds its digits:
// the usual case, without big numbers.
func (a *applying) product(digits int64, power int) (int64, int, bool) {
	const most = 1 << 31
	factor, exact := int64(0), a.factor.NumDigits() <= 9
	if exact {
		factor = a.factor.CoefficientInt64()
	}
	if !exact || factor > most || digits > most || digits < -most {
		return 0, 0, false
	}
	return digits * factor, power + int(a.factor.Exponent()), true
}

// amount is a changed amount of money.
func (a *applying) amount(ch *ScenarioChange, before money.Amount) money.Amount {
	if ch.Value != nil {
		return *ch.Value
	}
	after := a.times(before)
	if after.GreaterThan(money.MaxDecimal) {
		a.Refuse("factor", "range", "The amount would be %s; it can be %d at most.", after, money.Max)
		return before
	}
	return after
}

// times is an amount multiplied, to the last place that money has.
func (a *applying) times(before money.Amount) money.Amount {
	if before.NumDigits() <= 9 {
		digits, power, exact := a.product(before.CoefficientInt64(), int(before.Exponent()))
		if exact && power >= -money.Places {
			return money.Amount{Decimal: decimal.New(digits, int32(power))}
		}
	}
	return money.Amount{Decimal: before.Mul(a.factor).Round(money.Places)}
}

// numberOf is the member that gives the number.
func numberOf(ch *ScenarioChange) string {
	if ch.Value != nil {
		return "value"
	}
	return "factor"
}

// changeTypes changes what each type has of its own.
func (a *applying) changeTypes(ch *ScenarioChange) {
	if ch.What == ChangePrice && ch.Contract != "" {
		if t, i := a.contract(ch); t != nil {
			(*t)[i].Price = a.amount(ch, (*t)[i].Price)
		}
		return
	}
	known, changed := false, false
	a.eachType(func(name string, _ *[]capacity.Contract, o *capacity.OnDemand, spot **capacity.Spot) {
		if ch.VMType != "" && ch.VMType != name {
			return
		}
		known = true
		switch {
		case ch.What == ChangeQuota && ch.Factor == nil && ch.Value == nil:
			o.Quota, changed = nil, true
		case ch.What == ChangeQuota && (o.Quota != nil || ch.Value != nil):
			before := int64(0)
			if o.Quota != nil {
				before = *o.Quota
			}
			quota := a.wholeNumber(ch, float64(before), capacity.MaxVMs, "VMs")
			o.Quota, changed = &quota, true
		case ch.What == ChangePrice && ch.Purchase != capacity.PurchaseSpot:
			o.Price, changed = a.amount(ch, o.Price), true
		case ch.What != ChangeQuota && *spot != nil:
			after := **spot
			if ch.What == ChangePrice {
				after.Price = a.amount(ch, after.Price)
			} else {
				after.MaxShare = a.number(ch, after.MaxShare)
				if after.MaxShare > 1 {
					a.Refuse(numberOf(ch), "range", "The share of spot VMs would be %s; 1 is all of them.", fault.Plain(after.MaxShare))
				}
			}
			*spot, changed = &after, true
		}
	})
	switch {
	case !known:
		a.unknownType(ch.VMType)
	case !changed && ch.What == ChangeQuota:
		a.Refuse("factor", "not_taken", `There is no quota to multiply; give one as "value".`)
	case !changed:
		a.Refuse("", "not_taken", "No VM of this kind is rented as spot, so there is nothing to change; add a VM type that has spot.")
	}
}

// eachType visits the supply of each type; that of a problem without types has no name.
func (a *applying) eachType(visit func(name string, contracts *[]capacity.Contract, o *capacity.OnDemand, spot **capacity.Spot)) {
	s := &a.Supply
	if len(s.VMTypes) == 0 {
		visit("", &s.Contracts, &s.OnDemand, &s.Spot)
		return
	}
	for i := range s.VMTypes {
		t := &s.VMTypes[i]
		visit(t.Name, &t.Contracts, &t.OnDemand, &t.Spot)
	}
}

// contract finds the contract that a change names; it is not there, and refused, where the list is nil.
func (a *applying) contract(ch *ScenarioChange) (list *[]capacity.Contract, at int) {
	var names []string
	known := false
	a.eachType(func(name string, contracts *[]capacity.Contract, _ *capacity.OnDemand, _ **capacity.Spot) {
		if ch.VMType != "" && ch.VMType != name {
			return
		}
		known = true
		for i, c := range *contracts {
			if names = append(names, c.Name); c.Name == ch.Contract {
				list, at = contracts, i
			}
		}
	})
	switch {
	case !known:
		a.unknownType(ch.VMType)
	case list == nil:
		a.unknown("contract", ch.Contract, "Contracts that run at that moment can be changed.", names)
	}
	return list, at
}

func (a *applying) unknownType(name string) {
	if len(a.Supply.VMTypes) == 0 {
		a.Refuse("vm_type", "unknown_name", `There is one kind of machine here, without a name; leave "vm_type" out.`)
		return
	}
	var known []string
	a.eachType(func(name string, _ *[]capacity.Contract, _ *capacity.OnDemand, _ **capacity.Spot) {
		known = append(known, name)
	})
	a.unknown("vm_type", name, `To change all types, leave "vm_type" out.`, known)
}

// unknown refuses a name that nothing has, and suggests the one probably meant, or else what else can
// be done.
func (a *applying) unknown(member, name, otherwise string, known []string) {
	hint := &fault.Hint{Detail: otherwise}
	if best := fault.Nearest(name, known[:min(len(known), strict.MaxCompared)]); best != "" {
		hint = a.Hint(member, best, "Did you mean %q?", best)
	}
	kind := map[string]string{"class": "class", "contract": "contract", "vm_type": "VM type"}[member]
	a.Found(member, "unknown_name", fmt.Sprintf("There is no %s %q.", kind, fault.Clip(name)), hint)
}

func (a *applying) changeBudget(ch *ScenarioChange) {
	var b capacity.Budget
	if a.Budget != nil {
		b = *a.Budget
	}
	limit := &b.VMCost
	if ch.What == ChangeTotal {
		limit = &b.Total
	}
	switch {
	case ch.Factor == nil && ch.Value == nil:
		*limit = nil
	case ch.Factor != nil && *limit == nil:
		a.Refuse("factor", "not_taken", `There is no such budget to multiply; give one as "value".`)
		return
	default:
		before := money.Amount{}
		if *limit != nil {
			before = **limit
		}
		after := a.amount(ch, before)
		*limit = &after
	}
	if a.Budget = &b; b == (capacity.Budget{}) {
		a.Budget = nil
	}
}

func (a *applying) addContract(ch *ScenarioChange) {
	added := *ch.Add.Contract
	if added.Billing == "" {
		added.Billing = capacity.BilledUsed
	}
	if ch.VMType == "" && len(a.Supply.VMTypes) > 1 {
		a.Refuse("vm_type", "missing", "There are %d VM types; say of which the contract's VMs are.", len(a.Supply.VMTypes))
		return
	}
	known := false
	a.eachType(func(name string, contracts *[]capacity.Contract, _ *capacity.OnDemand, _ **capacity.Spot) {
		if ch.VMType == "" || ch.VMType == name {
			known = true
			*contracts = append(*contracts, added)
		}
	})
	if !known {
		a.unknownType(ch.VMType)
	}
}

func (a *applying) addVMType(ch *ScenarioChange) {
	added := *ch.Add.VMType
	added.Contracts = slices.Clone(added.Contracts)
	for i := range added.Contracts {
		if added.Contracts[i].Billing == "" {
			added.Contracts[i].Billing = capacity.BilledUsed
		}
	}
	if s := &a.Supply; len(s.VMTypes) == 0 {
		*s = capacity.Supply{VMTypes: []capacity.VMTypeSupply{{Name: SoleVMType, Contracts: s.Contracts, OnDemand: s.OnDemand, Spot: s.Spot}}}
	}
	a.Enter("add")
	defer a.Leave()
	index := make(map[string]int, len(a.Classes))
	for i := range a.Classes {
		index[a.Classes[i].Name] = i
	}
	a.Enter("slots_per_vm")
	for _, name := range slices.Sorted(maps.Keys(ch.Add.SlotsPerVM)) {
		i, known := index[name]
		if !known {
			a.unknownClass(name)
			continue
		}
		class := &a.Classes[i]
		if class.VMsPerJob != nil && class.SlotsPerVM.IsZero() {
			a.Refuse(name, "not_taken", "Class %q is given by its VMs per job; say by a speed how it runs on this type.", fault.Clip(name))
			continue
		}
		byType := maps.Clone(class.SlotsPerVM.ByType)
		if byType == nil {
			byType = make(map[string]capacity.SlotsPerVM, len(a.Supply.VMTypes)+1)
			for _, t := range a.Supply.VMTypes {
				byType[t.Name] = class.SlotsPerVM
			}
		}
		byType[added.Name] = ch.Add.SlotsPerVM[name]
		class.SlotsPerVM = capacity.SlotsPerVM{ByType: byType}
	}
	a.Leave()
	a.Enter("speed")
	for _, name := range slices.Sorted(maps.Keys(ch.Add.Speed)) {
		i, known := index[name]
		if !known {
			a.unknownClass(name)
			continue
		}
		speed := maps.Clone(a.Classes[i].Speed)
		if speed == nil {
			speed = make(capacity.Speed, 1)
		}
		speed[added.Name] = ch.Add.Speed[name]
		a.Classes[i].Speed = speed
	}
	a.Leave()
	a.Supply.VMTypes = append(a.Supply.VMTypes, added)
}

// unknownClass refuses a member that is named after no class.
func (a *applying) unknownClass(name string) {
	hint := fault.DidYouMean(name, a.classNames())
	a.Found(name, "unknown_name", fmt.Sprintf("There is no class %q; leave it out.", fault.Clip(name)), hint)
}

func (a *applying) classNames() []string {
	names := make([]string, min(len(a.Classes), strict.MaxCompared))
	for i := range names {
		names[i] = a.Classes[i].Name
	}
	return names
}

func (a *applying) dropVMType(ch *ScenarioChange) {
	types := a.Supply.VMTypes
	at := slices.IndexFunc(types, func(t capacity.VMTypeSupply) bool { return t.Name == ch.VMType })
	switch {
	case at < 0:
		a.unknownType(ch.VMType)
		return
	case len(types) == 1:
		a.Refuse("vm_type", "range", "%q is the only VM type; without it nothing runs. Add another one in a change before this one.", fault.Clip(ch.VMType))
		return
	}
	a.Supply.VMTypes = slices.Delete(types, at, at+1)
	for i := range a.Classes {
		class := &a.Classes[i]
		if _, given := class.SlotsPerVM.ByType[ch.VMType]; given {
			if len(class.SlotsPerVM.ByType) == 1 {
				a.Refuse("vm_type", "order", "Class %q runs on VMs of type %q alone, so the type cannot be dropped.", fault.Clip(class.Name), fault.Clip(ch.VMType))
				continue
			}
			class.SlotsPerVM.ByType = maps.Clone(class.SlotsPerVM.ByType)
			delete(class.SlotsPerVM.ByType, ch.VMType)
		}
		if _, given := class.Speed[ch.VMType]; given {
			class.Speed = maps.Clone(class.Speed)
			delete(class.Speed, ch.VMType)
		}
	}
}
