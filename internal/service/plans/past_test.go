package plans

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/shopspring/decimal"

	"example.org/headroom/internal/core/money"
)

// The figures of hours equal a sum over each microsecond under its plan, in fractions.
func TestPastAgainstTheSumOfItsMoments(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(7, 11))
	from := time.Date(2026, 3, 28, 0, 0, 0, 0, time.UTC)
	for round := range 300 {
		hours := 1 + r.IntN(30)
		until := from.Add(time.Duration(hours) * time.Hour)
		var stints []PlanStint
		var seen []SeenVMs
		at := from.Add(time.Duration(r.Int64N(int64(3 * time.Hour)))).Truncate(time.Microsecond)
		for n := int64(1); at.Before(until) && r.IntN(12) > 0; n++ {
			s := PlanStint{Since: at, Number: 1 + n/2, Currency: "EUR", PeriodSeconds: []int64{1800, 3600, 7, 86400}[r.IntN(4)],
				VMs: float64(r.IntN(50)), VMsOnDemand: float64(r.IntN(9)), Refused: float64(r.IntN(7)),
				TotalCost: money.Amount{Decimal: decimal.New(r.Int64N(1e12), -9)}}
			s.Penalties = money.Amount{Decimal: s.TotalCost.Div(decimal.NewFromInt(3)).Round(9)}
			if r.IntN(9) == 0 {
				s.Currency = "USD"
			}
			at = at.Add(time.Duration(r.Int64N(int64(5 * time.Hour)))).Truncate(time.Microsecond)
			if s.Until = at; at.After(until) {
				s.Until = until
			}
			stints = append(stints, s)
		}
		for h := range hours {
			if r.IntN(3) == 0 {
				seen = append(seen, SeenVMs{from.Add(time.Duration(h) * time.Hour), float64(h), 2})
			}
		}
		p := NewPast(from, until, stints, seen)
		if len(p.Hours) != hours {
			t.Fatalf("round %d: %d hours, want %d", round, len(p.Hours), hours)
		}
		exact := func(begin, end time.Time, currency string) (vms *big.Rat, cost, penalties *big.Rat, lasting float64) {
			vms, cost, penalties = new(big.Rat), new(big.Rat), new(big.Rat)
			for _, s := range stints {
				a, b := s.Since, s.Until
				if a.Before(begin) {
					a = begin
				}
				if b.After(end) {
					b = end
				}
				if s.Currency != currency || !b.After(a) {
					continue
				}
				micros := big.NewRat(b.Sub(a).Microseconds(), 1e6)
				lasting += b.Sub(a).Hours()
				per := new(big.Rat).Quo(micros, big.NewRat(s.PeriodSeconds, 1))
				cost.Add(cost, new(big.Rat).Mul(per, s.TotalCost.Rat()))
				penalties.Add(penalties, new(big.Rat).Mul(per, s.Penalties.Rat()))
				vms.Add(vms, new(big.Rat).Mul(micros, new(big.Rat).SetFloat64(s.VMs)))
			}
			return vms, cost, penalties, lasting
		}
		observed := 0
		sums := map[string]decimal.Decimal{}
		for _, h := range p.Hours {
			for _, span := range h.Spans {
				vms, cost, penalties, lasting := exact(h.Hour, h.Hour.Add(time.Hour), span.Currency)
				near := func(what string, got decimal.Decimal, want *big.Rat, most float64) {
					off, _ := new(big.Rat).Sub(got.Rat(), want).Float64()
					if math.Abs(off) > most {
						t.Fatalf("round %d, %s: %s is %s, %s too much", round, h.Hour, what, got, big.NewFloat(off))
					}
				}
				near("the cost", span.TotalCost.Decimal, cost, 1.0001e-9)
				near("the penalties", span.Penalties.Decimal, penalties, 0.5001e-9)
				if want, _ := vms.Float64(); math.Abs(span.VMHours-want/3600) > 1e-9*(1+want) || math.Abs(span.Hours-lasting) > 1e-9 {
					t.Fatalf("round %d, %s: %v VM hours in %v h, want %v in %v", round, h.Hour, span.VMHours, span.Hours, want/3600, lasting)
				}
				if !span.TotalCost.Equal(span.VMCost.Add(span.Penalties.Decimal)) {
					t.Fatalf("round %d: parts do not add up: %+v", round, span)
				}
				sums[span.Currency] = sums[span.Currency].Add(span.TotalCost.Decimal)
			}
			if h.ObservedVMs != nil {
				observed++
			}
		}
		if observed != len(seen) {
			t.Fatalf("round %d: %d hours were observed, want %d", round, observed, len(seen))
		}
		for _, total := range p.Total {
			if !total.TotalCost.Equal(sums[total.Currency]) {
				t.Fatalf("round %d: hours come to %s, the total is %s", round, sums[total.Currency], total.TotalCost)
			}
		}
		if len(p.Total) != len(sums) {
			t.Fatalf("round %d: totals of %d currencies, want %d", round, len(p.Total), len(sums))
		}
	}
}
