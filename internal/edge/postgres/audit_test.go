package postgres_test

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"example.org/headroom/internal/core/fault"
	"example.org/headroom/internal/data/inputs"
	"example.org/headroom/internal/data/storage"
	"example.org/headroom/internal/edge/postgres"
	"example.org/headroom/internal/edge/postgres/schema"
	"example.org/headroom/internal/service/app"
	"example.org/headroom/internal/service/auth"
	"example.org/headroom/internal/service/clusters"
	"example.org/headroom/internal/service/plans"
	"example.org/headroom/internal/test/await"
	"example.org/headroom/internal/test/pgtest"
)

// audit reads the whole log once everything that was written before is in it: an entry appears when
// no older transaction of the server is open any more, and other tests have some.
func audit(t testing.TB, s *postgres.Store, of app.AuditFilter) []app.AuditEntry {
	t.Helper()
	ctx := auth.With(t.Context(), auth.Principal{Name: "marker", ID: t.Name(), Role: auth.Admin})
	_, hash := auth.NewToken(auth.KeyPrefix)
	pgtest.Outlast(t)
	marker := must(s.CreateKey(ctx, auth.Key{Name: "marker " + time.Now().String(), Role: auth.Viewer, Hash: hash}))(t)
	eventually(t, "the marker is in the audit log", func() bool {
		list := must(s.Audit(ctx, app.AuditFilter{}, storage.Page{Limit: 1}))(t)
		return len(list.Items) == 1 && list.Items[0].Name == marker.Name
	})
	all := pages(t, 7, func(p storage.Page) (storage.Listed[app.AuditEntry], error) { return s.Audit(ctx, of, p) })
	kept := []app.AuditEntry{}
	for _, e := range all {
		if e.By != "marker" {
			kept = append(kept, e)
		}
	}
	return kept
}

// eventually waits for a condition.
func eventually(t testing.TB, what string, holds func() bool) {
	t.Helper()
	await.Until(t, 20*time.Second, what, holds)
}

func TestEveryChangeIsInTheAuditLog(t *testing.T) {
	t.Parallel()
	s := pgtest.Open(t)
	ctx := filled(t, s)
	changed := nightly
	changed.Jobs.Max = 11
	must(s.Classes().Replace(ctx, night, "nightly", 1, changed))(t)
	must(s.AddProfileVersion(ctx, night, etl))(t)
	check(t, s.Contracts().Delete(ctx, night, "three-year", 1))
	must(s.DeleteForecasts(ctx, night, clusters.ForecastFilter{Class: "nightly"}))(t)
	must(s.ReplaceCluster(ctx, 1, inputs.NewCluster(night)))(t)
	_, hash := auth.NewToken(auth.KeyPrefix)
	key := must(s.CreateKey(ctx, auth.Key{Name: "dashboard", Role: auth.Viewer, Hash: hash}))(t)
	check(t, s.RevokeKey(ctx, key.ID))
	check(t, s.RevokeKey(ctx, key.ID)) // the second time is no change
	check(t, s.DeleteCluster(ctx, night, 2))
	_, err := s.CreateCluster(ctx, inputs.Cluster{Name: "BAD"})
	kindOf(t, err, fault.Invalid) // refused, so not in the log

	entries := audit(t, s, app.AuditFilter{})
	got := []string{}
	for _, e := range entries {
		got = append(got, fmt.Sprintf("%s %s %s/%s", e.Action, e.Kind, e.Cluster, e.Name))
		if e.By != "Ada" || e.KeyID != "key-1" || e.ID == "" || time.Since(e.At) > time.Hour {
			t.Errorf("entry %+v", e)
		}
	}
	want := []string{
		"delete cluster night-batch/night-batch", "revoke key /dashboard", "create key /dashboard", "update cluster night-batch/night-batch",
		"delete forecast night-batch/nightly", "delete contract night-batch/three-year", "create profile night-batch/etl version 2",
		"update class night-batch/nightly", "update forecast night-batch/nightly", "create class night-batch/ad-hoc",
		"create class night-batch/nightly", "create profile night-batch/etl version 1", "create contract night-batch/three-year",
		"create price night-batch/small from 2026-01-01T00:00:00Z", "create vm_type night-batch/small", "create cluster night-batch/night-batch",
	}
	same(t, got, want)
	var before, after inputs.PlannedClass
	check(t, json.Unmarshal(entries[7].Before, &before))
	check(t, json.Unmarshal(entries[7].After, &after))
	if before.Jobs.Max != 10 || after.Jobs.Max != 11 || after.Version != 2 {
		t.Errorf("the change of a class is kept as %s and %s", entries[7].Before, entries[7].After)
	}
	must(s.CreateCluster(ctx, inputs.NewCluster("other")))(t)
	if of := audit(t, s, app.AuditFilter{Cluster: "other"}); len(of) != 1 {
		t.Errorf("entries of one cluster: %+v", of)
	}
	if of := audit(t, s, app.AuditFilter{Only: []string{"other"}}); len(of) != 1 || of[0].Cluster != "other" {
		t.Errorf("entries for one who sees one cluster: %+v", of)
	}
	if of := audit(t, s, app.AuditFilter{Cluster: night, Only: []string{"other"}}); len(of) != 0 {
		t.Errorf("entries of a cluster that is not seen: %+v", of)
	}
	for _, name := range append(hostile, "\x00", "\xff") {
		if of := audit(t, s, app.AuditFilter{Cluster: name}); len(of) != 0 {
			t.Errorf("entries of cluster %q: %+v", name, of)
		}
	}
}

