package proof

import (
	"context"
	"math"
	"testing"

	"github.com/shopspring/decimal"

	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/money"
	"example.org/headroom/internal/core/plan"
)

// twoTypes has classes of each kind, one of them spread over both types, contracts on both, a quota, speeds, slots by
// type and a budget.
func twoTypes() capacity.Problem {
	p := mixed()
	small := capacity.VMTypeSupply{Name: "small", Contracts: p.Supply.Contracts, OnDemand: capacity.OnDemand{Price: cash("0.20"), Quota: pointer(int64(2))}}
	large := capacity.VMTypeSupply{Name: "large", Contracts: []capacity.Contract{{Name: "large-used", VMs: 3, Price: cash("0.31"), Billing: capacity.BilledUsed}},
		OnDemand: capacity.OnDemand{Price: cash("0.44")}}
	p.Supply = capacity.Supply{VMTypes: []capacity.VMTypeSupply{small, large}}
	p.Classes[0].Speed = capacity.Speed{"large": 1.75}
	p.Classes[0].Jobs.Max = 6
	p.Classes[1].SlotsPerVM = capacity.SlotsPerVM{ByType: map[string]capacity.SlotsPerVM{"small": {Map: 4, Reduce: 3}, "large": {Map: 4, Reduce: 4}}}
	p.Classes[2].Speed = capacity.Speed{"small": 1, "large": 0.5}
	cost, total := cash("6.50"), cash("8.00")
	p.Budget = &capacity.Budget{VMCost: &cost, Total: &total}
	return p
}

// spotted has one type with spot VMs.
func spotted() capacity.Problem {
	p := mixed()
	p.Supply.Spot = &capacity.Spot{Price: cash("0.09"), MaxShare: 0.3}
	return p
}

func TestRightFleetPlansAreAccepted(t *testing.T) {
	for _, pair := range []struct {
		p  capacity.Problem
		pl capacity.Plan
	}{{twoTypes(), planned(t, twoTypes())}, {twoTypes(), enumerated(t, twoTypes())}, {spotted(), enumerated(t, spotted())}} {
		p, pl := pair.p, pair.pl
		r := accepted(t, p, pl)
		for _, name := range []string{ProblemCheck, ShapeCheck, ConversionCheck, DeadlinesCheck, CapacityCheck, LayoutCheck, RentalCheck,
			MoneyCheck, CertificateCheck, BoundCheck, OptimalityCheck} {
			if c, ok := r.Find(name); !ok || c.Outcome != OK || c.Detail == "" {
				t.Errorf("check %s: got %+v, want ok with a sentence", name, c)
			}
		}
		accepted(t, p, clone(pl))
	}
}

// planned returns the product's plan.
func planned(t testing.TB, p capacity.Problem) capacity.Plan {
	t.Helper()
	p.Options.Engine = capacity.EngineExact
	pl, err := plan.Solve(context.Background(), p, nil)
	if err != nil {
		t.Fatal(err)
	}
	return pl
}

// enumerated returns the plan found by trying all.
func enumerated(t testing.TB, p capacity.Problem) capacity.Plan {
	t.Helper()
	pl, found, _ := newFleetPlanner(p).plan()
	if !found {
		t.Fatal("the test's planner finds no plan")
	}
	return pl
}

// split returns the class that runs on both types.
func split(pl *capacity.Plan) *capacity.ClassPlan {
	for i := range pl.Classes {
		if len(pl.Classes[i].Types) == 2 {
			return &pl.Classes[i]
		}
	}
	panic("no class runs on both types")
}

