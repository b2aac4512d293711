package main

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// worked returns the processor time of processes, of what they have started, and of what has ended of that.
func worked(t *testing.T, pids ...int) (d time.Duration) {
	t.Helper()
	for _, pid := range pids {
		for _, p := range append(descendants(pid), pid) {
			text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", p))
			if err != nil {
				continue // gone
			}
			for _, ticks := range strings.Fields(string(text[bytes.LastIndexByte(text, ')')+2:]))[11:15] {
				n, err := strconv.Atoi(ticks)
				if err != nil {
					t.Fatal(err)
				}
				d += time.Duration(n) * time.Second / 100
			}
		}
	}
	return d
}

// databasePid returns the process that has started the database's others.
func (r *replicas) databasePid(t *testing.T) (pid int) {
	t.Helper()
	if err := r.database.QueryRow(t.Context(), `SELECT pg_backend_pid()`).Scan(&pid); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err == nil {
		pid, err = strconv.Atoi(strings.Fields(string(text[bytes.LastIndexByte(text, ')')+2:]))[1])
	}
	if err != nil {
		t.Skipf("the database runs elsewhere: %v", err)
	}
	return pid
}

// Heartbeats that reach three servers in turn cost at most 1.3 times the processor time of one server for the same
// ones, that of the database included.
func TestThreeServersCostHardlyMoreThanOne(t *testing.T) {
	if !wholeSamples {
		t.Skip("processor times need a machine that does nothing else; TestHeartbeatsAreDecidedByOneServer counts instead")
	}
	perHeartbeat := map[int][]time.Duration{}
	for range 3 {
		for _, servers := range []int{1, 3} {
			perHeartbeat[servers] = append(perHeartbeat[servers], heartbeatCost(t, servers))
		}
	}
	for _, of := range perHeartbeat {
		slices.Sort(of)
	}
	one, three := perHeartbeat[1][1], perHeartbeat[3][1]
	t.Logf("processor time of a heartbeat: %v with one server, %v with three", perHeartbeat[1], perHeartbeat[3])
	t.Attr("seats", fmt.Sprintf("%v of processor time for a heartbeat of 1,000 nodes of 10 clusters with one server, %v with three", one, three))
	if float64(three) > 1.3*float64(one) {
		t.Errorf("with three servers a heartbeat costs %v, %.2f times the %v with one", three, float64(three)/float64(one), one)
	}
}

// heartbeatCost returns the processor time of servers and database for a heartbeat of 1,000 nodes of 10 clusters.
func heartbeatCost(t *testing.T, servers int) time.Duration {
	const clusters, nodes, jobs, connections, perSecond, lasts = 10, 100, 20, 20, 200, 20 * time.Second
	r := startReplicas(t, servers)
	var all []*beating
	for c := range clusters {
		at := fmt.Sprint("/v1/clusters/live-", c)
		r.want(t, http.StatusCreated, "POST", "/v1/clusters", fmt.Sprintf(`{"name":"live-%d"}`, c))
		for i := range nodes {
			b := &beating{at: fmt.Sprintf("%s/nodes/node-%03d", at, i)}
			r.want(t, http.StatusOK, "PUT", b.at, `{"type":"plain","cores":4,"slots":{"map":3,"reduce":1}}`)
			all = append(all, b)
		}
		for i := range jobs {
			r.want(t, http.StatusCreated, "POST", at+"/jobs", fmt.Sprintf(`{"name":"job-%d","maps":20000,"reduces":10}`, i))
		}
	}
	rand.New(rand.NewPCG(1, 1)).Shuffle(len(all), func(i, k int) { all[i], all[k] = all[k], all[i] })
	pids := []int{r.databasePid(t)}
	for _, s := range r.servers {
		pids = append(pids, s.Process.Pid)
	}
	sent, took := [connections]int{}, [connections][]time.Duration{}
	run := func(until time.Time) {
		var senders sync.WaitGroup
		began := time.Now()
		every := connections * time.Second / perSecond
		for c := range connections {
			senders.Go(func() {
				random := rand.New(rand.NewPCG(uint64(c), 1))
				turn := c
				for due := began.Add(every * time.Duration(c) / connections); due.Before(until); due = due.Add(every) {
					n := all[turn%len(all)]
					turn += connections
					text := n.next(random)
					sleepUntil(due)
					one, err := r.beat(r.servers[sent[c]%servers], n, text)
					sent[c]++
					took[c] = append(took[c], one)
					if err != nil {
						t.Error(err)
						return
					}
				}
			})
		}
		senders.Wait()
	}
	run(time.Now().Add(lasts / 4)) // each server learns of each cluster
	sent, took = [connections]int{}, [connections][]time.Duration{}
	before := worked(t, pids...)
	run(time.Now().Add(lasts))
	spent := worked(t, pids...) - before
	many, times := 0, slices.Concat(took[:]...)
	for _, n := range sent {
		many += n
	}
	slices.Sort(times)
	t.Logf("%d servers: %d heartbeats, %v of processor time, answered after p50 %v, p99 %v", servers, many, spent, share(times, 0.5), share(times, 0.99))
	alone, counted, random := make([][]time.Duration, servers), make([]float64, servers), rand.New(rand.NewPCG(1, 1))
	for i, s := range r.servers {
		counted[i] = s.gauge(t, sentOn)
	}
	for i := range 300 * servers { // of one node, one after the other
		one, err := r.beat(r.servers[i%servers], all[0], all[0].next(random))
		if err != nil {
			t.Fatal(err)
		}
		alone[i%servers] = append(alone[i%servers], one)
	}
	for i, s := range r.servers {
		slices.Sort(alone[i])
		t.Logf("of %d heartbeats %g were sent on: p10 %v, p50 %v", len(alone[i]), s.gauge(t, sentOn)-counted[i], share(alone[i], 0.1), share(alone[i], 0.5))
	}
	for _, s := range r.servers {
		s.stop(t)
	}
	return spent / time.Duration(many)
}

// beat sends a node's heartbeat to a server, and hears its answer.
func (r *replicas) beat(s *served, n *beating, text []byte) (took time.Duration, err error) {
	request, err := http.NewRequest("POST", "http://"+s.address+n.at+"/heartbeats", bytes.NewReader(text))
	if err != nil {
		return 0, err
	}
	request.Header.Set("Authorization", "Bearer "+replicaKey)
	request.Header.Set("Content-Type", "application/json")
	asked := time.Now()
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		return 0, err
	}
	text, err = io.ReadAll(answer.Body)
	answer.Body.Close()
	took = time.Since(asked)
	if err == nil {
		err = n.hear(text)
	}
	return took, err
}
