package postgres

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"example.org/headroom/internal/service/hooks"
	"example.org/headroom/internal/service/plans"
	"example.org/headroom/internal/service/runs"
)

// interested matches webhooks w that want @event of the cluster called @name ("" is none).
const interested = ` w.enabled AND @event = ANY(w.events) AND (w.clusters IS NULL OR @name = ANY(w.clusters)) `

// planTurn describes a change of a row of planning, and whether a webhook wants it.
type planTurn struct {
	Current, Previous *int64 // the current plan's number, now and before
	Failures          int64
	Heard             bool
}

// returningTurn ends an UPDATE of @cluster's row of planning. It costs no statement of its own, so that clusters
// without webhooks pay nothing. The row before is the statement's snapshot of it: every change of the current plan
// holds the cluster's lock.
const returningTurn = `
	RETURNING current_number AS current, (SELECT o.current_number FROM planning o WHERE o.cluster_id = @cluster) AS previous, failures::bigint,
	          EXISTS (SELECT FROM webhooks w JOIN clusters n ON n.id = @cluster
	                  WHERE w.enabled AND w.events && '{plan.changed,plan.failed}' AND (w.clusters IS NULL OR n.name = ANY(w.clusters))) AS heard`

// turned runs an UPDATE that ends with returningTurn. One that changes no row turned nothing.
func turned(ctx context.Context, q querier, sql string, args pgx.NamedArgs) (planTurn, error) {
	t, err := one[planTurn](ctx, q, sql+returningTurn, args)
	if errors.Is(err, pgx.ErrNoRows) {
		return planTurn{}, nil
	}
	return t, err
}

// tellTurn sends the events of a change of planning to the webhooks; failed is the failed attempt, if there is one.
func (s *Store) tellTurn(ctx context.Context, q querier, id int64, cluster string, t planTurn, failed *plans.Attempt) error {
	if !t.Heard || t.Current == nil {
		return nil
	}
	if t.Previous == nil || *t.Previous != *t.Current {
		plans, err := collect[plans.PlanSummary](ctx, q, `
			SELECT `+planColumns+` FROM plans p JOIN clusters c ON c.id = p.cluster_id
			WHERE p.cluster_id = @cluster AND p.number = ANY(@numbers) ORDER BY p.number = @current DESC`,
			pgx.NamedArgs{"cluster": id, "numbers": []*int64{t.Current, t.Previous}, "current": *t.Current})
		if err != nil {
			return fmt.Errorf("read the plans of an event of cluster %s: %w", cluster, err)
		}
		told := hooks.PlanChangedEvent{Plan: hooks.EventOf(plans[0])}
		if len(plans) > 1 {
			previous := hooks.EventOf(plans[1])
			told.Previous = &previous
		}
		err = s.tell(ctx, q, hooks.PlanChanged, cluster, func(head hooks.EventHead) any { told.EventHead = head; return told })
		if err != nil {
			return err
		}
	}
	if failed != nil && failed.Failed && t.Failures == 1 { // the first of a streak
		return s.tell(ctx, q, hooks.PlanFailed, cluster, func(head hooks.EventHead) any {
			return hooks.PlanFailedEvent{EventHead: head, PlanNumber: *t.Current, Reason: failed.Detail}
		})
	}
	return nil
}

// tellRun sends webhooks the end of a run, if it is over.
func (s *Store) tellRun(ctx context.Context, q querier, id string) error {
	type row struct {
		Kind, Cluster string
		State         runs.RunState
		Error         *runs.RunError
		Heard         bool
	}
	r, err := one[row](ctx, q, `
		SELECT r.kind, coalesce(r.cluster, '') AS cluster, r.state, r.error, EXISTS (SELECT FROM webhooks w WHERE w.enabled AND 'run.finished' = ANY(w.events)) AS heard
		FROM runs r WHERE r.id = @id`, pgx.NamedArgs{"id": id})
	if err != nil || !r.Heard || !r.State.Over() {
		return err
	}
	told := hooks.EventRun{ID: id, Kind: r.Kind, State: r.State}
	if r.Error != nil {
		told.Error = r.Error.Detail
	}
	return s.tell(ctx, q, hooks.RunFinished, r.Cluster, func(head hooks.EventHead) any {
		return hooks.RunFinishedEvent{EventHead: head, Run: told}
	})
}

// tell makes a delivery for every webhook that wants an event, in the transaction of the change: either both or none.
func (s *Store) tell(ctx context.Context, q querier, event hooks.Event, cluster string, body func(hooks.EventHead) any) error {
	type row struct {
		ID  string
		Now time.Time
	}
	found, err := collect[row](ctx, q, `SELECT w.id::text, clock_timestamp() AS now FROM webhooks w WHERE`+interested+`ORDER BY w.id`,
		pgx.NamedArgs{"event": event, "name": cluster})
	if err != nil || len(found) == 0 {
		return err
	}
	head := hooks.EventHead{ID: newID(), Type: event, At: found[0].Now, Cluster: cluster}
	webhooks := make([]string, len(found))
	for i, w := range found {
		webhooks[i] = w.ID
	}
	_, err = s.send(ctx, q, webhooks, head, body(head))
	return err
}

// send makes deliveries of one event and hands them out; it returns their ids. If too many wait, the event is
// recorded as not delivered.
func (s *Store) send(ctx context.Context, q querier, webhooks []string, head hooks.EventHead, body any) (ids []string, err error) {
	text, err := json.Marshal(body)
	if err != nil {
		return nil, fmt.Errorf("write an event: %w", err)
	}
	waiting, err := waitingOf(ctx, q, webhooks, maxWaiting)
	if err != nil {
		return nil, err
	}
	var work []handed
	var full []bool
	for _, webhook := range webhooks {
		id := newID()
		ids, full = append(ids, id), append(full, waiting[webhook] >= maxWaiting)
		if waiting[webhook] < maxWaiting {
			work = append(work, handed{id, webhook})
		}
	}
	_, err = q.Exec(ctx, `
		INSERT INTO webhook_deliveries (id, webhook_id, event_id, event, cluster, body, at, state, detail, next_at)
		SELECT d.id, d.webhook, @event_id, @event, @cluster, @body, @at,
		       CASE WHEN d."full" THEN 'failed' ELSE 'pending' END, CASE WHEN d."full" THEN @detail ELSE '' END, CASE WHEN d."full" THEN NULL ELSE clock_timestamp() END
		FROM unnest(@ids::uuid[], @webhooks::uuid[], @full::boolean[]) AS d (id, webhook, "full")`,
		pgx.NamedArgs{"ids": ids, "webhooks": webhooks, "full": full, "event_id": head.ID, "event": head.Type, "cluster": head.Cluster, "body": string(text), "at": head.At,
			"detail": "It was not sent: " + tooMany + " to this webhook wait already. Send it again once its target has answered them."})
	if err != nil {
		return nil, fmt.Errorf("make deliveries of %s: %w", head.Type, err)
	}
	return ids, s.handOut(ctx, q, work, waiting, time.Time{})
}
