package postgres

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"example.org/headroom/internal/core/fault"
	"example.org/headroom/internal/data/inputs"
	"example.org/headroom/internal/data/storage"
	"example.org/headroom/internal/service/clusters"
)

// The rows of a cluster that match a filter; a zero time is no limit.
const filteredForecasts = `
	FROM forecasts f JOIN classes c ON c.id = f.class_id
	WHERE c.cluster_id = @cluster AND (@class = '' OR c.name = @class)
	  AND (@from::timestamptz IS NULL OR f.hour >= @from) AND (@until::timestamptz IS NULL OR f.hour < @until)`

func filterArgs(cluster int64, of clusters.ForecastFilter) pgx.NamedArgs {
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
func (s *Store) Forecasts(ctx context.Context, cluster string, of clusters.ForecastFilter, page storage.Page) (list storage.Listed[inputs.Forecast], err error) {
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
			list.Items = []inputs.Forecast{}
			return nil
		}
		args := filterArgs(id, of)
		args["after_class"], args["after_hour"], args["limit"] = class, hour, limitOf(page)+1
		rows, err := collect[inputs.Forecast](ctx, q, `
			SELECT c.name AS class, f.hour, CASE WHEN f.arrivals IS NULL THEN f.jobs ELSE 0 END AS jobs, f.arrivals `+filteredForecasts+`
			  AND (c.name, f.hour) > (@after_class, @after_hour)
			ORDER BY c.name, f.hour LIMIT @limit`, args)
		list = listed(rows, page, func(f inputs.Forecast) []any { return []any{f.Class, f.Hour} })
		return err
	})
	return list, err
}

// ForecastClasses lists the classes that have rows, and counts the rows and those that tell arrivals.
func (s *Store) ForecastClasses(ctx context.Context, cluster string, of clusters.ForecastFilter) (names []string, rows, arriving int64, err error) {
	err = s.read(ctx, func(ctx context.Context, q querier) error {
		id, err := clusterID(ctx, q, cluster)
		if err != nil || unstorable(of.Class) {
			return err
		}
		type counted struct {
			Name           string
			Rows, Arriving int64
		}
		list, err := collect[counted](ctx, q, `SELECT c.name, count(*) AS rows, count(f.arrivals) AS arriving `+filteredForecasts+` GROUP BY c.name ORDER BY c.name`, filterArgs(id, of))
		for _, c := range list {
			names, rows, arriving = append(names, c.Name), rows+c.Rows, arriving+c.Arriving
		}
		return err
	})
	return names, rows, arriving, err
}

// ForecastHours lists by hour, with the rows of all classes in one item. It returns a number of hours with rows,
// beginning after an hour.
func (s *Store) ForecastHours(ctx context.Context, cluster string, of clusters.ForecastFilter, after time.Time, limit int) (list []clusters.ForecastHour, err error) {
	err = s.read(ctx, func(ctx context.Context, q querier) error {
		id, err := clusterID(ctx, q, cluster)
		if err != nil || unstorable(of.Class) {
			return err
		}
		args := filterArgs(id, of)
		args["after"] = after
		var first *time.Time
		if err := q.QueryRow(ctx, `SELECT min(f.hour) `+filteredForecasts+` AND f.hour > @after`, args).Scan(&first); err != nil || first == nil {
			return err
		}
		args["first"], args["end"] = *first, first.Add(time.Duration(limit)*time.Hour)
		list, err = collect[clusters.ForecastHour](ctx, q, `
			SELECT f.hour, array_agg(c.name) AS classes, array_agg(coalesce(f.arrivals, f.jobs)) AS jobs `+filteredForecasts+`
			  AND f.hour >= @first AND f.hour < @end
			GROUP BY f.hour ORDER BY f.hour`, args)
		return err
	})
	return list, err
}

// PutForecasts writes rows, replacing those of the same class and hour, and deletes the rows of cleared hours, all or
// none. It does not write unchanged rows again, and without any change the inputs' version stays. A dry run only
// counts.
func (s *Store) PutForecasts(ctx context.Context, cluster string, series []inputs.Series, dryRun bool) (done inputs.Written, err error) {
	err = s.writeMuch(ctx, func(ctx context.Context, q querier) error {
		done = inputs.Written{DryRun: dryRun}
		id, err := lockCluster(ctx, q, cluster)
		if err != nil {
			return err
		}
		ids, err := classIDs(ctx, q, id, series)
		if err != nil {
			return err
		}
		w := seriesWrite{ctx: ctx, q: q, dryRun: dryRun, done: &done}
		var of extent
		for i, one := range series {
			if n := len(one.Rows); n > 0 {
				of.widen(inputs.TimeOf(one.Rows[0].Hour), inputs.TimeOf(one.Rows[n-1].Hour))
			}
			if err := w.series(ids[i], one); err != nil {
				return &failure{cluster: cluster, pointer: "/rows", err: err}
			}
		}
		if err := w.flush(); err != nil {
			return &failure{cluster: cluster, pointer: "/rows", err: err}
		}
		of.Rows = int(done.Written)
		if dryRun || done.Added+done.Changed+done.Deleted == 0 {
			return nil
		}
		if err := bump(ctx, q, id); err != nil {
			return err
		}
		name := ""
		if len(series) == 1 {
			name = series[0].Class
		}
		return record(ctx, q, entry{Cluster: cluster, Action: inputs.Update, Kind: inputs.ForecastKind, Name: name, After: of})
	})
	return done, err
}

