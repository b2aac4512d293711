package historytest

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"
)

// Server answers like both Hadoop's and Spark's history servers.
type Server struct {
	Jobs []Job
	Apps []App
	// First, if set, sees each request first and reports whether it has answered it.
	First func(w http.ResponseWriter, r *http.Request) bool

	Asked atomic.Int64 // requests so far
	Most  atomic.Int64 // largest number of concurrent ones
	now   atomic.Int64
	once  sync.Once
	mux   http.ServeMux
}

type object = map[string]any

func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.Asked.Add(1)
	now := s.now.Add(1)
	defer s.now.Add(-1)
	for highest := s.Most.Load(); now > highest && !s.Most.CompareAndSwap(highest, now); {
		highest = s.Most.Load()
	}
	if s.First != nil && s.First(w, r) {
		return
	}
	s.once.Do(s.route)
	s.mux.ServeHTTP(w, r)
}

func (s *Server) route() {
	handle := func(path string, answer func(*http.Request) any) { s.mux.HandleFunc("GET "+path, say(answer)) }
	const jobs, apps = "/ws/v1/history/mapreduce/jobs", "/api/v1/applications"
	handle("/ws/v1/history/info", func(*http.Request) any { return object{"historyInfo": object{"hadoopVersion": "3.4.0"}} })
	handle(jobs, s.jobs)
	handle(jobs+"/{job}", s.job(func(_ *http.Request, j Job) any { return object{"job": j.answer(true)} }))
	handle(jobs+"/{job}/tasks", s.job(tasks))
	handle(jobs+"/{job}/tasks/{task}/attempts", s.job(attempts))
	handle("/api/v1/version", func(*http.Request) any { return object{"spark": "3.5.0"} })
	handle(apps, s.apps)
	for _, app := range []string{apps + "/{app}", apps + "/{app}/{try}"} {
		handle(app+"/environment", s.app(environment))
		handle(app+"/allexecutors", s.app(executors))
		handle(app+"/jobs", s.app(sparkJobs))
		handle(app+"/stages", s.app(stages))
		handle(app+"/stages/{stage}/{stagetry}/taskList", s.app(sparkTasks))
	}
}

// say serves an answer; nil means there is none.
func say(answer func(*http.Request) any) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		a := answer(r)
		if a == nil {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(a)
	}
}

func number(r *http.Request, name string, otherwise int64) int64 {
	n, err := strconv.ParseInt(r.FormValue(name), 10, 64)
	if err != nil {
		return otherwise
	}
	return n
}

func (s *Server) jobs(r *http.Request) any {
	from, until, limit := number(r, "startedTimeBegin", 0), number(r, "startedTimeEnd", 1<<62), number(r, "limit", 1<<30)
	var all []any
	for _, j := range s.Jobs {
		if j.Started >= from && j.Started <= until && cmp.Or(r.FormValue("user"), j.User) == j.User && cmp.Or(r.FormValue("queue"), j.Queue) == j.Queue && int64(len(all)) < limit {
			all = append(all, j.answer(false))
		}
	}
	if all == nil {
		return object{"jobs": nil}
	}
	return object{"jobs": object{"job": all}}
}

func (j Job) answer(whole bool) object {
	o := object{"id": j.ID, "name": j.Name, "user": j.User, "queue": j.Queue, "state": j.State, "submitTime": j.Submitted, "startTime": j.Started, "finishTime": j.Finished, "mapsTotal": j.maps(), "reducesTotal": len(j.Tasks) - j.maps()}
	if whole {
		o["diagnostics"], o["uberized"], o["avgMapTime"] = j.Why, false, 12
	}
	return o
}

func (s *Server) job(answer func(*http.Request, Job) any) func(*http.Request) any {
	return func(r *http.Request) any {
		for _, j := range s.Jobs {
			if j.ID == r.PathValue("job") {
				return answer(r, j)
			}
		}
		return nil
	}
}

func tasks(_ *http.Request, j Job) any {
	var all []any
	for i, t := range j.Tasks {
		word, _ := t.kind()
		last := t.Attempts[len(t.Attempts)-1]
		all = append(all, object{"id": j.task(i), "type": word, "state": last.State, "startTime": t.Attempts[0].Start - 50, "finishTime": last.Finish})
	}
	return object{"tasks": object{"task": all}}
}

