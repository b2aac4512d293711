package postgres

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"example.org/headroom/internal/data/history"
	"example.org/headroom/internal/data/inputs"
	"example.org/headroom/internal/data/storage"
	"example.org/headroom/internal/service/auth"
	"example.org/headroom/internal/service/clusters"
)

// given holds the records of a batch as rows, each joined with its stored execution. worth is history.Record's.
const given = `
	WITH given AS (
	    SELECT *, CASE WHEN sample IS NOT NULL THEN 2 WHEN outcome <> 'unfinished' THEN 1 ELSE 0 END AS worth
	    FROM unnest(@ids::uuid[], @jobs::text[], @executions::text[], @users::text[], @queues::text[], @submitted::timestamptz[], @finished::timestamptz[], @seconds::float8[],
	                @outcomes::text[], @forms::text[], @map_slots::bigint[], @reduce_slots::bigint[], @samples::text[], @refused::text[]) WITH ORDINALITY
	         AS r (id, job, execution, run_as, queue, submitted_at, finished_at, seconds, outcome, form, map_slots, reduce_slots, sample, refused, place))`

const worth = `CASE WHEN executions.sample IS NOT NULL THEN 2 WHEN executions.outcome <> 'unfinished' THEN 1 ELSE 0 END`

// PutExecutions stores records, each of another execution. A record replaces a stored one only if it is worth more,
// even beside other writers.
func (s *Store) PutExecutions(ctx context.Context, cluster string, records []history.Record, run string, dryRun bool) ([]clusters.Put, error) {
	args, err := executionArgs(records)
	if err != nil {
		return nil, err
	}
	args["by"], args["run"] = auth.From(ctx).Name, nil
	if run != "" {
		args["run"] = run
	}
	type row struct {
		Execution string
		Created   bool
	}
	states := make([]clusters.Put, len(records))
	err = s.writeMuch(ctx, func(ctx context.Context, q querier) error {
		id, err := clusterID(ctx, q, cluster)
		if err != nil {
			return err
		}
		args["cluster"] = id
		sql := given + `, put AS (
			    INSERT INTO executions (id, cluster_id, job, execution, run_as, queue, submitted_at, finished_at, seconds, outcome, form, map_slots, reduce_slots, sample, refused, imported_by, run_id)
			    SELECT id, @cluster, job, execution, run_as, queue, submitted_at, finished_at, seconds, outcome, form, map_slots, reduce_slots, sample::jsonb, refused, @by, @run::uuid
			    FROM given ORDER BY place
			    ON CONFLICT (cluster_id, execution) DO UPDATE SET
			        job = excluded.job, run_as = excluded.run_as, queue = excluded.queue, submitted_at = excluded.submitted_at, finished_at = excluded.finished_at,
			        seconds = excluded.seconds, outcome = excluded.outcome, form = excluded.form, map_slots = excluded.map_slots, reduce_slots = excluded.reduce_slots,
			        sample = excluded.sample, refused = excluded.refused, imported_at = clock_timestamp(), imported_by = excluded.imported_by, run_id = excluded.run_id
			    WHERE CASE WHEN excluded.sample IS NOT NULL THEN 2 WHEN excluded.outcome <> 'unfinished' THEN 1 ELSE 0 END > ` + worth + `
			    RETURNING execution, id)
			SELECT put.execution, put.id = given.id AS created FROM put JOIN given USING (execution)`
		if dryRun {
			sql = given + `
			SELECT given.execution, executions.id IS NULL AS created
			FROM given LEFT JOIN executions ON executions.cluster_id = @cluster AND executions.execution = given.execution
			WHERE executions.id IS NULL OR given.worth > ` + worth
		}
		rows, err := collect[row](ctx, q, sql, args)
		if err != nil {
			return fmt.Errorf("store executions of cluster %s: %w", cluster, err)
		}
		created := make(map[string]bool, len(rows))
		for _, r := range rows {
			created[r.Execution] = r.Created
		}
		for i := range records {
			states[i] = clusters.PutUnchanged
			if isNew, changed := created[records[i].Execution]; isNew {
				states[i] = clusters.PutCreated
			} else if changed {
				states[i] = clusters.PutUpdated
			}
		}
		return nil
	})
	return states, err
}

