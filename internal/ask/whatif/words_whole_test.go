package whatif

import (
	"strings"
	"testing"

	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/plan"
)

// A factor that rounds to the same whole jobs says so.
func TestFactorsThatRoundToTheSameJobs(t *testing.T) {
	factor := 1.3
	s := Scenario{Changes: []ScenarioChange{{What: ChangeDemand, Factor: &factor}}}
	for admitted, want := range map[float64]bool{1: true, 0: false} {
		o := plan.Outcome{Status: capacity.Optimal, Admitted: admitted}
		f := Tell(s, o, &ScenarioAnswer{Outcome: o, Difference: &ScenarioDifference{}})
		if got := strings.HasSuffix(f.Claim, "nothing: in whole jobs the demand stays as it is."); got != want {
			t.Errorf("%v jobs: %q", admitted, f.Claim)
		}
	}
}
