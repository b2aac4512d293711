package sim

import (
	"fmt"
	"math"

	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/perf"
	"example.org/headroom/internal/slots/dispatch"
)

// Report holds the results of all replications together.
type Report struct {
	Seed         uint64        `json:"seed"`
	Replications int           `json:"replications"`
	Events       int64         `json:"events"`
	SimulatedS   float64       `json:"simulated_s"` // of all replications, the warm-up included
	Unstable     bool          `json:"unstable"`    // more work arrives than can be done: times depend on the horizon
	Stopped      Stopped       `json:"stopped"`     // limit that ended a replication early; empty if none did
	Pools        []PoolReport  `json:"pools"`
	Classes      []ClassReport `json:"classes"`
	Nodes        *NodesReport  `json:"nodes,omitempty"`
	Compared     []Compared    `json:"compared,omitempty"` // by class, all together first

	Warnings []capacity.Warning `json:"warnings"`
}

// Stopped names the limit that ended a replication.
type Stopped string

// The limits; see Limits.
const (
	StoppedEvents Stopped = "events"
	StoppedJobs   Stopped = "jobs"
	// StoppedStuck is no limit: tasks wait, and nothing will happen any more.
	StoppedStuck Stopped = "stuck"
)

// Estimate is a mean over time or executions. HalfWidth is its 95 % confidence interval, which needs at least two
// replications.
type Estimate struct {
	Mean      float64  `json:"mean"`
	HalfWidth *float64 `json:"half_width"`
}

// PoolReport reports the use of slots.
type PoolReport struct {
	Pool    string   `json:"pool"` // map, reduce or shared
	Slots   int      `json:"slots"`
	Use     Estimate `json:"use"`     // part of the time that a slot was held
	Waiting float64  `json:"waiting"` // of that time, the part in which its reduce waited for the last map
	Offered *float64 `json:"offered"` // part that open loads alone would keep busy; null without open loads
}

// ClassReport reports on a class's jobs. Times cover jobs that ended after the warm-up and are null if none did.
type ClassReport struct {
	Name       string   `json:"name"`
	Submitted  int64    `json:"submitted"`
	Ended      int64    `json:"ended"`
	Unfinished int64    `json:"unfinished"`
	Counted    int64    `json:"counted"` // ended after the warm-up
	PerHour    Estimate `json:"per_hour"`
	InSystem   Estimate `json:"in_system"` // jobs submitted and not yet ended, over time

	Response      *Times `json:"response_s"`        // from submission
	FromFirstSlot *Times `json:"from_first_slot_s"` // to the end
	Wait          *Times `json:"wait_s"`            // from submission to the first slot

	Deadline *DeadlineReport `json:"deadline"` // null without a deadline
	Slots    ClassSlots      `json:"slots"`    // held, over time

	Bounds              *Bounds `json:"bounds"` // null if the number of jobs for the slots is unknown
	PlaceFromSubmission *Places `json:"place_from_submission"`
	PlaceFromFirstSlot  *Places `json:"place_from_first_slot"`

	OnNodes *ClassOnNodes `json:"on_nodes,omitempty"`
}

// Times describes seconds. Quantiles are right to a thousandth.
type Times struct {
	Estimate
	Deviation float64 `json:"deviation"`
	Min       float64 `json:"min"`
	P50       float64 `json:"p50"`
	P90       float64 `json:"p90"`
	P95       float64 `json:"p95"`
	P99       float64 `json:"p99"`
	Max       float64 `json:"max"`
}

// DeadlineReport counts met and missed deadlines. Unfinished jobs count once their deadline has passed.
type DeadlineReport struct {
	Seconds        float64  `json:"deadline_s"` // 0 if jobs have their own
	Missed         int64    `json:"missed"`
	UnfinishedLate int64    `json:"unfinished_late"` // of those missed
	Met            Estimate `json:"met"`             // part of the jobs; 1 if there were none
}

// ClassSlots holds the average number of slots that a class held, by kind of task.
type ClassSlots struct {
	Map     Estimate `json:"map"`
	Reduce  Estimate `json:"reduce"`
	Waiting float64  `json:"waiting"` // of reduce: while waiting for the last map
}

// Bounds holds the three execution times of a class, in seconds.
type Bounds struct {
	LowerSeconds   float64 `json:"lower_s"`
	AverageSeconds float64 `json:"average_s"`
	UpperSeconds   float64 `json:"upper_s"`
	PremiseOK      bool    `json:"premise_ok"` // there is a slot for each job, so Upper is a bound
}

// Places counts executions by their place between their bounds.
type Places struct {
	BelowLower int64 `json:"below_lower"`
	ToAverage  int64 `json:"lower_to_average"`
	ToUpper    int64 `json:"average_to_upper"`
	AboveUpper int64 `json:"above_upper"`
}

