package app_test

import (
	"fmt"
	"io"
	"net/http/httptest"
	"regexp"
	"strconv"
	"testing"
	"time"

	"example.org/headroom/internal/service/app"
	"example.org/headroom/internal/service/auth"
	"example.org/headroom/internal/service/telemetry"
	"example.org/headroom/internal/test/await"
	"example.org/headroom/internal/test/pgtest"
)

// An edit is counted once it is planned, with the time since the edit; so are edits without a new plan.
func TestPlannerCountsWhatItDoes(t *testing.T) {
	t.Parallel()
	tel := telemetry.New(io.Discard, nil)
	a := app.New(pgtest.Open(t).Stores(), auth.NewKeyring(), app.Config{Clock: clockAt("2026-06-01T10:20:30Z").now, PlannerLook: 20 * time.Millisecond, Telemetry: tel})
	began := time.Now()
	startPlanner(t, a)
	d := document("c")
	classes := d.Classes
	d.Classes = nil
	apply(t, a, d)
	counted := func(series string) float64 {
		w := httptest.NewRecorder()
		tel.Handler().ServeHTTP(w, httptest.NewRequest("GET", "/metrics", nil))
		found := regexp.MustCompile(`(?m)^` + regexp.QuoteMeta(series) + ` (.+)$`).FindStringSubmatch(w.Body.String())
		if found == nil {
			t.Fatalf("there is no %s", series)
		}
		n, err := strconv.ParseFloat(found[1], 64)
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	reaches := func(series string, want float64) {
		t.Helper()
		await.Until(t, 10*time.Second, fmt.Sprintf("%s is %v", series, want), func() bool { return counted(series) >= want })
	}
	reaches(`headroom_plan_attempts_total{outcome="infeasible"}`, 1) // nothing to plan yet
	if n := counted("headroom_planning_lag_seconds_count"); n != 0 {
		t.Errorf("%v lags without a plan", n)
	}
	classes[0].Profile.Version = 1
	if _, err := a.Clusters.Classes().Create(admin(t), "c", classes[0]); err != nil {
		t.Fatal(err)
	}
	reaches(`headroom_plan_attempts_total{outcome="planned"}`, 1)
	reaches("headroom_planning_lag_seconds_count", 1)
	if sum := counted("headroom_planning_lag_seconds_sum"); sum < 0.25 || sum > time.Since(began).Seconds()*counted("headroom_planning_lag_seconds_count") {
		t.Errorf("the lag was %v s; inputs must have been quiet for 0.3 s, and it all took %s", sum, time.Since(began))
	}
}
