package recheck

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"example.org/headroom/internal/ask/horizon"
	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/money"
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
func TestOtherVMsInTheClusterAsItIs(t *testing.T) {
	for _, price := range []string{"0.14", "0.05", "0.25"} {
		text := fmt.Sprintf(spotText, price)
		if price > "0.20" {
			text = fmt.Sprintf(refusedText, "0.30", price)
		}
		question, answer := answerPurchase(t, text)
		if r := verified(t, question, answer); r.Outcome != proof.OK {
			t.Fatalf("%s\n%s", r, answer)
		}
		tried := 0
		mutations(t, answer, func(at string, mutated []byte) {
			if !strings.HasPrefix(at, "/found/") && (price > "0.20" || !strings.HasPrefix(at, "/facts/")) {
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
		if tried < 30 {
			t.Errorf("for %s only %d changes", price, tried)
		}
	}
}

// Offers of which there are no VMs change no answer, also where no purchase pays and the cheapest offer is one of them.
func TestOffersOfNoVMs(t *testing.T) {
	none := `"offers": [{"name": "none", "price": "0.01", "billing": "always", "term_hours": 12, "max": 0}`
	for _, text := range []string{fmt.Sprintf(spotText, "0.14"), fmt.Sprintf(refusedText, "0.90", "0.05"), fmt.Sprintf(refusedText, "0.90", "0.60")} {
		var alone, beside horizon.PurchaseAnswer
		_, answer := answerPurchase(t, text)
		decoded(t, answer, &alone)
		question, answer := answerPurchase(t, strings.Replace(text, `"offers": [`, none+", ", 1))
		if r := verified(t, question, answer); r.Outcome != proof.OK {
			t.Errorf("%s\n%s", r, answer)
		}
		decoded(t, answer, &beside)
		if beside.Offers[0].VMs != 0 || beside.Offers[1].VMs != alone.Offers[0].VMs || !beside.Recommended.Total.Equal(alone.Recommended.Total.Decimal) {
			t.Errorf("beside an offer of no VMs it buys %+v, alone %+v", beside.Offers, alone.Offers)
		}
		before, _, _ := strings.Cut(text, `"offers": [`)
		question, answer = answerPurchase(t, before+none+"]}")
		if r := verified(t, question, answer); r.Outcome != proof.OK {
			t.Errorf("%s\n%s", r, answer)
		}
	}
}

// Two classes arrive, some of which no hour has VMs for: an admitted job holds its VMs in dear hours as well.
const refusedText = `{"problem": {"currency": "USD", "period_s": 3600, "supply": {"on_demand": {"price": "0.50", "quota": 6}},
	"classes": [{"name": "long", "deadline_s": 9000, "vms_per_job": "1", "jobs": {"max": 100}, "penalty": "0.60"},
		{"name": "short", "deadline_s": 3600, "vms_per_job": "0.5", "jobs": {"max": 100}, "penalty": "%s"}]},
	"periods": [{"start": "2026-01-31T20:00:00Z", "hours": 3, "arrivals": [9, 4]}, {"start": "2026-01-31T23:00:00Z", "hours": 5, "arrivals": [0, 3], "on_demand_price": "0.70"},
		{"start": "2026-02-01T04:00:00Z", "hours": 4, "arrivals": [12, 0]}], "factors": [1],
	"offers": [{"name": "half a day", "price": "%s", "billing": "always", "term_hours": 12, "max": 40}]}`

// Where jobs are refused, what months come to is no less than the hours by themselves, and leads.
func TestMonthsOfAPurchaseWhereJobsAreRefused(t *testing.T) {
	for _, c := range []struct{ value, price, led string }{
		{"0.10", "0.20", `Buy 5 VMs of "half a day": from 2026-01-31 20:00 UTC until 2026-02-01 08:00 UTC, as months plan it, that cuts the VM bill by`}, // hour by hour it rises
		{"0.10", "0.40", `Buy 2 VMs of "half a day": from 2026-01-31 20:00 UTC until 2026-02-01 08:00 UTC, as months plan it, that raises the VM bill by`},
		{"0.90", "0.05", `Buy 8 VMs of "half a day": from 2026-01-31 20:00 UTC until 2026-02-01 08:00 UTC, as months plan it, that cuts the VM bill by`},
		{"0.90", "0.60", `Buy none of the offers: from 2026-01-31 20:00 UTC until 2026-02-01 08:00 UTC, as months plan it, the VM bill stays at`},
	} {
		question, answer := answerPurchase(t, fmt.Sprintf(refusedText, c.value, c.price))
		if r := verified(t, question, answer); r.Outcome != proof.OK {
			t.Fatalf("%s\n%s", r, answer)
		}
		var a horizon.PurchaseAnswer
		decoded(t, answer, &a)
		if !strings.HasPrefix(a.Answer, c.led) {
			t.Errorf("got %q, want %q", a.Answer, c.led)
		}
		for name, change := range map[string]func(a *horizon.PurchaseAnswer){
			"how it was found is not told":  func(a *horizon.PurchaseAnswer) { a.Found = nil },
			"nothing is said to be refused": func(a *horizon.PurchaseAnswer) { a.Found.LeftOut = []horizon.LeftOut{} },
			"spot VMs that there are not":   func(a *horizon.PurchaseAnswer) { a.Found.LeftOut = []horizon.LeftOut{horizon.WithoutSpot} },
			"a bill that is too low": func(a *horizon.PurchaseAnswer) {
				a.Found.Today.Cost.OnDemand, a.Found.Today.Cost.Bill, a.Found.Today.Bill = money.Amount{}, money.Amount{}, money.Amount{}
				a.Found.Today.Total, a.Found.Today.Cost.Total = a.Found.Today.Cost.Penalties, a.Found.Today.Cost.Penalties
			},
		} {
			decoded(t, answer, &a)
			q, err := horizon.ReadPurchase(question, capacity.DefaultLimits())
			if err != nil {
				t.Fatal(err)
			}
			change(&a)
			a = a.Retold(&q)
			if r := verified(t, question, marshalled(a)); !strings.Contains(r.String(), "/found") {
				t.Errorf("for %v this passes: %s\n%s", c, name, r)
			}
		}
	}
}

// VMs that were not found so, costs that are not lower and too many tries are found by the figures, whatever the sentences say.
func TestPurchasesThatAreNotBetterAreFound(t *testing.T) {
	question, answer := answerPurchase(t, fmt.Sprintf(spotText, "0.14"))
	for name, change := range map[string]func(a *horizon.PurchaseAnswer){
		"a cost that is not lower":  func(a *horizon.PurchaseAnswer) { a.Recommended = a.Found.AsItIs },
		"more tried than there are": func(a *horizon.PurchaseAnswer) { a.Found.OthersTried = 9 },
		"none tried":                func(a *horizon.PurchaseAnswer) { a.Found.OthersTried = 0 },
		"others in no proportion":   func(a *horizon.PurchaseAnswer) { a.Found.VMs = []int64{2} },
		"more than on offer":        func(a *horizon.PurchaseAnswer) { a.Found.VMs = []int64{math.MaxInt64} },
		"VMs of no offer":           func(a *horizon.PurchaseAnswer) { a.Found.VMs = []int64{5, 5} },
		"no VMs":                    func(a *horizon.PurchaseAnswer) { a.Found.VMs = nil },
		"a best that is none":       func(a *horizon.PurchaseAnswer) { a.Status = capacity.Optimal },
		"an hour without a plan":    func(a *horizon.PurchaseAnswer) { a.Found.AsItIs.Status = capacity.InfeasibleStatus },
	} {
		var a horizon.PurchaseAnswer
		decoded(t, answer, &a)
		change(&a)
		if r := verified(t, question, marshalled(a)); r.Accepted() {
			t.Errorf("%s passes:\n%s", name, r)
		}
	}
}
