package plans

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"example.org/headroom/internal/ask/pool"
	"example.org/headroom/internal/ask/recheck/machines"
	"example.org/headroom/internal/core/fault"
	"example.org/headroom/internal/core/lp"
	"example.org/headroom/internal/core/strict"
	"example.org/headroom/internal/data/storage"
	"example.org/headroom/internal/service/plans/solving"
)

// PoolsChannel notifies of changes to the inputs of pools, or to a pool's plan.
const PoolsChannel = "headroom_pools"

// PoolStore stores the pools of clusters.
type PoolStore interface {
	// PoolSettings returns the settings from which a cluster's pool is planned, or NotFound without any.
	PoolSettings(ctx context.Context, cluster string) (pool.PoolSettings, error)
	// SavePoolSettings replaces the settings of a version; 0 means that there are none yet.
	SavePoolSettings(ctx context.Context, cluster string, version int64, s pool.PoolSettings) (pool.PoolSettings, error)
	// DeletePoolSettings ends planning; plans stay on record.
	DeletePoolSettings(ctx context.Context, cluster string, version int64) error
	PoolMachines(ctx context.Context, cluster string) (pool.PoolMachines, error)
	// SavePoolMachines stores the running machines; there must be a pool.
	SavePoolMachines(ctx context.Context, cluster string, machines []pool.PoolMachine) (pool.PoolMachines, error)
	// StorageSamples lists the newest first. AddStorageSamples replaces those of the same moments, and deletes the
	// oldest surplus ones.
	StorageSamples(ctx context.Context, cluster string, page storage.Page) (storage.Listed[pool.StorageSample], error)
	AddStorageSamples(ctx context.Context, cluster string, samples []pool.StorageSample) error
	// MeasuredSamples lists the samples of some hours before the last one that is not after now, by time.
	MeasuredSamples(ctx context.Context, cluster string, hours int64, now time.Time) ([]pool.StorageSample, error)
	// RecordedHours counts the submissions of jobs in some hours before the cluster's last submission before now.
	RecordedHours(ctx context.Context, cluster string, jobs []string, hours int64, now time.Time) (pool.RecordedHours, error)

	// PoolPlans lists the newest first.
	PoolPlans(ctx context.Context, cluster string, page storage.Page) (storage.Listed[pool.PoolPlanSummary], error)
	PoolPlan(ctx context.Context, cluster string, number int64) (pool.PoolPlanRecord, error)
	// CurrentPool returns the current plan of a pool, or NotFound without one. CurrentPools returns those of all
	// clusters.
	CurrentPool(ctx context.Context, cluster string) (CurrentPool, error)
	CurrentPools(ctx context.Context) ([]CurrentPool, error)

	// ClaimPool and the others are to pools as Claim and the others are to clusters; see Planning.
	ClaimPool(ctx context.Context, now time.Time, lease time.Duration) (*Claim, time.Duration, error)
	KeepPoolClaim(ctx context.Context, c Claim, lease time.Duration) error
	ReleasePool(ctx context.Context, c Claim) error
	SettlePool(ctx context.Context, c Claim, o PoolOutcome) (pool.PoolPlanRecord, error)
}

// PoolOutcome is the outcome of a try to plan a pool: a new plan, a confirmation of the current one, or a failure.
type PoolOutcome struct {
	At       time.Time
	Boundary *time.Time // start of the next round; nil if unknown
	Plan     *pool.PoolPlanRecord
	Same     bool
	Attempt  Attempt
	Retry    time.Duration // after a failure that may pass by itself; 0 waits for a change or the next round
}

// SetSettings sets the settings from which a cluster's pool is planned. Zero is the version before the first
// settings. Rounds without a given start begin with this hour.
func (d *PoolDesk) SetSettings(ctx context.Context, cluster string, version int64, s pool.PoolSettings) (pool.PoolSettings, error) {
	if err := s.Validate(); err != nil {
		return s, err
	}
	first := d.now().Truncate(time.Hour)
	if s.FirstRoundAt != nil {
		first = s.FirstRoundAt.UTC()
	}
	s.FirstRoundAt = &first
	return d.store.SavePoolSettings(ctx, cluster, version, s)
}

