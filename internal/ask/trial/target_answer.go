package trial

import (
	"fmt"

	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/fault"
	"example.org/headroom/internal/core/perf"
)

// TargetAnswer holds the promises of the classes with a target.
type TargetAnswer struct {
	Sentence string             `json:"sentence"`
	Options  TargetOptions      `json:"options"` // as carried out
	Classes  []PromisedClass    `json:"classes"`
	VMs      float64            `json:"vms"` // of the plan with the promises
	Cost     capacity.Cost      `json:"cost"`
	Without  *WithoutPromise    `json:"without"`           // the plan at the bounds alone; null if there is none
	Seed     int64              `json:"searched_seed"`     // of the executions that the search saw; others checked the promises
	Events   int64              `json:"events"`            // of all simulations
	Problem  *capacity.Problem  `json:"problem,omitempty"` // with the promises
	Warnings []capacity.Warning `json:"warnings"`
}

// WithoutPromise is the plan of a problem at its bounds alone.
type WithoutPromise struct {
	VMs  float64       `json:"vms"`
	Cost capacity.Cost `json:"cost"`
}

// PromisedClass is a class with its promise.
type PromisedClass struct {
	Name     string            `json:"name"`
	Jobs     float64           `json:"jobs"` // at once: those that the plan admits
	Slots    *capacity.Slots   `json:"slots"`
	Certain  bool              `json:"certain"`  // its executions show the target with the confidence
	Searched float64           `json:"searched"` // part of the executions of the search that ended in time with the factor it found
	Promise  *capacity.Promise `json:"promise"`  // null if the plan admits no job
}

// answer puts the answer together.
func (s *targetSearch) answer(q TargetQuestion, pl capacity.Plan, seed int64) TargetAnswer {
	a := TargetAnswer{Options: s.options, VMs: pl.VMs.Total, Cost: pl.Cost, Seed: s.options.Seed, Events: s.events,
		Classes: []PromisedClass{}, Warnings: append([]capacity.Warning{}, s.notes...)}
	if s.base != nil {
		a.Without = &WithoutPromise{s.base.VMs.Total, s.base.Cost}
	}
	problem := q.Problem
	problem.Classes = append([]capacity.Class{}, q.Problem.Classes...)
	certain := 0
	for _, c := range s.classes {
		row := PromisedClass{Name: c.Name, Jobs: pl.Classes[c.index].Admitted, Slots: pl.Classes[c.index].Slots, Searched: c.searched.share}
		if x := c.checked; x.executions > 0 {
			row.Promise = s.promise(c, seed)
			row.Certain = x.certain(c.Class)
		}
		problem.Classes[c.index].Promise = row.Promise // none that was found before
		if row.Certain {
			certain++
		}
		a.Classes = append(a.Classes, row)
		a.warn(s, c, row)
	}
	a.Problem = &problem
	a.Sentence = fmt.Sprintf("%d of %s shown with their confidence, on %s VMs", certain, fault.Plural(int64(len(a.Classes)), "target"), fault.Plain(a.VMs))
	if a.Without != nil {
		a.Sentence += fmt.Sprintf("; at the bounds alone the plan has %s", fault.Plain(a.Without.VMs))
	}
	a.Sentence += "."
	return a
}

// promise returns what was found of a class.
func (s *targetSearch) promise(c *targeted, seed int64) *capacity.Promise {
	of, x := perf.Demands(*c.Profile).Predicted(s.problem.Options.Bound, c.Calibration), c.checked
	return &capacity.Promise{
		Factor: c.factor, Target: c.Target, Confidence: c.TargetConfidence(), Expected: x.share, Low: x.low, High: x.high,
		Executions: x.executions, Missed: x.missed, Replications: x.replications, Seed: seed,
		Lending: string(s.options.Lending), DeadlineSeconds: c.DeadlineSeconds, MapWorkSeconds: of.MapWorkSeconds,
		ReduceWorkSeconds: of.ReduceWorkSeconds, FixedSeconds: of.FixedSeconds, JobsFrom: c.from, JobsUntil: c.Jobs.Max,
	}
}

// warn says why a class's target is not shown.
func (a *TargetAnswer) warn(s *targetSearch, c *targeted, row PromisedClass) {
	at := fmt.Sprintf("/problem/classes/%d/target", c.index)
	add := func(code, format string, values ...any) {
		a.Warnings = append(a.Warnings, capacity.Warning{Code: code, Pointer: at, Detail: fmt.Sprintf(format, values...)})
	}
	x := c.checked
	switch fewest := fewestExecutions(c.Target, c.TargetConfidence()); {
	case row.Promise == nil:
		add("refused", "The plan refuses all jobs of class %q with the factor that its target seems to need, %s; raise its penalty, or promise some jobs.", c.Name, fault.Plain(c.factor))
	case row.Certain:
	case x.executions < fewest && s.fewer:
		add("too_few", "The %s of class %q show %s %% with confidence %s; its target needs %d of which none fails. Raise max_events, or give fewer classes.",
			fault.Plural(x.executions, "execution"), c.Name, Percent(x.low), fault.Plain(c.TargetConfidence()), fewest)
	case x.executions < fewest:
		add("too_few", "The %s of class %q show %s %% with confidence %s; its target needs %d of which none fails. Ask for more executions.",
			fault.Plural(x.executions, "execution"), c.Name, Percent(x.low), fault.Plain(c.TargetConfidence()), fewest)
	default:
		add("not_shown", "Of the %s of class %q %s %% end in time, which shows %s %% with confidence %s and not its target; ask for more executions, or take a lower target.",
			fault.Plural(x.executions, "execution"), c.Name, Percent(x.share), Percent(x.low), fault.Plain(c.TargetConfidence()))
	}
}
