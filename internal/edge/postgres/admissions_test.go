package postgres_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/fault"
	"example.org/headroom/internal/data/inputs"
	"example.org/headroom/internal/data/storage"
	"example.org/headroom/internal/edge/postgres"
	"example.org/headroom/internal/service/app"
	"example.org/headroom/internal/service/plans"
	"example.org/headroom/internal/slots/dispatch"
	"example.org/headroom/internal/slots/live"
	"example.org/headroom/internal/test/await"
	"example.org/headroom/internal/test/pgtest"
)

// planAdmitting returns a plan that admits these numbers of jobs by class.
func planAdmitting(t testing.TB, cluster string, admitted map[string]float64) plans.PlanRecord {
	t.Helper()
	type class struct {
		Name     string  `json:"name"`
		Admitted float64 `json:"admitted"`
	}
	var classes []class
	for name, n := range admitted {
		classes = append(classes, class{Name: name, Admitted: n})
	}
	text, err := json.Marshal(map[string]any{"status": "optimal", "classes": classes})
	check(t, err)
	return plans.PlanRecord{PlanSummary: plans.PlanSummary{Cluster: cluster, At: time.Now(), InputsVersion: 1, Status: capacity.Optimal, Currency: "USD", PeriodSeconds: 3600},
		Plan: text, Problem: json.RawMessage(`{}`)}
}

// planned makes such a plan the current one.
func planned(t testing.TB, ctx context.Context, s *postgres.Store, cluster string, admitted map[string]float64) int64 {
	t.Helper()
	return must(s.SavePlan(ctx, planAdmitting(t, cluster, admitted)))(t).Number
}

// admitting returns a store with a cluster whose plan admits these numbers of jobs.
func admitting(t testing.TB, admitted map[string]float64) (*postgres.Store, context.Context) {
	t.Helper()
	s := pgtest.Open(t)
	ctx := somebody(t)
	must(s.CreateCluster(ctx, inputs.NewCluster(night)))(t)
	planned(t, ctx, s, night, admitted)
	return s, ctx
}

func only(limit int) storage.Page { return storage.Page{Limit: limit} }

func place(class string, ttl float64) live.AdmissionRequest {
	return live.AdmissionRequest{Class: class, Holder: "job-1", TTLSeconds: ttl}
}

// over checks that a lease is over, and that the sentence gives the reason.
func over(t testing.TB, err error, words ...string) {
	t.Helper()
	if !errors.Is(err, live.ErrLeaseOver) {
		t.Fatalf("got %v, want a lease that is over", err)
	}
	says(t, err, words...)
}

func TestAdmissionsUpToThePlan(t *testing.T) {
	t.Parallel()
	s, ctx := admitting(t, map[string]float64{"etl": 2, "fraction": 1.999, "whole": 2.9999999999, "none": 0.4})
	first := must(s.Admit(ctx, night, place("etl", 60)))(t)
	if !first.Admitted || first.Running != 1 || first.Limit != 2 || first.PlanNumber != 1 || first.Holder != "job-1" || first.AdmittedBy != "Ada" || first.ExpiresAt == nil {
		t.Errorf("got %+v", first)
	}
	if lives := first.ExpiresAt.Sub(*first.AdmittedAt); lives != time.Minute {
		t.Errorf("it lives %s", lives)
	}
	if id, err := uuid.Parse(first.ID); err != nil || id.Version() != 7 {
		t.Errorf("the id is %q", first.ID)
	}
	second := must(s.Admit(ctx, night, place("etl", 0)))(t)
	if second.TTLSeconds != live.DefaultLeaseSeconds || second.Running != 2 {
		t.Errorf("got %+v", second)
	}
	third := must(s.Admit(ctx, night, place("etl", 60)))(t)
	if third.Admitted || third.ID != "" || third.ExpiresAt != nil || third.Code != dispatch.Full || third.Running != 2 || third.Limit != 2 ||
		third.RetryAfterSeconds != 10 || !strings.Contains(third.Reason, "2 jobs of class \"etl\" run") {
		t.Errorf("got %+v", third)
	}
	for class, most := range map[string]int64{"fraction": 1, "whole": 3} {
		var last live.Admission
		for range most + 1 {
			last = must(s.Admit(ctx, night, place(class, 60)))(t)
		}
		if last.Admitted || last.Running != most {
			t.Errorf("%s: got %+v", class, last)
		}
	}
	if a := must(s.Admit(ctx, night, place("none", 60)))(t); a.Admitted || a.Code != dispatch.NoneAdmitted || a.RetryAfterSeconds != 60 || !strings.Contains(a.Reason, "admits no job") {
		t.Errorf("got %+v", a)
	}
	if a := must(s.Admit(ctx, night, place("etll", 60)))(t); a.Admitted || a.Code != dispatch.NotPlanned || !strings.Contains(a.Reason, `Did you mean "etl"?`) {
		t.Errorf("got %+v", a)
	}

	check(t, s.EndLease(ctx, night, first.ID))
	check(t, s.EndLease(ctx, night, first.ID))
	over(t, func() error { _, err := s.KeepLease(ctx, night, first.ID, lives(0)); return err }(), "was ended at")
	if a := must(s.Admit(ctx, night, place("etl", 60)))(t); !a.Admitted || a.Running != 2 {
		t.Errorf("a place that was given back: got %+v", a)
	}
}

