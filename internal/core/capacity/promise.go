package capacity

import (
	"cmp"

	"example.org/headroom/internal/core/fault"
	"example.org/headroom/internal/core/strict"
)

// DefaultConfidence is the confidence with which a target is shown unless a class says another.
const DefaultConfidence = 0.95

// Bounds of a target, of a confidence and of a promise's factor.
const (
	MinTarget     = 0.5
	MaxTarget     = 0.9999
	MinConfidence = 0.5
	MaxConfidence = 0.999
)

// LentToAll is the lending of a promise that counts on slots left idle by other classes.
const LentToAll = "all"

// Promise is a factor on a class's predicted time with which the target part of its executions ends in time, and what
// shows that. Executions were simulated; refused ones are not among them.
//
//planjson:shape a promise
type Promise struct {
	Factor     float64 `json:"factor"`
	Target     float64 `json:"target"`
	Confidence float64 `json:"confidence"`

	Expected     float64 `json:"expected"` // part of the executions that ended in time
	Low          float64 `json:"low"`      // with the confidence at least this part ends in time
	High         float64 `json:"high"`     // and with it at most this part
	Executions   int64   `json:"executions"`
	Missed       int64   `json:"missed"` // of the executions
	Replications int64   `json:"replications"`
	Seed         int64   `json:"seed"` // of the executions that were counted, which no search has seen

	// For what it was found.
	Lending           string  `json:"lending"` // of idle slots: all, class or none
	DeadlineSeconds   float64 `json:"deadline_s"`
	MapWorkSeconds    float64 `json:"map_work_s"` // predicted, without the factor, as those that follow
	ReduceWorkSeconds float64 `json:"reduce_work_s"`
	FixedSeconds      float64 `json:"fixed_s"`
	JobsFrom          float64 `json:"jobs_from"` // at once
	JobsUntil         float64 `json:"jobs_until"`
}

// TargetConfidence returns the confidence with which a class's target is to be shown.
func (class *Class) TargetConfidence() float64 { return cmp.Or(class.Confidence, DefaultConfidence) }

// PromiseOf returns the promise that a class is planned with: none without a target.
func (class *Class) PromiseOf() *Promise {
	if class.Target == 0 {
		return nil
	}
	return class.Promise
}

var promiseShape = strict.NewShape("a promise", []string{"factor", "target", "confidence", "expected", "low", "high", "executions", "missed",
	"replications", "seed", "lending", "deadline_s", "map_work_s", "reduce_work_s", "fixed_s", "jobs_from", "jobs_until"})

// checkTarget checks a class's target and its promise.
func (class *Class) checkTarget(c *strict.Checker) {
	if class.Target == 0 {
		for _, without := range []struct {
			member string
			given  bool
		}{{"confidence", class.Confidence != 0}, {"promise", class.Promise != nil}} {
			if without.given {
				c.Refuse(without.member, "not_here", "The class has no target; give it one, or leave %q out.", without.member)
			}
		}
		return
	}
	c.Between("target", "The target", class.Target, MinTarget, MaxTarget)
	c.Between("confidence", "The confidence", class.TargetConfidence(), MinConfidence, MaxConfidence)
	if class.Profile == nil {
		c.Refuse("target", "not_here", "Only a class with a profile can have a target, because nothing else says how its tasks differ; give it a profile, or leave the target out.")
	}
	if class.Promise != nil {
		c.Enter("promise")
		class.Promise.check(c)
		c.Leave()
	}
}

func (p *Promise) check(c *strict.Checker) {
	if f := p.Factor; c.Finite("factor", "The factor", f) && (f < MinCalibration || f > MaxCalibration) {
		c.Refuse("factor", "range", "The factor is %s; give one from %s to %s.", fault.Plain(f), fault.Plain(MinCalibration), fault.Plain(MaxCalibration))
	}
	c.Between("target", "The target", p.Target, MinTarget, MaxTarget)
	c.Between("confidence", "The confidence", p.Confidence, MinConfidence, MaxConfidence)
	c.Number("expected", "The expected part", "", p.Expected, 1)
	c.Number("low", "The low end of the interval", "", p.Low, 1)
	c.Number("high", "The high end of the interval", "", p.High, 1)
	c.Whole("executions", "The number of executions", "executions", p.Executions, 0, MaxTasks)
	c.Whole("missed", "The number of missed executions", "executions", p.Missed, 0, MaxTasks)
	c.Whole("replications", "The number of replications", "replications", p.Replications, 0, MaxTasks)
	c.Whole("seed", "The seed", "", p.Seed, 0, 1<<53-1)
	c.Number("deadline_s", "The deadline", "seconds", p.DeadlineSeconds, MaxSeconds)
	c.Number("map_work_s", "The map work", "seconds", p.MapWorkSeconds, MaxTasks*MaxSeconds)
	c.Number("reduce_work_s", "The reduce work", "seconds", p.ReduceWorkSeconds, MaxTasks*MaxSeconds)
	c.Finite("fixed_s", "The fixed time", p.FixedSeconds)
	c.Number("jobs_from", "The number of jobs", "", p.JobsFrom, MaxJobs)
	c.Number("jobs_until", "The number of jobs", "", p.JobsUntil, MaxJobs)
}
