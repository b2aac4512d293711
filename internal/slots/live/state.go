// Package live is a cluster at work: nodes tell of themselves in heartbeats and get tasks of jobs to run. It
// keeps who runs what, asks a dispatch.Policy for each free slot, and says what has changed, for whoever stores
// it. It is a value in memory with no clock and no store of its own: the same calls make the same changes, and
// a cluster that is loaded again from what was stored goes on as the one that stored it.
package live

import (
	"encoding/binary"
	"encoding/json"
	"iter"
	"maps"
	"math"
	"slices"
	"time"

	"headroom/internal/core/perf"
	"headroom/internal/slots/dispatch"
)

// State is all that is kept of a live cluster at work.
type State struct {
	Settings LiveSettings
	Counters
	Memories map[dispatch.PolicyKind]Memory
	Pending  []dispatch.Decision // those of the policy learned that wait to be judged, by number
	Nodes    []Node              // by name
	Jobs     []Job               // active ones, by number
	Runs     []Run               // open ones, by id
	Measured map[string]Measured // by class
}

// Counters go up alone.
type Counters struct {
	Clock   float64 // the latest moment that anything happened; all moments are seconds of Unix time
	LastJob int64
	LastRun int64
}

// Node is a node as it is kept.
type Node struct {
	LiveNode
	Heard  float64  // when its last heartbeat came; 0 is never
	Beats  int64    // heartbeats since it joined
	Boots  []string // the last ones, the present one last
	Digest string   // of the body of the last heartbeat
	Answer []byte   // to it
}

// Job is a job as it is kept.
type Job struct {
	Number      int64
	Request     LiveJobRequest
	State       JobState
	Reason      string
	Submitted   float64
	SubmittedBy string
	Deadline    float64 // 0 is none
	Ended       float64 // 0 while it is active
	Counts      [dispatch.Kinds]JobTasks
	Done        [dispatch.Kinds][]byte // which tasks are done, see packDone
	Tries       []Tries                // of tasks that were tried in vain
}

// Tries is how often a task was tried in vain.
type Tries struct {
	Kind   dispatch.Kind
	Task   int64
	Failed int64
	Lost   int64
}

// MarshalJSON writes four numbers: jobs may have many tries.
func (t Tries) MarshalJSON() ([]byte, error) {
	return json.Marshal([4]int64{int64(t.Kind), t.Task, t.Failed, t.Lost})
}

// UnmarshalJSON reads them.
func (t *Tries) UnmarshalJSON(text []byte) error {
	var four [4]int64
	err := json.Unmarshal(text, &four)
	*t = Tries{dispatch.Kind(four[0]), four[1], four[2], four[3]}
	return err
}

// Run is an assignment as it is kept: a decision, and what became of it.
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
	// Open: it runs; or it is lost, and its node has not been heard of since, which may tell of it still.
	Open    bool
	Cause   string  // why it is lost
	Ended   float64 // 0 while it runs
	Seconds float64 // that it ran, where it is done
}

// Measured is what has been seen of the tasks of a class of jobs.
type Measured struct {
	Rates perf.Rates `json:"rates"` // of maps
	Fitted
	Reduces Fitted `json:"reduces,omitzero"`
}

// Fitted is how long tasks of one kind took by what their nodes had left, those of maps where nothing else is said.
type Fitted struct {
	Times perf.TaskTimes `json:"times"`
	// Fit is of the times when FittedAt tasks had been added; it waits until enough are new.
	Fit      *perf.TaskTime `json:"fit,omitempty"`
	FittedAt int64          `json:"fitted_at"`
}

// of are those of a kind.
func (m *Measured) of(k dispatch.Kind) *Fitted {
	if k == dispatch.Reduce {
		return &m.Reduces
	}
	return &m.Fitted
}

// add counts a task that ended well.
func (f *Fitted) add(residual, seconds float64) {
	f.Times.Add(residual, seconds)
	if f.Times.Due(f.FittedAt) {
		if fit, some := f.Times.Fit(); some {
			f.Fit, f.FittedAt = &fit.TaskTime, f.Times.Added
		}
	}
}

// clone shares nothing with the original.
func (m *Measured) clone() Measured {
	c := *m
	c.Rates.Types, c.Times.Parts, c.Reduces.Times.Parts = maps.Clone(m.Rates.Types), slices.Clone(m.Times.Parts), slices.Clone(m.Reduces.Times.Parts)
	return c
}

// Memory is what a policy remembers, and the policy that does.
type Memory struct {
	Policy dispatch.PolicyConfig
	Text   []byte
}

// Learned is a choice of the policy learned, and the assignment that came of it.
type Learned struct {
	Run      int64
	Decision dispatch.Decision
}

// Relearned says that all choices that were judged were judged anew.
type Relearned struct {
	Rules   int64   // their version
	Flipped []int64 // numbers of those that were good and are not, or the other way round
}

// Judged is the choices of the policy learned that were judged.
type Judged struct {
	After func(judgement int64) iter.Seq2[*dispatch.Decision, error] // reads those after one, in the order of their judgements
	Ahead *dispatch.Ahead                                            // what was learned from the first; nil is nothing
}

// Changes is what is to be stored. What is new and what has changed is there as a whole.
type Changes struct {
	Settings *LiveSettings // nil: as before
	Counters
	Memory *Memory // of the settings' policy; nil: as before
	// Of the policy learned.
	Decided   []Learned
	Judged    []dispatch.Decision
	Dropped   []int64 // the numbers of those that will never be judged
	Relearned *Relearned
	Nodes     []Node
	Removed   []string // nodes
	Jobs      []Job
	Started   []Run
	Ended     []Run // the outcome of those that were started before, or that they are not open any more
	Measured  map[string]Measured
}

// Empty says that nothing is to be stored.
func (c *Changes) Empty() bool {
	return c.Settings == nil && c.Memory == nil && c.Relearned == nil && len(c.Decided)+len(c.Judged)+len(c.Dropped)+len(c.Nodes)+len(c.Removed)+len(c.Jobs)+len(c.Started)+len(c.Ended)+len(c.Measured) == 0
}

// Seconds is a moment as the cluster counts, as exactly as databases keep it.
func Seconds(t time.Time) float64 { return float64(t.UnixMicro()) / 1e6 }

// Moment is the other way round.
func Moment(seconds float64) time.Time { return time.UnixMicro(int64(math.Round(seconds * 1e6))).UTC() }

// packDone writes which tasks are done as the lengths of alternating stretches, the first of tasks that are not:
// tasks are handed out in their order, so that there are few.
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

// unpackDone is the other way round.
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
