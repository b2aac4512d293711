package question

import (
	"context"
	"os"
	"strings"
	"testing"

	"example.org/headroom/internal/ask/timetable"
	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/service/plans/solving"
)

// A question that becomes a run, or is ended, is given up at the point it is at. A search that is cut short would answer with what it
// has: a schedule that refuses much, or none.
func TestRangesOfSchedulesEndWithWholePoints(t *testing.T) {
	text, err := os.ReadFile("../../../openapi/examples/day-with-windows.json")
	if err != nil {
		t.Fatal(err)
	}
	// All reports are promised and VMs are few, so that a search without time finds no place for some.
	promised := strings.Replace(string(text), `"jobs": {"min": 0, "max": 0}`, `"jobs": {"min": 0, "max": 0, "all": true}`, 1)
	promised = strings.Replace(promised, `"on_demand": {"price": "0.20"}`, `"on_demand": {"price": "0.20", "quota": 16}`, 1)
	q, err := timetable.ReadSweep([]byte(strings.Replace(promised, "{", `{"vary": [{"what": "due", "class": "reports", "by": "value", "values": ["0", "18000", "36000"]}],`, 1)), capacity.DefaultLimits())
	if err != nil {
		t.Fatal(err)
	}
	d := &Desk{Solver: solving.New(nil, 1, 0, nil)}
	for _, partial := range []bool{false, true} {
		ctx, end := context.WithCancelCause(t.Context())
		b := d.atOnce(func(done, _ int64) {
			if done == 2 {
				end(solving.ErrLong)
			}
		})
		b.Partial = partial
		a, err := workWaiting(ctx, b, AskedWaiting{SweepQuestion: q})
		switch {
		case err == nil || partial == (a == nil):
			t.Errorf("partial %t: the answer is %+v, with the error %v", partial, a, err)
		case partial && (len(a.Points) != 2 || a.Complete):
			t.Errorf("%d points, complete %t: %s", len(a.Points), a.Complete, a.Explanation)
		}
	}
}
