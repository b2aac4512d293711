package whatif

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/plan/integer"
	"example.org/headroom/internal/test/plantest"
)

// TestScenariosOfSeveralVMTypesClose draws problems of several types, spot and budgets. Every line must
// add up, no change must change nothing, and no tier of the same decisions may exceed what there is.
func TestScenariosOfSeveralVMTypesClose(t *testing.T) {
	factor := func(x float64) *float64 { return &x }
	compared := 0
	for _, kind := range slices.Sorted(maps.Keys(plantest.FleetKinds)) {
		r := rand.New(rand.NewPCG(8, 3))
		for range plantest.Samples(60) {
			p := plantest.DrawFleet(r, plantest.FleetKinds[kind], 3, 4)
			base, err := NewBase(t.Context(), p, alone)
			if err != nil {
				t.Fatal(err)
			}
			added := plantest.AmountIn(t, "0.05")
			for _, changes := range [][]ScenarioChange{
				nil,
				{{What: ChangePrice, Factor: factor(1.5)}},
				{{What: ChangeDeadline, Factor: factor(0.8)}},
				{{What: ChangeDemand, Factor: factor(0.5)}},
				{{What: ChangeSpotShare, Factor: factor(0.5)}},
				{{What: DropVMType, VMType: "type-1"}},
				{{What: AddVMType, Add: &AddedSupply{VMType: &capacity.VMTypeSupply{Name: "added", OnDemand: capacity.OnDemand{Price: added}}}}},
			} {
				s := Scenario{Changes: changes}
				changed, err := s.Apply(p)
				if err != nil {
					continue // such as a type that this problem does not have
				}
				a, err := base.Answer(t.Context(), s, true)
				if err != nil {
					t.Fatal(err)
				}
				if a.Difference == nil {
					continue
				}
				compared++
				at := func(format string, values ...any) {
					t.Helper()
					text, _ := json.Marshal(p)
					what, _ := json.Marshal(changes)
					t.Fatalf("%s: %s\nproblem %s\nchanges %s", kind, fmt.Sprintf(format, values...), text, what)
				}
				checkClosed(at, a.Difference, &base.Plan, a.Plan)
				if changes == nil && (!a.Difference.Kept || !a.Difference.Cost[0].Values.IsZero() || !a.Difference.Cost[0].Decisions.IsZero()) {
					at("no change makes %+v", a.Difference)
				}
				same, err := base.sameDecisions(&changed)
				if err != nil {
					t.Fatal(err)
				}
				for k, of := range changed.Supply.Types() {
					u := &same.uses[k]
					if of.Spot != nil && u.spot > of.Spot.MaxShare*u.total()+integer.LoadNoise || of.Spot == nil && u.spot > 0 {
						at("%g of %g VMs of type %s are spot", u.spot, u.total(), of.Name)
					}
					if q := of.OnDemand.Quota; q != nil && u.onDemand > float64(*q) {
						at("%g VMs of type %s are rented on demand, and the quota is %d", u.onDemand, of.Name, *q)
					}
					for n, c := range of.Contracts {
						if u.contracts[n] > float64(c.VMs) {
							at("%g VMs of contract %s are used, which has %d", u.contracts[n], c.Name, c.VMs)
						}
					}
				}
			}
		}
	}
	t.Logf("%d scenarios compared", compared)
	if compared < 100 {
		t.Error("hardly any scenario was compared")
	}
}
