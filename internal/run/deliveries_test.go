package run_test

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"headroom/internal/app"
	"headroom/internal/auth"
	"headroom/internal/capacity"
	"headroom/internal/pgtest"
	"headroom/internal/postgres"
	"headroom/internal/run"
)

// boss is an admin.
func boss(t testing.TB) context.Context {
	return auth.With(t.Context(), auth.Principal{ID: "key-2", Name: "Boss", Role: auth.Admin})
}

// message is what arrived at a receiver.
type message struct {
	header http.Header
	body   string
	at     time.Time
}

// receiver is somebody who is told; answer, unless nil, says what to each message.
type receiver struct {
	*httptest.Server
	mu   sync.Mutex
	came []message
}

func newReceiver(t testing.TB, answer func(w http.ResponseWriter, r *http.Request, n int)) *receiver {
	t.Helper()
	r := &receiver{}
	r.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		body, _ := io.ReadAll(q.Body)
		r.mu.Lock()
		r.came = append(r.came, message{q.Header.Clone(), string(body), time.Now()})
		n := len(r.came)
		r.mu.Unlock()
		if answer != nil {
			answer(w, q, n)
		}
	}))
	t.Cleanup(r.Close)
	return r
}

func (r *receiver) messages() []message {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.came)
}

// wait waits for so many messages.
func (r *receiver) wait(t testing.TB, n int) []message {
	t.Helper()
	for deadline := time.Now().Add(20 * time.Second); time.Now().Before(deadline); time.Sleep(5 * time.Millisecond) {
		if m := r.messages(); len(m) >= n {
			return m
		}
	}
	t.Fatalf("%d messages came, want %d", len(r.messages()), n)
	return nil
}

func status(code int) func(http.ResponseWriter, *http.Request, int) {
	return func(w http.ResponseWriter, _ *http.Request, _ int) { w.WriteHeader(code) }
}

// allow puts a receiver on the list.
func allow(t testing.TB, s *server, address string, networks ...string) capacity.AllowedHost {
	t.Helper()
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	port, err := strconv.ParseInt(u.Port(), 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	h, err := s.AllowHost(boss(t), capacity.AllowedHost{Host: u.Hostname(), Port: port, HTTP: true, Networks: networks})
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// hook makes a webhook for a receiver on loopback.
func hook(t testing.TB, s *server, name string, r *receiver, events ...capacity.Event) (capacity.Webhook, string) {
	t.Helper()
	allow(t, s, r.URL, "127.0.0.0/8")
	w, secret, err := s.CreateWebhook(boss(t), capacity.Webhook{Name: name, URL: r.URL + "/" + name, Events: events, Enabled: true}, "")
	if err != nil {
		t.Fatal(err)
	}
	return w, secret
}

// cluster makes a cluster; plan gives it another plan at once.
func cluster(t testing.TB, s *server, name string) {
	t.Helper()
	if _, err := s.CreateCluster(boss(t), capacity.NewCluster(name)); err != nil {
		t.Fatal(err)
	}
}

func plan(t testing.TB, s *server, cluster string, vms float64) capacity.PlanRecord {
	t.Helper()
	r := capacity.PlanRecord{Plan: json.RawMessage(`{"status":"optimal","classes":[]}`), Problem: json.RawMessage(`{"currency":"USD"}`)}
	r.Cluster, r.At, r.Status, r.Currency, r.PeriodSeconds, r.VMs, r.VMsOnDemand, r.VMsReserved = cluster, time.Now(), capacity.Optimal, "USD", 1800, vms, vms-1, 1
	total, _ := capacity.ParseMoney("7.50")
	r.TotalCost = total
	c, err := s.Cluster(boss(t), cluster)
	if err != nil {
		t.Fatal(err)
	}
	r.InputsVersion = c.InputsVersion
	saved, err := s.SavePlan(boss(t), r)
	if err != nil {
		t.Fatal(err)
	}
	return saved
}

// deliveries waits for the log of a webhook to be as wanted.
func deliveries(t testing.TB, s *server, w capacity.Webhook, what string, is func([]capacity.Delivery) bool) []capacity.Delivery {
	t.Helper()
	var list app.Listed[capacity.Delivery]
	for deadline := time.Now().Add(20 * time.Second); time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
		var err error
		if list, err = s.Deliveries(boss(t), w.ID, app.Page{}); err != nil {
			t.Fatal(err)
		}
		if is(list.Items) {
			return list.Items
		}
	}
	t.Fatalf("the deliveries are not %s: %+v", what, list.Items)
	return nil
}

func allIn(state capacity.DeliveryState, n int) func([]capacity.Delivery) bool {
	return func(all []capacity.Delivery) bool {
		return len(all) == n && !slices.ContainsFunc(all, func(d capacity.Delivery) bool { return d.State != state })
	}
}

// signedWith computes the signature from the specification's words alone.
func signedWith(secret string, m message) string {
	key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(secret, "whsec_"))
	if err != nil {
		return err.Error()
	}
	h := hmac.New(sha256.New, key)
	_, _ = fmt.Fprintf(h, "%s.%s.%s", m.header.Get("webhook-id"), m.header.Get("webhook-timestamp"), m.body)
	return "v1," + base64.StdEncoding.EncodeToString(h.Sum(nil))
}

