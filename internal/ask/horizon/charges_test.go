package horizon

import (
	"encoding/json"
	"errors"
	"math"
	"testing"
	"time"

	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/fault"
	"example.org/headroom/internal/test/plantest"
)

// checkCharges reads the answer back from JSON and adds its charges up again: by period, type and contract, with
// upfront payments to the last place, and the classes' VMs by type.
func checkCharges(t testing.TB, h *Horizon, a *Answer) {
	t.Helper()
	var kept Answer
	if text, err := json.Marshal(a); err != nil || json.Unmarshal(text, &kept) != nil {
		t.Fatalf("the answer does not come back from JSON: %v", err)
	}
	periods := make(map[time.Time]*SpanCost)
	var rented SpanCost
	contracts := make([]ContractTotal, len(a.Contracts))
	at := h.Start()
	err := Charges(h, &kept, func(s *Stint) error {
		if !s.Start.Equal(at) || s.Seconds <= 0 || s.Start.Truncate(24*time.Hour) != s.End().Add(-time.Second).Truncate(24*time.Hour) {
			t.Fatalf("a stint lasts from %v to %v; the last ended at %v", s.Start, s.End(), at)
		}
		at = s.End()
		sum := periods[s.Period.Start]
		if sum == nil {
			sum = new(SpanCost)
			periods[s.Period.Start] = sum
		}
		one := SpanCost{Penalties: s.Penalties}
		for v, on := range s.Types {
			one.OnDemand.Decimal, one.Spot.Decimal = one.OnDemand.Add(on.OnDemand.Amount.Decimal), one.Spot.Add(on.Spot.Amount.Decimal)
			share, all := 0.0, on.OnDemand.VMs+on.Spot.VMs
			for _, c := range s.Classes {
				share += c.VMs[v]
			}
			for _, c := range s.Contracts {
				if c.Type == v {
					all += c.UsedVMs
				}
			}
			if share > all+1e-6 {
				t.Fatalf("the classes have %g VMs of type %q and %g are used", share, on.Name, all)
			}
		}
		for _, c := range s.Contracts {
			one.Reserved.Decimal, one.ReservedIdle.Decimal = one.Reserved.Add(c.Used.Decimal), one.ReservedIdle.Add(c.Idle.Decimal)
			k := &contracts[c.Index]
			k.Upfront.Decimal = k.Upfront.Add(c.Upfront.Decimal)
			if hours := float64(s.Seconds) / 3600; s.Period.Status != capacity.InfeasibleStatus {
				k.UsedHours, k.IdleHours = k.UsedHours+c.UsedVMs*hours, k.IdleHours+(float64(c.VMs)-c.UsedVMs)*hours
			}
			if c.Name != a.Contracts[c.Index].Name || c.Upfront.IsNegative() {
				t.Fatalf("got %+v for the contract %q", c, a.Contracts[c.Index].Name)
			}
		}
		for i, c := range h.Contracts { // what is paid upfront falls due where the contract begins, or at the start
			if due := c.From; s.Start.Equal(due) || due.Before(h.Start()) && s.Start.Equal(h.Start()) {
				one.Upfront.Decimal = one.Upfront.Add(a.Contracts[len(a.Contracts)-len(h.Contracts)+i].Upfront.Decimal)
			}
		}
		one.Total.Decimal = one.OnDemand.Add(one.Spot.Decimal).Add(one.Reserved.Decimal).Add(one.ReservedIdle.Decimal).Add(one.Upfront.Decimal).Add(one.Penalties.Decimal)
		sum.add(&one)
		rented.add(&one)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if !rented.Total.Equal(a.Total.Cost.Total.Decimal) || !at.Equal(h.End()) {
		t.Fatalf("the charges add up to %v until %v, the total is %v", rented.Total, at, a.Total.Cost.Total)
	}
	for i := range a.Periods {
		if p := &a.Periods[i]; !periods[p.Start].Total.Equal(p.Cost.Total.Decimal) {
			t.Fatalf("the charges of the period at %v are %v, want %v", p.Start, periods[p.Start].Total, p.Cost.Total)
		}
	}
	for k, want := range a.Contracts {
		if got := contracts[k]; !got.Upfront.Equal(want.Upfront.Decimal) || math.Abs(got.UsedHours-want.UsedHours)+math.Abs(got.IdleHours-want.IdleHours) > 1e-9 {
			t.Fatalf("contract %q: got %+v, want %+v", want.Name, got, want)
		}
	}
}

// Charges are those of the answer's own horizon; any other one is refused.
func TestChargesOfAnotherHorizon(t *testing.T) {
	h := Horizon{Problem: oneClass(t, "0.20"), Periods: hoursFrom(firstHour, 2, 5, 2)}
	h.Contracts = []TermContract{signed(t, 3, "0.05", capacity.BilledAlways, firstHour, firstHour.Add(2*time.Hour))}
	a := planned(t, h)
	dearer, cheaper := plantest.AmountIn(t, "0.30"), plantest.AmountIn(t, "20.00")
	for name, change := range map[string]func(h *Horizon, a *Answer){
		"another price":  func(h *Horizon, _ *Answer) { h.Problem.Supply.OnDemand.Price = dearer },
		"another fee":    func(h *Horizon, _ *Answer) { h.Contracts[0].Upfront = cheaper },
		"another name":   func(h *Horizon, _ *Answer) { h.Contracts[0].Name = "other" },
		"no contract":    func(h *Horizon, _ *Answer) { h.Contracts = nil },
		"another term":   func(h *Horizon, _ *Answer) { h.Contracts[0].Until = firstHour.Add(time.Hour) },
		"a period less":  func(h *Horizon, _ *Answer) { h.Periods = h.Periods[:2] },
		"a period more":  func(h *Horizon, _ *Answer) { h.Periods = hoursFrom(firstHour, 2, 5, 2, 2) },
		"an earlier one": func(h *Horizon, _ *Answer) { h.Periods = hoursFrom(firstHour.Add(-time.Hour), 2, 5, 2) },
		"a class more": func(h *Horizon, _ *Answer) {
			h.Problem.Classes = append(h.Problem.Classes, plantest.ByGamma(t, "more", "1", "1.00", 0, 1))
			for i := range h.Periods {
				h.Periods[i].Jobs = append(h.Periods[i].Jobs[:1:1], 0)
			}
		},
		"no situations":     func(_ *Horizon, a *Answer) { a.Situations = nil },
		"no use":            func(_ *Horizon, a *Answer) { a.Periods[0].Used = nil },
		"another situation": func(_ *Horizon, a *Answer) { a.Periods[0].Situation = 1 },
	} {
		t.Run(name, func(t *testing.T) {
			other, answer := h, a
			other.Contracts = append([]TermContract(nil), h.Contracts...)
			other.Periods = append([]HorizonPeriod(nil), h.Periods...)
			answer.Periods = append([]PeriodAnswer(nil), a.Periods...)
			change(&other, &answer)
			if err := Charges(&other, &answer, func(*Stint) error { return nil }); !errors.Is(err, fault.Conflict) {
				t.Errorf("got %v, want a refusal", err)
			}
		})
	}
	stop := errors.New("full")
	if err := Charges(&h, &a, func(*Stint) error { return stop }); err != stop {
		t.Errorf("got %v, want the visitor's error", err)
	}
}
