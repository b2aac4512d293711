package history

import (
	"bytes"
	"encoding/json"
	"unicode/utf8"
)

// A trace is read without decoding where it is as Rumen writes it. Every other execution goes to encoding/json.

// scanRumen reads an execution; false where it needs a closer look.
func scanRumen(s *scanner, b *builder) bool {
	var task rumenTask
	text := func(to *string) bool {
		good := s.textOrNull(to)
		*to = clip(*to)
		return good
	}
	number := func(to *int64) bool { return s.null() || s.number(to) }
	time := func(to *int64) bool {
		good := number(to)
		*to = moment(*to)
		return good
	}
	good := s.object(func(name []byte) bool {
		switch member := string(name); member {
		case "jobID":
			return text(&b.ID)
		case "jobName":
			return text(&b.Name)
		case "user":
			return text(&b.User)
		case "queue":
			return text(&b.Queue)
		case "submitTime":
			return time(&b.Submitted)
		case "finishTime":
			return time(&b.Finished)
		case "totalMaps":
			return number(&b.Maps)
		case "totalReduces":
			return number(&b.Reduces)
		case "outcome":
			outcome := ""
			good := text(&outcome)
			b.Outcome = rumenOutcome(outcome)
			return good
		case "mapTasks", "reduceTasks", "otherTasks":
			return s.null() || s.list(func() bool { return s.rumenTask(&task) && b.addRumen(member, &task) == "" })
		}
		return s.skip()
	})
	return good && (b.ID != "" || b.Attempts.Len() > 0)
}

// rumenTask reads a task. To encoding/json capitals in names do not matter, and of two members of one name the last counts.
func (s *scanner) rumenTask(task *rumenTask) bool {
	*task = rumenTask{Attempts: task.Attempts[:0]}
	seen := 0
	return s.object(func(name []byte) bool {
		switch string(name) {
		case "taskID":
			return once(&seen, 1) && s.textOrNull(&task.ID)
		case "attempts":
			return once(&seen, 2) && (s.null() || s.list(func() bool {
				task.Attempts = append(task.Attempts, rumenAttempt{})
				return s.rumenAttempt(&task.Attempts[len(task.Attempts)-1])
			}))
		}
		return !mayBe(name, "taskID", "attempts") && s.skip()
	})
}

func (s *scanner) rumenAttempt(a *rumenAttempt) bool {
	seen := 0
	return s.object(func(name []byte) bool {
		switch string(name) {
		case "result":
			return once(&seen, 1) && s.textOrNull(&a.Result)
		case "hostName":
			return once(&seen, 2) && s.textOrNull(&a.Host)
		case "startTime":
			return once(&seen, 4) && (s.null() || s.number(&a.Start))
		case "finishTime":
			return once(&seen, 8) && (s.null() || s.number(&a.Finish))
		case "shuffleFinished":
			return once(&seen, 16) && (s.null() || s.number(&a.Shuffled))
		case "sortFinished":
			return once(&seen, 32) && (s.null() || s.number(&a.Sorted))
		}
		return !mayBe(name, "result", "hostName", "startTime", "finishTime", "shuffleFinished", "sortFinished") && s.skip()
	})
}

// textOrNull reads a string; null counts as absent.
func (s *scanner) textOrNull(to *string) bool {
	from := s.at
	if s.null() {
		return true
	}
	if !s.skip() || s.text[from] != '"' {
		return false
	}
	text := s.text[from:s.at]
	if bytes.IndexByte(text, '\\') < 0 && utf8.Valid(text) {
		*to = string(text[1 : len(text)-1])
		return true
	}
	return json.Unmarshal(text, to) == nil
}

// mayBe reports whether encoding/json may take a name for a known one.
func mayBe(name []byte, known ...string) bool {
	for _, b := range name {
		if b >= 0x80 {
			return true
		}
	}
	for _, k := range known {
		if len(k) == len(name) && bytes.EqualFold(name, []byte(k)) {
			return true
		}
	}
	return false
}
