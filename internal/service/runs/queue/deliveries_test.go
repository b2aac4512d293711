package queue_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"example.org/headroom/internal/data/storage"
	"example.org/headroom/internal/service/app"
	"example.org/headroom/internal/service/hooks"
	"example.org/headroom/internal/service/runs/queue"
	"example.org/headroom/internal/service/telemetry"
	"example.org/headroom/internal/test/pgtest"
)

func TestDeliveriesAreTriedAgain(t *testing.T) {
	t.Parallel()
	s := start(t, pgtest.Database(t), queue.Config{})
	r := newReceiver(t, func(w http.ResponseWriter, _ *http.Request, n int) {
		if n == 1 {
			w.Header().Set("Retry-After", "3600") // not with a 500
			http.Error(w, "out of order", 500)
		}
	})
	w, secret := hook(t, s, "pager", r, hooks.PlanChanged)
	d, err := s.Stores.Webhooks.PingWebhook(boss(t), w.ID)
	if err != nil {
		t.Fatal(err)
	}
	once := deliveries(t, s, w, "tried", func(all []hooks.Delivery) bool { return len(all[0].Attempts) == 1 })[0]
	if wait := time.Until(*once.NextAt); once.State != hooks.DeliveryPending || once.Attempts[0].Status != 500 || once.Attempts[0].Response != "out of order\n" || !strings.Contains(once.Attempts[0].Error, "answers 500") || wait > 7*time.Second || wait < 3*time.Second {
		t.Errorf("got %+v, again in %s", once, wait)
	}
	if now, err := s.Stores.Webhooks.Webhook(boss(t), w.ID); err != nil || now.FailingSince == nil {
		t.Errorf("got %+v, %v", now, err)
	}
	if d.ID != once.ID || d.State != hooks.DeliveryPending || len(d.Attempts) != 0 {
		t.Errorf("got %+v", d)
	}
	came := r.wait(t, 2)
	if a, b := came[0].header.Get("webhook-id"), came[1].header.Get("webhook-id"); a != b || came[0].body != came[1].body {
		t.Errorf("got %q, then %q", a, b)
	}
	if came[1].header.Get("webhook-signature") != signedWith(secret, came[1]) || came[0].header.Get("webhook-timestamp") == came[1].header.Get("webhook-timestamp") {
		t.Error("the second message is not signed for its own moment")
	}
	done := deliveries(t, s, w, "delivered", allIn(hooks.DeliveryDelivered, 1))[0]
	if len(done.Attempts) != 2 || done.Attempts[1].Status != 200 {
		t.Errorf("got %+v", done)
	}
	if now, err := s.Stores.Webhooks.Webhook(boss(t), w.ID); err != nil || now.FailingSince != nil {
		t.Errorf("got %+v, %v", now, err)
	}
	if _, err := s.Stores.Webhooks.RetryDelivery(boss(t), w.ID, done.ID); err != nil { // once more, by hand
		t.Fatal(err)
	}
	r.wait(t, 3)
	deliveries(t, s, w, "delivered again", func(all []hooks.Delivery) bool {
		return all[0].State == hooks.DeliveryDelivered && len(all[0].Attempts) == 3
	})
}

func TestTargetsThatAreNotReached(t *testing.T) {
	t.Parallel()
	s := start(t, pgtest.Database(t), queue.Config{})
	there := newReceiver(t, nil)
	sends := newReceiver(t, func(w http.ResponseWriter, r *http.Request, _ int) { http.Redirect(w, r, there.URL, http.StatusFound) })
	inside := newReceiver(t, nil)
	redirected, _ := hook(t, s, "redirected", sends, hooks.PlanChanged)
	allow(t, s, there.URL, "127.0.0.0/8")
	named := strings.Replace(inside.URL, "127.0.0.1", "localhost", 1)
	entry := allow(t, s, named) // its name stands for loopback, and no network is listed
	private, _, err := s.Hooks.Create(boss(t), hooks.Webhook{Name: "private", URL: named, Events: []hooks.Event{hooks.PlanChanged}, Enabled: true}, "")
	if err != nil {
		t.Fatal(err)
	}
	failed := func(w hooks.Webhook, attempts int, words string) {
		t.Helper()
		d := deliveries(t, s, w, "tried", func(all []hooks.Delivery) bool { return len(all) > 0 && len(all[0].Attempts) == attempts })[0]
		if a := d.Attempts[attempts-1]; !strings.Contains(a.Error, words) || d.State != hooks.DeliveryPending {
			t.Errorf("%s: got %+v, want %q", w.Name, a, words)
		}
	}
	for _, w := range []hooks.Webhook{redirected, private} {
		if _, err := s.Stores.Webhooks.PingWebhook(boss(t), w.ID); err != nil {
			t.Fatal(err)
		}
	}
	failed(redirected, 1, "302, a redirect")
	failed(private, 1, "not a public address")
	if err := s.Stores.Webhooks.DenyHost(boss(t), entry.ID); err != nil { // it counts at once
		t.Fatal(err)
	}
	list, _ := s.Stores.Webhooks.Deliveries(boss(t), private.ID, storage.Page{})
	if _, err := s.Stores.Webhooks.RetryDelivery(boss(t), private.ID, list.Items[0].ID); err != nil {
		t.Fatal(err)
	}
	failed(private, 2, "not on the list")
	if a, b := len(there.messages()), len(inside.messages()); a != 0 || b != 0 {
		t.Errorf("%d and %d messages arrived", a, b)
	}
}