// Pages are read beside many writers, some of them slow, so that numbers and commits have different orders. A page
// must always show all entries before its cursor.
func TestPagesNeverChangeBehindACursor(t *testing.T) {
	t.Parallel()
	url := pgtest.Database(t)
	s := pgtest.OpenWith(t, configOf(url))
	ctx := somebody(t)
	must(s.CreateCluster(ctx, inputs.NewCluster(night)))(t)
	must(s.VMTypes().Create(ctx, night, small))(t)
	listings, enough := 20, 100
	if long() {
		listings, enough = 100, 2000
	}
	writing, stop := context.WithCancel(ctx)
	const writers = 4
	ended := make(chan error, writers+1)
	written := make(chan int, writers)
	for w := range writers {
		go func() {
			cluster := fmt.Sprintf("c%d", w)
			n := 0
			_, err := s.CreateCluster(ctx, inputs.NewCluster(cluster))
			for err == nil && writing.Err() == nil {
				if _, err = s.SavePlan(ctx, record(night)); err == nil {
					n++
					c := inputs.NewCluster(cluster)
					c.Description = fmt.Sprint(n)
					_, err = s.ReplaceCluster(ctx, int64(n), c)
				}
			}
			written <- n
			ended <- err
		}()
	}
	go func() { // transactions that take their number early and commit late
		ended <- func() error {
			conn, err := pgx.Connect(ctx, url)
			if err != nil {
				return err
			}
			defer func() { _ = conn.Close(ctx) }()
			for i := 0; writing.Err() == nil; i++ {
				tx, err := conn.Begin(ctx)
				if err != nil {
					return err
				}
				if _, err := tx.Exec(ctx, `SELECT pg_current_xact_id(), pg_sleep(0.02)`); err != nil {
					return err
				}
				if _, err := tx.Exec(ctx, `INSERT INTO audit (era, by, key_id, action, kind, name) VALUES (1, 'late', '', 'create', 'key', $1)`, fmt.Sprint(i)); err != nil {
					return err
				}
				if err := tx.Commit(ctx); err != nil {
					return err
				}
			}
			return nil
		}()
	}()
	plans := func() []string {
		return pageIDs(t, func(p storage.Page) (storage.Listed[plans.PlanSummary], error) { return s.Plans(ctx, night, p) }, func(p plans.PlanSummary) string { return fmt.Sprint(p.Number) })
	}
	log := func() []string {
		return pageIDs(t, func(p storage.Page) (storage.Listed[app.AuditEntry], error) {
			return s.Audit(ctx, app.AuditFilter{}, p)
		}, func(e app.AuditEntry) string { return e.ID })
	}
	var seenPlans, seenLog []string
	misses := 0
	listed := 0
	for ; listed < listings || len(seenPlans) < enough || len(seenLog) < enough/2; listed++ {
		nowPlans, nowLog := plans(), log()
		misses += missing(seenPlans, nowPlans) + missing(seenLog, nowLog)
		seenPlans, seenLog = nowPlans, nowLog
	}
	stop()
	total := 0
	for range writers {
		total += <-written
	}
	for range writers + 1 {
		check(t, <-ended)
	}
	misses += missing(seenPlans, plans()) + missing(seenLog, log())
	if misses > 0 {
		t.Errorf("%d entries appeared behind a cursor or went away", misses)
	}
	if got := len(plans()); got != total {
		t.Errorf("%d plans listed, %d were made", got, total)
	}
	t.Logf("%d listings of up to %d plans and %d entries under %d writers: %d misses", listed, len(seenPlans), len(seenLog), writers, misses)
	t.Attr("R9", fmt.Sprintf("%d listings of plans and audit log under %d writers, %d misses", listed, writers, misses))
}

// pageIDs reads a list page by page, as it grows.
func pageIDs[T any](t testing.TB, list func(storage.Page) (storage.Listed[T], error), id func(T) string) (ids []string) {
	for page := (storage.Page{Limit: 50}); ; {
		part := must(list(page))(t)
		for _, x := range part.Items {
			ids = append(ids, id(x))
		}
		if page.After = part.Next; part.Next == "" {
			return ids
		}
	}
}

// missing counts the entries by which an older listing differs from the end of a newer one.
func missing(older, newer []string) (n int) {
	for i := range older {
		if at := len(newer) - len(older) + i; at < 0 || newer[at] != older[i] {
			n++
		}
	}
	return n
}

func TestHistoryCannotBeRewritten(t *testing.T) {
	t.Parallel()
	url := pgtest.Database(t)
	s := pgtest.OpenWith(t, configOf(url))
	ctx := filled(t, s)
	must(s.SavePlan(ctx, record(night)))(t)
	owner := raw(t, url)
	statements := []string{
		"UPDATE plans SET vms = 0", "DELETE FROM plans", "TRUNCATE stored_plans", "UPDATE audit SET by = 'nobody'", "DELETE FROM audit WHERE false", "TRUNCATE audit",
		"UPDATE profile_versions SET note = ''",
	}
	refuses := func(who, code string) {
		t.Helper()
		for _, sql := range statements {
			_, err := owner.Exec(ctx, sql)
			if got := state(err); got != code {
				t.Errorf("%s as %s: got %v, want %s", sql, who, err, code)
			}
		}
	}
	refuses("owner", "23001") // the trigger
	execute(t, owner, "SET ROLE "+schema.Role)
	refuses("service", "42501") // no grant
	execute(t, owner, "SET headroom.retention = 'on'")
	refuses("service with the word", "42501")
	execute(t, owner, "RESET ROLE")
	execute(t, owner, "GRANT UPDATE, DELETE, TRUNCATE ON plans, stored_plans, audit, profile_versions TO "+schema.Role)
	execute(t, owner, "SET ROLE "+schema.Role)
	refuses("service with the word and grants", "23001")
	execute(t, owner, "RESET ROLE")
	for _, sql := range statements { // the owner may, with the retention setting
		execute(t, owner, sql)
	}
}
