package live

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"slices"

	"example.org/headroom/internal/core/fault"
	"example.org/headroom/internal/slots/dispatch"
)

// Codes of notes about unexpected heartbeats.
const (
	noteReturned   = "returned"    // the node had counted as dead
	noteRestarted  = "restarted"   // its agent has started again
	noteClock      = "clock"       // its clock and the server's differ
	noteForgotten  = "forgotten"   // it does not mention one of its assignments
	noteAdopted    = "adopted"     // it continues an assignment that had counted as lost
	noteLate       = "late_finish" // it has finished an assignment that had counted as lost
	noteSuperseded = "superseded"  // another copy was handed out and must stop
	noteIgnored    = "ignored"     // the message had no effect
	noteSeconds    = "seconds"     // a task cannot have run so long
)

// maxSkew is the difference between a node's clock and the server's that causes no note. Decisions do not depend
// on it.
const maxSkew = 5

// seenBoots is the number of an agent's starts that are remembered, to recognise late messages of earlier ones.
const seenBoots = 8

// Answered is the answer to a heartbeat.
type Answered struct {
	Text  []byte // a capacity.HeartbeatAnswer
	Again bool   // a repeated answer
}

// Heartbeat processes a node's report and returns its orders. Digest identifies the text of the heartbeat. A repeated
// heartbeat gets the same answer again.
func (c *Cluster) Heartbeat(now float64, name string, h Heartbeat, digest string) (a Answered, err error) {
	n := c.nodes[name]
	if n == nil {
		return a, noNode(name)
	}
	fresh := n.Heard == 0 || h.Boot != n.Boot
	switch {
	case fresh && slices.Contains(n.Boots, h.Boot):
		return a, fmt.Errorf("heartbeat %d of node %q comes from an earlier start of its agent, %q; the present one is %q: %w", h.Seq, name, h.Boot, n.Boot, fault.Conflict)
	case !fresh && h.Seq == n.Seq && digest == n.Digest:
		return Answered{n.Answer, true}, nil
	case !fresh && h.Seq == n.Seq:
		return a, fmt.Errorf("heartbeat %d of node %q was answered already, and told something else; go on with %d, or with another boot where the agent has begun anew: %w", h.Seq, name, n.Seq+1, fault.Conflict)
	case !fresh && h.Seq < n.Seq:
		return a, fmt.Errorf("heartbeat %d of node %q comes late: %d was answered already; go on with %d, or with another boot where the agent has begun anew: %w", h.Seq, name, n.Seq, n.Seq+1, fault.Conflict)
	}
	c.advance(now)
	b := beat{Cluster: c, n: n, h: &h, answer: HeartbeatAnswer{Node: name, Seq: h.Seq, At: Moment(c.Clock),
		Assignments: []Assignment{}, Stop: []StopTask{}, Notes: []HeartbeatNote{}, HeartbeatSeconds: c.settings.HeartbeatSeconds}}
	b.greet(fresh)
	b.listen()
	if !h.Leaving {
		if err := b.assign(); err != nil {
			return a, err
		}
	}
	if a.Text, err = json.Marshal(b.answer); err != nil {
		return a, Broken{err}
	}
	n.Seq, n.Digest, n.Answer = h.Seq, digest, a.Text
	return a, nil
}

func noNode(name string) error {
	return fmt.Errorf("the cluster has no live node %.60q; declare it with PUT first: %w", name, fault.NotFound)
}

// Broken is an error after which a cluster must be loaded again.
type Broken struct{ error }

func (b Broken) Unwrap() error { return b.error }

// beat is one heartbeat in progress.
type beat struct {
	*Cluster
	n      *node
	h      *Heartbeat
	answer HeartbeatAnswer
	// foreign counts running tasks on the node that are not its own. They hold slots until they are stopped.
	foreign [dispatch.Kinds]int
}

func (b *beat) note(id int64, code, detail string, values ...any) {
	b.answer.Notes = append(b.answer.Notes, HeartbeatNote{Assignment: id, Code: code, Detail: fmt.Sprintf(detail, values...)})
}