func TestPlansAreTold(t *testing.T) {
	t.Parallel()
	s := start(t, pgtest.Database(t), run.Config{})
	r := newReceiver(t, func(w http.ResponseWriter, _ *http.Request, _ int) { _, _ = io.WriteString(w, "thanks") })
	w, secret := hook(t, s, "pager", r, capacity.PlanChanged)
	other := newReceiver(t, nil)
	elsewhere, _ := hook(t, s, "elsewhere", other, capacity.PlanChanged)
	cluster(t, s, "another")
	elsewhere.Clusters = []string{"another"}
	if _, err := s.ReplaceWebhook(boss(t), elsewhere.Version, elsewhere); err != nil {
		t.Fatal(err)
	}
	cluster(t, s, "shop")
	first := plan(t, s, "shop", 5)
	r.wait(t, 1)
	second := plan(t, s, "shop", 8)
	came := r.wait(t, 2)
	bodies := map[int64]string{}
	for _, m := range came {
		var body struct {
			ID, Type, Cluster string
			At                time.Time
			Plan              struct {
				Number      int64
				ID, Status  string
				VMs         struct{ Total, Reserved, OnDemand float64 }
				CostPerHour string `json:"cost_per_hour"`
				Currency    string
			}
			Previous *struct {
				Number int64
				VMs    struct{ Total float64 }
			}
		}
		if err := json.Unmarshal([]byte(m.body), &body); err != nil {
			t.Fatal(err)
		}
		bodies[body.Plan.Number] = m.body
		if body.ID != m.header.Get("webhook-id") || body.Type != "plan.changed" || body.Cluster != "shop" || time.Since(body.At) > time.Minute || body.Plan.Status != "optimal" || body.Plan.CostPerHour != "15.00" || body.Plan.Currency != "USD" {
			t.Errorf("got %v %s", m.header, m.body)
		}
		if got, want := m.header.Get("webhook-signature"), signedWith(secret, m); got != want {
			t.Errorf("got the signature %q, want %q", got, want)
		}
		if seconds, err := strconv.ParseInt(m.header.Get("webhook-timestamp"), 10, 64); err != nil || time.Since(time.Unix(seconds, 0)).Abs() > time.Minute || m.header.Get("Content-Type") != "application/json" {
			t.Errorf("got %v", m.header)
		}
		switch body.Plan.Number {
		case 1:
			if body.Previous != nil || body.Plan.ID != first.ID || body.Plan.VMs.Total != 5 {
				t.Errorf("got %s", m.body)
			}
		case 2:
			if body.Previous == nil || body.Previous.Number != 1 || body.Previous.VMs.Total != 5 || body.Plan.ID != second.ID || body.Plan.VMs.Total != 8 || body.Plan.VMs.Reserved != 1 {
				t.Errorf("got %s", m.body)
			}
		}
	}
	if len(bodies) != 2 {
		t.Errorf("got %v", bodies)
	}
	if !strings.Contains(bodies[1], `"previous":null`) || !strings.Contains(bodies[2], `"on_demand":7`) {
		t.Errorf("got %v", bodies)
	}
	log := deliveries(t, s, w, "delivered", allIn(capacity.DeliveryDelivered, 2))
	for _, d := range log {
		if len(d.Attempts) != 1 || d.Attempts[0].Status != 200 || d.Attempts[0].Error != "" || d.Attempts[0].Response != "thanks" || d.NextAt != nil || d.Delivered == nil || d.Cluster != "shop" || d.Event != capacity.PlanChanged {
			t.Errorf("got %+v", d)
		}
	}
	if log[0].At.Before(log[1].At) {
		t.Error("the newest does not come first")
	}

	// A pin makes another plan current, and so does its end.
	if _, err := s.PinPlan(boss(t), "shop", app.PlanRef{Number: 1}, time.Now().Add(time.Hour)); err != nil {
		t.Fatal(err)
	}
	if m := r.wait(t, 3)[2]; !strings.Contains(m.body, `"plan":{"number":1,`) || !strings.Contains(m.body, `"previous":{"number":2,`) {
		t.Errorf("pinned: got %s", m.body)
	}
	plan(t, s, "shop", 9) // which is not current
	if err := s.UnpinPlan(boss(t), "shop"); err != nil {
		t.Fatal(err)
	}
	if m := r.wait(t, 4)[3]; !strings.Contains(m.body, `"plan":{"number":3,`) || !strings.Contains(m.body, `"previous":{"number":1,`) {
		t.Errorf("unpinned: got %s", m.body)
	}
	deliveries(t, s, w, "all there are", allIn(capacity.DeliveryDelivered, 4))
	if n := len(other.messages()); n != 0 {
		t.Errorf("another cluster's webhook was told %d times", n)
	}
}

