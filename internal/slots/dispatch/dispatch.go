// Package dispatch decides which job gets a slot, as events arrive. The same policies serve a live cluster and the
// simulator. The caller keeps the jobs, the slots and the clock.
//
// The caller notes every event in the order of time, and a policy keeps the parts it needs. Then the caller offers
// slots, one at a time. After a choice that is carried out it notes the start before it offers the next slot, so a
// heartbeat that may hand out several tasks makes several offers of one node. A slot left idle is offered again after
// the next event, because only events show that a deadline has come nearer or a load has fallen.
//
// Jobs and nodes belong to the caller, which updates their counts, fits and reports before it notes the event that
// changed them. A policy can give away what else it remembers and take it back (Memory), so that a live cluster
// outlives the process that decides for it.
package dispatch

import (
	"cmp"
	"fmt"
	"strings"

	"example.org/headroom/internal/core/perf"
)

// Kind tells maps from reduces.
type Kind uint8

// The kinds of tasks. The tasks of all stages of a chain are maps.
const (
	Map Kind = iota
	Reduce
	Kinds = 2
)

var kindNames = [Kinds]string{"map", "reduce"}

func (k Kind) MarshalText() ([]byte, error) { return []byte(kindNames[k]), nil }

func (k *Kind) UnmarshalText(text []byte) error {
	for i, name := range kindNames {
		if string(text) == name {
			*k = Kind(i)
			return nil
		}
	}
	return fmt.Errorf("a task is a map or a reduce, not %q", text)
}

// Layout sets the kinds of tasks that slots run.
type Layout uint8

const (
	Separate Layout = iota // map slots run maps, reduce slots run reduces
	Shared                 // every slot runs either
)

// Pool names the slots that can run the same tasks. Separate slots are numbered as the kinds, and shared slots all
// have pool 0.
type Pool uint8

// Of returns the pool that a kind of task runs on.
func (l Layout) Of(k Kind) Pool {
	if l == Shared {
		return 0
	}
	return Pool(k)
}

// Job is one execution of a customer's job. The caller updates it before it notes an event; policies read it.
type Job struct {
	Index            int    // index in the caller's list
	Number           int64  // orders jobs that are alike
	Class            int    // the class whose share it runs in
	Name             string // orders jobs submitted at the same moment
	SubmittedSeconds float64
	DeadlineSeconds  float64    // the moment by which it must be done; 0 where there is none
	Pending          [Kinds]int // tasks that could start now
	Running          [Kinds]int
	Unfinished       int // tasks of all kinds that have not ended well: running and not yet ready ones too
	Maps, MapsDone   int // of all its stages, and those that have ended well; 0 where the caller does not count

	Wants
	Known

	seats [Kinds]seat // the policy's own: its places in the order of each pool
}

// Wants holds an owner's requests beside a deadline.
type Wants struct {
	Weight   float64 // its part under progress share; 0 is 1
	MinShare float64 // under progress share: below it the job goes first

	// The worth of its tasks under learned, one for each kind of utility.
	Worth    float64 // budget: of a task while there is a balance; 0 is 1
	Balance  float64 // budget: what its owner can still pay; the caller deducts the price of each started task
	Promised float64 // dedicated_capacity: its part of the cluster's running tasks
	Revenue  float64 // revenue: what is offered
}

// Known holds the measurements of jobs like this one; nil and 0 mean none.
type Known struct {
	TaskTime *perf.TaskTime // a task's seconds, by the residual of its node
	Rates    *perf.Rates    // speed of each node type for its tasks
	// ReadMBPerSecond is the rate at which one task on a dedicated node reads from each data node, at its busiest.
	ReadMBPerSecond float64
	Usage           [Kinds]Usage
}

// Usage rates the resources that tasks of a kind use, each from 1 (next to nothing) to 10 (everything); 0 means
// unknown.
type Usage struct {
	CPU     float64 `json:"cpu"`
	Memory  float64 `json:"memory"`
	Disk    float64 `json:"disk"`
	Network float64 `json:"network"`
}

// pending and running are the job's tasks in a pool.
func (j *Job) pending(l Layout, p Pool) int { return inPool(&j.Pending, l, p) }
func (j *Job) running(l Layout, p Pool) int { return inPool(&j.Running, l, p) }