func TestALowerPlanRevokesNothing(t *testing.T) {
	t.Parallel()
	s, ctx := admitting(t, map[string]float64{"etl": 4})
	var ids []string
	for range 4 {
		ids = append(ids, must(s.Admit(ctx, night, place("etl", 60)))(t).ID)
	}
	planned(t, ctx, s, night, map[string]float64{"etl": 2})
	for i, id := range ids {
		must(s.KeepLease(ctx, night, id, lives(60)))(t)
		a := must(s.Admit(ctx, night, place("etl", 60)))(t)
		if running := int64(4 - i); a.Admitted != (running < 2) || !a.Admitted && (a.Running != running || a.Limit != 2 || a.PlanNumber != 2) {
			t.Fatalf("%d run: got %+v", running, a)
		}
		if i == 0 && !strings.Contains(a.Reason, "those that run may go on") {
			t.Errorf("got %q", a.Reason)
		}
		if a.Admitted {
			break
		}
		check(t, s.EndLease(ctx, night, id))
	}
	planned(t, ctx, s, night, map[string]float64{"other": 2})
	if a := must(s.Admit(ctx, night, place("etl", 60)))(t); a.Code != dispatch.NotPlanned {
		t.Errorf("a class that the plan no longer knows: got %+v", a)
	}
	must(s.KeepLease(ctx, night, ids[3], lives(60)))(t)
	counts := must(s.AdmissionsByClass(ctx, night, only(10)))(t).Items
	if len(counts) != 2 || counts[0].Class != "etl" || counts[0].Running != 2 || counts[0].Limit != 0 || counts[0].Free != 0 || counts[0].NextExpiry == nil ||
		counts[1].Class != "other" || counts[1].Running != 0 || counts[1].Free != 2 || counts[1].PlanNumber != 3 || counts[1].NextExpiry != nil {
		t.Errorf("got %+v", counts)
	}
}

// A plan for another moment decides nothing.
func TestTheCurrentPlanDecides(t *testing.T) {
	t.Parallel()
	s, ctx := admitting(t, map[string]float64{"etl": 1})
	kept := must(s.KeepPlan(ctx, planAdmitting(t, night, map[string]float64{"etl": 5})))(t)
	must(s.Admit(ctx, night, place("etl", 60)))(t)
	if a := must(s.Admit(ctx, night, place("etl", 60)))(t); kept.Number != 2 || a.Admitted || a.PlanNumber != 1 || a.Limit != 1 {
		t.Errorf("got %+v", a)
	}
}

