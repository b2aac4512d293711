package live

import (
	"bytes"
	"cmp"
	"fmt"
	"maps"
	"math"
	"reflect"
	"slices"

	"example.org/headroom/internal/slots/dispatch"
)

// Cluster is a live cluster at work. A method that returns an error has changed nothing, unless the error is a
// Broken: then the cluster must be loaded again.
type Cluster struct {
	settings LiveSettings
	Counters
	policy chooser
	layout dispatch.Layout

	nodes    map[string]*node
	indexed  []*node // by index; nil where it is free
	jobs     map[int64]*job
	places   []*job               // by index; nil where it is free
	runs     map[int64]*run       // running ones
	lost     map[int64]*run       // lost ones that are open
	measured map[string]*Measured // by class
	classes  map[string]int       // numbers that policies use; those of shares first
	waiting  [dispatch.Kinds]int  // tasks that could start, by pool

	nextDeath float64 // no node dies before

	// Changes to store.
	changes      Changes
	dirtyNodes   []*node
	dirtyJobs    []*job
	ended        []*run // changed runs that were not started within the same changes
	started      []*run
	dirtyClasses map[string]bool
	memories     map[dispatch.PolicyKind]Memory // as last stored
	pending      map[int64]dispatch.Decision    // unjudged choices of the policy learned
}

// run is an assignment at work.
type run struct {
	Run
	node  *node
	job   *job
	place int // its slot on the node
	fresh bool
	dirty bool
}

// node is a node at work.
type node struct {
	Node
	d     *dispatch.Node
	runs  map[int64]*run
	slots []*run
	dirty bool
}

// slotStride separates the slot numbers of different nodes.
const slotStride = 1 << 12

// Load makes a cluster from its stored state.
func Load(s State, judged Judged) (*Cluster, error) {
	c := &Cluster{settings: s.Settings, Counters: s.Counters, nodes: map[string]*node{}, jobs: map[int64]*job{}, runs: map[int64]*run{}, lost: map[int64]*run{},
		measured: map[string]*Measured{}, dirtyClasses: map[string]bool{}, memories: map[dispatch.PolicyKind]Memory{}, pending: map[int64]dispatch.Decision{}}
	maps.Copy(c.memories, s.Memories)
	for _, p := range s.Pending {
		c.pending[p.Number] = p
	}
	for class, m := range s.Measured {
		c.measured[class] = &m
	}
	for _, kept := range s.Nodes {
		c.addNode(kept)
	}
	for _, kept := range s.Jobs {
		c.addJob(kept)
	}
	for _, kept := range s.Runs {
		r := &run{Run: kept, node: c.nodes[kept.Node], job: c.jobs[kept.Job]}
		switch {
		case r.node == nil:
			return nil, fmt.Errorf("assignment %d is of a node %q that is not there", r.ID, r.Node)
		case r.Outcome == TaskLost:
			c.lost[r.ID] = r
		case r.job == nil:
			return nil, fmt.Errorf("assignment %d is of a job %d that is not active", r.ID, r.Job)
		default:
			r.job.tasks[r.Kind][r.Task] = taskRunning
			r.job.running[r.Kind][r.ID] = r
			r.node.runs[r.ID] = r
			c.runs[r.ID] = r
		}
	}
	memory, remembered := c.memories[s.Settings.Policy.Kind]
	if !remembered {
		return c, c.resetPolicy(nil, judged)
	}
	return c, c.resetPolicy(&memory, judged)
}

func (c *Cluster) addNode(kept Node) *node {
	n := &node{Node: kept, runs: map[int64]*run{}}
	index := slices.Index(c.indexed, nil)
	if index < 0 {
		index = len(c.indexed)
		c.indexed = append(c.indexed, nil)
	}
	n.d = &dispatch.Node{Index: index}
	c.indexed[index] = n
	c.nodes[kept.Name] = n
	return n
}

func (c *Cluster) addJob(kept Job) *job {
	j := newJob(kept)
	index := slices.Index(c.places, nil)
	if index < 0 {
		index = len(c.places)
		c.places = append(c.places, nil)
	}
	j.d = &dispatch.Job{Index: index}
	c.places[index] = j
	c.jobs[kept.Number] = j
	return j
}

