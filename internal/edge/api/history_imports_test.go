package api

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"example.org/headroom/internal/data/history"
	"example.org/headroom/internal/service/clusters"
)

const histories = "/v1/clusters/mine/history-imports"

// uploaded sends a history and takes the report.
func (s *service) uploaded(query, text string) (made clusters.HistoryImport) {
	s.Helper()
	s.ask(s.admin, "POST", histories+query, text, "Content-Type", "application/octet-stream").want(s, 200).into(s, &made)
	return made
}

// executions returns all stored executions of a cluster, by their records' ids.
func (s *service) executions(query string) map[string]history.StoredExecution {
	s.Helper()
	all := map[string]history.StoredExecution{}
	for cursor := ""; ; {
		var l list[history.StoredExecution]
		s.ask(s.admin, "GET", "/v1/clusters/mine/executions?limit=5000"+query+cursor, nil).want(s, 200).into(s, &l)
		for _, e := range l.Items {
			all[e.Execution] = e
		}
		if l.Next == nil {
			return all
		}
		cursor = "&cursor=" + *l.Next
	}
}

// recorded is an independent count of an execution: of each task the good attempt that ended first.
type recorded struct {
	name, outcome string
	maps, reduces map[string][2]float64 // start and finish in ms, by task
}

func (r *recorded) add(kind, task string, start, finish float64) {
	if r.maps == nil {
		r.maps, r.reduces = map[string][2]float64{}, map[string][2]float64{}
	}
	to := map[string]map[string][2]float64{"MAP": r.maps, "REDUCE": r.reduces}[kind]
	if to == nil {
		return
	}
	if known, is := to[task]; !is || finish < known[1] {
		to[task] = [2]float64{start, finish}
	}
}

// countHistory counts the executions of a sample by decoding whole documents, by their ids.
func countHistory(t *testing.T, text []byte) map[string]*recorded {
	t.Helper()
	if bytes.HasPrefix(text, []byte{0x1f, 0x8b}) {
		zip, err := gzip.NewReader(bytes.NewReader(text))
		if err != nil {
			t.Fatal(err)
		}
		if text, err = io.ReadAll(zip); err != nil {
			t.Fatal(err)
		}
	}
	all := map[string]*recorded{}
	word := func(v any) string { s, _ := v.(string); return s }
	number := func(v any) float64 { f, _ := v.(float64); return f }
	if rest, is := bytes.CutPrefix(text, []byte("Avro-Json\n")); is {
		var id string
		r := &recorded{outcome: "SUCCESS"}
		starts := map[string]float64{}
		for _, line := range bytes.Split(rest, []byte("\n"))[1:] {
			var event struct {
				Type  string
				Event map[string]map[string]any
			}
			if json.Unmarshal(line, &event) != nil {
				continue
			}
			for _, e := range event.Event {
				switch event.Type {
				case "JOB_SUBMITTED":
					id, r.name = word(e["jobid"]), word(e["jobName"])
				case "JOB_FAILED":
					r.outcome = "FAILED"
				case "MAP_ATTEMPT_STARTED", "REDUCE_ATTEMPT_STARTED":
					starts[word(e["attemptId"])] = number(e["startTime"])
				case "MAP_ATTEMPT_FINISHED", "REDUCE_ATTEMPT_FINISHED":
					r.add(word(e["taskType"]), word(e["taskid"]), starts[word(e["attemptId"])], number(e["finishTime"]))
				}
			}
		}
		all[id] = r
		return all
	}
	for in := json.NewDecoder(bytes.NewReader(text)); ; {
		var job map[string]any
		if err := in.Decode(&job); err != nil {
			if !errors.Is(err, io.EOF) {
				t.Log(err)
			}
			return all
		}
		if id := word(job["job.id"]); id != "" { // of the simulator, which names no jobs
			r := &recorded{outcome: "SUCCESS"}
			for i, task := range job["job.tasks"].([]any) {
				task := task.(map[string]any)
				r.add("MAP", fmt.Sprint(i), number(task["container.start.ms"]), number(task["container.end.ms"]))
			}
			all[id] = r
			continue
		}
		if word(job["jobID"]) == "" {
			continue
		}
		r := &recorded{name: word(job["jobName"]), outcome: word(job["outcome"])}
		for _, kind := range []string{"mapTasks", "reduceTasks"} {
			tasks, _ := job[kind].([]any)
			for _, task := range tasks {
				task := task.(map[string]any)
				attempts, _ := task["attempts"].([]any)
				for _, a := range attempts {
					if a := a.(map[string]any); word(a["result"]) == "SUCCESS" {
						r.add(word(task["taskType"]), word(task["taskID"]), number(a["startTime"]), number(a["finishTime"]))
					}
				}
			}
		}
		all[word(job["jobID"])] = r
	}
}

