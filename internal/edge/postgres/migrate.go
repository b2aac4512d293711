package postgres

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/pressly/goose/v3"

	"example.org/headroom/internal/edge/postgres/connection"
	"example.org/headroom/internal/edge/postgres/private"
	"example.org/headroom/migrations"
)

// migrationLock is the advisory lock that all releases of Headroom hold while they change the schema ("headroom").
const migrationLock = 0x68656164726f6f6d

// Status describes the state of a database's schema.
type Status struct {
	Have   int64    // the newest step that has run; 0 without any
	Known  int64    // the newest step this release has
	Server int      // the server's release, such as 15
	Role   bool     // the service can work as Role
	Peers  []string // addresses of the servers that share live clusters

	River, KnownRiver int64  // the same as Have and Known, of the tables that hand out background runs
	RiverSchema       string // the schema of those tables
}

// Behind reports that the schema lacks steps that this release needs.
func (s Status) Behind() bool { return s.Have < s.Known || s.River < s.KnownRiver }

// Migrate brings the schema up to this release, or leaves a newer one as it is: the previous release
// works on it. Any number of processes may do it at once; the later ones wait and find it done.
func Migrate(ctx context.Context, url string) error {
	conn, err := connect(ctx, url)
	if err != nil {
		return err
	}
	defer closeConn(ctx, conn)
	if _, err := conn.Exec(ctx, `SELECT pg_advisory_lock($1)`, int64(migrationLock)); err != nil { // until this connection ends
		return setupError(ctx, "wait for other migrations", err)
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
		return setupError(ctx, "look at the audit log's order", err)
	}
	if err := allowService(ctx, conn, status.Behind()); err != nil {
		return setupError(ctx, "grant the service what it needs", err)
	}
	return nil
}

func takeSteps(ctx context.Context, conn *pgx.Conn) error {
	db := stdlib.OpenDB(*conn.Config())
	defer func() { _ = db.Close() }()
	provider, err := newProvider(db)
	if err != nil {
		return err
	}
	if _, err := provider.Up(ctx); err != nil {
		return setupError(ctx, "migrate the database", err)
	}
	if err := migrateRiver(ctx, conn); err != nil {
		return setupError(ctx, "make the tables of background runs", err)
	}
	return nil
}

