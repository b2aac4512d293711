package app

import (
	"context"

	"headroom/internal/capacity"
)

// PlansChannel is where the store tells, by a cluster's name, that its current plan or anything known
// about its freshness has changed, or that the cluster is gone.
const PlansChannel = "headroom_plans"

// Planning is what the store keeps of planning moments.
type Planning interface {
	// Current is the plan that holds now. A cluster that never had one is NotFound.
	Current(ctx context.Context, cluster string) (capacity.Current, error)
	// Currents are those of all living clusters that have one, by name. Their problems are left out.
	Currents(ctx context.Context) ([]capacity.Current, error)
	// KeepPlan is SavePlan for a plan that is not to be current, because it is for another moment.
	KeepPlan(ctx context.Context, r capacity.PlanRecord) (capacity.PlanRecord, error)
}