var fleetCorruptions = []corruption{
	{"a class is missing", ShapeCheck, func(_ *capacity.Problem, pl *capacity.Plan) { pl.Classes = pl.Classes[:2] }},
	{"a type of the VMs is missing", ShapeCheck, func(_ *capacity.Problem, pl *capacity.Plan) { pl.VMs.Types = pl.VMs.Types[:1] }},
	{"two types of the VMs are swapped", ShapeCheck, func(_ *capacity.Problem, pl *capacity.Plan) {
		pl.VMs.Types[0], pl.VMs.Types[1] = pl.VMs.Types[1], pl.VMs.Types[0]
	}},
	{"no types at all", ShapeCheck, func(_ *capacity.Problem, pl *capacity.Plan) { split(pl).Types = nil }},
	{"a class on a type that is not there", ShapeCheck, func(_ *capacity.Problem, pl *capacity.Plan) { split(pl).Types[0].VMType = "huge" }},
	{"a class twice on a type", ShapeCheck, func(_ *capacity.Problem, pl *capacity.Plan) { split(pl).Types[1] = split(pl).Types[0] }},
	{"types in another order", ShapeCheck, func(_ *capacity.Problem, pl *capacity.Plan) {
		c := split(pl)
		c.Types[0], c.Types[1] = c.Types[1], c.Types[0]
	}},
	{"a job lost between the types", ShapeCheck, func(_ *capacity.Problem, pl *capacity.Plan) { split(pl).Types[0].Admitted-- }},
	{"a job too many on all types", ShapeCheck, func(_ *capacity.Problem, pl *capacity.Plan) { split(pl).Admitted++ }},
	{"half a job on a type", ShapeCheck, func(_ *capacity.Problem, pl *capacity.Plan) {
		split(pl).Types[0].Admitted -= 0.5
		split(pl).Types[1].Admitted += 0.5
	}},
	{"VMs lost between the types", ShapeCheck, func(_ *capacity.Problem, pl *capacity.Plan) { split(pl).VMs += 0.001 }},
	{"map slots lost between the types", ShapeCheck, func(_ *capacity.Problem, pl *capacity.Plan) { split(pl).Slots.Map++ }},
	{"reduce slots lost between the types", ShapeCheck, func(_ *capacity.Problem, pl *capacity.Plan) { split(pl).Slots.Reduce-- }},
	{"a type that the class cannot run on", ShapeCheck, func(p *capacity.Problem, pl *capacity.Plan) {
		p.Classes[0].Speed = capacity.Speed{"large": 1.75, "small": 0}
	}},
	{"infinite VMs of a type", ShapeCheck, func(_ *capacity.Problem, pl *capacity.Plan) { pl.VMs.Types[1].Total = math.Inf(1) }},
	{"no number of jobs on a type", ShapeCheck, func(_ *capacity.Problem, pl *capacity.Plan) { split(pl).Types[1].Admitted = math.NaN() }},
	{"gamma off on a type", ConversionCheck, func(_ *capacity.Problem, pl *capacity.Plan) { split(pl).Types[1].VMsPerJob *= 1 + 1e-6 }},
	{"gamma off on average", ConversionCheck, func(_ *capacity.Problem, pl *capacity.Plan) { split(pl).VMsPerJob *= 1 + 1e-6 }},
	{"another speed", ConversionCheck, func(p *capacity.Problem, pl *capacity.Plan) { p.Classes[0].Speed = capacity.Speed{"large": 1.76} }},
	{"other slots on a type", ConversionCheck, func(p *capacity.Problem, pl *capacity.Plan) {
		p.Classes[0].SlotsPerVM = capacity.SlotsPerVM{ByType: map[string]capacity.SlotsPerVM{"small": {Map: 2, Reduce: 2}, "large": {Map: 2, Reduce: 3}}}
	}},
	{"a share off on a type", ConversionCheck, func(_ *capacity.Problem, pl *capacity.Plan) {
		split(pl).Types[1].VMs += 0.01
		split(pl).VMs += 0.01
	}},
	{"a map slot too few on a type", DeadlinesCheck, func(_ *capacity.Problem, pl *capacity.Plan) {
		split(pl).Types[1].Slots.Map--
		split(pl).Slots.Map--
	}},
	{"a reduce slot too few on a type", DeadlinesCheck, func(_ *capacity.Problem, pl *capacity.Plan) {
		split(pl).Types[0].Slots.Reduce--
		split(pl).Slots.Reduce--
	}},
	{"a time off on a type", DeadlinesCheck, func(_ *capacity.Problem, pl *capacity.Plan) { *split(pl).Types[0].Time.Average *= 1 + 1e-6 }},
	{"a time not given on a type", DeadlinesCheck, func(_ *capacity.Problem, pl *capacity.Plan) { split(pl).Types[1].Time = nil }},
	{"the time of the faster type", DeadlinesCheck, func(_ *capacity.Problem, pl *capacity.Plan) {
		c := split(pl)
		if *c.Time.Average == *c.Types[0].Time.Average {
			c.Time = c.Types[1].Time
		} else {
			c.Time = c.Types[0].Time
		}
	}},
	{"no time for the class", DeadlinesCheck, func(_ *capacity.Problem, pl *capacity.Plan) { split(pl).Time = nil }},
	{"no slots for the class", ShapeCheck, func(_ *capacity.Problem, pl *capacity.Plan) { split(pl).Slots = nil }},
	{"one VM fewer of a type", CapacityCheck, func(_ *capacity.Problem, pl *capacity.Plan) { fewer(pl, 1) }},
	{"rounding of a type that does not close the sum", CapacityCheck, func(_ *capacity.Problem, pl *capacity.Plan) { pl.VMs.Types[0].Rounding += 0.001 }},
	{"rounding of all that does not", CapacityCheck, func(_ *capacity.Problem, pl *capacity.Plan) { pl.VMs.Rounding += 0.001 }},
	{"a total that is not its types'", RentalCheck, func(_ *capacity.Problem, pl *capacity.Plan) { pl.VMs.Total++ }},
	{"reserved VMs that are not the types'", RentalCheck, func(_ *capacity.Problem, pl *capacity.Plan) { pl.VMs.Reserved-- }},
	{"VMs on demand that are not the types'", RentalCheck, func(_ *capacity.Problem, pl *capacity.Plan) { pl.VMs.OnDemand++ }},
	{"spot VMs that are not the types'", RentalCheck, func(_ *capacity.Problem, pl *capacity.Plan) { pl.VMs.Spot++ }},
	{"spot VMs of a type without any", RentalCheck, func(_ *capacity.Problem, pl *capacity.Plan) {
		pl.VMs.Types[0].Spot, pl.VMs.Types[0].OnDemand = 1, pl.VMs.Types[0].OnDemand-1
		pl.VMs.Spot, pl.VMs.OnDemand = 1, pl.VMs.OnDemand-1
	}},
	{"a contract of the other type", RentalCheck, func(_ *capacity.Problem, pl *capacity.Plan) { pl.VMs.Contracts[0].VMType = "large" }},
	{"a contract of a stranger", RentalCheck, func(_ *capacity.Problem, pl *capacity.Plan) { pl.VMs.Contracts[0].VMType = "huge" }},
	{"two contracts swapped", RentalCheck, func(_ *capacity.Problem, pl *capacity.Plan) {
		c := pl.VMs.Contracts
		c[0], c[1] = c[1], c[0]
	}},
	{"another size of a contract", RentalCheck, func(_ *capacity.Problem, pl *capacity.Plan) { pl.VMs.Contracts[2].VMs++ }},
	{"more of a contract than it has", RentalCheck, func(_ *capacity.Problem, pl *capacity.Plan) {
		pl.VMs.Contracts[0].Used += 2
		pl.VMs.Contracts[1].Used -= 2
	}},
	{"half a VM", RentalCheck, func(_ *capacity.Problem, pl *capacity.Plan) {
		pl.VMs.Contracts[0].Used -= 0.5
		pl.VMs.Contracts[1].Used += 0.5
	}},
	{"beyond the quota of a type", RentalCheck, func(p *capacity.Problem, pl *capacity.Plan) {
		p.Supply.VMTypes[0].OnDemand.Quota = pointer(int64(pl.VMs.Types[0].OnDemand) - 1)
	}},
	{"dearer VMs while cheaper ones of the type idle", RentalCheck, func(_ *capacity.Problem, pl *capacity.Plan) {
		pl.VMs.Contracts[2].Used--
		pl.VMs.Types[1].Reserved--
		pl.VMs.Types[1].OnDemand++
		pl.VMs.Reserved--
		pl.VMs.OnDemand++
	}},
	{"the cost on demand off by a billionth", MoneyCheck, func(_ *capacity.Problem, pl *capacity.Plan) { plus(&pl.Cost.OnDemand, "0.000000001") }},
	{"a cost of spot VMs without any", MoneyCheck, func(_ *capacity.Problem, pl *capacity.Plan) { plus(&pl.Cost.Spot, "0.01") }},
	{"the reserved cost off", MoneyCheck, func(_ *capacity.Problem, pl *capacity.Plan) { plus(&pl.Cost.Reserved, "-0.01") }},
	{"idle VMs charged that are not", MoneyCheck, func(_ *capacity.Problem, pl *capacity.Plan) { plus(&pl.Cost.ReservedIdle, "0.07") }},
	{"a wrong penalty", MoneyCheck, func(_ *capacity.Problem, pl *capacity.Plan) { plus(&pl.Cost.Penalties, "-0.10") }},
	{"a wrong total", MoneyCheck, func(_ *capacity.Problem, pl *capacity.Plan) { plus(&pl.Cost.Total, "0.01") }},
	{"a wrong objective", MoneyCheck, func(_ *capacity.Problem, pl *capacity.Plan) { plus(&pl.Objective, "-0.01") }},
	{"a month of 720 hours", MoneyCheck, func(_ *capacity.Problem, pl *capacity.Plan) {
		pl.Cost.PerMonth.Decimal = pl.Cost.PerHour.Mul(decimal.NewFromInt(720))
	}},
	{"another price than was paid", MoneyCheck, func(p *capacity.Problem, _ *capacity.Plan) {
		p.Supply.VMTypes[1].OnDemand.Price = cash("0.45")
		p.Supply.VMTypes[1].Contracts[0].Price = cash("0.32")
	}},
	{"a budget for VMs that is broken", BudgetCheck, func(p *capacity.Problem, pl *capacity.Plan) {
		less := money.Amount{Decimal: pl.Cost.Total.Sub(pl.Cost.Penalties.Decimal).Sub(cash("0.01").Decimal)}
		p.Budget = &capacity.Budget{VMCost: &less}
	}},
	{"a budget for everything that is broken", BudgetCheck, func(p *capacity.Problem, pl *capacity.Plan) {
		less := money.Amount{Decimal: pl.Cost.Total.Sub(cash("0.01").Decimal)}
		p.Budget = &capacity.Budget{Total: &less}
	}},
	{"a bound above the plan", CertificateCheck, func(_ *capacity.Problem, pl *capacity.Plan) { plus(&pl.Proof.Bound, "0.01") }},
	{"a gap that is not the distance to the bound", CertificateCheck, func(_ *capacity.Problem, pl *capacity.Plan) { plus(&pl.Proof.Bound, "-0.01") }},
	{"no proof", CertificateCheck, func(_ *capacity.Problem, pl *capacity.Plan) { pl.Proof = nil }},
	{"a layout of a stranger's type", LayoutCheck, func(_ *capacity.Problem, pl *capacity.Plan) { pl.Layout[0].VMType = "huge" }},
	{"a layout line on the other type", LayoutCheck, func(_ *capacity.Problem, pl *capacity.Plan) {
		pl.Layout[0].VMType = map[string]string{"small": "large", "large": "small"}[pl.Layout[0].VMType]
	}},
	{"a VM forgotten in the layout", LayoutCheck, func(_ *capacity.Problem, pl *capacity.Plan) { pl.Layout = pl.Layout[1:] }},
	{"a VM that carries too much", LayoutCheck, func(_ *capacity.Problem, pl *capacity.Plan) { pl.Layout[0].Slots[0].Map += 9 }},
	{"a relaxation that is too good", RelaxationCheck, func(_ *capacity.Problem, pl *capacity.Plan) { plus(&pl.Relaxed.Objective, "-0.001") }},
	{"a relaxation that is too bad", RelaxationCheck, func(_ *capacity.Problem, pl *capacity.Plan) { plus(&pl.Relaxed.Objective, "0.001") }},
	{"a relaxation without its capacity", RelaxationCheck, func(_ *capacity.Problem, pl *capacity.Plan) { pl.Relaxed.Capacity = 1 }},
	{"relaxed jobs beyond the demand", RelaxationCheck, func(_ *capacity.Problem, pl *capacity.Plan) { pl.Relaxed.Jobs[0] += 9 }},
	{"relaxed jobs that cost more", RelaxationCheck, func(_ *capacity.Problem, pl *capacity.Plan) { pl.Relaxed.Jobs[0]-- }},
	{"a wrong price of a type", PricesCheck, func(_ *capacity.Problem, pl *capacity.Plan) { plus(&pl.Prices.Types[0].Low, "-0.01") }},
	{"a wrong price of the other type", PricesCheck, func(_ *capacity.Problem, pl *capacity.Plan) { plus(pl.Prices.Types[1].High, "0.01") }},
	{"prices of capacity of no type", PricesCheck, func(_ *capacity.Problem, pl *capacity.Plan) { plus(&pl.Prices.Capacity.Low, "-0.01") }},
	{"no price where more can be had", PricesCheck, func(_ *capacity.Problem, pl *capacity.Plan) { pl.Prices.Types[1].High = nil }},
	{"prices of two types swapped", PricesCheck, func(_ *capacity.Problem, pl *capacity.Plan) {
		pl.Prices.Types[0], pl.Prices.Types[1] = pl.Prices.Types[1], pl.Prices.Types[0]
	}},
	{"a contract worth more than it is", PricesCheck, func(_ *capacity.Problem, pl *capacity.Plan) { plus(&pl.Prices.Contracts[0].Worth, "0.01") }},
	{"another worth of the budget", PricesCheck, func(_ *capacity.Problem, pl *capacity.Plan) {
		pl.Prices.Budget = pointer(cash("1.25"))
	}},
}