func TestFailuresOfPlanningAreToldOnce(t *testing.T) {
	t.Parallel()
	s := start(t, pgtest.Database(t), run.Config{})
	r := newReceiver(t, nil)
	w, _ := hook(t, s, "pager", r, capacity.PlanFailed)
	cluster(t, s, "shop")
	ctx := boss(t)
	settle := func(o app.Outcome) {
		t.Helper()
		for deadline := time.Now().Add(10 * time.Second); time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
			claim, _, err := s.Claim(ctx, time.Now(), time.Minute)
			if err != nil {
				t.Fatal(err)
			}
			if claim == nil {
				continue
			}
			o.At = time.Now()
			if o.Plan == nil {
				o.Attempt = capacity.Attempt{At: o.At, Reason: claim.Reason, Failed: !o.Same, Detail: "The promised jobs need 41 VMs, and 30 can be had."}
			}
			if _, err := s.Settle(ctx, *claim, o); err != nil {
				t.Fatal(err)
			}
			return
		}
		t.Fatal("there is nothing to plan")
	}
	change := func() int64 {
		t.Helper()
		c, err := s.Cluster(ctx, "shop")
		if err != nil {
			t.Fatal(err)
		}
		c.Description += "."
		if c, err = s.ReplaceCluster(ctx, c.Version, c); err != nil {
			t.Fatal(err)
		}
		return c.InputsVersion
	}
	settle(app.Outcome{Version: change()}) // a cluster that never had a plan: nobody is told
	plan(t, s, "shop", 5)
	for range 3 {
		settle(app.Outcome{Version: change()})
	}
	r.wait(t, 1)
	settle(app.Outcome{Version: change(), Same: true})
	settle(app.Outcome{Version: change(), Retry: time.Millisecond})
	came := r.wait(t, 2)
	deliveries(t, s, w, "two", allIn(capacity.DeliveryDelivered, 2))
	for _, m := range came {
		if !strings.Contains(m.body, `"type":"plan.failed"`) || !strings.Contains(m.body, "need 41 VMs") || !strings.Contains(m.body, `"plan_number":1`) || !strings.Contains(m.body, `"cluster":"shop"`) {
			t.Errorf("got %s", m.body)
		}
	}
}

