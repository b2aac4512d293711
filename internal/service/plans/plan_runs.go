package plans

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"example.org/headroom/internal/service/auth"
	"example.org/headroom/internal/service/runs"
)

// PlanRun is the kind of run that makes a plan.
const PlanRun = "plan"

// planInput is the input of a plan run.
type planInput struct {
	At time.Time `json:"at,omitzero"` // zero is the moment it begins
}

// StartRun creates a plan in the background: the run's result is the plan's record.
func (d *Desk) StartRun(ctx context.Context, cluster string, at time.Time) (runs.Run, error) {
	return d.runs.StartRun(ctx, runs.NewRun{Kind: PlanRun, Cluster: cluster, Role: auth.Planner, Input: planInput{at}})
}

// ForRun solves the problem of a plan run. save stores the plan and returns its record.
func (d *Desk) ForRun(ctx context.Context, claim runs.Claim) (save func(context.Context) (runs.Result, error), err error) {
	var in planInput
	if err := json.Unmarshal(claim.Input, &in); err != nil {
		return nil, fmt.Errorf("read the input of run %s: %w", claim.ID, err)
	}
	record, store, err := d.makePlan(ctx, claim.Cluster, in.At)
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context) (runs.Result, error) {
		saved, err := store(ctx, record)
		if err != nil {
			return runs.Result{}, err
		}
		d.stored(saved, nil)
		text, err := json.Marshal(saved)
		return runs.Result{Type: "application/json", Body: text}, err
	}, nil
}
