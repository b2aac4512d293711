package postgres

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"headroom/internal/data/storage"
	"headroom/internal/service/app"
	"headroom/internal/service/auth"
	"headroom/internal/service/reporting"
)

// ReportSchedules are kept by name. They are no inputs: no plan depends on one.
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

// schedulesAtOnce is how many schedules one look takes at most: the next one comes soon.
const schedulesAtOnce = 50

// StartDueReports starts the report of every schedule whose moment has come, and works out the next one. Of any
// number of servers who try one has the row, and moves it on in the transaction that makes the run.
//
// A schedule that waits for much longer than it ever should was moved on by a clock that was wrong: its next
// moment is worked out anew, and nothing is made up for.
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
				if _, err := s.insertRun(ctx, q, app.ReportRun, auth.Operator, &r.Cluster, &r.Called, text); err != nil {
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
