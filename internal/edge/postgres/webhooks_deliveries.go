package postgres

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/riverqueue/river"

	"example.org/headroom/internal/core/fault"
	"example.org/headroom/internal/data/inputs"
	"example.org/headroom/internal/data/storage"
	"example.org/headroom/internal/service/hooks"
)

const deliveryColumns = `d.id::text, d.event_id::text, d.event, d.cluster, d.at, d.state, d.detail, d.attempts, d.next_at, d.delivered_at AS delivered`

// Deliveries lists the newest first.
func (s *Store) Deliveries(ctx context.Context, webhookID string, page storage.Page) (list storage.Listed[hooks.Delivery], err error) {
	before := uuid.Max
	if err := readCursor(page.After, &before); err != nil {
		return list, err
	}
	err = s.read(ctx, func(ctx context.Context, q querier) error {
		if _, err := webhook(ctx, q, webhookID, ""); err != nil {
			return err
		}
		found, err := collect[hooks.Delivery](ctx, q, `
			SELECT `+deliveryColumns+` FROM webhook_deliveries d WHERE d.webhook_id = @webhook AND d.id < @before ORDER BY d.id DESC LIMIT @limit`,
			pgx.NamedArgs{"webhook": webhookID, "before": before, "limit": limitOf(page) + 1})
		list = listed(found, page, func(d hooks.Delivery) []any { return []any{d.ID} })
		return err
	})
	return list, err
}

// sendable locks a webhook that is enabled.
func sendable(ctx context.Context, q querier, id string) (hooks.Webhook, error) {
	w, err := webhook(ctx, q, id, lockWebhook)
	if err == nil && !w.Enabled {
		return w, conflict("the webhook %q is disabled and sends nothing; enable it first", w.Name)
	}
	return w, err
}

// PingWebhook sends a ping.
func (s *Store) PingWebhook(ctx context.Context, id string) (d hooks.Delivery, err error) {
	err = s.write(ctx, func(ctx context.Context, q querier) error {
		w, err := sendable(ctx, q, id)
		if err != nil {
			return err
		}
		head := hooks.EventHead{ID: newID(), Type: hooks.Ping}
		if err := q.QueryRow(ctx, `SELECT clock_timestamp()`).Scan(&head.At); err != nil {
			return err
		}
		ids, err := s.send(ctx, q, []string{id}, head, hooks.PingEvent{EventHead: head, Webhook: w.Name})
		if err != nil {
			return err
		}
		d, err = one[hooks.Delivery](ctx, q, `SELECT `+deliveryColumns+` FROM webhook_deliveries d WHERE d.id = @id`, pgx.NamedArgs{"id": ids[0]})
		return err
	})
	return d, err
}

// RetryDelivery sends a delivery again, at once, in any state.
func (s *Store) RetryDelivery(ctx context.Context, webhookID, id string) (d hooks.Delivery, err error) {
	missing := notFound("the webhook has no delivery with the id %q, or it was made more than 30 days ago", id)
	if uuid.Validate(id) != nil {
		return d, missing
	}
	err = s.write(ctx, func(ctx context.Context, q querier) error {
		w, err := sendable(ctx, q, webhookID)
		if err != nil {
			return err
		}
		waiting, err := waitingOf(ctx, q, []string{webhookID}, maxWaiting)
		if err != nil {
			return err
		}
		if waiting[webhookID] >= maxWaiting {
			return conflict("%s to the webhook %q wait already; send this one again when fewer do", tooMany, w.Name)
		}
		d, err = one[hooks.Delivery](ctx, q, `
			UPDATE webhook_deliveries d SET state = 'pending', detail = '', tries = 0, next_at = clock_timestamp(), delivered_at = NULL
			WHERE d.id = @id AND d.webhook_id = @webhook RETURNING `+deliveryColumns, pgx.NamedArgs{"id": id, "webhook": webhookID})
		if errors.Is(err, pgx.ErrNoRows) {
			return missing
		}
		if err != nil {
			return err
		}
		return s.handOut(ctx, q, []handed{{ID: id, Webhook: webhookID}}, waiting, time.Time{})
	})
	return d, err
}