// resetPolicy makes the policy of the settings anew and notes everything that exists. It starts from the policy that
// remembered. Lessons in other ranges or by other rules are learned again.
func (c *Cluster) resetPolicy(memory *Memory, judged Judged) error {
	var remembered *dispatch.PolicyConfig
	if memory != nil {
		remembered = &memory.Policy
	}
	policy, err := newPolicy(c.settings, remembered)
	if err != nil {
		return err
	}
	c.policy, c.layout = policy, layoutOf(c.settings.Slots)
	c.classes = map[string]int{}
	for i, share := range c.settings.Shares {
		c.classes[share.Class] = i
	}
	c.nextDeath = 0
	for _, n := range c.indexed {
		if n == nil {
			continue
		}
		n.slots = n.slots[:0]
		n.d = &dispatch.Node{Index: n.d.Index}
		c.describe(n)
		if n.State == NodeAlive {
			c.noteNode(dispatch.Joined, n)
		}
	}
	c.waiting = [dispatch.Kinds]int{}
	open := slices.SortedFunc(maps.Values(c.runs), func(a, b *run) int { return cmp.Compare(a.ID, b.ID) })
	for _, number := range slices.Sorted(maps.Keys(c.jobs)) {
		j := c.jobs[number]
		j.d = &dispatch.Job{Index: j.d.Index}
		c.place(j)
		c.noteJob(dispatch.Arrived, j, 0)
	}
	for _, r := range open {
		c.begin(r)
	}
	if keeper, remembers := policy.Policy.(dispatch.Memory); remembers && memory != nil {
		if err := keeper.Recall(memory.Text); err != nil {
			return fmt.Errorf("give the policy %s back what it remembers: %w", c.settings.Policy.Kind, err)
		}
	}
	if policy.learned == nil {
		return nil
	}
	waiting := slices.SortedFunc(maps.Values(c.pending), func(a, b dispatch.Decision) int { return cmp.Compare(a.Number, b.Number) })
	c.dropped(policy.learned.Resume(waiting))
	if memory != nil && !reflect.DeepEqual(memory.Policy, c.settings.Policy) {
		return c.relearn(judged)
	}
	return nil
}

// place describes a job to policies in its current state, with its running tasks among those that could start.
func (c *Cluster) place(j *job) {
	d := j.d
	d.Number, d.Name, d.SubmittedSeconds, d.DeadlineSeconds, d.Unfinished = j.Number, j.Request.Name, j.Submitted, j.Deadline, int(j.unfinished())
	u := j.Request.Utility
	d.Wants = dispatch.Wants{Weight: j.Request.Weight, MinShare: j.Request.MinShare, Worth: u.Worth, Balance: j.balance(), Promised: u.Promised, Revenue: u.Revenue}
	d.Maps, d.MapsDone = int(j.Request.Maps), int(j.Counts[dispatch.Map].Done)
	m := c.measuredOf(j)
	d.Class = c.classOf(j)
	d.Known = dispatch.Known{TaskTime: m.Fit, Rates: &m.Rates, ReadMBPerSecond: j.Request.ReadMBPerS,
		Usage: [dispatch.Kinds]dispatch.Usage{dispatch.Usage(j.Request.Usage.Map), dispatch.Usage(j.Request.Usage.Reduce)}}
	j.released = j.released || len(j.running[dispatch.Reduce]) > 0 || j.Counts[dispatch.Reduce].Done > 0 || j.Counts[dispatch.Map].Done >= j.mapsBefore(c.layout)
	for k := range dispatch.Kind(dispatch.Kinds) {
		c.offerTasks(j, k, j.ready(k)+len(j.running[k]))
	}
}

