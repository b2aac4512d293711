package api

import (
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"example.org/headroom/internal/core/proof"
	"example.org/headroom/internal/service/app"
	"example.org/headroom/internal/service/plans"
	"example.org/headroom/internal/slots/live"
)

// Leases tell plans what was started. What nobody took waits on until it is due, what runs longer keeps its VMs, and jobs that ask
// wait beside those of the forecast where they are more.
func TestPlansKnowWhatStarted(t *testing.T) {
	t.Parallel()
	var clock atomic.Int64
	now := func() time.Time { return time.Unix(clock.Load(), 0).UTC() }
	at := func(hour int) { clock.Store(time.Date(2026, 3, 2, hour, 10, 0, 0, time.UTC).Unix()) }
	at(0)
	s := newService(t, func(c *app.Config) { c.Clock = now })
	s.waiting("lab") // 3 arrive at 0, 1 at 2 and 2 at 4; the price is lowest from 3 to 4
	conn, err := pgx.Connect(t.Context(), s.database)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(t.Context())
	plan := func(hour int, want float64, what string) {
		t.Helper()
		at(hour)
		var made struct {
			Number int64
			Plan   struct{ Classes []struct{ Admitted float64 } }
		}
		s.ask(s.admin, "POST", "/v1/clusters/lab/plans", nil).want(t, 201).into(t, &made)
		if got := made.Plan.Classes[0].Admitted; got != want {
			t.Errorf("at %d, %s: %g reports run, want %g", hour, what, got, want)
		}
		var report proof.Report
		if s.ask(s.admin, "POST", fmt.Sprintf("/v1/clusters/lab/plans/%d/verify", made.Number), nil).want(t, 200).into(t, &report); report.Outcome != proof.OK {
			t.Errorf("at %d, %s: verify says %+v", hour, what, report)
		}
	}
	// ask asks for places by the database's clock, which the test then moves to its own.
	leases := map[string]string{}
	ask := func(admitted bool, holders ...string) {
		t.Helper()
		for _, holder := range holders {
			var a live.Admission
			s.ask(s.admin, "POST", "/v1/clusters/lab/admissions", fmt.Sprintf(`{"class":"reports","holder":%q,"ttl_s":3600}`, holder), "Idempotency-Key", fmt.Sprint(holder, "-", now().Unix())).into(t, &a)
			if leases[holder] = a.ID; a.Admitted != admitted {
				t.Errorf("%s gets %+v", holder, a)
			}
			for _, sql := range []string{"UPDATE admissions SET admitted_at = $1 WHERE admitted_at > clock_timestamp() - interval '1 hour'",
				"UPDATE admission_waits SET arrived_at = $1 WHERE arrived_at > clock_timestamp() - interval '1 hour'"} {
				if _, err := conn.Exec(t.Context(), sql, now()); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	end := func(holders ...string) {
		t.Helper()
		for _, holder := range holders {
			s.ask(s.admin, "DELETE", "/v1/clusters/lab/admissions/"+leases[holder], nil).want(t, 204)
		}
	}
	plan(0, 0, "first")
	ask(false, "a")
	plan(1, 0, "they wait for the price from 3 to 4")
	plan(2, 0, "and one more, whether one asks or not")
	plan(3, 4, "all run that wait")
	ask(true, "a")
	plan(3, 4, "within the hour the others may still start")
	plan(4, 1, "one still runs, which keeps its VMs, and three that have not started wait for an hour whose VMs are asked for ahead")
	ask(false, "b", "c", "d", "e", "f")
	end("a")
	plan(5, 5, "three have waited, and two are forecast, which ask")
	ask(true, "b", "c", "d", "e", "f")
	ask(false, "g", "h")
	end("b", "c", "d", "e", "f")
	for i, want := range []float64{0, 2, 0, 2, 2} {
		plan(6+i, want, "two ask that no forecast has, and do not come: their VMs are asked for ahead, until it is their last hour")
	}
	plan(11, 0, "they cannot end in time")
	var f plans.Following
	s.ask(s.admin, "GET", "/v1/clusters/lab/schedules/current", nil).want(t, 200).into(t, &f)
	missed := int64(0)
	for _, l := range f.Question.Before.Leases {
		if missed += l.Missed; l.Missed > 0 && l.Hour.Hour() != 5 {
			t.Errorf("missed is %+v", l)
		}
	}
	if missed != 2 {
		t.Errorf("%d are missed", missed)
	}

	// A question takes what it is told of leases only of classes that wait, and of hours that are over.
	body := fmt.Sprintf(`{"problem": {"currency": "EUR", "supply": {"on_demand": {"price": "1"}}, "classes": [
	  {"name": "etl", "vms_per_job": "1", "deadline_s": 3600, "jobs": {"min": 0, "max": 0}, "penalty": "50"}]},
	 "before": {"leases": [{"class": "etl", "hour": %q, "started": -1, "running": 0, "waiting": 0, "missed": 0}]},
	 "periods": [{"start": "2026-03-02T08:00:00Z", "hours": 12, "arrivals": [0]}]}`, "2026-03-02T08:00:00Z")
	said := string(s.ask(s.admin, "POST", "/v1/schedule", body).want(t, 422).text)
	for _, want := range []string{"/before/leases/0/class", "/before/leases/0/hour", "/before/leases/0/started"} {
		if !strings.Contains(said, want) {
			t.Errorf("nothing is said of %s: %s", want, said)
		}
	}
}
