package postgres_test

import (
	"context"
	"database/sql"
	"example.org/headroom/internal/edge/postgres/schema"
	"example.org/headroom/internal/service/plans"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	_ "github.com/jackc/pgx/v5/stdlib"

	"example.org/headroom/internal/edge/postgres"
	"example.org/headroom/internal/test/pgtest"
)

// firstRelease lists statements of the program of the first schema. It writes a cluster with all inputs of a plan, a
// plan, and its consequences.
var firstRelease = []string{
	`INSERT INTO clusters (name, description, currency, period_seconds, time_zone, options) VALUES ($1, '', 'USD', 3600, 'UTC', '{}')`,
	`INSERT INTO vm_types (cluster_id, name, description, quota, in_use) SELECT id, 'small', '', 60, true FROM clusters WHERE name = $1`,
	`INSERT INTO prices (id, cluster_id, vm_type_id, price, during) SELECT gen_random_uuid(), cluster_id, v.id, 0.2, '[2026-01-01,)' FROM vm_types v JOIN clusters c ON c.id = v.cluster_id WHERE c.name = $1`,
	`INSERT INTO contracts (cluster_id, name, vm_type_id, vms, price, billing, upfront, starts, ends)
	 SELECT cluster_id, 'long', v.id, 30, 0.1, 'used', 0, '2025-01-01', '2028-01-01' FROM vm_types v JOIN clusters c ON c.id = v.cluster_id WHERE c.name = $1`,
	`INSERT INTO profile_versions (cluster_id, name, version, note, map_tasks, reduce_tasks, map_avg_seconds, map_max_seconds, first_shuffle_avg_seconds, first_shuffle_max_seconds,
	                               shuffle_avg_seconds, shuffle_max_seconds, reduce_avg_seconds, reduce_max_seconds, overhead_seconds)
	 SELECT id, 'etl', 1, '', 300, 40, 30, 60, 12, 20, 40, 90, 20, 50, 11 FROM clusters WHERE name = $1`,
	`INSERT INTO classes (cluster_id, name, profile, profile_version, deadline_seconds, slots_map, slots_reduce, jobs_min, jobs_max, penalty)
	 SELECT id, 'nightly', 'etl', 1, 2700, 8, 8, 8, 12, 6 FROM clusters WHERE name = $1`,
	`INSERT INTO forecasts (class_id, hour, jobs) SELECT t.id, '2026-03-01 05:00Z', 9 FROM classes t JOIN clusters c ON c.id = t.cluster_id WHERE c.name = $1`,
	`INSERT INTO plans (id, cluster_id, number, at, created_by, inputs_version, status, objective, total_cost, on_demand_cost, reserved_cost, penalties, currency, period_seconds,
	                    vms, vms_on_demand, vms_reserved, admitted, refused, gap, problem, plan)
	 SELECT gen_random_uuid(), id, 1, now(), 'x', 1, 'optimal', 1, 1, 1, 0, 0, 'USD', 3600, 41, 11, 30, 10, 0, 0, '{}', '{"status":"optimal"}' FROM clusters WHERE name = $1`,
	`UPDATE clusters SET plans = 1, inputs_version = inputs_version + 1 WHERE name = $1`,
	`UPDATE classes t SET penalty = 7, version = t.version + 1 FROM clusters c WHERE c.id = t.cluster_id AND c.name = $1`,
	`INSERT INTO idempotency (principal, key, fingerprint) SELECT 'x', $1, decode(repeat('00', 32), 'hex')`,
	`INSERT INTO audit (era, by, key_id, cluster, action, kind, name) VALUES (1, 'x', '', $1, 'create', 'cluster', $1)`,
}

// shape describes the parts of the schema that a program's statements use.
type shape struct {
	columns   map[string]column
	functions map[string]string // their results
}

type column struct {
	Name, Type        string
	Required, Default bool
}

func shapeOf(t *testing.T, conn *pgx.Conn) shape {
	t.Helper()
	s := shape{columns: map[string]column{}, functions: map[string]string{}}
	for _, c := range rowsOf[column](t, conn, `
		SELECT table_name || '.' || column_name AS name, udt_name || coalesce(numeric_precision::text, '') AS type, is_nullable = 'NO' AS required, column_default IS NOT NULL OR is_identity = 'YES' AS "default"
		FROM information_schema.columns WHERE table_schema = 'public' AND table_name NOT LIKE 'goose%'`) {
		s.columns[c.Name] = c
	}
	for _, f := range rowsOf[struct{ Name, Answers string }](t, conn, `
		SELECT p.oid::regprocedure::text AS name, pg_get_function_result(p.oid) AS answers FROM pg_proc p WHERE p.pronamespace = 'public'::regnamespace AND p.prorettype <> 'trigger'::regtype`) {
		s.functions[f.Name] = f.Answers
	}
	return s
}

