package postgres

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"example.org/headroom/internal/ask/horizon"
	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/fault"
	"example.org/headroom/internal/data/inputs"
	"example.org/headroom/internal/edge/postgres/connection"
)

// Snapshot returns the inputs for a cluster's plan at one moment, from one moment of the database.
func (s *Store) Snapshot(ctx context.Context, name string, at time.Time) (snapshot inputs.Snapshot, err error) {
	hour := at.UTC().Truncate(time.Hour)
	during := pgtype.Range[time.Time]{Lower: at, Upper: at, LowerType: pgtype.Inclusive, UpperType: pgtype.Inclusive, Valid: true}
	err = s.readSnapshot(ctx, name, during, pgx.NamedArgs{"hour": hour}, &snapshot, func(b *pgx.Batch, args pgx.NamedArgs, previous *[]json.RawMessage) {
		b.Queue(`
			SELECT c.name AS class, f.hour, CASE WHEN f.arrivals IS NULL THEN f.jobs ELSE 0 END AS jobs, f.arrivals FROM forecasts f JOIN classes c ON c.id = f.class_id
			WHERE c.cluster_id = @cluster AND (f.hour = @hour OR `+stillRun+`) ORDER BY c.name, f.hour`, args).Query(all(&snapshot.Forecasts, pgx.RowToStructByName))
		b.Queue(`SELECT p.plan::text FROM planning g JOIN plans p ON p.cluster_id = g.cluster_id AND p.number = g.current_number WHERE g.cluster_id = @cluster`, args).Query(all(previous, pgx.RowTo[json.RawMessage]))
	})
	return snapshot, err
}

// stillRun selects the earlier arrivals of a class c whose jobs may still run at an hour.
const stillRun = `f.arrivals > 0 AND f.hour < @hour AND f.hour > @hour::timestamptz - interval '1 hour' - make_interval(secs => c.deadline_seconds)`

// Outlook returns the inputs for a cluster's horizon, from one moment of the database: forecasts, prices and
// contracts that touch the hours from one until another. It refuses more forecasts than a horizon may have.
func (s *Store) Outlook(ctx context.Context, name string, from, until time.Time) (o horizon.Outlook, err error) {
	o.From, o.Until = from.UTC(), until.UTC()
	var rows int64
	during := pgtype.Range[time.Time]{Lower: from, Upper: until, LowerType: pgtype.Inclusive, UpperType: pgtype.Exclusive, Valid: true}
	err = s.readSnapshot(ctx, name, during, pgx.NamedArgs{"hour": from, "until": until, "most": horizon.MaxHorizonLoad}, &o.Snapshot, func(b *pgx.Batch, args pgx.NamedArgs, _ *[]json.RawMessage) {
		const touched = `FROM forecasts f JOIN classes c ON c.id = f.class_id WHERE c.cluster_id = @cluster AND (f.hour >= @hour AND f.hour < @until OR ` + stillRun + `)`
		b.Queue(`SELECT count(*) FROM (SELECT `+touched+` LIMIT @most + 1) AS many`, args).QueryRow(func(row pgx.Row) error { return row.Scan(&rows) })
		b.Queue(`
			SELECT class, arrives, array_agg(hour ORDER BY hour) AS hours, array_agg(jobs ORDER BY hour) AS jobs
			FROM (SELECT c.name AS class, extract(epoch FROM f.hour)::int8 / 3600 AS hour, coalesce(f.arrivals, f.jobs) AS jobs, f.arrivals IS NOT NULL AS arrives `+touched+` LIMIT @most) AS f
			GROUP BY class, arrives ORDER BY class, arrives`, args).Query(all(&o.Series, pgx.RowToStructByName))
	})
	if err == nil && rows > horizon.MaxHorizonLoad {
		err = &fault.InputError{Findings: []fault.Finding{{Pointer: "/until", Code: "too_many",
			Detail: fmt.Sprintf("From %s until %s there are more than %d forecasts; a horizon takes that many at most. Ask about a shorter time.", o.From.Format(time.RFC3339), o.Until.Format(time.RFC3339), horizon.MaxHorizonLoad)}}}
	}
	return o, err
}

// readSnapshot reads the inputs that touch some time, and runs the queries of rest besides.
func (s *Store) readSnapshot(ctx context.Context, name string, during pgtype.Range[time.Time], args pgx.NamedArgs, into *inputs.Snapshot, rest func(*pgx.Batch, pgx.NamedArgs, *[]json.RawMessage)) error {
	return s.readAll(ctx, func(ctx context.Context, q querier) error {
		// A transaction of Once sees each statement's own moment: look again if the inputs moved.
		const tries = 5
		for range tries {
			if version, err := readInputs(ctx, q, name, during, args, into, rest); err != nil || version == into.Cluster.InputsVersion {
				return err
			}
		}
		return &connection.Busy{Sentence: connection.Waiting, Cause: errors.New("the inputs changed while they were read")}
	})
}

func readInputs(ctx context.Context, q querier, name string, during pgtype.Range[time.Time], args pgx.NamedArgs, s *inputs.Snapshot, rest func(*pgx.Batch, pgx.NamedArgs, *[]json.RawMessage)) (version int64, err error) {
	id, err := clusterID(ctx, q, name)
	if err != nil {
		return 0, err
	}
	*s = inputs.Snapshot{}
	args["cluster"], args["during"] = id, during
	var versions []inputs.ProfileVersion
	var previous []json.RawMessage
	var b pgx.Batch
	b.Queue(`SELECT `+clusterColumns+` FROM clusters WHERE id = @cluster`, args).Query(exactlyOne(&s.Cluster, pgx.RowToStructByName))
	b.Queue(vmTypes.selects+` ORDER BY name`, args).Query(all(&s.VMTypes, vmTypes.collect))
	b.Queue(prices.selects+` AND p.during && @during::tstzrange ORDER BY v.name, lower(p.during)`, args).Query(all(&s.Prices, prices.collect))
	b.Queue(contracts.selects+` AND tstzrange(c.starts, c.ends) && @during::tstzrange ORDER BY c.name`, args).Query(all(&s.Contracts, contracts.collect))
	b.Queue(classes.selects+` ORDER BY name`, args).Query(all(&s.Classes, classes.collect))
	b.Queue(`
		SELECT `+sourcelessProfile+` FROM profile_versions p
		WHERE p.cluster_id = @cluster AND EXISTS (
		    SELECT FROM classes c WHERE c.cluster_id = p.cluster_id AND c.profile = p.name AND c.profile_version = p.version)`, args).Query(all(&versions, profileOf))
	rest(&b, args, &previous)
	b.Queue(`SELECT inputs_version FROM clusters WHERE id = @cluster`, args).QueryRow(func(row pgx.Row) error { return row.Scan(&version) })
	if err := q.SendBatch(ctx, &b).Close(); err != nil {
		return 0, err
	}
	s.Profiles = make(map[inputs.ProfileRef]capacity.Profile, len(versions))
	for _, v := range versions {
		s.Profiles[inputs.ProfileRef{Name: v.Name, Version: v.Version}] = v.Profile
	}
	for _, text := range previous {
		near, err := capacity.ReadNear(text)
		if err != nil {
			return 0, fmt.Errorf("read the last plan of cluster %s: %v", name, err) // not the caller's input
		}
		s.Previous = &near
	}
	return version, nil
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
