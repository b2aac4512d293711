package postgres

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"headroom/internal/app"
	"headroom/internal/capacity"
)

// The rows of a cluster that a filter lets through; a zero time limits nothing.
const filteredForecasts = `
	FROM forecasts f JOIN classes c ON c.id = f.class_id
	WHERE c.cluster_id = @cluster AND (@class = '' OR c.name = @class)
	  AND (@from::timestamptz IS NULL OR f.hour >= @from) AND (@until::timestamptz IS NULL OR f.hour < @until)`

func filterArgs(cluster int64, of app.ForecastFilter) pgx.NamedArgs {
	args := pgx.NamedArgs{"cluster": cluster, "class": of.Class, "from": nil, "until": nil}
	if !of.From.IsZero() {
		args["from"] = of.From
	}
	if !of.Until.IsZero() {
		args["until"] = of.Until
	}
	return args
}

// Forecasts lists by class and hour.
func (s *Store) Forecasts(ctx context.Context, cluster string, of app.ForecastFilter, page app.Page) (list app.Listed[capacity.Forecast], err error) {
	class, hour := "", time.Time{}
	if err := readCursor(page.After, &class, &hour); err != nil {
		return list, err
	}
	err = s.read(ctx, func(ctx context.Context, q querier) error {
		id, err := clusterID(ctx, q, cluster)
		if err != nil {
			return err
		}
		if unstorable(of.Class) {
			list.Items = []capacity.Forecast{}
			return nil
		}
		args := filterArgs(id, of)
		args["after_class"], args["after_hour"], args["limit"] = class, hour, limitOf(page)+1
		rows, err := collect[capacity.Forecast](ctx, q, `
			SELECT c.name AS class, f.hour, f.jobs `+filteredForecasts+`
			  AND (c.name, f.hour) > (@after_class, @after_hour)
			ORDER BY c.name, f.hour LIMIT @limit`, args)
		list = listed(rows, page, func(f capacity.Forecast) []any { return []any{f.Class, f.Hour} })
		return err
	})
	return list, err
}

// PutForecasts writes rows, replacing those of the same class and hour; all or none.
func (s *Store) PutForecasts(ctx context.Context, cluster string, rows []capacity.Forecast) error {
	if len(rows) == 0 {
		return nil
	}
	return s.writeMuch(ctx, func(ctx context.Context, q querier) error {
		id, err := lockCluster(ctx, q, cluster)
		if err != nil {
			return err
		}
		if _, err := q.Exec(ctx, upsertForecasts, forecastArgs(id, rows)); err != nil {
			return &failure{cluster: cluster, pointer: "/rows", item: rows, err: err}
		}
		if err := bump(ctx, q, id); err != nil {
			return err
		}
		return record(ctx, q, entry{Cluster: cluster, Action: capacity.Update, Kind: capacity.ForecastKind, Name: oneClass(rows), After: extentOf(rows)})
	})
}

// upsertForecasts writes rows in one statement. Unknown classes get numbers that none has, so that
// they break the reference and are told as such.
const upsertForecasts = `
	INSERT INTO forecasts (class_id, hour, jobs)
	SELECT coalesce(c.id, -r.place), r.hour, r.jobs
	FROM unnest(@classes::text[], @hours::timestamptz[], @jobs::float8[]) WITH ORDINALITY AS r (class, hour, jobs, place)
	     LEFT JOIN classes c ON c.cluster_id = @cluster AND c.name = r.class
	ON CONFLICT (class_id, hour) DO UPDATE SET jobs = excluded.jobs`

func forecastArgs(cluster int64, rows []capacity.Forecast) pgx.NamedArgs {
	classes, hours, jobs := make([]string, len(rows)), make([]time.Time, len(rows)), make([]float64, len(rows))
	for i, r := range rows {
		classes[i], hours[i], jobs[i] = r.Class, r.Hour, r.Jobs
	}
	return pgx.NamedArgs{"cluster": cluster, "classes": classes, "hours": hours, "jobs": jobs}
}

// extent is what the audit log keeps of forecasts: how many, of when.
type extent struct {
	Rows  int        `json:"rows"`
	First *time.Time `json:"first_hour,omitempty"`
	Last  *time.Time `json:"last_hour,omitempty"`
}

func extentOf(rows []capacity.Forecast) extent {
	e := extent{Rows: len(rows)}
	for _, r := range rows {
		if e.First == nil || r.Hour.Before(*e.First) {
			e.First = &r.Hour
		}
		if e.Last == nil || r.Hour.After(*e.Last) {
			e.Last = &r.Hour
		}
	}
	return e
}

// oneClass is the class that all rows are of, "" when there are several.
func oneClass(rows []capacity.Forecast) string {
	for _, r := range rows {
		if r.Class != rows[0].Class {
			return ""
		}
	}
	return rows[0].Class
}

// DeleteForecasts deletes the rows a filter lets through, and says how many.
func (s *Store) DeleteForecasts(ctx context.Context, cluster string, of app.ForecastFilter) (deleted int64, err error) {
	err = s.writeMuch(ctx, func(ctx context.Context, q querier) error {
		id, err := lockCluster(ctx, q, cluster)
		if err != nil || unstorable(of.Class) {
			return err
		}
		done, err := q.Exec(ctx, `DELETE FROM forecasts WHERE (class_id, hour) IN (SELECT f.class_id, f.hour `+filteredForecasts+`)`, filterArgs(id, of))
		if deleted = done.RowsAffected(); err != nil || deleted == 0 {
			return err
		}
		if err := bump(ctx, q, id); err != nil {
			return err
		}
		e := extent{Rows: int(deleted)}
		if !of.From.IsZero() {
			e.First = &of.From
		}
		if !of.Until.IsZero() {
			e.Last = &of.Until
		}
		return record(ctx, q, entry{Cluster: cluster, Action: capacity.Delete, Kind: capacity.ForecastKind, Name: of.Class, Before: e})
	})
	return deleted, err
}
