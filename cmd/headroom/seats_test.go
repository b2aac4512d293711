package main

import (
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"example.org/headroom/internal/edge/cli/shell"
	"example.org/headroom/internal/test/await"
	"example.org/headroom/internal/test/pgtest"
)

// meet waits until every server knows all others.
func (r *replicas) meet(t *testing.T) {
	t.Helper()
	waits(t, "the servers know one another", 30*time.Second, func() bool {
		for _, s := range r.servers {
			if s.gauge(t, "headroom_peers") != float64(len(r.servers)-1) {
				return false
			}
		}
		return true
	})
}

// count adds up a figure of all servers.
func (r *replicas) count(t *testing.T, name string) (sum float64) {
	t.Helper()
	for _, s := range r.servers {
		sum += s.gauge(t, name)
	}
	return sum
}

const (
	liveReads = "headroom_live_reads_total"
	sentOn    = `headroom_requests_sent_on_total{outcome="answered"}`
	keptHere  = `headroom_requests_sent_on_total{outcome="here"}`
)

// Of heartbeats that reach three servers in turn, each cluster's are decided by one of them, whose memory stays right.
func TestHeartbeatsAreDecidedByOneServer(t *testing.T) {
	t.Parallel()
	const clusters, nodes, beats = 6, 5, 6
	r := startReplicas(t, 3)
	r.meet(t)
	var all []*beating
	for c := range clusters {
		at := fmt.Sprint("/v1/clusters/live-", c)
		r.want(t, http.StatusCreated, "POST", "/v1/clusters", fmt.Sprintf(`{"name":"live-%d"}`, c))
		for i := range nodes {
			b := &beating{at: fmt.Sprintf("%s/nodes/node-%d", at, i)}
			r.want(t, http.StatusOK, "PUT", b.at, `{"type":"plain","cores":4,"slots":{"map":3,"reduce":1}}`)
			all = append(all, b)
		}
		r.want(t, http.StatusCreated, "POST", at+"/jobs", `{"name":"job","maps":2000}`)
	}
	random := rand.New(rand.NewPCG(1, 1))
	round := func() {
		for range beats {
			var beating sync.WaitGroup
			for _, b := range all {
				text := b.next(random)
				beating.Go(func() {
					if err := b.hear([]byte(r.want(t, http.StatusOK, "POST", b.at+"/heartbeats", string(text)).text)); err != nil {
						t.Error(err)
					}
				})
			}
			beating.Wait()
		}
	}
	// A server that a busy machine lets wait for seconds is passed over for a while; another round is then counted.
	for last := range await.Tries(patience(2 * time.Minute)) {
		reads, here, sent := r.count(t, liveReads), r.count(t, keptHere), r.count(t, sentOn)
		round()
		reads, here, sent = r.count(t, liveReads)-reads, r.count(t, keptHere)-here, r.count(t, sentOn)-sent
		t.Logf("of %d heartbeats %g were sent on, and states were read %g times", len(all)*beats, sent, reads)
		if reads == 0 && here == 0 && sent > 0 {
			break
		}
		if last || here == 0 && reads > clusters { // after its first round each owner has read its clusters
			t.Fatalf("of %d heartbeats %g were sent on, %g not as they should, and states were read %g times", len(all)*beats, sent, here, reads)
		}
	}
}

// cable is the way from other servers to one, which can be cut: then it swallows every word, and says nothing.
type cable struct {
	address string
	target  atomic.Pointer[string]
	cut     atomic.Bool
}

func startCable(t *testing.T) *cable {
	t.Helper()
	l := &cable{address: testPort(t)}
	listener, err := net.Listen("tcp", l.address)
	if err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	over := make(chan struct{})
	carry := func(to, from net.Conn) {
		words := make([]byte, 32<<10)
		for {
			n, err := from.Read(words)
			for l.cut.Load() {
				select {
				case <-over:
					return
				case <-time.After(10 * time.Millisecond): // until it is there again
				}
			}
			if _, wrong := to.Write(words[:n]); err != nil || wrong != nil {
				return
			}
		}
	}
	all.Go(func() {
		for {
			from, err := listener.Accept()
			if err != nil {
				return
			}
			to, err := net.Dial("tcp", *l.target.Load())
			if err != nil {
				from.Close()
				continue
			}
			end := sync.OnceFunc(func() { from.Close(); to.Close() })
			all.Go(func() { defer end(); carry(to, from) })
			all.Go(func() { defer end(); carry(from, to) })
			all.Go(func() { <-over; end() })
		}
	})
	t.Cleanup(func() { listener.Close(); close(over); all.Wait() })
	return l
}

