// Package history reads what clusters recorded of past executions of their jobs, and says what one execution
// looks like: a profile, with what was left out and what had to be guessed. It parses what it is handed, reads
// no clock and opens nothing.
package history

import (
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// Outcome is how an execution or an attempt ended.
type Outcome uint8

// The outcomes. Unfinished is what has no end on record.
const (
	Unfinished Outcome = iota
	Succeeded
	Failed
	Killed
)

func (o Outcome) String() string {
	return [...]string{"unfinished", "succeeded", "failed", "killed"}[o]
}

// Kind is what an attempt works at.
type Kind uint8

// The kinds. Tasks of chains are all of the kind Stage; Other is set-up and clean-up, which no profile has.
const (
	Map Kind = iota
	Reduce
	Stage
	Other
)

func (k Kind) String() string {
	return [...]string{"map", "reduce", "stage", "other"}[k]
}

// Clock is what the moments of an execution mean.
type Clock uint8

// The clocks. Moments that are not Dated count from one that nobody knows, which stands for itself as Epoch;
// of an execution that is Untimed only the differences within one attempt mean anything.
const (
	Dated Clock = iota
	Relative
	Untimed
)

// Epoch stands for the beginning of a history that is not dated.
const Epoch = earliest

// Execution is one past run of a job. Moments are milliseconds since 1970; 0 is not recorded.
type Execution struct {
	ID        string
	Clock     Clock
	Unsplit   bool   // shuffles are not on record: a reduce attempt is all reduce phase
	Name      string // of the job, by which executions belong together
	User      string
	Queue     string
	Submitted int64
	Finished  int64
	Outcome   Outcome
	Diagnosis string // what the cluster said about a failure
	Maps      int64  // tasks as the job declared them; -1 is not recorded
	Reduces   int64
	Stages    []StageInfo // of a chain, by number; none for map and reduce
	Attempts  Attempts
	Hosts     []string
	Notes     []string // what the record lacked
}

// StageInfo is one stage of a chain.
type StageInfo struct {
	ID      int64 // Spark's number
	Name    string
	Tasks   int64 // as declared; -1 is not recorded
	Parents []int32
	Tries   int32 // of the stage as a whole; 0 is a stage that did not run, or did not end
}

// Attempt is one try at a task.
type Attempt struct {
	Start    int64
	Shuffled int64 // when a reduce attempt had its input together; 0 is not recorded, and others have none
	Finish   int64
	Task     int32 // number among those of its kind or stage; another try at the task has the same
	Stage    int32 // of a chain
	Host     int32 // index into Hosts, -1 is not recorded
	Kind     Kind
	Outcome  Outcome
	Spare    bool // a speculative copy
	Again    bool // in a further try of a stage, of which is not on record what task it repeats
}

// Seconds is how long the attempt took.
func (a Attempt) Seconds() float64 { return float64(a.Finish-a.Start) / 1000 }

// Seconds is how long the execution took, from its submission; ok is false where that is not on record.
func (e *Execution) Seconds() (s float64, ok bool) {
	if e.Submitted <= 0 || e.Finished < e.Submitted {
		return 0, false
	}
	return float64(e.Finished-e.Submitted) / 1000, true
}

// Refusal is one thing in a history that could not be taken. The rest is read.
type Refusal struct {
	Where  string `json:"where"`  // a line, an execution, a file
	Detail string `json:"detail"` // what is wrong, and where there is one the cure
}

func (r Refusal) Error() string { return r.Where + ": " + r.Detail }

// Sink takes what a reader finds, in the order of the history. An error ends the reading. An execution
// belongs to who takes it.
type Sink struct {
	Execution func(*Execution) error
	Refused   func(Refusal) error
}

func (s Sink) refuse(where, format string, args ...any) error {
	return s.Refused(Refusal{where, fmt.Sprintf(format, args...)})
}

// Limits of what is read. They protect from histories that are none.
const (
	MaxAttempts = 20_000_000 // of one execution
	maxText     = 1000       // bytes of a name that are kept
	maxReason   = 4000       // bytes of a diagnosis, and of the reason made of it, that are kept
	// earliest and latest are the moments that are taken: 1990 to 2200.
	earliest = 631152000_000
	latest   = 7258118400_000
)

// maxHeld bounds, in bytes, what is held of an execution besides its attempts, and of a table until all of it is
// read: about a million names of tasks, 600,000 attempts at once that have not ended, 700,000 stages, or 120,000
// executions of a table. The constants are what these come to on the heap, besides their texts.
const (
	maxHeld        = 128 << 20
	nameBytes      = 64
	openBytes      = 192
	stageBytes     = 192
	executionBytes = 1 << 10
	attemptBytes   = 12 // of a table, whose attempts count as well
)

var tooMuch = fmt.Sprintf("More is open at once or has a name of its own (attempts without an end, tasks, hosts, stages) than the %d MiB that are kept of one execution while it is read. Perhaps ends are missing, or the file is something else.", maxHeld>>20)

// moment is a recorded time where it can be one; records say -1 or 0 for what they do not know.
func moment(ms int64) int64 {
	if ms < earliest || ms > latest {
		return 0
	}
	return ms
}

func at(ms int64) string { return time.UnixMilli(ms).UTC().Format(time.RFC3339Nano) }

// clip bounds a text that somebody else wrote, makes it one that can be kept anywhere, and keeps none of the
// line it stands in.
func clip(s string) string { return clipTo(s, maxText) }

func clipTo(s string, most int) string {
	if end := most; len(s) > end {
		for end > most-utf8.UTFMax && !utf8.RuneStart(s[end]) {
			end-- // not inside a character
		}
		s = s[:end]
	}
	return strings.ReplaceAll(strings.ToValidUTF8(strings.Clone(s), "\uFFFD"), "\x00", "\uFFFD")
}

// briefest is how many characters of a reason stand in tables and sentences.
const briefest = 200

// Brief is a reason for tables and sentences: all of it where it is short, else its first sentence, cut where that is
// long too. What failed may bring a whole stack trace with it.
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
	// places counts the tasks of each kind, for those without ids.
	places [Other + 1]int32
}

func newBuilder() *builder {
	return &builder{Execution: Execution{Maps: -1, Reduces: -1}, tasks: map[string]int32{}, hosts: map[string]int32{}}
}

// unnumbered is the first number of tasks whose ids hold none.
const unnumbered = 1 << 30

// task is the number of a task of its kind. Hadoop's ids end in it, so that they need not be kept.
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

// number is that of a name among the known ones, to which it is added.
func (b *builder) number(known map[string]int32, name string) int32 {
	n, is := known[name]
	if !is {
		n = int32(len(known))
		known[strings.Clone(name)] = n
		b.held += nameBytes + len(name)
	}
	return n
}
