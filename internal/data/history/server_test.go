package history

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/iotest"
	"time"
)

// answers returns a history server's answers about a made job.
func (j *madeJob) answers() (job, tasks string, attempts []string) {
	job = fmt.Sprintf(`{"id":%q,"name":%q,"user":"ann","queue":"prod","state":"SUCCEEDED","submitTime":%d,"startTime":%d,"finishTime":%d,"mapsTotal":%d,"reducesTotal":%d,"uberized":false}`,
		j.id, j.name, j.submitted, j.submitted+2000, j.ended, j.totalMaps, j.totalReduce)
	var ids, tries []string
	before := ""
	for _, a := range j.attempts {
		word, _ := a.kind()
		if id := j.task(a); id != before {
			if before != "" {
				attempts, tries = append(attempts, strings.Join(tries, ",")), nil
			}
			before = id
			ids = append(ids, fmt.Sprintf(`{"id":%q,"type":%q,"state":"SUCCEEDED"}`, id, word))
		}
		more := ""
		if a.reduce {
			more = fmt.Sprintf(`,"shuffleFinishTime":%d,"mergeFinishTime":%d`, a.shuffled, a.sorted)
		}
		tries = append(tries, fmt.Sprintf(`{"id":%q,"type":%q,"state":%q,"startTime":%d,"finishTime":%d,"nodeHttpAddress":"n:8042"%s}`, j.attempt(a), word, a.outcome, a.start, a.ends, more))
	}
	attempts = append(attempts, strings.Join(tries, ","))
	return job, `{"tasks":{"task":[` + strings.Join(ids, ",") + `]}}`, attempts
}

func TestAnswersOfHadoopsServer(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 9))
	for n := range 6 {
		j := makeJob(rng, n, 1+rng.IntN(90), rng.IntN(20))
		job, tasks, attempts := j.answers()
		all, refused, err := Jobs(strings.NewReader(`{"jobs":{"job":[` + job + "," + job + `,{"name":"x"}]}}`))
		if err != nil || len(all) != 1 {
			t.Fatal(err, all)
		}
		refusedAs(t, refused, []string{j.id + ": It is in the list twice", "job 3 of the list: It has no id"})
		e, err := Job(strings.NewReader(`{"job":` + job + `}`))
		if err != nil || e.ID != all[0].ID || e.Submitted != all[0].Submitted {
			t.Fatal(err)
		}
		ids, err := Tasks(strings.NewReader(tasks))
		if err != nil || len(ids) != len(attempts) {
			t.Fatalf("%v, %d of %d tasks", err, len(ids), len(attempts))
		}
		for i := range ids {
			if err := e.AddAttempts(strings.NewReader(`{"taskAttempts":{"taskAttempt":[`+attempts[i]+`]}}`), int32(i)); err != nil {
				t.Fatal(err)
			}
		}
		j.profiled(t, e)
	}
}

func TestAnswersOfSparksServer(t *testing.T) {
	app := makeApp(rand.New(rand.NewPCG(4, 4)), 6, 25)
	at := func(ms int64) string { return time.UnixMilli(ms).UTC().Format(sparkTime) }
	all, refused, err := Applications(strings.NewReader(fmt.Sprintf(`[{"id":%q,"name":"etl","attempts":[{"attemptId":"1","startTime":%q,"endTime":%q,"sparkUser":"bob","completed":true},{"attemptId":"1","completed":true}]},{"id":"running","name":"etl","attempts":[{"completed":false}]},{"attempts":[{}]}]`,
		app.id, at(1_770_000_000_000), at(1_770_009_000_000))))
	if err != nil || len(all) != 2 || all[0].ID != app.id+"_1" {
		t.Fatal(err, all)
	}
	refusedAs(t, refused, []string{app.id + "_1: It is in the list twice", "application 3 of the list: It has no id"})
	e := all[0].Execution
	if err := e.AddJobs(strings.NewReader(`[{"jobId":0,"status":"SUCCEEDED"}]`)); err != nil {
		t.Fatal(err)
	}
	var stages []map[string]any
	for _, s := range app.stages {
		status, tasks := "COMPLETE", len(s.tasks)
		if tasks == 0 {
			status, tasks = "SKIPPED", 25
		}
		stages = append(stages, map[string]any{"stageId": s.id, "attemptId": 0, "name": fmt.Sprintf("map at %d", s.id), "status": status, "numTasks": tasks})
	}
	text, _ := json.Marshal(stages)
	tries, err := e.AddStages(strings.NewReader(string(text)))
	if err != nil || len(tries) != 5 || tries[1] != (StageTry{Stage: 1, Tasks: 25}) {
		t.Fatal(tries, err)
	}
	for _, s := range app.stages {
		var page []string
		for i, took := range s.tasks {
			page = append(page, fmt.Sprintf(`{"index":%d,"attempt":0,"partitionId":%d,"launchTime":%q,"duration":%.0f,"host":"n","status":"SUCCESS","speculative":false}`, i, i, at(s.start), took*1000))
			if i%5 == 0 {
				page = append(page, fmt.Sprintf(`{"index":%d,"launchTime":%q,"duration":1,"status":"FAILED"}`, i, at(s.start)), fmt.Sprintf(`{"index":%d,"launchTime":%q,"status":"KILLED","speculative":true}`, i, at(s.start)))
			}
		}
		attempts, err := e.TaskPage(strings.NewReader("["+strings.Join(page, ",")+"]"), int64(s.id), 0)
		if err != nil || len(attempts) != len(page) {
			t.Fatal(len(attempts), err)
		}
		e.Attempts.Add(attempts...)
	}
	c, err := TakeChain(e)
	if err != nil {
		t.Fatal(err)
	}
	for i := range app.stages { // the server does not say
		app.stages[i].parents = nil
	}
	app.chained(t, c)
	if c.Left.Failed != 25 || c.Left.Speculative != 25 || *c.Seconds != 9000 {
		t.Errorf("%+v", c)
	}
	if err := e.AddJobs(strings.NewReader(`[{"jobId":7,"status":"FAILED"}]`)); err != nil {
		t.Fatal(err)
	}
	refusedFor(t, e, "It failed: its job 7 failed")
	refusedFor(t, all[1].Execution, "Its end is not on record")
}

