package app_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"runtime"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/data/inputs"
	"example.org/headroom/internal/edge/postgres"
	"example.org/headroom/internal/service/app"
	"example.org/headroom/internal/service/auth"
	"example.org/headroom/internal/test/await"
	"example.org/headroom/internal/test/pgtest"
)

// manyClusters fills a database with clusters of 100 classes, whose prices change at the same moment.
func manyClusters(t *testing.T, a *app.App, conn *pgx.Conn, clusters int, boundary time.Time) {
	t.Helper()
	d := document("c-0")
	d.Prices[0].Until = &boundary
	d.Prices = append(d.Prices, inputs.PricePeriod{VMType: "small", Price: amountOf("0.23"), From: boundary})
	random := rand.New(rand.NewPCG(5, 100))
	d.Classes = nil
	for n := range 100 {
		d.Classes = append(d.Classes, inputs.PlannedClass{
			Name: fmt.Sprintf("class-%03d", n), Profile: &inputs.ProfileRef{Name: "etl"}, DeadlineSeconds: 300 + float64(random.IntN(3000)),
			SlotsPerVM: capacity.SlotsPerVM{Map: 2, Reduce: 2}, Jobs: capacity.JobRange{Min: float64(random.IntN(3)), Max: float64(3 + random.IntN(10))},
			Penalty: amountOf(fmt.Sprintf("%.2f", 0.3+5*random.Float64())),
		})
	}
	apply(t, a, d)
	pgtest.CopyCluster(t, conn, "c-0", clusters)
}

// A price of many clusters changes at the same moment. The figures are for reading; the test demands that neither time nor
// memory grows faster than the clusters, and that what is shown takes little.
func TestOneBoundaryOfManyClusters(t *testing.T) {
	sizes := []int{4, 40}
	if long {
		sizes = []int{100, 1000}
	}
	var least time.Duration
	for _, clusters := range sizes {
		took, memory := boundaryOf(t, clusters)
		if least == 0 {
			least = took
		}
		if took > 3*least*time.Duration(clusters)/time.Duration(sizes[0])+time.Second {
			t.Errorf("%d clusters take %v, and %d take %v", clusters, took, sizes[0], least)
		}
		if memory > uint64(20<<20+100<<10*clusters) {
			t.Errorf("%d clusters hold %d kB", clusters, memory>>10)
		}
	}
}

// boundaryOf plans so many clusters anew, and returns the time until all are shown and the bytes that are held then.
func boundaryOf(t *testing.T, clusters int) (took time.Duration, memory uint64) {
	t.Helper()
	clock := clockAt("2026-06-01T10:20:30Z")
	boundary := clock.now().Add(10 * time.Minute)
	url := pgtest.Database(t)
	a := app.New(pgtest.OpenWith(t, postgres.Config{URL: url}).Stores(), auth.NewKeyring(), app.Config{Clock: clock.now})
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close(context.WithoutCancel(t.Context())) }()
	manyClusters(t, a, conn, clusters, boundary)
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	defer cancel()
	watched, err := a.WatchPlans(ctx)
	if err != nil {
		t.Fatal(err)
	}
	wait := func(number int64) time.Duration {
		began := time.Now()
		for last := range await.Tries(3 * time.Minute) {
			shown := 0
			for _, s := range a.Plans.Board.All() {
				if s.Record.Number >= number {
					shown++
				}
			}
			if shown == clusters {
				break
			}
			if last {
				t.Fatalf("only %d of %d clusters have plan %d", shown, clusters, number)
			}
		}
		return time.Since(began)
	}
	stop := startPlanner(t, a)
	first := wait(1)
	clock.set(boundary.Add(time.Second))
	worked, before := processorTime(t), pgtest.ProcessorTimes()
	if _, err := conn.Exec(ctx, `NOTIFY headroom_plans, 'c-0'`); err != nil { // the planner sleeps by another clock
		t.Fatal(err)
	}
	took = wait(2)
	worked = processorTime(t) - worked
	stored := pgtest.ProcessorTimes()["postgres"] - before["postgres"]
	stop()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	t.Logf("%d clusters of 100 classes: first plans after %v, current %v after the boundary (%.1f ms each; %.1f ms of work here and %.1f ms of Postgres); %.1f MB held",
		clusters, first.Round(time.Millisecond), took.Round(time.Millisecond), took.Seconds()*1000/float64(clusters), worked.Seconds()*1000/float64(clusters), stored.Seconds()*1000/float64(clusters), float64(m.HeapAlloc)/(1<<20))
	cancel()
	<-watched
	return took, m.HeapAlloc
}

// processorTime is that of this process so far.
func processorTime(t *testing.T) time.Duration {
	t.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		t.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
