package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"example.org/headroom/internal/test/await"
	"example.org/headroom/internal/test/pgtest"
)

// replicas are servers on one database behind a proxy that hands requests out in turn.
type replicas struct {
	*served          // the proxy, with the key
	program   string // of the servers that are added
	forgetful bool   // programs among them tell who comes from another server to begin anew
	variables []string
	database  *pgxpool.Pool
	url       string // of the database

	mu      sync.Mutex
	servers []*served
	turn    int
}

const replicaKey = "hrk_threethreethreethreethreethreethreethreethr"

func startReplicas(t *testing.T, many int, variables ...string) *replicas {
	t.Helper()
	return replicasOn(t, pgtest.Database(t), "headroom", many, variables...)
}

func replicasOn(t *testing.T, url, program string, many int, variables ...string) *replicas {
	t.Helper()
	r := &replicas{url: url, program: program, served: &served{localKey: replicaKey}}
	r.variables = append([]string{"DATABASE_URL=" + r.url, "HEADROOM_ADMIN_KEY=" + replicaKey, "HEADROOM_REQUESTS_PER_SECOND=100000", "HEADROOM_SOLVES_PER_SECOND=100000", "HEADROOM_PEER_ADDRESS={address}"}, variables...)
	var err error
	if r.database, err = pgxpool.New(t.Context(), r.url); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(r.database.Close)
	for range many {
		r.add(t)
	}
	proxy := httptest.NewServer(&httputil.ReverseProxy{
		Rewrite:       func(p *httputil.ProxyRequest) { p.Out.URL.Scheme, p.Out.URL.Host = "http", "replica" },
		Transport:     r,
		FlushInterval: -1,
		ErrorLog:      log.New(io.Discard, "", 0), // of answers that end with their server
		ErrorHandler:  func(w http.ResponseWriter, _ *http.Request, _ error) { w.WriteHeader(http.StatusBadGateway) },
	})
	t.Cleanup(proxy.Close)
	r.address = strings.TrimPrefix(proxy.URL, "http://")
	return r
}

// add starts one more.
func (r *replicas) add(t *testing.T) *served {
	t.Helper()
	s := launchProgram(t, r.program, dataDirectory(t), r.variables).await(t)
	t.Cleanup(func() {
		for line := range strings.Lines(s.stderr.String()) {
			if t.Failed() && strings.Contains(line, `"level":"ERROR"`) {
				t.Logf("%s: %s", s.address, line)
			}
		}
	})
	s.localKey = replicaKey
	r.mu.Lock()
	defer r.mu.Unlock()
	r.servers = append(r.servers, s)
	return s
}

// lose kills one, of which the proxy learns by its silence.
func (r *replicas) lose(t *testing.T, s *served) {
	t.Helper()
	s.kill(t)
	r.forget(s)
}

// leave stops one.
func (r *replicas) leave(t *testing.T, s *served) {
	t.Helper()
	s.stop(t)
	r.forget(s)
}

// one is the oldest of them.
func (r *replicas) one() *served {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.servers[0]
}

func (r *replicas) forget(s *served) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.servers = slices.DeleteFunc(slices.Clone(r.servers), func(other *served) bool { return other == s })
}

// RoundTrip sends a request to the server whose turn it is, and to the next where nobody listens.
func (r *replicas) RoundTrip(request *http.Request) (*http.Response, error) {
	var body []byte
	if request.Body != nil {
		var err error
		if body, err = io.ReadAll(request.Body); err != nil {
			return nil, err
		}
	}
	for {
		r.mu.Lock()
		r.turn++
		address := r.servers[r.turn%len(r.servers)].address
		r.mu.Unlock()
		sent := request.Clone(request.Context())
		sent.URL.Host, sent.Host, sent.Body = address, address, io.NopCloser(bytes.NewReader(body))
		answer, err := http.DefaultTransport.RoundTrip(sent)
		if errors.Is(err, syscall.ECONNREFUSED) && request.Context().Err() == nil {
			continue
		}
		if err == nil {
			answer.Header.Set("Replica", address)
		}
		return answer, err
	}
}

// replied is an answer.
type replied struct {
	status int
	header http.Header
	text   string
}