func TestAnswersThatAreNone(t *testing.T) {
	e := &Execution{ID: "e", Stages: []StageInfo{{ID: 3}}}
	readers := map[string]func(io.Reader) error{
		"Jobs":         func(r io.Reader) error { _, _, err := Jobs(r); return err },
		"Job":          func(r io.Reader) error { _, err := Job(r); return err },
		"Tasks":        func(r io.Reader) error { _, err := Tasks(r); return err },
		"Attempts":     func(r io.Reader) error { return e.AddAttempts(r, 1) },
		"Applications": func(r io.Reader) error { _, _, err := Applications(r); return err },
		"SparkJobs":    e.AddJobs,
		"Stages":       func(r io.Reader) error { _, err := e.AddStages(r); return err },
		"SparkTasks":   func(r io.Reader) error { _, err := e.TaskPage(r, 3, 0); return err },
	}
	dead := errors.New("the line is dead")
	for name, read := range readers {
		for _, text := range []string{"", "<html>", `{"jobs":`, `"x"`, `{"job":{}} {}`, `[{"id":`, `{"jobs":{"job":{}}, "tasks":7,"taskAttempts":7}`} {
			var r Refusal
			if err := read(strings.NewReader(text)); !errors.As(err, &r) || r.Where == "" {
				t.Errorf("%s of %q: %v", name, text, err)
			}
		}
		if err := read(iotest.ErrReader(dead)); !errors.Is(err, dead) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := e.TaskPage(strings.NewReader("[]"), 4, 0); err == nil {
		t.Error("there is no stage 4")
	}
	if _, err := e.TaskPage(strings.NewReader(`[{"index":-1}]`), 3, 0); err == nil {
		t.Error("no task has the number -1")
	}
	for _, none := range []string{`{"jobs":null}`, `{"jobs":{}}`} {
		if all, refused, err := Jobs(strings.NewReader(none)); len(all)+len(refused) != 0 || err != nil {
			t.Errorf("%s: %v %v %v", none, all, refused, err)
		}
	}
}

func FuzzAnswers(f *testing.F) {
	j := makeJob(rand.New(rand.NewPCG(9, 9)), 1, 2, 1)
	job, tasks, attempts := j.answers()
	f.Add([]byte(`{"jobs":{"job":[` + job + `]}}`))
	f.Add([]byte(`{"job":` + job + `}`))
	f.Add([]byte(tasks))
	f.Add([]byte(`{"taskAttempts":{"taskAttempt":[` + attempts[0] + `]}}`))
	f.Add([]byte(`[{"id":"a","name":"etl","attempts":[{"attemptId":"1","startTime":"2026-03-01T10:00:00.000GMT","endTime":"2026-03-01T11:00:00.000GMT","completed":true}]}]`))
	f.Add([]byte(`[{"jobId":1,"status":"FAILED","stageId":3,"numTasks":1,"name":"s","index":0,"partitionId":0,"launchTime":"2026-03-01T10:00:00.000GMT","duration":7}]`))
	f.Fuzz(func(t *testing.T, text []byte) {
		in := func() io.Reader { return strings.NewReader(string(text)) }
		all, _, _ := Jobs(in())
		if e, err := Job(in()); err == nil {
			all = append(all, Listed{Execution: e})
		}
		apps, _, _ := Applications(in())
		Tasks(in())
		for _, e := range append(all, apps...) {
			sound(t, "an execution without an id", e.ID != "")
		}
		e := &Execution{ID: "e", Outcome: Succeeded}
		e.AddAttempts(in(), 0)
		if s, err := Take(e); err == nil {
			sound(t, "a profile", s.Profile.Findings("") == nil)
		}
		e = &Execution{ID: "e", Outcome: Succeeded}
		e.AddJobs(in())
		if _, err := e.AddStages(in()); err == nil && len(e.Stages) > 0 {
			page, _ := e.TaskPage(in(), e.Stages[0].ID, 1)
			e.Attempts.Add(page...)
			TakeChain(e)
		}
	})
}
