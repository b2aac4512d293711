package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"example.org/headroom/internal/ask/study"
	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/test/await"
)

// Load on a real server process. The load is made in this one, by bare sockets and from texts that are
// made once, so that it takes little of what the server is measured with.

// wholeSamples says whether tests take the whole samples that promises are stated for.
var wholeSamples = os.Getenv("HEADROOM_LONG") != ""

// besideOthers lets a test go on beside others, but where it takes the whole sample: figures are then of a machine that
// does nothing else.
func besideOthers(t *testing.T) {
	t.Helper()
	if !wholeSamples {
		t.Parallel()
	}
}

// request is the text of one request that keeps its connection.
func request(s *served, key, method, path, body string) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "%s %s HTTP/1.1\r\nHost: %s\r\nAuthorization: Bearer %s\r\n", method, path, s.address, key)
	if body != "" {
		fmt.Fprintf(&b, "Content-Type: application/json\r\nContent-Length: %d\r\n", len(body))
	}
	fmt.Fprintf(&b, "\r\n%s", body)
	return b.Bytes()
}

// wire is a connection that is made anew when the server has closed it.
type wire struct {
	address string
	from    net.IP // the client's address, if it matters
	in      *bufio.Reader

	mu   sync.Mutex
	conn net.Conn
}

func (w *wire) close() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.conn != nil {
		w.conn.Close()
		w.conn = nil
	}
}

// abandon closes the connection under whoever waits for an answer, as a client does that gives up.
func (w *wire) abandon() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.conn != nil {
		w.conn.Close()
	}
}

// ask sends a request and reads the whole answer, of which it gives the head.
func (w *wire) ask(text []byte) (*http.Response, error) {
	if w.conn == nil {
		conn, err := (&net.Dialer{LocalAddr: &net.TCPAddr{IP: w.from}}).Dial("tcp", w.address)
		if err != nil {
			return nil, err
		}
		w.mu.Lock()
		w.conn, w.in = conn, bufio.NewReaderSize(conn, 16<<10)
		w.mu.Unlock()
	}
	_, sent := w.conn.Write(text) // who is refused early may not get rid of all of it
	answer, err := http.ReadResponse(w.in, nil)
	if err == nil {
		_, err = io.Copy(io.Discard, answer.Body)
	}
	if err != nil || sent != nil || answer.Close {
		w.close()
	}
	return answer, err
}

// polls holds the times of polls, each from the moment when it was due.
type polls struct {
	took   []time.Duration
	woke   []time.Duration // how late this process was itself: the machine's noise
	failed int
	why    string // the last one failed
}

func share(sorted []time.Duration, of float64) time.Duration {
	return sorted[min(len(sorted)-1, int(of*float64(len(sorted))))].Round(10 * time.Microsecond)
}

func (p polls) String() string {
	return fmt.Sprintf("%d polls: median %v, p99 %v, slowest %v, %d failed%s; asked late by %v, p99 %v", len(p.took),
		share(p.took, 0.5), share(p.took, 0.99), share(p.took, 1), p.failed, p.why, share(p.woke, 0.5), share(p.woke, 0.99))
}

// poll asks for the current plan so often a second, on 20 connections. What comes late because the one
// before it on its connection was late counts as late.
func poll(s *served, key, path string, perSecond int, d time.Duration) polls {
	const connections = 20
	text := request(s, key, "GET", path, "")
	var all polls
	var mu sync.Mutex
	var pollers sync.WaitGroup
	began := time.Now()
	every := connections * time.Second / time.Duration(perSecond)
	for c := range connections {
		pollers.Go(func() {
			w := wire{address: s.address}
			defer w.close()
			var took, woke []time.Duration
			failed := 0
			for due := began.Add(every * time.Duration(c) / connections); due.Before(began.Add(d)); due = due.Add(every) {
				if time.Until(due) > 0 {
					sleepUntil(due)
					woke = append(woke, time.Since(due))
				}
				answer, err := w.ask(text)
				took = append(took, time.Since(due))
				if err != nil || answer.StatusCode != http.StatusOK {
					failed++
				}
			}
			mu.Lock()
			defer mu.Unlock()
			all.took, all.woke, all.failed = append(all.took, took...), append(all.woke, woke...), all.failed+failed
		})
	}
	pollers.Wait()
	slices.Sort(all.took)
	slices.Sort(all.woke)
	return all
}

// flood sends solves over so many connections, one after the other on each, until stop is called.
type flood struct {
	answered, refused, wrong atomic.Int64
	stop                     func()
}