// tell sends a request until there is an answer; 502 is the proxy's word for a server that died meanwhile.
func (r *replicas) tell(t *testing.T, method, path, body string, headers ...string) (a replied, again bool) {
	for last := range await.Tries(patience(time.Minute)) {
		request, err := http.NewRequestWithContext(t.Context(), method, "http://"+r.address+path, strings.NewReader(body))
		if err != nil {
			t.Error(err)
			return a, again
		}
		request.Header.Set("Authorization", "Bearer "+replicaKey)
		request.Header.Set("Content-Type", "application/json")
		for i := 0; i < len(headers); i += 2 {
			request.Header.Set(headers[i], headers[i+1])
		}
		answer, err := http.DefaultClient.Do(request)
		if err == nil {
			text, failed := io.ReadAll(answer.Body)
			answer.Body.Close()
			a, err = replied{answer.StatusCode, answer.Header, string(text)}, failed
		}
		if err == nil && a.status != http.StatusBadGateway && a.status != http.StatusServiceUnavailable {
			return a, again
		}
		if last {
			t.Errorf("%s %s is not answered: %d %s, %v", method, path, a.status, a.text, err)
			return a, again
		}
		again = true
	}
	return a, again
}

// want is tell for one status.
func (r *replicas) want(t *testing.T, status int, method, path, body string, headers ...string) replied {
	a, _ := r.tell(t, method, path, body, headers...)
	if a.status != status {
		t.Errorf("%s %s: got %d, want %d: %s", method, path, a.status, status, a.text)
	}
	return a
}

// cluster makes one like the demonstration's, and waits for its first plan.
func (r *replicas) cluster(t *testing.T, name string) {
	t.Helper()
	text, err := os.ReadFile("../../internal/edge/cli/server/demo.json")
	if err != nil {
		t.Fatal(err)
	}
	a, again := r.tell(t, "PUT", "/v1/clusters/"+name+"/document", strings.Replace(string(text), `"name": "demo"`, `"name": "`+name+`"`, 1), "If-None-Match", "*")
	if a.status != http.StatusOK && !(again && a.status == http.StatusPreconditionFailed) {
		t.Fatalf("cluster %s: %d %s", name, a.status, a.text)
	}
	r.answered(t, name)
}

// answered waits until a cluster's plan answers its inputs, and gives the plan's number.
func (r *replicas) answered(t *testing.T, cluster string) (number int64) {
	for last := range await.Tries(patience(time.Minute)) {
		var done bool
		if err := r.database.QueryRow(t.Context(), `
			SELECT coalesce(g.confirmed_version >= c.inputs_version AND g.claimed_by IS NULL, false), coalesce(g.current_number, 0) FROM planning g JOIN clusters c ON c.id = g.cluster_id
			WHERE c.name = $1 AND c.deleted_at IS NULL`, cluster).Scan(&done, &number); err != nil || last && !done {
			t.Errorf("the plan of %s: number %d, %v", cluster, number, err)
			return number
		}
		if done {
			return number
		}
	}
	return number
}

// change edits a VM type, and holds what that came to against how many plans there were: one more where the quota is
// another one, none where only the description is.
func (r *replicas) change(t *testing.T, cluster string, version, quota int64, needs bool, plans *atomic.Int64) {
	path := "/v1/clusters/" + cluster + "/vm-types/m-8cpu-32gb"
	a, again := r.tell(t, "PUT", path, fmt.Sprintf(`{"name":"m-8cpu-32gb","description":"edit %d","quota":%d,"in_use":true}`, version, quota), "If-Match", fmt.Sprintf(`"%d"`, version))
	if a.status != http.StatusOK && !(again && a.status == http.StatusPreconditionFailed) {
		t.Errorf("%s at version %d: got %d: %s", path, version, a.status, a.text)
	}
	var stored struct{ Version, Quota int64 }
	if text := r.want(t, http.StatusOK, "GET", path, "").text; json.Unmarshal([]byte(text), &stored) != nil || stored.Version != version+1 || stored.Quota != quota {
		t.Errorf("%s after a change at version %d: %s", path, version, text)
	}
	want := plans.Load()
	if needs {
		want++
	}
	if got := r.answered(t, cluster); got != want {
		t.Errorf("%s at version %d: plan %d answers it, want %d (does the change need a plan: %t)", cluster, version, got, want, needs)
	}
	plans.Store(want)
}

