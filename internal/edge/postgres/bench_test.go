package postgres_test

import (
	"fmt"
	"testing"

	"example.org/headroom/internal/data/inputs"
	"example.org/headroom/internal/test/pgtest"
)

func BenchmarkSnapshot(b *testing.B) {
	for _, classes := range []int{10, 100, 1000} {
		b.Run(fmt.Sprint(classes), func(b *testing.B) {
			s := pgtest.Open(b)
			ctx := somebody(b)
			d := whole(night)
			d.Classes, d.Forecasts = nil, nil
			for i := range classes {
				c := nightly
				c.Name, c.Profile = fmt.Sprintf("class %05d", i), &inputs.ProfileRef{Name: "etl", Version: 2}
				d.Classes = append(d.Classes, c)
				d.Forecasts = append(d.Forecasts, inputs.Forecast{Class: c.Name, Hour: january.From, Jobs: 1})
			}
			must(s.Apply(ctx, 0, d, false))(b)
			b.ResetTimer()
			for b.Loop() {
				must(s.Snapshot(ctx, night, january.From))(b)
			}
		})
	}
}

func BenchmarkSavePlan(b *testing.B) {
	s := pgtest.Open(b)
	ctx := filled(b, s)
	for b.Loop() {
		must(s.SavePlan(ctx, record(night)))(b)
	}
}

func BenchmarkDatabase(b *testing.B) {
	for b.Loop() {
		pgtest.Database(b)
	}
}
