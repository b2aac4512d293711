package plan

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/shopspring/decimal"

	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/fault"
	"example.org/headroom/internal/core/money"
	"example.org/headroom/internal/test/plantest"
)

// hostileFleet draws a valid problem whose figures stand at the edges of what is allowed: nothing at all,
// very little, very much, all the same.
func hostileFleet(r *rand.Rand) capacity.Problem {
	pick := func(x ...float64) float64 { return x[r.IntN(len(x))] }
	amount := func(x ...string) money.Amount {
		return money.Amount{Decimal: decimal.RequireFromString(x[r.IntN(len(x))])}
	}
	p := capacity.Problem{Currency: "USD", PeriodSeconds: int64(pick(1, 60, 3600, 86400, capacity.MaxPeriodSeconds)), Options: capacity.DefaultOptions()}
	o := &p.Options
	o.Integrality = []capacity.Integrality{capacity.Relaxed, capacity.Integer, capacity.Executable}[r.IntN(3)]
	o.Bound = []capacity.Bound{capacity.LowerBound, capacity.AverageBound, capacity.UpperBound}[r.IntN(3)]
	o.Sharing = []capacity.Sharing{capacity.Shared, capacity.Dedicated}[r.IntN(2)]
	o.Engine, o.OneSlotPerJob, o.Gap = capacity.EngineExact, r.IntN(2) == 0, pick(0, 1e-6, 0.01, 0.1)
	types := 1 + r.IntN(6)
	for v := range types {
		s := capacity.VMTypeSupply{Name: fmt.Sprintf("type-%d", v)}
		s.OnDemand.Price = amount("0", "0.000000001", "0.1", "0.25", "1", "1000", "1000000000")
		if r.IntN(2) == 0 {
			quota := int64(pick(0, 0, 1, 2, 7, 1e3, capacity.MaxVMs))
			s.OnDemand.Quota = &quota
		}
		for k := range r.IntN(4) {
			s.Contracts = append(s.Contracts, capacity.Contract{
				Name: fmt.Sprintf("contract-%d-%d", v, k), VMs: int64(pick(0, 1, 3, 100, capacity.MaxVMs)), Price: amount("0", "0.1", "0.25", "3"),
				Billing: []capacity.Billing{capacity.BilledUsed, capacity.BilledAlways}[r.IntN(2)],
			})
		}
		if r.IntN(3) == 0 {
			s.Spot = &capacity.Spot{Price: amount("0", "0.1", "0.05", "7"), MaxShare: pick(0, 1e-18, 1e-300, 5e-324, 0.001, 1.0/3, 0.5, 0.9999999999999999, 1)}
		}
		p.Supply.VMTypes = append(p.Supply.VMTypes, s)
	}
	if types == 1 && r.IntN(2) == 0 {
		s := p.Supply.VMTypes[0]
		p.Supply = capacity.Supply{Contracts: s.Contracts, OnDemand: s.OnDemand, Spot: s.Spot}
	}
	for i := range 1 + r.IntN(6) {
		p.Classes = append(p.Classes, hostileClass(r, i, p.Supply.VMTypes, o.Integrality))
	}
	if r.IntN(3) == 0 {
		p.Budget = &capacity.Budget{}
		if r.IntN(2) == 0 {
			x := amount("0", "0.1", "1", "100", "1000000000")
			p.Budget.VMCost = &x
		}
		if r.IntN(2) == 0 {
			x := amount("0", "0.1", "1", "100", "1000000000")
			p.Budget.Total = &x
		}
	}
	if r.IntN(4) == 0 {
		o.Near = &capacity.Near{VMs: pick(0, 5, 1e6), Jobs: map[string]float64{"class-0": pick(0, 3, 1e6)}}
	}
	return p
}

