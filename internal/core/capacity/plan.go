package capacity

import (
	"math"

	"example.org/headroom/internal/core/fault"
	"example.org/headroom/internal/core/money"
)

// Plan is the answer to one Problem: what to rent, whom to admit, what it costs and why it cannot
// be done cheaper. Counts are whole unless the problem is relaxed.
//
//planjson:shape a plan
//planjson:then complete
//planjson:stream
type Plan struct {
	Status    Status          `json:"status"`
	Objective money.Amount    `json:"objective"` // VM cost minus the penalties avoided (P2's objective)
	Cost      Cost            `json:"cost"`
	VMs       VMs             `json:"vms"`
	Classes   []ClassPlan     `json:"classes"`
	Stays     *PlanStays      `json:"stays,omitempty"`
	Prices    *Prices         `json:"prices,omitempty"`
	Relaxed   *RelaxedPlan    `json:"relaxed,omitempty"`
	Integer   *IntegerPlan    `json:"integer,omitempty"`
	Layout    []VMLayout      `json:"layout,omitempty"` // executable plans: which slots stand on which VMs
	Proof     *Proof          `json:"proof,omitempty"`
	Facts     []Fact          `json:"facts,omitempty"` // what the reasons of classes say, for programs
	Warnings  []Warning       `json:"warnings"`
	Conflicts []fault.Finding `json:"conflicts"` // infeasible problems: what contradicts what, with cures
}

// Status says what is known about an answer.
type Status string

const (
	Optimal          Status = "optimal"    // proved without CBC, within the problem's gap
	Feasible         Status = "feasible"   // can be carried out; Proof.Gap says how far from optimal at most
	InfeasibleStatus Status = "infeasible" // there is no plan; Conflicts says why
)

// Cost is the plan's money per period. Bill = OnDemand + Spot + Reserved + ReservedIdle will be on an invoice.
// Penalties are the value of refused jobs to the user, on no invoice. Total is both together; so are PerHour and
// PerMonth.
//
//planjson:shape a cost
//planjson:older bill
//planjson:then billed
type Cost struct {
	Total         money.Amount `json:"total"`
	Bill          money.Amount `json:"bill"`
	OnDemand      money.Amount `json:"on_demand"`
	Spot          money.Amount `json:"spot,omitzero"`
	Reserved      money.Amount `json:"reserved"`
	ReservedIdle  money.Amount `json:"reserved_idle"` // paid though not used (contracts billed always)
	Penalties     money.Amount `json:"penalties"`
	Currency      string       `json:"currency"`
	PeriodSeconds int64        `json:"period_s"`
	PerHour       money.Amount `json:"per_hour"`
	PerMonth      money.Amount `json:"per_month"` // 730 hours
}

// HoursPerMonth is the length of a month without a calendar.
const HoursPerMonth = 730

// VMs counts the machines a plan rents. Rounding is the total minus the classes' shares.
//
//planjson:shape what is rented
type VMs struct {
	Total     float64       `json:"total"`
	Reserved  float64       `json:"reserved"`
	OnDemand  float64       `json:"on_demand"`
	Spot      float64       `json:"spot,omitzero"`
	Contracts []ContractUse `json:"contracts"` // of all types
	Rounding  float64       `json:"rounding"`
	Types     []TypeVMs     `json:"types,omitempty"` // where the problem has several, in its order
}

// TypeVMs counts the rented machines of one type.
//
//planjson:shape what is rented of a type
type TypeVMs struct {
	Name     string  `json:"name"`
	Total    float64 `json:"total"`
	Reserved float64 `json:"reserved"`
	OnDemand float64 `json:"on_demand"`
	Spot     float64 `json:"spot,omitzero"`
	Rounding float64 `json:"rounding"`
}

