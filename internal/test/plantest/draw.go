package plantest

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/shopspring/decimal"

	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/money"
)

// DrawProblem draws a valid problem with every kind of coincidence in it: no to three contracts, some of one price,
// some billed always, with and without a quota. Classes are given by their gamma or by a demand. Penalties are free,
// zero, worth exactly a price, or worth as much per VM as another class's. There are impossible deadlines, classes
// that take nothing, and fractional jobs if the problem is relaxed.
func DrawProblem(t testing.TB, r *rand.Rand, classes int, integrality capacity.Integrality) capacity.Problem {
	t.Helper()
	p := capacity.Problem{Currency: "USD", PeriodSeconds: []int64{3600, 3600, 1800, 86400}[r.IntN(4)], Options: capacity.DefaultOptions()}
	p.Options.Integrality, p.Options.Engine, p.Options.Gap = integrality, capacity.EngineExact, 1e-9
	p.Options.OneSlotPerJob = r.IntN(2) == 0
	for i := range classes {
		p.Classes = append(p.Classes, drawClass(r, i, integrality))
	}
	drawPrices(r, &p)
	gammas := make([]float64, classes)
	for i := range gammas {
		gammas[i] = gammaOf(&p.Classes[i], p.Options)
	}
	most := 0.0
	for i := range p.Classes {
		p.Classes[i].Penalty = drawPenalty(r, &p, gammas, i)
		most += gammas[i] * p.Classes[i].Jobs.Max
	}
	for k := range p.Supply.Contracts {
		p.Supply.Contracts[k].VMs = int64(most * 0.7 * r.Float64())
		if r.IntN(8) == 0 {
			p.Supply.Contracts[k].VMs = 0
		}
	}
	if r.IntN(3) == 0 {
		quota := int64(most * 1.5 * r.Float64())
		p.Supply.OnDemand.Quota = &quota
	}
	if err := p.Validate(); err != nil {
		t.Fatalf("drew an invalid problem: %v", err)
	}
	return p
}

func drawClass(r *rand.Rand, i int, integrality capacity.Integrality) capacity.Class {
	c := capacity.Class{Name: fmt.Sprintf("class-%04d", i)}
	if r.IntN(2) == 0 {
		c.Jobs.Min = float64(r.IntN(5))
	}
	c.Jobs.Max = c.Jobs.Min + float64(r.IntN(8))
	if integrality == capacity.Relaxed && r.IntN(3) == 0 {
		c.Jobs.Min = thousandths(c.Jobs.Min * r.Float64())
		c.Jobs.Max = thousandths(c.Jobs.Max + r.Float64())
	}
	if r.IntN(5) < 2 {
		gamma := decimal.New(1+r.Int64N(500), -2)
		switch r.IntN(20) {
		case 0:
			gamma = decimal.Zero
		case 1, 2, 3, 4:
			gamma = decimal.New(1+r.Int64N(4), 0)
		}
		c.VMsPerJob = &gamma
		return c
	}
	d := capacity.Demand{
		MapWorkSeconds: 5000 * r.Float64(), ReduceWorkSeconds: 3000 * r.Float64(), FixedSeconds: 350*r.Float64() - 50,
	}
	switch r.IntN(24) {
	case 0, 1:
		d.MapWorkSeconds = 0
	case 2, 3, 4:
		d.ReduceWorkSeconds = 0
	case 5:
		d.MapWorkSeconds, d.ReduceWorkSeconds = 0, 0
	}
	c.Demand = &d
	c.DeadlineSeconds = max(1, d.FixedSeconds+60+2000*r.Float64()*r.Float64())
	switch {
	case d.FixedSeconds > 1 && d.MapWorkSeconds+d.ReduceWorkSeconds > 0 && r.IntN(25) == 0:
		c.DeadlineSeconds = d.FixedSeconds * r.Float64() // impossible
		c.Jobs.Min = 0
	case r.IntN(8) == 0: // so late that one slot of each kind is more than needed
		c.DeadlineSeconds += 1.5 * (d.MapWorkSeconds + d.ReduceWorkSeconds)
	}
	c.SlotsPerVM = capacity.SlotsPerVM{Map: 1 + r.Int64N(4), Reduce: 1 + r.Int64N(4)}
	if r.IntN(6) == 0 { // sizes of which some sets of slots leave room on every VM
		c.SlotsPerVM = capacity.SlotsPerVM{Map: 1 + r.Int64N(12), Reduce: 1 + r.Int64N(12)}
	}
	return c
}