// A delivery whose webhook has enough in flight is postponed for about as long as those before it may take.
const (
	minPutOff  = 500 * time.Millisecond
	putOffEach = 250 * time.Millisecond
	maxPutOff  = 5 * time.Minute
	tooEarly   = time.Second // that clocks may differ
)

// ClaimDelivery takes a due delivery. The webhook's lock keeps the number of deliveries in flight within its limit.
func (s *Store) ClaimDelivery(ctx context.Context, id string, most int, lease time.Duration) (claim *hooks.DeliveryClaim, err error) {
	if uuid.Validate(id) != nil {
		return nil, nil // no work of this release's
	}
	err = s.write(ctx, func(ctx context.Context, q querier) error {
		of, over, err := s.standBack(ctx, q, id, most)
		if err != nil || over {
			return err
		}
		w, err := webhook(ctx, q, of, lockWebhook)
		if errors.Is(err, fault.NotFound) { // deleted in between
			return nil
		}
		if err != nil {
			return err
		}
		type row struct {
			EventID string
			Body    string
			Tries   int64
			Waits   float64
			Now     time.Time
			Flying  int
		}
		d, err := one[row](ctx, q, `
			SELECT d.event_id::text AS event_id, d.body, d.tries::bigint, extract(epoch FROM d.next_at - clock_timestamp())::float8 AS waits, clock_timestamp() AS now,
			       (SELECT count(*) FROM webhook_deliveries f WHERE f.webhook_id = @webhook AND f.claimed_by IS NOT NULL AND f.claimed_until > clock_timestamp()) AS flying
			FROM webhook_deliveries d
			WHERE d.id = @id AND d.state = 'pending' AND (d.claimed_until IS NULL OR d.claimed_until <= clock_timestamp())
			FOR UPDATE OF d`, pgx.NamedArgs{"id": id, "webhook": of})
		switch {
		case errors.Is(err, pgx.ErrNoRows):
			return nil
		case err != nil:
			return err
		case !w.Enabled:
			_, err = q.Exec(ctx, `
				UPDATE webhook_deliveries SET state = 'failed', detail = 'The webhook was disabled before it was delivered.', next_at = NULL, claimed_by = NULL, claimed_until = NULL
				WHERE id = @id`, pgx.NamedArgs{"id": id})
			return err
		case d.Waits > tooEarly.Seconds():
			return s.putOff(ctx, q, handed{id, of}, time.Duration(d.Waits*float64(time.Second)))
		case d.Flying >= most:
			return s.letWait(ctx, q, handed{id, of})
		}
		c := hooks.DeliveryClaim{ID: id, Token: newID(), EventID: d.EventID, Webhook: of, URL: w.URL, Body: d.Body, Tries: d.Tries, FailingSince: w.FailingSince, Now: d.Now}
		rows, err := q.Query(ctx, `
			SELECT secret FROM webhook_secrets WHERE webhook_id = @webhook AND (signs_until IS NULL OR signs_until > clock_timestamp())
			ORDER BY signs_until DESC NULLS FIRST, created_at DESC`, pgx.NamedArgs{"webhook": of})
		if err != nil {
			return err
		}
		if c.Secrets, err = pgx.CollectRows(rows, pgx.RowTo[string]); err != nil {
			return err
		}
		_, err = q.Exec(ctx, `UPDATE webhook_deliveries SET claimed_by = @token, claimed_until = clock_timestamp() + make_interval(secs => @lease) WHERE id = @id`,
			pgx.NamedArgs{"id": id, "token": c.Token, "lease": lease.Seconds()})
		claim = &c
		return err
	})
	if err != nil {
		return nil, err
	}
	return claim, nil
}

