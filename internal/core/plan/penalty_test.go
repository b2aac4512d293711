package plan

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/shopspring/decimal"

	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/money"
	"example.org/headroom/internal/test/plantest"
)

// The VMs of a plan are as cheap as they can be with any penalty: a gap is a share of the bill and not of the penalties
// that nobody pays.
func TestPenaltiesThatSayNever(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(5, 9))
	proved := 0
	cases := plantest.Trials(250, 5_000)
	for n := range cases {
		p := capacity.Problem{Currency: "USD", PeriodSeconds: 3600, Options: capacity.DefaultOptions()}
		p.Options.Engine = capacity.EngineExact
		p.Supply.OnDemand.Price = money.Amount{Decimal: decimal.New(1+r.Int64N(60), -2)}
		p.Supply.Contracts = []capacity.Contract{{Name: "held", VMs: r.Int64N(4), Price: money.Amount{Decimal: decimal.New(1+r.Int64N(30), -2)}}}
		much := math.Pow(10, float64(r.IntN(12)))
		for i := range 1 + r.IntN(3) {
			gamma := decimal.New(1+r.Int64N(290), -2)
			penalty := decimal.New(1+r.Int64N(900), -2)
			if r.IntN(2) == 0 {
				penalty = penalty.Mul(decimal.NewFromFloat(much))
			}
			p.Classes = append(p.Classes, capacity.Class{Name: string(rune('a' + i)), VMsPerJob: &gamma, Jobs: capacity.JobRange{Max: float64(r.IntN(5))}, Penalty: money.Amount{Decimal: penalty}})
		}
		if r.IntN(3) == 0 {
			quota := r.Int64N(6)
			p.Supply.OnDemand.Quota = &quota
		}
		pl, err := Solve(t.Context(), p, nil)
		if err != nil {
			t.Fatalf("%d: %v", n, err)
		}
		least := cheapestBill(p, 0, decimal.Zero, decimal.Zero)
		if pl.Cost.Total.Sub(least).Abs().GreaterThan(least.Mul(decimal.New(1, -6)).Add(decimal.New(2, -9))) {
			t.Errorf("%d: the plan costs %s (%s, gap %g), the cheapest %s: %+v", n, pl.Cost.Total, pl.Status, pl.Proof.Gap, least, p)
		}
		if pl.Status == capacity.Optimal {
			proved++
		} else {
			t.Log(n, pl.Objective, pl.Proof.Bound, pl.Proof.Gap, pl.Cost.Total, pl.Cost.Penalties)
		}
	}
	if proved < cases*99/100 {
		t.Errorf("%d of %d plans are proved", proved, cases)
	}
}

// cheapestBill tries every number of jobs from a class on.
func cheapestBill(p capacity.Problem, at int, load, refused decimal.Decimal) decimal.Decimal {
	if at == len(p.Classes) {
		vms := load.Ceil().IntPart()
		cost := refused
		first, second := p.Supply.Contracts[0], p.Supply.OnDemand
		take := func(n int64, price money.Amount) {
			cost = cost.Add(price.Mul(decimal.NewFromInt(n)))
			vms -= n
		}
		onDemand := vms
		if second.Quota != nil {
			onDemand = min(onDemand, *second.Quota)
		}
		if first.Price.LessThanOrEqual(second.Price.Decimal) {
			take(min(vms, first.VMs), first.Price)
			take(min(vms, onDemand), second.Price)
		} else {
			take(onDemand, second.Price)
			take(min(vms, first.VMs), first.Price)
		}
		if vms > 0 {
			return decimal.New(1, 18)
		}
		return cost
	}
	least := decimal.New(1, 18)
	c := p.Classes[at]
	for h := range int64(c.Jobs.Max) + 1 {
		jobs := decimal.NewFromInt(h)
		least = decimal.Min(least, cheapestBill(p, at+1, load.Add(c.VMsPerJob.Mul(jobs)), refused.Add(c.Penalty.Mul(decimal.NewFromFloat(c.Jobs.Max).Sub(jobs)))))
	}
	return least
}