// greet records that the node is alive, and its state.
func (b *beat) greet(fresh bool) {
	n, h := b.n, b.h
	if fresh {
		if n.Heard > 0 {
			b.note(0, noteRestarted, "The agent has begun anew; what it does not speak of is handed out again.")
		}
		if n.Boots = append(n.Boots, h.Boot); len(n.Boots) > seenBoots {
			n.Boots = n.Boots[1:]
		}
		n.Boot = h.Boot
	}
	n.Heard = b.Clock
	at := Moment(b.Clock)
	n.LastHeartbeatAt = &at
	if h.At != nil {
		if skew := Seconds(*h.At) - b.Clock; math.Abs(skew) > maxSkew {
			b.note(0, noteClock, "By the node's clock this heartbeat is %+.0f s from the server's time: that clock is off, or the heartbeat was sent again. The server's alone counts.", skew)
		}
	}
	if s := h.State; s != nil {
		merged := NodeReport{}
		if n.Report != nil {
			merged = *n.Report
		}
		for _, figure := range []struct{ from, to **float64 }{{&s.Load1, &merged.Load1}, {&s.CPUPercent, &merged.CPUPercent}, {&s.MemoryPercent, &merged.MemoryPercent},
			{&s.NetMBPerS, &merged.NetMBPerS}, {&s.DiskMBPerS, &merged.DiskMBPerS}, {&s.Residual, &merged.Residual}} {
			if *figure.from != nil {
				*figure.to = *figure.from
			}
		}
		if s.Features != nil {
			merged.Features = s.Features
		}
		n.Report = &merged
	}
	n.Residual = 1
	if n.Report != nil && n.Report.Residual != nil && !n.Dedicated {
		n.Residual = *n.Report.Residual
	}
	if n.State != NodeAlive {
		if n.State == NodeDead {
			b.note(0, noteReturned, "The node had counted as dead after %g s without a heartbeat; its tasks may be others' by now.", b.settings.NodeTimeoutSeconds)
		}
		n.State = NodeAlive
		b.nextDeath = min(b.nextDeath, n.Heard+b.settings.NodeTimeoutSeconds)
		n.Beats = 0
		b.describe(n)
		b.noteNode(dispatch.Joined, n)
	} else {
		b.describe(n)
	}
	b.touchNode(n)
}

// listen processes the reports on the node's tasks.
func (b *beat) listen() {
	claims := map[int64]*run{} // lost runs of this node, which it may report for the last time
	for id, r := range b.lost {
		if r.node == b.n {
			claims[id] = r
		}
	}
	for _, f := range b.h.Finished {
		b.finished(f, claims[f.Assignment])
	}
	for _, f := range b.h.Failed {
		if r := b.n.runs[f.Assignment]; r != nil {
			b.fail(r, f.Reason)
		} else {
			b.note(f.Assignment, noteIgnored, "%s", b.unknown(f.Assignment, claims[f.Assignment]))
		}
	}
	spoken := map[int64]bool{}
	for _, id := range b.h.Running {
		spoken[id] = true
		if b.n.runs[id] == nil {
			b.stray(id, claims[id])
		}
	}
	for _, r := range ordered(b.n.runs) {
		if !spoken[r.ID] {
			b.note(r.ID, noteForgotten, "The node has this assignment and does not speak of it; it is handed out again.")
			b.lose(r, CauseForgotten, true)
		}
	}
	for _, r := range ordered(claims) {
		if b.lost[r.ID] == r {
			r.Open = false
			delete(b.lost, r.ID)
			b.touchRun(r)
		}
	}
	b.n.Beats++
	b.n.d.Heartbeats = b.n.Beats
	b.noteNode(dispatch.Reported, b.n)
}

// ran returns a task's run time: the node's figure, unless that is impossible.
func (b *beat) ran(r *run, seconds float64) float64 {
	since := b.Clock - r.At
	if seconds == 0 {
		return since
	}
	if seconds > since+maxSkew {
		b.note(r.ID, noteSeconds, "It was handed out %.3f s ago and cannot have run %.3f s; the former counts.", since, seconds)
		return since
	}
	return seconds
}

func (b *beat) finished(f FinishedTask, claim *run) {
	if r := b.n.runs[f.Assignment]; r != nil {
		b.finish(r, b.ran(r, f.Seconds))
		return
	}
	if claim == nil || !b.current(claim) || claim.job.tasks[claim.Kind][claim.Task] == taskDone {
		b.note(f.Assignment, noteIgnored, "%s", b.unknown(f.Assignment, claim))
		return
	}
	if other := claim.job.copyOf(claim); other != nil {
		b.note(f.Assignment, noteSuperseded, "It had counted as lost and was handed out again as assignment %d to node %q; this copy was faster, and the other is told to stop.", other.ID, other.Node)
		b.lose(other, CauseSuperseded, true)
	} else {
		b.note(f.Assignment, noteLate, "It had counted as lost; it counts as done.")
	}
	b.takeBack(claim)
	b.finish(claim, b.ran(claim, f.Seconds))
}

// takeBack continues a run that was lost.
func (b *beat) takeBack(r *run) {
	r.job.Counts[r.Kind].Lost--
	r.job.triesOf(r.Kind, r.Task).Lost--
	b.hold(r)
}