// SetMachines sets the running machines of a pool.
func (d *PoolDesk) SetMachines(ctx context.Context, cluster string, machines []pool.PoolMachine) (pool.PoolMachines, error) {
	if err := pool.CheckMachines(machines, d.now()); err != nil {
		return pool.PoolMachines{}, err
	}
	return d.store.SavePoolMachines(ctx, cluster, machines)
}

// SampleStorage stores amounts of data, and returns the number stored.
func (d *PoolDesk) SampleStorage(ctx context.Context, cluster string, sent []pool.StorageSampleRequest) (int64, error) {
	samples, err := pool.CheckSamples(sent, d.now())
	if err != nil {
		return 0, err
	}
	return int64(len(samples)), d.store.AddStorageSamples(ctx, cluster, samples)
}

// Basis returns the basis of a plan of a cluster's pool now, with its sources.
func (d *PoolDesk) Basis(ctx context.Context, cluster string) (pool.PoolBasis, error) {
	_, b, err := d.basis(ctx, cluster, d.now())
	return b, err
}

func (d *PoolDesk) basis(ctx context.Context, cluster string, at time.Time) (f pool.PoolFacts, b pool.PoolBasis, err error) {
	if f.Settings, err = d.store.PoolSettings(ctx, cluster); err != nil {
		return f, b, err
	}
	from, err := f.Settings.RoundAt(at)
	if err != nil {
		return f, b, err
	}
	until := from.Add(time.Duration(f.Settings.Hours*f.Settings.Rounds) * time.Hour)
	if f.Outlook, err = d.inputs.Outlook(ctx, cluster, from, until); err != nil {
		return f, b, err
	}
	if f.Machines, err = d.store.PoolMachines(ctx, cluster); err != nil {
		return f, b, err
	}
	if f.Samples, err = d.store.MeasuredSamples(ctx, cluster, f.Settings.MeasuredHours, at.Add(strict.MaxAhead)); err != nil {
		return f, b, err
	}
	jobs := []string{}
	for _, j := range f.Settings.Jobs {
		jobs = append(jobs, j.Recorded())
	}
	if f.Recorded, err = d.store.RecordedHours(ctx, cluster, jobs, f.Settings.MeasuredHours, at); err != nil {
		return f, b, err
	}
	current, err := d.store.CurrentPool(ctx, cluster)
	switch {
	case err == nil:
		f.Current, f.Number, f.Version = new(pool.PoolSchedule), current.Record.Number, current.Record.SettingsVersion
		if err := json.Unmarshal(current.Record.Plan, f.Current); err != nil {
			return f, b, fmt.Errorf("read plan %d of the pool of cluster %s: %v", f.Number, cluster, err)
		}
	case !errors.Is(err, fault.NotFound):
		return f, b, err
	}
	b, err = pool.Basis(f, at)
	return f, b, err
}

// planClaimed plans a pool and stores the outcome.
func (d *PoolDesk) planClaimed(ctx context.Context, claim Claim) {
	outcome, held, err := whileClaimed(ctx, claim, d.store.KeepPoolClaim, d.store.ReleasePool, d.try)
	if !held {
		return
	}
	if _, unsettled := d.store.SettlePool(ctx, claim, outcome); errors.Is(unsettled, storage.ErrClaimLost) {
		return
	} else if unsettled != nil {
		complain(ctx, d.telemetry, "the outcome of planning a pool was not stored; it is tried again", unsettled, "cluster", claim.Cluster)
		return
	}
	t := d.telemetry
	switch {
	case t == nil:
	case outcome.Retry > 0:
		complain(ctx, d.telemetry, "planning a pool failed; it is tried again", err, "cluster", claim.Cluster, "failures", claim.Failures+1)
	case err != nil && claim.Newest > 0:
		t.Log.Warn("a pool cannot be planned; its last plan stays", "cluster", claim.Cluster, "reason", claim.Reason, "error", err.Error())
	case outcome.Plan != nil:
		t.Log.Info("planned a pool", "cluster", claim.Cluster, "reason", claim.Reason, "steps", outcome.Plan.Steps)
	}
}

