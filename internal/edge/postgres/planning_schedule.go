package postgres

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"example.org/headroom/internal/service/plans"
)

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
