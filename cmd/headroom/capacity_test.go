package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"example.org/headroom/internal/ask/study"
	"example.org/headroom/internal/test/pgtest"
)

// What one server and its database hold. The figures are for reading (go test -v). The test demands only
// that some do not grow with the number of clusters.

// copies gives a database more clusters like the demonstration's, each with its own plan, which nothing asks to be made
// anew.
func copies(t *testing.T, conn *pgx.Conn, clusters int) {
	t.Helper()
	for _, sql := range []string{
		`INSERT INTO clusters (name, description, currency, period_seconds, time_zone, options, plans)
		 SELECT 'copy-' || n, description, currency, period_seconds, time_zone, options, 1 FROM clusters, generate_series(2, $1) n WHERE name = 'demo'`,
		`INSERT INTO plans (id, cluster_id, number, at, created_by, inputs_version, status, objective, total_cost, on_demand_cost, spot_cost, reserved_cost, penalties, currency, period_seconds,
		                    vms, vms_on_demand, vms_spot, vms_reserved, admitted, refused, gap, for_now, problem, plan)
		 SELECT gen_random_uuid(), c.id, 1, now(), p.created_by, c.inputs_version, p.status, objective, total_cost, on_demand_cost, spot_cost, reserved_cost, penalties, p.currency, p.period_seconds,
		        vms, vms_on_demand, vms_spot, vms_reserved, admitted, refused, gap, for_now, problem, plan
		 FROM plans p JOIN clusters d ON d.id = p.cluster_id AND d.name = 'demo', clusters c WHERE p.number = 1 AND c.name LIKE 'copy-%' AND $1 > 0`,
		`UPDATE planning g SET current_number = 1, newest_number = 1, tried_version = c.inputs_version, confirmed_version = c.inputs_version, confirmed_at = now(), changing_since = NULL
		 FROM clusters c WHERE c.id = g.cluster_id AND c.name LIKE 'copy-%' AND $1 > 0`,
	} {
		if _, err := conn.Exec(t.Context(), sql, clusters); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := conn.Exec(t.Context(), `ANALYZE`); err != nil {
		t.Fatal(err)
	}
}

// resident is a process's memory in MB.
func resident(t *testing.T, pid int) (mb float64) {
	t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		if rest, found := strings.CutPrefix(line, "VmRSS:"); found {
			_, _ = fmt.Sscan(rest, &mb)
		}
	}
	return mb / 1024
}

// connectTo is one connection to a database of a test.
func connectTo(t *testing.T, database string) *pgx.Conn {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), database)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close(context.Background()) })
	return conn
}

// A server starts soon with many clusters, and its memory does not grow while all plans are read again.
func TestManyClusters(t *testing.T) {
	besideOthers(t)
	sizes, minutes := []int{1, 400}, 0
	if wholeSamples {
		sizes, minutes = []int{1, 100, 1000, 10_000}, 3
	}
	var least float64
	for _, clusters := range sizes {
		database := pgtest.Database(t)
		variables := []string{"DATABASE_URL=" + database, "HEADROOM_ADMIN_KEY=" + crashKey}
		first := startServingWith(t, dataDirectory(t), variables, "--demo=still")
		first.stop(t)
		copies(t, connectTo(t, database), clusters)
		s := startServingWith(t, dataDirectory(t), variables)
		s.localKey = crashKey
		if last := fmt.Sprint("copy-", clusters); clusters > 1 && !strings.Contains(s.get(t, "/v1/clusters/"+last+"/plans/current"), `"cluster":"`+last+`"`) {
			t.Errorf("the plan of %s", last)
		}
		start, began := resident(t, s.Process.Pid), time.Now()
		settled := start         // after the first reading of all plans: then there is garbage of as many bytes as are kept
		for m := range minutes { // in each of which all plans are read
			if clusters == sizes[len(sizes)-1] {
				sleepUntil(began.Add(time.Duration(m+1) * time.Minute))
				t.Logf("%d clusters: %.0f MB after %d min", clusters, resident(t, s.Process.Pid), m+1)
				if m == 1 {
					settled = resident(t, s.Process.Pid)
				}
			}
		}
		end := resident(t, s.Process.Pid)
		if clusters == 1 {
			least = start
		}
		t.Logf("%d clusters: ready after %v, %.0f MB at first and %.0f MB in the end, %.1f KB a cluster", clusters, s.ready.Round(time.Millisecond), start, end, (end-least)*1024/float64(max(clusters-1, 1)))
		if s.ready > 30*time.Second+3*time.Millisecond*time.Duration(clusters) { // on a machine that others use as well
			t.Errorf("%d clusters: ready after %v", clusters, s.ready)
		}
		if end > 1.15*settled+30 || end > 220+0.15*float64(clusters) { // what is garbage for now depends on what else the machine does
			t.Errorf("%d clusters: from %.0f to %.0f MB", clusters, settled, end)
		}
		s.stop(t)
	}
}

