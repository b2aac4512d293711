package dispatch

import (
	"maps"
	"slices"

	"example.org/headroom/internal/core/fault"
	"example.org/headroom/internal/core/perf"
	"example.org/headroom/internal/core/strict"
)

// Limits of a snapshot: beyond them a question takes seconds, or somebody has mistaken a unit.
const (
	maxSnapshotNodes   = 5_000
	maxSnapshotJobs    = 2_000
	maxSnapshotClasses = 200
	maxSnapshotSlots   = 100_000 // of all nodes
	maxSnapshotRunning = 20_000  // rows
	maxSnapshotTasks   = 10_000_000
	maxSnapshotSeconds = 1e12 // of a moment
	maxTaskSeconds     = 1e7
	maxTypesOfClass    = 100
	maxCores           = 1e6
	maxTimeFactor      = 1e100 // far from the measured parts of a node, curves reach any height
	maxTimeExponent    = 1e3
	maxWish            = 1e9 // weights, shares of slots and worths
)

var (
	nodeShape      = strict.NewShape("a node", []string{"name"}, "type", "cores", "slots", "compute_units", "residual", "report")
	slotsShape     = strict.NewShape("the slots", nil, "map", "reduce")
	reportShape    = strict.NewShape("a report", nil, "load1", "cpu_pct", "mem_pct", "net_mb_s", "disk_mb_s", "numbers", "words")
	classShape     = strict.NewShape("a class", []string{"name"}, "task_time", "reduce_task_time", "rates")
	taskTimeShape  = strict.NewShape("a task's time", []string{"a"}, "b", "c", "d", "least_residual", "most_residual")
	typeTasksShape = strict.NewShape("the tasks on a type of nodes", []string{"type", "mean_s"}, "tasks")
	jobShape       = strict.NewShape("a job", []string{"name"}, "class", "submitted_s", "deadline_s", "maps", "reduces", "weight", "min_share",
		"read_mb_s", "usage", "worth", "balance", "promised", "revenue")
	tasksShape    = strict.NewShape("the tasks", []string{"total"}, "done", "ready")
	usagesShape   = strict.NewShape("the usage", nil, "map", "reduce")
	usageShape    = strict.NewShape("the usage of a task", nil, "cpu", "memory", "disk", "network")
	runningShape  = strict.NewShape("running tasks", []string{"job"}, "kind", "node", "tasks")
	taskKindWords = []TaskKind{MapTask, ReduceTask}
	tasksMembers  = [Kinds]string{"maps", "reduces"}
)

// read reads a member of a snapshot; others are left to the caller.
func (s *Snapshot) read(r *strict.Reader, name string) (read bool) {
	switch name {
	case "now_s":
		r.Float(&s.NowSeconds)
	case "separate":
		r.Flag(&s.Separate)
	case "nodes":
		s.Nodes = strict.List(r, "of nodes", maxSnapshotNodes, readNode)
	case "classes":
		s.Classes = strict.List(r, "of classes", maxSnapshotClasses, readClass)
	case "jobs":
		s.Jobs = strict.List(r, "of jobs", maxSnapshotJobs, readJob)
	case "running":
		s.Running = strict.List(r, "of running tasks", maxSnapshotRunning, func(r *strict.Reader, t *RunningTasks) {
			*t = RunningTasks{Kind: MapTask, Tasks: 1}
			r.Fields(runningShape, t)
		})
	default:
		return false
	}
	return true
}

func readNode(r *strict.Reader, n *SnapshotNode) {
	*n = SnapshotNode{Cores: 1, Residual: 1}
	r.Object(nodeShape, func(name string) {
		switch name {
		case "slots":
			r.Fields(slotsShape, &n.Slots)
		case "report":
			r.Object(reportShape, func(name string) { readReported(r, &n.Report, name) })
		default:
			r.Field(n, name)
		}
	})
}

