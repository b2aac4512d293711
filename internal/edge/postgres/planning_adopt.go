package postgres

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"example.org/headroom/internal/service/plans"
)

// nextBoundary selects the first moment after @at that changes a price, a contract or a forecast of the cluster.
// Hours without forecasts do not count, nor do VM types that are not in use. Arrivals may change any hour until their jobs
// have ended; @ends is when the first class of the hour has no more of them, if the planner knows.
const nextBoundary = `(SELECT min(moment) AS next FROM (
	SELECT unnest(ARRAY[lower(p.during), upper(p.during)]) AS moment FROM prices p JOIN vm_types v ON v.id = coalesce(p.vm_type_id, p.spot_vm_type_id)
	WHERE p.cluster_id = @cluster AND v.in_use AND (p.during @> @at::timestamptz OR lower(p.during) > @at)
	UNION ALL
	SELECT unnest(ARRAY[k.starts, k.ends]) FROM contracts k JOIN vm_types v ON v.id = k.vm_type_id
	WHERE k.cluster_id = @cluster AND v.in_use AND k.ends > @at
	UNION ALL
	SELECT turn FROM classes t CROSS JOIN LATERAL (
	    SELECT CASE WHEN f.hour > @at THEN f.hour ELSE f.hour + interval '1 hour' END AS turn FROM forecasts f
	    WHERE f.class_id = t.id AND f.hour > @at::timestamptz - interval '1 hour' ORDER BY f.hour LIMIT 1) f
	WHERE t.cluster_id = @cluster
	UNION ALL
	SELECT date_trunc('hour', @at::timestamptz, 'UTC') + interval '1 hour' FROM classes t
	WHERE t.cluster_id = @cluster AND EXISTS (
	    SELECT FROM forecasts f WHERE f.class_id = t.id AND f.arrivals > 0 AND f.hour <= @at
	      AND f.hour > @at::timestamptz - interval '1 hour' - make_interval(secs => t.deadline_seconds))
	UNION ALL
	SELECT @ends::timestamptz
) moments WHERE moment > @at)`

// NextChange returns the first moment after another at which something changes for a cluster.
func (s *Store) NextChange(ctx context.Context, cluster string, after time.Time) (next *time.Time, err error) {
	err = s.read(ctx, func(ctx context.Context, q querier) error {
		id, err := clusterID(ctx, q, cluster)
		if err != nil {
			return err
		}
		if err := q.QueryRow(ctx, `SELECT next FROM `+nextBoundary+` b`, pgx.NamedArgs{"cluster": id, "at": after, "ends": nil}).Scan(&next); err != nil {
			return fmt.Errorf("look for the next change of cluster %s: %w", cluster, err)
		}
		return nil
	})
	return next, err
}

// tried updates the row after every try, whatever its result; b is nextBoundary. It removes a pin that is over.
// Changes during the try still have to be planned.
const tried = `
	pin_number = CASE WHEN pin_until > @at THEN pin_number END, pin_until = CASE WHEN pin_until > @at THEN pin_until END,
	pin_by = CASE WHEN pin_until > @at THEN pin_by END, claimed_by = NULL, claimed_until = NULL`

// answered updates the row after a try that planned the inputs of a version.
const answered = tried + `,
	tried_version = @version, retry_at = NULL,
	changing_since = CASE WHEN (SELECT inputs_version FROM clusters WHERE id = @cluster) = @version THEN NULL ELSE inputs_changed_at END`

// confirmed updates the row after a try with a good plan.
const confirmed = answered + `,
	confirmed_version = @version, confirmed_at = @at, boundary = b.next, failures = 0,
	wake_at = least(b.next, @at::timestamptz + make_interval(secs => (SELECT period_seconds FROM clusters WHERE id = @cluster)), CASE WHEN pin_until > @at THEN pin_until END)`

// adopt makes a stored plan for its own present the newest good one, and the current one unless another is pinned. A
// plan of older inputs than those already planned changes nothing. Any claim on the cluster ends.
func (s *Store) adopt(ctx context.Context, q querier, cluster int64, r plans.PlanRecord, reason string) error {
	t, err := turned(ctx, q, `
		UPDATE planning
		SET newest_number = @number, inputs_sum = @sum, current_number = CASE WHEN pin_until > @at THEN current_number ELSE @number END,
		    last_attempt = CASE WHEN pin_until > @at THEN json_build_object('at', @at::timestamptz, 'reason', @reason::text, 'failed', false, 'detail',
		        format('Plan %s was made and waits: plan %s is pinned until %s.', @number::bigint, pin_number, to_char(pin_until AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"'))) END,
		    late = CASE WHEN b.next <= @ready THEN late + 1 ELSE 0 END, `+confirmed+`
		FROM `+nextBoundary+` b
		WHERE cluster_id = @cluster AND coalesce(confirmed_version, 0) <= @version`,
		pgx.NamedArgs{"cluster": cluster, "number": r.Number, "at": r.At, "ends": r.Ends, "ready": r.Ready, "sum": r.Sum, "version": r.InputsVersion, "reason": reason})
	if err != nil {
		return fmt.Errorf("make plan %d of cluster %s current: %w", r.Number, r.Cluster, err)
	}
	if err := keepSchedule(ctx, q, cluster, r.Schedule); err != nil {
		return fmt.Errorf("keep the schedule of cluster %s: %w", r.Cluster, err)
	}
	if err := s.tellTurn(ctx, q, cluster, r.Cluster, t, nil); err != nil {
		return err
	}
	return plansChanged(ctx, q, r.Cluster)
}

