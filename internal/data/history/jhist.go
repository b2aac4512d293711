package history

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
)

// jhistEvent is one line: the relevant members of all kinds of events.
type jhistEvent struct {
	Type  string                 `json:"type"`
	Event map[string]jhistRecord `json:"event"`
}

type jhistRecord struct {
	JobID       string `json:"jobid"`
	JobName     string `json:"jobName"`
	UserName    string `json:"userName"`
	Queue       string `json:"jobQueueName"`
	SubmitTime  int64  `json:"submitTime"`
	TotalMaps   *int64 `json:"totalMaps"`
	TotalReds   *int64 `json:"totalReduces"`
	FinishTime  int64  `json:"finishTime"`
	StartTime   int64  `json:"startTime"`
	TaskID      string `json:"taskid"`
	TaskType    string `json:"taskType"`
	AttemptID   string `json:"attemptId"`
	Avataar     string `json:"avataar"` // spelled this way by Hadoop
	ShuffleDone int64  `json:"shuffleFinishTime"`
	SortDone    int64  `json:"sortFinishTime"`
	Hostname    string `json:"hostname"`
	Status      string `json:"jobStatus"`
	Diagnostics string `json:"diagnostics"`
}

// jhistFormat is the first line of a .jhist file.
const jhistFormat = "Avro-Json"

// readJobHistory reads a .jhist file, the history of one execution from Hadoop's history server, or several joined to
// one file.
func readJobHistory(r io.Reader, to Sink) error {
	in := newLines(r)
	h := jhist{builder: newBuilder(), open: map[string]*openAttempt{}, to: to}
	unread := func(line []byte) bool {
		return in.number <= 2 || string(line) == jhistFormat || !jhistWanted(line) // the first line is the format, the second the schema
	}
	if err := in.each(to, unread, h.line); err != nil {
		return err
	}
	return h.deliver()
}

// deliver hands out the execution.
func (h *jhist) deliver() error {
	for _, a := range slices.SortedFunc(maps.Values(h.open), func(a, b *openAttempt) int { return cmp.Compare(a.number, b.number) }) {
		h.Attempts.Add(a.Attempt)
	}
	if h.ID == "" && h.Attempts.Len() == 0 {
		return h.to.refuse("the file", "There is no job in this history. Perhaps it was cut off.")
	}
	return h.to.Execution(&h.Execution)
}

// jhistWanted reports whether a line may be a relevant event. Hadoop writes the kind of the event first, and repeats
// for each task the facts of its attempts.
func jhistWanted(line []byte) bool {
	rest, named := bytes.CutPrefix(line, []byte(`{"type":"`))
	if !named {
		return true
	}
	kind, _, _ := bytes.Cut(rest, []byte{'"'})
	return bytes.HasPrefix(kind, []byte("JOB_")) || bytes.Contains(kind, []byte("_ATTEMPT_"))
}

// jhist is the execution of a file so far.
type jhist struct {
	*builder
	open   map[string]*openAttempt // attempts that have not ended, by id
	opened int
	to     Sink
}

type openAttempt struct {
	Attempt
	number int // among all that began
}

func (h *jhist) line(where string, line []byte) error {
	if kind, record, ok := readJhistAttempt(line); ok {
		return h.event(where, kind, &record)
	}
	var e jhistEvent
	if err := json.Unmarshal(line, &e); err != nil {
		return h.to.refuse(where, "This is no event of a job history: %s. Perhaps the file was cut off.", jsonFault(err))
	}
	if len(e.Event) != 1 {
		return h.to.refuse(where, "The event %q tells of %d things and not of one; it was passed over.", clip(e.Type), len(e.Event))
	}
	for _, record := range e.Event {
		return h.event(where, e.Type, &record)
	}
	return nil
}

