package horizon

import (
	"slices"
	"strings"
	"testing"
	"time"

	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/test/plantest"
)

// One class of ten jobs of a VM each, on demand for 0.20 and half of them spot for 0.06: 1.30 an hour. Ten VMs of an offer
// for 0.14 are best without spot, and cost 1.40 an hour; five beside five spot VMs cost 1.00. For 0.05 ten cost 0.50, and are dearer nowhere.
func TestAPurchaseIsComparedWithTheClusterAsItIs(t *testing.T) {
	for _, c := range []struct {
		price  string
		vms    int64
		dearer bool
		fewer  []int64
		want   string
	}{
		{"0.14", 5, true, []int64{5}, `with spot VMs as the cluster has them, that cuts the VM bill by 7.20 USD (23.1 %), from 31.20 to 24.00. It commits you to 16.80 USD over its term, 100 % of it forecast. ` +
			`Without spot VMs, it cuts the VM bill by 7.20 USD (15 %), from 48.00 to 40.80. ` +
			`Without spot VMs, 10 of "year" would be best. With spot VMs as the cluster has them, bill and value refused together would then be ` +
			`9.60 USD higher than with 5 of "year". Of 7 other purchases that were tried this one is the best.`},
		{"0.05", 10, false, nil, `with spot VMs as the cluster has them, that cuts the VM bill by 19.20 USD (61.5 %), from 31.20 to 12.00. It commits you to 12.00 USD over its term, 100 % of it forecast. ` +
			`Without spot VMs, it cuts the VM bill by 36.00 USD (75 %), from 48.00 to 12.00. `},
	} {
		p := oneClass(t, "0.20")
		p.Classes[0].Jobs, p.Classes[0].Penalty = capacity.JobRange{Min: 10, Max: 10}, plantest.AmountIn(t, "1")
		p.Supply.Spot = &capacity.Spot{Price: plantest.AmountIn(t, "0.06"), MaxShare: 0.5}
		q := PurchaseQuestion{Horizon: Horizon{Problem: p, Periods: []HorizonPeriod{{Start: firstHour, Hours: 24, Jobs: []float64{10}}}}, Factors: []float64{1}, LeaveOut: []LeftOut{WithoutSpot}}
		q.Offers = []capacity.Offer{{Name: "year", Price: plantest.AmountIn(t, c.price), Billing: capacity.BilledAlways, TermHours: 24, Max: 40}}
		a := recommended(t, q)
		if a.Offers[0].VMs != c.vms || a.AsItIs == nil || a.AsItIs.Dearer != c.dearer || a.AsItIs.VMs[0] != 10 || !strings.Contains(a.Answer, c.want) {
			t.Errorf("for %s: %+v, %q, want %q", c.price, a.AsItIs, a.Answer, c.want)
		}
		if f := a.AsItIs.Better; (f == nil) != (c.fewer == nil) || f != nil && !slices.Equal(f.VMs, c.fewer) || a.AsItIs.OthersTried == 0 || a.AsItIs.OthersTried > mostTries {
			t.Errorf("for %s: of %d tried %+v, want %v", c.price, a.AsItIs.OthersTried, f, c.fewer)
		}
		if len(a.Curves) != 1 || a.Curves[0].Bought != c.vms || len(a.Regret) != 1 || a.Regret[0].Best[0] != 10 {
			t.Errorf("for %s: %+v, %+v", c.price, a.Curves, a.Regret)
		}
		for _, f := range a.Facts {
			if of := []string{"buy", "better_as_it_is", "no_better_as_it_is", "obligation", "upfront_share", "paid_upfront"}; !slices.Contains(of, f.Kind) && !strings.HasPrefix(f.Claim, "Without spot VMs, ") {
				t.Errorf("%s does not say that it is without spot VMs: %q", f.Kind, f.Claim)
			}
		}
		if said := `Without spot VMs, no purchase brings bill and value refused together lower, which is proved.`; c.dearer == strings.Contains(a.Explanation, said) {
			t.Errorf("for %s: %q, want %q", c.price, a.Explanation, said)
		}
		for _, of := range a.Curves {
			if !strings.HasPrefix(of.Means, `Without spot VMs, of "year" `) {
				t.Errorf("a curve means %q", of.Means)
			}
		}
		q.LeaveOut = nil
		if err := q.Check(); err == nil {
			t.Error("spot VMs are passed over without a word")
		}
	}
}

