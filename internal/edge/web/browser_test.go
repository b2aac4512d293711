package web_test

import (
	"context"
	"testing"

	"example.org/headroom/internal/test/chromium"
)

// TestWalks walks through the page as people do, in one server and one browser. Each walk has a tab and clusters of
// its own. Walks that stop the server or the database, or begin with an empty one, start another.
func TestWalks(t *testing.T) {
	s, b := serve(t), chromium.Start(t)
	type walk struct {
		name string
		walk func(t *testing.T, s *server, browser context.Context)
	}
	for _, w := range []walk{ // these measure times, and have the machine to themselves
		{name: "what if", walk: walkWhatIf},
		{name: "many classes", walk: walkManyClasses},
		{name: "a thousand classes", walk: walkAThousandClasses},
		{name: "a slow line", walk: walkSlowLine},
	} {
		t.Run(w.name, func(t *testing.T) { w.walk(t, s, b) })
	}
	for _, w := range []walk{ // the long ones first
		{name: "money", walk: walkMoney},
		{name: "hostile names", walk: walkHostile},
		{name: "sizes", walk: walkSizes},
		{name: "drafts", walk: walkDrafts},
		{name: "examples", walk: walkExamples},
		{name: "demo", walk: walkDemo},
		{name: "scenarios", walk: walkScenarios},
		{name: "faults", walk: walkFaults},
		{name: "live", walk: walkLive},
		{name: "first plan", walk: walkFirstPlan},
		{name: "runs", walk: walkRuns},
		{name: "states of a plan", walk: walkPlanStates},
		{name: "states", walk: walkStates},
		{name: "history", walk: walkHistory},
		{name: "batch", walk: walkBatch},
		{name: "settings", walk: walkSettings},
		{name: "contracts", walk: walkContracts},
		{name: "Wait", walk: walkWait},
		{name: "media", walk: walkMedia},
		{name: "a saved scenario", walk: walkSavedScenario},
		{name: "classes", walk: walkClasses},
		{name: "a price to begin with", walk: walkSuggest},
		{name: "two VM types", walk: walkTypes},
		{name: "now", walk: walkNow},
		{name: "plan", walk: walkPlan},
		{name: "places", walk: walkPlaces},
		{name: "palette", walk: walkPalette},
		{name: "what is gone", walk: walkGone},
		{name: "long curve", walk: walkLongCurve},
		{name: "curves", walk: walkCurves},
		{name: "grid", walk: walkGrid},
		{name: "axes", walk: walkAxes},
		{name: "apply", walk: walkApply},
		{name: "import", walk: walkImport},
		{name: "wire", walk: walkWire},
		{name: "header", walk: walkHeader},
		{name: "sign in", walk: walkSignIn},
		{name: "adopting", walk: walkAdopt},
		{name: "two people", walk: walkTwo},
		{name: "late answers", walk: walkLate},
	} {
		t.Run(w.name, func(t *testing.T) {
			t.Parallel()
			w.walk(t, s, b)
		})
	}
}
