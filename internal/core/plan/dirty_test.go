package plan

import (
	"fmt"
	"math/big"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/shopspring/decimal"

	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/lp/worker"
	"example.org/headroom/internal/core/money"
	"example.org/headroom/internal/core/proof"
	"example.org/headroom/internal/test/plantest"
)

// dirtyRatio draws VMs per job as programs print them: quotients of up to 17 places, and decimals a hair beside
// those whose sums are whole VMs.
func dirtyRatio(r *rand.Rand) decimal.Decimal {
	places := []int32{7, 8, 9, 10, 11, 12, 13, 15, 16, 17}[r.IntN(10)]
	switch r.IntN(6) {
	case 0:
		return decimal.New(int64(r.IntN(400)), -2)
	case 1: // as float64s are printed, with what sums of them leave
		x := float64(1+r.IntN(12)) / float64(1+r.IntN(12))
		return decimal.NewFromFloat([]float64{x, x + 0.1, 3 * x, x * 0.7}[r.IntN(4)])
	default:
		ratio := decimal.NewFromInt(int64(1+r.IntN(12))).DivRound(decimal.NewFromInt([]int64{2, 3, 3, 4, 6, 7, 8, 9}[r.IntN(8)]), places)
		hair := decimal.New(int64(r.IntN(3)-1), -[]int32{7, 8, 8, 9, 10, 10, 11, 12, 16, places}[r.IntN(10)])
		return decimal.Max(decimal.Zero, ratio.Add(hair))
	}
}

// dirty draws a small problem of such ratios, beside classes whose slots are known.
func dirty(r *rand.Rand) capacity.Problem {
	p := capacity.Problem{Currency: "EUR", PeriodSeconds: 3600, Options: capacity.DefaultOptions()}
	o := &p.Options
	o.Integrality = []capacity.Integrality{capacity.Relaxed, capacity.Integer, capacity.Integer, capacity.Executable, capacity.Executable}[r.IntN(5)]
	o.Sharing = []capacity.Sharing{capacity.Shared, capacity.Dedicated}[r.IntN(2)]
	o.Gap, o.Engine = 0, capacity.EngineExact
	price := func() money.Amount { return plantest.Hundredths(1 + r.IntN(250)) }
	for k := range r.IntN(4) {
		c := capacity.Contract{Name: fmt.Sprintf("contract-%d", k), VMs: r.Int64N(6), Price: price(), Billing: capacity.BilledUsed}
		if r.IntN(4) == 0 {
			c.Billing = capacity.BilledAlways
		}
		p.Supply.Contracts = append(p.Supply.Contracts, c)
	}
	p.Supply.OnDemand.Price = price()
	if r.IntN(2) == 0 {
		quota := r.Int64N(9)
		p.Supply.OnDemand.Quota = &quota
	}
	switch r.IntN(8) {
	case 0:
		most := plantest.Hundredths(r.IntN(2000))
		p.Budget = &capacity.Budget{VMCost: &most}
	case 1:
		most := plantest.Hundredths(r.IntN(4000))
		p.Budget = &capacity.Budget{Total: &most}
	}
	for i := range 1 + r.IntN(3) {
		low := float64(max(0, r.IntN(6)-2))
		c := capacity.Class{Name: fmt.Sprintf("class-%d", i), Jobs: capacity.JobRange{Min: low, Max: low + float64(r.IntN(6))}, Penalty: plantest.Hundredths(r.IntN(800))}
		if r.IntN(5) == 0 { // one phase: gamma is a fraction, and whole slots need no search
			c.Demand = &capacity.Demand{MapWorkSeconds: float64(1 + r.IntN(40))}
			c.DeadlineSeconds, c.SlotsPerVM = float64(1+r.IntN(30)), capacity.SlotsPerVM{Map: 1 + r.Int64N(4), Reduce: 1}
		} else {
			ratio := dirtyRatio(r)
			c.VMsPerJob = &ratio
		}
		if r.IntN(4) == 0 && c.VMsPerJob != nil { // tied with the price
			c.Penalty = money.Amount{Decimal: p.Supply.OnDemand.Price.Mul(*c.VMsPerJob).Round(4)}
		}
		p.Classes = append(p.Classes, c)
	}
	return p
}

// exactly is a problem in fractions, for trying everything. Where a ratio has more than nine places, or gamma is
// computed, a ten-millionth of a VM is forgiven.
type exactly struct {
	p     *capacity.Problem
	price []*big.Rat // of each VM there is, cheapest first
	fixed *big.Rat
	spent bool
	spare []*big.Rat // of each class
	all   *big.Rat   // of shared VMs
}

func rat(d decimal.Decimal) *big.Rat { return d.Rat() }

