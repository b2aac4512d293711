package main

import (
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"example.org/headroom/internal/test/await"
)

// hang stops the private database of a data directory in the middle of everything, until goOn is called.
func hang(t *testing.T, dir string) (pids []int, goOn func()) {
	t.Helper()
	files, _ := filepath.Glob(filepath.Join(dir, "*", "postmaster.pid"))
	if len(files) != 1 {
		t.Fatalf("got %q", files)
	}
	text, err := os.ReadFile(files[0])
	if err != nil {
		t.Fatal(err)
	}
	first, _, _ := strings.Cut(string(text), "\n")
	postmaster, err := strconv.Atoi(first)
	if err != nil {
		t.Fatal(err)
	}
	goOn = func() {
		for _, pid := range pids {
			_ = syscall.Kill(pid, syscall.SIGCONT)
		}
	}
	t.Cleanup(goOn)
	stop := func(pid int) {
		if err := syscall.Kill(pid, syscall.SIGSTOP); err != nil && !errors.Is(err, syscall.ESRCH) { // an auxiliary one may just have ended
			t.Fatal(err)
		}
		pids = append(pids, pid)
		// On a busy machine it stops later, and may have started another one by then.
		await.Until(t, time.Minute, "a process of Postgres stands still", func() bool { return !lives(pid) || stateOf(pid) == 'T' })
	}
	stop(postmaster) // first, so that it starts no others
	for _, pid := range descendants(postmaster) {
		stop(pid)
	}
	if len(pids) < 4 {
		t.Fatalf("Postgres has the processes %v alone", pids)
	}
	return pids, goOn
}

// While the database hangs polls are answered from memory as ever, and everything else is refused: within
// moments of when it is known, which is within seconds (R12).
func TestADatabaseThatHangs(t *testing.T) {
	t.Parallel()
	dir := madeDirectory(t)
	s := startServing(t, dir, "--demo=still")
	key := s.key(t)
	s.until(t, key, "fresh", fresh)
	_, goOn := hang(t, dir)
	hung := time.Now()
	over := make(chan struct{})
	var mu sync.Mutex
	var polls []time.Duration
	refused := map[string][]time.Duration{} // after the hang, in order
	longest := map[string]time.Duration{}   // of what was asked once it was known
	since := map[string]int{}               // how often it was refused by then
	var known time.Time
	var clients sync.WaitGroup
	going := func() bool {
		select {
		case <-over:
			return false
		default:
			return true
		}
	}
	for range 4 {
		clients.Go(func() {
			for again := time.Tick(5 * time.Millisecond); going(); <-again {
				p, err := s.poll(t.Context(), key)
				if err != nil || p.status != http.StatusOK || p.Number != 1 {
					t.Errorf("a poll: %+v, %v", p, err)
					return
				}
				mu.Lock()
				polls = append(polls, p.took)
				if p.Stale && known.IsZero() {
					known = time.Now()
				}
				mu.Unlock()
			}
		})
	}
	for what, ask := range map[string][2]string{
		"read": {"/v1/clusters/demo/classes", ""}, "list": {"/v1/clusters", ""}, "write": {"/v1/clusters", `{"name":"other"}`}, "plan": {"/v1/clusters/demo/plans", `{}`},
	} {
		clients.Go(func() {
			for going() {
				began := time.Now()
				status, answer, err := s.ask(t.Context(), key, ask[0], ask[1])
				if err != nil || status != http.StatusServiceUnavailable {
					t.Errorf("a %s: got %d %.200s, %v", what, status, answer, err)
					return
				}
				mu.Lock()
				refused[what] = append(refused[what], time.Since(hung))
				if !known.IsZero() {
					since[what]++
					longest[what] = max(longest[what], time.Since(began)-max(0, known.Sub(began)))
				}
				mu.Unlock()
			}
		})
	}
	const times = 3 // that each is refused once it is known
	waits(t, "everything is refused while it is known", 30*time.Second, func() bool {
		mu.Lock()
		defer mu.Unlock()
		after := 0
		for _, n := range since {
			after += min(n, times)
		}
		return after == 4*times
	})
	if wholeSamples {
		lasts(7 * time.Second)
	}
	close(over)
	clients.Wait()
	slices.Sort(polls)
	most, within := 15*time.Second, time.Second // beside all the other tests
	if wholeSamples {
		most, within = 3*time.Second+100*time.Millisecond, 100*time.Millisecond // three seconds is the longest that who asks just then waits
	}
	t.Logf("known after %v; %d polls: p99 %v, longest %v", known.Sub(hung), len(polls), share(polls, 0.99), share(polls, 1))
	if known.IsZero() || share(polls, 0.99) > within {
		t.Errorf("known: %t; polls took %v, want %v", !known.IsZero(), share(polls, 0.99), within)
	}
	for what, times := range refused {
		t.Logf("%s: refused %d times, first after %v; once it was known within %v", what, len(times), times[0].Round(time.Millisecond), longest[what].Round(time.Millisecond))
		if longest[what] > most {
			t.Errorf("a %s was refused %v after it was known", what, longest[what])
		}
	}
	if len(refused) != 4 {
		t.Errorf("not everything was refused: %v", refused)
	}
	goOn()
	back := time.Now()
	waits(t, "writes are taken again", 20*time.Second, func() bool {
		status, _, err := s.ask(t.Context(), key, "/v1/clusters", `{"name":"after"}`)
		return err == nil && (status == http.StatusCreated || status == http.StatusConflict) // which it is after a write whose answer came too late
	})
	s.until(t, key, "fresh", fresh)
	t.Attr("R12", fmt.Sprintf("a database that hangs: known after %v, polls p99 %v; all is well %v after its return", known.Sub(hung).Round(time.Millisecond),
		share(polls, 0.99).Round(100*time.Microsecond), time.Since(back).Round(time.Millisecond)))
}