// A message is stored together with its change, so no server that ends in between loses it.
func TestNothingIsLostWithAServer(t *testing.T) {
	t.Parallel()
	address := pgtest.Database(t)
	s := start(t, address, queue.Config{})
	r := newReceiver(t, nil)
	w, _ := hook(t, s, "pager", r, hooks.PlanChanged)
	cluster(t, s, "shop")
	s.ended() // from now on nobody works
	plan(t, s, "shop", 5)
	plan(t, s, "shop", 6)
	if n := len(r.messages()); n != 0 {
		t.Fatalf("%d messages came without a server", n)
	}
	// A server had begun to send one of them when it died, and River has lost the job of the other.
	conn := raw(t, address)
	if _, err := conn.Exec(t.Context(), `
		DELETE FROM river.river_job;
		UPDATE webhook_deliveries SET next_at = next_at - interval '1 hour';
		UPDATE webhook_deliveries SET claimed_by = gen_random_uuid(), claimed_until = now() - interval '1 second' WHERE id = (SELECT id FROM webhook_deliveries ORDER BY id LIMIT 1)`); err != nil {
		t.Fatal(err)
	}
	again := start(t, address, queue.Config{})
	r.wait(t, 2)
	deliveries(t, again, w, "delivered", allIn(hooks.DeliveryDelivered, 2))
}