// Ten promised jobs of a VM each cost 2.00 an hour on demand, or 0.50 under an offer. Budgets that do not pay for them in some
// hours are told with these hours, what is short and the budget that would do, beside the advice.
func TestAPurchaseSaysWhatTheBudgetDoesNotPayFor(t *testing.T) {
	for _, c := range []struct {
		name, budget, price string
		vms                 int64
		dearer              bool
		want                string
	}{
		{"paid for today", "2.00", "0.05", 10, false, ""},
		{"paid for by the purchase alone", "1.00", "0.05", 10, false, "With the budget as the cluster has it, today's contracts leave 24 hours without a plan. The first is at 2026-01-31 20:00 UTC: " +
			"The promised jobs need 10 VMs, and the budget of 1.00 pays for 5. Raise the budget to 2.00, and every hour has a plan. This purchase leaves none."},
		{"paid for by neither", "0.40", "0.05", 10, false, "With the budget as the cluster has it, this purchase leaves 24 hours without a plan; today's contracts leave 24 hours. The first is at 2026-01-31 20:00 UTC: " +
			"The contracts that are paid in any case cost more than the budget of 0.40. Raise the budget to 0.50, and every hour has a plan."},
		{"paid for today alone", "0.60", "0.15", 4, true, `Without the budget, 10 of "year" would be best. With the budget as the cluster has it, that would leave 24 hours without a plan. The first is at 2026-01-31 20:00 UTC: ` +
			"The contracts that are paid in any case cost more than the budget of 0.60. Raise the budget to 1.50, and every hour has a plan."},
	} {
		p := oneClass(t, "0.20")
		p.Classes[0].Jobs, p.Classes[0].Penalty = capacity.JobRange{Min: 10, Max: 10}, plantest.AmountIn(t, "1")
		if c.dearer { // three jobs are promised, and three alone are paid for
			p.Classes[0].Jobs.Min = 3
		}
		p.Budget = &capacity.Budget{VMCost: new(plantest.AmountIn(t, c.budget))}
		q := PurchaseQuestion{Horizon: Horizon{Problem: p, Periods: []HorizonPeriod{{Start: firstHour, Hours: 24, Jobs: []float64{10}}}}, Factors: []float64{}, LeaveOut: []LeftOut{WithoutBudget}}
		q.Offers = []capacity.Offer{{Name: "year", Price: plantest.AmountIn(t, c.price), Billing: capacity.BilledAlways, TermHours: 24, Max: 40}}
		a := recommended(t, q)
		if a.AsItIs == nil || a.Offers[0].VMs != c.vms || a.AsItIs.Dearer != c.dearer || !strings.Contains(a.Answer, c.want) || strings.Contains(a.Answer, "without a plan") != (c.want != "") {
			t.Errorf("%s: %+v, %q, want %q", c.name, a.AsItIs, a.Answer, c.want)
		}
	}
}

// Where demand ends, the rest of a term is owed without any use: 300 for a VM here.
// On demand it costs 0.40 an hour, so that it pays after 750 hours. 28 days have fewer.
func TestWhereDemandEndsAllIsOwed(t *testing.T) {
	p := oneClass(t, "0.40")
	p.Classes[0].Jobs.Max, p.Classes[0].Penalty = 5, plantest.AmountIn(t, "50")
	start := time.Date(2026, 2, 1, 0, 0, 0, 0, time.UTC)
	q := PurchaseQuestion{Horizon: Horizon{Problem: p, Periods: []HorizonPeriod{{Start: start, Hours: 1000, Jobs: []float64{5}}}}, Factors: []float64{1}}
	q.Offers = []capacity.Offer{{Name: "long", Price: plantest.AmountIn(t, "0.10"), Billing: capacity.BilledAlways, TermHours: 3000, Max: 50}}
	a := recommended(t, q)
	n := a.Offers[0].VMs
	if n == 0 || len(a.Ends) != 1 {
		t.Fatalf("got %d VMs, %d ends", n, len(a.Ends))
	}
	end := a.Ends[0]
	if end.Best[0] != 0 || !end.Obligation.IsZero() || end.Bill.Float() != 300*float64(n) || end.BestBill.Float() != 28*24*0.40*float64(n) {
		t.Errorf("got %+v, want a bill of all 3,000 hours, and at best nothing bought", end)
	}
	// By the end of March (at hour 1,000) 0.40 for 1,000 hours is more than 300: demand must last until March.
	if want := "2026-03"; a.NeededUntil == nil || a.NeededUntil.Format("2006-01") != want {
		t.Errorf("demand is needed until %v, want %s", a.NeededUntil, want)
	}
	q.Periods[0].Hours = 500 // the 250 hours that are lacking end on 4 March
	if a = recommended(t, q); a.NeededUntil == nil || !a.NeededUntil.Equal(time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)) || !strings.Contains(a.Answer, "going on like this, demand must last until the end of March 2026") {
		t.Errorf("demand is needed until %v: %q", a.NeededUntil, a.Answer)
	}
}
