package live

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"

	"headroom/internal/core/capacity"
	"headroom/internal/slots/dispatch"
)

// Replay tries a policy out on what has happened: the cluster goes through it again as it was, and the policy is asked
// what it would do with each slot. What it answers is compared and not carried out.
type Replay struct {
	cluster  *Cluster
	out      PolicyTrial
	served   map[int64]*PolicyTrialDeadline
	removed  int64 // heartbeats of nodes that are not there any more
	diverged int64 // decisions that could not be carried out again
}

// mostDifferences is how many are told of.
const mostDifferences = 20

// NewReplay begins with a cluster as it was at a moment, under the settings to be tried.
func NewReplay(from float64, s State) (*Replay, error) {
	s.Memories, s.Pending = nil, nil // it begins knowing nothing
	c, err := Load(s, Judged{})
	if err != nil {
		return nil, err
	}
	r := &Replay{cluster: c, served: map[int64]*PolicyTrialDeadline{}}
	r.out.Policy, r.out.From = s.Settings.Policy, Moment(from)
	for _, j := range s.Jobs {
		r.serves(j)
	}
	return r, nil
}

// serves takes note of a job with a deadline.
func (r *Replay) serves(j Job) {
	if j.Deadline > 0 {
		r.served[j.Number] = &PolicyTrialDeadline{Job: j.Number, Name: j.Request.Name, DeadlineAt: Moment(j.Deadline)}
	}
}

// Submit takes in a job as it was when it was submitted.
func (r *Replay) Submit(j Job) {
	c := r.cluster
	c.advance(j.Submitted)
	r.serves(j)
	added := c.addJob(j)
	c.place(added)
	c.noteJob(dispatch.Arrived, added, 0)
}

// Kill ends a job that was killed.
func (r *Replay) Kill(at float64, number int64) {
	c := r.cluster
	c.advance(at)
	if j := c.jobs[number]; j != nil {
		c.endJob(j, JobKilled, "")
	}
}

// Heartbeat is one that came, as text, and the answer to it.
func (r *Replay) Heartbeat(at float64, name string, body, answer []byte) error {
	h, err := ReadHeartbeat(body)
	if err != nil {
		return fmt.Errorf("read a heartbeat of node %s again: %w", name, err)
	}
	var said HeartbeatAnswer
	if err := json.Unmarshal(answer, &said); err != nil {
		return fmt.Errorf("read the answer to a heartbeat of node %s again: %w", name, err)
	}
	c := r.cluster
	r.out.Heartbeats++
	n := c.nodes[name]
	if n == nil {
		r.removed++
		return nil
	}
	c.advance(at)
	b := beat{Cluster: c, n: n, h: &h}
	b.greet(n.Heard == 0 || h.Boot != n.Boot)
	b.listen()
	n.Seq = h.Seq
	for _, a := range said.Assignments {
		r.decided(n, a)
	}
	if c.policy.atOnce == 0 || len(said.Assignments) < c.policy.atOnce {
		r.idle(&b)
	}
	c.changes, c.dirtyNodes, c.dirtyJobs, c.started, c.ended, c.dirtyClasses = Changes{}, nil, nil, nil, nil, map[string]bool{}
	return nil
}

// ask is what the policy would do with a node's next free slot.
func (r *Replay) ask(n *node, p dispatch.Pool) (dispatch.Choice, dispatch.Why) {
	c := r.cluster
	place := slices.Index(n.slots, nil)
	if place < 0 {
		place = len(n.slots)
	}
	choice := c.policy.Choose(c.Clock, dispatch.Slot{Number: n.d.Index*slotStride + place, Pool: p, Node: n.d})
	if choice.Job != nil {
		if d := r.served[choice.Job.Number]; d != nil {
			d.WouldSlots++
			if d.WouldAt == nil {
				at := Moment(c.Clock)
				d.WouldAt = &at
			}
		}
	}
	return choice, c.policy.Why()
}

// decided compares a decision with what the policy would have decided, and carries it out as it was.
func (r *Replay) decided(n *node, a Assignment) {
	c := r.cluster
	kind := dispatch.Map
	if a.Kind == dispatch.ReduceTask {
		kind = dispatch.Reduce
	}
	j := c.jobs[a.Job]
	if j == nil || j.ready(kind) == 0 {
		r.diverged++
		return
	}
	if d := r.served[a.Job]; d != nil {
		d.Slots++
		if d.FirstAt == nil {
			at := Moment(c.Clock)
			d.FirstAt = &at
		}
	}
	r.out.Decisions++
	was := &PolicyTrialChoice{Job: a.Job, JobName: a.JobName, Kind: a.Kind, Rule: a.Rule, Reason: a.Reason}
	choice, why := r.ask(n, c.layout.Of(kind))
	switch {
	case choice.Job == nil:
		r.out.Idle++
		r.differs(n, was, nil, why)
	case choice.Job.Number == a.Job && choice.Task == kind:
		r.out.Same++
	default:
		r.out.Other++
		r.differs(n, was, choiceOf(choice, why), why)
	}
	c.LastRun = a.Assignment - 1
	c.start(n, j, kind, dispatch.Why{})
}