// follow watches a cluster's plans until it has seen the last one, and asks another server after every few events.
func (r *replicas) follow(t *testing.T, cluster string, last *atomic.Int64, random *rand.Rand) (seen []int64, moves int) {
	ctx, cancel := context.WithTimeout(t.Context(), patience(3*time.Minute))
	defer cancel()
	over := func() bool { return len(seen) > 0 && seen[len(seen)-1] == last.Load() }
	for ; !over() && ctx.Err() == nil && !t.Failed(); moves++ {
		watching, leave := context.WithCancel(ctx)
		request, err := http.NewRequestWithContext(watching, "GET", "http://"+r.address+"/v1/clusters/"+cluster+"/plans/events", nil)
		if err != nil {
			t.Error(err)
			leave()
			return seen, moves
		}
		request.Header.Set("Authorization", "Bearer "+replicaKey)
		if len(seen) > 0 {
			request.Header.Set("Last-Event-ID", fmt.Sprint(seen[len(seen)-1]))
		}
		answer, err := http.DefaultClient.Do(request)
		if err != nil {
			leave()
			continue
		}
		lines, stay := bufio.NewScanner(answer.Body), 1+random.IntN(3)
		for stay > 0 && !over() && lines.Scan() {
			var number int64
			if _, err := fmt.Sscanf(lines.Text(), "id: %d", &number); err == nil {
				seen = append(seen, number)
				stay--
			} else if strings.HasPrefix(lines.Text(), "event: reset") && !r.forgetful {
				t.Errorf("who has seen %v is to begin anew", seen)
			}
		}
		leave()
		answer.Body.Close()
	}
	return seen, moves
}

// places lets many jobs ask for a place at once, at all servers.
func (r *replicas) places(t *testing.T) {
	t.Helper()
	r.cluster(t, "leases")
	type admission struct {
		Admitted bool
		ID       string
		Limit    int
	}
	ask := func(round string, many int) (admitted []admission, limit int) {
		var mu sync.Mutex
		var jobs sync.WaitGroup
		for i := range many {
			jobs.Go(func() {
				var got admission
				a, _ := r.tell(t, "POST", "/v1/clusters/leases/admissions", `{"class":"nightly-etl","ttl_s":600}`, "Idempotency-Key", fmt.Sprint(round, "-", i))
				if err := json.Unmarshal([]byte(a.text), &got); err != nil || a.status != http.StatusCreated && (a.status != http.StatusOK || got.Admitted) {
					t.Errorf("a place: %d %s", a.status, a.text)
				}
				mu.Lock()
				defer mu.Unlock()
				if limit = got.Limit; got.Admitted {
					admitted = append(admitted, got)
				}
			})
		}
		jobs.Wait()
		return admitted, limit
	}
	held, limit := ask("first", 40)
	if len(held) != limit || limit == 0 {
		t.Fatalf("%d of 40 jobs have a place, of %d", len(held), limit)
	}
	rounds := 3
	if wholeSamples {
		rounds = 60
	}
	for round := range rounds {
		for _, a := range held {
			r.want(t, http.StatusOK, "POST", "/v1/clusters/leases/admissions/"+a.ID+"/heartbeat", "{}")
		}
		if a, again := r.tell(t, "DELETE", "/v1/clusters/leases/admissions/"+held[0].ID, ""); a.status != http.StatusNoContent && !(again && a.status == http.StatusNotFound) {
			t.Errorf("a lease that is ended: %d %s", a.status, a.text)
		}
		next, _ := ask(fmt.Sprint("round-", round), 6)
		if len(next) != 1 {
			t.Fatalf("%d jobs got the one place that was free", len(next))
		}
		held = append(held[1:], next...)
	}
}

// sentAgain sends requests with an Idempotency-Key to all servers, at once and later.
func (r *replicas) sentAgain(t *testing.T) {
	t.Helper()
	keys := 4
	if wholeSamples {
		keys = 200
	}
	r.cluster(t, "again")
	for k := range keys {
		var mu sync.Mutex
		var copies sync.WaitGroup
		answers, servers := map[string]int{}, map[string]bool{}
		send := func() {
			a := r.want(t, http.StatusCreated, "POST", "/v1/clusters/again/plans", "{}", "Idempotency-Key", fmt.Sprint("plan-", k))
			mu.Lock()
			defer mu.Unlock()
			answers[a.text]++
			servers[a.header.Get("Replica")] = true
		}
		for range 3 {
			copies.Go(send)
		}
		copies.Wait()
		for len(servers) < 2 {
			send()
		}
		send()
		if len(answers) != 1 {
			t.Errorf("the same request got %d answers: %v", len(answers), answers)
		}
	}
	var plans int
	if err := r.database.QueryRow(t.Context(), `SELECT count(*) FROM plans p JOIN clusters c ON c.id = p.cluster_id WHERE c.name = 'again'`).Scan(&plans); err != nil || plans != 1+keys {
		t.Errorf("%d keys made %d plans (%v)", keys, plans-1, err)
	}
}

