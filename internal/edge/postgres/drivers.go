package postgres

import (
	"context"

	"github.com/jackc/pgx/v5"

	"example.org/headroom/internal/service/heartbeat"
)

// HoldDriver makes the holder the driver of an engine for a while, unless another is. The row's lock decides among those
// that ask at once.
func (s *Store) HoldDriver(ctx context.Context, cluster, engine string, claim heartbeat.DriverClaim) (d heartbeat.Driver, err error) {
	err = s.write(ctx, func(ctx context.Context, q querier) error {
		id, err := clusterID(ctx, q, cluster)
		if err != nil {
			return err
		}
		args := pgx.NamedArgs{"cluster": id, "engine": engine, "holder": claim.Holder, "ttl": claim.TTLSeconds}
		if _, err := q.Exec(ctx, `
			INSERT INTO drivers AS d (cluster_id, engine, holder, until)
			VALUES (@cluster, @engine, @holder, clock_timestamp() + make_interval(secs => @ttl::float8))
			ON CONFLICT (cluster_id, engine) DO UPDATE SET holder = excluded.holder, until = clock_timestamp() + make_interval(secs => @ttl::float8)
			WHERE d.holder = excluded.holder OR d.until <= clock_timestamp()`, args); err != nil {
			return err
		}
		d, err = one[heartbeat.Driver](ctx, q, `
			SELECT engine, holder, holder = @holder AND until > clock_timestamp() AS held, until AS expires_at
			FROM drivers WHERE cluster_id = @cluster AND engine = @engine`, args)
		return err
	})
	return d, err
}
