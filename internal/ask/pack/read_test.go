package pack_test

import (
	"encoding/json"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.org/headroom/internal/ask/pack"
	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/fault"
	"example.org/headroom/internal/core/perf"
)

const smallBatch = `{"machines": {"count": 3, "disks": 2},
	"jobs": [{"name": "a", "model": {"a": 9, "b": -1}},
	         {"name": "b", "measurements": [{"vms": 2, "seconds": 9}, {"vms": 3, "seconds": 7.5}], "usage": {"cpu_percent": 70, "io_mb_s": 3}}]}`

func TestBatchesGetTheirDefaults(t *testing.T) {
	got, err := pack.ReadPacking([]byte(smallBatch), capacity.DefaultLimits())
	if err != nil {
		t.Fatal(err)
	}
	want := pack.PackingProblem{
		Machines: pack.Machines{Count: 3, Disks: 2, Penalty: 1},
		Jobs: []pack.BatchJob{
			{Name: "a", Count: 1, Model: &perf.PowerModel{A: 9, B: -1}},
			{Name: "b", Count: 1, Measurements: []perf.Measurement{{VMs: 2, Seconds: 9}, {VMs: 3, Seconds: 7.5}}, Usage: &perf.Usage{CPUPercent: 70, IOMBPerS: 3}},
		},
		Options: pack.PackingOptions{Algorithm: pack.PackMulti, MaxSolveMs: 10_000, Seed: 1, Placement: true, CPUPercent: 60, IOMBPerS: 100},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// Everything that can be read can be written and read again.
func FuzzReadPacking(f *testing.F) {
	f.Add([]byte(smallBatch))
	f.Add([]byte(`{"machines": {"count": 9, "disks": 4, "hosts_per_extra": 2, "penalty": 1.5}, "jobs": [{"name": "a", "count": 3, "role": "host",
		"fit": "nls", "min_vms": 2, "model": {"a": 1e3, "b": 0.5}, "release_s": 3, "deadline_s": 9}], "options": {"algorithm": "pso", "seed": 7, "placement": false}}`))
	f.Add([]byte(`{"machines": {"count": -1, "disks": 1e99}, "jobs": [{}, {"name": 3}], "options": {"seed": -3, "max_solve_ms": 0}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		p, err := pack.ReadPacking(data, capacity.DefaultLimits())
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
		again, err := pack.ReadPacking(text, capacity.DefaultLimits())
		if err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		if diff := cmp.Diff(p, again); diff != "" {
			t.Error(diff)
		}
	})
}
