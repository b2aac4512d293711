package plan

import (
	"context"
	"fmt"
	"runtime/metrics"
	"testing"

	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/test/plantest"
)

// BenchmarkCall measures a call of the service without HTTP: it reads the text of a problem, solves it, and writes the
// plan as text.
func BenchmarkCall(b *testing.B) {
	for _, family := range []string{"table2", "mixed", "hard"} {
		for _, integrality := range []capacity.Integrality{capacity.Integer, capacity.Executable} {
			for _, n := range []int{20, 1000, 10_000} {
				b.Run(fmt.Sprintf("%s/%s/n=%d", family, integrality, n), func(b *testing.B) {
					text := plantest.CallBody(b, family, integrality, n)
					var answer []byte
					b.ReportAllocs()
					before, gcBefore := plantest.CPUSeconds(b), gcSeconds()
					for b.Loop() {
						p, err := capacity.ReadProblem(text, capacity.DefaultLimits())
						if err != nil {
							b.Fatal(err)
						}
						pl, err := Solve(context.Background(), p, nil)
						if err != nil {
							b.Fatal(err)
						}
						answer = capacity.AppendPlan(answer[:0], pl)
					}
					cpu := plantest.CPUSeconds(b) - before
					b.ReportMetric(cpu/float64(b.N)*1e3, "cpu-ms/op")
					b.ReportMetric((gcSeconds()-gcBefore)/cpu*100, "gc-%")
				})
			}
		}
	}
}

// gcSeconds is the processor time that the collection of garbage has taken so far.
func gcSeconds() float64 {
	sample := []metrics.Sample{{Name: "/cpu/classes/gc/total:cpu-seconds"}, {Name: "/cpu/classes/gc/mark/idle:cpu-seconds"}}
	metrics.Read(sample)
	return sample[0].Value.Float64() - sample[1].Value.Float64()
}
