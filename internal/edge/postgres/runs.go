package postgres

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"example.org/headroom/internal/core/fault"
	"example.org/headroom/internal/data/storage"
	"example.org/headroom/internal/service/auth"
	"example.org/headroom/internal/service/runs"
)

// runColumns are the shown columns of a run; inline tells whether to include its result, if it is small.
const runColumns = `r.id::text, r.kind, r.cluster, r.role, r.state, r.attempt, r.done, r.total, r.unit, r.created_by, r.created_at, r.updated_at,
	r.started_at, r.finished_at, r.state = 'running' AND r.cancel_requested_at IS NOT NULL AS cancelling, r.partial, r.error, r.version,
	r.result IS NOT NULL AS has_result,
	CASE WHEN @inline AND r.result_type = 'application/json' AND octet_length(r.result) <= @most THEN r.result END AS result`

func runArgs(inline bool, args pgx.NamedArgs) pgx.NamedArgs {
	args["inline"], args["most"] = inline, runs.InlineResult
	return args
}

func runOf(row pgx.CollectableRow) (runs.Run, error) {
	type columns struct {
		ID, Kind              string
		Cluster               *string
		Role                  string
		State                 runs.RunState
		Attempt, Done, Total  int64
		Unit, CreatedBy       string
		CreatedAt, UpdatedAt  time.Time
		StartedAt, FinishedAt *time.Time
		Cancelling, Partial   bool
		Error                 *runs.RunError
		Version               int64
		HasResult             bool
		Result                []byte
	}
	c, err := pgx.RowToStructByName[columns](row)
	if err != nil {
		return runs.Run{}, err
	}
	r := runs.Run{
		ID: c.ID, Kind: c.Kind, Cluster: c.Cluster, State: c.State, Progress: runs.Progress{Done: c.Done, Total: c.Total, Unit: c.Unit},
		Attempt: c.Attempt, By: c.CreatedBy, CreatedAt: c.CreatedAt, StartedAt: c.StartedAt, FinishedAt: c.FinishedAt, UpdatedAt: c.UpdatedAt,
		Cancelling: c.Cancelling, Partial: c.Partial, Error: c.Error, Version: c.Version, Role: c.Role,
	}
	if r.State == runs.RunRunning && r.StartedAt != nil {
		r.ETASeconds = r.Progress.Estimate(r.UpdatedAt.Sub(*r.StartedAt))
	}
	if c.HasResult {
		address := runs.ResultAddress(r.ID)
		r.ResultURL = &address
	}
	if json.Valid(c.Result) {
		r.Result = c.Result
	}
	return r, nil
}

func readRuns(ctx context.Context, q querier, sql string, args pgx.NamedArgs) ([]runs.Run, error) {
	rows, err := q.Query(ctx, sql, args)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, runOf)
}

// runAfter returns the run from a statement about one.
func runAfter(ctx context.Context, q querier, id, sql string, args pgx.NamedArgs) (runs.Run, error) {
	found, err := readRuns(ctx, q, sql, runArgs(true, args))
	if err != nil {
		return runs.Run{}, err
	}
	if len(found) == 0 {
		return runs.Run{}, runs.NoRun(id)
	}
	return found[0], nil
}

// runChanged notifies all listeners, after the commit.
func runChanged(ctx context.Context, q querier, id string) error {
	_, err := q.Exec(ctx, `SELECT pg_notify(@channel, @id)`, pgx.NamedArgs{"channel": runs.Channel, "id": id})
	return err
}

// StartRun creates a run and hands it out.
func (s *Store) StartRun(ctx context.Context, n runs.NewRun) (r runs.Run, err error) {
	input, err := json.Marshal(n.Input)
	if err != nil {
		return r, fmt.Errorf("write the input of a run: %w", err)
	}
	who := auth.From(ctx)
	err = s.write(ctx, func(ctx context.Context, q querier) error {
		var cluster *int64
		var name *string
		if n.Cluster != "" {
			id, err := clusterID(ctx, q, n.Cluster)
			if err != nil {
				return err
			}
			cluster, name = &id, &n.Cluster
		}
		if err := roomForRun(ctx, q, who.ID); err != nil {
			return err
		}
		r, err = s.insertRun(ctx, q, n.Kind, n.Role, cluster, name, input)
		return err
	})
	return r, err
}

