package postgres

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"example.org/headroom/internal/core/fault"
	"example.org/headroom/internal/core/perf"
	"example.org/headroom/internal/data/inputs"
	"example.org/headroom/internal/data/storage"
	"example.org/headroom/internal/service/auth"
	"example.org/headroom/internal/service/clusters"
)

// series identifies the measurements of a job and kind.
type series struct {
	ID           int64
	Job, Kind    string
	Measurements int64
	Version      int64
	Refused      string
}

const seriesColumns = `s.id, s.job, s.kind, s.measurements, s.version, s.refused`

// AddMeasurements stores measurements and fits their series again. Each series is locked before its measurements are
// read, so that the later of two writers has seen them all.
func (s *Store) AddMeasurements(ctx context.Context, cluster string, all []perf.JobMeasurement, fit clusters.Fitter) (fits []perf.JobFit, err error) {
	type key struct{ job, kind string }
	counts := map[key]int64{}
	for _, m := range all {
		counts[key{m.Job, string(m.Kind)}]++
	}
	keys := make([]key, 0, len(counts))
	for k := range counts {
		keys = append(keys, k)
	}
	slices.SortFunc(keys, func(a, b key) int { return cmp.Or(cmp.Compare(a.job, b.job), cmp.Compare(a.kind, b.kind)) })
	jobs, kinds := make([]string, len(keys)), make([]string, len(keys))
	for i, k := range keys {
		jobs[i], kinds[i] = k.job, k.kind
	}
	err = s.writeMuch(ctx, func(ctx context.Context, q querier) error {
		fits = make([]perf.JobFit, 0, len(keys))
		id, err := clusterID(ctx, q, cluster)
		if err != nil {
			return err
		}
		args := pgx.NamedArgs{"cluster": id, "jobs": jobs, "kinds": kinds}
		if _, err := q.Exec(ctx, `
			INSERT INTO fit_series (cluster_id, job, kind)
			SELECT @cluster, job, kind FROM unnest(@jobs::text[], @kinds::text[]) WITH ORDINALITY AS given (job, kind, place) ORDER BY place
			ON CONFLICT ON CONSTRAINT fit_series_job_key DO NOTHING`, args); err != nil {
			return err
		}
		concerned, err := collect[series](ctx, q, `
			SELECT `+seriesColumns+` FROM fit_series s JOIN unnest(@jobs::text[], @kinds::text[]) AS given (job, kind) ON given.job = s.job AND given.kind = s.kind
			WHERE s.cluster_id = @cluster ORDER BY s.job, s.kind FOR UPDATE OF s`, args)
		if err != nil {
			return err
		}
		var others int64
		args["concerned"] = make([]int64, len(concerned))
		for i, c := range concerned {
			args["concerned"].([]int64)[i] = c.ID
		}
		if err := q.QueryRow(ctx, `SELECT count(*) FROM fit_series WHERE cluster_id = @cluster AND measurements > 0 AND id <> ALL (@concerned::bigint[])`, args).Scan(&others); err != nil {
			return err
		}
		if others+int64(len(concerned)) > perf.MaxMeasuredJobs {
			return fmt.Errorf("the cluster has measurements of %d jobs, kinds counted apart, and may have %d; delete those of jobs that are no more: %w", others+int64(len(concerned)), perf.MaxMeasuredJobs, fault.Conflict)
		}
		numbers := make(map[key]int64, len(concerned))
		for _, c := range concerned {
			numbers[key{c.Job, c.Kind}] = c.ID
		}
		if err := insertMeasurements(ctx, q, id, all, func(m perf.JobMeasurement) int64 { return numbers[key{m.Job, string(m.Kind)}] }); err != nil {
			return err
		}
		for _, c := range concerned {
			c.Measurements += counts[key{c.Job, c.Kind}]
			f, err := refit(ctx, q, c, fit)
			if err != nil {
				return err
			}
			fits = append(fits, f)
		}
		return nil
	})
	return fits, err
}

