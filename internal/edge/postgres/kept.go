package postgres

import (
	"context"
	"errors"
	"math"
	"time"

	"github.com/jackc/pgx/v5"

	"example.org/headroom/internal/service/clusters"
)

// keptTables lists every table whose rows belong to clusters and may be read, with the sum of the sizes of its columns and
// how its rows lead to a cluster. A value that is stored beside its row counts as it is stored there, and is not read.
const keptTables = `
	SELECT t.relname::text AS name, string_agg(format('coalesce(pg_column_size(t.%I), 0)', a.attname), ' + ') AS size,
	       CASE WHEN bool_or(a.attname = 'cluster_id') THEN 'JOIN clusters c ON c.id = t.cluster_id'
	            WHEN bool_or(a.attname = 'class_id') THEN 'JOIN classes o ON o.id = t.class_id JOIN clusters c ON c.id = o.cluster_id'
	            WHEN bool_or(a.attname = 'series_id') THEN 'JOIN fit_series o ON o.id = t.series_id JOIN clusters c ON c.id = o.cluster_id'
	            WHEN bool_or(a.attname = 'report_id') THEN 'JOIN reports o ON o.id = t.report_id JOIN clusters c ON c.id = o.cluster_id'
	            ELSE 'JOIN clusters c ON c.name = t.cluster' END AS join
	FROM pg_class t JOIN pg_attribute a ON a.attrelid = t.oid AND a.attnum > 0 AND NOT a.attisdropped
	WHERE t.relnamespace = current_schema()::regnamespace AND t.relkind = 'r' AND t.relname <> 'kept' AND has_table_privilege(t.oid, 'SELECT')
	GROUP BY t.relname
	HAVING bool_or(a.attname IN ('cluster_id', 'class_id', 'series_id', 'report_id', 'cluster'))
	ORDER BY t.relname`

// measureTable measures one of them. Each row has a header of 24 bytes.
func measureTable(name, size, join string) string {
	table := pgx.Identifier{name}.Sanitize()
	return `
	WITH now AS (
	         SELECT c.id AS cluster_id, count(*) AS rows, sum(24 + ` + size + `)::bigint AS bytes
	         FROM ` + table + ` t ` + join + ` WHERE c.deleted_at IS NULL GROUP BY c.id),
	     gone AS (DELETE FROM kept k WHERE k.stored = @table AND NOT EXISTS (SELECT FROM now n WHERE n.cluster_id = k.cluster_id))
	INSERT INTO kept (cluster_id, stored, rows, bytes) SELECT cluster_id, @table, rows, bytes FROM now
	ON CONFLICT (cluster_id, stored) DO UPDATE SET rows = EXCLUDED.rows, bytes = EXCLUDED.bytes
	WHERE (kept.rows, kept.bytes) IS DISTINCT FROM (EXCLUDED.rows, EXCLUDED.bytes)`
}

// MeasureKept measures what every cluster keeps, table by table. One that takes too long keeps its former figures.
func (s *Store) MeasureKept(ctx context.Context) (err error) {
	var tables []struct{ Name, Size, Join string }
	mine := false
	err = s.write(ctx, func(ctx context.Context, q querier) error {
		claimed, err := q.Exec(ctx, `
			UPDATE kept_measured SET began = clock_timestamp()
			WHERE began < clock_timestamp() - greatest(interval '1 minute', 100 * took)`)
		if mine = claimed.RowsAffected() == 1; err != nil || !mine {
			return err
		}
		tables, err = collect[struct{ Name, Size, Join string }](ctx, q, keptTables, nil)
		return err
	})
	if err != nil || !mine {
		return err
	}
	for _, t := range tables {
		err = errors.Join(err, s.writeMuch(ctx, func(ctx context.Context, q querier) error {
			_, err := q.Exec(ctx, measureTable(t.Name, t.Size, t.Join), pgx.NamedArgs{"table": t.Name})
			return err
		}))
	}
	return errors.Join(err, s.write(context.WithoutCancel(ctx), func(ctx context.Context, q querier) error {
		_, err := q.Exec(ctx, `UPDATE kept_measured SET ended = clock_timestamp(), took = clock_timestamp() - began`)
		return err
	}))
}

// Kept returns what was measured last.
func (s *Store) Kept(ctx context.Context, most int, limits clusters.KeptLimits) (measured time.Time, all []clusters.Kept, err error) {
	bound := func(limit int64) int64 {
		if limit > 0 {
			return limit
		}
		return math.MaxInt64
	}
	err = s.read(ctx, func(ctx context.Context, q querier) (err error) {
		var at *time.Time
		if err := q.QueryRow(ctx, `SELECT CASE WHEN isfinite(ended) THEN ended END FROM kept_measured`).Scan(&at); err != nil {
			return err
		}
		if at != nil {
			measured = *at
		}
		all, err = collect[clusters.Kept](ctx, q, `
			WITH sums AS (SELECT cluster_id, sum(rows) AS rows, sum(bytes) AS bytes FROM kept GROUP BY cluster_id),
			     shown AS (SELECT cluster_id, bytes FROM sums WHERE rows > @rows OR bytes > @bytes
			               UNION SELECT cluster_id, bytes FROM (SELECT cluster_id, bytes FROM sums ORDER BY bytes DESC, cluster_id LIMIT @most) largest)
			SELECT c.name AS cluster, k.stored AS "table", k.rows, k.bytes
			FROM shown s JOIN kept k USING (cluster_id) JOIN clusters c ON c.id = s.cluster_id AND c.deleted_at IS NULL
			ORDER BY s.bytes DESC, c.name, k.bytes DESC, k.stored`, pgx.NamedArgs{"most": most, "rows": bound(limits.Rows), "bytes": bound(limits.Bytes)})
		return err
	})
	return measured, all, err
}
