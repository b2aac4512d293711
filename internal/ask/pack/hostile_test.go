package pack

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/fault"
	"example.org/headroom/internal/core/perf"
)

const machines = `"machines": {"count": 4, "disks": 2, "hosts_per_extra": 2, "penalty": 1.2}`

func TestBatchesThatMakeNoSense(t *testing.T) {
	batch := func(job string) string { return `{` + machines + `, "jobs": [` + job + `]}` }
	for _, c := range []struct{ name, text, at, code string }{
		{"one measurement", batch(`{"name": "a", "measurements": [{"vms": 2, "seconds": 9}]}`), "/jobs/0/measurements", "too_few"},
		{"no measurement", batch(`{"name": "a", "measurements": []}`), "/jobs/0/measurements", "too_few"},
		{"equal sizes", batch(`{"name": "a", "measurements": [{"vms": 2, "seconds": 9}, {"vms": 2, "seconds": 8}]}`), "/jobs/0/measurements", "one_size"},
		{"no time", batch(`{"name": "a", "measurements": [{"vms": 2, "seconds": 0}, {"vms": 3, "seconds": 8}]}`), "/jobs/0/measurements/0/seconds", "range"},
		{"negative time", batch(`{"name": "a", "measurements": [{"vms": 2, "seconds": 3}, {"vms": 3, "seconds": -8}]}`), "/jobs/0/measurements/1/seconds", "range"},
		{"too large", batch(`{"name": "a", "model": {"a": 9, "b": -1}, "min_vms": 9}`), "/jobs/0/min_vms", "job_does_not_fit"},
		{"measured on more", batch(`{"name": "a", "measurements": [{"vms": 9, "seconds": 9}, {"vms": 12, "seconds": 8}]}`), "/jobs/0", "job_does_not_fit"},
		{"no model", batch(`{"name": "a"}`), "/jobs/0", "one_of"},
		{"two models", batch(`{"name": "a", "model": {"a": 9, "b": -1}, "measurements": [{"vms": 9, "seconds": 9}]}`), "/jobs/0", "one_of"},
		{"negative a", batch(`{"name": "a", "model": {"a": -9, "b": -1}}`), "/jobs/0/model/a", "range"},
		{"no jobs", `{` + machines + `, "jobs": []}`, "/jobs", "missing"},
		{"same name", batch(`{"name": "a", "model": {"a": 9, "b": -1}}, {"name": "a", "model": {"a": 9, "b": -1}}`), "/jobs/1/name", "duplicate_name"},
		{"thousands of jobs", batch(`{"name": "a", "count": 900, "model": {"a": 9, "b": -1}}, {"name": "b", "count": 900, "model": {"a": 9, "b": -1}}`), "/jobs", "too_many"},
		{"thousands of one", batch(`{"name": "a", "count": 5000, "model": {"a": 9, "b": -1}}`), "/jobs/0/count", "range"},
		{"penalty below 1", `{"machines": {"count": 4, "disks": 2, "penalty": 0.9}, "jobs": [{"name": "a", "model": {"a": 9, "b": -1}}]}`, "/machines/penalty", "range"},
		{"r above k", `{"machines": {"count": 4, "disks": 2, "hosts_per_extra": 3}, "jobs": [{"name": "a", "model": {"a": 9, "b": -1}}]}`, "/machines/hosts_per_extra", "range"},
		{"no machines", `{"machines": {"count": 0, "disks": 2}, "jobs": [{"name": "a", "model": {"a": 9, "b": -1}}]}`, "/machines/count", "range"},
		{"too many VMs", `{"machines": {"count": 9000, "disks": 9000}, "jobs": [{"name": "a", "model": {"a": 9, "b": -1}}]}`, "/machines/count", "range"},
		{"done before it comes", batch(`{"name": "a", "model": {"a": 9, "b": -1}, "release_s": 9, "deadline_s": 9}`), "/jobs/0/deadline_s", "order"},
		{"unknown algorithm", `{` + machines + `, "jobs": [{"name": "a", "model": {"a": 9, "b": -1}}], "options": {"algorithm": "best"}}`, "/options/algorithm", "choice"},
		{"negative seed", `{` + machines + `, "jobs": [{"name": "a", "model": {"a": 9, "b": -1}}], "options": {"seed": -1}}`, "/options/seed", "range"},
	} {
		p, err := ReadPacking([]byte(c.text), capacity.DefaultLimits())
		if err == nil {
			_, err = Pack(t.Context(), p, nil)
		}
		var wrong *fault.InputError
		if !errors.As(err, &wrong) || len(wrong.Findings) == 0 {
			t.Errorf("%s: got %v", c.name, err)
			continue
		}
		if f := wrong.Findings[0]; f.Pointer != c.at || f.Code != c.code || !strings.HasSuffix(f.Detail, ".") {
			t.Errorf("%s: got %s at %s (%s), want %s at %s", c.name, f.Code, f.Pointer, f.Detail, c.code, c.at)
		}
	}
}

