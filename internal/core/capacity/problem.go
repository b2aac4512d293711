// Package capacity is Headroom's vocabulary: what a profile, a class, a contract, a problem and a
// plan are, in which units, and which of them make sense. It holds no formula (see perf), makes
// no choice (see plan) and knows no technology.
package capacity

import (
	"encoding/json"
	"math"

	"github.com/shopspring/decimal"

	"example.org/headroom/internal/core/money"
)

// Problem is everything one plan is computed from. Its JSON is a contract (docs/reference/problem.md).
type Problem struct {
	Currency      string  `json:"currency"`
	PeriodSeconds int64   `json:"period_s"` // money amounts of a plan are per this period
	Supply        Supply  `json:"supply"`
	Classes       []Class `json:"classes"`
	Budget        *Budget `json:"budget,omitempty"`
	Options       Options `json:"options"`
}

// Class is a kind of job: how long it takes, until when it must be done, how many run at once and
// what turning one away costs. Exactly one of Profile, Demand and VMsPerJob is given.
type Class struct {
	Name            string           `json:"name"`
	Profile         *Profile         `json:"profile,omitempty"`
	Demand          *Demand          `json:"demand,omitempty"`
	VMsPerJob       *decimal.Decimal `json:"vms_per_job,omitempty"` // gamma, given directly
	Calibration     *Calibration     `json:"calibration,omitempty"` // of a class with a profile
	DeadlineSeconds float64          `json:"deadline_s,omitzero"`
	Target          float64          `json:"target,omitzero"`     // part of the executions that is to end within the deadline; 0: not said
	Confidence      float64          `json:"confidence,omitzero"` // with which that is to be shown; 0: DefaultConfidence
	Promise         *Promise         `json:"promise,omitempty"`   // found for the target
	DueSeconds      float64          `json:"due_s,omitzero"`      // of schedules alone: when an execution has ended, after its arrival
	Due             string           `json:"due,omitzero"`        // likewise: a time of day by which it has ended, such as 06:00
	SlotsPerVM      SlotsPerVM       `json:"slots_per_vm,omitzero"`
	Speed           Speed            `json:"speed,omitempty"`
	Jobs            JobRange         `json:"jobs"`
	ArrivalsPerHour float64          `json:"arrivals_per_hour,omitzero"` // of which Jobs.Max run at once; 0: not said
	Penalty         money.Amount     `json:"penalty"`                    // per refused concurrent place and period
}

// TimeOfDay is the form of a time of day.
const TimeOfDay = "15:04"

// MayWait reports whether executions of the class may start later than they arrive.
func (c *Class) MayWait() bool { return c.DueSeconds > 0 || c.Due != "" }

// Profile describes one execution of a job: per phase the number of tasks, the mean and the longest task.
// ReduceTasks may be 0 (a map-only job); the other reduce members are then 0 too. A job whose work is stages has
// them instead of the map and reduce figures, which are all 0.
type Profile struct {
	MapTasks               int64   `json:"map_tasks"`
	ReduceTasks            int64   `json:"reduce_tasks"`
	MapAvgSeconds          float64 `json:"map_avg_s"`
	MapMaxSeconds          float64 `json:"map_max_s"`
	FirstShuffleAvgSeconds float64 `json:"first_shuffle_avg_s"`
	FirstShuffleMaxSeconds float64 `json:"first_shuffle_max_s"`
	ShuffleAvgSeconds      float64 `json:"shuffle_avg_s"`
	ShuffleMaxSeconds      float64 `json:"shuffle_max_s"`
	ReduceAvgSeconds       float64 `json:"reduce_avg_s"`
	ReduceMaxSeconds       float64 `json:"reduce_max_s"`
	OverheadSeconds        float64 `json:"overhead_s"` // fixed start-up cost of an execution
	Stages                 []Stage `json:"stages,omitempty"`
}

// Stage is one phase of a job that is a chain of them. All stages run on map slots. Stages that run beside
// one another may stand in any order.
type Stage struct {
	Name       string  `json:"name,omitempty"`
	Tasks      int64   `json:"tasks"`
	AvgSeconds float64 `json:"avg_s"`
	MaxSeconds float64 `json:"max_s"`
}

