package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/data/inputs"
	"example.org/headroom/internal/test/await"
	"example.org/headroom/internal/test/pgtest"
)

// busyClients ask one server for everything at once, and remember what they were told.
type busyClients struct {
	round   string
	wires   sync.WaitGroup
	began   atomic.Int64 // answers
	mu      sync.Mutex
	kinds   map[string]int  // answers by what was asked and status
	written map[string]bool // clusters that were asked for: was the answer a 201?
	cut     []string        // answers that began and did not end
	wrong   []string
}

const loadPlan = "/v1/clusters/demo/plans"

// startBusyClients begins; every client ends when nobody listens any more.
func startBusyClients(t *testing.T, s *served, keys []string, round string) *busyClients {
	t.Helper()
	b := &busyClients{round: round, kinds: map[string]int{}, written: map[string]bool{}}
	quick := problemText(t, "hard", true, nil)
	slow := problemText(t, "strong", false, func(o *capacity.Options) { o.MaxSolveMs = 400 })
	key := func(i int) string { return keys[i%len(keys)] }
	for i := range 8 {
		b.client(s, "poll", func(int) ([]byte, string) {
			return request(s, key(i), "GET", "/v1/clusters/demo/plans/current", ""), ""
		})
	}
	b.client(s, "long solve", func(int) ([]byte, string) { return request(s, key(0), "POST", "/v1/solve", slow), "" })
	for i := range 4 {
		b.client(s, "solve", func(int) ([]byte, string) { return request(s, key(i), "POST", "/v1/solve", quick), "" })
		b.client(s, "plan", func(int) ([]byte, string) { return request(s, key(i), "POST", loadPlan, "{}"), "" })
		b.client(s, "edit", func(n int) ([]byte, string) {
			name := fmt.Sprintf("%s-%d-%d", round, i, n)
			return request(s, s.localKey, "POST", "/v1/clusters", `{"name":"`+name+`"}`), name
		})
		b.client(s, "admission", func(int) ([]byte, string) {
			return request(s, key(i), "POST", "/v1/clusters/demo/admissions", `{"class":"nightly-etl","ttl_s":30}`), ""
		})
	}
	return b
}

// client sends one request after the other and on a new connection when one was closed.
func (b *busyClients) client(s *served, what string, next func(n int) (text []byte, name string)) {
	b.wires.Go(func() {
		w := &wire{address: s.address}
		defer w.close()
		rested := time.Tick(10 * time.Millisecond)
		for n := 0; ; n++ {
			text, name := next(n)
			answer, err := w.ask(text)
			if errors.Is(err, syscall.ECONNREFUSED) {
				return
			}
			b.mu.Lock()
			status := "no answer"
			if answer != nil {
				status = strconv.Itoa(answer.StatusCode)
				b.began.Add(1)
				if err != nil {
					b.cut = append(b.cut, fmt.Sprintf("%s: %s, then %v", what, answer.Status, err))
				}
				if code := answer.StatusCode; code >= 400 && code != 429 && (code != 503 || answer.Header.Get("Retry-After") == "") {
					b.wrong = append(b.wrong, what+": "+answer.Status)
				}
			}
			if name != "" {
				b.written[name] = answer != nil && answer.StatusCode == http.StatusCreated
			}
			b.kinds[what+" "+status]++
			b.mu.Unlock()
			if answer != nil && answer.StatusCode >= 400 {
				<-rested
			}
		}
	})
}

// descendants are the processes that a process has started, and those they have.
func descendants(of int) (all []int) {
	parents := map[int][]int{}
	stats, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, path := range stats {
		text, err := os.ReadFile(path)
		if err != nil {
			continue // gone
		}
		rest := strings.Fields(string(text[strings.LastIndexByte(string(text), ')')+1:]))
		pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(path)))
		parent, _ := strconv.Atoi(rest[1])
		parents[parent] = append(parents[parent], pid)
	}
	for next := []int{of}; len(next) > 0; next = next[1:] {
		all = append(all, parents[next[0]]...)
		next = append(next, parents[next[0]]...)
	}
	return all
}

// stateOf returns the state of a process, such as R, S or T; 0 if it is gone.
func stateOf(pid int) byte {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0
	}
	return text[bytes.LastIndexByte(text, ')')+2]
}

// lives says whether a process is there and is more than the record of its end, for which nobody has asked yet.
func lives(pid int) bool { return stateOf(pid) != 0 && stateOf(pid) != 'Z' }

// allGone makes sure that the processes of a server that has ended are ending with it: those that look for their
// parent need a moment on a busy machine.
func allGone(t *testing.T, pids []int) {
	t.Helper()
	end := time.Now().Add(patience(10 * time.Second))
	for _, pid := range pids {
		for last := range await.Tries(time.Until(end)) {
			if !lives(pid) {
				break
			}
			if last {
				command, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
				t.Errorf("the server has gone, and its child %d (%q) is left", pid, command)
			}
		}
	}
}

// stopBusy stops a server under load and checks what promises say of a stop. It answers how long the
// stop took.
func (b *busyClients) stopBusy(t *testing.T, s *served) time.Duration {
	t.Helper()
	children := descendants(s.Process.Pid)
	began := time.Now()
	if err := s.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	var err error
	select {
	case err = <-s.ended:
		s.ended = nil
	case <-time.After(patience(30 * time.Second)):
		t.Fatalf("%s: the server goes on after 30 s\n%s", b.round, s.stderr)
	}
	took := time.Since(began)
	b.wires.Wait()
	if err != nil || took > patience(10*time.Second) {
		t.Errorf("%s: the server ended with %v after %v\n%s", b.round, err, took, s.stderr)
	}
	allGone(t, children)
	if len(b.cut)+len(b.wrong) > 0 {
		t.Errorf("%s: answers were cut off: %q; refused otherwise than for a moment: %q", b.round, b.cut, b.wrong)
	}
	return took
}

