package plan

import (
	"math/rand/v2"
	"strings"
	"testing"

	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/money"
	"example.org/headroom/internal/core/proof"
	"example.org/headroom/internal/test/plantest"
)

// A refused job's reason says how many VMs are missing, not how many it takes.
func TestReasonCountsTheVMsThatAreMissing(t *testing.T) {
	for _, c := range []struct{ problem, want string }{
		{`{"currency":"USD","supply":{"on_demand":{"price":"0.5","quota":9}},"classes":[{"name":"a","vms_per_job":"2.5","jobs":{"min":0,"max":4},"penalty":"2.6"}]}`, "One more job cannot be served within the limits: beside what is promised it needs 1 VM more than there are; a quota of 10 on demand would do."},
		{`{"currency":"USD","supply":{"on_demand":{"price":"0.01","quota":6}},"classes":[{"name":"a","vms_per_job":"7","jobs":{"min":0,"max":1},"penalty":"1"}]}`, "One more job cannot be served within the limits: beside what is promised it needs 1 VM more than there are; a quota of 7 on demand would do."},
		{`{"currency":"USD","supply":{"on_demand":{"price":"0.01","quota":5}},"classes":[{"name":"a","vms_per_job":"7","jobs":{"min":0,"max":1},"penalty":"1"}]}`, "One more job cannot be served within the limits: beside what is promised it needs 2 VMs more than there are; a quota of 7 on demand would do."},
		{`{"currency":"USD","supply":{"on_demand":{"price":"1","quota":null}},"classes":[{"name":"a","vms_per_job":"2.5","jobs":{"min":0,"max":4},"penalty":"2"}]}`, "One more job costs 3.00 an hour in VMs; refused, it is valued at 2.00."},
		// Where the budget pays for fewer VMs than there are, it is the limit.
		{`{"currency":"USD","budget":{"vm_cost":"0"},"supply":{"on_demand":{"price":"1","quota":null}},"classes":[{"name":"a","vms_per_job":"1","jobs":{"min":0,"max":5},"penalty":"2"}]}`, "One more job cannot be served within the budget for VMs: beside what is promised it needs 1 VM more than 0.00 USD an hour buys. A budget of 1.00 USD an hour, 1.00 more, would do."},
		{`{"currency":"USD","budget":{"vm_cost":"2.5"},"supply":{"on_demand":{"price":"1","quota":3}},"classes":[{"name":"a","vms_per_job":"1","jobs":{"min":0,"max":2},"penalty":"2"}]}`, "A refused one is valued at 2.00 an hour, and one more cannot be served within the budget for VMs: beside what is promised it needs 1 VM more than 2.50 USD an hour buys. A budget of 3.00 USD an hour, 0.50 more, would do."},
		{`{"currency":"USD","budget":{"vm_cost":"2"},"supply":{"on_demand":{"price":"1","quota":2}},"classes":[{"name":"a","vms_per_job":"1","jobs":{"min":0,"max":5},"penalty":"2"}]}`, "One more job cannot be served within the limits: beside what is promised it needs 1 VM more than there are."},
		{`{"currency":"USD","budget":{"total":"6"},"supply":{"on_demand":{"price":"3","quota":null}},"classes":[{"name":"a","vms_per_job":"1","jobs":{"min":0,"max":3},"penalty":"2"}]}`, "One more job cannot be served within the budget. A budget of 7.00 USD an hour, 1.00 more, would do."},
		{`{"currency":"USD","budget":{"vm_cost":"2"},"supply":{"on_demand":{"price":"1","quota":null}},"options":{"integrality":"relaxed"},"classes":[{"name":"a","vms_per_job":"1","jobs":{"min":2,"max":2},"penalty":"2"}]}`, "A refused one is valued at 2.00 an hour, and one more cannot be served within the budget. A budget of 3.00 USD an hour, 1.00 more, would do."},
		// Ties in whole VMs say that they are, those of the relaxation do not, and amounts that two places do not tell apart have more.
		{`{"currency":"USD","supply":{"on_demand":{"price":"0.3","quota":null}},"classes":[{"name":"a","vms_per_job":"2","jobs":{"min":0,"max":1},"penalty":"0.6"}]}`, "One more job costs 0.60 an hour in VMs, as much as it is valued at when refused: a tie."},
		{`{"currency":"USD","supply":{"on_demand":{"price":"0.3","quota":null}},"classes":[{"name":"a","vms_per_job":"2","jobs":{"max":1,"all":true},"penalty":"0"}]}`, "One more job costs 0.60 an hour in VMs; all jobs that arrive are promised."},
		{`{"currency":"USD","supply":{"on_demand":{"price":"0.3","quota":2}},"classes":[{"name":"a","vms_per_job":"2","jobs":{"max":1,"all":true},"penalty":"0"}]}`, "All jobs that arrive are promised, and one more cannot be served within the limits: beside what is promised it needs 2 VMs more than there are; a quota of 4 on demand would do."},
		{`{"currency":"USD","supply":{"on_demand":{"price":"0.3","quota":null}},"classes":[{"name":"a","vms_per_job":"2","jobs":{"min":1,"max":1},"penalty":"0.6"}]}`, "One more job costs 0.60 an hour in VMs; refused, it is valued at 0.60."},
		{`{"currency":"USD","supply":{"on_demand":{"price":"0.301","quota":null}},"classes":[{"name":"a","vms_per_job":"2","jobs":{"min":0,"max":1},"penalty":"0.6"}]}`, "One more job costs 0.602 an hour in VMs; refused, it is valued at 0.600."},
		{`{"currency":"USD","supply":{"vm_types":[{"name":"x","on_demand":{"price":"0.3","quota":null}},{"name":"y","on_demand":{"price":"0.4","quota":null}}]},"classes":[{"name":"a","vms_per_job":"2","jobs":{"min":0,"max":1},"penalty":"0.6"}]}`, "One more job costs 0.60 an hour in VMs, as much as it is valued at when refused: a tie."},
		{`{"currency":"USD","supply":{"vm_types":[{"name":"x","on_demand":{"price":"0.3","quota":null}},{"name":"y","on_demand":{"price":"0.4","quota":null}}]},"classes":[{"name":"a","vms_per_job":"2","jobs":{"min":0,"max":1},"penalty":"0.6004"}]}`, "One more job costs 0.6000 an hour in VMs; refused, it is valued at 0.6004."},
	} {
		p, err := capacity.ReadProblem([]byte(c.problem), capacity.DefaultLimits())
		if err != nil {
			t.Fatal(err)
		}
		p.Options.Engine = capacity.EngineExact
		pl, err := Solve(t.Context(), p, nil)
		if err != nil {
			t.Fatal(err)
		}
		if got := pl.Classes[0].Reason; !strings.Contains(got, c.want) {
			t.Errorf("got %q, want %q", got, c.want)
		}
	}
}

