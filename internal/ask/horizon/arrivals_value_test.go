package horizon

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/shopspring/decimal"

	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/money"
)

// Every job-hour of a forecast is admitted or refused, and a refused execution is valued at the penalty until its deadline.
// The job-hours are counted second by second here.
func TestRefusedArrivalsAreValuedExactly(t *testing.T) {
	for seed := range uint64(60) {
		r := rand.New(rand.NewPCG(seed, 5))
		h := drawnValue(r, seed%3)
		a, err := Plan(t.Context(), h, nil, 1, nil)
		if err != nil {
			t.Fatal(seed, err)
		}
		if a.Total.InfeasibleHours > 0 {
			t.Errorf("seed %d: %v hours have no plan, and nothing is promised", seed, a.Total.InfeasibleHours)
			continue
		}
		for k := range h.Problem.Classes {
			asked, class := &a.Classes[k], &h.Problem.Classes[k]
			if asked.Arrivals == nil {
				continue
			}
			run := asked.Arrivals.RunSeconds
			all := jobHoursBySeconds(&h, k, run) / run * class.DeadlineSeconds // as long as their deadlines
			if got := asked.AdmittedHours + asked.RefusedHours; math.Abs(got-all) > 1e-6*(1+all) {
				t.Errorf("seed %d, class %d: got %v job-hours, of which %v are refused, want %v", seed, k, got, asked.RefusedHours, all)
			}
			if want := class.Penalty.Float() * asked.RefusedHours; math.Abs(asked.Penalties.Float()-want) > 1e-6*(1+want) {
				t.Errorf("seed %d, class %d: got a value of %s, want %v", seed, k, asked.Penalties, want)
			}
			if seed%3 == 0 && asked.AdmittedHours != 0 {
				t.Errorf("seed %d, class %d: got %v job-hours admitted on no VM", seed, k, asked.AdmittedHours)
			}
		}
	}
}

// drawnValue draws a horizon in which little and much arrives: without VMs, with few or with as many as they cost.
func drawnValue(r *rand.Rand, supply uint64) Horizon {
	h := Horizon{Problem: capacity.Problem{Currency: "USD", PeriodSeconds: 3600}}
	h.Problem.Supply.OnDemand.Price = money.Amount{Decimal: decimal.RequireFromString("0.20")}
	if supply < 2 {
		h.Problem.Supply.OnDemand.Quota = new(int64(supply * uint64(1+r.IntN(5))))
	}
	for k := range 1 + r.IntN(2) {
		work := []float64{10, 900, 20_000}[r.IntN(3)]
		h.Problem.Classes = append(h.Problem.Classes, capacity.Class{Name: fmt.Sprint(k), Demand: &capacity.Demand{MapWorkSeconds: work},
			DeadlineSeconds: []float64{36, 600, 5000}[r.IntN(3)], SlotsPerVM: capacity.SlotsPerVM{Map: 4, Reduce: 4},
			Jobs: capacity.JobRange{Max: 100}, Penalty: money.Amount{Decimal: decimal.RequireFromString([]string{"0.07", "1", "3.33"}[r.IntN(3)])}})
	}
	at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for range 1 + r.IntN(4) {
		p := HorizonPeriod{Start: at, Hours: int64(1 + r.IntN(5))}
		for range h.Problem.Classes {
			p.Arrivals = append(p.Arrivals, []float64{0, 0.3, 1, 7.5}[r.IntN(4)])
		}
		h.Periods, at = append(h.Periods, p), p.End()
	}
	return h
}

// jobHoursBySeconds adds up for how long the executions that arrive in each second run within the horizon.
func jobHoursBySeconds(h *Horizon, class int, run float64) (hours float64) {
	end := float64(h.End().Unix())
	for i := range h.Periods {
		p := &h.Periods[i]
		for s := range p.Length() {
			at := float64(p.Start.Unix()+s) + 0.5
			hours += p.Arrivals[class] / float64(p.Length()) * min(run, end-at) / 3600
		}
	}
	return hours
}

