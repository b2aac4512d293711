package sim

import (
	"encoding/json"
	"math"
	"reflect"
	"strings"
	"testing"

	"example.org/headroom/internal/slots/dispatch"
)

// Each policy's row equals its result alone, and its difference is that of the two, replication by replication.
func TestComparedPoliciesAreAsTheyAreAlone(t *testing.T) {
	in := mixed(31)
	in.Policy = byKind(dispatch.PolicyFIFO)
	in.Compare = []Policy{byKind(dispatch.PolicyFair), byKind(dispatch.PolicyEDF), byKind(dispatch.PolicyFIFO)}
	r := simulate(t, in)
	if len(r.Compared) != 4*(1+len(in.Classes)) {
		t.Fatalf("%d rows, want one for each policy, of all classes and of each", len(r.Compared))
	}
	first, again := r.Compared[0], r.Compared[3]
	if again.Policy != "fifo (2)" || again.Response.Difference.Mean != 0 || *again.Response.Difference.HalfWidth != 0 || first.Response.Difference != nil {
		t.Errorf("a policy beside itself: %+v", again)
	}
	for p, policy := range append([]Policy{in.Policy}, in.Compare...) {
		alone := in
		alone.Policy, alone.Compare = policy, nil
		a := simulate(t, alone)
		missed, judged, ended := int64(0), int64(0), int64(0)
		for i, c := range a.Classes {
			row := r.Compared[4*(1+i)+p]
			ended += c.Counted
			if row.Class != c.Name || row.Ended != c.Counted || c.Response != nil && !sameMean(row.Response.Estimate, c.Response.Estimate) {
				t.Errorf("%s: class %q is compared as %+v, alone it is %+v", policy.Kind, c.Name, row, c)
			}
			if d := c.Deadline; d != nil {
				missed += d.Missed
				judged += row.Judged
				if !reflect.DeepEqual(d.Met, row.Met.Estimate) {
					t.Errorf("%s: class %q meets %+v, alone %+v", policy.Kind, c.Name, row.Met, d.Met)
				}
			}
			of := r.Compared[4*(1+i)]
			for name, x := range map[string][2]Against{"met": {row.Met, of.Met}, "response": {row.Response, of.Response}} {
				if d := x[0].Difference; p > 0 && row.Judged > 0 && d.Mean != x[0].Mean-x[1].Mean {
					t.Errorf("%s: class %q, %s: a difference of %g between %g and %g", policy.Kind, c.Name, name, d.Mean, x[0].Mean, x[1].Mean)
				}
			}
		}
		if all := r.Compared[p]; all.Class != "" || all.Missed != missed || all.Judged != judged || all.Ended != ended {
			t.Errorf("%s: all together %+v, want %d of %d missed and %d ended", policy.Kind, all, missed, judged, ended)
		}
	}
	base := in
	base.Compare = nil
	r.Compared = nil
	if text(t, r) != text(t, simulate(t, base)) {
		t.Error("a policy's own report is another where it is compared")
	}
}

// sameMean reports whether two means and their half widths are the same, up to the order of a sum.
func sameMean(a, b Estimate) bool {
	return math.Abs(a.Mean-b.Mean) <= 1e-12*b.Mean && reflect.DeepEqual(a.HalfWidth, b.HalfWidth)
}

// Differences are more certain than the figures, thanks to the same random numbers. And if nobody misses a deadline,
// that does not make it certain.
func TestDifferencesAreSurerThanFigures(t *testing.T) {
	in := Input{Slots: Slots{Map: 8}, Replications: 10, Seed: 4, Policy: byKind(dispatch.PolicyFIFO), Compare: []Policy{byKind(dispatch.PolicyEDF)},
		Classes: []Class{
			{Name: "a", Profile: single(30), DeadlineSeconds: 100_000, Load: Load{Kind: Poisson, PerHour: 800}, Tasks: Tasks{Kind: Exponential}},
			{Name: "b", Profile: single(5), DeadlineSeconds: 90_000, Load: Load{Kind: Poisson, PerHour: 200}, Tasks: Tasks{Kind: Exponential}},
		}, HorizonSeconds: 20_000}
	r := simulate(t, in)
	edf := r.Compared[1]
	if d := edf.Response.Difference; *d.HalfWidth > *edf.Response.HalfWidth/3 {
		t.Errorf("a difference of %g ± %g s of %g ± %g s is hardly surer", d.Mean, *d.HalfWidth, edf.Response.Mean, *edf.Response.HalfWidth)
	}
	if d := edf.Met.Difference; d.Mean != 0 || *d.HalfWidth == 0 || *d.HalfWidth > .01 {
		t.Errorf("nobody misses a deadline: the difference is %g ± %g, want 0 and a little", d.Mean, *d.HalfWidth)
	}
}