// rate asks as fast as answers come, on so many connections, and gives answers a second and the share that had the
// status.
func rate(s *served, text []byte, status, connections int, d time.Duration) (perSecond float64, right float64) {
	var all, good atomic.Int64
	var clients sync.WaitGroup
	end := time.Now().Add(d)
	for range connections {
		clients.Go(func() {
			w := wire{address: s.address}
			defer w.close()
			for time.Now().Before(end) {
				answer, err := w.ask(text)
				all.Add(1)
				if err == nil && answer.StatusCode == status {
					good.Add(1)
				}
			}
		})
	}
	clients.Wait()
	return float64(good.Load()) / d.Seconds(), float64(good.Load()) / float64(max(all.Load(), 1))
}

// What one server answers a second, as the median of several takes, and what is stored for it.
func TestWhatOneServerHolds(t *testing.T) {
	besideOthers(t)
	takes, each, watchers := 1, 200*time.Millisecond, 50
	if wholeSamples {
		takes, each, watchers = 5, 3*time.Second, 2000
	}
	database := pgtest.Database(t)
	s := startServingWith(t, dataDirectory(t), []string{"DATABASE_URL=" + database, "HEADROOM_ADMIN_KEY=" + crashKey, "HEADROOM_REQUESTS_PER_SECOND=1000000", "HEADROOM_SOLVES_PER_SECOND=100000"}, "--demo=still")
	s.localKey = crashKey
	conn := connectTo(t, database)
	const current = "/v1/clusters/demo/plans/current"
	s.voted(t, current) // its tag changes with the vote
	problem := func(classes int) string {
		instance, err := study.Generate("hard", classes, 7)
		if err != nil {
			t.Fatal(err)
		}
		text, err := json.Marshal(instance.Problem())
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	for _, load := range []struct {
		what        string
		text        func() []byte // made anew for each take
		status      int
		connections int
	}{
		{"polls of the current plan that know it (304)", func() []byte {
			head, err := http.NewRequestWithContext(t.Context(), "GET", "http://"+s.address+current, nil)
			if err != nil {
				t.Fatal(err)
			}
			head.Header.Set("Authorization", "Bearer "+crashKey)
			answer, err := http.DefaultClient.Do(head)
			if err != nil {
				t.Fatal(err)
			}
			answer.Body.Close()
			return bytes.Replace(request(s, crashKey, "GET", current, ""), []byte("\r\n\r\n"), []byte("\r\nIf-None-Match: "+answer.Header.Get("ETag")+"\r\n\r\n"), 1)
		}, 304, 32},
		{"polls of the current plan (200)", func() []byte { return request(s, crashKey, "GET", current, "") }, 200, 32},
		{"scaling polls", func() []byte { return request(s, crashKey, "GET", current+"/scaling", "") }, 200, 32},
		{"solves of 20 classes", func() []byte { return request(s, crashKey, "POST", "/v1/solve", problem(20)) }, 200, 4},
		{"solves of 100 classes", func() []byte { return request(s, crashKey, "POST", "/v1/solve", problem(100)) }, 200, 4},
		{"plans stored", func() []byte { return request(s, crashKey, "POST", "/v1/clusters/demo/plans", "{}") }, 201, 4},
	} {
		var rates []float64
		for range takes {
			perSecond, right := rate(s, load.text(), load.status, load.connections, each)
			if right < 0.9 {
				t.Errorf("%s: %.0f %% of the answers are a %d", load.what, 100*right, load.status)
			}
			rates = append(rates, perSecond)
		}
		slices.Sort(rates)
		t.Logf("%s: %.0f a second (from %.0f to %.0f)", load.what, rates[len(rates)/2], rates[0], rates[len(rates)-1])
	}
	before := resident(t, s.Process.Pid)
	text := request(s, crashKey, "GET", "/v1/clusters/demo/plans/events", "")
	var open []net.Conn
	defer func() {
		for _, c := range open {
			c.Close()
		}
	}()
	for range watchers {
		c, err := net.Dial("tcp", s.address)
		if err != nil {
			t.Fatal(err)
		}
		open = append(open, c)
		first := make([]byte, 64)
		if _, err := c.Write(text); err != nil {
			t.Fatal(err)
		}
		if _, err := io.ReadFull(c, first); err != nil || !strings.HasPrefix(string(first), "HTTP/1.1 200") {
			t.Fatalf("a watcher after %d: %q, %v", len(open), first, err)
		}
	}
	t.Logf("%d watchers: %.1f KB each", watchers, (resident(t, s.Process.Pid)-before)*1024/float64(watchers))
	var plans, bytes, stored int64
	var connections int
	if err := conn.QueryRow(t.Context(), `SELECT (SELECT count(*) FROM plans), pg_total_relation_size('stored_plans'), (SELECT avg(pg_column_size(plan) + pg_column_size(problem))::bigint FROM plans),
		(SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()) - 1`).Scan(&plans, &bytes, &stored, &connections); err != nil {
		t.Fatal(err)
	}
	t.Logf("%d plans of 5 classes: %d bytes of table each, of them %d plan and problem; %d connections", plans, bytes/max(plans, 1), stored, connections)
}