// compare holds what clients were told against what is there: what was acknowledged is kept, and what
// got no answer had no effect.
func (b *busyClients) compare(t *testing.T, there []string) {
	t.Helper()
	for name, acknowledged := range b.written {
		if slices.Contains(there, name) != acknowledged {
			t.Errorf("%s: cluster %s was acknowledged: %v, and is there: %v", b.round, name, acknowledged, !acknowledged)
		}
	}
}

// clusters are the names of all that a server has.
func (s *served) clusters(t *testing.T) (names []string) {
	t.Helper()
	for path := "/v1/clusters?limit=1000"; path != ""; {
		var page struct {
			Items []inputs.Cluster
			Next  *string `json:"next_cursor"`
		}
		if err := json.Unmarshal([]byte(s.get(t, path)), &page); err != nil {
			t.Fatal(err)
		}
		for _, c := range page.Items {
			names = append(names, c.Name)
		}
		path = ""
		if page.Next != nil {
			path = "/v1/clusters?limit=1000&cursor=" + *page.Next
		}
	}
	return names
}

func tellStops(t *testing.T, stops []time.Duration, kinds map[string]int) string {
	t.Helper()
	slices.Sort(stops)
	told := fmt.Sprintf("%d stops: median %v, slowest %v", len(stops), share(stops, 0.5).Round(time.Millisecond), share(stops, 1).Round(time.Millisecond))
	t.Logf("%s; %v", told, kinds)
	return told
}

// SIGTERM under load loses no accepted request (R20), with a private database.
func TestStopsUnderLoad(t *testing.T) {
	besideOthers(t)
	rounds, load := 1, int64(60)
	if wholeSamples {
		rounds, load = 100, 200
	}
	dir := madeDirectory(t)
	variables := []string{"HEADROOM_SOLVES_PER_SECOND=100000", "HEADROOM_REQUESTS_PER_SECOND=100000"}
	var keys []string
	var before *busyClients
	var stops []time.Duration
	kinds := map[string]int{}
	for round := range rounds + 1 {
		s := startServingWith(t, dir, variables, "--demo=still")
		s.localKey = s.key(t)
		if keys == nil {
			keys = makeKeys(t, s, 5)
		}
		if before != nil {
			before.compare(t, s.clusters(t))
		}
		if round == rounds || t.Failed() {
			break
		}
		b := startBusyClients(t, s, keys, fmt.Sprintf("r%d", round))
		waits(t, "load", 20*time.Second, func() bool { return b.began.Load() > load+int64(round%10)*20 })
		stops = append(stops, b.stopBusy(t, s))
		if left, _ := filepath.Glob(filepath.Join(dir, "*", "postmaster.pid")); len(left) > 0 {
			t.Errorf("round %d: the private database was not stopped cleanly: %s is left", round, left)
		}
		for kind, n := range b.kinds {
			kinds[kind] += n
		}
		before = b
	}
	t.Attr("R20", tellStops(t, stops, kinds)+", 0 accepted requests lost")
}

// Of three servers on one database one after the other is stopped under load and started again (R20).
func TestStopsOfReplicas(t *testing.T) {
	besideOthers(t)
	rounds, load := 1, int64(60)
	if wholeSamples {
		rounds, load = 10, 150
	}
	const admin = "hrk_replicasreplicasreplicasreplicasreplicas"
	variables := []string{"HEADROOM_SOLVES_PER_SECOND=100000", "HEADROOM_REQUESTS_PER_SECOND=100000",
		"DATABASE_URL=" + pgtest.Database(t), "HEADROOM_ADMIN_KEY=" + admin}
	start := func() *served {
		s := startServingWith(t, dataDirectory(t), variables, "--demo=still")
		s.localKey = admin
		return s
	}
	servers := []*served{start(), start(), start()}
	keys := makeKeys(t, servers[0], 5)
	for _, s := range servers { // the others hear of keys a moment later
		for _, key := range keys {
			waits(t, "a key is known", 10*time.Second, func() bool {
				status, _, err := s.ask(t.Context(), key, "/v1/session", "")
				return err == nil && status == http.StatusOK
			})
		}
	}
	var stops []time.Duration
	kinds := map[string]int{}
	for round := range rounds {
		loads := make([]*busyClients, len(servers))
		for i, s := range servers {
			loads[i] = startBusyClients(t, s, keys, fmt.Sprintf("r%d-%d", round, i))
		}
		for i, s := range servers {
			waits(t, "load", 20*time.Second, func() bool { return loads[i].began.Load() > load })
			stops = append(stops, loads[i].stopBusy(t, s))
			for kind, n := range loads[i].kinds {
				kinds[kind] += n
			}
		}
		for i := range servers {
			if i == 0 || round < rounds-1 {
				servers[i] = start()
			}
		}
		there := servers[0].clusters(t)
		for _, b := range loads {
			b.compare(t, there)
		}
	}
	t.Attr("R20", "of three replicas, "+tellStops(t, stops, kinds)+", 0 accepted requests lost")
}