func TestExpiryFreesThePlaceByItself(t *testing.T) {
	t.Parallel()
	s, ctx := admitting(t, map[string]float64{"etl": 1})
	first := must(s.Admit(ctx, night, place("etl", 0.2)))(t)
	if a := must(s.Admit(ctx, night, place("etl", 60)))(t); a.Admitted || a.RetryAfterSeconds != 1 {
		t.Errorf("beside it: got %+v", a)
	}
	kept := must(s.KeepLease(ctx, night, first.ID, lives(0.3)))(t)
	if !kept.ExpiresAt.After(*first.ExpiresAt) || kept.TTLSeconds != 0.3 || kept.Class != "etl" || kept.Holder != "job-1" {
		t.Errorf("got %+v", kept)
	}
	if again := must(s.KeepLease(ctx, night, first.ID, lives(0.001)))(t); again.ExpiresAt.Before(*kept.ExpiresAt) {
		t.Errorf("a heartbeat made it shorter: %+v", again)
	}
	eventually(t, "the place is free", func() bool { return must(s.Admit(ctx, night, place("etl", 0.2)))(t).Admitted })
	over(t, func() error { _, err := s.KeepLease(ctx, night, first.ID, lives(60)); return err }(), "expired at", "ask for a new one")
	check(t, s.EndLease(ctx, night, first.ID))
	eventually(t, "nothing runs", func() bool { return len(must(s.Leases(ctx, night, "", only(10)))(t).Items) == 0 })
	// Nobody has taken the place, and still no heartbeat revives the lease.
	left := must(s.Admit(ctx, night, place("etl", 0.05)))(t)
	eventually(t, "it is over", func() bool { _, err := s.Lease(ctx, night, left.ID); return errors.Is(err, live.ErrLeaseOver) })
	over(t, func() error { _, err := s.KeepLease(ctx, night, left.ID, lives(60)); return err }(), "expired at")
	if counts := must(s.AdmissionsByClass(ctx, night, only(10)))(t).Items; counts[0].Running != 0 || counts[0].Free != 1 {
		t.Errorf("got %+v", counts)
	}
}

// A heartbeat that found its lease alive keeps it, even if it commits only after the expiry. Requests meanwhile must
// wait for it.
func TestAHeartbeatInFlightKeepsThePlace(t *testing.T) {
	t.Parallel()
	address := pgtest.Database(t)
	s := pgtest.OpenWith(t, postgres.Config{URL: address})
	ctx := somebody(t)
	must(s.CreateCluster(ctx, inputs.NewCluster(night)))(t)
	planned(t, ctx, s, night, map[string]float64{"etl": 1})
	conn := raw(t, address)
	execute(t, conn, `BEGIN`)
	lease := must(s.Admit(ctx, night, place("etl", 2)))(t) // so long that the next statement finds it alive on a busy machine too
	execute(t, conn, `UPDATE admissions SET expires_at = expires_at + interval '1 hour' WHERE id = $1 AND expires_at > clock_timestamp()`, lease.ID)
	eventually(t, "it seems over to others", func() bool { _, err := s.Lease(ctx, night, lease.ID); return err != nil })
	answered := make(chan live.Admission)
	go func() { a, _ := s.Admit(ctx, night, place("etl", 60)); answered <- a }()
	watcher := raw(t, address)
	eventually(t, "the one who asks waits", func() bool {
		var waits bool
		check(t, watcher.QueryRow(t.Context(), `SELECT EXISTS (SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE '%admit(%' AND datname = current_database())`).Scan(&waits))
		return waits
	})
	execute(t, conn, `COMMIT`)
	if a := <-answered; a.Admitted || a.Code != dispatch.Full {
		t.Errorf("got %+v beside a lease that lives on", a)
	}
	must(s.KeepLease(ctx, night, lease.ID, lives(60)))(t)
}

// A server process that dies in the middle of an admission leaves neither a lease nor a lock.
func TestAKilledBackendLeavesNoLease(t *testing.T) {
	t.Parallel()
	address := pgtest.Database(t)
	s := pgtest.OpenWith(t, postgres.Config{URL: address})
	ctx := somebody(t)
	must(s.CreateCluster(ctx, inputs.NewCluster(night)))(t)
	planned(t, ctx, s, night, map[string]float64{"etl": 1})
	dying, killer := raw(t, address), raw(t, address)
	execute(t, dying, `BEGIN`)
	execute(t, dying, `SELECT admit(true, (SELECT id FROM clusters), 'etl', 1, $1, '', '', 1, 60)`, uuid.NewString())
	answered := make(chan live.Admission)
	go func() { a, _ := s.Admit(ctx, night, place("etl", 60)); answered <- a }()
	eventually(t, "the next one waits", func() bool {
		var waits bool
		check(t, killer.QueryRow(t.Context(), `SELECT EXISTS (SELECT FROM pg_stat_activity WHERE wait_event = 'advisory' AND datname = current_database())`).Scan(&waits))
		return waits
	})
	execute(t, killer, `SELECT pg_terminate_backend($1)`, dying.PgConn().PID())
	if a := <-answered; !a.Admitted || a.Running != 1 {
		t.Errorf("after the kill: got %+v", a)
	}
	var rows int
	check(t, killer.QueryRow(t.Context(), `SELECT count(*) FROM admissions`).Scan(&rows))
	if rows != 1 {
		t.Errorf("%d leases, want 1", rows)
	}
}

