package horizon

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/shopspring/decimal"

	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/plan"
	"example.org/headroom/internal/core/words"
	"example.org/headroom/internal/test/plantest"
)

// The figures of an answer add up to its sums, to the last of nine decimals. The recommendation costs the same in its
// curve, at the expected demand and in the total.
func TestPurchaseMoneyCloses(t *testing.T) {
	p := oneClass(t, "0.123456789")
	p.Classes[0].Jobs.Max, p.Classes[0].Penalty = 5000, plantest.AmountIn(t, "900000000")
	q := PurchaseQuestion{Horizon: Horizon{Problem: p, Periods: hoursFrom(firstHour, 3000, 5000, 4321)}, Factors: []float64{0.7, 1, 1.3}}
	q.Contracts = []TermContract{signed(t, 7, "0.05", capacity.BilledAlways, firstHour.Add(-4*time.Hour), firstHour.Add(3*time.Hour))}
	q.Contracts[0].Upfront = plantest.AmountIn(t, "1.00")
	q.Offers = []capacity.Offer{
		{Name: "eleven hours", Price: plantest.AmountIn(t, "0.01"), Upfront: plantest.AmountIn(t, "0.70"), Billing: capacity.BilledAlways, TermHours: 11, Max: 2500},
		{Name: "thirteen", Price: plantest.AmountIn(t, "0.02"), Upfront: plantest.AmountIn(t, "0.05"), Billing: capacity.BilledUsed, TermHours: 13, Max: 1700},
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
			p.Options.Integrality, p.Classes[0].Jobs.Max, p.Classes[0].Penalty = integrality, 5000, plantest.AmountIn(t, penalty)
			q := PurchaseQuestion{Horizon: Horizon{Problem: p, Periods: hoursFrom(firstHour, 3000, 5000, 4321)}, Factors: []float64{}}
			q.Offers = []capacity.Offer{
				{Name: "eleven hours", Price: plantest.AmountIn(t, "0.01"), Upfront: plantest.AmountIn(t, "0.70"), Billing: capacity.BilledAlways, TermHours: 11, Max: 2500},
				{Name: "thirteen", Price: plantest.AmountIn(t, "0.02"), Upfront: plantest.AmountIn(t, "0.05"), Billing: capacity.BilledUsed, TermHours: 13, Max: 1700},
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
	q := PurchaseQuestion{Horizon: Horizon{Problem: oneClass(t, "0.20"), Periods: hoursFrom(firstHour, 4, 4)}, Factors: []float64{}}
	q.Contracts = []TermContract{signed(t, 2, "9.00", capacity.BilledAlways, firstHour, firstHour.Add(2*time.Hour))}
	q.Offers = []capacity.Offer{{Name: "cheap", Price: plantest.AmountIn(t, "0.10"), Billing: capacity.BilledAlways, TermHours: 2, Max: 9}}
	a := recommended(t, q)
	if want := "from 60.80 to 60.40. It commits you to 0.40 USD over its term, 100 % of it forecast; demand must last until the end of January 2026 for it to pay. Over its whole term \"cheap\" commits to 0.40 USD, used or not; the forecast covers 100 % of that term. With VMs on demand only the VM bill is 1.60 USD, and the value refused is 0.00."; !strings.Contains(a.Explanation, want) || a.BreakEven == nil {
		t.Errorf("got %q, want %q", a.Explanation, want)
	}
	q.Offers[0].Price = plantest.AmountIn(t, "0.30")
	if a = recommended(t, q); a.Offers[0].VMs != 0 || a.BreakEven != nil {
		t.Errorf("got %d VMs that have paid for themselves by %v, want none", a.Offers[0].VMs, a.BreakEven)
	}
}

// A purchase says what it still costs after it has paid for itself, and after the time that is looked at. Each VM costs 0.10
// for 2,000 hours and 0.04 upfront. 4 of these hours lie in January, and 1,500 in that time.
func TestWhatIsStillOwedIsSaid(t *testing.T) {
	p := oneClass(t, "0.40")
	p.Classes[0].Jobs.Max, p.Classes[0].Penalty = 5, plantest.AmountIn(t, "50")
	q := PurchaseQuestion{Horizon: Horizon{Problem: p, Periods: []HorizonPeriod{{Start: firstHour, Hours: 1500, Jobs: []float64{5}}}}, Factors: []float64{2}}
	q.Offers = []capacity.Offer{{Name: "cheap", Price: plantest.AmountIn(t, "0.10"), Upfront: plantest.AmountIn(t, "0.04"), Billing: capacity.BilledAlways, TermHours: 2000, Max: 50}}
	a := recommended(t, q)
	n := a.Offers[0].VMs
	for want, each := range map[string]string{
		"It commits you to %s USD over its term, 75 %% of it forecast; ":                                                               "200.04",
		"; %s of that is for the time after 2026-04-04 08:00 UTC; demand must last until the end of February 2026 for it to pay.":      "50.01",
		"By the end of January 2026 the bills have fallen by what was paid until then; %s USD is still owed after that month,":         "199.6",
		"If demand ends on 2026-02-01, the VM bill is %s, with ":                                                                       "200.04",
		", with %s of what the purchase commits to after 2026-04-04 08:00 UTC; bill and value refused together would be lowest if one": "50.01",
	} {
		amount := plantest.AmountIn(t, each).Mul(decimal.NewFromInt(n)).InexactFloat64()
		if said := fmt.Sprintf(want, words.Cents(amount)); n == 0 || !strings.Contains(a.Explanation, said) {
			t.Errorf("%q is not in %q", said, a.Explanation)
		}
	}
}

// A purchase leads with the VM bill. Penalties that it avoids are on no bill: they stand beside it, never in a saving
// of it.
func TestPurchasesLeadWithTheBill(t *testing.T) {
	for _, c := range []struct {
		name, onDemand, offered, upfront string
		integrality                      capacity.Integrality
		quota, most                      int64
		jobs                             []float64
		want, never                      string
	}{
		{"mostly penalties", "1.00", "0.10", "0.01", capacity.Executable, 4, 45, []float64{7, 12, 9}, "by 8.28 USD (69 %), from 12.00 to 3.72, and serves 16 more job-hours, which you value at 80.00. It commits you to 3.72 USD over its term, ", "raises"},
		{"fractions", "1.00", "0.10", "0.01", capacity.Relaxed, 4, 45, []float64{7, 12, 9}, "cuts the VM bill by ", "raises"},
		{"the bill rises", "0.20", "0.15", "0.01", capacity.Executable, 4, 45, []float64{7, 12, 9}, "raises the VM bill by ", "cuts"},
		{"the bill stays", "0.40", "0.20", "0", capacity.Integer, 1, 2, []float64{2, 2, 2}, "leaves the VM bill at 1.20 USD, and serves 3 more job-hours, which you value at 15.00. ", "cuts"},
	} {
		p := oneClass(t, c.onDemand)
		p.Options.Integrality = c.integrality
		p.Supply.OnDemand.Quota = &c.quota
		p.Classes[0].Penalty = plantest.AmountIn(t, "5.00")
		q := PurchaseQuestion{Horizon: Horizon{Problem: p, Periods: hoursFrom(firstHour, c.jobs...)}, Factors: []float64{0.5, 1, 2}}
		q.Offers = []capacity.Offer{{Name: "cheap", Price: plantest.AmountIn(t, c.offered), Upfront: plantest.AmountIn(t, c.upfront), Billing: capacity.BilledAlways, TermHours: 3, Max: c.most}}
		a := recommended(t, q)
		// The VM bill, added up anew from the plans of the hours.
		bill := func(h Horizon) decimal.Decimal {
			hours, err := planWith(t.Context(), h, plan.NewSeries(h.Problem, nil).Solve, Crew{Workers: 1}, nil)
			if err != nil {
				t.Fatal(err)
			}
			sum := hours.Upfront.Decimal
			for _, hour := range hours.Periods {
				sum = decimal.Sum(sum, hour.Cost.OnDemand.Decimal, hour.Cost.Spot.Decimal, hour.Cost.Reserved.Decimal, hour.Cost.ReservedIdle.Decimal)
			}
			return sum
		}
		was, is := bill(q.Horizon), bill(a.Bought(&q))
		if !a.Today.Bill.Equal(was) || !a.Recommended.Bill.Equal(is) || !a.BillSaving.Amount.Equal(was.Sub(is)) {
			t.Errorf("%s: got the bills %v and %v and a saving of %v; the hours come to %v and %v", c.name, a.Today.Bill, a.Recommended.Bill, a.BillSaving.Amount, was, is)
		}
		if !a.Saving.Amount.Equal(a.BillSaving.Amount.Add(a.Avoided.Decimal)) || a.Avoided.Sign() <= 0 {
			t.Errorf("%s: %v off the bill and %v avoided are %v together", c.name, a.BillSaving.Amount, a.Avoided, a.Saving.Amount)
		}
		valued := fmt.Sprintf(" more job-hours, which you value at %s. ", words.Cents(a.Avoided.Float()))
		if !strings.Contains(a.Answer, c.want) || strings.Contains(a.Answer, c.never) || !strings.Contains(a.Answer, valued) || strings.Contains(a.Answer, "save") {
			t.Errorf("%s: got %q", c.name, a.Explanation)
		}
		if strings.Contains(a.Explanation, "have fallen by what was paid") != (a.BillEven != nil && a.BillSaving.Amount.IsPositive()) {
			t.Errorf("%s: bills have fallen by what was paid by %v: %q", c.name, a.BillEven, a.Explanation)
		}
		saved, all := decimal.Zero, decimal.Zero
		for i, m := range a.Months {
			saved, all = saved.Add(m.BillSaved.Decimal), all.Add(m.Saved.Decimal)
			if !m.Upfront.Equal(a.Horizon.Months[i].Cost.Upfront.Decimal) {
				t.Errorf("%s: the offers' share of upfront payments is %s, and the bill has %s", c.name, m.Upfront, a.Horizon.Months[i].Cost.Upfront)
			}
		}
		if !saved.Equal(a.BillSaving.Amount.Decimal) || !all.Equal(a.Saving.Amount.Decimal) {
			t.Errorf("%s: months save %s of the bill and %s in all, and together that is %s and %s", c.name, saved, all, a.BillSaving.Amount, a.Saving.Amount)
		}
		last := a.Months[len(a.Months)-1]
		if want := a.BillSaving.Amount.Add(a.Recommended.Upfront.Decimal).Sub(a.Today.Upfront.Decimal).Sub(a.Offers[0].Paid.Decimal); !last.BillBalance.Equal(want) {
			t.Errorf("%s: the months end with a balance of the bill of %v, want %v", c.name, last.BillBalance, want)
		}
		for _, p := range a.Curves[0].Points {
			if !p.BillSaving.Equal(a.Today.Bill.Sub(p.Bill.Decimal)) || p.Bill.GreaterThan(p.Cost.Decimal) || p.VMs == 0 && !p.Bill.Equal(was) || p.VMs == a.Offers[0].VMs && !p.Bill.Equal(is) {
				t.Errorf("%s: %d VMs: a bill of %v of %v, %v less than %v", c.name, p.VMs, p.Bill, p.Cost, p.BillSaving, a.Today.Bill)
			}
		}
		for _, r := range a.Regret {
			if r.Bill.GreaterThan(r.Cost.Decimal) || r.BestBill.GreaterThan(r.BestCost.Decimal) || r.Factor == 1 && !(r.Bill.Equal(is) && r.TodayBill.Equal(was)) {
				t.Errorf("%s: at %g got the bills %v, %v and %v", c.name, r.Factor, r.TodayBill, r.Bill, r.BestBill)
			}
		}
	}
}

// Small VMs for a month: every hour's plan is rounded once, and that is no fault of the bound. Such questions were once
// refused by our own check.
func TestBoundsOfSmallPurchases(t *testing.T) {
	p := oneClass(t, "0.0382")
	gamma := decimal.RequireFromString("0.437773898")
	p.Options.Integrality = capacity.Relaxed
	p.Classes = []capacity.Class{{Name: "a", VMsPerJob: &gamma, Jobs: capacity.JobRange{Max: 10}, Penalty: plantest.AmountIn(t, "0.0080365")}}
	q := PurchaseQuestion{Horizon: Horizon{Problem: p, Periods: []HorizonPeriod{{Start: firstHour, Hours: 744, Jobs: []float64{1}}}}}
	q.Offers = []capacity.Offer{{Name: "1 year", Price: plantest.AmountIn(t, "0.0026"), Billing: capacity.BilledUsed, TermYears: 1, Max: 20}}
	a := recommended(t, q)
	if a.Proof.Bound.GreaterThan(a.Recommended.Total.Decimal) {
		t.Errorf("the bound %v is above the cost %v", a.Proof.Bound, a.Recommended.Total)
	}
}

// What a sentence says of a bill adds up as it is printed.
func TestPrintedBillsAddUp(t *testing.T) {
	for _, c := range []struct{ was, is, first, second, by string }{
		{"1.5354", "1.5122", "1.535", "1.512", "0.023"},
		{"283.2", "538.08", "283.20", "538.08", "254.88"},
		{"0.0352", "0.035941", "0.03520", "0.03594", "0.00074"},
		{"100000.004", "100000.006", "100000.004", "100000.006", "0.002"},
		{"7", "7", "7.00", "7.00", "0.00"},
	} {
		first, second, by := closing(plantest.AmountIn(t, c.was), plantest.AmountIn(t, c.is))
		if first != c.first || second != c.second || by != c.by {
			t.Errorf("%s and %s: got %s, %s and %s, want %s, %s and %s", c.was, c.is, first, second, by, c.first, c.second, c.by)
		}
	}
}
