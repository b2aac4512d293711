package plan

import (
	"testing"

	"github.com/shopspring/decimal"

	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/money"
	"example.org/headroom/internal/core/proof"
	"example.org/headroom/internal/test/plantest"
)

// The least budget that is offered equals the cost of the VMs, to the next billionth.
func TestLeastBudgetIsRoundedUpOnce(t *testing.T) {
	hourly := map[capacity.Integrality]decimal.Decimal{ // ten VMs that are paid anyhow, and 6.25 or 7 besides
		capacity.Relaxed: decimal.RequireFromString("10.625"), capacity.Integer: decimal.RequireFromString("10.7"),
	}
	for _, integrality := range []capacity.Integrality{capacity.Relaxed, capacity.Integer} {
		for _, types := range []int{0, 2} {
			for seconds := int64(1); seconds < 60; seconds++ {
				p := capacity.Problem{Currency: "USD", PeriodSeconds: seconds, Options: capacity.DefaultOptions()}
				p.Options.Integrality, p.Options.Engine = integrality, capacity.EngineExact
				p.Budget = &capacity.Budget{VMCost: &money.Amount{}}
				p.Supply.Contracts = []capacity.Contract{{Name: "always", VMs: 10, Price: plantest.Amount("1"), Billing: capacity.BilledAlways}}
				p.Supply.OnDemand.Price = plantest.Amount("0.1")
				if types > 0 {
					p.Supply = capacity.Supply{VMTypes: []capacity.VMTypeSupply{
						{Name: "a", Contracts: p.Supply.Contracts, OnDemand: p.Supply.OnDemand},
						{Name: "b", OnDemand: capacity.OnDemand{Price: plantest.Amount("0.7")}},
					}}
				}
				gamma := plantest.Amount("3.25").Decimal
				p.Classes = []capacity.Class{{Name: "k", VMsPerJob: &gamma, Jobs: capacity.JobRange{Min: 5, Max: 5}, Penalty: plantest.Amount("1")}}
				pl := answered(t, p)
				if pl.Status != capacity.InfeasibleStatus || len(pl.Conflicts) == 0 || pl.Conflicts[0].Hint == nil {
					t.Fatalf("status %s, conflicts %+v\n%s", pl.Status, pl.Conflicts, plantest.Text(p))
				}
				said := plantest.Amount(pl.Conflicts[0].Hint.Value.(string))
				spent, allowed := hourly[integrality].Mul(decimal.NewFromInt(seconds)), said.Mul(decimal.NewFromInt(3600))
				if over := allowed.Sub(spent); over.IsNegative() || over.GreaterThanOrEqual(decimal.New(3600, -money.Places)) {
					t.Errorf("%s is said to be the least budget; an hour costs %s\n%s", said, hourly[integrality], plantest.Text(p))
				}
			}
		}
	}
}

// A budget that is a hair less than what promised fractions of VMs cost has no plan, however little of a VM is missing.
func TestBudgetAHairTooSmallIsOneWithoutPlan(t *testing.T) {
	for _, x := range []struct {
		seconds            int64
		price, gamma, cost string
	}{{3600, "4", "2.5", "10"}, {730 * 3600, "10", "0.01", "73"}, {730 * 3600, "10", "1", "7300"}} {
		for places := int32(2); places < 10; places++ {
			p := capacity.Problem{Currency: "USD", PeriodSeconds: x.seconds, Options: capacity.DefaultOptions()}
			p.Options.Integrality, p.Options.Engine = capacity.Relaxed, capacity.EngineExact
			p.Supply.OnDemand.Price = plantest.Amount(x.price)
			gamma := plantest.Amount(x.gamma).Decimal
			p.Classes = []capacity.Class{{Name: "k", VMsPerJob: &gamma, Jobs: capacity.JobRange{Min: 1, Max: 2}, Penalty: plantest.Amount("3.3")}}
			short := decimal.New(1, -places)
			p.Budget = &capacity.Budget{VMCost: &money.Amount{Decimal: plantest.Amount(x.cost).Sub(short)}}
			pl := answered(t, p)
			if noise := plantest.Amount(x.cost).Mul(decimal.New(1, -9)).Add(decimal.New(1, -9)); (pl.Status == capacity.InfeasibleStatus) != short.GreaterThan(noise) {
				t.Errorf("%s too little: %s\n%s", short, pl.Status, plantest.Text(p))
			}
			if report := proof.Verify(p, pl, proof.Options{}); !report.Accepted() {
				t.Errorf("%s too little: %s\n%s", short, report, plantest.Text(p))
			}
		}
	}
}

// What a contract is worth is the difference of amounts that floats may hold to less than a billionth.
func TestContractsThatCostMuchAreProved(t *testing.T) {
	for seconds := int64(1); seconds < 60; seconds++ {
		p := capacity.Problem{Currency: "USD", PeriodSeconds: seconds, Options: capacity.DefaultOptions()}
		p.Options.Engine = capacity.EngineExact
		p.Supply.Contracts = []capacity.Contract{{Name: "dear", VMs: 1, Price: plantest.Amount("999999999"), Billing: capacity.BilledAlways}}
		p.Supply.OnDemand.Price = plantest.Amount("0.1")
		gamma := plantest.Amount("3.25").Decimal
		p.Classes = []capacity.Class{{Name: "k", VMsPerJob: &gamma, Jobs: capacity.JobRange{Max: 5}, Penalty: plantest.Amount("1")}}
		if report := proof.Verify(p, answered(t, p), proof.Options{}); !report.Accepted() {
			t.Errorf("%s\n%s", report, plantest.Text(p))
		}
	}
}

// Where quota and budget keep promised jobs out together, the quota is named; the budget only where no quota helps.
func TestABudgetIsNotBlamedForAQuota(t *testing.T) {
	amount := plantest.Amount("0")
	for budget := range 40 {
		for quota := range int64(6) {
			p := capacity.Problem{Currency: "USD", PeriodSeconds: 3600, Options: capacity.DefaultOptions()}
			p.Supply.OnDemand = capacity.OnDemand{Price: plantest.Amount("0.51"), Quota: &quota}
			p.Supply.Contracts = []capacity.Contract{{Name: "c", VMs: 1, Price: plantest.Amount("0.52"), Billing: capacity.BilledAlways}}
			p.Supply.Spot = &capacity.Spot{Price: plantest.Amount("0.33"), MaxShare: 0.3}
			most := money.Amount{Decimal: decimal.New(int64(10*budget), -2)}
			p.Budget = &capacity.Budget{VMCost: &most}
			gamma := plantest.Amount("1.2").Decimal
			p.Classes = []capacity.Class{{Name: "a", VMsPerJob: &gamma, Jobs: capacity.JobRange{Min: 4, Max: 4}, Penalty: amount}}
			pl := answered(t, p)
			if pl.Status != capacity.InfeasibleStatus {
				continue
			}
			blamed := map[string]bool{}
			for _, c := range pl.Conflicts {
				blamed[c.Pointer] = true
			}
			without := p
			without.Budget = nil
			if answered(t, without).Status == capacity.InfeasibleStatus && !blamed["/supply/on_demand/quota"] {
				t.Errorf("without a budget there is no plan either, and no quota is named: %+v\n%s", pl.Conflicts, plantest.Text(p))
			}
			without = p
			without.Supply.OnDemand.Quota = nil
			if answered(t, without).Status != capacity.InfeasibleStatus && blamed["/budget/vm_cost"] && !blamed["/supply/on_demand/quota"] {
				t.Errorf("without a quota there is a plan, and the budget alone is named: %+v\n%s", pl.Conflicts, plantest.Text(p))
			}
		}
	}
}
