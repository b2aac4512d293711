package timetables_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/shopspring/decimal"

	"example.org/headroom/internal/ask/horizon"
	"example.org/headroom/internal/ask/recheck/timetables"
	"example.org/headroom/internal/ask/study"
	"example.org/headroom/internal/ask/timetable"
	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/fault"
	"example.org/headroom/internal/core/money"
	"example.org/headroom/internal/core/plan"
	"example.org/headroom/internal/test/plantest"
)

// withSpot gives every type of VMs of a question spot VMs at a part of its price, which the hours change.
func withSpot(t *testing.T, q timetable.Question, s *study.Stream) timetable.Question {
	t.Helper()
	amount := func(x float64) money.Amount { return money.Amount{Decimal: decimal.NewFromFloat(study.Places(x, 4))} }
	supply := &q.Problem.Supply
	if len(supply.VMTypes) == 0 {
		supply.Spot = &capacity.Spot{Price: amount(1), MaxShare: study.Places(s.Between(0, 1), 2)}
	}
	for v := range supply.VMTypes {
		supply.VMTypes[v].Spot = &capacity.Spot{Price: amount(1), MaxShare: study.Places(s.Between(0, 1), 2)}
	}
	for i := range q.Periods {
		p := &q.Periods[i]
		if p.OnDemandPrice != nil {
			price := amount(p.OnDemandPrice.Float() * s.Between(0.2, 1.1))
			p.SpotPrice = &price
		}
		prices := map[string]horizon.PeriodPrices{}
		for name, of := range p.Prices {
			price := amount(of.OnDemand.Float() * s.Between(0.2, 1.1))
			of.Spot = &price
			prices[name] = of
		}
		if len(prices) > 0 {
			p.Prices = prices
		}
	}
	text, err := json.Marshal(q)
	if err != nil {
		t.Fatal(err)
	}
	return readSchedule(t, text)
}

