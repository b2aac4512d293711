package history

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
)

// sparkEvent is one line of an event log: the members of all kinds of events that matter here.
type sparkEvent struct {
	Event     string `json:"Event"`
	AppID     string `json:"App ID"`
	AppName   string `json:"App Name"`
	User      string `json:"User"`
	Timestamp int64  `json:"Timestamp"`

	StageID      *int64 `json:"Stage ID"`
	StageAttempt int64  `json:"Stage Attempt ID"`
	Info         *struct {
		ID          int64  `json:"Task ID"`
		Index       int64  `json:"Index"`
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
		Failure string  `json:"Failure Reason"`
	} `json:"Stage Info"`
	Result *struct {
		Result    string `json:"Result"`
		Exception *struct {
			Message string `json:"Message"`
		} `json:"Exception"`
	} `json:"Job Result"`
}

// sparkWanted are the events that are read; logs have many others, of which some are large.
var sparkWanted = []string{
	"SparkListenerApplicationStart", "SparkListenerApplicationEnd", "SparkListenerJobEnd",
	"SparkListenerStageCompleted", "SparkListenerTaskEnd",
}

// ReadSpark reads an event log of Spark, one application. Logs that were rolled are read one after the other,
// as parts of one text.
func ReadSpark(r io.Reader, to Sink) error {
	in := newLines(r)
	s := spark{builder: newBuilder(), stages: map[int64]int32{}, to: to}
	for {
		line, tooLong, err := in.next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return err
		}
		where := fmt.Sprintf("line %d", in.number)
		switch line = bytes.TrimSpace(line); {
		case len(line) == 0 || !wanted(line):
		case tooLong:
			err = to.refuse(where, "The line is longer than %d MiB and was passed over.", maxLine>>20)
		default:
			err = s.line(where, line)
		}
		if err != nil {
			return err
		}
	}
	if s.ID == "" && len(s.Attempts) == 0 {
		return to.refuse("the file", "There is no application in this event log.")
	}
	s.finish()
	return to.Execution(&s.Execution)
}

// wanted says whether a line may be an event that is read. Spark writes the name of the event first.
func wanted(line []byte) bool {
	rest, named := bytes.CutPrefix(line, []byte(`{"Event":"`))
	if !named {
		return true
	}
	name, _, _ := bytes.Cut(rest, []byte{'"'})
	return slices.Contains(sparkWanted, string(name))
}

type spark struct {
	*builder
	stages map[int64]int32 // our numbers by Spark's
	failed string          // what the first job that failed said
	to     Sink
}

func (s *spark) line(where string, line []byte) error {
	var e sparkEvent
	if err := json.Unmarshal(line, &e); err != nil {
		return s.to.refuse(where, "This is no event of Spark: %s. Perhaps the log was cut off.", jsonFault(err))
	}
	switch e.Event {
	case "SparkListenerApplicationStart":
		s.ID, s.Name, s.User, s.Submitted = clip(e.AppID), clip(e.AppName), clip(e.User), moment(e.Timestamp)
	case "SparkListenerApplicationEnd":
		s.Finished = moment(e.Timestamp)
	case "SparkListenerJobEnd":
		if e.Result != nil && e.Result.Result != "JobSucceeded" && s.failed == "" {
			s.failed = e.Result.Result
			if e.Result.Exception != nil {
				s.failed = clip(e.Result.Exception.Message)
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
		info := StageInfo{Name: clip(e.Stage.Name), Tasks: e.Stage.Tasks}
		for _, id := range e.Stage.Parents {
			parent, err := s.stage(where, id)
			if err != nil {
				return err
			}
			info.Parents = append(info.Parents, parent)
		}
		s.Stages[n] = info
	case "SparkListenerTaskEnd":
		return s.task(where, &e)
	}
	return nil
}

// maxStages bounds the stages of one application.
const maxStages = 1_000_000

func (s *spark) stage(where string, id int64) (int32, error) {
	n, known := s.stages[id]
	if !known {
		if len(s.Stages) == maxStages {
			return 0, Refusal{where, fmt.Sprintf("The application has more than %d stages.", maxStages)}
		}
		n = int32(len(s.Stages))
		s.stages[id] = n
		s.Stages = append(s.Stages, StageInfo{Tasks: -1})
	}
	return n, nil
}

func (s *spark) task(where string, e *sparkEvent) error {
	if e.StageID == nil || e.Info == nil || e.Info.Index < 0 || e.Info.Index > MaxAttempts {
		return s.to.refuse(where, "A task that ended names no stage, or has no information about itself.")
	}
	if len(s.Attempts) == MaxAttempts {
		return Refusal{where, fmt.Sprintf("The application has more than %d attempts at tasks.", MaxAttempts)}
	}
	n, err := s.stage(where, *e.StageID)
	if err != nil {
		return err
	}
	a := Attempt{Start: moment(e.Info.Launch), Finish: moment(e.Info.Finish), Task: int32(e.Info.Index), Stage: n, Kind: Stage, Spare: e.Info.Speculative, Host: s.host(e.Info.Host)}
	switch {
	case e.Info.Killed || e.End != nil && e.End.Reason == "TaskKilled":
		a.Outcome = Killed
	case e.Info.Failed || e.End != nil && e.End.Reason != "Success":
		a.Outcome = Failed
	default:
		a.Outcome = Succeeded
	}
	s.Attempts = append(s.Attempts, a)
	return nil
}

// finish says how the application ended: Spark's logs do not.
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
