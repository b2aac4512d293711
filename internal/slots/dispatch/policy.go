package dispatch

import (
	"slices"

	"example.org/headroom/internal/core/fault"
	"example.org/headroom/internal/core/strict"
)

// PolicyConfig configures the policy that assigns freed slots: a rule by its name, and the rule's settings. Missing
// settings have the defaults of Filled; settings of another rule are refused. New makes the policy.
type PolicyConfig struct {
	Kind PolicyKind `json:"kind"`

	// Of progress-share.
	// a slot must suit another job better than the next job in turn by this part
	AffinityThreshold *float64 `json:"affinity_threshold,omitempty"`
	// times in a row that a job lets others go first; default: the number of slots
	MaxSkips *int64 `json:"max_skips,omitempty"`

	// Of max-progress.
	Mode ProgressMode `json:"mode,omitempty"`
	// multiplies the fitted times of tasks if a deadline is at stake; default: by mode
	TimeFactor  *float64   `json:"time_factor,omitempty"`
	WholeTasks  *bool      `json:"whole_tasks,omitempty"`    // counts the whole tasks that a slot can complete, without fractions
	MinResidual *float64   `json:"least_residual,omitempty"` // slots of nodes that leave less of their processors stay idle
	IOCap       *float64   `json:"io_cap_mb_s,omitempty"`    // limits the reads of running tasks from each data node; default: no limit
	Late        LatePolicy `json:"late,omitempty"`

	// Of learned.
	Classifier ClassifierKind `json:"classifier,omitempty"`
	Target     *float64       `json:"target,omitempty"` // the load average per processor that nodes should have
	// a node is overloaded if one of them matches; default: above the target
	Rules             []OverloadRule `json:"rules,omitempty"`
	Utilities         []Utility      `json:"utilities,omitempty"`           // a job's utility is their product
	Features          []NodeFeature  `json:"features,omitempty"`            // that nodes report besides the usual ones
	TasksPerHeartbeat *int64         `json:"tasks_per_heartbeat,omitempty"` // most tasks given to a node
	EvaluationDelay   *int64         `json:"evaluation_delay_heartbeats,omitempty"`
	ProbeWhenIdle     *bool          `json:"probe_when_idle,omitempty"` // an idle node gets a task although all look bad to it
}

// PolicyKind is the name of a rule.
type PolicyKind string

// The rules.
const (
	PolicyFIFO          PolicyKind = "fifo"           // in the order of submission
	PolicyEDF           PolicyKind = "edf"            // earliest deadline first
	PolicyFair          PolicyKind = "fair"           // minimums first, then by weight, jobs of a class evenly
	PolicyCapacity      PolicyKind = "capacity"       // by share, jobs of a class in order
	PolicyProgressShare PolicyKind = "progress-share" // by the worth of slots to each job
	PolicyMaxProgress   PolicyKind = "max-progress"   // deadlines at risk first, then the job that suffers least here
	PolicyLearned       PolicyKind = "learned"        // by the load that nodes have shown to bear
)

// PolicyKinds lists the rules in the order in which they are shown.
var PolicyKinds = []PolicyKind{PolicyFIFO, PolicyEDF, PolicyFair, PolicyCapacity, PolicyProgressShare, PolicyMaxProgress, PolicyLearned}

// ProgressMode names a way in which max-progress decides.
type ProgressMode string

// The modes.
const (
	// deadlines with room, only on slots that meet them; others where they suffer least compared with elsewhere
	ProgressDefault ProgressMode = "default"
	ProgressPaper   ProgressMode = "paper" // as it was published
)

// LatePolicy names the treatment of a job past its deadline.
type LatePolicy string

// The policies for late jobs.
const (
	LateKeep   LatePolicy = "keep"   // it continues ahead of others, as under edf
	LateDemote LatePolicy = "demote" // it is a job without a deadline
)

// ClassifierKind names a way of learning from decisions.
type ClassifierKind string