// Schedules with spot VMs pass their check, on one type and on several, and cost no more than without. Where the spot VMs of an hour
// are told wrong, that is found.
func TestSpotInSchedules(t *testing.T) {
	used, wrong := int64(0), 0
	for seed := range uint64(plantest.Trials(4, 60)) {
		plain := readSchedule(t, scheduleOn(study.DrawCluster(seed, 10+int(seed%5), 4, 20, 6), int(seed%3)))
		q := withSpot(t, plain, &study.Stream{State: seed})
		a, err := timetable.Plan(t.Context(), q, nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range timetables.Check(q, a) {
			t.Errorf("seed %d: %s %s", seed, f.Pointer, f.Detail)
		}
		dear, err := timetable.Plan(t.Context(), plain, nil)
		if err != nil {
			t.Fatal(err)
		}
		if a.Proof.Bound.GreaterThan(dear.Cost.Total.Decimal) {
			t.Errorf("seed %d: the bound is %s, and without spot VMs a schedule costs %s", seed, a.Proof.Bound, dear.Cost.Total)
		}
		for h := range a.Hours {
			x := &a.Hours[h]
			if len(x.ByType) > 0 {
				x = &timetable.Hour{Rented: x.ByType[0].Rented}
			}
			if used += x.Spot; x.Spot == 0 || len(a.Hours[h].ByType) > 0 {
				continue
			}
			was := *x
			for _, plant := range []func(){func() { x.Spot++; x.OnDemand-- }, func() { x.Spot--; x.Reserved++ }, func() { x.Spot, x.OnDemand = 0, x.OnDemand+x.Spot }} {
				if plant(); len(timetables.Check(q, a)) == 0 {
					t.Errorf("seed %d, hour %d: %+v is not found, it was %+v", seed, h, x.Rented, was.Rented)
				}
				*x, wrong = was, wrong+1
			}
		}
	}
	if used == 0 || wrong == 0 {
		t.Errorf("%d spot VMs are rented, and %d wrong figures were tried", used, wrong)
	}
}

// What runs in one hour alone costs what the plan of that hour costs, spot VMs and contracts included. Where the share is no whole
// number of VMs, prices do not prove it.
func TestSpotAsInThePlanOfAnHour(t *testing.T) {
	for _, x := range []struct {
		share, price, cost string
		spot               int64
	}{{"0.4", "0.5", "6", 4}, {"0.45", "0.5", "6", 4}, {"1", "0.5", "4", 8}, {"0", "0.5", "8", 0}, {"0.9", "2", "8", 0}} {
		problem := `{"currency": "EUR", "period_s": 3600, "supply": {CONTRACT"on_demand": {"price": "1"}, "spot": {"price": "` + x.price + `", "max_share": ` + x.share + `}},
		 "options": {"engine": "exact", "integrality": "integer"}, "classes": [{"name": "etl", "vms_per_job": "1", "deadline_s": 3600, DUE"jobs": {"min": 0, "max": 10}, "penalty": "50"}]}`
		const contract = `"contracts": [{"name": "c", "vms": 2, "price": "0", "billing": "always"`
		q := readSchedule(t, []byte(`{"problem": `+strings.NewReplacer("DUE", `"due_s": 10800, `, "CONTRACT", "").Replace(problem)+`, `+contract+`, "upfront": "0", "from": "2026-03-02T09:00:00Z", "until": "2026-03-02T10:00:00Z"}], "periods": [{"start": "2026-03-02T08:00:00Z", "hours": 1, "arrivals": [10]}, {"start": "2026-03-02T09:00:00Z", "hours": 1, "arrivals": [0]},
		 {"start": "2026-03-02T10:00:00Z", "hours": 1, "arrivals": [0], "on_demand_price": "30", "spot_price": "30"}]}`))
		a, err := timetable.Plan(t.Context(), q, nil)
		if err != nil {
			t.Fatal(err)
		}
		if f := timetables.Check(q, a); len(f) > 0 {
			t.Errorf("%+v: %v", x, f)
		}
		p, err := capacity.ReadProblem([]byte(strings.NewReplacer("DUE", "", "CONTRACT", contract+`}], `).Replace(problem)), capacity.DefaultLimits())
		if err != nil {
			t.Fatal(err)
		}
		of, err := plan.Solve(t.Context(), p, nil)
		if err != nil {
			t.Fatal(err)
		}
		if h := a.Hours[1]; h.Spot != x.spot || !h.Cost.Equal(decimal.RequireFromString(x.cost)) || (a.Status == capacity.Optimal) == (x.share == "0.45") || of.VMs.Spot != float64(x.spot) || !of.Cost.Total.Equal(h.Cost.Decimal) {
			t.Errorf("%+v: the hour has %+v (%s, bound %s), and its plan %g spot VMs for %s", x, h, a.Status, a.Proof.Bound, of.VMs.Spot, of.Cost.Total)
		}
	}
}

// Purchases where jobs wait are weighed without spot VMs.
func TestPurchasesWithWaitingTakeNoSpot(t *testing.T) {
	q := withSpot(t, readSchedule(t, scheduleOf(study.DrawCluster(1, 10, 4, 20, 6))), &study.Stream{State: 1})
	_, err := timetable.BuyingOf(&horizon.PurchaseQuestion{Horizon: horizon.Horizon{Problem: q.Problem, Contracts: q.Contracts, Periods: q.Periods}})
	var input *fault.InputError
	if !errors.As(err, &input) || input.Findings[0].Pointer != "/problem/supply/spot" {
		t.Errorf("got %v", err)
	}
}

// A contract that is always billed is paid for the parts of hours in which it begins and ends, and nothing runs on it then.
func TestContractsFromHalfHours(t *testing.T) {
	q := readSchedule(t, []byte(`{"problem": {"currency": "EUR", "supply": {"on_demand": {"price": "1"}}, "classes": [
	  {"name": "etl", "vms_per_job": "1", "deadline_s": 3600, "due_s": 14400, "jobs": {"min": 0, "max": 0}, "penalty": "50"}]},
	 "contracts": [{"name": "half", "vms": 4, "price": "0.6", "billing": "always", "upfront": "0", "from": "2026-03-02T07:30:00Z", "until": "2026-03-02T09:30:00Z"}],
	 "periods": [{"start": "2026-03-02T06:00:00Z", "hours": 1, "arrivals": [6]}, {"start": "2026-03-02T07:00:00Z", "hours": 5, "arrivals": [0]}]}`))
	a, err := timetable.Plan(t.Context(), q, nil)
	if err != nil {
		t.Fatal(err)
	}
	// Four run from eight to nine on the contract, and two on demand from seven: 4 × 0.6 × 2 h + 2.
	if a.Cost.Bill.String() != "6.80" || a.Hours[1].Cost.String() != "3.20" || a.Status != capacity.Optimal {
		t.Errorf("the bill is %s (%s, bound %s), and the hour from seven costs %s", a.Cost.Bill, a.Status, a.Proof.Bound, a.Hours[1].Cost)
	}
	planted(t, q, a, map[string]func(*timetable.Answer){
		"whole hours alone are paid": func(a *timetable.Answer) {
			for _, h := range []int{1, 3} {
				a.Hours[h].Cost.Decimal = a.Hours[h].Cost.Sub(decimal.New(12, -1))
			}
			a.Cost.Bill = money.Amount{Decimal: a.Cost.Bill.Sub(decimal.New(24, -1))}
			a.Cost.Total = a.Cost.Bill
		},
	})
}
