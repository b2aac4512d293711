package postgres

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"example.org/headroom/internal/data/storage"
	"example.org/headroom/internal/service/auth"
	"example.org/headroom/internal/service/runs"
)

// ClaimRun takes a waiting run. Among several callers one gets it; the others find it taken.
func (s *Store) ClaimRun(ctx context.Context, id string, most map[string]int, lease time.Duration) (claim *runs.Claim, err error) {
	if uuid.Validate(id) != nil {
		return nil, nil // no work of this release's
	}
	kinds := slices.Sorted(maps.Keys(most))
	counts := make([]int64, len(kinds))
	for i, kind := range kinds {
		counts[i] = int64(most[kind])
	}
	err = s.write(ctx, func(ctx context.Context, q querier) error {
		c, by := runs.Claim{ID: id, Token: newID()}, auth.Principal{}
		var cluster *string
		err := q.QueryRow(ctx, `
			UPDATE runs r SET state = 'running', token = @token, lease_until = clock_timestamp() + make_interval(secs => @lease),
			       attempt = attempt + 1, most_attempts = k.most, done = 0, total = 0, unit = '', error = NULL,
			       started_at = clock_timestamp(), updated_at = clock_timestamp(), version = version + 1
			FROM unnest(@kinds::text[], @most::bigint[]) AS k (kind, most)
			WHERE r.id = @id AND r.state = 'queued' AND r.kind = k.kind
			RETURNING r.kind, r.cluster, r.key_id, r.created_by, r.role, r.attempt, r.most_attempts, r.input::text`,
			pgx.NamedArgs{"id": id, "token": c.Token, "lease": lease.Seconds(), "kinds": kinds, "most": counts}).
			Scan(&c.Kind, &cluster, &by.ID, &by.Name, &by.Role, &c.Attempt, &c.Most, (*[]byte)(&c.Input))
		if errors.Is(err, pgx.ErrNoRows) {
			return nil
		}
		if err != nil {
			return err
		}
		if cluster != nil {
			c.Cluster = *cluster
		}
		c.By, claim = by, &c
		return runChanged(ctx, q, id)
	})
	return claim, err
}

// KeepRun extends a claim and stores the progress. An expired lease stays valid until somebody else has the run.
func (s *Store) KeepRun(ctx context.Context, c runs.Claim, p runs.Progress, lease time.Duration) (cancel bool, err error) {
	err = s.write(ctx, func(ctx context.Context, q querier) error {
		var changed bool
		err := q.QueryRow(ctx, `
			UPDATE runs r SET lease_until = clock_timestamp() + make_interval(secs => @lease), done = @done, total = @total, unit = @unit,
			       updated_at = CASE WHEN b.changed THEN clock_timestamp() ELSE r.updated_at END, version = r.version + b.changed::int
			FROM (SELECT id, (done, total, unit) IS DISTINCT FROM (@done, @total, @unit) AS changed FROM runs WHERE id = @id AND token = @token FOR UPDATE) b
			WHERE r.id = b.id
			RETURNING r.cancel_requested_at IS NOT NULL, b.changed`,
			pgx.NamedArgs{"id": c.ID, "token": c.Token, "lease": lease.Seconds(), "done": p.Done, "total": p.Total, "unit": p.Unit}).Scan(&cancel, &changed)
		if errors.Is(err, pgx.ErrNoRows) {
			return storage.ErrClaimLost
		}
		if err != nil || !changed {
			return err
		}
		return runChanged(ctx, q, c.ID)
	})
	return cancel, err
}

// SettleRun stores the outcome of a claimed run, if it is still claimed.
func (s *Store) SettleRun(ctx context.Context, c runs.Claim, o runs.Outcome) (state runs.RunState, err error) {
	err = s.writeMuch(ctx, func(ctx context.Context, q querier) error {
		var cancelled bool
		err := q.QueryRow(ctx, `SELECT cancel_requested_at IS NOT NULL FROM runs WHERE id = @id AND token = @token FOR UPDATE`,
			pgx.NamedArgs{"id": c.ID, "token": c.Token}).Scan(&cancelled)
		if errors.Is(err, pgx.ErrNoRows) {
			return storage.ErrClaimLost
		}
		if err != nil {
			return err
		}
		if o.Make != nil {
			made, err := o.Make(context.WithValue(ctx, joinKey{}, q.(pgx.Tx)))
			if err != nil {
				return err
			}
			o.Result = &made
		}
		if state = o.State; state == runs.RunQueued && cancelled {
			state = runs.RunCancelled
		}
		if state == runs.RunQueued {
			return s.queueAgain(ctx, q, c.ID, c.Kind, o.After, o.Spare)
		}
		return s.finishRun(ctx, q, c.ID, state, o)
	})
	return state, err
}