func TestRunsAreTold(t *testing.T) {
	t.Parallel()
	work := kinds(map[string]func(context.Context, app.RunClaim, func(capacity.Progress)) (run.Result, error){
		"good": func(context.Context, app.RunClaim, func(capacity.Progress)) (run.Result, error) {
			return text(`1`), nil
		},
		"bad": func(context.Context, app.RunClaim, func(capacity.Progress)) (run.Result, error) {
			return run.Result{}, fmt.Errorf("there is no such cluster: %w", capacity.NotFound)
		},
	})
	s := start(t, pgtest.Database(t), run.Config{Kinds: work})
	r := newReceiver(t, nil)
	hook(t, s, "runs", r, capacity.RunFinished)
	good := begin(t, s, "good")
	r.wait(t, 1)
	bad := begin(t, s, "bad")
	came := r.wait(t, 2)
	if !strings.Contains(came[0].body, good) || !strings.Contains(came[0].body, `"state":"succeeded","error":""`) {
		t.Errorf("got %s", came[0].body)
	}
	if !strings.Contains(came[1].body, bad) || !strings.Contains(came[1].body, `"state":"failed","error":"there is no such cluster"`) {
		t.Errorf("got %s", came[1].body)
	}
}

func TestDeliveriesAreTriedAgain(t *testing.T) {
	t.Parallel()
	s := start(t, pgtest.Database(t), run.Config{})
	r := newReceiver(t, func(w http.ResponseWriter, _ *http.Request, n int) {
		if n == 1 {
			w.Header().Set("Retry-After", "3600") // not with a 500
			http.Error(w, "out of order", 500)
		}
	})
	w, secret := hook(t, s, "pager", r, capacity.PlanChanged)
	d, err := s.PingWebhook(boss(t), w.ID)
	if err != nil {
		t.Fatal(err)
	}
	once := deliveries(t, s, w, "tried", func(all []capacity.Delivery) bool { return len(all[0].Attempts) == 1 })[0]
	if wait := time.Until(*once.NextAt); once.State != capacity.DeliveryPending || once.Attempts[0].Status != 500 || once.Attempts[0].Response != "out of order\n" || !strings.Contains(once.Attempts[0].Error, "answers 500") || wait > 7*time.Second || wait < 3*time.Second {
		t.Errorf("got %+v, again in %s", once, wait)
	}
	if now, err := s.Webhook(boss(t), w.ID); err != nil || now.FailingSince == nil {
		t.Errorf("got %+v, %v", now, err)
	}
	if d.ID != once.ID || d.State != capacity.DeliveryPending || len(d.Attempts) != 0 {
		t.Errorf("got %+v", d)
	}
	came := r.wait(t, 2)
	if a, b := came[0].header.Get("webhook-id"), came[1].header.Get("webhook-id"); a != b || came[0].body != came[1].body {
		t.Errorf("got %q, then %q", a, b)
	}
	if came[1].header.Get("webhook-signature") != signedWith(secret, came[1]) || came[0].header.Get("webhook-timestamp") == came[1].header.Get("webhook-timestamp") {
		t.Error("the second message is not signed for its own moment")
	}
	done := deliveries(t, s, w, "delivered", allIn(capacity.DeliveryDelivered, 1))[0]
	if len(done.Attempts) != 2 || done.Attempts[1].Status != 200 {
		t.Errorf("got %+v", done)
	}
	if now, err := s.Webhook(boss(t), w.ID); err != nil || now.FailingSince != nil {
		t.Errorf("got %+v, %v", now, err)
	}
	if _, err := s.RetryDelivery(boss(t), w.ID, done.ID); err != nil { // once more, by hand
		t.Fatal(err)
	}
	r.wait(t, 3)
	deliveries(t, s, w, "delivered again", func(all []capacity.Delivery) bool {
		return all[0].State == capacity.DeliveryDelivered && len(all[0].Attempts) == 3
	})
}