func newExactly(p *capacity.Problem) *exactly {
	e := &exactly{p: p, fixed: new(big.Rat), all: new(big.Rat)}
	add := func(vms int64, price *big.Rat) {
		at := 0
		for at < len(e.price) && e.price[at].Cmp(price) <= 0 {
			at++
		}
		for range min(vms, 400) {
			e.price = append(e.price[:at], append([]*big.Rat{price}, e.price[at:]...)...)
		}
	}
	for _, c := range p.Supply.Contracts {
		price := rat(c.Price.Decimal)
		if c.Billing == capacity.BilledAlways {
			e.fixed.Add(e.fixed, new(big.Rat).Mul(price, big.NewRat(c.VMs, 1)))
			price = new(big.Rat)
		}
		add(c.VMs, price)
	}
	rent := int64(400)
	if q := p.Supply.OnDemand.Quota; q != nil {
		rent = *q
	}
	add(rent, rat(p.Supply.OnDemand.Price.Decimal))
	if p.Budget != nil && p.Budget.VMCost != nil {
		sum, n := new(big.Rat).Set(e.fixed), 0
		budget := rat(p.Budget.VMCost.Decimal)
		e.spent = sum.Cmp(budget) > 0
		for ; n < len(e.price); n++ {
			if sum.Add(sum, e.price[n]); sum.Cmp(budget) > 0 {
				break
			}
		}
		e.price = e.price[:n]
	}
	for i := range p.Classes {
		c, spare := &p.Classes[i], new(big.Rat)
		long := c.VMsPerJob != nil && !c.VMsPerJob.Equal(c.VMsPerJob.Round(9))
		if long || c.Demand != nil && p.Options.Integrality == capacity.Integer {
			spare.SetFrac64(1, 1e7)
			e.all = spare
		}
		e.spare = append(e.spare, spare)
	}
	return e
}

func ratCeil(x *big.Rat) int64 {
	n := new(big.Int).Neg(x.Num())
	return -n.Div(n, x.Denom()).Int64()
}

// load is the VMs of a class's jobs before they are whole.
func (e *exactly) load(i int, jobs int64) *big.Rat {
	c := &e.p.Classes[i]
	if c.VMsPerJob != nil {
		return new(big.Rat).Mul(rat(*c.VMsPerJob), big.NewRat(jobs, 1))
	}
	slots := big.NewRat(int64(c.Demand.MapWorkSeconds)*jobs, int64(c.DeadlineSeconds))
	if slots.Cmp(big.NewRat(jobs, 1)) < 0 {
		slots.SetInt64(jobs)
	}
	if e.p.Options.Integrality == capacity.Executable {
		slots.SetInt64(ratCeil(slots))
	}
	return slots.Quo(slots, big.NewRat(c.SlotsPerVM.Map, 1))
}

// best is the lowest objective where all that may be forgiven is, but for a hair; nil if there is no plan.
func (e *exactly) best(hair *big.Rat) (lowest *big.Rat) {
	if e.spent {
		return nil
	}
	forgiven := func(load, spare *big.Rat) int64 {
		if spare.Sign() > 0 {
			load = new(big.Rat).Sub(load, new(big.Rat).Sub(spare, hair))
		}
		return max(0, ratCeil(load))
	}
	var choose func(i int, load *big.Rat, worth, refused *big.Rat)
	choose = func(i int, load *big.Rat, worth, refused *big.Rat) {
		if i == len(e.p.Classes) {
			n := forgiven(load, e.all)
			if e.p.Options.Sharing == capacity.Dedicated {
				n = ratCeil(load)
			}
			if n > int64(len(e.price)) {
				return
			}
			cost := new(big.Rat).Set(e.fixed)
			for _, price := range e.price[:n] {
				cost.Add(cost, price)
			}
			if b := e.p.Budget; b != nil && b.Total != nil && new(big.Rat).Add(cost, refused).Cmp(rat(b.Total.Decimal)) > 0 {
				return
			}
			if cost.Sub(cost, worth); lowest == nil || cost.Cmp(lowest) < 0 {
				lowest = cost
			}
			return
		}
		c := &e.p.Classes[i]
		for h := int64(c.Jobs.Min); h <= int64(c.Jobs.Max); h++ {
			x := e.load(i, h)
			if e.p.Options.Sharing == capacity.Dedicated {
				x = big.NewRat(forgiven(x, e.spare[i]), 1)
			}
			penalty := rat(c.Penalty.Decimal)
			choose(i+1, new(big.Rat).Add(load, x), new(big.Rat).Add(worth, new(big.Rat).Mul(penalty, big.NewRat(h, 1))),
				new(big.Rat).Add(refused, new(big.Rat).Mul(penalty, big.NewRat(int64(c.Jobs.Max)-h, 1))))
		}
	}
	choose(0, new(big.Rat), new(big.Rat), new(big.Rat))
	return lowest
}

