package postgres

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"example.org/headroom/internal/data/inputs"
	"example.org/headroom/internal/service/auth"
	"example.org/headroom/internal/service/plans"
)

// past selects the earlier VMs within the time that a decrease is held back, each with its last moment. The time
// is a little longer, because the compared moments come from other clocks.
const past = `
	CASE WHEN c.hold_seconds > 0 THEN (
	    SELECT json_agg(jsonb_build_object('vms', vms, 'until', until) || coalesce(kinds, '{}') ORDER BY until) FROM (
	        SELECT vms, kinds, max(until) AS until FROM (
	            SELECT vms, kinds, lead(since) OVER (ORDER BY since) AS until FROM plan_turns t WHERE t.cluster_id = g.cluster_id) turns
	        WHERE until > clock_timestamp() - make_interval(secs => c.hold_seconds) - interval '1 minute' GROUP BY vms, kinds) totals)::text END`

// selectCurrent reads current plans; g is the row of planning.
const selectCurrent = `
	SELECT ` + planColumns + `, p.plan::text AS plan, ` + vote + `, g.confirmed_at, coalesce(g.confirmed_version, 0) AS confirmed_version, least(g.boundary, g.pin_until) AS boundary,
	       c.inputs_version AS cluster_inputs_version, g.inputs_changed_at, g.pin_number, g.pin_until, g.pin_by, g.last_attempt::text AS last_attempt, c.hold_seconds, ` + past + ` AS past,
	       CASE WHEN g.pin_number IS NOT NULL AND g.newest_number <> g.current_number THEN g.newest_number END AS waiting
	FROM planning g JOIN clusters c ON c.id = g.cluster_id JOIN plans p ON p.cluster_id = g.cluster_id AND p.number = g.current_number`

// Current returns the current plan.
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

// Currents returns the current plans of living clusters, by name (see app.Planning).
func (s *Store) Currents(ctx context.Context, after string, limit int, known []string) (all []plans.Current, err error) {
	return s.currentsWhere(ctx, `c.name > @after ORDER BY c.name LIMIT @limit`, pgx.NamedArgs{"known": known, "after": after, "limit": limit})
}

// CurrentsOf returns the current plans of some clusters (see app.Planning).
func (s *Store) CurrentsOf(ctx context.Context, clusters, known []string) (all []plans.Current, err error) {
	return s.currentsWhere(ctx, `c.name = ANY(@clusters)`, pgx.NamedArgs{"known": known, "clusters": clusters})
}

// Unplanned returns clusters that never had a plan (see app.Planning). Metrics of more of them say no more.
func (s *Store) Unplanned(ctx context.Context) (names []string, err error) {
	err = s.read(ctx, func(ctx context.Context, q querier) error {
		rows, err := q.Query(ctx, `
			SELECT c.name FROM planning g JOIN clusters c ON c.id = g.cluster_id
			WHERE g.current_number IS NULL AND g.failures > 0 AND c.deleted_at IS NULL ORDER BY c.name LIMIT 1000`)
		if err == nil {
			names, err = pgx.CollectRows(rows, pgx.RowTo[string])
		}
		return err
	})
	return names, err
}

