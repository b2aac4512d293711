package plan

import (
	"context"

	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/fault"
)

// Outcome holds what a problem comes to: its plan in few figures.
type Outcome struct {
	Name      string          `json:"name"` // of the scenario; "" for the base
	Status    capacity.Status `json:"status"`
	Cost      capacity.Cost   `json:"cost"`
	VMs       RentedVMs       `json:"vms"`
	Admitted  float64         `json:"admitted"` // jobs of all classes
	Refused   float64         `json:"refused"`
	Gap       float64         `json:"gap"`       // no plan is cheaper by more, as a share of the objective or, where that is less, of the whole cost
	Conflicts []fault.Finding `json:"conflicts"` // of an infeasible one: why, with cures
	Plan      *capacity.Plan  `json:"plan,omitempty"`
}

// RentedVMs counts the VMs that are rented, by how they are paid for.
type RentedVMs struct {
	Total    float64 `json:"total"`
	OnDemand float64 `json:"on_demand"`
	Reserved float64 `json:"reserved"`
	Spot     float64 `json:"spot"`
}

// Planner is Solve with a solver, a time budget and whatever else its caller sees to.
type Planner func(ctx context.Context, p capacity.Problem) (capacity.Plan, error)

// OutcomeOf sums a plan up; the plan itself stays with it where full is set.
func OutcomeOf(name string, pl capacity.Plan, full bool) Outcome {
	o := Outcome{
		Name: name, Status: pl.Status, Cost: pl.Cost, Conflicts: pl.Conflicts,
		VMs: RentedVMs{pl.VMs.Total, pl.VMs.OnDemand, pl.VMs.Reserved, pl.VMs.Spot},
	}
	for i := range pl.Classes {
		o.Admitted += pl.Classes[i].Admitted
		o.Refused += pl.Classes[i].Refused
	}
	if pl.Proof != nil {
		o.Gap = pl.Proof.Gap
	}
	if full && pl.Status != capacity.InfeasibleStatus {
		o.Plan = &pl
	}
	return o
}
