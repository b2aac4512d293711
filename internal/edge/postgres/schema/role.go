package schema

import (
	"context"
	"errors"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"example.org/headroom/internal/edge/postgres/connection"
)

// Role is the database role of the service, if it exists. It may neither change nor delete plans and the audit log.
const Role = "headroom_service"

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
	            ('SELECT, INSERT, UPDATE', '{class_calibrations, cluster_schedules, plan_votes}'),
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

// Grant lets the service's login work as Role, if it is not the one that migrates.
func Grant(ctx context.Context, migrateURL, serviceURL string) error {
	migrator, err := pgx.ParseConfig(migrateURL)
	if err != nil {
		return &connection.BadAddress{Cause: err}
	}
	service, err := pgx.ParseConfig(serviceURL)
	if err != nil {
		return &connection.BadAddress{Cause: err}
	}
	if migrator.User == service.User {
		return nil
	}
	conn, err := connection.Session(ctx, migrateURL)
	if err != nil {
		return err
	}
	defer connection.Close(ctx, conn)
	_, err = conn.Exec(ctx, "GRANT "+Role+" TO "+pgx.Identifier{service.User}.Sanitize())
	var said *pgconn.PgError
	if errors.As(err, &said) && (said.Code == "42501" || said.Code == "42704") { // not allowed, or no such role
		return nil
	}
	if err != nil {
		return connection.SetupError(ctx, "let the service's user work as "+Role, err)
	}
	return nil
}
