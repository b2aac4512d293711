package live

import (
	"fmt"
	"math"
	"time"

	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/fault"
	"example.org/headroom/internal/core/strict"
)

// The limits of a heartbeat.
const (
	maxHeartbeatBytes = 256 << 10
	maxNodeTasks      = 1_000 // assignments that one heartbeat speaks of
	maxNodeFeatures   = 32
	maxFeatureText    = 200
	maxBoot           = 64
	maxFailureReason  = 500
	// maxAssignment bounds the numbers of assignments and heartbeats.
	maxAssignment = 1 << 53
	maxLoad       = 1e6
	MaxMBPerS     = 1e9
	maxFeature    = 1e15
)

var (
	heartbeatShape = strict.NewShape("a heartbeat", []string{"seq", "running"}, "boot", "at", "state", "finished", "failed", "leaving")
	reportShape    = strict.NewShape("the state of a node", nil, "load1", "cpu_percent", "memory_percent", "net_mb_s", "disk_mb_s", "residual", "features")
	finishedShape  = strict.NewShape("a finished task", []string{"assignment"}, "seconds")
	failedShape    = strict.NewShape("a failed task", []string{"assignment"}, "reason")
)

// ReadHeartbeat reads and checks a heartbeat, as strictly as ReadProblem does a problem.
func ReadHeartbeat(data []byte) (Heartbeat, error) {
	if len(data) > maxHeartbeatBytes {
		return Heartbeat{}, &fault.InputError{Findings: []fault.Finding{{Code: "too_large",
			Detail: fmt.Sprintf("The heartbeat has %d bytes; at most %d are read.", len(data), maxHeartbeatBytes)}}}
	}
	var h Heartbeat
	r := strict.NewReader(data)
	readHeartbeat(r, &h)
	r.End()
	if err := r.Result(h.check); err != nil {
		return Heartbeat{}, err
	}
	return h, nil
}

func readHeartbeat(r *strict.Reader, h *Heartbeat) {
	r.Object(heartbeatShape, func(name string) {
		switch name {
		case "seq":
			r.Whole(&h.Seq)
		case "boot":
			h.Boot, _ = r.Text()
			r.CheckText([]byte(h.Boot))
		case "at":
			h.At = new(time.Time)
			r.Moment(h.At)
		case "leaving":
			r.Flag(&h.Leaving)
		case "state":
			h.State = new(NodeReport)
			readNodeReport(r, h.State)
		case "running":
			h.Running = make([]int64, 0, 8)
			count := 0
			r.Array("of assignments", func(int) {
				if count++; count > maxNodeTasks {
					r.Skip()
					return
				}
				var id int64
				r.Whole(&id)
				h.Running = append(h.Running, id)
			})
			r.TooMany("assignments", count, maxNodeTasks)
		case "finished":
			h.Finished = strict.List(r, "of finished tasks", maxNodeTasks, func(r *strict.Reader, f *FinishedTask) {
				r.Object(finishedShape, func(name string) {
					if name == "assignment" {
						r.Whole(&f.Assignment)
					} else {
						r.Float(&f.Seconds)
					}
				})
			})
		case "failed":
			h.Failed = strict.List(r, "of failed tasks", maxNodeTasks, func(r *strict.Reader, f *FailedTask) {
				r.Object(failedShape, func(name string) {
					if name == "assignment" {
						r.Whole(&f.Assignment)
					} else {
						f.Reason, _ = r.Text()
						r.CheckText([]byte(f.Reason))
					}
				})
			})
		}
	})
}

func readNodeReport(r *strict.Reader, n *NodeReport) {
	figure := func(into **float64) {
		*into = new(float64)
		r.Float(*into)
	}
	r.Object(reportShape, func(name string) {
		switch name {
		case "load1":
			figure(&n.Load1)
		case "cpu_percent":
			figure(&n.CPUPercent)
		case "memory_percent":
			figure(&n.MemoryPercent)
		case "net_mb_s":
			figure(&n.NetMBPerS)
		case "disk_mb_s":
			figure(&n.DiskMBPerS)
		case "residual":
			figure(&n.Residual)
		case "features":
			readFeatureValues(r, n)
		}
	})
}

