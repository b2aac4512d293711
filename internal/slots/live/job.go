package live

import (
	"cmp"
	"math"
	"slices"

	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/slots/dispatch"
)

type taskState uint8

const (
	taskWaiting taskState = iota
	taskRunning
	taskDone
)

// job is an active job at work.
type job struct {
	Job
	d        *dispatch.Job
	tasks    [dispatch.Kinds][]taskState
	next     [dispatch.Kinds]int // no earlier task waits
	running  [dispatch.Kinds]map[int64]*run
	tries    map[taskOf]*Tries
	prefers  map[int64][]string // nodes that have a map's data
	local    map[string][]int64 // maps by node, in their order
	released bool               // its reduces may start
	dirty    bool
}

// taskOf names a task of a job.
type taskOf struct {
	kind dispatch.Kind
	task int64
}

func newJob(kept Job) *job {
	j := &job{Job: kept, tries: map[taskOf]*Tries{}, prefers: map[int64][]string{}, local: map[string][]int64{}}
	for k, total := range [dispatch.Kinds]int64{kept.Request.Maps, kept.Request.Reduces} {
		j.Counts[k].Total = total
		j.tasks[k] = make([]taskState, total)
		unpackDone(kept.Done[k], j.tasks[k])
		j.running[k] = map[int64]*run{}
	}
	for _, t := range kept.Tries {
		j.tries[taskOf{t.Kind, t.Task}] = &t
	}
	for _, l := range kept.Request.Local {
		j.prefers[l.Task] = l.Nodes
		for _, node := range l.Nodes {
			j.local[node] = append(j.local[node], l.Task)
		}
	}
	for _, tasks := range j.local {
		slices.Sort(tasks)
	}
	return j
}

// kept returns the job in its stored form.
func (j *job) kept() Job {
	out := j.Job
	for k := range out.Done {
		out.Done[k] = packDone(j.tasks[k])
		out.Counts[k].Running = int64(len(j.running[k]))
		out.Counts[k].Waiting = out.Counts[k].Total - out.Counts[k].Running - out.Counts[k].Done
	}
	out.Tries = make([]Tries, 0, len(j.tries))
	for _, t := range j.tries {
		out.Tries = append(out.Tries, *t)
	}
	slices.SortFunc(out.Tries, func(a, b Tries) int { return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Task, b.Task)) })
	return out
}

// triesOf returns the count of a task's failed and lost attempts.
func (j *job) triesOf(k dispatch.Kind, task int64) *Tries {
	t := j.tries[taskOf{k, task}]
	if t == nil {
		t = &Tries{Kind: k, Task: task}
		j.tries[taskOf{k, task}] = t
	}
	return t
}

// attempt returns the number of a task's next attempt, from 1.
func (j *job) attempt(k dispatch.Kind, task int64) int64 {
	if t := j.tries[taskOf{k, task}]; t != nil {
		return 1 + t.Failed + t.Lost
	}
	return 1
}

// mapsBefore returns the number of maps that must be done before reduces start. With shared slots that is all of
// them, because reduces that wait for maps could keep the slots from them.
func (j *job) mapsBefore(l dispatch.Layout) int64 {
	if l == dispatch.Shared {
		return j.Request.Maps
	}
	before := int64(math.Ceil(j.Request.Slowstart*float64(j.Request.Maps) - 1e-9))
	return min(max(before, 0), j.Request.Maps)
}

// waiting returns the number of tasks of a kind that neither run nor are done.
func (j *job) waiting(k dispatch.Kind) int {
	return int(j.Counts[k].Total-j.Counts[k].Done) - len(j.running[k])
}

// ready returns the number of tasks of a kind that could start.
func (j *job) ready(k dispatch.Kind) int {
	if k == dispatch.Reduce && !j.released {
		return 0
	}
	return j.waiting(k)
}

// pick returns the task that a node starts: one whose data it has, else the first that waits.
func (j *job) pick(k dispatch.Kind, node string) (task int64, local bool) {
	if k == dispatch.Map {
		for len(j.local[node]) > 0 {
			task := j.local[node][0]
			if j.tasks[k][task] == taskWaiting {
				return task, true
			}
			j.local[node] = j.local[node][1:]
		}
	}
	for j.tasks[k][j.next[k]] != taskWaiting {
		j.next[k]++
	}
	return int64(j.next[k]), false
}

// giveBack returns a task to those that wait.
func (j *job) giveBack(k dispatch.Kind, task int64) {
	j.tasks[k][task] = taskWaiting
	j.next[k] = min(j.next[k], int(task))
	if k != dispatch.Map {
		return
	}
	for _, node := range j.prefers[task] {
		if at, there := slices.BinarySearch(j.local[node], task); !there {
			j.local[node] = slices.Insert(j.local[node], at, task)
		}
	}
}

// balance returns the rest of the job's budget.
func (j *job) balance() float64 {
	u := j.Request.Utility
	started := len(j.running[dispatch.Map]) + len(j.running[dispatch.Reduce])
	for _, c := range j.Counts {
		started += int(c.Done + c.Failures + c.Lost)
	}
	return u.Budget - u.Price*float64(started)
}

// unfinished returns the number of tasks that are not done.
func (j *job) unfinished() int64 {
	return j.Counts[0].Total - j.Counts[0].Done + j.Counts[1].Total - j.Counts[1].Done
}

// View returns the job as shown at a moment.
func (j Job) View(now float64) LiveJob {
	r := j.Request
	v := LiveJob{Number: j.Number, Name: r.Name, Class: r.Class, State: j.State, Reason: j.Reason, Maps: j.Counts[0], Reduces: j.Counts[1],
		Slowstart: r.Slowstart, MaxAttempts: r.MaxAttempts, Weight: r.Weight, MinShare: r.MinShare, ReadMBPerS: r.ReadMBPerS, Usage: r.Usage, UsageFrom: r.UsageFrom, Utility: r.Utility,
		SubmittedAt: Moment(j.Submitted), SubmittedBy: j.SubmittedBy, Warnings: []capacity.Warning{}}
	if j.Ended > 0 {
		at := Moment(j.Ended)
		v.EndedAt = &at
		now = j.Ended
	}
	if j.Deadline > 0 {
		at := Moment(j.Deadline)
		v.DeadlineAt = &at
		v.Late = now > j.Deadline
		if j.Deadline <= j.Submitted {
			v.Warnings = append(v.Warnings, capacity.Warning{Code: "past_deadline", Pointer: "/deadline_at", Detail: "The deadline had passed when the job was submitted; it is late whatever happens."})
		}
	}
	return v
}