func rowsOf[T any](t *testing.T, conn *pgx.Conn, sql string) []T {
	t.Helper()
	rows := must(conn.Query(t.Context(), sql))(t)
	return must(pgx.CollectRows(rows, pgx.RowToStructByName[T]))(t)
}

// breaks explains why statements for before would fail on after.
func (before shape) breaks(after shape) (why []string) {
	tables := map[string]bool{}
	for name, old := range before.columns {
		table, _, _ := strings.Cut(name, ".")
		tables[table] = true
		now, there := after.columns[name]
		switch {
		case !there:
			why = append(why, name+" is gone")
		case now.Type != old.Type:
			why = append(why, fmt.Sprintf("%s was %s and is %s", name, old.Type, now.Type))
		case now.Required && !old.Required:
			why = append(why, name+" may no longer be null")
		case now.Required && old.Default && !now.Default:
			why = append(why, name+" has lost its default")
		}
	}
	for name, now := range after.columns {
		table, _, _ := strings.Cut(name, ".")
		if _, known := before.columns[name]; !known && tables[table] && now.Required && !now.Default {
			why = append(why, name+" is new and must be given")
		}
	}
	for name, answers := range before.functions {
		if after.functions[name] != answers {
			why = append(why, name+" is gone or answers something else")
		}
	}
	slices.Sort(why)
	return why
}

// Every step of the schema is tried from the one before it. The present program refuses the old state with a remedy.
// After the step, the tables of the previous program exist and accept its statements. Data stored in any state is
// there in the end, and reads alike.
func TestEveryStepOfTheSchema(t *testing.T) {
	t.Parallel()
	url := pgtest.Empty(t)
	ctx := context.Background()
	db, err := sql.Open("pgx", url)
	check(t, err)
	defer db.Close()
	steps := must(schema.Steps(db))(t)
	var versions []int64
	for _, step := range steps.ListSources() {
		versions = append(versions, step.Version)
	}
	known := versions[len(versions)-1]
	conn := raw(t, url)
	var before shape
	for i, n := range versions {
		if _, err := steps.UpTo(ctx, n); err != nil {
			t.Fatal(err)
		}
		after := shapeOf(t, conn)
		for _, why := range before.breaks(after) {
			t.Errorf("the program of schema %d does not work on schema %d: %s", versions[i-1], n, why)
		}
		before = after
		execute(t, conn, "SET ROLE "+schema.Role) // the step itself must grant the rights for its triggers
		for _, statement := range firstRelease {
			execute(t, conn, statement, fmt.Sprintf("of-%d", n))
		}
		execute(t, conn, "RESET ROLE")
		if i < len(versions)-1 {
			_, err := postgres.Open(ctx, postgres.Config{URL: url, SkipMigrations: true})
			if err == nil || !strings.Contains(err.Error(), fmt.Sprintf("has version %d and this release needs %d; run \"headroom server migrate up\"", n, known)) {
				t.Errorf("on schema %d: %v", n, err)
			}
		}
	}
	s := must(postgres.Open(ctx, postgres.Config{URL: url}))(t)
	defer s.Close()
	who := somebody(t)
	first := must(s.Document(who, "of-1"))(t)
	for _, n := range versions {
		name := fmt.Sprintf("of-%d", n)
		d := must(s.Document(who, name))(t)
		if len(d.VMTypes) != 1 || len(d.Prices) != 1 || len(d.Contracts) != 1 || len(d.Profiles) != 1 || len(d.Classes) != 1 || d.Classes[0].Penalty.String() != "7.00" {
			t.Errorf("of cluster %s there is %+v", name, d)
		}
		same(t, d.Classes[0].SlotsPerVM, first.Classes[0].SlotsPerVM)
		if p := must(s.Plan(who, name, plans.PlanRef{Number: 1}))(t); p.VMs != 41 || p.VMsSpot != 0 {
			t.Errorf("the plan of cluster %s is %+v", name, p.PlanSummary)
		}
		if next := must(s.SavePlan(who, record(name)))(t); next.Number != 2 {
			t.Errorf("the next plan of cluster %s has the number %d", name, next.Number)
		}
	}
	t.Attr("R19", fmt.Sprintf("%d steps of the schema: statements of the program before each, and of the first release, work after it; the program of now refuses each earlier state by name", len(versions)))
}
