package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"headroom/internal/capacity"
	"headroom/internal/pgtest"
)

// writer counts up a quota with If-Match and makes clusters with Idempotency-Keys, and remembers what was
// acknowledged and what got no answer.
type writer struct {
	name    string
	version int64 // of the VM type, as far as it is known
	quota   int64 // acknowledged
	tried   int64 // sent and not acknowledged; 0 is none

	made    []string // clusters that were acknowledged
	pending string   // one that was not

	acknowledged int
	wrong        []string
}

// send asks without a connection that is kept: after a crash none is worth anything.
func (w *writer) send(ctx context.Context, s *served, method, path, body string, headers ...string) (int, http.Header, error) {
	r, err := http.NewRequestWithContext(ctx, method, "http://"+s.address+path, strings.NewReader(body))
	if err != nil {
		return 0, nil, err
	}
	r.Header.Set("Authorization", "Bearer "+s.localKey)
	r.Header.Set("Content-Type", "application/json")
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		return 0, nil, err
	}
	defer answer.Body.Close()
	_, err = io.Copy(io.Discard, answer.Body)
	return answer.StatusCode, answer.Header, err
}

// write goes on until the server no longer answers or the context ends.
func (w *writer) write(ctx context.Context, s *served) {
	for n := 0; ctx.Err() == nil; n++ {
		w.tried = w.quota + 1
		status, _, err := w.send(ctx, s, "PUT", "/v1/clusters/"+w.name+"/vm-types/counted", fmt.Sprintf(`{"name":"counted","quota":%d}`, w.tried), "If-Match", fmt.Sprintf(`"%d"`, w.version))
		switch {
		case err != nil || status == http.StatusServiceUnavailable:
			return
		case status != http.StatusOK:
			w.wrong = append(w.wrong, fmt.Sprintf("%s: the quota %d at version %d got %d", w.name, w.tried, w.version, status))
			return
		}
		w.quota, w.tried, w.version = w.tried, 0, w.version+1
		w.acknowledged++

		if n%4 != 0 {
			continue
		}
		if w.pending == "" {
			w.pending = fmt.Sprintf("%s-%d", w.name, len(w.made))
		}
		if !w.create(ctx, s) {
			return
		}
	}
}

// create makes the pending cluster, as often as it takes under the same key.
func (w *writer) create(ctx context.Context, s *served) bool {
	status, _, err := w.send(ctx, s, "POST", "/v1/clusters", `{"name":"`+w.pending+`"}`, "Idempotency-Key", "key-"+w.pending)
	if err != nil || status == http.StatusServiceUnavailable {
		return false
	}
	if status != http.StatusCreated {
		w.wrong = append(w.wrong, fmt.Sprintf("%s: making it got %d", w.pending, status))
		return false
	}
	w.made, w.pending = append(w.made, w.pending), ""
	w.acknowledged++
	return true
}

// compare holds what was acknowledged against what is there after a crash: all of it, once, and of what got
// no answer either all or nothing.
func (w *writer) compare(t *testing.T, s *served, there []string) {
	t.Helper()
	var stored capacity.VMType
	if err := json.Unmarshal([]byte(s.get(t, "/v1/clusters/"+w.name+"/vm-types/counted")), &stored); err != nil {
		t.Fatal(err)
	}
	quota := *stored.Quota
	if quota != w.quota && (w.tried == 0 || quota != w.tried) || stored.Version != quota {
		t.Errorf("%s: the quota is %d in version %d; acknowledged was %d, on its way %d", w.name, quota, stored.Version, w.quota, w.tried)
	}
	w.quota, w.tried, w.version = quota, 0, stored.Version
	for _, name := range w.made {
		if n := len(slices.DeleteFunc(slices.Clone(there), func(x string) bool { return x != name })); n != 1 {
			t.Errorf("cluster %s was acknowledged and is there %d times", name, n)
		}
	}
	if w.pending != "" && !w.create(t.Context(), s) { // the same request once more
		t.Errorf("cluster %s cannot be made after the crash", w.pending)
	}
	for _, wrong := range w.wrong {
		t.Error(wrong)
	}
	w.wrong = nil
}

// startWriters makes what they write to.
func startWriters(t *testing.T, s *served, many int) []*writer {
	t.Helper()
	var all []*writer
	for i := range many {
		w := &writer{name: fmt.Sprintf("writer%d", i), version: 1, quota: 1}
		for _, made := range [][2]string{{"/v1/clusters", `{"name":"` + w.name + `"}`}, {"/v1/clusters/" + w.name + "/vm-types", `{"name":"counted","quota":1}`}} {
			if status, answer, err := s.ask(t.Context(), s.key(t), made[0], made[1]); err != nil || status != http.StatusCreated {
				t.Fatalf("%s: %d %s, %v", made[0], status, answer, err)
			}
		}
		all = append(all, w)
	}
	return all
}

// verifyStored checks every stored plan, with the program.
func verifyStored(t *testing.T, s *served) {
	t.Helper()
	c := exec.Command("headroom", "verify", "--all")
	c.Env = append(os.Environ(), "HEADROOM_URL=http://"+s.address, "HEADROOM_API_KEY="+s.localKey)
	if out, err := c.CombinedOutput(); err != nil {
		t.Errorf("verify --all: %v\n%s", err, out)
	}
}