// One target that hangs has two messages at most, and another gets its own within a second.
func TestATargetThatHangsHoldsNobodyUp(t *testing.T) {
	t.Parallel()
	s := start(t, pgtest.Database(t), run.Config{})
	over := make(chan struct{})
	hanging := newReceiver(t, func(_ http.ResponseWriter, r *http.Request, _ int) {
		select {
		case <-r.Context().Done():
		case <-over:
		}
	})
	t.Cleanup(func() { close(over) })
	quick := newReceiver(t, nil)
	slow, _ := hook(t, s, "hanging", hanging, capacity.PlanChanged)
	cluster(t, s, "shop")
	for i := range 8 {
		plan(t, s, "shop", float64(i+2))
	}
	hanging.wait(t, 2)
	hook(t, s, "quick", quick, capacity.PlanChanged)
	began := time.Now()
	plan(t, s, "shop", 20)
	m := quick.wait(t, 1)[0]
	if took := m.at.Sub(began); took > time.Second {
		t.Errorf("it took %s", took)
	}
	if n := len(hanging.messages()); n != 2 {
		t.Errorf("the target that hangs has %d messages at once", n)
	}
	for _, d := range deliveries(t, s, slow, "all there", func(all []capacity.Delivery) bool { return len(all) == 9 }) {
		if len(d.Attempts) != 0 || d.State != capacity.DeliveryPending {
			t.Errorf("putting off was counted: %+v", d)
		}
	}
}

// Thousands that wait for a target that hangs hold up nobody either.
func TestABacklogHoldsNobodyUp(t *testing.T) {
	t.Parallel()
	hundreds := 3
	if os.Getenv("HEADROOM_LONG") != "" {
		hundreds = 20
	}
	address := pgtest.Database(t)
	store := pgtest.OpenWith(t, postgres.Config{URL: address})
	before := &server{App: app.New(store, auth.NewKeyring(), app.Config{}), store: store} // nobody works yet
	over := make(chan struct{})
	hanging := newReceiver(t, func(_ http.ResponseWriter, r *http.Request, _ int) {
		select {
		case <-r.Context().Done():
		case <-over:
		}
	})
	t.Cleanup(func() { close(over) })
	quick := newReceiver(t, nil)
	slow, _ := hook(t, before, "hanging", hanging, capacity.PlanFailed)
	hook(t, before, "quick", quick, capacity.PlanChanged)
	cluster(t, before, "shop")
	conn, err := pgx.Connect(t.Context(), address)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close(context.Background()) }()
	_, err = conn.Exec(t.Context(), `
		INSERT INTO webhook_deliveries (id, webhook_id, event_id, event, cluster, body, next_at)
		SELECT gen_random_uuid(), $1, gen_random_uuid(), 'ping', '', '{}', clock_timestamp() - interval '1 minute' FROM generate_series(1, $2)`, slow.ID, 100*hundreds)
	if err != nil {
		t.Fatal(err)
	}
	for range hundreds {
		if err := store.SweepDeliveries(boss(t)); err != nil {
			t.Fatal(err)
		}
	}
	s := start(t, address, run.Config{})
	hanging.wait(t, 2)
	began := time.Now()
	plan(t, s, "shop", 20)
	took := quick.wait(t, 1)[0].at.Sub(began)
	t.Logf("it took %s", took)
	if took > 2*time.Second {
		t.Errorf("it took %s", took)
	}
}

func TestTargetsThatAreNotReached(t *testing.T) {
	t.Parallel()
	s := start(t, pgtest.Database(t), run.Config{})
	there := newReceiver(t, nil)
	sends := newReceiver(t, func(w http.ResponseWriter, r *http.Request, _ int) { http.Redirect(w, r, there.URL, http.StatusFound) })
	inside := newReceiver(t, nil)
	redirected, _ := hook(t, s, "redirected", sends, capacity.PlanChanged)
	allow(t, s, there.URL, "127.0.0.0/8")
	named := strings.Replace(inside.URL, "127.0.0.1", "localhost", 1)
	entry := allow(t, s, named) // whose name stands for loopback, and no network is listed
	private, _, err := s.CreateWebhook(boss(t), capacity.Webhook{Name: "private", URL: named, Events: []capacity.Event{capacity.PlanChanged}, Enabled: true}, "")
	if err != nil {
		t.Fatal(err)
	}
	failed := func(w capacity.Webhook, attempts int, words string) {
		t.Helper()
		d := deliveries(t, s, w, "tried", func(all []capacity.Delivery) bool { return len(all) > 0 && len(all[0].Attempts) == attempts })[0]
		if a := d.Attempts[attempts-1]; !strings.Contains(a.Error, words) || d.State != capacity.DeliveryPending {
			t.Errorf("%s: got %+v, want %q", w.Name, a, words)
		}
	}
	for _, w := range []capacity.Webhook{redirected, private} {
		if _, err := s.PingWebhook(boss(t), w.ID); err != nil {
			t.Fatal(err)
		}
	}
	failed(redirected, 1, "302, a redirect")
	failed(private, 1, "not a public address")
	if err := s.DenyHost(boss(t), entry.ID); err != nil { // which counts at once
		t.Fatal(err)
	}
	list, _ := s.Deliveries(boss(t), private.ID, app.Page{})
	if _, err := s.RetryDelivery(boss(t), private.ID, list.Items[0].ID); err != nil {
		t.Fatal(err)
	}
	failed(private, 2, "not on the list")
	if a, b := len(there.messages()), len(inside.messages()); a != 0 || b != 0 {
		t.Errorf("%d and %d messages arrived", a, b)
	}
}

