package pool

import (
	"headroom/internal/core/capacity"
	"headroom/internal/core/fault"
	"headroom/internal/core/money"
)

// PoolProblem asks how many machines of which kinds to rent for how long, so that jobs are done by their deadlines and
// their data has a place. Core instances hold the data and stay for the whole round; accelerators hold none, start with
// the round and are given back after whole hours. As JSON:
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
	// StartupHours is how long an instance that is started does no work yet. It is billed.
	StartupHours float64     `json:"startup_hours,omitempty"`
	Mix          *PoolMix    `json:"mix,omitempty"` // what to evaluate; a plan finds it
	Options      PoolOptions `json:"options"`
}

// PoolType is a kind of instance.
type PoolType struct {
	Name string `json:"name"`
	// PerHour is missing only where a cluster knows the price.
	PerHour   *money.Amount `json:"per_hour,omitempty"`
	DiskGB    float64       `json:"disk_gb,omitempty"`
	MemoryGiB float64       `json:"memory_gib,omitempty"`
	Slots     int64         `json:"slots"` // tasks at once, which share the memory; 1 where it is left out
	// ComputeUnits stand in for the rates of jobs that were not measured on the type; 0 is not known.
	ComputeUnits float64 `json:"compute_units,omitempty"`
	Core         bool    `json:"core"`           // may be rented for the round; true where it is left out
	Accelerator  bool    `json:"accelerator"`    // may be rented for hours; true where it is left out
	Most         *int64  `json:"most,omitempty"` // instances at once; nil is MaxPoolInstances
	// StartupHours is the problem's where it is nil.
	StartupHours *float64 `json:"startup_hours,omitempty"`
}

// Startup is how long an instance of a type does no work yet.
func (p *PoolProblem) Startup(t PoolType) float64 {
	if t.StartupHours != nil {
		return *t.StartupHours
	}
	return p.StartupHours
}

// PoolJob is work that can be divided among any number of instances.
type PoolJob struct {
	Name string `json:"name"`
	// Work is in hours of an instance whose rate is 1: an instance of rate r does r of it in an hour.
	Work             float64 `json:"work"`
	DeadlineHours    float64 `json:"deadline_hours,omitempty"` // from the round's start; 0 is its end
	MemoryGiBPerTask float64 `json:"memory_gib_per_task,omitempty"`
	// Rates is how fast one instance of each type works; at 0 the job does not run there. A type that is not named has
	// the rate that its compute units make of the slowest type named, or its compute units where none is named.
	Rates map[string]float64 `json:"rates,omitempty"`
	// RatesFrom is where they come from, in words.
	RatesFrom string `json:"rates_from,omitempty"`
}

// PoolStorage is what the core instances' disks hold.
type PoolStorage struct {
	DataGB      float64 `json:"data_gb"`
	Replication float64 `json:"replication"` // copies of everything; 3 where it is left out
	Fill        float64 `json:"fill"`        // share of a disk that is filled; 1 where it is left out
}

// NeededGB is what disks there must be.
func (s PoolStorage) NeededGB() float64 { return s.DataGB * s.Replication / s.Fill }

// PoolOptions says how to plan a pool.
type PoolOptions struct {
	MaxSolveMs int64 `json:"max_solve_ms"` // 10,000 where it is left out
}

// DefaultPool is a problem of which nothing is said.
func DefaultPool() PoolProblem {
	return PoolProblem{Storage: PoolStorage{Replication: 3, Fill: 1}, Options: PoolOptions{MaxSolveMs: 10_000}}
}

// PoolMix is instances of some types.
type PoolMix struct {
	Core         []PoolCore        `json:"core"`
	Accelerators []PoolAccelerator `json:"accelerators"`
}

// PoolCore is core instances of a type.
type PoolCore struct {
	Type  string       `json:"type"`
	Count int64        `json:"count"`
	Cost  money.Amount `json:"cost"` // of the round
}

// PoolAccelerator is accelerators of a type that are kept for so many hours.
type PoolAccelerator struct {
	Type  string       `json:"type"`
	Count int64        `json:"count"`
	Hours int64        `json:"hours"` // in a mix that is asked about 0 is as long as there is work for them
	Cost  money.Amount `json:"cost"`
}

