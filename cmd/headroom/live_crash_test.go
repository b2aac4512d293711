package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"example.org/headroom/internal/slots/dispatch"
	"example.org/headroom/internal/slots/live"
	"example.org/headroom/internal/test/await"
	"example.org/headroom/internal/test/pgtest"
)

// crashing is a server that is killed and started again on the same database, and whoever asks it meanwhile.
type crashing struct {
	*testing.T
	address  atomic.Pointer[string]
	answered atomic.Int64  // requests
	rest     time.Duration // of a node between two heartbeats

	mu      sync.Mutex
	holder  map[string]string // the node that has a task
	answers map[int]int       // by status; 0 is none, 502 the word of a proxy whose server died

	sleeping string        // the address of a server that was stopped
	slowest  time.Duration // until another one has answered
}

// ask asks until there is an answer that is not the end of a server or its beginning.
func (c *crashing) ask(method, path string, body []byte, headers ...string) []byte {
	began := time.Now()
	for last := range await.Tries(patience(2 * time.Minute)) {
		status, text, by := 0, []byte(nil), ""
		r, err := http.NewRequest(method, "http://"+*c.address.Load()+"/v1/clusters"+path, bytes.NewReader(body))
		if err != nil {
			c.Fatal(err)
		}
		r.Header.Set("Authorization", "Bearer "+crashKey)
		r.Header.Set("Content-Type", "application/json")
		for i := 0; i < len(headers); i += 2 {
			r.Header.Set(headers[i], headers[i+1])
		}
		if a, err := http.DefaultClient.Do(r); err == nil {
			if text, err = io.ReadAll(a.Body); err == nil {
				status, by = a.StatusCode, a.Header.Get("Replica")
			}
			_ = a.Body.Close()
		}
		c.mu.Lock()
		c.answers[status]++
		if status >= 200 && status < 300 && by != c.sleeping {
			c.slowest = max(c.slowest, time.Since(began))
		}
		c.mu.Unlock()
		switch {
		case status >= 200 && status < 300:
			c.answered.Add(1)
			return text
		case status != 0 && status != http.StatusServiceUnavailable && status != http.StatusBadGateway || last:
			c.Errorf("%s %s %s: %d %s", method, path, body, status, text)
			return nil
		}
	}
	return nil
}

// agent lets a node run what it is given until it is told that all is over and has nothing more to do.
func (c *crashing) agent(node string, over *atomic.Bool, random *rand.Rand) {
	b := &beating{at: "/live/nodes/" + node}
	tasks := map[int64]string{}
	for idle := 0; idle < 10 && !c.Failed(); lasts(c.rest) {
		ended := over.Load()
		before := b.running
		text := b.next(random)
		c.mu.Lock()
		left := map[int64]bool{}
		for _, id := range b.running {
			left[id] = true
		}
		for _, id := range before { // from when it tells of them, others may have them
			if !left[id] {
				delete(c.holder, tasks[id])
			}
		}
		c.mu.Unlock()
		answer := c.ask("POST", b.at+"/heartbeats", text)
		if random.IntN(4) == 0 { // its answer is lost on the way
			if again := c.ask("POST", b.at+"/heartbeats", text); !bytes.Equal(again, answer) {
				c.Errorf("%s is answered with %s and then with %s", text, answer, again)
			}
		}
		if err := b.hear(answer); err != nil {
			c.Errorf("%s: %v", text, err)
		}
		var a live.HeartbeatAnswer
		_ = json.Unmarshal(answer, &a)
		c.mu.Lock()
		for _, x := range a.Assignments {
			task := fmt.Sprint(x.Job, x.Kind, x.Task)
			if other := c.holder[task]; other != "" {
				c.Errorf("the task %s runs on %s and is given to %s", task, other, node)
			}
			c.holder[task], tasks[x.Assignment] = node, task
		}
		c.mu.Unlock()
		if idle++; len(b.running) > 0 || !ended {
			idle = 0
		}
	}
}

