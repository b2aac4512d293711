package postgres

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"example.org/headroom/internal/core/fault"
	"example.org/headroom/internal/data/storage"
	"example.org/headroom/internal/service/plans"
)

// Changes of inputs are planned together after a quiet moment. Without one they are planned after a while
// nevertheless.
const (
	quiet   = 300 * time.Millisecond
	longest = 2 * time.Second
)

// fromNow computes the time until a near moment set by the database's clock, such as the end of a lease or a rest. A
// moment further ahead than possible was set by a wrong clock, and counts as past.
func fromNow(moment string) string {
	return `(CASE WHEN ` + moment + ` > clock_timestamp() + interval '` + farAhead + `' THEN interval '0' ELSE ` + moment + ` - clock_timestamp() END)`
}

const (
	farAhead = "2 minutes" // no lease and no rest of planning or runs is longer
	skew     = "1 minute"  // that servers' clocks may differ
)

// ofTheFuture matches plans that were confirmed by a wrong clock: they may answer a future state.
const ofTheFuture = `g.confirmed_at > @now::timestamptz + interval '` + skew + `'`

// dueIn computes the time until a cluster must be planned; g is its row of planning, c the cluster, and null is
// never.
var dueIn = `(CASE
	WHEN c.inputs_version IS DISTINCT FROM g.tried_version OR g.wake_at IS NOT NULL OR ` + ofTheFuture + ` THEN
	greatest(
	    least(
	        CASE WHEN c.inputs_version IS DISTINCT FROM g.tried_version
	             THEN ` + fromNow(`least(g.inputs_changed_at + make_interval(secs => @quiet), g.changing_since + make_interval(secs => @longest))`) + ` END,
	        g.wake_at - @now,
	        CASE WHEN ` + ofTheFuture + ` THEN interval '0' END),
	    ` + fromNow(`g.retry_at`) + `, ` + fromNow(`g.claimed_until`) + `)
	END)`

// Claim takes a cluster that must be planned (see app.Planning).
func (s *Store) Claim(ctx context.Context, now time.Time, lease time.Duration) (claim *plans.Claim, next time.Duration, err error) {
	args := pgx.NamedArgs{"now": now, "token": newID(), "lease": lease.Seconds(), "quiet": quiet.Seconds(), "longest": longest.Seconds()}
	err = s.write(ctx, func(ctx context.Context, q querier) error {
		c, err := one[plans.Claim](ctx, q, `
			WITH due AS (
			    SELECT g.cluster_id, c.name,
			           CASE WHEN c.inputs_version IS DISTINCT FROM g.tried_version THEN 'inputs'
			                WHEN g.boundary <= @now OR g.pin_until <= @now OR g.failures > 0 THEN 'boundary'
			                ELSE 'confirmation' END AS reason
			    FROM planning g JOIN clusters c ON c.id = g.cluster_id
			    WHERE `+dueIn+` <= interval '0'
			    ORDER BY coalesce(g.changing_since, g.wake_at), g.cluster_id
			    LIMIT 1 FOR UPDATE OF g SKIP LOCKED)
			UPDATE planning g SET claimed_by = @token, claimed_until = clock_timestamp() + make_interval(secs => @lease)
			FROM due LEFT JOIN plans p ON p.cluster_id = due.cluster_id AND p.number = (SELECT newest_number FROM planning n WHERE n.cluster_id = due.cluster_id)
			WHERE g.cluster_id = due.cluster_id
			RETURNING due.name AS cluster, @token::uuid::text AS token, due.reason, coalesce(p.number, 0) AS newest,
			          CASE WHEN p.number IS NOT NULL THEN g.inputs_sum END AS sum, g.failures,
			          CASE WHEN due.reason = 'inputs' THEN extract(epoch FROM clock_timestamp() - coalesce(g.changing_since, g.inputs_changed_at))::float8 ELSE 0 END AS waited_seconds`, args)
		if err == nil {
			claim = &c
			return nil
		}
		if !errors.Is(err, pgx.ErrNoRows) {
			return err
		}
		next, err = firstDue(ctx, q, dueIn, `FROM planning g JOIN clusters c ON c.id = g.cluster_id`, args)
		return err
	})
	return claim, next, err
}