// unsound returns the faults of an answer that show without another answer: it errs, the independent check refuses it,
// or the second engine is said to differ or to fail.
func unsound(p capacity.Problem, pl capacity.Plan, err error) string {
	if err != nil {
		return err.Error()
	}
	if report := proof.Verify(p, pl, proof.Options{}); !report.Accepted() {
		return fmt.Sprintf("%s %s on %v VMs\n%s", pl.Status, pl.Objective, pl.VMs.Total, report)
	}
	if a := pl.Proof; a != nil && a.Agreed != nil && !*a.Agreed {
		return "the second engine does not agree"
	}
	for _, w := range pl.Warnings {
		if strings.Contains(w.Code, "solver") || strings.Contains(w.Code, "engine") {
			return w.Detail
		}
	}
	return ""
}

// Sums of some ratios make whole VMs but for a hair. Plans of them equal the best of trying everything in fractions, are
// accepted by the independent check, and have no warnings of a second engine.
func TestDirtyRatiosEqualEnumeration(t *testing.T) {
	pool := worker.New(worker.Config{Processes: 1})
	defer pool.Close()
	r := rand.New(rand.NewPCG(41, 7))
	count := map[string]int{}
	for trial := range plantest.Trials(80, 60_000) {
		p := dirty(r)
		if trial%4 == 0 {
			p.Options.Engine, p.Options.MaxSolveMs = capacity.EngineCBC, 60_000
		}
		if p.Validate() != nil {
			continue
		}
		pl, err := Solve(t.Context(), p, pool)
		if wrong := unsound(p, pl, err); wrong != "" {
			t.Errorf("trial %d: %s\n%s", trial, wrong, plantest.Text(p))
			continue
		}
		count[string(p.Options.Integrality)+" "+string(pl.Status)]++
		if pl.Proof != nil && p.Options.Engine == capacity.EngineCBC && pl.Proof.Agreed == nil {
			count["cbc says nothing"]++
		}
		if p.Options.Integrality == capacity.Relaxed {
			continue
		}
		e := newExactly(&p)
		least, most := e.best(big.NewRat(-1, 1e10)), e.best(big.NewRat(1, 1e9))
		if pl.Status == capacity.InfeasibleStatus {
			if most != nil {
				t.Errorf("trial %d: infeasible, but a plan costs %s\n%s", trial, most.FloatString(9), plantest.Text(p))
			}
			continue
		}
		got := rat(pl.Objective.Decimal)
		if least == nil || got.Cmp(least) < 0 || most != nil && got.Cmp(most) > 0 || pl.Status != capacity.Optimal {
			t.Errorf("trial %d: the %s plan costs %s and should cost %v to %v\n%s", trial, pl.Status, pl.Objective, least, most, plantest.Text(p))
		}
	}
	t.Log(count)
	if count["integer optimal"] < plantest.Trials(16, 10_000) || count["executable optimal"] < plantest.Trials(16, 10_000) || count["relaxed optimal"] < plantest.Trials(8, 5_000) ||
		count["integer infeasible"] == 0 || count["relaxed infeasible"] == 0 || count["cbc says nothing"] > plantest.Trials(200, 60_000)/100 {
		t.Errorf("of the plans %v", count)
	}
}

// The same of VMs of two types, where ratios are divided by speeds.
func TestDirtyRatiosOnFleets(t *testing.T) {
	pool := worker.New(worker.Config{Processes: 1})
	defer pool.Close()
	r := rand.New(rand.NewPCG(43, 7))
	count := map[capacity.Status]int{}
	for trial := range plantest.Trials(20, 20_000) {
		p := dirty(r)
		other := capacity.OnDemand{Price: plantest.Hundredths(1 + r.IntN(250))}
		p.Supply = capacity.Supply{VMTypes: []capacity.VMTypeSupply{
			{Name: "usual", Contracts: p.Supply.Contracts, OnDemand: p.Supply.OnDemand}, {Name: "other", OnDemand: other},
		}}
		if r.IntN(2) == 0 {
			quota := r.Int64N(5)
			p.Supply.VMTypes[1].OnDemand.Quota = &quota
		}
		for i := range p.Classes {
			p.Classes[i].Speed = capacity.Speed{"other": []float64{0.5, 0.7, 1.1, 1.5, 3}[r.IntN(5)]}
		}
		if trial%4 == 0 {
			p.Options.Engine, p.Options.MaxSolveMs = capacity.EngineCBC, 60_000
		}
		if p.Validate() != nil {
			continue
		}
		pl, err := Solve(t.Context(), p, pool)
		if wrong := unsound(p, pl, err); wrong != "" {
			t.Errorf("trial %d: %s\n%s", trial, wrong, plantest.Text(p))
		}
		count[pl.Status]++
	}
	t.Log(count)
	if count[capacity.Optimal] < plantest.Trials(10, 10_000) {
		t.Errorf("of the plans %v", count)
	}
}
