package timetable

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/shopspring/decimal"

	"example.org/headroom/internal/ask/horizon"
	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/fault"
	"example.org/headroom/internal/core/lp/worker"
	"example.org/headroom/internal/core/money"
	"example.org/headroom/internal/core/plan"
)

// dayText is twelve hours in which reports may wait for six and alerts may not.
const dayText = `{
 "problem": {"currency": "EUR", "supply": {"contracts": [{"name": "one-year", "vms": 4, "price": "0.12", "billing": "always"}], "on_demand": {"price": "0.20"}},
  "classes": [
   {"name": "reports", "vms_per_job": "1.5", "deadline_s": 3600, "due_s": 21600, "jobs": {"min": 0, "max": 0}, "penalty": "2"},
   {"name": "alerts", "demand": {"map_work_s": 7200, "reduce_work_s": 0, "fixed_s": 60}, "deadline_s": 1800, "slots_per_vm": {"map": 4, "reduce": 2}, "jobs": {"min": 0, "max": 0}, "penalty": "5"}]},
 "periods": [
  {"start": "2026-03-02T08:00:00Z", "hours": 4, "arrivals": [12, 8], "on_demand_price": "0.24"},
  {"start": "2026-03-02T12:00:00Z", "hours": 4, "arrivals": [0, 4], "on_demand_price": "0.16"},
  {"start": "2026-03-02T16:00:00Z", "hours": 4, "arrivals": [0, 0], "on_demand_price": "0.20"}]}`

func TestSchedulesAreRefusedWithACure(t *testing.T) {
	for name, test := range map[string]struct{ was, is, pointer, says string }{
		"due before the run":        {`"due_s": 21600`, `"due_s": 3000`, "/problem/classes/0/due_s", "Give 3600 or more."},
		"due before the fixed part": {`"deadline_s": 1800,`, `"deadline_s": 1800, "due_s": 50,`, "/problem/classes/1/due_s", "Give 61 or more."},
		"no time of day":            {`"due_s": 21600`, `"due": "25:00"`, "/problem/classes/0/due", "write one such as 06:00."},
		"two times":                 {`"due_s": 21600`, `"due_s": 21600, "due": "06:00"`, "/problem/classes/0/due", "give one of the two."},
		"a day without a price":     {`"due_s": 21600`, `"due": "06:00"`, "/periods/0/arrivals/0", "may run until 2026-03-03T06:00:00Z, and the periods end at 2026-03-02T20:00:00Z"},
		"no zone": {`{
 "problem"`, `{"time_zone": "Mars/Olympus",
 "problem"`, "/time_zone", "Europe/Berlin"},
		"window beyond the end": {`"arrivals": [0, 0]`, `"arrivals": [2, 0]`, "/periods/2/arrivals/0", "the periods end at 2026-03-02T20:00:00Z, after which no hour has a price. Add 4 hours without arrivals, or none here."},
		"run beyond the end":    {`"arrivals": [0, 0]`, `"arrivals": [0, 4]`, "/periods/2/arrivals/1", "Add 1 hour without arrivals"},
		"a gap in the prices":   {`"start": "2026-03-02T16:00:00Z"`, `"start": "2026-03-02T17:00:00Z"`, "/periods/2/start", "Begin at 2026-03-02T16:00:00Z."},
		"no arrivals":           {`"hours": 4, "arrivals": [0, 0]`, `"hours": 4`, "/periods/2/arrivals", "give those that arrive in the period"},
		"half an hour":          {`"hours": 4, "arrivals": [0, 0]`, `"seconds": 1800, "arrivals": [0, 0]`, "/periods/2/seconds", "whole hours"},
		"a promise":             {`"jobs": {"min": 0, "max": 0}, "penalty": "2"`, `"jobs": {"min": 1, "max": 1}, "penalty": "2"`, "/problem/classes/0/jobs/min", "Give 0"},
		"a budget for all":      {`"currency": "EUR",`, `"currency": "EUR", "budget": {"total": "9"},`, "/problem/budget", "Leave it out"},
		"a budget too small":    {`"currency": "EUR",`, `"currency": "EUR", "budget": {"vm_cost": "0.4"},`, "/problem/budget/vm_cost", "Give 0.48 or more, or end contracts."},
		"a type without a name": {`"periods": [`, `"before": {"running": [{"class": "reports", "arrived": "2026-03-02T06:00:00Z", "start": "2026-03-02T07:00:00Z", "run_s": 3600, "jobs": 1, "type": "m", "map_slots": 0, "reduce_slots": 0}]}, "periods": [`, "/before/running/0/type", "leave this out"},
		"too many":              {`"arrivals": [12, 8]`, `"arrivals": [1000001, 8]`, "/periods", "1000000 at most"},
	} {
		_, err := Read([]byte(strings.Replace(dayText, test.was, test.is, 1)), capacity.DefaultLimits())
		var input *fault.InputError
		if !errors.As(err, &input) {
			t.Errorf("%s: got %v", name, err)
			continue
		}
		said := ""
		for _, f := range input.Findings {
			if said += f.Pointer + " " + f.Detail; f.Hint != nil {
				said += " " + f.Hint.Detail
			}
			said += "\n"
		}
		if !strings.Contains(said, test.pointer+" ") || !strings.Contains(said, test.says) {
			t.Errorf("%s: got %swant %s at %s", name, said, test.says, test.pointer)
		}
	}
	early := strings.Replace(dayText[:strings.Index(dayText, `"periods"`)], "{", `{"earlier": [{"start": "2026-03-02T07:00:00Z", "hours": 1, "arrivals": [0, 1]}],`, 1) + `"periods": []}`
	if _, err := Read([]byte(early), capacity.DefaultLimits()); err == nil || !strings.Contains(err.Error(), "period") {
		t.Errorf("with an earlier period and no other: %v", err)
	}
	if _, err := horizon.ReadHorizon([]byte(dayText), capacity.DefaultLimits()); err == nil || !strings.Contains(err.Error(), "due_s") {
		t.Errorf("months take a class with due_s: %v", err)
	}
}