// outcome holds the results of a replication.
type outcome struct {
	whole   bool // it reached its end
	classes []measures
	counts  []int64 // submitted, by class
	events  int64
	end     float64
	stopped Stopped
	nodes   *nodesOutcome
}

// span returns the time that figures cover.
func (o *outcome) span(m *model) float64 { return max(0, o.end-m.warmUp) }

// report combines replications, in their order.
func (m *model) report(seed uint64, outcomes []outcome) Report {
	r := Report{Seed: seed, Replications: len(outcomes), Warnings: append([]capacity.Warning{}, m.warnings...), Pools: []PoolReport{}}
	for _, o := range outcomes {
		r.Events += o.events
		r.SimulatedS += o.end
		if r.Stopped != StoppedJobs && o.stopped != "" {
			r.Stopped = o.stopped
		}
	}
	r.Unstable = r.Stopped == StoppedJobs || m.overloaded
	m.reportPools(&r, outcomes)
	for i := range m.classes {
		r.Classes = append(r.Classes, m.reportClass(i, outcomes))
	}
	r.Nodes = m.reportNodes(outcomes)
	m.explain(&r)
	return r
}

func (m *model) explain(r *Report) {
	add := func(code, format string, values ...any) {
		r.Warnings = append(r.Warnings, capacity.Warning{Code: code, Detail: fmt.Sprintf(format, values...)})
	}
	switch r.Stopped {
	case StoppedJobs:
		add("unstable", "More than %d jobs were in the system at once, and a replication ended there: more work comes than the slots can do. Lower the load or give more slots.", m.limits.Jobs)
	case StoppedEvents:
		add("stopped", "A replication ended after %d events, before its horizon; the figures are about the time until there. Raise limits.events or shorten the horizon.", m.limits.Events)
	case StoppedStuck:
		add("stuck", "Tasks wait and nothing happens any more: no slot is given to them. Look at what is left of the nodes to tasks, and at the cap of the data nodes.")
	}
	for _, c := range r.Classes {
		if c.Counted == 0 {
			add("nothing_counted", "No job of class %q ended after the warm-up; there is nothing to say of its times.", c.Name)
		}
	}
}

func (m *model) reportPools(r *Report, outcomes []outcome) {
	names := []string{"map", "reduce"}
	if m.layout == dispatch.Shared {
		names = []string{"shared"}
	}
	for p, name := range names {
		pool := PoolReport{Pool: name, Slots: m.pools[p]}
		var held, waited float64
		pool.Use = estimate(outcomes, func(o *outcome) (float64, bool) {
			sum := 0.0
			for i := range o.classes {
				c := &o.classes[i]
				for k, seconds := range c.held {
					if m.layout.Of(dispatch.Kind(k)) == dispatch.Pool(p) {
						sum += seconds
					}
				}
				if m.layout.Of(dispatch.Reduce) == dispatch.Pool(p) {
					waited += c.waited
				}
			}
			held += sum
			return ratio(sum, o.span(m)*float64(m.pools[p]))
		})
		pool.Waiting, _ = ratio(waited, held)
		if m.open {
			offered := m.offered[p]
			pool.Offered = &offered
		}
		r.Pools = append(r.Pools, pool)
	}
}

func ratio(part, whole float64) (float64, bool) {
	if x := part / whole; whole != 0 && !math.IsInf(x, 0) { // a time of 1e-308 s has no rate
		return x, true
	}
	return 0, false
}

