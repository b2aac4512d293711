package app

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http/httptest"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/goccy/go-yaml"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil/promlint"
	"github.com/shopspring/decimal"

	"headroom/internal/core/capacity"
	"headroom/internal/core/money"
	"headroom/internal/service/plans"
	"headroom/internal/service/telemetry"
)

func measured(t *testing.T, classes int) (*Board, boardMetrics) {
	t.Helper()
	k, now := newKept(), began
	k.add(1, 42, began)
	b := board(t, k, &now)
	s := b.Find("c")
	money := func(text string) money.Amount { return money.Amount{Decimal: decimal.RequireFromString(text)} }
	s.Plan.Cost = capacity.Cost{OnDemand: money("1.5"), Reserved: money("2"), ReservedIdle: money("0.5"), Penalties: money("3"), Currency: "USD", PeriodSeconds: 1800}
	s.Plan.VMs = capacity.VMs{Total: 42, Reserved: 30, OnDemand: 12, Contracts: []capacity.ContractUse{{Name: "x", VMs: 40, Used: 30}}}
	s.Plan.Objective, s.Plan.Relaxed = money("-90"), &capacity.RelaxedPlan{Objective: money("-100")}
	for i := range classes {
		s.Plan.Classes = append(s.Plan.Classes, capacity.ClassPlan{Name: "k" + strings.Repeat("x", i), VMs: 4.8, Admitted: 10, Refused: 2, Slots: &capacity.Slots{Map: 20, Reduce: 8}})
	}
	s.LastAttempt = &plans.Attempt{Failed: true}
	return b, boardMetrics{b}
}

func TestBoardMetrics(t *testing.T) {
	t.Parallel()
	_, m := measured(t, 1)
	shown := exported(t, m)
	for _, want := range []string{
		`headroom_plan_cost_per_hour{cluster="c",component="on_demand",currency="USD"} 3`,
		`headroom_plan_cost_per_hour{cluster="c",component="penalty",currency="USD"} 6`,
		`headroom_plan_cost_per_hour{cluster="c",component="reserved",currency="USD"} 5`,
		`headroom_plan_integrality_gap_ratio{cluster="c"} 0.1`,
		`headroom_plan_last_attempt_failed{cluster="c"} 1`,
		`headroom_plan_slots{class="k",cluster="c",phase="map"} 20`,
		`headroom_plan_slots{class="k",cluster="c",phase="reduce"} 8`,
		`headroom_plan_class_vms{class="k",cluster="c"} 4.8`,
		`headroom_plan_admitted_jobs{class="k",cluster="c"} 10`,
		`headroom_plan_rejected_jobs{class="k",cluster="c"} 2`,
		`headroom_plan_vms{cluster="c",purchase="on_demand"} 12`,
		`headroom_plan_vms{cluster="c",purchase="reserved"} 30`,
		`headroom_bound_premise_ok{class="k",cluster="c"} 0`,
		`headroom_reserved_utilization_ratio{cluster="c"} 0.75`,
		`headroom_plan_stale{cluster="c"} 1`, // nobody updates this board
		`headroom_database_in_touch 0`,
	} {
		if !strings.Contains(shown, "\n"+want+"\n") {
			t.Errorf("the metrics lack %s", want)
		}
	}
	_, m = measured(t, maxClassSeries+1)
	if many := exported(t, m); strings.Contains(many, "class=") || !strings.Contains(many, "headroom_plan_vms{") {
		t.Errorf("a cluster of %d classes has series for each, or none of its own", maxClassSeries+1)
	}
}

// exported returns the metrics that Prometheus reads.
func exported(t *testing.T, m boardMetrics) string {
	t.Helper()
	tel := telemetry.New(io.Discard, nil)
	tel.Registry.MustRegister(m)
	w := httptest.NewRecorder()
	tel.Handler().ServeHTTP(w, httptest.NewRequest("GET", "/metrics", nil))
	families, err := tel.Registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	if problems, err := promlint.NewWithMetricFamilies(families).Lint(); err != nil || len(problems) > 0 {
		t.Errorf("the linter says %v (%v)", problems, err)
	}
	return w.Body.String()
}

var metricNames = regexp.MustCompile(`\bheadroom[_:][\w:]+`)

// exportedNames lists the metrics of a server, except for those of the database's connections.
func exportedNames() (names []string) {
	described := make(chan *prometheus.Desc, 1000)
	boardMetrics{}.Describe(described)
	(&observed{}).Describe(described)
	(&calibrated{}).Describe(described)
	(&removed{}).Describe(described)
	telemetry.New(io.Discard, nil).Registry.Describe(described)
	close(described)
	for d := range described {
		names = append(names, regexp.MustCompile(`fqName: "(\w+)"`).FindStringSubmatch(d.String())[1])
	}
	return names
}

// The metrics that other programs were promised exist.
func TestPromisedMetricsAreExported(t *testing.T) {
	t.Parallel()
	known := exportedNames()
	for _, name := range []string{
		"headroom_plan_vms", "headroom_plan_class_vms", "headroom_plan_slots", "headroom_plan_admitted_jobs", "headroom_plan_rejected_jobs", "headroom_plan_cost_per_hour",
		"headroom_plan_generated_timestamp_seconds", "headroom_plan_integrality_gap_ratio", "headroom_bound_premise_ok", "headroom_reserved_utilization_ratio",
		"headroom_solve_duration_seconds", "headroom_solves_total", "http_requests_total", "http_request_duration_seconds",
		"headroom_admissions_total", "headroom_plan_attempts_total", "headroom_planning_lag_seconds",
		"headroom_observed_vms", "headroom_plan_drift_vms", "headroom_plan_drift_ratio", "headroom_observed_utilization_ratio", "headroom_observation_timestamp_seconds",
		"headroom_class_calibration_drift", "headroom_class_calibration_coverage_ratio", "headroom_class_calibration_executions",
		"headroom_plans_removed_total", "headroom_plans_removed_timestamp_seconds",
	} {
		if !slices.Contains(known, name) {
			t.Errorf("%s is not exported", name)
		}
	}
}

