package postgres

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"example.org/headroom/internal/data/storage"
	"example.org/headroom/internal/service/auth"
	"example.org/headroom/internal/service/plans"
)

// planAt selects the plan that was current at a moment. The last day is on record; before that it is the last plan
// made for its own present. Earlier pins are unknown.
const planAt = `
	SELECT number, vms, held FROM (
	    (SELECT t.number, t.vms, 1 AS source, coalesce((
	         SELECT max(turns.vms) FROM (SELECT b.vms, b.since, lead(b.since) OVER (ORDER BY b.since) AS until FROM plan_turns b WHERE b.cluster_id = @cluster) turns
	         JOIN clusters c ON c.id = @cluster AND c.hold_seconds > 0
	         WHERE turns.since < t.since AND turns.until > @at::timestamptz - make_interval(secs => c.hold_seconds)), 0) AS held
	     FROM plan_turns t WHERE t.cluster_id = @cluster AND t.since <= @at ORDER BY t.since DESC LIMIT 1)
	    UNION ALL
	    (SELECT p.number, p.vms, 2, 0 FROM plans p
	     WHERE p.cluster_id = @cluster AND p.created_at <= @at AND coalesce(p.for_now, p.created_at - p.at > interval '-1 second' AND p.created_at - p.at < interval '5 minutes')
	     ORDER BY p.number DESC LIMIT 1)) known
	ORDER BY source LIMIT 1`

// ObservationBasis reads the data by which an observation of a moment is judged (see app.Observations).
func (s *Store) ObservationBasis(ctx context.Context, cluster string, moment time.Time) (basis plans.ObservationBasis, err error) {
	err = s.read(ctx, func(ctx context.Context, q querier) error {
		id, err := clusterID(ctx, q, cluster)
		if err != nil {
			return err
		}
		err = q.QueryRow(ctx, `
			SELECT coalesce(CASE WHEN min(slots_map) = max(slots_map) AND min(slots_reduce) = max(slots_reduce) THEN min(slots_map) END, 0),
			       coalesce(CASE WHEN min(slots_map) = max(slots_map) AND min(slots_reduce) = max(slots_reduce) THEN min(slots_reduce) END, 0)
			FROM classes WHERE cluster_id = @cluster AND slots_map > 0 AND slots_reduce > 0`,
			pgx.NamedArgs{"cluster": id}).Scan(&basis.MapSlots, &basis.ReduceSlots)
		if err != nil {
			return fmt.Errorf("read the slots of a VM of cluster %s: %w", cluster, err)
		}
		// The text of the plan is not needed, and may be long.
		now, err := currents(ctx, q, strings.Replace(selectCurrent, "p.plan::text", "'null'", 1)+` WHERE g.cluster_id = @cluster`, pgx.NamedArgs{"cluster": id})
		if err != nil {
			return fmt.Errorf("read the current plan of cluster %s: %w", cluster, err)
		}
		if moment.IsZero() {
			if len(now) > 0 {
				basis.Plan, basis.Current = &plans.PlanTotal{Number: now[0].Record.Number, VMs: now[0].Record.VMs}, &now[0]
			}
			return nil
		}
		then, err := one[plans.PlanTotal](ctx, q, planAt, pgx.NamedArgs{"cluster": id, "at": moment})
		switch {
		case err == nil:
			if basis.Plan = &then; len(now) > 0 && now[0].Record.Number == then.Number {
				basis.Current = &now[0]
				if now[0].Pin != nil { // counts at once
					then.Held = 0
				}
			}
		case !errors.Is(err, pgx.ErrNoRows):
			return fmt.Errorf("read the plan of cluster %s at %s: %w", cluster, moment, err)
		}
		return nil
	})
	return basis, err
}

// SaveObservation stores an observation.
func (s *Store) SaveObservation(ctx context.Context, cluster string, o plans.Observation) (plans.Observation, error) {
	if unstorable(cluster) {
		return o, noCluster(cluster)
	}
	s.sweepObservations(ctx)
	o.ID, o.ObservedBy = newID(), auth.From(ctx).Name
	args := pgx.NamedArgs{"cluster": cluster, "channel": plans.ObservationsChannel, "id": o.ID, "at": o.At, "by": o.ObservedBy, "vms": o.VMs,
		"map": nil, "reduce": nil, "utilization": o.Utilization, "plan": o.PlanNumber, "planned": o.PlannedVMs, "own": o.PlanVMs, "stale": o.PlanStale}
	if o.Slots != nil {
		args["map"], args["reduce"] = o.Slots.Map, o.Slots.Reduce
	}
	return o, s.alone(ctx, func(ctx context.Context, q querier) error {
		done, err := q.Exec(ctx, `
			WITH put AS (
			    INSERT INTO observations (id, cluster_id, at, observed_by, vms, slots_map, slots_reduce, utilization, plan_number, planned_vms, plan_vms, plan_stale)
			    SELECT @id, c.id, @at, @by, @vms, @map, @reduce, @utilization, @plan, @planned, @own, @stale
			    FROM clusters c WHERE c.name = @cluster AND c.deleted_at IS NULL
			    RETURNING id)
			SELECT pg_notify(@channel, @cluster) FROM put`, args)
		if err == nil && done.RowsAffected() == 0 {
			return noCluster(cluster)
		}
		return err
	})
}