func (m *model) reportClass(i int, outcomes []outcome) ClassReport {
	spec := &m.classes[i]
	c := ClassReport{Name: spec.Name, Bounds: spec.bounds}
	var all measures
	for n := range outcomes {
		o := &outcomes[n].classes[i]
		c.Submitted += outcomes[n].counts[i]
		c.Ended += o.ended
		c.Unfinished += o.unfinished
		all.late += o.late
		all.judged += o.judged
		all.unfinishedLate += o.unfinishedLate
		all.waited += o.waited
		all.held[dispatch.Reduce] += o.held[dispatch.Reduce]
		all.response.merge(&o.response)
		all.fromFirst.merge(&o.fromFirst)
		all.wait.merge(&o.wait)
		all.submission.merge(o.submission)
		all.firstSlot.merge(o.firstSlot)
	}
	over := func(figure func(*measures) float64) Estimate {
		return estimate(outcomes, func(o *outcome) (float64, bool) { return ratio(figure(&o.classes[i]), o.span(m)) })
	}
	c.Counted = all.response.n
	c.PerHour = over(func(s *measures) float64 { return 3600 * float64(s.response.n) })
	c.InSystem = over(func(s *measures) float64 { return s.inSystem })
	c.Slots.Map = over(func(s *measures) float64 { return s.held[dispatch.Map] })
	c.Slots.Reduce = over(func(s *measures) float64 { return s.held[dispatch.Reduce] })
	c.Slots.Waiting, _ = ratio(all.waited, all.held[dispatch.Reduce])
	times := func(of func(*measures) *series) *Times {
		if of(&all).n == 0 {
			return nil
		}
		return describe(of(&all), outcomes, func(o *outcome) *series { return of(&o.classes[i]) })
	}
	c.Response = times(func(s *measures) *series { return &s.response })
	c.FromFirstSlot = times(func(s *measures) *series { return &s.fromFirst })
	c.Wait = times(func(s *measures) *series { return &s.wait })
	if spec.hasDeadlines() {
		c.Deadline = &DeadlineReport{Seconds: spec.DeadlineSeconds, Missed: all.late + all.unfinishedLate, UnfinishedLate: all.unfinishedLate}
		c.Deadline.Met = proportion(outcomes, func(o *outcome) (good, all int64) {
			s := &o.classes[i]
			return s.judged - s.late, s.judged + s.unfinishedLate
		})
	}
	c.OnNodes = m.classOnNodes(i, outcomes)
	if spec.bounds != nil {
		c.PlaceFromSubmission, c.PlaceFromFirstSlot = &all.submission, &all.firstSlot
	}
	return c
}

func (p *Places) merge(other Places) {
	p.BelowLower += other.BelowLower
	p.ToAverage += other.ToAverage
	p.ToUpper += other.ToUpper
	p.AboveUpper += other.AboveUpper
}

// describe sums up a sample of all replications; the replications' means give the confidence of its mean.
func describe(all *series, outcomes []outcome, of func(*outcome) *series) *Times {
	t := &Times{
		Deviation: all.deviation(), Min: all.lowest, Max: all.highest,
		P50: all.quantile(0.5), P90: all.quantile(0.9), P95: all.quantile(0.95), P99: all.quantile(0.99),
	}
	t.Estimate = estimate(outcomes, func(o *outcome) (float64, bool) { return ratio(of(o).sum, float64(of(o).n)) })
	t.Mean = all.mean()
	return t
}

// proportion returns the part of all jobs that satisfy a condition, over all replications. If few fail, most
// replications have no failure, and their spread says too little: none at all would be certainty. So it counts as
// many jobs as would vary as much by chance, and adds two for and two against (Agresti and Coull).
func proportion[T any](outcomes []T, figure func(*T) (good, all int64)) Estimate {
	var good, all int64
	replications := 0
	e := estimate(outcomes, func(o *T) (float64, bool) {
		g, n := figure(o)
		if n > 0 {
			good, all, replications = good+g, all+n, replications+1
		}
		return ratio(float64(g), float64(n))
	})
	if all == 0 {
		return Estimate{Mean: 1}
	}
	e.Mean = float64(good) / float64(all)
	if e.HalfWidth == nil {
		return e
	}
	t := student(replications)
	many := float64(all)
	if standard := *e.HalfWidth / t; standard > 0 {
		many = min(many, e.Mean*(1-e.Mean)/float64(standard*standard))
	}
	middle := (e.Mean*many + 2) / (many + 4)
	half := math.Abs(middle-e.Mean) + float64(t*math.Sqrt(middle*(1-middle)/(many+4)))
	*e.HalfWidth = min(1, max(*e.HalfWidth, half))
	return e
}

// confidence is the level of half widths.
const confidence = 0.95

// estimate returns the mean of a figure over the replications that have it.
func estimate[T any](outcomes []T, figure func(*T) (float64, bool)) Estimate {
	var values []float64
	for i := range outcomes {
		if x, ok := figure(&outcomes[i]); ok {
			values = append(values, x)
		}
	}
	return estimated(values)
}

// estimated returns the mean of independent figures.
func estimated(values []float64) Estimate {
	sum := 0.0
	for _, x := range values {
		sum += x
	}
	n := float64(len(values))
	if n == 0 {
		return Estimate{}
	}
	e := Estimate{Mean: sum / n}
	if n < 2 {
		return e
	}
	squares := 0.0
	for _, x := range values {
		squares += float64((x - e.Mean) * (x - e.Mean))
	}
	half := student(len(values)) * math.Sqrt(squares/(n-1)/n)
	e.HalfWidth = &half
	return e
}

// student returns the number of standard errors within which the mean of n values lies with that confidence.
func student(n int) float64 {
	return perf.StudentQuantile(float64(n-1), (1+confidence)/2)
}
