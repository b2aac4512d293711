// Package historytest provides history servers for tests. It makes up executions from a seed, as answers of Hadoop's
// and Spark's servers and as the files of their clusters.
package historytest

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"time"
)

// Job is an execution of maps and reduces. Moments are milliseconds since 1970.
type Job struct {
	ID, Name, User, Queue        string
	State, Why                   string // SUCCEEDED, FAILED or KILLED
	Submitted, Started, Finished int64
	Tasks                        []Task
}

// Task is a task with all attempts at it.
type Task struct {
	Reduce   bool
	Attempts []Attempt
}

// Attempt is one attempt.
type Attempt struct {
	Start, Shuffled, Finish int64
	State                   string
}

const beginning = 1_770_000_000_000

// Jobs makes up executions, a quarter of an hour apart and in the order of their starts. Every seventh failed.
func Jobs(seed uint64, n int) []Job {
	rng := rand.New(rand.NewPCG(seed, 1))
	all := make([]Job, n)
	for i := range all {
		j := &all[i]
		*j = Job{ID: fmt.Sprintf("job_%d_%04d", int64(beginning), i+1), Name: fmt.Sprintf("nightly %d", i%3), User: []string{"ann", "bob"}[i%2], Queue: []string{"prod", "test"}[i%5/4], State: "SUCCEEDED"}
		j.Submitted = beginning + int64(i)*900_000
		j.Started = j.Submitted + 3000
		last := j.Started + 2000
		for range 3 + rng.IntN(6) {
			start := j.Started + 2000 + rng.Int64N(4000)
			var tries []Attempt
			if rng.IntN(4) == 0 {
				tries = append(tries, Attempt{Start: start, Finish: start + 900, State: "FAILED"})
				start += 1000
			}
			tries = append(tries, Attempt{Start: start, Finish: start + 5000 + rng.Int64N(60_000), State: "SUCCEEDED"})
			last = max(last, tries[len(tries)-1].Finish)
			j.Tasks = append(j.Tasks, Task{Attempts: tries})
		}
		lastMap := last
		for r := range 1 + rng.IntN(3) {
			start := lastMap - 2000 + int64(r)*3000
			shuffled := max(start, lastMap) + 500 + rng.Int64N(5000)
			a := Attempt{Start: start, Shuffled: shuffled, Finish: shuffled + 1000 + rng.Int64N(9000), State: "SUCCEEDED"}
			last = max(last, a.Finish)
			j.Tasks = append(j.Tasks, Task{Reduce: true, Attempts: []Attempt{a}})
		}
		j.Finished = last + 1500
		if i%7 == 6 {
			j.State, j.Why = "FAILED", "Task failed: the disk is full"
		}
	}
	return all
}

func (t Task) kind() (word, letter string) {
	if t.Reduce {
		return "REDUCE", "r"
	}
	return "MAP", "m"
}

// task returns the id of a task by its place. Maps come first.
func (j Job) task(i int) string {
	_, letter := j.Tasks[i].kind()
	number := i
	if j.Tasks[i].Reduce {
		number -= j.maps()
	}
	return fmt.Sprintf("task_%s_%s_%06d", strings.TrimPrefix(j.ID, "job_"), letter, number)
}

func (j Job) maps() (n int) {
	for _, t := range j.Tasks {
		if !t.Reduce {
			n++
		}
	}
	return n
}

// JHist returns the job's history in Hadoop's form.
func (j Job) JHist() string {
	var b strings.Builder
	b.WriteString("Avro-Json\n{\"type\":\"record\",\"name\":\"Event\"}\n")
	event := func(kind, format string, args ...any) {
		fmt.Fprintf(&b, `{"type":%q,"event":{"x":{%s}}}`+"\n", kind, fmt.Sprintf(format, args...))
	}
	event("JOB_SUBMITTED", `"jobid":%q,"jobName":%q,"userName":%q,"jobQueueName":%q,"submitTime":%d`, j.ID, j.Name, j.User, j.Queue, j.Submitted)
	event("JOB_INITED", `"jobid":%q,"launchTime":%d,"totalMaps":%d,"totalReduces":%d`, j.ID, j.Started, j.maps(), len(j.Tasks)-j.maps())
	for i, t := range j.Tasks {
		word, _ := t.kind()
		for n, a := range t.Attempts {
			about := fmt.Sprintf(`"taskid":%q,"taskType":%q,"attemptId":"%s_%d"`, j.task(i), word, strings.Replace(j.task(i), "task", "attempt", 1), n)
			event(word+"_ATTEMPT_STARTED", `%s,"startTime":%d,"avataar":"VIRGIN"`, about, a.Start)
			switch {
			case a.State != "SUCCEEDED":
				event(word+"_ATTEMPT_"+a.State, `%s,"finishTime":%d,"status":%q`, about, a.Finish, a.State)
			case t.Reduce:
				event("REDUCE_ATTEMPT_FINISHED", `%s,"shuffleFinishTime":%d,"sortFinishTime":%d,"finishTime":%d`, about, a.Shuffled, a.Shuffled, a.Finish)
			default:
				event("MAP_ATTEMPT_FINISHED", `%s,"finishTime":%d`, about, a.Finish)
			}
		}
	}
	if j.State == "SUCCEEDED" {
		event("JOB_FINISHED", `"jobid":%q,"finishTime":%d`, j.ID, j.Finished)
	} else {
		event("JOB_FAILED", `"jobid":%q,"finishTime":%d,"jobStatus":%q,"diagnostics":%q`, j.ID, j.Finished, j.State, j.Why)
	}
	return b.String()
}