func readFeatureValues(r *strict.Reader, n *NodeReport) {
	n.Features = map[string]FeatureValue{}
	count := 0
	r.Members("the features", func(key []byte) {
		name := string(key)
		r.Enter(fault.Clip(name))
		defer r.Leave()
		r.CheckText(key)
		if _, twice := n.Features[name]; twice {
			r.Found("duplicate_member", fmt.Sprintf("The member %q is given twice; keep one.", fault.Clip(name)), nil)
		}
		if count++; count > maxNodeFeatures {
			r.Skip()
			return
		}
		var f FeatureValue
		if r.Space() == '"' {
			f.Word, _ = r.Text()
			r.CheckText([]byte(f.Word))
		} else {
			f.Number = new(float64)
			r.Float(f.Number)
		}
		n.Features[name] = f
	})
	r.TooMany("features", count, maxNodeFeatures)
}

// check checks a heartbeat by itself. Conflicts with the server's state are answered in notes.
func (h *Heartbeat) check(c *strict.Checker) {
	if h.Seq < 1 || h.Seq > maxAssignment {
		c.Refuse("seq", "range", "The number of a heartbeat is %d; give a whole number from 1 on that grows with every heartbeat.", h.Seq)
	}
	if len(h.Boot) > maxBoot {
		c.Refuse("boot", "too_long", "It has %d bytes; at most %d are kept.", len(h.Boot), maxBoot)
	}
	if h.At != nil {
		c.Moment("at", *h.At)
	}
	if h.State != nil {
		c.Enter("state")
		h.State.check(c)
		c.Leave()
	}
	seen := make(map[int64]string, len(h.Running)+len(h.Finished)+len(h.Failed))
	once := func(member string, i int, id int64, below string) {
		c.Enter(member)
		c.Element(i)
		switch before, twice := seen[id]; {
		case id < 1 || id > maxAssignment:
			c.Refuse(below, "range", "%d is no number of an assignment; they are whole numbers from 1 on.", id)
		case twice && before == member:
			c.Refuse(below, "duplicate", "The assignment %d stands here twice; keep one.", id)
		case twice:
			c.Refuse(below, "contradiction", "The assignment %d stands in %q as well; a task is running, finished or failed.", id, before)
		}
		seen[id] = member
		c.Leave()
		c.Leave()
	}
	for i, id := range h.Running {
		once("running", i, id, "")
	}
	for i, f := range h.Finished {
		once("finished", i, f.Assignment, "assignment")
		if !(f.Seconds >= 0 && f.Seconds <= capacity.MaxSeconds) {
			c.Enter("finished")
			c.Element(i)
			c.Refuse("seconds", "range", "A task runs from 0 to %d seconds, not %v.", int64(capacity.MaxSeconds), f.Seconds)
			c.Leave()
			c.Leave()
		}
	}
	for i, f := range h.Failed {
		once("failed", i, f.Assignment, "assignment")
		if len(f.Reason) > maxFailureReason {
			c.Enter("failed")
			c.Element(i)
			c.Refuse("reason", "too_long", "It has %d bytes; at most %d are kept.", len(f.Reason), maxFailureReason)
			c.Leave()
			c.Leave()
		}
	}
}

func (n *NodeReport) check(c *strict.Checker) {
	within := func(member, what string, x *float64, most float64) {
		if x != nil && !(*x >= 0 && *x <= most) {
			c.Refuse(member, "range", "%s is from 0 to %.15g, not %v; leave it out where it is not known.", what, most, *x)
		}
	}
	within("load1", "The load", n.Load1, maxLoad)
	within("cpu_percent", "The part of the processors that is busy", n.CPUPercent, 100)
	within("memory_percent", "The part of the memory that is used", n.MemoryPercent, 100)
	within("net_mb_s", "The network's use", n.NetMBPerS, MaxMBPerS)
	within("disk_mb_s", "The disks' use", n.DiskMBPerS, MaxMBPerS)
	within("residual", "The part of the processors that is left to tasks", n.Residual, 1)
	c.Enter("features")
	defer c.Leave()
	for _, name := range sortedNames(n.Features) {
		switch f := n.Features[name]; {
		case name == "" || len(name) > maxBoot:
			c.Refuse(fault.Clip(name), "text", "The name of a feature has 1 to %d bytes.", maxBoot)
		case f.Number != nil && !(math.Abs(*f.Number) <= maxFeature):
			c.Refuse(name, "range", "%v is beyond what a feature can be, ±%g.", *f.Number, maxFeature)
		case len(f.Word) > maxFeatureText:
			c.Refuse(name, "too_long", "It has %d bytes; at most %d are kept.", len(f.Word), maxFeatureText)
		}
	}
}
