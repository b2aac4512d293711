package runs

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// A run that has not counted anything yet has no estimate.
func TestEstimate(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		p    Progress
		want *float64
	}{
		{Progress{}, nil},
		{Progress{Total: 1, Unit: "plan"}, nil},
		{Progress{Done: 7}, nil},
		{Progress{Done: 2, Total: 8}, new(30.0)},
		{Progress{Done: 8, Total: 8}, new(0.0)},
		{Progress{Done: 9, Total: 8}, new(0.0)},
	} {
		if diff := cmp.Diff(c.want, c.p.Estimate(10*time.Second)); diff != "" {
			t.Errorf("%+v (-want +got):\n%s", c.p, diff)
		}
	}
}
