package postgres

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"example.org/headroom/internal/ask/pool"
	"example.org/headroom/internal/core/fault"
	"example.org/headroom/internal/data/inputs"
	"example.org/headroom/internal/data/storage"
	"example.org/headroom/internal/service/auth"
)

// poolRow is a stored pool without the columns of planning.
type poolRow struct {
	Settings   *string
	Version    int64
	UpdatedAt  time.Time
	Machines   string
	MachinesAt *time.Time
	MachinesBy *string
}

const poolColumns = `settings::text AS settings, version, updated_at, machines::text AS machines, machines_at, machines_by`

func (r poolRow) settings() (s pool.PoolSettings, err error) {
	err = json.Unmarshal([]byte(*r.Settings), &s)
	s.Version, s.UpdatedAt = r.Version, r.UpdatedAt
	return s, err
}

func (r poolRow) running() (m pool.PoolMachines, err error) {
	m.SaidAt = r.MachinesAt
	if r.MachinesBy != nil {
		m.SaidBy = *r.MachinesBy
	}
	return m, json.Unmarshal([]byte(r.Machines), &m.Machines)
}

// poolOf reads a cluster's pool; lock is the locking clause. A pool without settings does not exist.
func poolOf(ctx context.Context, q querier, id int64, cluster, lock string) (r poolRow, err error) {
	r, err = one[poolRow](ctx, q, `SELECT `+poolColumns+` FROM pools WHERE cluster_id = @cluster `+lock, pgx.NamedArgs{"cluster": id})
	if errors.Is(err, pgx.ErrNoRows) || err == nil && r.Settings == nil {
		return r, notFound("the cluster %q has no pool; say with PUT /v1/clusters/%s/pool by what it is planned", cluster, cluster)
	}
	return r, err
}

func (s *Store) readPool(ctx context.Context, cluster string) (r poolRow, err error) {
	err = s.read(ctx, func(ctx context.Context, q querier) error {
		id, err := clusterID(ctx, q, cluster)
		if err == nil {
			r, err = poolOf(ctx, q, id, cluster, "")
		}
		return err
	})
	return r, err
}

// PoolSettings returns the settings from which a cluster's pool is planned.
func (s *Store) PoolSettings(ctx context.Context, cluster string) (settings pool.PoolSettings, err error) {
	r, err := s.readPool(ctx, cluster)
	if err != nil {
		return settings, err
	}
	return r.settings()
}

// PoolMachines returns the running machines of a pool.
func (s *Store) PoolMachines(ctx context.Context, cluster string) (m pool.PoolMachines, err error) {
	r, err := s.readPool(ctx, cluster)
	if err != nil {
		return m, err
	}
	return r.running()
}

// SavePoolSettings replaces the settings of a version (see app.StoredPools).
func (s *Store) SavePoolSettings(ctx context.Context, cluster string, version int64, settings pool.PoolSettings) (pool.PoolSettings, error) {
	err := s.write(ctx, func(ctx context.Context, q querier) error {
		id, err := lockCluster(ctx, q, cluster)
		if err != nil {
			return err
		}
		e := entry{Cluster: cluster, Action: inputs.Create, Kind: pool.PoolSettingsKind, Name: cluster}
		before, err := poolOf(ctx, q, id, cluster, "FOR UPDATE")
		switch {
		case errors.Is(err, fault.NotFound) && version == 0:
		case err != nil:
			return err
		case before.Version != version:
			return &storage.VersionError{Have: before.Version}
		default:
			was, err := before.settings()
			if err != nil {
				return err
			}
			e.Action, e.Before = inputs.Update, was
		}
		settings.Version, settings.UpdatedAt = 0, time.Time{}
		text, err := jsonText(settings)
		if err != nil {
			return err
		}
		// A new cluster of an old name continues the numbers of versions and plans.
		err = q.QueryRow(ctx, `
			INSERT INTO pools (cluster_id, settings, version, plans)
			SELECT c.id, @settings, coalesce(max(p.version), 0) + 1, coalesce(max(p.plans), 0)
			FROM clusters c LEFT JOIN clusters past ON past.name = c.name LEFT JOIN pools p ON p.cluster_id = past.id
			WHERE c.id = @cluster GROUP BY c.id
			ON CONFLICT (cluster_id) DO UPDATE SET settings = excluded.settings, version = pools.version + 1, updated_at = clock_timestamp()
			RETURNING version, updated_at`, pgx.NamedArgs{"cluster": id, "settings": text}).Scan(&settings.Version, &settings.UpdatedAt)
		if err != nil {
			return err
		}
		e.After = settings
		return record(ctx, q, e)
	})
	return settings, err
}

