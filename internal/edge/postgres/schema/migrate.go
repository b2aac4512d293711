// Package schema brings a database's tables up to this release: the steps of migrations, those of River, and the rights of the
// service's role. Any number of releases may do so at once.
package schema

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/pressly/goose/v3"

	"example.org/headroom/internal/edge/postgres/connection"
	"example.org/headroom/migrations"
)

// migrationLock is the advisory lock that all releases of Headroom hold while they change the schema ("headroom").
const migrationLock = 0x68656164726f6f6d

// Migrate brings the schema up to this release, or leaves a newer one as it is: the previous release
// works on it. Any number of processes may do it at once; the later ones wait and find it done.
func Migrate(ctx context.Context, url string) error {
	conn, err := connection.Session(ctx, url)
	if err != nil {
		return err
	}
	defer connection.Close(ctx, conn)
	if _, err := conn.Exec(ctx, `SELECT pg_advisory_lock($1)`, int64(migrationLock)); err != nil { // until this connection ends
		return connection.SetupError(ctx, "wait for other migrations", err)
	}
	status, err := statusOn(ctx, conn)
	if err != nil {
		return err
	}
	if status.Behind() {
		if err := takeSteps(ctx, conn); err != nil {
			return err
		}
	}
	if err := newEra(ctx, conn); err != nil {
		return connection.SetupError(ctx, "look at the audit log's order", err)
	}
	if err := allowService(ctx, conn, status.Behind()); err != nil {
		return connection.SetupError(ctx, "grant the service what it needs", err)
	}
	return nil
}

func takeSteps(ctx context.Context, conn *pgx.Conn) error {
	db := stdlib.OpenDB(*conn.Config())
	defer func() { _ = db.Close() }()
	provider, err := Steps(db)
	if err != nil {
		return err
	}
	if _, err := provider.Up(ctx); err != nil {
		return connection.SetupError(ctx, "migrate the database", err)
	}
	if err := migrateRiver(ctx, conn); err != nil {
		return connection.SetupError(ctx, "make the tables of background runs", err)
	}
	return nil
}

// Steps returns goose with our steps. Each of them grants the service its rights in its own transaction,
// because running servers write through its triggers right after it.
func Steps(db *sql.DB) (*goose.Provider, error) {
	names, _ := fs.Glob(migrations.Files, "*.sql") // the pattern is a good one
	var steps []*goose.Migration
	for _, name := range names {
		text, _ := migrations.Files.ReadFile(name) // it was just listed, and is in this program
		version, err := goose.NumericComponent(name)
		if err != nil {
			return nil, err
		}
		steps = append(steps, goose.NewGoMigration(version, &goose.GoFunc{RunTx: func(ctx context.Context, tx *sql.Tx) error {
			for _, statements := range []string{string(text), grants} {
				if _, err := tx.ExecContext(ctx, statements); err != nil {
					return fmt.Errorf("%s: %w", name, err)
				}
			}
			return nil
		}}, nil))
	}
	return goose.NewProvider(goose.DialectPostgres, db, nil, goose.WithDisableGlobalRegistry(true), goose.WithGoMigrations(steps...))
}

// newEra begins a new era of the audit log in a server whose transaction numbers are lower than those of the log: one
// that the database was restored into.
func newEra(ctx context.Context, conn *pgx.Conn) error {
	_, err := conn.Exec(ctx, `
		INSERT INTO audit_eras (era)
		SELECT last.era + 1 FROM (SELECT max(era) AS era FROM audit_eras) last
		WHERE EXISTS (SELECT FROM audit WHERE audit.era = last.era AND txid >= pg_snapshot_xmax(pg_current_snapshot()))`)
	var said *pgconn.PgError
	if errors.As(err, &said) && said.Code == "25006" {
		return nil // nothing is written at the moment; the next start looks again
	}
	return err
}

// Sum returns the same hash for two releases that migrate an empty database alike.
func Sum() string {
	sum := sha256.New()
	names, _ := fs.Glob(migrations.Files, "*.sql") // the pattern is a good one
	for _, name := range names {
		text, _ := migrations.Files.ReadFile(name) // it was just listed, and is in this program
		fmt.Fprintf(sum, "%s %d\n%s", name, len(text), text)
	}
	river, _ := newestRiver() // of this program's own files
	fmt.Fprintf(sum, "%s%s%d", grants, riverGrants, river)
	return fmt.Sprintf("%x", sum.Sum(nil)[:8])
}
