package pack

import (
	"strings"
	"testing"

	"example.org/headroom/internal/core/perf"
)

// A packing warns of times that nobody measured.
func TestExtrapolatedTimesAreTold(t *testing.T) {
	of := func(machines int64) []string {
		p := PackingProblem{Machines: Machines{Count: machines, Disks: 2, Penalty: 1}, Options: DefaultPackingOptions(), Jobs: []BatchJob{
			{Name: "measured", Count: 2, MinVMs: 2, Measurements: []perf.Measurement{{VMs: 6, Seconds: 900}, {VMs: 12, Seconds: 520}, {VMs: 12, Seconds: 530}}},
			{Name: "given", Count: 1, Model: &perf.PowerModel{A: 10, B: -0.5}},
		}}
		a, err := Pack(t.Context(), p, nil)
		if err != nil {
			t.Fatal(err)
		}
		var warned []string
		for _, w := range a.Warnings {
			if w.Code == "extrapolated" {
				warned = append(warned, w.Pointer+" "+w.Detail)
			}
		}
		return warned
	}
	if warned := of(6); len(warned) != 0 { // on twelve VMs, six or seven each
		t.Errorf("within what was measured: got %q", warned)
	}
	for _, machines := range []int64{40, 2} { // on more VMs than were measured, and on fewer
		if warned := of(machines); len(warned) != 1 || !strings.HasPrefix(warned[0], "/jobs/0/measurements measured: ") || !strings.Contains(warned[0], "6 to 12 VMs") {
			t.Errorf("on %d machines: got %q", machines, warned)
		}
	}
}
