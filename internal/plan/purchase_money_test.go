package plan

import (
	"strings"
	"testing"
	"time"

	"headroom/internal/capacity"
)

// Whoever adds up an answer by its own figures gets what stands in it, to the last of nine decimals: the
// recommendation costs the same in its curve, at the demand that is expected and in the total.
func TestPurchaseMoneyCloses(t *testing.T) {
	p := oneClass(t, "0.123456789")
	p.Classes[0].Jobs.Max, p.Classes[0].Penalty = 5000, money(t, "900000000")
	q := capacity.PurchaseQuestion{Horizon: capacity.Horizon{Problem: p, Periods: hoursFrom(firstHour, 3000, 5000, 4321)}, Factors: []float64{0.7, 1, 1.3}}
	q.Contracts = []capacity.TermContract{signed(t, 7, "0.05", capacity.BilledAlways, firstHour.Add(-4*time.Hour), firstHour.Add(3*time.Hour))}
	q.Contracts[0].Upfront = money(t, "1.00")
	q.Offers = []capacity.Offer{
		{Name: "eleven hours", Price: money(t, "0.01"), Upfront: money(t, "0.70"), Billing: capacity.BilledAlways, TermHours: 11, Max: 2500},
		{Name: "thirteen", Price: money(t, "0.02"), Upfront: money(t, "0.05"), Billing: capacity.BilledUsed, TermHours: 13, Max: 1700},
	}
	a := recommended(t, q)
	if a.Offers[1].VMs == 0 || len(a.Curves) != 2 || len(a.Regret) != 3 {
		t.Fatalf("got %+v", a.Offers)
	}
	for _, c := range a.Curves {
		for _, p := range c.Points {
			if want := a.Today.Total.Sub(p.Cost.Decimal); !p.Saving.Equal(want) {
				t.Errorf("%d of %q: today's %v less %v is %v, got %v", p.VMs, c.Offer, a.Today.Total, p.Cost, want, p.Saving)
			}
			if p.VMs == c.Bought && !p.Cost.Equal(a.Recommended.Total.Decimal) {
				t.Errorf("the recommended %d of %q cost %v, and the recommendation %v", p.VMs, c.Offer, p.Cost, a.Recommended.Total)
			}
		}
	}
	for _, r := range a.Regret {
		if want := r.Cost.Sub(r.BestCost.Decimal); !r.Regret.Equal(want) || r.Factor == 1 && !(r.Cost.Equal(a.Recommended.Total.Decimal) && r.TodayCost.Equal(a.Today.Total.Decimal)) {
			t.Errorf("at %g: %v less %v, got %v; the recommendation costs %v", r.Factor, r.Cost, r.BestCost, r.Regret, a.Recommended.Total)
		}
	}
}

// Penalties that only say "never refuse" are a billion times what VMs cost. What is bought, its cost and the bound do
// not depend on how large they are.
func TestPurchaseWithPenaltiesThatForbid(t *testing.T) {
	for _, integrality := range []capacity.Integrality{capacity.Executable, capacity.Integer, capacity.Relaxed} {
		var usual PurchaseAnswer
		for _, penalty := range []string{"1.00", "900000000.00"} {
			p := oneClass(t, "0.123456789")
			p.Options.Integrality, p.Classes[0].Jobs.Max, p.Classes[0].Penalty = integrality, 5000, money(t, penalty)
			q := capacity.PurchaseQuestion{Horizon: capacity.Horizon{Problem: p, Periods: hoursFrom(firstHour, 3000, 5000, 4321)}, Factors: []float64{}}
			q.Offers = []capacity.Offer{
				{Name: "eleven hours", Price: money(t, "0.01"), Upfront: money(t, "0.70"), Billing: capacity.BilledAlways, TermHours: 11, Max: 2500},
				{Name: "thirteen", Price: money(t, "0.02"), Upfront: money(t, "0.05"), Billing: capacity.BilledUsed, TermHours: 13, Max: 1700},
			}
			a := recommended(t, q)
			if a.Recommended.Total.Sub(a.Proof.Bound.Decimal).Sign() < 0 {
				t.Errorf("%s, %s: no purchase is said to cost less than %v, and the recommended one is for %v", integrality, penalty, a.Proof.Bound, a.Recommended.Total)
			}
			if penalty == "1.00" {
				usual = a
			} else if !a.Recommended.Total.Equal(usual.Recommended.Total.Decimal) || !a.Proof.PriceBound.Equal(usual.Proof.PriceBound.Decimal) || a.Proof.Gap > usual.Proof.Gap+1e-4 {
				t.Errorf("%s: got %v and %+v, want %v and %+v as with usual penalties", integrality, a.Recommended.Total, a.Proof, usual.Recommended.Total, usual.Proof)
			}
		}
	}
}

// A sentence says which side is dearer, and of nothing bought not when it has paid for itself.
func TestPurchaseWordsOfDearContracts(t *testing.T) {
	q := capacity.PurchaseQuestion{Horizon: capacity.Horizon{Problem: oneClass(t, "0.20"), Periods: hoursFrom(firstHour, 4, 4)}, Factors: []float64{}}
	q.Contracts = []capacity.TermContract{signed(t, 2, "9.00", capacity.BilledAlways, firstHour, firstHour.Add(2*time.Hour))}
	q.Offers = []capacity.Offer{{Name: "cheap", Price: money(t, "0.10"), Billing: capacity.BilledAlways, TermHours: 2, Max: 9}}
	a := recommended(t, q)
	if want := "saves 0.40 USD against today (0.7 %), and costs 58.80 USD more than VMs on demand only (3675 %)."; !strings.Contains(a.Answer, want) || a.BreakEven == nil {
		t.Errorf("got %q, want %q", a.Answer, want)
	}
	q.Offers[0].Price = money(t, "0.30")
	if a = recommended(t, q); a.Offers[0].VMs != 0 || a.BreakEven != nil {
		t.Errorf("got %d VMs that have paid for themselves by %v, want none", a.Offers[0].VMs, a.BreakEven)
	}
}
