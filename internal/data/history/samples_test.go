package history

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// samples returns the directory of real histories, which lie beside the repository and are no part of it.
func samples(t testing.TB) string {
	dir := filepath.Join("..", "..", "..", "..", "shared", "data", "histories")
	for range 4 { // a checkout may stand deeper
		if _, err := os.Stat(dir); err == nil {
			return dir
		}
		dir = filepath.Join("..", dir)
	}
	t.Skip("there is no ../shared/data/histories beside the repository")
	return ""
}

// counted is an independent count of an execution: whole documents, without the package's types.
type counted struct {
	name, outcome                   string
	maps, firsts, shuffles, reduces []float64
	failed, killed                  int64
	submitted, finished             float64
}

type countedTry struct {
	task, kind, result      string
	start, finish, shuffled float64
}

// add takes tries at tasks: of each task the successful one that ended first.
func (c *counted) add(tries []countedTry) {
	best := map[string]countedTry{}
	for _, a := range tries {
		switch a.result {
		case "FAILED":
			c.failed++
		case "KILLED":
			c.killed++
		default:
			if b, is := best[a.kind+a.task]; !is || a.finish < b.finish {
				best[a.kind+a.task] = a
			}
		}
	}
	last := 0.0
	for _, a := range best {
		if a.kind == "MAP" {
			c.maps = append(c.maps, (a.finish-a.start)/1000)
			last = max(last, a.finish)
		}
	}
	for _, a := range best {
		if a.kind != "REDUCE" {
			continue
		}
		c.reduces = append(c.reduces, (a.finish-a.shuffled)/1000)
		if a.start < last {
			c.firsts = append(c.firsts, max(0, a.shuffled-last)/1000)
		} else {
			c.shuffles = append(c.shuffles, (a.shuffled-a.start)/1000)
		}
	}
}

func number(v any) float64 { f, _ := v.(float64); return f }
func word(v any) string    { s, _ := v.(string); return s }
func list(v any) []any     { l, _ := v.([]any); return l }

func countRumen(t *testing.T, text []byte) map[string]*counted {
	all := map[string]*counted{}
	dec := json.NewDecoder(bytes.NewReader(text))
	for {
		var job map[string]any
		err := dec.Decode(&job)
		if errors.Is(err, io.EOF) {
			return all
		}
		if err != nil {
			t.Fatal(err)
		}
		c := &counted{name: word(job["jobName"]), outcome: word(job["outcome"]), submitted: number(job["submitTime"]), finished: number(job["finishTime"])}
		var tries []countedTry
		for _, tasks := range []string{"mapTasks", "reduceTasks"} {
			for _, task := range list(job[tasks]) {
				task := task.(map[string]any)
				for _, a := range list(task["attempts"]) {
					a := a.(map[string]any)
					tries = append(tries, countedTry{task: word(task["taskID"]), kind: word(task["taskType"]), result: word(a["result"]), start: number(a["startTime"]), finish: number(a["finishTime"]), shuffled: max(number(a["shuffleFinished"]), number(a["sortFinished"]))})
				}
			}
		}
		c.add(tries)
		all[word(job["jobID"])] = c
	}
}

func countJHist(t *testing.T, text []byte) map[string]*counted {
	c := &counted{}
	id := ""
	starts := map[string]float64{}
	var tries []countedTry
	for _, line := range bytes.Split(text, []byte("\n"))[2:] {
		if len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		var event struct {
			Type  string
			Event map[string]map[string]any
		}
		if err := json.Unmarshal(line, &event); err != nil {
			t.Fatal(err)
		}
		for _, e := range event.Event {
			switch {
			case event.Type == "JOB_SUBMITTED":
				id, c.name, c.submitted = word(e["jobid"]), word(e["jobName"]), number(e["submitTime"])
			case event.Type == "JOB_FINISHED", event.Type == "JOB_FAILED":
				c.outcome, c.finished = event.Type, number(e["finishTime"])
			case strings.HasSuffix(event.Type, "_ATTEMPT_STARTED"):
				starts[word(e["attemptId"])] = number(e["startTime"])
			case strings.Contains(event.Type, "_ATTEMPT_"):
				_, result, _ := strings.Cut(event.Type, "_ATTEMPT_")
				tries = append(tries, countedTry{task: word(e["taskid"]), kind: word(e["taskType"]), result: result, start: starts[word(e["attemptId"])], finish: number(e["finishTime"]), shuffled: max(number(e["shuffleFinishTime"]), number(e["sortFinishTime"]))})
			}
		}
	}
	c.add(tries)
	return map[string]*counted{id: c}
}

func countSimulator(t *testing.T, text []byte) map[string]*counted {
	all := map[string]*counted{}
	dec := json.NewDecoder(bytes.NewReader(text))
	for {
		var job map[string]any
		if err := dec.Decode(&job); errors.Is(err, io.EOF) {
			return all
		} else if err != nil {
			t.Fatal(err)
		}
		c := &counted{outcome: "SUCCESS", submitted: number(job["job.start.ms"]), finished: number(job["job.end.ms"])}
		for _, task := range list(job["job.tasks"]) {
			task := task.(map[string]any)
			c.maps = append(c.maps, (number(task["container.end.ms"])-number(task["container.start.ms"]))/1000)
		}
		all[word(job["job.id"])] = c
	}
}

