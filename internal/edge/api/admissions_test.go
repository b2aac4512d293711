package api

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/data/inputs"
	"example.org/headroom/internal/edge/postgres"
	"example.org/headroom/internal/service/app"
	"example.org/headroom/internal/service/auth"
	"example.org/headroom/internal/service/plans"
	"example.org/headroom/internal/service/telemetry"
	"example.org/headroom/internal/slots/dispatch"
	"example.org/headroom/internal/slots/live"
	"example.org/headroom/internal/test/pgtest"
)

const admissions = "/v1/clusters/night/admissions"

// planned returns a service with a planned cluster and an agent's key for it.
func planned(t *testing.T) (s *service, agent string) {
	s = newService(t)
	s.cluster("night")
	s.ask(s.admin, "POST", "/v1/clusters/night/plans", nil).want(t, 201)
	return s, s.key("host-7", auth.Agent, []string{"night"})
}

func TestAdmissions(t *testing.T) {
	t.Parallel()
	s, agent := planned(t)
	var counts list[live.ClassAdmissions]
	s.ask(agent, "GET", admissions+"/summary", nil).want(t, 200).into(t, &counts)
	if len(counts.Items) != 2 || counts.Items[1].Class != "nightly" || counts.Items[1].Limit < 2 || counts.Items[1].Free != counts.Items[1].Limit {
		t.Fatalf("got %+v", counts.Items)
	}
	limit := counts.Items[1].Limit
	var first live.Admission
	for i := range limit {
		a := s.ask(agent, "POST", admissions, fmt.Sprintf(`{"class":"nightly","holder":"job %d"}`, i)).want(t, 201)
		a.into(t, &first)
		if !first.Admitted || first.Running != i+1 || first.Limit != limit || first.Holder != fmt.Sprintf("job %d", i) || first.AdmittedBy != "host-7" || first.TTLSeconds != 120 || first.PlanNumber != 1 {
			t.Errorf("got %s", a.text)
		}
		if at := a.Header.Get("Location"); at != admissions+"/"+first.ID || a.Header.Get("Retry-After") != "" || a.etag() != "" {
			t.Errorf("got %v", a.Header)
		}
	}
	var refused live.Admission
	a := s.ask(agent, "POST", admissions, `{"class":"nightly"}`).want(t, 200)
	a.into(t, &refused)
	if refused.Admitted || refused.Code != dispatch.Full || refused.Running != limit || refused.RetryAfterSeconds < 1 || a.Header.Get("Retry-After") != strconv.FormatInt(refused.RetryAfterSeconds, 10) || a.Header.Get("Location") != "" {
		t.Errorf("got %v %s", a.Header, a.text)
	}
	for class, code := range map[string]dispatch.RefusalReason{"nihgtly": dispatch.NotPlanned, "quarterly": dispatch.NotPlanned} {
		s.ask(agent, "POST", admissions, fmt.Sprintf(`{"class":%q}`, class)).want(t, 200).into(t, &refused)
		if refused.Code != code || class == "nihgtly" != strings.Contains(refused.Reason, `Did you mean "nightly"?`) {
			t.Errorf("%s: got %+v", class, refused)
		}
	}

	at := admissions + "/" + first.ID
	var lease live.Lease
	s.ask(agent, "POST", at+"/heartbeat", nil).want(t, 200).into(t, &lease)
	if lease.ID != first.ID || lease.TTLSeconds != 120 || lease.ExpiresAt.Before(*first.ExpiresAt) {
		t.Errorf("got %+v", lease)
	}
	s.ask(agent, "POST", at+"/heartbeat", `{"ttl_s":600}`).want(t, 200).into(t, &lease)
	if lives := time.Until(*lease.ExpiresAt); lease.TTLSeconds != 600 || lives < 9*time.Minute {
		t.Errorf("got %+v, which lives %s", lease, lives)
	}
	s.ask(agent, "GET", at, nil).want(t, 200)
	s.ask(agent, "DELETE", at, nil).want(t, 204)
	s.ask(agent, "DELETE", at, nil).want(t, 204)
	for _, again := range []answered{s.ask(agent, "POST", at+"/heartbeat", nil), s.ask(agent, "GET", at, nil)} {
		if p := again.want(t, http.StatusGone).problem(t); p.Type != "/problems/gone" || !strings.Contains(p.Detail, "was ended at") {
			t.Errorf("got %+v", p)
		}
	}
	s.ask(agent, "POST", admissions, `{"class":"nightly"}`).want(t, 201)
	var leases list[live.Lease]
	s.ask(agent, "GET", admissions+"?class=ad-hoc", nil).want(t, 200).into(t, &leases)
	if len(leases.Items) != 0 {
		t.Errorf("got %+v", leases.Items)
	}
	s.ask(agent, "GET", admissions+"?limit=1", nil).want(t, 200).into(t, &leases)
	if len(leases.Items) != 1 || leases.Next == nil {
		t.Errorf("got %+v", leases)
	}
}