// Every real history comes through the upload as an independent count has it.
func TestRealHistoriesAreUploaded(t *testing.T) {
	t.Parallel()
	dir := filepath.Join("..", "..", "..", "..", "shared", "data", "histories")
	for range 4 { // a checkout may be nested deeper
		if _, err := os.Stat(dir); err != nil {
			dir = filepath.Join("..", dir)
		}
	}
	files, err := os.ReadDir(dir)
	if err != nil {
		t.Skip("there is no ../shared/data/histories beside the repository")
	}
	for _, file := range files {
		t.Run(file.Name(), func(t *testing.T) {
			s := newService(t)
			s.cluster("mine")
			text, err := os.ReadFile(filepath.Join(dir, file.Name()))
			if err != nil {
				t.Fatal(err)
			}
			counted := countHistory(t, text)
			made := s.uploaded("?job=unnamed", string(text))
			stored := s.executions("")
			if made.Bytes != int64(len(text)) || made.Executions != int64(len(counted)) || made.Created != int64(len(counted)) || len(stored) != len(counted) {
				t.Fatalf("%d bytes with %d executions: the report is %+v, and %d are kept", len(text), len(counted), made, len(stored))
			}
			if wantRefused := map[bool]int64{true: 1}[len(counted) == 0]; made.Refused.Count != wantRefused {
				t.Errorf("refused %+v", made.Refused)
			}
			unusable := int64(0)
			for id, want := range counted {
				kept, is := stored[id]
				for own, e := range stored {
					if strings.HasPrefix(own, id+" ") { // the simulator's ids restart in each trace
						kept, is = e, true
					}
				}
				name := want.name
				if name == "" {
					name = "unnamed"
				}
				if !is || kept.Job != name {
					t.Errorf("%s of %q is kept as %+v", id, name, kept)
					continue
				}
				if failed := want.outcome == "FAILED" || want.outcome == "KILLED"; failed != (kept.Refused != "") || failed != (kept.Outcome != "succeeded") {
					t.Errorf("%s, %s: kept as %+v", id, want.outcome, kept)
				}
				if kept.Refused != "" {
					unusable++
					continue
				}
				var one history.SampledExecution
				s.ask(s.admin, "GET", "/v1/clusters/mine/executions/"+kept.ID, nil).want(t, 200).into(t, &one)
				sum, most := 0.0, 0.0
				for _, at := range want.maps {
					sum, most = sum+(at[1]-at[0])/1000, math.Max(most, (at[1]-at[0])/1000)
				}
				if d := one.Sample.Map; d.Count != int64(len(want.maps)) || one.Sample.Reduce.Count != int64(len(want.reduces)) || math.Abs(d.Mean-sum/float64(d.Count)) > 1e-9 || d.Max != most || len(d.Quantiles) != 21 || d.Quantiles[20] != most {
					t.Errorf("%s has %d maps, mean %g, longest %g, and %d reduces; kept as %+v", id, len(want.maps), sum/float64(len(want.maps)), most, len(want.reduces), one.Sample)
				}
			}
			if made.Unusable.Count != unusable || int64(len(made.Unusable.First)) != unusable {
				t.Errorf("%d are unusable; reported %+v", unusable, made.Unusable)
			}
			if again := s.uploaded("?job=unnamed", string(text)); again.Unchanged != made.Created || again.Created+again.Updated != 0 {
				t.Errorf("again %+v", again)
			}
		})
	}
}

// madeTrace returns a trace of many executions of three jobs, made while it is read.
func madeTrace(executions, maps int) io.Reader {
	r, w := io.Pipe()
	go func() {
		for n := range executions {
			if _, err := io.WriteString(w, traced(n, maps)); err != nil {
				return
			}
		}
		w.Close()
	}()
	return r
}

