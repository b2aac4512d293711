package sim

import (
	"headroom/internal/core/capacity"
	"headroom/internal/core/perf"
	"headroom/internal/slots/dispatch"
)

// Input is a cluster, who uses it and how long it is watched.
type Input struct {
	Slots   Slots   `json:"slots,omitzero"` // all alike; or
	Policy  Policy  `json:"policy,omitzero"`
	Classes []Class `json:"classes"`

	Compare []Policy `json:"compare,omitempty"` // policies whose figures on the same jobs stand beside

	Nodes     []NodeType `json:"nodes,omitempty"` // mixed nodes, with slots of their own
	DataNodes *DataNodes `json:"data_nodes,omitempty"`
	// HeartbeatSeconds is how often a node tells of itself and is given tasks; 0: whenever it has a free slot.
	HeartbeatSeconds float64   `json:"heartbeat_s,omitzero"`
	Known            Knowledge `json:"known,omitempty"` // of rates and task times; left out: learned

	// HorizonSeconds ends the simulation; 0 lets it run until all work is done, which needs loads that end.
	HorizonSeconds float64 `json:"horizon_s,omitzero"`
	// WarmUpSeconds is left out of every figure: the cluster begins empty.
	WarmUpSeconds float64 `json:"warm_up_s,omitzero"`

	Seed         uint64 `json:"seed"`
	Replications int    `json:"replications,omitzero"` // each with its own random numbers; 0: one
	Limits       Limits `json:"limits,omitzero"`
}

// Slots is either map and reduce slots, each for its own tasks, or shared ones, which run both.
type Slots struct {
	Map    int64 `json:"map,omitzero"`
	Reduce int64 `json:"reduce,omitzero"`
	Shared int64 `json:"shared,omitzero"`
}

// Policy says who gets a freed slot, as dispatch has it, and how slots are used under it. Slots are never
// taken from running tasks.
type Policy struct {
	dispatch.PolicyConfig // kind left out: fair
	// Lending says who may use slots that their owner leaves idle; left out: all.
	Lending Lending `json:"lending,omitempty"`
	// Admission says whether a job is taken on that would miss its deadline, or have others miss theirs;
	// left out: every job is. It needs nodes.
	Admission dispatch.AdmissionMode `json:"admission,omitempty"`
	// ReducesAfter is the part of a job's maps that must have ended before its reduces take slots; left
	// out: 0.05, as Hadoop has it. With shared slots reduces also wait until every map has a slot.
	ReducesAfter *float64 `json:"reduces_after,omitempty"`
}

// Lending says how far idle slots are lent. Only fair and capacity know shares; the others lend to all.
type Lending string

const (
	LendAll   Lending = "all"   // work conserving: no slot is idle while a task waits
	LendClass Lending = "class" // a class never holds more than its slots
	LendNone  Lending = "none"  // nor one of its jobs more than its part of them
)

// Class is jobs that are alike.
type Class struct {
	Name            string           `json:"name"`
	Profile         capacity.Profile `json:"profile"`
	DeadlineSeconds float64          `json:"deadline_s,omitzero"` // from submission; 0: none

	// Weight is its part of the slots against the other classes'; 0 is 1.
	Weight float64 `json:"weight,omitzero"`
	// Slots is what the class is promised, as a plan says: the minimum under fair, the share under
	// capacity. Left out: its part by weight, and no minimum.
	Slots *Slots `json:"slots,omitempty"`
	// Jobs is how many at once its slots are meant for: what its bounds are computed for. Left out: the
	// users of a closed load, the jobs of a batch; other loads then have no bounds.
	Jobs int64 `json:"jobs,omitzero"`

	Load  Load  `json:"load"`
	Tasks Tasks `json:"tasks,omitzero"`

	// Deadlines in place of one that is the same from every submission on.
	Deadlines *Deadlines `json:"deadlines,omitempty"`
	// On nodes: how many times as fast its tasks go on a type; how a task's seconds depend on what is
	// left to it of its node; what one of its tasks reads in a second on a dedicated node; how many cores
	// one keeps busy (0: one); and the progress share below which its jobs go first.
	Rates           map[string]float64 `json:"rates,omitempty"`
	TaskTime        *perf.TaskTime     `json:"task_time,omitempty"`
	ReadMBPerSecond float64            `json:"read_mb_s,omitzero"`
	CPULoad         float64            `json:"cpu_load,omitzero"`
	MinShare        float64            `json:"min_share,omitzero"`
}

