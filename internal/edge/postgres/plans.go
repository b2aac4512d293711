package postgres

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"example.org/headroom/internal/data/storage"
	"example.org/headroom/internal/service/auth"
	"example.org/headroom/internal/service/plans"
)

const planColumns = `p.id, p.number, c.name AS cluster, p.at, p.created_at, p.created_by, p.inputs_version, p.status, p.objective, p.total_cost, p.total_cost - p.penalties AS bill,
	p.on_demand_cost, p.spot_cost, p.reserved_cost, p.penalties, p.currency, p.period_seconds, p.vms, p.vms_on_demand, p.vms_spot, p.vms_reserved, p.admitted, p.refused, p.gap, coalesce(p.for_now, p.created_at - p.at > interval '-1 second' AND p.created_at - p.at < interval '5 minutes') AS for_now, coalesce(p.why, '') AS why`

// SavePlan numbers and stores a plan, and makes it current (see adopt).
func (s *Store) SavePlan(ctx context.Context, r plans.PlanRecord) (plans.PlanRecord, error) {
	err := s.write(ctx, func(ctx context.Context, q querier) error {
		id, err := lockCluster(ctx, q, r.Cluster)
		if err != nil {
			return err
		}
		late, err := overtaken(ctx, q, id, r)
		if err != nil {
			return err
		}
		r.ForNow = !late
		if _, err := insertPlan(ctx, q, &r); err != nil || late {
			return err
		}
		return s.adopt(ctx, q, id, r, plans.ByRequest)
	})
	return r, err
}

// KeepPlan numbers and stores a plan that is not to be current: one for another moment.
func (s *Store) KeepPlan(ctx context.Context, r plans.PlanRecord) (plans.PlanRecord, error) {
	r.ForNow = false
	err := s.write(ctx, func(ctx context.Context, q querier) error {
		_, err := insertPlan(ctx, q, &r)
		return err
	})
	return r, err
}

// insertPlan numbers and stores a plan and returns its cluster's number. The cluster's row gives out the plans'
// numbers, so that their order is the order of the commits.
func insertPlan(ctx context.Context, q querier, r *plans.PlanRecord) (cluster int64, err error) {
	if unstorable(r.Cluster) {
		return 0, noCluster(r.Cluster)
	}
	err = q.QueryRow(ctx, `UPDATE clusters SET plans = plans + 1 WHERE name = @name AND deleted_at IS NULL RETURNING id, plans`,
		pgx.NamedArgs{"name": r.Cluster}).Scan(&cluster, &r.Number)
	if errors.Is(err, pgx.ErrNoRows) {
		return 0, noCluster(r.Cluster)
	}
	if err != nil {
		return 0, err
	}
	r.ID, r.CreatedBy = newID(), auth.From(ctx).Name
	err = at(r.Cluster, r.PlanSummary, q.QueryRow(ctx, `
		INSERT INTO plans (id, cluster_id, number, at, created_by, inputs_version, status, objective, total_cost, on_demand_cost, spot_cost, reserved_cost,
		                   penalties, currency, period_seconds, vms, vms_on_demand, vms_spot, vms_reserved, admitted, refused, gap, for_now, why, problem, plan)
		VALUES (@id, @cluster, @number, @at, @created_by, @inputs_version, @status, @objective, @total_cost, @on_demand_cost, @spot_cost, @reserved_cost,
		        @penalties, @currency, @period_seconds, @vms, @vms_on_demand, @vms_spot, @vms_reserved, @admitted, @refused, @gap, @for_now, @why, @problem, @plan)
		RETURNING at, created_at`,
		pgx.NamedArgs{
			"id": r.ID, "cluster": cluster, "number": r.Number, "at": r.At, "created_by": r.CreatedBy, "inputs_version": r.InputsVersion,
			"status": r.Status, "objective": r.Objective, "total_cost": r.TotalCost, "on_demand_cost": r.OnDemandCost, "spot_cost": r.SpotCost, "reserved_cost": r.ReservedCost,
			"penalties": r.Penalties, "currency": r.Currency, "period_seconds": r.PeriodSeconds, "vms": r.VMs, "vms_on_demand": r.VMsOnDemand, "vms_spot": r.VMsSpot,
			"vms_reserved": r.VMsReserved, "admitted": r.Admitted, "refused": r.Refused, "gap": r.Gap, "for_now": r.ForNow, "why": r.Why, "problem": string(r.Problem), "plan": string(r.Plan),
		}).Scan(&r.At, &r.CreatedAt))
	if err != nil || r.Vote == nil {
		return cluster, err
	}
	return cluster, askVote(ctx, q, cluster, r.Number)
}

// Plans lists the newest first.
func (s *Store) Plans(ctx context.Context, cluster string, page storage.Page) (list storage.Listed[plans.PlanSummary], err error) {
	before := int64(math.MaxInt64)
	if err := readCursor(page.After, &before); err != nil {
		return list, err
	}
	err = s.read(ctx, func(ctx context.Context, q querier) error {
		id, err := clusterID(ctx, q, cluster)
		if err != nil {
			return err
		}
		found, err := collect[plans.PlanSummary](ctx, q, `
			SELECT `+planColumns+` FROM plans p JOIN clusters c ON c.id = p.cluster_id
			WHERE p.cluster_id = @cluster AND p.number < @before
			ORDER BY p.number DESC LIMIT @limit`,
			pgx.NamedArgs{"cluster": id, "before": before, "limit": limitOf(page) + 1})
		list = listed(found, page, func(p plans.PlanSummary) []any { return []any{p.Number} })
		return err
	})
	return list, err
}

