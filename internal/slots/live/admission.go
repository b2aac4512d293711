package live

import (
	"maps"
	"slices"
	"strconv"

	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/perf"
	"example.org/headroom/internal/slots/dispatch"
)

// Room returns the state that deadlines are judged against at a moment: the slots of live nodes, and the active jobs.
func (c *Cluster) Room(now float64, mode dispatch.AdmissionMode, known KnownTimes) dispatch.Room {
	c.advance(now)
	room := dispatch.Room{Mode: mode, Layout: c.layout, Slots: c.slots()}
	for _, number := range slices.Sorted(maps.Keys(c.jobs)) {
		j := c.jobs[number]
		job := c.Commitment(committedJob(number), j.Request.Name, j.Request.Class, j.Deadline-c.Clock,
			j.Counts[dispatch.Map].Total-j.Counts[dispatch.Map].Done, j.Counts[dispatch.Reduce].Total-j.Counts[dispatch.Reduce].Done, known)
		job.Running = j.d.Running
		if j.Deadline > 0 {
			room.Accepted = append(room.Accepted, job)
		} else {
			room.Others = append(room.Others, job)
		}
	}
	return room
}

// slots returns the slots of live nodes, busy ones too, by pool.
func (c *Cluster) slots() (all [dispatch.Kinds][]dispatch.Free) {
	for _, n := range c.indexed {
		if n != nil && n.State == NodeAlive {
			for p, slots := range n.d.Slots {
				all[p] = append(all[p], dispatch.Free{Residual: n.Residual, Count: slots})
			}
		}
	}
	return all
}

// committedJob returns the id of a job's commitment.
func committedJob(number int64) string { return "job " + strconv.FormatInt(number, 10) }

// KnownTimes holds task times of classes from other sources than the cluster itself.
type KnownTimes struct {
	Fits     map[string]perf.JobFit // from measurements of kind task_time, which cover maps
	Profiles map[string]capacity.Profile
}

// Commitment describes a job with a deadline, with the best known times of its class's tasks. These are the times
// that the cluster has measured, else for maps those of the stored fit, else those of the class's profile.
func (c *Cluster) Commitment(id, name, class string, dueSeconds float64, mapTasks, reduceTasks int64, known KnownTimes) dispatch.Commitment {
	job := dispatch.Commitment{ID: id, Name: name, DueSeconds: dueSeconds, Tasks: [dispatch.Kinds]int{int(mapTasks), int(reduceTasks)}}
	var usual Usual
	if p, some := known.Profiles[class]; some {
		usual = UsualTasks(p)
	}
	fit := known.Fits[class].TaskTime
	for k := range dispatch.Kind(dispatch.Kinds) {
		m := c.measured[class]
		switch {
		case m != nil && m.of(k).Fit != nil:
			job.Times[k], job.Sources[k] = m.of(k).Fit, dispatch.TimesSource{From: dispatch.TimesOfLive, Tasks: m.of(k).Times.Added}
		case k == dispatch.Map && fit != nil:
			job.Times[k], job.Sources[k] = &fit.TaskTime, dispatch.TimesSource{From: dispatch.TimesOfFit, Version: known.Fits[class].Version, Tasks: fit.Points}
		case usual.Seconds[k] > 0:
			job.Times[k], job.Sources[k] = dispatch.Constant(usual.Seconds[k]), dispatch.TimesSource{From: dispatch.TimesOfProfile}
		}
	}
	return job
}

// ActiveClasses returns the classes of the active jobs, by name.
func (c *Cluster) ActiveClasses() []string {
	of := map[string]bool{}
	for _, j := range c.jobs {
		of[j.Request.Class] = true
	}
	return slices.Sorted(maps.Keys(of))
}

// Usual holds the tasks of an execution: the number of each kind and their mean seconds.
type Usual struct {
	Tasks   [dispatch.Kinds]int64
	Seconds [dispatch.Kinds]float64
}

// UsualTasks returns the tasks of a profile. The stages of a chain are maps. A reduce counts with the longer of the
// two shuffles.
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

// Due returns the moment by which a job submitted at now must be done, or 0 without a deadline.
func Due(r LiveJobRequest, now float64) float64 {
	switch {
	case r.DeadlineAt != nil:
		return Seconds(*r.DeadlineAt)
	case r.DeadlineSeconds > 0:
		return Seconds(Moment(now + r.DeadlineSeconds))
	}
	return 0
}

// Refused returns a job that was not admitted. It is not stored.
func Refused(r LiveJobRequest, now float64, why *Admission) LiveJob {
	j := Job{Request: r, State: JobRefused, Submitted: now, Deadline: Due(r, now)}
	j.Counts[dispatch.Map].Total, j.Counts[dispatch.Reduce].Total = r.Maps, r.Reduces
	v := j.View(now)
	v.Reason, v.Admission = why.Reason, why
	return v
}
