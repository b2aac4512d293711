package history

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"
	"time"
)

// Answers of Spark's history server, one document each. Applications begins executions, AddSettings adds their class,
// AddExecutors their slots, AddJobs their outcome, AddStages their stages, and TaskPage the tasks of a stage, page by page.

// sparkTime is the format of moments in Spark's answers.
const sparkTime = "2006-01-02T15:04:05.000GMT"

func sparkMoment(text string) int64 {
	t, err := time.Parse(sparkTime, text)
	if err != nil {
		return 0
	}
	return moment(t.UnixMilli())
}

// Applications reads a list of applications: an execution for each try.
func Applications(r io.Reader) (all []Listed, refused []Refusal, err error) {
	var doc []struct {
		ID       string `json:"id"`
		Name     string `json:"name"`
		Attempts []struct {
			ID        string `json:"attemptId"`
			Start     string `json:"startTime"`
			End       string `json:"endTime"`
			User      string `json:"sparkUser"`
			Completed bool   `json:"completed"`
		} `json:"attempts"`
	}
	if err := answer(r, "the list of applications", &doc); err != nil {
		return nil, nil, err
	}
	seen := map[string]bool{}
	for i, app := range doc {
		for _, try := range app.Attempts {
			e := &newBuilder().Execution
			e.ID, e.Name, e.User = clip(app.ID), clip(app.Name), clip(try.User)
			if try.ID != "" {
				e.ID += "_" + clip(try.ID)
			}
			e.Submitted, e.Finished, e.Outcome = sparkMoment(try.Start), sparkMoment(try.End), Unfinished
			if try.Completed {
				e.Outcome = Succeeded
			}
			switch {
			case app.ID == "":
				refused = append(refused, Refusal{Where: fmt.Sprintf("application %d of the list", i+1), Detail: "It has no id."})
			case seen[e.ID]:
				refused = append(refused, Refusal{Where: e.ID, Detail: "It is in the list twice; it counts once."})
			default:
				seen[e.ID] = true
				all = append(all, Listed{Execution: e, Started: e.Submitted, App: app.ID, Try: try.ID})
			}
		}
	}
	return all, refused, nil
}

// AddSettings reads the settings of an application, whose class stands in place of its name. It returns the cores of a task.
func (e *Execution) AddSettings(r io.Reader) (coresOfTask int64, err error) {
	var doc struct {
		Properties [][2]string `json:"sparkProperties"`
	}
	if err := answer(r, "the settings of "+e.ID, &doc); err != nil {
		return 0, err
	}
	settings := sparkSettings{}
	for _, p := range doc.Properties {
		switch p[0] {
		case "spark.headroom.class":
			settings.Class = p[1]
		case "spark.task.cpus":
			settings.CoresOfTask = p[1]
		}
	}
	e.Name = clip(cmp.Or(settings.Class, e.Name))
	return settings.coresOfTask(), nil
}

// retainedExecutors is how many executors that ended Spark keeps for its answers, if nobody sets another number.
const retainedExecutors = 100

// AddExecutors reads the executors of an application: the most slots that it had at once.
func (e *Execution) AddExecutors(r io.Reader, coresOfTask int64) error {
	var doc []struct {
		Cores   int64  `json:"totalCores"`
		Added   string `json:"addTime"`
		Removed string `json:"removeTime"`
	}
	if err := answer(r, "the executors of "+e.ID, &doc); err != nil {
		return err
	}
	type change struct{ at, slots int64 }
	var all []change
	ended := 0
	for _, x := range doc {
		slots := sparkSlots(x.Cores, coresOfTask)
		all = append(all, change{sparkMoment(x.Added), slots})
		if x.Removed != "" {
			all = append(all, change{sparkMoment(x.Removed), -slots})
			ended++
		}
	}
	slices.SortFunc(all, func(a, b change) int { return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.slots, b.slots)) })
	had := int64(0)
	for _, c := range all {
		had += c.slots
		e.Slots = max(e.Slots, had)
	}
	if ended >= retainedExecutors {
		e.Notes = append(e.Notes, fmt.Sprintf("The history server knows the last %d executors that ended; the application may have had more slots at once.", ended))
	}
	return nil
}

