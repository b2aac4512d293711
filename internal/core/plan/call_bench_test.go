package plan

import (
	"context"
	"encoding/json"
	"fmt"
	"runtime/metrics"
	"syscall"
	"testing"

	"headroom/internal/ask/study"
	"headroom/internal/core/capacity"
)

// BenchmarkCall is what a call of the service costs beside HTTP: the text of a problem read, solved
// and its plan written as text.
func BenchmarkCall(b *testing.B) {
	for _, family := range []string{"table2", "mixed", "hard"} {
		for _, integrality := range []capacity.Integrality{capacity.Integer, capacity.Executable} {
			for _, n := range []int{20, 1000, 10_000} {
				b.Run(fmt.Sprintf("%s/%s/n=%d", family, integrality, n), func(b *testing.B) {
					text := callBody(b, family, integrality, n)
					var answer []byte
					b.ReportAllocs()
					before, gcBefore := cpuSeconds(b), gcSeconds()
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
					cpu := cpuSeconds(b) - before
					b.ReportMetric(cpu/float64(b.N)*1e3, "cpu-ms/op")
					b.ReportMetric((gcSeconds()-gcBefore)/cpu*100, "gc-%")
				})
			}
		}
	}
}

func callBody(tb testing.TB, family string, integrality capacity.Integrality, n int) []byte {
	tb.Helper()
	drawn, err := study.Generate(family, n, 1)
	if err != nil {
		tb.Fatal(err)
	}
	p, err := drawn.Profiled()
	if err != nil {
		tb.Fatal(err)
	}
	p.Options.Engine, p.Options.Integrality = capacity.EngineExact, integrality
	text, err := json.Marshal(p)
	if err != nil {
		tb.Fatal(err)
	}
	return text
}

// cpuSeconds is the processor time of this process so far, in the program and in the kernel.
func cpuSeconds(tb testing.TB) float64 {
	tb.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		tb.Fatal(err)
	}
	return float64(u.Utime.Sec+u.Stime.Sec) + float64(u.Utime.Usec+u.Stime.Usec)/1e6
}

// gcSeconds is the processor time that the collection of garbage has taken so far.
func gcSeconds() float64 {
	sample := []metrics.Sample{{Name: "/cpu/classes/gc/total:cpu-seconds"}, {Name: "/cpu/classes/gc/mark/idle:cpu-seconds"}}
	metrics.Read(sample)
	return sample[0].Value.Float64() - sample[1].Value.Float64()
}