// begin makes a live cluster whose nodes tell of themselves until the end. Each submit hands in one more job.
func (c *crashing) begin(nodes, maps, reduces int) (submit func(), end func() (submitted int)) {
	c.ask("POST", "", []byte(`{"name":"live"}`))
	c.ask("PUT", "/live/live", []byte(`{"policy":{"kind":"learned","tasks_per_heartbeat":2,"evaluation_delay_heartbeats":1}}`), "If-Match", `"1"`)
	for i := range nodes {
		c.ask("PUT", fmt.Sprint("/live/nodes/node-", i), []byte(`{"type":"plain","cores":4,"slots":{"map":3,"reduce":1}}`))
	}
	submitted := 0
	submit = func() {
		submitted++
		c.ask("POST", "/live/jobs", fmt.Appendf(nil, `{"name":"job-%d","maps":%d,"reduces":%d}`, submitted, maps, reduces), "Idempotency-Key", fmt.Sprint("job-", submitted))
	}
	submit()
	var over atomic.Bool
	var agents sync.WaitGroup
	for i := range nodes {
		agents.Go(func() { c.agent(fmt.Sprint("node-", i), &over, rand.New(rand.NewPCG(uint64(i), 9))) })
	}
	return submit, func() int {
		over.Store(true)
		agents.Wait()
		return submitted
	}
}

// A server is killed again and again while nodes tell of themselves and jobs are submitted, and started again on the
// same database. No task is lost, runs twice at once or is done twice. A repeated heartbeat gets the same answer from
// the next server, and the kept decisions teach the same as was learned.
func TestKilledServersLoseNoTask(t *testing.T) {
	t.Parallel()
	kills, nodes, maps, reduces := 3, 8, 40, 4
	if wholeSamples {
		kills, nodes, maps, reduces = 40, 40, 300, 20
	}
	database := pgtest.Database(t)
	start := func() *served {
		return startServingWith(t, t.TempDir(), []string{"HEADROOM_ADMIN_KEY=" + crashKey, "HEADROOM_REQUESTS_PER_SECOND=100000"}, "--database-url", database)
	}
	c := &crashing{T: t, holder: map[string]string{}, answers: map[int]int{}}
	s := start()
	c.address.Store(&s.address)
	submit, end := c.begin(nodes, maps, reduces)
	random := rand.New(rand.NewPCG(1, 9))
	for range kills {
		var working sync.WaitGroup
		working.Go(submit)
		most := c.answered.Load() + 1 + random.Int64N(100)
		waits(t, "the server answers", 30*time.Second, func() bool { return c.answered.Load() >= most || c.Failed() })
		s.kill(t)
		s = start()
		c.address.Store(&s.address)
		working.Wait()
	}
	submitted := end()
	t.Logf("answers: %v", c.answers)
	t.Attr("R1", fmt.Sprintf("%d kills under %d nodes and %d jobs of %d tasks: no task lost, done twice or running twice", kills, nodes, submitted, maps+reduces))
	if c.answers[0] == 0 {
		t.Error("nobody noticed that the server was killed")
	}

	c.nothingLost(database, submitted, maps+reduces)
}

// nothingLost makes sure that every task of every job was done once, and taught what is learned.
func (c *crashing) nothingLost(database string, submitted, each int) {
	ctx := context.Background()
	conn, err := pgx.Connect(ctx, database)
	if err != nil {
		c.Fatal(err)
	}
	defer func() { _ = conn.Close(ctx) }()
	var jobs, ended, tasks, twice, open int
	if err := conn.QueryRow(ctx, `
		SELECT (SELECT count(*) FROM live_jobs), (SELECT count(*) FROM live_jobs WHERE state = 'done'), count(*), count(*) FILTER (WHERE n > 1), (SELECT count(*) FROM live_runs WHERE open)
		FROM (SELECT count(*) AS n FROM live_runs WHERE outcome = 'done' GROUP BY job, kind, task) done`).Scan(&jobs, &ended, &tasks, &twice, &open); err != nil {
		c.Fatal(err)
	}
	if jobs != submitted || ended != jobs || tasks != jobs*each || twice != 0 || open != 0 {
		c.Errorf("of %d submitted jobs there are %d and done %d, with %d tasks, %d of them done twice, and %d open assignments", submitted, jobs, ended, tasks, twice, open)
	}
	know := func(method, path string) (k dispatch.Knowledge) {
		if text := c.ask(method, path, nil); json.Unmarshal(text, &k) != nil {
			c.Errorf("%s %s: %s", method, path, text)
		}
		return k
	}
	learned, again := know("GET", "/live/classifier"), know("POST", "/live/relearn")
	got, _ := json.Marshal(learned.Counts)
	want, _ := json.Marshal(again.Counts)
	if !bytes.Equal(got, want) || learned.Judgements == 0 {
		c.Errorf("%d choices were judged; what was learned is\n%s\nand learned again\n%s", learned.Judgements, got, want)
	}
}
