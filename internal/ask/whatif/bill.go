package whatif

import (
	"github.com/shopspring/decimal"

	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/money"
)

// use holds the rented VMs of one type and the jobs that run on them.
type use struct {
	vmType         string    // "" in a problem of one kind of machine
	contracts      []float64 // used, in the order of the type's contracts
	onDemand, spot float64
	jobs, vms      []float64 // by class of the problem: admitted jobs, and their share of the VMs
}

func (u *use) total() float64 {
	sum := u.onDemand + u.spot
	for _, n := range u.contracts {
		sum += n
	}
	return sum
}

// usesOf takes a plan apart by VM type.
func usesOf(p *capacity.Problem, pl *capacity.Plan) []use {
	types := p.Supply.Types()
	uses := make([]use, len(types))
	contract := 0
	for t := range types {
		u := &uses[t]
		*u = use{vmType: types[t].Name, contracts: make([]float64, len(types[t].Contracts)), jobs: make([]float64, len(p.Classes)), vms: make([]float64, len(p.Classes))}
		for k := range u.contracts {
			u.contracts[k] = pl.VMs.Contracts[contract].Used // of all types, in the problem's order
			contract++
		}
		if len(p.Supply.VMTypes) == 0 {
			u.onDemand, u.spot = pl.VMs.OnDemand, pl.VMs.Spot
			for i := range pl.Classes {
				u.jobs[i], u.vms[i] = pl.Classes[i].Admitted, pl.Classes[i].VMs
			}
			continue
		}
		for _, of := range pl.VMs.Types {
			if of.Name == u.vmType {
				u.onDemand, u.spot = of.OnDemand, of.Spot
			}
		}
		for i := range pl.Classes {
			for _, on := range pl.Classes[i].Types {
				if on.VMType == u.vmType {
					u.jobs[i], u.vms[i] = on.Admitted, on.VMs
				}
			}
		}
	}
	return uses
}

// bill holds the cost of decisions per period, in the lines of a plan's cost.
type bill struct {
	onDemand, spot, reserved, idle, penalties money.Amount

	paid   []decimal.Decimal // per hour for the VMs in use, by type
	hourly decimal.Decimal   // for all VMs, not rounded
}

// billOf returns the cost of renting and admitting just this at a problem's figures.
func billOf(p *capacity.Problem, uses []use) bill {
	b := bill{paid: make([]decimal.Decimal, len(uses))}
	rented, spot, reserved, idle := decimal.Zero, decimal.Zero, decimal.Zero, decimal.Zero
	for t, of := range p.Supply.Types() {
		u := &uses[t]
		b.paid[t] = of.OnDemand.Price.Mul(decimal.NewFromFloat(u.onDemand))
		rented = rented.Add(b.paid[t])
		if of.Spot != nil {
			interruptible := of.Spot.Price.Mul(decimal.NewFromFloat(u.spot))
			spot, b.paid[t] = spot.Add(interruptible), b.paid[t].Add(interruptible)
		}
		for k, c := range of.Contracts {
			n := decimal.NewFromFloat(u.contracts[k])
			used := c.Price.Mul(n)
			reserved, b.paid[t] = reserved.Add(used), b.paid[t].Add(used)
			if c.Billing == capacity.BilledAlways {
				idle = idle.Add(c.Price.Mul(decimal.NewFromInt(c.VMs).Sub(n)))
			}
		}
	}
	var penalties money.Tally
	for i := range p.Classes {
		penalties.Add(p.Classes[i].Penalty, p.Classes[i].Jobs.Max-jobsOf(uses, i))
	}
	b.onDemand, b.spot, b.reserved, b.idle = perPeriodRate(p, rented), perPeriodRate(p, spot), perPeriodRate(p, reserved), perPeriodRate(p, idle)
	b.penalties = money.Amount{Decimal: penalties.Value().Round(money.Places)}
	b.hourly = rented.Add(spot).Add(reserved).Add(idle)
	return b
}

// perPeriodRate is an amount per hour as one per period, rounded once.
func perPeriodRate(p *capacity.Problem, perHour decimal.Decimal) money.Amount {
	return money.Amount{Decimal: perHour.Mul(decimal.NewFromInt(p.PeriodSeconds)).DivRound(decimal.NewFromInt(3600), money.Places)}
}

func jobsOf(uses []use, class int) float64 {
	sum := 0.0
	for t := range uses {
		sum += uses[t].jobs[class]
	}
	return sum
}

// vmCost returns the cost of all VMs, idle ones included.
func (b *bill) vmCost() decimal.Decimal {
	return b.onDemand.Add(b.spot.Decimal).Add(b.reserved.Decimal).Add(b.idle.Decimal)
}

func (b *bill) total() money.Amount {
	return money.Amount{Decimal: b.vmCost().Add(b.penalties.Decimal)}
}

// classLine is a class's share of the VMs in use, and this with its penalties.
type classLine struct{ bill, all money.Amount }

// byClass shares the VMs in use out by the classes' shares, type by type, and adds the penalties. What is
// left of the total belongs to no class.
func (b *bill) byClass(p *capacity.Problem, uses []use, total money.Amount) (classes []classLine, shared money.Amount) {
	classes = make([]classLine, len(p.Classes))
	rest := total.Decimal
	for i := range p.Classes {
		sum := decimal.Zero
		for t := range uses {
			if vms, all := uses[t].vms[i], uses[t].total(); vms > 0 && all > 0 {
				share := b.paid[t].Mul(decimal.NewFromFloat(vms)).DivRound(decimal.NewFromFloat(all), 2*money.Places)
				sum = sum.Add(perPeriodRate(p, share).Decimal)
			}
		}
		refused := decimal.NewFromFloat(p.Classes[i].Jobs.Max - jobsOf(uses, i))
		classes[i] = classLine{money.Amount{Decimal: sum}, money.Amount{Decimal: sum.Add(p.Classes[i].Penalty.Mul(refused).Round(money.Places))}}
		rest = rest.Sub(classes[i].all.Decimal)
	}
	return classes, money.Amount{Decimal: rest}
}
