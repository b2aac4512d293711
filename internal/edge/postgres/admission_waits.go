package postgres

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"example.org/headroom/internal/ask/timetable"
)

// asksAgain is the time in which a job that waits must ask again, from when it was told to.
const asksAgain = "1 hour"

// KeepWait records that a job waits (see heartbeat.Admissions).
func (s *Store) KeepWait(ctx context.Context, cluster, class, holder string, from *time.Time) error {
	ctx = context.WithValue(ctx, joinKey{}, nil) // what a refusal undoes is not this
	return s.alone(ctx, func(ctx context.Context, q querier) error {
		_, err := q.Exec(ctx, `
			INSERT INTO admission_waits AS w (cluster_id, class, holder, arrived_at, until)
			SELECT k.cluster_id, k.name, @holder, clock_timestamp(), greatest(@from::timestamptz, clock_timestamp()) + interval '`+asksAgain+`'
			FROM classes k WHERE k.cluster_id = `+ofCluster+` AND k.name = @class AND (k.due_seconds IS NOT NULL OR k.due IS NOT NULL)
			ON CONFLICT (cluster_id, class, holder) DO UPDATE SET until = excluded.until,
			    arrived_at = CASE WHEN w.until < clock_timestamp() THEN excluded.arrived_at ELSE w.arrived_at END`,
			pgx.NamedArgs{"cluster": cluster, "class": class, "holder": holder, "from": from})
		return err
	})
}

// HourLeases returns what leases show (see plans.Store).
func (s *Store) HourLeases(ctx context.Context, cluster string, since, hour time.Time) (all []timetable.HourLeases, err error) {
	err = s.read(ctx, func(ctx context.Context, q querier) error {
		id, err := clusterID(ctx, q, cluster)
		if err != nil {
			return err
		}
		all, err = collect[timetable.HourLeases](ctx, q, `
			SELECT class, hour, sum(started)::bigint AS started, sum(running)::bigint AS running, sum(waiting)::bigint AS waiting, 0::bigint AS missed
			FROM (
			    SELECT a.class, date_trunc('hour', a.admitted_at, 'UTC') AS hour, 1 AS started, (`+running+`)::int AS running, 0 AS waiting
			    FROM admissions a WHERE a.cluster_id = @cluster AND a.admitted_at >= @since::timestamptz AND a.admitted_at < @hour::timestamptz
			    UNION ALL
			    SELECT a.class, date_trunc('hour', a.admitted_at, 'UTC'), 1, 1, 0
			    FROM admissions a WHERE a.cluster_id = @cluster AND a.admitted_at < least(@since::timestamptz, @hour::timestamptz) AND`+running+`
			    UNION ALL
			    SELECT w.class, date_trunc('hour', w.arrived_at, 'UTC'), 0, 0, 1
			    FROM admission_waits w WHERE w.cluster_id = @cluster AND w.arrived_at < @hour::timestamptz AND w.until > clock_timestamp()
			) seen
			GROUP BY class, hour ORDER BY class, hour`,
			pgx.NamedArgs{"cluster": id, "since": since, "hour": hour})
		if err != nil {
			return fmt.Errorf("read what leases of cluster %s show: %w", cluster, err)
		}
		return nil
	})
	return all, err
}