func (h *jhist) event(where, kind string, r *jhistRecord) error {
	switch {
	case kind == "JOB_SUBMITTED":
		if h.ID != "" && h.ID != clip(r.JobID) { // another file follows; a restarted job keeps its id
			if err := h.deliver(); err != nil {
				return err
			}
			*h = jhist{builder: newBuilder(), open: map[string]*openAttempt{}, to: h.to}
		}
		h.ID, h.Name, h.User, h.Queue, h.Submitted = clip(r.JobID), clip(r.JobName), clip(r.UserName), clip(r.Queue), moment(r.SubmitTime)
	case kind == "JOB_INITED":
		if r.TotalMaps != nil && r.TotalReds != nil {
			h.Maps, h.Reduces = *r.TotalMaps, *r.TotalReds
		}
	case kind == "JOB_QUEUE_CHANGED":
		h.Queue = clip(r.Queue)
	case kind == "JOB_FINISHED":
		h.end(Succeeded, r)
	case kind == "JOB_KILLED":
		h.end(Killed, r)
	case kind == "JOB_FAILED", kind == "JOB_ERROR":
		outcome := Failed
		if r.Status == "KILLED" {
			outcome = Killed
		}
		h.end(outcome, r)
	case strings.HasSuffix(kind, "_ATTEMPT_STARTED"):
		a, err := h.attempt(where, kind, r)
		if err != nil || a == nil {
			return err
		}
		a.Start, a.Spare = moment(r.StartTime), r.Avataar == "SPECULATIVE"
	case strings.HasSuffix(kind, "_ATTEMPT_FINISHED"):
		return h.attemptEnds(where, kind, r, Succeeded)
	case strings.HasSuffix(kind, "_ATTEMPT_FAILED"):
		return h.attemptEnds(where, kind, r, Failed)
	case strings.HasSuffix(kind, "_ATTEMPT_KILLED"):
		return h.attemptEnds(where, kind, r, Killed)
	}
	return nil
}

func (h *jhist) end(outcome Outcome, r *jhistRecord) {
	h.Outcome, h.Finished, h.Diagnosis = outcome, moment(r.FinishTime), clipTo(strings.Join(strings.Fields(r.Diagnostics), " "), maxReason)
}

func (h *jhist) attemptEnds(where, kind string, r *jhistRecord, outcome Outcome) error {
	a, err := h.attempt(where, kind, r)
	if err != nil || a == nil {
		return err
	}
	delete(h.open, r.AttemptID)
	h.held -= openBytes + len(r.AttemptID)
	a.Outcome, a.Finish, a.Host = outcome, moment(r.FinishTime), h.host(r.Hostname)
	if a.Kind == Reduce {
		a.Shuffled = max(moment(r.ShuffleDone), moment(r.SortDone))
	}
	h.Attempts.Add(*a)
	return nil
}

// attempt returns the attempt of an event, or nil after a refusal if that is unclear.
func (h *jhist) attempt(where, kind string, r *jhistRecord) (*Attempt, error) {
	if r.AttemptID == "" || r.TaskID == "" {
		return nil, h.to.refuse(where, "The event %s names no attempt or no task.", clip(kind))
	}
	a := h.open[r.AttemptID]
	if a == nil {
		if h.Attempts.Len()+len(h.open) == maxAttempts {
			return nil, Refusal{Where: where, Detail: fmt.Sprintf("The execution has more than %d attempts.", maxAttempts)}
		}
		if h.held > maxHeld {
			return nil, Refusal{Where: where, Detail: tooMuch}
		}
		h.opened++
		a = &openAttempt{Attempt{Task: h.task(r.TaskID), Host: -1, Kind: kindOf(r.TaskType)}, h.opened}
		h.open[strings.Clone(r.AttemptID)] = a
		h.held += openBytes + len(r.AttemptID)
	}
	return &a.Attempt, nil
}

// kindOf returns the kind of a task by Hadoop's word for it.
func kindOf(word string) Kind {
	switch word {
	case "MAP":
		return Map
	case "REDUCE":
		return Reduce
	}
	return Other
}

// jsonFault describes the fault of a text that should be JSON.
func jsonFault(err error) string {
	var syntax *json.SyntaxError
	var wrong *json.UnmarshalTypeError
	switch {
	case errors.As(err, &syntax):
		return fmt.Sprintf("%s, at byte %d", syntax.Error(), syntax.Offset)
	case errors.As(err, &wrong) && wrong.Field == "":
		return fmt.Sprintf("a %s stands where none can", wrong.Value)
	case errors.As(err, &wrong):
		return fmt.Sprintf("the member %q is a %s, which it cannot be", wrong.Field, wrong.Value)
	}
	return err.Error()
}