// idle notes where the policy would have filled a slot that stayed idle.
func (r *Replay) idle(b *beat) {
	c := r.cluster
	for p := range dispatch.Pool(dispatch.Kinds) {
		running := b.n.d.Running[p]
		if c.layout == dispatch.Shared {
			running = len(b.n.runs)
		}
		if b.n.d.Slots[p]-running-b.foreign[p] <= 0 || c.waiting[p] == 0 {
			continue
		}
		if choice, why := r.ask(b.n, p); choice.Job != nil {
			r.out.Extra++
			r.differs(b.n, nil, choiceOf(choice, why), why)
		}
	}
}

func choiceOf(c dispatch.Choice, why dispatch.Why) *PolicyTrialChoice {
	return &PolicyTrialChoice{Job: c.Job.Number, JobName: c.Job.Name, Kind: KindName(c.Task), Rule: why.Rule, Reason: why.Reason}
}

func (r *Replay) differs(n *node, was, would *PolicyTrialChoice, why dispatch.Why) {
	if len(r.out.Differences) == mostDifferences {
		return
	}
	d := PolicyTrialDifference{At: Moment(r.cluster.Clock), Node: n.Name, Was: was, Would: would}
	if would == nil {
		d.Why = why.Reason
	}
	r.out.Differences = append(r.out.Differences, d)
}

// Result is what came of it until a moment. jobs are those that were there, as they are now.
func (r *Replay) Result(until float64, jobs []Job) PolicyTrial {
	out := r.out
	out.Until, out.Warnings, out.Deadlines = Moment(until), []capacity.Warning{}, []PolicyTrialDeadline{}
	if out.Differences == nil {
		out.Differences = []PolicyTrialDifference{}
	}
	for _, j := range jobs {
		d := r.served[j.Number]
		if d == nil {
			continue
		}
		switch missed := j.Ended > j.Deadline || j.Ended == 0 && until > j.Deadline || j.Ended > 0 && j.State != JobDone; {
		case j.State == JobKilled: // nobody can say
		case missed || j.Ended > 0:
			d.Missed = &missed
		}
		out.Deadlines = append(out.Deadlines, *d)
	}
	slices.SortFunc(out.Deadlines, func(a, b PolicyTrialDeadline) int { return cmp.Compare(a.Job, b.Job) })
	warn := func(n int64, code, detail string) {
		if n > 0 {
			out.Warnings = append(out.Warnings, capacity.Warning{Code: code, Detail: strconv.FormatInt(n, 10) + detail})
		}
	}
	warn(r.removed, "nodes_removed", " heartbeats came from nodes that have been taken out since; they are left out.")
	warn(r.diverged, "not_repeated", " decisions could not be repeated, because not all of what led to them is kept; they are left out.")
	out.Say()
	return out
}

// At is a job as it was at a moment, by what is known of its tasks: which were done, and how often each had been tried.
func (j Job) At(done [dispatch.Kinds][]int64, tries []Tries) Job {
	j.State, j.Reason, j.Ended, j.Tries = JobActive, "", 0, tries
	j.Counts = [dispatch.Kinds]JobTasks{}
	for k, total := range [dispatch.Kinds]int64{j.Request.Maps, j.Request.Reduces} {
		states := make([]taskState, total)
		for _, task := range done[k] {
			if task >= 0 && task < total && states[task] != taskDone {
				states[task] = taskDone
				j.Counts[k].Done++
			}
		}
		j.Counts[k].Total = total
		j.Done[k] = packDone(states)
	}
	return j
}

// HeardOf is a node as it was after its last heartbeat; without one it had not told of itself.
func (n Node) HeardOf(at float64, body []byte) Node {
	n.Heard, n.Seq, n.Boot, n.Boots, n.Report, n.Running, n.State, n.Residual, n.LastHeartbeatAt = 0, 0, "", nil, nil, 0, NodeNew, 1, nil
	if at == 0 {
		return n
	}
	n.Heard, n.State = at, NodeAlive
	if h, err := ReadHeartbeat(body); err == nil {
		n.Seq, n.Boot, n.Boots, n.Report = h.Seq, h.Boot, []string{h.Boot}, h.State
		if n.Report != nil && n.Report.Residual != nil && !n.Dedicated {
			n.Residual = *n.Report.Residual
		}
	}
	return n
}
