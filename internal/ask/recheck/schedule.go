package recheck

import (
	"slices"
	"strings"

	"example.org/headroom/internal/ask/recheck/timetables"
	"example.org/headroom/internal/ask/timetable"
	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/words"
)

var scheduleNotChecked = []string{"that no plan without waiting is cheaper than at_once", "the engine that proposed prices"}

func sameFact(x, y capacity.Fact) bool {
	return x.Kind == y.Kind && x.Subject == y.Subject && x.Claim == y.Claim && slices.Equal(x.Figures, y.Figures)
}

// schedule checks the answer about a schedule.
func (c *checking) schedule(q timetable.Question, a timetable.Answer, _ any) {
	c.NotChecked = scheduleNotChecked
	if !a.Proof.Checked {
		c.wrong("/proof/checked", "is false")
	}
	for _, f := range timetables.Check(q, a) {
		c.wrong(f.Pointer, "%s", f.Detail)
	}
	c.end(PlansCheck, "Every execution starts once, in time, on VMs that are rented, also where nothing waits. The sums and the bound are right.")
	if told := a.Retold(&q); told.Explanation != a.Explanation || !slices.EqualFunc(told.Facts, a.Facts, sameFact) {
		c.wrong("/explanation", "does not say the figures of the answer")
	}
	spot := int64(0)
	for i := range a.Hours {
		spot = max(spot, a.Hours[i].Spot)
	}
	warned := a.Warnings
	if spot > 0 && (len(warned) == 0 || warned[0].Code != words.SpotInterruptions || !strings.Contains(warned[0].Detail, words.Counted(words.Number(float64(spot)), "spot VM"))) {
		c.wrong("/warnings", "does not say that up to %d spot VMs may be taken away", spot)
	} else if spot > 0 {
		warned = warned[1:]
	}
	c.unwarned("", warned)
	c.end(SentencesCheck, "The explanation and %d facts say the figures of the answer.", len(a.Facts))
}
