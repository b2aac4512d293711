package recheck

import (
	"fmt"
	"strings"
	"testing"

	"example.org/headroom/internal/core/proof"
)

// What-ifs and sweeps of a class whose jobs arrive are checked by counting its jobs at once again. An answer that keeps them, as it
// would be without arrivals, is found.
func TestArrivalsAreCountedAgain(t *testing.T) {
	t.Parallel()
	const of = `{"currency": "USD", "supply": {"on_demand": {"price": "0.20"}}, "options": {"one_slot_per_job": true}, "classes": [{"name": "a",
		"profile": {"map_tasks": 500, "reduce_tasks": 0, "map_avg_s": 60, "map_max_s": 60, "first_shuffle_avg_s": 0, "first_shuffle_max_s": 0, "shuffle_avg_s": 0, "shuffle_max_s": 0, "reduce_avg_s": 0, "reduce_max_s": 0},
		"calibration": {"bound": "average", "factor": 0.5}, "deadline_s": 3600, "slots_per_vm": {"map": 4, "reduce": 4}, %s "jobs": {"max": 7, "all": true}, "penalty": "0"}]}`
	kept, anew := fmt.Sprintf(of, ""), fmt.Sprintf(of, `"arrivals_per_hour": 6.3,`)
	ask := func(problem, change string) string {
		return fmt.Sprintf(`{"problem": %s, "scenarios": [{"name": "b", "changes": [%s]}]}`, problem, change)
	}
	sweep := func(problem, what string) string {
		return fmt.Sprintf(`{"problem": %s, "vary": [{"what": %q, "by": "factor", "from": 0.5, "to": 3, "steps": 4}]}`, problem, what)
	}
	for name, of := range map[string]struct {
		answer      func(*testing.T, string) ([]byte, []byte)
		anew, keeps string
	}{
		"deadline":    {answerWhatIf, ask(anew, `{"what": "deadline", "factor": 2}`), ask(kept, `{"what": "deadline", "factor": 2}`)},
		"half":        {answerWhatIf, ask(anew, `{"what": "deadline", "factor": 0.5}`), ask(kept, `{"what": "deadline", "factor": 0.5}`)},
		"demand":      {answerWhatIf, ask(anew, `{"what": "demand", "factor": 1.5}`), ask(kept, `{"what": "demand", "factor": 1.5}`)},
		"deadlines":   {answerSweep, sweep(anew, "deadline"), sweep(kept, "deadline")},
		"both in one": {answerWhatIf, ask(anew, `{"what": "demand", "factor": 1.5}, {"what": "deadline", "factor": 3}`), ask(kept, `{"what": "demand", "factor": 1.5}, {"what": "deadline", "factor": 3}`)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			q, a := of.answer(t, of.anew)
			if r := verified(t, q, a); r.Outcome != proof.OK {
				t.Errorf("%s\n%s", r, a)
			}
			if said := `Of class \"a\" 3 jobs fewer run at once than had been admitted.`; strings.Contains(string(a), said) != (name == "half") {
				t.Errorf("it says %s, or not: %s", said, a)
			}
			if _, a = of.answer(t, of.keeps); verified(t, q, a).Accepted() {
				t.Errorf("an answer that keeps the jobs at once passes: %s", a)
			}
		})
	}
}
