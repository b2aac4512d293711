package postgres

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5"

	"example.org/headroom/internal/data/inputs"
	"example.org/headroom/internal/data/storage"
)

const clusterColumns = `name, description, currency, period_seconds, time_zone, options, budget, hold_seconds, inputs_version, version, created_at, updated_at`

// Clusters lists by name.
func (s *Store) Clusters(ctx context.Context, only []string, page storage.Page) (list storage.Listed[inputs.Cluster], err error) {
	after := ""
	if err := readCursor(page.After, &after); err != nil {
		return list, err
	}
	err = s.read(ctx, func(ctx context.Context, q querier) error {
		clusters, err := collect[inputs.Cluster](ctx, q, `
			SELECT `+clusterColumns+` FROM clusters
			WHERE deleted_at IS NULL AND name > @after AND (@only::text[] IS NULL OR name = ANY(@only))
			ORDER BY name LIMIT @limit`,
			pgx.NamedArgs{"after": after, "only": only, "limit": limitOf(page) + 1})
		list = listed(clusters, page, func(c inputs.Cluster) []any { return []any{c.Name} })
		return err
	})
	return list, err
}

// Cluster returns a cluster by its name.
func (s *Store) Cluster(ctx context.Context, name string) (c inputs.Cluster, err error) {
	err = s.read(ctx, func(ctx context.Context, q querier) error {
		c, err = cluster(ctx, q, name)
		return err
	})
	return c, err
}

func cluster(ctx context.Context, q querier, name string) (inputs.Cluster, error) {
	if unstorable(name) {
		return inputs.Cluster{}, noCluster(name)
	}
	c, err := one[inputs.Cluster](ctx, q, `SELECT `+clusterColumns+` FROM clusters WHERE name = @name AND deleted_at IS NULL`, pgx.NamedArgs{"name": name})
	if errors.Is(err, pgx.ErrNoRows) {
		return c, goneCluster(ctx, q, name)
	}
	return c, err
}

func noCluster(name string) error { return notFound("there is no cluster %q", name) }

// goneCluster returns an error about a missing cluster, which names the person who deleted it.
func goneCluster(ctx context.Context, q querier, name string) error {
	last, err := lastChange(ctx, q, name, name, inputs.ClusterKind)
	switch {
	case err != nil:
		return err
	case last == nil:
		return noCluster(name)
	}
	return &storage.DeletedError{Cluster: name, LastChange: *last}
}

// CreateCluster creates a cluster without inputs.
func (s *Store) CreateCluster(ctx context.Context, c inputs.Cluster) (inputs.Cluster, error) {
	err := s.write(ctx, func(ctx context.Context, q querier) (err error) {
		if _, err = insertCluster(ctx, q, c); err != nil {
			return at(c.Name, c, err)
		}
		if c, err = cluster(ctx, q, c.Name); err != nil {
			return err
		}
		return record(ctx, q, entry{Cluster: c.Name, Action: inputs.Create, Kind: inputs.ClusterKind, Name: c.Name, After: c})
	})
	return c, err
}

func insertCluster(ctx context.Context, q querier, c inputs.Cluster) (id int64, err error) {
	err = q.QueryRow(ctx, `
		INSERT INTO clusters (name, description, currency, period_seconds, time_zone, options, budget, hold_seconds)
		VALUES (@name, @description, @currency, @period_seconds, @time_zone, @options, @budget, @hold_seconds)
		RETURNING id`, clusterArgs(c)).Scan(&id)
	return id, err
}

func clusterArgs(c inputs.Cluster) pgx.NamedArgs {
	c.Options.Near = nil // comes from the previous plan, not from the settings
	return pgx.NamedArgs{"name": c.Name, "description": c.Description, "currency": c.Currency,
		"period_seconds": c.PeriodSeconds, "time_zone": c.TimeZone, "options": c.Options, "budget": c.Budget, "hold_seconds": c.HoldSeconds}
}