// DeletePoolSettings ends planning and deletes the running machines; samples stay.
func (s *Store) DeletePoolSettings(ctx context.Context, cluster string, version int64) error {
	return s.write(ctx, func(ctx context.Context, q querier) error {
		id, err := lockCluster(ctx, q, cluster)
		if err != nil {
			return err
		}
		r, err := poolOf(ctx, q, id, cluster, "FOR UPDATE")
		if err != nil {
			return err
		}
		if r.Version != version {
			return &storage.VersionError{Have: r.Version}
		}
		before, err := r.settings()
		if err != nil {
			return err
		}
		_, err = q.Exec(ctx, `
			UPDATE pools SET settings = NULL, version = version + 1, machines = '[]', machines_at = NULL, machines_by = NULL, current_number = NULL, inputs_sum = NULL, confirmed_at = NULL,
			       boundary = NULL, wake_at = NULL, retry_at = NULL, failures = 0, last_attempt = NULL, changed_since = NULL, claimed_by = NULL, claimed_until = NULL
			WHERE cluster_id = @cluster`, pgx.NamedArgs{"cluster": id})
		if err == nil {
			_, err = q.Exec(ctx, `DELETE FROM pool_changes WHERE cluster_id = @cluster`, pgx.NamedArgs{"cluster": id})
		}
		if err != nil {
			return err
		}
		return record(ctx, q, entry{Cluster: cluster, Action: inputs.Delete, Kind: pool.PoolSettingsKind, Name: cluster, Before: before})
	})
}

// SavePoolMachines stores the running machines of a pool.
func (s *Store) SavePoolMachines(ctx context.Context, cluster string, machines []pool.PoolMachine) (m pool.PoolMachines, err error) {
	if machines == nil {
		machines = []pool.PoolMachine{}
	}
	m = pool.PoolMachines{Machines: machines, SaidBy: auth.From(ctx).Name}
	err = s.write(ctx, func(ctx context.Context, q querier) error {
		id, err := lockCluster(ctx, q, cluster)
		if err != nil {
			return err
		}
		r, err := poolOf(ctx, q, id, cluster, "FOR UPDATE")
		if err != nil {
			return err
		}
		before, err := r.running()
		if err != nil {
			return err
		}
		text, err := jsonText(machines)
		if err != nil {
			return err
		}
		err = q.QueryRow(ctx, `UPDATE pools SET machines = @machines, machines_at = clock_timestamp(), machines_by = @by WHERE cluster_id = @cluster RETURNING machines_at`,
			pgx.NamedArgs{"cluster": id, "machines": text, "by": m.SaidBy}).Scan(&m.SaidAt)
		if err != nil {
			return err
		}
		return record(ctx, q, entry{Cluster: cluster, Action: inputs.Update, Kind: pool.PoolMachinesKind, Name: cluster, Before: before, After: m})
	})
	return m, err
}

// StorageSamples lists the newest first.
func (s *Store) StorageSamples(ctx context.Context, cluster string, page storage.Page) (list storage.Listed[pool.StorageSample], err error) {
	before := time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC)
	if err := readCursor(page.After, &before); err != nil {
		return list, err
	}
	err = s.read(ctx, func(ctx context.Context, q querier) error {
		id, err := clusterID(ctx, q, cluster)
		if err != nil {
			return err
		}
		rows, err := collect[pool.StorageSample](ctx, q, `
			SELECT at, data_gb, sampled_by FROM storage_samples WHERE cluster_id = @cluster AND at < @before ORDER BY at DESC LIMIT @limit`,
			pgx.NamedArgs{"cluster": id, "before": before, "limit": limitOf(page) + 1})
		list = listed(rows, page, func(x pool.StorageSample) []any { return []any{x.At} })
		return err
	})
	return list, err
}

