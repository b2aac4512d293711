package postgres_test

import (
	"bytes"
	"io/fs"
	"log/slog"
	"strings"
	"testing"

	"example.org/headroom/internal/core/fault"
	"example.org/headroom/internal/data/inputs"
	"example.org/headroom/internal/data/storage"
	"example.org/headroom/internal/edge/postgres"
	"example.org/headroom/internal/edge/postgres/schema"
	"example.org/headroom/internal/service/app"
	"example.org/headroom/internal/test/pgtest"
	"example.org/headroom/migrations"
)

func TestMigrationsRunOnceHoweverManyStart(t *testing.T) {
	t.Parallel()
	url := pgtest.Empty(t)
	before := must(schema.StatusOf(t.Context(), url))(t)
	if before.Have != 0 || before.Known < 1 || before.Server < 15 || before.Role {
		t.Errorf("an empty database: %+v", before)
	}
	const openers = 5
	opened := make(chan error, openers)
	for range openers {
		go func() {
			s, err := postgres.Open(t.Context(), postgres.Config{URL: url})
			if err == nil {
				_, err = s.Clusters(t.Context(), nil, storage.Page{})
				s.Close()
			}
			opened <- err
		}()
	}
	for range openers {
		check(t, <-opened)
	}
	for range 2 {
		check(t, schema.Migrate(t.Context(), url))
	}
	after := must(schema.StatusOf(t.Context(), url))(t)
	if after.Have != after.Known || !after.Role {
		t.Errorf("a migrated database: %+v", after)
	}
	var steps int64
	check(t, raw(t, url).QueryRow(t.Context(), "SELECT count(*) FROM goose_db_version WHERE version_id > 0").Scan(&steps))
	files := must(fs.Glob(migrations.Files, "*.sql"))(t)
	if steps != int64(len(files)) {
		t.Errorf("%d steps on record, want %d", steps, len(files))
	}
	s := pgtest.OpenWith(t, configOf(url))
	filled(t, s)
}

func TestASchemaThatIsNotThereOrNewer(t *testing.T) {
	t.Parallel()
	_, err := postgres.Open(t.Context(), postgres.Config{URL: pgtest.Empty(t), SkipMigrations: true})
	if err == nil || !strings.Contains(err.Error(), "headroom server migrate up") {
		t.Errorf("without a schema: %v", err)
	}
	url := pgtest.Database(t)
	execute(t, raw(t, url), "INSERT INTO goose_db_version (version_id, is_applied) VALUES (999, true)")
	var log bytes.Buffer
	s, err := postgres.Open(t.Context(), postgres.Config{URL: url, Log: slog.New(slog.NewTextHandler(&log, nil))})
	check(t, err)
	defer s.Close()
	filled(t, s)
	if !strings.Contains(log.String(), "schema newer than this release") {
		t.Errorf("the log says %q", log.String())
	}
}

func TestAddressesThatCannotBeUsedAreNotShown(t *testing.T) {
	t.Parallel()
	for _, url := range []string{"postgres://u:secret@host:port/x", "secret", "postgres://u:secret@[::1/x", "postgres://u:secret@127.0.0.1:1/x?sslmode=disable"} {
		_, err := postgres.Open(t.Context(), postgres.Config{URL: url})
		if err == nil {
			t.Fatalf("opened %s", url)
		}
		if strings.Contains(err.Error(), "secret") || strings.Contains(err.Error(), "127.0.0.1") {
			t.Errorf("the sentence shows the address: %v", err)
		}
	}
	_, err := postgres.Open(t.Context(), postgres.Config{URL: "postgres://u:p@127.0.0.1:1/x?sslmode=disable"})
	kindOf(t, err, fault.Busy, "cannot be reached")
}

// If no roles can be created, the service works as the owner of its tables, and only the triggers protect history.
func TestAUserWhoMayMakeNoRoles(t *testing.T) {
	t.Parallel()
	url := pgtest.Empty(t)
	owner := raw(t, url)
	name := strings.TrimPrefix(owner.Config().Database, "headroom_test_")[:12]
	user := "plain_" + name
	execute(t, owner, "CREATE ROLE "+user+" LOGIN PASSWORD 'p'")
	execute(t, owner, "GRANT ALL ON SCHEMA public TO "+user)
	t.Cleanup(func() {
		late(t, url, "REASSIGN OWNED BY "+user+" TO current_user; DROP OWNED BY "+user+"; DROP ROLE "+user)
	})
	plain := as(t, url, user)
	s, err := postgres.Open(t.Context(), postgres.Config{URL: plain})
	check(t, err)
	defer s.Close()
	if status := must(schema.StatusOf(t.Context(), plain))(t); status.Role {
		t.Errorf("it works as %s", schema.Role)
	}
	ctx := filled(t, s)
	must(s.SavePlan(ctx, record(night)))(t)
	conn := raw(t, plain)
	for _, sql := range []string{"UPDATE plans SET vms = 0", "DELETE FROM audit", "TRUNCATE stored_plans"} {
		if _, err := conn.Exec(ctx, sql); state(err) != "23001" {
			t.Errorf("%s: %v", sql, err)
		}
	}
	execute(t, conn, "SET headroom.retention = 'on'")
	execute(t, conn, "DELETE FROM plans")
}