func TestIncreasingModelsAreFlat(t *testing.T) {
	p, err := ReadPacking([]byte(`{`+machines+`, "jobs": [
		{"name": "a", "model": {"a": 9, "b": 0.5}},
		{"name": "b", "measurements": [{"vms": 1, "seconds": 9}, {"vms": 2, "seconds": 10}, {"vms": 3, "seconds": 12}]}]}`), capacity.DefaultLimits())
	if err != nil {
		t.Fatal(err)
	}
	a := packed(t, p, PackMulti)
	for i, w := range a.Warnings {
		if w.Code != "increasing" || !strings.HasPrefix(w.Pointer, []string{"/jobs/0", "/jobs/1"}[i]) {
			t.Errorf("got warning %+v", w)
		}
	}
	if len(a.Warnings) != 2 || a.Jobs[0].Model.B != 0 || a.Jobs[1].Model.B != 0 || len(a.Phases) != 1 {
		t.Errorf("got %+v", a)
	}
}

// Extreme figures give only values that JSON can hold.
func TestFiguresAtTheirEnds(t *testing.T) {
	for _, m := range []Machines{{Count: 1, Disks: 1, Penalty: 1}, {Count: 1, Disks: 10_000, HostsPerExtra: 1, Penalty: 1000}, {Count: 10_000, Disks: 1, HostsPerExtra: 1, Penalty: 1}} {
		for _, model := range []perf.PowerModel{{A: 1e9, B: -5}, {A: 1e9, B: 5}, {A: 1e-6, B: -5}, {A: 1e9}} {
			p := PackingProblem{Machines: m, Options: DefaultPackingOptions(), Jobs: []BatchJob{
				{Name: "host", Count: 2, Role: perf.HostRole, Model: &model},
				{Name: "guest", Count: 2, Role: perf.GuestRole, Model: &model},
				{Name: "plain", Count: 1, Model: &perf.PowerModel{A: 100, B: -1}},
			}}
			for _, algorithm := range []PackingAlgorithm{PackSequential, PackPair, PackMulti} {
				a := packed(t, p, algorithm)
				if _, err := json.Marshal(a); err != nil {
					t.Errorf("%v: %+v %+v", err, m, model)
				}
			}
		}
	}
}

func TestCancelledCallersGetAnError(t *testing.T) {
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	late, stop := context.WithDeadline(t.Context(), time.Unix(0, 0))
	defer stop()
	for _, jobs := range []int{10, 16, 60} {
		p := sixteen(11, jobs, 1)
		for _, algorithm := range []PackingAlgorithm{PackPair, PackMulti, PackSwarm} {
			p.Options.Algorithm = algorithm
			if _, err := Pack(cancelled, p, cbc); !errors.Is(err, context.Canceled) && jobs > 10 {
				t.Errorf("%d jobs, %s: got %v", jobs, algorithm, err)
			}
			a, err := Pack(late, p, cbc)
			if err != nil {
				t.Errorf("%d jobs, %s, no time: %v", jobs, algorithm, err)
				continue
			}
			if wrong := Recheck(p, a); len(wrong) > 0 {
				t.Errorf("%d jobs, %s, no time: %v", jobs, algorithm, wrong)
			}
		}
	}
}

// A thousand jobs, alike and different, are packed in their time with the gap stated.
func TestAThousandJobs(t *testing.T) {
	alike := sixteen(50, 5, 1)
	for i := range alike.Jobs {
		alike.Jobs[i].Count = 200
	}
	different := sixteen(50, 500, 2)
	for i := range different.Jobs {
		different.Jobs[i].Count = 2
	}
	for name, p := range map[string]PackingProblem{"alike": alike, "different": different} {
		ctx, cancel := context.WithTimeout(t.Context(), 4*time.Second)
		began := time.Now()
		a, err := Pack(ctx, p, cbc)
		cancel()
		if err != nil {
			t.Fatal(err)
		}
		if wrong := Recheck(p, a); len(wrong) > 0 {
			t.Fatal(wrong)
		}
		t.Logf("%s: %d phases, gap %.1f %%, saving %.1f %%, %v", name, len(a.Phases), 100*a.Gap, 100*a.Saving, time.Since(began).Round(time.Millisecond))
		if math.IsNaN(a.Gap) || a.Saving <= 0 {
			t.Errorf("%s: got saving %g and gap %g", name, a.Saving, a.Gap)
		}
	}
}
