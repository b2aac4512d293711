package postgres

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/jackc/pgx/v5"

	"example.org/headroom/internal/ask/pool"
	"example.org/headroom/internal/data/storage"
	"example.org/headroom/internal/service/auth"
	"example.org/headroom/internal/service/plans"
)

const poolPlanColumns = `p.id, p.number, c.name AS cluster, p.at, p.created_at, p.created_by, p.settings_version, p.reason, p.status, p.cost, p.currency, p.starts, p.ends, p.rounds, p.steps`

// PoolPlans lists the newest first.
func (s *Store) PoolPlans(ctx context.Context, cluster string, page storage.Page) (list storage.Listed[pool.PoolPlanSummary], err error) {
	before := int64(math.MaxInt64)
	if err := readCursor(page.After, &before); err != nil {
		return list, err
	}
	err = s.read(ctx, func(ctx context.Context, q querier) error {
		id, err := clusterID(ctx, q, cluster)
		if err != nil {
			return err
		}
		rows, err := collect[pool.PoolPlanSummary](ctx, q, `
			SELECT `+poolPlanColumns+` FROM pool_plans p JOIN clusters c ON c.id = p.cluster_id
			WHERE p.cluster_id = @cluster AND p.number < @before ORDER BY p.number DESC LIMIT @limit`,
			pgx.NamedArgs{"cluster": id, "before": before, "limit": limitOf(page) + 1})
		list = listed(rows, page, func(p pool.PoolPlanSummary) []any { return []any{p.Number} })
		return err
	})
	return list, err
}

// PoolPlan returns a plan by its number.
func (s *Store) PoolPlan(ctx context.Context, cluster string, number int64) (r pool.PoolPlanRecord, err error) {
	type row struct {
		pool.PoolPlanSummary
		Basis, Plan json.RawMessage
	}
	err = s.read(ctx, func(ctx context.Context, q querier) error {
		id, err := clusterID(ctx, q, cluster)
		if err != nil {
			return err
		}
		found, err := one[row](ctx, q, `
			SELECT `+poolPlanColumns+`, p.basis, p.plan FROM pool_plans p JOIN clusters c ON c.id = p.cluster_id
			WHERE p.cluster_id = @cluster AND p.number = @number`, pgx.NamedArgs{"cluster": id, "number": number})
		if errors.Is(err, pgx.ErrNoRows) {
			return poolPlans.missing(ctx, q, id, cluster, number)
		}
		r = pool.PoolPlanRecord{PoolPlanSummary: found.PoolPlanSummary, Basis: found.Basis, Plan: found.Plan}
		return err
	})
	return r, err
}

const selectCurrentPool = `
	SELECT ` + poolPlanColumns + `, p.basis, p.plan, g.confirmed_at, g.boundary, g.last_attempt::text AS last_attempt,
	       least(g.changed_since, (SELECT min(t.at) FROM pool_changes t WHERE t.cluster_id = g.cluster_id)) AS changed_at
	FROM pools g JOIN clusters c ON c.id = g.cluster_id JOIN pool_plans p ON p.cluster_id = g.cluster_id AND p.number = g.current_number
	WHERE g.settings IS NOT NULL AND c.deleted_at IS NULL`

func currentPools(ctx context.Context, q querier, sql string, args pgx.NamedArgs) ([]plans.CurrentPool, error) {
	type row struct {
		pool.PoolPlanSummary
		Basis, Plan json.RawMessage
		ConfirmedAt time.Time
		Boundary    *time.Time
		LastAttempt *string
		ChangedAt   *time.Time
	}
	return collectAs(ctx, q, sql, args, func(r row) (c plans.CurrentPool, err error) {
		c = plans.CurrentPool{Record: pool.PoolPlanRecord{PoolPlanSummary: r.PoolPlanSummary, Basis: r.Basis, Plan: r.Plan}, ConfirmedAt: r.ConfirmedAt, Boundary: r.Boundary, ChangedAt: r.ChangedAt}
		c.LastAttempt, err = attemptOf(r.LastAttempt)
		return c, err
	})
}

