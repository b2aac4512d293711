package recheck

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"example.org/headroom/internal/ask/horizon"
	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/proof"
	"example.org/headroom/internal/test/plantest"
)

// Ten jobs of a VM each are cheapest without spot on ten VMs of an offer for 0.14. Beside spot VMs for 0.06, of which there are five,
// five are best.
const spotText = `{"problem": {"currency": "USD", "period_s": 3600, "supply": {"on_demand": {"price": "0.20"}, "spot": {"price": "0.06", "max_share": 0.5}},
	"classes": [{"name": "a", "vms_per_job": "1", "jobs": {"min": 10, "max": 10}, "penalty": "1"}]},
	"periods": [{"start": "2026-01-31T20:00:00Z", "hours": 24, "jobs": [10]}], "leave_out": ["spot"], "factors": [1],
	"offers": [{"name": "year", "price": "%s", "billing": "always", "term_hours": 24, "max": 40}]}`

// What is said of fewer VMs in the cluster as it is follows from their cost, and from that of the purchase and of none.
func TestFewerVMsInTheClusterAsItIs(t *testing.T) {
	for _, price := range []string{"0.14", "0.05", "0.11"} {
		question, answer := answerPurchase(t, fmt.Sprintf(spotText, price))
		if r := verified(t, question, answer); r.Outcome != proof.OK {
			t.Fatalf("%s\n%s", r, answer)
		}
		tried := 0
		mutations(t, answer, func(at string, mutated []byte) {
			if !strings.HasPrefix(at, "/as_it_is/") && !strings.HasPrefix(at, "/facts/") {
				return
			}
			if tried++; tried%plantest.Trials(3, 1) != 0 {
				return
			}
			if strings.Contains(at, "/status: feasible for optimal") { // which claims less
				return
			}
			if r, err := Answer(question, mutated, Options{Limits: capacity.DefaultLimits()}); err == nil && r.Accepted() {
				t.Errorf("for %s this passes: %s", price, at)
			}
		})
		if tried < 50 {
			t.Errorf("for %s only %d changes", price, tried)
		}
	}
}

// Costs that add up and are not lower, and other numbers of VMs, are found by the figures, whatever the sentences say.
func TestFewerVMsThatAreNotBetterAreFound(t *testing.T) {
	question, answer := answerPurchase(t, fmt.Sprintf(spotText, "0.14"))
	for name, change := range map[string]func(as *horizon.AsItIs){
		"a cost that is not lower":     func(as *horizon.AsItIs) { as.Fewer.Cost = as.Today },
		"hours without a plan":         func(as *horizon.AsItIs) { as.Fewer.Cost.Status = capacity.InfeasibleStatus },
		"as many VMs":                  func(as *horizon.AsItIs) { as.Fewer.VMs = []int64{10} },
		"no VMs":                       func(as *horizon.AsItIs) { as.Fewer.VMs = []int64{0} },
		"VMs of no offer":              func(as *horizon.AsItIs) { as.Fewer.VMs = []int64{5, 5} },
		"none tried":                   func(as *horizon.AsItIs) { as.FewerTried = 0 },
		"more tried than there can be": func(as *horizon.AsItIs) { as.FewerTried = 9 },
		"a number beyond all":          func(as *horizon.AsItIs) { as.FewerTried = math.MaxInt64 },
	} {
		var a horizon.PurchaseAnswer
		decoded(t, answer, &a)
		change(a.AsItIs)
		if r := verified(t, question, marshalled(a)); !strings.Contains(r.String(), "/as_it_is/fewer") {
			t.Errorf("%s passes:\n%s", name, r)
		}
	}
}
