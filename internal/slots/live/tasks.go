package live

import (
	"example.org/headroom/internal/slots/dispatch"
)

// Causes of lost runs.
const (
	CauseDead       = "node_dead"    // the node was silent for too long
	CauseForgotten  = "forgotten"    // the node does not mention it
	CauseSuperseded = "superseded"   // another copy of the task is done
	CauseJobOver    = "job_over"     // the job was killed or has failed
	CauseRemoved    = "node_removed" // somebody has removed the node
)

// start hands a task out.
func (c *Cluster) start(n *node, j *job, k dispatch.Kind, why dispatch.Why) *run {
	task, local := j.pick(k, n.Name)
	c.LastRun++
	r := &run{Run: Run{ID: c.LastRun, At: c.Clock, Node: n.Name, Job: j.Number, JobName: j.Request.Name, Kind: k, Task: task, Attempt: j.attempt(k, task), Local: local,
		Why: why, Policy: c.settings.Policy.Kind, Version: c.settings.Version, Outcome: TaskRunning, Open: true}, node: n, job: j, fresh: true}
	c.started = append(c.started, r)
	c.hold(r)
	return r
}

// hold makes a run and its task count as running.
func (c *Cluster) hold(r *run) {
	r.Outcome, r.Open, r.Cause, r.Ended = TaskRunning, true, "", 0
	r.job.tasks[r.Kind][r.Task] = taskRunning
	r.job.running[r.Kind][r.ID] = r
	r.node.runs[r.ID] = r
	c.runs[r.ID] = r
	delete(c.lost, r.ID)
	c.begin(r)
	c.touchNode(r.node)
	c.touchJob(r.job)
	c.touchRun(r)
}

// drop stops counting a run as running.
func (c *Cluster) drop(r *run, outcome TaskOutcome) {
	delete(r.job.running[r.Kind], r.ID)
	delete(r.node.runs, r.ID)
	delete(c.runs, r.ID)
	r.Outcome, r.Open, r.Ended = outcome, false, c.Clock
	c.touchNode(r.node)
	c.touchJob(r.job)
	c.touchRun(r)
}

// lose ends a run with an unknown outcome. Its task waits again, unless it is done or the job is over. The node can
// still report an open run.
func (c *Cluster) lose(r *run, cause string, open bool) {
	c.drop(r, TaskLost)
	r.Cause, r.Open = cause, open
	if open {
		c.lost[r.ID] = r
	}
	j := r.job
	j.Counts[r.Kind].Lost++
	j.triesOf(r.Kind, r.Task).Lost++
	c.leave(r, dispatch.Lost, 0)
	if j.tasks[r.Kind][r.Task] == taskRunning {
		c.waitAgain(r)
	}
}

func (c *Cluster) waitAgain(r *run) {
	r.job.giveBack(r.Kind, r.Task)
	if r.job.State == JobActive {
		c.offerTasks(r.job, r.Kind, 1)
		c.noteJob(dispatch.Ready, r.job, r.Kind)
	}
}

// finish ends a run that has done its work.
func (c *Cluster) finish(r *run, seconds float64) {
	j := r.job
	c.drop(r, TaskDone)
	r.Seconds = seconds
	j.tasks[r.Kind][r.Task] = taskDone
	j.Counts[r.Kind].Done++
	if c.measurable(j, r) {
		c.measure(j, r, seconds)
	}
	c.leave(r, dispatch.Done, seconds)
	c.release(j)
	if j.unfinished() == 0 {
		c.endJob(j, JobDone, "")
	}
}

// measurable reports whether a task's run time is its own. A reduce that could begin before the last map has waited
// for maps.
func (c *Cluster) measurable(j *job, r *run) bool {
	return r.Kind == dispatch.Map || j.Request.Slowstart >= 1 || c.layout == dispatch.Shared && r.Version == c.settings.Version
}

// measure records a task's run time.
func (c *Cluster) measure(j *job, r *run, seconds float64) {
	m := c.measuredOf(j)
	m.of(r.Kind).add(r.node.Residual, seconds)
	c.dirtyClasses[j.Request.Class] = true
	if r.Kind == dispatch.Reduce { // policies only use maps
		return
	}
	m.Rates.Add(r.node.Type, seconds)
	for _, other := range c.jobs { // the order does not matter: each gets the same
		if other.Request.Class == j.Request.Class {
			other.d.TaskTime = m.Fit
		}
	}
}

// release lets a job's reduces start once enough of its maps are done.
func (c *Cluster) release(j *job) {
	if j.released || j.Counts[dispatch.Map].Done < j.mapsBefore(c.layout) {
		return
	}
	j.released = true
	if n := j.waiting(dispatch.Reduce); n > 0 {
		c.offerTasks(j, dispatch.Reduce, n)
		c.noteJob(dispatch.Ready, j, dispatch.Reduce)
	}
}

// fail ends a run that has failed. A task that fails too often ends its job.
func (c *Cluster) fail(r *run, reason string) {
	j := r.job
	c.drop(r, TaskFailed)
	j.Counts[r.Kind].Failures++
	tries := j.triesOf(r.Kind, r.Task)
	tries.Failed++
	c.leave(r, dispatch.Failed, 0)
	if tries.Failed >= j.Request.MaxAttempts {
		j.giveBack(r.Kind, r.Task)
		c.endJob(j, JobFailed, failedTooOften(r.Kind, r.Task, tries.Failed, reason))
		return
	}
	c.waitAgain(r)
}

// endJob ends a job. Its running tasks will be stopped at their nodes' next heartbeats.
func (c *Cluster) endJob(j *job, state JobState, reason string) {
	j.State, j.Reason, j.Ended = state, reason, c.Clock
	for k := range dispatch.Kind(dispatch.Kinds) {
		for _, r := range ordered(j.running[k]) {
			c.lose(r, CauseJobOver, true)
		}
		c.offerTasks(j, k, -j.d.Pending[k])
	}
	c.noteJob(dispatch.Left, j, 0)
	c.touchJob(j)
	delete(c.jobs, j.Number)
	c.places[j.d.Index] = nil
}