// stray handles a running task that is not known to be the node's own.
func (b *beat) stray(id int64, claim *run) {
	if claim != nil && b.current(claim) && claim.job.tasks[claim.Kind][claim.Task] == taskWaiting {
		b.note(id, noteAdopted, "It had counted as lost; the node goes on with it.")
		b.takeBack(claim)
		return
	}
	if r := b.lost[id]; claim == nil && r != nil && r.node == b.n {
		claim = r // lost a moment ago
	}
	pool := b.layout.Of(dispatch.Map)
	if claim != nil {
		pool = b.layout.Of(claim.Kind)
	}
	b.foreign[pool]++
	code := "over"
	switch {
	case claim != nil:
		code = claim.Cause
	case id > b.LastRun:
		code = "unknown"
	}
	b.answer.Stop = append(b.answer.Stop, StopTask{Assignment: id, Code: code, Reason: b.unknown(id, claim)})
}

// current reports whether a lost run's job still needs its tasks.
func (b *beat) current(r *run) bool { return r.job != nil && r.job.State == JobActive }

// unknown explains that an assignment is not the node's.
func (b *beat) unknown(id int64, claim *run) string {
	switch {
	case id > b.LastRun:
		return "No such assignment was ever made."
	case b.Cluster.runs[id] != nil:
		return fmt.Sprintf("The assignment is that of node %q.", b.Cluster.runs[id].Node)
	case claim == nil:
		return "The assignment is over, or was never this node's."
	case !b.current(claim):
		return fmt.Sprintf("The job %d is over.", claim.Job)
	case claim.job.tasks[claim.Kind][claim.Task] == taskDone:
		return "Another copy of the task is done."
	case claim.job.tasks[claim.Kind][claim.Task] == taskRunning:
		return "The assignment had counted as lost, and its task was handed out again."
	}
	return "The assignment had counted as lost; its task waits to be handed out again."
}

// copyOf returns the run that now has the task of a lost run, or nil.
func (j *job) copyOf(r *run) *run {
	for _, other := range j.running[r.Kind] {
		if other.Task == r.Task {
			return other
		}
	}
	return nil
}

// assign offers the node's free slots.
func (b *beat) assign() error {
	limit := cmp.Or(b.policy.maxPerHeartbeat, math.MaxInt)
	for p := range dispatch.Pool(dispatch.Kinds) {
		running := b.n.d.Running[p]
		if b.layout == dispatch.Shared {
			running = len(b.n.runs)
		}
		free := b.n.d.Slots[p] - running - b.foreign[p]
		if b.policy.maxPerHeartbeat > 0 && (b.layout == dispatch.Separate || p == 0) {
			free = limit
		}
		for ; free > 0 && len(b.answer.Assignments) < limit && b.waiting[p] > 0; free-- {
			place := slices.Index(b.n.slots, nil)
			if place < 0 {
				place = len(b.n.slots)
			}
			choice := b.policy.Choose(b.Clock, dispatch.Slot{Number: b.n.d.Index*slotStride + place, Pool: p, Node: b.n.d})
			if choice.Job == nil {
				break
			}
			j := b.places[choice.Job.Index]
			if j == nil || j.d != choice.Job || j.ready(choice.Task) == 0 || b.layout.Of(choice.Task) != p {
				return Broken{fmt.Errorf("the policy %s chose a task of job %d that cannot start", b.settings.Policy.Kind, choice.Job.Number)}
			}
			r := b.start(b.n, j, choice.Task, b.policy.Why())
			a := r.assignment()
			a.Class = j.Request.Class
			b.answer.Assignments = append(b.answer.Assignments, a)
		}
	}
	return nil
}

// kindName returns the name of a kind of task.
func kindName(k dispatch.Kind) dispatch.TaskKind {
	if k == dispatch.Reduce {
		return dispatch.ReduceTask
	}
	return dispatch.MapTask
}

func failedTooOften(k dispatch.Kind, task, times int64, reason string) string {
	s := fmt.Sprintf("The %s %d has failed %s.", kindName(k), task, fault.Plural(times, "time"))
	if reason != "" {
		s += " The last time: " + reason
	}
	return s
}

// assignment returns the run as shown to its node.
func (r Run) assignment() Assignment {
	a := Assignment{Assignment: r.ID, Job: r.Job, JobName: r.JobName, Kind: kindName(r.Kind), Task: r.Task, Attempt: r.Attempt, Local: r.Local,
		Decided: decidedBy(r.Why)}
	return a
}

func decidedBy(why dispatch.Why) Decided {
	d := Decided{Rule: why.Rule, Reason: why.Reason, Of: why.Of, Tie: why.Tie, InClass: why.InClass}
	for _, f := range why.Figures {
		d.Figures = append(d.Figures, DecisionFigure(f))
	}
	return d
}

// Decision returns the run as shown to people.
func (r Run) Decision() LiveDecision {
	d := LiveDecision{At: Moment(r.At), Node: r.Node, Assignment: r.assignment(), Policy: r.Policy, Version: r.Version, Outcome: r.Outcome, Cause: r.Cause}
	if r.Ended > 0 {
		at := Moment(r.Ended)
		d.EndedAt = &at
	}
	if r.Outcome == TaskDone {
		d.Seconds = &r.Seconds
	}
	return d
}