// standBack postpones a delivery whose webhook has enough in flight, without the webhook's lock. A target that hangs
// may have any number of deliveries, and those waiting for the lock would keep servers and connections from other
// webhooks. over reports that nothing is left to do.
func (s *Store) standBack(ctx context.Context, q querier, id string, most int) (of string, over bool, err error) {
	var flying int
	err = q.QueryRow(ctx, `
		SELECT d.webhook_id::text, (SELECT count(*) FROM webhook_deliveries f WHERE f.webhook_id = d.webhook_id AND f.claimed_by IS NOT NULL AND f.claimed_until > clock_timestamp())
		FROM webhook_deliveries d WHERE d.id = @id`, pgx.NamedArgs{"id": id}).Scan(&of, &flying)
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return "", true, nil
	case err != nil || flying < most:
		return of, false, err
	}
	free, err := q.Exec(ctx, `
		SELECT FROM webhook_deliveries d
		WHERE d.id = @id AND d.state = 'pending' AND d.next_at <= clock_timestamp() + make_interval(secs => @early) AND (d.claimed_until IS NULL OR d.claimed_until <= clock_timestamp())
		FOR UPDATE`, pgx.NamedArgs{"id": id, "early": tooEarly.Seconds()})
	if err != nil || free.RowsAffected() == 0 {
		return of, false, err // over, taken or early, as is seen with the lock
	}
	return of, true, s.letWait(ctx, q, handed{id, of})
}

// letWait postpones a delivery for about as long as those before it may take.
func (s *Store) letWait(ctx context.Context, q querier, d handed) error {
	waiting, err := waitingOf(ctx, q, []string{d.Webhook}, enoughWaiting)
	if err != nil {
		return err
	}
	spread := time.Duration(rand.Float64() * float64(min(time.Duration(waiting[d.Webhook])*putOffEach, maxPutOff)))
	return s.pause(ctx, q, d, waiting, minPutOff+spread)
}

// putOff lets a delivery wait without counting an attempt.
func (s *Store) putOff(ctx context.Context, q querier, d handed, pause time.Duration) error {
	waiting, err := waitingOf(ctx, q, []string{d.Webhook}, enoughWaiting)
	if err != nil {
		return err
	}
	return s.pause(ctx, q, d, waiting, pause)
}

func (s *Store) pause(ctx context.Context, q querier, d handed, waiting map[string]int64, pause time.Duration) error {
	_, err := q.Exec(ctx, `
		UPDATE webhook_deliveries SET next_at = clock_timestamp() + make_interval(secs => @pause), claimed_by = NULL, claimed_until = NULL WHERE id = @id`,
		pgx.NamedArgs{"id": d.ID, "pause": pause.Seconds()})
	if err != nil {
		return err
	}
	at, err := later(ctx, q, pause)
	if err != nil {
		return err
	}
	return s.handOut(ctx, q, []handed{d}, waiting, at)
}