// readReported reads a member of a report.
func readReported(r *strict.Reader, of *Report, name string) {
	switch name {
	case "numbers":
		of.Numbers = strict.Named(r, "of numbers by feature", "feature", maxFeatures, (*strict.Reader).Float)
	case "words":
		of.Words = strict.Named(r, "of words by feature", "feature", maxFeatures, func(r *strict.Reader, s *string) { *s, _ = r.Text() })
	default:
		r.Field(of, name)
	}
}

func readClass(r *strict.Reader, c *SnapshotClass) {
	r.Object(classShape, func(name string) {
		switch name {
		case "task_time":
			c.TaskTime = new(perf.TaskTime)
			r.Fields(taskTimeShape, c.TaskTime)
		case "reduce_task_time":
			c.ReduceTaskTime = new(perf.TaskTime)
			r.Fields(taskTimeShape, c.ReduceTaskTime)
		case "rates":
			c.Rates = strict.List(r, "of types", maxTypesOfClass, func(r *strict.Reader, t *TypeTasks) {
				t.Tasks = 1
				r.Fields(typeTasksShape, t)
			})
		default:
			r.Field(c, name)
		}
	})
}

func readJob(r *strict.Reader, j *SnapshotJob) {
	j.Weight = 1
	r.Object(jobShape, func(name string) {
		switch name {
		case "maps":
			r.Fields(tasksShape, &j.Maps)
		case "reduces":
			r.Fields(tasksShape, &j.Reduces)
		case "usage":
			r.Object(usagesShape, func(name string) {
				if name == "map" {
					r.Fields(usageShape, &j.Usage.Map)
				} else {
					r.Fields(usageShape, &j.Usage.Reduce)
				}
			})
		default:
			r.Field(j, name)
		}
	})
}

// check checks the snapshot, and returns the indices of its nodes and jobs.
func (s *Snapshot) check(c *strict.Checker) (nodes, jobs strict.Names) {
	c.Number("now_s", "The moment", "s", s.NowSeconds, maxSnapshotSeconds)
	nodes, jobs = strict.Names{}, strict.Names{}
	total := int64(0)
	strict.Each(c, "nodes", s.Nodes, func(n *SnapshotNode) {
		nodes.Add(c, "node", n.Name, len(nodes))
		n.check(c)
		total += min(max(n.Slots.Map, 0), maxSnapshotSlots) + min(max(n.Slots.Reduce, 0), maxSnapshotSlots)
	})
	if total > maxSnapshotSlots {
		c.Refuse("nodes", "too_many", "The nodes have %d slots; at most %d are looked at.", total, maxSnapshotSlots)
	}
	classes := strict.Names{}
	strict.Each(c, "classes", s.Classes, func(k *SnapshotClass) {
		classes.Add(c, "class", k.Name, len(classes))
		k.check(c)
	})
	strict.Each(c, "jobs", s.Jobs, func(j *SnapshotJob) {
		jobs.Add(c, "job", j.Name, len(jobs))
		j.check(c, s.NowSeconds)
	})
	s.checkRunning(c, jobs, nodes)
	return nodes, jobs
}

func (n *SnapshotNode) check(c *strict.Checker) {
	c.Name(n.Name)
	if n.Type != "" {
		c.Label("type", n.Type)
	}
	strict.Above(c, "cores", "The number of cores", &n.Cores, maxCores)
	c.Enter("slots")
	c.Whole("map", "The number of slots", "", n.Slots.Map, 0, maxSnapshotSlots)
	c.Whole("reduce", "The number of slots", "", n.Slots.Reduce, 0, maxSnapshotSlots)
	c.Leave()
	c.Number("compute_units", "The number of compute units", "", n.ComputeUnits, maxCores)
	c.Number("residual", "The part of the processors that is left to tasks", "", n.Residual, 1)
	c.Enter("report")
	n.Report.check(c)
	c.Leave()
}

