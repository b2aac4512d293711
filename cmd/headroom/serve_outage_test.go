package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"example.org/headroom/internal/edge/postgres/private"
	"example.org/headroom/internal/service/plans"
	"example.org/headroom/internal/test/await"
)

// polled holds the members that an autoscaler reads of the demonstration's cluster.
type polled struct {
	status int
	plans.Scaling
	took time.Duration
}

func (s *served) poll(ctx context.Context, key string) (p polled, err error) {
	began := time.Now()
	status, answer, err := s.ask(ctx, key, "/v1/clusters/demo/plans/current/scaling", "")
	p = polled{status: status, took: time.Since(began)}
	if err == nil && status == http.StatusOK {
		err = json.Unmarshal([]byte(answer), &p.Scaling)
	}
	return p, err
}

// until polls until the answer is so, and says how long it took.
func (s *served) until(t *testing.T, key, what string, so func(polled) bool) time.Duration {
	t.Helper()
	began := time.Now()
	for last := range await.Tries(patience(30 * time.Second)) {
		p, err := s.poll(t.Context(), key)
		if err == nil && so(p) {
			return time.Since(began)
		}
		if last {
			t.Fatalf("%s is not yet %s: got %+v, %v\n%s", s.address, what, p, err, s.stderr)
		}
	}
	return 0
}

func stale(p polled) bool { return p.status == http.StatusOK && p.Stale }
func fresh(p polled) bool { return p.status == http.StatusOK && !p.Stale }

