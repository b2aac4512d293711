package sim

import (
	"example.org/headroom/internal/core/perf"
	"example.org/headroom/internal/slots/dispatch"
)

// learner holds the policies' knowledge of a class's jobs, and its source.
type learner struct {
	dispatch.Known
	given    bool
	times    perf.TaskTimes
	fitted   perf.TaskTime
	fittedAt int64                          // number of tasks
	promise  [dispatch.Kinds]*perf.TaskTime // computed on demand
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

// betweenFits bounds the number of tasks between fits. A fit costs as much as thousands of events, and changes little
// before the tasks have doubled.
const betweenFits = 5_000

// learn counts a map that has succeeded, like a live cluster. It updates its class's rates each time, and its fitted
// task times, if anything reads them, after enough new tasks.
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
		return // the class's jobs have this fit already
	}
	l.TaskTime = &l.fitted
	for _, j := range e.jobs {
		if j.Class == class {
			j.TaskTime = l.TaskTime
		}
	}
}

// readsTaskTimes reports whether anything depends on task times.
func (m *model) readsTaskTimes() bool {
	return m.rule.Kind == dispatch.PolicyMaxProgress || m.admission != ""
}
