package postgres

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"example.org/headroom/internal/data/storage"
	"example.org/headroom/internal/service/plans"
)

// vote reads the vote on a plan; p is the plan.
const vote = `(SELECT json_build_object('state', v.state, 'engine', v.engine, 'detail', v.detail, 'at', to_char(v.at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) FROM plan_votes v
	WHERE v.cluster_id = p.cluster_id AND v.number = p.number) AS vote`

// mostWaiting bounds the plans of a cluster that wait for a vote. The oldest are given up.
const mostWaiting = 10

// askVote has CBC vote on a plan that was stored now.
func askVote(ctx context.Context, q querier, cluster, number int64) error {
	args := pgx.NamedArgs{"cluster": cluster, "number": number, "most": mostWaiting, "detail": "Newer plans came before it was asked."}
	if _, err := q.Exec(ctx, `INSERT INTO plan_votes (cluster_id, number) VALUES (@cluster, @number)`, args); err != nil {
		return fmt.Errorf("ask for a vote on plan %d: %w", number, err)
	}
	_, err := q.Exec(ctx, `
		UPDATE plan_votes SET state = 'none', detail = @detail, at = clock_timestamp()
		WHERE cluster_id = @cluster AND state = 'waiting' AND number <= @number::bigint - @most::bigint`, args)
	return err
}

// ClaimVote takes a plan whose vote waits (see plans.VoteStore).
func (s *Store) ClaimVote(ctx context.Context, lease time.Duration) (claim *plans.Claim, err error) {
	err = s.write(ctx, func(ctx context.Context, q querier) error {
		c, err := one[plans.Claim](ctx, q, `
			WITH due AS (
			    SELECT v.cluster_id, v.number, c.name FROM plan_votes v JOIN clusters c ON c.id = v.cluster_id
			    WHERE v.state = 'waiting' AND c.deleted_at IS NULL AND coalesce(`+fromNow("v.claimed_until")+` <= interval '0', true)
			    ORDER BY v.asked_at LIMIT 1 FOR UPDATE OF v SKIP LOCKED)
			UPDATE plan_votes v SET claimed_by = @token, claimed_until = clock_timestamp() + make_interval(secs => @lease), tries = v.tries + 1
			FROM due WHERE v.cluster_id = due.cluster_id AND v.number = due.number
			RETURNING due.name AS cluster, @token::uuid::text AS token, '' AS reason, v.number AS newest, NULL::bytea AS sum, v.tries - 1 AS failures, 0::float8 AS waited_seconds`,
			pgx.NamedArgs{"token": newID(), "lease": lease.Seconds()})
		if errors.Is(err, pgx.ErrNoRows) {
			return nil
		}
		if err == nil {
			claim = &c
		}
		return err
	})
	return claim, err
}

// KeepVote claims for another while.
func (s *Store) KeepVote(ctx context.Context, c plans.Claim, lease time.Duration) error {
	return s.reclaim(ctx, "plan_votes", c, keptClaim, lease)
}

// ReleaseVote returns a plan to the queue.
func (s *Store) ReleaseVote(ctx context.Context, c plans.Claim) error {
	return s.reclaim(ctx, "plan_votes", c, noClaim, 0)
}

// SettleVote stores a vote.
func (s *Store) SettleVote(ctx context.Context, c plans.Claim, v plans.Vote) error {
	return s.write(ctx, func(ctx context.Context, q querier) error {
		done, err := q.Exec(ctx, `
			UPDATE plan_votes SET state = @state, engine = @engine, detail = @detail, at = clock_timestamp(), claimed_by = NULL, claimed_until = NULL
			WHERE claimed_by = @token AND state = 'waiting'`,
			pgx.NamedArgs{"token": c.Token, "state": v.State, "engine": v.Engine, "detail": v.Detail})
		if err != nil {
			return fmt.Errorf("store the vote on plan %d of cluster %s: %w", c.Newest, c.Cluster, err)
		}
		if done.RowsAffected() == 0 {
			return storage.ErrClaimLost
		}
		return plansChanged(ctx, q, c.Cluster)
	})
}
