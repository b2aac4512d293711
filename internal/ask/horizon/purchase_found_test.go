package horizon

import (
	"context"
	"strings"
	"testing"
	"time"

	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/plan"
	"example.org/headroom/internal/test/plantest"
)

// One class of ten jobs of a VM each, on demand for 0.20 and half of them spot for 0.06: 1.30 an hour. Ten VMs of an offer
// for 0.14 are best without spot, and cost 1.40 an hour; five beside five spot VMs cost 1.00. For 0.05 ten cost 0.50, and are
// dearer nowhere. For 0.19 they are best without spot, and no number is with it.
func TestAPurchaseIsThatOfTheClusterAsItIs(t *testing.T) {
	for _, c := range []struct {
		price        string
		vms, found   int64
		bill         float64
		led, another string
	}{
		{"0.14", 5, 10, 24, `with spot VMs as the cluster has them, that cuts the VM bill by 7.20 USD (23.1 %), from 31.20 to 24.00. ` +
			`It commits you to 16.80 USD over its term, 100 % of it forecast; demand must last`,
			`Without spot VMs, 10 of "year" would be best, but with spot VMs as the cluster has them bill and value refused together are then 9.60 USD higher.`},
		{"0.05", 10, 10, 12, `with spot VMs as the cluster has them, that cuts the VM bill by 19.20 USD (61.5 %), from 31.20 to 12.00. ` +
			`It commits you to 12.00 USD over its term, 100 % of it forecast; demand must last`,
			`Without spot VMs, it cuts the VM bill by 36.00 USD (75 %), from 48.00 to 12.00.`},
		{"0.30", 0, 0, 31.20, `with spot VMs as the cluster has them, the VM bill stays at 31.20 USD. `, `Without spot VMs, no purchase lowers bill and value refused together.`},
	} {
		p := oneClass(t, "0.20")
		p.Classes[0].Jobs, p.Classes[0].Penalty = capacity.JobRange{Min: 10, Max: 10}, plantest.AmountIn(t, "1")
		p.Supply.Spot = &capacity.Spot{Price: plantest.AmountIn(t, "0.06"), MaxShare: 0.5}
		q := PurchaseQuestion{Horizon: Horizon{Problem: p, Periods: []HorizonPeriod{{Start: firstHour, Hours: 24, Jobs: []float64{10}}}}, Factors: []float64{1}, LeaveOut: []LeftOut{WithoutSpot}}
		q.Offers = []capacity.Offer{{Name: "year", Price: plantest.AmountIn(t, c.price), Billing: capacity.BilledAlways, TermHours: 24, Max: 40}}
		a := recommended(t, q)
		f := a.Found
		if f == nil || a.Offers[0].VMs != c.vms || f.VMs[0] != c.found || f.OthersTried > mostTries || a.Recommended.Bill.Float() != c.bill || a.Status != capacity.Feasible {
			t.Errorf("for %s: %+v, %+v, %s", c.price, f, a.Recommended, a.Status)
		}
		if !strings.Contains(a.Answer, c.led) || !strings.Contains(a.Answer, c.another) {
			t.Errorf("for %s: %q, want %q and %q", c.price, a.Answer, c.led, c.another)
		}
		if len(a.Curves) != 1 || a.Curves[0].Bought != c.vms || len(a.Regret) != 1 || a.Regret[0].Best[0] != c.found {
			t.Errorf("for %s: %+v, %+v", c.price, a.Curves, a.Regret)
		}
		if !strings.Contains(a.Explanation, "Without spot VMs, no purchase brings bill and value refused together lower than ") {
			t.Errorf("for %s: %q", c.price, a.Explanation)
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
// hours are told with these hours, what is short and the budget that would do. What leaves hours without a plan is not recommended.
func TestAPurchaseSaysWhatTheBudgetDoesNotPayFor(t *testing.T) {
	for _, c := range []struct {
		name, budget, price string
		vms                 int64
		status              capacity.Status
		want                string
	}{
		{"paid for today", "2.00", "0.05", 10, capacity.Feasible, "Without the budget, it cuts the VM bill by 36.00 USD"},
		{"paid for by the purchase alone", "1.00", "0.05", 10, capacity.Feasible, "With the budget as the cluster has it, today's contracts leave 24 hours without a plan. The first is at 2026-01-31 20:00 UTC: " +
			"The promised jobs need 10 VMs, and the budget of 1.00 pays for 5. Raise the budget to 2.00, and every hour has a plan."},
		{"paid for by neither", "0.40", "0.05", 0, capacity.InfeasibleStatus, "No purchase that was tried serves all promised jobs from 2026-01-31 20:00 UTC until 2026-02-01 20:00 UTC, with the budget as the cluster has it. " +
			"Today's contracts leave 24 hours without a plan. The first is at 2026-01-31 20:00 UTC: The promised jobs need 10 VMs, and the budget of 0.40 pays for 2. Raise the budget to 2.00, and every hour has a plan."},
		{"paid for today alone", "0.60", "0.15", 4, capacity.Feasible, `Without the budget, 10 of "year" would be best, but with the budget as the cluster has it that leaves 24 hours without a plan. The first is at 2026-01-31 20:00 UTC: ` +
			"The contracts that are paid in any case cost more than the budget of 0.60. Raise the budget to 1.50, and every hour has a plan."},
	} {
		p := oneClass(t, "0.20")
		p.Classes[0].Jobs, p.Classes[0].Penalty = capacity.JobRange{Min: 10, Max: 10}, plantest.AmountIn(t, "1")
		if c.vms == 4 { // three jobs are promised, and three alone are paid for
			p.Classes[0].Jobs.Min = 3
		}
		p.Budget = &capacity.Budget{VMCost: new(plantest.AmountIn(t, c.budget))}
		q := PurchaseQuestion{Horizon: Horizon{Problem: p, Periods: []HorizonPeriod{{Start: firstHour, Hours: 24, Jobs: []float64{10}}}}, Factors: []float64{}, LeaveOut: []LeftOut{WithoutBudget}}
		q.Offers = []capacity.Offer{{Name: "year", Price: plantest.AmountIn(t, c.price), Billing: capacity.BilledAlways, TermHours: 24, Max: 40}}
		a := recommended(t, q)
		bought := int64(0)
		if len(a.Offers) > 0 {
			bought = a.Offers[0].VMs
		}
		if a.Found == nil || bought != c.vms || a.Status != c.status || !strings.Contains(a.Answer, c.want) {
			t.Errorf("%s: %+v, %s, %q, want %q", c.name, a.Found, a.Status, a.Answer, c.want)
		}
	}
}

// A purchase that comes to as much as another one is said to be no better, and not to break promises.
func TestPurchasesThatComeToAsMuch(t *testing.T) {
	p := oneClass(t, "0.20")
	p.Classes[0].Jobs, p.Classes[0].Penalty = capacity.JobRange{Min: 10, Max: 10}, plantest.AmountIn(t, "1")
	p.Supply.Spot = &capacity.Spot{Price: plantest.AmountIn(t, "0.06"), MaxShare: 0.5}
	q := PurchaseQuestion{Horizon: Horizon{Problem: p, Periods: []HorizonPeriod{{Start: firstHour, Hours: 24, Jobs: []float64{10}}}}, Factors: []float64{}, LeaveOut: []LeftOut{WithoutSpot}}
	q.Offers = []capacity.Offer{{Name: "year", Price: plantest.AmountIn(t, "0.14"), Billing: capacity.BilledAlways, TermHours: 24, Max: 40}}
	a := recommended(t, q)
	a.Found.AsItIs = a.Recommended
	if a = a.Retold(&q); !strings.Contains(a.Answer, "bill and value refused together are not lower then.") {
		t.Error(a.Answer)
	}
}

// Work that is ended while purchases are tried in the cluster as it is gives an error, and what it answers is not complete.
func TestEndedTriesAreNotComplete(t *testing.T) {
	partly := 0
	for _, budget := range []string{"0.40", "0.60"} { // no purchase has a plan for every hour; some have
		p := oneClass(t, "0.20")
		p.Classes[0].Jobs, p.Classes[0].Penalty = capacity.JobRange{Min: 3, Max: 10}, plantest.AmountIn(t, "1")
		p.Budget = &capacity.Budget{VMCost: new(plantest.AmountIn(t, budget))}
		q := PurchaseQuestion{Horizon: Horizon{Problem: p, Periods: []HorizonPeriod{{Start: firstHour, Hours: 24, Jobs: []float64{10}}}}, Factors: []float64{}, LeaveOut: []LeftOut{WithoutBudget}}
		q.Offers = []capacity.Offer{{Name: "year", Price: plantest.AmountIn(t, "0.15"), Billing: capacity.BilledAlways, TermHours: 24, Max: 40}}
		for after := range 40 {
			ctx, end := context.WithCancel(t.Context())
			solves, series := 0, plan.NewSeries(p, nil)
			a, err := Purchase(ctx, q, func(ctx context.Context, p capacity.Problem) (capacity.Plan, error) {
				if solves++; solves > after {
					end()
					return capacity.Plan{}, ctx.Err()
				}
				return series.Solve(ctx, p)
			}, 1, nil)
			end()
			if a.Complete != (err == nil) {
				t.Errorf("with %s, ended after %d solves: complete is %t, and the error %v", budget, after, a.Complete, err)
			}
			if err != nil && a.Status != "" {
				partly++
			}
		}
	}
	if partly < 5 {
		t.Errorf("only %d answers are partial", partly)
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