func executionArgs(records []history.Record) (pgx.NamedArgs, error) {
	n := len(records)
	texts := map[string][]string{}
	for _, column := range []string{"ids", "jobs", "executions", "users", "queues", "outcomes", "forms", "refused"} {
		texts[column] = make([]string, n)
	}
	submitted, finished, seconds := make([]*time.Time, n), make([]*time.Time, n), make([]*float64, n)
	mapSlots, reduceSlots, samples := make([]*int64, n), make([]*int64, n), make([]*string, n)
	known := func(slots int64) *int64 {
		if slots == 0 {
			return nil
		}
		return &slots
	}
	for i := range records {
		r := &records[i]
		texts["ids"][i], texts["jobs"][i], texts["executions"][i], texts["users"][i] = newID(), r.Job, r.Execution, r.User
		texts["queues"][i], texts["outcomes"][i], texts["forms"][i], texts["refused"][i] = r.Queue, r.Outcome, r.Form, r.Refused
		submitted[i], finished[i], seconds[i] = r.SubmittedAt, r.FinishedAt, r.Seconds
		var sample any
		switch {
		case r.Sample != nil:
			sample, mapSlots[i] = r.Sample, known(r.Sample.MapSlots)
			if reduceSlots[i] = known(r.Sample.ReduceSlots); r.Sample.Profile.ReduceTasks == 0 && mapSlots[i] != nil {
				reduceSlots[i] = new(int64)
			}
		case r.Chain != nil:
			sample, mapSlots[i] = r.Chain, known(r.Chain.MapSlots)
		}
		var err error
		if samples[i], err = jsonText(sample); err != nil {
			return nil, fmt.Errorf("write the sample of execution %s: %w", r.Execution, err)
		}
	}
	args := pgx.NamedArgs{"submitted": submitted, "finished": finished, "seconds": seconds, "map_slots": mapSlots, "reduce_slots": reduceSlots, "samples": samples}
	for column, values := range texts {
		args[column] = values
	}
	return args, nil
}

// RecordImport writes the results of an import to the audit log, without the refused records.
func (s *Store) RecordImport(ctx context.Context, cluster string, made clusters.HistoryImport) error {
	after := map[string]int64{"executions": made.Executions, "created": made.Created, "updated": made.Updated, "unchanged": made.Unchanged,
		"unusable": made.Unusable.Count, "refused": made.Refused.Count, "jobs": int64(len(made.Jobs)) + made.MoreJobs}
	name := ""
	if len(made.Jobs) == 1 {
		name = made.Jobs[0].Job
	}
	return s.write(ctx, func(ctx context.Context, q querier) error {
		return record(ctx, q, entry{Cluster: cluster, Action: inputs.Create, Kind: inputs.ExecutionKind, Name: name, After: after})
	})
}

// CountExecutions counts a cluster's executions, up to a limit.
func (s *Store) CountExecutions(ctx context.Context, cluster string, most int64) (n int64, err error) {
	err = s.read(ctx, func(ctx context.Context, q querier) error {
		id, err := clusterID(ctx, q, cluster)
		if err != nil {
			return err
		}
		return q.QueryRow(ctx, `SELECT count(*) FROM (SELECT FROM executions WHERE cluster_id = @cluster LIMIT @most) there`, pgx.NamedArgs{"cluster": id, "most": most}).Scan(&n)
	})
	return n, err
}

