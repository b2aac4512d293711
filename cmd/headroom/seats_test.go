package main

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"sync"
	"testing"
	"time"

	"headroom/internal/test/await"
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
