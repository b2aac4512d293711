package sim

import (
	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/perf"
	"example.org/headroom/internal/slots/dispatch"
)

// Input describes a cluster, its users and the simulated time.
type Input struct {
	Slots   Slots   `json:"slots,omitzero"` // all alike; or nodes
	Policy  Policy  `json:"policy,omitzero"`
	Classes []Class `json:"classes"`

	Compare []Policy `json:"compare,omitempty"` // further policies to run on the same jobs

	Nodes     []NodeType `json:"nodes,omitempty"` // mixed nodes, with slots of their own
	DataNodes *DataNodes `json:"data_nodes,omitempty"`
	// HeartbeatSeconds is the interval at which a node reports and gets tasks; 0: whenever it has a free slot.
	HeartbeatSeconds float64   `json:"heartbeat_s,omitzero"`
	Known            Knowledge `json:"known,omitempty"` // of rates and task times; default learned

	// HorizonSeconds ends the simulation; 0 lets it run until all work is done, which needs loads that end.
	HorizonSeconds float64 `json:"horizon_s,omitzero"`
	// WarmUpSeconds is left out of every figure, because the cluster begins empty.
	WarmUpSeconds float64 `json:"warm_up_s,omitzero"`

	Seed         uint64 `json:"seed"`
	Replications int    `json:"replications,omitzero"` // each with its own random numbers; 0: one
	Limits       Limits `json:"limits,omitzero"`
}

// Slots holds either map and reduce slots, each for its own tasks, or shared ones, which run both.
type Slots struct {
	Map    int64 `json:"map,omitzero"`
	Reduce int64 `json:"reduce,omitzero"`
	Shared int64 `json:"shared,omitzero"`
}

// Policy chooses the job for a freed slot, as in dispatch, and sets the use of slots. Slots are never taken from
// running tasks.
type Policy struct {
	dispatch.PolicyConfig // default kind: fair
	// Lending sets who may use slots that their owner leaves idle; default all.
	Lending Lending `json:"lending,omitempty"`
	// Admission sets whether to reject a job that would miss its deadline or make others miss theirs. By default
	// every job is accepted. It needs nodes.
	Admission dispatch.AdmissionMode `json:"admission,omitempty"`
	// ReducesAfter is the part of a job's maps that must have ended before its reduces take slots; default 0.05, as
	// in Hadoop. With shared slots reduces also wait until every map has a slot.
	ReducesAfter *float64 `json:"reduces_after,omitempty"`
}

// Lending limits the lending of idle slots. Only fair and capacity know shares; the others lend to all.
type Lending string

const (
	LendAll   Lending = "all"   // work conserving: no slot is idle while a task waits
	LendClass Lending = "class" // a class never holds more than its slots
	LendNone  Lending = "none"  // nor does a job hold more than its part of them
)

// Class describes a set of alike jobs.
type Class struct {
	Name            string           `json:"name"`
	Profile         capacity.Profile `json:"profile"`
	DeadlineSeconds float64          `json:"deadline_s,omitzero"` // from submission; 0: none

	// Weight is its part of the slots relative to the other classes' weights; 0 is 1.
	Weight float64 `json:"weight,omitzero"`
	// Slots holds the slots that a plan promises the class: the minimum under fair, the share under capacity.
	// Default: its part by weight, and no minimum.
	Slots *Slots `json:"slots,omitempty"`
	// Jobs is the number of concurrent jobs that its slots and bounds are meant for. Default: the users of a closed
	// load or the jobs of a batch; other loads then have no bounds.
	Jobs int64 `json:"jobs,omitzero"`

	Load  Load  `json:"load"`
	Tasks Tasks `json:"tasks,omitzero"`

	// Deadlines replaces the one deadline from every submission.
	Deadlines *Deadlines `json:"deadlines,omitempty"`
	// On nodes: Rates is the speed of its tasks by type, and TaskTime a task's seconds by the residual of its node.
	// ReadMBPerSecond is the rate at which a task on a dedicated node reads. CPULoad is the number of cores that a
	// task keeps busy (0: one). Jobs below the progress share MinShare go first.
	Rates           map[string]float64 `json:"rates,omitempty"`
	TaskTime        *perf.TaskTime     `json:"task_time,omitempty"`
	ReadMBPerSecond float64            `json:"read_mb_s,omitzero"`
	CPULoad         float64            `json:"cpu_load,omitzero"`
	MinShare        float64            `json:"min_share,omitzero"`
}

