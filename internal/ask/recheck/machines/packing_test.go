package machines

import (
	"encoding/json"
	"strings"
	"testing"

	"example.org/headroom/internal/ask/pack"
	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/fault"
)

// batchText has two hosts and a guest on two machines of two disks, where an extra VM needs two hosts, and a plain
// job after them.
const batchText = `{"machines": {"count": 2, "disks": 2, "hosts_per_extra": 2, "penalty": 1.5},
	"jobs": [{"name": "host", "count": 2, "role": "host", "model": {"a": 100, "b": -1}},
	         {"name": "guest", "role": "guest", "model": {"a": 60, "b": -1}, "deadline_s": 50},
	         {"name": "plain", "model": {"a": 200, "b": 0.5}, "min_vms": 2, "release_s": 80, "deadline_s": 90}]}`

// handPacked is computed by hand. Hosts on two VMs take 1.5 · 100 / 2 s, and the guest on two 1.5 · 60 / 2 s. The
// plain job, which gains nothing from more VMs, takes 200 s.
const handPacked = `{"algorithm": "multi", "status": "feasible", "busy_s": 275, "end_s": 280, "sequential_s": 265, "saving": -0.03773584905660377,
	"lower_bound_s": 220, "gap": 0.2,
	"jobs": [{"name": "host", "count": 2, "model": {"a": 100, "b": -1}, "min_vms": 1, "role": "host"},
	         {"name": "guest", "count": 1, "model": {"a": 60, "b": -1}, "min_vms": 1, "role": "guest", "deadline_s": 50},
	         {"name": "plain", "count": 1, "model": {"a": 200, "b": 0}, "min_vms": 2, "role": "plain", "release_s": 80, "deadline_s": 90}],
	"phases": [
	  {"start_s": 0, "end_s": 75, "seconds": 75,
	   "jobs": [{"job": "host", "number": 1, "role": "host", "vms": 2, "seconds": 75, "end_s": 75},
	            {"job": "host", "number": 2, "role": "host", "vms": 2, "seconds": 75, "end_s": 75},
	            {"job": "guest", "number": 1, "role": "guest", "vms": 2, "seconds": 45, "end_s": 45}],
	   "placement": [{"disks": [0, 1], "extras": [2]}, {"disks": [0, 1], "extras": [2]}]},
	  {"start_s": 80, "end_s": 280, "seconds": 200,
	   "jobs": [{"job": "plain", "number": 1, "role": "plain", "vms": 3, "seconds": 200, "end_s": 280, "late": true}],
	   "placement": [{"disks": [0, 0]}, {"disks": [0, -1]}]}],
	"deadlines": {"met": 1, "missed": 1, "proved": false, "basis": ""}, "warnings": []}`

func handBatch(t *testing.T, batch, packing string) []fault.Finding {
	t.Helper()
	p, err := pack.ReadPacking([]byte(batch), capacity.DefaultLimits())
	if err != nil {
		t.Fatal(err)
	}
	var a pack.Packing
	if err := json.Unmarshal([]byte(packing), &a); err != nil {
		t.Fatal(err)
	}
	return Packing(p, a)
}

func TestPackingByHandIsInOrder(t *testing.T) {
	if wrong := handBatch(t, batchText, handPacked); len(wrong) > 0 {
		t.Fatal(wrong)
	}
}