// CurrentPool returns the current plan of a pool.
func (s *Store) CurrentPool(ctx context.Context, cluster string) (current plans.CurrentPool, err error) {
	err = s.read(ctx, func(ctx context.Context, q querier) error {
		id, err := clusterID(ctx, q, cluster)
		if err != nil {
			return err
		}
		if _, err := poolOf(ctx, q, id, cluster, ""); err != nil {
			return err
		}
		found, err := currentPools(ctx, q, selectCurrentPool+` AND g.cluster_id = @cluster`, pgx.NamedArgs{"cluster": id})
		if err != nil {
			return fmt.Errorf("read the current plan of the pool of cluster %s: %w", cluster, err)
		}
		if len(found) > 0 {
			current = found[0]
			return nil
		}
		var text *string
		if err := q.QueryRow(ctx, `SELECT last_attempt::text FROM pools WHERE cluster_id = @cluster`, pgx.NamedArgs{"cluster": id}).Scan(&text); err != nil {
			return err
		}
		if attempt, err := attemptOf(text); err == nil && attempt != nil && attempt.Failed {
			return notFound("the pool of the cluster %q has no plan yet, because it cannot be planned: %s", cluster, attempt.Detail)
		}
		return notFound("the pool of the cluster %q has no plan yet; it is made within moments", cluster)
	})
	return current, err
}

// CurrentPools returns the current plans of all clusters' pools.
func (s *Store) CurrentPools(ctx context.Context) (all []plans.CurrentPool, err error) {
	err = s.read(ctx, func(ctx context.Context, q querier) error {
		all, err = currentPools(ctx, q, selectCurrentPool+` ORDER BY c.name`, nil)
		return err
	})
	return all, err
}

// poolSince selects the moments of a pool's first and last change; g is its row.
const poolSince = `(SELECT least(g.changed_since, min(t.at)) AS since, max(t.at) AS last FROM pool_changes t WHERE t.cluster_id = g.cluster_id)`

// poolDueIn computes the time until a pool must be planned; t is poolSince, and null is never. A change ends a rest
// after a failure.
var poolDueIn = `(CASE WHEN t.since IS NOT NULL OR g.wake_at IS NOT NULL OR ` + ofTheFuture + ` THEN
	greatest(
	    least(
	        ` + fromNow(`least(coalesce(t.last, t.since) + make_interval(secs => @quiet), t.since + make_interval(secs => @longest))`) + `,
	        g.wake_at - @now,
	        CASE WHEN ` + ofTheFuture + ` THEN interval '0' END),
	    CASE WHEN t.last IS NULL THEN ` + fromNow(`g.retry_at`) + ` END, ` + fromNow(`g.claimed_until`) + `)
	END)`

const duePools = `FROM pools g JOIN clusters c ON c.id = g.cluster_id CROSS JOIN LATERAL ` + poolSince + ` t WHERE g.settings IS NOT NULL AND c.deleted_at IS NULL`

// ClaimPool takes a pool that must be planned, and its changes with it (see app.StoredPools).
func (s *Store) ClaimPool(ctx context.Context, now time.Time, lease time.Duration) (claim *plans.Claim, next time.Duration, err error) {
	args := pgx.NamedArgs{"now": now, "token": newID(), "lease": lease.Seconds(), "quiet": quiet.Seconds(), "longest": longest.Seconds()}
	err = s.write(ctx, func(ctx context.Context, q querier) error {
		c, err := one[plans.Claim](ctx, q, `
			WITH due AS (
			    SELECT g.cluster_id, c.name,
			           CASE WHEN t.since IS NOT NULL THEN 'inputs' WHEN g.boundary <= @now OR g.failures > 0 THEN 'boundary' ELSE 'confirmation' END AS reason
			    `+duePools+` AND `+poolDueIn+` <= interval '0'
			    ORDER BY coalesce(t.since, g.wake_at), g.cluster_id
			    LIMIT 1 FOR UPDATE OF g SKIP LOCKED),
			seen AS (DELETE FROM pool_changes t USING due WHERE t.cluster_id = due.cluster_id RETURNING t.at)
			UPDATE pools g SET claimed_by = @token, claimed_until = clock_timestamp() + make_interval(secs => @lease), changed_since = least(g.changed_since, (SELECT min(at) FROM seen))
			FROM due WHERE g.cluster_id = due.cluster_id
			RETURNING due.name AS cluster, @token::uuid::text AS token, due.reason, coalesce(g.current_number, 0) AS newest, g.inputs_sum AS sum, g.failures, 0::float8 AS waited_seconds`, args)
		if err == nil {
			claim = &c
			return nil
		}
		if !errors.Is(err, pgx.ErrNoRows) {
			return err
		}
		next, err = firstDue(ctx, q, poolDueIn, duePools, args)
		return err
	})
	return claim, next, err
}