// Deadlines is when jobs of a class must be done: one of these.
type Deadlines struct {
	AtSeconds   float64   `json:"at_s,omitzero"`    // the same moment for all
	EachSeconds []float64 `json:"each_s,omitempty"` // from submission, in the order of submissions, from the beginning again; 0 is none
	Low         float64   `json:"low_s,omitzero"`   // from submission, drawn from low to high
	High        float64   `json:"high_s,omitzero"`
}

// Load is when jobs of a class are submitted. The users of a closed load begin by thinking.
type Load struct {
	Kind LoadKind `json:"kind"`

	Users        int64     `json:"users,omitzero"`   // closed: each submits, waits for the end, thinks
	ThinkSeconds float64   `json:"think_s,omitzero"` // closed: the mean
	Think        ThinkKind `json:"think,omitempty"`  // closed; left out: exponential
	PerHour      float64   `json:"per_hour,omitzero"`
	Jobs         int64     `json:"jobs,omitzero"` // batch: all at the same moment
	AtSeconds    []float64 `json:"at_s,omitzero"` // trace: each submission; batch: one moment, left out 0
}

// LoadKind is the load's name.
type LoadKind string

// The loads.
const (
	Closed  LoadKind = "closed"
	Poisson LoadKind = "poisson"
	Trace   LoadKind = "trace"
	Batch   LoadKind = "batch"
)

// ThinkKind is how think times are distributed.
type ThinkKind string

// The distributions of think times.
const (
	ThinkExponential ThinkKind = "exponential"
	ThinkConstant    ThinkKind = "constant"
)

// Tasks is how long tasks last: the profile says mean and longest, the kind how they lie between.
// Measured seconds of a phase replace both.
type Tasks struct {
	Kind   TaskKind `json:"kind,omitempty"`   // left out: lognormal
	Spread float64  `json:"spread,omitzero"`  // lognormal: the deviation of the logarithm; 0: 0.5
	Slow   float64  `json:"slow,omitzero"`    // the part of tasks that are stragglers
	SlowBy float64  `json:"slow_by,omitzero"` // how many times as long a straggler takes
	Noise  *Noise   `json:"noise,omitempty"`  // on nodes: besides all that

	// Measured tasks, or equally spaced quantiles of them; draws lie between neighbours.
	MapSeconds          []float64   `json:"map_s,omitzero"`
	FirstShuffleSeconds []float64   `json:"first_shuffle_s,omitzero"`
	ShuffleSeconds      []float64   `json:"shuffle_s,omitzero"`
	ReduceSeconds       []float64   `json:"reduce_s,omitzero"`
	StageSeconds        [][]float64 `json:"stage_s,omitzero"` // of a chain, by stage; an empty list: as the kind says
}

// TaskKind is a distribution with a given mean that does not exceed a given maximum.
type TaskKind string

const (
	Constant   TaskKind = "constant"   // the mean
	Uniform    TaskKind = "uniform"    // around the mean, as far up as the maximum or down as 0
	Triangular TaskKind = "triangular" // up to the maximum where it is at most three times the mean
	Lognormal  TaskKind = "lognormal"  // cut at the maximum, and still of this mean
	// Exponential knows no maximum: it is for comparison with queueing theory.
	Exponential TaskKind = "exponential"
	// Recorded gives each phase's tasks its measured seconds in the order in which they start, from the
	// beginning again when all are used. A phase without any takes the mean.
	Recorded TaskKind = "recorded"
)

// Limits ends a replication that would take too long; the answer then covers the time until there.
type Limits struct {
	Events int64 `json:"events,omitzero"` // 0: 100 million
	Jobs   int64 `json:"jobs,omitzero"`   // of open loads in the system: beyond it the cluster is unstable; 0: 100,000
}

// Defaults of what is left out.
const (
	DefaultReducesAfter = 0.05
	DefaultSpread       = 0.5
	DefaultEvents       = 100_000_000
	DefaultJobs         = 100_000
)