// try plans a pool for now, unless its current plan answers the same problem. The error is the one in the
// outcome.
func (d *PoolDesk) try(ctx context.Context, claim Claim) (PoolOutcome, error) {
	at := d.now()
	o := PoolOutcome{At: at, Attempt: Attempt{At: at, Reason: claim.Reason}}
	f, b, err := d.basis(ctx, claim.Cluster, at)
	if next, known := nextRound(f.Settings, at); known {
		o.Boundary = &next
	}
	if err == nil {
		var sum []byte
		if sum, err = b.Sum(); err == nil && bytes.Equal(sum, claim.Sum) {
			o.Same = true
			o.Attempt.Detail = fmt.Sprintf("Nothing has changed that plan %d depends on.", claim.Newest)
			return o, nil
		}
		if err == nil {
			var record pool.PoolPlanRecord
			if record, err = d.record(ctx, f, b); err == nil {
				record.Cluster, record.Reason, record.Sum = claim.Cluster, claim.Reason, sum
				o.Plan = &record
				return o, nil
			}
		}
	}
	if errors.Is(err, fault.NotFound) { // a thing that the settings name; it or they may come
		o.Attempt.Failed, o.Attempt.Detail = true, err.Error()
	} else {
		o.Retry = fail(&o.Attempt, claim, err)
	}
	return o, err
}

func nextRound(s pool.PoolSettings, at time.Time) (time.Time, bool) {
	from, err := s.RoundAt(at)
	if err != nil {
		return at, false
	}
	if from.After(at) {
		return from, true
	}
	return from.Add(time.Duration(s.Hours) * time.Hour), true
}

// record plans the rounds of a basis, a turn for each, and returns the record to store. An impossible first round
// is an *InfeasibleError; a later one is noted in the plan, because earlier rounds are valid all the same. Nobody
// sees a schedule that has not passed the independent check.
func (d *PoolDesk) record(ctx context.Context, f pool.PoolFacts, b pool.PoolBasis) (pool.PoolPlanRecord, error) {
	p, under := b.Problem, pool.Under(f, b)
	if under != nil {
		p = pool.After(p, *under)
	}
	first := true
	course, err := solving.CheckedCourse(ctx, p, func(ctx context.Context, q pool.PoolProblem) (pool.PoolPlan, error) {
		ctx, leave, err := d.solver.Turn(ctx)
		if err != nil {
			return pool.PoolPlan{}, err
		}
		defer leave()
		answer, err := d.Plan(ctx, q)
		if errors.Is(err, fault.Infeasible) && !first {
			err = nil
		}
		first = false
		return answer, err
	}, func(int64, int64) {})
	if err != nil {
		return pool.PoolPlanRecord{}, err
	}
	schedule := pool.Schedule(b, under, course)
	if err := machines.PoolFault(machines.PoolSchedule(b, schedule)); err != nil {
		return pool.PoolPlanRecord{}, err
	}
	record := pool.PoolPlanRecord{PoolPlanSummary: pool.SummarizePool(schedule)}
	record.At, record.SettingsVersion = b.At, b.Version
	if record.Basis, err = json.Marshal(b); err == nil {
		record.Plan, err = json.Marshal(schedule)
	}
	return record, err
}

// Plan plans a pool within its time budget, for a caller who has a place to solve in. Nobody sees a plan that has
// not passed the independent check; an infeasible one is an error.
func (d *PoolDesk) Plan(ctx context.Context, p pool.PoolProblem) (answer pool.PoolPlan, err error) {
	err = d.solver.Budgeted(ctx, p.Options.MaxSolveMs, func(ctx context.Context, engine lp.Solver) (err error) {
		answer, err = solving.CheckedPool(ctx, p, engine)
		return err
	})
	if err == nil && answer.Status == pool.PoolInfeasible {
		err = &fault.InfeasibleError{Conflicts: answer.Conflicts}
	}
	return answer, err
}
