package recheck

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/perf"
	"example.org/headroom/internal/core/proof"
	"example.org/headroom/internal/test/mutation"
	"example.org/headroom/internal/test/plantest"
)

// The reports of classes with an adopted calibration are accepted, with and without drift. A change of what they say of it is
// found but for the key and the time, and for when a drift began.
func TestAdoptionsAreChecked(t *testing.T) {
	r, states, tried := rand.New(rand.NewPCG(27, 12)), map[perf.DriftState]int{}, 0
	for n := 0; n < plantest.Trials(30, 2000); n++ {
		q := drawnCalibration(r)
		slices.SortFunc(q.Executions, func(a, b perf.Measured) int { return a.At.Compare(b.At) })
		first := len(q.Executions) / 2
		for first > 0 && first < len(q.Executions) && q.Executions[first].At.Equal(q.Executions[first-1].At) {
			first++
		}
		old, err := perf.Calibrated(perf.CalibrationQuestion{Profile: q.Profile, Executions: q.Executions[:first], Coverage: q.Coverage})
		if err != nil || len(old.Judged) == 0 {
			continue
		}
		factor := 0.5 + r.Float64()
		if old.Recommends != nil {
			factor = old.Recommends.Factor
		}
		basis, err := old.Basis(capacity.AverageBound, factor)
		if err != nil {
			continue
		}
		slower := []float64{1, 4, 0.2}[r.IntN(3)]
		for i := range q.Executions {
			if m := &q.Executions[i]; m.At.After(basis.Until) {
				m.Seconds = max(0.5, math.Round(100*slower*m.Seconds)/100)
			}
		}
		drift := perf.Drifts(perf.Demands(q.Profile), q.Profile.OverheadSeconds, q.Executions, basis)
		states[drift.State]++
		question, answer := answeredCalibration(t, q)
		adoption := map[string]any{"job": "etl", "profile": map[string]any{"name": "etl", "version": 3}, "adopted_at": basis.Until, "adopted_by": "ops", "drift": drift}
		merge(t, adoption, marshalled(basis))
		report := map[string]any{"class": "nightly", "job": "etl", "profile": map[string]any{"name": "etl", "version": 3}, "unfit": 0,
			"in_use": capacity.Calibration{Bound: basis.Bound, Factor: basis.Factor}, "adoption": adoption}
		merge(t, report, answer)
		whole := marshalled(report)
		if said := verified(t, question, whole); said.Outcome != proof.OK {
			t.Fatalf("%s\n%s\n%s", said, question, whole)
		}
		for _, m := range mutation.Of(t, marshalled(adoption)) {
			switch m.Path() {
			case "/adopted_at", "/adopted_by", "/drift/since", "/drift/facts/#/figures/#/value", "/job", "/profile/version", "/profile/name", "/profile":
				continue
			}
			if m.Path() == "/coverage" && drift.Executions == 0 { // nothing follows from it
				continue
			}
			if m.How != "a hundredth" && m.How != "opposite" && m.How != "another word" && m.How != "another text" || r.IntN(4) > 0 {
				continue
			}
			report["adoption"] = json.RawMessage(m.Text())
			if tried++; verified(t, question, marshalled(report)).Accepted() {
				t.Errorf("%s passes:\n%s\n%s", m.String(), marshalled(adoption), question)
			}
		}
	}
	if t.Logf("%v, %d changes", states, tried); states[perf.Slower] == 0 || states[perf.Faster] == 0 || tried < 100 {
		t.Errorf("got %v and %d changes", states, tried)
	}
}

// merge adds the members of a document.
func merge(t *testing.T, to map[string]any, document []byte) {
	t.Helper()
	var all map[string]json.RawMessage
	decoded(t, document, &all)
	for name, x := range all {
		to[name] = x
	}
}
