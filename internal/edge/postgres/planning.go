package postgres

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"headroom/internal/service/app"
	"headroom/internal/service/plans"
)

// past is what was current before, within the time that a decrease is held back: of each total when it
// was last. A little more than that, because the moments that are compared go by other clocks.
const past = `
	CASE WHEN c.hold_seconds > 0 THEN (
	    SELECT json_agg(json_build_object('vms', vms, 'until', until) ORDER BY until) FROM (
	        SELECT vms, max(until) AS until FROM (SELECT vms, lead(since) OVER (ORDER BY since) AS until FROM plan_turns t WHERE t.cluster_id = g.cluster_id) turns
	        WHERE until > clock_timestamp() - make_interval(secs => c.hold_seconds) - interval '1 minute' GROUP BY vms) totals)::text END`

// selectCurrent reads current plans; g is the row of planning.
const selectCurrent = `
	SELECT ` + planColumns + `, p.plan::text AS plan, g.confirmed_at, coalesce(g.confirmed_version, 0) AS confirmed_version, least(g.boundary, g.pin_until) AS boundary,
	       c.inputs_version AS cluster_inputs_version, g.inputs_changed_at, g.pin_number, g.pin_until, g.pin_by, g.last_attempt::text AS last_attempt, c.hold_seconds, ` + past + ` AS past
	FROM planning g JOIN clusters c ON c.id = g.cluster_id JOIN plans p ON p.cluster_id = g.cluster_id AND p.number = g.current_number`

// Current is the plan that holds now.
func (s *Store) Current(ctx context.Context, cluster string) (current plans.Current, err error) {
	err = s.read(ctx, func(ctx context.Context, q querier) error {
		id, err := clusterID(ctx, q, cluster)
		if err != nil {
			return err
		}
		found, err := currents(ctx, q, selectCurrent+` WHERE g.cluster_id = @cluster`, pgx.NamedArgs{"cluster": id})
		if err != nil {
			return fmt.Errorf("read the current plan of cluster %s: %w", cluster, err)
		}
		if len(found) == 0 {
			return noCurrent(ctx, q, id, cluster)
		}
		current = found[0]
		return nil
	})
	return current, err
}

// Currents are the current plans of living clusters, by name (see app.Planning).
func (s *Store) Currents(ctx context.Context, after string, limit int, known []string) (all []plans.Current, err error) {
	err = s.read(ctx, func(ctx context.Context, q querier) error {
		sql := strings.Replace(selectCurrent, "p.plan::text", "CASE WHEN p.id = ANY(@known::uuid[]) THEN 'null' ELSE p.plan::text END", 1)
		if all, err = currents(ctx, q, sql+` WHERE c.deleted_at IS NULL AND c.name > @after ORDER BY c.name LIMIT @limit`,
			pgx.NamedArgs{"known": known, "after": after, "limit": limit}); err != nil {
			return fmt.Errorf("read the current plans: %w", err)
		}
		return nil
	})
	return all, err
}

func currents(ctx context.Context, q querier, sql string, args pgx.NamedArgs) ([]plans.Current, error) {
	rows, err := q.Query(ctx, sql, args)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, currentOf)
}

func currentOf(row pgx.CollectableRow) (plans.Current, error) {
	type columns struct {
		plans.PlanSummary
		Plan                 json.RawMessage
		ConfirmedAt          *time.Time
		ConfirmedVersion     int64
		Boundary             *time.Time
		ClusterInputsVersion int64
		InputsChangedAt      time.Time
		PinNumber            *int64
		PinUntil             *time.Time
		PinBy                *string
		LastAttempt          *string
		HoldSeconds          int64
		Past                 *string
	}
	r, err := pgx.RowToStructByName[columns](row)
	if err != nil {
		return plans.Current{}, err
	}
	c := plans.Current{
		Record: plans.PlanRecord{PlanSummary: r.PlanSummary, Plan: r.Plan}, ConfirmedAt: r.CreatedAt, ConfirmedVersion: r.ConfirmedVersion,
		Boundary: r.Boundary, InputsVersion: r.ClusterInputsVersion, InputsChangedAt: r.InputsChangedAt, HoldSeconds: r.HoldSeconds,
	}
	if r.ConfirmedAt != nil { // not of a plan for another moment that was pinned before there was any other
		c.ConfirmedAt = *r.ConfirmedAt
	}
	if r.PinNumber != nil {
		c.Pin = &plans.Pin{Number: *r.PinNumber, Until: *r.PinUntil, By: *r.PinBy}
	}
	if r.Past != nil {
		if err := json.Unmarshal([]byte(*r.Past), &c.Past); err != nil {
			return c, fmt.Errorf("read what was current before: %w", err)
		}
	}
	c.LastAttempt, err = attemptOf(r.LastAttempt)
	return c, err
}

func attemptOf(text *string) (*plans.Attempt, error) {
	if text == nil {
		return nil, nil
	}
	attempt := new(plans.Attempt)
	if err := json.Unmarshal([]byte(*text), attempt); err != nil {
		return nil, fmt.Errorf("read the last attempt: %w", err)
	}
	return attempt, nil
}

// noCurrent says why there is no plan yet.
func noCurrent(ctx context.Context, q querier, id int64, cluster string) error {
	var text *string
	err := q.QueryRow(ctx, `SELECT last_attempt::text FROM planning WHERE cluster_id = @cluster`, pgx.NamedArgs{"cluster": id}).Scan(&text)
	if err != nil && !errors.Is(err, pgx.ErrNoRows) {
		return err
	}
	if attempt, err := attemptOf(text); err == nil && attempt != nil && attempt.Failed {
		return notFound("the cluster %q has no plan yet, because it cannot be planned: %s", cluster, attempt.Detail)
	}
	return notFound("the cluster %q has no plan yet; make one with POST /v1/clusters/%s/plans", cluster, cluster)
}

// plansChanged tells all who listen, once it is committed, that a cluster's current plan or its
// freshness changed.
func plansChanged(ctx context.Context, q querier, cluster string) error {
	_, err := q.Exec(ctx, `SELECT pg_notify(@channel, @cluster)`, pgx.NamedArgs{"channel": app.PlansChannel, "cluster": cluster})
	return err
}
