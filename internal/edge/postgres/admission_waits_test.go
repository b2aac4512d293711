package postgres_test

import (
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"example.org/headroom/internal/ask/timetable"
	"example.org/headroom/internal/service/app"
	"example.org/headroom/internal/test/pgtest"
)

// Jobs that ask and find no place wait from when they asked first, whichever server they ask and whatever becomes of the request,
// until their holder has a lease or they ask no more. With the leases of a day they show what started.
func TestWhatLeasesShow(t *testing.T) {
	t.Parallel()
	url := pgtest.Database(t)
	s, other, conn := pgtest.OpenWith(t, configOf(url)), pgtest.OpenWith(t, configOf(url)), raw(t, url)
	ctx := filled(t, s)
	planned(t, ctx, s, night, map[string]float64{"nightly": 3, "ad-hoc": 1})
	execute(t, conn, "UPDATE classes SET due_seconds = 36000 WHERE name = 'nightly'")
	var now time.Time
	check(t, conn.QueryRow(ctx, "SELECT date_trunc('hour', clock_timestamp(), 'UTC') + interval '1 hour'").Scan(&now))
	hour := func(ago time.Duration, started, running, waiting int64) timetable.HourLeases {
		return timetable.HourLeases{Class: "nightly", Hour: now.Add(-ago * time.Hour).UTC(), Started: started, Running: running, Waiting: waiting}
	}
	seen := func(want ...timetable.HourLeases) {
		t.Helper()
		got := must(other.HourLeases(ctx, night, now.Add(-24*time.Hour), now))(t)
		for i := range got {
			got[i].Hour = got[i].Hour.UTC()
		}
		if d := cmp.Diff(want, got, cmpopts.EquateEmpty()); d != "" {
			t.Error(d)
		}
	}
	wait := func(class, holder string) {
		t.Helper()
		check(t, s.KeepWait(ctx, night, class, holder, nil))
	}
	seen()
	wait("ad-hoc", "a") // which cannot wait
	wait("none", "a")
	seen()
	for _, holder := range []string{"a", "b", "b", ""} {
		wait("nightly", holder)
		wait("nightly", holder)
	}
	seen(hour(1, 0, 0, 3))

	// They keep the hour in which they asked first.
	back := func(sql string) { t.Helper(); execute(t, conn, sql) }
	back("UPDATE admission_waits SET arrived_at = arrived_at - interval '2 hours'")
	wait("nightly", "a")
	seen(hour(3, 0, 0, 3))

	// A refusal undoes the transaction of its request, and not that the job waits.
	_, _, err := s.Once(ctx, onceKey("k", "a"), func(ctx context.Context) (app.Answer, error) {
		return app.Answer{}, s.KeepWait(ctx, night, "nightly", "c", nil)
	})
	check(t, err)
	seen(hour(3, 0, 0, 3), hour(1, 0, 0, 1))

	// A lease of its holder ends the wait. The holder may wait again, from then on.
	request := place("nightly", 60)
	request.Holder = "a"
	lease := must(s.Admit(ctx, night, request))(t)
	seen(hour(3, 0, 0, 2), hour(1, 1, 1, 1))
	check(t, s.EndLease(ctx, night, lease.ID))
	wait("nightly", "a")
	seen(hour(3, 0, 0, 2), hour(1, 1, 0, 2))

	// Who does not ask again is forgotten, an hour after it was to ask; asking later it has arrived later.
	later := now.Add(5 * time.Hour)
	check(t, s.KeepWait(ctx, night, "nightly", "b", &later))
	back("UPDATE admission_waits SET until = until - interval '61 minutes'")
	seen(hour(3, 0, 0, 1), hour(1, 1, 0, 0))
	back("UPDATE admission_waits SET until = until - interval '6 hours'")
	seen(hour(1, 1, 0, 0))
	wait("nightly", "b")
	seen(hour(1, 1, 0, 1))

	// Leases of more than a day ago count as long as they run.
	back("UPDATE admissions SET admitted_at = admitted_at - interval '30 hours'")
	seen(hour(1, 0, 0, 1))
	back("UPDATE admissions SET ended_at = NULL")
	seen(hour(31, 1, 1, 0), hour(1, 0, 0, 1))
	back("UPDATE admission_waits SET arrived_at = arrived_at + interval '2 hours'") // when the hour has begun
	seen(hour(31, 1, 1, 0))
}