// Three servers on one database, one of which is killed -9 now and then, are one service. A change that needs a plan gets
// one, and no job gets a place too many. Watchers hear of plans in order up to the last. A request that is sent again has
// no second effect.
func TestReplicasAreOneService(t *testing.T) {
	t.Parallel()
	clusters, changes, kills, watchers := 2, 5, 1, 3
	if wholeSamples {
		clusters, changes, kills, watchers = 8, 60, 12, 10
	}
	r := startReplicas(t, 3)
	var all sync.WaitGroup
	plans := make([]atomic.Int64, clusters)
	last := make([]atomic.Int64, clusters) // what watchers wait for, once it is known
	var made, moved, events, skipped atomic.Int64
	for i := range clusters {
		name := fmt.Sprint("shared-", i)
		r.cluster(t, name)
		plans[i].Store(1)
		for w := range watchers {
			all.Go(func() {
				seen, moves := r.follow(t, name, &last[i], rand.New(rand.NewPCG(uint64(w), uint64(i))))
				moved.Add(int64(moves))
				events.Add(int64(len(seen)))
				before := int64(0)
				for _, number := range seen {
					if number <= before {
						t.Errorf("a watcher of %s saw %v, with %d moves", name, seen, moves)
						break
					}
					skipped.Add(number - before - 1)
					before = number
				}
			})
		}
		all.Go(func() {
			random := rand.New(rand.NewPCG(uint64(i), 77))
			quota := int64(60)
			for version := range int64(changes) {
				if t.Failed() {
					return
				}
				needs := version == 0 || random.IntN(4) > 0
				if needs {
					quota++
				}
				r.change(t, name, version+1, quota, needs, &plans[i])
				made.Add(1)
			}
			last[i].Store(plans[i].Load())
		})
	}
	all.Go(func() {
		random := rand.New(rand.NewPCG(1, 78))
		for k := range kills {
			most := int64((k + 1) * clusters * changes / (kills + 2))
			waits(t, "changes are made", 2*time.Minute, func() bool { return made.Load() >= most })
			r.mu.Lock()
			victim := r.servers[random.IntN(len(r.servers))]
			r.mu.Unlock()
			r.lose(t, victim)
			if wholeSamples {
				r.add(t)
			}
		}
	})
	r.places(t)
	r.sentAgain(t)
	all.Wait()

	var stored, gaps, twice int
	if err := r.database.QueryRow(t.Context(), `
		SELECT (SELECT count(*) FROM plans), (SELECT count(*) FROM (SELECT max(number) <> count(*) AS gap FROM plans GROUP BY cluster_id) numbers WHERE gap),
		       (SELECT count(*) FROM (SELECT FROM plans p JOIN clusters c ON c.id = p.cluster_id WHERE c.name LIKE 'shared-%' GROUP BY cluster_id, problem::text HAVING count(*) > 1) same)`).
		Scan(&stored, &gaps, &twice); err != nil {
		t.Fatal(err)
	}
	if gaps != 0 || twice != 0 {
		t.Errorf("of %d plans, numbers of %d clusters have gaps, and %d problems were planned twice", stored, gaps, twice)
	}
	verifyStored(t, r.one())
	if skipped.Load() > events.Load()/50 { // a plan may be replaced before a busy server could tell of it
		t.Errorf("watchers heard of %d plans, and of %d others nothing", events.Load(), skipped.Load())
	}
	t.Logf("%d changes, %d plans, %d moves of watchers", made.Load(), stored, moved.Load())
	t.Attr("R1", fmt.Sprintf("three servers, %d killed: %d changes each with its one plan, %d moves of watchers who heard %d events in order, %d plans replaced before they could", kills, made.Load(), moved.Load(), events.Load(), skipped.Load()))
}