func TestTheServiceMaySignInAsAnother(t *testing.T) {
	t.Parallel()
	url := pgtest.Empty(t)
	owner := raw(t, url)
	user := "service_" + strings.TrimPrefix(owner.Config().Database, "headroom_test_")[:12]
	execute(t, owner, "CREATE ROLE "+user+" LOGIN PASSWORD 'p'")
	t.Cleanup(func() { late(t, url, "DROP OWNED BY "+user+"; DROP ROLE "+user) })
	s, err := postgres.Open(t.Context(), postgres.Config{URL: as(t, url, user), MigrateURL: url})
	check(t, err)
	defer s.Close()
	alone, err := postgres.Open(t.Context(), postgres.Config{URL: as(t, url, user)}) // may not migrate and need not
	check(t, err)
	defer alone.Close()
	ctx := filled(t, alone)
	must(s.SavePlan(ctx, record(night)))(t)
	if _, err := raw(t, as(t, url, user)).Exec(ctx, "SET ROLE "+schema.Role+"; DELETE FROM plans"); state(err) != "42501" {
		t.Errorf("the service deletes plans: %v", err)
	}
	execute(t, owner, "REVOKE "+schema.Role+" FROM "+user+"; GRANT USAGE ON SCHEMA public TO "+user)
	if _, err := postgres.Open(t.Context(), postgres.Config{URL: as(t, url, user)}); err == nil || !strings.Contains(err.Error(), "the migrations need a user who owns") {
		t.Errorf("a user without rights: %v", err)
	}
}

// Functions that run as the owner ignore the service's temporary tables: a trigger on one would run as the owner.
func TestTheServiceDoesNotBecomeTheOwner(t *testing.T) {
	t.Parallel()
	url := pgtest.Database(t)
	ctx := filled(t, pgtest.OpenWith(t, configOf(url)))
	conn := raw(t, url)
	execute(t, conn, `SET ROLE `+schema.Role)
	execute(t, conn, `CREATE TEMP TABLE retired (cluster text, kind text, name text, version bigint, PRIMARY KEY (cluster, kind, name))`)
	execute(t, conn, `GRANT ALL ON pg_temp.retired TO PUBLIC`)
	execute(t, conn, `DELETE FROM classes`)
	var taken int
	check(t, conn.QueryRow(ctx, `SELECT count(*) FROM pg_temp.retired`).Scan(&taken))
	if taken > 0 {
		t.Errorf("%d rows went into the service's own table", taken)
	}
	var open []string
	check(t, conn.QueryRow(ctx, `
		SELECT coalesce(array_agg(proname), '{}')::text[] FROM pg_proc
		WHERE pronamespace = 'public'::regnamespace AND prosecdef AND NOT coalesce(array_to_string(proconfig, ' ') ~ 'search_path=.*, pg_temp$', false)`).Scan(&open))
	if len(open) > 0 {
		t.Errorf("functions that run as the owner look for tables in pg_temp first: %v", open)
	}
}

// A database restored into another server meets smaller transaction numbers there.
func TestTheAuditLogSurvivesAMoveToAnotherServer(t *testing.T) {
	t.Parallel()
	url := pgtest.Database(t)
	s := pgtest.OpenWith(t, configOf(url))
	ctx := somebody(t)
	execute(t, raw(t, url), `INSERT INTO audit (era, txid, by, key_id, action, kind, name) VALUES (1, '9000000000000', 'x', '', 'create', 'key', 'old')`)
	if list := must(s.Audit(ctx, app.AuditFilter{}, storage.Page{}))(t); len(list.Items) != 0 {
		t.Fatalf("listed before the new era: %+v", list.Items)
	}
	check(t, schema.Migrate(ctx, url))
	check(t, schema.Migrate(ctx, url)) // one era is enough
	must(s.CreateCluster(ctx, inputs.NewCluster(night)))(t)
	entries := audit(t, s, app.AuditFilter{})
	if len(entries) != 2 || entries[0].Name != night || entries[1].Name != "old" {
		t.Errorf("the log is %+v", entries)
	}
	var eras int
	check(t, raw(t, url).QueryRow(ctx, "SELECT count(*) FROM audit_eras").Scan(&eras))
	if eras != 2 {
		t.Errorf("%d eras, want 2", eras)
	}
}
