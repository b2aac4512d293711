package postgres

import (
	"cmp"
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"example.org/headroom/internal/data/storage"
	"example.org/headroom/internal/service/auth"
	"example.org/headroom/internal/service/hooks"
	"example.org/headroom/internal/service/plans"
	"example.org/headroom/internal/service/report/reporting"
	"example.org/headroom/internal/service/runs"
)

// reportRow is a report, or the run of one that was not made.
type reportRow struct {
	ID        string
	Schedule  *string
	Every     reporting.Every
	Covers    reporting.Covers
	Format    reporting.ReportFormat
	At        time.Time
	Begins    time.Time
	Ends      time.Time
	State     runs.RunState
	By        string
	CreatedAt time.Time
	MadeAt    *time.Time
	File      *string
	Size      *int64
	Sha256    []byte
	Error     *runs.RunError
}

// selectReports reads reports r of @cluster: finished ones, and runs that wait, work or failed.
const selectReports = `
	SELECT r.* FROM (
	    SELECT id::text, schedule, every, covers, format, at, begins, ends, 'succeeded' AS state, created_by AS by, created_at, made_at, file, size, sha256, NULL::json AS error
	    FROM reports WHERE cluster_id = @cluster
	    UNION ALL
	    SELECT id::text, input->>'schedule', input->>'every', input->>'covers', input->>'format', (input->>'at')::timestamptz, (input->>'from')::timestamptz, (input->>'until')::timestamptz,
	           state, created_by, created_at, NULL, NULL, NULL, NULL, error
	    FROM runs WHERE cluster_id = @cluster AND kind = 'report' AND state <> 'succeeded') r`

func (r reportRow) report(cluster string) reporting.Report {
	made := reporting.Report{ID: r.ID, Schedule: r.Schedule, Every: r.Every, Covers: r.Covers, Format: r.Format, At: r.At, From: r.Begins, Until: r.Ends,
		State: r.State, By: r.By, CreatedAt: r.CreatedAt, MadeAt: r.MadeAt, Error: r.Error}
	if r.File != nil {
		made.File = &reporting.ReportFile{Name: *r.File, MediaType: r.Format.MediaType(), Size: *r.Size, SHA256: hex.EncodeToString(r.Sha256), URL: reporting.ReportURL(cluster, r.ID)}
	}
	return made
}

// Reports lists the newest first.
func (s *Store) Reports(ctx context.Context, cluster string, of reporting.Filter, page storage.Page) (list storage.Listed[reporting.Report], err error) {
	before := uuid.Max
	if err := readCursor(page.After, &before); err != nil {
		return list, err
	}
	if unstorable(of.Schedule) {
		return storage.Listed[reporting.Report]{Items: []reporting.Report{}}, nil
	}
	err = s.read(ctx, func(ctx context.Context, q querier) error {
		id, err := clusterID(ctx, q, cluster)
		if err != nil {
			return err
		}
		found, err := collect[reportRow](ctx, q, selectReports+`
			WHERE r.id < @before AND (@schedule = '' OR r.schedule = @schedule) ORDER BY r.id DESC LIMIT @limit`,
			pgx.NamedArgs{"cluster": id, "before": before.String(), "schedule": of.Schedule, "limit": limitOf(page) + 1})
		if err != nil {
			return err
		}
		items := make([]reporting.Report, len(found))
		for i, r := range found {
			items[i] = r.report(cluster)
		}
		list = listed(items, page, func(r reporting.Report) []any { return []any{r.ID} })
		return nil
	})
	return list, err
}

// Report returns a report by its id.
func (s *Store) Report(ctx context.Context, cluster, id string) (r reporting.Report, err error) {
	err = s.read(ctx, func(ctx context.Context, q querier) error {
		number, err := clusterID(ctx, q, cluster)
		if err != nil {
			return err
		}
		missing := notFound("the cluster %q has no report with the id %.60q", cluster, id)
		if uuid.Validate(id) != nil || len(id) != 36 {
			return missing
		}
		found, err := one[reportRow](ctx, q, selectReports+` WHERE r.id = lower(@id)`, pgx.NamedArgs{"cluster": number, "id": id})
		if errors.Is(err, pgx.ErrNoRows) {
			return missing
		}
		r = found.report(cluster)
		return err
	})
	return r, err
}

// ReportPart returns one part of a report's file. All parts but the last have reporting.PartSize bytes.
func (s *Store) ReportPart(ctx context.Context, id string, part int64) (body []byte, err error) {
	err = s.read(ctx, func(ctx context.Context, q querier) error {
		err := q.QueryRow(ctx, `SELECT body FROM report_parts WHERE report_id = @id AND part = @part`, pgx.NamedArgs{"id": id, "part": part}).Scan(&body)
		if errors.Is(err, pgx.ErrNoRows) {
			return notFound("the report %s is not kept any longer", id)
		}
		return err
	})
	return body, err
}

