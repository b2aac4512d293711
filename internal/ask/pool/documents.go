package pool

import (
	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/fault"
	"example.org/headroom/internal/core/money"
)

// PoolProblem asks how many machines of which kinds to rent and for how long, so that jobs are done by their
// deadlines and their data has a place. Core instances hold the data and stay for the whole round. Accelerators hold
// none, start with the round and are returned after whole hours. As JSON:
//
//	{"currency": "USD", "hours": 4,
//	 "types": [{"name": "m1.large", "per_hour": "0.34", "disk_gb": 850, "compute_units": 4, "accelerator": false},
//	           {"name": "c1.medium", "per_hour": "0.17", "compute_units": 5, "core": false}],
//	 "jobs": [{"name": "nightly", "work": 90, "deadline_hours": 3}],
//	 "storage": {"data_gb": 4250, "replication": 1}}
type PoolProblem struct {
	Currency string      `json:"currency"`
	Hours    int64       `json:"hours"` // of the round: L
	Types    []PoolType  `json:"types"`
	Jobs     []PoolJob   `json:"jobs"`
	Storage  PoolStorage `json:"storage"`
	// StartupHours is the billed time after its start in which an instance does no work.
	StartupHours float64     `json:"startup_hours,omitempty"`
	Mix          *PoolMix    `json:"mix,omitempty"` // the mix to evaluate; a plan finds one
	Options      PoolOptions `json:"options"`
}

// PoolType is a kind of instance.
type PoolType struct {
	Name string `json:"name"`
	// PerHour may be missing only if a cluster knows the price.
	PerHour   *money.Amount `json:"per_hour,omitempty"`
	DiskGB    float64       `json:"disk_gb,omitempty"`
	MemoryGiB float64       `json:"memory_gib,omitempty"`
	Slots     int64         `json:"slots"` // concurrent tasks, which share the memory; default 1
	// ComputeUnits stand in for the rates of jobs that were not measured on the type; 0 is unknown.
	ComputeUnits float64 `json:"compute_units,omitempty"`
	Core         bool    `json:"core"`           // may be rented for the round; default true
	Accelerator  bool    `json:"accelerator"`    // may be rented for hours; default true
	Most         *int64  `json:"most,omitempty"` // instances at once; nil is maxPoolInstances
	// StartupHours overrides the problem's; nil does not.
	StartupHours *float64 `json:"startup_hours,omitempty"`
}

// Startup returns the time after its start in which an instance of a type does no work.
func (p *PoolProblem) Startup(t PoolType) float64 {
	if t.StartupHours != nil {
		return *t.StartupHours
	}
	return p.StartupHours
}

// PoolJob is work that can be divided among any number of instances.
type PoolJob struct {
	Name string `json:"name"`
	// Work is in hours of an instance with rate 1: an instance of rate r does r of it in an hour.
	Work             float64 `json:"work"`
	DeadlineHours    float64 `json:"deadline_hours,omitempty"` // from the round's start; 0 is its end
	MemoryGiBPerTask float64 `json:"memory_gib_per_task,omitempty"`
	// Rates holds the speed of one instance of each type; at 0 the job does not run there. The rate of an unnamed
	// type follows from its compute units and those of the slowest named type. Without any named type its compute
	// units are its rate.
	Rates map[string]float64 `json:"rates,omitempty"`
	// RatesFrom names their source, in words.
	RatesFrom string `json:"rates_from,omitempty"`
}

// PoolStorage describes the data on the core instances' disks.
type PoolStorage struct {
	DataGB      float64 `json:"data_gb"`
	Replication float64 `json:"replication"` // copies of everything; default 3
	Fill        float64 `json:"fill"`        // share of a disk that is filled; default 1
}

// NeededGB returns the needed size of all disks.
func (s PoolStorage) NeededGB() float64 { return s.DataGB * s.Replication / s.Fill }

// PoolOptions configures the planning of a pool.
type PoolOptions struct {
	MaxSolveMs int64 `json:"max_solve_ms"` // default 10,000
}

// DefaultPool returns a problem with defaults.
func DefaultPool() PoolProblem {
	return PoolProblem{Storage: PoolStorage{Replication: 3, Fill: 1}, Options: PoolOptions{MaxSolveMs: 10_000}}
}

// PoolMix counts instances by type.
type PoolMix struct {
	Core         []PoolCore        `json:"core"`
	Accelerators []PoolAccelerator `json:"accelerators"`
}

// PoolCore counts core instances of a type.
type PoolCore struct {
	Type  string       `json:"type"`
	Count int64        `json:"count"`
	Cost  money.Amount `json:"cost"` // of the round
}

// PoolAccelerator counts accelerators of a type that are kept for some hours.
type PoolAccelerator struct {
	Type  string       `json:"type"`
	Count int64        `json:"count"`
	Hours int64        `json:"hours"` // in a mix to evaluate, 0 keeps them while they have work
	Cost  money.Amount `json:"cost"`
}