// App is an execution of stages, each after the one before.
type App struct {
	ID, Try, Name, User string
	Started, Finished   int64
	Stages              [][]Span // tasks of each
	Failed              bool
	Class               string     // that its settings name, if any
	CoresOfTask         int64      // 0 is the default
	Executors           []Executor // in cluster mode
}

// Executor is one of an application; Removed is 0 for one that stayed.
type Executor struct{ Cores, Added, Removed int64 }

// Span is a task that succeeded.
type Span struct{ Start, Finish int64 }

// Apps makes up executions, half an hour apart. Every fifth failed; every third has the number of an attempt.
func Apps(seed uint64, n, tasks int) []App {
	rng := rand.New(rand.NewPCG(seed, 2))
	all := make([]App, n)
	for i := range all {
		a := &all[i]
		*a = App{ID: fmt.Sprintf("application_%d_%04d", int64(beginning), i+1), Name: fmt.Sprintf("etl %d", i%2), User: "bob", Started: beginning + int64(i)*1_800_000, Failed: i%5 == 4}
		if i%3 == 0 {
			a.Try = "1"
		}
		at := a.Started + 8000
		for range 2 + rng.IntN(3) {
			var stage []Span
			end := at
			for range tasks/2 + rng.IntN(tasks) {
				s := Span{Start: at + rng.Int64N(3000)}
				s.Finish = s.Start + 200 + rng.Int64N(40_000)
				end = max(end, s.Finish)
				stage = append(stage, s)
			}
			a.Stages = append(a.Stages, stage)
			at = end + 10
		}
		a.Finished = at + 2000
	}
	return all
}

// Staff gives applications executors of 1 to 4 cores, of which some replace the one before. Every fourth has a class in
// its settings, and tasks of two cores.
func Staff(seed uint64, apps []App) {
	rng := rand.New(rand.NewPCG(seed, 3))
	for i := range apps {
		a := &apps[i]
		if i%4 == 0 {
			a.Class, a.CoresOfTask = "nightly", 2
		}
		for at := a.Started + 1; len(a.Executors) < 1+i%5; at += 100 {
			if n := len(a.Executors); n > 0 && rng.IntN(3) == 0 {
				a.Executors[n-1].Removed = at - rng.Int64N(2)
			}
			a.Executors = append(a.Executors, Executor{Cores: 1 + rng.Int64N(4), Added: at})
		}
	}
}

// EventLog returns the application's log in Spark's form.
func (a App) EventLog() string {
	var b strings.Builder
	event := func(kind, format string, args ...any) {
		fmt.Fprintf(&b, `{"Event":"SparkListener%s",%s}`+"\n", kind, fmt.Sprintf(format, args...))
	}
	try := ""
	if a.Try != "" {
		try = fmt.Sprintf(`,"App Attempt ID":%q`, a.Try)
	}
	if a.Class != "" || a.CoresOfTask > 0 {
		event("EnvironmentUpdate", `"Spark Properties":{"spark.headroom.class":%q,"spark.task.cpus":"%d"}`, a.Class, max(1, a.CoresOfTask))
	}
	event("ApplicationStart", `"App Name":%q,"App ID":%q,"Timestamp":%d,"User":%q%s`, a.Name, a.ID, a.Started, a.User, try)
	for n, x := range a.Executors {
		if m := n - 1; m >= 0 && a.Executors[m].Removed > 0 { // each may replace the one before
			event("ExecutorRemoved", `"Timestamp":%d,"Executor ID":"%d"`, a.Executors[m].Removed, m)
		}
		event("ExecutorAdded", `"Timestamp":%d,"Executor ID":"%d","Executor Info":{"Host":"n1","Total Cores":%d}`, x.Added, n, x.Cores)
	}
	for n, stage := range a.Stages {
		for i, s := range stage {
			event("TaskEnd", `"Stage ID":%d,"Stage Attempt ID":0,"Task End Reason":{"Reason":"Success"},"Task Info":{"Index":%d,"Partition ID":%d,"Launch Time":%d,"Finish Time":%d,"Host":"n1"}`, n, i, i, s.Start, s.Finish)
		}
		parents := ""
		if n > 0 {
			parents = fmt.Sprint(n - 1)
		}
		event("StageCompleted", `"Stage Info":{"Stage ID":%d,"Stage Name":"map at %d","Number of Tasks":%d,"Parent IDs":[%s]}`, n, n, len(stage), parents)
	}
	result := `{"Result":"JobSucceeded"}`
	if a.Failed {
		result = `{"Result":"JobFailed","Exception":{"Message":"no"}}`
	}
	event("JobEnd", `"Job ID":0,"Job Result":%s`, result)
	event("ApplicationEnd", `"Timestamp":%d`, a.Finished)
	return b.String()
}

func sparkTime(ms int64) string {
	return time.UnixMilli(ms).UTC().Format("2006-01-02T15:04:05.000GMT")
}
