package pool_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.org/headroom/internal/ask/pool"
	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/fault"
	"example.org/headroom/internal/core/money"
)

const smallPool = `{"currency": "USD", "hours": 4, "types": [{"name": "a", "per_hour": "0.34", "disk_gb": 850, "compute_units": 4}],
	"jobs": [{"name": "j", "work": 90, "rates": {"a": 4}}], "storage": {"data_gb": 10}, "mix": {"core": [{"type": "a", "count": 2}]}}`

func TestPoolsGetTheirDefaults(t *testing.T) {
	got, err := pool.ReadPool([]byte(smallPool), capacity.DefaultLimits())
	if err != nil {
		t.Fatal(err)
	}
	price, _ := money.Parse("0.34")
	want := pool.PoolProblem{
		Currency: "USD", Hours: 4,
		Types:   []pool.PoolType{{Name: "a", PerHour: &price, DiskGB: 850, Slots: 1, ComputeUnits: 4, Core: true, Accelerator: true}},
		Jobs:    []pool.PoolJob{{Name: "j", Work: 90, Rates: map[string]float64{"a": 4}}},
		Storage: pool.PoolStorage{DataGB: 10, Replication: 3, Fill: 1},
		Mix:     &pool.PoolMix{Core: []pool.PoolCore{{Type: "a", Count: 2}}, Accelerators: []pool.PoolAccelerator{}},
		Options: pool.PoolOptions{MaxSolveMs: 10_000},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestPoolsAreRefusedWhereTheyAreWrong(t *testing.T) {
	for _, c := range []struct{ old, new, pointer, code string }{
		{`"hours": 4`, `"hours": 4.5`, "/hours", "not_whole"},
		{`"hours": 4`, `"hours": 0`, "/hours", "range"},
		{`"per_hour": "0.34"`, `"per_hour": "-0.34"`, "/types/0/per_hour", "range"},
		{`"per_hour": "0.34",`, ``, "/types/0/per_hour", "missing"},
		{`"work": 90`, `"work": 0`, "/jobs/0/work", "range"},
		{`"work": 90`, `"work": 1e30`, "/jobs/0/work", "range"},
		{`"work": 90`, `"work": NaN`, "/jobs/0/work", "not_finite"},
		{`"work": 90`, `"work": 90, "deadline_hours": 5`, "/jobs/0/deadline_hours", "range"},
		{`{"a": 4}`, `{"b": 4}`, "/jobs/0/rates/b", "unknown_name"},
		{`{"a": 4}`, `{"a": 1e-30}`, "/jobs/0/rates/a", "range"},
		{`"type": "a"`, `"type": "b"`, "/mix/core/0/type", "unknown_name"},
		{`"count": 2`, `"count": -2`, "/mix/core/0/count", "range"},
		{`"data_gb": 10`, `"data_gb": 10, "fill": 0`, "/storage/fill", "range"},
		{`"currency": "USD",`, ``, "/currency", "missing"},
		{`"disk_gb": 850`, `"disk": 850`, "/types/0/disk", "unknown_member"},
	} {
		text := strings.Replace(smallPool, c.old, c.new, 1)
		_, err := pool.ReadPool([]byte(text), capacity.DefaultLimits())
		var wrong *fault.InputError
		if !errors.As(err, &wrong) || len(wrong.Findings) != 1 || wrong.Findings[0].Pointer != c.pointer || wrong.Findings[0].Code != c.code {
			t.Errorf("%s: got %v", c.new, err)
		}
	}
}

// Everything that can be read can be written and read again.
func FuzzReadPool(f *testing.F) {
	f.Add([]byte(smallPool))
	f.Add([]byte(`{"currency": "usd", "hours": -1, "types": [{}, {"name": 3, "most": -1}], "jobs": [{"rates": []}], "startup_hours": 1e400, "mix": {"accelerators": [{"hours": 1e9}]}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		p, err := pool.ReadPool(data, capacity.DefaultLimits())
		if err != nil {
			var wrong *fault.InputError
			if !errors.As(err, &wrong) || len(wrong.Findings) == 0 || len(wrong.Findings) > fault.MaxFindings {
				t.Fatalf("got %v", err)
			}
			return
		}
		text, err := json.Marshal(p)
		if err != nil {
			t.Fatal(err)
		}
		again, err := pool.ReadPool(text, capacity.DefaultLimits())
		if err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		if diff := cmp.Diff(p, again); diff != "" {
			t.Error(diff)
		}
	})
}

func TestSharePlansAreRead(t *testing.T) {
	const text = `{"types": [{"name": "a", "slots": 2}], "jobs": [{"name": "j", "rates": {"a": 3}}]}`
	p, err := pool.ReadSharePlan([]byte(text), capacity.DefaultLimits())
	if err != nil || p.Jobs[0].Weight != 1 || p.Jobs[0].Rates["a"] != 3 {
		t.Errorf("got %+v, %v", p, err)
	}
	for _, c := range []struct{ old, new, pointer, code string }{
		{`"slots": 2`, `"slots": 0`, "/jobs/0/rates", "no_type"},
		{`{"a": 3}`, `{"a": -3}`, "/jobs/0/rates/a", "range"},
		{`"name": "j"`, `"name": "j", "weight": 0`, "/jobs/0/weight", "range"},
	} {
		_, err := pool.ReadSharePlan([]byte(strings.Replace(text, c.old, c.new, 1)), capacity.DefaultLimits())
		var wrong *fault.InputError
		if !errors.As(err, &wrong) || wrong.Findings[0].Pointer != c.pointer || wrong.Findings[0].Code != c.code {
			t.Errorf("%s: got %v", c.new, err)
		}
	}
}

const smallCourse = `{"currency": "USD", "hours": 4, "types": [{"name": "a", "per_hour": "0.34", "disk_gb": 850, "compute_units": 4}],
	"jobs": [{"name": "j", "work": 30, "submissions": [3, 0.5]}], "running": [{"type": "a", "count": 5}], "incoming_gb": [1, 2, 3]}`

func TestCoursesAreRead(t *testing.T) {
	p, err := pool.ReadPoolCourse([]byte(smallCourse), capacity.DefaultLimits())
	if err != nil || p.Rounds() != 3 || p.Jobs[0].Submissions[1] != 0.5 || p.Storage.Replication != 3 {
		t.Errorf("got %+v, %v", p, err)
	}
	text, err := json.Marshal(p)
	if err != nil {
		t.Fatal(err)
	}
	again, err := pool.ReadPoolCourse(text, capacity.DefaultLimits())
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(p, again); diff != "" {
		t.Error(diff)
	}
	for _, c := range []struct{ old, new, pointer, code string }{
		{`[3, 0.5]`, `[3, -0.5]`, "/jobs/0/submissions/1", "range"},
		{`[3, 0.5]`, `[3, 1e12]`, "/jobs/0/submissions/1", "range"},
		{`[3, 0.5]`, `[3, Infinity]`, "/jobs/0/submissions/1", "not_finite"},
		{`[1, 2, 3]`, `[1e12, 1e12]`, "/incoming_gb/1", "range"},
		{`"count": 5`, `"count": -5`, "/running/0/count", "range"},
		{`{"type": "a", "count": 5}`, `{"type": "b", "count": 5}`, "/running/0/type", "unknown_name"},
		{`{"type": "a", "count": 5}`, `{"type": "a", "count": 5}, {"type": "a", "count": 1}`, "/running/1/type", "duplicate_name"},
		{`"work": 30`, `"work": 0`, "/jobs/0/work", "range"},
	} {
		_, err := pool.ReadPoolCourse([]byte(strings.Replace(smallCourse, c.old, c.new, 1)), capacity.DefaultLimits())
		var wrong *fault.InputError
		if !errors.As(err, &wrong) || len(wrong.Findings) != 1 || wrong.Findings[0].Pointer != c.pointer || wrong.Findings[0].Code != c.code {
			t.Errorf("%s: got %v", c.new, err)
		}
	}
}
