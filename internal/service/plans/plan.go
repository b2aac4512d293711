package plans

import (
	"context"
	"fmt"
	"time"

	"example.org/headroom/internal/ask/recheck/timetables"
	"example.org/headroom/internal/ask/whatif"
	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/fault"
	"example.org/headroom/internal/core/proof"
	"example.org/headroom/internal/data/inputs"
)

// ProblemAt returns the problem that a plan of the cluster for a moment would answer; the zero time is now.
func (d *Desk) ProblemAt(ctx context.Context, cluster string, at time.Time) (capacity.Problem, error) {
	return d.problem(ctx, cluster, at)
}

// Create plans a cluster for a moment (the zero time is now) and stores the plan with the exact
// inputs it answers. A plan for now becomes the current one, a plan for a given moment never does. A
// cluster that cannot be planned is an *InfeasibleError, and nothing is stored.
func (d *Desk) Create(ctx context.Context, cluster string, at time.Time) (PlanRecord, error) {
	record, save, err := d.makePlan(ctx, cluster, at)
	if err != nil {
		return PlanRecord{}, err
	}
	saved, err := save(ctx, record)
	d.stored(saved, err)
	return saved, err
}

// makePlan answers the plan that CreatePlan stores, and how.
func (d *Desk) makePlan(ctx context.Context, cluster string, at time.Time) (record PlanRecord, save func(context.Context, PlanRecord) (PlanRecord, error), err error) {
	save = d.store.KeepPlan
	another := !at.IsZero()
	if !another {
		at, save = d.now(), d.Save
	}
	of := d.problemNow
	if another {
		of = d.onRecord
	}
	f, err := of(ctx, cluster, at)
	if err == nil {
		record, err = d.answerFollowed(ctx, &f, at)
		record.Why, record.Ends, record.Schedule = askedFor(ctx, another), ends(f.snapshot, at), f.unkept()
		if err == nil {
			record.Problem, record.Sum, err = textOf(f.problem)
		}
	}
	return record, save, err
}

// answer solves a cluster's problem and returns the record to store, without the problem.
func (d *Desk) answer(ctx context.Context, snapshot inputs.Snapshot, p capacity.Problem, at time.Time) (PlanRecord, error) {
	answer, later, err := d.solver.SolveFirst(ctx, p)
	if err != nil {
		return PlanRecord{}, err
	}
	if answer.Status == capacity.InfeasibleStatus {
		return PlanRecord{}, &fault.InfeasibleError{Conflicts: answer.Conflicts}
	}
	record := PlanRecord{PlanSummary: Summarize(answer)}
	record.Cluster, record.At, record.InputsVersion = snapshot.Cluster.Name, at.UTC(), snapshot.Cluster.InputsVersion
	record.Ready, record.Plan, record.Answer = d.now(), capacity.AppendPlan(nil, answer), answer
	if later {
		record.Vote = &Vote{State: VoteWaiting}
	}
	return record, nil
}

// ends returns when a class has no more work, if that is within the hour of a moment. Where executions may wait the hour itself
// ends something.
func ends(s inputs.Snapshot, at time.Time) *time.Time {
	if _, until := s.Steady(at); mayWait(s) || until.Before(at.Truncate(time.Hour).Add(time.Hour)) {
		return &until
	}
	return nil
}

// stored counts a plan that was stored, and wakes the voter for it.
func (d *Desk) stored(r PlanRecord, err error) {
	if err != nil {
		return
	}
	if t := d.telemetry; t != nil {
		t.PlanStored(string(r.Status))
	}
	if r.Vote != nil {
		select {
		case d.unvoted <- struct{}{}:
		default:
		}
	}
}

// Verify checks a stored plan against its stored inputs with code that shares nothing with the
// code that plans.
func (d *Desk) Verify(ctx context.Context, cluster string, ref PlanRef) (proof.Report, error) {
	record, answered, err := d.Answered(ctx, cluster, ref)
	if err != nil {
		return proof.Report{}, err
	}
	kept, err := d.store.Schedule(ctx, cluster)
	if err != nil {
		return proof.Report{}, err
	}
	ctx, leave, err := d.solver.Enter(ctx)
	if err != nil {
		return proof.Report{}, err
	}
	defer leave()
	r := proof.Verify(answered.Problem, answered.Plan, proof.Options{Pause: func() { _ = capacity.Pause(ctx) }})
	if hour := record.At.UTC().Truncate(time.Hour); kept.Followed != nil && kept.Without == "" && kept.Hour.Equal(hour) && kept.InputsVersion == record.InputsVersion {
		f, err := readFollowed(kept.Followed)
		if err != nil { // of another version of this program; the plan itself is as right as before
			return r, nil
		}
		c := timetables.Followed(*f, answered.Problem, hour)
		if r.Checks = append(r.Checks, c); c.Outcome == proof.Failed {
			r.Outcome = proof.Failed
		}
	}
	return r, nil
}

// Diff compares two stored plans and their inputs. A nil from is the plan that held before.
func (d *Desk) Diff(ctx context.Context, cluster string, from *PlanRef, to PlanRef) (whatif.Difference, error) {
	record, second, err := d.Answered(ctx, cluster, to)
	if err != nil {
		return whatif.Difference{}, err
	}
	if from == nil {
		number, err := d.store.HeldBefore(ctx, cluster, record.Number)
		if err != nil {
			return whatif.Difference{}, err
		}
		from = &PlanRef{Number: number}
	}
	first, err := d.answered(ctx, cluster, *from)
	if err != nil {
		return whatif.Difference{}, err
	}
	return whatif.Compare(first, second), nil
}

// answered reads a stored plan and its problem back.
func (d *Desk) answered(ctx context.Context, cluster string, ref PlanRef) (whatif.Answered, error) {
	_, answered, err := d.Answered(ctx, cluster, ref)
	return answered, err
}

// Answered returns a stored plan, parsed.
func (d *Desk) Answered(ctx context.Context, cluster string, ref PlanRef) (PlanRecord, whatif.Answered, error) {
	record, err := d.store.Plan(ctx, cluster, ref)
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