func TestRealHistories(t *testing.T) {
	dir := samples(t)
	for _, c := range []struct {
		file       string
		count      func(*testing.T, []byte) map[string]*counted
		executions int
		refused    string            // the file
		notTaken   map[string]string // executions without a profile, and the reasons
	}{
		{file: "job_1329348432655_0001-10.jhist", count: countJHist, executions: 1},
		{file: "job_2.4.0-FAILED.jhist", count: countJHist, executions: 1, notTaken: map[string]string{"job_1400204860297_0001": "It failed: Task failed task_1400204860297_0001_m_000000"}},
		{file: "wordcount.json", count: countRumen, executions: 1},
		{file: "2jobs2min-rumen-jh.json", count: countRumen, executions: 2},
		{file: "dispatch-trace-output.json.gz", count: countRumen, executions: 4, notTaken: map[string]string{"job_200904211745_0001": "It was killed"}},
		{file: "job-tracker-logs-trace-output.gz", count: countRumen, executions: 4, notTaken: map[string]string{"job_200904211745_0001": "It was killed"}},
		{file: "truncated-trace-output", count: countRumen, executions: 1},
		{file: "test-inputsls.json", count: countSimulator, executions: 2},
		{file: "test-syn_generic.json", refused: "the file: It is a synthetic workload for the scheduler load simulator"},
	} {
		t.Run(c.file, func(t *testing.T) {
			text, err := os.ReadFile(filepath.Join(dir, c.file))
			if err != nil {
				t.Fatal(err)
			}
			k := readAll(t, bytes.NewReader(text), Options{})
			if c.refused != "" {
				refusedAs(t, k.refused, []string{c.refused})
				if len(k.executions) != 0 {
					t.Errorf("%d executions", len(k.executions))
				}
				return
			}
			if len(k.refused) != 0 || len(k.executions) != c.executions {
				t.Fatalf("%d executions, refused %v", len(k.executions), k.refused)
			}
			if strings.HasSuffix(c.file, "gz") {
				zip, err := gzip.NewReader(bytes.NewReader(text))
				if err != nil {
					t.Fatal(err)
				}
				if text, err = io.ReadAll(zip); err != nil {
					t.Fatal(err)
				}
			}
			want := c.count(t, text)
			for _, e := range k.executions {
				w := want[e.ID]
				if w == nil || e.Name != w.name {
					t.Fatalf("%s %q; counted %+v", e.ID, e.Name, w)
				}
				if why := c.notTaken[e.ID]; why != "" {
					refusedFor(t, e, why)
					continue
				}
				s, err := Take(e)
				if err != nil {
					t.Fatal(err)
				}
				for _, p := range []struct {
					got  Durations
					want []float64
				}{{s.Map, w.maps}, {s.First, w.firsts}, {s.Shuffle, w.shuffles}, {s.Reduce, w.reduces}} {
					if !isOf(p.got, p.want) {
						t.Errorf("%s: %+v of %v", e.ID, p.got, p.want)
					}
				}
				p := s.Profile
				if p.MapTasks != int64(len(w.maps)) || p.MapMaxSeconds != slices.Max(w.maps) || p.ReduceTasks != int64(len(w.reduces)) {
					t.Errorf("%s: %+v", e.ID, p)
				}
				if s.Left.Failed != w.failed || s.Left.Killed+s.Left.Speculative != w.killed || s.Seconds == nil || !near(*s.Seconds, (w.finished-w.submitted)/1000) {
					t.Errorf("%s: left out %+v, want %d failed and %d killed", e.ID, s.Left, w.failed, w.killed)
				}
				if findings := p.Findings(""); len(findings) != 0 {
					t.Errorf("%s: %v", e.ID, findings)
				}
			}
		})
	}
}

// A real history cut anywhere keeps everything before the cut, and reports the cut.
func TestRealHistoriesCutOff(t *testing.T) {
	dir := samples(t)
	for file, step := range map[string]int{"wordcount.json": 997, "2jobs2min-rumen-jh.json": 40_009, "dispatch-trace-output.json.gz": 2711, "job_1329348432655_0001-10.jhist": 3001} {
		text, err := os.ReadFile(filepath.Join(dir, file))
		if err != nil {
			t.Fatal(err)
		}
		whole := readAll(t, bytes.NewReader(text), Options{})
		for n := 0; n < len(text)-2; n += step {
			k := readAll(t, bytes.NewReader(text[:n]), Options{})
			unfinished := len(k.executions) > 0 && k.executions[len(k.executions)-1].Outcome == Unfinished
			if len(k.refused) == 0 && !unfinished {
				rest := readAll(t, bytes.NewReader(text[n:]), Options{}) // a cut between two objects does not show
				if len(k.executions)+len(rest.executions) != len(whole.executions) {
					t.Errorf("%s cut at %d: nothing is said", file, n)
				}
			}
			for i, e := range k.executions {
				if e.ID != whole.executions[i].ID && e.ID != "" {
					t.Errorf("%s cut at %d has %s", file, n, e.ID)
				}
			}
		}
	}
}
