package live

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"

	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/slots/dispatch"
)

// Replay tries a policy on recorded events: the cluster goes through them again, and the policy is asked to fill each
// slot. Its answers are compared and not carried out.
type Replay struct {
	cluster  *Cluster
	out      PolicyTrial
	served   map[int64]*PolicyTrialDeadline
	removed  int64 // heartbeats of removed nodes
	diverged int64 // decisions that could not be repeated
}

// maxDifferences bounds the differences that are listed.
const maxDifferences = 20

// NewReplay begins with a cluster in its state at a moment, under the settings to be tried.
func NewReplay(from float64, s State) (*Replay, error) {
	s.Memories, s.Pending = nil, nil // it begins without experience
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

// serves records a job with a deadline.
func (r *Replay) serves(j Job) {
	if j.Deadline > 0 {
		r.served[j.Number] = &PolicyTrialDeadline{Job: j.Number, Name: j.Request.Name, DeadlineAt: Moment(j.Deadline)}
	}
}

// Submit adds a job in its state when it was submitted.
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

// Heartbeat replays one heartbeat and its answer.
func (r *Replay) Heartbeat(at float64, name string, body, answer []byte) error {
	h, err := ReadHeartbeat(body)
	if err != nil {
		return fmt.Errorf("read a heartbeat of node %s again: %w", name, err)
	}
	var recorded HeartbeatAnswer
	if err := json.Unmarshal(answer, &recorded); err != nil {
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
	for _, a := range recorded.Assignments {
		r.decided(n, a)
	}
	if c.policy.maxPerHeartbeat == 0 || len(recorded.Assignments) < c.policy.maxPerHeartbeat {
		r.idle(&b)
	}
	c.changes, c.dirtyNodes, c.dirtyJobs, c.started, c.ended, c.dirtyClasses = Changes{}, nil, nil, nil, nil, map[string]bool{}
	return nil
}

// ask returns the policy's choice for a node's next free slot.
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

// decided compares a decision with the policy's choice, and carries out the recorded one.
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
	was := &PolicyTrialChoice{Job: a.Job, JobName: a.JobName, Kind: a.Kind, Decided: a.Decided}
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

// idle records the idle slots that the policy would have filled.
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
	return &PolicyTrialChoice{Job: c.Job.Number, JobName: c.Job.Name, Kind: kindName(c.Task), Decided: decidedBy(why)}
}

func (r *Replay) differs(n *node, was, would *PolicyTrialChoice, why dispatch.Why) {
	if len(r.out.Differences) == maxDifferences {
		return
	}
	d := PolicyTrialDifference{At: Moment(r.cluster.Clock), Node: n.Name, Was: was, Would: would}
	if would == nil {
		d.Why = why.Reason
	}
	r.out.Differences = append(r.out.Differences, d)
}

// Result returns the outcome until a moment. jobs holds the jobs of that time in their current state.
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
		case j.State == JobKilled: // killed: the outcome is unknown
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

// At returns the job in its state at a moment, from its tasks done by then and their failed and lost attempts.
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

// HeardOf returns the node in its state after its last heartbeat; at 0 means it had sent none.
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