func hostileClass(r *rand.Rand, i int, types []capacity.VMTypeSupply, integrality capacity.Integrality) capacity.Class {
	pick := func(x ...float64) float64 { return x[r.IntN(len(x))] }
	c := capacity.Class{Name: fmt.Sprintf("class-%d", i)}
	c.Penalty = money.Amount{Decimal: decimal.NewFromFloat(pick(0, 0, 1e-9, 0.5, 3, 40, 1e9))}
	c.Jobs.Max = pick(0, 1, 2, 5, 10, 40, 3000)
	c.Jobs.Min = math.Floor(c.Jobs.Max * pick(0, 0, 0, 0.3, 1))
	if integrality == capacity.Relaxed && r.IntN(3) == 0 {
		c.Jobs.Max += 0.5
		c.Jobs.Min += pick(0, 0.25, 0.5)
	}
	slots := func() capacity.SlotsPerVM {
		return capacity.SlotsPerVM{Map: int64(pick(1, 2, 3, 4, 5, 7, 16, 997, 1000)), Reduce: int64(pick(1, 2, 3, 4, 5, 7, 16, 997, 1000))}
	}
	c.SlotsPerVM = slots()
	c.DeadlineSeconds = pick(0.001, 1, 61, 600, 3600, 1e7)
	if len(types) > 0 {
		if r.IntN(2) == 0 {
			c.Speed = capacity.Speed{}
			for _, t := range types {
				if r.IntN(2) == 0 {
					c.Speed[t.Name] = pick(0, 0.001, 0.3, 1, 1.0000001, 2, 1000)
				}
			}
		}
		if r.IntN(2) == 0 {
			c.SlotsPerVM = capacity.SlotsPerVM{ByType: map[string]capacity.SlotsPerVM{}}
			for _, t := range types {
				if r.IntN(3) > 0 {
					c.SlotsPerVM.ByType[t.Name] = slots()
				}
			}
		}
	}
	switch r.IntN(3) {
	case 0:
		gamma := decimal.NewFromFloat(pick(0, 1e-9, 0.25, 1.0/3, 1, 17.5, 1e5)).Round(9)
		c.VMsPerJob = &gamma
		if c.SlotsPerVM.ByType == nil {
			c.SlotsPerVM = capacity.SlotsPerVM{}
		}
	case 1:
		c.Demand = &capacity.Demand{MapWorkSeconds: pick(0, 1e-3, 50, 3000, 1e6), ReduceWorkSeconds: pick(0, 1e-3, 50, 3000, 1e6), FixedSeconds: pick(0, -30, 60, 1e4)}
	default:
		most := pick(0, 1e-3, 10, 60)
		avg := most * pick(0.4, 1)
		f := capacity.Profile{MapTasks: int64(pick(3, 70, 3000)), MapAvgSeconds: avg, MapMaxSeconds: most, OverheadSeconds: pick(0, 5, 700)}
		if r.IntN(3) > 0 {
			f.ReduceTasks, f.FirstShuffleAvgSeconds, f.FirstShuffleMaxSeconds, f.ShuffleAvgSeconds, f.ShuffleMaxSeconds, f.ReduceAvgSeconds, f.ReduceMaxSeconds = int64(pick(3, 40)), avg, most, avg, most, avg, most
		}
		c.Profile = &f
	}
	return c
}

// Problems at the edges of the limits are answered in time, and never with a fault of our own.
func TestHostileFleetsAreAnswered(t *testing.T) {
	r := rand.New(rand.NewPCG(31, 7))
	answers := map[string]int{}
	for trial := range plantest.Trials(25, 20_000) {
		p := hostileFleet(r)
		for p.Validate() != nil {
			p = hostileFleet(r)
		}
		text, _ := json.Marshal(p)
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
		begin := time.Now()
		pl, err := func() (pl capacity.Plan, err error) {
			defer func() {
				if x := recover(); x != nil {
					t.Errorf("trial %d: %v\n%s", trial, x, text)
					panic(x)
				}
			}()
			return Solve(ctx, p, nil)
		}()
		cancel()
		took := time.Since(begin)
		if took > 10*time.Second {
			t.Errorf("trial %d took %v\n%s", trial, took, text)
		}
		var refused *fault.InputError
		switch {
		case errors.Is(err, fault.Busy):
			answers["busy"]++
			t.Logf("trial %d: busy\n%s", trial, text)
		case errors.As(err, &refused):
			answers["refused"]++
		case err != nil:
			t.Errorf("trial %d: %v\n%s", trial, err, text)
		case pl.Status == capacity.InfeasibleStatus && len(pl.Conflicts) == 0:
			t.Errorf("trial %d: infeasible without a reason\n%s", trial, text)
		default:
			answers[string(pl.Status)]++
		}
	}
	t.Log(answers)
}

