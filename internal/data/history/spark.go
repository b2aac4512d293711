package history

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
)

// sparkEvent is one line of an event log: the relevant members of all kinds of events.
type sparkEvent struct {
	Event        string        `json:"Event"`
	AppID        string        `json:"App ID"`
	AppTry       string        `json:"App Attempt ID"`
	AppName      string        `json:"App Name"`
	User         string        `json:"User"`
	Timestamp    int64         `json:"Timestamp"`
	Settings     sparkSettings `json:"Spark Properties"`
	Executor     string        `json:"Executor ID"`
	ExecutorInfo struct {
		Cores int64 `json:"Total Cores"`
	} `json:"Executor Info"`

	StageID      *int64 `json:"Stage ID"`
	StageAttempt int64  `json:"Stage Attempt ID"`
	Info         *struct {
		Index       int64  `json:"Index"`
		Partition   *int64 `json:"Partition ID"`
		Launch      int64  `json:"Launch Time"`
		Finish      int64  `json:"Finish Time"`
		Host        string `json:"Host"`
		Speculative bool   `json:"Speculative"`
		Failed      bool   `json:"Failed"`
		Killed      bool   `json:"Killed"`
	} `json:"Task Info"`
	End *struct {
		Reason string `json:"Reason"`
	} `json:"Task End Reason"`
	Stage *struct {
		ID      *int64  `json:"Stage ID"`
		Name    string  `json:"Stage Name"`
		Tasks   int64   `json:"Number of Tasks"`
		Parents []int64 `json:"Parent IDs"`
	} `json:"Stage Info"`
	Result *struct {
		Result    string `json:"Result"`
		Exception *struct {
			Message string `json:"Message"`
		} `json:"Exception"`
	} `json:"Job Result"`
}

// sparkSettings are the settings of an application that matter.
type sparkSettings struct {
	Class       string `json:"spark.headroom.class"`
	CoresOfTask string `json:"spark.task.cpus"`
}

func (s sparkSettings) coresOfTask() int64 {
	if n, err := strconv.ParseInt(s.CoresOfTask, 10, 32); err == nil && n > 0 {
		return n
	}
	return 1
}

// sparkSlots returns the slots of an executor.
func sparkSlots(cores, coresOfTask int64) int64 { return min(max(0, cores), maxAttempts) / coresOfTask }

// sparkWanted lists the relevant events; logs have many others, some of them large.
var sparkWanted = []string{
	"SparkListenerEnvironmentUpdate", "SparkListenerApplicationStart", "SparkListenerApplicationEnd", "SparkListenerJobEnd",
	"SparkListenerStageCompleted", "SparkListenerTaskEnd", "SparkListenerExecutorAdded", "SparkListenerExecutorRemoved",
}

// readSpark reads an event log of Spark: one application, or several joined to one file. The parts of a rolled log
// are read in sequence, as one text.
func readSpark(r io.Reader, to Sink) error {
	s := newSpark(to)
	unread := func(line []byte) bool { return !sparkWants(line) }
	if err := newLines(r).each(to, unread, s.line); err != nil {
		return err
	}
	return s.deliver()
}

func newSpark(to Sink) *spark {
	return &spark{builder: newBuilder(), stages: map[int64]int32{}, ofTask: 1, of: map[string]int64{}, to: to}
}

// deliver hands out the application.
func (s *spark) deliver() error {
	if s.ID == "" && s.Attempts.Len() == 0 {
		return s.to.refuse("the file", "There is no application in this event log. Perhaps it was cut off.")
	}
	s.finish()
	return s.to.Execution(&s.Execution)
}

// sparkWants reports whether a line may be a relevant event. Spark writes the name of the event first.
func sparkWants(line []byte) bool {
	rest, named := bytes.CutPrefix(line, []byte(`{"Event":"`))
	if !named {
		return true
	}
	name, _, _ := bytes.Cut(rest, []byte{'"'})
	return slices.Contains(sparkWanted, string(name))
}

type spark struct {
	*builder
	stages map[int64]int32 // own numbers by Spark's
	begun  bool            // its start is recorded
	class  string          // in place of its name; settings stand before the start
	slots  int64           // of the executors that it has
	ofTask int64           // cores
	of     map[string]int64
	failed string // reason of the first failed job
	to     Sink
}

