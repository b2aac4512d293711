package web_test

import (
	"context"
	"testing"
)

// TestWalks walks through the page as people do, in one server and one browser; each walk has a tab of its own and
// clusters of its own. Those that stop the server or the database, or begin with an empty one, start another.
func TestWalks(t *testing.T) {
	s, b := serve(t), browser(t)
	type walk struct {
		name string
		walk func(t *testing.T, s *server, browser context.Context)
	}
	for _, w := range []walk{ // these measure times, and have the machine to themselves
		{"what if", walkWhatIf},
		{"many classes", walkManyClasses},
		{"a thousand classes", walkAThousandClasses},
	} {
		t.Run(w.name, func(t *testing.T) { w.walk(t, s, b) })
	}
	for _, w := range []walk{ // the long ones first
		{"hostile names", walkHostile},
		{"demo", walkDemo},
		{"scenarios", walkScenarios},
		{"faults", walkFaults},
		{"live", walkLive},
		{"first plan", walkFirstPlan},
		{"states of a plan", walkPlanStates},
		{"states", walkStates},
		{"history", walkHistory},
		{"batch", walkBatch},
		{"settings", walkSettings},
		{"contracts", walkContracts},
		{"media", walkMedia},
		{"a saved scenario", walkSavedScenario},
		{"classes", walkClasses},
		{"now", walkNow},
		{"what is gone", walkGone},
		{"long curve", walkLongCurve},
		{"curves", walkCurves},
		{"grid", walkGrid},
		{"import", walkImport},
		{"wire", walkWire},
		{"header", walkHeader},
		{"adopting", walkAdopt},
		{"two people", walkTwo},
		{"late answers", walkLate},
	} {
		t.Run(w.name, func(t *testing.T) {
			t.Parallel()
			w.walk(t, s, b)
		})
	}
}
