package capacity

import (
	"fmt"
	"maps"
	"slices"
)

func (s Supply) check(c *checker) {
	if len(s.VMTypes) == 0 {
		s.Types()[0].check(c, map[string]string{})
		return
	}
	for _, beside := range [...]struct {
		name  string
		given bool
	}{
		{"contracts", s.Contracts != nil}, {"on_demand", s.OnDemand.Quota != nil || !s.OnDemand.Price.IsZero()}, {"spot", s.Spot != nil},
	} {
		if beside.given {
			c.refuse(beside.name, "not_here", "%s", besideTypes(beside.name))
		}
	}
	c.enter("vm_types")
	named := make(names, len(s.VMTypes))
	contracts := map[string]string{}
	for i, t := range s.VMTypes {
		c.element(i)
		c.name(t.Name)
		named.add(c, "VM type", t.Name, i)
		t.check(c, contracts)
		c.leave()
	}
	c.leave()
}

// check checks what a type offers; owners is which type has a contract of a name so far.
func (t VMTypeSupply) check(c *checker, owners map[string]string) {
	c.enter("contracts")
	named := make(names, len(t.Contracts))
	for i, contract := range t.Contracts {
		c.element(i)
		c.name(contract.Name)
		if owner, elsewhere := owners[contract.Name]; elsewhere && contract.Name != "" {
			c.refuse("name", "duplicate_name", "The VM type %q has a contract called %q as well; give each contract a name of its own, whatever its type.", clip(owner), clip(contract.Name))
		} else {
			named.add(c, "contract", contract.Name, i)
		}
		c.whole("vms", "The number of VMs", "VMs", contract.VMs, 0, MaxVMs)
		c.money("price", "The price", contract.Price)
		oneOf(c, "billing", contract.Billing, billings)
		c.leave()
	}
	for name := range named {
		owners[name] = t.Name
	}
	c.leave()
	c.enter("on_demand")
	c.money("price", "The price", t.OnDemand.Price)
	if t.OnDemand.Quota != nil {
		c.whole("quota", "The quota", "VMs, or null for no limit", *t.OnDemand.Quota, 0, MaxVMs)
	}
	c.leave()
	if t.Spot != nil {
		c.enter("spot")
		c.money("price", "The price", t.Spot.Price)
		c.number("max_share", "The share of spot VMs", "", t.Spot.MaxShare, 1)
		c.leave()
	}
}

func (b Budget) check(c *checker) {
	if b.VMCost != nil {
		c.money("vm_cost", "The budget for VMs", *b.VMCost)
	}
	if b.Total != nil {
		c.money("total", "The budget", *b.Total)
	}
}

func (s SlotsPerVM) check(c *checker) {
	if s.ByType == nil {
		c.whole("map", "The number of map slots", "slots per VM", s.Map, 1, MaxSlotsPerVM)
		c.whole("reduce", "The number of reduce slots", "slots per VM", s.Reduce, 1, MaxSlotsPerVM)
		return
	}
	for _, vmType := range slices.Sorted(maps.Keys(s.ByType)) {
		c.enter(vmType)
		on := s.ByType[vmType]
		on.ByType = nil
		on.check(c)
		c.leave()
	}
}

func (s Speed) check(c *checker) {
	c.enter("speed")
	for _, vmType := range slices.Sorted(maps.Keys(s)) {
		if speed := s[vmType]; c.number(vmType, "The speed", "", speed, MaxSpeed) && speed > 0 && speed < MinSpeed {
			c.refuse(vmType, "range", "The speed is %s; it must be at least %s, or 0 where the class does not run on the type.", plain(speed), plain(MinSpeed))
		}
	}
	c.leave()
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

// byType says whether the class says anything about single VM types.
func (class *Class) byType() bool { return class.SlotsPerVM.ByType != nil || class.Speed != nil }

// fleet is the names of the VM types that classes can speak of; none where there is a single kind.
// It is nil where a fault of the supply keeps them from being known.
func (s Supply) fleet(c *checker) []string {
	if c.covered != nil && (c.covered(c.at("vm_types")) || c.covered(c.at("on_demand")) && len(s.VMTypes) == 0) {
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
func (class *Class) checkTypes(c *checker, types []string) {
	if types == nil {
		return
	}
	known := checkTypeNames(c, "slots_per_vm", class.SlotsPerVM.ByType, types)
	known = checkTypeNames(c, "speed", class.Speed, types) && known
	if known && len(types) > 0 && !slices.ContainsFunc(types, class.RunsOn) {
		c.refuse("", "no_type", "The class runs on none of the VM types; give its \"slots_per_vm\" on one at least, and a speed above 0 there.")
	}
}

// checkTypeNames is false where something is said of a type that is not there.
func checkTypeNames[T any](c *checker, member string, said map[string]T, types []string) (known bool) {
	if len(said) > 0 && len(types) == 0 {
		c.refuse(member, "unknown_name", "The problem has one kind of VM, which has no name, so that %q cannot speak of types; say it without one, or give the supply's \"vm_types\".", member)
		return false
	}
	c.enter(member)
	defer c.leave()
	known = true
	for _, vmType := range slices.Sorted(maps.Keys(said)) {
		if !slices.Contains(types, vmType) {
			c.found(vmType, "unknown_name", fmt.Sprintf("The supply has no VM type %q; leave it out, or add the type to \"vm_types\".", clip(vmType)), didYouMean(vmType, types))
			known = false
		}
	}
	return known
}
