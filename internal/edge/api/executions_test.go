package api

import (
	"fmt"
	"strings"
	"testing"

	"example.org/headroom/internal/data/history"
	"example.org/headroom/internal/service/app"
	"example.org/headroom/internal/service/clusters"
)

const someExecution = `{"executions":[{"job":"nightly etl","execution":"job_1","user":"ann","queue":"prod","submitted_at":"2026-03-01T22:00:00Z","finished_at":"2026-03-01T22:09:20Z",
	"sample":{"profile":{"map_tasks":120,"reduce_tasks":0,"map_avg_s":24.5,"map_max_s":61,"overhead_s":11},"seconds":560,"map":{"count":120,"mean":24.5,"max":61,"p50":23,"p95":48},"map_slots":8}}]}`

// executionInMine returns an execution of the cluster mine.
func (s *service) executionInMine() string {
	s.Helper()
	s.ask(s.admin, "POST", "/v1/clusters/mine/executions", someExecution).want(s, 200)
	var l list[history.StoredExecution]
	s.ask(s.admin, "GET", "/v1/clusters/mine/executions", nil).want(s, 200).into(s, &l)
	return l.Items[0].ID
}

func TestExecutionsAreKept(t *testing.T) {
	t.Parallel()
	s := newService(t)
	s.cluster("mine")
	const at = "/v1/clusters/mine/executions"
	post := func(query, body string) (made clusters.HistoryImport) {
		t.Helper()
		s.ask(s.admin, "POST", at+query, body).want(t, 200).into(t, &made)
		return made
	}
	came := func(made clusters.HistoryImport, want string) {
		t.Helper()
		if got := fmt.Sprintf("%d: %d created, %d updated, %d unchanged, %d unusable, %d refused", made.Executions, made.Created, made.Updated, made.Unchanged, made.Unusable.Count, made.Refused.Count); got != want {
			t.Errorf("got %s, want %s; %+v", got, want, made)
		}
	}
	items := func(query string) []history.StoredExecution {
		t.Helper()
		var l list[history.StoredExecution]
		s.ask(s.admin, "GET", at+query, nil).want(t, 200).into(t, &l)
		return l.Items
	}
	before := s.ask(s.admin, "GET", "/v1/clusters/mine", nil).want(t, 200).etag()
	came(post("?dry_run=true", someExecution), "1: 1 created, 0 updated, 0 unchanged, 0 unusable, 0 refused")
	if got := items(""); len(got) != 0 {
		t.Fatalf("a dry run left %+v", got)
	}
	came(post("", someExecution), "1: 1 created, 0 updated, 0 unchanged, 0 unusable, 0 refused")
	came(post("", someExecution), "1: 0 created, 0 updated, 1 unchanged, 0 unusable, 0 refused")

	running := `{"executions":[{"job":"nightly etl","execution":"job_2","outcome":"unfinished","refused":"Its end is not on record.","submitted_at":"2026-03-01T22:00:00Z"}]}`
	came(post("", running), "1: 1 created, 0 updated, 0 unchanged, 1 unusable, 0 refused")
	failed := strings.NewReplacer("unfinished", "failed", "Its end is not on record.", "It failed.").Replace(running)
	came(post("?dry_run=true", failed), "1: 0 created, 1 updated, 0 unchanged, 1 unusable, 0 refused")
	came(post("", failed), "1: 0 created, 1 updated, 0 unchanged, 1 unusable, 0 refused")
	came(post("", running), "1: 0 created, 0 updated, 1 unchanged, 1 unusable, 0 refused")
	ended := strings.Replace(someExecution, "job_1", "job_2", 1)
	came(post("", ended), "1: 0 created, 1 updated, 0 unchanged, 0 unusable, 0 refused")
	came(post("", failed), "1: 0 created, 0 updated, 1 unchanged, 1 unusable, 0 refused")

	// Senseless records are reported, the rest is stored; a record without an id is identified by its content.
	mixed := `{"executions":[{"job":"","execution":"a","refused":"x"},{"job":"j","execution":"b"},{"job":"j","outcome":"killed"},{"job":"j","outcome":"killed"},
		{"job":"j","execution":"c","outcome":"failed","sample":{"profile":{"map_tasks":1,"reduce_tasks":0,"map_avg_s":1,"map_max_s":1}}},
		{"job":"j","execution":"d","sample":{"profile":{"map_tasks":10,"reduce_tasks":0,"map_avg_s":1,"map_max_s":100}}},
		{"job":"j","execution":"e","refused":"x","submitted_at":"2026-03-02T22:00:00Z","finished_at":"2026-03-01T22:00:00Z"},
		{"job":"j","execution":"f","chain":{"phases":[{"tasks":1,"task":{"count":1,"mean":1,"max":1},"after":[0]}]}},
		{"job":"j","execution":"g","chain":{"phases":[{"tasks":2,"task":{"count":2,"mean":1,"max":1.5},"after":[]}],"map_slots":2}}]}`
	made := post("", mixed)
	came(made, "9: 2 created, 0 updated, 1 unchanged, 1 unusable, 6 refused")
	for i, want := range []string{"a: Its history does not name its job. Say which it is, with job=NAME.", "b: It has no sample", "c: It is failed and has a sample", "d: Its figures are no profile", "e: It ends at", "f: Phase 1 waits"} {
		if got := made.Refused.First[i].Error(); !strings.HasPrefix(got, want) {
			t.Errorf("refused %q, want %q", got, want)
		}
	}
	if len(made.Jobs) != 1 || made.Jobs[0] != (clusters.ImportedJob{Job: "j", Executions: 3, Created: 2, Unchanged: 1, Unusable: 1}) {
		t.Errorf("jobs %+v", made.Jobs)
	}

	all := items("")
	if len(all) != 4 || all[0].Execution != "job_2" && all[0].Execution != "job_1" || all[3].SubmittedAt != nil {
		t.Fatalf("listed %+v", all)
	}
	if got := items("?job=nightly%20etl&user=ann&queue=prod&outcome=succeeded&from=2026-03-01T22:00:00Z&until=2026-03-01T22:00:01Z"); len(got) != 2 || *got[0].MapSlots != 8 || *got[0].ReduceSlots != 0 {
		t.Errorf("of the job %+v", got)
	}
	for _, query := range []string{"?job=x", "?user=bob", "?queue=x", "?from=2027-01-01T00:00:00Z", "?until=2020-01-01T00:00:00Z", "?outcome=unfinished"} {
		if got := items(query); len(got) != 0 {
			t.Errorf("%s lists %+v", query, got)
		}
	}
	var one history.SampledExecution
	a := s.ask(s.admin, "GET", at+"/"+all[0].ID, nil).want(t, 200)
	a.into(t, &one)
	if one.Sample == nil || one.Sample.Profile.MapTasks != 120 || one.Sample.Name != "nightly etl" || one.ImportedBy != "boss" && one.ImportedBy == "" {
		t.Errorf("read %+v", one)
	}
	s.ask(s.admin, "GET", at+"/"+all[0].ID, nil, "If-None-Match", a.Header.Get("ETag")).want(t, 304)
	s.ask(s.admin, "GET", at+"/0199a1b0-2222-7c4b-8f2f-0a5e5a6f7b8c", nil).want(t, 404)
	s.ask(s.admin, "GET", at+"/x", nil).want(t, 404)

	// Pages hold each execution once.
	seen := map[string]int{}
	for cursor, pages := "", 0; pages == 0 || cursor != ""; pages++ {
		var l list[history.StoredExecution]
		query := "?limit=1"
		if pages > 0 {
			query += "&cursor=" + cursor
		}
		s.ask(s.admin, "GET", at+query, nil).want(t, 200).into(t, &l)
		seen[l.Items[0].Execution]++
		if cursor = ""; l.Next != nil {
			cursor = *l.Next
		}
	}
	if len(seen) != 4 {
		t.Errorf("pages hold %v", seen)
	}
	table := string(s.ask(s.admin, "GET", at+"?format=csv", nil).want(t, 200).text)
	if strings.Count(table, "\n") != 5 || !strings.HasPrefix(table, "id,job,execution,user") {
		t.Errorf("table %s", table)
	}
	var jobs list[history.RecordedJob]
	s.ask(s.admin, "GET", "/v1/clusters/mine/recorded-jobs", nil).want(t, 200).into(t, &jobs)
	if len(jobs.Items) != 2 || jobs.Items[0].Job != "j" || jobs.Items[0].Executions != 2 || jobs.Items[0].Usable != 1 || jobs.Items[0].Seconds != nil || *jobs.Items[1].Seconds != 560 || jobs.Items[1].Refused != 0 {
		t.Errorf("jobs %+v", jobs.Items)
	}
	var gone deleted
	s.ask(s.admin, "DELETE", at, nil).want(t, 400)
	s.ask(s.admin, "DELETE", at+"?job=j&outcome=killed", nil).want(t, 200).into(t, &gone)
	if gone.Deleted != 1 || len(items("")) != 3 {
		t.Errorf("deleted %d, left %d", gone.Deleted, len(items("")))
	}
	if after := s.ask(s.admin, "GET", "/v1/clusters/mine", nil).want(t, 200).etag(); after != before {
		t.Errorf("executions changed the cluster from %s to %s", before, after)
	}
	var log list[app.AuditEntry]
	s.ask(s.admin, "GET", "/v1/audit?cluster=mine&limit=1000", nil).want(t, 200).into(t, &log)
	imports := 0
	for _, e := range log.Items {
		if e.Kind == "execution" && e.Action == "create" {
			imports++
		}
	}
	if imports != 5 { // only those that changed something
		t.Errorf("%d imports are in the audit log", imports)
	}
}