// The classifiers.
const (
	NaiveBayes ClassifierKind = "naive_bayes"
	Perceptron ClassifierKind = "perceptron"
)

// OverloadRule marks a node as overloaded if a metric that it reported is above the limit.
type OverloadRule struct {
	Metric NodeMetric `json:"metric"`
	Limit  float64    `json:"limit"`
	Per    MetricPer  `json:"per,omitempty"` // left out: node
}

// NodeMetric names a figure that nodes report.
type NodeMetric string

// The metrics.
const (
	MetricLoad1  NodeMetric = "load1"
	MetricCPU    NodeMetric = "cpu_pct"
	MetricMemory NodeMetric = "mem_pct"
	MetricNet    NodeMetric = "net_mb_s"
	MetricDisk   NodeMetric = "disk_mb_s"
)

// MetricPer names the divisor of a metric.
type MetricPer string

// Divisors of metrics.
const (
	PerNode MetricPer = "node"
	PerCPU  MetricPer = "cpu"
)

// Utility values the tasks of a job; jobs without value get no slot.
type Utility struct {
	Kind      UtilityKind `json:"kind"`
	Value     *float64    `json:"value,omitempty"`      // of constant; left out: 1
	SlowStart *float64    `json:"slow_start,omitempty"` // of map_before_reduce: the part of the maps that must be done; left out: 1
}

// UtilityKind is the name of a utility.
type UtilityKind string

// The utilities.
const (
	UtilityConstant  UtilityKind = "constant"
	UtilityFIFO      UtilityKind = "fifo"               // the seconds since it was submitted, and one
	UtilityMapsFirst UtilityKind = "map_before_reduce"  // 0 of reduces until enough maps are done
	UtilityBudget    UtilityKind = "budget"             // the job's own figure, while its owner can pay
	UtilityDedicated UtilityKind = "dedicated_capacity" // the part of its promised slots that it lacks
	UtilityRevenue   UtilityKind = "revenue"            // the revenue offered for the job
)

// NodeFeature is a reported property of nodes on which decisions may depend: a number in ranges, or a word from a
// list.
type NodeFeature struct {
	Name  string    `json:"name"`
	Edges []float64 `json:"edges,omitempty"` // lower ends of ranges, ascending
	Words []string  `json:"words,omitempty"` // any other is one more
}

var (
	progressModes = []ProgressMode{ProgressDefault, ProgressPaper}
	latePolicies  = []LatePolicy{LateKeep, LateDemote}
	classifiers   = []ClassifierKind{NaiveBayes, Perceptron}
	nodeMetrics   = []NodeMetric{MetricLoad1, MetricCPU, MetricMemory, MetricNet, MetricDisk}
	metricPers    = []MetricPer{PerNode, PerCPU}
	utilityKinds  = []UtilityKind{UtilityConstant, UtilityFIFO, UtilityMapsFirst, UtilityBudget, UtilityDedicated, UtilityRevenue}
)

// Limits of a policy: beyond them somebody has mistaken a unit, or decisions would take too long.
const (
	maxAffinity        = 1_000
	maxSkipsOfJob      = 1_000_000
	MaxTimeFactor      = 100
	maxIOCap           = 1e9
	maxLoadTarget      = 1_000
	maxMetric          = 1e12
	maxUtility         = 1e9
	maxTasksAtOnce     = 1_000
	maxEvaluationDelay = 1_000
	maxRules           = 20
	maxUtilities       = 10
	maxFeatures        = 20
	maxBins            = 100 // of a feature
)

// DefaultEvaluationDelay is a minute of heartbeats every 5 s: a load average of a minute then shows 63 % of a choice.
const DefaultEvaluationDelay = 12

