package sim

import (
	"headroom/internal/core/perf"
	"headroom/internal/slots/dispatch"
)

// learner is what policies know of a class's jobs, and how they came to know it.
type learner struct {
	dispatch.Known
	given    bool
	times    perf.TaskTimes
	fitted   perf.TaskTime
	fittedAt int64                          // tasks
	promise  [dispatch.Kinds]*perf.TaskTime // once it is asked for
}

func (x *mixture) newLearner(spec *classModel) learner {
	l := learner{given: x.known == KnownGiven}
	l.ReadMBPerSecond = spec.ReadMBPerSecond / x.data
	l.Rates = &perf.Rates{}
	if l.given {
		l.Rates, l.TaskTime = x.truth(spec), spec.TaskTime
		if mean := spec.stages[0].mean(spec.stages[0].average); l.TaskTime == nil && mean > 0 {
			l.TaskTime = dispatch.Constant(mean)
		}
	}
	return l
}

// betweenFits is how many tasks pass between fits at most: one costs as much as thousands of events, and
// before there are twice as many tasks it says hardly anything else.
const betweenFits = 5_000

// learn counts a map that has ended well, as a live cluster does: its class's rates follow each, and its
// task times, where anybody reads them, are fitted anew when enough has been added.
func (x *mixture) learn(e *engine, class int, n *nodeAtWork, ended dispatch.Event) {
	l := &x.learns[class]
	if l.given || ended.Task != dispatch.Map {
		return
	}
	l.Rates.Add(n.Type, ended.Seconds)
	if !e.readsTaskTimes() || !l.times.Add(n.Residual, ended.Seconds) || l.times.Added-l.fittedAt < min(l.fittedAt, betweenFits) {
		return
	}
	fit, _ := l.times.Fit()
	l.fitted, l.fittedAt = fit.TaskTime, l.times.Added
	if l.TaskTime != nil {
		return // the class's jobs know it already
	}
	l.TaskTime = &l.fitted
	for _, j := range e.jobs {
		if j.Class == class {
			j.TaskTime = l.TaskTime
		}
	}
}

// readsTaskTimes says that something is decided by them.
func (m *model) readsTaskTimes() bool {
	return m.rule.Kind == dispatch.PolicyMaxProgress || m.admission != ""
}