// SaveReport stores the report of a run, notifies webhooks, and deletes surplus reports.
func (s *Store) SaveReport(ctx context.Context, cluster string, r reporting.Report, parts [][]byte, sum [32]byte) (reporting.Report, error) {
	err := s.writeMuch(ctx, func(ctx context.Context, q querier) error {
		number, err := clusterID(ctx, q, cluster)
		if err != nil {
			return err
		}
		_, err = q.Exec(ctx, `
			INSERT INTO reports (id, cluster_id, schedule, every, covers, format, at, begins, ends, created_by, created_at, file, size, sha256)
			SELECT @id, @cluster, @schedule, @every, @covers, @format, @at, @begins, @ends, n.created_by, n.created_at, @file, @size, @sum FROM runs n WHERE n.id = @id`,
			pgx.NamedArgs{"id": r.ID, "cluster": number, "schedule": r.Schedule, "every": r.Every, "covers": r.Covers, "format": r.Format, "at": r.At,
				"begins": r.From, "ends": r.Until, "file": r.File.Name, "size": r.File.Size, "sum": sum[:]})
		if err != nil {
			return err
		}
		for i, body := range parts {
			if _, err := q.Exec(ctx, `INSERT INTO report_parts (report_id, part, body) VALUES (@id, @part, @body)`, pgx.NamedArgs{"id": r.ID, "part": i, "body": body}); err != nil {
				return fmt.Errorf("store part %d of report %s: %w", i, r.ID, err)
			}
		}
		found, err := one[reportRow](ctx, q, selectReports+` WHERE r.id = @id AND r.state = 'succeeded'`, pgx.NamedArgs{"cluster": number, "id": r.ID})
		if err != nil {
			return err
		}
		r = found.report(cluster)
		if _, err := forgetReports(ctx, q, &number); err != nil {
			return err
		}
		return s.tell(ctx, q, hooks.ReportMade, cluster, func(head hooks.EventHead) any {
			return reporting.ReportMadeEvent{EventHead: head, Report: r}
		})
	})
	return r, err
}

// SweepReports forgets the reports that there are too many of.
func (s *Store) SweepReports(ctx context.Context) (deleted int64, err error) {
	err = s.writeMuch(ctx, func(ctx context.Context, q querier) error {
		deleted, err = forgetReports(ctx, q, nil)
		return err
	})
	return deleted, err
}

// forgetReports deletes all but the newest reports of each schedule, of those without a schedule, and of deleted
// clusters; nil is every cluster.
func forgetReports(ctx context.Context, q querier, cluster *int64) (int64, error) {
	done, err := q.Exec(ctx, `
		DELETE FROM reports WHERE id IN (
		    SELECT id FROM (
		        SELECT r.id, coalesce(s.keep, @unscheduled) AS keep, c.deleted_at IS NOT NULL AS gone, row_number() OVER (PARTITION BY r.cluster_id, s.id ORDER BY r.id DESC) AS nth
		        FROM reports r JOIN clusters c ON c.id = r.cluster_id LEFT JOIN report_schedules s ON s.cluster_id = r.cluster_id AND s.name = r.schedule
		        WHERE @cluster::bigint IS NULL OR r.cluster_id = @cluster) ranked
		    WHERE nth > keep OR gone)`, pgx.NamedArgs{"cluster": cluster, "unscheduled": reporting.UnscheduledKept})
	return done.RowsAffected(), err
}

// PlansOf returns the plans that were current in a cluster in some time, one after the other.
func (s *Store) PlansOf(ctx context.Context, cluster string, from, until time.Time) (stints []plans.PlanStint, seen []plans.SeenVMs, err error) {
	err = s.readAll(ctx, func(ctx context.Context, q querier) error {
		id, err := clusterID(ctx, q, cluster)
		if err != nil {
			return err
		}
		args := pgx.NamedArgs{"cluster": id, "from": from, "until": until}
		stints, err = collect[plans.PlanStint](ctx, q, `
			SELECT greatest(t.since, @from) AS since, least(t.until, @until, clock_timestamp()) AS until, t.number, p.currency, p.period_seconds, p.vms, p.vms_on_demand, p.refused, p.total_cost, p.penalties
			FROM (SELECT since, lead(since) OVER (ORDER BY since) AS until, number FROM plan_reigns WHERE cluster_id = @cluster) t
			JOIN plans p ON p.cluster_id = @cluster AND p.number = t.number
			WHERE t.since < @until AND (t.until IS NULL OR t.until > @from) AND t.since < clock_timestamp()
			ORDER BY t.since`, args)
		if err != nil {
			return fmt.Errorf("read the plans of cluster %s: %w", cluster, err)
		}
		seen, err = collect[plans.SeenVMs](ctx, q, `
			SELECT date_trunc('hour', at, 'UTC') AS hour, avg(vms)::float8 AS vms, count(*) AS count FROM observations
			WHERE cluster_id = @cluster AND at >= @from AND at < @until GROUP BY 1 ORDER BY 1`, args)
		if err != nil {
			return fmt.Errorf("read the observations of cluster %s: %w", cluster, err)
		}
		return nil
	})
	return stints, seen, err
}

