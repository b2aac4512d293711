package proof

import (
	"encoding/json"
	"fmt"
	"testing"

	"example.org/headroom/internal/ask/study"
	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/plan"
	"example.org/headroom/internal/test/plantest"
)

// BenchmarkVerify measures the check of a plan in microseconds of processor time a class: reading the texts, and all checks. Of
// these, the statements about what would change the plan and the sentences about each class are measured again, alone.
func BenchmarkVerify(b *testing.B) {
	for _, kind := range []string{"ratios", "profiles"} {
		for _, n := range []int{1000, 10_000, 100_000} {
			if kind == "profiles" && n > 10_000 {
				continue
			}
			b.Run(fmt.Sprintf("%s/%d", kind, n), func(b *testing.B) {
				drawn, err := study.Generate("hard", n, 7)
				if err != nil {
					b.Fatal(err)
				}
				p := drawn.Problem()
				if kind == "profiles" {
					if p, err = drawn.Profiled(); err != nil {
						b.Fatal(err)
					}
				}
				pl, err := plan.Solve(b.Context(), p, nil)
				if err != nil {
					b.Fatal(err)
				}
				question, _ := json.Marshal(p)
				answer, _ := json.Marshal(pl)
				spent := func(work func()) float64 {
					before := plantest.CPUSeconds(b)
					work()
					return (plantest.CPUSeconds(b) - before) * 1e6 / float64(n)
				}
				var reading, checks, changing, sentences float64
				for b.Loop() {
					reading += spent(func() {
						if p, err = capacity.ReadProblem(question, capacity.Limits{Bytes: 1 << 30}); err != nil {
							b.Fatal(err)
						}
						if pl, err = capacity.ReadPlan(answer); err != nil {
							b.Fatal(err)
						}
					})
					checks += spent(func() {
						if r := Verify(p, pl, Options{}); !r.Accepted() {
							b.Fatal(r)
						}
					})
					m, r := newModel(p, nil), &Report{}
					a := m.read(pl)
					changes := spent(func() { r.changes(m, pl, a, m.bill(pl, a), Options{Nodes: defaultNodes}) })
					reasons := spent(func() { m.reasons(pl) })
					changing, sentences = changing+changes, sentences+reasons
				}
				for name, sum := range map[string]float64{"reading": reading, "checks": checks, "changes": changing, "sentences": sentences} {
					b.ReportMetric(sum/float64(b.N), name+"-µs/class")
				}
			})
		}
	}
}
