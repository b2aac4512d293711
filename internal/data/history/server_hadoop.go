package history

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
)

// Answers of Hadoop's history server, one document each. Another package fetches them. Jobs or Job begin executions,
// Tasks lists the tasks whose attempts must be fetched, and AddAttempts adds those.

// maxAnswer bounds one answer of a history server.
const maxAnswer = 64 << 20

// Listed is an execution from a list, without its attempts.
type Listed struct {
	*Execution
	Started int64  // the time that servers filter lists by; 0 means not recorded
	App     string // of Spark: the application
	Try     string // of Spark: the attempt at it as a whole; "" is the only one
}

// answer decodes the one value of an answer.
func answer(r io.Reader, what string, to any) error {
	source := &heeded{in: r}
	limited := &io.LimitedReader{R: source, N: maxAnswer + 1}
	dec := json.NewDecoder(limited)
	err := dec.Decode(to)
	if err == nil {
		if _, after := dec.Token(); after != io.EOF {
			err = fmt.Errorf("more follows after byte %d", dec.InputOffset())
		}
	}
	switch {
	case source.err != nil:
		return source.err
	case limited.N <= 0:
		return Refusal{Where: what, Detail: fmt.Sprintf("The answer is larger than %d MiB; ask for less at a time.", maxAnswer>>20)}
	case err != nil:
		return Refusal{Where: what, Detail: "The server's answer is not what it should be: " + jsonFault(err) + ". Perhaps the address is not a history server's, or the answer was cut off."}
	}
	return nil
}

type serverJob struct {
	ID          string `json:"id"`
	Name        string `json:"name"`
	User        string `json:"user"`
	Queue       string `json:"queue"`
	State       string `json:"state"`
	Submitted   int64  `json:"submitTime"`
	Started     int64  `json:"startTime"`
	Finished    int64  `json:"finishTime"`
	Maps        *int64 `json:"mapsTotal"`
	Reduces     *int64 `json:"reducesTotal"`
	Diagnostics string `json:"diagnostics"`
}

func (j *serverJob) execution() (*Execution, error) {
	if j.ID == "" {
		return nil, Refusal{Where: "a job", Detail: "The server names a job without an id."}
	}
	e := &newBuilder().Execution
	e.ID, e.Name, e.User, e.Queue = clip(j.ID), clip(j.Name), clip(j.User), clip(j.Queue)
	e.Submitted, e.Finished = moment(j.Submitted), moment(j.Finished)
	e.Outcome, e.Diagnosis = serverOutcome(j.State), clipTo(strings.Join(strings.Fields(j.Diagnostics), " "), maxReason)
	if j.Maps != nil && j.Reduces != nil {
		e.Maps, e.Reduces = *j.Maps, *j.Reduces
	}
	return e, nil
}

func serverOutcome(state string) Outcome {
	switch state {
	case "SUCCEEDED":
		return Succeeded
	case "FAILED", "ERROR":
		return Failed
	case "KILLED":
		return Killed
	}
	return Unfinished
}

// Jobs reads a list of jobs. It refuses unusable ones and returns the others.
func Jobs(r io.Reader) (all []Listed, refused []Refusal, err error) {
	var doc struct {
		Jobs *struct {
			Job []serverJob `json:"job"`
		} `json:"jobs"`
	}
	if err := answer(r, "the list of jobs", &doc); err != nil || doc.Jobs == nil {
		return nil, nil, err // a server without jobs answers null
	}
	seen := map[string]bool{}
	for i := range doc.Jobs.Job {
		j := &doc.Jobs.Job[i]
		e, err := j.execution()
		switch {
		case err != nil:
			refused = append(refused, Refusal{Where: fmt.Sprintf("job %d of the list", i+1), Detail: "It has no id."})
		case seen[j.ID]:
			refused = append(refused, Refusal{Where: e.ID, Detail: "It is in the list twice; it counts once."})
		default:
			seen[j.ID] = true
			all = append(all, Listed{Execution: e, Started: moment(j.Started)})
		}
	}
	return all, refused, nil
}

// Job reads one job: an execution without its attempts.
func Job(r io.Reader) (*Execution, error) {
	var doc struct {
		Job serverJob `json:"job"`
	}
	if err := answer(r, "the job", &doc); err != nil {
		return nil, err
	}
	return doc.Job.execution()
}

// Tasks reads the ids of a job's tasks.
func Tasks(r io.Reader) (ids []string, err error) {
	var doc struct {
		Tasks *struct {
			Task []struct {
				ID string `json:"id"`
			} `json:"task"`
		} `json:"tasks"`
	}
	if err := answer(r, "the list of tasks", &doc); err != nil || doc.Tasks == nil {
		return nil, err
	}
	for i, t := range doc.Tasks.Task {
		if t.ID == "" {
			return nil, Refusal{Where: "the list of tasks", Detail: fmt.Sprintf("Task %d of it has no id.", i+1)}
		}
		ids = append(ids, t.ID)
	}
	return ids, nil
}

// AddAttempts reads the attempts at one task; task is its place in the list of tasks.
func (e *Execution) AddAttempts(r io.Reader, task int32) error {
	var doc struct {
		Attempts *struct {
			Attempt []struct {
				Type     string `json:"type"`
				State    string `json:"state"`
				Start    int64  `json:"startTime"`
				Finish   int64  `json:"finishTime"`
				Shuffled int64  `json:"shuffleFinishTime"`
				Merged   int64  `json:"mergeFinishTime"`
			} `json:"taskAttempt"`
		} `json:"taskAttempts"`
	}
	if err := answer(r, fmt.Sprintf("%s, task %d", e.ID, task), &doc); err != nil || doc.Attempts == nil {
		return err
	}
	for _, a := range doc.Attempts.Attempt {
		e.Attempts.Add(Attempt{
			Start: moment(a.Start), Shuffled: max(moment(a.Shuffled), moment(a.Merged)), Finish: moment(a.Finish),
			Task: task, Host: -1, Kind: kindOf(a.Type), Outcome: serverOutcome(a.State),
		})
	}
	return nil
}