// SettleDelivery stores the outcome of a claimed delivery.
func (s *Store) SettleDelivery(ctx context.Context, c hooks.DeliveryClaim, o hooks.DeliveryOutcome) error {
	return s.write(ctx, func(ctx context.Context, q querier) error {
		w, err := webhook(ctx, q, c.Webhook, lockWebhook)
		if errors.Is(err, fault.NotFound) {
			return storage.ErrClaimLost
		}
		if err != nil {
			return err
		}
		args := pgx.NamedArgs{"id": c.ID, "token": c.Token, "webhook": c.Webhook, "state": o.State, "detail": o.Detail, "spare": o.Spare,
			"after": o.After.Seconds(), "most": hooks.MaxAttemptsKept, "reason": o.Disable, "attempt": "[]"}
		if !o.Spare {
			text, err := json.Marshal([]hooks.DeliveryAttempt{o.Attempt})
			if err != nil {
				return err
			}
			args["attempt"] = string(text)
		}
		done, err := q.Exec(ctx, `
			UPDATE webhook_deliveries d SET state = @state, detail = @detail, claimed_by = NULL, claimed_until = NULL,
			       tries = d.tries + CASE WHEN @state = 'delivered' OR @spare THEN 0 ELSE 1 END,
			       attempts = jsonb_path_query_array(d.attempts || @attempt::jsonb, '$[last - $most to last]', jsonb_build_object('most', @most::int - 1)),
			       next_at = CASE WHEN @state = 'pending' THEN clock_timestamp() + make_interval(secs => @after) END,
			       delivered_at = CASE WHEN @state = 'delivered' THEN clock_timestamp() END
			WHERE d.id = @id AND d.claimed_by = @token`, args)
		if err != nil {
			return err
		}
		if done.RowsAffected() == 0 {
			return storage.ErrClaimLost
		}
		if o.State == hooks.DeliveryPending {
			if err := s.putOff(ctx, q, handed{c.ID, c.Webhook}, o.After); err != nil {
				return err
			}
		}
		switch {
		case o.Spare:
			return nil
		case o.State == hooks.DeliveryDelivered:
			_, err = q.Exec(ctx, `UPDATE webhooks SET failing_since = NULL WHERE id = @webhook AND failing_since IS NOT NULL`, args)
			return err
		case o.Disable == "" || !w.Enabled:
			_, err = q.Exec(ctx, `UPDATE webhooks SET failing_since = clock_timestamp() WHERE id = @webhook AND failing_since IS NULL`, args)
			return err
		}
		after, err := one[hooks.Webhook](ctx, q, `
			UPDATE webhooks SET enabled = false, disabled_reason = @reason, failing_since = coalesce(failing_since, clock_timestamp()),
			       version = version + 1, updated_at = now()
			WHERE id = @webhook RETURNING `+webhookColumns, args)
		if err != nil {
			return err
		}
		return record(ctx, q, entry{Action: inputs.Update, Kind: hooks.WebhookKind, Name: w.Name, Before: w, After: after})
	})
}

// lostAfter is the time that a delivery may be overdue before it counts as lost. Handing it out twice does no harm.
const lostAfter = 30 * time.Second

// SweepDeliveries hands out again the deliveries of lost servers: those that are overdue or were claimed for too
// long, and have no work that waits for a server.
func (s *Store) SweepDeliveries(ctx context.Context) error {
	return s.write(ctx, func(ctx context.Context, q querier) error {
		// The statistics of work lag behind a backlog, and thousands by thousands are never to be compared.
		if _, err := q.Exec(ctx, `SET LOCAL enable_nestloop = off`); err != nil {
			return err
		}
		lost, err := collect[handed](ctx, q, `
			SELECT d.id::text, d.webhook_id::text AS webhook FROM webhook_deliveries d
			WHERE d.state = 'pending' AND (`+fromNow(`d.claimed_until`)+` <= interval '0'
			   OR d.claimed_until IS NULL AND (d.next_at < clock_timestamp() - make_interval(secs => @lost) OR d.next_at > clock_timestamp() + make_interval(secs => @longest)))
			  AND NOT EXISTS (
			    SELECT FROM `+pgx.Identifier{s.schema, "river_job"}.Sanitize()+` j
			    WHERE j.queue = @queue AND j.args->>'id' = d.id::text
			      AND (j.state IN ('available', 'pending')
			        OR j.state IN ('scheduled', 'retryable') AND j.scheduled_at < clock_timestamp() + make_interval(secs => @soon)
			        OR j.state = 'running' AND j.attempted_at > clock_timestamp() - make_interval(secs => @grace)))
			ORDER BY d.next_at LIMIT @most FOR UPDATE OF d SKIP LOCKED`,
			pgx.NamedArgs{"lost": lostAfter.Seconds(), "longest": hooks.LongestPause.Seconds(), "grace": graceOfWork.Seconds(), "soon": 2 * maxPutOff.Seconds(), "queue": hooks.DeliveryWork{}.Queue(), "most": sweepAtOnce})
		if err != nil || len(lost) == 0 {
			return err
		}
		ids, webhooks := make([]string, len(lost)), make([]string, len(lost))
		for i, d := range lost {
			ids[i], webhooks[i] = d.ID, d.Webhook
		}
		_, err = q.Exec(ctx, `UPDATE webhook_deliveries SET next_at = clock_timestamp(), claimed_by = NULL, claimed_until = NULL WHERE id = ANY(@ids::uuid[])`, pgx.NamedArgs{"ids": ids})
		if err != nil {
			return err
		}
		waiting, err := waitingOf(ctx, q, webhooks, enoughWaiting)
		if err != nil {
			return err
		}
		return s.handOut(ctx, q, lost, waiting, time.Time{})
	})
}