// queueAgain returns an abandoned run to the queue.
func (s *Store) queueAgain(ctx context.Context, q querier, id, kind string, after time.Duration, spare bool) error {
	at, err := later(ctx, q, after)
	if err != nil {
		return err
	}
	work, err := s.dispatch(ctx, q, runs.RunWork{ID: id, Of: kind}, at)
	if err != nil {
		return err
	}
	_, err = q.Exec(ctx, `
		UPDATE runs SET state = 'queued', token = NULL, lease_until = NULL, done = 0, total = 0, unit = '', started_at = NULL, work_id = @work,
		       attempt = attempt - @spare::boolean::int, due_at = clock_timestamp() + make_interval(secs => @after), updated_at = clock_timestamp(), version = version + 1
		WHERE id = @id`, pgx.NamedArgs{"id": id, "work": work, "after": after.Seconds(), "spare": spare})
	if err != nil {
		return err
	}
	return runChanged(ctx, q, id)
}

func (s *Store) finishRun(ctx context.Context, q querier, id string, state runs.RunState, o runs.Outcome) error {
	args := pgx.NamedArgs{"id": id, "state": state, "done": o.Progress.Done, "total": o.Progress.Total, "unit": o.Progress.Unit,
		"type": nil, "result": nil, "partial": false, "error": nil}
	if o.Result != nil {
		args["type"], args["result"], args["partial"] = o.Result.Type, o.Result.Body, state != runs.RunSucceeded
	}
	if o.Error != nil {
		text, err := json.Marshal(o.Error)
		if err != nil {
			return fmt.Errorf("write the error of a run: %w", err)
		}
		args["error"] = string(text)
	}
	_, err := q.Exec(ctx, `
		UPDATE runs SET state = @state, token = NULL, lease_until = NULL, done = @done, total = @total, unit = @unit, result_type = @type, result = @result,
		       partial = @partial, error = @error, finished_at = clock_timestamp(), updated_at = clock_timestamp(), version = version + 1
		WHERE id = @id`, args)
	if err != nil {
		return err
	}
	if err := s.tellRun(ctx, q, id); err != nil {
		return err
	}
	return runChanged(ctx, q, id)
}

// graceOfWork is the time that a run may wait after River has given its work to a server, which claims it at once
// unless it dies in between.
const graceOfWork = 3 * time.Second

// sweepAtOnce is the maximum number of runs in one sweep.
const sweepAtOnce = 100

// SweepRuns hands out again the work of lost servers: runs whose lease has expired, and waiting runs that nobody was
// notified of. Those tried often enough fail.
func (s *Store) SweepRuns(ctx context.Context) (failed []string, err error) {
	err = s.write(ctx, func(ctx context.Context, q querier) error {
		type columns struct {
			ID, Kind, Unit  string
			Running, Cancel bool
			Attempt, Most   int64
			Done, Total     int64
		}
		found, err := collect[columns](ctx, q, `
			SELECT r.id::text, r.kind, r.state = 'running' AS running, r.cancel_requested_at IS NOT NULL AS cancel, r.attempt, r.most_attempts AS most, r.done, r.total, r.unit
			FROM runs r LEFT JOIN `+pgx.Identifier{s.schema, "river_job"}.Sanitize()+` j ON j.id = r.work_id
			WHERE r.state IN ('queued', 'running') AND (r.state = 'running' AND `+fromNow(`r.lease_until`)+` <= interval '0'
			   OR r.state = 'queued' AND `+fromNow(`r.due_at + make_interval(secs => @grace)`)+` <= interval '0'
			      AND (j.id IS NULL OR j.scheduled_at > clock_timestamp() + interval '`+farAhead+`'
			           OR j.state NOT IN ('available', 'scheduled', 'retryable', 'pending')
			           AND `+fromNow(`coalesce(j.attempted_at, j.created_at) + make_interval(secs => @grace)`)+` <= interval '0'))
			ORDER BY r.id LIMIT @most FOR UPDATE OF r SKIP LOCKED`, pgx.NamedArgs{"grace": graceOfWork.Seconds(), "most": sweepAtOnce})
		if err != nil {
			return err
		}
		for _, r := range found {
			left := runs.Outcome{Progress: runs.Progress{Done: r.Done, Total: r.Total, Unit: r.Unit}}
			switch {
			case r.Running && r.Cancel:
				err = s.finishRun(ctx, q, r.ID, runs.RunCancelled, left)
			case r.Running && r.Attempt >= r.Most:
				left.Error = &runs.RunError{Kind: runs.RunLost,
					Detail: fmt.Sprintf("The server that worked on it ended unexpectedly, %d times of %d that are tried; the servers' logs may say why.", r.Attempt, r.Most)}
				err = s.finishRun(ctx, q, r.ID, runs.RunFailed, left)
				failed = append(failed, r.Kind)
			default:
				err = s.queueAgain(ctx, q, r.ID, r.Kind, 0, false)
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return failed, nil
}

// ForgetRuns deletes runs that have been over for longer than that.
func (s *Store) ForgetRuns(ctx context.Context, after time.Duration) (deleted int64, err error) {
	return s.forget(ctx, "runs", "id", `FROM runs WHERE finished_at < clock_timestamp() - make_interval(secs => @after)`, pgx.NamedArgs{"after": after.Seconds()})
}