// Three servers on one database that goes and comes back: polls are answered all the while, marked, by
// one that is started meanwhile as well; whoever watches misses no plan.
func TestOutageOfTheDatabase(t *testing.T) {
	t.Parallel()
	dir := dataDirectory(t)
	start := func() (*private.Server, string) {
		t.Helper()
		p, err := private.Start(t.Context(), private.Config{Dir: dir, Unsafe: true})
		if err != nil {
			t.Fatal(err)
		}
		return p, p.URL("")
	}
	database, url := start()
	end := func() { endDatabase(t, database) }
	t.Cleanup(func() { end() })
	servers := []*served{startServing(t, dataDirectory(t), "--database-url", url, "--demo=still")}
	for range 2 {
		servers = append(servers, startServing(t, dataDirectory(t), "--database-url", url))
	}
	making := exec.Command("headroom", "server", "key", "create", "poller", "--role", "admin")
	making.Env = append(os.Environ(), "DATABASE_URL="+url)
	made, err := making.CombinedOutput()
	key := regexp.MustCompile(`hrk_[\w-]{43}`).FindString(string(made))
	if err != nil || key == "" {
		t.Fatalf("headroom server key create: %v\n%s", err, made)
	}
	var followers []*lockedBuffer
	watch := func(s *served, words ...string) chan error {
		followed, said := &lockedBuffer{}, &lockedBuffer{}
		c := exec.Command("headroom", append([]string{"plan", "watch", "demo", "-o", "json", "--server", "http://" + s.address}, words...)...)
		c.Env, c.Stdout, c.Stderr = append(os.Environ(), "HEADROOM_API_KEY="+key), followed, said
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		followers = append(followers, followed)
		ended := make(chan error, 1)
		go func() { ended <- c.Wait() }()
		t.Cleanup(func() { _ = c.Process.Kill() })
		return ended
	}
	var watching []chan error
	for _, s := range servers {
		s.until(t, key, "fresh", fresh)
		watching = append(watching, watch(s, "--until-number", "2"))
	}
	for i, s := range servers {
		waits(t, "the copy of the plan and the key is written", 30*time.Second, func() bool {
			text, err := os.ReadFile(filepath.Join(s.dataDir, "last-plans"))
			return err == nil && strings.Contains(string(text), `"poller"`) && strings.Contains(string(text), `"cluster":"demo"`)
		})
		waits(t, "the watcher has the plan", 30*time.Second, func() bool { return strings.Contains(followers[i].String(), `"number":1`) })
	}

	end()
	began := time.Now()
	for _, s := range servers {
		s.until(t, key, "marked", stale)
	}
	t.Logf("all three servers mark their plans %v after the database stopped", time.Since(began).Round(time.Millisecond))
	polls, within, away := 30, time.Second, 20*time.Second // beside all the other tests
	if wholeSamples {
		polls, within, away = 100, 100*time.Millisecond, 2*time.Second
	}
	load := func(what string) {
		t.Helper()
		var mu sync.Mutex
		var took []time.Duration
		var clients sync.WaitGroup
		for _, s := range servers {
			for range 4 {
				clients.Go(func() {
					for range polls {
						p, err := s.poll(t.Context(), key)
						if err != nil || !stale(p) || p.Number != 1 || p.VMs.Total == 0 {
							t.Errorf("%s: %s answers %+v, %v", what, s.address, p, err)
							return
						}
						mu.Lock()
						took = append(took, p.took)
						mu.Unlock()
					}
				})
			}
		}
		for _, s := range servers { // writes meanwhile hurt no poll
			clients.Go(func() {
				for _, body := range []string{`{"name":"other"}`, `{"name":"more"}`} {
					r, err := http.NewRequestWithContext(t.Context(), "POST", "http://"+s.address+"/v1/clusters", strings.NewReader(body))
					if err != nil {
						t.Error(err)
						return
					}
					r.Header.Set("Authorization", "Bearer "+key)
					r.Header.Set("Content-Type", "application/json")
					a, err := http.DefaultClient.Do(r)
					if err != nil {
						t.Errorf("%s: a write: %v", what, err)
						return
					}
					text, _ := io.ReadAll(a.Body)
					a.Body.Close()
					if a.StatusCode != http.StatusServiceUnavailable || a.Header.Get("Retry-After") == "" {
						t.Errorf("%s: a write gets %s, Retry-After %q: %s", what, a.Status, a.Header.Get("Retry-After"), text)
					}
				}
				status, answer, err := s.ask(t.Context(), "", "/readyz", "")
				if err != nil || status != http.StatusOK || !strings.Contains(answer, "the database is away") {
					t.Errorf("%s: readyz answers %d %s, %v", what, status, answer, err)
				}
				if status, _, err := s.ask(t.Context(), strings.ToUpper(key[:8])+key[8:], "/v1/clusters/demo/plans/current", ""); err != nil || status != http.StatusUnauthorized {
					t.Errorf("%s: another key gets %d, %v", what, status, err)
				}
			})
		}
		clients.Wait()
		if len(took) == 0 {
			return
		}
		slices.Sort(took)
		p99 := took[len(took)*99/100]
		t.Logf("%s: %d polls, all marked; p50 %v, p99 %v, longest %v", what, len(took), took[len(took)/2].Round(time.Microsecond), p99.Round(time.Microsecond), took[len(took)-1].Round(time.Microsecond))
		t.Attr("R12", fmt.Sprintf("%s: %d polls, all marked, p99 %v", what, len(took), p99.Round(100*time.Microsecond)))
		if p99 > within {
			t.Errorf("%s: p99 is %v, want at most %v", what, p99, within)
		}
	}
	load("three servers")
	servers[2].stop(t)
	metrics := testPort(t)
	servers[2] = startServingWith(t, servers[2].dataDir, []string{"HEADROOM_METRICS_LISTEN=" + metrics}, "--database-url", url)
	t.Logf("a server started during the outage is ready after %v", servers[2].ready.Round(time.Millisecond))
	if !strings.Contains(servers[2].greeted, "The database is away") {
		t.Errorf("the server says nothing of the outage:\n%s", servers[2].greeted)
	}
	load("after a start from the copy")
	asking := exec.Command("headroom", "plan", "get", "demo", "--server", "http://"+servers[0].address)
	asking.Env = append(os.Environ(), "HEADROOM_API_KEY="+key)
	if said, err := asking.CombinedOutput(); err != nil || !strings.HasPrefix(string(said), "Plan 1 is stale: the database is away") ||
		!strings.Contains(string(said), "\nVM bill ") {
		t.Errorf("plan get during the outage: %v\n%s", err, said)
	}
	scrape := func() {
		t.Helper()
		answer, err := http.Get("http://" + metrics + "/metrics")
		if err != nil {
			t.Fatal(err)
		}
		defer answer.Body.Close()
		text, err := io.ReadAll(answer.Body)
		if err != nil || answer.StatusCode != http.StatusOK || !strings.Contains(string(text), `headroom_plan_vms{cluster="demo"`) {
			t.Errorf("metrics without a key: %s, %v\n%.2000s", answer.Status, err, text)
		}
	}
	scrape()
	withCookie, err := http.NewRequestWithContext(t.Context(), "GET", "http://"+servers[2].address+"/v1/session", nil)
	if err != nil {
		t.Fatal(err)
	}
	withCookie.Header.Set("Cookie", "headroom_session_"+withCookie.URL.Port()+"=hrs_"+strings.Repeat("x", 43))
	if answer, err := http.DefaultClient.Do(withCookie); err != nil {
		t.Error(err)
	} else {
		text, _ := io.ReadAll(answer.Body)
		answer.Body.Close()
		if answer.StatusCode != http.StatusServiceUnavailable || !strings.Contains(string(text), "ask with a key") {
			t.Errorf("a browser's session gets %s: %s", answer.Status, text)
		}
	}
	watching[2] = watch(servers[2], "--until-number", "2")
	waits(t, "a watcher has the plan from the copy", 30*time.Second, func() bool {
		return strings.Contains(followers[3].String(), `"number":1`)
	})

	database, _ = start()
	began = time.Now()
	var back sync.WaitGroup
	for i, s := range servers {
		back.Go(func() {
			for last := range await.Tries(patience(30 * time.Second)) {
				status, answer, err := s.ask(t.Context(), key, "/v1/clusters", fmt.Sprintf(`{"name":"back-%d"}`, i))
				if status == http.StatusCreated {
					break
				}
				if err != nil && !strings.Contains(err.Error(), "EOF") || last {
					t.Errorf("%s is not back: %d %s, %v", s.address, status, answer, err)
					return
				}
			}
			written := time.Since(began)
			s.until(t, key, "fresh", fresh)
			t.Logf("server %d takes writes %v after the database's return and shows fresh plans after %v", i+1, written.Round(time.Millisecond), time.Since(began).Round(time.Millisecond))
			if time.Since(began) > away {
				t.Errorf("server %d was back after %v, want at most %v", i+1, time.Since(began), away)
			}
		})
	}
	back.Wait()
	scrape()
	if status, answer, err := servers[0].ask(t.Context(), "", "/readyz", ""); err != nil || strings.TrimSpace(answer) != `{"status":"ok"}` {
		t.Errorf("readyz afterwards: %d %s, %v", status, answer, err)
	}
	if status, answer, err := servers[0].ask(t.Context(), key, "/v1/clusters/demo/plans", `{}`); err != nil || status != http.StatusCreated {
		t.Fatalf("a plan afterwards: %d %s, %v", status, answer, err)
	}
	for i, s := range servers {
		s.until(t, key, "at the newest plan", func(p polled) bool { return fresh(p) && p.Number >= 2 })
		select {
		case err := <-watching[i]:
			if err != nil {
				t.Errorf("watcher %d: %v", i+1, err)
			}
		case <-time.After(patience(20 * time.Second)):
			t.Errorf("watcher %d has not seen plan 2", i+1)
		}
	}
}

// endDatabase stops a database that a test has started.
func endDatabase(t *testing.T, database *private.Server) {
	t.Helper()
	stopping, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if err := database.Stop(stopping); err != nil {
		t.Error(err)
	}
}