// classIDs returns the numbers of the series' classes; an error names all unknown ones.
func classIDs(ctx context.Context, q querier, cluster int64, series []inputs.Series) ([]int64, error) {
	type class struct {
		ID              int64
		Name            string
		DeadlineSeconds float64
	}
	known, err := collect[class](ctx, q, `SELECT id, name, deadline_seconds FROM classes WHERE cluster_id = @cluster`, pgx.NamedArgs{"cluster": cluster})
	if err != nil {
		return nil, err
	}
	number, names, endless := make(map[string]int64, len(known)), make([]string, len(known)), map[string]bool{}
	for i, c := range known {
		number[c.Name], names[i], endless[c.Name] = c.ID, c.Name, c.DeadlineSeconds == 0
	}
	ids := make([]int64, len(series))
	unknownOnes := &fault.InputError{}
	for i, one := range series {
		if ids[i] = number[one.Class]; ids[i] == 0 && len(unknownOnes.Findings) < fault.MaxFindings {
			f := unknown(one.At, one.Class, "class", "classes", names)
			if near := fault.Nearest(one.Class, names[:min(len(names), 200)]); near != "" {
				f.Hint = &fault.Hint{Detail: fmt.Sprintf("Did you mean %q?", near), Pointer: one.At, Value: near}
			}
			unknownOnes.Findings = append(unknownOnes.Findings, *f)
		}
		if endless[one.Class] && len(unknownOnes.Findings) < fault.MaxFindings && slices.ContainsFunc(one.Rows, func(r inputs.SeriesRow) bool { return r.Arrives }) {
			unknownOnes.Findings = append(unknownOnes.Findings, fault.Finding{Pointer: one.At, Code: "not_taken", Detail: fmt.Sprintf(
				"The class %q has no deadline, which is how long its jobs hold their VMs; give it one, or give the jobs that run at once.", fault.Clip(one.Class))})
		}
	}
	if len(unknownOnes.Findings) > 0 {
		return nil, unknownOnes
	}
	return ids, nil
}

// seriesWrite gathers rows of several series and writes them in parts, so that memory does not grow with their
// number.
type seriesWrite struct {
	ctx     context.Context
	q       querier
	dryRun  bool
	done    *inputs.Written
	classes []int64
	hours   []time.Time
	jobs    []float64
	arrive  []bool
}

const seriesChunk = 20_000

func (w *seriesWrite) series(class int64, s inputs.Series) error {
	for _, row := range s.Rows {
		w.classes, w.hours, w.jobs = append(w.classes, class), append(w.hours, inputs.TimeOf(row.Hour)), append(w.jobs, row.Jobs)
		if w.arrive = append(w.arrive, row.Arrives); row.Arrives {
			w.done.FromArrivals++
		}
		if len(w.classes) == seriesChunk {
			if err := w.flush(); err != nil {
				return err
			}
		}
	}
	return w.clear(class, s.Clear)
}

// flush counts new and changed rows, and writes only these. Nobody else writes forecasts of the cluster meanwhile,
// because its row is locked.
func (w *seriesWrite) flush() error {
	if len(w.classes) == 0 {
		return nil
	}
	const differing = `
		WITH given AS (
		    SELECT r.class_id, r.hour, ` + atOnce + ` AS jobs, CASE WHEN r.arrive THEN r.jobs END AS arrivals
		    FROM unnest(@classes::bigint[], @hours::timestamptz[], @jobs::float8[], @arrive::bool[]) AS r (class_id, hour, jobs, arrive)
		         JOIN classes c ON c.id = r.class_id),
		differing AS (
		    SELECT r.class_id, r.hour, r.jobs, r.arrivals, f.hour IS NULL AS added
		    FROM given r LEFT JOIN forecasts f ON f.class_id = r.class_id AND f.hour = r.hour
		    WHERE f.hour IS NULL OR f.arrivals IS DISTINCT FROM r.arrivals OR f.arrivals IS NULL AND f.jobs <> r.jobs)`
	const written = `, written AS (
		    INSERT INTO forecasts (class_id, hour, jobs, arrivals) SELECT class_id, hour, jobs, arrivals FROM differing
		    ON CONFLICT (class_id, hour) DO UPDATE SET jobs = excluded.jobs, arrivals = excluded.arrivals)`
	sql := differing + written
	if w.dryRun {
		sql = differing
	}
	var added, changed int64
	err := w.q.QueryRow(w.ctx, sql+` SELECT count(*) FILTER (WHERE added), count(*) FILTER (WHERE NOT added) FROM differing`,
		pgx.NamedArgs{"classes": w.classes, "hours": w.hours, "jobs": w.jobs, "arrive": w.arrive}).Scan(&added, &changed)
	w.done.Written += int64(len(w.classes))
	w.done.Added += added
	w.done.Changed += changed
	w.classes, w.hours, w.jobs, w.arrive = w.classes[:0], w.hours[:0], w.jobs[:0], w.arrive[:0]
	return err
}