// Deadlines sets the deadlines of a class's jobs in one of these ways.
type Deadlines struct {
	AtSeconds   float64   `json:"at_s,omitzero"`    // the same moment for all
	EachSeconds []float64 `json:"each_s,omitempty"` // from submission, in the order of submissions, repeated; 0 is none
	Low         float64   `json:"low_s,omitzero"`   // from submission, drawn from low to high
	High        float64   `json:"high_s,omitzero"`
}

// Load sets the submissions of a class's jobs. The users of a closed load begin by thinking.
type Load struct {
	Kind LoadKind `json:"kind"`

	Users        int64   `json:"users,omitzero"`   // closed: each submits, waits for the end, thinks
	ThinkSeconds float64 `json:"think_s,omitzero"` // closed: mean think time
	// SpreadSeconds spreads the first submissions of a closed load over a time, so that jobs are not all in one phase.
	SpreadSeconds float64   `json:"-"`
	Think         ThinkKind `json:"think,omitempty"` // closed; left out: exponential
	PerHour       float64   `json:"per_hour,omitzero"`
	Jobs          int64     `json:"jobs,omitzero"` // batch: all at the same moment
	AtSeconds     []float64 `json:"at_s,omitzero"` // trace: each submission; batch: one moment, default 0
}

// LoadKind names a load.
type LoadKind string

// The loads.
const (
	Closed  LoadKind = "closed"
	Poisson LoadKind = "poisson"
	Trace   LoadKind = "trace"
	Batch   LoadKind = "batch"
)

// ThinkKind names a distribution of think times.
type ThinkKind string

// The distributions of think times.
const (
	ThinkExponential ThinkKind = "exponential"
	ThinkConstant    ThinkKind = "constant"
)

// Tasks sets the durations of tasks: the profile gives mean and longest, the kind the distribution between. Measured
// seconds of a phase replace both.
type Tasks struct {
	Kind   TaskKind `json:"kind,omitempty"`   // default lognormal
	Spread float64  `json:"spread,omitzero"`  // lognormal: the deviation of the logarithm; 0: 0.5
	Slow   float64  `json:"slow,omitzero"`    // the part of tasks that are stragglers
	SlowBy float64  `json:"slow_by,omitzero"` // factor of a straggler's duration
	Noise  *Noise   `json:"noise,omitempty"`  // on nodes: in addition

	// Measured tasks, or equally spaced quantiles of them; draws lie between neighbours.
	MapSeconds          []float64   `json:"map_s,omitzero"`
	FirstShuffleSeconds []float64   `json:"first_shuffle_s,omitzero"`
	ShuffleSeconds      []float64   `json:"shuffle_s,omitzero"`
	ReduceSeconds       []float64   `json:"reduce_s,omitzero"`
	StageSeconds        [][]float64 `json:"stage_s,omitzero"` // of a chain, by stage; an empty list: by kind
}

// TaskKind is a distribution with a given mean that does not exceed a given maximum.
type TaskKind string

const (
	Constant   TaskKind = "constant"   // the mean
	Uniform    TaskKind = "uniform"    // around the mean, up to the maximum or down to 0
	Triangular TaskKind = "triangular" // up to the maximum if it is at most three times the mean
	Lognormal  TaskKind = "lognormal"  // cut at the maximum, still with this mean
	// Exponential has no maximum: it serves comparisons with queueing theory.
	Exponential TaskKind = "exponential"
	// Recorded gives each phase's tasks its measured seconds in the order of their starts, repeated when used up. A
	// phase without any takes the mean.
	Recorded TaskKind = "recorded"
)

// Limits ends a replication that would take too long; the answer then covers the time until there.
type Limits struct {
	Events int64 `json:"events,omitzero"` // 0: 100 million
	Jobs   int64 `json:"jobs,omitzero"`   // of open loads in the system: more count as unstable; 0: 100,000
}

// Default values.
const (
	defaultReducesAfter = 0.05
	defaultSpread       = 0.5
	defaultEvents       = 100_000_000
	defaultJobs         = 100_000
)
