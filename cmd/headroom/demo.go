package main

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"headroom/internal/app"
	"headroom/internal/auth"
	"headroom/internal/capacity"
)

// demoCluster is a cluster that is small, realistic and not trivial: one contract billed always, one
// by use, some jobs not worth their machines.
//
//go:embed demo.json
var demoCluster []byte

// makeDemo makes the demonstration cluster and its first plan unless they are there. What somebody
// has changed since stays as it is.
func makeDemo(ctx context.Context, a *app.App) (capacity.PlanRecord, error) {
	ctx = auth.With(ctx, auth.Principal{ID: auth.LocalID, Name: "headroom serve --demo", Role: auth.Admin})
	var d capacity.Document
	if err := json.Unmarshal(demoCluster, &d); err != nil {
		return capacity.PlanRecord{}, fmt.Errorf("read the demonstration cluster: %w", err)
	}
	name := d.Cluster.Name
	switch _, err := a.Cluster(ctx, name); {
	case errors.Is(err, capacity.NotFound):
		if _, err := a.Apply(ctx, 0, d, false); err != nil && !errors.Is(err, capacity.Conflict) {
			return capacity.PlanRecord{}, fmt.Errorf("make the demonstration cluster: %w", err)
		}
	case err != nil:
		return capacity.PlanRecord{}, err
	}
	switch record, err := a.Plan(ctx, name, app.PlanRef{}); {
	case err == nil:
		return record, nil
	case !errors.Is(err, capacity.NotFound):
		return record, err
	}
	return a.CreatePlan(ctx, name, time.Time{})
}