// Demand is the three coefficients of an execution's time, A, B and C in the paper:
// T = A·h/s_M + B·h/s_R + C for h concurrent jobs on s_M map and s_R reduce slots.
type Demand struct {
	MapWorkSeconds    float64 `json:"map_work_s"`
	ReduceWorkSeconds float64 `json:"reduce_work_s"`
	FixedSeconds      float64 `json:"fixed_s"`
}

// Calibration says which bound of a class's executions, times which factor, its measured executions keep
// to: the demand that the class is planned with where the problem asks for calibrated bounds.
type Calibration struct {
	Bound  Bound   `json:"bound"` // lower, average or upper
	Factor float64 `json:"factor"`
}

// JobRange limits the concurrent jobs of a class: Min are promised, Max is the demand. With All every job is promised, and
// Min is Max. Fractions are allowed in relaxed problems alone.
type JobRange struct {
	Min float64 `json:"min"`
	Max float64 `json:"max"`
	All bool    `json:"all,omitempty"`
}

// Of returns the range where so many jobs are asked for. Of them all are promised with All, and otherwise Min or fewer.
func (j JobRange) Of(jobs float64) JobRange {
	if j.Max = jobs; j.All {
		j.Min = jobs
	}
	j.Min = min(j.Min, jobs)
	return j
}

// UnmarshalJSON reads a range whose Min says nothing beside All.
func (j *JobRange) UnmarshalJSON(text []byte) error {
	type members JobRange
	if err := json.Unmarshal(text, (*members)(j)); err != nil || !j.All {
		return err
	}
	*j = j.Of(j.Max)
	return nil
}

// Integrality says what must be whole in a plan.
type Integrality string

const (
	Relaxed    Integrality = "relaxed"    // nothing: the linear program
	Integer    Integrality = "integer"    // jobs and VMs: the paper's program
	Executable Integrality = "executable" // slots too: what a cluster can carry out
)

// Bound chooses which of the execution-time bounds a profile is planned with.
type Bound string

const (
	LowerBound   Bound = "lower"
	AverageBound Bound = "average"
	UpperBound   Bound = "upper"

	CalibratedBound Bound = "calibrated" // what each class's Calibration says; the average of one without
)

// Engine chooses the solver. With any of them, the answer is proved without CBC.
type Engine string

const (
	EngineCBC   Engine = "cbc"   // the core method, then CBC from its answer
	EngineExact Engine = "exact" // the core method alone
	EngineAuto  Engine = "auto"  // CBC only for what the core could not prove
)

// Sharing says whether a VM may serve several classes at once.
type Sharing string

const (
	Shared    Sharing = "shared"
	Dedicated Sharing = "dedicated"
)

// Options sets how to solve a problem.
type Options struct {
	Integrality   Integrality `json:"integrality"`
	Bound         Bound       `json:"bound"`
	Engine        Engine      `json:"engine"`
	Gap           float64     `json:"gap"`          // relative gap at which an answer counts as optimal
	MaxSolveMs    int64       `json:"max_solve_ms"` // the whole solve's time budget
	OneSlotPerJob bool        `json:"one_slot_per_job"`
	Sharing       Sharing     `json:"sharing"`
	Near          *Near       `json:"near,omitempty"`
}

// Near is a previous plan: among plans within the gap the one nearest to it is wanted.
type Near struct {
	VMs  float64            `json:"vms"`
	Jobs map[string]float64 `json:"jobs"` // admitted jobs by class name
}

// DefaultOptions returns the options of a problem that gives none.
func DefaultOptions() Options {
	return Options{
		Integrality: Executable, Bound: AverageBound, Engine: EngineCBC, Gap: 1e-6,
		MaxSolveMs: 2000, OneSlotPerJob: true, Sharing: Shared,
	}
}

// WholeJobs is a forecast as a bound on whole jobs: nobody expected is left out.
func WholeJobs(jobs float64) float64 { return math.Ceil(jobs - 1e-9) }
