package clusters

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/shopspring/decimal"

	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/fault"
	"example.org/headroom/internal/core/money"
	"example.org/headroom/internal/data/inputs"
	"example.org/headroom/internal/data/prices"
)

var importDay = time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)

// priceAt returns a type's price at a moment, read off a list period by period, or "".
func priceAt(all []inputs.PricePeriod, at time.Time) string {
	for _, p := range all {
		if p.VMType == "small" && p.Purchase == capacity.PurchaseOnDemand && !at.Before(p.From) && (p.Until == nil || at.Before(*p.Until)) {
			return p.Price.String()
		}
	}
	return ""
}

// randomPeriods draws up to four periods of few hours and fewer prices, so that they meet often.
func randomPeriods(r *rand.Rand) (all []inputs.PricePeriod) {
	at := importDay.Add(time.Duration(r.IntN(6)-3) * time.Hour)
	for range r.IntN(4) {
		p := inputs.PricePeriod{VMType: "small", Purchase: capacity.PurchaseOnDemand, Price: money.Round(float64(1+r.IntN(2)) / 10), From: at}
		if r.IntN(3) > 0 {
			p.Until = new(at.Add(time.Duration(1+r.IntN(4)) * time.Hour))
			all = append(all, p)
			at = p.Until.Add(time.Duration(r.IntN(2)*r.IntN(3)) * time.Hour)
			continue
		}
		return append(all, p)
	}
	return all
}

// For any cluster and sheet, all prices before the import's moment stay. After it the sheet's prices apply wherever
// it has any, and existing ones end there. The same sheet again changes nothing, and a refusal names the conflict.
func TestPricesAreLaidOverThoseThereAre(t *testing.T) {
	taken, refused, over := 0, 0, 0
	for seed := range uint64(20_000) {
		r := rand.New(rand.NewPCG(seed, 1))
		before := inputs.Document{Cluster: inputs.NewCluster("shop"), VMTypes: []inputs.VMType{{Name: "small"}}, Prices: randomPeriods(r), Offers: []inputs.StandingOffer{}}
		wanted := randomPeriods(r)
		from := importDay.Add(time.Duration(r.IntN(5)-2) * time.Hour)
		x := prices.Instance{Name: "small"}
		for _, p := range wanted {
			x.OnDemand = append(x.OnDemand, prices.Price{PerHour: p.Price.Decimal, From: p.From, Until: p.Until})
		}
		sheet := prices.Sheet{Currency: "USD", Instances: []prices.Instance{x}}
		after, made, err := importSheet(before, sheet, PriceSelection{From: &from})
		start := time.Time{} // of the sheet's prices
		for _, p := range wanted {
			if p.Until == nil || p.Until.After(from) {
				if start = p.From; start.Before(from) {
					start = from
				}
				break
			}
		}
		if err != nil {
			var input *fault.InputError
			reaching := 0
			for _, p := range before.Prices {
				if p.Until != nil && p.Until.After(start) || p.Until == nil && p.From.After(start) {
					reaching++
				}
			}
			if errors.As(err, &input) && input.Findings[0].Code == "over" && start.IsZero() && len(wanted) > 0 {
				over++
				continue
			}
			if !errors.As(err, &input) || len(input.Findings) != 1 || input.Findings[0].Code != "overlap" || reaching == 0 {
				t.Fatalf("seed %d: refused with %v, though nothing is in the way of %v in %v", seed, err, wanted, before.Prices)
			}
			if h := input.Findings[0].Hint; h != nil { // the cure is one
				later, _ := time.Parse(time.RFC3339, h.Value.(string))
				if _, _, err := importSheet(before, sheet, PriceSelection{From: &later}); err != nil {
					t.Fatalf("seed %d: from %s on as told: %v", seed, later, err)
				}
			}
			refused++
			continue
		}
		taken++
		for hour := -8; hour < 40; hour++ {
			at := importDay.Add(time.Duration(hour)*time.Hour + 30*time.Minute)
			want := priceAt(before.Prices, at)
			if !start.IsZero() && !at.Before(start) {
				want = priceAt(wanted, at)
			}
			if got := priceAt(after.Prices, at); got != want {
				t.Fatalf("seed %d, from %s: the price at %s is %q, want %q; before %v, the sheet %v, after %v", seed, from, at, got, want, before.Prices, wanted, after.Prices)
			}
		}
		slices.SortFunc(after.Prices, func(a, b inputs.PricePeriod) int { return a.From.Compare(b.From) })
		for i := 1; i < len(after.Prices); i++ {
			if p := after.Prices[i-1]; p.Until == nil || p.Until.After(after.Prices[i].From) {
				t.Fatalf("seed %d: periods overlap: %v", seed, after.Prices)
			}
		}
		again, same, err := importSheet(after, sheet, PriceSelection{From: &from})
		if changes := inputs.Changes(after, again); err != nil || len(changes) != 0 || same.Prices.Unchanged == 0 && !start.IsZero() || same.Prices.Unchanged < made.Prices.Unchanged {
			t.Fatalf("seed %d: again %+v (%v)", seed, changes, err)
		}
	}
	t.Logf("%d taken, %d refused, %d over", taken, refused, over)
	if taken < 2000 || refused < 2000 || over < 200 {
		t.Error("the samples say little")
	}
}

