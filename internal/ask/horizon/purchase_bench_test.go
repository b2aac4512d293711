package horizon

import (
	"context"
	"math"
	"math/rand/v2"
	"runtime"
	"testing"
	"time"

	"github.com/shopspring/decimal"

	"example.org/headroom/internal/ask/study"
	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/money"
)

// yearOfHours is 8,760 hours of 50 classes with five offers. With a pattern every week is like the first one
// but for what demand grows in whole jobs; without, every hour is drawn by itself.
func yearOfHours(tb testing.TB, pattern bool, integrality capacity.Integrality) PurchaseQuestion {
	tb.Helper()
	const classes, hours = 50, 8760
	drawn, err := study.Generate("mixed", classes, 7)
	if err != nil {
		tb.Fatal(err)
	}
	var q PurchaseQuestion
	if q.Problem, err = drawn.Profiled(); err != nil {
		tb.Fatal(err)
	}
	p := &q.Problem
	p.Options.Engine, p.Options.Integrality, p.Options.Gap = capacity.EngineExact, integrality, 0.0005
	r := rand.New(rand.NewPCG(7, 7))
	phase := make([]float64, classes)
	for i := range p.Classes {
		p.Classes[i].Jobs.Min = math.Floor(p.Classes[i].Jobs.Max * 0.2)
		phase[i] = r.Float64()
	}
	p.Supply.Contracts = p.Supply.Contracts[:0]
	start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for hour := range hours {
		jobs := make([]float64, classes)
		for i := range jobs {
			most := p.Classes[i].Jobs.Max
			if !pattern {
				jobs[i] = math.Floor(most * (0.2 + 0.8*r.Float64()))
				continue
			}
			week, within := hour/168, hour%168
			level := 0.55 + 0.35*math.Sin(2*math.Pi*(float64(within)/24+phase[i]))
			if within >= 120 {
				level *= 0.6
			}
			jobs[i] = math.Floor(most * level * (1 + 0.1*float64(week/13))) // growth by the quarter
		}
		q.Periods = append(q.Periods, HorizonPeriod{Start: start.Add(time.Duration(hour) * time.Hour), Hours: 1, Jobs: jobs})
	}
	share := func(x float64) money.Amount {
		return money.Amount{Decimal: p.Supply.OnDemand.Price.Mul(decimal.NewFromFloat(x)).Round(6)}
	}
	q.Offers = []capacity.Offer{
		{Name: "1 year, nothing upfront", Price: share(0.70), Billing: capacity.BilledAlways, TermYears: 1, Max: 20_000},
		{Name: "1 year, all upfront", Upfront: share(0.62 * hours), Billing: capacity.BilledAlways, TermYears: 1, Max: 20_000},
		{Name: "3 years, part upfront", Price: share(0.24), Upfront: share(0.24 * 3 * hours), Billing: capacity.BilledAlways, TermYears: 3, Max: 2_000},
		{Name: "half a year, used", Price: share(0.50), Upfront: share(0.15 * hours / 2), Billing: capacity.BilledUsed, TermHours: hours / 2, Max: 20_000},
		{Name: "1 year, used", Price: share(0.40), Upfront: share(0.2 * hours), Billing: capacity.BilledUsed, TermYears: 1, Max: 20_000},
	}
	if err := q.Validate(); err != nil {
		tb.Fatal(err)
	}
	return q
}

// A recommendation for a year of hours: its proved gap, and what of memory is held at the end.
func BenchmarkPurchaseYear(b *testing.B) {
	for _, kind := range []struct {
		name        string
		pattern     bool
		integrality capacity.Integrality
	}{{"weekly/integer", true, capacity.Integer}, {"weekly/executable", true, capacity.Executable}, {"random/integer", false, capacity.Integer}, {"random/executable", false, capacity.Executable}} {
		b.Run(kind.name, func(b *testing.B) {
			q := yearOfHours(b, kind.pattern, kind.integrality)
			for b.Loop() {
				began := time.Now()
				var marks []float64 // after every tenth of the steps
				a, err := Purchase(context.Background(), q, nil, runtime.GOMAXPROCS(0), func(done, total int) {
					for 10*done >= total*(len(marks)+1) {
						marks = append(marks, time.Since(began).Seconds())
					}
				})
				if err != nil {
					b.Fatal(err)
				}
				var memory runtime.MemStats
				runtime.ReadMemStats(&memory)
				bought := []int64{}
				for _, o := range a.Offers {
					bought = append(bought, o.VMs)
				}
				b.ReportMetric(a.Proof.Gap*100, "%gap")
				b.ReportMetric(float64(memory.Sys)/(1<<20), "MB")
				b.ReportMetric(float64(a.Proof.Situations), "situations")
				b.Logf("bought %v in %.1f s; tenths of the steps after %.1f", bought, time.Since(began).Seconds(), marks)
			}
		})
	}
}