// PlansInForce lists the times in which plans were in force, the latest first. None was yet after now.
func (s *Store) PlansInForce(ctx context.Context, cluster string, from, until time.Time, page storage.Page) (list storage.Listed[plans.PlanSummary], err error) {
	before := time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC)
	if !until.IsZero() {
		before = until
	}
	if err := readCursor(page.After, &before); err != nil {
		return list, err
	}
	type row struct {
		plans.PlanSummary
		Began time.Time
		Ended *time.Time
	}
	err = s.read(ctx, func(ctx context.Context, q querier) error {
		id, err := clusterID(ctx, q, cluster)
		if err != nil {
			return err
		}
		found, err := collectAs(ctx, q, `
			SELECT `+planColumns+`, t.since AS began,
			       (SELECT n.since FROM plan_reigns n WHERE n.cluster_id = @cluster AND n.since > t.since ORDER BY n.since LIMIT 1) AS ended
			FROM plan_reigns t JOIN plans p ON p.cluster_id = t.cluster_id AND p.number = t.number JOIN clusters c ON c.id = p.cluster_id
			WHERE t.cluster_id = @cluster AND t.since < @before AND @from::timestamptz <= clock_timestamp()
			  AND t.since >= coalesce((SELECT max(b.since) FROM plan_reigns b WHERE b.cluster_id = @cluster AND b.since <= @from), @from)
			ORDER BY t.since DESC LIMIT @limit`,
			pgx.NamedArgs{"cluster": id, "before": before, "from": from, "limit": limitOf(page) + 1},
			func(r row) (plans.PlanSummary, error) {
				r.Since, r.Until = &r.Began, r.Ended
				return r.PlanSummary, nil
			})
		list = listed(found, page, func(p plans.PlanSummary) []any { return []any{*p.Since} })
		return err
	})
	return list, err
}

// HeldBefore returns the number of the plan that was current before a plan was so last, or before it was made. Of plans of
// long ago that is the one before that was made for its own present.
func (s *Store) HeldBefore(ctx context.Context, cluster string, number int64) (before int64, err error) {
	err = s.read(ctx, func(ctx context.Context, q querier) error {
		id, err := clusterID(ctx, q, cluster)
		if err != nil {
			return err
		}
		err = q.QueryRow(ctx, `
			SELECT coalesce(
			    (SELECT t.number FROM plan_reigns t WHERE t.cluster_id = @cluster AND t.number <> @number
			     AND t.since < coalesce((SELECT max(r.since) FROM plan_reigns r WHERE r.cluster_id = @cluster AND r.number = @number),
			                            (SELECT p.created_at FROM plans p WHERE p.cluster_id = @cluster AND p.number = @number))
			     ORDER BY t.since DESC LIMIT 1),
			    (SELECT max(p.number) FROM plans p WHERE p.cluster_id = @cluster AND p.number < @number
			     AND coalesce(p.for_now, p.created_at - p.at BETWEEN interval '-1 second' AND interval '5 minutes')), 0)`,
			pgx.NamedArgs{"cluster": id, "number": number}).Scan(&before)
		switch {
		case err != nil:
			return fmt.Errorf("read which plan of cluster %s held before plan %d: %w", cluster, number, err)
		case before == 0:
			return notFound("no plan of the cluster %q held before plan %d, so that there is nothing to compare it with", cluster, number)
		}
		return nil
	})
	return before, err
}

// Plan returns a plan by number or by id, or the current one.
func (s *Store) Plan(ctx context.Context, cluster string, ref plans.PlanRef) (r plans.PlanRecord, err error) {
	byID := uuid.NullUUID{}
	var missing error
	if ref.ID != "" {
		missing = notFound("the cluster %q has no plan with the id %q", cluster, ref.ID)
		byID.Valid = true
		if byID.UUID, err = uuid.Parse(ref.ID); err != nil {
			return r, missing
		}
	}
	err = s.read(ctx, func(ctx context.Context, q querier) error {
		id, err := clusterID(ctx, q, cluster)
		if err != nil {
			return err
		}
		r, err = one[plans.PlanRecord](ctx, q, `
			SELECT `+planColumns+`, p.plan::text, p.problem::text, `+vote+` FROM plans p JOIN clusters c ON c.id = p.cluster_id
			WHERE p.cluster_id = @cluster AND (@id::uuid IS NULL OR p.id = @id)
			  AND p.number = CASE WHEN @id::uuid IS NOT NULL THEN p.number WHEN @number::bigint <> 0 THEN @number::bigint
			                 ELSE (SELECT g.current_number FROM planning g WHERE g.cluster_id = @cluster) END`,
			pgx.NamedArgs{"cluster": id, "id": byID, "number": ref.Number})
		switch {
		case errors.Is(err, pgx.ErrNoRows) && missing == nil && ref.Number == 0:
			return noCurrent(ctx, q, id, cluster)
		case errors.Is(err, pgx.ErrNoRows) && missing == nil:
			return clusterPlans.missing(ctx, q, id, cluster, ref.Number)
		case errors.Is(err, pgx.ErrNoRows):
			return missing
		case err != nil:
			return fmt.Errorf("read a plan of cluster %s: %w", cluster, err)
		}
		return nil
	})
	return r, err
}