// An Idempotency-Key takes one place however often it is sent, and a refusal does not stick to it.
func TestAdmissionsAreAskedForOnce(t *testing.T) {
	t.Parallel()
	s, agent := planned(t)
	var ids sync.Map
	var copies sync.WaitGroup
	for range 10 {
		copies.Go(func() {
			var a live.Admission
			s.ask(agent, "POST", admissions, `{"class":"nightly"}`, "Idempotency-Key", "one").want(t, 201).into(t, &a)
			ids.Store(a.ID, true)
		})
	}
	copies.Wait()
	var leases list[live.Lease]
	s.ask(agent, "GET", admissions, nil).want(t, 200).into(t, &leases)
	if len(leases.Items) != 1 {
		t.Fatalf("%d leases", len(leases.Items))
	}
	if _, same := ids.Load(leases.Items[0].ID); !same {
		t.Errorf("nobody was told of %s", leases.Items[0].ID)
	}
	s.ask(agent, "POST", admissions, `{"class":"ad-hoc"}`, "Idempotency-Key", "one").want(t, 422)

	var last live.Admission
	for last.Admitted = true; last.Admitted; {
		s.ask(agent, "POST", admissions, `{"class":"nightly"}`).into(t, &last)
	}
	for range 2 {
		if a := s.ask(agent, "POST", admissions, `{"class":"nightly"}`, "Idempotency-Key", "two").want(t, 200); a.Header.Get("Idempotency-Replayed") != "" || a.Header.Get("Retry-After") == "" {
			t.Errorf("got %v", a.Header)
		}
	}
	s.ask(agent, "DELETE", admissions+"/"+leases.Items[0].ID, nil).want(t, 204)
	s.ask(agent, "POST", admissions, `{"class":"nightly"}`, "Idempotency-Key", "two").want(t, 201)
	if a := s.ask(agent, "POST", admissions, `{"class":"nightly"}`, "Idempotency-Key", "two").want(t, 201); a.Header.Get("Idempotency-Replayed") != "true" {
		t.Errorf("got %v", a.Header)
	}
}

