package plan

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/proof"
	"example.org/headroom/internal/test/plantest"
)

// A bill that no nine places hold pays for itself as a budget: the plan stays, and the bill is no more than the next
// billionth above what the VMs cost.
func TestABillPaysForItselfAsABudget(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 44))
	fractions := 0
	for range plantest.Trials(35, 5000) {
		classes := make([]string, 1+r.IntN(3))
		for i := range classes {
			classes[i] = fmt.Sprintf(`{"name":"c%d","vms_per_job":%d,"jobs":{"min":0,"max":%d},"penalty":"%d"}`, i, 1+r.IntN(3), 1+r.IntN(4), 1+r.IntN(9))
		}
		on := func() string { return fmt.Sprintf(`"on_demand":{"price":"0.%d1","quota":%d}`, r.IntN(9), 1+r.IntN(9)) }
		supply := on() + fmt.Sprintf(`,"contracts":[{"name":"k","vms":%d,"price":"0.0%d","billing":"%s"}]`, 1+r.IntN(3), 1+r.IntN(9), []string{"used", "always"}[r.IntN(2)])
		if r.IntN(3) == 0 {
			supply = fmt.Sprintf(`"vm_types":[{"name":"a",%s},{"name":"b",%s}]`, supply, on())
		} else if r.IntN(3) == 0 {
			supply += `,"spot":{"price":"0.07","max_share":0.4}`
		}
		period := []int{1000, 1200, 1700, 7000}[r.IntN(4)]
		solved := func(budget string) (capacity.Problem, capacity.Plan) {
			text := fmt.Sprintf(`{"currency":"USD","period_s":%d,"classes":[%s],"supply":{%s}%s,"options":{"integrality":"integer","engine":"exact"}}`, period, strings.Join(classes, ","), supply, budget)
			p, err := capacity.ReadProblem([]byte(text), capacity.DefaultLimits())
			if err != nil {
				t.Fatalf("%v\n%s", err, text)
			}
			pl, err := Solve(t.Context(), p, nil)
			if err != nil {
				t.Fatal(err)
			}
			return p, pl
		}
		_, free := solved("")
		p, within := solved(fmt.Sprintf(`,"budget":{"vm_cost":"%s"}`, free.Cost.Bill))
		if !within.Objective.Equal(free.Objective.Decimal) || !within.Cost.Bill.Equal(free.Cost.Bill.Decimal) {
			t.Fatalf("a bill of %s, and within it %s (%s)", free.Cost.Bill, within.Cost.Bill, within.Status)
		}
		if report := proof.Verify(p, within, proof.Options{}); report.Outcome == proof.Failed {
			t.Fatalf("%s\n%s", report, plantest.Text(p))
		}
		if free.Cost.Bill.Exponent() <= -9 {
			fractions++
		}
	}
	if fractions < plantest.Trials(10, 50) {
		t.Errorf("%d bills of nine places", fractions)
	}
}

// Where a budget is just used up, one VM more in a contract that is paid always takes the money of others: its price pays for
// four VMs of type b. All eight VMs carry jobs, and the last of these are worth 4.50 a VM. So three VMs' worth of them goes.
func TestWorthOfAContractWhereTheBudgetIsUsedUp(t *testing.T) {
	text := `{"currency":"USD","period_s":3600,"supply":{"vm_types":[` +
		`{"name":"a","contracts":[{"name":"k","vms":1,"price":"0.04","billing":"always"}],"on_demand":{"price":"0.81","quota":7}},` +
		`{"name":"b","on_demand":{"price":"0.01","quota":7}}]},"budget":{"vm_cost":"0.11"},"options":{"integrality":"integer","engine":"exact"},"classes":[` +
		`{"name":"c0","vms_per_job":"1","jobs":{"min":0,"max":2},"penalty":"7"},{"name":"c1","vms_per_job":"2","jobs":{"min":0,"max":3},"penalty":"9"}]}`
	p, err := capacity.ReadProblem([]byte(text), capacity.DefaultLimits())
	if err != nil {
		t.Fatal(err)
	}
	pl := answered(t, p)
	if report := proof.Verify(p, pl, proof.Options{}); report.Outcome == proof.Failed {
		t.Errorf("%s", report)
	}
	if got, want := pl.Prices.Contracts[0].Worth.Float(), -3*4.5; got < want-1e-6 || got > want+1e-6 {
		t.Errorf("one VM more in the contract is worth %v, want %v", got, want)
	}
}
