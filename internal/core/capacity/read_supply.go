package capacity

import (
	"fmt"

	"example.org/headroom/internal/core/money"
	"example.org/headroom/internal/core/strict"
)

var (
	supplyShape = strict.NewShape("the supply", nil, "contracts", "on_demand", "spot", "vm_types").Elsewhere(schedulesAlone, "start")
	vmTypeShape = strict.NewShape("a VM type", []string{"name", "on_demand"}, "contracts", "spot").Elsewhere(schedulesAlone, "start")
	// With starts, where schedules are asked for.
	startSupplyShape = strict.NewShape("the supply", nil, "contracts", "on_demand", "spot", "vm_types", "start")
	startVMTypeShape = strict.NewShape("a VM type", []string{"name", "on_demand"}, "contracts", "spot", "start")
	vmStartShape     = strict.NewShape("what starting a VM costs", nil, "price", "lead_s", "min_billed_s")
	contractShape    = strict.NewShape("a contract", []string{"name", "vms", "price"}, "billing")
	onDemandShape    = strict.NewShape("on-demand supply", []string{"price"}, "quota")
	spotShape        = strict.NewShape("spot supply", []string{"price", "max_share"})
	budgetShape      = strict.NewShape("the budget", nil, "vm_cost", "total")
)

// readSupply reads either form: one kind of VM, or vm_types and then nothing else.
func readSupply(r *strict.Reader, s *Supply, limits Limits) {
	isObject, shape := r.Space() == '{', supplyShape
	if limits.Start {
		shape = startSupplyShape
	}
	had := r.Object(shape, func(name string) {
		switch name {
		case "contracts":
			s.Contracts = strict.List(r, "of contracts", limits.Contracts, ReadContract)
		case "on_demand":
			readOnDemand(r, &s.OnDemand)
		case "spot":
			s.Spot = new(Spot)
			readSpot(r, s.Spot)
		case "start":
			s.Start = readVMStart(r)
		case "vm_types":
			readVmTypes(r, s, limits)
		}
	})
	switch {
	case !isObject:
	case had.Has(shape, "vm_types"):
		for _, name := range [...]string{"contracts", "on_demand", "spot", "start"} {
			if (limits.Start || name != "start") && had.Has(shape, name) {
				r.Enter(name)
				r.Found("not_here", besideTypes(name), nil)
				r.Leave()
			}
		}
	case !had.Has(shape, "on_demand"):
		r.Missing("on_demand", "the supply")
	}
}

// besideTypes is the sentence about a member of the supply that belongs into its types.
func besideTypes(name string) string {
	return fmt.Sprintf("With \"vm_types\" every type has its own %q; move this one into the type it is for.", name)
}

func readVmTypes(r *strict.Reader, s *Supply, limits Limits) {
	isArray := r.Space() == '['
	s.VMTypes = strict.List(r, "of VM types", limits.VMTypes, func(r *strict.Reader, t *VMTypeSupply) { ReadVMType(r, t, limits) })
	if isArray && len(s.VMTypes) == 0 {
		r.Found("missing", "There is no VM type; give at least one.", nil)
	}
	contracts := 0
	for _, t := range s.VMTypes {
		contracts += len(t.Contracts)
	}
	r.TooMany("contracts", contracts, limits.Contracts)
}

func ReadVMType(r *strict.Reader, t *VMTypeSupply, limits Limits) {
	shape := vmTypeShape
	if limits.Start {
		shape = startVMTypeShape
	}
	r.Object(shape, func(name string) {
		switch name {
		case "name":
			t.Name, _ = r.Text()
		case "contracts":
			t.Contracts = strict.List(r, "of contracts", limits.Contracts, ReadContract)
		case "on_demand":
			readOnDemand(r, &t.OnDemand)
		case "spot":
			t.Spot = new(Spot)
			readSpot(r, t.Spot)
		case "start":
			t.Start = readVMStart(r)
		}
	})
}

func ReadContract(r *strict.Reader, c *Contract) {
	c.Billing = BilledUsed
	r.Object(contractShape, func(name string) { ReadContractMember(r, name, c) })
}

func ReadContractMember(r *strict.Reader, name string, c *Contract) {
	switch name {
	case "name":
		c.Name, _ = r.Text()
	case "vms":
		r.Whole(&c.VMs)
	case "price":
		money.Read(r, &c.Price)
	case "billing":
		strict.Word(r, &c.Billing, Billings)
	}
}

func readOnDemand(r *strict.Reader, o *OnDemand) {
	r.Object(onDemandShape, func(name string) {
		switch name {
		case "price":
			money.Read(r, &o.Price)
		case "quota":
			if r.Sees("null") { // unlimited
				r.Skip()
				return
			}
			o.Quota = new(int64)
			r.Whole(o.Quota)
		}
	})
}

func readSpot(r *strict.Reader, s *Spot) {
	r.Object(spotShape, func(name string) {
		if name == "price" {
			money.Read(r, &s.Price)
		} else {
			r.Float(&s.MaxShare)
		}
	})
}

func readVMStart(r *strict.Reader) *VMStart {
	s := new(VMStart)
	r.Object(vmStartShape, func(name string) {
		switch name {
		case "price":
			money.Read(r, &s.Price)
		case "lead_s":
			r.Float(&s.LeadSeconds)
		default:
			r.Float(&s.MinBilledSeconds)
		}
	})
	return s
}

func readBudget(r *strict.Reader, b *Budget) {
	r.Object(budgetShape, func(name string) {
		if r.Sees("null") { // unlimited
			r.Skip()
			return
		}
		amount := new(money.Amount)
		money.Read(r, amount)
		if name == "vm_cost" {
			b.VMCost = amount
		} else {
			b.Total = amount
		}
	})
}

// readSlotsPerVM reads either form: slots, or slots by type.
func readSlotsPerVM(r *strict.Reader, s *SlotsPerVM) {
	if r.HoldsObjects() {
		s.ByType = strict.Named(r, "of slots per VM by VM type", "VM type", MaxVMTypes, ReadSlotsOnVM)
		return
	}
	ReadSlotsOnVM(r, s)
}

func ReadSlotsOnVM(r *strict.Reader, s *SlotsPerVM) {
	r.Object(slotsShape, func(name string) {
		if name == "map" {
			r.Whole(&s.Map)
		} else {
			r.Whole(&s.Reduce)
		}
	})
}

// UnmarshalJSON reads either form, strictly.
func (s *SlotsPerVM) UnmarshalJSON(text []byte) error {
	r := strict.NewReader(text)
	*s = SlotsPerVM{}
	readSlotsPerVM(r, s)
	return r.Result(func(*strict.Checker) {})
}