// A server is killed -9 at random moments under writers and is started again on the same database (R1, R3).
func TestKilledServersLoseNoWrite(t *testing.T) {
	t.Parallel()
	kills := 4
	if wholeSamples {
		kills = 1000
	}
	const seed = 21
	random := rand.New(rand.NewPCG(seed, 1))
	variables := []string{"DATABASE_URL=" + pgtest.Database(t), "HEADROOM_ADMIN_KEY=hrk_crashcrashcrashcrashcrashcrashcrashcrash", "HEADROOM_REQUESTS_PER_SECOND=100000"}
	dir := dataDirectory(t)
	start := func() *served {
		s := startServingWith(t, dir, variables, "--demo")
		s.localKey = "hrk_crashcrashcrashcrashcrashcrashcrashcrash"
		return s
	}
	s := start()
	writers := startWriters(t, s, 6)
	var ready []time.Duration
	for range kills {
		ctx, cancel := context.WithCancel(t.Context())
		var working sync.WaitGroup
		for _, w := range writers {
			working.Go(func() { w.write(ctx, s) })
		}
		time.Sleep(time.Duration(20+random.IntN(230)) * time.Millisecond)
		s.kill(t)
		cancel()
		working.Wait()
		s = start()
		ready = append(ready, s.ready)
		there := s.clusters(t)
		for _, w := range writers {
			w.compare(t, s, there)
		}
		if t.Failed() {
			t.Fatalf("seed %d, after %d kills", seed, len(ready))
		}
	}
	verifyStored(t, s)
	acknowledged := 0
	for _, w := range writers {
		acknowledged += w.acknowledged
	}
	slices.Sort(ready)
	t.Attr("R1", fmt.Sprintf("%d kills, %d acknowledged writes, 0 lost, doubled or changed", kills, acknowledged))
	t.Attr("R3", fmt.Sprintf("ready %v after a kill in the median, %v at the slowest of %d", share(ready, 0.5).Round(time.Millisecond), share(ready, 1).Round(time.Millisecond), kills))
	if acknowledged < 5*kills {
		t.Errorf("only %d writes were acknowledged beside %d kills", acknowledged, kills)
	}
}

// The private database is crashed under writers, as a whole and a backend of it; the server starts it again
// by itself (R2, R3).
func TestCrashedDatabasesLoseNoWrite(t *testing.T) {
	t.Parallel()
	crashes := 3
	if wholeSamples {
		crashes = 200
	}
	const seed = 22
	random := rand.New(rand.NewPCG(seed, 1))
	dir := dataDirectory(t)
	s := startServingWith(t, dir, []string{"HEADROOM_REQUESTS_PER_SECOND=100000"}, "--demo")
	s.localKey = s.key(t)
	writers := startWriters(t, s, 6)
	var away []time.Duration
	kinds := map[string]int{}
	for crash := range crashes {
		ctx, cancel := context.WithCancel(t.Context())
		var working sync.WaitGroup
		for _, w := range writers {
			working.Go(func() { w.write(ctx, s) })
		}
		time.Sleep(time.Duration(20+random.IntN(230)) * time.Millisecond)
		pid := postmasterIn(t, dir)
		kind, signal := "killed", syscall.SIGKILL
		switch crash % 3 {
		case 1:
			kind, signal = "stopped at once", syscall.SIGQUIT
		case 2: // the postmaster then ends all of them and recovers
			if backends := descendants(pid); len(backends) > 0 {
				kind, pid = "lost a process", backends[random.IntN(len(backends))]
			}
		}
		kinds[kind]++
		if err := syscall.Kill(pid, signal); err != nil && kind != "lost a process" {
			t.Fatal(err)
		}
		began := time.Now()
		time.Sleep(5 * time.Millisecond)
		cancel()
		working.Wait()
		waits(t, "the database takes writes", 30*time.Second, func() bool {
			probe := &writer{}
			status, _, err := probe.send(t.Context(), s, "POST", "/v1/clusters", fmt.Sprintf(`{"name":"probe-%d"}`, crash), "Idempotency-Key", fmt.Sprintf("probe-%d", crash))
			return err == nil && status == http.StatusCreated
		})
		away = append(away, time.Since(began))
		there := s.clusters(t)
		for _, w := range writers {
			w.compare(t, s, there)
		}
		if t.Failed() {
			t.Fatalf("seed %d, after %v", seed, kinds)
		}
	}
	verifyStored(t, s)
	acknowledged := 0
	for _, w := range writers {
		acknowledged += w.acknowledged
	}
	slices.Sort(away)
	t.Attr("R2", fmt.Sprintf("%d crashes of Postgres %v, %d acknowledged writes, 0 lost, doubled or changed", crashes, kinds, acknowledged))
	t.Attr("R3", fmt.Sprintf("writes again %v after a crash of Postgres in the median, %v at the slowest of %d", share(away, 0.5).Round(time.Millisecond), share(away, 1).Round(time.Millisecond), crashes))
	if acknowledged < 3*crashes {
		t.Errorf("only %d writes were acknowledged beside %d crashes", acknowledged, crashes)
	}
}

// postmasterIn is the process of the private database.
func postmasterIn(t *testing.T, dir string) (pid int) {
	t.Helper()
	waits(t, "there is a postmaster", 10*time.Second, func() bool {
		pids, _ := filepath.Glob(filepath.Join(dir, "*", "postmaster.pid"))
		if len(pids) != 1 {
			return false
		}
		text, err := os.ReadFile(pids[0])
		if err != nil {
			return false
		}
		_, err = fmt.Sscan(string(text), &pid)
		return err == nil && pid > 1
	})
	return pid
}