func insertMeasurements(ctx context.Context, q querier, cluster int64, all []perf.JobMeasurement, seriesOf func(perf.JobMeasurement) int64) error {
	n := len(all)
	ids, numbers, at := make([]string, n), make([]int64, n), make([]time.Time, n)
	vms, residual, seconds, cpu, io := make([]*float64, n), make([]*float64, n), make([]*float64, n), make([]*float64, n), make([]*float64, n)
	types := make([]*string, n)
	for i, m := range all {
		ids[i], numbers[i], at[i] = newID(), seriesOf(m), m.At
		vms[i], residual[i], seconds[i], cpu[i], io[i], types[i] = m.VMs, m.Residual, m.Seconds, m.CPUPercent, m.IOMBPerS, m.NodeType
	}
	_, err := q.Exec(ctx, `
		INSERT INTO measurements (id, series_id, cluster_id, at, measured_by, vms, residual, node_type, seconds, cpu_percent, io_mb_s)
		SELECT id, series_id, @cluster, at, @by, vms, residual, node_type, seconds, cpu_percent, io_mb_s
		FROM unnest(@ids::uuid[], @series::bigint[], @at::timestamptz[], @vms::float8[], @residual::float8[], @types::text[], @seconds::float8[], @cpu::float8[], @io::float8[])
		     AS given (id, series_id, at, vms, residual, node_type, seconds, cpu_percent, io_mb_s)`,
		pgx.NamedArgs{"cluster": cluster, "by": auth.From(ctx).Name, "ids": ids, "series": numbers, "at": at, "vms": vms, "residual": residual, "types": types,
			"seconds": seconds, "cpu": cpu, "io": io})
	return err
}

const measurementColumns = `m.id::text AS id, s.job, s.kind, m.at, m.measured_by, m.vms, m.residual, m.node_type, m.seconds, m.cpu_percent, m.io_mb_s`

// refit fits the measurements of a locked series with a current count, after deleting the oldest surplus ones. A fit
// that differs from the latest version becomes the next one.
func refit(ctx context.Context, q querier, c series, fit clusters.Fitter) (f perf.JobFit, err error) {
	args := pgx.NamedArgs{"series": c.ID}
	if excess := c.Measurements - perf.MaxKeptMeasurements; excess > 0 {
		args["excess"] = excess
		if _, err := q.Exec(ctx, `DELETE FROM measurements WHERE id IN (SELECT id FROM measurements WHERE series_id = @series ORDER BY at, id LIMIT @excess)`, args); err != nil {
			return f, err
		}
		c.Measurements -= excess
	}
	all, err := collect[perf.JobMeasurement](ctx, q, `
		SELECT `+measurementColumns+` FROM measurements m JOIN fit_series s ON s.id = m.series_id WHERE m.series_id = @series ORDER BY m.at DESC, m.id DESC`, args)
	if err != nil {
		return f, err
	}
	f = fit(c.Job, perf.FitKind(c.Kind), all)
	c.Refused = f.Refused
	if f.Refused == "" {
		if f, c.Version, err = nextFit(ctx, q, c, f); err != nil {
			return f, err
		}
	} else {
		f.Version = c.Version
	}
	_, err = q.Exec(ctx, `UPDATE fit_series SET measurements = @measurements, version = @version, refused = @refused WHERE id = @series`,
		pgx.NamedArgs{"series": c.ID, "measurements": len(all), "version": c.Version, "refused": c.Refused})
	return f, err
}

// nextFit returns the latest version if a fit equals it, otherwise the next one.
func nextFit(ctx context.Context, q querier, c series, f perf.JobFit) (perf.JobFit, int64, error) {
	text, err := json.Marshal(fitted{f.Power, f.TaskTime, f.Rate, f.Usage})
	if err != nil {
		return f, 0, fmt.Errorf("write the fit of %s: %w", c.Job, err)
	}
	args := pgx.NamedArgs{"series": c.ID, "version": c.Version, "next": c.Version + 1, "measurements": f.Measurements, "first": f.FirstAt, "last": f.LastAt, "fit": string(text)}
	row, err := one[fitRow](ctx, q, `SELECT `+fitColumns+` FROM fits f JOIN fit_series s ON s.id = f.series_id WHERE f.series_id = @series AND f.version = @version AND f.fit::text = @fit`, args)
	if err == nil {
		row.Refused = ""
		same, err := row.fit()
		return same, c.Version, err
	}
	if !errors.Is(err, pgx.ErrNoRows) {
		return f, 0, err
	}
	var at time.Time
	if err := q.QueryRow(ctx, `
		INSERT INTO fits (series_id, version, measurements, first_at, last_at, fit) VALUES (@series, @next, @measurements, @first, @last, @fit)
		RETURNING made_at`, args).Scan(&at); err != nil {
		return f, 0, err
	}
	args["oldest"] = c.Version + 1 - perf.MaxKeptFits
	if _, err := q.Exec(ctx, `DELETE FROM fits WHERE series_id = @series AND version <= @oldest`, args); err != nil {
		return f, 0, err
	}
	f.Version, f.MadeAt = c.Version+1, &at
	return f, c.Version + 1, nil
}