// KnownExecutions returns the executions that need not be fetched again.
func (s *Store) KnownExecutions(ctx context.Context, cluster string, executions []string, run string) (known []clusters.KnownExecution, err error) {
	err = s.read(ctx, func(ctx context.Context, q querier) error {
		id, err := clusterID(ctx, q, cluster)
		if err != nil {
			return err
		}
		args := pgx.NamedArgs{"cluster": id, "executions": slices.DeleteFunc(slices.Clone(executions), unstorable), "run": nil}
		if run != "" {
			args["run"] = run
		}
		known, err = collect[clusters.KnownExecution](ctx, q, `
			SELECT execution, job, refused, submitted_at, run_id IS NOT DISTINCT FROM @run::uuid AND run_id IS NOT NULL AS ours
			FROM executions
			WHERE cluster_id = @cluster AND execution = ANY (@executions::text[])
			  AND (sample IS NOT NULL OR outcome IN ('failed', 'killed') OR run_id = @run::uuid)
			ORDER BY execution`, args)
		return err
	})
	return known, err
}

const executionColumns = `e.id, e.job, e.execution, e.run_as, e.queue, e.submitted_at, e.finished_at, e.seconds, e.outcome, e.form, e.map_slots, e.reduce_slots, e.refused, e.imported_at, e.imported_by, e.run_id`

// executionRow is a stored execution.
type executionRow struct {
	ID, Job, Execution, RunAs, Queue string
	SubmittedAt, FinishedAt          *time.Time
	Seconds                          *float64
	Outcome, Form                    string
	MapSlots, ReduceSlots            *int64
	Refused                          string
	ImportedAt                       time.Time
	ImportedBy                       string
	RunID                            *string
}

func (r executionRow) execution() history.StoredExecution {
	return history.StoredExecution{ID: r.ID, MapSlots: r.MapSlots, ReduceSlots: r.ReduceSlots, ImportedAt: r.ImportedAt, ImportedBy: r.ImportedBy, RunID: r.RunID,
		Facts: history.Facts{Job: r.Job, Execution: r.Execution, User: r.RunAs, Queue: r.Queue, SubmittedAt: r.SubmittedAt, FinishedAt: r.FinishedAt,
			Seconds: r.Seconds, Outcome: r.Outcome, Form: r.Form, Refused: r.Refused}}
}

// sampledRow is a stored execution with its sample.
type sampledRow struct {
	executionRow
	Sample []byte
}

func (r sampledRow) record() (history.Record, error) {
	made := history.Record{Facts: r.execution().Facts}
	var err error
	switch {
	case r.Sample == nil:
	case r.Form == history.Stages:
		err = json.Unmarshal(r.Sample, &made.Chain)
	default:
		err = json.Unmarshal(r.Sample, &made.Sample)
	}
	if err != nil {
		err = fmt.Errorf("read the sample of execution %s: %w", r.ID, err)
	}
	return made, err
}

const undatedAt = `coalesce(e.submitted_at, '1970-01-01 00:00:00+00')`

// filteredExecutions selects a cluster's executions that match a filter.
const filteredExecutions = `
	e.cluster_id = @cluster AND (@job::text IS NULL OR e.job = @job) AND (@user::text IS NULL OR e.run_as = @user) AND (@queue::text IS NULL OR e.queue = @queue)
	AND (@outcome::text IS NULL OR e.outcome = @outcome)
	AND (@from::timestamptz IS NULL OR e.submitted_at >= @from) AND (@until::timestamptz IS NULL OR e.submitted_at < @until)`

func executionFilter(cluster int64, of clusters.ExecutionFilter) pgx.NamedArgs {
	args := pgx.NamedArgs{"cluster": cluster, "from": nil, "until": nil}
	for name, text := range map[string]string{"job": of.Job, "user": of.User, "queue": of.Queue, "outcome": of.Outcome} {
		if args[name] = nil; text != "" {
			args[name] = text
		}
	}
	if !of.From.IsZero() {
		args["from"] = of.From
	}
	if !of.Until.IsZero() {
		args["until"] = of.Until
	}
	return args
}

