package history

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"example.org/headroom/internal/test/plantest"
)

// BenchmarkHistory reads histories as Spark, Hadoop and Rumen write them, with the figures that nobody needs. Megabytes are
// by second of processor time.
func BenchmarkHistory(b *testing.B) {
	var log, jhist, short, trace bytes.Buffer
	log.WriteString(sparkHead)
	jhist.WriteString(jhistHead + submitted)
	for i := range 20_000 {
		log.WriteString(strings.Replace(taskEnd, `"Index":5`, fmt.Sprintf(`"Index":%d`, i), 1) + "\n")
		begin := strings.SplitAfter(mapTry(i, 0, base, base+1000), "\n")[0]
		end := strings.ReplaceAll(jhistEnd, "attempt_1_1_m_1_0", fmt.Sprintf("a_m_%d_0", i))
		jhist.WriteString(begin + strings.ReplaceAll(end, "task_1_1_m_1", fmt.Sprintf("task_1_1_m_%06d", i)) + "\n")
	}
	jhist.WriteString(ended)
	r := rand.New(rand.NewPCG(1, 1))
	for n := range 200 {
		job := makeJob(r, n, 80, 20)
		job.writeRumen(&trace)
		job.writeJHist(&short)
	}
	for _, of := range []struct {
		name string
		text []byte
	}{{"spark", log.Bytes()}, {"jhist", jhist.Bytes()}, {"jhist-short", short.Bytes()}, {"rumen", trace.Bytes()}} {
		b.Run(of.name, func(b *testing.B) {
			before := plantest.CPUSeconds(b)
			for b.Loop() {
				attempts := 0
				count := func(e *Execution) error { attempts += e.Attempts.Len(); return nil }
				if err := Read(bytes.NewReader(of.text), Options{}, Sink{Execution: count, Refused: func(r Refusal) error { return r }}); err != nil || attempts < 10_000 {
					b.Fatal(attempts, err)
				}
			}
			b.ReportMetric(float64(len(of.text))*float64(b.N)/1e6/(plantest.CPUSeconds(b)-before), "MB/s")
		})
	}
}