func TestAdmissionsThatAreRefused(t *testing.T) {
	t.Parallel()
	s, agent := planned(t)
	s.ask(s.admin, "POST", "/v1/clusters", `{"name":"unplanned"}`).want(t, 201)
	var a live.Admission
	s.ask(agent, "POST", admissions, `{"class":"nightly"}`).want(t, 201).into(t, &a)
	at := admissions + "/" + a.ID
	long := strings.Repeat("x", 201)
	for _, c := range []struct {
		name, method, path, body string
		status                   int
		where, words             string
	}{
		{"no body", "POST", admissions, "", 400, "", "empty"},
		{"no class", "POST", admissions, `{}`, 400, "/class", "missing"},
		{"an empty class", "POST", admissions, `{"class":""}`, 400, "/class", ""},
		{"a long class", "POST", admissions, `{"class":"` + long + `"}`, 400, "/class", ""},
		{"null for a class", "POST", admissions, `{"class":null}`, 400, "/class", ""},
		{"a number for a class", "POST", admissions, `{"class":7}`, 400, "/class", ""},
		{"NUL in a class", "POST", admissions, `{"class":"a\u0000b"}`, 400, "/class", ""},
		{"a long holder", "POST", admissions, `{"class":"nightly","holder":"` + long + `"}`, 400, "/holder", ""},
		{"a line in a holder", "POST", admissions, `{"class":"nightly","holder":"a\nb"}`, 422, "/holder", "control"},
		{"a short lease", "POST", admissions, `{"class":"nightly","ttl_s":9.99}`, 400, "/ttl_s", ""},
		{"a long lease", "POST", admissions, `{"class":"nightly","ttl_s":3601}`, 400, "/ttl_s", ""},
		{"a lease of no time", "POST", admissions, `{"class":"nightly","ttl_s":0}`, 400, "/ttl_s", ""},
		{"an endless lease", "POST", admissions, `{"class":"nightly","ttl_s":1e309}`, 400, "/ttl_s", ""},
		{"a lease of text", "POST", admissions, `{"class":"nightly","ttl_s":"60"}`, 400, "/ttl_s", ""},
		{"an unknown member", "POST", admissions, `{"class":"nightly","hodler":"x"}`, 400, "/hodler", `"holder"`},
		{"a member twice", "POST", admissions, `{"class":"nightly","class":"nightly"}`, 400, "/class", ""},
		{"a list", "POST", admissions, `[]`, 400, "", ""},
		{"a cluster without a plan", "POST", "/v1/clusters/unplanned/admissions", `{"class":"nightly"}`, 409, "", "no plan yet"},
		{"no cluster", "POST", "/v1/clusters/absent/admissions", `{"class":"nightly"}`, 404, "", "no cluster"},
		{"an unknown lease", "POST", admissions + "/01999f2e-6d0c-7c4b-8f2f-0a5e5a6f7b8c/heartbeat", "", 404, "", "no lease"},
		{"no id", "DELETE", admissions + "/nonsense", "", 404, "", "no lease"},
		{"NUL in an id", "DELETE", admissions + "/%00", "", 400, "id", ""},
		{"an unknown lease to read", "GET", admissions + "/x", "", 404, "", "no lease"},
		{"another cluster's lease", "DELETE", "/v1/clusters/unplanned/admissions/" + a.ID, "", 404, "", "no lease"},
		{"a short heartbeat", "POST", at + "/heartbeat", `{"ttl_s":1}`, 400, "/ttl_s", ""},
		{"a heartbeat of null", "POST", at + "/heartbeat", `{"ttl_s":null}`, 400, "/ttl_s", ""},
		{"a heartbeat with more", "POST", at + "/heartbeat", `{"class":"x"}`, 400, "/class", ""},
		{"a cursor", "GET", admissions + "?cursor=x", "", 400, "cursor", ""},
		{"a cursor of counts", "GET", admissions + "/summary?cursor=x", "", 400, "cursor", ""},
		{"another parameter", "GET", admissions + "/summary?class=x", "", 400, "class", ""},
		{"a method", "PUT", at, `{}`, 405, "", ""},
	} {
		body := any(c.body)
		if c.body == "" {
			body = nil
		}
		p := s.ask(s.admin, c.method, c.path, body).want(t, c.status).problem(t)
		if p.at() != c.where || !strings.Contains(fmt.Sprint(p.Detail, p.Errors, p.Hint), c.words) {
			t.Errorf("%s: got %+v, want %q and %q", c.name, p, c.where, c.words)
		}
	}
	s.ask(s.key("elsewhere", auth.Agent, []string{"unplanned"}), "POST", at+"/heartbeat", nil).want(t, 404)
	if p := s.ask(s.key("reader", auth.Viewer, nil), "POST", admissions, `{"class":"nightly"}`).want(t, 403).problem(t); !strings.Contains(p.Detail, "the role planner or agent") {
		t.Errorf("got %q", p.Detail)
	}
	s.ask(agent, "POST", at+"/heartbeat", nil).want(t, 200)
}