func TestCorruptPackingsAreFoundOut(t *testing.T) {
	for _, c := range []struct{ name, old, new, at string }{
		{"a job that is not there", `"job": "plain", "number": 1`, `"job": "other", "number": 1`, "/phases/1/jobs/0/job"},
		{"a job runs twice", `"number": 2`, `"number": 1`, "/phases/0/jobs/1/number"},
		{"a job out of count", `"number": 2`, `"number": 3`, "/phases/0/jobs/1/number"},
		{"too few VMs", `"vms": 3`, `"vms": 1`, "/phases/1/jobs/0/vms"},
		{"more VMs than placed", `"vms": 3`, `"vms": 4`, "/phases/1/jobs/0/vms"},
		{"a role it cannot have", `"plain", "vms": 3`, `"host", "vms": 3`, "/phases/1/jobs/0/role"},
		{"no penalty", `"seconds": 45, "end_s": 45`, `"seconds": 30, "end_s": 30`, "/phases/0/jobs/2/seconds"},
		{"a phase too short", `"end_s": 75, "seconds": 75,
`, `"end_s": 45, "seconds": 45,
`, "/phases/0/seconds"},
		{"phases at once", `"start_s": 80, "end_s": 280`, `"start_s": 70, "end_s": 270`, "/phases/1/start_s"},
		{"not late", `, "late": true`, ``, "/phases/1/jobs/0/late"},
		{"a disk twice too many", `[0, -1]`, `[0, 0]`, "/phases/1/jobs/0/vms"},
		{"a disk too many", `[0, -1]`, `[0, -1, -1]`, "/phases/1/placement/1/disks"},
		{"a machine missing", `, {"disks": [0, -1]}`, ``, "/phases/1/placement"},
		{"a job of another phase", `[0, -1]`, `[7, -1]`, "/phases/1/placement/1/disks/0"},
		{"extras without hosts", `{"disks": [0, 1], "extras": [2]}, {"disks": [0, 1], "extras": [2]}`, `{"disks": [0, 1], "extras": [2]}, {"disks": [0, -1], "extras": [2]}`, "/phases/0/placement/1/extras"},
		{"two extras on one", `{"disks": [0, 1], "extras": [2]}, {"disks": [0, 1], "extras": [2]}`, `{"disks": [0, 1], "extras": [2, 2]}, {"disks": [0, 1]}`, "/phases/0/placement/0/extras"},
		{"a host as an extra", `"extras": [2]}, {`, `"extras": [0]}, {`, "/phases/0/placement/0/extras/0"},
		{"a guest on a disk", `{"disks": [0, 1], "extras": [2]}, {"disks"`, `{"disks": [0, 2], "extras": [2]}, {"disks"`, "/phases/0/placement/0/disks/1"},
		{"another model", `"model": {"a": 60, "b": -1}`, `"model": {"a": 50, "b": -1}`, "/jobs/1/model/a"},
		{"a model that rises", `"model": {"a": 200, "b": 0}`, `"model": {"a": 200, "b": 0.5}`, "/jobs/2/model"},
		{"fewer VMs needed", `"min_vms": 2`, `"min_vms": 1`, "/jobs/2/min_vms"},
		{"another deadline", `"role": "guest", "deadline_s": 50`, `"role": "guest", "deadline_s": 60`, "/jobs/1"},
		{"another release", `"role": "plain", "release_s": 80`, `"role": "plain", "release_s": 70`, "/jobs/2"},
		{"another kind", `"name": "plain", "count": 1`, `"name": "plain", "count": 2`, "/jobs/2"},
		{"a shorter total", `"busy_s": 275`, `"busy_s": 270`, "/busy_s"},
		{"an earlier end", `"end_s": 280, "sequential_s"`, `"end_s": 275, "sequential_s"`, "/end_s"},
		{"a longer comparison", `"sequential_s": 265`, `"sequential_s": 365`, "/sequential_s"},
		{"a saving", `"saving": -0.03773584905660377`, `"saving": 0.1`, "/saving"},
		{"a bound above", `"lower_bound_s": 220`, `"lower_bound_s": 290`, "/lower_bound_s"},
		{"a smaller gap", `"gap": 0.2`, `"gap": 0.1`, "/gap"},
		{"called optimal", `"feasible"`, `"optimal"`, "/status"},
		{"a deadline met", `"met": 1, "missed": 1`, `"met": 2, "missed": 0`, "/deadlines"},
		{"deadlines left out", `"deadlines": {"met": 1, "missed": 1, "proved": false, "basis": ""}, `, ``, "/deadlines"},
	} {
		corrupt := strings.Replace(handPacked, c.old, c.new, 1)
		if corrupt == handPacked {
			t.Errorf("%s: nothing was changed", c.name)
			continue
		}
		wrong := handBatch(t, batchText, corrupt)
		found := false
		for _, f := range wrong {
			found = found || f.Pointer == c.at
		}
		if !found {
			t.Errorf("%s: got %v, want a finding at %s", c.name, wrong, c.at)
		}
	}
}

// A fit that a nearby one improves is wrong, by either method.
func TestWrongFitsAreFoundOut(t *testing.T) {
	batch := `{"machines": {"count": 4, "disks": 1}, "options": {"placement": false}, "jobs": [{"name": "a", "fit": "METHOD",
		"measurements": [{"vms": 1, "seconds": 100}, {"vms": 2, "seconds": 50}, {"vms": 4, "seconds": 25}]}]}`
	packing := `{"algorithm": "multi", "status": "optimal", "busy_s": 25, "end_s": 25, "sequential_s": 25, "saving": 0, "lower_bound_s": 25, "gap": 0,
		"jobs": [{"name": "a", "count": 1, "model": {"a": 100, "b": -1}, "min_vms": 1, "role": "plain", "fit": {"method": "METHOD", "a": 100, "b": -1}}],
		"phases": [{"start_s": 0, "end_s": 25, "seconds": 25, "jobs": [{"job": "a", "number": 1, "role": "plain", "vms": 4, "seconds": 25, "end_s": 25}]}]}`
	for _, method := range []string{"log", "nls"} {
		b, p := strings.ReplaceAll(batch, "METHOD", method), strings.ReplaceAll(packing, "METHOD", method)
		if wrong := handBatch(t, b, p); len(wrong) > 0 {
			t.Errorf("%s: %v", method, wrong)
		}
		if wrong := handBatch(t, b, strings.ReplaceAll(p, `"a": 100, "b": -1`, `"a": 101, "b": -1`)); len(wrong) == 0 || wrong[0].Pointer != "/jobs/0/fit" {
			t.Errorf("%s: a worse fit passes: %v", method, wrong)
		}
		if wrong := handBatch(t, b, strings.ReplaceAll(p, `"a": 100, "b": -1}}`, `"a": 100, "b": -1.001}}`)); len(wrong) == 0 || wrong[0].Pointer != "/jobs/0/fit" {
			t.Errorf("%s: a worse power passes: %v", method, wrong)
		}
	}
}