// ForgetDeliveries deletes deliveries that were made longer ago than that.
func (s *Store) ForgetDeliveries(ctx context.Context, after time.Duration) (deleted int64, err error) {
	return s.forget(ctx, "webhook_deliveries", "id", `FROM webhook_deliveries WHERE at < clock_timestamp() - make_interval(secs => @after)`, pgx.NamedArgs{"after": after.Seconds()})
}

const (
	// maxWaiting bounds the deliveries stored for a target that does not answer: further events are recorded and not
	// sent. Concurrent transactions may each add one.
	maxWaiting = 10000
	tooMany    = "10,000 deliveries" // the same, in words
	// enoughWaiting is the limit of a count that only determines the length of a wait.
	enoughWaiting = int64(maxPutOff / putOffEach)
)

// handed is a delivery that is handed out.
type handed struct{ ID, Webhook string }

// waitingOf counts the waiting deliveries of each webhook, up to most.
func waitingOf(ctx context.Context, q querier, webhooks []string, most int64) (map[string]int64, error) {
	type row struct {
		ID      string
		Waiting int64
	}
	found, err := collect[row](ctx, q, `
		SELECT w.id::text, (SELECT count(*) FROM (SELECT FROM webhook_deliveries d WHERE d.webhook_id = w.id AND d.state = 'pending' LIMIT @most) d) AS waiting
		FROM (SELECT DISTINCT unnest(@webhooks::uuid[]) AS id) w`, pgx.NamedArgs{"webhooks": webhooks, "most": most})
	if err != nil {
		return nil, fmt.Errorf("count the deliveries that wait: %w", err)
	}
	waiting := map[string]int64{}
	for _, r := range found {
		waiting[r.ID] = r.Waiting
	}
	return waiting, nil
}

// rankOf returns River's priority of a delivery's work; 1 is taken first. A delivery of a webhook with few of them
// never waits behind the many of another, which can only be postponed anyhow.
func rankOf(waiting int64) int {
	switch {
	case waiting < 32:
		return 1
	case waiting < 256:
		return 2
	case waiting < enoughWaiting:
		return 3
	}
	return 4
}

// handOut hands deliveries to whichever servers have time, once the transaction has committed and the
// moment has come. Zero is at once.
func (s *Store) handOut(ctx context.Context, q querier, deliveries []handed, waiting map[string]int64, at time.Time) error {
	if len(deliveries) == 0 {
		return nil
	}
	tx, ok := q.(pgx.Tx)
	if !ok {
		return errors.New("deliveries are handed out in a transaction")
	}
	work := make([]river.InsertManyParams, len(deliveries))
	for i, d := range deliveries {
		w := hooks.DeliveryWork{ID: d.ID}
		work[i] = river.InsertManyParams{Args: w, InsertOpts: &river.InsertOpts{
			Queue: w.Queue(), MaxAttempts: w.MaxAttempts(), Priority: rankOf(waiting[d.Webhook]), ScheduledAt: at}}
	}
	if _, err := s.river.InsertManyFastTx(ctx, tx, work); err != nil {
		return fmt.Errorf("hand out deliveries: %w", err)
	}
	return nil
}
