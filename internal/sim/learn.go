package sim

import (
	"headroom/internal/dispatch"
	"headroom/internal/perf"
)

// learner is what policies know of a class's jobs.
type learner struct {
	dispatch.Known
	given bool
}

func (x *mixture) newLearner(spec *classModel) learner {
	l := learner{given: x.known == KnownGiven}
	l.ReadMBPerSecond = spec.ReadMBPerSecond / x.data
	l.Rates = &perf.Rates{}
	if l.given {
		l.Rates, l.TaskTime = x.truth(spec), spec.TaskTime
	}
	return l
}

// learn counts a map that has ended well, as a live cluster does.
func (x *mixture) learn(e *engine, j *job, n *nodeAtWork, ended dispatch.Event) {
	if l := &x.learns[j.Class]; !l.given && ended.Task == dispatch.Map {
		l.Rates.Add(n.Type, ended.Seconds)
	}
}
