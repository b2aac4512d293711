package perf

import (
	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/fault"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestReadBoundsReadsEachKind(t *testing.T) {
	profile := `{"map_tasks": 2, "reduce_tasks": 0, "map_avg_s": 1.5, "map_max_s": 2}`
	for text, want := range map[string]BoundsQuestion{
		`{"kind": "phase", "tasks": 3, "mean_s": 1.5, "max_s": 2, "slots": 4}`: {Phase: &PhaseQuestion{Tasks: 3, MeanSeconds: 1.5, MaxSeconds: 2, Slots: 4}},
		`{"slots": 10, "jobs": [{"tasks": 1, "mean_s": 2, "max_s": 2, "share": 4.5}, {"tasks": 3, "mean_s": 1, "max_s": 2, "share": 5.5}], "kind": "two_jobs"}`: {
			TwoJobs: &TwoJobsQuestion{Slots: 10, Jobs: []PairedJob{{Tasks: 1, MeanSeconds: 2, MaxSeconds: 2, Share: 4.5}, {Tasks: 3, MeanSeconds: 1, MaxSeconds: 2, Share: 5.5}}}},
		`{"kind": "shared_phase", "tasks": 3, "mean_s": 1, "max_s": 2, "slots": 4, "share": 0.5, "jobs": 2}`: {SharedPhase: &SharedPhaseQuestion{Tasks: 3, MeanSeconds: 1, MaxSeconds: 2, Slots: 4, Share: 0.5, Jobs: 2}},
		`{"kind": "job", "profile": ` + profile + `, "slots": {"map": 8, "reduce": 4}, "share": {"map": 0.5, "reduce": 0.25}, "jobs": 2}`: {
			Job: &JobQuestion{Profile: capacity.Profile{MapTasks: 2, MapAvgSeconds: 1.5, MapMaxSeconds: 2}, Slots: SlotPools{Map: 8, Reduce: 4}, Share: PhaseShare{Map: 0.5, Reduce: 0.25}, Jobs: 2}},
	} {
		got, err := ReadBounds([]byte(text))
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Errorf("%s: %v (-want +got):\n%s", text, err, diff)
		}
	}
}

func TestReadBoundsRefuses(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"no kind", `{"tasks": 1}`, "/kind missing"},
		{"kind of another type", `{"kind": 1}`, "/kind type"},
		{"unknown kind", `{"kind": "fase", "tasks": 1}`, "/kind choice"},
		{"kind twice", `{"kind": "phase", "tasks": 1, "mean_s": 1, "max_s": 1, "slots": 1, "kind": "job"}`, "/kind duplicate_member"},
		{"kind last", `{"tasks": 1.5, "mean_s": 1, "max_s": 1, "slots": 1, "kind": "phase"}`, "/tasks not_whole"},
		{"member of another kind", `{"kind": "phase", "tasks": 1, "mean_s": 1, "max_s": 1, "slots": 1, "share": 1}`, "/share unknown_member"},
		{"missing", `{"kind": "shared_phase", "tasks": 1, "mean_s": 1, "max_s": 1, "slots": 1, "share": 1}`, "/jobs missing"},
		{"one job of two", `{"kind": "two_jobs", "slots": 2, "jobs": [{"tasks": 1, "mean_s": 1, "max_s": 1, "share": 1}]}`, "/jobs range"},
		{"job of a pair", `{"kind": "two_jobs", "slots": 2, "jobs": [{"tasks": 1, "mean_s": 1, "max_s": 1, "share": 1}, {"tasks": 1, "mean_s": 1, "max_s": null, "share": 1}]}`, "/jobs/1/max_s null"},
		{"profile", `{"kind": "job", "profile": {"map_tasks": 1, "reduce_tasks": 0, "map_avg_s": 1}, "slots": {"map": 1, "reduce": 1}, "share": {"map": 1, "reduce": 1}, "jobs": 1}`, "/profile/map_max_s missing"},
		{"not an object", `[]`, " type"},
		{"trailing", `{"kind": "phase"} x`, "/ syntax"},
	} {
		_, err := ReadBounds([]byte(c.text))
		got := fault.Findings(err)
		if len(got) != 1 || got[0].Pointer+" "+got[0].Code != c.want && c.want != "/ "+got[0].Code {
			t.Errorf("%s: got %+v, want %s", c.name, got, c.want)
		}
	}
}
