package api

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.org/headroom/internal/ask/pack"
	"example.org/headroom/internal/ask/recheck/machines"
	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/perf"
	"example.org/headroom/internal/service/auth"
)

const classPackings = "/v1/clusters/mine/class-packings"

// etlOn returns past executions of the job of the class "nightly" (two map slots a VM), each on a number of slots.
func etlOn(slots ...int) string {
	var all []string
	for i, n := range slots {
		seconds := 2000 / math.Pow(float64(n)/2, 0.8)
		all = append(all, fmt.Sprintf(`{"job":"nightly","execution":"job_%d_%d","submitted_at":"2026-03-%02dT22:00:00Z",
			"sample":{"profile":{"map_tasks":120,"reduce_tasks":0,"map_avg_s":24.5,"map_max_s":61,"overhead_s":11},"seconds":%v,"map":{"count":120,"mean":24.5,"max":61,"p50":23,"p95":48},"map_slots":%d},"seconds":%v}`, n, i, i+1, seconds, n, seconds))
	}
	return `{"executions":[` + strings.Join(all, ",") + `]}`
}

func TestClassesArePacked(t *testing.T) {
	t.Parallel()
	s := works(t)
	s.cluster("mine")

	// Nothing is known of either class: the answer lists the measurements that each needs.
	const everything = `{"machines":{"count":6,"disks":4,"hosts_per_extra":2,"penalty":1.1}}`
	a := s.ask(s.admin, "POST", classPackings, everything).want(t, 422)
	for _, part := range []string{`"/jobs/0/class"`, `"/jobs/1/class"`, "not_measured", "two numbers, for instance 6 and 12", "headroom history measurement create mine", "there is no past execution"} {
		if !strings.Contains(string(a.text), part) {
			t.Errorf("got %s, want %s in it", a.text, part)
		}
	}
	s.ask(s.admin, "POST", measurements, `{"measurements":[{"job":"ad-hoc","kind":"power","vms":4,"seconds":900},{"job":"ad-hoc","kind":"power","vms":16,"seconds":330},{"job":"ad-hoc","kind":"usage","vms":6,"cpu_percent":85,"io_mb_s":20}]}`).want(t, 200)

	// Executions of one size are too few, and those with a slot for every map have no known size.
	s.ask(s.admin, "POST", "/v1/clusters/mine/executions", etlOn(8, 8, 120, 200)).want(t, 200)
	a = s.ask(s.admin, "POST", classPackings, everything).want(t, 422)
	for _, part := range []string{"ran on 4 VMs", "of 2 past executions", "for instance 8"} {
		if !strings.Contains(string(a.text), part) {
			t.Errorf("got %s, want %s in it", a.text, part)
		}
	}
	s.ask(s.admin, "POST", "/v1/clusters/mine/executions", etlOn(16, 32, 33)).want(t, 200)
	var packed pack.PackingAnswer
	s.ask(s.admin, "POST", classPackings, everything).want(t, 200).into(t, &packed)
	want := []pack.PackingSource{{Class: "ad-hoc", Measurements: 2, VMs: []float64{4, 16}, Usage: true}, {Class: "nightly", Executions: 5, Unsized: 2, VMs: []float64{4, 8, 16, 17}}}
	if diff := cmp.Diff(want, packed.Sources); diff != "" {
		t.Errorf("what it was made of: %s", diff)
	}
	at := slices.IndexFunc(packed.Packing.Jobs, func(j pack.PackedJob) bool { return j.Name == "nightly" })
	if fit := packed.Packing.Jobs[at].Fit; math.Abs(fit.B+0.8) > 0.03 || packed.Packing.Jobs[1-at].Role != perf.GuestRole {
		t.Errorf("got %+v", packed.Packing.Jobs)
	}

	// The other operations accept the exact batch and answer alike, and its packing is the same.
	text, err := json.Marshal(packed.Batch)
	if err != nil {
		t.Fatal(err)
	}
	batch, err := pack.ReadPacking(text, capacity.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	if wrong := machines.Packing(batch, *packed.Packing); len(wrong) > 0 {
		t.Errorf("the packing is wrong: %v", wrong)
	}
	var same pack.PackingAnswer
	s.ask(s.admin, "POST", "/v1/packings", string(text)).want(t, 200).into(t, &same)
	if diff := cmp.Diff(packed.Packing, same.Packing); diff != "" {
		t.Errorf("sent as a batch it is packed in another way: %s", diff)
	}

	// The fewest machines by an hour: the request has no number of machines, and one less is proved to be too few.
	const some = `{"machines":{"disks":4},"jobs":[{"class":"nightly","count":3},{"class":"ad-hoc"}]}`
	var fewest pack.PackingAnswer
	s.ask(s.admin, "POST", classPackings+"?by=06:00&start=2026-03-01T05:40:00Z", some).want(t, 200).into(t, &fewest)
	m := fewest.Machines
	if m == nil || m.BySeconds != 1200 || !m.Proved || m.Packing.EndSeconds > 1200 || fewest.Sources == nil {
		t.Fatalf("got %+v", m)
	}
	less := strings.Replace(some, `{"disks":4}`, fmt.Sprintf(`{"disks":4,"count":%d}`, m.Machines-1), 1)
	s.ask(s.admin, "POST", classPackings, less).want(t, 200).into(t, &packed)
	if packed.Packing.EndSeconds <= 1200 {
		t.Errorf("%d machines suffice as well: %g s", m.Machines-1, packed.Packing.EndSeconds)
	}

	run := s.over(s.ask(s.admin, "POST", classPackings+"?by_hours=0.3333333333333333", some, "Prefer", "respond-async").want(t, 202).Header.Get("Location"))
	var later pack.PackingAnswer
	s.ask(s.admin, "GET", "/v1/runs/"+run.ID+"/result", nil).want(t, 200).into(t, &later)
	if later.Machines.Machines != m.Machines || len(later.Sources) != 2 || run.Cluster == nil || *run.Cluster != "mine" {
		t.Errorf("as a run: %+v", later.Machines)
	}
	limited := s.key("limited", auth.Planner, []string{"mine"})
	s.over(s.ask(limited, "POST", classPackings+"?by_hours=1", some, "Prefer", "respond-async").want(t, 202).Header.Get("Location"))
}

func TestClassPackingsThatAreRefused(t *testing.T) {
	t.Parallel()
	s := newService(t)
	s.cluster("mine")
	s.ask(s.admin, "POST", measurements, strings.ReplaceAll(someMeasurements, "sort", "nightly")).want(t, 200)
	for _, c := range []struct {
		query, body string
		status      int
		part        string
	}{
		{"", `{"machines":{"disks":4}}`, 422, `"/machines/count"`},
		{"", `{"machines":{"count":6,"disks":0}}`, 422, `"/machines/disks"`},
		{"?by=06:00", `{"machines":{"disks":0}}`, 422, `"/machines/disks"`},
		{"?by=06:00", `{"machines":{"disks":9223372036854775807}}`, 422, `"/machines/disks"`},
		{"", `{"machines":{"count":6,"disks":4},"jobs":[]}`, 422, `"/jobs"`},
		{"", `{"machines":{"count":6,"disks":4},"jobs":[{"class":"none"}]}`, 422, `"/jobs/0/class"`},
		{"", `{"machines":{"count":6,"disks":4},"jobs":[{"class":"nightly"},{"class":"nightly"}]}`, 422, `"/jobs/1/name"`},
		{"", `{"machines":{"count":6,"disks":4},"jobs":[{"class":"nightly","count":0}]}`, 422, `"/jobs/0/count"`},
		{"", `{"machines":{"count":6,"disks":4},"job":[]}`, 400, `"/job"`},
		{"", `{"machines":{"count":1,"disks":4},"jobs":[{"class":"nightly","min_vms":40}]}`, 422, "job_does_not_fit"},
		{"?by=24:00", everyNightly, 400, `"by"`},
		{"?by=06:00&by_hours=2", everyNightly, 400, `"by_hours"`},
		{"?by=06:00&compare=true", everyNightly, 400, `"by"`},
		{"?by=06:00&start=yesterday", everyNightly, 400, `"start"`},
		{"?by_hours=0.0001", everyNightly, 422, "infeasible"},
	} {
		a := s.ask(s.admin, "POST", classPackings+c.query, c.body)
		if a.StatusCode != c.status || !strings.Contains(string(a.text), c.part) {
			t.Errorf("%s %s: got %d %.600s, want %d with %s", c.query, c.body, a.StatusCode, a.text, c.status, c.part)
		}
	}
	s.ask(s.admin, "POST", "/v1/clusters/none/class-packings", everyNightly).want(t, 404)
	s.ask(s.key("v", auth.Viewer, nil), "POST", classPackings, everyNightly).want(t, 403)
}

const everyNightly = `{"machines":{"count":6,"disks":4},"jobs":[{"class":"nightly"}]}`