// The dashboard shows metrics that are exported, and columns that a plan's row has.
func TestDashboardShowsWhatThereIs(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../../deploy/grafana/headroom.json")
	if err != nil {
		t.Fatal(err)
	}
	var dashboard struct {
		Panels []struct {
			ID      int
			Title   string
			Targets []struct {
				Expr    string
				URL     string
				Columns []struct{ Selector, Type string }
			}
		}
	}
	if err := json.Unmarshal(text, &dashboard); err != nil {
		t.Fatal(err)
	}
	row, err := json.Marshal(plans.PlanSummary{})
	if err != nil {
		t.Fatal(err)
	}
	var members map[string]any
	if err := json.Unmarshal(row, &members); err != nil {
		t.Fatal(err)
	}
	known, ids, tables := exportedNames(), map[int]bool{}, 0
	for _, p := range dashboard.Panels {
		if ids[p.ID] || p.Title == "" || len(p.Targets) == 0 {
			t.Errorf("panel %d, %q, needs an id of its own, a title and something to show", p.ID, p.Title)
		}
		ids[p.ID] = true
		for _, target := range p.Targets {
			names := metricNames.FindAllString(target.Expr, -1)
			for _, name := range names {
				if !slices.Contains(known, name) {
					t.Errorf("panel %q names %s, which is not exported", p.Title, name)
				}
			}
			for _, c := range target.Columns {
				value, ok := members[c.Selector]
				if !ok {
					t.Errorf("panel %q has a column %s, which rows of plans do not have", p.Title, c.Selector)
				}
				// An amount is a text unless numbers are requested, and texts cannot be drawn.
				if _, text := value.(string); text && c.Type == "number" && !strings.Contains(target.URL, "numbers=float") {
					t.Errorf("panel %q has a column %s, which is a text without numbers=float: %s", p.Title, c.Selector, target.URL)
				}
				if c.Selector == "total_cost" && c.Type != "number" {
					t.Errorf("panel %q shows the cost as a %s", p.Title, c.Type)
				}
			}
			if len(target.Columns) > 0 {
				tables++
			} else if len(names) == 0 {
				t.Errorf("panel %q shows no metric", p.Title)
			}
		}
	}
	if len(ids) < 5 || tables != 1 {
		t.Errorf("there are %d panels and %d tables", len(ids), tables)
	}
}

// Every metric that the rules name is exported, or recorded by a rule.
func TestRulesNameMetricsThatExist(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../../deploy/prometheus/rules.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Groups []struct {
			Name  string
			Rules []struct {
				Record, Alert, Expr, For string
				Labels, Annotations      map[string]string
			}
		}
	}
	if err := yaml.UnmarshalWithOptions(text, &file, yaml.Strict()); err != nil {
		t.Fatal(err)
	}
	known, alerts := exportedNames(), 0
	for _, g := range file.Groups {
		for _, r := range g.Rules {
			known = append(known, r.Record)
		}
	}
	for _, g := range file.Groups {
		for _, r := range g.Rules {
			names := metricNames.FindAllString(r.Expr, -1)
			if len(names) == 0 || (r.Record == "") == (r.Alert == "") {
				t.Errorf("group %s: %q names no metric, or is not one of a record and an alert", g.Name, r.Expr)
			}
			for _, name := range names {
				if !slices.Contains(known, name) {
					t.Errorf("%s names %s, which is not exported", r.Record+r.Alert, name)
				}
			}
			if r.Alert != "" {
				if alerts++; r.Labels["severity"] == "" || r.Annotations["summary"] == "" {
					t.Errorf("alert %s needs a severity and a summary", r.Alert)
				}
			}
		}
	}
	if alerts < 6 {
		t.Errorf("there are %d alerts, want at least 6", alerts)
	}
}

// A scrape of 50 clusters of 100 classes each, which autoscaling must not wait for.
func BenchmarkScrape(b *testing.B) {
	shown, now := &Board{now: func() time.Time { return began }, places: map[string]*place{}}, func() time.Time { return began }
	seen := &observed{now: now, latest: map[string]plans.Observation{}}
	for i := range 50 {
		s := &Shown{Current: plans.Current{Record: plans.PlanRecord{PlanSummary: plans.PlanSummary{PeriodSeconds: 3600, CreatedAt: began}}}}
		for j := range 100 {
			s.Plan.Classes = append(s.Plan.Classes, capacity.ClassPlan{Name: fmt.Sprint("class-", j), VMs: 4.8, Admitted: 10, Slots: &capacity.Slots{Map: 20, Reduce: 8}})
		}
		name := fmt.Sprint("cluster-", i)
		shown.places[name] = &place{shown: s}
		seen.latest[name] = plans.Observation{At: began, VMs: 50, DriftVMs: new(2.0), DriftRatio: new(0.05), Utilization: new(0.7)}
	}
	tel := telemetry.New(io.Discard, nil)
	tel.Registry.MustRegister(boardMetrics{shown}, seen)
	for b.Loop() {
		w := httptest.NewRecorder()
		tel.Handler().ServeHTTP(w, httptest.NewRequest("GET", "/metrics", nil))
		if w.Code != 200 {
			b.Fatal(w.Body.String())
		}
		b.ReportMetric(float64(w.Body.Len()), "bytes")
	}
}
