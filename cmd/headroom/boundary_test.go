package main

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"example.org/headroom/internal/test/await"
	"example.org/headroom/internal/test/pgtest"
)

// hundredClasses is a cluster's document whose price changes at a moment.
func hundredClasses(t *testing.T, boundary time.Time) string {
	t.Helper()
	random := rand.New(rand.NewPCG(5, 100))
	classes := make([]map[string]any, 100)
	for n := range classes {
		classes[n] = map[string]any{
			"name": fmt.Sprintf("class-%03d", n), "profile": map[string]any{"name": "etl", "version": 1}, "deadline_s": 300 + random.IntN(3000),
			"slots_per_vm": map[string]any{"map": 2, "reduce": 2}, "jobs": map[string]any{"min": random.IntN(3), "max": 3 + random.IntN(10)},
			"penalty": fmt.Sprintf("%.2f", 0.3+5*random.Float64()),
		}
	}
	text, err := json.Marshal(map[string]any{
		"cluster":  map[string]any{"name": "c-0"},
		"vm_types": []any{map[string]any{"name": "small", "in_use": true}},
		"prices": []any{
			map[string]any{"vm_type": "small", "price": "0.20", "from": boundary.AddDate(0, 0, -1), "until": boundary},
			map[string]any{"vm_type": "small", "price": "0.23", "from": boundary},
		},
		"profiles": []any{map[string]any{"name": "etl", "version": 1, "profile": map[string]any{
			"map_tasks": 100, "map_avg_s": 20, "map_max_s": 40, "reduce_tasks": 0, "reduce_avg_s": 0, "reduce_max_s": 0,
			"shuffle_avg_s": 0, "shuffle_max_s": 0, "first_shuffle_avg_s": 0, "first_shuffle_max_s": 0, "overhead_s": 5}}},
		"classes": classes,
	})
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// A price of many clusters changes at the same moment, with one server and with three. The figures are for reading: the time
// until the last cluster has a plan with the new price, and what the servers hold a minute later.
func TestOneBoundaryOfManyServers(t *testing.T) {
	besideOthers(t)
	sizes, servers, rest, lead := []int{10}, []int{1}, time.Second, 20*time.Second
	if wholeSamples {
		sizes, servers, rest, lead = []int{100, 300, 1000}, []int{1, 3}, time.Minute, 45*time.Second
	}
	for _, many := range servers {
		for _, clusters := range sizes {
			oneBoundary(t, many, clusters, rest, lead)
		}
	}
}

func oneBoundary(t *testing.T, servers, clusters int, rest, lead time.Duration) {
	t.Helper()
	r := startReplicas(t, servers)
	boundary := time.Now().UTC().Add(lead + time.Duration(clusters)*200*time.Millisecond)
	r.want(t, 200, "PUT", "/v1/clusters/c-0/document", hundredClasses(t, boundary), "If-None-Match", "*")
	pgtest.CopyCluster(t, connectTo(t, r.url), "c-0", clusters)
	planned := func(number int) (count int) {
		if err := r.database.QueryRow(t.Context(), `SELECT count(*) FROM planning WHERE current_number >= $1`, number).Scan(&count); err != nil {
			t.Fatal(err)
		}
		return count
	}
	waitFor := func(number int) {
		asks := time.NewTicker(50 * time.Millisecond) // asking takes processor time
		defer asks.Stop()
		for last := range await.Tries(patience(3 * time.Minute)) {
			count := planned(number)
			if count == clusters {
				return
			}
			if last {
				var why string
				_ = r.database.QueryRow(t.Context(), `SELECT string_agg(DISTINCT last_attempt::text, ' ') FROM planning WHERE coalesce(current_number, 0) < $1`, number).Scan(&why)
				t.Fatalf("only %d of %d clusters have plan %d: %.1000s", count, clusters, number, why)
			}
			<-asks.C
		}
	}
	waitFor(1)
	if time.Until(boundary) < time.Second {
		t.Fatalf("the first plans took until %v after the boundary", -time.Until(boundary))
	}
	sleepUntil(boundary) // the server's clock is the machine's
	before := pgtest.ProcessorTimes()
	waitFor(2)
	took := time.Since(boundary)
	lasts(300 * time.Millisecond) // the boards follow
	after := pgtest.ProcessorTimes()
	var spent []string
	for name, t := range after {
		if t -= before[name]; t > 0 {
			spent = append(spent, fmt.Sprintf("%s %.1f ms", name, t.Seconds()*1000/float64(clusters)))
		}
	}
	memory := func() (each []string) {
		for _, s := range r.servers {
			each = append(each, fmt.Sprintf("%.0f", resident(t, s.Process.Pid)))
		}
		return each
	}
	busy := memory()
	lasts(rest) // memory goes back to the system when nobody needs it
	t.Logf("%d servers, %d clusters of 100 classes: current %.2f s after the boundary; each took %s; %s MB resident, after %v %s MB",
		servers, clusters, took.Seconds(), strings.Join(spent, ", "), strings.Join(busy, " + "), rest, strings.Join(memory(), " + "))
	for _, s := range r.servers {
		s.stop(t)
	}
}
