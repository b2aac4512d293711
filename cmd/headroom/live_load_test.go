package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"slices"
	"sync"
	"testing"
	"time"

	"example.org/headroom/internal/slots/live"
)

// beating is a node that tells of itself: of what it was given it finishes a part at each heartbeat.
type beating struct {
	at      string // its address
	seq     int64
	running []int64
}

// next is its next heartbeat.
func (b *beating) next(random *rand.Rand) []byte {
	b.seq++
	load, residual := 4*random.Float64(), 0.2+0.8*random.Float64()
	h := live.Heartbeat{Seq: b.seq, Boot: "1", Running: []int64{}, State: &live.NodeReport{Load1: &load, CPUPercent: &load, Residual: &residual}}
	for _, id := range b.running {
		if random.IntN(3) == 0 {
			h.Finished = append(h.Finished, live.FinishedTask{Assignment: id})
		} else {
			h.Running = append(h.Running, id)
		}
	}
	b.running = h.Running
	text, _ := json.Marshal(h)
	return text
}

// hear takes in the answer.
func (b *beating) hear(text []byte) error {
	var a live.HeartbeatAnswer
	err := json.Unmarshal(text, &a)
	for _, x := range a.Assignments {
		b.running = append(b.running, x.Assignment)
	}
	if len(a.Stop)+len(a.Notes) > 0 {
		return fmt.Errorf("%s", text)
	}
	return err
}

// Heartbeats of 1,000 nodes with 200 jobs, 200 a second, in a real server process with a Postgres of its own: how
// long they take from the moment each was due.
func TestHeartbeatsOfManyNodes(t *testing.T) {
	lasts, nodes, policies := 2*time.Second, 100, []string{"fifo"}
	if wholeSamples {
		lasts, nodes, policies = 30*time.Second, 1000, []string{"fifo", "edf", "fair", "capacity", "progress-share", "max-progress", "learned"}
	}
	const perSecond, connections = 200, 20
	s := startServingWith(t, madeDirectory(t), []string{"HEADROOM_REQUESTS_PER_SECOND=100000"})
	key := s.key(t)
	http.DefaultTransport.(*http.Transport).MaxIdleConnsPerHost = connections
	send := func(method, path string, body []byte, headers ...string) ([]byte, error) {
		r, err := http.NewRequestWithContext(t.Context(), method, "http://"+s.address+"/v1/clusters"+path, bytes.NewReader(body))
		if err != nil {
			return nil, err
		}
		r.Header.Set("Authorization", "Bearer "+key)
		r.Header.Set("Content-Type", "application/json")
		for i := 0; i < len(headers); i += 2 {
			r.Header.Set(headers[i], headers[i+1])
		}
		a, err := http.DefaultClient.Do(r)
		if err != nil {
			return nil, err
		}
		defer func() { _ = a.Body.Close() }()
		text, err := io.ReadAll(a.Body)
		if err == nil && a.StatusCode >= 300 {
			err = fmt.Errorf("%s %s: %d %s", method, path, a.StatusCode, text)
		}
		return text, err
	}
	must := func(_ []byte, err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, policy := range policies {
		at := "/live-" + policy
		must(send("POST", "", []byte(`{"name":"live-`+policy+`"}`)))
		must(send("PUT", at+"/live", []byte(`{"policy":{"kind":"`+policy+`"}}`), "If-Match", `"1"`))
		all := make([]*beating, nodes)
		for i := range all {
			all[i] = &beating{at: fmt.Sprintf("%s/nodes/node-%04d", at, i)}
			must(send("PUT", all[i].at, fmt.Appendf(nil, `{"type":"type-%d","cores":4,"slots":{"map":3,"reduce":1},"dedicated":%v}`, i%3, i%2 == 0)))
		}
		for i := range 200 {
			must(send("POST", at+"/jobs", fmt.Appendf(nil, `{"name":"job-%d","class":"class-%d","maps":2000,"reduces":10,"deadline_s":%d,"read_mb_s":5}`, i, i%10, 1000+i*60)))
		}
		var p polls
		var mu sync.Mutex
		var senders sync.WaitGroup
		began := time.Now()
		every := connections * time.Second / perSecond
		for c := range connections {
			senders.Go(func() {
				random := rand.New(rand.NewPCG(uint64(c), 1))
				var took, woke []time.Duration
				turn := c
				for due := began.Add(every * time.Duration(c) / connections); due.Before(began.Add(lasts)); due = due.Add(every) {
					n := all[turn%nodes]
					turn += connections
					text := n.next(random)
					if time.Until(due) > 0 {
						sleepUntil(due)
						woke = append(woke, time.Since(due))
					}
					answer, err := send("POST", n.at+"/heartbeats", text)
					took = append(took, time.Since(due))
					if err == nil {
						err = n.hear(answer)
					}
					if err != nil {
						t.Errorf("%s: %v", text, err)
						return
					}
				}
				mu.Lock()
				defer mu.Unlock()
				p.took, p.woke = append(p.took, took...), append(p.woke, woke...)
			})
		}
		senders.Wait()
		slices.Sort(p.took)
		slices.Sort(p.woke)
		t.Logf("%s, %d nodes and 200 jobs: %v", policy, nodes, p)
		if median := share(p.took, 0.5); median > 500*time.Millisecond { // others may need this machine, too
			t.Errorf("%s: a heartbeat takes %v", policy, median)
		}
	}
}
