package report

import (
	"strings"
	"testing"

	"example.org/headroom/internal/ask/trial"
	"example.org/headroom/internal/slots/sim"
)

// A policy's share of met deadlines reads the same beside others as in the table of classes: 42 of 7716 missed is
// 99.4 %, since no share is rounded up.
func TestSharesReadTheSameBesideOtherPolicies(t *testing.T) {
	met := sim.Estimate{Mean: 1 - 42./7716}
	var beside strings.Builder
	if err := comparedText(&beside, []sim.Compared{{Policy: "fair", Class: "a", Judged: 7716, Missed: 42, Met: sim.Against{Estimate: met}}}); err != nil {
		t.Fatal(err)
	}
	class := trial.Class{Name: "a", Executions: 7716, Deadline: &sim.DeadlineReport{Seconds: 300, Missed: 42, Met: met}}
	alone := summary(trial.Answer{Classes: []trial.Class{class}})
	if got := alone.Rows[0][4].Text; got != "99.4 %" || !strings.Contains(beside.String(), " "+got+" ") {
		t.Errorf("the class meets %s, and beside others:\n%s", got, beside.String())
	}
}