// firstDue returns the time until the first of some rows is due; due computes it for one row.
func firstDue(ctx context.Context, q querier, due, from string, args pgx.NamedArgs) (time.Duration, error) {
	var seconds *float64
	err := q.QueryRow(ctx, `SELECT extract(epoch FROM min(`+due+`))::float8 `+from, args).Scan(&seconds)
	if seconds == nil || *seconds >= plans.Never.Seconds() {
		return plans.Never, err
	}
	return time.Duration(*seconds * float64(time.Second)), err
}

// KeepClaim claims for another while.
func (s *Store) KeepClaim(ctx context.Context, c plans.Claim, lease time.Duration) error {
	return s.reclaim(ctx, "planning", c, keptClaim, lease)
}

// Release returns a cluster to the queue.
func (s *Store) Release(ctx context.Context, c plans.Claim) error {
	return s.reclaim(ctx, "planning", c, noClaim, 0)
}

// Outcomes of a claim.
const (
	keptClaim = `claimed_until = clock_timestamp() + make_interval(secs => @lease)`
	noClaim   = `claimed_by = NULL, claimed_until = NULL`
)

// reclaim changes a claim on a row of a table: planning, or pools.
func (s *Store) reclaim(ctx context.Context, table string, c plans.Claim, set string, lease time.Duration) error {
	return s.write(ctx, func(ctx context.Context, q querier) error {
		done, err := q.Exec(ctx, `UPDATE `+table+` SET `+set+` WHERE claimed_by = @token`, pgx.NamedArgs{"token": c.Token, "lease": lease.Seconds()})
		if err == nil && done.RowsAffected() == 0 {
			return storage.ErrClaimLost
		}
		return err
	})
}

// lockClaimed locks a cluster and its row of a table, planning or pools, and checks whether the claim is still valid.
// An expired claim stays valid until somebody else takes it.
func lockClaimed(ctx context.Context, q querier, table string, c plans.Claim) (id int64, err error) {
	if id, err = lockCluster(ctx, q, c.Cluster); errors.Is(err, fault.NotFound) {
		return 0, storage.ErrClaimLost
	}
	if err != nil {
		return 0, err
	}
	var ours bool
	err = q.QueryRow(ctx, `SELECT claimed_by IS NOT DISTINCT FROM @token::uuid FROM `+table+` WHERE cluster_id = @cluster FOR UPDATE`,
		pgx.NamedArgs{"cluster": id, "token": c.Token}).Scan(&ours)
	if errors.Is(err, pgx.ErrNoRows) || err == nil && !ours {
		return 0, storage.ErrClaimLost
	}
	return id, err
}

// Schedule returns the schedule that the plans of a cluster follow (see plans.Store).
func (s *Store) Schedule(ctx context.Context, cluster string) (kept plans.Schedule, err error) {
	err = s.read(ctx, func(ctx context.Context, q querier) error {
		id, err := clusterID(ctx, q, cluster)
		if err != nil {
			return err
		}
		kept, err = one[plans.Schedule](ctx, q, `SELECT hour, inputs_version, followed, without FROM cluster_schedules WHERE cluster_id = @cluster`, pgx.NamedArgs{"cluster": id})
		if errors.Is(err, pgx.ErrNoRows) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("read the schedule of cluster %s: %w", cluster, err)
		}
		return nil
	})
	return kept, err
}

// keepSchedule stores a schedule with the plan that follows it, in place of the one before. nil leaves that.
func keepSchedule(ctx context.Context, q querier, cluster int64, s *plans.Schedule) error {
	if s == nil {
		return nil
	}
	_, err := q.Exec(ctx, `
		INSERT INTO cluster_schedules (cluster_id, hour, inputs_version, followed, without) VALUES (@cluster, @hour, @version, @followed, @without)
		ON CONFLICT (cluster_id) DO UPDATE SET hour = excluded.hour, inputs_version = excluded.inputs_version, followed = excluded.followed, without = excluded.without`,
		pgx.NamedArgs{"cluster": cluster, "hour": s.Hour, "version": s.InputsVersion, "followed": s.Followed, "without": s.Without})
	return err
}