// ReportSchedules stores schedules by name. They are no inputs: no plan depends on one.
func (s *Store) ReportSchedules() storage.Collection[reporting.ReportSchedule] {
	return inputStore[reporting.ReportSchedule]{s, &reportSchedules}
}

const scheduleColumns = `s.name, s.every, s.hour, s.covers, s.format, s.enabled, s.keep, s.next_at, s.version, s.created_at, s.updated_at`

var reportSchedules = kind[reporting.ReportSchedule]{
	word:    reporting.ReportScheduleKind,
	noun:    "report schedule",
	aside:   true,
	selects: `SELECT ` + scheduleColumns + ` FROM report_schedules s WHERE s.cluster_id = @cluster`,
	named:   ` AND s.name = @name`,
	after:   ` AND s.name > @after ORDER BY s.name`,
	insert: `
		INSERT INTO report_schedules (cluster_id, name, every, hour, covers, format, enabled, keep, next_at)
		VALUES (@cluster, @name, @every, @hour, @covers, @format, @enabled, @keep, @next_at)`,
	update: `
		UPDATE report_schedules SET every = @every, hour = @hour, covers = @covers, format = @format, enabled = @enabled, keep = @keep,
		       next_at = @next_at, version = version + 1, updated_at = now()
		WHERE cluster_id = @cluster AND name = @name`,
	remove: `DELETE FROM report_schedules WHERE cluster_id = @cluster AND name = @name`,
	args: func(s reporting.ReportSchedule) pgx.NamedArgs {
		return pgx.NamedArgs{"name": s.Name, "every": s.Every, "hour": s.Hour, "covers": s.Covers, "format": s.Format,
			"enabled": s.Enabled, "keep": s.Keep, "next_at": s.NextAt}
	},
	collect: pgx.RowToStructByName[reporting.ReportSchedule],
	name:    func(s reporting.ReportSchedule) string { return s.Name },
	label:   func(s reporting.ReportSchedule) string { return s.Name },
	sortKey: func(s reporting.ReportSchedule) []any { return []any{s.Name} },
	start:   byName,
	prepare: func(s reporting.ReportSchedule, name string) reporting.ReportSchedule {
		s.Name = cmp.Or(name, s.Name)
		return s
	},
}

// schedulesAtOnce is the maximum number of schedules that one sweep takes: the next one comes soon.
const schedulesAtOnce = 50

// StartDueReports starts the report of every due schedule, and computes its next moment. Among several servers, one
// locks the row, and moves it on in the transaction that makes the run.
//
// If a schedule waits for much longer than it ever should, a wrong clock moved it on. Its next moment is computed
// again, and missed reports are not made.
func (s *Store) StartDueReports(ctx context.Context, now time.Time, decide func(reporting.ReportSchedule, string) (*reporting.ReportInput, time.Time)) (started int, err error) {
	err = s.write(ctx, func(ctx context.Context, q querier) error {
		type row struct {
			ID, Cluster  int64
			Called, Zone string
			Due          bool
			reporting.ReportSchedule
		}
		found, err := collect[row](ctx, q, `
			SELECT s.id, s.cluster_id AS cluster, c.name AS called, c.time_zone AS zone, s.next_at IS NOT NULL AND s.next_at <= @now AS due, `+scheduleColumns+`
			FROM report_schedules s JOIN clusters c ON c.id = s.cluster_id
			WHERE s.enabled AND c.deleted_at IS NULL AND (s.next_at IS NULL OR s.next_at <= @now OR s.next_at > @now::timestamptz
			      + CASE s.every WHEN 'day' THEN interval '3 days' WHEN 'week' THEN interval '9 days' ELSE interval '33 days' END)
			ORDER BY s.id LIMIT @most FOR UPDATE OF s SKIP LOCKED`, pgx.NamedArgs{"now": now, "most": schedulesAtOnce})
		if err != nil {
			return err
		}
		started = 0
		for _, r := range found {
			input, next := decide(r.ReportSchedule, r.Zone)
			if r.Due && input != nil {
				text, err := json.Marshal(input)
				if err != nil {
					return fmt.Errorf("write the input of a report: %w", err)
				}
				if _, err := s.insertRun(ctx, q, reporting.RunKind, auth.Operator, &r.Cluster, &r.Called, text); err != nil {
					return fmt.Errorf("start the report %q of cluster %s: %w", r.Name, r.Called, err)
				}
				started++
			}
			if _, err := q.Exec(ctx, `UPDATE report_schedules SET next_at = @next, version = version + 1 WHERE id = @id`, pgx.NamedArgs{"id": r.ID, "next": next}); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return 0, err
	}
	return started, nil
}