// AddJobs reads the jobs of an application. A failed job makes it a failed execution, because the list of
// applications does not say so.
func (e *Execution) AddJobs(r io.Reader) error {
	var doc []struct {
		ID     int64  `json:"jobId"`
		Status string `json:"status"`
	}
	if err := answer(r, "the jobs of "+e.ID, &doc); err != nil {
		return err
	}
	for _, j := range doc {
		if j.Status == "FAILED" && e.Outcome != Failed {
			e.Outcome, e.Diagnosis = Failed, fmt.Sprintf("its job %d failed", j.ID)
		}
	}
	return nil
}

// StageTry is a try of a stage that ended and whose tasks must be fetched.
type StageTry struct {
	Stage, Try int64
	Tasks      int64 // announced attempts at tasks
}

// AddStages reads the stages of an application. The server does not say which stages wait for others. They are
// ordered by number, in which Spark makes them, parents first.
func (e *Execution) AddStages(r io.Reader) (tries []StageTry, err error) {
	var doc []struct {
		ID     int64  `json:"stageId"`
		Try    int64  `json:"attemptId"`
		Name   string `json:"name"`
		Status string `json:"status"`
		Tasks  int64  `json:"numTasks"`
		Done   int64  `json:"numCompleteTasks"`
		Failed int64  `json:"numFailedTasks"`
		Killed int64  `json:"numKilledTasks"`
	}
	if err := answer(r, "the stages of "+e.ID, &doc); err != nil {
		return nil, err
	}
	if len(doc) > maxStages {
		return nil, Refusal{Where: e.ID, Detail: fmt.Sprintf("The application has more than %d stages.", maxStages)}
	}
	known := map[int64]int{}
	for _, s := range doc { // a retried stage appears once for each try
		n, is := known[s.ID]
		if !is {
			n = len(e.Stages)
			known[s.ID] = n
			e.Stages = append(e.Stages, StageInfo{ID: s.ID, Name: clip(s.Name), Tasks: -1})
		}
		info := &e.Stages[n]
		info.Tasks = max(info.Tasks, s.Tasks)
		if s.Status == "COMPLETE" || s.Status == "FAILED" {
			info.Tries++
			tries = append(tries, StageTry{s.ID, s.Try, max(s.Tasks, s.Done) + max(s.Failed, 0) + max(s.Killed, 0)})
		}
	}
	e.Notes = append(e.Notes, "The history server does not say which stages wait for which.")
	return tries, nil
}

// TaskPage reads a page of the attempts at tasks of one try of a stage. It must be one of the execution's stages. An
// empty page is the last.
func (e *Execution) TaskPage(r io.Reader, stage, try int64) (page []Attempt, err error) {
	at := -1
	for n := range e.Stages {
		if e.Stages[n].ID == stage {
			at = n
		}
	}
	where := fmt.Sprintf("%s, stage %d", e.ID, stage)
	if at < 0 {
		return nil, Refusal{Where: where, Detail: "The application has no such stage."}
	}
	var doc []struct {
		Index       int64  `json:"index"`
		Partition   *int64 `json:"partitionId"`
		Launch      string `json:"launchTime"`
		Duration    *int64 `json:"duration"`
		Status      string `json:"status"`
		Speculative bool   `json:"speculative"`
	}
	if err := answer(r, where, &doc); err != nil {
		return nil, err
	}
	for _, t := range doc {
		a := Attempt{Start: sparkMoment(t.Launch), Stage: int32(at), Host: -1, Kind: Stage, Spare: t.Speculative}
		if a.Start > 0 && t.Duration != nil && *t.Duration >= 0 && *t.Duration < latest-a.Start {
			a.Finish = a.Start + *t.Duration
		}
		task := t.Index
		if t.Partition != nil && *t.Partition >= 0 {
			task = *t.Partition
		} else {
			a.Again = try > 0
		}
		if task < 0 || task > math.MaxInt32 {
			return nil, Refusal{Where: where, Detail: fmt.Sprintf("A task has the number %d, which none can have.", task)}
		}
		a.Task = int32(task)
		switch t.Status {
		case "SUCCESS":
			a.Outcome = Succeeded
		case "FAILED":
			a.Outcome = Failed
		case "KILLED":
			a.Outcome = Killed
		}
		page = append(page, a)
	}
	return page, nil
}
