package history

import (
	"errors"
	"fmt"
	"io"
)

// rumenTask is a task of a trace that Rumen wrote. Absent times are -1.
type rumenTask struct {
	ID       string         `json:"taskID"`
	Attempts []rumenAttempt `json:"attempts"`
}

type rumenAttempt struct {
	Result   string `json:"result"`
	Host     string `json:"hostName"`
	Start    int64  `json:"startTime"`
	Finish   int64  `json:"finishTime"`
	Shuffled int64  `json:"shuffleFinished"`
	Sorted   int64  `json:"sortFinished"`
}

// readRumen reads a trace of Rumen: JSON objects one after the other, each an execution.
func readRumen(r io.Reader, to Sink) error {
	return readTrace(r, to, "Rumen", (*tokens).rumenMember, scanRumen)
}

// readTrace reads a sequence of objects, each an execution: by scan, or member by member where that returns false. Nothing
// after invalid JSON can be read; everything before it counts.
func readTrace(r io.Reader, to Sink, writer string, member func(t *tokens, b *builder, name string) error, scan func(s *scanner, b *builder) bool) error {
	w := window{in: r}
	for n := int64(1); ; n++ {
		if b := w.scanned(scan); b != nil {
			if err := to.Execution(&b.Execution); err != nil {
				return err
			}
			continue
		}
		b, t := newBuilder(), newTokens(&w, w.from)
		err := t.object(func(name string) error { return member(t, b, name) })
		where := fmt.Sprintf("execution %d of the trace", n)
		if b.ID != "" {
			where += " (" + b.ID + ")"
		}
		var fault *tokenFault
		switch odd := t.odd; {
		case errors.Is(err, io.EOF):
			return nil
		case errors.As(err, &fault):
			return to.refuse(where, "%s That is at byte %d; what follows cannot be read.", fault.detail, fault.offset)
		case err != nil:
			return err
		case odd != "":
			err = to.refuse(where, "It was passed over: %s.", odd)
		case b.ID == "" && b.Attempts.Len() == 0:
			err = to.refuse(where, "It names no job and has no task; this is no trace of %s.", writer)
		default:
			err = to.Execution(&b.Execution)
		}
		if err != nil {
			return err
		}
		w.back(t)
	}
}

func (t *tokens) rumenMember(b *builder, member string) error {
	switch member {
	case "jobID":
		return t.text(&b.ID)
	case "jobName":
		return t.text(&b.Name)
	case "user":
		return t.text(&b.User)
	case "queue":
		return t.text(&b.Queue)
	case "submitTime":
		return t.time(&b.Submitted)
	case "finishTime":
		return t.time(&b.Finished)
	case "totalMaps":
		return t.number(&b.Maps)
	case "totalReduces":
		return t.number(&b.Reduces)
	case "outcome":
		var word string
		err := t.text(&word)
		b.Outcome = rumenOutcome(word)
		return err
	case "mapTasks", "reduceTasks", "otherTasks":
		return t.list(func() error {
			var task rumenTask
			if err := t.value(&task); err != nil {
				return err
			}
			if wrong := b.addRumen(member, &task); wrong != "" {
				return t.fault(wrong)
			}
			return nil
		})
	}
	return t.skip()
}

var rumenKinds = map[string]Kind{"mapTasks": Map, "reduceTasks": Reduce, "otherTasks": Other}

// addRumen adds a task, or says why that is too much.
func (b *builder) addRumen(list string, task *rumenTask) (wrong string) {
	if b.Attempts.Len()+len(task.Attempts) > maxAttempts {
		return fmt.Sprintf("The execution has more than %d attempts.", maxAttempts)
	}
	if b.held > maxHeld {
		return tooMuch
	}
	kind := rumenKinds[list]
	if task.ID == "" { // its place serves as its name
		task.ID = fmt.Sprintf("\x00%d", b.places[kind])
	}
	b.places[kind]++
	number := b.task(task.ID)
	for _, a := range task.Attempts {
		b.Attempts.Add(Attempt{
			Start: moment(a.Start), Shuffled: max(moment(a.Shuffled), moment(a.Sorted)), Finish: moment(a.Finish),
			Task: number, Host: b.host(a.Host), Kind: kind, Outcome: rumenOutcome(a.Result),
		})
	}
	return ""
}

func rumenOutcome(word string) Outcome {
	switch word {
	case "SUCCESS", "SUCCEEDED":
		return Succeeded
	case "FAILED", "FAILURE":
		return Failed
	case "KILLED":
		return Killed
	}
	return Unfinished
}