// What is to be told is stored with what it tells; so no server that ends in between loses it.
func TestNothingIsLostWithAServer(t *testing.T) {
	t.Parallel()
	address := pgtest.Database(t)
	s := start(t, address, run.Config{})
	r := newReceiver(t, nil)
	w, _ := hook(t, s, "pager", r, capacity.PlanChanged)
	cluster(t, s, "shop")
	s.ended() // from now on nobody works
	plan(t, s, "shop", 5)
	plan(t, s, "shop", 6)
	if n := len(r.messages()); n != 0 {
		t.Fatalf("%d messages came without a server", n)
	}
	// One of them a server had begun to send when it died, and of the other River has lost its word.
	conn := raw(t, address)
	if _, err := conn.Exec(t.Context(), `
		DELETE FROM river.river_job;
		UPDATE webhook_deliveries SET next_at = next_at - interval '1 hour';
		UPDATE webhook_deliveries SET claimed_by = gen_random_uuid(), claimed_until = now() - interval '1 second' WHERE id = (SELECT id FROM webhook_deliveries ORDER BY id LIMIT 1)`); err != nil {
		t.Fatal(err)
	}
	again := start(t, address, run.Config{})
	r.wait(t, 2)
	deliveries(t, again, w, "delivered", allIn(capacity.DeliveryDelivered, 2))
}