// insertRun creates a run and hands it out, in spite of other waiting ones.
func (s *Store) insertRun(ctx context.Context, q querier, kind string, role auth.Role, cluster *int64, name *string, input []byte) (r runs.Run, err error) {
	id, who := newID(), auth.From(ctx)
	work, err := s.dispatch(ctx, q, runs.RunWork{ID: id, Of: kind}, time.Time{})
	if err != nil {
		return r, err
	}
	r, err = runAfter(ctx, q, id, `
		INSERT INTO runs AS r (id, kind, cluster_id, cluster, role, key_id, created_by, input, work_id)
		VALUES (@id, @kind, @cluster, @name, @role, @key, @by, @input, @work)
		RETURNING `+runColumns,
		pgx.NamedArgs{"id": id, "kind": kind, "cluster": cluster, "name": name, "role": role, "key": who.ID, "by": who.Name, "input": string(input), "work": work})
	if err != nil {
		return r, err
	}
	return r, runChanged(ctx, q, id)
}

// roomForRun refuses a key that has enough waiting. The lock keeps its other requests from counting
// at the same time.
func roomForRun(ctx context.Context, q querier, key string) error {
	if _, err := q.Exec(ctx, `SELECT pg_advisory_xact_lock(hashtextextended(@key, 4))`, pgx.NamedArgs{"key": "runs of " + key}); err != nil {
		return err
	}
	var waiting int
	if err := q.QueryRow(ctx, `SELECT count(*) FROM runs WHERE key_id = @key AND state = 'queued'`, pgx.NamedArgs{"key": key}).Scan(&waiting); err != nil {
		return err
	}
	if waiting >= runs.MaxQueued {
		return &fault.TooManyError{RetryAfter: 10 * time.Second,
			Detail: fmt.Sprintf("The key has %d runs waiting already, as many as it may; cancel some, or ask again when some of them have begun.", waiting)}
	}
	return nil
}

// Run returns a run by its id.
func (s *Store) Run(ctx context.Context, id string) (r runs.Run, err error) {
	if uuid.Validate(id) != nil {
		return r, runs.NoRun(id)
	}
	err = s.read(ctx, func(ctx context.Context, q querier) error {
		r, err = runAfter(ctx, q, id, `SELECT `+runColumns+` FROM runs r WHERE r.id = @id`, pgx.NamedArgs{"id": id})
		return err
	})
	return r, err
}

// Runs lists the newest first, without results.
func (s *Store) Runs(ctx context.Context, of runs.Filter, page storage.Page) (list storage.Listed[runs.Run], err error) {
	before := uuid.Max
	if err := readCursor(page.After, &before); err != nil {
		return list, err
	}
	if unstorable(of.Cluster) || unstorable(of.Kind) {
		return storage.Listed[runs.Run]{Items: []runs.Run{}}, nil
	}
	err = s.read(ctx, func(ctx context.Context, q querier) error {
		found, err := readRuns(ctx, q, `
			SELECT `+runColumns+` FROM runs r
			WHERE r.id < @before AND (@cluster = '' OR r.cluster = @cluster) AND (@state = '' OR r.state = @state) AND (@kind = '' OR r.kind = @kind)
			  AND (@only::text[] IS NULL OR r.cluster = ANY(@only))
			ORDER BY r.id DESC LIMIT @limit`,
			runArgs(false, pgx.NamedArgs{"before": before, "cluster": of.Cluster, "state": of.State, "kind": of.Kind, "only": of.Only, "limit": limitOf(page) + 1}))
		list = listed(found, page, func(r runs.Run) []any { return []any{r.ID} })
		return err
	})
	return list, err
}