// PoolStatus says what is known of a plan.
type PoolStatus string

const (
	PoolOptimal    PoolStatus = "optimal"  // no mix costs less
	PoolFeasible   PoolStatus = "feasible" // no more is known than the gap
	PoolInfeasible PoolStatus = "infeasible"
)

// PoolPlan is the cheapest mix that was found, and what none costs less than.
type PoolPlan struct {
	Status     PoolStatus      `json:"status"`
	Conflicts  []fault.Finding `json:"conflicts,omitempty"` // of an infeasible one: why, and what would help
	LowerBound money.Amount    `json:"lower_bound"`
	Gap        float64         `json:"gap"` // (cost − lower bound) / cost
	PoolOutcome
}

// PoolOutcome is a mix at work.
type PoolOutcome struct {
	Cost            money.Amount       `json:"cost"`
	CoreCost        money.Amount       `json:"core_cost"`
	AcceleratorCost money.Amount       `json:"accelerator_cost"`
	Mix             PoolMix            `json:"mix"`
	Hours           *float64           `json:"hours"` // until all jobs are done; nil where one never is
	NeededGB        float64            `json:"needed_gb"`
	DiskGB          float64            `json:"disk_gb"`
	Jobs            []PoolJobDone      `json:"jobs"`
	Warnings        []capacity.Warning `json:"warnings"`
}

// PoolJobDone is where a job's work is done and when it ends. Every type works on its jobs in the order of their
// deadlines, and of the problem where these are the same.
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

// PoolEvaluation says what a given mix comes to.
type PoolEvaluation struct {
	DeadlinesMet bool `json:"deadlines_met"`
	// Proved: where deadlines are missed, no order of work meets all of them.
	Proved     bool `json:"proved"`
	StorageMet bool `json:"storage_met"`
	PoolOutcome
}

// PoolLateTolerance is by which share of a deadline a job may end after it and still count as in time: what solvers leave
// of a limit that is met exactly.
const PoolLateTolerance = 1e-7

// SharePlanProblem asks how the slots of a cluster with several kinds of nodes are shared among jobs, so that the least
// of their progress shares is as large as it can be. As JSON:
//
//	{"types": [{"name": "fast", "slots": 6}, {"name": "slow", "slots": 12}],
//	 "jobs": [{"name": "A", "rates": {"fast": 3, "slow": 1}}, {"name": "B", "rates": {"fast": 1, "slow": 1}}]}
type SharePlanProblem struct {
	Types   []SharedType `json:"types"`
	Jobs    []SharingJob `json:"jobs"`
	Options PoolOptions  `json:"options"`
}

// SharedType is slots on nodes of one kind.
type SharedType struct {
	Name  string `json:"name"`
	Slots int64  `json:"slots"`
}

// SharingJob is a job that wants slots. Its progress share is the rate at which it works as a share of the rate at which
// it would on all slots.
type SharingJob struct {
	Name   string             `json:"name"`
	Weight float64            `json:"weight"` // 1 where it is left out
	Rates  map[string]float64 `json:"rates"`  // of a slot, by type; 0 where a type is not named
}

// SharePlan is who gets how many slots of which type.
type SharePlan struct {
	Status     PoolStatus         `json:"status"`      // optimal: the least share cannot be larger, nor the total for it
	MinShare   float64            `json:"least_share"` // the least progress share by weight
	ShareBound float64            `json:"share_bound"` // no plan has a larger one
	Total      float64            `json:"total"`       // of the progress shares; 1 is what taking turns gives
	TotalBound float64            `json:"total_bound"` // no plan with this least share has a larger one
	Jobs       []SharedJob        `json:"jobs"`
	Warnings   []capacity.Warning `json:"warnings"`
}

// SharedJob is what one job gets.
type SharedJob struct {
	Name          string           `json:"name"`
	ProgressShare float64          `json:"progress_share"`
	Slots         map[string]int64 `json:"slots"`
}