// If statements do not see concurrent commits, nobody could count, so nobody is admitted.
func TestAdmissionsNeedToSeeEachOther(t *testing.T) {
	t.Parallel()
	conn := raw(t, pgtest.Database(t))
	execute(t, conn, `BEGIN ISOLATION LEVEL REPEATABLE READ`)
	_, err := conn.Exec(t.Context(), `SELECT admit(true, 1, 'etl', 1, gen_random_uuid(), '', '', 1, 60)`)
	if err == nil || !strings.Contains(err.Error(), "read committed") {
		t.Errorf("got %v", err)
	}
	execute(t, conn, `ROLLBACK`)
}

func TestAdmissionsThatCannotBe(t *testing.T) {
	t.Parallel()
	s, ctx := admitting(t, map[string]float64{"etl": 2})
	must(s.CreateCluster(ctx, inputs.NewCluster("unplanned")))(t)
	lease := must(s.Admit(ctx, night, place("etl", 60)))(t)

	_, err := s.Admit(ctx, "unplanned", place("etl", 60))
	kindOf(t, err, fault.Conflict, "no plan yet", "POST /v1/clusters/unplanned/plans")
	if counts := must(s.AdmissionsByClass(ctx, "unplanned", only(10)))(t).Items; counts == nil || len(counts) != 0 {
		t.Errorf("got %+v", counts)
	}
	for _, cluster := range []string{"absent", "", "a\x00b", "\xff"} {
		_, err := s.Admit(ctx, cluster, place("etl", 60))
		kindOf(t, err, fault.NotFound, "no cluster")
		_, err = s.KeepLease(ctx, cluster, lease.ID, lives(60))
		kindOf(t, err, fault.NotFound, "no cluster")
		kindOf(t, s.EndLease(ctx, cluster, lease.ID), fault.NotFound, "no cluster")
		_, err = s.Leases(ctx, cluster, "", only(1))
		kindOf(t, err, fault.NotFound, "no cluster")
		_, err = s.AdmissionsByClass(ctx, cluster, only(1))
		kindOf(t, err, fault.NotFound, "no cluster")
	}
	for _, id := range append(hostile, "", uuid.NewString(), "{"+lease.ID+"}", "urn:uuid:"+lease.ID, lease.ID+"0") {
		_, err := s.KeepLease(ctx, night, id, lives(60))
		kindOf(t, err, fault.NotFound, "no lease")
		_, err = s.Lease(ctx, night, id)
		kindOf(t, err, fault.NotFound, "no lease")
		kindOf(t, s.EndLease(ctx, night, id), fault.NotFound, "no lease")
	}
	// A lease belongs to its cluster.
	_, err = s.KeepLease(ctx, "unplanned", lease.ID, lives(60))
	kindOf(t, err, fault.NotFound, "no lease")
	kindOf(t, s.EndLease(ctx, "unplanned", lease.ID), fault.NotFound, "no lease")
	must(s.KeepLease(ctx, night, strings.ToUpper(lease.ID), lives(60)))(t)

	// A cluster's leases go with it, and a new cluster of the same name starts without any.
	check(t, s.DeleteCluster(ctx, night, 1))
	_, err = s.KeepLease(ctx, night, lease.ID, lives(60))
	kindOf(t, err, fault.NotFound, "no cluster")
	must(s.CreateCluster(ctx, inputs.NewCluster(night)))(t)
	_, err = s.Admit(ctx, night, place("etl", 60))
	kindOf(t, err, fault.Conflict, "no plan yet")
	planned(t, ctx, s, night, map[string]float64{"etl": 1})
	if a := must(s.Admit(ctx, night, place("etl", 60)))(t); !a.Admitted || a.Running != 1 {
		t.Errorf("in the new cluster: got %+v", a)
	}
}