func traced(n, maps int) string {
	var b strings.Builder
	at := int64(1_767_000_000_000) + int64(n)*600_000
	fmt.Fprintf(&b, `{"jobID":"job_1_%06d","jobName":"etl %d","user":"ann","queue":"prod","outcome":"SUCCESS","submitTime":%d,"finishTime":%d,"mapTasks":[`, n, n%3, at, at+300_000)
	for m := range maps {
		if m > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, `{"taskID":"task_1_%06d_m_%06d","taskType":"MAP","taskStatus":"SUCCESS","startTime":%d,"finishTime":%d,"attempts":[{"attemptID":"attempt_1_%06d_m_%06d_0","result":"SUCCESS","hostName":"/rack/node%02d","startTime":%d,"finishTime":%d}]}`,
			n, m, at+1000, at+int64(2000+m), n, m, m%30, at+1000, at+int64(2000+m))
	}
	b.WriteString("],\"reduceTasks\":[]}\n")
	return b.String()
}

func TestHistoriesThatAreDamagedOrNone(t *testing.T) {
	t.Parallel()
	s := newService(t)
	s.cluster("mine")
	whole := traced(0, 3) + traced(1, 3) + traced(2, 3)
	packedTwo := packed(t, whole)
	for situation, c := range map[string]struct {
		text       string
		executions int64
		refused    string
	}{
		"nothing":           {"\n", 0, "It is empty."},
		"a page":            {"<html>", 0, "page for a browser"},
		"something else":    {"hello", 0, "It begins with"},
		"a price sheet":     {`{"formatVersion":"v1.0","products":{}}`, 0, "JSON that begins with the members"},
		"cut off":           {whole[:len(whole)-200], 2, "cut off"},
		"garbage between":   {traced(0, 3) + "\x00\xff{{{" + traced(1, 3), 1, ""},
		"a cut gzip":        {packedTwo[:len(packedTwo)-20], 2, "gzip is cut off"},
		"a gzip of nothing": {packed(t, ""), 0, "It is empty."},
	} {
		made := s.uploaded("?dry_run=true", c.text)
		told := fmt.Sprint(made.Refused.First)
		if made.Executions < c.executions || made.Refused.Count == 0 || !strings.Contains(told, c.refused) {
			t.Errorf("%s: %+v, want %d executions or more and %q", situation, made, c.executions, c.refused)
		}
	}
	if kept := s.executions(""); len(kept) != 0 {
		t.Errorf("dry runs left %d", len(kept))
	}
	for headers, want := range map[string]int{"text/html": 415, "application/zip": 415, "text/plain": 200} {
		s.ask(s.admin, "POST", histories+"?dry_run=true", whole, "Content-Type", headers).want(t, want)
	}
	s.ask(s.admin, "POST", "/v1/clusters/nowhere/history-imports", whole, "Content-Type", "text/plain").want(t, 404)
}

// A broken upload leaves whole executions, and sending it again makes no duplicates.
func TestAHistoryThatBreaksOffIsSentAgain(t *testing.T) {
	t.Parallel()
	s := newService(t)
	s.cluster("mine")
	const all = 1400
	var text strings.Builder
	for n := range all {
		text.WriteString(traced(n, 5))
	}
	half := strings.NewReader(text.String()[:text.Len()/2])
	r, err := http.NewRequestWithContext(t.Context(), "POST", s.url+histories, io.MultiReader(half, broken{}))
	if err != nil {
		t.Fatal(err)
	}
	r.ContentLength = int64(text.Len())
	r.Header.Set("Authorization", "Bearer "+s.admin)
	r.Header.Set("Content-Type", "application/octet-stream")
	if answer, err := http.DefaultClient.Do(r); err == nil {
		answer.Body.Close()
	}
	// The batch that was being stored when the connection broke may be stored a moment later.
	left := 0
	for deadline := time.Now().Add(20 * time.Second); left == 0 && time.Now().Before(deadline); {
		left = len(s.executions(""))
	}
	if left == 0 || left > all/2 {
		t.Fatalf("%d of %d executions were left", left, all)
	}
	for id, e := range s.executions("") {
		if e.Refused != "" || *e.Seconds != 300 || *e.MapSlots != 5 {
			t.Fatalf("%s was left as %+v", id, e)
		}
	}
	made := s.uploaded("", text.String())
	if made.Created+made.Unchanged != all || made.Unchanged < int64(left) || len(s.executions("")) != all {
		t.Errorf("%d were left; again: %+v", left, made)
	}
}

