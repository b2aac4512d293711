package api

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"example.org/headroom/internal/ask/pack"
	"example.org/headroom/internal/ask/recheck/machines"
	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/service/auth"
	"example.org/headroom/internal/service/runs"
)

func TestPackingsOverHTTP(t *testing.T) {
	t.Parallel()
	s := newService(t)
	batch, err := pack.ReadPacking([]byte(smallBatch), capacity.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	ask := func(query string) (a pack.PackingAnswer) {
		t.Helper()
		s.ask(s.admin, "POST", "/v1/packings"+query, smallBatch).want(t, 200).into(t, &a)
		return a
	}
	a := ask("")
	if a.Packing == nil || a.OneMore != nil || a.Compared != nil || a.Machines != nil || a.Packing.Status != pack.PackingOptimal || len(a.Packing.Phases) == 0 {
		t.Fatalf("got %+v", a)
	}
	if wrong := machines.Packing(batch, *a.Packing); len(wrong) > 0 {
		t.Errorf("as it was read the packing is wrong: %v", wrong)
	}

	more := ask("?one_more=true")
	if diff := cmp.Diff(a.Packing, more.Packing); diff != "" || more.OneMore == nil || more.OneMore.BusySeconds > a.Packing.BusySeconds {
		t.Errorf("with one more machine: %+v, %s", more.OneMore, diff)
	}
	batch.Machines.Count++
	if wrong := machines.Packing(batch, *more.OneMore); len(wrong) > 0 {
		t.Errorf("with one more machine the packing is wrong: %v", wrong)
	}

	all := ask("?compare=true").Compared
	if len(all) != 4 || all[0].Algorithm != pack.PackSequential || all[1].BusySeconds > all[0].BusySeconds || all[3].BusySeconds > all[1].BusySeconds || all[3].BusySeconds > all[2].BusySeconds {
		t.Errorf("got %+v", all)
	}
	if diff := cmp.Diff(*a.Packing, all[3]); diff != "" {
		t.Errorf("compared it is packed in another way: %s", diff)
	}

	for query, head := range map[string]string{"": "phase,phase_start_s,", "&one_more=true": "machines,algorithm,", "&compare=true": "algorithm,phases,", "&by_hours=0.5": "machines,end_s,"} {
		got := s.ask(s.admin, "POST", "/v1/packings?format=csv"+query, smallBatch).want(t, 200)
		if rows, err := csv.NewReader(bytes.NewReader(got.text)).ReadAll(); err != nil || len(rows) < 2 || !strings.HasPrefix(string(got.text), head) {
			t.Errorf("as a table, asked %q: %v, %s", query, err, got.text)
		}
	}

	fewest := ask("?by_hours=0.5").Machines
	if fewest == nil || !fewest.Proved || fewest.Packing.EndSeconds > 1800 || fewest.BySeconds != 1800 || len(fewest.Tried) == 0 {
		t.Errorf("got %+v", fewest)
	}
}

func TestPackingsAsRuns(t *testing.T) {
	t.Parallel()
	s := works(t)
	var now, later pack.PackingAnswer
	s.ask(s.admin, "POST", "/v1/packings?compare=true", smallBatch).want(t, 200).into(t, &now)
	started := s.ask(s.admin, "POST", "/v1/packings?compare=true", smallBatch, "Prefer", "respond-async", "Idempotency-Key", "night").want(t, 202)
	again := s.ask(s.admin, "POST", "/v1/packings?compare=true", smallBatch, "Prefer", "respond-async", "Idempotency-Key", "night").want(t, 202)
	if again.Header.Get("Location") != started.Header.Get("Location") || started.Header.Get("Preference-Applied") != "respond-async" {
		t.Errorf("one key has started %v and %v", started.Header, again.Header)
	}
	run := s.over(started.Header.Get("Location"))
	s.ask(s.admin, "GET", "/v1/runs/"+run.ID+"/result", nil).want(t, 200).into(t, &later)
	if diff := cmp.Diff(now, later); diff != "" || run.Kind != "packing" || run.State != runs.RunSucceeded || run.Progress != (runs.Progress{Done: 4, Total: 4, Unit: "packings"}) {
		t.Errorf("got %+v: %s", run, diff)
	}
	if table := s.ask(s.admin, "GET", "/v1/runs/"+run.ID+"/result?format=csv", nil).want(t, 200); !strings.Contains(string(table.text), "\nmulti,1,") {
		t.Errorf("as a table: %s", table.text)
	}
	s.ask(s.admin, "GET", "/v1/runs/"+run.ID+"/result?format=xlsx", nil).want(t, 400)

	// A batch that takes too long becomes a run, which ends soon after a request to end it.
	jobs := make([]string, 60)
	for i := range jobs {
		jobs[i] = fmt.Sprintf(`{"name":"j%d","min_vms":%d,"model":{"a":%d,"b":-0.%d},"role":"%s"}`, i, 1+i%7, 1000+37*i, 3+i%6, []string{"plain", "host", "guest"}[i%3])
	}
	long := `{"machines":{"count":40,"disks":4,"hosts_per_extra":2,"penalty":1.2},"jobs":[` + strings.Join(jobs, ",") + `],"options":{"max_solve_ms":600000}}`
	s.ask(s.key("limited", auth.Planner, []string{"mine"}), "POST", "/v1/packings?compare=true", long, "Prefer", "respond-async").want(t, 403)
	began := time.Now()
	started = s.ask(s.admin, "POST", "/v1/packings?by_hours=0.2", long).want(t, 202)
	t.Logf("it was made a run after %s", time.Since(began))
	location := started.Header.Get("Location")
	s.until(location, func(r runs.Run) bool { return r.State != runs.RunQueued })
	began = time.Now()
	s.ask(s.admin, "DELETE", location, nil)
	run = s.over(location)
	t.Logf("it ended %s after it was cancelled", time.Since(began))
	if run.State != runs.RunCancelled || run.ResultURL != nil {
		t.Errorf("got %+v", run)
	}
}

func TestPackingsThatAreRefused(t *testing.T) {
	t.Parallel()
	s := newService(t)
	with := func(old, new string) string { return strings.Replace(smallBatch, old, new, 1) }
	for _, c := range []struct {
		query, body string
		status      int
		want        string // pointer or parameter
	}{
		{"", with(`"count":4`, `"count":0`), 422, "/machines/count"},
		{"", with(`"count":4`, `"count":99999`), 422, "/machines/count"},
		{"", with(`"count":2`, `"count":1001`), 422, "/jobs/0/count"},
		{"", with(`"penalty":1.1`, `"penalty":0.9`), 422, "/machines/penalty"},
		{"", with(`"hosts_per_extra":2`, `"hosts_per_extra":3`), 422, "/machines/hosts_per_extra"},
		{"", with(`"min_vms":2`, `"min_vms":9`), 422, "/jobs/0/min_vms"},
		{"", with(`{"vms":4,"seconds":520}`, `{"vms":2,"seconds":520}`), 422, "/jobs/1/measurements"},
		{"", with(`"name":"sort"`, `"nmae":"sort"`), 400, "/jobs/0/nmae"},
		{"", `{"machines":{"count":1,"disks":1}}`, 400, "/jobs"},
		{"?by_hours=0", smallBatch, 400, "by_hours"},
		{"?by_hours=NaN", smallBatch, 400, "by_hours"},
		{"?by_hours=2778", smallBatch, 400, "by_hours"},
		{"?compare=perhaps", smallBatch, 400, "compare"},
		{"?compare=true&one_more=true", smallBatch, 400, "one_more"},
		{"?compare=true&by_hours=3", smallBatch, 400, "by_hours"},
		{"?one_more=true&by_hours=3", smallBatch, 400, "by_hours"},
	} {
		p := s.ask(s.admin, "POST", "/v1/packings"+c.query, c.body).want(t, c.status).problem(t)
		got := ""
		if len(p.Errors) > 0 {
			if got = p.Errors[0].Parameter; p.Errors[0].Pointer != nil {
				got = *p.Errors[0].Pointer
			}
		}
		if got != c.want {
			t.Errorf("%s %.200s: got %+v, want one about %s", c.query, c.body, p, c.want)
		}
	}
	if p := s.ask(s.admin, "POST", "/v1/packings?by_hours=0.0001", smallBatch).want(t, 422).problem(t); !strings.Contains(p.Detail, "5000 machines") {
		t.Errorf("got %+v", p)
	}
	s.ask(s.key("v", auth.Viewer, nil), "POST", "/v1/packings", smallBatch).want(t, 403)
}

func TestPackingsAreKept(t *testing.T) {
	t.Parallel()
	s := works(t)
	s.cluster("mine")
	const at = "/v1/clusters/mine/packings"
	made := s.ask(s.admin, "POST", at, smallBatch, "Idempotency-Key", "night").want(t, 201)
	again := s.ask(s.admin, "POST", at, smallBatch, "Idempotency-Key", "night").want(t, 201)
	var kept, read, later pack.KeptPacking
	made.into(t, &kept)
	again.into(t, &read)
	if read.ID != kept.ID || again.Header.Get("Idempotency-Replayed") != "true" || made.Header.Get("Location") != at+"/"+kept.ID {
		t.Errorf("one key has made %s and %s at %s", kept.ID, read.ID, made.Header.Get("Location"))
	}
	got := s.ask(s.admin, "GET", at+"/"+kept.ID, nil).want(t, 200)
	got.into(t, &read)
	if diff := cmp.Diff(kept, read); diff != "" {
		t.Errorf("it is read as something else: %s", diff)
	}
	s.ask(s.admin, "GET", at+"/"+kept.ID, nil, "If-None-Match", got.etag()).want(t, 304)

	// The stored batch can be packed again, with the same packing.
	batch, err := pack.ReadPacking(read.Batch, capacity.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	var packing pack.Packing
	if err := json.Unmarshal(read.Packing, &packing); err != nil {
		t.Fatal(err)
	}
	if wrong := machines.Packing(batch, packing); len(wrong) > 0 || read.Jobs != 3 || read.VMs != 8 || read.BusySeconds != packing.BusySeconds {
		t.Errorf("got %+v: %v", read.PackingSummary, wrong)
	}
	rows, err := csv.NewReader(bytes.NewReader(s.ask(s.admin, "GET", at+"/"+kept.ID+"?format=csv", nil).want(t, 200).text)).ReadAll()
	if err != nil || len(rows) != 4 {
		t.Errorf("as a table: %v, %v", rows, err)
	}

	run := s.over(s.ask(s.admin, "POST", at, smallBatch, "Prefer", "respond-async").want(t, 202).Header.Get("Location"))
	s.ask(s.admin, "GET", "/v1/runs/"+run.ID+"/result", nil).want(t, 200).into(t, &later)
	if diff := cmp.Diff(string(kept.Packing), string(later.Packing)); diff != "" || later.ID == kept.ID || run.Kind != "kept_packing" {
		t.Errorf("got %+v: %s", run, diff)
	}
	var l list[pack.PackingSummary]
	s.ask(s.admin, "GET", at, nil).want(t, 200).into(t, &l)
	if diff := cmp.Diff([]pack.PackingSummary{later.PackingSummary, kept.PackingSummary}, l.Items); diff != "" {
		t.Errorf("the list is something else: %s", diff)
	}
	s.ask(s.key("v", auth.Viewer, nil), "DELETE", at+"/"+kept.ID, nil).want(t, 403)
	s.ask(s.admin, "DELETE", at+"/"+kept.ID, nil).want(t, 204)
	for _, gone := range []string{at + "/" + kept.ID, at + "/x", "/v1/clusters/none/packings"} {
		s.ask(s.admin, "GET", gone, nil).want(t, 404)
	}
	s.ask(s.admin, "POST", "/v1/clusters/none/packings", smallBatch).want(t, 404)
	s.ask(s.admin, "POST", at, strings.Replace(smallBatch, `"count":4`, `"count":0`, 1)).want(t, 422)
}
