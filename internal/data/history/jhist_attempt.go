package history

import (
	"bytes"
	"slices"
)

// Nearly all of a .jhist file are attempts, and nearly all of these are counters that nobody needs. Lines about attempts as
// Hadoop writes them are read without decoding. Every other line goes to encoding/json, which decides what it means.

// jhistAttempts lists the events of attempts.
var jhistAttempts = []string{
	"MAP_ATTEMPT_STARTED", "MAP_ATTEMPT_FINISHED", "MAP_ATTEMPT_FAILED", "MAP_ATTEMPT_KILLED",
	"REDUCE_ATTEMPT_STARTED", "REDUCE_ATTEMPT_FINISHED", "REDUCE_ATTEMPT_FAILED", "REDUCE_ATTEMPT_KILLED",
}

// jhistUnread lists the members of their events that nobody needs.
var jhistUnread = []string{
	"taskStatus", "mapFinishTime", "port", "rackname", "state", "counters", "clockSplits", "cpuUsages", "vMemKbytes", "physMemKbytes",
	"trackerName", "httpPort", "shufflePort", "containerId", "locality", "status", "error", "applicationAttemptId",
}

// readJhistAttempt reads an event of an attempt; false where the line needs a closer look.
func readJhistAttempt(line []byte) (kind string, r jhistRecord, ok bool) {
	s := scanner{text: line}
	if !s.next('{') || string(s.name()) != "type" {
		return kind, r, false
	}
	word := s.string()
	at := slices.IndexFunc(jhistAttempts, func(event string) bool { return event == string(word) })
	if at < 0 || !s.next(',') || string(s.name()) != "event" || !s.next('{') || s.name() == nil {
		return kind, r, false
	}
	var id, task, taskType, avataar, host []byte
	seen := 0
	for first := true; first && s.next('{') || !first && s.next(','); first = false {
		bit, good := 0, false
		switch name := s.name(); string(name) {
		case "taskid":
			bit, good = 1, s.word(&task)
		case "attemptId":
			bit, good = 2, s.word(&id)
		case "taskType":
			bit, good = 4, s.word(&taskType)
		case "startTime":
			bit, good = 8, s.number(&r.StartTime)
		case "finishTime":
			bit, good = 16, s.number(&r.FinishTime)
		case "shuffleFinishTime":
			bit, good = 32, s.number(&r.ShuffleDone)
		case "sortFinishTime":
			bit, good = 64, s.number(&r.SortDone)
		case "hostname":
			bit, good = 128, s.word(&host)
		case "avataar":
			bit, good = 256, s.word(&avataar)
		default:
			good = slices.ContainsFunc(jhistUnread, func(unread string) bool { return unread == string(name) }) && s.skip()
		}
		if !good || seen&bit != 0 {
			return kind, r, false
		}
		seen |= bit
	}
	r.AttemptID, r.TaskID, r.TaskType, r.Hostname, r.Avataar = string(id), string(task), string(taskType), string(host), string(avataar)
	return jhistAttempts[at], r, seen != 0 && bytes.Equal(line[s.at:], []byte("}}}"))
}
