package telemetry

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil/promlint"
)

func TestLogIsJSONLinesOfTheLevelAskedFor(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	tel := New(&out, slog.LevelInfo)
	tel.Log.Debug("not shown")
	tel.Log.Info("request", "status", 200, "duration", 1500*time.Microsecond)
	var line map[string]any
	if err := json.Unmarshal(out.Bytes(), &line); err != nil {
		t.Fatalf("the log is not one JSON line: %v\n%s", err, out.String())
	}
	if line["msg"] != "request" || line["status"] != 200.0 || line["level"] != "INFO" {
		t.Errorf("got %v, want the message, the level and the key", line)
	}
}

func TestLogMasksSecrets(t *testing.T) {
	t.Parallel()
	token := "hrk_" + strings.Repeat("aB3-", 10) + "xyz"
	secrets := map[string]any{
		"a token":           token,
		"inside a sentence": "no key " + token + " here",
		"inside an error":   fmt.Errorf("open: %w", errors.New("unknown token hrl_"+token[4:])),
		"inside a list":     []string{"x", "hrs_" + token[4:]},
		"an address":        "dial postgres://app:" + token[4:] + "@db:5432/headroom: refused",
		"a setting":         "host=db password=" + token[4:] + " user=app",
		"a quoted setting":  errors.New("cannot parse `host=db password='" + token[4:] + "'`"),
	}
	for name, secret := range secrets {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var out bytes.Buffer
			New(&out, slog.LevelInfo).Log.With("a", secret).Info("said", "b", secret, slog.Group("g", "c", secret))
			if strings.Contains(out.String(), token[4:]) {
				t.Errorf("the secret is in the log: %s", out.String())
			}
			if strings.Count(out.String(), "***") != 3 {
				t.Errorf("got %s, want *** in place of each of three secrets", out.String())
			}
		})
	}
	var out bytes.Buffer
	New(&out, slog.LevelInfo).Log.Info("thread started", "at", "http://127.0.0.1:8080/docs", "n", 3)
	if strings.Contains(out.String(), "***") {
		t.Errorf("got %s, want nothing masked where there is no secret", out.String())
	}
}

func TestMetrics(t *testing.T) {
	t.Parallel()
	tel := New(&bytes.Buffer{}, slog.LevelInfo)
	tel.Running("1.2.3")
	tel.Gauge("headroom_solves_running", "Solves running.", func() float64 { return 2 })
	for range 3 {
		tel.RequestBegan()
	}
	tel.RequestEnded("GET", "/v1/clusters/{cluster}", 200, time.Millisecond)
	tel.RequestEnded("BREW", "", 0, time.Millisecond)
	tel.Solved("optimal", "", time.Millisecond)
	tel.Solved("feasible", "cbc 2.10.8", time.Second)
	tel.Solved("strange", "", time.Second)
	tel.Disagreed()
	tel.PlanStored("optimal")
	tel.Admitted("admitted")
	tel.Admitted("strange")
	tel.PlanAttempted("confirmed")
	tel.PlanLagged(400 * time.Millisecond)
	tel.SolverEvent("crashed")
	tel.SolverEvent("on fire")

	w := httptest.NewRecorder()
	tel.Handler().ServeHTTP(w, httptest.NewRequest("GET", "/metrics", nil))
	for _, want := range []string{
		`http_requests_in_flight 1`,
		`http_requests_total{method="GET",route="/v1/clusters/{cluster}",status="200"} 1`,
		`http_requests_total{method="other",route="other",status="other"} 1`,
		`http_request_duration_seconds_count{route="other"} 1`,
		`headroom_solves_total{status="optimal"} 1`,
		`headroom_solves_total{status="infeasible"} 0`,
		`headroom_solves_total{status="other"} 1`,
		`headroom_solve_duration_seconds_count{stage="core"} 2`,
		`headroom_solve_duration_seconds_count{stage="milp"} 1`,
		`headroom_disagreements_total 1`,
		`headroom_plans_total{status="optimal"} 1`,
		`headroom_admissions_total{outcome="admitted"} 1`,
		`headroom_admissions_total{outcome="full"} 0`,
		`headroom_admissions_total{outcome="other"} 1`,
		`headroom_plan_attempts_total{outcome="confirmed"} 1`,
		`headroom_plan_attempts_total{outcome="failed"} 0`,
		`headroom_planning_lag_seconds_sum 0.4`,
		`headroom_solver_events_total{kind="crashed"} 1`,
		`headroom_solver_events_total{kind="killed"} 0`,
		`headroom_solver_events_total{kind="other"} 1`,
		`headroom_solves_running 2`,
		`headroom_build_info{go="go`,
		`go_goroutines `,
		`process_open_fds `,
	} {
		if !strings.Contains(w.Body.String(), want) {
			t.Errorf("the metrics lack %q", want)
		}
	}
	families, err := tel.Registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	problems, err := promlint.NewWithMetricFamilies(families).Lint()
	if err != nil || len(problems) > 0 {
		t.Errorf("promlint says %v (%v), want nothing", problems, err)
	}
}

// Two in one process share nothing: there is no global registry.
func TestTelemetriesAreApart(t *testing.T) {
	t.Parallel()
	one, two := New(&bytes.Buffer{}, slog.LevelInfo), New(&bytes.Buffer{}, slog.LevelInfo)
	one.Disagreed()
	w := httptest.NewRecorder()
	two.Handler().ServeHTTP(w, httptest.NewRequest("GET", "/metrics", nil))
	if want := "headroom_disagreements_total 0"; !strings.Contains(w.Body.String(), want) {
		t.Errorf("another telemetry's metrics lack %q", want)
	}
}