// maxLate is the number of plans in a row that may be discarded as late. If planning always takes longer than the
// time between boundaries, the newest late plan is then better than an older one.
const maxLate = 2

// overtaken reports whether a plan comes too late: its inputs had changed before it was ready, and another plan is
// current. The cluster is locked.
func overtaken(ctx context.Context, q querier, cluster int64, r plans.PlanRecord) (late bool, err error) {
	if !r.Ready.After(r.At) {
		return false, nil
	}
	err = q.QueryRow(ctx, `
		SELECT coalesce(b.next <= @ready, false) AND g.late < @most
		       AND EXISTS (SELECT FROM plans p WHERE p.cluster_id = g.cluster_id AND p.number = g.current_number)
		FROM planning g CROSS JOIN `+nextBoundary+` b WHERE g.cluster_id = @cluster`,
		pgx.NamedArgs{"cluster": cluster, "at": r.At, "ends": r.Ends, "ready": r.Ready, "most": maxLate}).Scan(&late)
	if err != nil {
		return false, fmt.Errorf("look whether a plan of cluster %s comes too late: %w", r.Cluster, err)
	}
	return late, nil
}

// putAside ends a try whose plan came too late. The try's trigger starts another one at once.
func (s *Store) putAside(ctx context.Context, q querier, cluster int64, r plans.PlanRecord, reason string) error {
	t, err := turned(ctx, q, `
		UPDATE planning
		SET late = late + 1, current_number = CASE WHEN pin_until <= @at THEN coalesce(newest_number, current_number) ELSE current_number END,
		    last_attempt = json_build_object('at', @at::timestamptz, 'reason', @reason::text, 'failed', false, 'detail',
		        format('Plan %s came too late: at %s something changed that it depends on, before it was ready. The cluster is planned again.',
		               @number::bigint, to_char(b.next AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"'))),
		    `+tried+`
		FROM `+nextBoundary+` b WHERE cluster_id = @cluster`,
		pgx.NamedArgs{"cluster": cluster, "at": r.At, "ends": r.Ends, "number": r.Number, "reason": reason})
	if err != nil {
		return fmt.Errorf("put plan %d of cluster %s aside: %w", r.Number, r.Cluster, err)
	}
	if err := s.tellTurn(ctx, q, cluster, r.Cluster, t, nil); err != nil {
		return err
	}
	return plansChanged(ctx, q, r.Cluster)
}

// Settle stores the result of a try (see app.Planning).
func (s *Store) Settle(ctx context.Context, c plans.Claim, o plans.Outcome) (r plans.PlanRecord, err error) {
	err = s.write(ctx, func(ctx context.Context, q querier) error {
		id, err := lockClaimed(ctx, q, "planning", c)
		if err != nil {
			return err
		}
		if o.Plan != nil {
			r = *o.Plan
			late, err := overtaken(ctx, q, id, r)
			if err != nil {
				return err
			}
			r.ForNow = !late
			if r.Why, err = why(ctx, q, id, r, c.Reason); err != nil {
				return err
			}
			if _, err := insertPlan(ctx, q, &r); err != nil {
				return err
			}
			if late {
				return s.putAside(ctx, q, id, r, c.Reason)
			}
			return s.adopt(ctx, q, id, r, c.Reason)
		}
		attempt, err := jsonText(o.Attempt)
		if err != nil {
			return err
		}
		settle := `last_attempt = @attempt, current_number = CASE WHEN pin_until <= @at THEN coalesce(newest_number, current_number) ELSE current_number END, `
		switch {
		case o.Same:
			settle += confirmed + `, late = 0`
		case o.Retry > 0:
			settle += tried + `, failures = failures + 1, retry_at = clock_timestamp() + make_interval(secs => @retry)`
		default: // the boundary stays: from then on the kept plan is stale
			settle += answered + `, failures = failures + 1, wake_at = least(b.next, CASE WHEN pin_until > @at THEN pin_until END)`
		}
		t, err := turned(ctx, q, `UPDATE planning SET `+settle+` FROM `+nextBoundary+` b WHERE cluster_id = @cluster`,
			pgx.NamedArgs{"cluster": id, "at": o.At, "ends": o.Ends, "version": o.Version, "attempt": attempt, "retry": o.Retry.Seconds()})
		if err != nil {
			return fmt.Errorf("settle a try to plan cluster %s: %w", c.Cluster, err)
		}
		if err := keepSchedule(ctx, q, id, o.Schedule); err != nil {
			return fmt.Errorf("keep the schedule of cluster %s: %w", c.Cluster, err)
		}
		if err := s.tellTurn(ctx, q, id, c.Cluster, t, &o.Attempt); err != nil {
			return err
		}
		return plansChanged(ctx, q, c.Cluster)
	})
	return r, err
}