// RunResult returns the result of a run.
func (s *Store) RunResult(ctx context.Context, id string) (result runs.Result, err error) {
	if uuid.Validate(id) != nil {
		return result, runs.NoRun(id)
	}
	err = s.read(ctx, func(ctx context.Context, q querier) error {
		var state runs.RunState
		var kind *string
		err := q.QueryRow(ctx, `SELECT state, result_type, result, partial, version FROM runs WHERE id = @id`, pgx.NamedArgs{"id": id}).
			Scan(&state, &kind, &result.Body, &result.Partial, &result.Version)
		switch {
		case errors.Is(err, pgx.ErrNoRows):
			return runs.NoRun(id)
		case err != nil:
			return err
		case !state.Over():
			return conflict("the run is %s; its result is there when it has finished", state)
		case kind == nil:
			return notFound("the run has no result: it %s", map[runs.RunState]string{
				runs.RunFailed: "failed", runs.RunCancelled: "was cancelled", runs.RunSucceeded: "made none"}[state])
		}
		result.Type = *kind
		return nil
	})
	return result, err
}

// RunInput returns the input of a run.
func (s *Store) RunInput(ctx context.Context, id string) (input json.RawMessage, err error) {
	if uuid.Validate(id) != nil {
		return nil, runs.NoRun(id)
	}
	err = s.read(ctx, func(ctx context.Context, q querier) error {
		err := q.QueryRow(ctx, `SELECT input::text FROM runs WHERE id = @id`, pgx.NamedArgs{"id": id}).Scan((*[]byte)(&input))
		if errors.Is(err, pgx.ErrNoRows) {
			return runs.NoRun(id)
		}
		return err
	})
	return input, err
}

// CancelRun ends a waiting run, and asks a working one to end.
func (s *Store) CancelRun(ctx context.Context, id string) (r runs.Run, err error) {
	if uuid.Validate(id) != nil {
		return r, runs.NoRun(id)
	}
	err = s.write(ctx, func(ctx context.Context, q querier) error {
		done, err := q.Exec(ctx, `
			UPDATE runs SET cancel_requested_at = clock_timestamp(), updated_at = clock_timestamp(), version = version + 1,
			       state = CASE state WHEN 'queued' THEN 'cancelled' ELSE state END,
			       finished_at = CASE state WHEN 'queued' THEN clock_timestamp() END
			WHERE id = @id AND state IN ('queued', 'running') AND cancel_requested_at IS NULL`, pgx.NamedArgs{"id": id})
		if err != nil {
			return err
		}
		if done.RowsAffected() > 0 {
			if err := s.tellRun(ctx, q, id); err != nil {
				return err
			}
			if err := runChanged(ctx, q, id); err != nil {
				return err
			}
		}
		r, err = runAfter(ctx, q, id, `SELECT `+runColumns+` FROM runs r WHERE r.id = @id`, pgx.NamedArgs{"id": id})
		return err
	})
	return r, err
}

// RetryRun begins a run that failed or was cancelled from the beginning.
func (s *Store) RetryRun(ctx context.Context, id string) (r runs.Run, err error) {
	if uuid.Validate(id) != nil {
		return r, runs.NoRun(id)
	}
	err = s.write(ctx, func(ctx context.Context, q querier) error {
		var state runs.RunState
		var kind, key string
		err := q.QueryRow(ctx, `SELECT state, kind, key_id FROM runs WHERE id = @id FOR UPDATE`, pgx.NamedArgs{"id": id}).Scan(&state, &kind, &key)
		switch {
		case errors.Is(err, pgx.ErrNoRows):
			return runs.NoRun(id)
		case err != nil:
			return err
		case state == runs.RunSucceeded:
			return conflict("the run has succeeded; start another one to have its work done again")
		case !state.Over():
			return conflict("the run is %s already; a run that failed or was cancelled can be tried again", state)
		}
		if err := roomForRun(ctx, q, key); err != nil {
			return err
		}
		work, err := s.dispatch(ctx, q, runs.RunWork{ID: id, Of: kind}, time.Time{})
		if err != nil {
			return err
		}
		r, err = runAfter(ctx, q, id, `
			UPDATE runs AS r SET state = 'queued', attempt = 0, done = 0, total = 0, unit = '', result_type = NULL, result = NULL, partial = false, error = NULL,
			       cancel_requested_at = NULL, due_at = clock_timestamp(), work_id = @work, started_at = NULL, finished_at = NULL,
			       updated_at = clock_timestamp(), version = version + 1
			WHERE r.id = @id
			RETURNING `+runColumns, pgx.NamedArgs{"id": id, "work": work})
		if err != nil {
			return err
		}
		return runChanged(ctx, q, id)
	})
	return r, err
}
