// Package plans is the desk of plans and pools: the board of current plans, the planner, pins and observations.
package plans

import (
	"encoding/json"
	"time"

	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/money"
)

// PlanSummary sums up a stored plan in one flat row.
type PlanSummary struct {
	ID            string          `json:"id"`     // UUID version 7
	Number        int64           `json:"number"` // 1, 2, … per cluster
	Cluster       string          `json:"cluster"`
	At            time.Time       `json:"at"` // the moment it was planned for
	CreatedAt     time.Time       `json:"created_at"`
	CreatedBy     string          `json:"created_by"`
	InputsVersion int64           `json:"inputs_version"` // the cluster's, when its inputs were read
	Status        capacity.Status `json:"status"`
	Objective     money.Amount    `json:"objective"`
	TotalCost     money.Amount    `json:"total_cost"` // bill and penalties together, per period, as all of these
	Bill          money.Amount    `json:"bill"`
	OnDemandCost  money.Amount    `json:"on_demand_cost"`
	SpotCost      money.Amount    `json:"spot_cost"`
	ReservedCost  money.Amount    `json:"reserved_cost"` // used and idle
	Penalties     money.Amount    `json:"penalties"`
	Currency      string          `json:"currency"`
	PeriodSeconds int64           `json:"period_s"`
	VMs           float64         `json:"vms"`
	VMsOnDemand   float64         `json:"vms_on_demand"`
	VMsSpot       float64         `json:"vms_spot"`
	VMsReserved   float64         `json:"vms_reserved"`
	Admitted      float64         `json:"admitted"`
	Refused       float64         `json:"refused"`
	Gap           float64         `json:"gap"`
	Why           string          `json:"why"`                    // it was made, as a sentence; "" is not on record
	Since         *time.Time      `json:"since,omitempty" db:"-"` // it came into force; only in lists of plans in force, as Until
	Until         *time.Time      `json:"until,omitempty" db:"-"` // another came into force; nil is still in force
	ForNow        bool            `json:"-"`                      // made for the moment of its making; others are never current, unless somebody pins them
}

// Summarize fills the columns of a summary that come from the plan itself.
func Summarize(p capacity.Plan) PlanSummary {
	s := PlanSummary{
		Status: p.Status, Objective: p.Objective, TotalCost: p.Cost.Total, Bill: p.Cost.Bill, OnDemandCost: p.Cost.OnDemand, SpotCost: p.Cost.Spot,
		ReservedCost: money.Amount{Decimal: p.Cost.Reserved.Add(p.Cost.ReservedIdle.Decimal)}, Penalties: p.Cost.Penalties,
		Currency: p.Cost.Currency, PeriodSeconds: p.Cost.PeriodSeconds,
		VMs: p.VMs.Total, VMsOnDemand: p.VMs.OnDemand, VMsSpot: p.VMs.Spot, VMsReserved: p.VMs.Reserved,
	}
	for _, c := range p.Classes {
		s.Admitted += c.Admitted
		s.Refused += c.Refused
	}
	if p.Proof != nil {
		s.Gap = p.Proof.Gap
	}
	return s
}

// PlanRecord is a stored plan with its exact inputs. Both are stored as their original JSON text, so that they can be
// read, recomputed and verified for ever.
type PlanRecord struct {
	PlanSummary
	Vote    *Vote           `json:"vote"` // nil: none is asked for after the plan
	Plan    json.RawMessage `json:"plan"`
	Problem json.RawMessage `json:"-"`
	// Of plans that are being stored:
	Sum    []byte        `json:"-" db:"-"` // of the problem (see textOf)
	Ends   *time.Time    `json:"-" db:"-"` // when a class of its hour has no more work, if that is within the hour
	Ready  time.Time     `json:"-" db:"-"` // when it was found, by the clock of At; the zero time is At
	Answer capacity.Plan `json:"-" db:"-"` // what Plan is the text of
	// Schedule is one that was made for it; nil is none, or the one on record.
	Schedule *Schedule `json:"-" db:"-"`
}