// A job an hour whose deadline is 36 s comes to 87.6 job-hours of deadlines a year, and a hundred times as many to a hundred
// times that. VMs that cost more than they avoid are not bought.
func TestSmallJobsAreNotWholeOnes(t *testing.T) {
	for _, times := range []float64{1, 100} {
		var q PurchaseQuestion
		text := fmt.Sprintf(`{"problem":{"currency":"USD","period_s":3600,"supply":{"contracts":[],"on_demand":{"price":"0.20","quota":0}},
			"classes":[{"name":"tiny","demand":{"map_work_s":10,"reduce_work_s":0,"fixed_s":0},"deadline_s":36,"slots_per_vm":{"map":4,"reduce":4},
			"jobs":{"min":0,"max":100},"penalty":"1.00"}]},"periods":[{"start":"2026-01-01T00:00:00Z","hours":8760,"arrivals":[%v]}],
			"offers":[{"name":"o","price":"0.05","billing":"always","upfront":"0","max":3,"term_hours":8760}]}`, 8760*times)
		if err := json.Unmarshal([]byte(text), &q); err != nil {
			t.Fatal(err)
		}
		a, err := Purchase(t.Context(), q, nil, 1, nil)
		if err != nil {
			t.Fatal(err)
		}
		if want := 87.6 * times; math.Abs(a.Today.Cost.Penalties.Float()-want) > 0.02*times {
			t.Errorf("got a value refused of %s, want %v", a.Today.Cost.Penalties, want)
		}
		if buys := a.Horizon.Contracts[0].VMs > 0; buys != (times == 100) {
			t.Errorf("with %v times the jobs got %d VMs bought at 438.00 a year", times, a.Horizon.Contracts[0].VMs)
		}
	}
}

// Jobs of half an hour arrive once an hour and are worth more than a VM, or a hundred times less often and are worth less. What
// the hours come to is counted by hand: a VM is 0.10 an hour, a job at once 0.50.
func TestQuietHoursDecideForThemselvesAlone(t *testing.T) {
	const question = `{"problem": {"currency": "EUR", "supply": {"on_demand": {"price": "0.10"}}, "classes": [
		{"name": "c", "jobs": {"min": 0, "max": 4}, "penalty": "0.50", "vms_per_job": "0.3", "deadline_s": 1800}]}, %s}`
	for _, c := range []struct{ name, rest, bill, refused string }{
		// 100 hours and the one in which the last job ends have a VM; 99 hours with 0.005 jobs at once have none.
		{"after busy ones", `"periods": [{"start": "2026-03-01T00:00:00Z", "hours": 100, "arrivals": [100]},
			{"start": "2026-03-05T04:00:00Z", "hours": 100, "arrivals": [1]}]`, "10.1", "0.2475"},
		// The contract pays for 10 hours, the jobs begun in it have a VM in one more, and 289 hours have none.
		{"after a contract", `"periods": [{"start": "2026-03-01T00:00:00Z", "hours": 300, "arrivals": [3]}], "contracts": [
			{"name": "k", "vms": 1, "price": "0.10", "billing": "always", "from": "2026-03-01T00:00:00Z", "until": "2026-03-01T10:00:00Z"}]`, "1.1", "0.7225"},
	} {
		q, err := ReadHorizon(fmt.Appendf(nil, question, c.rest), capacity.Limits{})
		if err != nil {
			t.Fatal(c.name, err)
		}
		a, err := Plan(t.Context(), q.Horizon, nil, 1, nil)
		if err != nil {
			t.Fatal(c.name, err)
		}
		if bill, refused := a.Total.Cost.Bill.Decimal, a.Total.Cost.Penalties.Decimal; !bill.Equal(decimal.RequireFromString(c.bill)) || !refused.Equal(decimal.RequireFromString(c.refused)) {
			t.Errorf("%s: got a bill of %s and a value refused of %s, want %s and %s", c.name, bill, refused, c.bill, c.refused)
		}
	}
}