// PoolStatus tells what is proved about a plan.
type PoolStatus string

const (
	PoolOptimal    PoolStatus = "optimal"  // no mix costs less
	PoolFeasible   PoolStatus = "feasible" // only the gap is proved
	PoolInfeasible PoolStatus = "infeasible"
)

// PoolPlan holds the cheapest mix found, and a lower bound of the cost of any mix.
type PoolPlan struct {
	Status     PoolStatus      `json:"status"`
	Conflicts  []fault.Finding `json:"conflicts,omitempty"` // of an infeasible one: reasons and remedies
	LowerBound money.Amount    `json:"lower_bound"`
	Gap        float64         `json:"gap"` // (cost − lower bound) / cost
	PoolOutcome
}

// PoolOutcome describes the results of a mix.
type PoolOutcome struct {
	Cost            money.Amount       `json:"cost"`
	CoreCost        money.Amount       `json:"core_cost"`
	AcceleratorCost money.Amount       `json:"accelerator_cost"`
	Mix             PoolMix            `json:"mix"`
	Hours           *float64           `json:"hours"` // until all jobs are done; nil if one never is
	NeededGB        float64            `json:"needed_gb"`
	DiskGB          float64            `json:"disk_gb"`
	Jobs            []PoolJobDone      `json:"jobs"`
	Warnings        []capacity.Warning `json:"warnings"`
}

// PoolJobDone tells on which machines a job's work is done, and when it ends. Every type works on its jobs in the
// order of their deadlines, and equal deadlines in the order of the problem.
type PoolJobDone struct {
	Name          string       `json:"name"`
	DeadlineHours float64      `json:"deadline_hours"`
	FinishHours   *float64     `json:"finish_hours"` // nil: it is never done
	Late          bool         `json:"late"`
	On            []PoolWorkOn `json:"on"`
}

// PoolWorkOn is a part of a job's work.
type PoolWorkOn struct {
	Type          string  `json:"type"`
	Rate          float64 `json:"rate"`
	Imputed       bool    `json:"imputed,omitempty"` // from compute units
	InstanceHours float64 `json:"instance_hours"`
}

// PoolEvaluation evaluates a given mix.
type PoolEvaluation struct {
	DeadlinesMet bool `json:"deadlines_met"`
	// Proved, if deadlines are missed, means that no order of work meets all of them.
	Proved     bool `json:"proved"`
	StorageMet bool `json:"storage_met"`
	PoolOutcome
}

// poolLateTolerance is the share of a deadline by which a job may end after it and still count as in time: the error
// of solvers at a limit that is met exactly.
const poolLateTolerance = 1e-7

// SharePlanProblem asks how to share the slots of a cluster with several kinds of nodes among jobs, so that the
// smallest progress share is as large as possible. As JSON:
//
//	{"types": [{"name": "fast", "slots": 6}, {"name": "slow", "slots": 12}],
//	 "jobs": [{"name": "A", "rates": {"fast": 3, "slow": 1}}, {"name": "B", "rates": {"fast": 1, "slow": 1}}]}
type SharePlanProblem struct {
	Types   []SharedType `json:"types"`
	Jobs    []SharingJob `json:"jobs"`
	Options PoolOptions  `json:"options"`
}

// SharedType counts slots on nodes of one kind.
type SharedType struct {
	Name  string `json:"name"`
	Slots int64  `json:"slots"`
}

// SharingJob is a job that wants slots. Its progress share is its rate of work divided by its rate on all slots.
type SharingJob struct {
	Name   string             `json:"name"`
	Weight float64            `json:"weight"` // default 1
	Rates  map[string]float64 `json:"rates"`  // of a slot, by type; 0 for an unnamed type
	// Holds counts the slots that it holds now, by type; they are told apart from the plan.
	Holds map[string]int64 `json:"holds,omitempty"`
}

// SharePlan assigns slots of each type to jobs.
type SharePlan struct {
	Status     PoolStatus         `json:"status"`      // optimal: neither the smallest share nor the total for it can be larger
	MinShare   float64            `json:"least_share"` // the smallest progress share by weight
	ShareBound float64            `json:"share_bound"` // no plan has a larger one
	Total      float64            `json:"total"`       // of the progress shares; taking turns yields 1
	TotalBound float64            `json:"total_bound"` // no plan with this smallest share has a larger one
	Jobs       []SharedJob        `json:"jobs"`
	Held       *HeldShares        `json:"held,omitempty"` // nil if no job holds anything
	Warnings   []capacity.Warning `json:"warnings"`
}

// HeldShares tells what the slots that jobs hold come to.
type HeldShares struct {
	MinShare float64     `json:"least_share"` // the smallest progress share by weight
	Total    float64     `json:"total"`
	Jobs     []SharedJob `json:"jobs"`
}

// SharedJob holds the slots of one job.
type SharedJob struct {
	Name          string           `json:"name"`
	ProgressShare float64          `json:"progress_share"`
	Slots         map[string]int64 `json:"slots"`
}