// The reason names the budget just where it pays for fewer VMs than there are. Here VMs are bought one by one.
func TestReasonsNameTheBudgetThatLimits(t *testing.T) {
	t.Parallel()
	r, named, others := rand.New(rand.NewPCG(5, 27)), 0, 0
	for range plantest.Samples(200) {
		p := capacity.Problem{Currency: "USD", PeriodSeconds: 3600, Options: capacity.DefaultOptions()}
		p.Options.Integrality, p.Options.Engine = capacity.Integer, capacity.EngineExact
		p.Supply.OnDemand = capacity.OnDemand{Price: money.Round(1), Quota: new(r.Int64N(4))}
		always := r.Int64N(3)
		p.Supply.Contracts = []capacity.Contract{{Name: "r", VMs: always, Price: money.Round(0.5), Billing: capacity.BilledAlways}}
		p.Budget = &capacity.Budget{VMCost: new(money.Round(float64(r.IntN(12)) / 2))}
		p.Classes = []capacity.Class{plantest.ByGamma(t, "a", "1.5", "3", 0, 4)}
		pl, err := Solve(t.Context(), p, nil)
		if err != nil || pl.Status == capacity.InfeasibleStatus {
			continue
		}
		pays := func(onDemand int64) bool { // in halves
			return always+2*onDemand <= int64(2*p.Budget.VMCost.Float())
		}
		bought := int64(0)
		for bought < *p.Supply.OnDemand.Quota && pays(bought+1) {
			bought++
		}
		reason := pl.Classes[0].Reason
		if more := pl.Classes[0].OneMore; !more.Told() || more.Fits || more.VMs == nil {
			continue
		}
		limited := bought < *p.Supply.OnDemand.Quota
		if limited {
			named++
		} else {
			others++
		}
		if strings.Contains(reason, "within the budget for VMs") != limited {
			t.Errorf("%d of %d VMs are paid for: %q", bought, *p.Supply.OnDemand.Quota, reason)
		}
		if checked := proof.Verify(p, pl, proof.Options{}); checked.Outcome == proof.Failed {
			t.Errorf("verify: %+v", checked.Checks)
		}
	}
	if named < 20 || others < 20 {
		t.Errorf("%d reasons name the budget, %d others do not", named, others)
	}
}

// Where no VM can be rented at all, no plan says that jobs of others use them, and one VM more has no price.
func TestNobodyUsesVMsThatAreNotThere(t *testing.T) {
	t.Parallel()
	none := int64(0)
	for name, limit := range map[string]func(p *capacity.Problem){
		"a quota of 0":  func(p *capacity.Problem) { p.Supply.OnDemand.Quota = &none },
		"a budget of 0": func(p *capacity.Problem) { p.Budget = &capacity.Budget{VMCost: &money.Amount{}} },
		"a quota of 0 beside spot": func(p *capacity.Problem) {
			p.Supply.OnDemand.Quota, p.Supply.Spot = &none, &capacity.Spot{Price: money.Round(0.05), MaxShare: 0.5}
		},
	} {
		for _, integrality := range []capacity.Integrality{capacity.Relaxed, capacity.Integer, capacity.Executable} {
			p := capacity.Problem{Currency: "USD", PeriodSeconds: 3600, Options: capacity.DefaultOptions()}
			p.Options.Integrality, p.Options.Engine = integrality, capacity.EngineExact
			p.Supply.OnDemand.Price = money.Round(0.1)
			p.Classes = []capacity.Class{plantest.ByGamma(t, "a", "1.5", "0.5", 0, 3), plantest.ByGamma(t, "b", "2", "0.35", 0, 2)}
			limit(&p)
			pl, err := Solve(t.Context(), p, nil)
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			if pl.VMs.Total != 0 || pl.Prices.Capacity.High != nil {
				t.Errorf("%s, %s: %g VMs, and one more costs %v; want none and nothing", name, integrality, pl.VMs.Total, pl.Prices.Capacity.High)
			}
			for _, c := range pl.Classes {
				if strings.Contains(c.Reason, "in use") || strings.Contains(c.Reason, "used up") {
					t.Errorf("%s, %s: %s", name, integrality, c.Reason)
				}
			}
			if r := proof.Verify(p, pl, proof.Options{}); r.Outcome == proof.Failed {
				t.Errorf("%s, %s: verify: %+v", name, integrality, r.Checks)
			}
		}
	}
}