// The work is bounded where one class has thousands of jobs of millions of slots: listing its mixes once took
// 48 s of the 2 s allowed. Whole slots that are looked at count, and that does not depend on the machine.
func TestWorkIsBoundedWithinOneClass(t *testing.T) {
	data, err := os.ReadFile("testdata/found/thousands-of-jobs-fleet.json")
	if err != nil {
		t.Fatal(err)
	}
	p, err := capacity.ReadProblem(data, capacity.DefaultLimits())
	if err != nil {
		t.Fatal(err)
	}
	f, err := newFleet(&p)
	if err != nil {
		t.Fatal(err)
	}
	begin := time.Now()
	s := f.newSearch(t.Context(), f.target(), f.relax().nu)
	s.allow(float64(plantest.Trials(1, 4)) / 4)
	s.run()
	tried := 0
	for v := range f.types {
		for i := range f.types[v].classes {
			tried += f.types[v].classes[i].shape.tried
		}
	}
	t.Logf("%d whole slots, %d units of work in %v", tried, f.work, time.Since(begin))
	if most := s.effort * 3 / 2; s.best == nil || tried > most || f.work > most {
		t.Errorf("%d whole slots were looked at, with %d units of work; want at most %d", tried, f.work, most)
	}
	// With any time, the answer is a plan, or that the time was too short.
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if pl, err := Solve(ctx, p, nil); !errors.Is(err, fault.Busy) && (err != nil || !pl.Proof.Checked) {
		t.Errorf("got %v with %+v", err, pl.Proof)
	}
}

// Where the penalties that a plan avoids are so large that its cost drowns in them, that is said, and not that
// there was too little time.
func TestBudgetsThatDrownInPenaltiesSaySo(t *testing.T) {
	for budget, drowned := range map[string]bool{"0.00": false, "100000.01": true} {
		text := fmt.Sprintf(`{"currency":"USD","supply":{"vm_types":[{"name":"x","on_demand":{"price":"0.10","quota":null}}]},"budget":{"total":%q},
			"classes":[{"name":"a","vms_per_job":"1","jobs":{"min":0,"max":1000000},"penalty":"1000000000"},{"name":"b","vms_per_job":"2","jobs":{"min":0,"max":2},"penalty":"0.01"}],"options":{"integrality":"integer","engine":"exact"}}`, budget)
		p, err := capacity.ReadProblem([]byte(text), capacity.DefaultLimits())
		if err != nil {
			t.Fatal(err)
		}
		pl, err := Solve(t.Context(), p, nil)
		var refused *fault.InputError
		switch {
		case drowned:
			if !errors.As(err, &refused) || refused.Findings[0].Pointer != "/budget/total" || refused.Findings[0].Hint == nil || refused.Findings[0].Hint.Value != "100000.02" {
				t.Errorf("got %v, want a budget of 100000.02 or smaller penalties", err)
			}
		case err != nil || len(pl.Conflicts) != 1 || pl.Conflicts[0].Hint == nil || pl.Conflicts[0].Hint.Value != "100000.02":
			t.Errorf("got %v and %+v, want a budget of 100000.02", err, pl.Conflicts)
		}
	}
}

// A raised budget pays for what is paid in any case to the last decimal, not for the sum of rounded lines.
func TestRaisedBudgetsAreRoundedUp(t *testing.T) {
	p, err := capacity.ReadProblem([]byte(`{"currency":"EUR","period_s":1000,"supply":{"vm_types":[{"name":"x","contracts":[{"name":"c","vms":7,"price":"0.36","billing":"always"}],"on_demand":{"price":"1","quota":0}},
		{"name":"y","contracts":[{"name":"d","vms":2,"price":"1.03","billing":"always"}],"on_demand":{"price":"1","quota":0}}]},
		"budget":{"vm_cost":"0.64"},"classes":[{"name":"a","vms_per_job":"1","jobs":{"min":1,"max":1},"penalty":"1"}],"options":{"engine":"exact"}}`), capacity.DefaultLimits())
	if err != nil {
		t.Fatal(err)
	}
	pl := solved(t, p)
	if len(pl.Conflicts) == 0 || pl.Conflicts[0].Hint == nil || pl.Conflicts[0].Hint.Value != "1.272222223" {
		t.Fatalf("got %+v, want a budget of 1.272222223", pl.Conflicts)
	}
	raised := plantest.AmountIn(t, "1.272222223")
	p.Budget.VMCost = &raised
	if pl = solved(t, p); pl.Status == capacity.InfeasibleStatus {
		t.Errorf("got %+v with the budget raised", pl.Conflicts)
	}
}