func (s *spark) line(where string, line []byte) error {
	if s.held > maxHeld {
		return Refusal{Where: where, Detail: tooMuch}
	}
	if t, ok := readSparkEnd(line); ok {
		return s.task(where, &t)
	}
	var e sparkEvent
	if err := json.Unmarshal(line, &e); err != nil {
		return s.to.refuse(where, "This is no event of Spark: %s. Perhaps the log was cut off.", jsonFault(err))
	}
	switch e.Event {
	case "SparkListenerEnvironmentUpdate":
		s.class, s.ofTask = e.Settings.Class, e.Settings.coresOfTask()
	case "SparkListenerExecutorAdded":
		s.executor(e.Executor, sparkSlots(e.ExecutorInfo.Cores, s.ofTask))
	case "SparkListenerExecutorRemoved":
		s.executor(e.Executor, 0)
	case "SparkListenerApplicationStart":
		id := clip(e.AppID)
		if e.AppTry != "" {
			id += "_" + clip(e.AppTry)
		}
		if s.begun && (id != s.ID || moment(e.Timestamp) != s.Submitted) { // another log follows
			if err := s.deliver(); err != nil {
				return err
			}
			class, ofTask := s.class, s.ofTask
			*s = *newSpark(s.to)
			s.class, s.ofTask = class, ofTask
		}
		s.begun, s.ID, s.Name, s.User, s.Submitted = true, id, clip(cmp.Or(s.class, e.AppName)), clip(e.User), moment(e.Timestamp)
	case "SparkListenerApplicationEnd":
		s.Finished = moment(e.Timestamp)
	case "SparkListenerJobEnd":
		if e.Result != nil && e.Result.Result != "JobSucceeded" && s.failed == "" {
			s.failed = e.Result.Result
			if e.Result.Exception != nil {
				s.failed = clipTo(strings.TrimSpace(e.Result.Exception.Message), maxReason) // it has the lines of a stack trace
			}
		}
	case "SparkListenerStageCompleted":
		if e.Stage == nil || e.Stage.ID == nil {
			return s.to.refuse(where, "A stage that ended has no number.")
		}
		n, err := s.stage(where, *e.Stage.ID)
		if err != nil {
			return err
		}
		var parents []int32
		for _, id := range e.Stage.Parents {
			parent, err := s.stage(where, id)
			if err != nil {
				return err
			}
			parents = append(parents, parent)
		}
		info := &s.Stages[n]
		s.held -= len(info.Name) + 4*len(info.Parents)
		info.Name, info.Parents = clip(e.Stage.Name), parents
		s.held += len(info.Name) + 4*len(info.Parents)
		info.Tasks = max(info.Tasks, e.Stage.Tasks) // a further try may have fewer
		info.Tries++
	case "SparkListenerTaskEnd":
		if e.StageID == nil || e.Info == nil {
			return s.to.refuse(where, "A task that ended names no stage, or tells nothing about itself.")
		}
		t := e.end()
		return s.task(where, &t)
	}
	return nil
}

// end returns what the event tells of a task that ended.
func (e *sparkEvent) end() sparkEnd {
	t := sparkEnd{stage: *e.StageID, attempt: e.StageAttempt, index: e.Info.Index, launch: e.Info.Launch, finish: e.Info.Finish,
		host: []byte(e.Info.Host), reason: []byte("Success"), speculative: e.Info.Speculative, failed: e.Info.Failed, killed: e.Info.Killed}
	if e.Info.Partition != nil {
		t.partition, t.numbered = *e.Info.Partition, true
	}
	if e.End != nil {
		t.reason = []byte(e.End.Reason)
	}
	return t
}

// executor notes that an executor has so many slots; 0 means that it is gone.
func (s *spark) executor(id string, slots int64) {
	if had, known := s.of[id]; known {
		s.slots -= had
		s.held -= nameBytes + len(id)
		delete(s.of, id)
	}
	if slots > 0 {
		s.of[strings.Clone(id)] = slots
		s.held += nameBytes + len(id)
		s.slots += slots
		s.Slots = max(s.Slots, s.slots)
	}
}

// maxStages bounds the stages of one application.
const maxStages = 1_000_000

func (s *spark) stage(where string, id int64) (int32, error) {
	n, known := s.stages[id]
	if !known {
		if len(s.Stages) == maxStages {
			return 0, Refusal{Where: where, Detail: fmt.Sprintf("The application has more than %d stages.", maxStages)}
		}
		n = int32(len(s.Stages))
		s.stages[id] = n
		s.held += stageBytes
		s.Stages = append(s.Stages, StageInfo{ID: id, Tasks: -1})
	}
	return n, nil
}

func (s *spark) task(where string, t *sparkEnd) error {
	if s.Attempts.Len() == maxAttempts {
		return Refusal{Where: where, Detail: fmt.Sprintf("The application has more than %d attempts at tasks.", maxAttempts)}
	}
	n, err := s.stage(where, t.stage)
	if err != nil {
		return err
	}
	host, known := s.hosts[string(t.host)]
	if !known {
		host = s.host(string(t.host))
	}
	a := Attempt{Start: moment(t.launch), Finish: moment(t.finish), Stage: n, Kind: Stage, Spare: t.speculative, Host: host}
	// The index counts within a try of a stage. The partition is the same in all of them, and Spark writes it since
	// 3.3.
	task := t.index
	if t.numbered && t.partition >= 0 {
		task = t.partition
	} else {
		a.Again = t.attempt > 0
	}
	if task < 0 || task > maxAttempts {
		return s.to.refuse(where, "A task that ended has the number %d, which none can have.", task)
	}
	a.Task = int32(task)
	switch {
	case t.killed || string(t.reason) == "TaskKilled":
		a.Outcome = Killed
	case t.failed || string(t.reason) != "Success":
		a.Outcome = Failed
	default:
		a.Outcome = Succeeded
	}
	s.Attempts.Add(a)
	return nil
}

// finish sets the outcome of the application, which Spark's logs do not state.
func (s *spark) finish() {
	switch {
	case s.failed != "":
		s.Outcome, s.Diagnosis = Failed, s.failed
	case s.Finished == 0:
		s.Outcome = Unfinished
	default:
		s.Outcome = Succeeded
	}
}