// describe updates the policies' view of a node.
func (c *Cluster) describe(n *node) {
	d := n.d
	d.Name, d.Type, d.Cores, d.ComputeUnits, d.Residual = n.Name, n.Type, n.Cores, n.ComputeUnits, n.Residual
	d.Heartbeats = n.Beats
	if d.Slots = [dispatch.Kinds]int{int(n.Slots.Map), int(n.Slots.Reduce)}; c.layout == dispatch.Shared {
		d.Slots = [dispatch.Kinds]int{int(n.Slots.Map + n.Slots.Reduce), 0}
	}
	if r := n.Report; r != nil {
		d.Report = dispatch.Report{}
		for _, figure := range []struct {
			from *float64
			to   *float64
		}{{r.Load1, &d.Report.Load1}, {r.CPUPercent, &d.Report.CPUPercent}, {r.MemoryPercent, &d.Report.MemoryPercent},
			{r.NetMBPerS, &d.Report.NetMBPerSecond}, {r.DiskMBPerS, &d.Report.DiskMBPerSecond}} {
			if figure.from != nil {
				*figure.to = *figure.from
			}
		}
		for name, f := range r.Features {
			if f.Number != nil {
				if d.Report.Numbers == nil {
					d.Report.Numbers = map[string]float64{}
				}
				d.Report.Numbers[name] = *f.Number
			} else {
				if d.Report.Words == nil {
					d.Report.Words = map[string]string{}
				}
				d.Report.Words[name] = f.Word
			}
		}
	}
}

// measuredOf returns the measurements of a job's class.
func (c *Cluster) measuredOf(j *job) *Measured {
	m := c.measured[j.Request.Class]
	if m == nil {
		m = new(Measured)
		c.measured[j.Request.Class] = m
	}
	return m
}

// classOf returns the number of a job's class.
func (c *Cluster) classOf(j *job) int {
	number, known := c.classes[j.Request.Class]
	if !known {
		number = len(c.classes)
		c.classes[j.Request.Class] = number
	}
	return number
}

func (c *Cluster) noteNode(what dispatch.What, n *node) {
	c.policy.Note(dispatch.Event{What: what, Now: c.Clock, Node: n.d})
	if l := c.policy.learned; l != nil {
		for _, d := range l.Judged() {
			delete(c.pending, d.Number)
			c.changes.Judged = append(c.changes.Judged, d)
		}
		c.dropped(l.Dropped())
	}
}

func (c *Cluster) noteJob(what dispatch.What, j *job, k dispatch.Kind) {
	c.policy.Note(dispatch.Event{What: what, Now: c.Clock, Job: j.d, Task: k})
}

// dropped records choices that will never be judged.
func (c *Cluster) dropped(numbers []int64) {
	for _, number := range numbers {
		delete(c.pending, number)
	}
	c.changes.Dropped = append(c.changes.Dropped, numbers...)
}

// relearn makes the policy learned learn everything again under the current settings.
func (c *Cluster) relearn(judged Judged) error {
	flipped, err := c.policy.learned.RelearnAfter(judged.Ahead, c.settings.Policy, judged.After)
	if err != nil {
		return err
	}
	r := &Relearned{Flipped: append([]int64{}, flipped...)}
	r.Rules = c.policy.learned.Knowledge().Rules
	c.policy.setLimit(c.settings.Policy)
	c.changes.Relearned = r
	return nil
}

// offerTasks adds to the tasks that could start.
func (c *Cluster) offerTasks(j *job, k dispatch.Kind, tasks int) {
	j.d.Pending[k] += tasks
	c.waiting[c.layout.Of(k)] += tasks
}

func (c *Cluster) slotOf(r *run) dispatch.Slot {
	return dispatch.Slot{Number: r.node.d.Index*slotStride + r.place, Pool: c.layout.Of(r.Kind), Node: r.node.d}
}

// begin puts a run on a slot of its node and notes it to the policy.
func (c *Cluster) begin(r *run) {
	n := r.node
	r.place = slices.Index(n.slots, nil)
	if r.place < 0 {
		r.place = len(n.slots)
		n.slots = append(n.slots, nil)
	}
	n.slots[r.place] = r
	c.offerTasks(r.job, r.Kind, -1)
	r.job.d.Running[r.Kind]++
	n.d.Running[r.Kind]++
	r.job.d.Balance = r.job.balance()
	c.policy.Note(dispatch.Event{What: dispatch.Started, Now: c.Clock, Job: r.job.d, Task: r.Kind, Slot: c.slotOf(r)})
	if l := c.policy.learned; l != nil {
		if d, made := l.Decided(); made {
			c.pending[d.Number] = d
			c.changes.Decided = append(c.changes.Decided, Learned{r.ID, d})
		}
	}
}

