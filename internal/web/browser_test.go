package web_test

import (
	"context"
	"testing"
)

// TestWalks walks through the page as people do, in one server and one browser; each walk has a tab of its
// own. Those that stop the server or the database start another.
func TestWalks(t *testing.T) {
	s, b := serve(t), browser(t)
	for _, w := range []struct {
		name string
		walk func(t *testing.T, s *server, browser context.Context)
	}{
		{"now", walkNow},
		{"what if", walkWhatIf},
		{"scenarios", walkScenarios},
		{"a saved scenario", walkSavedScenario},
		{"many classes", walkManyClasses},
		{"states", walkStates},
		{"states of a plan", walkPlanStates},
		{"what is gone", walkGone},
		{"hostile names", walkHostile},
		{"history", walkHistory},
		{"batch", walkBatch},
		{"live", walkLive},
		{"curves", walkCurves},
		{"long curve", walkLongCurve},
		{"grid", walkGrid},
		{"contracts", walkContracts},
		{"classes", walkClasses},
		{"two people", walkTwo},
		{"import", walkImport},
		{"settings", walkSettings},
		{"media", walkMedia},
	} {
		t.Run(w.name, func(t *testing.T) { w.walk(t, s, b) })
	}
}