// Of three servers the one that decides for a live cluster is killed -9, stopped and continued, or cut off from the
// others, again and again, while nodes tell of themselves to any of them. No task is lost, given to two nodes at once or
// done twice, and the others answer after a bounded delay.
func TestOwnersThatDieSleepOrAreCutOff(t *testing.T) {
	t.Parallel()
	rounds, nodes, maps, reduces, rest := 1, 6, 40, 4, 30*time.Millisecond // other tests need this machine, too
	if wholeSamples {
		rounds, nodes, maps, reduces, rest = 8, 20, 200, 20, 0
	}
	database := pgtest.Database(t)
	r := replicasOn(t, database, "headroom", 0, "HEADROOM_ADMIN_KEY="+crashKey)
	cables, variables := map[*served]*cable{}, r.variables
	add := func() {
		l := startCable(t)
		r.variables = append(slices.Clone(variables), "HEADROOM_PEER_ADDRESS="+l.address)
		s := r.add(t)
		s.localKey = crashKey
		l.target.Store(&s.address)
		cables[s] = l
	}
	for range 3 {
		add()
	}
	r.meet(t)
	c := &crashing{T: t, rest: rest, holder: map[string]string{}, answers: map[int]int{}}
	c.address.Store(&r.address)
	submit, end := c.begin(nodes, maps, reduces)
	goOn := func(many int64) {
		t.Helper()
		most := c.answered.Load() + many
		waits(t, "the servers answer", time.Minute, func() bool { return c.answered.Load() >= most || c.Failed() })
	}
	delays := map[string]time.Duration{}
	fault := func(what string, do func(owner *served)) {
		t.Helper()
		r.meet(t)
		goOn(50)
		owner := r.owner(t)
		c.mu.Lock()
		c.slowest = 0
		c.mu.Unlock()
		do(owner)
		c.mu.Lock()
		delays[what] = max(delays[what], c.slowest)
		c.sleeping = ""
		c.mu.Unlock()
	}
	for range rounds {
		fault("killed", func(owner *served) {
			r.lose(t, owner)
			submit()
			goOn(100)
			add()
		})
		fault("stopped", func(owner *served) {
			c.mu.Lock()
			c.sleeping = owner.address
			c.mu.Unlock()
			r.forget(owner)
			if err := owner.Process.Signal(syscall.SIGSTOP); err != nil {
				t.Fatal(err)
			}
			began := time.Now()
			submit()
			goOn(100)
			sleepUntil(began.Add(7 * time.Second)) // longer than a server is listed
			if err := owner.Process.Signal(syscall.SIGCONT); err != nil {
				t.Fatal(err)
			}
			goOn(50)
			r.mu.Lock()
			r.servers = append(slices.Clone(r.servers), owner)
			r.mu.Unlock()
		})
		fault("cut off", func(owner *served) {
			cables[owner].cut.Store(true)
			submit()
			goOn(100)
			cables[owner].cut.Store(false)
		})
	}
	submitted := end()
	t.Logf("answers: %v; slowest when the owner was %v", c.answers, delays)
	for what, took := range delays {
		if took > patience(12*time.Second) {
			t.Errorf("with an owner that is %s an answer took %v", what, took)
		}
	}
	t.Attr("seats", fmt.Sprintf("%d times each an owner was killed, stopped or cut off: no task lost, given twice or done twice; slowest answers %v", rounds, delays))
	c.nothingLost(database, submitted, maps+reduces)
}

// owner returns the server that decides now: the one that sends nothing on.
func (r *replicas) owner(t *testing.T) (owner *served) {
	t.Helper()
	waits(t, "one server decides", time.Minute, func() bool {
		before := map[*served]float64{}
		for _, s := range r.servers {
			before[s] = s.gauge(t, sentOn)
		}
		lasts(100 * time.Millisecond) // while nodes go on
		owner = nil
		others := 0
		for _, s := range r.servers {
			if s.gauge(t, sentOn) == before[s] {
				owner = s
			} else {
				others++
			}
		}
		return others == len(r.servers)-1 && owner != nil
	})
	return owner
}

func TestAddressesForOtherServers(t *testing.T) {
	for address, ok := range map[string]bool{"": true, "10.0.0.5:8080": true, "[10.0.0.5]:8080": true, "[fd00::5]:8080": true, "headroom-1.internal:80": true,
		"10.0.0.5": false, ":8080": false, "0.0.0.0:8080": false, "[::]:8080": false, "10.0.0.5:0": false, "10.0.0.5:99999": false, "10.0.0.5:http": false, "http://10.0.0.5:8080": false} {
		t.Setenv("HEADROOM_PEER_ADDRESS", address)
		code := shell.ExitOK
		if !ok {
			code = shell.ExitError
		}
		if _, trouble := say(t, code, "config"); ok == strings.Contains(trouble, "HEADROOM_PEER_ADDRESS is wrong") {
			t.Errorf("%q: %s", address, trouble)
		}
	}
}
