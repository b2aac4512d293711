package web_test

import (
	"context"
	"strings"
	"testing"
)

// walkTypes reads the plan of a cluster of two VM types, each with a quota. A contract is paid while it is idle, and jobs do
// not fit, though they are valued at more than they would cost.
func walkTypes(t *testing.T, s *server, browser context.Context) {
	const since, end = "2026-01-01T00:00:00Z", "2036-01-01T00:00:00Z"
	s.apply(t, "two-types", map[string]any{
		"cluster":   map[string]any{"name": "two-types", "currency": "USD"},
		"vm_types":  []any{map[string]any{"name": "m", "in_use": true, "quota": 1}, map[string]any{"name": "x", "in_use": true, "quota": 1}},
		"prices":    []any{map[string]any{"vm_type": "m", "price": "1", "from": since}, map[string]any{"vm_type": "x", "price": "1", "from": since}},
		"contracts": []any{map[string]any{"name": "long", "vm_type": "x", "vms": 5, "price": "0.5", "billing": "always", "from": since, "until": end}},
		"classes":   []any{map[string]any{"name": "a", "vms_per_job": "4", "jobs": map[string]any{"min": 0, "max": 3}, "penalty": "9"}},
	})
	s.planned(t, "two-types", 1)
	ctx := s.tab(t, browser)
	s.open(t, ctx, "/c/two-types/now?per=hour")
	until(t, ctx, `document.querySelector("#money")`)
	var c struct{ Plan struct{ Cost map[string]any } }
	s.get(t, "/v1/clusters/two-types/plans/current", &c)
	if c.Plan.Cost["bill"] != "2.50" || c.Plan.Cost["reserved_idle"] != "0.50" {
		t.Fatalf("the bill is %v", c.Plan.Cost)
	}
	picture(t, ctx, "two-types")
	if said := value[string](t, ctx, `document.querySelector("h1").textContent`); said != "1 job runs at once on 4 VMs. 2 jobs are refused because they do not fit within the limits." {
		t.Errorf("the page leads with %q", said)
	}
	money := value[string](t, ctx, `document.querySelector("#money").closest("section").textContent`)
	if !strings.Contains(money, "VM bill of this hour$2.50") || !strings.Contains(money, "Reserved but idle, 1 VM$0.50") {
		t.Errorf("the money reads %q", money)
	}
	if said := value[string](t, ctx, `document.querySelector("#vms").closest("section").textContent`); strings.Contains(said, "no quota") {
		t.Errorf("each type has a quota, and the VMs read %q", said)
	}
}
