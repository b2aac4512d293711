// Package history reads clusters' records of past executions of their jobs, and makes a profile of each execution,
// with notes on omissions and guesses. It parses its input, reads no clock and opens no files.
package history

import (
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// Outcome is the end of an execution or an attempt.
type Outcome uint8

// The outcomes. Unfinished means that no end is recorded.
const (
	Unfinished Outcome = iota
	Succeeded
	Failed
	Killed
)

func (o Outcome) String() string {
	return [...]string{"unfinished", "succeeded", "failed", "killed"}[o]
}

// Kind is the kind of task of an attempt.
type Kind uint8

// The kinds. Tasks of chains all have the kind Stage; Other is set-up and clean-up, which no profile has.
const (
	Map Kind = iota
	Reduce
	Stage
	Other
)

func (k Kind) String() string {
	return [...]string{"map", "reduce", "stage", "other"}[k]
}

// Clock is the meaning of an execution's moments.
type Clock uint8

// The clocks. Moments that are not Dated count from an unknown moment, shown as Epoch. Of an Untimed execution only
// the differences within one attempt mean anything.
const (
	Dated Clock = iota
	Relative
	Untimed
)

// Epoch stands for the beginning of a history that is not dated.
const Epoch = earliest

// Execution is one past run of a job. Moments are milliseconds since 1970; 0 means not recorded.
type Execution struct {
	ID        string
	Clock     Clock
	Unsplit   bool   // shuffles are not recorded: a reduce attempt is all reduce phase
	Name      string // of the job, which groups executions
	User      string
	Queue     string
	Submitted int64
	Finished  int64
	Outcome   Outcome
	Diagnosis string // the cluster's reason of a failure
	Maps      int64  // declared tasks; -1 means not recorded
	Reduces   int64
	Stages    []StageInfo // of a chain, by number; none for map and reduce
	Slots     int64       // of a chain, the most that its executors had at once; 0 means not recorded
	Attempts  Attempts
	Hosts     []string
	Notes     []string // gaps of the record
}

// StageInfo is one stage of a chain.
type StageInfo struct {
	ID      int64 // Spark's number
	Name    string
	Tasks   int64 // declared; -1 means not recorded
	Parents []int32
	Tries   int32 // of the stage as a whole; 0: it did not run, or did not end
}

// Attempt is one try at a task.
type Attempt struct {
	Start    int64
	Shuffled int64 // when a reduce attempt had all its input; 0 means not recorded, or another kind
	Finish   int64
	Task     int32 // number among those of its kind or stage, the same for all its attempts
	Stage    int32 // of a chain
	Host     int32 // index into Hosts; -1 means not recorded
	Kind     Kind
	Outcome  Outcome
	Spare    bool // a speculative copy
	Again    bool // in a further try of a stage, with no record of the repeated task
}

// Seconds returns the duration of the attempt.
func (a Attempt) Seconds() float64 { return float64(a.Finish-a.Start) / 1000 }

// Seconds returns the duration of the execution from its submission; ok is false if that is not recorded.
func (e *Execution) Seconds() (s float64, ok bool) {
	if e.Submitted <= 0 || e.Finished < e.Submitted {
		return 0, false
	}
	return float64(e.Finished-e.Submitted) / 1000, true
}

// Refusal is one part of a history that could not be read. The rest is read.
type Refusal struct {
	Where  string `json:"where"`  // a line, an execution, a file
	Detail string `json:"detail"` // the fault, and a cure if there is one

	Foreign bool `json:"-"` // it is a file that does not look like a history at all
}

func (r Refusal) Error() string { return r.Where + ": " + r.Detail }

// Sink receives the results of a reader, in the order of the history. An error ends the reading. The receiver owns an
// execution.
type Sink struct {
	Execution func(*Execution) error
	Refused   func(Refusal) error
}

func (s Sink) refuse(where, format string, args ...any) error {
	return s.Refused(Refusal{Where: where, Detail: fmt.Sprintf(format, args...)})
}

// Limits of histories, against input that is none.
const (
	maxAttempts = 20_000_000 // of one execution
	maxText     = 1000       // bytes kept of a name
	maxReason   = 4000       // bytes kept of a diagnosis, and of the reason made of it
	// earliest and latest bound the accepted moments: 1990 to 2200.
	earliest = 631152000_000
	latest   = 7258118400_000
)

// maxHeld bounds, in bytes, the parts of an execution that are held besides its attempts, and those of a table until
// all of it is read. That is about a million names of tasks, 600,000 unfinished attempts, 700,000 stages, or 120,000
// executions of a table. The constants are their sizes on the heap, without their texts.
const (
	maxHeld        = 128 << 20
	nameBytes      = 64
	openBytes      = 192
	stageBytes     = 192
	executionBytes = 1 << 10
	attemptBytes   = 12 // of a table, whose attempts count as well
)

var tooMuch = fmt.Sprintf("More is open at once or has a name of its own (attempts without an end, tasks, hosts, stages) than the %d MiB that are kept of one execution while it is read. Perhaps ends are missing, or the file is something else.", maxHeld>>20)

// moment returns a recorded time if it is possible; records use -1 or 0 for unknown times.
func moment(ms int64) int64 {
	if ms < earliest || ms > latest {
		return 0
	}
	return ms
}

func at(ms int64) string { return time.UnixMilli(ms).UTC().Format(time.RFC3339Nano) }

// clip bounds a foreign text, makes it valid for any store, and keeps none of the line around it.
func clip(s string) string { return clipTo(s, maxText) }

func clipTo(s string, limit int) string {
	if end := limit; len(s) > end {
		for end > limit-utf8.UTFMax && !utf8.RuneStart(s[end]) {
			end-- // not inside a character
		}
		s = s[:end]
	}
	return strings.ReplaceAll(strings.ToValidUTF8(strings.Clone(s), "\uFFFD"), "\x00", "\uFFFD")
}

// briefest is the number of characters of a reason shown in tables and sentences.
const briefest = 200

// Brief shortens a reason for tables and sentences: a long one to its first sentence, cut if that is long too. A
// failure may bring a whole stack trace.
func Brief(reason string) string {
	reason = strings.TrimSpace(reason)
	if !strings.ContainsAny(reason, "\r\n") && utf8.RuneCountInString(reason) <= briefest {
		return reason
	}
	line, _, _ := strings.Cut(reason, "\n")
	if sentence, _, more := strings.Cut(line, ". "); more {
		line = sentence + "."
	}
	line = strings.Join(strings.Fields(line), " ")
	if letters := []rune(line); len(letters) > briefest {
		return strings.TrimSpace(string(letters[:briefest-1])) + "…"
	}
	return line
}

// builder puts an execution together from a stream of records.
type builder struct {
	Execution
	tasks map[string]int32
	hosts map[string]int32
	held  int // bytes, about
	// places counts the tasks of each kind, for tasks without ids.
	places [Other + 1]int32
}

func newBuilder() *builder {
	return &builder{Execution: Execution{Maps: -1, Reduces: -1}, tasks: map[string]int32{}, hosts: map[string]int32{}}
}

// unnumbered is the first number for tasks whose ids hold none.
const unnumbered = 1 << 30

// task returns the number of a task of its kind. Hadoop's ids end in it, so they need not be stored.
func (b *builder) task(id string) int32 {
	if strings.HasPrefix(id, "task_") {
		if n, err := strconv.ParseUint(id[strings.LastIndexByte(id, '_')+1:], 10, 30); err == nil {
			return int32(n)
		}
	}
	return unnumbered + b.number(b.tasks, id)
}

func (b *builder) note(f string, a ...any) { b.Notes = append(b.Notes, fmt.Sprintf(f, a...)) }

func (b *builder) host(name string) int32 {
	if name == "" {
		return -1
	}
	n := b.number(b.hosts, name)
	if int(n) == len(b.Hosts) {
		b.Hosts = append(b.Hosts, clip(name))
		b.held += len(b.Hosts[n])
	}
	return n
}

// number returns the number of a name among the known ones, adding it if new.
func (b *builder) number(known map[string]int32, name string) int32 {
	n, is := known[name]
	if !is {
		n = int32(len(known))
		known[strings.Clone(name)] = n
		b.held += nameBytes + len(name)
	}
	return n
}