// All arrivals lie in the first hour, so the cheapest hours by hand are those with the lowest prices.
func TestScheduleTakesTheCheapestHours(t *testing.T) {
	text := `{"problem": {"currency": "EUR", "supply": {"on_demand": {"price": "9"}},
	  "classes": [{"name": "etl", "vms_per_job": "2", "deadline_s": 3600, "due_s": 21600, "jobs": {"min": 0, "max": 0}, "penalty": "50"}]}, "periods": [`
	for h, price := range []string{"1", "5", "4", "2", "3", "2.5"} {
		text += fmt.Sprintf(`{"start": "2026-03-02T%02d:00:00Z", "hours": 1, "arrivals": [%d], "on_demand_price": "%s"},`, h, max(0, 3-3*h), price)
	}
	q, err := Read([]byte(strings.TrimSuffix(text, ",")+"]}"), capacity.DefaultLimits())
	if err != nil {
		t.Fatal(err)
	}
	a, err := Plan(t.Context(), q, nil)
	if err != nil || len(a.Schedule) != 1 || a.Schedule[0].Start.Hour() != 3 || a.Cost.Bill.String() != "12.00" || a.Saved.String() != "18.00" || a.Status != capacity.Optimal {
		t.Errorf("got %+v, %v; want three jobs at 3 o'clock for 12, which is 18 less than at 1 o'clock", a, err)
	}
}

// With no class that waits and a steady forecast, each hour has the VMs of a plan of its own.
func TestSteadyHoursAreThoseOfThePlan(t *testing.T) {
	for _, arrive := range []float64{1, 3, 7, 40} {
		q := Question{}
		vms := decimal.RequireFromString("0.7")
		q.Problem = capacity.Problem{Currency: "EUR", PeriodSeconds: 3600, Options: capacity.DefaultOptions(), Supply: capacity.Supply{
			Contracts: []capacity.Contract{{Name: "a", VMs: 4, Price: money.Amount{Decimal: decimal.New(1, -1)}, Billing: capacity.BilledUsed}},
			OnDemand:  capacity.OnDemand{Price: money.Amount{Decimal: decimal.New(2, -1)}}},
			Classes: []capacity.Class{{Name: "etl", VMsPerJob: &vms, DeadlineSeconds: 7200, Penalty: money.Amount{Decimal: decimal.New(9, 0)}}}}
		start := time.Date(2026, 3, 2, 0, 0, 0, 0, time.UTC)
		for h := range 12 {
			p := horizon.HorizonPeriod{Start: start.Add(time.Duration(h) * time.Hour), Hours: 1, Arrivals: []float64{arrive}}
			if h >= 9 {
				p.Arrivals = []float64{0}
			}
			q.Periods = append(q.Periods, p)
		}
		a, err := Plan(t.Context(), q, nil)
		if err != nil {
			t.Fatal(err)
		}
		p := q.Problem
		p.Options.Integrality, p.Options.Engine = capacity.Integer, capacity.EngineExact
		p.Classes[0].Jobs.Max = 2 * arrive // each runs for two hours
		want, err := plan.Solve(t.Context(), p, nil)
		if err != nil {
			t.Fatal(err)
		}
		for h := 3; h < 8; h++ {
			if got := float64(a.Hours[h].VMs); got != want.VMs.Total {
				t.Errorf("%g arrive an hour: hour %d has %g VMs, want %g", arrive, h, got, want.VMs.Total)
			}
			if got := a.Hours[h].Cost; !got.Equal(want.Cost.Bill.Decimal) {
				t.Errorf("%g arrive an hour: hour %d costs %s, want %s", arrive, h, got, want.Cost.Bill)
			}
		}
	}
}

