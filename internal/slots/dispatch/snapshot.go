package dispatch

import (
	"example.org/headroom/internal/core/perf"
)

// Snapshot describes a cluster at a moment: everything that policies and promises of deadlines look at. Moments are
// seconds on one clock, which may be that of Unix.
type Snapshot struct {
	NowSeconds float64 `json:"now_s"`
	// Separate means that map slots run maps and reduce slots run reduces. Otherwise every slot runs either.
	Separate bool            `json:"separate,omitempty"`
	Nodes    []SnapshotNode  `json:"nodes,omitempty"`
	Classes  []SnapshotClass `json:"classes,omitempty"` // with what was measured of their tasks
	Jobs     []SnapshotJob   `json:"jobs"`              // that have not ended
	Running  []RunningTasks  `json:"running,omitempty"`
}

// SnapshotNode is a node that is alive.
type SnapshotNode struct {
	Name         string        `json:"name"`
	Type         string        `json:"type,omitempty"`
	Cores        float64       `json:"cores"`          // default 1
	Slots        SnapshotSlots `json:"slots,omitzero"` // without separate slots their sum counts
	ComputeUnits float64       `json:"compute_units,omitempty"`
	Residual     float64       `json:"residual"` // default 1
	Report       Report        `json:"report,omitzero"`
}

// SnapshotSlots counts slots for tasks of each kind.
type SnapshotSlots struct {
	Map    int64 `json:"map,omitzero"`
	Reduce int64 `json:"reduce,omitempty"`
}

// SnapshotClass holds the measurements that the jobs of a class share.
type SnapshotClass struct {
	Name           string         `json:"name"`
	TaskTime       *perf.TaskTime `json:"task_time,omitempty"`        // of maps
	ReduceTaskTime *perf.TaskTime `json:"reduce_task_time,omitempty"` // promises alone read it
	Rates          []TypeTasks    `json:"rates,omitempty"`            // of maps, by type of nodes
}

// TypeTasks is the mean time of a class's maps on a type of nodes.
type TypeTasks struct {
	Type        string  `json:"type,omitempty"`
	Tasks       int64   `json:"tasks"` // that were measured; default 1
	MeanSeconds float64 `json:"mean_s"`
}

// SnapshotJob is a job that has not ended.
type SnapshotJob struct {
	Name             string        `json:"name"`
	Class            string        `json:"class,omitempty"` // default its name
	SubmittedSeconds float64       `json:"submitted_s"`
	DeadlineSeconds  float64       `json:"deadline_s,omitempty"` // a moment as well; 0 is none
	Maps             SnapshotTasks `json:"maps,omitzero"`
	Reduces          SnapshotTasks `json:"reduces,omitzero"`
	Weight           float64       `json:"weight"` // default 1
	MinShare         float64       `json:"min_share,omitempty"`
	ReadMBPerSecond  float64       `json:"read_mb_s,omitempty"` // of a task on a dedicated node, from each data node
	Usage            SnapshotUsage `json:"usage,omitzero"`
	JobWorth
}

// JobWorth holds the figures of a job that utilities read, each those of its own.
type JobWorth struct {
	Worth    float64 `json:"worth,omitempty"`
	Balance  float64 `json:"balance,omitempty"`
	Promised float64 `json:"promised,omitempty"`
	Revenue  float64 `json:"revenue,omitempty"`
}

// SnapshotTasks counts a job's tasks of one kind.
type SnapshotTasks struct {
	Total int64 `json:"total"`
	Done  int64 `json:"done,omitempty"`
	// Ready ones could start now. By default these are all that neither run nor are done; reduces need all maps done.
	Ready *int64 `json:"ready,omitempty"`
}

// SnapshotUsage rates the use of resources by a job's tasks.
type SnapshotUsage struct {
	Map    Usage `json:"map,omitzero"`
	Reduce Usage `json:"reduce,omitempty"`
}

// RunningTasks are alike tasks that run on a node.
type RunningTasks struct {
	Job   string   `json:"job"`
	Kind  TaskKind `json:"kind"`
	Node  string   `json:"node,omitempty"` // "" where the snapshot has no nodes
	Tasks int64    `json:"tasks"`          // default 1
}

// kind returns the kind of tasks that a word names.
func (k TaskKind) kind() Kind {
	if k == ReduceTask {
		return Reduce
	}
	return Map
}

// word is the inverse of kind.
func (k Kind) word() TaskKind { return TaskKind(kindNames[k]) }

// layout returns how slots are used.
func (s *Snapshot) layout() Layout {
	if s.Separate {
		return Separate
	}
	return Shared
}

// scene is a snapshot as policies see it.
type scene struct {
	layout  Layout
	nodes   map[string]*Node
	jobs    map[string]*Job
	ordered []*Job
	classes map[string]int // numbers; those of shares first
	first   []*Node        // in the order of the snapshot
}