func inPool(tasks *[Kinds]int, l Layout, p Pool) int {
	if l == Shared {
		return tasks[Map] + tasks[Reduce]
	}
	return tasks[p]
}

// next returns the kind of the job's next task on a pool: maps first, because reduces wait for them.
func (j *Job) next(l Layout, p Pool) Kind {
	if l == Separate {
		return Kind(p)
	}
	if j.Pending[Map] > 0 {
		return Map
	}
	return Reduce
}

// before orders jobs by submission; jobs of one moment by name, those of one name by number.
func (j *Job) before(other *Job) bool { return j.compare(other) < 0 }

func (j *Job) compare(other *Job) int {
	switch {
	case j.SubmittedSeconds != other.SubmittedSeconds:
		return cmp.Compare(j.SubmittedSeconds, other.SubmittedSeconds)
	case j.Name != other.Name:
		return strings.Compare(j.Name, other.Name)
	default:
		return cmp.Compare(j.Number, other.Number)
	}
}

// Node is a machine that runs tasks.
type Node struct {
	Index int // index in the caller's list
	Name  string
	Type  string // nodes of one type are alike: rates are measured by type
	Cores float64
	Slots [Kinds]int // by pool
	// ComputeUnits stands for its rate until that is measured; 0 means its cores.
	ComputeUnits float64
	// Residual is the part of its processors that other work leaves to tasks: 1 on a dedicated node.
	Residual float64
	Running  [Kinds]int
	// Heartbeats counts the heartbeats since it joined.
	Heartbeats int64
	Report     Report
}

// Report is the last state that a node reported.
type Report struct {
	Load1           float64            `json:"load1"` // the load average of the last minute
	CPUPercent      float64            `json:"cpu_pct"`
	MemoryPercent   float64            `json:"mem_pct"`
	NetMBPerSecond  float64            `json:"net_mb_s"`
	DiskMBPerSecond float64            `json:"disk_mb_s"`
	Numbers         map[string]float64 `json:"numbers,omitempty"` // features that the cluster adds, by name
	Words           map[string]string  `json:"words,omitempty"`
}

// Slot is a place for one task at a time.
type Slot struct {
	Number int
	Pool   Pool
	Node   *Node // nil where all nodes are alike and nothing is known of them
}

// What is the kind of an event.
type What uint8

const (
	Arrived What = iota // the job is new; it may have tasks to start
	Ready               // the job has more tasks to start than before
	Started             // one of its tasks runs on the slot
	Ended               // that task has left the slot
	Left                // the job has ended; no further event names it

	// Events of nodes. They never come if slots have no nodes.
	Joined   // the node and its slots are new
	Reported // it has reported its state at a heartbeat
	Gone     // it is dead or was taken out; its tasks have ended as Lost before
)

// Outcome says whether a task ended well.
type Outcome uint8

const (
	Done   Outcome = iota // it did its work: its seconds are a measurement
	Failed                // it will be tried again
	Lost                  // its node is gone, or a copy was faster; no measurement of the job or the node
)

// Event is a change of a job or a node. Their counts already include it.
type Event struct {
	What    What
	Now     float64 // seconds
	Job     *Job    // nil of Joined, Reported and Gone
	Node    *Node   // of Joined, Reported and Gone
	Task    Kind    // of Ready, Started and Ended
	Slot    Slot    // of Started and Ended
	Outcome Outcome // of Ended
	Seconds float64 // of Ended: the duration of the task
}

// Choice is a task for a slot: the next one of its kind of a job. Without a job the slot stays idle until the next
// event.
type Choice struct {
	Job  *Job
	Task Kind
}

// Policy is a rule that hands slots to jobs. Same events, same choices.
type Policy interface {
	// Note reports an event.
	Note(e Event)
	// Choose picks a task for a free slot.
	Choose(now float64, s Slot) Choice
	// Why explains the last choice. Callers may ask until they note the next event; it costs nothing if nobody asks.
	Why() Why
}

// Memory is implemented by policies that remember more than a new policy learns from the jobs, nodes and running
// tasks: turns that were passed, counts that were learned.
type Memory interface {
	// Memory returns the state that a new policy of the same kind needs to decide alike, once it was given the same
	// jobs, nodes and running tasks.
	Memory() ([]byte, error)
	// Recall restores that state, after those events were noted.
	Recall([]byte) error
}