func (r *Report) check(c *strict.Checker) {
	c.Number("load1", "The load", "", r.Load1, maxCores)
	c.Number("cpu_pct", "The busy part of the processors", "%", r.CPUPercent, 100)
	c.Number("mem_pct", "The used part of the memory", "%", r.MemoryPercent, 100)
	c.Number("net_mb_s", "The network's use", "MB/s", r.NetMBPerSecond, maxIOCap)
	c.Number("disk_mb_s", "The disks' use", "MB/s", r.DiskMBPerSecond, maxIOCap)
}

func (k *SnapshotClass) check(c *strict.Checker) {
	c.Name(k.Name)
	checkTaskTime(c, "task_time", k.TaskTime)
	checkTaskTime(c, "reduce_task_time", k.ReduceTaskTime)
	types := strict.Names{}
	strict.Each(c, "rates", k.Rates, func(t *TypeTasks) {
		c.Label("type", t.Type)
		if _, twice := types[t.Type]; twice {
			c.Refuse("type", "duplicate", "The type %q is there twice; keep one.", fault.Clip(t.Type))
		}
		types[t.Type] = len(types)
		c.Whole("tasks", "The number of tasks", "", t.Tasks, 1, maxSnapshotTasks)
		strict.Above(c, "mean_s", "The mean time", &t.MeanSeconds, maxTaskSeconds)
	})
}

func checkTaskTime(c *strict.Checker, member string, t *perf.TaskTime) {
	if t == nil {
		return
	}
	c.Enter(member)
	defer c.Leave()
	sound := true
	for _, x := range []struct {
		member string
		value  float64
		most   float64
	}{{"a", t.A, maxTimeFactor}, {"c", t.C, maxTimeFactor}, {"b", t.B, maxTimeExponent}, {"d", t.D, maxTimeExponent}} {
		if !c.Between(x.member, "The figure", x.value, -x.most, x.most) {
			sound = false
		}
	}
	sound = c.Number("least_residual", "The least part of a node", "", t.MinResidual, 1) && sound
	sound = c.Number("most_residual", "The largest part of a node", "", t.MaxResidual, 1) && sound
	for _, r := range []float64{0, 0.5, 1} {
		if s := t.Seconds(r); sound && !(s > 0 && s <= maxTaskSeconds) {
			c.Refuse("", "premise", "With the part %g of a node a task takes %g s; it must be above 0 and at most %g. A constant time has a alone.",
				r, s, maxTaskSeconds)
			return
		}
	}
}

func (j *SnapshotJob) check(c *strict.Checker, now float64) {
	c.Name(j.Name)
	if j.Class != "" {
		c.Label("class", j.Class)
	}
	if c.Number("submitted_s", "The moment", "s", j.SubmittedSeconds, maxSnapshotSeconds) && j.SubmittedSeconds > now {
		c.Refuse("submitted_s", "order", "The job is submitted at %s s and now is %s s; leave it out, or correct now_s.",
			fault.Plain(j.SubmittedSeconds), fault.Plain(now))
	}
	c.Number("deadline_s", "The moment of the deadline", "s", j.DeadlineSeconds, maxSnapshotSeconds)
	for k, t := range [Kinds]*SnapshotTasks{&j.Maps, &j.Reduces} {
		c.Enter(tasksMembers[k])
		c.Whole("total", "The number of tasks", "", t.Total, 0, maxSnapshotTasks)
		c.Whole("done", "The number of tasks that are done", "", t.Done, 0, maxSnapshotTasks)
		if t.Ready != nil {
			c.Whole("ready", "The number of tasks that could start", "", *t.Ready, 0, maxSnapshotTasks)
		}
		if t.Total >= 0 && t.Done > t.Total {
			c.Refuse("done", "premise", "%d tasks are done of %d; correct one of the two.", t.Done, t.Total)
		}
		c.Leave()
	}
	if j.Maps.Total == 0 && j.Reduces.Total == 0 {
		c.Refuse("maps", "premise", "The job has no tasks; give the total of its maps or reduces.")
	}
	strict.Above(c, "weight", "The weight", &j.Weight, maxWish)
	c.Number("min_share", "The least share", "", j.MinShare, 1)
	c.Number("read_mb_s", "What a task reads", "MB/s", j.ReadMBPerSecond, maxIOCap)
	c.Enter("usage")
	for k, u := range [Kinds]*Usage{&j.Usage.Map, &j.Usage.Reduce} {
		c.Enter(kindNames[k])
		u.check(c)
		c.Leave()
	}
	c.Leave()
	j.JobWorth.check(c)
}

