package whatif

import (
	"context"
	"fmt"
	"testing"

	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/plan"
	"example.org/headroom/internal/test/plantest"
)

// BenchmarkManyScenarios is a thousand scenarios over a hundred classes, by integrality, solved each by
// itself and as a series.
func BenchmarkManyScenarios(b *testing.B) {
	for _, integrality := range []capacity.Integrality{capacity.Relaxed, capacity.Integer, capacity.Executable} {
		p, err := capacity.ReadProblem(plantest.CallBody(b, "mixed", integrality, 100), capacity.Limits{})
		if err != nil {
			b.Fatal(err)
		}
		p.Options.Engine = capacity.EngineAuto
		for _, how := range []struct {
			name  string
			solve func() plan.Planner
		}{
			{"alone", func() plan.Planner { return alone }},
			{"series", func() plan.Planner { return plan.NewSeries(p, nil).Solve }},
		} {
			b.Run(fmt.Sprintf("%s/%s", integrality, how.name), func(b *testing.B) {
				b.ReportAllocs()
				before := plantest.CPUSeconds(b)
				for b.Loop() {
					if _, err := CompareScenarios(context.Background(), p, thousandScenarios(), false, how.solve()); err != nil {
						b.Fatal(err)
					}
				}
				b.ReportMetric((plantest.CPUSeconds(b)-before)/float64(b.N)*1e3, "cpu-ms/op")
			})
		}
	}
}

func thousandScenarios() (all []Scenario) {
	whats := []What{ChangeDeadline, ChangeDemand, ChangePrice, ChangePenalty}
	for i := range 1000 {
		factor := float64(900+i/5) / 1000
		all = append(all, Scenario{Name: fmt.Sprintf("s%d", i), Changes: []ScenarioChange{{What: whats[i%4], Factor: &factor}}})
	}
	return all
}
