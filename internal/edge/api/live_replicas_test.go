package api

import (
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

	"headroom/internal/core/capacity"
	"headroom/internal/edge/postgres"
	"headroom/internal/service/app"
	"headroom/internal/service/auth"
	"headroom/internal/service/telemetry"
	"headroom/internal/test/pgtest"
	"headroom/openapi/client"
)

// Two servers over one database hand out the tasks of a cluster to agents that go from one to the other, while
// their connections are cut in the middle of what they do, policies are switched, and one of them ends for good. No task is lost or done
// twice, and what was learned is what the decisions that are kept teach.
func TestTwoServersDecideAsOne(t *testing.T) {
	t.Parallel()
	const nodes, jobs, maps, reduces = 20, 6, 40, 3
	address := pgtest.Database(t)
	ctx := auth.With(t.Context(), auth.Principal{ID: auth.LocalID, Name: "test", Role: auth.Admin})
	token, hash := auth.NewToken(auth.KeyPrefix)
	var servers []*httptest.Server
	var asked []*client.ClientWithResponses
	for i := range 2 {
		keys := auth.NewKeyring()
		keys.AddLocal(auth.Key{ID: auth.LocalID, Name: "agents", Role: auth.Admin, Hash: hash})
		store := pgtest.OpenWith(t, postgres.Config{URL: address, MaxConns: 8})
		if i == 0 {
			if _, err := store.CreateCluster(ctx, capacity.NewCluster("night")); err != nil {
				t.Fatal(err)
			}
		}
		tel := telemetry.New(io.Discard, nil)
		h, err := New(Config{App: app.New(store, keys, app.Config{Telemetry: tel}), Telemetry: tel, RequestsPerSecond: 1_000_000})
		if err != nil {
			t.Fatal(err)
		}
		server := httptest.NewServer(h)
		t.Cleanup(server.Close)
		c, err := client.NewClientWithResponses(server.URL, client.WithRequestEditorFn(func(_ context.Context, r *http.Request) error {
			r.Header.Set("Authorization", "Bearer "+token)
			return nil
		}))
		if err != nil {
			t.Fatal(err)
		}
		servers, asked = append(servers, server), append(asked, c)
	}
	first := asked[0]
	settings, err := first.ReplaceLiveSettingsWithResponse(ctx, "night", &client.ReplaceLiveSettingsParams{IfMatch: new(`"1"`)},
		client.LiveSettings{Policy: client.Policy{Kind: "learned", TasksPerHeartbeat: new(int64(3))}})
	if err != nil || settings.StatusCode() != 200 {
		t.Fatalf("%v %s", err, settings.Body)
	}
	for i := range nodes {
		n, err := asked[i%2].PutLiveNodeWithResponse(ctx, "night", fmt.Sprint("node-", i), client.LiveNode{Type: "plain", Cores: 4, Slots: client.NodeSlots{Map: 2, Reduce: 1}})
		if err != nil || n.StatusCode() != 200 {
			t.Fatalf("%v %s", err, n.Body)
		}
	}
	for i := range jobs {
		j, err := asked[i%2].CreateLiveJobWithResponse(ctx, "night", &client.CreateLiveJobParams{}, client.LiveJobRequest{Name: fmt.Sprint("job ", i), Maps: maps, Reduces: new(int64(reduces)), MaxAttempts: new(int64(100))})
		if err != nil || j.StatusCode() != 201 {
			t.Fatalf("%v %s", err, j.Body)
		}
	}

	conn, err := pgx.Connect(ctx, address)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close(context.Background()) }()
	policy := func(p client.Policy) bool { // where the database is there
		now, err := asked[1].GetLiveSettingsWithResponse(ctx, "night", &client.GetLiveSettingsParams{})
		if err != nil || now.JSON200 == nil {
			return false
		}
		etag := now.HTTPResponse.Header.Get("ETag")
		set, err := asked[1].ReplaceLiveSettingsWithResponse(ctx, "night", &client.ReplaceLiveSettingsParams{IfMatch: &etag}, client.LiveSettings{Policy: p})
		return err == nil && set.StatusCode() == 200
	}
	switched := 0
	ended, stop := context.WithCancel(ctx)
	var others sync.WaitGroup
	others.Go(func() { // cuts connections, wherever they are
		for i := range 40 {
			if policy(client.Policy{Kind: []client.PolicyKind{"fifo", "learned", "max-progress", "learned", "progress-share"}[i%5]}) {
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
				h := client.NodeHeartbeat{Seq: seq, Boot: new("one"), Running: []int64{}, State: &client.NodeReport{Load1: &load}}
				for _, id := range running {
					switch random.IntN(10) {
					case 0, 1, 2, 3, 4, 5:
						h.Finished = append(h.Finished, client.FinishedTask{Assignment: id})
					case 6:
						h.Failed = append(h.Failed, client.FailedTask{Assignment: id})
					case 7: // it is forgotten
					default:
						h.Running = append(h.Running, id)
					}
				}
				for answered := false; !answered; { // the same one until it is answered
					a, err := asked[random.IntN(2)].SendHeartbeatWithResponse(ctx, "night", fmt.Sprint("node-", i), h)
					status := 0
					if err == nil {
						status = a.StatusCode()
					}
					mu.Lock()
					statuses[status]++
					mu.Unlock()
					switch {
					case status == 200:
						answered = true
						running = append([]int64{}, h.Running...)
						for _, x := range a.JSON200.Assignments {
							running = append(running, x.Assignment)
						}
						for _, x := range a.JSON200.Stop {
							t.Errorf("node-%d is to stop %d: %s", i, x.Assignment, x.Reason)
						}
					case status != 0 && status != 503:
						t.Errorf("node-%d: %d %s", i, status, a.Body)
						return
					default:
						time.Sleep(time.Millisecond)
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
	for !policy(client.Policy{Kind: "learned"}) {
		time.Sleep(10 * time.Millisecond)
	}
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
	list, err := asked[1].ListLiveJobsWithResponse(ctx, "night", &client.ListLiveJobsParams{})
	if err != nil || list.StatusCode() != 200 {
		t.Fatalf("%v %s", err, list.Body)
	}
	for _, j := range list.JSON200.Items {
		if j.State != "done" || j.Maps.Done != maps || j.Reduces.Done != reduces || j.Maps.Running+j.Maps.Waiting+j.Reduces.Running+j.Reduces.Waiting != 0 {
			t.Errorf("got %+v", j)
		}
	}
	before, err := asked[1].GetClassifierWithResponse(ctx, "night")
	if err != nil || before.StatusCode() != 200 {
		t.Fatalf("%v %s", err, before.Body)
	}
	after, err := asked[1].RelearnWithResponse(ctx, "night")
	if err != nil || after.StatusCode() != 200 {
		t.Fatalf("%v %s", err, after.Body)
	}
	got, _ := json.Marshal(before.JSON200.Counts)
	want, _ := json.Marshal(after.JSON200.Counts)
	if string(got) != string(want) || before.JSON200.Judgements == 0 {
		t.Errorf("%d choices were judged; what was learned is\n%s\nand learned again\n%s", before.JSON200.Judgements, got, want)
	}
}
