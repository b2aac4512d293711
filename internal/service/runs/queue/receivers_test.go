package queue_test

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
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/money"
	"example.org/headroom/internal/data/fetch"
	"example.org/headroom/internal/data/inputs"
	"example.org/headroom/internal/data/storage"
	"example.org/headroom/internal/service/auth"
	"example.org/headroom/internal/service/hooks"
	"example.org/headroom/internal/service/plans"
	"example.org/headroom/internal/test/await"
)

// boss returns an admin.
func boss(t testing.TB) context.Context {
	return auth.With(t.Context(), auth.Principal{ID: "key-2", Name: "Boss", Role: auth.Admin})
}

// message is a message that arrived at a receiver.
type message struct {
	header http.Header
	body   string
	at     time.Time
}

// receiver receives messages; answer, if set, answers each of them.
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
		r.came = append(r.came, message{header: q.Header.Clone(), body: string(body), at: time.Now()})
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

// wait waits for this many messages.
func (r *receiver) wait(t testing.TB, n int) []message {
	t.Helper()
	for range await.Tries(time.Minute) {
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

// allow puts a receiver on the list of allowed hosts.
func allow(t testing.TB, s *server, address string, networks ...string) fetch.AllowedHost {
	t.Helper()
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	port, err := strconv.ParseInt(u.Port(), 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	h, err := s.Hooks.AllowHost(boss(t), fetch.AllowedHost{Host: u.Hostname(), Port: port, HTTP: true, Networks: networks})
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// hook makes a webhook for a receiver on loopback.
func hook(t testing.TB, s *server, name string, r *receiver, events ...hooks.Event) (hooks.Webhook, string) {
	t.Helper()
	allow(t, s, r.URL, "127.0.0.0/8")
	w, secret, err := s.Hooks.Create(boss(t), hooks.Webhook{Name: name, URL: r.URL + "/" + name, Events: events, Enabled: true}, "")
	if err != nil {
		t.Fatal(err)
	}
	return w, secret
}

// cluster makes a cluster; plan gives it another plan at once.
func cluster(t testing.TB, s *server, name string) {
	t.Helper()
	if _, err := s.Clusters.Create(boss(t), inputs.NewCluster(name)); err != nil {
		t.Fatal(err)
	}
}

func plan(t testing.TB, s *server, cluster string, vms float64) plans.PlanRecord {
	t.Helper()
	r := plans.PlanRecord{Plan: json.RawMessage(`{"status":"optimal","classes":[]}`), Problem: json.RawMessage(`{"currency":"USD"}`)}
	r.Cluster, r.At, r.Status, r.Currency, r.PeriodSeconds, r.VMs, r.VMsOnDemand, r.VMsReserved = cluster, time.Now(), capacity.Optimal, "USD", 1800, vms, vms-1, 1
	total, _ := money.Parse("7.50")
	r.TotalCost = total
	c, err := s.Stores.Inputs.Cluster(boss(t), cluster)
	if err != nil {
		t.Fatal(err)
	}
	r.InputsVersion = c.InputsVersion
	saved, err := s.Plans.Save(boss(t), r)
	if err != nil {
		t.Fatal(err)
	}
	return saved
}

// deliveries waits for a state of a webhook's log.
func deliveries(t testing.TB, s *server, w hooks.Webhook, what string, is func([]hooks.Delivery) bool) []hooks.Delivery {
	t.Helper()
	var list storage.Listed[hooks.Delivery]
	for range await.Tries(20 * time.Second) {
		var err error
		if list, err = s.Stores.Webhooks.Deliveries(boss(t), w.ID, storage.Page{}); err != nil {
			t.Fatal(err)
		}
		if is(list.Items) {
			return list.Items
		}
	}
	t.Fatalf("the deliveries are not %s: %+v", what, list.Items)
	return nil
}

func allIn(state hooks.DeliveryState, n int) func([]hooks.Delivery) bool {
	return func(all []hooks.Delivery) bool {
		return len(all) == n && !slices.ContainsFunc(all, func(d hooks.Delivery) bool { return d.State != state })
	}
}

// signedWith computes the signature from the specification alone.
func signedWith(secret string, m message) string {
	key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(secret, "whsec_"))
	if err != nil {
		return err.Error()
	}
	h := hmac.New(sha256.New, key)
	_, _ = fmt.Fprintf(h, "%s.%s.%s", m.header.Get("webhook-id"), m.header.Get("webhook-timestamp"), m.body)
	return "v1," + base64.StdEncoding.EncodeToString(h.Sum(nil))
}
