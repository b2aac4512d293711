package api

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"example.org/headroom/internal/data/inputs"
	"example.org/headroom/internal/edge/postgres"
	"example.org/headroom/internal/service/app"
	"example.org/headroom/internal/service/auth"
	"example.org/headroom/internal/service/heartbeat"
	"example.org/headroom/internal/service/telemetry"
	"example.org/headroom/internal/slots/live"
	"example.org/headroom/internal/test/await"
	"example.org/headroom/internal/test/pgtest"
	"example.org/headroom/openapi"
)

// Servers over one database hand out the tasks of a cluster to agents that move between them. Two of them send requests on
// to each other; one sends nothing on, as the previous release. Meanwhile connections are cut in the middle of work, policies
// are switched, and one server ends for good. No task is lost or done twice, and the learned state is the one that the
// stored decisions teach.
func TestTwoServersDecideAsOne(t *testing.T) {
	t.Parallel()
	const nodes, jobs, maps, reduces = 20, 6, 40, 3
	address := pgtest.Database(t)
	ctx := auth.With(t.Context(), auth.Principal{ID: auth.LocalID, Name: "test", Role: auth.Admin})
	token, hash := auth.NewToken(auth.KeyPrefix)
	var servers []*httptest.Server
	var asked []replicaCaller
	for i := range 3 {
		keys := auth.NewKeyring()
		keys.AddLocal(auth.Key{ID: auth.LocalID, Name: "agents", Role: auth.Admin, Hash: hash})
		store := pgtest.OpenWith(t, postgres.Config{URL: address, MaxConns: 8})
		if i == 0 {
			if _, err := store.CreateCluster(ctx, inputs.NewCluster("night")); err != nil {
				t.Fatal(err)
			}
		}
		tel := telemetry.New(io.Discard, nil)
		server := httptest.NewUnstartedServer(nil)
		c := Config{App: app.New(store.Stores(), keys, app.Config{Telemetry: tel}), Telemetry: tel, RequestsPerSecond: 1_000_000}
		if i < 2 {
			c.Peers = heartbeat.NewPeers(store, server.Listener.Addr().String(), tel.Log)
			listed, leave := context.WithCancel(ctx)
			left := c.Peers.Start(listed, c.App.Live)
			t.Cleanup(func() { leave(); <-left })
		}
		h, err := New(c)
		if err != nil {
			t.Fatal(err)
		}
		server.Config.Handler = h
		server.Start()
		t.Cleanup(server.Close)
		servers, asked = append(servers, server), append(asked, replicaCaller{ctx, server.URL, token})
	}
	must := func(a replicaAnswer, err error) replicaAnswer {
		t.Helper()
		if err != nil || a.status/100 != 2 {
			t.Fatalf("%v %d %s", err, a.status, a.text)
		}
		return a
	}
	settings := func(policy map[string]any) map[string]any { return map[string]any{"policy": policy} }
	must(asked[0].ask(openapi.ReplaceLiveSettings("night"), settings(map[string]any{"kind": "learned", "tasks_per_heartbeat": 3, "evaluation_delay_heartbeats": 1}), `"1"`))
	for i := range nodes {
		node := map[string]any{"type": "plain", "cores": 4, "slots": map[string]int{"map": 2, "reduce": 1}}
		must(asked[i%2].ask(openapi.PutLiveNode("night", fmt.Sprint("node-", i)), node, ""))
	}
	for i := range jobs {
		job := map[string]any{"name": fmt.Sprint("job ", i), "maps": maps, "reduces": reduces, "max_attempts": 100}
		must(asked[i%2].ask(openapi.CreateLiveJob("night"), job, ""))
	}

	conn, err := pgx.Connect(ctx, address)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close(context.Background()) }()
	policy := func(kind string) bool { // when the database is reachable
		now, err := asked[1].ask(openapi.GetLiveSettings("night"), nil, "")
		if err != nil || now.status != 200 {
			return false
		}
		p := map[string]any{"kind": kind}
		if kind == "learned" {
			p["evaluation_delay_heartbeats"] = 1 // no policy stays for long
		}
		set, err := asked[1].ask(openapi.ReplaceLiveSettings("night"), settings(p), now.etag)
		return err == nil && set.status == 200
	}
	switched := 0
	ended, stop := context.WithCancel(ctx)
	var others sync.WaitGroup
	others.Go(func() { // cuts any connections
		for i := range 40 {
			if policy([]string{"learned", "fifo", "learned", "max-progress", "progress-share"}[i%5]) {
				switched++
			}
			if _, err := conn.Exec(ctx, `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid() AND random() < 0.3`); err != nil {
				t.Error(err)
				return
			}
			select {
			case <-ended.Done():
				return
			case <-time.After(50 * time.Millisecond):
			}
		}
		servers[0].CloseClientConnections()
		servers[0].Close()
	})
	var mu sync.Mutex
	statuses := map[int]int{}
	var agents sync.WaitGroup
	for i := range nodes {
		agents.Go(func() {
			random := rand.New(rand.NewPCG(uint64(i), 5))
			var running []int64
			idle := 0
			for seq := int64(1); idle < 30; seq++ {
				load := 2 * random.Float64()
				h := live.Heartbeat{Seq: seq, Boot: "one", Running: []int64{}, State: &live.NodeReport{Load1: &load}}
				for _, id := range running {
					switch random.IntN(10) {
					case 0, 1, 2, 3, 4, 5:
						h.Finished = append(h.Finished, live.FinishedTask{Assignment: id})
					case 6:
						h.Failed = append(h.Failed, live.FailedTask{Assignment: id})
					case 7: // it is forgotten
					default:
						h.Running = append(h.Running, id)
					}
				}
				for last := range await.Tries(time.Minute) { // the same one until it is answered
					a, err := asked[random.IntN(3)].ask(openapi.SendHeartbeat("night", fmt.Sprint("node-", i)), h, "")
					status := 0
					if err == nil {
						status = a.status
					}
					mu.Lock()
					statuses[status]++
					mu.Unlock()
					if status == 200 {
						var told live.HeartbeatAnswer
						if err := json.Unmarshal(a.text, &told); err != nil {
							t.Errorf("node-%d: %v", i, err)
							return
						}
						running = append([]int64{}, h.Running...)
						for _, x := range told.Assignments {
							running = append(running, x.Assignment)
						}
						for _, x := range told.Stop {
							t.Errorf("node-%d is to stop %d: %s", i, x.Assignment, x.Reason)
						}
						break
					}
					if last || status != 0 && status != 503 {
						t.Errorf("node-%d: %d %+v, %v", i, status, a, err)
						return
					}
				}
				if idle++; len(running) > 0 {
					idle = 0
				}
			}
		})
	}
	agents.Wait()
	stop()
	others.Wait()
	await.Until(t, time.Minute, "the policy is learned again", func() bool { return policy("learned") })
	t.Logf("answers: %v; %d switches", statuses, switched)
	if switched == 0 {
		t.Error("no policy was switched")
	}

	var tasks, twice, left int64
	if err := conn.QueryRow(ctx, `
		SELECT count(*), count(*) FILTER (WHERE n > 1), (SELECT count(*) FROM live_runs WHERE outcome = 'running')
		FROM (SELECT count(*) AS n FROM live_runs WHERE outcome = 'done' GROUP BY job, kind, task) done`).Scan(&tasks, &twice, &left); err != nil {
		t.Fatal(err)
	}
	if tasks != jobs*(maps+reduces) || twice != 0 || left != 0 {
		t.Errorf("%d tasks of %d are done, %d of them more than once, and %d run", tasks, jobs*(maps+reduces), twice, left)
	}
	read := func(r openapi.Request, value any) {
		t.Helper()
		for last := range await.Tries(20 * time.Second) { // a connection that was cut is made anew
			a, err := asked[1].ask(r, nil, "")
			if err == nil && a.status == 200 {
				err = json.Unmarshal(a.text, value)
			}
			if err == nil && a.status == 200 {
				return
			}
			if last || err == nil && a.status != 503 {
				t.Fatalf("%d %s, %v", a.status, a.text, err)
			}
		}
	}
	var list struct {
		Items []live.LiveJob `json:"items"`
	}
	read(openapi.ListLiveJobs("night", nil).Request, &list)
	if len(list.Items) != jobs {
		t.Errorf("got %d jobs, want %d", len(list.Items), jobs)
	}
	for _, j := range list.Items {
		if j.State != "done" || j.Maps.Done != maps || j.Reduces.Done != reduces || j.Maps.Running+j.Maps.Waiting+j.Reduces.Running+j.Reduces.Waiting != 0 {
			t.Errorf("got %+v", j)
		}
	}
	type learned struct {
		Counts     json.RawMessage `json:"counts"`
		Judgements int64           `json:"judgements"`
	}
	var before, after learned
	read(openapi.GetClassifier("night"), &before)
	read(openapi.Relearn("night"), &after)
	if string(before.Counts) != string(after.Counts) || before.Judgements == 0 {
		t.Errorf("%d choices were judged; what was learned is\n%s\nand learned again\n%s", before.Judgements, before.Counts, after.Counts)
	}
}

// replicaCaller sends requests to one of several servers, over connections that may break.
type replicaCaller struct {
	ctx           context.Context
	server, token string
}

type replicaAnswer struct {
	status int
	etag   string
	text   []byte
}

func (c replicaCaller) ask(r openapi.Request, body any, ifMatch string) (replicaAnswer, error) {
	var content io.Reader
	if body != nil {
		text, err := json.Marshal(body)
		if err != nil {
			return replicaAnswer{}, err
		}
		content = bytes.NewReader(text)
	}
	request, err := http.NewRequestWithContext(c.ctx, r.Method, c.server+r.Path, content)
	if err != nil {
		return replicaAnswer{}, err
	}
	request.Header.Set("Authorization", "Bearer "+c.token)
	if content != nil {
		request.Header.Set("Content-Type", "application/json")
	}
	if ifMatch != "" {
		request.Header.Set("If-Match", ifMatch)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return replicaAnswer{}, err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	return replicaAnswer{response.StatusCode, response.Header.Get("ETag"), text}, err
}