func TestLeasesAreListed(t *testing.T) {
	t.Parallel()
	limit := map[string]float64{}
	for _, name := range hostile {
		limit[name] = 2
	}
	s, ctx := admitting(t, limit)
	for _, name := range hostile {
		r := live.AdmissionRequest{Class: name, Holder: name, TTLSeconds: 60}
		for range 2 {
			if a := must(s.Admit(ctx, night, r))(t); !a.Admitted || a.Class != name || a.Holder != name {
				t.Fatalf("%q: got %+v", name, a)
			}
		}
		if found := must(s.Leases(ctx, night, name, only(10)))(t).Items; len(found) != 2 || found[0].Class != name {
			t.Errorf("%q: got %+v", name, found)
		}
	}
	all := pages(t, 3, func(p storage.Page) (storage.Listed[live.Lease], error) { return s.Leases(ctx, night, "", p) })
	if len(all) != 2*len(hostile) || !slices.IsSortedFunc(all, func(a, b live.Lease) int { return strings.Compare(a.ID, b.ID) }) {
		t.Errorf("%d leases", len(all))
	}
	counts := pages(t, 3, func(p storage.Page) (storage.Listed[live.ClassAdmissions], error) {
		return s.AdmissionsByClass(ctx, night, p)
	})
	if len(counts) != len(hostile) {
		t.Errorf("%d classes", len(counts))
	}
	if found := must(s.Leases(ctx, night, "\x00", only(10)))(t).Items; found == nil || len(found) != 0 {
		t.Errorf("got %+v", found)
	}
	var log int
	pgtest.Outlast(t)
	audit := must(s.Audit(ctx, app.AuditFilter{Cluster: night}, only(1000)))(t).Items
	for _, e := range audit {
		if e.Kind != "cluster" {
			log++
		}
	}
	if log != 0 {
		t.Errorf("%d entries in the audit log", log)
	}
}

func TestLeasesAreForgottenAfterADay(t *testing.T) {
	t.Parallel()
	address := pgtest.Database(t)
	first := pgtest.OpenWith(t, postgres.Config{URL: address})
	ctx := somebody(t)
	must(first.CreateCluster(ctx, inputs.NewCluster(night)))(t)
	planned(t, ctx, first, night, map[string]float64{"etl": 9})
	var ids []string
	for range 4 {
		ids = append(ids, must(first.Admit(ctx, night, place("etl", 60)))(t).ID)
	}
	conn := raw(t, address)
	execute(t, conn, `UPDATE admissions SET ended_at = now() - interval '25 hours' WHERE id = $1`, ids[0])
	execute(t, conn, `UPDATE admissions SET expires_at = now() - interval '25 hours' WHERE id = $1`, ids[1])
	execute(t, conn, `UPDATE admissions SET ended_at = now() - interval '23 hours' WHERE id = $1`, ids[2])
	second := pgtest.OpenWith(t, postgres.Config{URL: address}) // its sweep is due now
	await.Until(t, 10*time.Second, "a sweep", func() bool {     // one that fails is tried with the next place
		must(second.Admit(ctx, night, place("none", 60)))(t)
		_, err := second.Lease(ctx, night, ids[0])
		return errors.Is(err, fault.NotFound)
	})
	for i, want := range []error{fault.NotFound, fault.NotFound, live.ErrLeaseOver, nil} {
		if _, err := second.Lease(ctx, night, ids[i]); !errors.Is(err, want) {
			t.Errorf("lease %d: got %v, want %v", i, err, want)
		}
	}
}

// The same request, sent twice at once to two processes, takes one place.
func TestAdmissionsOnce(t *testing.T) {
	t.Parallel()
	address := pgtest.Database(t)
	stores := make([]*postgres.Store, 3)
	for i := range stores {
		stores[i] = pgtest.OpenWith(t, postgres.Config{URL: address})
	}
	ctx := somebody(t)
	must(stores[0].CreateCluster(ctx, inputs.NewCluster(night)))(t)
	planned(t, ctx, stores[0], night, map[string]float64{"etl": 5})
	bodies := make(chan string)
	const copies = 12
	for i := range copies {
		go func() {
			got, _, err := stores[i%3].Once(ctx, onceKey("ask", "a place"), func(ctx context.Context) (app.Answer, error) {
				a, err := stores[i%3].Admit(ctx, night, place("etl", 60))
				return app.Answer{Status: 201, Body: []byte(a.ID), Keep: a.Admitted}, err
			})
			bodies <- fmt.Sprint(string(got.Body), err)
		}()
	}
	seen := map[string]bool{}
	for range copies {
		seen[<-bodies] = true
	}
	if running := len(must(stores[0].Leases(ctx, night, "", only(10)))(t).Items); len(seen) != 1 || running != 1 {
		t.Errorf("answers %v, %d run", seen, running)
	}
}

// lives returns a heartbeat that extends a lease by some seconds.
func lives(seconds float64) live.LeaseBeat { return live.LeaseBeat{TTLSeconds: seconds} }