// fitted holds the stored members of a fit.
type fitted struct {
	Power    *perf.PowerFit    `json:"power,omitempty"`
	TaskTime *perf.TaskTimeFit `json:"task_time,omitempty"`
	Rate     *perf.RateFit     `json:"rate,omitempty"`
	Usage    *perf.UsageFit    `json:"usage,omitempty"`
}

const fitColumns = `s.job, s.kind, s.refused, coalesce(f.version, 0) AS version, f.made_at, coalesce(f.measurements, s.measurements) AS measurements, f.first_at, f.last_at, f.fit::text AS fit`

type fitRow struct {
	Job, Kind, Refused string
	Version            int64
	MadeAt             *time.Time
	Measurements       int64
	FirstAt, LastAt    *time.Time
	Fit                *string
}

func (r fitRow) fit() (f perf.JobFit, err error) {
	f = perf.JobFit{Job: r.Job, Kind: perf.FitKind(r.Kind), Version: r.Version, MadeAt: r.MadeAt, Measurements: r.Measurements, FirstAt: r.FirstAt, LastAt: r.LastAt, Refused: r.Refused}
	if r.Fit == nil {
		return f, nil
	}
	var kept fitted
	if err := json.Unmarshal([]byte(*r.Fit), &kept); err != nil {
		return f, fmt.Errorf("read version %d of the fit of %s: %w", r.Version, r.Job, err)
	}
	f.Power, f.TaskTime, f.Rate, f.Usage = kept.Power, kept.TaskTime, kept.Rate, kept.Usage
	return f, nil
}

