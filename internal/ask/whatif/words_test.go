package whatif

import (
	"strings"
	"testing"

	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/test/plantest"
)

func TestSentencesCountOneAsOne(t *testing.T) {
	t.Parallel()
	p := plantest.Market(t, 0, "0.10", "0.20", capacity.Integer)
	p.Classes = []capacity.Class{plantest.ByGamma(t, "a", "1", "2", 0, 2)}
	base, err := NewBase(t.Context(), p, alone)
	if err != nil {
		t.Fatal(err)
	}
	one := plantest.AmountIn(t, "1")
	for want, s := range map[string]Scenario{
		`A demand of 1 job of class "a"`:  {Changes: []ScenarioChange{{What: ChangeDemand, Class: "a", Value: &one}}},
		`A promise of 1 job of class "a"`: {Changes: []ScenarioChange{{What: ChangePromised, Class: "a", Value: &one}}},
		"A quota of 1 VM ":                {Changes: []ScenarioChange{{What: ChangeQuota, Value: &one}}},
	} {
		a, err := base.Answer(t.Context(), s, true)
		if err != nil || !strings.HasPrefix(a.Sentence, want) {
			t.Errorf("%v: %q does not begin with %q", err, a.Sentence, want)
		}
		if a.Difference != nil && strings.Contains(strings.Join(a.Difference.KeptBecause, " "), "1 job of class \"a\" are") {
			t.Errorf("got %q", a.Difference.KeptBecause)
		}
	}
}
