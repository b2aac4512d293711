package pack

import (
	"strings"
	"testing"

	"headroom/internal/core/perf"
)

// A packing says where it relies on times that nobody measured.
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
		var told []string
		for _, w := range a.Warnings {
			if w.Code == "extrapolated" {
				told = append(told, w.Pointer+" "+w.Detail)
			}
		}
		return told
	}
	if told := of(6); len(told) != 0 { // on twelve VMs, six or seven each
		t.Errorf("within what was measured: got %q", told)
	}
	for _, machines := range []int64{40, 2} { // on more VMs than were measured, and on fewer
		if told := of(machines); len(told) != 1 || !strings.HasPrefix(told[0], "/jobs/0/measurements measured: ") || !strings.Contains(told[0], "6 to 12 VMs") {
			t.Errorf("on %d machines: got %q", machines, told)
		}
	}
}
