package postgres

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"headroom/internal/capacity"
)

// Snapshot is what a plan of a cluster for one moment is made from, all of one moment of the database.
func (s *Store) Snapshot(ctx context.Context, name string, at time.Time) (snapshot capacity.Snapshot, err error) {
	err = s.readAll(ctx, func(ctx context.Context, q querier) error {
		// A transaction of Once sees each statement's own moment: look again if the inputs moved.
		const tries = 5
		for range tries {
			var version int64
			if snapshot, version, err = readSnapshot(ctx, q, name, at); err != nil || version == snapshot.Cluster.InputsVersion {
				return err
			}
		}
		return &busy{waiting, errors.New("the inputs changed while they were read")}
	})
	return snapshot, err
}

func readSnapshot(ctx context.Context, q querier, name string, at time.Time) (s capacity.Snapshot, version int64, err error) {
	id, err := clusterID(ctx, q, name)
	if err != nil {
		return s, 0, err
	}
	args := pgx.NamedArgs{"cluster": id, "at": at, "hour": at.UTC().Truncate(time.Hour)}
	var versions []capacity.ProfileVersion
	var previous []json.RawMessage
	var b pgx.Batch
	b.Queue(`SELECT `+clusterColumns+` FROM clusters WHERE id = @cluster`, args).Query(exactlyOne(&s.Cluster, pgx.RowToStructByName))
	b.Queue(vmTypes.selects+` ORDER BY name`, args).Query(all(&s.VMTypes, vmTypes.collect))
	b.Queue(prices.selects+` AND p.during @> @at::timestamptz ORDER BY v.name`, args).Query(all(&s.Prices, prices.collect))
	b.Queue(contracts.selects+` AND c.starts <= @at AND c.ends > @at ORDER BY c.name`, args).Query(all(&s.Contracts, contracts.collect))
	b.Queue(classes.selects+` ORDER BY name`, args).Query(all(&s.Classes, classes.collect))
	b.Queue(`
		SELECT `+profileColumns+` FROM profile_versions p
		WHERE p.cluster_id = @cluster AND EXISTS (
		    SELECT FROM classes c WHERE c.cluster_id = p.cluster_id AND c.profile = p.name AND c.profile_version = p.version)`, args).Query(all(&versions, profileOf))
	b.Queue(`
		SELECT c.name AS class, f.hour, f.jobs FROM forecasts f JOIN classes c ON c.id = f.class_id
		WHERE c.cluster_id = @cluster AND f.hour = @hour ORDER BY c.name`, args).Query(all(&s.Forecasts, pgx.RowToStructByName))
	b.Queue(`SELECT p.plan::text FROM planning g JOIN plans p ON p.cluster_id = g.cluster_id AND p.number = g.current_number WHERE g.cluster_id = @cluster`, args).Query(all(&previous, pgx.RowTo[json.RawMessage]))
	b.Queue(`SELECT inputs_version FROM clusters WHERE id = @cluster`, args).QueryRow(func(row pgx.Row) error { return row.Scan(&version) })
	if err := q.SendBatch(ctx, &b).Close(); err != nil {
		return s, 0, err
	}
	s.Profiles = make(map[capacity.ProfileRef]capacity.Profile, len(versions))
	for _, v := range versions {
		s.Profiles[capacity.ProfileRef{Name: v.Name, Version: v.Version}] = v.Profile
	}
	for _, text := range previous {
		// Not the strict reading: a newer release may have stored members that this one does not know.
		s.Previous = new(capacity.Plan)
		if err := json.Unmarshal(text, s.Previous); err != nil {
			return s, 0, fmt.Errorf("read the last plan of cluster %s: %w", name, err)
		}
	}
	return s, version, nil
}

// all collects the rows of a query of a batch.
func all[T any](into *[]T, collect pgx.RowToFunc[T]) func(pgx.Rows) error {
	return func(rows pgx.Rows) (err error) {
		*into, err = pgx.CollectRows(rows, collect)
		return err
	}
}

func exactlyOne[T any](into *T, collect pgx.RowToFunc[T]) func(pgx.Rows) error {
	return func(rows pgx.Rows) (err error) {
		*into, err = pgx.CollectExactlyOneRow(rows, collect)
		return err
	}
}
