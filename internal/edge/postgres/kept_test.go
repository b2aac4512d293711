package postgres_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"example.org/headroom/internal/edge/postgres"
	"example.org/headroom/internal/service/clusters"
	"example.org/headroom/internal/test/pgtest"
)

// What clusters keep is measured table by table: rows and bytes are those that were put there, also where values stand
// beside their rows.
func TestWhatClustersKeepIsMeasured(t *testing.T) {
	t.Parallel()
	url := pgtest.Database(t)
	s := pgtest.OpenWith(t, postgres.Config{URL: url})
	conn := raw(t, url)
	for i, name := range []string{"large", "small", "gone"} {
		execute(t, conn, `WITH c AS (INSERT INTO clusters (name, description, currency, period_seconds, time_zone, options, inputs_version)
				VALUES ($1, '', 'USD', 3600, 'UTC', '{}', 1) RETURNING id)
			INSERT INTO vm_types (cluster_id, name, description, quota, in_use) SELECT id, 'm', 'of a name', 5, true FROM c`, name)
		for range []int{5, 1, 1}[i] {
			execute(t, conn, `WITH s AS (INSERT INTO reports (id, cluster_id, every, covers, format, at, begins, ends, created_by, created_at, file, size, sha256)
				SELECT gen_random_uuid(), c.id, 'day', 'ahead', 'csv', now(), now(), now(), 'test', now(), 'f', 100000, sha256('x') FROM clusters c WHERE c.name = $1 RETURNING id)
				INSERT INTO report_parts (report_id, part, body) SELECT id, 1, (SELECT string_agg(sha256(n::text::bytea), '') FROM generate_series(1, 3125) n) FROM s`, name)
		}
	}
	execute(t, conn, `UPDATE clusters SET deleted_at = now() WHERE name = 'gone'`)
	measure := func(limits clusters.KeptLimits, most int) (measured time.Time, found map[string]clusters.Kept, order []string) {
		t.Helper()
		if err := s.MeasureKept(t.Context()); err != nil {
			t.Fatal(err)
		}
		measured, all, err := s.Kept(t.Context(), most, limits)
		if err != nil {
			t.Fatal(err)
		}
		found = map[string]clusters.Kept{}
		for _, k := range all {
			found[k.Cluster+" "+k.Table] = k
			order = append(order, k.Cluster)
		}
		return measured, found, order
	}
	if at, all, err := s.Kept(t.Context(), 10, clusters.KeptLimits{}); err != nil || len(all) != 0 || !at.IsZero() {
		t.Errorf("before: %v, %+v, %v", at, all, err)
	}
	first, found, order := measure(clusters.KeptLimits{}, 10)
	for cluster, parts := range map[string]int64{"large": 5, "small": 1} {
		// 31.25 × 3,200 = 100,000 bytes that nothing compresses, a header of 24 bytes, an id of 16 and a number of 8.
		if k := found[cluster+" report_parts"]; k.Rows != parts || k.Bytes < parts*100_000 || k.Bytes > parts*100_100 {
			t.Errorf("%s keeps %+v, want %d parts of 100,000 bytes", cluster, k, parts)
		}
		if k := found[cluster+" vm_types"]; k.Rows == 0 || k.Bytes < 24*k.Rows || k.Bytes > 1000*k.Rows {
			t.Errorf("%s keeps %+v of its VM types", cluster, k)
		}
	}
	if order[0] != "large" || strings.Contains(fmt.Sprint(order), "gone") || time.Since(first) > time.Minute {
		t.Errorf("measured at %v, in the order %v", first, order)
	}
	execute(t, conn, `DELETE FROM report_parts`)
	if again, _, _ := measure(clusters.KeptLimits{}, 10); !again.Equal(first) {
		t.Error("it was measured again within a minute")
	}
	execute(t, conn, `UPDATE kept_measured SET began = now() - interval '5 minutes', took = '4 seconds'`)
	if again, _, _ := measure(clusters.KeptLimits{}, 10); !again.Equal(first) {
		t.Error("it was measured again within a hundred times as long as it took")
	}
	execute(t, conn, `UPDATE kept_measured SET took = '1 second'`)
	again, found, _ := measure(clusters.KeptLimits{}, 10)
	if _, still := found["large report_parts"]; still || !again.After(first) {
		t.Errorf("at %v the removed parts are still there: %+v", again, found)
	}
	if _, found, order := measure(clusters.KeptLimits{}, 1); len(order) != len(found) || strings.Contains(fmt.Sprint(order), "small") {
		t.Errorf("of the one that keeps most: %v", order)
	}
	if _, _, order := measure(clusters.KeptLimits{Rows: 1}, 1); !strings.Contains(fmt.Sprint(order), "small") {
		t.Errorf("of those beyond a limit: %v", order)
	}
}

// Every table whose rows belong to a cluster is measured, those of later steps of the schema too.
func TestEveryTableOfClustersIsMeasured(t *testing.T) {
	t.Parallel()
	url := pgtest.Database(t)
	conn := raw(t, url)
	measured, err := postgres.KeptTables(t.Context(), conn)
	if err != nil {
		t.Fatal(err)
	}
	rows, err := conn.Query(t.Context(), `
		WITH RECURSIVE of (child) AS (
		    SELECT 'clusters'::regclass::oid
		    UNION SELECT f.conrelid FROM pg_constraint f JOIN of ON f.confrelid = of.child WHERE f.contype = 'f')
		SELECT child::regclass::text FROM of WHERE child::regclass::text NOT IN ('clusters', 'kept')`)
	if err != nil {
		t.Fatal(err)
	}
	known := 0
	for rows.Next() {
		var table string
		if err := rows.Scan(&table); err != nil {
			t.Fatal(err)
		}
		if known++; !strings.Contains(measured, " "+table+" ") {
			t.Errorf("rows of %s lead to a cluster, and are not measured", table)
		}
	}
	if rows.Err() != nil || known < 25 {
		t.Errorf("%d tables lead to a cluster: %v", known, rows.Err())
	}
}
