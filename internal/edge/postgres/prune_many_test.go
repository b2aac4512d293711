package postgres_test

import (
	"context"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"example.org/headroom/internal/data/storage"
	"example.org/headroom/internal/edge/postgres"
	"example.org/headroom/internal/service/plans"
	"example.org/headroom/internal/test/pgtest"
)

// many adds plans to a cluster up to a total, 40 an hour, and so many of them in the past. Every tenth is whole, and the
// others share its texts.
func many(t testing.TB, conn *pgx.Conn, from, to, past int64) {
	t.Helper()
	execute(t, conn, `
		INSERT INTO stored_plans (id, cluster_id, number, at, created_at, created_by, inputs_version, status, objective, total_cost, on_demand_cost, spot_cost, reserved_cost,
		                          penalties, currency, period_seconds, vms, vms_on_demand, vms_spot, vms_reserved, admitted, refused, gap, for_now, problem, plan, base, head, own, tail)
		SELECT gen_random_uuid(), p.cluster_id, n, now() - ($3 - n) * interval '90 s', now() - ($3 - n) * interval '90 s', created_by, p.inputs_version, status, objective, total_cost, on_demand_cost, spot_cost, reserved_cost,
		       penalties, p.currency, p.period_seconds, vms, vms_on_demand, vms_spot, vms_reserved, admitted, refused, gap, for_now,
		       CASE WHEN n % 10 = 0 THEN problem END, CASE WHEN n % 10 = 0 THEN plan END, CASE WHEN n % 10 > 0 THEN n - n % 10 END,
		       CASE WHEN n % 10 > 0 THEN 10 END, CASE WHEN n % 10 > 0 THEN ''::bytea END, CASE WHEN n % 10 > 0 THEN octet_length(plan::text) - 10 END
		FROM stored_plans p, generate_series($1::bigint, $2) n WHERE p.number = 1 ORDER BY n`, from, to, past)
	execute(t, conn, `UPDATE clusters SET plans = $1`, to)
	execute(t, conn, `ANALYZE stored_plans`)
}

// beside calls something again and again until it is stopped, and returns how long each call took, in their order.
func beside(t testing.TB, every time.Duration, work func() error) (stop func() []time.Duration) {
	var all sync.WaitGroup
	var took []time.Duration
	over := make(chan struct{})
	all.Go(func() {
		for {
			began := time.Now()
			if err := work(); err != nil {
				t.Error(err)
				return
			}
			took = append(took, time.Since(began))
			select {
			case <-over:
				return
			case <-time.After(every): // others work in between
			}
		}
	})
	return func() []time.Duration {
		close(over)
		all.Wait()
		slices.Sort(took)
		return took
	}
}

// A cluster with very many plans: any page of them is read at once, and old ones go beside writers, who do not feel it.
func TestVeryManyPlans(t *testing.T) {
	t.Parallel()
	number, old := int64(20_000), int64(15_000)
	if long() {
		number, old = 1_000_000, 150_000
	}
	url := pgtest.Database(t)
	s := pgtest.OpenWith(t, configOf(url))
	ctx := filled(t, s)
	r := record(night)
	r.Problem, r.Plan = answerOf(5, 0), answerOf(5, 1)
	must(s.SavePlan(ctx, r))(t)
	conn := raw(t, url)
	many(t, conn, 10, number, old+24*40) // an old plan is older than a day
	size := func() (bytes int64) {
		check(t, conn.QueryRow(ctx, `SELECT pg_total_relation_size('stored_plans')`).Scan(&bytes))
		return bytes
	}
	full := size()

	page := storage.Page{Limit: 100}
	must(s.Plans(ctx, night, page))(t)
	var slowest time.Duration
	for place := range 21 { // pages of all ages
		if place > 0 {
			page.After = postgres.CursorOf(number * int64(place) / 20)
		}
		began := time.Now()
		if found := must(s.Plans(ctx, night, page))(t); len(found.Items) == 0 {
			t.Errorf("page %d is empty", place)
		}
		slowest = max(slowest, time.Since(began))
	}
	began := time.Now()
	if read := must(s.Plan(ctx, night, plans.PlanRef{Number: number - 1}))(t); string(read.Plan) != string(r.Plan) {
		t.Errorf("plan %d reads %s", number-1, read.Plan)
	}
	single := time.Since(began)

	saving := beside(t, 20*time.Millisecond, func() error { _, err := s.SavePlan(ctx, r); return err })
	prober := raw(t, url)
	locking := beside(t, 2*time.Millisecond, func() error { // what planning waits for
		return pgx.BeginFunc(context.WithoutCancel(ctx), prober, func(tx pgx.Tx) error {
			_, err := tx.Exec(ctx, `SELECT FROM clusters FOR NO KEY UPDATE`)
			return err
		})
	})
	began = time.Now()
	removed := int64(0)
	for range 2 { // what had the texts of others goes the second time
		for _, did := range prune(t, url, postgres.Retention{OlderThan: 24 * time.Hour, Keep: 100}) {
			removed += did.Plans
		}
	}
	took := time.Since(began)
	saves, waits := saving(), locking()
	if removed < old-200 {
		t.Fatalf("it removed %d plans", removed)
	}
	// Plans being made keep the newest removed rows alive for as long as they take, seconds on a busy machine.
	for _, did := range prune(t, url, postgres.Retention{OlderThan: 23 * time.Hour, Keep: 100}) {
		removed += did.Plans
	}
	emptied := size()
	many(t, conn, number*2, number*2+removed, 0)
	worst := func(took []time.Duration) []time.Duration {
		return []time.Duration{took[len(took)/2].Round(time.Millisecond), took[len(took)*99/100].Round(time.Millisecond), took[len(took)-1].Round(time.Millisecond)}
	}
	t.Logf("%d plans in a cluster: a page of 100 takes %v at most, one plan %v", number, slowest.Round(100*time.Microsecond), single.Round(100*time.Microsecond))
	t.Logf("%d plans removed in %v; median, 99th and slowest of waits for the cluster's lock: %v, of %d plans made meanwhile: %v",
		removed, took.Round(time.Millisecond), worst(waits), len(saves), worst(saves))
	t.Logf("the table had %d MB, has %d MB, and with as many new ones %d MB", full>>20, emptied>>20, size()>>20)
	if slowest > 50*time.Millisecond && long() || slowest > time.Second {
		t.Errorf("a page takes %v", slowest)
	}
	if p99 := waits[len(waits)*99/100]; p99 > 100*time.Millisecond && long() || p99 > time.Second {
		t.Errorf("retention keeps the lock for %v", p99)
	}
	if again := size(); again > full+(full*removed/number)/2 { // twice as much more without that room
		t.Errorf("what was removed left no room: %d bytes before, %d after", full, again)
	}
}