func TestWhatASheetMakes(t *testing.T) {
	amount := func(s string) decimal.Decimal { return decimal.RequireFromString(s) }
	sheet := prices.Sheet{Format: prices.AWS, Version: "20260101", Currency: "USD", Instances: []prices.Instance{{
		Name: "m5.xlarge", Region: "eu-central-1", VCPU: 4, MemoryGiB: amount("16"),
		OnDemand: []prices.Price{{PerHour: amount("0.23000000005")}}, Spot: []prices.Price{{PerHour: amount("0.1")}},
		Reserved: []prices.Reserved{{Name: "1yr", TermYears: 1, PerHour: amount("0.1"), Upfront: amount("1"), Billing: capacity.BilledAlways, RateCode: "A.B", Effective: prices.EffectivePerHour(amount("0.1"), amount("1"), 1)}},
	}}}
	empty := inputs.Document{Cluster: inputs.NewCluster("shop"), VMTypes: []inputs.VMType{}, Offers: []inputs.StandingOffer{}}
	d, _, err := importSheet(empty, sheet, PriceSelection{From: &importDay})
	if err != nil {
		t.Fatal(err)
	}
	v, o := d.VMTypes[0], d.Offers[0]
	if v.InUse || *v.VCPU != 4 || *v.GPUs != 0 || v.Description != "m5.xlarge in eu-central-1" || len(d.Prices) != 2 || d.Prices[1].Purchase != capacity.PurchaseSpot || d.Prices[0].Price.String() != "0.23" {
		t.Errorf("made %+v %+v", v, d.Prices)
	}
	if o.Name != "m5.xlarge 1yr" || o.Max != capacity.MaxOfferVMs || o.Note != "price sheet 20260101, m5.xlarge, eu-central-1, A.B" || d.Validate() != nil {
		t.Errorf("made %+v (%v)", o, d.Validate())
	}
	for _, c := range []struct {
		situation, words string
		change           func(*prices.Sheet, *PriceSelection)
	}{
		{"another currency", "in CNY and the cluster \"shop\" plans in USD", func(s *prices.Sheet, _ *PriceSelection) { s.Currency = "CNY" }},
		{"too many", "more than the 1000", func(s *prices.Sheet, _ *PriceSelection) {
			s.Instances = slices.Repeat(s.Instances, maxImported+1)
		}},
		{"a name that no address has", "in addresses", func(s *prices.Sheet, _ *PriceSelection) { s.Instances[0].Name = ".." }},
		{"a price beyond all", "The price of", func(s *prices.Sheet, _ *PriceSelection) { s.Instances[0].OnDemand[0].PerHour = amount("1e12") }},
		{"a term of a century", "The offer", func(s *prices.Sheet, _ *PriceSelection) { s.Instances[0].Reserved[0].TermYears = 100 }},
		{"a long name of an offer", "The offer", func(s *prices.Sheet, _ *PriceSelection) {
			s.Instances[0].Reserved[0].Name = strings.Repeat("x", 200)
		}},
		{"prices that are over", "All on-demand prices of \"m5.xlarge\" in the sheet end before 2026-", func(s *prices.Sheet, _ *PriceSelection) {
			s.Instances[0].OnDemand[0].Until = new(importDay.AddDate(0, -1, 0))
		}},
		{"the year 9999", "2200", func(s *prices.Sheet, _ *PriceSelection) {
			s.Instances[0].OnDemand[0].From = time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC)
		}},
	} {
		s, o := sheet, PriceSelection{From: &importDay}
		s.Instances = slices.Clone(s.Instances)
		s.Instances[0].OnDemand, s.Instances[0].Reserved = slices.Clone(s.Instances[0].OnDemand), slices.Clone(s.Instances[0].Reserved)
		c.change(&s, &o)
		if _, _, err := importSheet(empty, s, o); !errors.Is(err, fault.Invalid) || !strings.Contains(fmt.Sprint(err), c.words) {
			t.Errorf("%s: got %v", c.situation, err)
		}
	}
}