// threeServers starts three servers over one database, whose cluster "night" has a plan that admits a number of jobs
// of the class "nightly". The token is a key's of a role.
func threeServers(t *testing.T, role auth.Role, admits int) (servers []string, token string) {
	t.Helper()
	address := pgtest.Database(t)
	ctx := auth.With(t.Context(), auth.Principal{ID: auth.LocalID, Name: "test", Role: auth.Admin})
	store := pgtest.OpenWith(t, postgres.Config{URL: address})
	if _, err := store.CreateCluster(ctx, inputs.NewCluster("night")); err != nil {
		t.Fatal(err)
	}
	if _, err := store.SavePlan(ctx, plans.PlanRecord{
		PlanSummary: plans.PlanSummary{Cluster: "night", At: time.Now(), InputsVersion: 1, Status: capacity.Optimal, Currency: "USD", PeriodSeconds: 3600},
		Plan:        fmt.Appendf(nil, `{"classes":[{"name":"nightly","admitted":%d}]}`, admits), Problem: []byte(`{}`),
	}); err != nil {
		t.Fatal(err)
	}
	token, hash := auth.NewToken(auth.KeyPrefix)
	for range 3 {
		keys := auth.NewKeyring()
		keys.AddLocal(auth.Key{ID: auth.LocalID, Name: "test", Role: role, Hash: hash})
		store := pgtest.OpenWith(t, postgres.Config{URL: address, MaxConns: 8, AcquireTimeout: 20 * time.Second, Statement: 20 * time.Second})
		tel := telemetry.New(io.Discard, nil)
		h, err := New(Config{App: app.New(store.Stores(), keys, app.Config{Telemetry: tel}), Telemetry: tel, RequestsPerSecond: 1_000_000})
		if err != nil {
			t.Fatal(err)
		}
		server := httptest.NewServer(h)
		t.Cleanup(server.Close)
		servers = append(servers, server.URL)
	}
	return servers, token
}

// Clients of three servers over one database never hold more places at once than the plan admits. A client counts its
// place from the answer until just before it returns the place, so the count never exceeds the places held.
func TestThreeServersAdmitAsOne(t *testing.T) {
	t.Parallel()
	servers, token := threeServers(t, auth.Agent, 10)
	lasts := time.Second
	if os.Getenv("HEADROOM_LONG") == "1" {
		lasts = 20 * time.Second
	}
	var (
		mu         sync.Mutex
		times      []time.Duration
		held, most int64
		limit      int64
		admitted   int
		clients    sync.WaitGroup
		client     = &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 64}}
		deadline   = time.Now().Add(lasts)
		send       = func(method, address, body string, want ...int) []byte {
			r, err := http.NewRequestWithContext(t.Context(), method, address, strings.NewReader(body))
			if err != nil {
				t.Error(err)
				return nil
			}
			r.Header.Set("Authorization", "Bearer "+token)
			r.Header.Set("Content-Type", "application/json")
			a, err := client.Do(r)
			if err != nil {
				t.Error(err)
				return nil
			}
			defer func() { _ = a.Body.Close() }()
			text, err := io.ReadAll(a.Body)
			if err != nil || !slices.Contains(want, a.StatusCode) {
				t.Errorf("%s %s: %d %v %s", method, address, a.StatusCode, err, text)
			}
			return text
		}
	)
	t.Cleanup(client.CloseIdleConnections)
	over := func() bool { // on a busy machine it lasts until enough was tried
		mu.Lock()
		defer mu.Unlock()
		past := time.Since(deadline)
		return past > 30*time.Second || past > 0 && limit > 0 && most >= limit/2 && admitted >= int(limit)
	}
	for i := range 64 * len(servers) {
		clients.Go(func() {
			at := servers[i%len(servers)] + admissions
			for !over() && !t.Failed() {
				began := time.Now()
				var a live.Admission
				if err := json.Unmarshal(send("POST", at, `{"class":"nightly"}`, 200, 201), &a); err != nil {
					t.Error(err)
				}
				rest := 5 * time.Millisecond
				mu.Lock()
				times = append(times, time.Since(began))
				if a.Admitted {
					rest = 20 * time.Millisecond // the job
					held, admitted, limit = held+1, admitted+1, a.Limit
					most = max(most, held)
				}
				mu.Unlock()
				time.Sleep(rest) // the load of the test: a job takes a while, and a refused client asks again after a while
				if !a.Admitted {
					continue
				}
				mu.Lock()
				held--
				mu.Unlock()
				send("DELETE", at+"/"+a.ID, "", 204)
			}
		})
	}
	clients.Wait()
	slices.Sort(times)
	t.Logf("%d asked, %d admitted, %d at once where %d might; p99 %s", len(times), admitted, most, limit, times[len(times)*99/100])
	if most > limit || most < limit/2 || admitted < int(limit) {
		t.Errorf("%d at once, %d might; %d admitted", most, limit, admitted)
	}
}
