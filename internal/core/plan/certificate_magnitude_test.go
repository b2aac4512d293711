package plan

import (
	"testing"

	"github.com/shopspring/decimal"

	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/money"
	"example.org/headroom/internal/core/proof"
	"example.org/headroom/internal/test/plantest"
)

// Jobs whose penalties are exactly what their VMs cost have an objective of nothing, which is the difference of large
// amounts. The short form has one to twelve classes and every seventh number up to 40, the long one all.
func TestPenaltiesThatEqualLargeCostsArePlanned(t *testing.T) {
	t.Parallel()
	for n := 1; n <= 40; n++ {
		if n > 12 && n%14 != 12 && plantest.Trials(0, 1) == 0 {
			continue
		}
		p := capacity.Problem{Currency: "IDR", PeriodSeconds: 730 * 3600, Options: capacity.DefaultOptions()}
		p.Options.Integrality, p.Options.Engine = capacity.Integer, capacity.EngineExact
		p.Supply.OnDemand.Price = plantest.Amount("9876.123456789")
		for i := range n {
			gamma := decimal.NewFromInt(int64(7 + i))
			penalty := money.Amount{Decimal: p.Supply.OnDemand.Price.Mul(gamma).Mul(decimal.NewFromInt(730))}
			p.Classes = append(p.Classes, capacity.Class{Name: string(rune('A' + i)), VMsPerJob: &gamma, Penalty: penalty, Jobs: capacity.JobRange{Min: 999, Max: 1000}})
		}
		pl := answered(t, p)
		if !pl.Objective.IsZero() {
			t.Errorf("%d classes: the objective is %s", n, pl.Objective)
		}
		if report := proof.Verify(p, pl, proof.Options{}); !report.Accepted() {
			t.Errorf("%d classes: %s", n, report)
		}
	}
}