func unstorableFilter(of clusters.ExecutionFilter) bool {
	return unstorable(of.Job) || unstorable(of.User) || unstorable(of.Queue) || unstorable(of.Outcome)
}

// pageOfExecutions reads a page of rows, the newest first.
func pageOfExecutions[T any](ctx context.Context, s *Store, cluster string, of clusters.ExecutionFilter, page storage.Page, columns, also string) (rows []T, err error) {
	at, id := time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC), uuid.Max
	if err := readCursor(page.After, &at, &id); err != nil {
		return nil, err
	}
	err = s.read(ctx, func(ctx context.Context, q querier) error {
		number, err := clusterID(ctx, q, cluster)
		if err != nil || unstorableFilter(of) {
			return err
		}
		args := executionFilter(number, of)
		args["before"], args["before_id"], args["limit"] = at, id, limitOf(page)+1
		rows, err = collect[T](ctx, q, `
			SELECT `+columns+` FROM executions e WHERE `+filteredExecutions+also+` AND (`+undatedAt+`, e.id) < (@before, @before_id)
			ORDER BY `+undatedAt+` DESC, e.id DESC LIMIT @limit`, args)
		return err
	})
	return rows, err
}

func (r executionRow) key() []any {
	at := time.Unix(0, 0).UTC()
	if r.SubmittedAt != nil {
		at = *r.SubmittedAt
	}
	return []any{at, r.ID}
}

// Executions lists the newest first.
func (s *Store) Executions(ctx context.Context, cluster string, of clusters.ExecutionFilter, page storage.Page) (list storage.Listed[history.StoredExecution], err error) {
	rows, err := pageOfExecutions[executionRow](ctx, s, cluster, of, page, executionColumns, "")
	kept := listed(rows, page, executionRow.key)
	list.Next, list.Items = kept.Next, make([]history.StoredExecution, len(kept.Items))
	for i, r := range kept.Items {
		list.Items[i] = r.execution()
	}
	return list, err
}

// Samples lists the executions that can become profiles.
func (s *Store) Samples(ctx context.Context, cluster string, of clusters.ExecutionFilter, page storage.Page) (list storage.Listed[history.Record], err error) {
	rows, err := pageOfExecutions[sampledRow](ctx, s, cluster, of, page, executionColumns+`, e.sample::text AS sample`, ` AND e.sample IS NOT NULL`)
	if err != nil {
		return list, err
	}
	kept := listed(rows, page, func(r sampledRow) []any { return r.key() })
	list.Next, list.Items = kept.Next, make([]history.Record, len(kept.Items))
	for i, r := range kept.Items {
		if list.Items[i], err = r.record(); err != nil {
			return list, err
		}
	}
	return list, nil
}

// Execution returns an execution by its ID.
func (s *Store) Execution(ctx context.Context, cluster, id string) (made history.SampledExecution, err error) {
	err = s.read(ctx, func(ctx context.Context, q querier) error {
		number, err := clusterID(ctx, q, cluster)
		if err != nil {
			return err
		}
		if uuid.Validate(id) != nil || len(id) != len(uuid.Nil.String()) {
			return noExecution(cluster, id)
		}
		row, err := one[sampledRow](ctx, q, `SELECT `+executionColumns+`, e.sample::text AS sample FROM executions e WHERE e.cluster_id = @cluster AND e.id = @id`,
			pgx.NamedArgs{"cluster": number, "id": id})
		if errors.Is(err, pgx.ErrNoRows) {
			return noExecution(cluster, id)
		}
		if err != nil {
			return err
		}
		r, err := row.record()
		made = history.SampledExecution{StoredExecution: row.execution(), Sample: r.Sample, Chain: r.Chain}
		return err
	})
	return made, err
}

func noExecution(cluster, id string) error {
	return notFound("the cluster %q has no execution with the id %q", cluster, id)
}

