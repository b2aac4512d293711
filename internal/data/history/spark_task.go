package history

import "bytes"

// Nearly all of an event log are ends of tasks, and nearly all of these are figures that nobody needs. Lines as Spark
// writes them are read without decoding. Every other line goes to encoding/json, which decides what it means.

// sparkTaskEnd begins the line of a task that ended.
var sparkTaskEnd = []byte(`{"Event":"SparkListenerTaskEnd",`)

// sparkEnd is what a line tells of a task that ended.
type sparkEnd struct {
	stage, attempt                        int64
	index, partition, launch, finish      int64
	host, reason                          []byte
	speculative, failed, killed, numbered bool // numbered: it names a partition
}

// readSparkEnd reads the end of a task; false where the line needs a closer look.
func readSparkEnd(line []byte) (t sparkEnd, ok bool) {
	if !bytes.HasPrefix(line, sparkTaskEnd) {
		return t, false
	}
	const stage, info, end = 1, 2, 4
	s := scanner{text: line, at: len(sparkTaskEnd) - 1}
	seen := 0
	for s.next(',') {
		good := false
		switch name := s.name(); string(name) {
		case "Stage ID":
			good = once(&seen, stage) && s.number(&t.stage)
		case "Task Info":
			good = once(&seen, info) && t.readInfo(&s)
		case "Task End Reason":
			good = once(&seen, end) && s.next('{') && string(s.name()) == "Reason" && s.word(&t.reason) && s.next('}')
		case "Stage Attempt ID":
			good = once(&seen, 8) && s.number(&t.attempt)
		case "Task Type", "Task Executor Metrics", "Task Metrics":
			good = s.skip()
		}
		if !good {
			return t, false
		}
	}
	return t, s.next('}') && s.at == len(line) && seen&(stage|info|end) == stage|info|end
}

func (t *sparkEnd) readInfo(s *scanner) bool {
	if len(s.text) == s.at || s.text[s.at] != '{' {
		return false
	}
	seen := 0
	for first := true; first && s.next('{') || !first && s.next(','); first = false {
		bit, good := 0, false
		switch name := s.name(); string(name) {
		case "Index":
			bit, good = 1, s.number(&t.index)
		case "Partition ID":
			bit, good = 2, s.number(&t.partition)
			t.numbered = true
		case "Launch Time":
			bit, good = 4, s.number(&t.launch)
		case "Finish Time":
			bit, good = 8, s.number(&t.finish)
		case "Host":
			bit, good = 16, s.word(&t.host)
		case "Speculative":
			bit, good = 32, s.truth(&t.speculative)
		case "Failed":
			bit, good = 64, s.truth(&t.failed)
		case "Killed":
			bit, good = 128, s.truth(&t.killed)
		case "Task ID", "Attempt", "Executor ID", "Locality", "Getting Result Time", "Accumulables":
			good = s.skip()
		}
		if !good || seen&bit != 0 {
			return false
		}
		seen |= bit
	}
	return s.next('}')
}
