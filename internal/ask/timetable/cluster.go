package timetable

import (
	"fmt"
	"math"
	"slices"
	"time"

	"example.org/headroom/internal/ask/horizon"
	"example.org/headroom/internal/ask/whatif"
	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/fault"
	"example.org/headroom/internal/core/perf"
	"example.org/headroom/internal/core/strict"
	"example.org/headroom/internal/core/words"
)

// ClusterQuestion asks when the executions that are forecast of a cluster are to start.
type ClusterQuestion struct {
	horizon.Span
	Scenario *whatif.AskedScenario `json:"scenario,omitempty"` // laid over all of the time
	Budgets  []SpanBudget          `json:"budgets,omitempty"`
}

var clusterShape = strict.NewShape("a schedule's question", nil, "from", "until", "scenario", "budgets")

// ReadCluster reads a question about a cluster.
func ReadCluster(data []byte) (q ClusterQuestion, err error) {
	r := strict.NewReader(data)
	r.Object(clusterShape, func(name string) { q.Read(r, name) })
	r.End()
	err = r.Result(q.Check)
	return q, err
}

// Read reads a member of the question.
func (q *ClusterQuestion) Read(r *strict.Reader, name string) {
	switch name {
	case "scenario":
		q.Scenario = whatif.ReadAskedScenario(r, whatif.AskedScenarioShape)
	case "budgets":
		q.Budgets = readBudgets(r)
	default:
		horizon.ReadSpanMember(r, name, &q.Span)
	}
}

// Check finds faults of the question by itself.
func (q *ClusterQuestion) Check(c *strict.Checker) {
	q.Span.Check(c)
	whatif.CheckAskedScenario(c, q.Scenario)
}

// daysPlanned is the time that a schedule plans where no end is given.
const daysPlanned = 7

// Ends is horizon.Span.Ends, a week long.
func (q ClusterQuestion) Ends(now time.Time) (from, until time.Time, open bool) {
	if from, until, open = q.Span.Ends(now); open {
		until = from.AddDate(0, 0, daysPlanned)
	}
	return from, until, open
}

// LongestWindow returns the time after an arrival in which an execution of any class may still run, and whole hours more. The
// outlook's scenario may make it longer.
func LongestWindow(o *horizon.Outlook) (longest time.Duration) {
	for _, c := range o.Classes {
		seconds := max(longer(o, c.Name, whatif.ChangeDue, c.DueSeconds), longer(o, c.Name, whatif.ChangeDeadline, c.DeadlineSeconds))
		hours := math.Ceil(min(seconds, capacity.MaxSeconds)/3600) + 1
		if c.Due != "" { // a day, which may have 25 hours
			hours += 26
		}
		longest = max(longest, time.Duration(hours)*time.Hour)
	}
	return longest
}

// longer returns the most that changes of a scenario make of the seconds of a class.
func longer(o *horizon.Outlook, class string, what whatif.What, seconds float64) float64 {
	for i := range o.Scenario.Changes {
		switch ch := &o.Scenario.Changes[i]; {
		case ch.What != what || ch.Class != "" && ch.Class != class:
		case ch.Value != nil:
			seconds = max(seconds, ch.Value.Float())
		default:
			seconds *= max(1, *ch.Factor)
		}
	}
	return seconds
}

// QuestionOf returns the question about the arrivals before a moment. The hours after it have prices alone, so that everything
// that arrived can end. A schedule of the time before may have left something.
func QuestionOf(o horizon.Outlook, end time.Time, before *Before) (q Question, warnings []capacity.Warning, err error) {
	h, warnings, err := timeOf(o, end, before)
	if err != nil {
		return q, nil, err
	}
	if promised := leaveOutPromises(&h.Problem, before != nil); len(promised) > 0 {
		warningsTo(&warnings)("promises_left_out", "A schedule weighs each execution that may wait by its penalty and keeps no number of promised jobs; the cluster promises some of %s.", words.Some(promised))
	}
	if err := asArrivals(&h, warningsTo(&warnings)); err != nil {
		return q, nil, err
	}
	q = Question{Problem: h.Problem, Contracts: h.Contracts, Periods: h.Periods, Earlier: h.Earlier, Before: before}
	if q.settleVMs(); before == nil && startsCost(&q.Problem.Supply) {
		warningsTo(&warnings)("starts_from_none", "The schedule begins without VMs, so that all of its first hour count as started.")
	}
	q.OneType = before != nil && len(h.Problem.Supply.VMTypes) > 1 // as the plan of an hour has one deadline for a class
	if slices.ContainsFunc(h.Problem.Classes, func(c capacity.Class) bool { return c.Due != "" }) {
		q.TimeZone = o.Cluster.TimeZone
	}
	q.Settle()
	// The question was made here: the caller has no member that a pointer could name.
	return q, warnings, fault.Move(strict.Check(q.check), func(string) string { return "" })
}

