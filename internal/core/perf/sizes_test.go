package perf

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestSizesOfPastExecutions(t *testing.T) {
	points, unsized := OnVMs([]ExecutionSize{
		{100, 8, 40}, {90, 9, 40}, // a ninth slot takes a fifth VM
		{50, 40, 40}, {50, 45, 40}, // with a slot for every map, or for copies as well, any number is possible
		{70, 0, 40}, {0, 8, 40},
	}, 2)
	if diff := cmp.Diff([]Measurement{{VMs: 4, Seconds: 100}, {VMs: 5, Seconds: 90}}, points); diff != "" || unsized != 4 {
		t.Errorf("%d unsized, %s", unsized, diff)
	}
	if points, unsized := OnVMs([]ExecutionSize{{100, 8, 40}}, 0); len(points) != 0 || unsized != 1 {
		t.Errorf("a VM without slots: %v", points)
	}
}