func drawPrices(r *rand.Rand, p *capacity.Problem) {
	hundredths := func() money.Amount { return money.Amount{Decimal: decimal.New(1+r.Int64N(300), -2)} }
	for k := range r.IntN(4) {
		c := capacity.Contract{Name: fmt.Sprintf("contract-%d", k), Price: hundredths(), Billing: capacity.BilledUsed}
		if k > 0 && r.IntN(4) == 0 {
			c.Price = p.Supply.Contracts[k-1].Price
		}
		if r.IntN(4) == 0 {
			c.Billing = capacity.BilledAlways
		}
		p.Supply.Contracts = append(p.Supply.Contracts, c)
	}
	p.Supply.OnDemand.Price = hundredths()
	if n := len(p.Supply.Contracts); n > 0 && r.IntN(5) == 0 {
		p.Supply.OnDemand.Price = p.Supply.Contracts[n-1].Price
	}
}

// gammaOf returns the VMs one job takes, 0 where the deadline is impossible.
func gammaOf(c *capacity.Class, o capacity.Options) float64 {
	if c.VMsPerJob != nil {
		return c.VMsPerJob.InexactFloat64()
	}
	if x := needs(c, o); x.Slack > 0 {
		return x.vmsPerJob()
	}
	return 0
}

// drawPenalty draws a penalty per period. A class of another's gamma gets its
// penalty at times, so that both are worth the same per VM.
func drawPenalty(r *rand.Rand, p *capacity.Problem, gammas []float64, i int) money.Amount {
	c := &p.Classes[i]
	switch r.IntN(12) {
	case 0:
		return money.Amount{}
	case 1, 2:
		if c.VMsPerJob != nil { // exactly a price per VM
			price := p.Supply.OnDemand.Price.Decimal
			if n := len(p.Supply.Contracts); n > 0 && r.IntN(2) == 0 {
				price = p.Supply.Contracts[r.IntN(n)].Price.Decimal
			}
			perPeriod := price.Mul(decimal.NewFromInt(p.PeriodSeconds)).DivRound(decimal.NewFromInt(3600), 4)
			return money.Amount{Decimal: perPeriod.Mul(*c.VMsPerJob)}
		}
	case 3, 4:
		for j := range i {
			if other := &p.Classes[j]; c.VMsPerJob != nil && other.VMsPerJob != nil && other.VMsPerJob.IsPositive() {
				*c.VMsPerJob = other.VMsPerJob.Mul(decimal.NewFromInt(2))
				gammas[i] = c.VMsPerJob.InexactFloat64()
				return money.Amount{Decimal: other.Penalty.Mul(decimal.NewFromInt(2))}
			}
		}
	}
	gamma, hours := gammas[i], float64(p.PeriodSeconds)/3600
	if gamma == 0 {
		gamma = 1
	}
	return money.Round(math.Round(p.Supply.OnDemand.Price.Float()*hours*gamma*1.8*r.Float64()*1e4) / 1e4)
}

func thousandths(x float64) float64 { return math.Round(x*1000) / 1000 }

// Copied returns a problem whose classes and supply can be changed without changing p's.
func Copied(p capacity.Problem) capacity.Problem {
	p.Classes = slices.Clone(p.Classes)
	p.Supply.Contracts = slices.Clone(p.Supply.Contracts)
	return p
}

// AmountIn parses an exact amount.
func AmountIn(t testing.TB, text string) money.Amount {
	t.Helper()
	amount, err := money.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return amount
}

// ByGamma makes a class given by its gamma alone.
func ByGamma(t testing.TB, name, gamma, penalty string, low, high float64) capacity.Class {
	t.Helper()
	g, err := decimal.NewFromString(gamma)
	if err != nil {
		t.Fatal(err)
	}
	return capacity.Class{Name: name, VMsPerJob: &g, Penalty: AmountIn(t, penalty), Jobs: capacity.JobRange{Min: low, Max: high}}
}

// Market makes a problem without classes: one contract of so many VMs, and on-demand without a quota.
func Market(t testing.TB, reserved int64, reservedPrice, onDemandPrice string, integrality capacity.Integrality) capacity.Problem {
	t.Helper()
	p := capacity.Problem{Currency: "USD", PeriodSeconds: 3600, Options: capacity.DefaultOptions()}
	p.Options.Integrality, p.Options.Engine = integrality, capacity.EngineExact
	p.Supply.OnDemand.Price = AmountIn(t, onDemandPrice)
	p.Supply.Contracts = []capacity.Contract{{Name: "reserved", VMs: reserved, Price: AmountIn(t, reservedPrice), Billing: capacity.BilledUsed}}
	return p
}

// ExactMoney returns the amount whose float64 is nearest to x, unrounded.
func ExactMoney(x float64) money.Amount { return money.Amount{Decimal: decimal.NewFromFloat(x)} }
