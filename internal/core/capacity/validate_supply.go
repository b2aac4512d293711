package capacity

import (
	"fmt"
	"maps"
	"slices"

	"example.org/headroom/internal/core/fault"
	"example.org/headroom/internal/core/money"
	"example.org/headroom/internal/core/strict"
)

func (s Supply) check(c *strict.Checker) {
	if len(s.VMTypes) == 0 {
		s.Types()[0].check(c, map[string]string{})
		return
	}
	for _, beside := range [...]struct {
		name  string
		given bool
	}{
		{"contracts", s.Contracts != nil}, {"on_demand", s.OnDemand.Quota != nil || !s.OnDemand.Price.IsZero()}, {"spot", s.Spot != nil}, {"start", s.Start != nil},
	} {
		if beside.given {
			c.Refuse(beside.name, "not_here", "%s", besideTypes(beside.name))
		}
	}
	c.Enter("vm_types")
	named := make(strict.Names, len(s.VMTypes))
	contracts := map[string]string{}
	for i, t := range s.VMTypes {
		c.Element(i)
		c.Name(t.Name)
		named.Add(c, "VM type", t.Name, i)
		t.check(c, contracts)
		c.Leave()
	}
	c.Leave()
}

// check checks the supply of a type; owners maps the names of contracts so far to their types.
func (t VMTypeSupply) check(c *strict.Checker, owners map[string]string) {
	c.Enter("contracts")
	named := make(strict.Names, len(t.Contracts))
	for i, contract := range t.Contracts {
		c.Element(i)
		c.Name(contract.Name)
		if owner, elsewhere := owners[contract.Name]; elsewhere && contract.Name != "" {
			c.Refuse("name", "duplicate_name", "The VM type %q has a contract called %q as well; give each contract a name of its own, whatever its type.", fault.Clip(owner), fault.Clip(contract.Name))
		} else {
			named.Add(c, "contract", contract.Name, i)
		}
		c.Whole("vms", "The number of VMs", "VMs", contract.VMs, 0, MaxVMs)
		money.Check(c, "price", "The price", contract.Price)
		strict.OneOf(c, "billing", contract.Billing, Billings)
		c.Leave()
	}
	for name := range named {
		owners[name] = t.Name
	}
	c.Leave()
	c.Enter("on_demand")
	money.Check(c, "price", "The price", t.OnDemand.Price)
	if t.OnDemand.Quota != nil {
		c.Whole("quota", "The quota", "VMs, or null for no limit", *t.OnDemand.Quota, 0, MaxVMs)
	}
	c.Leave()
	if t.Spot != nil {
		c.Enter("spot")
		money.Check(c, "price", "The price", t.Spot.Price)
		c.Number("max_share", "The share of spot VMs", "", t.Spot.MaxShare, 1)
		c.Leave()
	}
	if t.Start != nil {
		c.Enter("start")
		money.Check(c, "price", "The price", t.Start.Price)
		if s := t.Start.LeadSeconds; !(s >= 0 && s <= MostStartSeconds) {
			c.Refuse("lead_s", "range", "A VM is asked for %s s ahead; schedules plan whole hours, and with no more than %d s. Give that or less.", fault.Plain(s), MostStartSeconds)
		}
		if s := t.Start.MinBilledSeconds; !(s >= 0 && s <= MostStartSeconds) {
			c.Refuse("min_billed_s", "range", "A VM is billed for %s s at least; schedules bill whole hours, and plan with no more than %d s. Give that or less, or leave it out.", fault.Plain(s), MostStartSeconds)
		}
		c.Leave()
	}
}

func (b Budget) Check(c *strict.Checker) {
	if b.VMCost != nil {
		money.Check(c, "vm_cost", "The budget for VMs", *b.VMCost)
	}
	if b.Total != nil {
		money.Check(c, "total", "The budget", *b.Total)
	}
}

func (s SlotsPerVM) check(c *strict.Checker) {
	if s.ByType == nil {
		c.Whole("map", "The number of map slots", "slots per VM", s.Map, 1, MaxSlotsPerVM)
		c.Whole("reduce", "The number of reduce slots", "slots per VM", s.Reduce, 1, MaxSlotsPerVM)
		return
	}
	for _, vmType := range slices.Sorted(maps.Keys(s.ByType)) {
		c.Enter(vmType)
		on := s.ByType[vmType]
		on.ByType = nil
		on.check(c)
		c.Leave()
	}
}

func (s Speed) check(c *strict.Checker) {
	c.Enter("speed")
	for _, vmType := range slices.Sorted(maps.Keys(s)) {
		if speed := s[vmType]; c.Number(vmType, "The speed", "", speed, MaxSpeed) && speed > 0 && speed < MinSpeed {
			c.Refuse(vmType, "range", "The speed is %s; it must be at least %s, or 0 where the class does not run on the type.", fault.Plain(speed), fault.Plain(MinSpeed))
		}
	}
	c.Leave()
}

// slowest is the least speed at which anything runs, and 1 at most.
func (s Speed) slowest() float64 {
	least := 1.0
	for _, speed := range s {
		if speed > 0 {
			least = min(least, speed)
		}
	}
	return least
}

// ByType says whether the class says anything about single VM types.
func (class *Class) ByType() bool { return class.SlotsPerVM.ByType != nil || class.Speed != nil }

// fleet is the names of the VM types that classes can speak of; none where there is a single kind.
// It is nil where a fault of the supply keeps them from being known.
func (s Supply) fleet(c *strict.Checker) []string {
	if c.Covered != nil && (c.Covered(c.At("vm_types")) || c.Covered(c.At("on_demand")) && len(s.VMTypes) == 0) {
		return nil
	}
	types := make([]string, len(s.VMTypes))
	for i, t := range s.VMTypes {
		if types[i] = t.Name; t.Name == "" || slices.Contains(types[:i], t.Name) {
			return nil
		}
	}
	return types
}

// checkTypes checks what the class says about VM types against those there are.
func (class *Class) checkTypes(c *strict.Checker, types []string) {
	if types == nil {
		return
	}
	known := checkTypeNames(c, "slots_per_vm", class.SlotsPerVM.ByType, types)
	known = checkTypeNames(c, "speed", class.Speed, types) && known
	if known && len(types) > 0 && !slices.ContainsFunc(types, class.RunsOn) {
		c.Refuse("", "no_type", "The class runs on none of the VM types; give its \"slots_per_vm\" on one at least, and a speed above 0 there.")
	}
}

// checkTypeNames is false where something is said of a type that is not there.
func checkTypeNames[T any](c *strict.Checker, member string, said map[string]T, types []string) (known bool) {
	if len(said) > 0 && len(types) == 0 {
		c.Refuse(member, "unknown_name", "The problem has one kind of VM, which has no name, so that %q cannot speak of types; say it without one, or give the supply's \"vm_types\".", member)
		return false
	}
	c.Enter(member)
	defer c.Leave()
	known = true
	for _, vmType := range slices.Sorted(maps.Keys(said)) {
		if !slices.Contains(types, vmType) {
			c.Found(vmType, "unknown_name", fmt.Sprintf("The supply has no VM type %q; leave it out, or add the type to \"vm_types\".", fault.Clip(vmType)), fault.DidYouMean(vmType, types))
			known = false
		}
	}
	return known
}