func TestWebhooksThatAreDisabled(t *testing.T) {
	t.Parallel()
	address := pgtest.Database(t)
	s := start(t, address, run.Config{})
	conn := raw(t, address)
	exec := func(sql string, args ...any) {
		t.Helper()
		if _, err := conn.Exec(t.Context(), sql, args...); err != nil {
			t.Fatal(err)
		}
	}
	ping := func(w capacity.Webhook) {
		t.Helper()
		if _, err := s.PingWebhook(boss(t), w.ID); err != nil {
			t.Fatal(err)
		}
	}
	disabled := func(w capacity.Webhook, words string) {
		t.Helper()
		deliveries(t, s, w, "given up", allIn(capacity.DeliveryFailed, 1))
		now, err := s.Webhook(boss(t), w.ID)
		if err != nil || now.Enabled || !strings.Contains(now.DisabledReason, words) || now.Version != w.Version+1 {
			t.Errorf("%s: got %+v, %v", w.Name, now, err)
		}
	}
	gone, _ := hook(t, s, "gone", newReceiver(t, status(410)), capacity.PlanChanged)
	ping(gone)
	disabled(gone, "410")
	if _, err := s.PingWebhook(boss(t), gone.ID); err == nil || !strings.Contains(err.Error(), "disabled") {
		t.Errorf("a disabled webhook is pinged: %v", err)
	}
	weary, _ := hook(t, s, "weary", newReceiver(t, status(500)), capacity.PlanChanged)
	exec(`UPDATE webhooks SET failing_since = now() - interval '73 hours' WHERE id = $1`, weary.ID)
	ping(weary)
	disabled(weary, "answers 500")

	last, _ := hook(t, s, "last", newReceiver(t, status(500)), capacity.PlanChanged)
	exec(`ALTER TABLE webhook_deliveries ALTER tries SET DEFAULT 9`)
	ping(last)
	exec(`ALTER TABLE webhook_deliveries ALTER tries SET DEFAULT 0`)
	d := deliveries(t, s, last, "given up", allIn(capacity.DeliveryFailed, 1))[0]
	if now, err := s.Webhook(boss(t), last.ID); err != nil || !now.Enabled || !strings.Contains(d.Detail, "tried 10 times") || d.NextAt != nil {
		t.Errorf("got %+v, %+v, %v", now, d, err)
	}

	// What is on its way when somebody disables a webhook ends quietly.
	r := newReceiver(t, func(w http.ResponseWriter, _ *http.Request, _ int) {
		w.Header().Set("Retry-After", "3000")
		w.WriteHeader(503)
	})
	off, _ := hook(t, s, "off", r, capacity.PlanChanged)
	ping(off)
	waiting := deliveries(t, s, off, "tried", func(all []capacity.Delivery) bool { return len(all[0].Attempts) == 1 })[0]
	if wait := time.Until(*waiting.NextAt); wait < 45*time.Minute || wait > time.Hour {
		t.Errorf("asked for 3000 s, it waits %s", wait)
	}
	now, err := s.Webhook(boss(t), off.ID)
	if err != nil {
		t.Fatal(err)
	}
	now.Enabled = false
	if _, err := s.ReplaceWebhook(boss(t), now.Version, now); err != nil {
		t.Fatal(err)
	}
	exec(`UPDATE webhook_deliveries SET next_at = now() - interval '1 hour' WHERE id = $1`, waiting.ID)
	d = deliveries(t, s, off, "over", allIn(capacity.DeliveryFailed, 1))[0]
	if !strings.Contains(d.Detail, "disabled") || len(d.Attempts) != 1 || len(r.messages()) != 1 {
		t.Errorf("got %+v", d)
	}
	cluster(t, s, "shop")
	plan(t, s, "shop", 5)
	deliveries(t, s, off, "not more", allIn(capacity.DeliveryFailed, 1))

	audit, err := s.Audit(boss(t), app.AuditFilter{}, app.Page{Limit: 1000})
	if err != nil {
		t.Fatal(err)
	}
	if !slices.ContainsFunc(audit.Items, func(e app.AuditEntry) bool {
		return e.By == "webhooks" && e.Kind == capacity.WebhookKind && e.Name == "gone" && strings.Contains(string(e.After), "410")
	}) {
		t.Errorf("nobody wrote down that a webhook was disabled")
	}
}

func TestSecretsAreRotated(t *testing.T) {
	t.Parallel()
	address := pgtest.Database(t)
	s := start(t, address, run.Config{})
	r := newReceiver(t, nil)
	w, old := hook(t, s, "pager", r, capacity.PlanChanged)
	secret, until, err := s.RotateSecret(boss(t), w.ID, "")
	if wait := time.Until(until); err != nil || wait < 23*time.Hour || wait > 24*time.Hour || secret == old {
		t.Fatalf("got %s, %v", until, err)
	}
	signatures := func(n int, want ...string) {
		t.Helper()
		if _, err := s.PingWebhook(boss(t), w.ID); err != nil {
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
		if _, _, err := s.RotateSecret(boss(t), w.ID, ""); err != nil {
			t.Fatal(err)
		}
	}
	if _, _, err := s.RotateSecret(boss(t), w.ID, ""); err == nil || !strings.Contains(err.Error(), "5 secrets") {
		t.Errorf("got %v", err)
	}
	if _, _, err := s.RotateSecret(boss(t), w.ID, "whsec_short"); err == nil {
		t.Error("a short secret is taken")
	}
	audit, err := s.Audit(boss(t), app.AuditFilter{}, app.Page{Limit: 1000})
	if text := fmt.Sprintf("%s %v", audit.Items, err); strings.Contains(text, old) || strings.Contains(text, secret) || !strings.Contains(text, "webhook_secret") {
		t.Error("the audit log has a secret, or does not say that it was changed")
	}
}
