package live

import (
	"maps"
	"slices"
	"strconv"

	"headroom/internal/capacity"
	"headroom/internal/dispatch"
)

// Room is what deadlines are judged by at a moment: the slots of the nodes that are alive, and the active jobs
// that have deadlines. profiles are those of classes, which stand for what was not measured.
func (c *Cluster) Room(now float64, mode capacity.AdmissionMode, profiles map[string]capacity.Profile) dispatch.Room {
	c.advance(now)
	room := dispatch.Room{Mode: mode, Layout: c.layout}
	for _, n := range c.indexed {
		if n != nil && n.State == capacity.NodeAlive {
			for p, slots := range n.d.Slots {
				room.Slots[p] = append(room.Slots[p], dispatch.Free{Residual: n.Residual, Count: slots})
			}
		}
	}
	for _, number := range slices.Sorted(maps.Keys(c.jobs)) {
		if j := c.jobs[number]; j.Deadline > 0 {
			room.Accepted = append(room.Accepted, c.Commitment(CommittedJob(number), j.Request.Name, j.Request.Class, j.Deadline-c.Clock,
				j.Counts[dispatch.Map].Total-j.Counts[dispatch.Map].Done, j.Counts[dispatch.Reduce].Total-j.Counts[dispatch.Reduce].Done, profiles))
		}
	}
	return room
}

// CommittedJob is the id of a job's commitment.
func CommittedJob(number int64) string { return "job " + strconv.FormatInt(number, 10) }

// Commitment is a job with a deadline, with what is known of its class's tasks: the times of its maps as they were
// measured by load, otherwise those of the class's profile, and of reduces the latter alone.
func (c *Cluster) Commitment(id, name, class string, dueSeconds float64, mapTasks, reduceTasks int64, profiles map[string]capacity.Profile) dispatch.Commitment {
	job := dispatch.Commitment{ID: id, Name: name, DueSeconds: dueSeconds, Tasks: [dispatch.Kinds]int{int(mapTasks), int(reduceTasks)}}
	if p, known := profiles[class]; known {
		usual := UsualTasks(p)
		for k := range usual.Seconds {
			if usual.Seconds[k] > 0 {
				job.Times[k] = dispatch.Constant(usual.Seconds[k])
				job.Assumed = job.Assumed || job.Tasks[k] > 0 && k == int(dispatch.Reduce)
			}
		}
	}
	if m := c.measured[class]; m != nil && m.Fit != nil {
		job.Times[dispatch.Map] = m.Fit
	} else {
		job.Assumed = job.Assumed || mapTasks > 0 && job.Times[dispatch.Map] != nil
	}
	return job
}

// CommittedClasses are the classes of the active jobs with deadlines, by name.
func (c *Cluster) CommittedClasses() []string {
	of := map[string]bool{}
	for _, j := range c.jobs {
		if j.Deadline > 0 {
			of[j.Request.Class] = true
		}
	}
	return slices.Sorted(maps.Keys(of))
}

// Usual is the tasks of an execution: how many of each kind, and how long they take in the mean.
type Usual struct {
	Tasks   [dispatch.Kinds]int64
	Seconds [dispatch.Kinds]float64
}

// UsualTasks are those of a profile. The stages of a chain are maps. A reduce counts with the longer of the two
// shuffles, whichever it gets.
func UsualTasks(p capacity.Profile) (u Usual) {
	for _, s := range p.Stages {
		u.Tasks[dispatch.Map] += s.Tasks
		u.Seconds[dispatch.Map] += float64(s.Tasks) * s.AvgSeconds
	}
	if len(p.Stages) > 0 {
		u.Seconds[dispatch.Map] /= float64(max(u.Tasks[dispatch.Map], 1))
		return u
	}
	u.Tasks = [dispatch.Kinds]int64{p.MapTasks, p.ReduceTasks}
	u.Seconds[dispatch.Map] = p.MapAvgSeconds
	if p.ReduceTasks > 0 {
		u.Seconds[dispatch.Reduce] = max(p.FirstShuffleAvgSeconds, p.ShuffleAvgSeconds) + p.ReduceAvgSeconds
	}
	return u
}

// Due is when a job that is submitted at a moment must be done; 0 is whenever.
func Due(r capacity.LiveJobRequest, now float64) float64 {
	switch {
	case r.DeadlineAt != nil:
		return Seconds(*r.DeadlineAt)
	case r.DeadlineSeconds > 0:
		return Seconds(Moment(now + r.DeadlineSeconds))
	}
	return 0
}

// Refused is a job that did not get a place. It is not kept.
func Refused(r capacity.LiveJobRequest, now float64, why *capacity.Admission) capacity.LiveJob {
	j := Job{Request: r, State: capacity.JobRefused, Submitted: now, Deadline: Due(r, now)}
	j.Counts[dispatch.Map].Total, j.Counts[dispatch.Reduce].Total = r.Maps, r.Reduces
	v := j.View(now)
	v.Reason, v.Admission = why.Reason, why
	return v
}
