package app

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"headroom/internal/ask/pool"
	"headroom/internal/ask/recheck"
	"headroom/internal/core/fault"
	"headroom/internal/core/strict"
	"headroom/internal/service/plans"
)

// PoolsChannel notifies of changes to the inputs of pools, or to a pool's plan.
const PoolsChannel = "headroom_pools"

// StoredPools stores the pools of clusters.
type StoredPools interface {
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
	StorageSamples(ctx context.Context, cluster string, page Page) (Listed[pool.StorageSample], error)
	AddStorageSamples(ctx context.Context, cluster string, samples []pool.StorageSample) error
	// MeasuredSamples lists the samples of some hours before the last one that is not after now, by time.
	MeasuredSamples(ctx context.Context, cluster string, hours int64, now time.Time) ([]pool.StorageSample, error)
	// RecordedHours counts the submissions of jobs in some hours before the cluster's last submission before now.
	RecordedHours(ctx context.Context, cluster string, jobs []string, hours int64, now time.Time) (pool.RecordedHours, error)

	// PoolPlans lists the newest first.
	PoolPlans(ctx context.Context, cluster string, page Page) (Listed[pool.PoolPlanSummary], error)
	PoolPlan(ctx context.Context, cluster string, number int64) (pool.PoolPlanRecord, error)
	// CurrentPool returns the current plan of a pool, or NotFound without one. CurrentPools returns those of all
	// clusters.
	CurrentPool(ctx context.Context, cluster string) (plans.CurrentPool, error)
	CurrentPools(ctx context.Context) ([]plans.CurrentPool, error)

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
	Attempt  plans.Attempt
	Retry    time.Duration // after a failure that may pass by itself; 0 waits for a change or the next round
}

// SetPoolSettings sets the settings from which a cluster's pool is planned. Zero is the version before the first
// settings. Rounds without a given start begin with this hour.
func (a *App) SetPoolSettings(ctx context.Context, cluster string, version int64, s pool.PoolSettings) (pool.PoolSettings, error) {
	if err := s.Validate(); err != nil {
		return s, err
	}
	first := a.Now().Truncate(time.Hour)
	if s.FirstRoundAt != nil {
		first = s.FirstRoundAt.UTC()
	}
	s.FirstRoundAt = &first
	return a.Stores.StoredPools.SavePoolSettings(ctx, cluster, version, s)
}

// SetPoolMachines sets the running machines of a pool.
func (a *App) SetPoolMachines(ctx context.Context, cluster string, machines []pool.PoolMachine) (pool.PoolMachines, error) {
	if err := pool.CheckMachines(machines, a.Now()); err != nil {
		return pool.PoolMachines{}, err
	}
	return a.Stores.StoredPools.SavePoolMachines(ctx, cluster, machines)
}

// SampleStorage stores amounts of data, and returns the number stored.
func (a *App) SampleStorage(ctx context.Context, cluster string, sent []pool.StorageSampleRequest) (int64, error) {
	samples, err := pool.CheckSamples(sent, a.Now())
	if err != nil {
		return 0, err
	}
	return int64(len(samples)), a.Stores.StoredPools.AddStorageSamples(ctx, cluster, samples)
}

// PoolBasis returns the basis of a plan of a cluster's pool now, with its sources.
func (a *App) PoolBasis(ctx context.Context, cluster string) (pool.PoolBasis, error) {
	_, b, err := a.poolBasis(ctx, cluster, a.Now())
	return b, err
}