// fewer removes a VM of a type.
func fewer(pl *capacity.Plan, v int) {
	x := &pl.VMs.Types[v]
	x.Total, x.Rounding = x.Total-1, x.Rounding-1
	pl.VMs.Total, pl.VMs.Rounding = pl.VMs.Total-1, pl.VMs.Rounding-1
	if x.OnDemand > 0 {
		x.OnDemand--
		pl.VMs.OnDemand--
		return
	}
	x.Reserved--
	pl.VMs.Reserved--
	for k := range pl.VMs.Contracts {
		if u := &pl.VMs.Contracts[k]; u.VMType == x.Name && u.Used > 0 {
			u.Used--
			return
		}
	}
}

var spotCorruptions = []corruption{
	{"more spot VMs than their share", RentalCheck, func(_ *capacity.Problem, pl *capacity.Plan) {
		pl.VMs.Spot++
		pl.VMs.Reserved--
		pl.VMs.Contracts[1].Used--
	}},
	{"a smaller share", RentalCheck, func(p *capacity.Problem, _ *capacity.Plan) {
		p.Supply.Spot = &capacity.Spot{Price: cash("0.09"), MaxShare: 0.1}
	}},
	{"steady VMs where spot is cheaper", RentalCheck, func(_ *capacity.Problem, pl *capacity.Plan) {
		pl.VMs.Spot--
		pl.VMs.OnDemand++
	}},
	{"half a spot VM", RentalCheck, func(_ *capacity.Problem, pl *capacity.Plan) {
		pl.VMs.Spot -= 0.5
		pl.VMs.OnDemand += 0.5
	}},
	{"spot VMs that nobody offers", RentalCheck, func(p *capacity.Problem, _ *capacity.Plan) {
		p.Supply.Spot = &capacity.Spot{Price: cash("0.09")}
	}},
	{"the cost of spot VMs off", MoneyCheck, func(_ *capacity.Problem, pl *capacity.Plan) { plus(&pl.Cost.Spot, "0.01") }},
	{"another price of spot VMs", MoneyCheck, func(p *capacity.Problem, _ *capacity.Plan) {
		p.Supply.Spot = &capacity.Spot{Price: cash("0.08"), MaxShare: 0.3}
	}},
	{"types where there are none", ShapeCheck, func(_ *capacity.Problem, pl *capacity.Plan) { pl.VMs.Types = []capacity.TypeVMs{{Name: "small"}} }},
	{"a class on types where there are none", ShapeCheck, func(_ *capacity.Problem, pl *capacity.Plan) {
		pl.Classes[0].Types = []capacity.ClassOnType{{VMType: "small"}}
	}},
	{"a contract's type where there are none", ShapeCheck, func(_ *capacity.Problem, pl *capacity.Plan) { pl.VMs.Contracts[0].VMType = "small" }},
	{"a layout's type where there are none", ShapeCheck, func(_ *capacity.Problem, pl *capacity.Plan) { pl.Layout[0].VMType = "small" }},
}

func TestCorruptedFleetPlansAreRefusedByTheRightCheck(t *testing.T) {
	for _, base := range []struct {
		p           func() capacity.Problem
		right       capacity.Plan
		corruptions []corruption
	}{{twoTypes, planned(t, twoTypes()), fleetCorruptions}, {spotted, enumerated(t, spotted()), spotCorruptions}} {
		right := base.right
		accepted(t, base.p(), right)
		for _, c := range base.corruptions {
			t.Run(c.name, func(t *testing.T) {
				p, pl := base.p(), clone(right)
				c.spoil(&p, &pl)
				refused(t, p, pl, c.check)
			})
		}
	}
}
