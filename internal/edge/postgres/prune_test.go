package postgres_test

import (
	"example.org/headroom/internal/edge/postgres/schema"
	"example.org/headroom/internal/service/plans"
	"strings"
	"sync"
	"testing"
	"time"

	"example.org/headroom/internal/core/fault"
	"example.org/headroom/internal/data/storage"
	"example.org/headroom/internal/edge/postgres"
	"example.org/headroom/internal/service/app"
	"example.org/headroom/internal/test/pgtest"
)

// age makes all plans of a database old, and forgets which were current, with exceptions.
func age(t testing.TB, url string, keep ...int64) {
	t.Helper()
	conn := raw(t, url)
	execute(t, conn, `SET headroom.retention = 'on'`)
	execute(t, conn, `UPDATE plans SET created_at = created_at - interval '400 days'`)
	execute(t, conn, `DELETE FROM plan_turns WHERE number <> ALL($1)`, keep)
	execute(t, conn, `DELETE FROM plan_reigns WHERE number <> ALL($1)`, keep)
}

// more adds copies of the newest plan to a cluster, up to a total.
func more(t testing.TB, url string, plans int64) {
	t.Helper()
	conn := raw(t, url)
	execute(t, conn, `
		INSERT INTO plans (id, cluster_id, number, at, created_at, created_by, inputs_version, status, objective, total_cost, on_demand_cost, spot_cost, reserved_cost,
		                   penalties, currency, period_seconds, vms, vms_on_demand, vms_spot, vms_reserved, admitted, refused, gap, for_now, problem, plan)
		SELECT gen_random_uuid(), p.cluster_id, n, at, p.created_at, created_by, p.inputs_version, status, objective, total_cost, on_demand_cost, spot_cost, reserved_cost,
		       penalties, p.currency, p.period_seconds, vms, vms_on_demand, vms_spot, vms_reserved, admitted, refused, gap, for_now, problem, plan
		FROM plans p JOIN clusters c ON c.id = p.cluster_id, generate_series(c.plans + 1, $1) n WHERE p.number = c.plans`, plans)
	execute(t, conn, `UPDATE clusters SET plans = $1`, plans)
}

func prune(t testing.TB, url string, r postgres.Retention) (all []postgres.Pruned) {
	t.Helper()
	check(t, postgres.Prune(t.Context(), url, r, func(p postgres.Pruned) error { all = append(all, p); return nil }))
	return all
}

const year = 365 * 24 * time.Hour

