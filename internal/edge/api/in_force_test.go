package api

import (
	"bytes"
	"encoding/csv"
	"strings"
	"testing"
	"time"

	"example.org/headroom/internal/service/plans"
)

// Plans in force are listed as documents and as tables, and only with in_force.
func TestPlansInForceAreListed(t *testing.T) {
	t.Parallel()
	s := shownPlan(t)
	const address = "/v1/clusters/night/plans"
	s.ask(s.admin, "POST", address, nil).want(t, 201)
	s.ask(s.admin, "POST", address, map[string]any{"at": time.Now().Add(48 * time.Hour)}).want(t, 201)
	s.ask(s.admin, "PUT", address+"/pin", `{"number":1,"until":"2099-01-01T00:00:00Z"}`).want(t, 200)
	var held list[plans.PlanSummary]
	s.ask(s.admin, "GET", address+"?in_force=true", nil).want(t, 200).into(t, &held)
	if len(held.Items) != 3 || held.Items[0].Number != 1 || held.Items[0].Until != nil || held.Items[1].Number != 2 || !held.Items[1].Until.Equal(*held.Items[0].Since) {
		t.Errorf("in force were %+v", held.Items)
	}
	table := s.ask(s.admin, "GET", address+"?in_force=true&format=csv&until="+held.Items[0].Since.UTC().Format(time.RFC3339Nano), nil).want(t, 200)
	rows, err := csv.NewReader(bytes.NewReader(table.text)).ReadAll()
	if err != nil || len(rows) != 3 || rows[0][0] != "since" || rows[1][1] != held.Items[1].Until.UTC().Format(time.RFC3339Nano) {
		t.Errorf("as a table they are %q (%v)", table.text, err)
	}
	if p := s.ask(s.admin, "GET", address+"?until=2026-01-01T00:00:00Z", nil).want(t, 400).problem(t); !strings.Contains(p.Detail, "in_force=true") {
		t.Errorf("a range without in_force is refused by %q", p.Detail)
	}
	s.ask(s.admin, "GET", address+"?in_force=true&from=2026-01-02T00:00:00Z&until=2026-01-01T00:00:00Z", nil).want(t, 400)
	var all list[plans.PlanSummary]
	s.ask(s.admin, "GET", address, nil).want(t, 200).into(t, &all)
	if len(all.Items) != 3 || all.Items[0].Since != nil {
		t.Errorf("made were %+v", all.Items)
	}

	// The overview tells this month's bill of one cluster, where it is asked for one.
	s.cluster("other")
	var lines list[plans.Overview]
	s.ask(s.admin, "GET", "/v1/overview?cluster=night", nil).want(t, 200).into(t, &lines)
	if len(lines.Items) != 1 || lines.Items[0].Month == nil || lines.Items[0].Month.Bill.IsNegative() || !lines.Items[0].Month.Until.After(lines.Items[0].Month.From) {
		t.Errorf("the overview of a cluster is %+v", lines.Items)
	}
	s.ask(s.admin, "GET", "/v1/overview?cluster=none", nil).want(t, 200).into(t, &lines)
	if len(lines.Items) != 0 {
		t.Errorf("the overview of no cluster is %+v", lines.Items)
	}
}