// ContractUse counts the VMs of a contract that the plan uses.
//
//planjson:shape a contract's use
type ContractUse struct {
	Name   string  `json:"name"`
	VMType string  `json:"vm_type,omitempty"` // where the problem has several
	VMs    float64 `json:"vms"`
	Used   float64 `json:"used"`
}

// Places returns how many jobs of a class may run at once where so many are admitted. Solvers compute in binary, so that the
// fraction of a relaxed plan may fall short of a whole job by rounding.
func Places(admitted float64) int64 { return int64(math.Floor(admitted + 1e-9)) }

// ClassPlan is one class's part of the plan.
//
//planjson:shape a class's part
type ClassPlan struct {
	Name             string        `json:"name"`
	Admitted         float64       `json:"admitted"`
	Refused          float64       `json:"refused"`
	VMs              float64       `json:"vms"` // the class's share of VMs
	VMsPerJob        float64       `json:"vms_per_job"`
	Slots            *Slots        `json:"slots"` // for all admitted jobs together; null where only vms_per_job is known
	Time             *Times        `json:"time_s"`
	Verdict          Verdict       `json:"verdict"`
	Reason           string        `json:"reason"`
	BreakEvenPenalty *money.Amount `json:"break_even_penalty"` // the penalty below which one more job is not worth its VMs
	Flips            Flips         `json:"flips"`
	OneMore          *JobChange    `json:"one_more,omitempty"`
	OneLess          *JobChange    `json:"one_less,omitempty"`
	Stays            *Stays        `json:"stays,omitempty"`
	Promise          *Promise      `json:"promise,omitempty"` // that it is planned with

	// Where the problem has several VM types, what runs on which; those with jobs, in the problem's order.
	// VMsPerJob is then the average of the admitted jobs, or that of the cheapest type where there are
	// none; Time is that of the slowest type; of the flips only the penalty's is known.
	Types []ClassOnType `json:"types,omitempty"`
}

// ClassOnType is the part of a class that runs on one VM type.
//
//planjson:shape a class's part on a type
type ClassOnType struct {
	VMType    string  `json:"vm_type"`
	Admitted  float64 `json:"admitted"`
	VMs       float64 `json:"vms"`
	VMsPerJob float64 `json:"vms_per_job"`
	Slots     *Slots  `json:"slots"`
	Time      *Times  `json:"time_s"`
}

// Slots is a number of map and reduce slots.
//
//planjson:shape a number of slots
type Slots struct {
	Map    float64 `json:"map"`
	Reduce float64 `json:"reduce"`
}

// Times is the predicted time of an execution under the plan's slots. A class given by a demand has
// the average alone; the calibrated time is there where the class has a calibration.
//
//planjson:shape a predicted time
type Times struct {
	Lower      *float64 `json:"lower"`
	Average    *float64 `json:"average"`
	Upper      *float64 `json:"upper"`
	Calibrated *float64 `json:"calibrated,omitempty"`
	Promised   *float64 `json:"promised,omitempty"` // the planned time of a class with a promise: that of the bound times its factor
}

// At is the planned time: the promised one, or else that under a bound, or the average where that is not known, as of a demand.
func (t *Times) At(bound Bound) *float64 {
	switch {
	case t == nil:
		return nil
	case t.Promised != nil:
		return t.Promised
	case bound == LowerBound && t.Lower != nil:
		return t.Lower
	case bound == UpperBound && t.Upper != nil:
		return t.Upper
	case bound == CalibratedBound && t.Calibrated != nil:
		return t.Calibrated
	}
	return t.Average
}

// Verdict names the outcome of a class, the first that fits.
type Verdict string

const (
	VerdictImpossible Verdict = "impossible" // no number of slots meets the deadline
	VerdictFull       Verdict = "full"       // all its jobs are admitted
	VerdictNone       Verdict = "none"       // none is
	VerdictMinimum    Verdict = "minimum"    // only the promised ones are
	VerdictPartial    Verdict = "partial"    // some are
)

