package app

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"headroom/internal/ask/whatif"
	"headroom/internal/core/capacity"
	"headroom/internal/core/fault"
	"headroom/internal/core/plan"
	"headroom/internal/core/proof"
	"headroom/internal/core/trace"
	"headroom/internal/data/inputs"
	"headroom/internal/service/auth"
	"headroom/internal/service/plans"
)

// InfeasibleError is a cluster that cannot be planned; the conflicts say why and what would cure it.
type InfeasibleError struct {
	Conflicts []fault.Finding
}

func (e *InfeasibleError) Error() string {
	return (&fault.InputError{Findings: e.Conflicts}).Error()
}

// Is makes it an error of kind Infeasible.
func (e *InfeasibleError) Is(target error) bool { return target == fault.Infeasible }

// MaySolve says whether the caller would be let in to wait for a place to solve in: who would not is
// best told before anything is read for them.
func (a *App) MaySolve(ctx context.Context) error { return a.solves.room(auth.From(ctx).ID) }

// Solve answers a problem within its time budget. It waits for a place to solve in and reads the
// problem there, so that those who wait cost nothing; when too many wait already it is fault.Busy
// at once.
func (a *App) Solve(ctx context.Context, read func() (capacity.Problem, error)) (capacity.Plan, error) {
	ctx, leave, err := a.solves.enter(ctx)
	if err != nil {
		return capacity.Plan{}, err
	}
	defer leave()
	p, err := read()
	if err != nil {
		return capacity.Plan{}, err
	}
	return a.plan(ctx, p)
}

// plan answers a problem within its time budget, for a caller who has a place to solve in.
func (a *App) plan(ctx context.Context, p capacity.Problem) (capacity.Plan, error) {
	return a.planBy(ctx, p, func(ctx context.Context, p capacity.Problem) (capacity.Plan, error) {
		return plan.Solve(ctx, p, a.config.Solver)
	})
}

// planLike is plan for problems that differ little from one: in brief.
func (a *App) planLike(base capacity.Problem) plan.Planner {
	series := plan.NewSeries(base, a.config.Solver)
	return func(ctx context.Context, p capacity.Problem) (capacity.Plan, error) {
		return a.planBy(ctx, p, series.Solve)
	}
}

func (a *App) planBy(ctx context.Context, p capacity.Problem, solve plan.Planner) (capacity.Plan, error) {
	_ = capacity.Pause(ctx) // what solves many problems comes by here
	began := time.Now()     // a duration, not a moment: the clock of App is for moments
	budgeted, cancel := context.WithTimeout(ctx, time.Duration(p.Options.MaxSolveMs)*time.Millisecond)
	defer cancel()
	defer context.AfterFunc(a.ended, cancel)()
	traced, span := trace.Begin(budgeted, "solve", trace.Internal)
	defer span.End()
	span.Count("headroom.classes", int64(len(p.Classes)))
	answer, err := solve(traced, p)
	if errors.Is(err, context.Canceled) && a.ended.Err() != nil {
		err = ErrStopping
	}
	if err != nil {
		span.Fail()
		return capacity.Plan{}, err
	}
	span.Text("headroom.status", string(answer.Status))
	if answer.Proof != nil {
		answer.Proof.SolveMs = float64(time.Since(began).Microseconds()) / 1000
	}
	a.observe(p, answer, time.Since(began))
	return answer, nil
}

// observe tells the operator about a solve. An engine that disagrees with a proved plan is worth a
// line of its own: it is either a bug of the engine or one of ours.
func (a *App) observe(p capacity.Problem, answer capacity.Plan, took time.Duration) {
	t := a.config.Telemetry
	if t == nil {
		return
	}
	engine, agreed := "", true
	if answer.Proof != nil {
		engine = answer.Proof.Engine
		agreed = answer.Proof.Agreed == nil || *answer.Proof.Agreed
	}
	t.Solved(string(answer.Status), engine, took)
	if !agreed {
		t.Disagreed()
		t.Log.Warn("engine disagrees with the proof", "engine", answer.Proof.Engine, "classes", len(p.Classes), "status", string(answer.Status), "gap", answer.Proof.Gap)
	}
}

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
	answer, err := a.Solve(ctx, func() (capacity.Problem, error) { return p, nil })
	if err != nil {
		return plans.PlanRecord{}, err
	}
	if answer.Status == capacity.InfeasibleStatus {
		return plans.PlanRecord{}, &InfeasibleError{Conflicts: answer.Conflicts}
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
	ctx, leave, err := a.solves.enter(ctx)
	if err != nil {
		return proof.Report{}, err
	}
	defer leave()
	return proof.Verify(answered.Problem, answered.Plan, proof.Options{Pause: func() { _ = capacity.Pause(ctx) }}), nil
}

// DiffPlans says how two stored plans differ, and which inputs did.
func (a *App) DiffPlans(ctx context.Context, cluster string, from, to PlanRef) (whatif.Difference, error) {
	first, err := a.answered(ctx, cluster, from)
	if err != nil {
		return whatif.Difference{}, err
	}
	second, err := a.answered(ctx, cluster, to)
	if err != nil {
		return whatif.Difference{}, err
	}
	return whatif.Compare(first, second), nil
}

// answered reads a stored plan and its problem back.
func (a *App) answered(ctx context.Context, cluster string, ref PlanRef) (whatif.Answered, error) {
	_, answered, err := a.AnsweredPlan(ctx, cluster, ref)
	return answered, err
}

// AnsweredPlan is a stored plan with what is in it.
func (a *App) AnsweredPlan(ctx context.Context, cluster string, ref PlanRef) (plans.PlanRecord, whatif.Answered, error) {
	record, err := a.Stores.Plans.Plan(ctx, cluster, ref)
	if err != nil {
		return record, whatif.Answered{}, err
	}
	p, err := capacity.ReadProblem(record.Problem, capacity.Limits{})
	if err != nil {
		return record, whatif.Answered{}, fmt.Errorf("read the inputs of plan %d of cluster %s: %v", record.Number, cluster, err) // not the caller's input
	}
	answer, err := capacity.ReadPlan(record.Plan)
	if err != nil {
		return record, whatif.Answered{}, fmt.Errorf("read plan %d of cluster %s: %v", record.Number, cluster, err)
	}
	return record, whatif.Answered{Problem: p, Plan: answer}, nil
}
