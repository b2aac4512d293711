package postgres

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/riverqueue/river/rivermigrate"

	"example.org/headroom/internal/service/runs"
)

// River distributes background work among the servers. Its tables are in a schema of their own, or beside ours if the
// migrating user may create none.
const riverSchema = "river"

// River returns connections whose sessions last, and the schema of River's tables, for a River client.
func (s *Store) River() (pool *pgxpool.Pool, schema string) { return s.direct, s.schema }

// notifyAgain is the time after a notification of new work until the next one may follow. River omits earlier ones,
// and work that was committed after the first was heard would wait for a poll.
const notifyAgain = time.Millisecond

// newInserter returns a client that only inserts.
func newInserter(schema string) (*river.Client[pgx.Tx], error) {
	return river.NewClient(riverpgxv5.New(nil), &river.Config{Schema: schema, Logger: slog.New(slog.DiscardHandler), FetchCooldown: notifyAgain})
}

// dispatch hands work to whichever server has time, once the transaction has committed and the moment
// has come; the zero time is at once. It answers River's number for it.
func (s *Store) dispatch(ctx context.Context, q querier, work runs.Work, at time.Time) (id int64, err error) {
	tx, ok := q.(pgx.Tx)
	if !ok {
		return 0, errors.New("work is dispatched in a transaction")
	}
	inserted, err := s.river.InsertTx(ctx, tx, work, &river.InsertOpts{Queue: work.Queue(), MaxAttempts: work.MaxAttempts(), ScheduledAt: at})
	if err != nil {
		return 0, fmt.Errorf("dispatch %s: %w", work.Kind(), err)
	}
	return inserted.Job.ID, nil
}

// later returns the moment after a pause by the database's clock, which also decides when rows are due; the zero time
// is at once.
func later(ctx context.Context, q querier, after time.Duration) (at time.Time, err error) {
	if after > 0 {
		err = q.QueryRow(ctx, `SELECT clock_timestamp() + make_interval(secs => @after)`, pgx.NamedArgs{"after": after.Seconds()}).Scan(&at)
	}
	return at, err
}

// riverHome returns the schema of River's tables, existing or new.
func riverHome(ctx context.Context, conn *pgx.Conn) (schema string, err error) {
	err = conn.QueryRow(ctx, `SELECT CASE WHEN to_regnamespace($1) IS NOT NULL THEN $1 ELSE current_schema() END`, riverSchema).Scan(&schema)
	return schema, err
}

// riverVersion returns the newest of River's steps that has run in a schema, or 0.
func riverVersion(ctx context.Context, conn *pgx.Conn, schema string) (version int64, err error) {
	var there bool
	err = conn.QueryRow(ctx, `SELECT EXISTS (SELECT FROM pg_tables WHERE schemaname = $1 AND tablename = 'river_migration')`, schema).Scan(&there)
	if err != nil || !there {
		return 0, err
	}
	err = conn.QueryRow(ctx, `SELECT coalesce(max(version), 0) FROM `+pgx.Identifier{schema, "river_migration"}.Sanitize()).Scan(&version)
	return version, err
}

func newRiverMigrator(pool *pgxpool.Pool, schema string) (*rivermigrate.Migrator[pgx.Tx], error) {
	return rivermigrate.New(riverpgxv5.New(pool), &rivermigrate.Config{Schema: schema, Logger: slog.New(slog.DiscardHandler)})
}

// newestRiver returns the newest of River's steps in this release.
func newestRiver() (int64, error) {
	m, err := newRiverMigrator(nil, riverSchema)
	if err != nil {
		return 0, err
	}
	steps := m.AllVersions()
	return int64(steps[len(steps)-1].Version), nil
}

// migrateRiver brings River's tables up to this release, and leaves newer ones as they are. The
// caller's connection holds migrationLock.
func migrateRiver(ctx context.Context, conn *pgx.Conn) error {
	newest, err := newestRiver()
	if err != nil {
		return err
	}
	schema, err := riverHome(ctx, conn)
	if err != nil {
		return err
	}
	have, err := riverVersion(ctx, conn, schema)
	if err != nil || have >= newest {
		return err
	}
	if schema, err = makeRiverSchema(ctx, conn, schema); err != nil {
		return err
	}
	config, err := pgxpool.ParseConfig(conn.Config().ConnString())
	if err != nil {
		return &badAddress{err}
	}
	config.MaxConns = 1 // the steps come one by one
	pool, err := pgxpool.NewWithConfig(ctx, config)
	if err != nil {
		return err
	}
	defer pool.Close()
	migrator, err := newRiverMigrator(pool, schema)
	if err == nil {
		_, err = migrator.Migrate(ctx, rivermigrate.DirectionUp, nil)
	}
	return err
}

// makeRiverSchema returns the schema to use: ours if River's can neither be found nor created.
func makeRiverSchema(ctx context.Context, conn *pgx.Conn, home string) (string, error) {
	if home == riverSchema {
		return home, nil
	}
	_, err := conn.Exec(ctx, `CREATE SCHEMA `+riverSchema)
	var said *pgconn.PgError
	if errors.As(err, &said) && said.Code == "42501" {
		return home, nil
	}
	return riverSchema, err
}
