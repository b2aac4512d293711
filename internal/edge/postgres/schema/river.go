package schema

import (
	"context"
	"errors"
	"log/slog"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/riverqueue/river/rivermigrate"

	"example.org/headroom/internal/edge/postgres/connection"
)

// River distributes background work among the servers. Its tables are in a schema of their own, or beside ours if the
// migrating user may create none.
const riverSchema = "river"

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
		return &connection.BadAddress{Cause: err}
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