// AddStorageSamples keeps samples, and forgets the oldest of too many.
func (s *Store) AddStorageSamples(ctx context.Context, cluster string, samples []pool.StorageSample) error {
	moments, sizes := make([]time.Time, len(samples)), make([]float64, len(samples))
	for i, x := range samples {
		moments[i], sizes[i] = x.At, x.DataGB
	}
	return s.write(ctx, func(ctx context.Context, q querier) error {
		id, err := lockCluster(ctx, q, cluster)
		if err != nil {
			return err
		}
		args := pgx.NamedArgs{"cluster": id, "at": moments, "gb": sizes, "by": auth.From(ctx).Name, "most": pool.MaxStorageSamples}
		_, err = q.Exec(ctx, `
			INSERT INTO storage_samples (cluster_id, at, data_gb, sampled_by) SELECT @cluster, at, gb, @by FROM unnest(@at::timestamptz[], @gb::float8[]) sent (at, gb)
			ON CONFLICT (cluster_id, at) DO UPDATE SET data_gb = excluded.data_gb, sampled_by = excluded.sampled_by WHERE storage_samples.data_gb <> excluded.data_gb`, args)
		if err == nil {
			_, err = q.Exec(ctx, `
				DELETE FROM storage_samples WHERE cluster_id = @cluster
				AND at <= (SELECT at FROM storage_samples WHERE cluster_id = @cluster ORDER BY at DESC OFFSET @most LIMIT 1)`, args)
		}
		return err
	})
}

// MeasuredSamples lists the samples of the hours that count as measured.
func (s *Store) MeasuredSamples(ctx context.Context, cluster string, hours int64, now time.Time) (samples []pool.StorageSample, err error) {
	err = s.read(ctx, func(ctx context.Context, q querier) error {
		id, err := clusterID(ctx, q, cluster)
		if err != nil {
			return err
		}
		samples, err = collect[pool.StorageSample](ctx, q, `
			SELECT at, data_gb, sampled_by FROM storage_samples
			WHERE cluster_id = @cluster AND at <= @now
			  AND at >= (SELECT max(at) FROM storage_samples WHERE cluster_id = @cluster AND at <= @now) - make_interval(hours => @hours::int)
			ORDER BY at`, pgx.NamedArgs{"cluster": id, "now": now, "hours": hours})
		return err
	})
	return samples, err
}

// RecordedHours counts when executions of jobs were submitted. The hour that is not over does not count, unless it is the
// only one.
func (s *Store) RecordedHours(ctx context.Context, cluster string, jobs []string, hours int64, now time.Time) (r pool.RecordedHours, err error) {
	type counted struct {
		Job        string
		Hour       int32
		Executions int64
	}
	r.Jobs = map[string]map[int32]int64{}
	err = s.read(ctx, func(ctx context.Context, q querier) error {
		id, err := clusterID(ctx, q, cluster)
		if err != nil {
			return err
		}
		args := pgx.NamedArgs{"cluster": id, "now": now, "jobs": jobs}
		var first, last *time.Time
		err = q.QueryRow(ctx, `
			SELECT (SELECT `+undatedAt+` FROM executions e WHERE e.cluster_id = @cluster AND `+undatedAt+` > '1970-01-01 00:00:00+00' AND `+undatedAt+` <= @now ORDER BY `+undatedAt+`, e.id LIMIT 1),
			       (SELECT `+undatedAt+` FROM executions e WHERE e.cluster_id = @cluster AND `+undatedAt+` > '1970-01-01 00:00:00+00' AND `+undatedAt+` <= @now ORDER BY `+undatedAt+` DESC, e.id DESC LIMIT 1)`, args).Scan(&first, &last)
		if err != nil || first == nil || last == nil {
			return err
		}
		r.From, r.Until = first.UTC().Truncate(time.Hour), last.UTC().Truncate(time.Hour).Add(time.Hour)
		if hour := now.UTC().Truncate(time.Hour); r.Until.After(hour) && r.From.Before(hour) {
			r.Until = hour
		}
		if since := r.Until.Add(-time.Duration(hours) * time.Hour); since.After(r.From) {
			r.From = since
		}
		args["from"], args["until"] = r.From, r.Until
		rows, err := collect[counted](ctx, q, `
			SELECT e.job, floor(extract(epoch FROM e.submitted_at) / 3600)::int AS hour, count(*) AS executions FROM executions e
			WHERE e.cluster_id = @cluster AND e.job = ANY(@jobs) AND `+undatedAt+` >= @from AND `+undatedAt+` < @until GROUP BY 1, 2`, args)
		if err != nil {
			return fmt.Errorf("count executions of cluster %s: %w", cluster, err)
		}
		for _, x := range rows {
			if r.Jobs[x.Job] == nil {
				r.Jobs[x.Job] = map[int32]int64{}
			}
			r.Jobs[x.Job][x.Hour] = x.Executions
		}
		return nil
	})
	return r, err
}