// clear deletes the rows of spans of hours.
func (w *seriesWrite) clear(class int64, spans []inputs.HourSpan) error {
	for len(spans) > 0 {
		some := spans[:min(len(spans), seriesChunk)]
		spans = spans[len(some):]
		from, until := make([]time.Time, len(some)), make([]time.Time, len(some))
		for i, span := range some {
			from[i], until[i] = inputs.TimeOf(span.From), inputs.TimeOf(span.Until)
		}
		const cleared = ` unnest(@from::timestamptz[], @until::timestamptz[]) AS s (since, before) WHERE f.class_id = @class AND f.hour >= s.since AND f.hour < s.before`
		args := pgx.NamedArgs{"class": class, "from": from, "until": until}
		var n int64
		if w.dryRun {
			if err := w.q.QueryRow(w.ctx, `SELECT count(*) FROM forecasts f,`+cleared, args).Scan(&n); err != nil {
				return err
			}
		} else {
			done, err := w.q.Exec(w.ctx, `DELETE FROM forecasts f USING`+cleared, args)
			if err != nil {
				return err
			}
			n = done.RowsAffected()
		}
		w.done.Deleted += n
	}
	return nil
}

// upsertForecasts writes rows in one statement. Unknown classes get numbers that no class has, so that they violate
// the reference, which is then explained.
const upsertForecasts = `
	INSERT INTO forecasts (class_id, hour, jobs, arrivals)
	SELECT coalesce(c.id, -r.place), r.hour, ` + atOnce + `, CASE WHEN r.arrive THEN r.jobs END
	FROM unnest(@classes::text[], @hours::timestamptz[], @jobs::float8[], @arrive::bool[]) WITH ORDINALITY AS r (class, hour, jobs, arrive, place)
	     LEFT JOIN classes c ON c.cluster_id = @cluster AND c.name = r.class
	ON CONFLICT (class_id, hour) DO UPDATE SET jobs = excluded.jobs, arrivals = excluded.arrivals`

// atOnce counts the jobs of a row r of class c for releases that know no arrivals.
const atOnce = `CASE WHEN r.arrive THEN r.jobs * coalesce(c.deadline_seconds, 0) / 3600 ELSE r.jobs END`

func forecastArgs(cluster int64, rows []inputs.Forecast) pgx.NamedArgs {
	classes, hours, jobs, arrive := make([]string, len(rows)), make([]time.Time, len(rows)), make([]float64, len(rows)), make([]bool, len(rows))
	for i, r := range rows {
		if classes[i], hours[i], jobs[i], arrive[i] = r.Class, r.Hour, r.Jobs, r.Arrivals != nil; arrive[i] {
			jobs[i] = *r.Arrivals
		}
	}
	return pgx.NamedArgs{"cluster": cluster, "classes": classes, "hours": hours, "jobs": jobs, "arrive": arrive}
}

// extent records forecasts in the audit log: their number and hours.
type extent struct {
	Rows  int        `json:"rows"`
	First *time.Time `json:"first_hour,omitempty"`
	Last  *time.Time `json:"last_hour,omitempty"`
}

func extentOf(rows []inputs.Forecast) extent {
	e := extent{Rows: len(rows)}
	for _, r := range rows {
		e.widen(r.Hour, r.Hour)
	}
	return e
}

// widen extends it over hours.
func (e *extent) widen(first, last time.Time) {
	if e.First == nil || first.Before(*e.First) {
		e.First = &first
	}
	if e.Last == nil || last.After(*e.Last) {
		e.Last = &last
	}
}

// DeleteForecasts deletes the rows that match a filter, and returns their number.
func (s *Store) DeleteForecasts(ctx context.Context, cluster string, of clusters.ForecastFilter) (deleted int64, err error) {
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
		return record(ctx, q, entry{Cluster: cluster, Action: inputs.Delete, Kind: inputs.ForecastKind, Name: of.Class, Before: e})
	})
	return deleted, err
}