// scene makes the nodes and jobs of a snapshot. Jobs of a class share their measurements.
func (s *Snapshot) scene(classes []string) *scene {
	c := &scene{layout: s.layout(), nodes: map[string]*Node{}, jobs: map[string]*Job{}, classes: map[string]int{}}
	for i, name := range classes {
		c.classes[name] = i
	}
	for i := range s.Nodes {
		n := s.Nodes[i].node(c.layout)
		n.Index = i
		c.nodes[n.Name], c.first = n, append(c.first, n)
	}
	known := s.known()
	running := map[string][Kinds]int64{}
	for _, r := range s.Running {
		of := running[r.Job]
		of[r.Kind.kind()] += r.Tasks
		running[r.Job] = of
	}
	for i := range s.Jobs {
		j := s.Jobs[i].job(running[s.Jobs[i].Name])
		j.Index, j.Number = i, int64(i)
		class := s.Jobs[i].class()
		number, seen := c.classes[class]
		if !seen {
			number = len(c.classes)
			c.classes[class] = number
		}
		if _, measured := known[class]; !measured {
			known[class] = &Known{Rates: &perf.Rates{}}
		}
		j.Class, j.TaskTime, j.Rates = number, known[class].TaskTime, known[class].Rates
		c.jobs[j.Name], c.ordered = j, append(c.ordered, j)
	}
	return c
}

// known returns the measurements of the classes.
func (s *Snapshot) known() map[string]*Known {
	known := map[string]*Known{}
	for i := range s.Classes {
		c := &s.Classes[i]
		k := &Known{TaskTime: c.TaskTime, Rates: &perf.Rates{}}
		for _, r := range c.Rates {
			if k.Rates.Types == nil {
				k.Rates.Types = map[string]perf.Mean{}
			}
			k.Rates.Types[r.Type] = perf.Mean{Count: r.Tasks, Seconds: r.MeanSeconds}
		}
		known[c.Name] = k
	}
	return known
}

// node returns the node as policies see it, before its tasks are counted.
func (n *SnapshotNode) node(l Layout) *Node {
	slots := [Kinds]int{int(n.Slots.Map), int(n.Slots.Reduce)}
	if l == Shared {
		slots = [Kinds]int{slots[0] + slots[1], 0}
	}
	return &Node{Name: n.Name, Type: n.Type, Cores: n.Cores, Slots: slots, ComputeUnits: n.ComputeUnits, Residual: n.Residual,
		Report: n.Report}
}

func (j *SnapshotJob) class() string {
	if j.Class == "" {
		return j.Name
	}
	return j.Class
}

// ready returns the tasks of each kind that could start now.
func (j *SnapshotJob) ready(running [Kinds]int64) [Kinds]int64 {
	ready := [Kinds]int64{j.Maps.Total - j.Maps.Done - running[Map], j.Reduces.Total - j.Reduces.Done - running[Reduce]}
	if j.Maps.Done < j.Maps.Total {
		ready[Reduce] = 0
	}
	for k, of := range [Kinds]*SnapshotTasks{&j.Maps, &j.Reduces} {
		if of.Ready != nil {
			ready[k] = *of.Ready
		}
	}
	return ready
}

// job returns the job as policies see it, with its running tasks among those that could start.
func (j *SnapshotJob) job(running [Kinds]int64) *Job {
	ready := j.ready(running)
	return &Job{Name: j.Name, SubmittedSeconds: j.SubmittedSeconds, DeadlineSeconds: j.DeadlineSeconds,
		Pending:    [Kinds]int{int(ready[Map] + running[Map]), int(ready[Reduce] + running[Reduce])},
		Unfinished: int(j.Maps.Total - j.Maps.Done + j.Reduces.Total - j.Reduces.Done),
		Maps:       int(j.Maps.Total), MapsDone: int(j.Maps.Done),
		Wants: Wants{Weight: j.Weight, MinShare: j.MinShare, Worth: j.Worth, Balance: j.Balance, Promised: j.Promised, Revenue: j.Revenue},
		Known: Known{ReadMBPerSecond: j.ReadMBPerSecond, Usage: [Kinds]Usage{j.Usage.Map, j.Usage.Reduce}}}
}

// told notes the snapshot to a policy, as a live cluster does to one that is made anew.
func (s *Snapshot) told(c *scene, p Policy) {
	for _, n := range c.first {
		p.Note(Event{What: Joined, Now: s.NowSeconds, Node: n})
	}
	for _, j := range c.ordered {
		p.Note(Event{What: Arrived, Now: s.NowSeconds, Job: j})
	}
	number := 0
	for _, r := range s.Running {
		j, n, k := c.jobs[r.Job], c.nodes[r.Node], r.Kind.kind()
		for range r.Tasks {
			j.Pending[k]--
			j.Running[k]++
			if n != nil {
				n.Running[k]++
			}
			slot := Slot{Number: number, Pool: c.layout.Of(k), Node: n}
			p.Note(Event{What: Started, Now: s.NowSeconds, Job: j, Task: k, Slot: slot})
			number++
		}
	}
}
