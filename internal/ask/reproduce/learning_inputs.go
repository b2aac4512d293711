package reproduce

import (
	"math"

	"example.org/headroom/internal/ask/study"
	"example.org/headroom/internal/slots/dispatch"
)

// loaded is a node with a load average whose tasks come from the learned policy, simulated alone. It has 4
// processors, a heartbeat every 5 s, and tasks of 60 s of one endless job. The load of a task swings around its mean;
// the node reports the average of a minute, like its kernel.
type loaded struct {
	load float64 // of a task on average
	cv   float64 // size of the swings
	seed uint64
	dispatch.Usage
	policy dispatch.PolicyConfig
	hours  float64
}

const (
	loadedCores     = 4
	heartbeat       = 5.0 // seconds
	loadedTask      = 60.0
	averagedSeconds = 60.0 // of the load average
	swingPersists   = 0.9  // from one heartbeat to the next
	warmUpPart      = 0.25
)

// borne holds the results after the warm-up.
type borne struct {
	tasks float64   // running on average
	use   float64   // load average for each processor, as a part of the target
	above float64   // part of the time above the target
	right []float64 // for all judged decisions, in order: 1 if the prediction was right, else 0
}

// swing is the load of a running task.
type swing struct {
	slot dispatch.Slot
	ends float64
	z    float64 // normal, as a whole
}

func (l loaded) run() borne {
	s := study.Stream{State: l.seed}
	policy := dispatch.NewLearned(dispatch.Shared, l.policy)
	filled := l.policy.Filled()
	node := &dispatch.Node{Name: "node", Cores: loadedCores, Residual: 1}
	job := &dispatch.Job{Name: "job", Pending: [dispatch.Kinds]int{math.MaxInt32}, Unfinished: math.MaxInt32}
	job.Usage[dispatch.Map] = l.Usage
	policy.Note(dispatch.Event{What: dispatch.Joined, Node: node})
	policy.Note(dispatch.Event{What: dispatch.Arrived, Job: job})
	var running []swing
	var b borne
	number, beats, after, overloaded := 0, 0.0, math.Exp(-heartbeat/averagedSeconds), 0.0
	until := l.hours * 3600
	for now := 0.0; now < until; now += heartbeat {
		instant := 0.0 // of the tasks since the last heartbeat
		for i := range running {
			t := &running[i]
			t.z = float64(swingPersists*t.z) + float64(math.Sqrt(1-swingPersists*swingPersists)*s.Normal())
			instant += max(0, float64(l.load*(1+float64(l.cv*t.z))))
		}
		kept := running[:0]
		for _, t := range running {
			if t.ends > now {
				kept = append(kept, t)
				continue
			}
			job.Running[dispatch.Map]--
			job.Pending[dispatch.Map]++
			node.Running[dispatch.Map]--
			policy.Note(dispatch.Event{What: dispatch.Ended, Now: now, Job: job, Slot: t.slot, Seconds: loadedTask})
		}
		running = kept
		node.Report.Load1 = float64(node.Report.Load1*after) + float64(instant*(1-after))
		node.Report.CPUPercent = 100 * min(1, instant/loadedCores)
		node.Heartbeats++
		policy.Note(dispatch.Event{What: dispatch.Reported, Now: now, Node: node})
		for _, d := range policy.Judged() {
			right := 0.0
			if d.Judgement.Good != d.Probe { // a probe was predicted to be bad
				right = 1
			}
			b.right = append(b.right, right)
		}
		if now >= warmUpPart*until {
			beats++
			b.use += node.Report.Load1 / loadedCores / *filled.Target
			if node.Report.Load1 > loadedCores**filled.Target {
				overloaded++
			}
		}
		for range *filled.TasksPerHeartbeat {
			slot := dispatch.Slot{Number: number, Node: node}
			c := policy.Choose(now, slot)
			if c.Job == nil {
				break
			}
			number++
			job.Pending[c.Task]--
			job.Running[c.Task]++
			node.Running[c.Task]++
			running = append(running, swing{slot, now + loadedTask, s.Normal()})
			policy.Note(dispatch.Event{What: dispatch.Started, Now: now, Job: job, Task: c.Task, Slot: slot})
		}
		if now >= warmUpPart*until {
			b.tasks += float64(len(running))
		}
	}
	b.tasks, b.use, b.above = b.tasks/beats, b.use/beats, overloaded/beats
	return b
}