// The engine only proposes prices: with it and without it a schedule stays within the other's bound.
func TestSchedulesWithAndWithoutAnEngine(t *testing.T) {
	q, err := Read([]byte(dayText), capacity.DefaultLimits())
	if err != nil {
		t.Fatal(err)
	}
	pool := worker.New(worker.Config{Processes: 1})
	defer pool.Close()
	with, err := Plan(t.Context(), q, pool)
	if err != nil {
		t.Fatal(err)
	}
	without, err := Plan(t.Context(), q, nil)
	if err != nil {
		t.Fatal(err)
	}
	if with.Proof.Engine == "" || without.Proof.Engine != "" {
		t.Errorf("the engines are %q and %q", with.Proof.Engine, without.Proof.Engine)
	}
	if with.Proof.Bound.GreaterThan(without.Cost.Total.Decimal) || without.Proof.Bound.GreaterThan(with.Cost.Total.Decimal) {
		t.Errorf("bounds %s and %s of totals %s and %s", with.Proof.Bound, without.Proof.Bound, with.Cost.Total, without.Cost.Total)
	}
	again, err := Plan(t.Context(), q, nil)
	first, _ := json.Marshal(without)
	if second, _ := json.Marshal(again); err != nil || string(first) != string(second) {
		t.Error("the same question has two answers")
	}
}

var firstHour = time.Date(2026, 1, 31, 20, 0, 0, 0, time.UTC)

// Waiting that saves nothing is said to save nothing.
func TestWaitingThatSavesNothing(t *testing.T) {
	a := Answer{Currency: "USD", Status: capacity.Optimal, Classes: []Class{{Name: "a", Arrived: 2, Later: 1}}}.Retold(&Question{Periods: []horizon.HorizonPeriod{{Start: firstHour, Hours: 1}}})
	if want := "1 execution waits for a later hour, and bill and value refused together are as high as in the cheapest plan found without waiting."; !strings.Contains(a.Explanation, want) {
		t.Errorf("got %q, want %q", a.Explanation, want)
	}
}

// Where nothing waits, jobs may still run for less than their longest time. The longest runs would cost 8.75 here, and would
// let waiting look as if it saved 2.75.
func TestSavedIsAgainstAnyRunAtOnce(t *testing.T) {
	class := func(name string, mapWork, deadline, due, mapSlots int, penalty string) string {
		return fmt.Sprintf(`{"name": %q, "demand": {"map_work_s": %d, "reduce_work_s": 3600, "fixed_s": 120}, "deadline_s": %d, "due_s": %d,
			"slots_per_vm": {"map": %d, "reduce": 2}, "jobs": {"min": 0, "max": 0}, "penalty": %q}`, name, mapWork, deadline, due, mapSlots, penalty)
	}
	var periods []string
	for h, price := range []string{"0.44", "0.56", "0.69", "0.50", "0.58", "0.64"} {
		arrivals := "[0, 0]"
		if h == 0 {
			arrivals = "[1, 2]"
		}
		periods = append(periods, fmt.Sprintf(`{"start": "2026-03-02T%02d:00:00Z", "hours": 1, "arrivals": %s, "on_demand_price": %q}`, 8+h, arrivals, price))
	}
	q, err := Read([]byte(fmt.Sprintf(`{"problem": {"currency": "EUR", "supply": {"on_demand": {"price": "0.87"}}, "classes": [%s, %s]}, "periods": [%s]}`,
		class("a", 14400, 10800, 14400, 1, "3.1"), class("b", 3600, 10800, 21600, 4, "1.9"), strings.Join(periods, ","))), capacity.DefaultLimits())
	if err != nil {
		t.Fatal(err)
	}
	a, err := Plan(t.Context(), q, nil)
	if err != nil {
		t.Fatal(err)
	}
	// At once all run in the hour from 9:00: 5/1 + 6/2 VMs for the first, and twice 3/4 + 2/2 are 12 whole VMs at 0.56.
	if a.AtOnce.Total.String() != "6.72" || a.Cost.Total.String() != "6.00" || a.Saved.String() != "0.72" || len(a.AtOnce.Schedule) != 2 {
		t.Errorf("got %s at once, %s in all and %s saved, want 6.72, 6 and 0.72: %+v", a.AtOnce.Total, a.Cost.Total, a.Saved, a.AtOnce)
	}
}

// Where the plan in which nothing waits uses up its time, that of the other is left to it.
func TestTimeIsLeftToWait(t *testing.T) {
	q, err := Read([]byte(dayText), capacity.DefaultLimits())
	if err != nil {
		t.Fatal(err)
	}
	over, cancel := context.WithCancel(t.Context())
	cancel()
	a, err := PlanWithin(Times{AtOnce: over, Types: t.Context(), All: t.Context()}, q, nil)
	want, _ := Plan(t.Context(), q, nil)
	if err != nil || !a.Cost.Total.Equal(want.Cost.Total.Decimal) || a.Classes[0].Later == 0 {
		t.Errorf("got %+v, %v, want %+v", a.Cost, err, want.Cost)
	}
	if a, err = PlanWithin(Times{over, over, over}, q, nil); err != nil || a.Cost.ValueRefused.IsPositive() || a.Classes[0].Later == 0 {
		t.Errorf("without any time: %+v, %v", a.Cost, err)
	}
}
