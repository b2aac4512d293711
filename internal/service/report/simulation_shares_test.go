package report

import (
	"bytes"
	"strings"
	"testing"

	"example.org/headroom/internal/ask/trial"
	"example.org/headroom/internal/slots/sim"
)

// A share that is less than all is not told as 100 %, and one that is something not as 0 %.
func TestSharesOfSimulationsAreNotRoundedToAll(t *testing.T) {
	shares := map[float64]string{1: "100 %", 0.99996: "99.996 %", 0.9994: "99.9 %", 0.5: "50 %", 0.00004: "0.004 %", 0: "0 %"}
	for share, want := range shares {
		use := sim.Estimate{Mean: share}
		for name, write := range map[string]func(*bytes.Buffer) error{
			"simulation": func(b *bytes.Buffer) error {
				return SimulationText(b, trial.Answer{Options: trial.SimulationOptions{WarmUpHours: new(1.0)}, Pools: []trial.Pool{{PoolReport: sim.PoolReport{Pool: "map", Slots: 7, Use: use, Waiting: share}}}})
			},
			"workload": func(b *bytes.Buffer) error {
				return WorkloadText(b, sim.Report{Pools: []sim.PoolReport{{Pool: "map", Slots: 7, Use: use}}})
			},
			"nodes": func(b *bytes.Buffer) error {
				return WorkloadText(b, sim.Report{Nodes: &sim.NodesReport{BelowOne: use, Types: []sim.NodeTypeReport{{Type: "a", Use: use, Residual: use}}}})
			},
		} {
			var b bytes.Buffer
			if err := write(&b); err != nil {
				t.Fatal(err)
			}
			text := b.String()
			if !strings.Contains(text, want) || share < 1 && strings.Contains(text, "100 %") || share > 0 && strings.Contains(text, " 0 %") {
				t.Errorf("%s of %v: it says\n%s, want %s", name, share, text, want)
			}
		}
	}
}