// newProvider returns goose with our steps. Each of them grants the service its rights in its own transaction,
// because running servers write through its triggers right after it.
func newProvider(db *sql.DB) (*goose.Provider, error) {
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

// StatusOf reads the state of a database's schema. It changes nothing.
func StatusOf(ctx context.Context, url string) (Status, error) {
	conn, err := connect(ctx, url)
	if err != nil {
		return Status{}, err
	}
	defer closeConn(ctx, conn)
	return statusOn(ctx, conn)
}

func statusOn(ctx context.Context, conn *pgx.Conn) (status Status, err error) {
	status.Server = serverRelease(conn)
	var table *string
	if err := conn.QueryRow(ctx, `SELECT to_regclass('goose_db_version')::text`).Scan(&table); err != nil {
		return status, setupError(ctx, "read the schema's version", err)
	}
	if table != nil {
		err = conn.QueryRow(ctx, `
			SELECT coalesce(max(version_id), 0),
			       EXISTS (SELECT FROM pg_roles WHERE rolname = $1 AND pg_has_role(current_user, oid, 'MEMBER')
			               AND has_table_privilege(oid, to_regclass('plans'), 'SELECT'))
			FROM goose_db_version`, Role).Scan(&status.Have, &status.Role)
		if err == nil && status.Have >= 29 { // which made the table
			err = conn.QueryRow(ctx, `SELECT array_agg(address ORDER BY address) FROM servers WHERE until > clock_timestamp()`).Scan(&status.Peers)
		}
		if err != nil {
			return status, setupError(ctx, "read the schema's version", err)
		}
	}
	if status.RiverSchema, err = riverHome(ctx, conn); err != nil {
		return status, setupError(ctx, "look for the tables of background runs", err)
	}
	if status.River, err = riverVersion(ctx, conn, status.RiverSchema); err != nil {
		return status, setupError(ctx, "look at the tables of background runs", err)
	}
	if status.KnownRiver, err = newestRiver(); err != nil {
		return status, err
	}
	db := stdlib.OpenDB(*conn.Config()) // does not connect before the first query
	defer func() { _ = db.Close() }()
	provider, err := newProvider(db)
	if err != nil {
		return status, err
	}
	for _, step := range provider.ListSources() {
		status.Known = max(status.Known, step.Version)
	}
	return status, nil
}

// longestIdle is the longest time that a migration, or another transaction of the owner, may hold locks without a
// statement.
const longestIdle = time.Minute

// connect makes one connection, and refuses servers that are too old and poolers that keep no session.
func connect(ctx context.Context, url string) (*pgx.Conn, error) {
	config, err := connectionTo(url)
	if err != nil {
		return nil, err
	}
	conn, err := connected(ctx, config)
	if err != nil {
		return nil, err
	}
	if release := serverRelease(conn); release > 0 && release < private.OldestPostgres {
		closeConn(ctx, conn)
		return nil, fmt.Errorf("the database is PostgreSQL %d; Headroom needs %d or newer", release, private.OldestPostgres)
	}
	pooled, err := shared(ctx, conn)
	if err == nil && !pooled {
		_, err = conn.Exec(ctx, ifGone(longestIdle))
	}
	switch {
	case err != nil:
		err = setupError(ctx, "begin a session of the database", err)
	case pooled:
		err = errPooled
	default:
		return conn, nil
	}
	closeConn(ctx, conn)
	return nil, err
}

func connectionTo(url string) (*pgx.ConnConfig, error) {
	config, err := pgx.ParseConfig(url)
	if err != nil {
		return nil, &badAddress{err}
	}
	if config.ConnectTimeout == 0 {
		config.ConnectTimeout = 3 * time.Second
	}
	config.DialFunc = connection.Dialer.DialContext
	return config, nil
}

func connected(ctx context.Context, config *pgx.ConnConfig) (*pgx.Conn, error) {
	conn, err := pgx.ConnectConfig(ctx, config)
	switch {
	case err == nil:
		return conn, nil
	case ctx.Err() != nil:
		return nil, ctx.Err()
	}
	return nil, &busy{sentenceFor(err), err}
}

// Located adds to an error, for the operator alone, at which hosts the database was looked for and what became of it there.
// The driver's words name the user and the database, never the password.
func Located(url string, err error) error {
	var refused *pgconn.ConnectError
	config, wrong := pgx.ParseConfig(url)
	if wrong != nil || !errors.As(err, &refused) {
		return err
	}
	var reasons []string // of several hosts, or of one with and without TLS
	for line := range strings.Lines(refused.Unwrap().Error()) {
		reason := strings.TrimSpace(line)
		if _, dialled, ok := strings.Cut(reason, "dial error: "); ok {
			reason = dialled // which names host and port itself
		}
		if !slices.Contains(reasons, reason) {
			reasons = append(reasons, reason)
		}
	}
	said := strings.Join(reasons, "; ")
	if port := fmt.Sprint(config.Port); !strings.Contains(said, ":"+port) {
		said = net.JoinHostPort(config.Host, port) + ": " + said
	}
	return fmt.Errorf("%w: %s", err, said)
}

// serverRelease returns 15 for "15.18 (Debian …)", or 0 if it cannot be read.
func serverRelease(conn *pgx.Conn) (release int) {
	_, _ = fmt.Sscanf(conn.PgConn().ParameterStatus("server_version"), "%d", &release)
	return release
}

func closeConn(ctx context.Context, conn *pgx.Conn) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), longestRollback)
	defer cancel()
	_ = conn.Close(ctx)
}

// setupError describes a failed operation on the schema, with the database's words for the operator.
func setupError(ctx context.Context, what string, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	var said *pgconn.PgError
	if errors.As(err, &said) {
		if sentence, known := stateSentence(said.Code); known {
			return &busy{sentence, err}
		}
		if said.Code == "42501" {
			return &ownerNeeded{what, said.Message}
		}
	}
	return fmt.Errorf("%s: %w", what, err)
}

// ownerNeeded reports an operation that only the schema's owner may do.
type ownerNeeded struct{ what, said string }

