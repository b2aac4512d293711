// Package dispatch decides which job gets a slot, as events arrive. The same policies serve a live
// cluster and the simulator; whoever calls them keeps the jobs, the slots and the clock.
//
// A policy is told of every event in the order of time and keeps what it needs of them; then it is
// offered slots, one at a time. After a choice that is carried out the caller tells of the start
// before it offers the next slot, so that a heartbeat that may hand out several tasks is several
// offers of one node. A slot that was left idle is offered again after the next event, because what
// a policy waits for (a deadline that comes nearer, a load that falls) shows in events alone.
//
// Jobs and nodes are the caller's, who keeps what they say current (counts, fits, reports) before it
// tells of the event that changed them. What a policy remembers beside them it can give away and take
// back (Memory), so that a live cluster outlives the process that decides for it.
package dispatch

import (
	"cmp"
	"fmt"
	"strings"

	"headroom/internal/core/perf"
)

// Kind is what a task does.
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

// Layout says which slots run which tasks.
type Layout uint8

const (
	Separate Layout = iota // map slots run maps, reduce slots run reduces
	Shared                 // every slot runs either
)

// Pool is slots that any of the same tasks can run on: numbered as the kinds where slots are separate,
// and 0 for all slots where they are shared.
type Pool uint8

// Of is the pool that a kind of task runs on.
func (l Layout) Of(k Kind) Pool {
	if l == Shared {
		return 0
	}
	return Pool(k)
}

// Job is one execution of a customer's job. The caller keeps it current before it tells of an event;
// policies read it.
type Job struct {
	Index            int    // where the caller keeps it
	Number           int64  // orders jobs that are alike
	Class            int    // whose share it runs in
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

// Wants is what a job's owner asks for beside a deadline.
type Wants struct {
	Weight   float64 // its part under progress share; 0 is 1
	MinShare float64 // under progress share: below it the job goes first

	// What it is worth under learned, by the utility that asks.
	Worth    float64 // budget: of a task while there is a balance; 0 is 1
	Balance  float64 // budget: what its owner can still pay; whoever starts a task takes its price off
	Promised float64 // dedicated_capacity: its part of the cluster's running tasks
	Revenue  float64 // revenue: what is offered
}

// Known is what has been measured of jobs like this one; nil and 0: nothing has.
type Known struct {
	TaskTime *perf.TaskTime // a task's seconds by what a node has left for it
	Rates    *perf.Rates    // how fast types of nodes run its tasks
	// ReadMBPerSecond is what one task on a dedicated node takes from each data node at its busiest.
	ReadMBPerSecond float64
	Usage           [Kinds]Usage
}

// Usage is what tasks of a kind use, each from 1 (next to nothing) to 10 (all there is); 0: nobody knows.
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

// next is the kind of the job's next task on a pool: maps first, because reduces wait for them.
func (j *Job) next(l Layout, p Pool) Kind {
	if l == Separate {
		return Kind(p)
	}
	if j.Pending[Map] > 0 {
		return Map
	}
	return Reduce
}

// before is the order of submission; jobs of one moment go by name, those of one name by number.
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
	Index int // where the caller keeps it
	Name  string
	Type  string // nodes of one type are alike: rates are measured by type
	Cores float64
	Slots [Kinds]int // by pool
	// ComputeUnits stands for its rate until that is measured; 0: its cores do.
	ComputeUnits float64
	// Residual is the part of its processors that other work leaves to tasks: 1 on a dedicated node.
	Residual float64
	Running  [Kinds]int
	// Heartbeats is how many it has sent since it joined.
	Heartbeats int64
	Report     Report
}

// Report is the state that a node told of last.
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
	Left                // the job is done with: nothing more will be told of it

	// What happens to nodes. Where slots have none these never come.
	Joined   // the node and its slots are new
	Reported // it has told of its state, at a heartbeat
	Gone     // it is dead or was taken out; its tasks have ended as Lost before
)

// Outcome is how a task ended.
type Outcome uint8

const (
	Done   Outcome = iota // it did its work: its seconds are a measurement
	Failed                // it will be tried again
	Lost                  // its node is gone, or a copy of it was faster: it says nothing of the job or the node
)

// Event is something that has happened to a job or a node. Their counts follow the event already.
type Event struct {
	What    What
	Now     float64 // seconds
	Job     *Job    // nil of Joined, Reported and Gone
	Node    *Node   // of Joined, Reported and Gone
	Task    Kind    // of Ready, Started and Ended
	Slot    Slot    // of Started and Ended
	Outcome Outcome // of Ended
	Seconds float64 // of Ended: how long the task ran
}

// Choice is a task for a slot: the next one of a kind of a job. No job: the slot stays idle until the
// next event.
type Choice struct {
	Job  *Job
	Task Kind
}

// Policy is a rule that hands slots to jobs. Same events, same choices.
type Policy interface {
	// Note tells what has happened.
	Note(e Event)
	// Choose picks a task for a free slot.
	Choose(now float64, s Slot) Choice
	// Why says what decided the last choice. It may be asked until the next event is told, and costs
	// nothing where nobody asks.
	Why() Why
}

// Why is the reason of a choice, for people and for whoever learns from decisions.
type Why struct {
	Rule    string   `json:"rule"`   // a stable name of what decided, as deadline, share, order, probe, idle
	Reason  string   `json:"reason"` // a sentence with the figures that decided
	Figures []Figure `json:"figures,omitempty"`
}

// Figure is a number that a choice was made by.
type Figure struct {
	Name  string  `json:"name"`
	Value float64 `json:"value"`
}

// Memory is a policy that remembers more than the jobs, nodes and running tasks that a new one would be
// told of: turns that were passed, counts that were learned.
type Memory interface {
	// Memory gives away what a new policy of the same kind, told of the same jobs, nodes and running
	// tasks, needs to decide as this one does.
	Memory() ([]byte, error)
	// Recall takes it back, after those events were told.
	Recall([]byte) error
}
