// Package inputs holds what a cluster keeps, its strict readers, and its problem at a moment.
package inputs

import (
	"encoding/json"
	"fmt"
	"strconv"
	"time"

	"github.com/shopspring/decimal"

	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/money"
	"example.org/headroom/internal/core/perf"
)

// The stored inputs of a cluster. Snapshot makes a Problem of them for one moment. Each carries a Stamp, which
// documents written by people omit.

// Cluster is the shared pool that is planned. Its name is part of addresses and never changes.
type Cluster struct {
	Name          string           `json:"name"`
	Description   string           `json:"description"`
	Currency      string           `json:"currency"`
	PeriodSeconds int64            `json:"period_s"`
	TimeZone      string           `json:"time_zone"` // IANA; weekly patterns use it, everything else is UTC
	Options       capacity.Options `json:"options"`   // without Near, which comes from the previous plan
	Budget        *capacity.Budget `json:"budget,omitempty"`
	HoldSeconds   int64            `json:"hold_s"`                  // time for which autoscalers hold a decrease of VMs back
	InputsVersion int64            `json:"inputs_version,omitzero"` // counts the changes of everything a plan depends on
	capacity.Stamp
}

// VMType is a kind of machine that can be rented. Plans rent those that are in use.
type VMType struct {
	Name        string     `json:"name"`
	Description string     `json:"description"`
	Quota       *int64     `json:"quota"` // maximum rented on demand at once; null is no limit
	InUse       bool       `json:"in_use"`
	Spot        *SpotTerms `json:"spot,omitempty"` // none: no spot VMs
	// StartPrice is paid for each VM that is started. Schedules alone plan with it.
	StartPrice *money.Amount `json:"start_price,omitempty"`
	// StartLeadSeconds is how long before its hour a VM is asked for, and paid. Nil is not known.
	StartLeadSeconds *int64 `json:"start_lead_s,omitempty"`
	// The size of a machine of the type; no plan depends on it. Nil is unknown.
	VCPU      *float64 `json:"vcpu,omitempty"`
	MemoryGiB *float64 `json:"memory_gib,omitempty"`
	GPUs      *int64   `json:"gpus,omitempty"`
	capacity.Stamp
}

// Start returns what starting a VM of the type costs, which is asked for so many seconds ahead where that is not known.
func (v *VMType) Start(lead int64) (s capacity.VMStart) {
	if v.StartPrice != nil {
		s.Price = *v.StartPrice
	}
	if v.StartLeadSeconds != nil {
		lead = *v.StartLeadSeconds
	}
	s.LeadSeconds = float64(lead)
	return s
}

// SpotTerms limits the use of spot VMs. A price period holds their price.
type SpotTerms struct {
	MaxShare float64 `json:"max_share"` // of all VMs of the type
}

// PricePeriod is a price of a VM type in [From, Until), on demand or spot. Periods of a type and purchase do not
// overlap; an Until of nil is open. No price applies beyond its period.
type PricePeriod struct {
	ID       string            `json:"id,omitzero"` // UUID; documents identify a period by its type, purchase and start
	VMType   string            `json:"vm_type"`
	Purchase capacity.Purchase `json:"purchase,omitempty"` // none is on demand
	Price    money.Amount      `json:"price"`              // per VM-hour, in the cluster's currency
	From     time.Time         `json:"from"`
	Until    *time.Time        `json:"until"`
	capacity.Stamp
}

// SignedContract is a contract with its term [From, Until).
type SignedContract struct {
	Name    string           `json:"name"`
	VMType  string           `json:"vm_type"`
	VMs     int64            `json:"vms"`
	Price   money.Amount     `json:"price"` // per VM-hour
	Billing capacity.Billing `json:"billing"`
	Upfront money.Amount     `json:"upfront"` // paid once, for the whole contract
	From    time.Time        `json:"from"`
	Until   time.Time        `json:"until"`
	capacity.Stamp
}

// ProfileVersion is one measured or typed state of a named profile; it never changes.
type ProfileVersion struct {
	Name      string           `json:"name"`
	Version   int64            `json:"version"` // 1, 2, … per name
	Note      string           `json:"note"`    // its source
	Profile   capacity.Profile `json:"profile"`
	CreatedAt time.Time        `json:"created_at,omitzero"`

	// A JSON object that the maker of the version stores with it: the job and executions behind it. Nothing here
	// reads it; nil is none.
	Source json.RawMessage `json:"source,omitempty"`
}