func fitsOf(rows []fitRow) ([]perf.JobFit, error) {
	all := make([]perf.JobFit, len(rows))
	for i, r := range rows {
		var err error
		if all[i], err = r.fit(); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// JobFits lists the latest versions, by job and kind.
func (s *Store) JobFits(ctx context.Context, cluster string, of clusters.MeasurementFilter, page storage.Page) (list storage.Listed[perf.JobFit], err error) {
	job, kind := "", ""
	if err := readCursor(page.After, &job, &kind); err != nil {
		return list, err
	}
	err = s.read(ctx, func(ctx context.Context, q querier) error {
		id, err := clusterID(ctx, q, cluster)
		if err != nil || unstorable(of.Job) {
			return err
		}
		args := measurementFilter(id, of)
		args["after_job"], args["after_kind"], args["limit"] = job, kind, limitOf(page)+1
		rows, err := collect[fitRow](ctx, q, `
			SELECT `+fitColumns+` FROM fit_series s LEFT JOIN fits f ON f.series_id = s.id AND f.version = s.version
			WHERE s.cluster_id = @cluster AND s.measurements > 0 AND (@job::text IS NULL OR s.job = @job) AND (@kind::text IS NULL OR s.kind = @kind)
			  AND (s.job, s.kind) > (@after_job, @after_kind)
			ORDER BY s.job, s.kind LIMIT @limit`, args)
		if err != nil {
			return err
		}
		items, err := fitsOf(rows)
		list = listed(items, page, func(f perf.JobFit) []any { return []any{f.Job, f.Kind} })
		return err
	})
	return list, err
}

// JobFit returns one version, or the latest.
func (s *Store) JobFit(ctx context.Context, cluster, job string, kind perf.FitKind, version int64) (f perf.JobFit, err error) {
	err = s.read(ctx, func(ctx context.Context, q querier) error {
		id, err := clusterID(ctx, q, cluster)
		if err != nil {
			return err
		}
		if unstorable(job) {
			return noMeasurements(cluster, job, kind)
		}
		row, err := one[fitRow](ctx, q, `
			SELECT `+fitColumns+` FROM fit_series s LEFT JOIN fits f ON f.series_id = s.id AND f.version = CASE WHEN @version::bigint = 0 THEN s.version ELSE @version END
			WHERE s.cluster_id = @cluster AND s.job = @job AND s.kind = @kind AND s.measurements > 0`,
			pgx.NamedArgs{"cluster": id, "job": job, "kind": kind, "version": version})
		switch {
		case errors.Is(err, pgx.ErrNoRows):
			return noMeasurements(cluster, job, kind)
		case err != nil:
			return err
		case version != 0 && row.Version == 0:
			return notFound("the fit of %q of the kind %s in the cluster %q has no version %d, or it is one of long ago; the latest %d are kept", job, kind, cluster, version, perf.MaxKeptFits)
		}
		f, err = row.fit()
		return err
	})
	return f, err
}

// LatestFits returns the latest versions of a kind, for those jobs that have one.
func (s *Store) LatestFits(ctx context.Context, cluster string, kind perf.FitKind, jobs []string) (of map[string]perf.JobFit, err error) {
	of = map[string]perf.JobFit{}
	err = s.read(ctx, func(ctx context.Context, q querier) error {
		id, err := clusterID(ctx, q, cluster)
		if err != nil {
			return err
		}
		rows, err := collect[fitRow](ctx, q, `
			SELECT `+fitColumns+` FROM fit_series s JOIN fits f ON f.series_id = s.id AND f.version = s.version
			WHERE s.cluster_id = @cluster AND s.kind = @kind AND s.job = ANY(@jobs) AND s.measurements > 0`,
			pgx.NamedArgs{"cluster": id, "kind": kind, "jobs": storable(jobs)})
		if err != nil {
			return err
		}
		fits, err := fitsOf(rows)
		for _, f := range fits {
			of[f.Job] = f
		}
		return err
	})
	return of, err
}

func noMeasurements(cluster, job string, kind perf.FitKind) error {
	return notFound("the cluster %q has no measurements of the job %q of the kind %s; add some with POST /v1/clusters/%s/measurements", cluster, job, kind, cluster)
}

// JobFitVersions lists the newest first.
func (s *Store) JobFitVersions(ctx context.Context, cluster, job string, kind perf.FitKind, page storage.Page) (list storage.Listed[perf.JobFit], err error) {
	before := int64(1) << 62
	if err := readCursor(page.After, &before); err != nil {
		return list, err
	}
	err = s.read(ctx, func(ctx context.Context, q querier) error {
		id, err := clusterID(ctx, q, cluster)
		if err != nil {
			return err
		}
		if unstorable(job) {
			return noMeasurements(cluster, job, kind)
		}
		args := pgx.NamedArgs{"cluster": id, "job": job, "kind": kind, "before": before, "limit": limitOf(page) + 1}
		c, err := one[series](ctx, q, `SELECT `+seriesColumns+` FROM fit_series s WHERE s.cluster_id = @cluster AND s.job = @job AND s.kind = @kind AND s.measurements > 0`, args)
		if errors.Is(err, pgx.ErrNoRows) {
			return noMeasurements(cluster, job, kind)
		}
		if err != nil {
			return err
		}
		args["series"] = c.ID
		rows, err := collect[fitRow](ctx, q, `
			SELECT `+fitColumns+` FROM fits f JOIN fit_series s ON s.id = f.series_id WHERE f.series_id = @series AND f.version < @before ORDER BY f.version DESC LIMIT @limit`, args)
		if err != nil {
			return err
		}
		items, err := fitsOf(rows)
		list = listed(items, page, func(f perf.JobFit) []any { return []any{f.Version} })
		return err
	})
	return list, err
}

const filteredMeasurements = `
	m.cluster_id = @cluster AND (@job::text IS NULL OR s.job = @job) AND (@kind::text IS NULL OR s.kind = @kind)
	AND (@from::timestamptz IS NULL OR m.at >= @from) AND (@until::timestamptz IS NULL OR m.at < @until)`

func measurementFilter(cluster int64, of clusters.MeasurementFilter) pgx.NamedArgs {
	args := pgx.NamedArgs{"cluster": cluster, "job": nil, "kind": nil, "from": nil, "until": nil}
	if of.Job != "" {
		args["job"] = of.Job
	}
	if of.Kind != "" {
		args["kind"] = of.Kind
	}
	if !of.From.IsZero() {
		args["from"] = of.From
	}
	if !of.Until.IsZero() {
		args["until"] = of.Until
	}
	return args
}

// JobMeasurements lists the newest first.
func (s *Store) JobMeasurements(ctx context.Context, cluster string, of clusters.MeasurementFilter, page storage.Page) (list storage.Listed[perf.JobMeasurement], err error) {
	at, id := time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC), uuid.Max
	if err := readCursor(page.After, &at, &id); err != nil {
		return list, err
	}
	err = s.read(ctx, func(ctx context.Context, q querier) error {
		number, err := clusterID(ctx, q, cluster)
		if err != nil || unstorable(of.Job) {
			return err
		}
		args := measurementFilter(number, of)
		args["before"], args["before_id"], args["limit"] = at, id, limitOf(page)+1
		rows, err := collect[perf.JobMeasurement](ctx, q, `
			SELECT `+measurementColumns+` FROM measurements m JOIN fit_series s ON s.id = m.series_id
			WHERE `+filteredMeasurements+` AND (m.at, m.id) < (@before, @before_id) ORDER BY m.at DESC, m.id DESC LIMIT @limit`, args)
		list = listed(rows, page, func(m perf.JobMeasurement) []any { return []any{m.At, m.ID} })
		return err
	})
	return list, err
}

// DeleteMeasurements deletes the measurements that match a filter, and fits the rest again. Without a rest the fits
// are deleted too; their numbers are not used again.
func (s *Store) DeleteMeasurements(ctx context.Context, cluster string, of clusters.MeasurementFilter, fit clusters.Fitter) (deleted int64, err error) {
	err = s.writeMuch(ctx, func(ctx context.Context, q querier) error {
		deleted = 0
		id, err := clusterID(ctx, q, cluster)
		if err != nil || unstorable(of.Job) {
			return err
		}
		args := measurementFilter(id, of)
		concerned, err := collect[series](ctx, q, `
			SELECT `+seriesColumns+` FROM fit_series s
			WHERE s.cluster_id = @cluster AND (@job::text IS NULL OR s.job = @job) AND (@kind::text IS NULL OR s.kind = @kind) AND s.measurements > 0
			ORDER BY s.job, s.kind FOR UPDATE`, args)
		if err != nil {
			return err
		}
		for _, c := range concerned {
			args["series"] = c.ID
			done, err := q.Exec(ctx, `DELETE FROM measurements m USING fit_series s WHERE s.id = m.series_id AND m.series_id = @series AND `+filteredMeasurements, args)
			if err != nil {
				return err
			}
			gone := done.RowsAffected()
			if deleted += gone; gone == 0 {
				continue
			}
			if c.Measurements -= gone; c.Measurements > 0 {
				_, err = refit(ctx, q, c, fit)
			} else {
				_, err = q.Exec(ctx, `
					WITH emptied AS (UPDATE fit_series SET measurements = 0, refused = '' WHERE id = @series RETURNING id)
					DELETE FROM fits USING emptied WHERE series_id = emptied.id`, args)
			}
			if err != nil {
				return err
			}
		}
		if deleted == 0 {
			return nil
		}
		before := map[string]any{"measurements": deleted}
		if of.Kind != "" {
			before["kind"] = of.Kind
		}
		if !of.From.IsZero() {
			before["from"] = of.From
		}
		if !of.Until.IsZero() {
			before["until"] = of.Until
		}
		return record(ctx, q, entry{Cluster: cluster, Action: inputs.Delete, Kind: perf.MeasurementsKind, Name: of.Job, Before: before})
	})
	return deleted, err
}

// ExecutionSizes returns the latest successful executions of a job.
func (s *Store) ExecutionSizes(ctx context.Context, cluster, job string, most int) (sizes []perf.ExecutionSize, err error) {
	err = s.read(ctx, func(ctx context.Context, q querier) error {
		id, err := clusterID(ctx, q, cluster)
		if err != nil || unstorable(job) {
			return err
		}
		sizes, err = collect[perf.ExecutionSize](ctx, q, `
			SELECT e.seconds, coalesce(e.map_slots, 0) AS map_slots,
			       coalesce(CASE WHEN e.form = 'stages' THEN (SELECT max((p ->> 'tasks')::bigint) FROM jsonb_array_elements(e.sample -> 'phases') p)
			                     ELSE (e.sample -> 'profile' ->> 'map_tasks')::bigint END, 0) AS map_tasks
			FROM executions e WHERE e.cluster_id = @cluster AND e.job = @job AND e.sample IS NOT NULL AND e.seconds > 0
			ORDER BY `+undatedAt+` DESC, e.id DESC LIMIT @most`, pgx.NamedArgs{"cluster": id, "job": job, "most": most})
		return err
	})
	return sizes, err
}
