package plan

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/shopspring/decimal"

	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/money"
)

// hundredClasses is a problem of 100 classes; others differ in the price alone.
func hundredClasses(reduce bool) capacity.Problem {
	p := capacity.Problem{Currency: "USD", PeriodSeconds: 3600, Options: capacity.DefaultOptions()}
	p.Supply.OnDemand.Price = money.Amount{Decimal: decimal.RequireFromString("0.23")}
	p.Options.Engine = capacity.EngineExact
	profile := &capacity.Profile{MapTasks: 100, MapAvgSeconds: 20, MapMaxSeconds: 40, OverheadSeconds: 5}
	if reduce {
		profile.ReduceTasks, profile.ReduceAvgSeconds, profile.ReduceMaxSeconds, profile.ShuffleAvgSeconds, profile.ShuffleMaxSeconds = 30, 25, 40, 10, 20
	}
	random := rand.New(rand.NewPCG(5, 100))
	for n := range 100 {
		p.Classes = append(p.Classes, capacity.Class{
			Name: fmt.Sprintf("class-%03d", n), Profile: profile, DeadlineSeconds: 300 + float64(random.IntN(3000)),
			SlotsPerVM: capacity.SlotsPerVM{Map: 2, Reduce: 2}, Jobs: capacity.JobRange{Min: float64(random.IntN(3)), Max: float64(3 + random.IntN(10))},
			Penalty: money.Amount{Decimal: decimal.NewFromFloat(0.3 + 5*random.Float64()).Round(2)},
		})
	}
	return p
}

// A cluster's plan after a change of its price.
func BenchmarkPrices(b *testing.B) {
	for _, reduce := range []bool{false, true} {
		b.Run(fmt.Sprintf("reduce=%v", reduce), func(b *testing.B) {
			p, n := hundredClasses(reduce), int64(0)
			b.ReportAllocs()
			for b.Loop() {
				p.Supply.OnDemand.Price = money.Amount{Decimal: decimal.New(230+n%40, -3)}
				if _, err := Solve(context.Background(), p, nil); err != nil {
					b.Fatal(err)
				}
				n++
			}
		})
	}
}
