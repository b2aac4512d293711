package sim

import (
	"strconv"

	"example.org/headroom/internal/core/perf"
	"example.org/headroom/internal/slots/dispatch"
)

// NoAdmission accepts every job, and is the default.
const NoAdmission dispatch.AdmissionMode = "none"

func (p Policy) admits() bool { return p.Admission != "" && p.Admission != NoAdmission }

// shortest replaces a task time of 0, which would be divided by.
const shortest = 1e-9

// minThinking is the shortest think time of a user whose job was rejected. Without it time would stand still.
const minThinking = 1

// admits reports whether a new job is promised its deadline. It accepts every job without a deadline. It also accepts
// jobs without measurements: nothing could be promised to them, and nothing would ever be measured.
func (x *mixture) admits(e *engine, class int, due float64) bool {
	spec := &e.model.classes[class]
	asks := dispatch.Commitment{ID: "new", DueSeconds: due - e.now, Times: x.promised(e, class)}
	asks.Tasks = [dispatch.Kinds]int{spec.tasks - spec.reduces, spec.reduces}
	if due == 0 || asks.Times[dispatch.Map] == nil {
		return true
	}
	room := dispatch.Room{Mode: e.admission, Layout: e.layout, Slots: x.room()}
	for _, j := range e.jobs {
		if j.Unfinished > 0 && j.DeadlineSeconds > 0 {
			maps := j.Maps - j.MapsDone
			room.Accepted = append(room.Accepted, dispatch.Commitment{ID: strconv.Itoa(j.Index), DueSeconds: j.DeadlineSeconds - e.now,
				Tasks: [dispatch.Kinds]int{maps, j.Unfinished - maps}, Times: x.promised(e, j.Class)})
		}
	}
	return room.Admits(asks)
}

// promised returns the task times that promises to a class's jobs rest on. Those of maps are nil if nothing is known.
func (x *mixture) promised(e *engine, class int) [dispatch.Kinds]*perf.TaskTime {
	l := &x.learns[class]
	if l.promise == [dispatch.Kinds]*perf.TaskTime{} {
		l.promise = x.overTypes(&e.model.classes[class])
	}
	times := l.promise
	if !l.given {
		times[dispatch.Map] = l.TaskTime
	}
	return times
}

// overTypes returns a class's task times, averaged over the types of nodes.
func (x *mixture) overTypes(spec *classModel) (times [dispatch.Kinds]*perf.TaskTime) {
	slow, slots := 0.0, 0.0
	for i := range x.nodes {
		n := float64(x.nodes[i].Slots[0])
		slow += n / spec.speeds[x.nodes[i].kind]
		slots += n
	}
	slow /= slots
	work := spec.work()
	times[dispatch.Map] = dispatch.Constant(max(shortest, work[0]/float64(spec.tasks-spec.reduces)*slow))
	if t := spec.TaskTime; t != nil {
		mean := *t
		mean.A *= slow
		mean.C *= slow
		times[dispatch.Map] = &mean
	}
	if spec.reduces > 0 {
		times[dispatch.Reduce] = dispatch.Constant(max(shortest, work[1]/float64(spec.reduces)*slow))
	}
	return times
}

// room returns the slots by the residual of their nodes.
func (x *mixture) room() [dispatch.Kinds][]dispatch.Free {
	if x.fresh {
		return x.free
	}
	x.free, x.fresh = [dispatch.Kinds][]dispatch.Free{}, true
	for p := range x.free {
		at := map[float64]int{}
		for i := range x.nodes {
			n := &x.nodes[i]
			k, known := at[n.Residual]
			if !known {
				k = len(x.free[p])
				at[n.Residual] = k
				x.free[p] = append(x.free[p], dispatch.Free{Residual: n.Residual})
			}
			x.free[p][k].Count += n.Slots[p]
		}
	}
	return x.free
}

// refuse counts a rejected job; its user tries again.
func (e *engine) refuse(class, user int) {
	c := &e.classes[class]
	if e.now >= e.warmUp {
		c.rejected++
	}
	if user >= 0 {
		e.thinkAtLeast(user, minThinking)
	}
}
