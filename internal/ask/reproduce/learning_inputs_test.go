package reproduce

import (
	"math"
	"testing"

	"example.org/headroom/internal/ask/study"
	"example.org/headroom/internal/slots/dispatch"
)

// Tasks without load are started at every heartbeat, so 12 run; the load average is theirs after the first minutes.
// Tasks too heavy for the node are started one after the other, as probes.
func TestTheLoadedNode(t *testing.T) {
	light := loaded{load: 0.01, seed: 1, policy: learns(dispatch.NaiveBayes, 1, 1), hours: 1}.run()
	if light.tasks != 12 || math.Abs(light.use-12*0.01/loadedCores) > 1e-6 || light.above != 0 {
		t.Errorf("with light tasks: %g tasks, load over target %g, above it %g of the time", light.tasks, light.use, light.above)
	}
	for _, x := range light.right {
		if x != 1 {
			t.Fatal("a light task was not thought to be good, or came out bad")
		}
	}
	heavy := loaded{load: 100, seed: 1, policy: learns(dispatch.NaiveBayes, 1, 1), hours: 6}.run()
	if heavy.tasks > 1.5 || heavy.tasks < 0.5 || heavy.above < 0.9 {
		t.Errorf("with heavy tasks: %g tasks, above the target %g of the time", heavy.tasks, heavy.above)
	}
	if last := heavy.right[len(heavy.right)*3/4:]; mean(last) < 0.95 {
		t.Errorf("that heavy tasks overload the node is known of %g of the last ones", mean(last))
	}
}

func TestNormalDraws(t *testing.T) {
	s := study.Stream{State: 1}
	const n = 200_000
	var sum, squares, beyond float64
	for range n {
		x := s.Normal()
		sum += x
		squares += float64(x * x)
		if math.Abs(x) > 1.96 {
			beyond++
		}
	}
	if m, v, b := sum/n, squares/n, beyond/n; math.Abs(m) > 0.01 || math.Abs(v-1) > 0.02 || math.Abs(b-0.05) > 0.002 {
		t.Errorf("mean %g, variance %g, beyond 1.96: %g", m, v, b)
	}
}