func TestAdmissionRejectsWhatCannotBeMet(t *testing.T) {
	batch := func(mode dispatch.AdmissionMode, known Knowledge) Report {
		in := onNodes(10, 4, 10, NodeType{Type: "a", Count: 2, Slots: Slots{Map: 1}, Speed: 2}, NodeType{Type: "b", Count: 2, Slots: Slots{Map: 1}})
		in.Classes[0].Rates = map[string]float64{"a": 1}
		in.Policy.Admission, in.Known = mode, known
		in.Classes[0].DeadlineSeconds = 45 // each job has four tasks of 10 s on four slots: four of ten are in time
		return simulate(t, in)
	}
	for mode, want := range map[dispatch.AdmissionMode][2]int64{"": {0, 6}, NoAdmission: {0, 6}, dispatch.AdmissionPaper: {6, 0}, dispatch.AdmissionStrict: {6, 0}} {
		c := batch(mode, KnownGiven).Classes[0]
		if got := [2]int64{c.OnNodes.Rejected, c.Deadline.Missed}; got != want || c.Submitted != 10 {
			t.Errorf("admission %q: %d rejected and %d missed of %d, want %v", mode, got[0], got[1], c.Submitted, want)
		}
	}
	// Without measurements nothing can be promised, so those jobs are accepted.
	if c := batch(dispatch.AdmissionStrict, KnownLearned).Classes[0]; c.OnNodes.Rejected != 0 || c.Deadline.Missed != 6 {
		t.Errorf("nobody measured: %d rejected and %d missed, want none and 6", c.OnNodes.Rejected, c.Deadline.Missed)
	}
	// A user who does not think, and whose jobs are all rejected, does not stop time.
	in := onNodes(0, 4, 10, NodeType{Type: "a", Slots: Slots{Map: 1}})
	in.Policy.Admission, in.Known, in.HorizonSeconds = dispatch.AdmissionStrict, KnownGiven, 100
	in.Classes[0].Load, in.Classes[0].DeadlineSeconds = Load{Kind: Closed, Users: 1}, 5
	if r := simulate(t, in); r.Classes[0].OnNodes.Rejected != 101 || r.SimulatedS != 100 {
		t.Errorf("%d rejected in %g s, want one every second", r.Classes[0].OnNodes.Rejected, r.SimulatedS)
	}
	// A deadline in the past is refused, or missed without admission.
	in.Classes[0].Load, in.Classes[0].DeadlineSeconds = Load{Kind: Trace, AtSeconds: []float64{50}}, 0
	in.Classes[0].Deadlines = &Deadlines{AtSeconds: 20}
	if r := simulate(t, in); r.Classes[0].OnNodes.Rejected != 1 {
		t.Errorf("a deadline in the past: %d rejected, want one", r.Classes[0].OnNodes.Rejected)
	}
}

// Tasks that may never start are reported as stuck: with a cap below the reads of any job, and on nodes too busy to
// be used.
func TestTasksThatNobodyMayRunAreStuck(t *testing.T) {
	busy := &Background{Kind: UniformBackground, Low: .3, High: .6, EverySeconds: 10}
	in := onNodes(1, 4, 10, NodeType{Type: "a", Count: 3, Slots: Slots{Map: 1}, Background: busy})
	in.Policy, in.DataNodes = byKind(dispatch.PolicyMaxProgress), &DataNodes{CapMBPerSecond: 1}
	in.Classes[0].ReadMBPerSecond = 5
	r := simulate(t, in)
	if r.Stopped != StoppedStuck || r.Classes[0].Unfinished != 1 || !strings.Contains(text(t, r), `"code":"stuck"`) {
		t.Errorf("a cap below what tasks read: got %s", text(t, r))
	}
	in.DataNodes.CapMBPerSecond = 6 // one at a time
	r = simulate(t, in)
	if r.Stopped != "" || r.Classes[0].Ended != 1 || r.Nodes.DataNodes.Most != 5 || r.Nodes.DataNodes.OverCap.Mean != 0 || r.SimulatedS != 40 {
		t.Errorf("a cap for one at a time: got %s", text(t, r))
	}
	in.DataNodes, busy.Low, busy.High = nil, 0, .04 // less than max-progress uses
	if r := simulate(t, in); r.Stopped != StoppedStuck {
		t.Errorf("nodes too busy: got %s", text(t, r))
	}
}

// Every policy ends the same jobs on nodes, with given and with learned measurements.
func TestEveryPolicyWorksOnNodes(t *testing.T) {
	in := read(t, everyMemberOnNodes)
	in.HorizonSeconds, in.WarmUpSeconds = 0, 0
	in.Classes = in.Classes[1:]
	in.Classes[0].Load = Load{Kind: Batch, Jobs: 12}
	in.DataNodes = nil
	for _, kind := range dispatch.PolicyKinds {
		in.Compare = append(in.Compare, byKind(kind))
	}
	for _, known := range []Knowledge{KnownGiven, KnownLearned} {
		in.Known = known
		r := simulate(t, in)
		for _, c := range r.Compared {
			if c.Class == "" && c.Ended != 3*17 {
				t.Errorf("%s, %s: %d jobs ended, want all 51", known, c.Policy, c.Ended)
			}
		}
		if b, err := json.Marshal(r); err != nil || r.Stopped != "" {
			t.Errorf("%s: stopped %q, %v of %s", known, r.Stopped, err, b)
		}
	}
}