const observationColumns = `o.id, o.at, o.observed_by, o.vms, o.slots_map, o.slots_reduce, o.utilization, o.plan_number, o.planned_vms, o.plan_vms, o.plan_stale`

// observationRow is a stored observation.
type observationRow struct {
	ID          string
	At          time.Time
	ObservedBy  string
	VMs         int64 `db:"vms"`
	SlotsMap    *int64
	SlotsReduce *int64
	Utilization *float64
	PlanNumber  *int64
	PlannedVMs  *float64 `db:"planned_vms"`
	PlanVMs     *float64 `db:"plan_vms"`
	PlanStale   *bool
}

func (r observationRow) observation() plans.Observation {
	o := plans.Observation{ID: r.ID, At: r.At, ObservedBy: r.ObservedBy, VMs: r.VMs, Utilization: r.Utilization,
		PlanNumber: r.PlanNumber, PlannedVMs: r.PlannedVMs, PlanVMs: r.PlanVMs, PlanStale: r.PlanStale}
	if r.SlotsMap != nil {
		o.Slots = &plans.BusySlots{Map: *r.SlotsMap, Reduce: *r.SlotsReduce}
	}
	o.Derive()
	return o
}

func observationsOf(rows []observationRow) []plans.Observation {
	all := make([]plans.Observation, len(rows))
	for i, r := range rows {
		all[i] = r.observation()
	}
	return all
}

// Observations lists the newest first.
func (s *Store) Observations(ctx context.Context, cluster string, of plans.ObservationFilter, page storage.Page) (list storage.Listed[plans.Observation], err error) {
	at, id := time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC), uuid.Max
	if err := readCursor(page.After, &at, &id); err != nil {
		return list, err
	}
	err = s.read(ctx, func(ctx context.Context, q querier) error {
		number, err := clusterID(ctx, q, cluster)
		if err != nil {
			return err
		}
		args := pgx.NamedArgs{"cluster": number, "before": at, "before_id": id, "limit": limitOf(page) + 1, "from": nil, "until": nil}
		if !of.From.IsZero() {
			args["from"] = of.From
		}
		if !of.Until.IsZero() {
			args["until"] = of.Until
		}
		rows, err := collect[observationRow](ctx, q, `
			SELECT `+observationColumns+` FROM observations o
			WHERE o.cluster_id = @cluster AND (o.at, o.id) < (@before, @before_id)
			  AND (@from::timestamptz IS NULL OR o.at >= @from) AND (@until::timestamptz IS NULL OR o.at < @until)
			ORDER BY o.at DESC, o.id DESC LIMIT @limit`, args)
		list = listed(observationsOf(rows), page, func(o plans.Observation) []any { return []any{o.At, o.ID} })
		return err
	})
	return list, err
}

// Observation returns an observation by its ID, or the latest.
func (s *Store) Observation(ctx context.Context, cluster, id string) (o plans.Observation, err error) {
	err = s.read(ctx, func(ctx context.Context, q querier) error {
		number, err := clusterID(ctx, q, cluster)
		if err != nil {
			return err
		}
		if id != "" && (uuid.Validate(id) != nil || len(id) != len(uuid.Nil.String())) {
			return noObservation(cluster, id)
		}
		args := pgx.NamedArgs{"cluster": number, "id": nil}
		if id != "" {
			args["id"] = id
		}
		row, err := one[observationRow](ctx, q, `
			SELECT `+observationColumns+` FROM observations o
			WHERE o.cluster_id = @cluster AND (@id::uuid IS NULL OR o.id = @id)
			ORDER BY o.at DESC, o.id DESC LIMIT 1`, args)
		if errors.Is(err, pgx.ErrNoRows) {
			return noObservation(cluster, id)
		}
		o = row.observation()
		return err
	})
	return o, err
}

func noObservation(cluster, id string) error {
	if id == "" {
		return notFound("the cluster %q has not been observed within 90 days; say what runs with POST /v1/clusters/%s/observations", cluster, cluster)
	}
	return notFound("the cluster %q has no observation with the id %q, or it is more than 90 days old", cluster, id)
}

// LatestObservations returns the latest ones of all living clusters.
func (s *Store) LatestObservations(ctx context.Context) (latest map[string]plans.Observation, err error) {
	type named struct {
		Cluster string
		observationRow
	}
	err = s.read(ctx, func(ctx context.Context, q querier) error {
		rows, err := collect[named](ctx, q, `
			SELECT c.name AS cluster, o.* FROM clusters c CROSS JOIN LATERAL (
			    SELECT `+observationColumns+` FROM observations o WHERE o.cluster_id = c.id ORDER BY o.at DESC, o.id DESC LIMIT 1) o
			WHERE c.deleted_at IS NULL`, nil)
		latest = make(map[string]plans.Observation, len(rows))
		for _, r := range rows {
			latest[r.Cluster] = r.observation()
		}
		return err
	})
	return latest, err
}

// keepObservations is the time for which observations are stored.
const keepObservations = "90 days"

// sweepObservations forgets old observations, now and then.
func (s *Store) sweepObservations(ctx context.Context) {
	if _, within := joined(ctx); within || !s.observationSweep.due() {
		return
	}
	_ = s.write(ctx, func(ctx context.Context, q querier) error {
		_, err := q.Exec(ctx, `
			DELETE FROM observations WHERE id IN (
			    SELECT id FROM observations WHERE at < clock_timestamp() - interval '`+keepObservations+`' ORDER BY at LIMIT 10000)`)
		return err
	})
}
