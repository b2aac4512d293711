package app

import (
	"encoding/json"
	"io"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/goccy/go-yaml"
	"github.com/prometheus/client_golang/prometheus"

	"example.org/headroom/internal/service/clusters"
	"example.org/headroom/internal/service/hooks"
	"example.org/headroom/internal/service/plans"
	"example.org/headroom/internal/service/telemetry"
)

var metricNames = regexp.MustCompile(`\bheadroom[_:][\w:]+`)

// exportedNames lists the metrics of a server, except for those of the database's connections. That a solver is found is
// told by the command that starts the server.
func exportedNames() (names []string) {
	names = append(names, "headroom_solver_found")
	described := make(chan *prometheus.Desc, 1000)
	shown, _ := plans.New(plans.Config{Now: time.Now}).Watched()
	for _, c := range append(shown, &clusters.DriftMetrics{}, &clusters.Usage{}, &hooks.Failing{}) {
		c.Describe(described)
	}
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
		"headroom_cluster_kept_bytes", "headroom_cluster_kept_rows", "headroom_kept_measured_timestamp_seconds",
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