func TestOldPlansAreRemovedUnlessSomethingIsAboutThem(t *testing.T) {
	t.Parallel()
	url := pgtest.Database(t)
	s := pgtest.OpenWith(t, configOf(url))
	ctx := filled(t, s)
	for range 40 {
		must(s.SavePlan(ctx, record(night)))(t)
	}
	age(t, url, 3)
	young := must(s.SavePlan(ctx, record(night)))(t) // 41
	must(s.PinPlan(ctx, night, plans.PlanRef{Number: 7}, time.Now().Add(time.Hour)))(t)
	conn := raw(t, url)
	execute(t, conn, `DELETE FROM plan_turns WHERE number = 7`)
	execute(t, conn, `DELETE FROM plan_reigns WHERE number = 7`)
	execute(t, conn, `INSERT INTO observations (id, cluster_id, at, observed_by, vms, plan_number, planned_vms, plan_stale) SELECT gen_random_uuid(), id, now(), 'x', 1, 9, 1, false FROM clusters`)
	for number, ended := range map[int]string{11: "NULL", 13: "now()"} {
		execute(t, conn, `INSERT INTO admissions (id, cluster_id, class, place, holder, admitted_by, plan_number, ttl_seconds, admitted_at, expires_at, ended_at)
			SELECT gen_random_uuid(), id, 'nightly', 1, 'x', 'x', $1, 60, now(), now(), `+ended+` FROM clusters`, number)
	}
	page := must(s.Plans(ctx, night, storage.Page{Limit: 10}))(t) // 41 to 32

	rule := postgres.Retention{OlderThan: year, Keep: 5, DryRun: true}
	would := prune(t, url, rule)
	if len(would) != 1 || would[0].Cluster != night || would[0].Plans != 36-5 || would[0].First != 2 || would[0].Last != 36 || would[0].Bytes <= 0 {
		t.Errorf("it would remove %+v", would)
	}
	if list := must(s.Plans(ctx, night, storage.Page{Limit: 100}))(t); len(list.Items) != 41 {
		t.Errorf("a dry run leaves %d plans", len(list.Items))
	}
	rule.DryRun = false
	if did := prune(t, url, rule); len(did) != 1 || did[0] != would[0] {
		t.Errorf("it removed %+v, and would have %+v", did, would)
	}
	if again := prune(t, url, rule); len(again) != 0 {
		t.Errorf("once more: %+v", again)
	}
	var left []int64
	for _, p := range must(s.Plans(ctx, night, storage.Page{Limit: 100}))(t).Items {
		left = append(left, p.Number)
	}
	same(t, left, []int64{41, 40, 39, 38, 37, 11, 9, 7, 3, 1}) // the first has the text of all
	left = nil
	for _, p := range must(s.Plans(ctx, night, storage.Page{After: page.Next, Limit: 100}))(t).Items { // behind a cursor of before
		left = append(left, p.Number)
	}
	same(t, left, []int64{11, 9, 7, 3, 1})

	today := time.Now().UTC().Format(time.DateOnly)
	for _, number := range []int64{2, 13, 36} {
		_, err := s.Plan(ctx, night, plans.PlanRef{Number: number})
		kindOf(t, err, fault.NotFound, "was removed by retention on "+today)
		_, err = s.PinPlan(ctx, night, plans.PlanRef{Number: number}, time.Now().Add(time.Hour))
		kindOf(t, err, fault.NotFound, "was removed by retention on "+today)
	}
	for _, number := range []int64{42, 1000} {
		_, err := s.Plan(ctx, night, plans.PlanRef{Number: number})
		kindOf(t, err, fault.NotFound, "has no plan number")
	}
	if now := must(s.Current(ctx, night))(t); now.Record.Number != 7 {
		t.Errorf("plan %d is current", now.Record.Number)
	}
	check(t, s.UnpinPlan(ctx, night))
	if now := must(s.Current(ctx, night))(t); now.Record.ID != young.ID {
		t.Errorf("after the pin plan %d is current", now.Record.Number)
	}
	if next := must(s.SavePlan(ctx, record(night)))(t); next.Number != 42 {
		t.Errorf("the next plan has the number %d", next.Number)
	}
	entries := audit(t, s, app.AuditFilter{})
	found := 0
	for _, e := range entries {
		if e.Kind == "plan" && e.Action == "delete" {
			found++
			if e.By != "retention" || e.Name != "plans 2 to 36" || !strings.Contains(string(e.Before), `"plans":31`) {
				t.Errorf("the audit log says %+v %s", e, e.Before)
			}
		}
	}
	if found != 1 {
		t.Errorf("%d entries in the audit log", found)
	}
}

// Of a pool's plans the newest and the current one stay; both kinds are counted together.
func TestOldPlansOfPoolsAreRemoved(t *testing.T) {
	t.Parallel()
	url := pgtest.Database(t)
	s := pgtest.OpenWith(t, configOf(url))
	ctx := filled(t, s)
	must(s.SavePlan(ctx, record(night)))(t)
	more(t, url, 10)
	age(t, url, 10)
	conn := raw(t, url)
	execute(t, conn, `INSERT INTO pools (cluster_id, settings, version, plans, current_number) SELECT id, '{}', 1, 20, 4 FROM clusters`)
	execute(t, conn, `
		INSERT INTO pool_plans (id, cluster_id, number, at, created_at, created_by, settings_version, reason, status, cost, currency, starts, ends, rounds, steps, basis, plan)
		SELECT gen_random_uuid(), c.id, n, now(), now() - interval '400 days', 'x', 1, 'inputs', 'feasible', 1, 'USD', now(), now(), 1, 0, '{}', '{}' FROM clusters c, generate_series(1, 20) n`)
	rule := postgres.Retention{OlderThan: year, Keep: 5, DryRun: true}
	would := prune(t, url, rule)
	rule.DryRun = false
	did := prune(t, url, rule)
	same(t, did, would)
	if len(did) != 2 || did[0].Pool || did[0].Plans != 4 || !did[1].Pool || did[1].Cluster != night || did[1].Plans != 14 || did[1].First != 1 || did[1].Last != 15 || did[1].Bytes <= 0 {
		t.Errorf("it removed %+v", did)
	}
	var left []int64
	for _, p := range must(s.PoolPlans(ctx, night, storage.Page{}))(t).Items {
		left = append(left, p.Number)
	}
	same(t, left, []int64{20, 19, 18, 17, 16, 4})
	_, err := s.PoolPlan(ctx, night, 15)
	kindOf(t, err, fault.NotFound, "plan 15 of the pool of the cluster", "was removed by retention on "+time.Now().UTC().Format(time.DateOnly))
	_, err = s.PoolPlan(ctx, night, 21)
	kindOf(t, err, fault.NotFound, "has no plan number 21")
	removed := must(s.RemovedPlans(ctx))(t)
	if got := removed[night]; len(removed) != 1 || got.Plans != 18 || time.Since(got.Last) > time.Hour {
		t.Errorf("removed are %+v", removed)
	}
	found := 0
	for _, e := range audit(t, s, app.AuditFilter{}) {
		if e.Name == "plans 1 to 15 of the pool" && e.By == "retention" {
			found++
		}
	}
	if found != 1 {
		t.Errorf("%d entries in the audit log", found)
	}
}