type broken struct{}

func (broken) Read([]byte) (int, error) { return 0, errors.New("the connection is broken on purpose") }

// With two concurrent imports of the same history, each execution is stored by one. An id stands for one execution;
// another one under the same id is not lost silently.
func TestAnotherExecutionUnderAnIDIsRefused(t *testing.T) {
	t.Parallel()
	s := newService(t)
	s.cluster("mine")
	unnamed := func(n int) string { return strings.ReplaceAll(traced(n, 3), fmt.Sprintf("etl %d", n%3), "") }
	if made := s.uploaded("?job=a", unnamed(1)+unnamed(2)); made.Created != 2 {
		t.Fatalf("%+v", made)
	}
	if made := s.uploaded("?job=b", unnamed(1)); made.Unchanged != 1 || made.Refused.Count != 0 || len(made.Jobs) != 1 || made.Jobs[0].Job != "a" {
		t.Errorf("recorded without its name: %+v", made)
	}
	moved := strings.Replace(unnamed(2), `"submitTime":1767001200000`, `"submitTime":1767001080000`, 1)
	for _, c := range []struct {
		query, text string
		refused     int64
	}{
		{"?job=a", moved, 1}, {"?job=b&dry_run=true", moved, 1}, {"?job=b", unnamed(1) + moved, 1},
		{"?job=b", strings.Replace(moved, "job_1_000002", "job_1_000003", 2) + strings.Replace(unnamed(2), "job_1_000002", "job_1_000003", 2), 1},
	} {
		made := s.uploaded(c.query, c.text)
		if made.Refused.Count != c.refused || !strings.Contains(made.Refused.First[0].Detail, "with this id is there already: of the job") {
			t.Errorf("%s: %+v", c.query, made)
		}
	}
	if stored := s.executions(""); len(stored) != 3 {
		t.Errorf("kept %+v", stored)
	}
	if made := s.uploaded("", "job,execution,task,kind,duration_s\nx,1,t,map,5\ny,1,t,map,6\n"); made.Created != 2 || made.Refused.Count != 0 {
		t.Errorf("of a table %+v", made)
	}
}

func TestTheSameHistoryTwiceAtOnce(t *testing.T) {
	t.Parallel()
	s := newService(t)
	s.cluster("mine")
	const all = 1200
	var text strings.Builder
	for n := range all {
		text.WriteString(traced(n, 3))
	}
	made := make([]clusters.HistoryImport, 2)
	var both sync.WaitGroup
	for i := range made {
		both.Go(func() { made[i] = s.uploaded("", text.String()) })
	}
	both.Wait()
	if made[0].Created+made[1].Created != all || made[0].Unchanged+made[1].Unchanged != all || len(s.executions("")) != all {
		t.Errorf("%+v and %+v", made[0], made[1])
	}
}

// However large the history, memory stays flat. With HEADROOM_LONG it has two gigabytes.
func TestALargeHistoryTakesNoMemory(t *testing.T) {
	s := newService(t)
	s.cluster("mine")
	const maps = 400 // 100 kB an execution
	executions := 500
	if os.Getenv("HEADROOM_LONG") != "" {
		executions *= 40
	}
	r, err := http.NewRequestWithContext(t.Context(), "POST", s.url+histories, madeTrace(executions, maps))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+s.admin)
	r.Header.Set("Content-Type", "application/octet-stream")
	grown := memoryGrows(t)
	began := time.Now()
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	text, _ := io.ReadAll(answer.Body)
	took := time.Since(began)
	by := grown()
	var made clusters.HistoryImport
	if err := json.Unmarshal(text, &made); err != nil || made.Created != int64(executions) || len(made.Jobs) != 3 {
		t.Fatalf("got %s %.600s (%v)", answer.Status, text, err)
	}
	t.Logf("%d MB with %d executions in %s, %.0f MB/s; memory grew by %d MB", made.Bytes>>20, executions, took.Round(time.Millisecond), float64(made.Bytes)/1e6/took.Seconds(), by>>20)
	if by > 128<<20 {
		t.Errorf("memory grew by %d MB", by>>20)
	}
}
