package horizon

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/test/plantest"
)

// Where arrivals are refused, a purchase leads with the bill that months have with it as a contract. It is never recommended
// where months say that it makes bill and value refused together more.
func TestPurchasesOfRefusedArrivalsAreThoseOfMonths(t *testing.T) {
	kinds := map[string]int{}
	for seed := range uint64(plantest.Trials(16, 120)) {
		h := drawnRefusals(t, seed)
		r := rand.New(rand.NewPCG(31, seed))
		q := PurchaseQuestion{Horizon: h, Factors: []float64{}}
		for k := range 1 + r.IntN(2) {
			q.Offers = append(q.Offers, capacity.Offer{Name: fmt.Sprint("offer ", k), Price: plantest.AmountIn(t, fmt.Sprintf("0.%02d", 3+r.IntN(30))),
				Billing: []capacity.Billing{capacity.BilledAlways, capacity.BilledUsed}[k], TermHours: int64(20 + 20*r.IntN(2)), Max: int64(1 + r.IntN(60))})
		}
		a := recommended(t, q)
		if a.Status == capacity.InfeasibleStatus {
			continue
		}
		f := a.Found
		if f == nil {
			if a.Horizon.Total.RefusedHours > 0 {
				t.Errorf("seed %d: jobs are refused, and months are not told", seed)
			}
			continue
		}
		if !slices.Equal(f.LeftOut, []LeftOut{WithoutStarted}) {
			t.Fatalf("seed %d: without %v", seed, f.LeftOut)
		}
		bought := make([]int64, len(q.Offers))
		for k := range bought {
			bought[k] = a.Offers[k].VMs
		}
		today, with := planned(t, h), planned(t, withOffers(&q, bought))
		for _, of := range []struct {
			name string
			cost *PurchaseCost
			is   *Answer
		}{{"today", &a.Today, &today}, {"recommended", &a.Recommended, &with}} {
			if !of.is.Total.Cost.Total.Equal(of.cost.Total.Decimal) || !of.is.Total.Cost.Bill.Equal(of.cost.Bill.Decimal) {
				t.Errorf("seed %d, %s: months cost %s, and the purchase says %s", seed, of.name, of.is.Total.Cost.Total, of.cost.Total)
			}
		}
		if with.Total.Cost.Total.GreaterThan(today.Total.Cost.Total.Decimal) {
			t.Errorf("seed %d: %v are recommended, and months cost %s with them and %s without", seed, bought, with.Total.Cost.Total, today.Total.Cost.Total)
		}
		kind := "as weighed"
		switch {
		case slices.Max(f.VMs) == 0 && slices.Max(bought) == 0:
			kind = "none weighed"
		case slices.Max(bought) == 0:
			kind = "none"
		case !slices.Equal(bought, f.VMs):
			kind = "another"
		}
		kinds[kind]++
		if slices.Max(bought) > 0 {
			if led := ", as months plan it, that " + billSentence(&a.Today, &a.Recommended, "USD"); !strings.Contains(a.Facts[0].Claim, led) {
				t.Errorf("seed %d: %q does not lead with %q", seed, a.Facts[0].Claim, led)
			}
		}
	}
	if kinds["as weighed"] < 5 || kinds["another"] < 5 || kinds["none weighed"] < 1 {
		t.Errorf("the kinds drawn are %v", kinds)
	}
}