// ReplaceCluster changes a cluster's settings.
func (s *Store) ReplaceCluster(ctx context.Context, version int64, c inputs.Cluster) (inputs.Cluster, error) {
	err := s.write(ctx, func(ctx context.Context, q querier) error {
		id, err := lockCluster(ctx, q, c.Name)
		if err != nil {
			return err
		}
		before, err := cluster(ctx, q, c.Name)
		if err != nil {
			return err
		}
		args := clusterArgs(c)
		args["id"], args["version"] = id, version
		done, err := q.Exec(ctx, updateCluster+` AND version = @version`, args)
		if err != nil {
			return at(c.Name, c, err)
		}
		if done.RowsAffected() == 0 {
			return outdated(ctx, q, before.Version, c.Name, c.Name, inputs.ClusterKind)
		}
		if err := bump(ctx, q, id); err != nil {
			return err
		}
		if c, err = cluster(ctx, q, c.Name); err != nil {
			return err
		}
		return record(ctx, q, entry{Cluster: c.Name, Action: inputs.Update, Kind: inputs.ClusterKind, Name: c.Name, Before: before, After: c})
	})
	return c, err
}

const updateCluster = `
	UPDATE clusters SET description = @description, currency = @currency, period_seconds = @period_seconds, time_zone = @time_zone,
	       options = @options, budget = @budget, hold_seconds = @hold_seconds, version = version + 1, updated_at = now()
	WHERE id = @id`

// DeleteCluster hides a cluster and its inputs; its plans stay on record.
func (s *Store) DeleteCluster(ctx context.Context, name string, version int64) error {
	return s.write(ctx, func(ctx context.Context, q querier) error {
		id, err := lockCluster(ctx, q, name)
		if err != nil {
			return err
		}
		before, err := cluster(ctx, q, name)
		if err != nil {
			return err
		}
		done, err := q.Exec(ctx, `UPDATE clusters SET deleted_at = now() WHERE id = @id AND version = @version`, pgx.NamedArgs{"id": id, "version": version})
		if err != nil {
			return err
		}
		if done.RowsAffected() == 0 {
			return outdated(ctx, q, before.Version, name, name, inputs.ClusterKind)
		}
		return record(ctx, q, entry{Cluster: name, Action: inputs.Delete, Kind: inputs.ClusterKind, Name: name, Before: before})
	})
}

// clusterID returns the number of a living cluster.
func clusterID(ctx context.Context, q querier, name string) (id int64, err error) {
	if unstorable(name) {
		return 0, noCluster(name)
	}
	err = q.QueryRow(ctx, `SELECT id FROM clusters WHERE name = @name AND deleted_at IS NULL`, pgx.NamedArgs{"name": name}).Scan(&id)
	if errors.Is(err, pgx.ErrNoRows) {
		return 0, goneCluster(ctx, q, name)
	}
	return id, err
}

// lockCluster locks the cluster against other changes until the transaction ends.
func lockCluster(ctx context.Context, q querier, name string) (id int64, err error) {
	if unstorable(name) {
		return 0, noCluster(name)
	}
	err = q.QueryRow(ctx, `SELECT id FROM clusters WHERE name = @name AND deleted_at IS NULL FOR NO KEY UPDATE`, pgx.NamedArgs{"name": name}).Scan(&id)
	if errors.Is(err, pgx.ErrNoRows) {
		return 0, noCluster(name)
	}
	return id, err
}

// bump increases the version of the cluster's document.
func bump(ctx context.Context, q querier, id int64) error {
	_, err := q.Exec(ctx, `UPDATE clusters SET inputs_version = inputs_version + 1 WHERE id = @id`, pgx.NamedArgs{"id": id})
	return err
}

// collect reads all rows of a query into structs by the columns' names.
func collect[T any](ctx context.Context, q querier, sql string, args pgx.NamedArgs) ([]T, error) {
	rows, err := q.Query(ctx, sql, args)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowToStructByName[T])
}

// one reads the only row of a query, or returns pgx.ErrNoRows.
func one[T any](ctx context.Context, q querier, sql string, args pgx.NamedArgs) (T, error) {
	rows, err := q.Query(ctx, sql, args)
	if err != nil {
		var none T
		return none, err
	}
	return pgx.CollectExactlyOneRow(rows, pgx.RowToStructByName[T])
}
