package proof

import (
	"slices"
	"strings"

	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/words"
)

// reasons checks each class's sentence: it is made of figures that other checks have looked at.
func (m *model) reasons(pl capacity.Plan) []string {
	var f faults
	fixed := func(i int) float64 {
		if c := m.classes[i]; !c.given {
			return float(c.plan.c)
		}
		return 0
	}
	said, facts := words.Reasons(&m.problem, pl.Classes, fixed)
	if pl.Facts == nil && len(facts) > 0 {
		return withoutFacts(pl, said)
	}
	for i := range pl.Classes {
		if stated := &pl.Classes[i]; stated.Reason != said[i] {
			f.addf("%s: the reason is %.200q, and its figures say %.200q.", stated.Name, stated.Reason, said[i])
		}
	}
	return append(f, factFaults(pl.Facts, facts)...)
}

// withoutFacts checks a plan that lists no facts: it must be an older one, whose sentences and members are others.
func withoutFacts(pl capacity.Plan, said []string) []string {
	const missing = "facts is missing: the reasons are those of plans that list facts."
	if told(pl) {
		return []string{missing}
	}
	for i := range pl.Classes {
		if c := &pl.Classes[i]; c.Reason == said[i] && strings.Contains(c.Reason, "valued") {
			return []string{missing}
		}
	}
	return nil
}

// factFaults compares the facts of a plan with those that its checked figures give.
func factFaults(stated, want []capacity.Fact) []string {
	var f faults
	if len(stated) != len(want) {
		f.addf("There are %d facts, and the figures give %d.", len(stated), len(want))
		return f
	}
	for i := range want {
		if got := &stated[i]; got.Kind != want[i].Kind || got.Subject != want[i].Subject || got.Claim != want[i].Claim ||
			!slices.Equal(got.Figures, want[i].Figures) {
			f.addf("Fact %d is %.300v, and the figures say %.300v.", i+1, *got, want[i])
		}
	}
	return f
}