// leave takes a run from its slot and notes it to the policy.
func (c *Cluster) leave(r *run, outcome dispatch.Outcome, seconds float64) {
	r.node.slots[r.place] = nil
	r.job.d.Running[r.Kind]--
	r.node.d.Running[r.Kind]--
	r.job.d.Unfinished, r.job.d.MapsDone = int(r.job.unfinished()), int(r.job.Counts[dispatch.Map].Done)
	c.policy.Note(dispatch.Event{What: dispatch.Ended, Now: c.Clock, Job: r.job.d, Task: r.Kind, Slot: c.slotOf(r), Outcome: outcome, Seconds: seconds})
}

// advance moves the clock: nodes that were silent for too long die.
func (c *Cluster) advance(now float64) {
	if now = max(c.Clock, now); now > c.Clock {
		c.Clock = now
	}
	if c.Clock <= c.nextDeath {
		return
	}
	c.nextDeath = math.Inf(1)
	for _, n := range c.indexed {
		if n == nil || n.State != NodeAlive {
			continue
		}
		if dies := n.Heard + c.settings.NodeTimeoutSeconds; c.Clock <= dies {
			c.nextDeath = min(c.nextDeath, dies)
			continue
		}
		n.State = NodeDead
		for _, r := range ordered(n.runs) {
			c.lose(r, CauseDead, true)
		}
		c.noteNode(dispatch.Gone, n)
		c.touchNode(n)
	}
}

// Advance applies the changes that come by themselves until a moment. Callers need not call it before other methods.
func (c *Cluster) Advance(now float64) { c.advance(now) }

func ordered(runs map[int64]*run) []*run {
	return slices.SortedFunc(maps.Values(runs), func(a, b *run) int { return cmp.Compare(a.ID, b.ID) })
}

func (c *Cluster) touchNode(n *node) {
	if !n.dirty {
		n.dirty = true
		c.dirtyNodes = append(c.dirtyNodes, n)
	}
}

func (c *Cluster) touchJob(j *job) {
	if !j.dirty {
		j.dirty = true
		c.dirtyJobs = append(c.dirtyJobs, j)
	}
}

func (c *Cluster) touchRun(r *run) {
	if !r.fresh && !r.dirty {
		r.dirty = true
		c.ended = append(c.ended, r)
	}
}

// Changes returns the changes since the last call.
func (c *Cluster) Changes() (Changes, error) {
	out := c.changes
	out.Counters = c.Counters
	for _, n := range c.dirtyNodes {
		n.dirty = false
		if c.nodes[n.Name] == n {
			n.Running = int64(len(n.runs))
			out.Nodes = append(out.Nodes, n.Node)
		}
	}
	for _, j := range c.dirtyJobs {
		j.dirty = false
		out.Jobs = append(out.Jobs, j.kept())
	}
	for _, r := range c.started {
		r.fresh = false
		out.Started = append(out.Started, r.Run)
	}
	for _, r := range c.ended {
		r.dirty = false
		out.Ended = append(out.Ended, r.Run)
	}
	if len(c.dirtyClasses) > 0 {
		out.Measured = map[string]Measured{}
		for class := range c.dirtyClasses {
			out.Measured[class] = c.measured[class].clone()
		}
	}
	if keeper, remembers := c.policy.Policy.(dispatch.Memory); remembers {
		memory, err := keeper.Memory()
		if err != nil {
			return Changes{}, fmt.Errorf("keep what the policy %s remembers: %w", c.settings.Policy.Kind, err)
		}
		if last, stored := c.memories[c.settings.Policy.Kind]; !stored || !bytes.Equal(memory, last.Text) || out.Settings != nil {
			m := Memory{c.settings.Policy, memory}
			out.Memory, c.memories[c.settings.Policy.Kind] = &m, m
		}
	}
	c.changes, c.dirtyNodes, c.dirtyJobs, c.started, c.ended, c.dirtyClasses = Changes{}, nil, nil, nil, nil, map[string]bool{}
	return out, nil
}
