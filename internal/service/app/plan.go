package app

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"headroom/internal/core/capacity"
	"headroom/internal/core/fault"
	"headroom/internal/core/plan"
	"headroom/internal/core/proof"
	"headroom/internal/data/inputs"
	"headroom/internal/service/plans"
)

// ProblemAt is what a plan of the cluster for a moment would answer; the zero time is now.
func (a *App) ProblemAt(ctx context.Context, cluster string, at time.Time) (capacity.Problem, error) {
	_, p, err := a.problem(ctx, cluster, at)
	return p, err
}

func (a *App) problem(ctx context.Context, cluster string, at time.Time) (inputs.Snapshot, capacity.Problem, error) {
	if at.IsZero() {
		at = a.Now()
	}
	snapshot, err := a.Stores.Inputs.Snapshot(ctx, cluster, at)
	if err != nil {
		return snapshot, capacity.Problem{}, err
	}
	p, err := snapshot.Problem(at)
	if err != nil {
		return snapshot, p, err
	}
	return snapshot, p, p.Validate()
}

// CreatePlan plans a cluster for a moment (the zero time is now) and stores the plan with the exact
// inputs it answers. A plan for now becomes the current one, a plan for a given moment never does. A
// cluster that cannot be planned is an *InfeasibleError, and nothing is stored.
func (a *App) CreatePlan(ctx context.Context, cluster string, at time.Time) (plans.PlanRecord, error) {
	record, save, err := a.makePlan(ctx, cluster, at)
	if err != nil {
		return plans.PlanRecord{}, err
	}
	saved, err := save(ctx, record)
	a.countPlan(saved, err)
	return saved, err
}

// makePlan answers the plan that CreatePlan stores, and how.
func (a *App) makePlan(ctx context.Context, cluster string, at time.Time) (record plans.PlanRecord, save func(context.Context, plans.PlanRecord) (plans.PlanRecord, error), err error) {
	save = a.Stores.Plans.KeepPlan
	another := !at.IsZero()
	if !another {
		at, save = a.Now(), a.SavePlan
	}
	snapshot, p, err := a.problem(ctx, cluster, at)
	if err == nil {
		record, err = a.answer(ctx, snapshot, p, at)
		record.Why = askedFor(ctx, another)
	}
	return record, save, err
}

// answer solves a cluster's problem and makes of it what is stored.
func (a *App) answer(ctx context.Context, snapshot inputs.Snapshot, p capacity.Problem, at time.Time) (plans.PlanRecord, error) {
	answer, err := a.Solver.Solve(ctx, func() (capacity.Problem, error) { return p, nil })
	if err != nil {
		return plans.PlanRecord{}, err
	}
	if answer.Status == capacity.InfeasibleStatus {
		return plans.PlanRecord{}, &fault.InfeasibleError{Conflicts: answer.Conflicts}
	}
	record := plans.PlanRecord{PlanSummary: plans.Summarize(answer)}
	record.Cluster, record.At, record.InputsVersion = snapshot.Cluster.Name, at.UTC(), snapshot.Cluster.InputsVersion
	record.Ready, record.Plan = a.Now(), capacity.AppendPlan(nil, answer)
	if record.Problem, err = json.Marshal(p); err == nil {
		record.Sum, err = plans.InputsSum(p)
	}
	if err != nil {
		return record, fmt.Errorf("write the problem of cluster %s: %w", record.Cluster, err)
	}
	return record, nil
}

func (a *App) countPlan(r plans.PlanRecord, err error) {
	if t := a.config.Telemetry; t != nil && err == nil {
		t.PlanStored(string(r.Status))
	}
}

// VerifyPlan checks a stored plan against its stored inputs with code that shares nothing with the
// code that plans.
func (a *App) VerifyPlan(ctx context.Context, cluster string, ref PlanRef) (proof.Report, error) {
	answered, err := a.answered(ctx, cluster, ref)
	if err != nil {
		return proof.Report{}, err
	}
	ctx, leave, err := a.Solver.Enter(ctx)
	if err != nil {
		return proof.Report{}, err
	}
	defer leave()
	return proof.Verify(answered.Problem, answered.Plan, proof.Options{Pause: func() { _ = capacity.Pause(ctx) }}), nil
}

// DiffPlans says how two stored plans differ, and which inputs did.
func (a *App) DiffPlans(ctx context.Context, cluster string, from, to PlanRef) (plan.Difference, error) {
	first, err := a.answered(ctx, cluster, from)
	if err != nil {
		return plan.Difference{}, err
	}
	second, err := a.answered(ctx, cluster, to)
	if err != nil {
		return plan.Difference{}, err
	}
	return plan.Compare(first, second), nil
}

// answered reads a stored plan and its problem back.
func (a *App) answered(ctx context.Context, cluster string, ref PlanRef) (plan.Answered, error) {
	_, answered, err := a.AnsweredPlan(ctx, cluster, ref)
	return answered, err
}

// AnsweredPlan is a stored plan with what is in it.
func (a *App) AnsweredPlan(ctx context.Context, cluster string, ref PlanRef) (plans.PlanRecord, plan.Answered, error) {
	record, err := a.Stores.Plans.Plan(ctx, cluster, ref)
	if err != nil {
		return record, plan.Answered{}, err
	}
	p, err := capacity.ReadProblem(record.Problem, capacity.Limits{})
	if err != nil {
		return record, plan.Answered{}, fmt.Errorf("read the inputs of plan %d of cluster %s: %v", record.Number, cluster, err) // not the caller's input
	}
	answer, err := capacity.ReadPlan(record.Plan)
	if err != nil {
		return record, plan.Answered{}, fmt.Errorf("read plan %d of cluster %s: %v", record.Number, cluster, err)
	}
	return record, plan.Answered{Problem: p, Plan: answer}, nil
}