func TestWebhooksThatAreDisabled(t *testing.T) {
	t.Parallel()
	address := pgtest.Database(t)
	s := start(t, address, queue.Config{})
	conn := raw(t, address)
	exec := func(sql string, args ...any) {
		t.Helper()
		if _, err := conn.Exec(t.Context(), sql, args...); err != nil {
			t.Fatal(err)
		}
	}
	ping := func(w hooks.Webhook) {
		t.Helper()
		if _, err := s.Stores.Webhooks.PingWebhook(boss(t), w.ID); err != nil {
			t.Fatal(err)
		}
	}
	disabled := func(w hooks.Webhook, words string) {
		t.Helper()
		deliveries(t, s, w, "given up", allIn(hooks.DeliveryFailed, 1))
		now, err := s.Stores.Webhooks.Webhook(boss(t), w.ID)
		if err != nil || now.Enabled || !strings.Contains(now.DisabledReason, words) || now.Version != w.Version+1 {
			t.Errorf("%s: got %+v, %v", w.Name, now, err)
		}
	}
	gone, _ := hook(t, s, "gone", newReceiver(t, status(410)), hooks.PlanChanged)
	ping(gone)
	disabled(gone, "410")
	if _, err := s.Stores.Webhooks.PingWebhook(boss(t), gone.ID); err == nil || !strings.Contains(err.Error(), "disabled") {
		t.Errorf("a disabled webhook is pinged: %v", err)
	}
	weary, _ := hook(t, s, "weary", newReceiver(t, status(500)), hooks.PlanChanged)
	exec(`UPDATE webhooks SET failing_since = now() - interval '73 hours' WHERE id = $1`, weary.ID)
	ping(weary)
	disabled(weary, "answers 500")

	last, _ := hook(t, s, "last", newReceiver(t, status(500)), hooks.PlanChanged)
	exec(`ALTER TABLE webhook_deliveries ALTER tries SET DEFAULT 9`)
	ping(last)
	exec(`ALTER TABLE webhook_deliveries ALTER tries SET DEFAULT 0`)
	d := deliveries(t, s, last, "given up", allIn(hooks.DeliveryFailed, 1))[0]
	if now, err := s.Stores.Webhooks.Webhook(boss(t), last.ID); err != nil || !now.Enabled || !strings.Contains(d.Detail, "tried 10 times") || d.NextAt != nil {
		t.Errorf("got %+v, %+v, %v", now, d, err)
	}

	// A message under way ends quietly when somebody disables its webhook.
	r := newReceiver(t, func(w http.ResponseWriter, _ *http.Request, _ int) {
		w.Header().Set("Retry-After", "3000")
		w.WriteHeader(503)
	})
	off, _ := hook(t, s, "off", r, hooks.PlanChanged)
	ping(off)
	waiting := deliveries(t, s, off, "tried", func(all []hooks.Delivery) bool { return len(all[0].Attempts) == 1 })[0]
	if wait := time.Until(*waiting.NextAt); wait < 45*time.Minute || wait > time.Hour {
		t.Errorf("asked for 3000 s, it waits %s", wait)
	}
	now, err := s.Stores.Webhooks.Webhook(boss(t), off.ID)
	if err != nil {
		t.Fatal(err)
	}
	now.Enabled = false
	if _, err := s.Hooks.Replace(boss(t), now.Version, now); err != nil {
		t.Fatal(err)
	}
	exec(`UPDATE webhook_deliveries SET next_at = now() - interval '1 hour' WHERE id = $1`, waiting.ID)
	d = deliveries(t, s, off, "over", allIn(hooks.DeliveryFailed, 1))[0]
	if !strings.Contains(d.Detail, "disabled") || len(d.Attempts) != 1 || len(r.messages()) != 1 {
		t.Errorf("got %+v", d)
	}
	cluster(t, s, "shop")
	plan(t, s, "shop", 5)
	deliveries(t, s, off, "not more", allIn(hooks.DeliveryFailed, 1))

	// Metrics tell which fail, without the one that somebody disabled.
	failing := s.Hooks.Failing()
	if err := failing.Read(t.Context()); err != nil {
		t.Fatal(err)
	}
	tel := telemetry.New(io.Discard, nil)
	tel.Registry.MustRegister(failing)
	shown := httptest.NewRecorder()
	tel.Handler().ServeHTTP(shown, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	var series []string
	for _, m := range regexp.MustCompile(`(?m)^headroom_webhook_failing_since_timestamp_seconds\{(.*)\} 1\.`).FindAllStringSubmatch(shown.Body.String(), -1) {
		series = append(series, m[1])
	}
	if want := []string{`state="disabled",webhook="gone"`, `state="disabled",webhook="weary"`, `state="retried",webhook="last"`}; !slices.Equal(series, want) {
		t.Errorf("webhooks that fail are %q, want %q", series, want)
	}

	pgtest.Outlast(t)
	audit, err := s.Stores.Database.Audit(boss(t), app.AuditFilter{}, storage.Page{Limit: 1000})
	if err != nil {
		t.Fatal(err)
	}
	if !slices.ContainsFunc(audit.Items, func(e app.AuditEntry) bool {
		return e.By == "webhooks" && e.Kind == hooks.WebhookKind && e.Name == "gone" && strings.Contains(string(e.After), "410")
	}) {
		t.Errorf("nobody wrote down that a webhook was disabled")
	}
}

func TestSecretsAreRotated(t *testing.T) {
	t.Parallel()
	address := pgtest.Database(t)
	s := start(t, address, queue.Config{})
	r := newReceiver(t, nil)
	w, old := hook(t, s, "pager", r, hooks.PlanChanged)
	secret, until, err := s.Hooks.RotateSecret(boss(t), w.ID, "")
	if wait := time.Until(until); err != nil || wait < 23*time.Hour || wait > 24*time.Hour || secret == old {
		t.Fatalf("got %s, %v", until, err)
	}
	signatures := func(n int, want ...string) {
		t.Helper()
		if _, err := s.Stores.Webhooks.PingWebhook(boss(t), w.ID); err != nil {
			t.Fatal(err)
		}
		m := r.wait(t, n)[n-1]
		var all []string
		for _, secret := range want {
			all = append(all, signedWith(secret, m))
		}
		if got := m.header.Get("webhook-signature"); got != strings.Join(all, " ") {
			t.Errorf("got %q, want %q", got, all)
		}
		if !strings.Contains(m.body, `"type":"ping"`) || !strings.Contains(m.body, `"webhook":"pager"`) {
			t.Errorf("got %s", m.body)
		}
	}
	signatures(1, secret, old)
	if _, err := raw(t, address).Exec(t.Context(), `UPDATE webhook_secrets SET signs_until = now() WHERE signs_until IS NOT NULL`); err != nil {
		t.Fatal(err)
	}
	signatures(2, secret)
	for range 4 {
		if _, _, err := s.Hooks.RotateSecret(boss(t), w.ID, ""); err != nil {
			t.Fatal(err)
		}
	}
	if _, _, err := s.Hooks.RotateSecret(boss(t), w.ID, ""); err == nil || !strings.Contains(err.Error(), "5 secrets") {
		t.Errorf("got %v", err)
	}
	if _, _, err := s.Hooks.RotateSecret(boss(t), w.ID, "whsec_short"); err == nil {
		t.Error("a short secret is taken")
	}
	pgtest.Outlast(t)
	audit, err := s.Stores.Database.Audit(boss(t), app.AuditFilter{}, storage.Page{Limit: 1000})
	if text := fmt.Sprintf("%s %v", audit.Items, err); strings.Contains(text, old) || strings.Contains(text, secret) || !strings.Contains(text, "webhook_secret") {
		t.Error("the audit log has a secret, or does not say that it was changed")
	}
}