// Flips is, for each input alone, the nearest value at which the class's whole admitted jobs would
// change in the relaxation; null where there is none.
//
//planjson:shape what would change a decision
type Flips struct {
	Penalty         *money.Amount `json:"penalty"`
	DeadlineSeconds *float64      `json:"deadline_s"`
	OnDemandPrice   *money.Amount `json:"on_demand_price"`
}

// Prices holds the prices of scarce things per period at the margin, from the relaxation.
//
//planjson:shape the list of prices
type Prices struct {
	Capacity  CapacityPrice   `json:"capacity"` // with several types that of the cheapest one
	Contracts []ContractWorth `json:"contracts"`
	Types     []TypePrice     `json:"types,omitempty"`
	Budget    *money.Amount   `json:"budget,omitempty"` // what one more unit of money in budget.vm_cost saves
}

// TypePrice is the worth of one VM of a type.
//
//planjson:shape a type's price
type TypePrice struct {
	Name string `json:"name"`
	CapacityPrice
}

// CapacityPrice is the worth of one VM of capacity. One more at no price would take Low off bill and value refused
// together. One less would cost High (null where no plan could do without it).
//
//planjson:shape a price
type CapacityPrice struct {
	Low  money.Amount  `json:"low"`
	High *money.Amount `json:"high"`
}

// ContractWorth is the saving of one more VM in a contract.
//
//planjson:shape a contract's worth
type ContractWorth struct {
	Name  string       `json:"name"`
	Worth money.Amount `json:"worth"`
}

// RelaxedPlan is the linear program's answer.
//
//planjson:shape the linear program's answer
//planjson:stream
type RelaxedPlan struct {
	Objective money.Amount `json:"objective"`
	Capacity  float64      `json:"capacity"` // VMs
	Jobs      []float64    `json:"jobs"`     // in the order of the problem's classes
}

// IntegerPlan is the answer of the paper's integer program, and what becomes of it when its slots
// are made whole.
//
//planjson:shape the integer program's answer
type IntegerPlan struct {
	Objective  money.Amount `json:"objective"`
	VMs        float64      `json:"vms"`
	Executable bool         `json:"executable"`
	ShortVMs   float64      `json:"short_vms"`
}

// VMLayout is a number of VMs that carry the same slots.
//
//planjson:shape a part of the layout
type VMLayout struct {
	VMType string       `json:"vm_type,omitempty"` // where the problem has several
	VMs    int64        `json:"vms"`
	Slots  []ClassSlots `json:"slots"`
}

// ClassSlots counts the slots of a class on one VM.
//
//planjson:shape a class's slots
type ClassSlots struct {
	Class  string `json:"class"`
	Map    int64  `json:"map,omitempty"`
	Reduce int64  `json:"reduce,omitempty"`
}

// Proof names the evidence for the answer.
//
//planjson:shape a proof
type Proof struct {
	Bound   money.Amount `json:"bound"` // no plan costs less; found without CBC
	Gap     float64      `json:"gap"`   // (objective - bound) / |objective|
	Limited Cutoff       `json:"limited,omitempty"`
	Method  string       `json:"method"` // who proved the bound: lp, core
	Engine  string       `json:"engine"` // who else solved it, with version; "" for nobody
	Agreed  *bool        `json:"agreed"` // did that engine find the same objective; null when it gave none
	Checked bool         `json:"checked"`
	SolveMs float64      `json:"solve_ms"`
}

// Cutoff says what ended a search before it had proved its plan.
type Cutoff string

// ClockCutoff is that the time was over: more time, or a machine that is less busy, may give another plan. Where there
// is none, the search had done its work, and the clock had no part in the plan.
const ClockCutoff Cutoff = "clock"

// Warning is something the reader of a plan should know.
//
//planjson:shape a warning
type Warning struct {
	Code    string `json:"code"`
	Pointer string `json:"pointer,omitempty"`
	Detail  string `json:"detail"`
}
