package integer

import (
	"context"
	"fmt"
	"testing"

	"example.org/headroom/internal/ask/study"
	"example.org/headroom/internal/test/plantest"
)

// fromStudy is a family's instance in plan's form.
func fromStudy(tb testing.TB, family string, classes int, seed uint64) Instance {
	tb.Helper()
	s, err := study.Generate(family, classes, seed)
	if err != nil {
		tb.Fatal(err)
	}
	in := Instance{Gamma: s.Gamma, Penalty: s.Penalty, Low: s.Low, High: s.High}
	for _, t := range s.Supply {
		vms := t.VMs
		if vms < 0 {
			vms = Unlimited
		}
		in.Supply = append(in.Supply, Tier{vms, t.Price})
	}
	return in
}

func BenchmarkP2(b *testing.B) {
	for _, family := range study.Names() {
		for _, n := range []int{20, 100, 1000} {
			for _, gap := range []float64{1e-6, 1e-9} {
				b.Run(fmt.Sprintf("%s/n=%d/gap=%g", family, n, gap), func(b *testing.B) {
					var ins []Instance
					for seed := range uint64(5) {
						ins = append(ins, fromStudy(b, family, n, seed+1))
					}
					worst, before := 0.0, plantest.CPUSeconds(b)
					for b.Loop() {
						worst = 0
						for _, in := range ins {
							r := P2(context.Background(), in, Within(gap))
							worst = max(worst, r.Gap/-r.Objective)
						}
					}
					b.ReportMetric(worst, "gap")
					b.ReportMetric((plantest.CPUSeconds(b)-before)/float64(b.N)/5*1e3, "cpu-ms/solve")
				})
			}
		}
	}
}

func BenchmarkP2Large(b *testing.B) {
	for _, family := range []string{"table2", "mixed", "hard", "subset", "strong"} {
		for _, n := range []int{10_000, 100_000, 1_000_000} {
			b.Run(fmt.Sprintf("%s/n=%d", family, n), func(b *testing.B) {
				in := fromStudy(b, family, n, 1)
				worst, before := 0.0, plantest.CPUSeconds(b)
				for b.Loop() {
					r := P2(context.Background(), in, Within(1e-9))
					worst = r.Gap / -r.Objective
				}
				b.ReportMetric(worst, "gap")
				b.ReportMetric((plantest.CPUSeconds(b)-before)/float64(b.N)*1e3, "cpu-ms/solve")
			})
		}
	}
}