// Filled returns the policy with its defaults.
func (p PolicyConfig) Filled() PolicyConfig {
	switch p.Kind {
	case PolicyProgressShare:
		byDefault(&p.AffinityThreshold, 0.5)
	case PolicyMaxProgress:
		if p.Mode == "" {
			p.Mode = ProgressDefault
		}
		if p.Mode == ProgressPaper {
			byDefault(&p.TimeFactor, 1)
		}
		byDefault(&p.TimeFactor, 1.35) // fitted times were 35 % off on average
		byDefault(&p.WholeTasks, false)
		byDefault(&p.MinResidual, 0.05)
		if p.Late == "" {
			p.Late = LateKeep
		}
	case PolicyLearned:
		if p.Classifier == "" {
			p.Classifier = NaiveBayes
		}
		byDefault(&p.Target, 1)
		if len(p.Rules) == 0 {
			p.Rules = []OverloadRule{{MetricLoad1, *p.Target, PerCPU}}
		}
		if len(p.Utilities) == 0 {
			p.Utilities = []Utility{{Kind: UtilityFIFO}}
		}
		p.Rules, p.Utilities = slices.Clone(p.Rules), slices.Clone(p.Utilities)
		for i := range p.Rules {
			if p.Rules[i].Per == "" {
				p.Rules[i].Per = PerNode
			}
		}
		for i := range p.Utilities {
			switch u := &p.Utilities[i]; u.Kind {
			case UtilityConstant:
				byDefault(&u.Value, 1)
			case UtilityMapsFirst:
				byDefault(&u.SlowStart, 1)
			}
		}
		byDefault(&p.TasksPerHeartbeat, 1)
		byDefault(&p.EvaluationDelay, DefaultEvaluationDelay)
		byDefault(&p.ProbeWhenIdle, true)
	}
	return p
}

func byDefault[T any](member **T, value T) {
	if *member == nil {
		*member = &value
	}
}

// Validate checks the policy. It reports all faults, with pointers below the given one, as an *InputError.
func (p PolicyConfig) Validate(pointer string) error {
	c := strict.Checker{Base: pointer}
	p.Check(&c)
	return fault.Refusal(c.Findings, c.Unlisted)
}

func (p *PolicyConfig) Check(c *strict.Checker) {
	strict.OneOf(c, "kind", p.Kind, PolicyKinds)
	if !slices.Contains(PolicyKinds, p.Kind) {
		return
	}
	p.checkMembers(c)
	strict.Above(c, "affinity_threshold", "The affinity threshold", p.AffinityThreshold, maxAffinity)
	strict.Within(c, "max_skips", "How often a job lets others before it", "times", p.MaxSkips, 1, maxSkipsOfJob)
	strict.Optional(c, "mode", p.Mode, progressModes)
	if f := p.TimeFactor; f != nil && c.Finite("time_factor", "The factor of task times", *f) && (*f < 1 || *f > MaxTimeFactor) {
		c.Refuse("time_factor", "range", "The factor of task times is %s; it must be from 1 to %d.", fault.Plain(*f), MaxTimeFactor)
	}
	if r := p.MinResidual; r != nil {
		c.Number("least_residual", "The least part of the processors", "", *r, 1)
	}
	strict.Above(c, "io_cap_mb_s", "What may be read from each data node", p.IOCap, maxIOCap)
	strict.Optional(c, "late", p.Late, latePolicies)
	strict.Optional(c, "classifier", p.Classifier, classifiers)
	strict.Above(c, "target", "The load average per processor", p.Target, maxLoadTarget)
	strict.Within(c, "tasks_per_heartbeat", "The number of tasks a heartbeat", "tasks", p.TasksPerHeartbeat, 1, maxTasksAtOnce)
	strict.Within(c, "evaluation_delay_heartbeats", "The delay of the evaluation", "heartbeats", p.EvaluationDelay, 1, maxEvaluationDelay)
	strict.AtMost(c, "rules", "rules", len(p.Rules), maxRules)
	strict.Each(c, "rules", p.Rules, func(r *OverloadRule) {
		strict.OneOf(c, "metric", r.Metric, nodeMetrics)
		c.Number("limit", "The limit", "", r.Limit, maxMetric)
		strict.Optional(c, "per", r.Per, metricPers)
	})
	strict.AtMost(c, "utilities", "utilities", len(p.Utilities), maxUtilities)
	strict.Each(c, "utilities", p.Utilities, func(u *Utility) {
		strict.OneOf(c, "kind", u.Kind, utilityKinds)
		strict.Above(c, "value", "The utility", u.Value, maxUtility)
		if u.SlowStart != nil {
			c.Number("slow_start", "The part of the maps", "", *u.SlowStart, 1)
		}
		if u.Value != nil && u.Kind != UtilityConstant {
			c.Refuse("value", "not_here", "A value is what the utility constant has; leave it out.")
		}
		if u.SlowStart != nil && u.Kind != UtilityMapsFirst {
			c.Refuse("slow_start", "not_here", "A slow start is what the utility map_before_reduce has; leave it out.")
		}
	})
	p.checkFeatures(c)
}