func (a *App) poolBasis(ctx context.Context, cluster string, at time.Time) (f pool.PoolFacts, b pool.PoolBasis, err error) {
	if f.Settings, err = a.Stores.StoredPools.PoolSettings(ctx, cluster); err != nil {
		return f, b, err
	}
	from, err := f.Settings.RoundAt(at)
	if err != nil {
		return f, b, err
	}
	until := from.Add(time.Duration(f.Settings.Hours*f.Settings.Rounds) * time.Hour)
	if f.Outlook, err = a.Stores.Inputs.Outlook(ctx, cluster, from, until); err != nil {
		return f, b, err
	}
	if f.Machines, err = a.Stores.StoredPools.PoolMachines(ctx, cluster); err != nil {
		return f, b, err
	}
	if f.Samples, err = a.Stores.StoredPools.MeasuredSamples(ctx, cluster, f.Settings.MeasuredHours, at.Add(strict.MaxAhead)); err != nil {
		return f, b, err
	}
	jobs := []string{}
	for _, j := range f.Settings.Jobs {
		jobs = append(jobs, j.Recorded())
	}
	if f.Recorded, err = a.Stores.StoredPools.RecordedHours(ctx, cluster, jobs, f.Settings.MeasuredHours, at); err != nil {
		return f, b, err
	}
	current, err := a.Stores.StoredPools.CurrentPool(ctx, cluster)
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

// planClaimedPool plans a pool and stores the outcome.
func (a *App) planClaimedPool(ctx context.Context, claim Claim) {
	outcome, held, err := whileClaimed(ctx, a, claim, a.Stores.StoredPools.KeepPoolClaim, a.Stores.StoredPools.ReleasePool, a.tryPool)
	if !held {
		return
	}
	if _, unsettled := a.Stores.StoredPools.SettlePool(ctx, claim, outcome); errors.Is(unsettled, ErrClaimLost) {
		return
	} else if unsettled != nil {
		a.complain(ctx, "the outcome of planning a pool was not stored; it is tried again", unsettled, "cluster", claim.Cluster)
		return
	}
	t := a.config.Telemetry
	switch {
	case t == nil:
	case outcome.Retry > 0:
		a.complain(ctx, "planning a pool failed; it is tried again", err, "cluster", claim.Cluster, "failures", claim.Failures+1)
	case err != nil && claim.Newest > 0:
		t.Log.Warn("a pool cannot be planned; its last plan stays", "cluster", claim.Cluster, "reason", claim.Reason, "error", err.Error())
	case outcome.Plan != nil:
		t.Log.Info("planned a pool", "cluster", claim.Cluster, "reason", claim.Reason, "steps", outcome.Plan.Steps)
	}
}

// tryPool plans a pool for now, unless its current plan answers the same problem. The error is the one in the
// outcome.
func (a *App) tryPool(ctx context.Context, claim Claim) (PoolOutcome, error) {
	at := a.Now()
	o := PoolOutcome{At: at, Attempt: plans.Attempt{At: at, Reason: claim.Reason}}
	f, b, err := a.poolBasis(ctx, claim.Cluster, at)
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
			if record, err = a.poolRecord(ctx, f, b); err == nil {
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

// poolRecord plans the rounds of a basis, a turn for each, and returns the record to store. An impossible first round
// is an *InfeasibleError; a later one is noted in the plan, because earlier rounds are valid all the same. Nobody
// sees a schedule that has not passed the independent check.
func (a *App) poolRecord(ctx context.Context, f pool.PoolFacts, b pool.PoolBasis) (pool.PoolPlanRecord, error) {
	p, under := b.Problem, pool.Under(f, b)
	if under != nil {
		p = pool.After(p, *under)
	}
	first := true
	course, err := a.poolRounds(ctx, p, func(ctx context.Context, q pool.PoolProblem) (pool.PoolPlan, error) {
		ctx, leave, err := a.turn(ctx)
		if err != nil {
			return pool.PoolPlan{}, err
		}
		defer leave()
		answer, err := a.poolPlan(ctx, q)
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
	if err := recheck.PoolFault(recheck.PoolSchedule(b, schedule)); err != nil {
		return pool.PoolPlanRecord{}, err
	}
	record := pool.PoolPlanRecord{PoolPlanSummary: pool.SummarizePool(schedule)}
	record.At, record.SettingsVersion = b.At, b.Version
	if record.Basis, err = json.Marshal(b); err == nil {
		record.Plan, err = json.Marshal(schedule)
	}
	return record, err
}
