package capacity

import (
	"fmt"
	"math"
	"time"
)

// The most of a heartbeat.
const (
	MaxHeartbeatBytes = 256 << 10
	MaxNodeTasks      = 1_000 // assignments that one heartbeat speaks of
	MaxNodeFeatures   = 32
	maxFeatureText    = 200
	maxBoot           = 64
	maxFailureReason  = 500
	// MaxAssignment bounds the numbers of assignments and heartbeats.
	MaxAssignment = 1 << 53
	mostLoad      = 1e6
	mostMBPerS    = 1e9
	mostFeature   = 1e15
)

var (
	heartbeatShape = newShape("a heartbeat", []string{"seq", "running"}, "boot", "at", "state", "finished", "failed", "leaving")
	reportShape    = newShape("the state of a node", nil, "load1", "cpu_percent", "memory_percent", "net_mb_s", "disk_mb_s", "residual", "features")
	finishedShape  = newShape("a finished task", []string{"assignment"}, "seconds")
	failedShape    = newShape("a failed task", []string{"assignment"}, "reason")
)

// ReadHeartbeat reads and checks a heartbeat, as strictly as ReadProblem does a problem.
func ReadHeartbeat(data []byte) (Heartbeat, error) {
	if len(data) > MaxHeartbeatBytes {
		return Heartbeat{}, &InputError{[]Finding{{Code: "too_large",
			Detail: fmt.Sprintf("The heartbeat has %d bytes; at most %d are read.", len(data), MaxHeartbeatBytes)}}}
	}
	var h Heartbeat
	r := &reader{data: data, path: make(path, 0, 8)}
	r.start()
	r.heartbeat(&h)
	r.end()
	if err := r.result(h.check); err != nil {
		return Heartbeat{}, err
	}
	return h, nil
}

func (r *reader) heartbeat(h *Heartbeat) {
	r.object(heartbeatShape, func(name string) {
		switch name {
		case "seq":
			r.whole(&h.Seq)
		case "boot":
			h.Boot, _ = r.text()
			r.checkText([]byte(h.Boot))
		case "at":
			h.At = new(time.Time)
			r.moment(h.At)
		case "leaving":
			r.flag(&h.Leaving)
		case "state":
			h.State = new(NodeReport)
			r.nodeReport(h.State)
		case "running":
			h.Running = make([]int64, 0, 8)
			count := 0
			r.array("of assignments", func(int) {
				if count++; count > MaxNodeTasks {
					r.skip()
					return
				}
				var id int64
				r.whole(&id)
				h.Running = append(h.Running, id)
			})
			r.tooMany("assignments", count, MaxNodeTasks)
		case "finished":
			h.Finished = list(r, "of finished tasks", MaxNodeTasks, func(f *FinishedTask) {
				r.object(finishedShape, func(name string) {
					if name == "assignment" {
						r.whole(&f.Assignment)
					} else {
						r.float(&f.Seconds)
					}
				})
			})
		case "failed":
			h.Failed = list(r, "of failed tasks", MaxNodeTasks, func(f *FailedTask) {
				r.object(failedShape, func(name string) {
					if name == "assignment" {
						r.whole(&f.Assignment)
					} else {
						f.Reason, _ = r.text()
						r.checkText([]byte(f.Reason))
					}
				})
			})
		}
	})
}

func (r *reader) nodeReport(n *NodeReport) {
	figure := func(into **float64) {
		*into = new(float64)
		r.float(*into)
	}
	r.object(reportShape, func(name string) {
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
			r.featureValues(n)
		}
	})
}

func (r *reader) featureValues(n *NodeReport) {
	n.Features = map[string]FeatureValue{}
	count := 0
	r.members("the features", func(key []byte) {
		name := string(key)
		r.enter(clip(name))
		defer r.leave()
		r.checkText(key)
		if _, twice := n.Features[name]; twice {
			r.found("duplicate_member", fmt.Sprintf("The member %q is given twice; keep one.", clip(name)), nil)
		}
		if count++; count > MaxNodeFeatures {
			r.skip()
			return
		}
		var f FeatureValue
		if r.space() == '"' {
			f.Word, _ = r.text()
			r.checkText([]byte(f.Word))
		} else {
			f.Number = new(float64)
			r.float(f.Number)
		}
		n.Features[name] = f
	})
	r.tooMany("features", count, MaxNodeFeatures)
}