// checkMembers refuses settings of other rules.
func (p *PolicyConfig) checkMembers(c *strict.Checker) {
	for _, m := range []struct {
		name  string
		given bool
		of    PolicyKind
	}{
		{"affinity_threshold", p.AffinityThreshold != nil, PolicyProgressShare},
		{"max_skips", p.MaxSkips != nil, PolicyProgressShare},
		{"mode", p.Mode != "", PolicyMaxProgress},
		{"time_factor", p.TimeFactor != nil, PolicyMaxProgress},
		{"whole_tasks", p.WholeTasks != nil, PolicyMaxProgress},
		{"least_residual", p.MinResidual != nil, PolicyMaxProgress},
		{"io_cap_mb_s", p.IOCap != nil, PolicyMaxProgress},
		{"late", p.Late != "", PolicyMaxProgress},
		{"classifier", p.Classifier != "", PolicyLearned},
		{"target", p.Target != nil, PolicyLearned},
		{"rules", p.Rules != nil, PolicyLearned},
		{"utilities", p.Utilities != nil, PolicyLearned},
		{"features", p.Features != nil, PolicyLearned},
		{"tasks_per_heartbeat", p.TasksPerHeartbeat != nil, PolicyLearned},
		{"evaluation_delay_heartbeats", p.EvaluationDelay != nil, PolicyLearned},
		{"probe_when_idle", p.ProbeWhenIdle != nil, PolicyLearned},
	} {
		if m.given && m.of != p.Kind {
			c.Refuse(m.name, "not_here", "The policy %s has no %s, which is of %s; leave it out, or choose that policy.", p.Kind, m.name, m.of)
		}
	}
}

func (p *PolicyConfig) checkFeatures(c *strict.Checker) {
	strict.AtMost(c, "features", "features", len(p.Features), maxFeatures)
	named := map[string]bool{}
	strict.Each(c, "features", p.Features, func(f *NodeFeature) {
		c.Name(f.Name)
		if named[f.Name] {
			c.Refuse("name", "duplicate", "The feature %q is there twice; keep one.", fault.Clip(f.Name))
		}
		named[f.Name] = true
		if (len(f.Edges) > 0) == (len(f.Words) > 0) {
			c.Refuse("", "one_of", "A feature is a number, which needs edges, or a word, which needs words; give one of the two.")
		}
		if most := maxBins - 2; len(f.Edges) > most || len(f.Words) > most { // one more for the rest, one for missing values
			c.Refuse("", "too_many", "A feature can have %d edges or words at most.", most)
			return
		}
		for i, x := range f.Edges {
			if c.Finite("edges", "An edge", x) && i > 0 && x <= f.Edges[i-1] {
				c.Refuse("edges", "order", "The edge %s comes after %s; give them in ascending order.", fault.Plain(x), fault.Plain(f.Edges[i-1]))
			}
		}
		for i, word := range f.Words {
			if slices.Contains(f.Words[:i], word) {
				c.Refuse("words", "duplicate", "The word %q is there twice; keep one.", fault.Clip(word))
			}
		}
	})
}
