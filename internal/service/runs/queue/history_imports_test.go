package queue_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"reflect"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"example.org/headroom/internal/core/fault"
	"example.org/headroom/internal/data/history"
	"example.org/headroom/internal/data/inputs"
	"example.org/headroom/internal/data/storage"
	"example.org/headroom/internal/service/app"
	"example.org/headroom/internal/service/clusters"
	"example.org/headroom/internal/service/runs"
	"example.org/headroom/internal/service/runs/queue"
	"example.org/headroom/internal/test/await"
	"example.org/headroom/internal/test/historytest"
	"example.org/headroom/internal/test/pgtest"
)

// importing starts an import of executions.
func importing(t *testing.T, s *server, from clusters.HistorySource) string {
	t.Helper()
	r, err := s.Clusters.StartHistoryImport(boss(t), "shop", from)
	if err != nil {
		t.Fatal(err)
	}
	return r.ID
}

// imported returns the report of a run.
func imported(t *testing.T, r runs.Run) (made clusters.HistoryImport) {
	t.Helper()
	if err := json.Unmarshal(r.Result, &made); err != nil {
		t.Fatalf("%v in %s", err, r.Result)
	}
	return made
}

// kept returns the executions of the cluster with their samples, without the times and authors of storing.
func kept(t *testing.T, s *server) (all []history.Record) {
	t.Helper()
	list, err := s.Stores.Executions.Executions(boss(t), "shop", clusters.ExecutionFilter{}, storage.Page{Limit: 1000})
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range list.Items {
		one, err := s.Stores.Executions.Execution(boss(t), "shop", e.ID)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, history.Record{Facts: one.Facts, Sample: one.Sample, Chain: one.Chain})
	}
	return all
}

// sent returns the stored form of executions sent as files.
func sent(t *testing.T, files []string) []history.Record {
	t.Helper()
	s := start(t, pgtest.Database(t), queue.Config{Kinds: kinds(does{"other": quick})})
	if _, err := s.Clusters.Create(boss(t), inputs.NewCluster("shop")); err != nil {
		t.Fatal(err)
	}
	for _, text := range files {
		if _, err := s.Clusters.ImportHistory(boss(t), "shop", clusters.TakeOptions{}, strings.NewReader(text)); err != nil {
			t.Fatal(err)
		}
	}
	return kept(t, s)
}

func TestHistoriesAreFetched(t *testing.T) {
	t.Parallel()
	s := start(t, pgtest.Database(t), queue.Config{})
	jobs := historytest.Jobs(1, 40)
	var files []string
	for _, j := range jobs {
		files = append(files, j.JHist())
	}
	fails := atomic.Int64{}
	from := &historytest.Server{Jobs: jobs, Apps: historytest.Apps(1, 10, 20), First: func(w http.ResponseWriter, r *http.Request) bool {
		if strings.HasSuffix(r.URL.Path, ".jhist") {
			fmt.Fprint(w, files[3])
			return true
		}
		if fails.Add(1)%17 == 0 {
			w.WriteHeader(http.StatusServiceUnavailable)
			return true
		}
		return false
	}}
	at := shop(t, s, from.ServeHTTP)

	made := imported(t, succeeded(t, s, importing(t, s, clusters.HistorySource{URL: at + "/job_4.jhist"})))
	if made.Executions != 1 || made.Created != 1 || made.Bytes != int64(len(files[3])) {
		t.Errorf("of a file: %+v", made)
	}
	dry := imported(t, succeeded(t, s, importing(t, s, clusters.HistorySource{URL: at, Kind: "mapreduce", DryRun: true})))
	if dry.Executions != 40 || dry.Created != 39 || dry.Unchanged != 1 || !dry.DryRun || len(kept(t, s)) != 1 {
		t.Errorf("dry: %+v", dry)
	}
	r := succeeded(t, s, importing(t, s, clusters.HistorySource{URL: at, Kind: "mapreduce"}))
	if made = imported(t, r); made.Created != 39 || made.Unchanged != 1 || made.Unusable.Count != 5 || made.Refused.Count != 0 || len(made.Jobs) != 3 || r.Progress != (runs.Progress{Done: 40, Total: 40, Unit: "executions"}) {
		t.Errorf("%+v, %+v", made, r.Progress)
	}
	want := sent(t, files)
	if got := kept(t, s); !reflect.DeepEqual(got, want) {
		t.Errorf("what was fetched is not what would be sent:\n%+v\n%+v", got, want)
	}
	requests := from.Asked.Load()
	again := imported(t, succeeded(t, s, importing(t, s, clusters.HistorySource{URL: at, Kind: "mapreduce"})))
	if again.Executions != 40 || again.Unchanged != 40 || again.Unusable.Count != 5 || from.Asked.Load() > requests+3 {
		t.Errorf("the same again: %+v, with %d requests", again, from.Asked.Load()-requests)
	}
	spark := imported(t, succeeded(t, s, importing(t, s, clusters.HistorySource{URL: at + "/api/v1", Job: "etl 1", Limit: 3})))
	if spark.Created != 3 || len(spark.Jobs) != 1 || spark.Jobs[0].Job != "etl 1" {
		t.Errorf("of Spark's: %+v", spark)
	}
	// The stored part of a failed run, and its failure.
	from.First = func(w http.ResponseWriter, r *http.Request) bool { w.WriteHeader(http.StatusForbidden); return true }
	failed := until(t, s, importing(t, s, clusters.HistorySource{URL: at, Kind: "spark"}), "failed", state(runs.RunFailed))
	if failed.Error == nil || failed.Error.Kind != string(fault.Invalid) || !strings.Contains(failed.Error.Errors[0].Detail, "answers 403") {
		t.Errorf("%+v", failed.Error)
	}
	for _, c := range []struct {
		from clusters.HistorySource
		why  string
	}{
		{clusters.HistorySource{URL: "http://169.254.169.254/"}, "not on the list"}, {clusters.HistorySource{URL: "file:///etc/passwd"}, "must begin with https"},
		{clusters.HistorySource{URL: at, From: new(time.UnixMilli(5)), Until: new(time.UnixMilli(5))}, "until must be after from"},
	} {
		if _, err := s.Clusters.StartHistoryImport(boss(t), "shop", c.from); err == nil || !strings.Contains(err.Error(), c.why) {
			t.Errorf("%+v: %v", c.from, err)
		}
	}
	if _, err := s.Clusters.StartHistoryImport(boss(t), "nowhere", clusters.HistorySource{URL: at}); err == nil {
		t.Error("there is no such cluster")
	}
}