// timeOf returns the time of an outlook with its jobs at once, and hours after a moment that have prices alone.
func timeOf(o horizon.Outlook, end time.Time, before *Before) (h horizon.Horizon, warnings []capacity.Warning, err error) {
	o.Waiting = true
	asked, tail := o, o
	asked.Until, tail.From = end, end
	if h, warnings, err = asked.Horizon(); err != nil {
		return h, nil, err
	}
	warnings = slices.DeleteFunc(warnings, func(w capacity.Warning) bool { return w.Code == "windows_left_out" })
	if tail.Until.After(end) {
		after, _, err := tail.Horizon()
		if err != nil {
			return h, nil, err
		}
		for _, p := range after.Periods {
			p.Jobs, p.Unforecast = slices.Repeat([]float64{0}, len(h.Problem.Classes)), false
			p.Arrivals = nil
			h.Periods = append(h.Periods, p)
		}
	}
	warn := warningsTo(&warnings)
	if err := schedulable(&h.Problem, warn); err != nil {
		return h, nil, err
	}
	takeStarts(&h.Problem, &o, before != nil, warn)
	if before == nil {
		for k := range h.Problem.Classes {
			if c := &h.Problem.Classes[k]; c.MayWait() && slices.ContainsFunc(h.Earlier, func(p horizon.HorizonPeriod) bool { return p.Arrivals[k] > 0 }) {
				warn("earlier_left_out", "Executions of %q that arrived before %s are left out, and other classes that may wait likewise.", fault.Clip(c.Name), asked.From.Format(time.RFC3339))
				break
			}
		}
	}
	return h, warnings, nil
}

// warningsTo returns what adds a warning to a list.
func warningsTo(all *[]capacity.Warning) func(code, format string, values ...any) {
	return func(code, format string, values ...any) {
		*all = append(*all, capacity.Warning{Code: code, Detail: fmt.Sprintf(format, values...)})
	}
}

// schedulable makes the problem of a cluster one that schedules take, and says what it leaves out.
func schedulable(p *capacity.Problem, warn func(code, format string, values ...any)) error {
	if p.Options.Sharing == capacity.Dedicated {
		return fault.At("", "not_taken", "The cluster keeps VMs for each class (sharing is dedicated); in a schedule the classes share VMs.")
	}
	if p.Budget != nil && !takesBudget(p) {
		p.Budget = nil
		warn("budget_left_out", "A schedule keeps to a budget for VMs alone, of one type without spot VMs. It leaves out the one that the cluster has.")
	}
	if p.Options.Integrality == capacity.Relaxed {
		p.Options.Integrality = capacity.Integer
	}
	return nil
}

// leaveOutPromises takes away promised jobs of classes that may wait, and names the classes. In a schedule that plans follow, these
// keep all promises.
func leaveOutPromises(p *capacity.Problem, follows bool) (promised []string) {
	for k := range p.Classes {
		c := &p.Classes[k]
		if c.Jobs.Min > 0 && !c.Jobs.All && (c.MayWait() || follows) {
			promised, c.Jobs.Min = append(promised, fmt.Sprintf("%q", fault.Clip(c.Name))), 0
		}
	}
	return promised
}

// asArrivals makes arrivals of jobs that run at once: as many an hour as keep so many running until their deadlines.
func asArrivals(h *horizon.Horizon, warn func(code, format string, values ...any)) error {
	counted := make([]bool, len(h.Problem.Classes))
	for i := range h.Periods {
		p := &h.Periods[i]
		if p.Length()%3600 != 0 {
			return fault.At("", "not_whole", fmt.Sprintf("A price changes at %s, within an hour; a schedule plans whole hours. Let prices change at whole hours of UTC.", p.End().UTC().Format(time.RFC3339)))
		}
		arrivals := slices.Repeat([]float64{0}, len(h.Problem.Classes))
		copy(arrivals, p.Arrivals)
		for k := range h.Problem.Classes {
			c := &h.Problem.Classes[k]
			jobs := c.Jobs.Max
			if p.Jobs != nil {
				jobs = p.Jobs[k]
			}
			if jobs == 0 {
				continue
			}
			held := perf.HeldSeconds(*c, h.Problem.Supply, h.Problem.Options)
			if held == 0 {
				return fault.At("", "missing", fmt.Sprintf("Jobs of %q are forecast at once and it has no deadline_s, so that nobody knows how many arrive. Forecast arrivals, or give it a deadline_s.", fault.Clip(c.Name)))
			}
			arrivals[k] += jobs * float64(p.Length()) / held
			counted[k] = true
		}
		p.Jobs, p.Arrivals, p.Unforecast = nil, arrivals, false
	}
	var names []string
	for k, is := range counted {
		if is {
			names = append(names, fmt.Sprintf("%q", fault.Clip(h.Problem.Classes[k].Name)))
		}
	}
	if len(names) > 0 {
		warn("counted_as_arrivals", "Jobs at once count as the arrivals that keep so many running: of %s.", words.Some(names))
	}
	return nil
}
