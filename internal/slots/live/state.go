// Package live runs live clusters: nodes report in heartbeats and get tasks of jobs to run. It records the node of
// each running task, asks a dispatch.Policy for each free slot, and returns the changes for a caller to store.
//
// A Cluster is a value in memory with no clock and no store of its own. The same calls make the same changes, and a
// cluster that is loaded again from its stored state continues exactly as before.
package live

import (
	"encoding/binary"
	"encoding/json"
	"iter"
	"maps"
	"math"
	"slices"
	"time"

	"example.org/headroom/internal/core/perf"
	"example.org/headroom/internal/slots/dispatch"
)

// State is the stored state of a live cluster.
type State struct {
	Settings LiveSettings
	Counters
	Memories map[dispatch.PolicyKind]Memory
	Pending  []dispatch.Decision // unjudged choices of the policy learned, by number
	Nodes    []Node              // by name
	Jobs     []Job               // active ones, by number
	Runs     []Run               // open ones, by id
	Measured map[string]Measured // by class
}

// Counters only go up.
type Counters struct {
	Clock   float64 // the latest moment of any event; all moments are seconds of Unix time
	LastJob int64
	LastRun int64
}

// Node is a node as stored.
type Node struct {
	LiveNode
	Heard  float64  // time of its last heartbeat; 0 means never
	Beats  int64    // heartbeats since it joined
	Boots  []string // recent starts, the present one last
	Digest string   // of the body of the last heartbeat
	Answer []byte   // answer to the last heartbeat
}

// Job is a job as stored.
type Job struct {
	Number      int64
	Request     LiveJobRequest
	State       JobState
	Reason      string
	Submitted   float64
	SubmittedBy string
	Deadline    float64 // 0 means none
	Ended       float64 // 0 while it is active
	Counts      [dispatch.Kinds]JobTasks
	Done        [dispatch.Kinds][]byte // the tasks that are done, see packDone
	Tries       []Tries                // of tasks with failed or lost attempts
}

// Tries counts the failed and lost attempts of a task.
type Tries struct {
	Kind   dispatch.Kind
	Task   int64
	Failed int64
	Lost   int64
}

// MarshalJSON writes four numbers, because jobs may have many tries.
func (t Tries) MarshalJSON() ([]byte, error) {
	return json.Marshal([4]int64{int64(t.Kind), t.Task, t.Failed, t.Lost})
}

// UnmarshalJSON reads the form of MarshalJSON.
func (t *Tries) UnmarshalJSON(text []byte) error {
	var four [4]int64
	err := json.Unmarshal(text, &four)
	*t = Tries{dispatch.Kind(four[0]), four[1], four[2], four[3]}
	return err
}

// Run is an assignment as stored: a decision and its outcome.
type Run struct {
	ID      int64
	At      float64
	Node    string
	Job     int64
	JobName string
	Kind    dispatch.Kind
	Task    int64
	Attempt int64
	Local   bool
	Why     dispatch.Why
	Policy  dispatch.PolicyKind
	Version int64 // of the settings
	Outcome TaskOutcome
	// Open runs are running, or are lost and their node, silent since, may still report them.
	Open    bool
	Cause   string  // reason of the loss
	Ended   float64 // 0 while it runs
	Seconds float64 // run time, once done
}

// Measured holds the measurements of a class's tasks.
type Measured struct {
	Rates perf.Rates `json:"rates"` // of maps
	Fitted
	Reduces Fitted `json:"reduces,omitzero"`
}

// Fitted holds the times of one kind of task by residual; of maps unless said otherwise.
type Fitted struct {
	Times perf.TaskTimes `json:"times"`
	// Fit was fitted to the first FittedAt tasks. The next fit waits for enough new ones.
	Fit      *perf.TaskTime `json:"fit,omitempty"`
	FittedAt int64          `json:"fitted_at"`
}

// of returns the times of a kind.
func (m *Measured) of(k dispatch.Kind) *Fitted {
	if k == dispatch.Reduce {
		return &m.Reduces
	}
	return &m.Fitted
}

// add counts a task that succeeded.
func (f *Fitted) add(residual, seconds float64) {
	f.Times.Add(residual, seconds)
	if f.Times.Due(f.FittedAt) {
		if fit, some := f.Times.Fit(); some {
			f.Fit, f.FittedAt = &fit.TaskTime, f.Times.Added
		}
	}
}

// clone returns a deep copy.
func (m *Measured) clone() Measured {
	c := *m
	c.Rates.Types, c.Times.Parts, c.Reduces.Times.Parts = maps.Clone(m.Rates.Types), slices.Clone(m.Times.Parts), slices.Clone(m.Reduces.Times.Parts)
	return c
}

// Memory is a policy's memory, with the policy's document.
type Memory struct {
	Policy dispatch.PolicyConfig
	Text   []byte
}

// Learned is a choice of the policy learned, and its assignment.
type Learned struct {
	Run      int64
	Decision dispatch.Decision
}

// Relearned reports that all judged choices were judged anew.
type Relearned struct {
	Rules   int64   // their version
	Flipped []int64 // numbers of the choices whose label changed
}

// Judged gives access to the judged choices of the policy learned.
type Judged struct {
	After func(judgement int64) iter.Seq2[*dispatch.Decision, error] // reads those after one, in the order of their judgements
	Ahead *dispatch.Ahead                                            // lessons learned in advance; nil means none
}

// Changes lists everything to store. New and changed items are complete.
type Changes struct {
	Settings *LiveSettings // nil means unchanged
	Counters
	Memory *Memory // of the settings' policy; nil means unchanged
	// Changes of the policy learned.
	Decided   []Learned
	Judged    []dispatch.Decision
	Dropped   []int64 // numbers of choices that will never be judged
	Relearned *Relearned
	Nodes     []Node
	Removed   []string // nodes
	Jobs      []Job
	Started   []Run
	Ended     []Run // runs started earlier that have ended, or are no longer open
	Measured  map[string]Measured
}

// Empty reports whether there is nothing to store.
func (c *Changes) Empty() bool {
	return c.Settings == nil && c.Memory == nil && c.Relearned == nil && len(c.Decided)+len(c.Judged)+len(c.Dropped)+len(c.Nodes)+len(c.Removed)+len(c.Jobs)+len(c.Started)+len(c.Ended)+len(c.Measured) == 0
}

// Seconds returns a moment in the cluster's seconds, as exactly as databases store it.
func Seconds(t time.Time) float64 { return float64(t.UnixMicro()) / 1e6 }

// Moment is the inverse of Seconds.
func Moment(seconds float64) time.Time { return time.UnixMicro(int64(math.Round(seconds * 1e6))).UTC() }

// packDone encodes the tasks that are done as the lengths of alternating runs, beginning with tasks that are not
// done. Tasks are handed out in order, so there are few runs.
func packDone(states []taskState) []byte {
	var out []byte
	for i, done := 0, false; i < len(states); done = !done {
		from := i
		for i < len(states) && (states[i] == taskDone) == done {
			i++
		}
		out = binary.AppendUvarint(out, uint64(i-from))
	}
	return out
}

// unpackDone is the inverse of packDone.
func unpackDone(packed []byte, states []taskState) {
	for i, done := 0, false; len(packed) > 0; done = !done {
		length, size := binary.Uvarint(packed)
		if size <= 0 {
			return
		}
		packed = packed[size:]
		for range min(length, uint64(len(states)-i)) {
			if done {
				states[i] = taskDone
			}
			i++
		}
	}
}