func (e *ownerNeeded) Error() string {
	return fmt.Sprintf("%s: the database refuses (%s); the migrations need a user who owns the database or its schema", e.what, e.said)
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

// allowService creates the service's role, if allowed, and grants its rights. After migrations the grants are
// repeated for new tables.
func allowService(ctx context.Context, conn *pgx.Conn, changed bool) error {
	var ready bool
	err := conn.QueryRow(ctx, `
		SELECT EXISTS (SELECT FROM pg_roles WHERE rolname = $1 AND pg_has_role(current_user, oid, 'MEMBER')
		               AND has_table_privilege(oid, 'plans', 'SELECT'))`, Role).Scan(&ready)
	if err != nil || ready && !changed {
		return err
	}
	// Roles belong to the whole server: another database's migration may be creating the same one now.
	_, err = conn.Exec(ctx, `
		DO $$ BEGIN
		    IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'headroom_service') THEN
		        CREATE ROLE headroom_service NOLOGIN;
		    END IF;
		EXCEPTION WHEN duplicate_object OR unique_violation OR insufficient_privilege THEN NULL;
		END $$`)
	if err != nil {
		return err
	}
	_, err = conn.Exec(ctx, `
		DO $$ BEGIN
		    IF NOT pg_has_role(current_user, 'headroom_service', 'MEMBER') THEN
		        EXECUTE format('GRANT headroom_service TO %I', current_user);
		    END IF;
		EXCEPTION WHEN undefined_object OR insufficient_privilege OR internal_error THEN NULL; -- internal_error: granted twice at once
		END $$`)
	if err != nil {
		return err
	}
	if _, err = conn.Exec(ctx, grants); err != nil {
		return err
	}
	schema, err := riverHome(ctx, conn)
	if err != nil {
		return err
	}
	_, err = conn.Exec(ctx, strings.ReplaceAll(riverGrants, "{river}", pgx.Identifier{schema}.Sanitize()))
	return err
}

// SchemaSum returns the same hash for two releases that migrate an empty database alike.
func SchemaSum() string {
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

// grants lists the rights of the service's role on the tables. Every migration that creates a table adds its own
// here.
const grants = `
	DO $$ DECLARE given record; BEGIN
	    IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'headroom_service') THEN
	        RETURN;
	    END IF;
	    EXECUTE format('GRANT USAGE ON SCHEMA %I TO headroom_service', current_schema());
	    FOR given IN
	        SELECT rights, string_agg(name, ', ') AS tables
	        FROM (VALUES
	            ('SELECT, INSERT, UPDATE, DELETE', '{clusters, vm_types, prices, contracts, offers, classes, scenarios, forecasts, keys, sessions, sign_in_links, idempotency,
	                planning, admissions, runs, executions, allowed_hosts, webhooks, webhook_secrets, webhook_deliveries, report_schedules, fit_series, pools, storage_samples,
	                live_clusters, live_memories, live_learned, live_nodes, live_jobs, live_runs, live_measured, live_heartbeats, servers, drivers, kept, admission_waits}'::text[]),
	            ('SELECT, INSERT, DELETE', '{profile_versions, reports, report_parts, packings, pool_changes, observations, measurements, fits}'),
	            ('SELECT, INSERT, UPDATE', '{class_calibrations, cluster_schedules}'),
	            ('SELECT, UPDATE', '{kept_measured}'),
	            ('SELECT, INSERT', '{plans, stored_plans, audit, pool_plans}'),
	            ('SELECT', '{plan_turns, plan_reigns, removed_plans, removed_pool_plans, audit_eras, goose_db_version}')
	        ) of (rights, names), unnest(names) AS name
	        WHERE to_regclass(name) IS NOT NULL
	        GROUP BY rights
	    LOOP
	        EXECUTE format('GRANT %s ON %s TO headroom_service', given.rights, given.tables);
	    END LOOP;
	END $$`

// riverGrants lists the rights of the service's role on River's tables, in any schema.
const riverGrants = `
	DO $$ BEGIN
	    IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'headroom_service') THEN
	        RETURN;
	    END IF;
	    GRANT USAGE ON SCHEMA {river} TO headroom_service;
	    GRANT SELECT, INSERT, UPDATE, DELETE ON {river}.river_job, {river}.river_leader, {river}.river_queue, {river}.river_notification TO headroom_service;
	    GRANT USAGE, SELECT ON {river}.river_job_id_seq, {river}.river_notification_id_seq TO headroom_service;
	    GRANT SELECT ON {river}.river_migration TO headroom_service;
	END $$`

// grantTo lets the service's login work as Role, if it is not the one that migrates.
func grantTo(ctx context.Context, migrateURL, serviceURL string) error {
	migrator, err := pgx.ParseConfig(migrateURL)
	if err != nil {
		return &badAddress{err}
	}
	service, err := pgx.ParseConfig(serviceURL)
	if err != nil {
		return &badAddress{err}
	}
	if migrator.User == service.User {
		return nil
	}
	conn, err := connect(ctx, migrateURL)
	if err != nil {
		return err
	}
	defer closeConn(ctx, conn)
	_, err = conn.Exec(ctx, "GRANT "+Role+" TO "+pgx.Identifier{service.User}.Sanitize())
	var said *pgconn.PgError
	if errors.As(err, &said) && (said.Code == "42501" || said.Code == "42704") { // not allowed, or no such role
		return nil
	}
	if err != nil {
		return setupError(ctx, "let the service's user work as "+Role, err)
	}
	return nil
}