func startFlood(s *served, connections int, texts [][]byte) *flood {
	f := &flood{}
	var stopped atomic.Bool
	wires := make([]wire, connections)
	var clients sync.WaitGroup
	for c := range connections {
		clients.Go(func() {
			w := &wires[c]
			w.address = s.address
			defer w.close()
			rested := time.Tick(20 * time.Millisecond) // far less than who is refused is told to wait
			for i := c; !stopped.Load(); i++ {
				answer, err := w.ask(texts[i%len(texts)])
				switch {
				case stopped.Load():
				case err != nil:
					f.wrong.Add(1)
				case answer.StatusCode == http.StatusOK:
					f.answered.Add(1)
				case (answer.StatusCode == 429 || answer.StatusCode == 503) && answer.Header.Get("Retry-After") != "":
					f.refused.Add(1)
					<-rested
				default:
					f.wrong.Add(1)
				}
			}
		})
	}
	f.stop = func() {
		stopped.Store(true)
		for i := range wires {
			wires[i].abandon()
		}
		clients.Wait()
	}
	return f
}

// problemText is a problem of 1,000 classes of a family.
func problemText(t *testing.T, family string, profiled bool, change func(*capacity.Options)) string {
	t.Helper()
	instance, err := study.Generate(family, 1000, 7)
	if err != nil {
		t.Fatal(err)
	}
	p := instance.Problem()
	if profiled {
		if p, err = instance.Profiled(); err != nil {
			t.Fatal(err)
		}
	}
	if change != nil {
		change(&p.Options)
	}
	text, err := json.Marshal(p)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// keys makes so many keys: one may not have all places to wait.
func makeKeys(t *testing.T, s *served, n int) []string {
	t.Helper()
	var keys []string
	for i := range n {
		var made struct{ Token string }
		status, answer, err := s.ask(t.Context(), s.key(t), "/v1/keys", fmt.Sprintf(`{"name":"load-%d","role":"planner"}`, i))
		if err != nil || status != http.StatusCreated || json.Unmarshal([]byte(answer), &made) != nil {
			t.Fatalf("make a key: got %d, %v: %s", status, err, answer)
		}
		keys = append(keys, made.Token)
	}
	return keys
}

// gauge reads a figure from the server's metrics.
func (s *served) gauge(t *testing.T, name string) float64 {
	t.Helper()
	for line := range strings.Lines(s.get(t, "/metrics")) {
		if value, found := strings.CutPrefix(line, name+" "); found {
			x, err := strconv.ParseFloat(strings.TrimSpace(value), 64)
			if err != nil {
				t.Fatal(err)
			}
			return x
		}
	}
	t.Fatalf("no metric %s", name)
	return 0
}

// sleepUntil sleeps until a moment of a schedule: a load in a rhythm waits for the clock and for nothing else.
func sleepUntil(due time.Time) { lasts(time.Until(due)) }

// lasts lets a fault, a pause of a client or a job last. How long is up to the test, so nothing tells when it is over.
func lasts(d time.Duration) { time.Sleep(d) }

// patience returns the limit for a machine that does nothing else, and three times as much beside other tests.
func patience(limit time.Duration) time.Duration {
	if wholeSamples {
		return limit
	}
	return 3 * limit
}

// waits polls until a condition holds, with patience.
func waits(t *testing.T, what string, limit time.Duration, until func() bool) {
	t.Helper()
	await.Until(t, patience(limit), what, until)
}

// Polls stay fast while every place to solve is taken and 48 solves wait, and who cannot wait is told
// when to ask again (R13).
func TestPollsBesideSolves(t *testing.T) {
	took, middle, most, tries := time.Second, 60*time.Millisecond, 300*time.Millisecond, 5 // others need this machine, too
	if wholeSamples {
		took, middle, most, tries = 30*time.Second, 15*time.Millisecond, 50*time.Millisecond, 1
	}
	s := startServingWith(t, madeDirectory(t), []string{"HEADROOM_SOLVES_PER_SECOND=100000"}, "--demo=still")
	keys := makeKeys(t, s, 5)
	const path, perSecond = "/v1/clusters/demo/plans/current/scaling", 500
	poll(s, keys[0], path, perSecond, 300*time.Millisecond)
	rest := poll(s, keys[0], path, perSecond, took)
	t.Logf("at rest: %v", rest)
	for _, load := range []struct {
		name string
		body string
	}{
		{"many solves of 1,000 classes", problemText(t, "hard", true, nil)},
		{"long solves in CBC", problemText(t, "strong", false, nil)},
		{"long solves in the core", problemText(t, "strong", false, func(o *capacity.Options) { o.Engine = capacity.EngineExact })},
	} {
		var texts [][]byte
		for _, key := range keys {
			texts = append(texts, request(s, key, "POST", "/v1/solve", load.body))
		}
		f := startFlood(s, 60, texts)
		waits(t, "48 solves wait", 20*time.Second, func() bool { return s.gauge(t, "headroom_solves_waiting") == 48 })
		// What polls take at rest is the machine's doing. The median tells best whether polls queue
		// behind solves: it was 20 to 260 ms when solves took every processor.
		slow := func(p polls) bool {
			return share(p.took, 0.99) > most+share(rest.took, 0.99) || p.failed > 0 || share(p.took, 0.5) > middle
		}
		p := poll(s, keys[0], path, perSecond, took)
		for try := 1; try < tries && slow(p); try++ {
			t.Logf("%s: once more: %v", load.name, p)
			p = poll(s, keys[0], path, perSecond, took)
		}
		waiting := s.gauge(t, "headroom_solves_waiting")
		f.stop()
		t.Logf("%s: %v; %d solved, %d refused", load.name, p, f.answered.Load(), f.refused.Load())
		t.Attr("R13", fmt.Sprintf("p99 %v beside %s, %v at rest", share(p.took, 0.99).Round(100*time.Microsecond), load.name, share(rest.took, 0.99).Round(100*time.Microsecond)))
		if slow(p) {
			t.Errorf("%s: %v; want a median of %v, a p99 of %v more than at rest and none failed", load.name, p, middle, most)
		}
		if f.refused.Load() == 0 || f.wrong.Load() > 0 || waiting < 40 {
			t.Errorf("%s: %d were refused with Retry-After, %d answered otherwise, %g wait; want some, none and about 48", load.name, f.refused.Load(), f.wrong.Load(), waiting)
		}
	}
}

// Solves that nobody waits for any more free their places, however their clients went away (R16).
func TestFreshSolveAfterAbandonedOnes(t *testing.T) {
	besideOthers(t)
	rounds, most := 1, 10*time.Second // beside all the other tests; those that were abandoned would take a minute each
	if wholeSamples {
		rounds, most = 20, time.Second
	}
	s := startServingWith(t, madeDirectory(t), []string{"HEADROOM_SOLVES_PER_SECOND=100000"}, "--demo=still")
	keys := makeKeys(t, s, 6)
	fresh := request(s, keys[5], "POST", "/v1/solve", problemText(t, "hard", true, nil))
	ask := func() time.Duration {
		w := wire{address: s.address}
		defer w.close()
		began := time.Now()
		for last := range await.Tries(patience(20 * time.Second)) {
			answer, err := w.ask(fresh)
			switch {
			case err != nil || answer.StatusCode != http.StatusOK && answer.StatusCode != http.StatusServiceUnavailable:
				t.Fatalf("the fresh solve: %v, %v", answer, err)
			case answer.StatusCode == http.StatusOK:
				return time.Since(began)
			case last:
				t.Fatal("no fresh solve is let in")
			}
		}
		return 0
	}
	t.Logf("at rest: %v", ask())
	for _, engine := range []capacity.Engine{capacity.EngineCBC, capacity.EngineExact} {
		body := problemText(t, "strong", false, func(o *capacity.Options) { o.Engine, o.MaxSolveMs = engine, 60_000 })
		var texts [][]byte
		for _, key := range keys[:5] {
			texts = append(texts, request(s, key, "POST", "/v1/solve", body))
		}
		for how, abandon := range map[string]func(){
			"closed": func() {
				f := startFlood(s, 60, texts)
				waits(t, "48 solves wait", 20*time.Second, func() bool { return s.gauge(t, "headroom_solves_waiting") == 48 })
				f.stop()
			},
			"timed out": func() {
				ctx, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond)
				defer cancel()
				var clients sync.WaitGroup
				for i := range 60 {
					clients.Go(func() {
						_, _, err := s.ask(ctx, keys[i%5], "/v1/solve", body)
						if err != nil && ctx.Err() == nil {
							t.Error(err)
						}
					})
				}
				clients.Wait()
			},
		} {
			var took []time.Duration
			for range rounds {
				abandon()
				took = append(took, ask())
			}
			slices.Sort(took)
			t.Logf("after 60 of %s that were %s: median %v, slowest %v", engine, how, share(took, 0.5), share(took, 1))
			t.Attr("R16", fmt.Sprintf("%v at the slowest after 60 of %s that were %s", share(took, 1).Round(time.Millisecond), engine, how))
			if share(took, 1) > most {
				t.Errorf("after 60 of %s that were %s a fresh solve took %v, want at most %v", engine, how, share(took, 1), most)
			}
		}
	}
}