// KeepPoolClaim claims for another while.
func (s *Store) KeepPoolClaim(ctx context.Context, c plans.Claim, lease time.Duration) error {
	return s.reclaim(ctx, "pools", c, keptClaim, lease)
}

// ReleasePool returns a pool to the queue.
func (s *Store) ReleasePool(ctx context.Context, c plans.Claim) error {
	return s.reclaim(ctx, "pools", c, noClaim, 0)
}

// SettlePool stores the result of a try (see app.StoredPools).
func (s *Store) SettlePool(ctx context.Context, c plans.Claim, o plans.PoolOutcome) (r pool.PoolPlanRecord, err error) {
	err = s.write(ctx, func(ctx context.Context, q querier) error {
		id, err := lockClaimed(ctx, q, "pools", c)
		if err != nil {
			return err
		}
		args := pgx.NamedArgs{"cluster": id, "at": o.At, "boundary": o.Boundary, "confirmed": plans.PoolConfirmed.Seconds(), "retry": o.Retry.Seconds(), "attempt": nil, "number": nil, "sum": nil}
		set := noClaim
		switch {
		case o.Plan != nil:
			r = *o.Plan
			if err := insertPoolPlan(ctx, q, id, &r); err != nil {
				return err
			}
			args["number"], args["sum"] = r.Number, r.Sum
			set += `, current_number = @number, inputs_sum = @sum, last_attempt = NULL`
		default:
			if args["attempt"], err = jsonText(o.Attempt); err != nil {
				return err
			}
			set += `, last_attempt = @attempt`
		}
		switch {
		case o.Plan != nil || o.Same:
			set += `, confirmed_at = @at, boundary = @boundary, wake_at = least(@boundary, @at::timestamptz + make_interval(secs => @confirmed)), failures = 0, retry_at = NULL, changed_since = NULL`
		case o.Retry > 0:
			set += `, failures = failures + 1, retry_at = clock_timestamp() + make_interval(secs => @retry), wake_at = least(wake_at, @at::timestamptz)`
		default: // the boundary stays: from then on the kept plan is stale
			set += `, failures = failures + 1, retry_at = NULL, changed_since = NULL, wake_at = @boundary`
		}
		if _, err := q.Exec(ctx, `UPDATE pools SET `+set+` WHERE cluster_id = @cluster`, args); err != nil {
			return fmt.Errorf("settle a try to plan the pool of cluster %s: %w", c.Cluster, err)
		}
		_, err = q.Exec(ctx, `SELECT pg_notify(@channel, '')`, pgx.NamedArgs{"channel": plans.PoolsChannel})
		return err
	})
	return r, err
}

// insertPoolPlan numbers and stores a plan. The pool is locked, so that the plans' order is that of the commits.
func insertPoolPlan(ctx context.Context, q querier, pool int64, r *pool.PoolPlanRecord) error {
	r.ID, r.CreatedBy = newID(), auth.From(ctx).Name
	return q.QueryRow(ctx, `
		WITH counted AS (UPDATE pools SET plans = plans + 1 WHERE cluster_id = @pool RETURNING plans)
		INSERT INTO pool_plans (id, cluster_id, number, at, created_by, settings_version, reason, status, cost, currency, starts, ends, rounds, steps, basis, plan)
		SELECT @id, @pool, plans, @at, @by, @version, @reason, @status, @cost, @currency, @starts, @ends, @rounds, @steps, @basis, @plan FROM counted
		RETURNING number, created_at`,
		pgx.NamedArgs{"id": r.ID, "pool": pool, "at": r.At, "by": r.CreatedBy, "version": r.SettingsVersion, "reason": r.Reason, "status": r.Status, "cost": r.Cost, "currency": r.Currency,
			"starts": r.Starts, "ends": r.Ends, "rounds": r.Rounds, "steps": r.Steps, "basis": string(r.Basis), "plan": string(r.Plan)}).Scan(&r.Number, &r.CreatedAt)
}