// The price of another VM of a type is the cost of its VMs, also if none is rented.
func TestPricesOfTypesThatAreNotRented(t *testing.T) {
	p, err := capacity.ReadProblem([]byte(`{"currency":"USD","supply":{"vm_types":[{"name":"x","on_demand":{"price":"0.20","quota":null}},{"name":"y","on_demand":{"price":"9.00","quota":null}}]},
		"classes":[{"name":"a","vms_per_job":"2","jobs":{"min":0,"max":3},"penalty":"1"}],"options":{"engine":"exact"}}`), capacity.DefaultLimits())
	if err != nil {
		t.Fatal(err)
	}
	p.Options.Integrality = capacity.Relaxed
	pl := solved(t, p)
	if y := pl.Prices.Types[1]; y.High == nil || y.High.String() != "9.00" {
		t.Errorf("got %+v, want one more VM at 9.00", y)
	}
	if want := "on y a job would take 18.00."; !strings.HasSuffix(pl.Classes[0].Reason, want) {
		t.Errorf("got %q, want %q", pl.Classes[0].Reason, want)
	}
}

// Slots of five or more a VM can leave gaps: one of a half, two of a third and four of a fifth are less
// than two VMs and take three.
func TestOddSlotsOfFleets(t *testing.T) {
	odd := func(name string, perVM int64, slots float64) capacity.Class {
		return capacity.Class{
			Name: name, Demand: &capacity.Demand{MapWorkSeconds: 60 * slots}, DeadlineSeconds: 60,
			SlotsPerVM: capacity.SlotsPerVM{Map: perVM, Reduce: 1}, Jobs: capacity.JobRange{Min: 1, Max: 1}, Penalty: plantest.AmountIn(t, "1"),
		}
	}
	two := int64(2)
	p := capacity.Problem{Currency: "USD", PeriodSeconds: 3600, Options: capacity.DefaultOptions(), Classes: []capacity.Class{odd("half", 2, 1), odd("third", 3, 2), odd("fifth", 5, 4)}}
	p.Options.Engine = capacity.EngineExact
	p.Supply.VMTypes = []capacity.VMTypeSupply{{Name: "only", OnDemand: capacity.OnDemand{Price: plantest.AmountIn(t, "0.1"), Quota: &two}}}
	pl := solved(t, p)
	if pl.Status != capacity.InfeasibleStatus || len(pl.Conflicts) == 0 || pl.Conflicts[0].Hint == nil || pl.Conflicts[0].Hint.Value != int64(3) {
		t.Errorf("got %s with %v, want a quota of 3", pl.Status, pl.Conflicts)
	}
	three := int64(3)
	p.Supply.VMTypes[0].OnDemand.Quota = &three
	if pl = solved(t, p); pl.Status == capacity.InfeasibleStatus || pl.VMs.Total != 3 {
		t.Errorf("got %s with %v VMs, want 3", pl.Status, pl.VMs.Total)
	}
	// Another type takes what does not lay out, although it is dearer.
	p.Supply.VMTypes[0].OnDemand.Quota = &two
	p.Supply.VMTypes = append(p.Supply.VMTypes, capacity.VMTypeSupply{Name: "other", OnDemand: capacity.OnDemand{Price: plantest.AmountIn(t, "5")}})
	if pl = solved(t, p); pl.Status == capacity.InfeasibleStatus || pl.VMs.Total != 3 && pl.VMs.Total != 2 || !pl.Proof.Checked {
		t.Errorf("got %s with %+v VMs", pl.Status, pl.VMs)
	}
	// A budget that pays for two is raised to what three cost.
	p.Supply.VMTypes = p.Supply.VMTypes[:1]
	p.Supply.VMTypes[0].OnDemand.Quota = nil
	budget := plantest.AmountIn(t, "0.2")
	p.Budget = &capacity.Budget{VMCost: &budget}
	if pl = solved(t, p); pl.Status != capacity.InfeasibleStatus || pl.Conflicts[0].Hint == nil || pl.Conflicts[0].Hint.Value != "0.30" {
		t.Errorf("got %s with %v, want a budget of 0.30", pl.Status, pl.Conflicts)
	}
}
