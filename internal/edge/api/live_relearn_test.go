package api

import (
	"context"
	"encoding/json"
	"fmt"
	"runtime"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"example.org/headroom/internal/edge/postgres"
	"example.org/headroom/internal/service/app"
	"example.org/headroom/internal/service/auth"
	"example.org/headroom/internal/slots/dispatch"
	"example.org/headroom/internal/slots/live"
	"example.org/headroom/internal/test/pgtest"
)

// Everything is learned again from all stored choices, by a request and by another rule, while nodes report to this
// server and to another one.
func TestMuchIsLearnedAgain(t *testing.T) {
	t.Parallel()
	stored := many(2_000, 100_000)
	s := newService(t)
	s.cluster("night")
	const at = "/v1/clusters/night"
	settings := func(target float64) {
		etag := s.ask(s.admin, "GET", at+"/live", nil).want(t, 200).etag()
		s.ask(s.admin, "PUT", at+"/live", fmt.Sprintf(`{"policy":{"kind":"learned","target":%g,"evaluation_delay_heartbeats":1}}`, target), "If-Match", etag).want(t, 200)
	}
	settings(1)
	const nodes = 4
	for i := range nodes {
		s.ask(s.admin, "PUT", fmt.Sprint(at, "/nodes/n", i), someNode).want(t, 200)
	}
	for range 2 {
		s.ask(s.admin, "POST", at+"/jobs", `{"name":"long","maps":100000}`).want(t, 201)
	}
	one := func(seq int64, running []int64) []byte {
		text, err := json.Marshal(live.Heartbeat{Seq: seq, Running: running, State: &live.NodeReport{Load1: new(float64(seq%9) + 0.5)}})
		if err != nil {
			t.Error(err)
		}
		return text
	}
	s.beat("n0", string(one(1, []int64{})))
	s.beat("n0", string(one(2, []int64{1})))

	// The choice that was judged becomes many.
	conn, err := pgx.Connect(t.Context(), s.database)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close(context.Background()) }()
	if _, err := conn.Exec(t.Context(), fmt.Sprintf(`
		INSERT INTO live_learned (cluster_id, number, run, decision, judgement, good, rules)
		SELECT cluster_id, 10 + n, run, jsonb_set(jsonb_set(jsonb_set(decision::jsonb, '{number}', to_jsonb(10 + n)), '{judgement,number}', to_jsonb(1 + n)), '{judgement,metrics,load1}', to_jsonb(n %% 17)),
		       1 + n, n %% 17 <= 4, rules
		FROM live_learned, generate_series(1, %d) n WHERE number = 1;
		UPDATE live_memories SET memory = convert_to((convert_from(memory, 'UTF8')::jsonb || '{"decisions":%[2]d,"judgements":%[2]d}')::text, 'UTF8');
		UPDATE live_clusters SET stamp = stamp + 1;
		ANALYZE live_learned`, stored-1, stored+10)); err != nil {
		t.Fatal(err)
	}

	other := app.New(pgtest.OpenWith(t, postgres.Config{URL: s.database}).Stores(), auth.NewKeyring(), app.Config{})
	var over atomic.Bool
	var mu sync.Mutex
	var slowest time.Duration
	beats := 0
	var all sync.WaitGroup
	for i := range nodes {
		all.Go(func() {
			running := []int64{}
			if i == 0 {
				running = append(running, 1, 2)
			}
			beat := time.Tick(20 * time.Millisecond)
			for seq := int64(3); !over.Load(); seq++ {
				text := one(seq, running)
				h, err := live.ReadHeartbeat(text)
				if err != nil {
					t.Error(err)
					return
				}
				began := time.Now()
				answer, err := []*app.App{s.app, other}[int(seq)%2].Live.Heartbeat(t.Context(), "night", fmt.Sprint("n", i), h, text)
				took := time.Since(began)
				var said live.HeartbeatAnswer
				if err == nil {
					err = json.Unmarshal(answer, &said)
				}
				if err != nil {
					t.Errorf("after %v: %v", took, err)
					return
				}
				for _, a := range said.Assignments {
					running = append(running, a.Assignment)
				}
				mu.Lock()
				slowest, beats = max(slowest, took), beats+1
				mu.Unlock()
				<-beat
			}
		})
	}
	measure := func(what string, do func()) {
		before := beatsOf(&mu, &beats)
		defer debug.SetGCPercent(debug.SetGCPercent(100)) // as a server collects garbage
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		base, most, ended := m.HeapAlloc, uint64(0), make(chan struct{})
		var watching sync.WaitGroup
		watching.Go(func() {
			for {
				runtime.ReadMemStats(&m)
				most = max(most, m.HeapAlloc)
				select {
				case <-ended:
					return
				case <-time.After(5 * time.Millisecond):
				}
			}
		})
		mu.Lock()
		slowest = 0
		mu.Unlock()
		began := time.Now()
		do()
		took := time.Since(began)
		close(ended)
		watching.Wait()
		mu.Lock()
		defer mu.Unlock()
		t.Logf("%s from %d choices takes %v and up to %d MB; %d heartbeats meanwhile, the slowest %v", what, stored, took, (most-base)>>20, beats-before, slowest)
	}
	var known dispatch.Knowledge
	measure("learning again", func() { s.ask(s.admin, "POST", at+"/relearn", nil).want(t, 200).into(t, &known) })
	if got := known.Counts.Outcomes[0] + known.Counts.Outcomes[1]; got < int64(stored) {
		t.Errorf("it has learned from %d choices of %d", got, stored)
	}
	measure("another target", func() { settings(2) })
	over.Store(true)
	all.Wait()
	var good, bad, stale int64
	if err := conn.QueryRow(t.Context(), `
		SELECT count(*) FILTER (WHERE good), count(*) FILTER (WHERE NOT good), count(*) FILTER (WHERE rules <> 2) FROM live_learned WHERE judgement IS NOT NULL`).Scan(&good, &bad, &stale); err != nil {
		t.Fatal(err)
	}
	s.ask(s.admin, "GET", at+"/classifier", nil).want(t, 200).into(t, &known)
	if known.Counts.Outcomes != [2]int64{bad, good} || stale != 0 {
		t.Errorf("of the choices that are kept %d are good and %d bad, and it has learned from %v; %d have labels of rules that do not hold", good, bad, known.Counts.Outcomes, stale)
	}
}

func beatsOf(mu *sync.Mutex, beats *int) int {
	mu.Lock()
	defer mu.Unlock()
	return *beats
}
