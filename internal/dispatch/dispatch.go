// Package dispatch decides which job gets a slot, as events arrive. The same policies serve a live
// cluster and the simulator; whoever calls them keeps the jobs, the slots and the clock.
//
// A policy is told of every event in the order of time and keeps what it needs of them; then it is
// offered slots, one at a time. After a choice that is carried out the caller tells of the start
// before it offers the next slot, so that a heartbeat that may hand out several tasks is several
// offers of one node. A slot that was left idle is offered again after the next event, because what
// a policy waits for (a deadline that comes nearer, a load that falls) shows in events alone.
//
// What other policies need beside what is here are members and kinds of events, not another form:
// computing rates are learned from tasks that end on slots of a type; residual capacity and the
// state of a node arrive as events of the slot and the node; an outcome that is judged later is
// judged when that event comes.
package dispatch

// Kind is what a task does.
type Kind uint8

// The kinds of tasks. The tasks of all stages of a chain are maps.
const (
	Map Kind = iota
	Reduce
	Kinds = 2
)

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

	seats [Kinds]seat // the policy's own: its places in the order of each pool
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
func (j *Job) before(other *Job) bool {
	switch {
	case j.SubmittedSeconds != other.SubmittedSeconds:
		return j.SubmittedSeconds < other.SubmittedSeconds
	case j.Name != other.Name:
		return j.Name < other.Name
	default:
		return j.Number < other.Number
	}
}

// Slot is a place for one task at a time.
type Slot struct {
	Number int
	Pool   Pool
}

// What is the kind of an event.
type What uint8

const (
	Arrived What = iota // the job is new; it may have tasks to start
	Ready               // the job has more tasks to start than before
	Started             // one of its tasks runs on the slot
	Ended               // that task has left the slot
	Left                // the job is done with: nothing more will be told of it
)

// Event is something that has happened to a job. Its counts follow the event already.
type Event struct {
	What What
	Now  float64 // seconds
	Job  *Job
	Task Kind // of Ready, Started and Ended
	Slot Slot // of Started and Ended
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
}
