package postgres_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"example.org/headroom/internal/core/fault"
	"example.org/headroom/internal/edge/postgres"
	"example.org/headroom/internal/service/hooks"
	"example.org/headroom/internal/test/pgtest"
)

func newHook(t *testing.T, s *postgres.Store, name string) hooks.Webhook {
	t.Helper()
	w := hooks.Webhook{Name: name, URL: "https://hooks.example.com/", Events: []hooks.Event{hooks.PlanChanged}, Enabled: true}
	return must(s.CreateWebhook(somebody(t), w, "whsec_"))(t)
}

// backlog gives a webhook deliveries that have been waiting for a minute without a notification.
func backlog(t *testing.T, conn *pgx.Conn, w hooks.Webhook, n int) {
	t.Helper()
	execute(t, conn, `
		INSERT INTO webhook_deliveries (id, webhook_id, event_id, event, cluster, body, next_at)
		SELECT gen_random_uuid(), $1, gen_random_uuid(), 'ping', '', '{}', clock_timestamp() - interval '1 minute' FROM generate_series(1, $2)`, w.ID, n)
}

// workOf returns the priorities of the work for a webhook's deliveries, each once.
func workOf(t *testing.T, s *postgres.Store, conn *pgx.Conn, w hooks.Webhook) (n int64, priorities string) {
	t.Helper()
	_, schema := s.River()
	err := conn.QueryRow(t.Context(), `
		SELECT count(*), coalesce(string_agg(DISTINCT j.priority::text, ' '), '') FROM `+pgx.Identifier{schema, "river_job"}.Sanitize()+` j
		JOIN webhook_deliveries d ON d.id::text = j.args->>'id' WHERE d.webhook_id = $1`, w.ID).Scan(&n, &priorities)
	check(t, err)
	return n, priorities
}

// A backlog is not handed out twice, however long it takes; lost deliveries are handed out again.
func TestOnlyLostDeliveriesAreHandedOutAgain(t *testing.T) {
	t.Parallel()
	url := pgtest.Database(t)
	s, conn := pgtest.OpenWith(t, configOf(url)), raw(t, url)
	w := newHook(t, s, "w")
	must(s.PingWebhook(somebody(t), w.ID))(t)
	_, schema := s.River()
	jobs := pgx.Identifier{schema, "river_job"}.Sanitize()
	for _, step := range []struct {
		what, sql string
		want      int64
	}{
		{"its work waits", `SELECT`, 1},
		{"it is being claimed", `UPDATE ` + jobs + ` SET state = 'running', attempted_at = now()`, 1},
		{"a server took its work and ended", `UPDATE ` + jobs + ` SET state = 'running', attempted_at = now() - interval '10 seconds'`, 2},
		{"the new work waits", `SELECT`, 2},
		{"its work is gone", `DELETE FROM ` + jobs, 1},
	} {
		execute(t, conn, `UPDATE webhook_deliveries SET next_at = clock_timestamp() - interval '1 minute'`)
		execute(t, conn, step.sql)
		check(t, s.SweepDeliveries(t.Context()))
		if n, _ := workOf(t, s, conn, w); n != step.want {
			t.Errorf("%s: there is the work of %d, want %d", step.what, n, step.want)
		}
	}
}

// Further events for a target that does not answer are recorded and not sent.
func TestDeliveriesThatWaitAreBounded(t *testing.T) {
	t.Parallel()
	url := pgtest.Database(t)
	s, conn := pgtest.OpenWith(t, configOf(url)), raw(t, url)
	ctx, w, other := somebody(t), newHook(t, s, "w"), newHook(t, s, "other")
	backlog(t, conn, w, 9999)
	if d := must(s.PingWebhook(ctx, w.ID))(t); d.State != hooks.DeliveryPending {
		t.Errorf("got %+v", d)
	}
	n, priorities := workOf(t, s, conn, w)
	if n != 1 || priorities != "4" {
		t.Errorf("got the work of %d with the priorities %q", n, priorities)
	}
	d := must(s.PingWebhook(ctx, w.ID))(t)
	if d.State != hooks.DeliveryFailed || d.NextAt != nil || !strings.HasPrefix(d.Detail, "It was not sent: 10,000 deliveries to this webhook wait already.") {
		t.Errorf("got %+v", d)
	}
	if n, _ := workOf(t, s, conn, w); n != 1 {
		t.Errorf("there is the work of %d", n)
	}
	if _, err := s.RetryDelivery(ctx, w.ID, d.ID); !errors.Is(err, fault.Conflict) {
		t.Errorf("sent again: got %v", err)
	}
	var state string
	check(t, conn.QueryRow(ctx, `SELECT state FROM webhook_deliveries WHERE id = $1`, d.ID).Scan(&state))
	if state != "failed" {
		t.Errorf("sent again: it is %s", state)
	}
	if d := must(s.PingWebhook(ctx, other.ID))(t); d.State != hooks.DeliveryPending {
		t.Errorf("another webhook: got %+v", d)
	}
	if n, priorities := workOf(t, s, conn, other); n != 1 || priorities != "1" {
		t.Errorf("another webhook: got the work of %d with the priorities %q", n, priorities)
	}
	began := time.Now()
	check(t, s.SweepDeliveries(t.Context()))
	t.Logf("a sweep with 10,000 that are lost took %s", time.Since(began))
	if n, priorities := workOf(t, s, conn, w); n != 101 || priorities != "4" {
		t.Errorf("got the work of %d with the priorities %q", n, priorities)
	}
}