func (u *Usage) check(c *strict.Checker) {
	for i, member := range []string{"cpu", "memory", "disk", "network"} {
		c.Number(member, "The usage", "", u.values()[i], usageBins)
	}
}

func (w *JobWorth) check(c *strict.Checker) {
	c.Number("worth", "The worth of a task", "", w.Worth, maxWish)
	c.Between("balance", "The balance", w.Balance, -maxWish, maxWish)
	c.Number("promised", "The promised part of the running tasks", "", w.Promised, 1)
	c.Number("revenue", "The revenue", "", w.Revenue, maxWish)
}

// checkRunning checks the running tasks against the jobs. A node may run more of them than it has slots: one that had
// counted as dead keeps its own, though others have them as well.
func (s *Snapshot) checkRunning(c *strict.Checker, jobs, nodes strict.Names) {
	of, total := make([][Kinds]int64, len(s.Jobs)), int64(0)
	jobNames, nodeNames := slices.Sorted(maps.Keys(jobs)), slices.Sorted(maps.Keys(nodes))
	strict.Each(c, "running", s.Running, func(t *RunningTasks) {
		strict.OneOf(c, "kind", t.Kind, taskKindWords)
		c.Whole("tasks", "The number of tasks", "", t.Tasks, 1, maxSnapshotSlots)
		job, known := jobs[t.Job]
		if !known {
			unknown(c, "job", "job", t.Job, jobNames)
		}
		s.checkNode(c, t.Node, nodes, nodeNames)
		if known && t.Tasks > 0 && t.Tasks <= maxSnapshotSlots && c.Sound() {
			of[job][t.Kind.kind()] += t.Tasks
			total += t.Tasks
		}
	})
	if total > maxSnapshotSlots {
		c.Refuse("running", "too_many", "%d tasks run; at most %d are looked at.", total, maxSnapshotSlots)
	}
	if !c.Sound() {
		return
	}
	c.Enter("jobs")
	for i := range s.Jobs {
		c.Element(i)
		s.Jobs[i].checkRunning(c, of[i])
		c.Leave()
	}
	c.Leave()
}

// checkNode refuses a node that the snapshot does not have. One without nodes has no names of them.
func (s *Snapshot) checkNode(c *strict.Checker, name string, nodes strict.Names, known []string) {
	switch _, there := nodes[name]; {
	case there, name == "" && len(s.Nodes) == 0:
	case name == "":
		c.Refuse("node", "premise", "The node is missing; name one of the snapshot's.")
	default:
		unknown(c, "node", "node", name, known)
	}
}

// checkRunning checks a job's tasks against those of it that run.
func (j *SnapshotJob) checkRunning(c *strict.Checker, running [Kinds]int64) {
	for k, of := range [Kinds]*SnapshotTasks{&j.Maps, &j.Reduces} {
		left := of.Total - of.Done - running[k]
		c.Enter(tasksMembers[k])
		switch {
		case of.Total < 0 || of.Done < 0: // which was refused
		case left < 0:
			c.Refuse("total", "premise", "Of the job's %d tasks %d are done and %d run; give a total of %d at least.", of.Total, of.Done, running[k],
				of.Done+running[k])
		case of.Ready != nil && *of.Ready > left:
			c.Refuse("ready", "premise", "%d tasks could start, and %d neither run nor are done; correct one of the two.", *of.Ready, left)
		}
		c.Leave()
	}
}

// unknown refuses a name that nothing has. Beyond the findings that are listed it looks for no like name.
func unknown(c *strict.Checker, member, kind, name string, known []string) {
	if len(c.Findings) >= fault.MaxFindings {
		known = nil
	}
	strict.UnknownName(c, member, kind, name, known)
}
