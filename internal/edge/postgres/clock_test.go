package postgres_test

import (
	"errors"
	"testing"
	"time"

	"example.org/headroom/internal/data/storage"
	"example.org/headroom/internal/service/plans"
	"example.org/headroom/internal/service/runs"
	"example.org/headroom/internal/test/pgtest"
)

// A jump of the database's clock is simulated by shifting all stored times the other way. After a jump back, stored
// times lie ahead, and nothing waits until the clock is there again. After a jump forward they are past, and
// overtaken callers get an error (R18).
func TestJumpsOfTheDatabasesClock(t *testing.T) {
	t.Parallel()
	for _, jump := range []string{"1 hour", "1 day"} {
		t.Run(jump, func(t *testing.T) {
			url := pgtest.Database(t)
			s, conn := pgtest.OpenWith(t, configOf(url)), raw(t, url)
			ctx := filled(t, s)
			now := func() time.Time { return january.From }
			var first *plans.Claim
			claimed := func() bool {
				c, _, err := s.Claim(ctx, now(), 15*time.Second)
				check(t, err)
				if c != nil {
					first = c
				}
				return c != nil
			}
			eventually(t, "the cluster is due", claimed)
			old := *first
			if claimed() {
				t.Fatal("a claim that stands was taken")
			}
			for _, set := range []string{
				"claimed_until = claimed_until + $1::interval",                                         // back
				"claimed_until = claimed_until - $1::interval",                                         // forward
				"claimed_by = NULL, claimed_until = NULL, retry_at = clock_timestamp() + $1::interval", // back, while it rests
				"claimed_by = NULL, claimed_until = NULL, retry_at = NULL, inputs_changed_at = inputs_changed_at + $1::interval, changing_since = changing_since + $1::interval", // back, after a change
			} {
				execute(t, conn, "UPDATE planning SET "+set, jump)
				if !claimed() {
					t.Errorf("not due after %s", set)
				}
			}
			if err := s.KeepClaim(ctx, old, time.Minute); !errors.Is(err, storage.ErrClaimLost) {
				t.Errorf("who had the claim before gets %v", err)
			}

			run := must(s.StartRun(ctx, runs.NewRun{Kind: plans.PlanRun, Cluster: night, Role: "planner"}))(t)
			most := map[string]int{plans.PlanRun: 5}
			worked := must(s.ClaimRun(ctx, run.ID, most, 15*time.Second))(t)
			sweep := func() (state string, work int64) {
				_, err := s.SweepRuns(ctx)
				check(t, err)
				check(t, conn.QueryRow(ctx, "SELECT state, work_id FROM runs WHERE id = $1", run.ID).Scan(&state, &work))
				return state, work
			}
			if state, _ := sweep(); state != "running" {
				t.Errorf("a run that is worked on is %s", state)
			}
			execute(t, conn, "UPDATE runs SET lease_until = lease_until + $1::interval", jump)
			state, work := sweep()
			if state != "queued" {
				t.Errorf("a run of a server that died before the clock was set back is %s", state)
			}
			if _, err := s.KeepRun(ctx, *worked, runs.Progress{}, time.Minute); !errors.Is(err, storage.ErrClaimLost) {
				t.Errorf("who had it before gets %v", err)
			}
			execute(t, conn, "UPDATE runs SET due_at = due_at + $1::interval", jump)
			execute(t, conn, "UPDATE river.river_job SET state = 'scheduled', scheduled_at = scheduled_at + $1::interval", jump)
			if _, again := sweep(); again == work {
				t.Error("a run that waits for the clock is not handed out anew")
			}

			w := newHook(t, s, "w")
			d := must(s.PingWebhook(ctx, w.ID))(t)
			must(s.ClaimDelivery(ctx, d.ID, 1, 30*time.Second))(t)
			execute(t, conn, "DELETE FROM river.river_job")
			execute(t, conn, "UPDATE webhook_deliveries SET claimed_until = claimed_until + $1::interval", jump)
			check(t, s.SweepDeliveries(ctx))
			if c := must(s.ClaimDelivery(ctx, d.ID, 1, 30*time.Second))(t); c == nil {
				t.Error("a delivery of a server that died before the clock was set back is not free")
			}

			planned(t, ctx, s, night, map[string]float64{"etl": 1})
			a := must(s.Admit(ctx, night, place("etl", 30)))(t)
			execute(t, conn, "UPDATE admissions SET admitted_at = admitted_at + $1::interval, expires_at = expires_at + $1::interval", jump)
			var left float64
			for range 3 { // the look for such leases gives way where the database is busy
				other := pgtest.OpenWith(t, configOf(url)) // its first admission looks for them
				if again := must(other.Admit(ctx, night, place("etl", 30)))(t); again.ID != "" {
					t.Errorf("two are in one place: %+v", again)
				}
				check(t, conn.QueryRow(ctx, "SELECT extract(epoch FROM expires_at - clock_timestamp())::float8 FROM admissions WHERE id = $1", a.ID).Scan(&left))
				if left <= 31 {
					break
				}
			}
			if left > 31 || left < 1 {
				t.Errorf("its lease of 30 s has %g s to go", left)
			}
		})
	}
	t.Attr("R18", "the database's clock set back or forward by an hour and a day: claims, rests, runs, deliveries and leases wait for no wrong clock, and of two holders one is told")
}
