package whatif

import (
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/plan"
	"example.org/headroom/internal/test/plantest"
)

// TestScenariosInBriefAgreeWithThoseInFull draws problems and scenarios over them, ties included: what is answered
// in brief must be what is answered in full, to the last digit.
func TestScenariosInBriefAgreeWithThoseInFull(t *testing.T) {
	r := rand.New(rand.NewPCG(20, 26))
	compared, infeasible := 0, 0
	for range plantest.Samples(120) {
		p := plantest.DrawSeries(t, r)
		series := plan.NewSeries(p, nil)
		inFull, err := NewBase(t.Context(), p, alone)
		if err != nil {
			t.Fatal(err)
		}
		inBrief, err := NewBase(t.Context(), p, series.Solve)
		if err != nil {
			t.Fatal(err)
		}
		for range 8 {
			var s Scenario
			for range 1 + r.IntN(2) {
				s.Changes = append(s.Changes, drawChange(r, &p))
			}
			want, err := inFull.Answer(t.Context(), s, false)
			if err != nil {
				continue
			}
			got, err := inBrief.Answer(t.Context(), s, false)
			if err != nil {
				t.Fatal(err)
			}
			compared++
			if got.Status == capacity.InfeasibleStatus {
				infeasible++
			}
			if diff := cmp.Diff(textOf(t, want), textOf(t, got)); diff != "" {
				t.Fatalf("%s\nproblem %s\nscenario %s", diff, textOf(t, p), textOf(t, s))
			}
		}
	}
	if compared < plantest.Samples(120)*4 || infeasible == 0 || infeasible > compared/2 {
		t.Errorf("%d answers compared, %d of them infeasible", compared, infeasible)
	}
}