// Spans returns the times of executions that overlap the filter's time.
func (s *Store) Spans(ctx context.Context, cluster string, of clusters.ExecutionFilter, most int64) (spans []history.Span, undated int64, err error) {
	type row struct{ SubmittedAt, FinishedAt time.Time }
	since, always := of.From, of
	of.From = time.Time{}
	always.From, always.Until = time.Time{}, time.Time{}
	err = s.read(ctx, func(ctx context.Context, q querier) error {
		id, err := clusterID(ctx, q, cluster)
		if err != nil || unstorableFilter(of) {
			return err
		}
		args := executionFilter(id, of)
		if args["most"], args["since"] = most, nil; !since.IsZero() {
			args["since"] = since
		}
		if err := q.QueryRow(ctx, `SELECT count(*) FROM executions e WHERE `+filteredExecutions+` AND (e.finished_at > e.submitted_at) IS NOT TRUE`, executionFilter(id, always)).Scan(&undated); err != nil {
			return err
		}
		rows, err := collect[row](ctx, q, `
			SELECT e.submitted_at, e.finished_at FROM executions e
			WHERE `+filteredExecutions+` AND e.finished_at > e.submitted_at AND (@since::timestamptz IS NULL OR e.finished_at > @since)
			ORDER BY e.submitted_at DESC LIMIT @most`, args)
		for _, r := range rows {
			spans = append(spans, history.Span{From: r.SubmittedAt.UnixMilli(), Until: r.FinishedAt.UnixMilli()})
		}
		return err
	})
	return spans, undated, err
}

// RecordedJobs lists the jobs that have executions.
func (s *Store) RecordedJobs(ctx context.Context, cluster string, page storage.Page) (list storage.Listed[history.RecordedJob], err error) {
	after := ""
	if err := readCursor(page.After, &after); err != nil {
		return list, err
	}
	err = s.read(ctx, func(ctx context.Context, q querier) error {
		id, err := clusterID(ctx, q, cluster)
		if err != nil {
			return err
		}
		rows, err := collect[history.RecordedJob](ctx, q, `
			SELECT job, count(*) AS executions, count(sample) AS usable, count(*) - count(sample) AS refused, min(submitted_at) AS first_at, max(submitted_at) AS last_at,
			       round((percentile_cont(0.5) WITHIN GROUP (ORDER BY seconds) FILTER (WHERE sample IS NOT NULL))::numeric, 6)::float8 AS seconds
			FROM executions WHERE cluster_id = @cluster AND job > @after GROUP BY job ORDER BY job LIMIT @limit`,
			pgx.NamedArgs{"cluster": id, "after": after, "limit": limitOf(page) + 1})
		list = listed(rows, page, func(j history.RecordedJob) []any { return []any{j.Job} })
		return err
	})
	return list, err
}

// DeleteExecutions deletes the executions that match a filter.
func (s *Store) DeleteExecutions(ctx context.Context, cluster string, of clusters.ExecutionFilter) (deleted int64, err error) {
	err = s.writeMuch(ctx, func(ctx context.Context, q querier) error {
		id, err := clusterID(ctx, q, cluster)
		if err != nil || unstorableFilter(of) {
			return err
		}
		done, err := q.Exec(ctx, `DELETE FROM executions e WHERE `+filteredExecutions, executionFilter(id, of))
		if deleted = done.RowsAffected(); err != nil || deleted == 0 {
			return err
		}
		before := map[string]any{"executions": deleted}
		if of.Outcome != "" {
			before["outcome"] = of.Outcome
		}
		if !of.From.IsZero() {
			before["from"] = of.From
		}
		if !of.Until.IsZero() {
			before["until"] = of.Until
		}
		return record(ctx, q, entry{Cluster: cluster, Action: inputs.Delete, Kind: inputs.ExecutionKind, Name: of.Job, Before: before})
	})
	return deleted, err
}