// check says what is wrong with a heartbeat by itself. What disagrees with what the server knows is answered in notes.
func (h *Heartbeat) check(c *checker) {
	if h.Seq < 1 || h.Seq > MaxAssignment {
		c.refuse("seq", "range", "The number of a heartbeat is %d; give a whole number from 1 on that grows with every heartbeat.", h.Seq)
	}
	if len(h.Boot) > maxBoot {
		c.refuse("boot", "too_long", "It has %d bytes; at most %d are kept.", len(h.Boot), maxBoot)
	}
	if h.At != nil {
		c.moment("at", *h.At)
	}
	if h.State != nil {
		c.enter("state")
		h.State.check(c)
		c.leave()
	}
	seen := make(map[int64]string, len(h.Running)+len(h.Finished)+len(h.Failed))
	once := func(member string, i int, id int64, below string) {
		c.enter(member)
		c.element(i)
		switch before, twice := seen[id]; {
		case id < 1 || id > MaxAssignment:
			c.refuse(below, "range", "%d is no number of an assignment; they are whole numbers from 1 on.", id)
		case twice && before == member:
			c.refuse(below, "duplicate", "The assignment %d stands here twice; keep one.", id)
		case twice:
			c.refuse(below, "contradiction", "The assignment %d stands in %q as well; a task is running, finished or failed.", id, before)
		}
		seen[id] = member
		c.leave()
		c.leave()
	}
	for i, id := range h.Running {
		once("running", i, id, "")
	}
	for i, f := range h.Finished {
		once("finished", i, f.Assignment, "assignment")
		if !(f.Seconds >= 0 && f.Seconds <= MaxSeconds) {
			c.enter("finished")
			c.element(i)
			c.refuse("seconds", "range", "A task runs from 0 to %d seconds, not %v.", int64(MaxSeconds), f.Seconds)
			c.leave()
			c.leave()
		}
	}
	for i, f := range h.Failed {
		once("failed", i, f.Assignment, "assignment")
		if len(f.Reason) > maxFailureReason {
			c.enter("failed")
			c.element(i)
			c.refuse("reason", "too_long", "It has %d bytes; at most %d are kept.", len(f.Reason), maxFailureReason)
			c.leave()
			c.leave()
		}
	}
}

func (n *NodeReport) check(c *checker) {
	within := func(member, what string, x *float64, most float64) {
		if x != nil && !(*x >= 0 && *x <= most) {
			c.refuse(member, "range", "%s is from 0 to %.15g, not %v; leave it out where it is not known.", what, most, *x)
		}
	}
	within("load1", "The load", n.Load1, mostLoad)
	within("cpu_percent", "The part of the processors that is busy", n.CPUPercent, 100)
	within("memory_percent", "The part of the memory that is used", n.MemoryPercent, 100)
	within("net_mb_s", "The network's use", n.NetMBPerS, mostMBPerS)
	within("disk_mb_s", "The disks' use", n.DiskMBPerS, mostMBPerS)
	within("residual", "The part of the processors that is left to tasks", n.Residual, 1)
	c.enter("features")
	defer c.leave()
	for _, name := range sortedNames(n.Features) {
		switch f := n.Features[name]; {
		case name == "" || len(name) > maxBoot:
			c.refuse(clip(name), "text", "The name of a feature has 1 to %d bytes.", maxBoot)
		case f.Number != nil && !(math.Abs(*f.Number) <= mostFeature):
			c.refuse(name, "range", "%v is beyond what a feature can be, ±%g.", *f.Number, mostFeature)
		case len(f.Word) > maxFeatureText:
			c.refuse(name, "too_long", "It has %d bytes; at most %d are kept.", len(f.Word), maxFeatureText)
		}
	}
}
