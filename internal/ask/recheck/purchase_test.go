package recheck

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"example.org/headroom/internal/ask/horizon"
	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/proof"
	"example.org/headroom/internal/test/plantest"
)

// purchaseText is the horizon of the months, longer, with two offers.
var purchaseText = strings.NewReplacer(`"hours": 24}`, `"hours": 24}`, `"hours": 40,`, `"hours": 2200,`).Replace(monthsText[:len(monthsText)-1]) + `,
	"offers": [{"name": "long", "price": "0.05", "upfront": "30", "billing": "always", "term_years": 1, "max": 9},
	           {"name": "short", "price": "0.12", "upfront": "0.4", "billing": "used", "term_hours": 500, "from": "2026-02-02T00:00:00Z", "max": 20}],
	"factors": [0.8, 1, 1.25]}`

func answerPurchase(t *testing.T, question string) (asked, answer []byte) {
	t.Helper()
	asked = []byte(strings.Replace(question, `{"problem"`, `{"detail": "classes", "problem"`, 1))
	q, err := horizon.ReadPurchase(asked, capacity.DefaultLimits())
	if err != nil {
		t.Fatal(err)
	}
	a, err := horizon.Purchase(t.Context(), q, nil, 1, nil)
	if err != nil {
		t.Fatal(err)
	}
	a.Horizon.Show(q.Detail)
	if answer, err = json.Marshal(a); err != nil {
		t.Fatal(err)
	}
	return asked, answer
}

// The short form changes every twelfth place of the answer, the long one every fourth.
func TestPurchase(t *testing.T) {
	q, a := answerPurchase(t, purchaseText)
	r := verified(t, q, a)
	if r.Outcome != proof.OK {
		t.Errorf("%s\n%s", r, a)
	}
	var served struct {
		More float64 `json:"served_more_job_hours"`
	}
	decoded(t, a, &served)
	for _, wrong := range []float64{-served.More, served.More / 2, served.More*2 + 1} {
		changed := strings.Replace(string(a), fmt.Sprintf(`"served_more_job_hours":%v`, served.More), fmt.Sprintf(`"served_more_job_hours":%v`, wrong), 1)
		if r := verified(t, q, []byte(changed)); !strings.Contains(r.String(), "the value refused today allows") {
			t.Errorf("%v more job-hours for %v pass:\n%s", wrong, served.More, r)
		}
	}
	allMutationsFail(t, q, a, plantest.Trials(101, 4), notInPurchases...)
}

// notInPurchases are places that the report lists as not checked, or that other tests change.
var notInPurchases = []string{"/horizon/", "/exact", "/proof/price_bound", "/regret/0/bill", "/regret/2/bill", "today_bill", "best_bill", "/gap",
	"/today/status", "/on_demand_only/status", "recommended_bill", "/demand_ends/0/bill", "/demand_ends/1/bill", "/demand_ends/2/bill"}
