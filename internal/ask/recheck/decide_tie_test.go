package recheck

import (
	"math/rand/v2"
	"testing"

	"example.org/headroom/internal/core/proof"
	"example.org/headroom/internal/slots/dispatch"
	"example.org/headroom/internal/test/plantest"
)

// Jobs that tie are drawn for every rule. A tie, or what decided in a class, that is left out, made up or said to have fallen by something else is
// found, although its sentence says it well.
func TestTiesAreTold(t *testing.T) {
	r := rand.New(rand.NewPCG(6, 60))
	ties := []dispatch.Tie{"", dispatch.TieSlowdown, dispatch.TieDeadline, dispatch.TieOrder, dispatch.TieKind, dispatch.TieName}
	seen, inClass, told := map[dispatch.Tie]map[string]int{}, map[dispatch.InClass]int{}, 0
	for range plantest.Trials(400, 6000) {
		q := drawnDecision(t, r)
		for i := range q.Jobs { // coarser figures tie more often
			j := &q.Jobs[i]
			j.SubmittedSeconds = q.NowSeconds - float64(10*r.IntN(2))
			if j.DeadlineSeconds > 0 {
				j.DeadlineSeconds = q.NowSeconds + float64(100*(1+r.IntN(2)))
			}
		}
		question, answer := answeredDecision(t, q)
		if report := verified(t, question, answer); report.Outcome == proof.Failed {
			t.Fatalf("%s\n%s\n%s", report, question, answer)
		}
		var a dispatch.DecideAnswer
		decoded(t, answer, &a)
		for i := range a.Decisions {
			d := &a.Decisions[i]
			if seen[d.Tie] == nil {
				seen[d.Tie] = map[string]int{}
			}
			seen[d.Tie][d.Rule]++
			was := *d
			if told++; told%plantest.Trials(13, 1) != 0 {
				inClass[d.InClass]++
				continue
			}
			for _, d.Tie = range ties {
				if d.Tie == was.Tie {
					continue
				}
				d.Reason, d.Facts = d.Say(), d.Why.Facts(d.Job)
				if report := verified(t, question, marshalled(a)); report.Outcome != proof.Failed {
					t.Fatalf("%s: the tie %q for %q passes\n%s\n%s", d.Policy.Kind, d.Tie, was.Tie, question, answer)
				}
			}
			for _, d.InClass = range []dispatch.InClass{"", dispatch.InClassHeld, dispatch.InClassOrder, dispatch.InClassName} {
				if d.Tie = was.Tie; d.InClass == was.InClass {
					inClass[d.InClass]++
					continue
				}
				d.Reason, d.Facts = d.Say(), d.Why.Facts(d.Job)
				if report := verified(t, question, marshalled(a)); report.Outcome != proof.Failed {
					t.Fatalf("%s: %q for %q among the jobs of a class passes\n%s\n%s", d.Policy.Kind, d.InClass, was.InClass, question, answer)
				}
			}
			*d = was
		}
	}
	for tie, rules := range map[dispatch.Tie][]string{dispatch.TieSlowdown: {"progress"}, dispatch.TieDeadline: {"progress"}, dispatch.TieKind: {"expected_utility"},
		dispatch.TieOrder: {"deadline", "share", "progress", "lent"}, dispatch.TieName: {"order", "deadline", "share", "lent"}} {
		for _, rule := range rules {
			if seen[tie][rule] == 0 {
				t.Errorf("the tie %q of the rule %s was drawn %d times", tie, rule, seen[tie][rule])
			}
		}
	}
	for _, by := range []dispatch.InClass{dispatch.InClassHeld, dispatch.InClassOrder, dispatch.InClassName} {
		if inClass[by] == 0 {
			t.Errorf("no job was first of its class by %q", by)
		}
	}
	t.Log(seen, inClass)
}
