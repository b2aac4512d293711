package recheck

import (
	"strings"
	"testing"
	"time"

	"github.com/shopspring/decimal"

	"example.org/headroom/internal/ask/horizon"
	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/money"
)

// The figures of a schedule beside months add up, and sentences say them.
func TestWaitingBesideMonths(t *testing.T) {
	question := []byte(`{"problem": {"currency": "EUR", "supply": {"on_demand": {"price": "1"}}, "classes": [
	  {"name": "etl", "vms_per_job": "1", "deadline_s": 3600, "jobs": {"min": 0, "max": 0}, "penalty": "50"}]},
	 "periods": [{"start": "2026-03-31T23:00:00Z", "hours": 2, "jobs": [2]}]}`)
	q, err := horizon.ReadHorizon(question, capacity.DefaultLimits())
	if err != nil {
		t.Fatal(err)
	}
	a, err := horizon.Plan(t.Context(), q.Horizon, nil, 1, nil)
	if err != nil {
		t.Fatal(err)
	}
	of := func(n int64) money.Amount { return money.Amount{Decimal: decimal.NewFromInt(n)} }
	start := time.Date(2026, 3, 31, 23, 0, 0, 0, time.UTC)
	waits := func(change func(w *horizon.WithWaiting)) string {
		t.Helper()
		w := horizon.WithWaiting{Until: start.Add(5 * time.Hour), Bill: of(10), ValueRefused: of(1), AtOnce: horizon.WaitingCost{Bill: of(9), ValueRefused: of(2)}, Gap: of(1)}
		for hour := range 4 {
			w.Add(start.Add(time.Duration(hour)*time.Hour), of(int64(hour)+1))
		}
		change(&w)
		answer := a
		answer.Wait(w, start, start.Add(2*time.Hour))
		return verified(t, question, marshalled(answer)).String()
	}
	if said := waits(func(w *horizon.WithWaiting) {
		if len(w.Months) != 2 || !w.Months[0].Bill.Equal(of(1).Decimal) || !w.Months[1].Bill.Equal(of(9).Decimal) {
			t.Errorf("months are %+v", w.Months)
		}
	}); strings.Contains(said, "with_waiting/") {
		t.Error(said)
	}
	for at, change := range map[string]func(w *horizon.WithWaiting){
		"bill":           func(w *horizon.WithWaiting) { w.Months[1].Bill = of(8) },
		"saved":          func(w *horizon.WithWaiting) { w.Saved = of(1) },
		"gap":            func(w *horizon.WithWaiting) { w.Gap = of(12) },
		"until":          func(w *horizon.WithWaiting) { w.Until = start },
		"months/0/start": func(w *horizon.WithWaiting) { w.Months[0].Start = start.AddDate(0, -1, 0) },
		"months/1/start": func(w *horizon.WithWaiting) { w.Months[1].Start = start.Add(2 * time.Hour) },
	} {
		if said := waits(change); !strings.Contains(said, "/with_waiting/"+at) {
			t.Errorf("nothing is said of %s: %s", at, said)
		}
	}
}