// A cancelled import ends at once, reports the executions it has stored, and keeps them.
func TestAnImportOfHistoriesIsCancelled(t *testing.T) {
	t.Parallel()
	s := start(t, pgtest.Database(t), queue.Config{})
	begun := make(chan struct{}, 64)
	jobs := historytest.Jobs(2, 20)
	from := &historytest.Server{Jobs: jobs, First: func(_ http.ResponseWriter, r *http.Request) bool {
		if strings.Contains(r.URL.Path, jobs[9].ID) {
			begun <- struct{}{}
			<-r.Context().Done()
			return true
		}
		return false
	}}
	at := shop(t, s, from.ServeHTTP)
	id := importing(t, s, clusters.HistorySource{URL: at, Kind: "mapreduce"})
	<-begun
	until(t, s, id, "nine executions far", func(r runs.Run) bool { return r.Progress.Done == 9 })
	if _, err := s.Runs.Cancel(boss(t), id); err != nil {
		t.Fatal(err)
	}
	r := until(t, s, id, "cancelled", state(runs.RunCancelled))
	made := imported(t, r)
	if n := len(kept(t, s)); made.Executions != 9 || made.Created != 9 || n != 9 {
		t.Errorf("%+v, kept are %d", made, n)
	}
}

// A server is killed during an import: another continues after the stored part, and the report covers all of it.
func TestAServerThatIsKilledImportsNoExecutionTwice(t *testing.T) {
	t.Parallel()
	url := pgtest.Database(t)
	s := start(t, url, queue.Config{Kinds: kinds(does{"other": quick})}) // it imports nothing
	jobs := historytest.Jobs(3, 30)
	var files []string
	for _, j := range jobs {
		files = append(files, j.JHist())
	}
	rest := make(chan struct{})
	var early, late atomic.Int64
	from := &historytest.Server{Jobs: jobs}
	from.First = func(_ http.ResponseWriter, r *http.Request) bool {
		path := r.URL.Path
		number := strings.TrimPrefix(path, "/ws/v1/history/mapreduce/jobs/job_1770000000000_")
		if len(number) == 4 && number < "0012" {
			early.Add(1)
		}
		if strings.HasSuffix(path, jobs[12].ID) {
			select { // the second server stores the earlier ones
			case <-rest:
			case <-time.After(1500 * time.Millisecond):
			}
		}
		if strings.HasSuffix(path, jobs[15].ID) {
			late.Add(1)
			select {
			case <-rest:
			case <-r.Context().Done():
				return true
			}
		}
		return false
	}
	at := shop(t, s, from.ServeHTTP)
	command := exec.Command(os.Args[0])
	command.Env = append(os.Environ(), importerVariable+"="+url)
	command.Stderr = os.Stderr
	stdout, err := command.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	if line, err := bufio.NewReader(stdout).ReadString('\n'); line != "begun\n" {
		t.Fatalf("the child says %q (%v)", line, err)
	}
	id := importing(t, s, clusters.HistorySource{URL: at, Kind: "mapreduce"})
	await.Until(t, 20*time.Second, "13 executions are stored", func() bool { return len(kept(t, s)) >= 13 })
	_ = command.Process.Kill()
	_ = command.Wait()
	close(rest)
	before := early.Load()
	other := start(t, url, queue.Config{Lease: shortLease})
	r := succeeded(t, other, id)
	other.ended()
	made := imported(t, r)
	if r.Attempt != 2 || made.Executions != 30 || made.Created != 30 || made.Unchanged != 0 || made.Unusable.Count != 4 || len(made.Jobs) != 3 {
		t.Errorf("%+v in attempt %d", made, r.Attempt)
	}
	if early.Load() != before {
		t.Errorf("%d executions that were stored are asked for again", early.Load()-before)
	}
	want := sent(t, files)
	if got := kept(t, s); !reflect.DeepEqual(got, want) {
		t.Errorf("%d executions are kept, want %d, or they differ", len(got), len(want))
	}
	pgtest.Outlast(t)
	log, err := s.Stores.Database.Audit(boss(t), app.AuditFilter{}, storage.Page{Limit: 100})
	if err != nil {
		t.Fatal(err)
	}
	reported := 0
	for _, entry := range log.Items {
		if entry.Kind == inputs.ExecutionKind {
			reported++
		}
	}
	if reported != 1 {
		t.Errorf("the audit log tells of %d imports", reported)
	}
}