// Two processes remove plans in many transactions, beside writers and readers. Every number exists or is on record as
// removed, never both. A list that is read page by page misses nothing that stays.
func TestPlansAreRemovedBesideWriters(t *testing.T) {
	t.Parallel()
	url := pgtest.Database(t)
	s := pgtest.OpenWith(t, configOf(url))
	ctx := filled(t, s)
	must(s.SavePlan(ctx, record(night)))(t)
	const old = 2300
	more(t, url, old)
	age(t, url)
	var all sync.WaitGroup
	var mu sync.Mutex
	var removed int64
	for range 2 {
		all.Go(func() {
			for _, p := range prune(t, url, postgres.Retention{OlderThan: year, Keep: 300}) {
				mu.Lock()
				removed += p.Plans
				mu.Unlock()
			}
		})
	}
	all.Go(func() {
		for range 20 {
			must(s.SavePlan(ctx, record(night)))(t)
		}
	})
	all.Go(func() {
		for range 3 {
			seen := map[int64]bool{}
			for after := ""; ; {
				page := must(s.Plans(ctx, night, storage.Page{After: after, Limit: 100}))(t)
				for _, p := range page.Items {
					seen[p.Number] = true
				}
				if after = page.Next; after == "" {
					break
				}
			}
			for n := int64(old - 300 + 20 + 1); n <= old; n++ { // the new ones may push out as many
				if !seen[n] {
					t.Errorf("plan %d, which stays, is not listed", n)
				}
			}
		}
	})
	all.Wait()
	var plans, there, noted, both int64
	check(t, raw(t, url).QueryRow(ctx, `
		SELECT (SELECT plans FROM clusters), (SELECT count(*) FROM plans), (SELECT sum(last - first + 1) FROM removed_plans),
		       (SELECT count(*) FROM plans p JOIN removed_plans r ON r.cluster_id = p.cluster_id AND p.number BETWEEN r.first AND r.last)`).Scan(&plans, &there, &noted, &both))
	if plans != old+20 || there+noted != plans || both != 0 || removed != noted || removed < old-300-1 { // the first was current at first
		t.Errorf("of %d plans %d are there, %d are on record as removed, %d both, and %d were said to be", plans, there, noted, both, removed)
	}
}

// The service has no right to remove plans, nor to record them as removed.
func TestTheServiceRemovesNoPlans(t *testing.T) {
	t.Parallel()
	url := pgtest.Database(t)
	s := pgtest.OpenWith(t, configOf(url))
	ctx := filled(t, s)
	must(s.SavePlan(ctx, record(night)))(t)
	conn := raw(t, url)
	execute(t, conn, `SET ROLE `+schema.Role)
	execute(t, conn, `SET headroom.retention = 'on'`)
	for _, sql := range []string{"DELETE FROM plans", "INSERT INTO removed_plans (cluster_id, first, last) VALUES (1, 1, 1)", "DELETE FROM removed_plans",
		"DELETE FROM pool_plans", "INSERT INTO removed_pool_plans (cluster_id, first, last) VALUES (1, 1, 1)"} {
		if _, err := conn.Exec(ctx, sql); state(err) != "42501" {
			t.Errorf("%s: %v", sql, err)
		}
	}
	execute(t, conn, `RESET ROLE`)
	execute(t, conn, `GRANT DELETE ON plans TO `+schema.Role) // the trigger still prevents it
	execute(t, conn, `SET ROLE `+schema.Role)
	if _, err := conn.Exec(ctx, "DELETE FROM plans"); state(err) != "23001" {
		t.Errorf("with the right to: %v", err)
	}
	t.Attr("R9", "the service's role can neither remove a plan nor say that one was, even with retention switched on")
}