func attempts(r *http.Request, j Job) any {
	for i, t := range j.Tasks {
		if j.task(i) != r.PathValue("task") {
			continue
		}
		word, _ := t.kind()
		var all []any
		for n, a := range t.Attempts {
			o := object{"id": fmt.Sprintf("attempt_%d_%d", i, n), "type": word, "state": a.State, "startTime": a.Start, "finishTime": a.Finish}
			if t.Reduce {
				o["shuffleFinishTime"], o["mergeFinishTime"] = a.Shuffled, a.Shuffled
			}
			all = append(all, o)
		}
		return object{"taskAttempts": object{"taskAttempt": all}}
	}
	return nil
}

func (s *Server) apps(r *http.Request) any {
	date := func(name string, otherwise int64) int64 {
		t, err := time.Parse("2006-01-02T15:04:05.000GMT", r.FormValue(name))
		if err != nil {
			return otherwise
		}
		return t.UnixMilli()
	}
	from, until, limit := date("minDate", 0), date("maxDate", 1<<62), number(r, "limit", 1<<30)
	all := []any{}
	for _, a := range slices.Backward(s.Apps) { // the newest first
		if a.Started >= from && a.Started <= until && int64(len(all)) < limit {
			try := object{"startTime": sparkTime(a.Started), "endTime": sparkTime(a.Finished), "sparkUser": a.User, "completed": true}
			if a.Try != "" {
				try["attemptId"] = a.Try
			}
			all = append(all, object{"id": a.ID, "name": a.Name, "attempts": []any{try}})
		}
	}
	return all
}

func (s *Server) app(answer func(*http.Request, App) any) func(*http.Request) any {
	return func(r *http.Request) any {
		for _, a := range s.Apps {
			if a.ID == r.PathValue("app") && a.Try == r.PathValue("try") {
				return answer(r, a)
			}
		}
		return nil
	}
}

func environment(_ *http.Request, a App) any {
	properties := [][2]string{{"spark.app.name", a.Name}}
	if a.Class != "" {
		properties = append(properties, [2]string{"spark.headroom.class", a.Class})
	}
	if a.CoresOfTask > 0 {
		properties = append(properties, [2]string{"spark.task.cpus", strconv.FormatInt(a.CoresOfTask, 10)})
	}
	return object{"runtime": object{"javaVersion": "17"}, "sparkProperties": properties}
}

func executors(_ *http.Request, a App) any {
	all := []any{object{"id": "driver", "isActive": true, "totalCores": 0, "addTime": sparkTime(a.Started)}}
	for n, x := range a.Executors {
		o := object{"id": strconv.Itoa(n), "isActive": x.Removed == 0, "totalCores": x.Cores, "addTime": sparkTime(x.Added)}
		if x.Removed > 0 {
			o["removeTime"], o["removeReason"] = sparkTime(x.Removed), "idle"
		}
		all = append(all, o)
	}
	return all
}

func sparkJobs(_ *http.Request, a App) any {
	status := "SUCCEEDED"
	if a.Failed {
		status = "FAILED"
	}
	return []any{object{"jobId": 0, "status": status}}
}

func stages(_ *http.Request, a App) any {
	all := []any{}
	for n, stage := range slices.Backward(a.Stages) {
		all = append(all, object{"stageId": n, "attemptId": 0, "name": fmt.Sprintf("map at %d", n), "status": "COMPLETE", "numTasks": len(stage), "numCompleteTasks": len(stage), "numFailedTasks": 0, "numKilledTasks": 0})
	}
	return all
}

func sparkTasks(r *http.Request, a App) any {
	n, err := strconv.Atoi(r.PathValue("stage"))
	if err != nil || n < 0 || n >= len(a.Stages) || r.PathValue("stagetry") != "0" {
		return nil
	}
	stage, all := a.Stages[n], []any{}
	from := min(number(r, "offset", 0), int64(len(stage)))
	until := min(from+number(r, "length", 20), int64(len(stage)))
	for i := from; i < until; i++ {
		all = append(all, object{"taskId": i, "index": i, "attempt": 0, "partitionId": i, "launchTime": sparkTime(stage[i].Start), "duration": stage[i].Finish - stage[i].Start, "status": "SUCCESS", "speculative": false})
	}
	return all
}