// Tag distinguishes the version from a deleted one with the same name and number.
func (p ProfileVersion) Tag() string {
	return fmt.Sprintf("%d-%s", p.Version, strconv.FormatInt(p.CreatedAt.UnixMicro(), 36))
}

// ProfileRef names one version of a profile. In requests, version 0 (or none) is the latest.
type ProfileRef struct {
	Name    string `json:"name"`
	Version int64  `json:"version,omitzero"`
}

// PlannedClass is a stored Class: its profile is a reference to one version.
type PlannedClass struct {
	Name            string                `json:"name"`
	Profile         *ProfileRef           `json:"profile,omitempty"`
	Demand          *capacity.Demand      `json:"demand,omitempty"`
	VMsPerJob       *decimal.Decimal      `json:"vms_per_job,omitempty"`
	Calibration     *capacity.Calibration `json:"calibration,omitempty"`
	DeadlineSeconds float64               `json:"deadline_s,omitzero"`
	Target          float64               `json:"target,omitzero"`     // part of the executions that is to end within the deadline
	Confidence      float64               `json:"confidence,omitzero"` // with which that is to be shown
	Promise         *capacity.Promise     `json:"promise,omitempty"`   // found for the target
	DueSeconds      float64               `json:"due_s,omitzero"`      // in schedules: when an execution has ended, after its arrival
	Due             string                `json:"due,omitzero"`        // or by which time of day, on the cluster's clocks
	SlotsPerVM      capacity.SlotsPerVM   `json:"slots_per_vm,omitzero"`
	Speed           capacity.Speed        `json:"speed,omitempty"`
	Jobs            capacity.JobRange     `json:"jobs"`
	Penalty         money.Amount          `json:"penalty"`
	capacity.Stamp
	Warnings []capacity.Warning `json:"warnings,omitempty"` // in answers to writes
	Drift    *perf.Drift        `json:"drift,omitempty"`    // in lists, for classes calibrated by executions
}

// Forecast is what is expected of a class in one hour (UTC, whole hour): how many executions arrive, or how many run at
// once. What runs at once replaces the class's jobs.max; jobs.min becomes the smaller of itself
// and this, or this where all jobs are promised.
type Forecast struct {
	Class    string    `json:"class"`
	Hour     time.Time `json:"hour"`
	Jobs     float64   `json:"jobs"`               // at once; of no meaning beside arrivals
	Arrivals *float64  `json:"arrivals,omitempty"` // spread evenly over the hour
}

// MarshalJSON writes jobs or arrivals, as they are read.
func (f Forecast) MarshalJSON() ([]byte, error) {
	if f.Arrivals != nil {
		return json.Marshal(struct {
			Class    string    `json:"class"`
			Hour     time.Time `json:"hour"`
			Arrivals float64   `json:"arrivals"`
		}{f.Class, f.Hour, *f.Arrivals})
	}
	return json.Marshal(struct {
		Class string    `json:"class"`
		Hour  time.Time `json:"hour"`
		Jobs  float64   `json:"jobs"`
	}{f.Class, f.Hour, f.Jobs})
}

// Document holds a whole cluster as one file, which "apply" reads and "export" writes. A list that is nil leaves the
// cluster's as it is; any other list replaces it. Profile versions are only ever added.
type Document struct {
	Cluster   Cluster          `json:"cluster"`
	VMTypes   []VMType         `json:"vm_types,omitzero"`
	Prices    []PricePeriod    `json:"prices,omitzero"`
	Contracts []SignedContract `json:"contracts,omitzero"`
	Offers    []StandingOffer  `json:"offers,omitzero"`
	Profiles  []ProfileVersion `json:"profiles,omitzero"`
	Classes   []PlannedClass   `json:"classes,omitzero"`
	Forecasts []Forecast       `json:"forecasts,omitzero"`
}

// Change is one difference between two states of a cluster, or one entry of an audit log.
type Change struct {
	Action string                 `json:"action"` // create, update, delete
	Kind   string                 `json:"kind"`   // cluster, vm_type, price, contract, offer, profile, class, forecast
	Name   string                 `json:"name"`   // a price's is "small from 2026-01-01T00:00:00Z" or "small spot from …", a profile version's "etl version 3"
	Fields []capacity.FieldChange `json:"fields"` // of updates
}

// MayWait reports whether executions of the class may start later than they arrive.
func (p *PlannedClass) MayWait() bool { return p.DueSeconds > 0 || p.Due != "" }