func (s *Store) currentsWhere(ctx context.Context, where string, args pgx.NamedArgs) (all []plans.Current, err error) {
	err = s.read(ctx, func(ctx context.Context, q querier) error {
		sql := strings.Replace(selectCurrent, "p.plan::text", "CASE WHEN p.id = ANY(@known::uuid[]) THEN 'null' ELSE p.plan::text END", 1)
		if all, err = currents(ctx, q, sql+` WHERE c.deleted_at IS NULL AND `+where, args); err != nil {
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
		Vote                 *plans.Vote
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
		Waiting              *int64
	}
	r, err := pgx.RowToStructByName[columns](row)
	if err != nil {
		return plans.Current{}, err
	}
	c := plans.Current{
		Record: plans.PlanRecord{PlanSummary: r.PlanSummary, Plan: r.Plan, Vote: r.Vote}, ConfirmedAt: r.CreatedAt, ConfirmedVersion: r.ConfirmedVersion,
		Boundary: r.Boundary, InputsVersion: r.ClusterInputsVersion, InputsChangedAt: r.InputsChangedAt, HoldSeconds: r.HoldSeconds, Waiting: r.Waiting,
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

// noCurrent explains why there is no plan yet.
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

// plansChanged notifies all listeners, after the commit, that a cluster's current plan or its freshness changed.
func plansChanged(ctx context.Context, q querier, cluster string) error {
	_, err := q.Exec(ctx, `SELECT pg_notify(@channel, @cluster)`, pgx.NamedArgs{"channel": plans.Channel, "cluster": cluster})
	return err
}

// inputKinds lists the inputs of plans. All changes to them in one transaction make one version of a cluster's
// inputs.
var inputKinds = []string{inputs.ClusterKind, inputs.VMTypeKind, inputs.PriceKind, inputs.ContractKind, inputs.ProfileKind, inputs.ClassKind, inputs.ForecastKind}

// changesBetween reads the changes of inputs after one version up to another one. The version of a change follows
// from the number of later ones.
const changesBetween = `
	SELECT by, action, kind, name FROM (
	    SELECT a.era, a.txid, a.id, a.by, a.action, a.kind, a.name, dense_rank() OVER (ORDER BY a.era DESC, a.txid DESC) AS back
	    FROM audit a WHERE a.cluster = @name AND a.kind = ANY(@kinds)) ranked
	WHERE back <= @oldest AND back > @newest
	ORDER BY era, txid, id`

// turnsBetween reads the begins and ends after one moment up to another one, of the VM types in use.
const turnsBetween = `
	SELECT kind, name, ended FROM (
	    SELECT 'price' AS kind, v.name, lower(p.during) AS moment, false AS ended
	    FROM prices p JOIN vm_types v ON v.id = coalesce(p.vm_type_id, p.spot_vm_type_id) WHERE p.cluster_id = @cluster AND v.in_use
	    UNION ALL
	    SELECT 'contract', k.name, unnest(ARRAY[k.starts, k.ends]), unnest(ARRAY[false, true])
	    FROM contracts k JOIN vm_types v ON v.id = k.vm_type_id WHERE k.cluster_id = @cluster AND v.in_use
	    UNION ALL
	    SELECT 'forecast', '', unnest(ARRAY[f.hour, f.hour + interval '1 hour']), false
	    FROM forecasts f JOIN classes t ON t.id = f.class_id
	    WHERE t.cluster_id = @cluster AND f.hour > @after::timestamptz - interval '1 hour' AND f.hour <= @at
	) turns WHERE moment > @after AND moment <= @at
	GROUP BY kind, name, ended ORDER BY min(moment), kind, name, ended`

// why explains the plan of a locked cluster by the events since its newest good plan was last confirmed.
func why(ctx context.Context, q querier, cluster int64, r plans.PlanRecord, reason string) (string, error) {
	causes := plans.Causes{Reason: reason}
	failed := func(err error) (string, error) {
		return "", fmt.Errorf("look why cluster %s is planned: %w", r.Cluster, err)
	}
	var version int64
	var confirmed *int64
	var since *time.Time
	err := q.QueryRow(ctx, `
		SELECT g.newest_number IS NULL, c.inputs_version, g.confirmed_version, g.confirmed_at
		FROM planning g JOIN clusters c ON c.id = g.cluster_id WHERE g.cluster_id = @cluster`, pgx.NamedArgs{"cluster": cluster}).
		Scan(&causes.First, &version, &confirmed, &since)
	if err != nil {
		return failed(err)
	}
	if confirmed != nil && *confirmed < r.InputsVersion {
		causes.Changes, err = collect[plans.InputChange](ctx, q, changesBetween,
			pgx.NamedArgs{"name": r.Cluster, "kinds": inputKinds, "oldest": version - *confirmed, "newest": version - r.InputsVersion})
		if err != nil {
			return failed(err)
		}
	}
	if since != nil {
		if causes.Turns, err = collect[plans.Turn](ctx, q, turnsBetween, pgx.NamedArgs{"cluster": cluster, "after": *since, "at": r.At}); err != nil {
			return failed(err)
		}
	}
	return causes.Why(), nil
}

// PinPlan keeps a plan current until a moment.
func (s *Store) PinPlan(ctx context.Context, cluster string, ref plans.PlanRef, until time.Time) (pin plans.Pin, err error) {
	err = s.write(ctx, func(ctx context.Context, q querier) error {
		id, err := lockCluster(ctx, q, cluster)
		if err != nil {
			return err
		}
		before, err := pinOf(ctx, q, id)
		if err != nil {
			return err
		}
		byID := uuid.NullUUID{}
		var missing error
		if ref.ID != "" {
			missing = notFound("the cluster %q has no plan with the id %q", cluster, ref.ID)
			byID.Valid = true
			if byID.UUID, err = uuid.Parse(ref.ID); err != nil {
				return missing
			}
		}
		var t planTurn
		err = q.QueryRow(ctx, `
			UPDATE planning g SET pin_number = p.number, pin_until = @until, pin_by = @by, current_number = p.number, wake_at = least(g.wake_at, @until)
			FROM plans p
			WHERE g.cluster_id = @cluster AND p.cluster_id = g.cluster_id AND (p.id = @id OR @id::uuid IS NULL AND p.number = @number)
`+returningTurn+`, g.pin_number, g.pin_until, g.pin_by`,
			pgx.NamedArgs{"cluster": id, "id": byID, "number": ref.Number, "until": until, "by": auth.From(ctx).Name}).
			Scan(&t.Current, &t.Previous, &t.Failures, &t.Heard, &pin.Number, &pin.Until, &pin.By)
		if errors.Is(err, pgx.ErrNoRows) && missing != nil {
			return missing
		}
		if errors.Is(err, pgx.ErrNoRows) {
			return clusterPlans.missing(ctx, q, id, cluster, ref.Number)
		}
		if err != nil {
			return err
		}
		e := entry{Cluster: cluster, Action: inputs.Create, Kind: inputs.PinKind, Name: pinName(pin), After: pin}
		if before != nil {
			e.Action, e.Before = inputs.Update, *before
		}
		if err := record(ctx, q, e); err != nil {
			return err
		}
		if err := s.tellTurn(ctx, q, id, cluster, t, nil); err != nil {
			return err
		}
		return plansChanged(ctx, q, cluster)
	})
	return pin, err
}

// UnpinPlan makes the newest good plan current at once.
func (s *Store) UnpinPlan(ctx context.Context, cluster string) error {
	return s.write(ctx, func(ctx context.Context, q querier) error {
		id, err := lockCluster(ctx, q, cluster)
		if err != nil {
			return err
		}
		before, err := pinOf(ctx, q, id)
		if err != nil || before == nil {
			return err
		}
		t, err := turned(ctx, q, `
			UPDATE planning SET pin_number = NULL, pin_until = NULL, pin_by = NULL, current_number = coalesce(newest_number, current_number)
			WHERE cluster_id = @cluster`, pgx.NamedArgs{"cluster": id})
		if err != nil {
			return err
		}
		if err := record(ctx, q, entry{Cluster: cluster, Action: inputs.Delete, Kind: inputs.PinKind, Name: pinName(*before), Before: *before}); err != nil {
			return err
		}
		if err := s.tellTurn(ctx, q, id, cluster, t, nil); err != nil {
			return err
		}
		return plansChanged(ctx, q, cluster)
	})
}

// PinOf returns the pin of a cluster.
func (s *Store) PinOf(ctx context.Context, cluster string) (pin plans.Pin, err error) {
	err = s.read(ctx, func(ctx context.Context, q querier) error {
		id, err := clusterID(ctx, q, cluster)
		if err != nil {
			return err
		}
		found, err := pinOf(ctx, q, id)
		if err != nil {
			return err
		}
		if found == nil {
			return notFound("no plan of the cluster %q is pinned", cluster)
		}
		pin = *found
		return nil
	})
	return pin, err
}

func pinOf(ctx context.Context, q querier, cluster int64) (*plans.Pin, error) {
	var pin plans.Pin
	err := q.QueryRow(ctx, `SELECT pin_number, pin_until, pin_by FROM planning WHERE cluster_id = @cluster AND pin_number IS NOT NULL`,
		pgx.NamedArgs{"cluster": cluster}).Scan(&pin.Number, &pin.Until, &pin.By)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, nil
	}
	return &pin, err
}

func pinName(p plans.Pin) string { return fmt.Sprintf("plan %d", p.Number) }
