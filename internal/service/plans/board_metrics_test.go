package plans

import (
	"io"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus/testutil/promlint"
	"github.com/shopspring/decimal"

	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/money"
	"example.org/headroom/internal/service/telemetry"
)

func measured(t *testing.T, classes int) (*Board, boardMetrics) {
	t.Helper()
	k, now := newKept(), began
	k.add(1, 42, began)
	k.without = []string{"c", "new"}
	b := board(t, k, &now)
	s := b.Find("c")
	money := func(text string) money.Amount { return money.Amount{Decimal: decimal.RequireFromString(text)} }
	s.Plan.Cost = capacity.Cost{OnDemand: money("1.5"), Reserved: money("2"), ReservedIdle: money("0.5"), Penalties: money("3"), Currency: "USD", PeriodSeconds: 1800}
	s.Plan.VMs = capacity.VMs{Total: 42, Reserved: 30, OnDemand: 12, Contracts: []capacity.ContractUse{{Name: "x", VMs: 40, Used: 30}}}
	s.Plan.Objective, s.Plan.Relaxed = money("-90"), &capacity.RelaxedPlan{Objective: money("-100")}
	for i := range classes {
		s.Plan.Classes = append(s.Plan.Classes, capacity.ClassPlan{Name: "k" + strings.Repeat("x", i), VMs: 4.8, Admitted: 10, Refused: 2, Slots: &capacity.Slots{Map: 20, Reduce: 8}})
	}
	s.LastAttempt = &Attempt{Failed: true}
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
		`headroom_plan_missing{cluster="new"} 1`,
		`headroom_plan_slots{class="k",cluster="c",phase="map"} 20`,
		`headroom_plan_slots{class="k",cluster="c",phase="reduce"} 8`,
		`headroom_plan_class_vms{class="k",cluster="c"} 4.8`,
		`headroom_plan_admitted_jobs{class="k",cluster="c"} 10`,
		`headroom_plan_rejected_jobs{class="k",cluster="c"} 2`,
		`headroom_plan_vms{cluster="c",purchase="on_demand"} 12`,
		`headroom_plan_vms{cluster="c",purchase="reserved"} 30`,
		`headroom_bound_premise_ok{class="k",cluster="c"} 0`,
		`headroom_reserved_idle_cost_per_hour{cluster="c",currency="USD"} 1`,
		`headroom_reserved_utilization_ratio{cluster="c"} 0.75`,
		`headroom_plan_stale{cluster="c"} 1`, // nobody keeps this board
		`headroom_database_in_touch 0`,
	} {
		if !strings.Contains(shown, "\n"+want+"\n") {
			t.Errorf("the metrics lack %s", want)
		}
	}
	if strings.Contains(shown, `headroom_plan_missing{cluster="c"}`) {
		t.Error("a cluster with a plan is said to lack one")
	}
	_, m = measured(t, telemetry.MaxClassSeries+1)
	if many := exported(t, m); strings.Contains(many, "class=") || !strings.Contains(many, "headroom_plan_vms{") {
		t.Errorf("a cluster of %d classes has series for each, or none of its own", telemetry.MaxClassSeries+1)
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
